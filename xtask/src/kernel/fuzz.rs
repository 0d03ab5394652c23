//! `--run fuzz`: `guest/el0/fuzz.c`, which does to the kernel what EL0 can. The kernel must live, and at the end have what it
//! had after the first round.

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::boot::{self, Boot, Echo, Level, Machine, Outcome};

use super::program;

/// Its name on the command line.
pub const NAME: &str = "fuzz";

const CPUS: u32 = 4;

/// Where it runs. A Cortex-A57 has no FEAT_VHE: there the kernel leaves EL2.
const PLACES: [(Machine, Level, &str); 6] = [
    (Machine::Vambrace, Level::El1, "max"),
    (Machine::Vambrace, Level::El2, "max"),
    (Machine::Vambrace, Level::El1, "cortex-a57"),
    (Machine::Vambrace, Level::El2, "cortex-a57"),
    (Machine::Qemu, Level::El1, "cortex-a57"),
    (Machine::Qemu, Level::El2, "max"),
];

/// What may be left over at the end, by the names of /proc/frames: pages of pid 1 itself, and of the kernel's own only what
/// grows to some size once, such as queues and the 256 lists of futexes.
const MAY_GROW: [(&str, u64); 5] = [("user", 32), ("tables", 0), ("kernel", 16), ("objects", 320), ("blocks", 8)];

/// How long, and from where.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// For the run `fuzz`: where its random numbers begin.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// For the run `fuzz`: it lasts for so many million instructions on each machine.
    #[arg(long, default_value_t = 200)]
    millions: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 1, millions: 200 }
    }
}

static CHOSEN: OnceLock<Options> = OnceLock::new();

/// Options of the command line, for [`check`].
pub fn choose(options: &Options) {
    let _ = CHOSEN.set(options.clone());
}

/// Runs it; a line about how it went.
pub fn check(image: &Path, echo: Echo) -> Result<String> {
    let Options { seed, millions } = *CHOSEN.get_or_init(Options::default);
    let initrd = program::initramfs(NAME)?;
    let mut facts = Vec::new();
    for (machine, level, cpu) in PLACES {
        let name = format!("{} {level:?} {cpu}", machine.name());
        let instructions = run(image, &initrd, (machine, level, cpu), seed, millions, echo)
            .with_context(|| format!("{NAME}: {name}"))?;
        facts.push(match instructions {
            Some(count) => format!("{name} {} M instructions", count / 1_000_000),
            None => name,
        });
    }
    Ok(format!("{NAME}: seed {seed}, {CPUS} CPUs: {}", facts.join(", ")))
}

/// The instructions that it took, on Vambrace.
fn run(
    image: &Path,
    initrd: &Path,
    (machine, level, cpu): (Machine, Level, &'static str),
    seed: u64,
    millions: u64,
    echo: Echo,
) -> Result<Option<u64>> {
    // Its four CPUs execute more than two million in a millisecond of the guest's time; on QEMU that is the host's.
    let milliseconds = match machine {
        Machine::Vambrace => millions / 2,
        Machine::Qemu => (millions * 10).min(10_000),
    };
    let stats = boot::scratch("kernel-fuzz.json")?;
    let mut boot = Boot::of(image, Some(initrd), &format!("-- {seed} {milliseconds}"));
    boot.cpus = CPUS;
    boot.cpu = Some(cpu);
    boot.level = level;
    boot.memory = 512;
    boot.semihosting = true;
    boot.stats = Some(stats.clone());
    boot.max_insns = Some(10 * millions * 1_000_000);
    boot.limit = Duration::from_secs(120 + millions);
    let outcome = boot.run(machine, echo)?;
    outcome.expect_status(0)?;
    outcome.expect_line("fuzz: done")?;
    for (name, more) in MAY_GROW {
        let (first, last) = (counted(&outcome, "first", name)?, counted(&outcome, "last", name)?);
        ensure!(last <= first + more, "{name}: {first} after the first round, {last} at the end\n{}", outcome.report());
    }
    if machine == Machine::Qemu {
        return Ok(None);
    }
    let count = boot::instructions(&stats)?;
    ensure!(count >= millions * 1_000_000, "only {count} instructions");
    Ok(Some(count))
}

fn counted(outcome: &Outcome, when: &str, name: &str) -> Result<u64> {
    let prefix = format!("fuzz: {when} {name} ");
    let line = outcome.line_from(&prefix).with_context(|| format!("no line `{prefix}`\n{}", outcome.report()))?;
    Ok(line[prefix.len()..].trim().parse()?)
}
