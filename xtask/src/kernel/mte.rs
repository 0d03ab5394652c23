//! `--run mte`: memory tagging. `guest/el0/tags.c` and `guest/el0/mte.c` say the same under our kernel as under Linux, on the
//! same machine; and each way to look for an asynchronous failure costs a system call what it promises.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::boot::{self, Boot, Echo, Level, Machine, Outcome};
use crate::guests::Guests;

use super::{JUDGE, program};

/// Its name on the command line.
pub const NAME: &str = "mte";

/// Programs, what their lines begin with (`None`: all between `NAME: begin` and `NAME: end`), and words for both kernels.
const PROGRAMS: [(&str, Option<&str>, &str); 2] = [("mte", None, ""), ("tags", Some("tags: "), "-- kernel")];

/// Words that choose how a failure is looked for, and the instructions that they add to a system call with FEAT_MTE2.
const CHECKS: [(&str, u64); 3] = [("folded", 0), ("flag", 1), ("feature", 2)];

/// Runs it; a line about how it went.
pub fn check(image: &Path, echo: Echo) -> Result<String> {
    let guests = Guests::prepare(&[JUDGE])?;
    let mut facts = Vec::new();
    for machine in [Machine::Vambrace, Machine::Qemu] {
        for (name, prefix, words) in PROGRAMS {
            let initrd = program::initramfs(name)?;
            let linux = Boot::new(&guests, JUDGE, &format!("quiet loglevel=0 {words}")).with_initrd(&initrd);
            let expected = lines(&with_tags(linux, Level::El1).run(machine, echo)?, name, prefix)?;
            for level in [Level::El1, Level::El2] {
                for cpus in [1, 4] {
                    let mut ours = with_tags(Boot::of(image, Some(&initrd), words), level);
                    ours.cpus = cpus;
                    ours.semihosting = true;
                    let said = lines(&ours.run(machine, echo)?, name, prefix)?;
                    ensure!(
                        said == expected,
                        "{name} on {}, {level:?}, {cpus} CPU(s): Linux says\n{}\n-- ours\n{}",
                        machine.name(),
                        expected.join("\n"),
                        said.join("\n")
                    );
                }
            }
            facts.push(format!("{name} on {}: {} lines as Linux {JUDGE}'s", machine.name(), expected.len()));
        }
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

fn with_tags(mut boot: Boot, level: Level) -> Boot {
    boot.cpu = Some("max");
    boot.level = level;
    boot.qemu_board = ",mte=on";
    boot.max_insns = Some(6_000_000_000);
    boot
}

fn lines(outcome: &Outcome, name: &str, prefix: Option<&str>) -> Result<Vec<String>> {
    let lines: Vec<String> = if let Some(prefix) = prefix {
        outcome.lines_from(prefix).map(str::to_owned).collect()
    } else {
        let (begin, end) = (format!("{name}: begin"), format!("{name}: end"));
        outcome.expect_line(&begin)?;
        outcome.expect_line(&end)?;
        outcome.lines_behind(&begin).take_while(|line| *line != end).map(str::to_owned).collect()
    };
    ensure!(lines.len() > 10, "{name} said little\n{}", outcome.report());
    Ok(lines)
}

/// The kernel's instructions for one getpid: two numbers of calls, and the difference.
fn cost(image: &Path, initrd: &Path, level: Level, words: &str) -> Result<u64> {
    let instructions = |thousands: u64| -> Result<u64> {
        let stats = boot::scratch("kernel-mte.json")?;
        let mut boot = with_tags(Boot::of(image, Some(initrd), &format!("{words} -- loop {thousands}")), level);
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
