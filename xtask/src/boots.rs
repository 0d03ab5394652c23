//! `cargo xtask boots`: every kernel on every number of CPUs, as a table. The longer command; CI
//! boots one kernel (see `test`).

use std::time::Duration;

use anyhow::{Result, bail};

use crate::boot::{self, Boot, Echo, Machine, Outcome};
use crate::guests::{Guests, Kernel};
use crate::test::guest_tests;
use crate::{setup, shell};

/// Arguments of `cargo xtask boots`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Numbers of CPUs, with commas between.
    #[arg(long, value_delimiter = ',', default_value = "1,4")]
    cpus: Vec<u32>,
    /// Kernels, with commas between, or `all`.
    #[arg(long, value_delimiter = ',', default_value = "all")]
    kernels: Vec<String>,
    /// Seconds after which a run is killed.
    #[arg(long, default_value_t = 600)]
    limit: u64,
}

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    let kernels = parse_kernels(&args.kernels)?;
    setup::ensure(&[setup::Part::Guests])?;
    let guests = Guests::prepare(&kernels)?;
    // All kernels are here now, of which CI has one.
    shell::run(&mut guest_tests(&guests))?;
    boot::build_vambrace()?;
    let stats = boot::scratch("boots.json")?;
    println!(
        "{:<8} {:>4}  {:<12} {:>14} {:>9}  {:<9} good",
        "kernel", "cpus", "exit status", "instructions", "seconds", "nproc"
    );
    let mut failures = Vec::new();
    for &kernel in &kernels {
        for &cpus in &args.cpus {
            let mut boot = Boot::new(&guests, kernel, "vambrace.batch=demo");
            boot.cpus = cpus;
            boot.stats = Some(stats.clone());
            boot.limit = Duration::from_secs(args.limit);
            let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
            let verdict = expect_demo(&outcome, cpus);
            let instructions = boot::instructions(&stats).map_or_else(|_| "-".to_owned(), |count| count.to_string());
            // A run that died leaves none; the file of the run before must not stand in.
            let _ = std::fs::remove_file(&stats);
            println!(
                "{:<8} {cpus:>4}  {:<12} {instructions:>14} {:>9.2}  {:<9} {}",
                kernel.name(),
                outcome.status(),
                outcome.seconds,
                outcome.line_from("nproc: ").map_or("-", |line| &line["nproc: ".len()..]),
                if verdict.is_ok() { "yes" } else { "NO" }
            );
            if let Err(error) = verdict {
                failures.push(format!("{kernel} on {cpus} CPU(s): {error:#}"));
            }
        }
    }
    if !failures.is_empty() {
        bail!("{} boot(s) failed\n{}", failures.len(), failures.join("\n"));
    }
    Ok(())
}

/// The batch `demo` went as it should on that many CPUs.
pub fn expect_demo(outcome: &Outcome, cpus: u32) -> Result<()> {
    outcome.expect_status(0)?;
    if outcome.line_from("Linux ").is_none() {
        bail!("the guest did not print its `uname -a`\n{}", outcome.report());
    }
    outcome.expect_line(&format!("nproc: {cpus}"))?;
    outcome.expect_line("vambrace-batch: demo: status 0")
}

fn parse_kernels(names: &[String]) -> Result<Vec<Kernel>> {
    if names.iter().any(|name| name == "all") {
        return Ok(Kernel::ALL.to_vec());
    }
    names.iter().map(|name| name.parse().map_err(anyhow::Error::msg)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_by_name_or_all() {
        assert_eq!(parse_kernels(&["all".into()]).unwrap(), Kernel::ALL);
        let two = parse_kernels(&["6.1".into(), "newest".into()]).unwrap();
        assert_eq!(two, [Kernel::V6_1, Kernel::Newest]);
        assert!(parse_kernels(&["4.4".into()]).is_err());
    }
}
