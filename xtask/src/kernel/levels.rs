//! `--run levels`: programs compiled for newer levels of the architecture, on our kernel: on `max` they compute what they
//! compute under qemu-aarch64, and on `cortex-a57` they get SIGILL where they do there. `oracle --levels` is the same under
//! Linux.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use super::JUDGE;
use crate::boot::{self, Boot, Echo, Level, Machine};
use crate::guests::{File, Guests, kernel_initramfs};
use crate::levels;

/// Its name on the command line.
pub const NAME: &str = "levels";

/// Runs them; a line about how it went.
pub fn check(image: &Path, echo: Echo) -> Result<String> {
    let programs = levels::build()?;
    let script: String = programs.iter().flat_map(|(name, _)| ["level-", name, "\n"]).collect();
    let script = format!("#!/bin/sh\n{script}");
    let mut files = vec![File::executable("init", script)];
    for (name, program) in &programs {
        files.push(File::executable(format!("bin/level-{name}"), fs::read(program)?));
    }
    let initrd = boot::scratch("kernel-levels.cpio")?;
    let busybox = Guests::prepare(&[JUDGE])?.busybox()?;
    fs::write(&initrd, kernel_initramfs(Some(&busybox), &files))?;

    let mut facts = Vec::new();
    for cpu in levels::CPUS {
        for machine in [Machine::Vambrace, Machine::Qemu] {
            // QEMU's own CPU has what its programs have.
            let expected = match machine {
                Machine::Vambrace => levels::expected(&programs, cpu)?,
                Machine::Qemu => levels::judged(&programs, cpu)?,
            };
            for level in [Level::El1, Level::El2] {
                let mut boot = Boot::of(image, Some(&initrd), "");
                boot.cpu = Some(cpu);
                boot.level = level;
                boot.semihosting = true;
                boot.max_insns = Some(2_000_000_000);
                let outcome = boot.run(machine, echo)?;
                outcome.expect_status(0)?;
                let found: Vec<&str> = outcome.lines_from("levels: ").collect();
                ensure!(
                    found == expected,
                    "{cpu}, {} at {level:?}: expected\n{}\nfound\n{}\n{}",
                    machine.name(),
                    expected.join("\n"),
                    found.join("\n"),
                    outcome.report()
                );
            }
            let undefined = expected.iter().filter(|line| line.ends_with(" undefined")).count();
            facts.push(format!(
                "{cpu} on {}: {} right, {undefined} undefined",
                machine.name(),
                expected.len() - undefined
            ));
        }
    }
    Ok(format!("{NAME}: {}", facts.join(", ")))
}
