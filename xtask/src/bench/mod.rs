//! `cargo xtask bench`: Vambrace beside QEMU on the same guest and host.
//!
//! A bench gives rows; a row holds what each machine took in each run. Runs of the two machines
//! alternate, so that a slow spell of the host hits both; tables show medians.

mod blk;
mod boot;
mod events;
mod memory;
mod nested;
mod programs;
mod spin;

use anyhow::{Context, Result, bail};

use crate::boot::{Boot, Echo, Machine, Outcome, build_vambrace};
use crate::guests::{Guests, Kernel};
use crate::setup::{self, Part};

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Bench {
    /// Boot of 6.1 on one CPU to init and power-off.
    Boot,
    /// The same on 1, 8 and 64 CPUs.
    Boots,
    /// An integer loop in EL0.
    Int,
    /// getpid(2), with and without KPTI.
    Getpid,
    /// Integer, floating point, NEON, system call, fork, page fault, hackbench.
    Programs,
    /// What events cost while nobody hears them, beside a build without.
    Events,
    /// Sequential reads of a disk, beside a driver that reads nothing.
    Blk,
    /// 6.1 at EL2 with a 6.1 guest of its KVM, to the guest's shell.
    Nested,
    /// What is left of one CPU's throughput where many wait for one, or work in turn (Vambrace alone).
    Spin,
    /// Memory beyond the guest's RAM (Vambrace alone).
    Memory,
}

/// Arguments of `cargo xtask bench`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to measure.
    #[arg(value_enum, default_values = ["boots", "programs"])]
    benches: Vec<Bench>,
    /// Runs of each machine.
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// The CPU that both machines present: cortex-a57 or neoverse-n1.
    #[arg(long, default_value = "cortex-a57", value_parser = ["cortex-a57", "neoverse-n1"])]
    cpu: String,
}

/// The kernel of all benches.
const KERNEL: Kernel = Kernel::V6_1;

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    if args.runs == 0 {
        bail!("--runs 0 measures nothing");
    }
    setup::ensure(&[Part::Guests, Part::QemuSystem])?;
    if args
        .benches
        .iter()
        .any(|bench| matches!(bench, Bench::Int | Bench::Getpid | Bench::Programs | Bench::Events | Bench::Spin))
    {
        setup::ensure(&[Part::Cross])?;
    }
    let guests = Guests::prepare(&[KERNEL])?;
    build_vambrace()?;
    let lab = Lab { guests: &guests, runs: args.runs, cpu: cpu_name(&args.cpu) };
    for bench in &args.benches {
        let report = match bench {
            Bench::Boot => boot::measure(&lab, &[1])?,
            Bench::Boots => boot::measure(&lab, &[1, 8, 64])?,
            Bench::Programs => programs::all(&lab)?,
            Bench::Blk => blk::measure(&lab)?,
            Bench::Events => events::measure(&lab)?,
            Bench::Int => programs::integer(&lab)?,
            Bench::Getpid => programs::getpid(&lab)?,
            Bench::Nested => nested::measure(&lab)?,
            Bench::Spin => {
                spin::measure(args.runs)?;
                continue;
            }
            Bench::Memory => {
                memory::measure(&guests)?;
                continue;
            }
        };
        report.print(args.runs);
    }
    Ok(())
}

fn cpu_name(name: &str) -> &'static str {
    if name == "neoverse-n1" { "neoverse-n1" } else { "cortex-a57" }
}

/// What every bench needs.
struct Lab<'a> {
    guests: &'a Guests,
    runs: usize,
    cpu: &'static str,
}

impl Lab<'_> {
    /// Runs of every one of `boots` in turn, on both machines, as often as asked: so that a machine that gets slower gets
    /// slower for all. `value` takes the figure from a run that ended well.
    fn alternate(&self, boots: &[Boot], value: impl Fn(&Outcome) -> Result<f64>) -> Result<Vec<Pair>> {
        let figures = self.alternate_figures(boots, |outcome| Ok([value(outcome)?]))?;
        Ok(figures.into_iter().map(|[pair]| pair).collect())
    }

    /// The same for several figures of each run. A run of QEMU that reaches its limit counts as one without end: with many
    /// CPUs some stall.
    fn alternate_figures<const N: usize>(
        &self,
        boots: &[Boot],
        values: impl Fn(&Outcome) -> Result<[f64; N]>,
    ) -> Result<Vec<[Pair; N]>> {
        let mut pairs: Vec<[Pair; N]> = boots.iter().map(|_| std::array::from_fn(|_| Pair::default())).collect();
        for _ in 0..self.runs {
            for (boot, pairs) in boots.iter().zip(&mut pairs) {
                for machine in [Machine::Vambrace, Machine::Qemu] {
                    let outcome = boot.run(machine, Echo::Off)?;
                    let taken = if machine == Machine::Qemu && outcome.is_over_limit() {
                        [f64::INFINITY; N]
                    } else {
                        let taken = outcome.expect_status(0).and_then(|()| values(&outcome));
                        taken.with_context(|| format!("a run on {} went wrong", machine.name()))?
                    };
                    for (pair, taken) in pairs.iter_mut().zip(taken) {
                        match machine {
                            Machine::Vambrace => pair.ours.push(taken),
                            Machine::Qemu => pair.qemus.push(taken),
                        }
                    }
                }
            }
        }
        Ok(pairs)
    }
}

/// Figures of all runs.
#[derive(Debug, Default)]
struct Pair {
    ours: Vec<f64>,
    qemus: Vec<f64>,
}

impl Pair {
    fn map(&self, f: impl Fn(f64) -> f64 + Copy) -> Self {
        Self { ours: self.ours.iter().copied().map(f).collect(), qemus: self.qemus.iter().copied().map(f).collect() }
    }
}

/// One line of a table.
struct Row {
    name: String,
    unit: &'static str,
    pair: Pair,
}

/// A table and the sentences below it.
struct Report {
    /// What the two columns of figures are of.
    columns: [&'static str; 2],
    rows: Vec<Row>,
    notes: Vec<String>,
}

impl Report {
    fn print(&self, runs: usize) {
        println!(
            "{:<36} {:>12} {:>12} {:>8}   (medians of {runs})",
            "bench", self.columns[0], self.columns[1], "ratio"
        );
        for row in &self.rows {
            let (ours, qemus) = (median(&row.pair.ours), median(&row.pair.qemus));
            let name = format!("{} [{}]", row.name, row.unit);
            println!("{name:<36} {ours:>12.3} {qemus:>12.3} {:>8.2}", ours / qemus);
        }
        for note in &self.notes {
            println!("{note}");
        }
    }
}

/// The columns of most tables.
const MACHINES: [&str; 2] = ["vambrace", "qemu"];

/// Counts for division.
#[expect(clippy::cast_precision_loss, reason = "counts of instructions stay below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}

/// The middle value; the mean of the two in the middle for an even number. 0 values give NaN.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.len(), sorted.len() / 2) {
        (0, _) => f64::NAN,
        (length, middle) if length % 2 == 1 => sorted[middle],
        (_, middle) => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < f64::EPSILON);
        assert!(median(&[]).is_nan());
    }
}
