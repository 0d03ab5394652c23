//! `--run siblings`: an address space that changes under the hands of threads on other CPUs. `guest/el0/siblings.c` says the
//! same in each of the three stages of contiguous pages, at both levels, and under Linux, whose own contiguous pages are
//! switched on. What each stage promises of its conversions is what the kernel counts, and what the machine does. (Not on
//! QEMU: where CPUs that never rest take turns on one thread, the first part does not end within minutes.)

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::boot::{self, Boot, Echo, Level, Machine, Outcome};
use crate::guests::Guests;

use super::{CPU_JUDGE, program};

/// Its name on the command line.
pub const NAME: &str = "siblings";

const CPUS: u32 = 4;
/// Conversions of the program's first part: rounds, blocks, and two of each.
const CONVERTS: u64 = 20 * 32 * 2;
/// Pages of a block.
const PAGES: u64 = 16;
const STAGES: [&str; 3] = ["elide", "bbm0", "delay"];

/// Runs it; a line about how it went.
pub fn check(image: &Path, echo: Echo) -> Result<String> {
    let initrd = program::initramfs("siblings")?;
    let mut facts = Vec::new();
    let guests = Guests::prepare(&[CPU_JUDGE])?;
    let mut linux = Boot::new(&guests, CPU_JUDGE, "quiet loglevel=0 thp_anon=64K:always").with_initrd(&initrd);
    linux.cpus = CPUS;
    linux.cpu = Some("max");
    linux.level = Level::El1;
    linux.max_insns = Some(6_000_000_000);
    let expected = lines(&linux.run(Machine::Vambrace, echo)?)?;
    for line in expected.iter().filter(|line| line.contains(" of ")) {
        let mut numbers = line.split(' ').rev();
        let (of, value) = (numbers.next(), numbers.nth(1));
        ensure!(of == value, "under Linux: {line}");
    }
    facts.push(format!("{} lines as Linux {CPU_JUDGE}'s", expected.len()));
    for level in [Level::El1, Level::El2] {
        let mut broadcasts = Vec::new();
        for stage in STAGES {
            let stats: PathBuf = boot::scratch("kernel-siblings.json")?;
            let mut ours = Boot::of(image, Some(&initrd), &format!("bbm=noabort contpte={stage}"));
            ours.cpus = CPUS;
            ours.cpu = Some("max");
            ours.level = level;
            ours.semihosting = true;
            ours.max_insns = Some(6_000_000_000);
            ours.stats = Some(stats.clone());
            let outcome = ours.run(Machine::Vambrace, echo)?;
            outcome.expect_status(0)?;
            let place = format!("{stage}, {level:?}");
            let said = lines(&outcome)?;
            ensure!(said == expected, "{place}: Linux says\n{}\n-- ours\n{}", expected.join("\n"), said.join("\n"));
            let change =
                |name| -> Result<u64> { Ok(counted(&outcome, "behind", name)? - counted(&outcome, "before", name)?) };
            let made = change("folds")? + change("unfolds")?;
            ensure!(made == CONVERTS, "{place}: {made} conversions");
            let cost = (change("tlbis")?, change("dsbs")?);
            let promised = if stage == "elide" { (0, 0) } else { (CONVERTS * PAGES, CONVERTS * 2) };
            ensure!(cost == promised, "{place}: {cost:?} TLBIs and DSBs, not {promised:?}");
            let spurious = change("spurious")?;
            ensure!(
                stage != "elide" || spurious == 0,
                "{place}: {spurious} faults although no descriptor is ever invalid"
            );
            broadcasts.push((stage, counted(&outcome, "end", "tlbis")?, machine_count(&stats)?));
            let (tlbis, dsbs) = (cost.0 / made, cost.1 / made);
            facts.push(format!("{level:?} {stage} {tlbis} TLBI {dsbs} DSB a convert, {spurious} spurious faults"));
        }
        // Everything but the conversions is the same in all stages.
        for (stage, own, all) in broadcasts.iter().skip(1) {
            let (_, none, rest) = broadcasts[0];
            ensure!(
                own - none == all - rest,
                "{stage}, {level:?}: the kernel counts {own} TLBIs, the machine {}",
                all - rest
            );
        }
    }
    Ok(format!("{NAME}: {}", facts.join(", ")))
}

fn lines(outcome: &Outcome) -> Result<Vec<String>> {
    outcome.expect_line("siblings: end")?;
    Ok(outcome.lines_from("siblings: ").map(str::to_owned).collect())
}

fn counted(outcome: &Outcome, step: &str, name: &str) -> Result<u64> {
    let prefix = format!("contpte: {step} {name} ");
    let line = outcome.line_from(&prefix).with_context(|| format!("no line `{prefix}`\n{}", outcome.report()))?;
    Ok(line[prefix.len()..].trim().parse()?)
}

/// TLBI VALE1IS, of the machine's statistics.
fn machine_count(stats: &Path) -> Result<u64> {
    let json: serde_json::Value = serde_json::from_str(&fs::read_to_string(stats)?)?;
    json.pointer("/tlb_invalidations/VALE1IS/times")
        .and_then(serde_json::Value::as_u64)
        .context("no TLBI VALE1IS in the statistics")
}
