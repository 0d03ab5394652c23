//! `cargo xtask nested`: hosts, modes and numbers of CPUs as a table; trapping of the interrupt controller's registers.

use anyhow::{Result, bail};

use super::{Counts, Mode, Nested, Work};
use crate::boot::{self, Boot, Echo, Gic, Machine, build_vambrace};
use crate::guests::{Guests, Kernel};
use crate::{setup, twice};

/// Arguments of `cargo xtask nested`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Every combination of what is given, as a table.
    Matrix(Matrix),
    /// The host traps the guest's accesses to the interrupt controller by group, as its own options force it to.
    Traps,
    /// Two runs are the same.
    Twice,
    /// One level more, by FEAT_NV2: the host gives its guest an EL2, and that makes a virtual machine of its own.
    Deep(super::deep::Args),
}

#[derive(Debug, clap::Args)]
struct Matrix {
    /// The hosts' kernels.
    #[arg(long, value_delimiter = ',', default_value = "6.1,6.12,newest")]
    kernels: Vec<Kernel>,
    /// The inner guest's kernel.
    #[arg(long, default_value = "6.1")]
    inner_kernel: Kernel,
    /// CPUs of the host.
    #[arg(long, value_delimiter = ',', default_value = "1")]
    cpus: Vec<u32>,
    /// CPUs of the inner guest.
    #[arg(long, value_delimiter = ',', default_value = "1")]
    inner_cpus: Vec<u32>,
    /// How the hosts use EL2.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "vhe,nvhe,protected")]
    modes: Vec<Mode>,
    /// The version of the interrupt controller, that of the inner guest too.
    #[arg(long, value_enum, default_value = "3")]
    gic: Gic,
    /// On QEMU as well.
    #[arg(long)]
    qemu: bool,
}

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    setup::ensure(&[setup::Part::Guests])?;
    match &args.what {
        What::Matrix(matrix) => run_matrix(matrix),
        What::Traps => run_traps(),
        What::Deep(deep) => super::deep::run(deep),
        What::Twice => {
            let nested = Nested::new(Work::Check);
            let guests = prepare(&nested)?;
            let hashes = twice::check(&nested.boot(&guests, "nested-twice")?, |outcome| nested.expect(outcome))?;
            println!("first run:  state hash {}\nsecond run: state hash {}", hashes[0], hashes[1]);
            Ok(())
        }
    }
}

/// The kernels, and a release build.
pub fn prepare(nested: &Nested) -> Result<Guests> {
    let guests = Guests::prepare(&nested.kernels())?;
    build_vambrace()?;
    Ok(guests)
}

fn run_matrix(matrix: &Matrix) -> Result<()> {
    if matrix.qemu {
        setup::ensure(&[setup::Part::QemuSystem])?;
    }
    let mut kernels = matrix.kernels.clone();
    kernels.push(matrix.inner_kernel);
    let guests = Guests::prepare(&kernels)?;
    build_vambrace()?;
    let machines: &[Machine] = if matrix.qemu { &[Machine::Vambrace, Machine::Qemu] } else { &[Machine::Vambrace] };
    let mut failures = Vec::new();
    println!(
        "{:<8} {:<10} {:>4} {:>6}  {:<9} {:>8}  {:<5} {:>14} {:>14} {:>14}",
        "host", "mode", "CPUs", "vCPUs", "machine", "seconds", "good", "EL0", "EL1", "EL2"
    );
    for (kernel, mode, cpus, inner_cpus) in cases(matrix) {
        let Matrix { inner_kernel, gic, .. } = *matrix;
        let nested = Nested { kernel, inner_kernel, cpus, inner_cpus, mode, gic, ..Nested::new(Work::Check) };
        for machine in machines {
            let stats = boot::scratch("nested-matrix.json")?;
            let mut boot = nested.boot(&guests, "nested-matrix")?;
            boot.stats = Some(stats.clone());
            let outcome = boot.run(*machine, Echo::Off)?;
            let verdict = nested.expect(&outcome);
            let counts = match (machine, &verdict) {
                (Machine::Vambrace, Ok(())) => Counts::read(&stats)?.by_level().map(|count| count.to_string()),
                _ => ["-"; 3].map(str::to_owned),
            };
            println!(
                "{:<8} {:<10} {cpus:>4} {inner_cpus:>6}  {:<9} {:>8.2}  {:<5} {:>14} {:>14} {:>14}",
                kernel.name(),
                mode.name(),
                machine.name(),
                outcome.seconds,
                if verdict.is_ok() { "yes" } else { "NO" },
                counts[0],
                counts[1],
                counts[2]
            );
            if let Err(error) = verdict {
                failures.push(format!("{kernel} {} on {}: {error:#}", mode.name(), machine.name()));
            }
        }
    }
    if !failures.is_empty() {
        bail!("{} run(s) failed\n{}", failures.len(), failures.join("\n"));
    }
    Ok(())
}

fn cases(matrix: &Matrix) -> Vec<(Kernel, Mode, u32, u32)> {
    let mut cases = Vec::new();
    for &kernel in &matrix.kernels {
        for &mode in &matrix.modes {
            for &cpus in &matrix.cpus {
                cases.extend(matrix.inner_cpus.iter().map(|inner_cpus| (kernel, mode, cpus, *inner_cpus)));
            }
        }
    }
    cases
}

/// The host's options, and what its log says of them in `GICv3 sysreg trapping enabled ([...]`.
const TRAPS: [(Option<&str>, &str); 4] = [
    (None, ""),
    (Some("kvm-arm.vgic_v3_group0_trap=1"), "[G0"),
    (Some("kvm-arm.vgic_v3_group1_trap=1"), "[G1"),
    (Some("kvm-arm.vgic_v3_common_trap=1"), "[C"),
];

fn run_traps() -> Result<()> {
    let guests = prepare(&Nested::new(Work::Check))?;
    for (word, log) in TRAPS {
        let nested = Nested { host_words: word.into_iter().collect(), ..Nested::new(Work::Check) };
        let stats = boot::scratch("nested-traps.json")?;
        let mut boot: Boot = nested.boot(&guests, "nested-traps")?;
        boot.stats = Some(stats.clone());
        let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
        nested.expect(&outcome)?;
        let line = outcome.line_with(TRAPPING_LOG);
        match line {
            Some(line) if word.is_none() => bail!("the host traps without being told to: {line}"),
            None if word.is_some() => bail!("the host's log has no \"{TRAPPING_LOG}\"\n{}", outcome.report()),
            Some(line) if !line.contains(log) => bail!("the host's log has no \"{log}\" in: {line}"),
            _ => {}
        }
        println!("{}", word.unwrap_or("no trapping"));
        println!("  {}", line.unwrap_or("(no line in the host's log)"));
        let counts = Counts::read(&stats)?;
        let [el0, el1, el2] = counts.by_level();
        println!("  instructions: EL0 {el0}, EL1 {el1}, EL2 {el2}");
        let icc: Vec<(String, u64)> = counts.traps().into_iter().filter(|(name, _)| name.starts_with("ICC_")).collect();
        for (name, count) in &icc {
            println!("  {name:<18} {count:>10}");
        }
        // ICC_SRE_EL1 is trapped in any case, and as many groups are as were asked for.
        let trapped = icc.iter().any(|(name, _)| name != "ICC_SRE_EL1");
        if trapped != word.is_some() {
            bail!("trapped accesses do not go with {}", word.unwrap_or("no option"));
        }
    }
    Ok(())
}

/// The host's line about trapping.
pub const TRAPPING_LOG: &str = "GICv3 sysreg trapping enabled";
