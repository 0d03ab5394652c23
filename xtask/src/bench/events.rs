//! What events cost while nobody hears them: the usual build beside one that has none.

use anyhow::{Context, Result};

use super::{Lab, Pair, Report, Row, programs};
use crate::boot::{self, Echo, Machine};

pub fn measure(lab: &Lab<'_>) -> Result<Report> {
    let without = boot::build_vambrace_with("without-events")?;
    let mut rows = Vec::new();
    for alone in programs::alone_each(lab)? {
        let mut bare = alone.boot.clone();
        bare.binary = Some(without.clone());
        let mut pair = Pair::default();
        for _ in 0..lab.runs {
            for (boot, figures) in [(&alone.boot, &mut pair.ours), (&bare, &mut pair.qemus)] {
                let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
                figures.push(alone.seconds(&outcome).context("a run went wrong")?);
            }
        }
        rows.push(Row { name: alone.title().to_owned(), unit: "s", pair });
    }
    Ok(Report { columns: ["with", "without"], rows, notes: Vec::new() })
}
