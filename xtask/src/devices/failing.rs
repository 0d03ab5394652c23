//! Disks that the host fails under an ext4: the guest gets errors, and loses nothing that it was told is safe.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::boot::{self, Boot, Echo, Machine, Outcome};
use crate::guests::{Guests, Kernel, ROOT};
use crate::session::Session;
use crate::{setup, shell};

/// Length of the disks.
const LENGTH: u64 = 48 << 20;
/// How much room a disk's file has where that is less: some files of the guest's.
const ROOM: &str = "16m";
/// The guest's word for what went wrong.
const REASON: &str = "devices: reason Input/output error";

/// An empty ext4 file system in a file with holes.
fn file_system(name: &str) -> Result<PathBuf> {
    setup::ensure(&[setup::Part::RootDisk])?;
    let path = boot::scratch(name)?;
    fs::File::create(&path)?.set_len(LENGTH)?;
    // As old kernels know it.
    let mut mke2fs = Command::new("/usr/sbin/mke2fs");
    shell::capture(mke2fs.args(["-q", "-F", "-t", "ext4", "-O", "^metadata_csum"]).arg(&path))?;
    Ok(path)
}

fn boot(guests: &Guests, kernel: Kernel, name: &str, script: &str, disk: &Path) -> Result<Boot> {
    let initrd = super::initrd_of(guests, guests.drivers(ROOT, kernel)?, name, &[(name, script)])?;
    let mut boot = Boot::new(guests, kernel, &format!("vambrace.batch={name} quiet")).with_initrd(&initrd);
    super::words(&mut boot, &[("--disk", disk)]);
    Ok(boot)
}

fn run(boot: &Boot) -> Result<Outcome> {
    let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
    outcome.expect_status(0)?;
    outcome.expect_line("devices: mounted")?;
    outcome.expect_line("devices: done")?;
    Ok(outcome)
}

/// ENOSPC where the system lets us mount a small file system of memory, else EFBIG.
///
/// The disk's file is copied to where there is too little room, and back at the end.
fn short_of_room(disk: &Path) -> Result<(PathBuf, Vec<String>)> {
    let dir = boot::scratch("small")?;
    fs::create_dir_all(&dir)?;
    let unshare = ["unshare", "--user", "--map-root-user", "--mount"];
    let mut attempt = Command::new(unshare[0]);
    attempt.args(&unshare[1..]).args(["mount", "-t", "tmpfs", "small"]).arg(&dir);
    if shell::capture(&mut attempt).is_err() {
        let limits = "trap '' XFSZ; ulimit -f 32768; exec \"$@\"";
        return Ok((disk.to_owned(), ["sh", "-c", limits, "sh"].map(str::to_owned).to_vec()));
    }
    let inside = dir.join("disk");
    let script = "dir=$1 disk=$2 room=$3; shift 3
        mount -t tmpfs -o size=$room small \"$dir\" && cp --sparse=always \"$disk\" \"$dir/disk\" || exit 1
        \"$@\"; status=$?
        cp --sparse=always \"$dir/disk\" \"$disk\" && exit $status";
    let mut wrapper = unshare.map(str::to_owned).to_vec();
    wrapper.extend(["sh", "-c", script, "sh"].map(str::to_owned));
    wrapper.extend([dir.display().to_string(), disk.display().to_string(), ROOM.to_owned()]);
    Ok((inside, wrapper))
}

/// A disk whose file finds no room: what was flushed before is whole afterwards.
pub fn full(guests: &Guests, kernel: Kernel) -> Result<()> {
    let disk = file_system("full.img")?;
    let (inside, wrapper) = short_of_room(&disk)?;
    let mut first = boot(guests, kernel, "full", include_str!("../../initramfs/devices/full.sh"), &inside)?;
    first.wrapper = wrapper;
    let outcome = run(&first)?;
    let kept = outcome.lines_from("devices: kept ").count();
    ensure!(kept > 2, "only {kept} files were written\n{}", outcome.report());
    outcome.expect_line(&format!("devices: refused {}", kept + 1))?;
    outcome.expect_line(REASON)?;
    // Now with room.
    let outcome = run(&boot(guests, kernel, "kept", include_str!("../../initramfs/devices/kept.sh"), &disk)?)?;
    for n in 1..=kept {
        outcome.expect_line(&format!("devices: whole {n}"))?;
    }
    Ok(())
}

/// A disk whose file becomes shorter below the guest: it reads what is there, or gets an error.
pub fn cut(guests: &Guests, kernel: Kernel) -> Result<()> {
    let disk = file_system("cut.img")?;
    let boot = boot(guests, kernel, "cut", include_str!("../../initramfs/devices/cut.sh"), &disk)?;
    let mut session = Session::start(boot.command(Machine::Vambrace), Duration::from_secs(300), Echo::Off)?;
    session.expect("devices: cut now\r\n")?;
    let file = fs::File::options().write(true).open(&disk).context("the disk's file")?;
    // Room for about half of the eight files.
    file.set_len(16 << 20)?;
    session.send("go")?;
    let said = session.expect("devices: done")?;
    ensure!(session.finish()?.success(), "the guest did not power off\n{said}");
    let count = |wanted: &str| said.lines().filter(|line| line.trim_end() == wanted).count();
    let (whole, failed) = (count("devices: whole"), count(REASON));
    ensure!(whole > 0 && failed > 0 && whole + failed == 8, "{whole} files whole, {failed} failed:\n{said}");
    Ok(())
}
