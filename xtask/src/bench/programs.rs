//! Static EL0 programs (`guest/el0/bench/`) and hackbench in the initramfs, timed from line to line of the console.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};

use super::{KERNEL, Lab, MACHINES, Pair, Report, Row, float, median};
use crate::boot::{Boot, Outcome};
use crate::cross;
use crate::guests::{File, HACKBENCH};

/// One program: it prints `bench: begin NAME`, does its operations, prints `bench: end NAME`, and may print a sum.
struct Program {
    /// Of the file in `guest/el0/bench`.
    file: &'static str,
    /// For the table.
    title: &'static str,
    operations: u64,
}

impl Program {
    fn name(&self) -> &'static str {
        self.file.split('.').next().unwrap_or(self.file)
    }
}

const INTEGER: Program = Program { file: "int.S", title: "integer, 10 instructions", operations: 50_000_000 };
/// Instructions in the loop of `guest/el0/bench/int.S`, which checks this itself.
const INTEGER_LOOP: u64 = 10;
const GETPID: Program = Program { file: "getpid.S", title: "system call (getpid)", operations: 500_000 };
const FAULT: Program = Program { file: "fault.c", title: "page fault", operations: 1 << 16 };
/// What the table has besides boots and hackbench.
const PROGRAMS: [Program; 7] = [
    INTEGER,
    Program { file: "fp.c", title: "double, a step of 2 bodies", operations: 2_000_000 },
    Program { file: "neon_f32.c", title: "NEON, a * x + y, 4 floats", operations: 20_000_000 },
    Program { file: "neon_int.c", title: "NEON, 5 integer operations", operations: 20_000_000 },
    GETPID,
    Program { file: "fork.c", title: "fork, exit, wait", operations: 2_000 },
    FAULT,
];
/// Hackbench's groups of 40 processes, and how many messages each sends to each.
const HACKBENCH_SIZE: [&str; 4] = ["-g", "2", "-l", "50"];

/// Million instructions a second of an integer loop.
pub fn integer(lab: &Lab<'_>) -> Result<Report> {
    let seconds = time(lab, &INTEGER, &[""])?.remove(0);
    let row = Row { name: "integer loop".to_owned(), unit: "MIPS", pair: seconds.map(millions_a_second) };
    Ok(Report { columns: MACHINES, rows: vec![row], notes: Vec::new() })
}

fn millions_a_second(seconds: f64) -> f64 {
    float(INTEGER.operations * INTEGER_LOOP) / 1e6 / seconds
}

/// Nanoseconds of one getpid, with the kernel's table isolation on and off.
pub fn getpid(lab: &Lab<'_>) -> Result<Report> {
    let per_call = |seconds: &Pair| seconds.map(|seconds| seconds * 1e9 / float(GETPID.operations));
    let seconds = time(lab, &GETPID, &["kpti=on", "kpti=off"])?;
    let (on, off) = (per_call(&seconds[0]), per_call(&seconds[1]));
    let ratio = |on: &[f64], off: &[f64]| median(on) / median(off);
    let note = format!(
        "kpti=on costs {:.2} times kpti=off on vambrace, {:.2} times on qemu",
        ratio(&on.ours, &off.ours),
        ratio(&on.qemus, &off.qemus)
    );
    let row = |name: &str, pair| Row { name: format!("getpid {name}"), unit: "ns", pair };
    Ok(Report { columns: MACHINES, rows: vec![row("kpti=on", on), row("kpti=off", off)], notes: vec![note] })
}

/// All programs and hackbench, one after another in one boot: nanoseconds an operation, and hackbench's seconds.
pub fn all(lab: &Lab<'_>) -> Result<Report> {
    const TIMES: usize = PROGRAMS.len() + 1;
    let mut lines = Vec::new();
    let mut files = lab.guests.program(&HACKBENCH)?;
    for program in &PROGRAMS {
        files.push(executable(program)?);
        lines.push(format!("/bench/{} || exit 1", program.name()));
    }
    let hackbench = HACKBENCH_SIZE.join(" ");
    lines.push("echo bench: begin hackbench".to_owned());
    lines.push(format!("hackbench {hackbench} || exit 1"));
    lines.push("echo bench: end hackbench\n".to_owned());
    let script = lines.join("\n");
    let boot = prepare(lab, "bench-all", "", &script, files)?;
    // Both machines must have computed the same in each run.
    let sums: RefCell<Option<Vec<String>>> = RefCell::new(None);
    let mut pairs = lab
        .alternate_figures(&[boot], |outcome| {
            expect_batch(outcome, "bench-all")?;
            let found: Vec<String> = outcome.lines_from("bench: sum ").map(str::to_owned).collect();
            let mut sums = sums.borrow_mut();
            let known = sums.get_or_insert_with(|| found.clone());
            ensure!(*known == found, "sums differ: {known:?} and {found:?}");
            let mut seconds = [0.0; TIMES];
            for (seconds, program) in seconds.iter_mut().zip(&PROGRAMS) {
                *seconds = between(outcome, program.name())?;
            }
            seconds[TIMES - 1] = between(outcome, "hackbench")?;
            Ok(seconds)
        })?
        .remove(0)
        .into_iter();
    let mut rows = Vec::new();
    let mut notes = Vec::new();
    for (program, seconds) in PROGRAMS.iter().zip(&mut pairs) {
        if program.file == INTEGER.file {
            let [ours, qemus] = [&seconds.ours, &seconds.qemus].map(|runs| millions_a_second(median(runs)));
            notes
                .push(format!("integer loop: {ours:.0} million instructions a second on vambrace, {qemus:.0} on qemu"));
        }
        let pair = seconds.map(|seconds| seconds * 1e9 / float(program.operations));
        rows.push(Row { name: program.title.to_owned(), unit: "ns", pair });
    }
    for pair in pairs {
        rows.push(Row { name: format!("hackbench {hackbench}"), unit: "s", pair });
    }
    Ok(Report { columns: MACHINES, rows, notes })
}

