//! Many CPUs on one host thread (`guest/bare/spin.S`): the instructions that get done in a second of the host's CPU time,
//! beside those of one CPU. Vambrace alone; it fails where less than [`LEAST`] is left.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};

use super::{float, median};
use crate::boot::{Boot, Machine};
use crate::cross;
use crate::shell;

/// What the CPUs do.
struct Way {
    /// `WAY` in `guest/bare/spin.S`.
    number: u32,
    what: &'static str,
}

const WAYS: [Way; 8] = [
    Way { number: 1, what: "others wait by WFE" },
    Way { number: 2, what: "others wait by YIELD" },
    Way { number: 3, what: "others wait by loads" },
    Way { number: 4, what: "others wait by loads and ISB" },
    Way { number: 5, what: "others wait by exclusives" },
    Way { number: SLEEP, what: "others sleep in WFI" },
    Way { number: 7, what: "all work" },
    Way { number: 8, what: "one after the other works" },
];
const SLEEP: u32 = 6;

/// Numbers of CPUs; the first is what others are compared with.
const CPUS: [u32; 3] = [1, 4, 64];
/// The loops that get done, on all CPUs together, and instructions in one.
const ROUNDS: u64 = 8_000_000;
const ROUND: u64 = 16;
/// The same for a run that shows what starting a machine costs.
const NO_ROUNDS: u64 = 8192;
/// The throughput that is to be left.
const LEAST: f64 = 0.7;
/// Ticks in a round of the machine's.
const QUANTUM: u64 = 10_000;

/// Prints the table.
pub fn measure(runs: usize) -> Result<()> {
    println!("{:<30} {:>6} {:>10} {:>8} {:>14}", "bench", "CPUs", "MIPS", "ratio", "ns a round");
    let mut low = Vec::new();
    for way in &WAYS {
        let mut alone = f64::NAN;
        for cpus in CPUS {
            let seconds = seconds(way, cpus, runs)?;
            let mips = float(ROUNDS * ROUND) / seconds / 1e6;
            if cpus == CPUS[0] {
                alone = mips;
            }
            let ratio = mips / alone;
            // What the other CPUs' turns cost.
            let rounds = float(ROUNDS * ROUND) / float(QUANTUM);
            let cost = if way.number <= SLEEP {
                format!("{:>14.0}", (seconds - float(ROUNDS * ROUND) / alone / 1e6) / rounds * 1e9)
            } else {
                String::new()
            };
            println!("{:<30} {cpus:>6} {mips:>10.1} {ratio:>8.2} {cost}", way.what);
            if ratio < LEAST {
                low.push(format!("{} with {cpus} CPUs", way.what));
            }
        }
    }
    ensure!(low.is_empty(), "less than {LEAST} of one CPU's throughput: {}", low.join(", "));
    Ok(())
}

/// Seconds of CPU time that the work takes, without those that a machine takes to start: medians.
fn seconds(way: &Way, cpus: u32, runs: usize) -> Result<f64> {
    let (work, start) = (build(way, ROUNDS)?, build(way, NO_ROUNDS)?);
    let mut taken = Vec::new();
    for _ in 0..runs {
        taken.push(run(&work, cpus)? - run(&start, cpus)?);
    }
    Ok(median(&taken))
}

fn build(way: &Way, rounds: u64) -> Result<PathBuf> {
    let (number, rounds_flag) = (format!("-DWAY={}", way.number), format!("-DROUNDS={rounds}"));
    let flags = ["-nostdlib", "-Wl,-Ttext=0x40200000", &number, &rounds_flag];
    cross::compile("bare/spin.S", &format!("spin-{}-{rounds}", way.number), flags)
}

/// CPU seconds of one run.
fn run(program: &std::path::Path, cpus: u32) -> Result<f64> {
    let mut boot = Boot::of(program, None, "");
    boot.cpus = cpus;
    boot.memory = 64;
    let before = seconds_of_children()?;
    let mut command = boot.command(Machine::Vambrace);
    let output = command.stdin(Stdio::null()).output().context("cannot start vambrace")?;
    if !output.status.success() {
        bail!("{}: {}\n{}", shell::display(&command), output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(seconds_of_children()? - before)
}

/// CPU time of this process's children that have ended, in the kernel as well: `cutime` and `cstime` of proc(5), in
/// hundredths of a second.
fn seconds_of_children() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat").context("cannot read /proc/self/stat")?;
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let mut fields = behind_name.split_whitespace().skip(13).map(str::parse::<u64>);
    match (fields.next(), fields.next()) {
        (Some(Ok(user)), Some(Ok(system))) => Ok(float(user + system) / 100.0),
        _ => bail!("/proc/self/stat is not as proc(5) has it: {stat}"),
    }
}
