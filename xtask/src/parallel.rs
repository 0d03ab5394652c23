//! CPUs on threads of the host (`--threads parallel`): the usual boot, and `guest/el0/parallel.c` under Linux.

use std::fs;

use anyhow::{Context, Result};

use crate::boot::{Boot, Echo, Machine};
use crate::boots::expect_demo;
use crate::cross;
use crate::guests::{File, Guests, Kernel};

/// What the program prints.
const LINES: [&str; 6] = [
    "parallel: counted all",
    "parallel: messages, 0 wrong",
    "parallel: stores before loads, 0 wrong",
    "parallel: pages, 0 wrong",
    "parallel: code, 0 wrong",
    "parallel: processes, 0 wrong",
];

fn parallel(mut boot: Boot) -> Boot {
    boot.cpus = 4;
    boot.words = ["--threads", "parallel"].map(str::to_owned).to_vec();
    boot
}

/// Boots `kernel` to its shell and off again.
pub fn boots(guests: &Guests, kernel: Kernel) -> Result<()> {
    let boot = parallel(Boot::new(guests, kernel, "vambrace.batch=demo"));
    expect_demo(&boot.run(Machine::Vambrace, Echo::Off)?, boot.cpus)
}

/// Runs the program under `kernel`, with exclusives and with FEAT_LSE.
pub fn programs(guests: &Guests, kernel: Kernel) -> Result<()> {
    let files = [
        File::executable("bench/parallel", fs::read(cross::hosted("parallel", &["-pthread"])?)?),
        File::executable("batch/parallel.sh", "/bench/parallel 20000\n"),
    ];
    let initrd = guests.initrd_with("parallel", &files)?;
    for cpu in ["cortex-a57", "max"] {
        let mut boot = parallel(Boot::new(guests, kernel, "vambrace.batch=parallel").with_initrd(&initrd));
        boot.cpu = Some(cpu);
        let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
        outcome.expect_status(0)?;
        outcome.expect_line("vambrace-batch: parallel: status 0")?;
        outcome.expect_lines_from("parallel: ", &LINES).context(cpu)?;
    }
    Ok(())
}
