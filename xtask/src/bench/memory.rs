//! Memory of the host beyond the guest's RAM, while 6.1 boots with many CPUs: the largest that was seen of the resident set
//! without that mapping.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::{KERNEL, float};
use crate::boot::{Boot, Machine};
use crate::guests::Guests;
use crate::shell;

const CPUS: [u32; 3] = [1, 8, 64];
/// With 64 CPUs, MiB.
const MOST: u64 = 100;
/// Guest RAM, MiB.
const RAM: u32 = 1024;
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// Prints the table.
pub fn measure(guests: &Guests) -> Result<()> {
    println!("{:<28} {:>6} {:>16}", "bench", "CPUs", "beyond RAM [MiB]");
    for cpus in CPUS {
        let kib = peak(guests, cpus)?;
        println!("{:<28} {cpus:>6} {:>16.1}", "memory, boot of 6.1", float(kib) / 1024.0);
        ensure!(kib <= MOST << 10, "more than {MOST} MiB beyond guest RAM with {cpus} CPUs");
    }
    Ok(())
}

/// The peak over a boot, KiB.
fn peak(guests: &Guests, cpus: u32) -> Result<u64> {
    let mut boot = Boot::new(guests, KERNEL, "vambrace.batch=demo");
    boot.cpus = cpus;
    boot.memory = RAM;
    let mut command = boot.command(Machine::Vambrace);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let maps = format!("/proc/{}/smaps", child.id());
    let mut most = 0;
    let status = loop {
        // It may be gone already.
        if let Ok(text) = fs::read_to_string(&maps) {
            most = most.max(beyond(&text, u64::from(RAM) << 10));
        }
        if let Some(status) = child.try_wait().context("cannot wait for vambrace")? {
            break status;
        }
        std::thread::sleep(PAUSE);
    };
    if !status.success() || most == 0 {
        bail!("{}: {status}", shell::display(&command));
    }
    Ok(most)
}

/// The resident KiB of all mappings in `smaps` but those of `ram` KiB or more.
fn beyond(smaps: &str, ram: u64) -> u64 {
    let value = |line: &str, name: &str| {
        line.strip_prefix(name).and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok())
    };
    let mut size = 0;
    let mut sum = 0;
    for line in smaps.lines() {
        if let Some(kib) = value(line, "Size:") {
            size = kib;
        }
        if let Some(kib) = value(line, "Rss:")
            && size < ram
        {
            sum += kib;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ram_is_left_out() {
        let text = "1-2 rw-p\nSize:   2048 kB\nRss:      500 kB\nPss: 1 kB\n3-4 r--p\nSize:   12 kB\nRss:      8 kB\n5-6\nSize: 4 kB\nRss: 4 kB\n";
        assert_eq!(beyond(text, 2048), 12);
    }
}
