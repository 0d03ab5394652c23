//! Static EL0 programs (`guest/el0/`) in the initramfs, timed from line to line of the console.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::{KERNEL, Lab, Pair, Report, Row, float, median};
use crate::boot::{self, Boot};
use crate::guests::File;
use crate::shell;

/// One program: it prints `bench: begin`, runs its loop, prints `bench: end`.
struct Program {
    name: &'static str,
    iterations: u64,
}

const INTEGER: Program = Program { name: "int", iterations: 50_000_000 };
/// Instructions in the loop of `guest/el0/int.S`, which checks this itself.
const INTEGER_LOOP: u64 = 10;
const GETPID: Program = Program { name: "getpid", iterations: 500_000 };

/// Million instructions a second of an integer loop.
pub fn integer(lab: &Lab<'_>) -> Result<Report> {
    let seconds = time(lab, &INTEGER, &[""])?.remove(0);
    let millions = float(INTEGER.iterations * INTEGER_LOOP) / 1e6;
    let row = Row { name: "integer loop".to_owned(), unit: "MIPS", pair: seconds.map(|seconds| millions / seconds) };
    Ok(Report { rows: vec![row], notes: Vec::new() })
}

/// Nanoseconds of one getpid, with the kernel's table isolation on and off.
pub fn getpid(lab: &Lab<'_>) -> Result<Report> {
    let per_call = |seconds: &Pair| seconds.map(|seconds| seconds * 1e9 / float(GETPID.iterations));
    let seconds = time(lab, &GETPID, &["kpti=on", "kpti=off"])?;
    let (on, off) = (per_call(&seconds[0]), per_call(&seconds[1]));
    let ratio = |on: &[f64], off: &[f64]| median(on) / median(off);
    let note = format!(
        "kpti=on costs {:.2} times kpti=off on vambrace, {:.2} times on qemu",
        ratio(&on.ours, &off.ours),
        ratio(&on.qemus, &off.qemus)
    );
    let row = |name: &str, pair| Row { name: format!("getpid {name}"), unit: "ns", pair };
    Ok(Report { rows: vec![row("kpti=on", on), row("kpti=off", off)], notes: vec![note] })
}

/// Host seconds of the program's loop, for each of `variants` of the kernel's command line.
fn time(lab: &Lab<'_>, program: &Program, variants: &[&str]) -> Result<Vec<Pair>> {
    let executable = fs::read(build(program)?)?;
    let batch = format!("bench-{}", program.name);
    let initrd = lab.guests.initrd_with(
        &batch,
        &[
            File { path: format!("bench/{}", program.name), permissions: 0o755, contents: executable },
            File {
                path: format!("batch/{batch}.sh"),
                permissions: 0o755,
                contents: format!("/bench/{}\n", program.name).into_bytes(),
            },
        ],
    )?;
    let boot = |words: &&str| {
        let words = format!("{words} vambrace.batch={batch}");
        let mut boot = Boot::new(lab.guests, KERNEL, words.trim_start()).with_initrd(&initrd);
        boot.cpu = Some(lab.cpu);
        boot.limit = Duration::from_secs(600);
        boot
    };
    let boots: Vec<Boot> = variants.iter().map(boot).collect();
    lab.alternate(&boots, |outcome| {
        outcome.expect_line(&format!("vambrace-batch: {batch}: status 0"))?;
        outcome.seconds_between("bench: begin", "bench: end")
    })
}

/// Assembles `guest/el0/NAME.S` into a static program.
fn build(program: &Program) -> Result<PathBuf> {
    let source = shell::workspace_root().join("guest/el0").join(format!("{}.S", program.name));
    let target = boot::scratch(&format!("el0-{}", program.name))?;
    let mut gcc = Command::new("aarch64-linux-gnu-gcc");
    gcc.args(["-nostdlib", "-static", "-Wl,--build-id=none"])
        .arg(format!("-DITERATIONS={}", program.iterations))
        .arg(format!("-DINTEGER_LOOP={INTEGER_LOOP}"))
        .arg("-o")
        .arg(&target)
        .arg(&source);
    shell::capture(&mut gcc).with_context(|| format!("cannot build {}", source.display()))?;
    Ok(target)
}
