//! The performance monitors under Linux: `guest/el0/perf.c` counts and samples a loop of known length.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::boot::{self, Boot, Echo, Machine};
use crate::guests::{File, Guests, Kernel};
use crate::shell;

/// What the program prints: a million rounds of five instructions counted, then five million rounds sampled every
/// 100 000 instructions.
const LINES: [&str; 10] = [
    "perf: instructions 5000000",
    "perf: branches 1000000",
    "perf: INST_RETIRED 5000000",
    "perf: LD_RETIRED 1000000",
    "perf: ST_RETIRED 1000000",
    "perf: BR_IMMED_RETIRED 1000000",
    "perf: BR_RETURN_RETIRED 0",
    "perf: 250 samples, 250 in the loop, 0 other records",
    "perf: a signal for each but 0",
    "perf: a cycle for each instruction",
];

/// Boots `kernel` and runs the program.
pub fn check(guests: &Guests, kernel: Kernel) -> Result<()> {
    let program = boot::scratch("el0-perf")?;
    let source = shell::workspace_root().join("guest/el0/perf.c");
    let mut gcc = Command::new("aarch64-linux-gnu-gcc");
    gcc.args(["-O1", "-static", "-Wl,--build-id=none", "-o"]).arg(&program).arg(&source);
    shell::capture(&mut gcc).with_context(|| format!("cannot build {}", source.display()))?;
    let files =
        [File::executable("bench/perf", fs::read(&program)?), File::executable("batch/perf.sh", "/bench/perf\n")];
    let initrd = guests.initrd_with("perf", &files)?;
    let boot = Boot::new(guests, kernel, "vambrace.batch=perf").with_initrd(&initrd);
    let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
    outcome.expect_status(0)?;
    outcome.expect_line("vambrace-batch: perf: status 0")?;
    let found: Vec<&str> = outcome.lines_from("perf: ").collect();
    if found != LINES {
        bail!("expected\n{}\nfound\n{}\n{}", LINES.join("\n"), found.join("\n"), outcome.report());
    }
    Ok(())
}
