//! `cargo xtask boots`: every kernel on every number of CPUs, as a table. The longer command; CI
//! boots one kernel (see `test`).

use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::bench::median;
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
    /// Seconds after which a run is killed. Some of QEMU with many CPUs never end.
    #[arg(long, default_value_t = 300)]
    limit: u64,
    /// Runs of each on both machines, of which the seconds are the medians.
    #[arg(long, default_value_t = 1)]
    runs: usize,
    /// Leaves QEMU out.
    #[arg(long)]
    without_qemu: bool,
}

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    let kernels = parse_kernels(&args.kernels)?;
    setup::ensure(&[setup::Part::Guests])?;
    if !args.without_qemu {
        setup::ensure(&[setup::Part::QemuSystem])?;
    }
    let guests = Guests::prepare(&kernels)?;
    // All kernels are here now, of which CI has one.
    shell::run(&mut guest_tests(&guests))?;
    boot::build_vambrace()?;
    let stats = boot::scratch("boots.json")?;
    println!(
        "{:<8} {:>4}  {:<12} {:>14} {:>9} {:>12}  {:<9} good",
        "kernel", "cpus", "exit status", "instructions", "seconds", "qemu seconds", "nproc"
    );
    let mut failures = Vec::new();
    for &kernel in &kernels {
        for &cpus in &args.cpus {
            let mut boot = Boot::new(&guests, kernel, "vambrace.batch=demo");
            boot.cpus = cpus;
            boot.stats = Some(stats.clone());
            boot.limit = Duration::from_secs(args.limit);
            let mut runs = Runs::default();
            for _ in 0..args.runs {
                runs.vambrace.push(boot.run(Machine::Vambrace, Echo::Off)?);
                if !args.without_qemu {
                    runs.qemu.push(boot.run(Machine::Qemu, Echo::Off)?);
                }
            }
            let instructions = boot::instructions(&stats).map_or_else(|_| "-".to_owned(), |count| count.to_string());
            // A run that died leaves none; the file of the run before must not stand in.
            let _ = std::fs::remove_file(&stats);
            let verdict = runs.vambrace.iter().try_for_each(|outcome| expect_demo(outcome, cpus));
            let last = runs.vambrace.last().context("--runs 0 runs nothing")?;
            println!(
                "{:<8} {cpus:>4}  {:<12} {instructions:>14} {:>9.2} {:>12}  {:<9} {}",
                kernel.name(),
                last.status(),
                seconds(&runs.vambrace),
                if runs.qemu.is_empty() { "-".to_owned() } else { format!("{:.2}", seconds(&runs.qemu)) },
                last.line_from("nproc: ").map_or("-", |line| &line["nproc: ".len()..]),
                if verdict.is_ok() { "yes" } else { "NO" }
            );
            for outcome in &runs.qemu {
                if let Err(error) = expect_demo(outcome, cpus) {
                    let why = error.to_string();
                    println!("{:8} {:4}  QEMU: {}", "", "", why.lines().next().unwrap_or_default());
                }
            }
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

/// One row's runs.
#[derive(Default)]
struct Runs {
    vambrace: Vec<Outcome>,
    qemu: Vec<Outcome>,
}

/// The median; a run that was killed at its limit has no end.
fn seconds(runs: &[Outcome]) -> f64 {
    let seconds: Vec<f64> =
        runs.iter().map(|run| if run.is_over_limit() { f64::INFINITY } else { run.seconds }).collect();
    median(&seconds)
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
