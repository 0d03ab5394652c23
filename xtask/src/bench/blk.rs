//! What a disk's reads cost the host: a guest's `dd` of 128 KiB at a time from virtio-blk, less the same instructions without
//! the device. Those are taken from reads of Linux's null_blk, which go the same way but move nothing.

use std::fs;

use anyhow::{Context, Result};

use super::{KERNEL, Lab, MACHINES, Report, Row, float, median};
use crate::boot::{self, Access, Boot, Disk, Outcome, instructions};
use crate::guests::{BLOCK, File};

/// Bytes of the disk.
const SIZE: u64 = 256 << 20;
/// How often it is read.
const TIMES: u64 = 4;
/// Bytes a second of the host's that the device must reach at least, in GB.
const LIMIT: u32 = 1;

/// Words for the script: what it reads.
const SOURCES: [&str; 3] = ["vda", "nullb0", "none"];

const SCRIPT: &str = include_str!("../../initramfs/bench/blk.sh");

pub fn measure(lab: &Lab<'_>) -> Result<Report> {
    let disk = boot::scratch("bench-blk.raw")?;
    // Not zeroes, which a file system may leave out.
    fs::write(&disk, vec![0x5a; usize::try_from(SIZE)?]).with_context(|| format!("cannot write {}", disk.display()))?;
    let mut files = lab.guests.drivers(BLOCK, KERNEL)?;
    files.push(File::executable("batch/blk.sh", SCRIPT));
    let initrd = lab.guests.initrd_with("bench-blk", &files)?;
    let mut boots = Vec::new();
    for source in SOURCES {
        let words = format!("vambrace.batch=blk vambrace.source={source} vambrace.times={TIMES}");
        let mut boot = Boot::new(lab.guests, KERNEL, &words).with_initrd(&initrd);
        boot.cpu = Some(lab.cpu);
        boot.disk = Some(Disk { path: disk.clone(), access: Access::ReadOnly });
        boot.stats = Some(boot::scratch(&format!("bench-blk-{source}.json"))?);
        boots.push(boot);
    }
    let pairs = lab.alternate(&boots, |outcome: &Outcome| {
        outcome.expect_line("vambrace-batch: blk: status 0")?;
        outcome.seconds_between("bench: begin blk", "bench: end blk")
    })?;
    let count = |boot: &Boot| boot.stats.as_deref().context("no statistics").and_then(instructions).map(float);
    let counts: Vec<f64> = boots.iter().map(count).collect::<Result<_>>()?;
    let (read, null) = (counts[0] - counts[2], counts[1] - counts[2]);
    let without = median(&pairs[1].ours) * read / null;
    let cost = median(&pairs[0].ours) - without;
    let gigabytes = float(SIZE * TIMES) / 1e9;
    let notes = vec![
        format!(
            "{:.1} million instructions read {gigabytes:.2} GB of the disk, {:.1} million of null_blk",
            read / 1e6,
            null / 1e6
        ),
        format!("the device alone: {cost:.3} s, {:.1} GB/s (limit {LIMIT})", gigabytes / cost),
    ];
    let rows = SOURCES.iter().zip(pairs).take(2).map(|(source, pair)| Row {
        name: format!("dd bs=128k of {source}"),
        unit: "s",
        pair,
    });
    Ok(Report { columns: MACHINES, rows: rows.collect(), notes })
}
