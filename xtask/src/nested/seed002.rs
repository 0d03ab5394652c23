//! Seed 002's case on Linux: KVM on a CPU whose virtual interrupt controller may raise SErrors (`ICH_VTR_EL2.SEIS`), as
//! Apple's M1 has it, traps the guest's accesses to it: with `TDS` groups 0 and 1 and ICC_DIR_EL1 (`G0G1D`), without it
//! the whole common group (`G0G1C`), ICC_PMR_EL1 with it, which a guest with pseudo-NMI writes all the time.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use super::TRAPPING_LOG as LOG;
use super::{Counts, Nested, Work, commands};
use crate::boot::{self, Echo, Machine};
use crate::guests::{Guests, Kernel};
use crate::setup::{self, Part};

/// Arguments of `cargo xtask seed002`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The host's kernel: 6.1 or 6.12.
    #[arg(long, default_value = "6.1")]
    kernel: Kernel,
    /// hackbench's groups, each of 20 senders and 20 receivers.
    #[arg(long, default_value_t = 2)]
    groups: u32,
    /// hackbench's loops: messages of each sender to each receiver.
    #[arg(long, default_value_t = 100)]
    loops: u32,
}

/// The two CPUs, and what the host's log says on each.
const SIDES: [(&str, &str, &str); 2] =
    [("TDS=0", "seis=on,tds=off", "[G0G1C]"), ("TDS=1", "seis=on,tds=on", "[G0G1D]")];

/// The register that makes the difference.
const PRIORITY_MASK: &str = "ICC_PMR_EL1";

struct Side {
    log: String,
    /// hackbench's own figure: seconds of the guest's time, of which 10^9 instructions are one.
    time: f64,
    by_level: [u64; 3],
    traps: BTreeMap<String, u64>,
    seconds: f64,
}

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    setup::ensure(&[Part::Guests])?;
    let nested = Nested {
        kernel: args.kernel,
        inner_kernel: Kernel::PseudoNmi,
        inner_words: vec!["irqchip.gicv3_pseudo_nmi=1"],
        ..Nested::new(Work::Hackbench { groups: args.groups, loops: args.loops })
    };
    let guests = commands::prepare(&nested)?;
    let [common, dir_only] = SIDES.map(|(name, gic, log)| side(&nested, &guests, gic, log).context(name));
    let (common, dir_only) = (common?, dir_only?);
    print(args, &common, &dir_only);
    let masks = |side: &Side| side.traps.get(PRIORITY_MASK).copied().unwrap_or(0);
    ensure!(masks(&common) > 0, "{PRIORITY_MASK} was not trapped with TDS=0");
    ensure!(masks(&dir_only) == 0, "{PRIORITY_MASK} was trapped with TDS=1");
    Ok(())
}

fn side(nested: &Nested, guests: &Guests, gic: &str, log: &str) -> Result<Side> {
    let stats = boot::scratch("seed002.json")?;
    let mut boot = nested.boot(guests, "seed002")?;
    boot.cpu = Some("apple-m1");
    boot.words = vec!["--gic".to_owned(), gic.to_owned()];
    boot.stats = Some(stats.clone());
    let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
    nested.expect(&outcome)?;
    let line = outcome.line_with(LOG).with_context(|| format!("no line \"{LOG}\"\n{}", outcome.report()))?;
    ensure!(line.contains(log), "the host's log has no {log}: {line}");
    // Printed by the kernel where the mask is in use as such.
    let nmi = outcome.line_with("Pseudo-NMIs enabled");
    ensure!(nmi.is_some(), "the inner guest's log does not say that pseudo-NMIs are enabled\n{}", outcome.report());
    let time = outcome.line_from("Time: ").and_then(|line| line["Time: ".len()..].trim().parse().ok());
    let counts = Counts::read(&stats)?;
    Ok(Side {
        log: line.to_owned(),
        time: time.with_context(|| format!("no time of hackbench\n{}", outcome.report()))?,
        by_level: counts.by_level(),
        traps: counts.traps().into_iter().filter(|(name, _)| name.starts_with("ICC_")).collect(),
        seconds: outcome.seconds,
    })
}

#[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
fn print(args: &Args, common: &Side, dir_only: &Side) {
    let Args { kernel, groups, loops } = args;
    println!(
        "host {kernel} on apple-m1, SEIS=1; guest {} with pseudo-NMI, hackbench -g {groups} -l {loops}",
        Kernel::PseudoNmi
    );
    for ((name, ..), side) in SIDES.iter().zip([common, dir_only]) {
        println!("{name}: {}", side.log);
    }
    println!("{:<28} {:>16} {:>16} {:>9}", "", SIDES[0].0, SIDES[1].0, "ratio");
    let counts = |name: &str, left: u64, right: u64| {
        let ratio = if right == 0 { "-".to_owned() } else { format!("{:.2}", left as f64 / right as f64) };
        println!("{name:<28} {left:>16} {right:>16} {ratio:>9}");
    };
    let seconds = |name: &str, left: f64, right: f64| {
        println!("{name:<28} {left:>16.3} {right:>16.3} {:>9.2}", left / right);
    };
    seconds("hackbench, guest's seconds", common.time, dir_only.time);
    seconds("whole run, host's seconds", common.seconds, dir_only.seconds);
    let total = |side: &Side| side.by_level.iter().sum();
    counts("instructions, whole run", total(common), total(dir_only));
    for (index, level) in ["EL0", "EL1", "EL2"].into_iter().enumerate() {
        counts(&format!("  {level}"), common.by_level[index], dir_only.by_level[index]);
    }
    println!("trapped accesses");
    let names: std::collections::BTreeSet<&String> = common.traps.keys().chain(dir_only.traps.keys()).collect();
    for name in names {
        let of = |side: &Side| side.traps.get(name).copied().unwrap_or(0);
        counts(&format!("  {name}"), of(common), of(dir_only));
    }
}
