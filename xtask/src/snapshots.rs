//! `cargo xtask snapshot`: a run that is saved and restored in the middle ends as one that is not.

use std::fs;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::boot::{self, Boot, Echo, Machine, Outcome};
use crate::boots::expect_demo;
use crate::guests::{Guests, Kernel};
use crate::nested::{self, Nested, Work};
use crate::{setup, twice};

/// Arguments of `cargo xtask snapshot`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The kernel.
    #[arg(long, default_value = "6.1")]
    kernel: Kernel,
    /// Numbers of CPUs.
    #[arg(long, value_delimiter = ',', default_value = "1,4")]
    cpus: Vec<u32>,
    /// Instructions before the snapshot.
    #[arg(long, value_delimiter = ',', default_value = "500000000")]
    at: Vec<u64>,
    /// A kernel at EL2 whose KVM runs a Linux guest, on one CPU, in place of the demonstration.
    #[arg(long)]
    nested: bool,
}

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    setup::ensure(&[setup::Part::Guests])?;
    if args.nested {
        let nested = Nested::new(Work::Check);
        let guests = nested::prepare(&nested)?;
        let boot = nested.boot(&guests, "snapshot-nested")?;
        for at in &args.at {
            println!("{}", check(&boot, *at, |outcome| nested.expect(outcome))?);
        }
        return Ok(());
    }
    let guests = Guests::prepare(&[args.kernel])?;
    boot::build_vambrace()?;
    for cpus in &args.cpus {
        for at in &args.at {
            println!("{}", demo(&guests, args.kernel, *cpus, *at)?);
        }
    }
    Ok(())
}

/// The demonstration's run of `kernel`, saved at `at` instructions.
pub fn demo(guests: &Guests, kernel: Kernel, cpus: u32, at: u64) -> Result<String> {
    let mut boot = Boot::new(guests, kernel, "vambrace.batch=demo");
    boot.cpus = cpus;
    let line = check(&boot, at, |outcome| expect_demo(outcome, cpus))?;
    Ok(format!("{} on {cpus} CPU(s): {line}", kernel.name()))
}

/// Runs `boot` whole, and saved at `at` instructions and restored; `expect` says whether a run went well. Console bytes,
/// statistics and the final state must be the same.
pub fn check(boot: &Boot, at: u64, expect: impl Fn(&Outcome) -> Result<()>) -> Result<String> {
    let stats = boot::scratch("snapshot-whole.json")?;
    let mut whole = boot.clone();
    whole.stats = Some(stats.clone());
    let whole = whole.run(Machine::Vambrace, Echo::Off)?;
    expect(&whole)?;
    let file = boot::scratch("snapshot")?;
    let mut first = boot.clone();
    first.words.extend(["--save".into(), file.display().to_string(), "--at".into(), format!("insns={at}")]);
    let first = first.run(Machine::Vambrace, Echo::Off)?;
    first.expect_status(0)?;
    let restored_stats = boot::scratch("snapshot-restored.json")?;
    let started = Instant::now();
    let mut second = boot.clone();
    second.restore = Some(file.clone());
    second.stats = Some(restored_stats.clone());
    let second = second.run(Machine::Vambrace, Echo::Off)?;
    let seconds = started.elapsed().as_secs_f64();
    second.expect_status(0)?;
    if [first.bytes.clone(), second.bytes.clone()].concat() != whole.bytes {
        bail!("the consoles differ\nsaved:\n{}restored:\n{}", first.report(), second.report());
    }
    if first.bytes.is_empty() || second.bytes.is_empty() {
        bail!("{at} instructions are not in the middle of the run");
    }
    let hash = twice::same_statistics(&fs::read_to_string(&stats)?, &fs::read_to_string(&restored_stats)?)?;
    Ok(format!(
        "saved at {at} instructions ({} KiB, {:.1} s), restored ({seconds:.1} s): both runs end with state hash {hash}",
        fs::metadata(&file)?.len() >> 10,
        first.seconds,
    ))
}
