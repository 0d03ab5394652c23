//! Boot to init: from the start of the process to its exit after the guest's power-off.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use super::{KERNEL, Lab, MACHINES, Report, Row, float, median};
use crate::boot::{self, Boot, instructions};

/// A row for each number of CPUs.
pub fn measure(lab: &Lab<'_>, cpus: &[u32]) -> Result<Report> {
    let stats = |cpus: u32| boot::scratch(&format!("bench-boot-{cpus}.json"));
    let files: Vec<PathBuf> = cpus.iter().map(|&cpus| stats(cpus)).collect::<Result<_>>()?;
    let boot = |(&cpus, stats): (&u32, &PathBuf)| {
        // Init is a script whose only act is to power off.
        let mut boot = Boot::new(lab.guests, KERNEL, "rdinit=/batch/off.sh");
        boot.cpus = cpus;
        boot.cpu = Some(lab.cpu);
        boot.stats = Some(stats.clone());
        boot.limit = Duration::from_secs(180);
        boot
    };
    let boots: Vec<Boot> = cpus.iter().zip(&files).map(boot).collect();
    let pairs = lab.alternate(&boots, |outcome| Ok(outcome.seconds))?;
    let mut report = Report { columns: MACHINES, rows: Vec::new(), notes: Vec::new() };
    for ((&cpus, stats), pair) in cpus.iter().zip(&files).zip(pairs) {
        let millions = float(instructions(stats)?) / 1e6;
        report.notes.push(format!(
            "boot on {cpus}: {millions:.0} million instructions; vambrace ran {:.0} million a second",
            millions / median(&pair.ours)
        ));
        report.rows.push(Row { name: format!("boot {KERNEL}, {}, {cpus} CPU(s)", lab.cpu), unit: "s", pair });
    }
    Ok(report)
}
