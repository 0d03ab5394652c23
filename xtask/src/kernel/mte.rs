//! `--run mte`: memory tagging. `guest/el0/tags.c` and `guest/el0/mte.c` say the same under our kernel as under Linux, on the
//! same machine; and each way to look for an asynchronous failure costs a system call what it promises.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::boot::{self, Boot, Echo, Level, Machine};
use crate::guests::Guests;

use super::same::{self, Said};
use super::{JUDGE, program};

/// Its name on the command line.
pub const NAME: &str = "mte";

/// Programs, which of their lines count, and words for both kernels.
const PROGRAMS: [(&str, Said, &str); 2] =
    [("mte", Said::Between, ""), ("tags", Said::Beginning("tags: "), "-- kernel")];

/// Words that choose how a failure is looked for, and the instructions that they add to a system call with FEAT_MTE2.
const CHECKS: [(&str, u64); 3] = [("folded", 0), ("flag", 1), ("feature", 2)];

/// Runs it; a line about how it went.
pub fn check(image: &Path, echo: Echo) -> Result<String> {
    let guests = Guests::prepare(&[JUDGE])?;
    let mut facts = Vec::new();
    for (name, said, words) in PROGRAMS {
        facts.push(same::as_linux(&guests, image, name, said, words, echo)?);
    }
    let initrd = program::initramfs("mte")?;
    for level in [Level::El1, Level::El2] {
        let without = cost(image, &initrd, level, "nomte")?;
        for (name, more) in CHECKS {
            let with = cost(image, &initrd, level, &format!("mte_check={name}"))?;
            ensure!(with == without + more, "{level:?} {name}: {with} instructions a call, {without} without FEAT_MTE");
            facts.push(format!("{level:?} {name} {with}"));
        }
        facts.push(format!("{level:?} nomte {without} instructions a getpid"));
    }
    Ok(format!("{NAME}: {}", facts.join(", ")))
}

/// The kernel's instructions for one getpid: two numbers of calls, and the difference.
fn cost(image: &Path, initrd: &Path, level: Level, words: &str) -> Result<u64> {
    let instructions = |thousands: u64| -> Result<u64> {
        let stats = boot::scratch("kernel-mte.json")?;
        let mut boot = same::machine(Boot::of(image, Some(initrd), &format!("{words} -- loop {thousands}")), level);
        boot.semihosting = true;
        boot.stats = Some(stats.clone());
        let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
        outcome.expect_status(0)?;
        let json: serde_json::Value = serde_json::from_str(&fs::read_to_string(stats)?)?;
        let name = if level == Level::El1 { "EL1" } else { "EL2" };
        json.pointer(&format!("/insns_by_el/{name}")).and_then(serde_json::Value::as_u64).context("no such count")
    };
    let (few, many) = (instructions(10)?, instructions(30)?);
    // No timer interrupt falls into it: nobody else is ready.
    let difference = many - few;
    ensure!(difference % 20_000 == 0, "{difference} instructions for 20000 calls");
    Ok(difference / 20_000)
}
