//! Programs compiled for newer levels of the architecture under Linux: on `max` they compute what they compute under
//! qemu-aarch64, on `cortex-a57` they meet SIGILL where it does.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail, ensure};

use crate::boot::{Boot, Echo, Machine};
use crate::cross;
use crate::guests::{File, Guests, Kernel};
use crate::shell;

/// The builds of `guest/el0/levels.c`: names, and what the compiler is told.
const LEVELS: [(&str, &str); 15] = [
    ("base", "armv8-a"),
    ("crc", "armv8-a+crc"),
    ("crypto", "armv8-a+crypto"),
    ("lse", "armv8.1-a"),
    ("rdm", "armv8.1-a"),
    ("fp16", "armv8.2-a+fp16"),
    ("dotprod", "armv8.2-a+dotprod"),
    ("fhm", "armv8.2-a+fp16fml"),
    ("sha3", "armv8.2-a+sha3"),
    ("sm4", "armv8.2-a+sm4"),
    ("v83", "armv8.3-a"),
    ("v84", "armv8.4-a"),
    ("v85", "armv8.5-a"),
    ("v86", "armv8.6-a"),
    ("cssc", "armv8-a"),
];

/// What QEMU 7.2 is too old for: this program checks its results itself, and hashes 120 ones.
const NOT_JUDGED: (&str, &str) = ("levels: cssc undefined", "levels: cssc f2689e923367be7d");

/// CPUs on which they run: one that has all levels, and one that has few.
pub const CPUS: [&str; 2] = ["max", "cortex-a57"];

/// Builds the programs; their names and where they lie.
pub fn build() -> Result<Vec<(&'static str, PathBuf)>> {
    const COMMON: [&str; 9] = [
        "-O2",
        "-ftree-vectorize",
        "-ffreestanding",
        "-nostdlib",
        "-fno-stack-protector",
        "-mno-outline-atomics",
        "-Wall",
        "-Wextra",
        "-Werror",
    ];
    let build = |(name, march)| {
        let own = [format!("-march={march}"), format!("-DLEVEL_{name}"), format!("-DNAME=\"{name}\"")];
        let flags = COMMON.iter().copied().chain(own.iter().map(String::as_str));
        Ok((name, cross::compile("el0/levels.c", &format!("el0-level-{name}"), flags)?))
    };
    LEVELS.into_iter().map(build).collect()
}

/// What the programs say under qemu-aarch64 on that CPU.
pub fn judged(programs: &[(&str, PathBuf)], cpu: &str) -> Result<Vec<String>> {
    let said = |program: &PathBuf| shell::capture(Command::new("qemu-aarch64").args(["-cpu", cpu]).arg(program));
    let lines: Vec<String> =
        programs.iter().map(|(_, program)| Ok(said(program)?.trim_end().to_owned())).collect::<Result<_>>()?;
    let undefined = lines.iter().filter(|line| line.ends_with(" undefined")).count();
    ensure!(cpu != "cortex-a57" || undefined > 0, "the judge knows of nothing that {cpu} has not");
    Ok(lines)
}

/// The same, with what the judge is too old for as it must be.
pub fn expected(programs: &[(&str, PathBuf)], cpu: &str) -> Result<Vec<String>> {
    let (too_old, ours) = NOT_JUDGED;
    let right = |line: String| if cpu == "max" && line == too_old { ours.to_owned() } else { line };
    let lines: Vec<String> = judged(programs, cpu)?.into_iter().map(right).collect();
    let undefined = lines.iter().filter(|line| line.ends_with(" undefined")).count();
    ensure!((cpu == "max") == (undefined == 0), "the judge says {undefined} times undefined on {cpu}");
    Ok(lines)
}

/// Runs the programs on both models under Linux.
pub fn check(guests: &Guests, kernel: Kernel) -> Result<()> {
    let programs = build()?;
    let script: String = LEVELS.iter().flat_map(|(name, _)| ["/bench/level-", name, "\n"]).collect();
    let mut files = Vec::new();
    for (name, program) in &programs {
        files.push(File::executable(format!("bench/level-{name}"), fs::read(program)?));
    }
    files.push(File::executable("batch/levels.sh", script));
    let initrd = guests.initrd_with("levels", &files)?;
    for cpu in CPUS {
        let expected = expected(&programs, cpu)?;
        let mut boot = Boot::new(guests, kernel, "vambrace.batch=levels").with_initrd(&initrd);
        boot.cpu = Some(cpu);
        let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
        outcome.expect_status(0)?;
        let found: Vec<&str> = outcome.lines_from("levels: ").collect();
        if found != expected {
            bail!("on {cpu} expected\n{}\nfound\n{}\n{}", expected.join("\n"), found.join("\n"), outcome.report());
        }
    }
    Ok(())
}
