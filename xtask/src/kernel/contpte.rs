//! `--run contpte`: blocks of contiguous pages folded and unfolded in each of the three stages. What the kernel counts is
//! what `guest/el0/contpte.c` must bring about, and the machine's own counts of TLBI and DSB say the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::boot::{self, Boot, Echo, Level, Machine, Outcome};
use crate::shell;

use super::program;

/// Its name on the command line.
pub const NAME: &str = "contpte";

/// Rounds and blocks of the program.
const LOOPS: u64 = 20;
const BLOCKS: u64 = 32;
/// Pages of a block.
const PAGES: u64 = 16;

/// What one run counted: by the kernel, and by the machine.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    tlbis: u64,
    dsbs: u64,
    machine: Option<(u64, u64)>,
}

/// Runs it; a line about how it went.
pub fn check(image: &Path, echo: Echo) -> Result<String> {
    let program = program::build("contpte")?;
    let judge = shell::capture(Command::new("qemu-aarch64").arg(&program))?;
    ensure!(judge == "contpte: right\n", "under qemu-aarch64: {judge}");
    let initrd = program::initramfs("contpte")?;

    let mut facts = Vec::new();
    for level in [Level::El1, Level::El2] {
        let vambrace = |stage| run(image, &initrd, stage, level, Machine::Vambrace, echo);
        let elided = vambrace("elide")?;
        let (tlbis, dsbs) = elided.machine.context("no statistics")?;
        ensure!((elided.tlbis, elided.dsbs) == (0, 0), "elide: {elided:?}");
        for stage in ["bbm0", "delay"] {
            let counts = vambrace(stage)?;
            let converts = 2 * LOOPS * BLOCKS + BLOCKS;
            ensure!((counts.tlbis, counts.dsbs) == (converts * PAGES, 2 * converts), "{stage}: {counts:?}");
            let (all_tlbis, all_dsbs) = counts.machine.context("no statistics")?;
            // Everything else is the same in all stages.
            let own = (all_tlbis - tlbis, all_dsbs - dsbs);
            ensure!(own == (counts.tlbis, counts.dsbs), "{stage}: the machine counts {own:?}, the kernel {counts:?}");
            facts.push(format!("{level:?} {stage} {PAGES} TLBI 2 DSB"));
        }
        facts.push(format!("{level:?} elide 0 TLBI 0 DSB"));
        for stage in ["bbm0", "delay", "elide"] {
            run(image, &initrd, stage, level, Machine::Qemu, echo)?;
        }
    }
    Ok(format!("{NAME}: per convert: {}; the machine counts the same", facts.join(", ")))
}

fn run(image: &Path, initrd: &Path, stage: &str, level: Level, machine: Machine, echo: Echo) -> Result<Counts> {
    let stats: PathBuf = boot::scratch("kernel-contpte.json")?;
    let mut boot = Boot::of(image, Some(initrd), &format!("bbm=noabort contpte={stage}"));
    boot.cpu = Some("max");
    boot.level = level;
    boot.semihosting = true;
    boot.max_insns = Some(100_000_000);
    boot.stats = Some(stats.clone());
    let outcome = boot.run(machine, echo)?;
    outcome.expect_status(0)?;
    outcome.expect_line("contpte: right")?;
    outcome.expect_line(&format!("contpte: given back stage {stage}"))?;
    let wanted = [("populated", "folds", 0), ("populated", "blocks", BLOCKS), ("changed", "folds", LOOPS * BLOCKS)];
    let also = [("changed", "unfolds", LOOPS * BLOCKS), ("given back", "unfolds", LOOPS * BLOCKS + BLOCKS)];
    for (step, name, value) in wanted.into_iter().chain(also) {
        ensure!(counted(&outcome, step, name)? == value, "{step}: {name} is not {value}\n{}", outcome.report());
    }
    let machine = match machine {
        Machine::Vambrace => Some(machine_counts(&stats)?),
        Machine::Qemu => None,
    };
    let last = |name| counted(&outcome, "given back", name);
    Ok(Counts { tlbis: last("tlbis")?, dsbs: last("dsbs")?, machine })
}

fn counted(outcome: &Outcome, step: &str, name: &str) -> Result<u64> {
    let prefix = format!("contpte: {step} {name} ");
    let line = outcome.line_from(&prefix).with_context(|| format!("no line `{prefix}`\n{}", outcome.report()))?;
    Ok(line[prefix.len()..].trim().parse()?)
}

/// TLBI VALE1IS and DSB, of the machine's statistics.
fn machine_counts(stats: &Path) -> Result<(u64, u64)> {
    let json: serde_json::Value = serde_json::from_str(&fs::read_to_string(stats)?)?;
    let number = |pointer: &str| {
        json.pointer(pointer)
            .and_then(serde_json::Value::as_u64)
            .with_context(|| format!("no {pointer} in the statistics"))
    };
    Ok((number("/tlb_invalidations/VALE1IS/times")?, number("/barriers/DSB")?))
}