/// Host seconds of the program's operations, for each of `variants` of the kernel's command line.
fn time(lab: &Lab<'_>, program: &Program, variants: &[&str]) -> Result<Vec<Pair>> {
    let boots: Result<Vec<Boot>> = variants.iter().map(|words| alone(lab, program, words)).collect();
    lab.alternate(&boots?, |outcome| seconds_of(program, outcome))
}

/// A boot that runs one program.
fn alone(lab: &Lab<'_>, program: &Program, words: &str) -> Result<Boot> {
    let script = format!("/bench/{}\n", program.name());
    prepare(lab, &format!("bench-{}", program.name()), words, &script, vec![executable(program)?])
}

/// Host seconds of its operations in such a boot.
fn seconds_of(program: &Program, outcome: &Outcome) -> Result<f64> {
    expect_batch(outcome, &format!("bench-{}", program.name()))?;
    between(outcome, program.name())
}

/// A program and the boot that runs it alone.
pub struct Alone {
    program: Program,
    /// The boot.
    pub boot: Boot,
}

impl Alone {
    /// For the table.
    pub fn title(&self) -> &'static str {
        self.program.title
    }

    /// Host seconds of its operations.
    pub fn seconds(&self, outcome: &Outcome) -> Result<f64> {
        seconds_of(&self.program, outcome)
    }
}

/// Programs for [`super::events`]: one that makes no events, and two that make many.
pub fn alone_each(lab: &Lab<'_>) -> Result<Vec<Alone>> {
    let alone = |program: Program| Ok(Alone { boot: alone(lab, &program, "")?, program });
    [INTEGER, GETPID, FAULT].into_iter().map(alone).collect()
}

fn expect_batch(outcome: &Outcome, batch: &str) -> Result<()> {
    outcome.expect_status(0)?;
    outcome.expect_line(&format!("vambrace-batch: {batch}: status 0"))
}

fn between(outcome: &Outcome, name: &str) -> Result<f64> {
    outcome.seconds_between(&format!("bench: begin {name}"), &format!("bench: end {name}"))
}

/// A boot that runs `script` with `files` beside it.
fn prepare(lab: &Lab<'_>, batch: &str, words: &str, script: &str, mut files: Vec<File>) -> Result<Boot> {
    files.push(File::executable(format!("batch/{batch}.sh"), script));
    let initrd = lab.guests.initrd_with(batch, &files)?;
    let words = format!("{words} vambrace.batch={batch}");
    let mut boot = Boot::new(lab.guests, KERNEL, words.trim_start()).with_initrd(&initrd);
    boot.cpu = Some(lab.cpu);
    boot.limit = Duration::from_secs(600);
    Ok(boot)
}

fn executable(program: &Program) -> Result<File> {
    Ok(File::executable(format!("bench/{}", program.name()), fs::read(build(program)?)?))
}

/// Makes a static program of `guest/el0/bench/FILE`.
fn build(program: &Program) -> Result<PathBuf> {
    const C: [&str; 7] =
        ["-O2", "-ffreestanding", "-fno-stack-protector", "-fno-math-errno", "-Wall", "-Wextra", "-Werror"];
    let mut flags = vec![
        "-nostdlib".to_owned(),
        format!("-DNAME=\"{}\"", program.name()),
        format!("-DITERATIONS={}", program.operations),
        format!("-DINTEGER_LOOP={INTEGER_LOOP}"),
    ];
    if Path::new(program.file).extension() != Some("S".as_ref()) {
        flags.extend(C.map(str::to_owned));
    }
    cross::compile(&format!("el0/bench/{}", program.file), &format!("bench-{}", program.name()), flags)
}
