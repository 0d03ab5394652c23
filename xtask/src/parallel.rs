//! CPUs on threads of the host (`--threads parallel`): the usual boot, and `guest/el0/parallel.c` under Linux.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::boot::{self, Boot, Echo, Machine};
use crate::boots::expect_demo;
use crate::guests::{File, Guests, Kernel};
use crate::shell;

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
    let program = boot::scratch("el0-parallel")?;
    let source = shell::workspace_root().join("guest/el0/parallel.c");
    let mut gcc = Command::new("aarch64-linux-gnu-gcc");
    gcc.args(["-O1", "-static", "-pthread", "-Wl,--build-id=none", "-o"]).arg(&program).arg(&source);
    shell::capture(&mut gcc).with_context(|| format!("cannot build {}", source.display()))?;
    let files = [
        File::executable("bench/parallel", fs::read(&program)?),
        File::executable("batch/parallel.sh", "/bench/parallel 20000\n"),
    ];
    let initrd = guests.initrd_with("parallel", &files)?;
    for cpu in ["cortex-a57", "max"] {
        let mut boot = parallel(Boot::new(guests, kernel, "vambrace.batch=parallel").with_initrd(&initrd));
        boot.cpu = Some(cpu);
        let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
        outcome.expect_status(0)?;
        outcome.expect_line("vambrace-batch: parallel: status 0")?;
        let found: Vec<&str> = outcome.lines_from("parallel: ").collect();
        if found != LINES {
            bail!("{cpu}: expected\n{}\nfound\n{}\n{}", LINES.join("\n"), found.join("\n"), outcome.report());
        }
    }
    Ok(())
}
