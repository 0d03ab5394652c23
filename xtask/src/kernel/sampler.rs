//! `--run sampler`: samples by the PMU's overflow carry the number of the process in whose code they are, on both machines;
//! on ours, as many as the machine's own count of EL0's instructions has periods. `contextidr=off` gives no session.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::boot::{self, Boot, Echo, Level, Machine};

use super::program;

/// Its name on the command line.
pub const NAME: &str = "sampler";

/// Instructions between samples.
const PERIOD: u64 = 7000;

/// Runs it; a line about how it went.
pub fn check(image: &Path, echo: Echo) -> Result<String> {
    let initrd = program::initramfs("sampler")?;
    let mut facts = Vec::new();
    for machine in [Machine::Vambrace, Machine::Qemu] {
        for (level, cpus) in [(Level::El1, 1), (Level::El1, 4), (Level::El2, 1), (Level::El2, 4)] {
            // QEMU's PMU counts instructions with -icount only, and its cycles are host time by 1 GHz.
            let commands: &[String] = match machine {
                Machine::Vambrace => &["cycles,5000".to_owned(), format!("instructions,{PERIOD}")],
                Machine::Qemu => &["cycles,200000".to_owned()],
            };
            for words in ["contextidr=key", "contextidr=on"] {
                for command in commands {
                    facts.push(run(image, &initrd, machine, (level, cpus), words, command, echo)?);
                }
            }
            run(image, &initrd, machine, (level, cpus), "contextidr=off", "off", echo)?;
        }
    }
    Ok(format!("{NAME}: {}; with contextidr=off no session", facts.join(", ")))
}

fn run(
    image: &Path,
    initrd: &Path,
    machine: Machine,
    (level, cpus): (Level, u32),
    words: &str,
    command: &str,
    echo: Echo,
) -> Result<String> {
    let stats = boot::scratch("kernel-sampler.json")?;
    let mut boot = Boot::of(image, Some(initrd), &format!("{words} -- {command}"));
    boot.cpu = Some("max");
    boot.cpus = cpus;
    boot.level = level;
    boot.semihosting = true;
    boot.max_insns = Some(3_000_000_000);
    boot.stats = Some(stats.clone());
    let outcome = boot.run(machine, echo)?;
    outcome.expect_status(7)?;
    if command == "off" {
        outcome.expect_line("hello from sampler: off")?;
        return Ok(String::new());
    }
    outcome.expect_line("hello from sampler")?;
    let line = outcome.line_from("sampler: samples").context("no line about samples")?;
    let numbers = line.split([' ', ',']).filter_map(|word| word.parse::<u64>().ok());
    let total: u64 = numbers.sum();
    if machine == Machine::Vambrace && command.starts_with("instructions") {
        let json: serde_json::Value = serde_json::from_str(&fs::read_to_string(stats)?)?;
        let el0 = json.pointer("/insns_by_el/EL0").and_then(serde_json::Value::as_u64).context("no such count")?;
        // What runs before the first sample and after the last, and less than a period on each CPU.
        let counted = total * PERIOD;
        let is_near = counted <= el0 && el0 - counted < el0 / 50 + PERIOD * u64::from(cpus);
        ensure!(is_near, "{total} samples of {PERIOD}, and EL0 had {el0} instructions\n{}", outcome.report());
    }
    Ok(format!("{} {level:?} x{cpus} {words} {command} {total}", machine.name()))
}
