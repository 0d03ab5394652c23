//! The performance monitors under Linux: `guest/el0/perf.c` counts and samples a loop of known length.

use std::fs;

use anyhow::Result;

use crate::boot::{Boot, Echo, Machine};
use crate::cross;
use crate::guests::{File, Guests, Kernel};

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
    let files = [
        File::executable("bench/perf", fs::read(cross::hosted("perf", &[])?)?),
        File::executable("batch/perf.sh", "/bench/perf\n"),
    ];
    let initrd = guests.initrd_with("perf", &files)?;
    let boot = Boot::new(guests, kernel, "vambrace.batch=perf").with_initrd(&initrd);
    let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
    outcome.expect_status(0)?;
    outcome.expect_line("vambrace-batch: perf: status 0")?;
    outcome.expect_lines_from("perf: ", &LINES)
}
