//! Boot to init: from the start of the process to its exit after the guest's power-off.

use anyhow::Result;

use super::{KERNEL, Lab, Pair, Report, Row, float, median};
use crate::boot::{self, Boot, instructions};

pub fn measure(lab: &Lab<'_>) -> Result<Report> {
    let stats = boot::scratch("bench-boot.json")?;
    // Init is a script whose only act is to power off.
    let mut boot = Boot::new(lab.guests, KERNEL, "rdinit=/batch/off.sh");
    boot.cpu = Some(lab.cpu);
    boot.stats = Some(stats.clone());
    let pair: Pair = lab.alternate_one(boot, |outcome| Ok(outcome.seconds))?;
    let count = instructions(&stats)?;
    let millions = float(count) / 1e6;
    let note = format!(
        "{millions:.0} million instructions; vambrace ran {:.0} million a second",
        millions / median(&pair.ours)
    );
    let row = Row { name: format!("boot {KERNEL}, {}", lab.cpu), unit: "s", pair };
    Ok(Report { rows: vec![row], notes: vec![note] })
}
