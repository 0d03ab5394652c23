//! A Linux guest of Linux's KVM, from the start of the VMM to the guest's first command, and the whole of both boots.

use anyhow::Result;

use super::{Lab, MACHINES, Report, Row};
use crate::boot::{self, Boot};
use crate::nested::{Counts, Nested, Work};

/// How many times as long as on QEMU the inner boot may take.
const LIMIT: u32 = 8;

pub fn measure(lab: &Lab<'_>) -> Result<Report> {
    let nested = Nested::new(Work::Check);
    let stats = boot::scratch("bench-nested.json")?;
    let mut boot: Boot = nested.boot(lab.guests, "bench-nested")?;
    boot.stats = Some(stats.clone());
    let [inner, whole] = lab
        .alternate_figures(&[boot], |outcome| {
            nested.expect(outcome)?;
            Ok([outcome.seconds_between("outer: Linux ", "inner: Linux ")?, outcome.seconds])
        })?
        .remove(0);
    let [el0, el1, el2] = Counts::read(&stats)?.by_level();
    let millions = |count: u64| super::float(count) / 1e6;
    let notes = vec![
        format!("limit of the ratio of the inner boot: {LIMIT}"),
        format!("{:<28} {:>12} {:>12} {:>12} {:>12}", "million instructions", "EL0", "EL1", "EL2", "all"),
        format!(
            "{:<28} {:>12.1} {:>12.1} {:>12.1} {:>12.1}",
            "whole run on vambrace",
            millions(el0),
            millions(el1),
            millions(el2),
            millions(el0 + el1 + el2)
        ),
    ];
    let row = |name: &str, pair| Row { name: name.to_owned(), unit: "s", pair };
    Ok(Report {
        columns: MACHINES,
        rows: vec![row("inner boot to shell", inner), row("both boots, power-off", whole)],
        notes,
    })
}
