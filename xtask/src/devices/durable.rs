//! A guest writes to a disk, with a flush each time, and the tool is killed in the middle of it: what the guest was told is
//! flushed must be in the disk's file. The host goes on, so this says nothing of what a host that loses power keeps.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};

use crate::boot::{self, Access, Boot, Disk, Echo, Machine};
use crate::cross;
use crate::guests::{BOARD, File, Guests, Kernel};
use crate::session::Session;

/// How often the tool is killed.
const KILLS: usize = 6;
/// Where the guest is saved, in instructions: each kernel has booted, and the program waits. Those beyond the boot cost
/// nothing, as its loop only waits.
const READY: u64 = 2_500_000_000;
/// Length of a place, and of its words, as in `guest/el0/durable.c`.
const PLACE: usize = 96 << 10;
/// Places of the disk: more than a guest comes to before it is killed.
const PLACES: u64 = 320;
/// The numbers after which the tool is killed are below this.
const LAST: u64 = 120;
/// The longest time between a number and the kill, microseconds.
const DELAY: u64 = 3000;
/// What the file holds before.
const BEFORE: u8 = 0x5a;
/// What is written as a whole.
const SECTOR: usize = 512;

/// Kills the tool at places that a seed chooses.
pub fn survives(guests: &Guests, kernel: Kernel) -> Result<()> {
    let mut random = Random(SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as u64);
    println!("seed {:#x}", random.0);
    let mut files = guests.drivers(BOARD, kernel)?;
    files.push(File::executable("bench/durable", fs::read(cross::hosted("durable", &["-Wall", "-Werror"])?)?));
    let script = ("durable", include_str!("../../initramfs/devices/durable.sh"));
    let initrd = super::initrd_of(guests, files, "durable", &[script])?;
    let mut boot = Boot::new(guests, kernel, "vambrace.batch=durable quiet").with_initrd(&initrd);
    boot.memory = 256;
    boot.disk = Some(Disk { path: new_disk()?, access: Access::ReadWrite });
    boot.restore = Some(saved(&boot)?);
    for kill in 0..KILLS {
        let number = random.below(LAST);
        // Some at once, so that little is done after the number.
        let delay = if kill % 2 == 0 { 0 } else { random.below(DELAY) };
        killed(&boot, number, Duration::from_micros(delay))
            .with_context(|| format!("killed {delay} us after number {number}"))?;
    }
    Ok(())
}

/// The disk as each run finds it.
fn new_disk() -> Result<PathBuf> {
    let path = boot::scratch("durable.img")?;
    fs::write(&path, vec![BEFORE; PLACE * PLACES as usize])?;
    Ok(path)
}

/// A snapshot of the guest where it waits.
fn saved(boot: &Boot) -> Result<PathBuf> {
    let file = boot::scratch("durable.snapshot")?;
    let mut boot = boot.clone();
    let at = format!("insns={READY}");
    super::words(&mut boot, &[("--save", &file), ("--at", Path::new(&at))]);
    let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
    outcome.expect_status(0)?;
    outcome.expect_line("devices: ready")?;
    Ok(file)
}

fn killed(boot: &Boot, number: u64, delay: Duration) -> Result<()> {
    let disk = new_disk()?;
    let mut session = Session::start(boot.command(Machine::Vambrace), Duration::from_secs(300), Echo::Off)?;
    session.send("go")?;
    session.expect(&said(number))?;
    std::thread::sleep(delay);
    let console = session.kill()?;
    check(&fs::read(disk)?, told(&console)?)
}

/// The guest's word for a place whose flush has returned.
fn said(number: u64) -> String {
    format!("devices: durable {number}\r\n")
}

/// How many places the guest was told are flushed. A line that is not whole does not count.
fn told(console: &str) -> Result<u64> {
    let whole = console.rsplit_once('\n').map_or("", |(lines, _)| lines);
    let mut count = 0;
    for line in whole.lines().filter_map(|line| line.trim_end().strip_prefix("devices: ")) {
        ensure!(line == format!("durable {count}"), "the guest says \"{line}\" after {count} places");
        count += 1;
    }
    ensure!(count < PLACES, "the guest was ready before it was killed");
    Ok(count)
}

/// What a place holds once it was written.
fn contents(number: u64) -> Vec<u8> {
    if number % 4 == 2 {
        return vec![0; PLACE];
    }
    (0..PLACE as u64 / 8).flat_map(|n| (number << 32 | n).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()).collect()
}

/// The first `told` places are whole. Beyond them each sector is as before or as it was to be; or empty where a discard came
/// first.
fn check(disk: &[u8], told: u64) -> Result<()> {
    ensure!(disk.len() == PLACE * PLACES as usize, "the disk's file has {} bytes", disk.len());
    for (number, found) in (0..).zip(disk.chunks_exact(PLACE)) {
        let wanted = contents(number);
        let sectors = found.chunks_exact(SECTOR).zip(wanted.chunks_exact(SECTOR));
        for (n, (found, wanted)) in sectors.enumerate() {
            let all = |value: u8| found.iter().all(|byte| *byte == value);
            let may_be = found == wanted || number >= told && (all(BEFORE) || number % 4 == 3 && all(0));
            if !may_be {
                bail!("sector {n} of place {number} is wrong: it begins {:02x?}; {told} were flushed", &found[..16]);
            }
        }
    }
    Ok(())
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_missed_and_what_was_not_may_be_in_part() {
        let mut disk = vec![BEFORE; PLACE * PLACES as usize];
        let place = |number: u64| number as usize * PLACE;
        for number in 0..8 {
            disk[place(number)..place(number + 1)].copy_from_slice(&contents(number));
        }
        check(&disk, 8).unwrap();
        assert!(check(&disk, 9).is_err());
        // In part: the first sectors of a place that is written anew, and of one that is discarded.
        disk[place(8)..place(8) + SECTOR].copy_from_slice(&contents(8)[..SECTOR]);
        disk[place(11)..place(11) + SECTOR].fill(0);
        check(&disk, 8).unwrap();
        for (at, value) in [(place(0), 1), (place(8) - 1, 1), (place(2) + SECTOR, BEFORE), (place(9), 0)] {
            let mut wrong = disk.clone();
            wrong[at] = value;
            assert!(check(&wrong, 8).is_err(), "{at:#x}");
        }
    }

    #[test]
    fn numbers_count_where_their_lines_are_whole_and_in_order() {
        let console = format!("boot\r\n{}{}devices: durable 2", said(0), said(1));
        assert_eq!(told(&console).unwrap(), 2);
        assert_eq!(told("").unwrap(), 0);
        for wrong in [said(1), format!("{}{}", said(0), said(2)), "devices: place: I/O error\r\n".to_owned()] {
            assert!(told(&wrong).is_err(), "{wrong}");
        }
        assert!(told(&(0..PLACES).map(said).collect::<String>()).is_err());
    }
}
