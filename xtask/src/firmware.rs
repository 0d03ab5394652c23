//! `cargo xtask firmware`: Debian's EDK2 in flash memory, to its shell, to Linux by its EFI stub, and to GRUB from a disk.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use fatfs::{FatType, FileSystem, FormatVolumeOptions, FsOptions};

use crate::boot::{self, Access, Boot, Disk, Echo, Machine, Outcome};
use crate::boots::expect_demo;
use crate::guests::{Guests, Kernel};
use crate::{setup, twice};

/// Arguments of `cargo xtask firmware`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The kernel: 5.10, 6.1, 6.12 or newest.
    #[arg(long, default_value = "6.1")]
    kernel: Kernel,
    /// Only the runs whose names have this in them.
    #[arg(long, default_value = "")]
    only: String,
    /// Without QEMU as judge.
    #[arg(long)]
    no_qemu: bool,
}

/// Who runs it.
type Machines<'a> = &'a [Machine];
type Test = fn(&Guests, Kernel, Machines) -> Result<()>;

const TESTS: &[(&str, Test)] = &[
    ("the shell", shell),
    ("Linux by its EFI stub on 1 CPU", |guests, kernel, machines| stub(guests, kernel, machines, 1)),
    ("Linux by its EFI stub on 4 CPUs", |guests, kernel, machines| stub(guests, kernel, machines, 4)),
    ("GRUB from a disk", grub),
    ("two runs are the same", same_twice),
    ("variables are kept where that is asked for", kept),
];

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    let machines: &[Machine] = if args.no_qemu {
        &[Machine::Vambrace]
    } else {
        setup::ensure(&[setup::Part::QemuSystem])?;
        &[Machine::Vambrace, Machine::Qemu]
    };
    let guests = Guests::prepare(&[args.kernel])?;
    boot::build_vambrace()?;
    for (name, test) in TESTS.iter().filter(|(name, _)| name.contains(&args.only)) {
        test(&guests, args.kernel, machines).with_context(|| (*name).to_owned())?;
        println!("{name}: good");
    }
    Ok(())
}

/// The cheapest, for CI: Linux on one CPU, started by the firmware that started.
pub fn check(guests: &Guests, kernel: Kernel) -> Result<()> {
    stub(guests, kernel, &[Machine::Vambrace], 1)
}

/// Our board has no ACPI tables; with them EDK2 hides the device tree.
const BOARD: &str = ",acpi=off";

/// Runs `boot` on each machine; `expect` says whether it went well. Every run has to power off.
fn each(boot: &Boot, machines: Machines, expect: impl Fn(&Outcome) -> Result<()>) -> Result<Vec<Outcome>> {
    let mut boot = boot.clone();
    boot.qemu_board = BOARD;
    let one = |machine: &Machine| {
        let outcome = boot.run(*machine, Echo::Off)?;
        outcome.expect_status(0).and_then(|()| expect(&outcome)).with_context(|| machine.name().to_owned())?;
        println!("  {}: {:.1} s", machine.name(), outcome.seconds);
        Ok(outcome)
    };
    machines.iter().map(one).collect()
}

/// What Linux says when firmware started it.
const EFI: &str = "efi: EFI v2.70 by EDK II";

fn expect_linux(outcome: &Outcome, cpus: u32) -> Result<()> {
    expect_demo(outcome, cpus)?;
    if outcome.line_with(EFI).is_none() {
        bail!("Linux does not say \"{EFI}\"\n{}", outcome.report());
    }
    Ok(())
}

/// The firmware gets kernel, initramfs and command line by fw_cfg.
fn stub_boot(guests: &Guests, kernel: Kernel, cpus: u32) -> Result<Boot> {
    let mut boot = Boot::new(guests, kernel, "vambrace.batch=demo");
    boot.firmware = Some(guests.edk2()?);
    boot.cpus = cpus;
    Ok(boot)
}

fn stub(guests: &Guests, kernel: Kernel, machines: Machines, cpus: u32) -> Result<()> {
    each(&stub_boot(guests, kernel, cpus)?, machines, |outcome| expect_linux(outcome, cpus)).map(drop)
}

fn same_twice(guests: &Guests, kernel: Kernel, _: Machines) -> Result<()> {
    let [hash, _] = twice::check(&stub_boot(guests, kernel, 4)?, |outcome| expect_linux(outcome, 4))?;
    println!("  state hash {hash}");
    Ok(())
}

/// The firmware makes an order of booting, in a file that keeps its variables.
fn kept(guests: &Guests, kernel: Kernel, _: Machines) -> Result<()> {
    const NAME: &str = "BootOrder";
    let wanted: Vec<u8> = NAME.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut boot = stub_boot(guests, kernel, 1)?;
    let template = boot.firmware.as_ref().context("no firmware")?.variables.clone();
    let variables = boot::scratch("efi-vars")?.with_extension("fd");
    let has = |path: &Path| Ok::<_, anyhow::Error>(fs::read(path)?.windows(wanted.len()).any(|part| part == wanted));
    ensure!(!has(&template)?, "{} has {NAME} already", template.display());
    fs::copy(&template, &variables)?;
    if let Some(firmware) = &mut boot.firmware {
        firmware.variables = PathBuf::from(format!("{},keep", variables.display()));
    }
    each(&boot, &[Machine::Vambrace], |outcome| expect_linux(outcome, 1))?;
    ensure!(has(&variables)?, "{NAME} is not in {}", variables.display());
    ensure!(!has(&template)?, "{} was written", template.display());
    Ok(())
}

/// What the shell does. It waits five seconds first.
const SCRIPT: &str = "ver\r\nmap -b\r\necho the end\r\nreset -s\r\n";

fn shell(guests: &Guests, _: Kernel, machines: Machines) -> Result<()> {
    let disk = volume("efi-shell", 4 << 20, &[("startup.nsh", SCRIPT.as_bytes())])?;
    let mut boot = Boot::firmware(Some(guests.edk2()?));
    boot.disk = Some(disk);
    let outcomes = each(&boot, machines, |outcome| {
        let said = said(outcome);
        let has = |part: &str| said.iter().any(|line| line.contains(part));
        for part in ["UEFI Interactive Shell v2.2", "UEFI v2.70 (EDK II, 0x00010000)", "FS0: Alias(s):F0:", "the end"] {
            ensure!(has(part), "the shell does not say \"{part}\"\n{}", outcome.report());
        }
        Ok(())
    })?;
    if let [ours, theirs] = &outcomes[..] {
        let (ours, theirs) = (said(ours), said(theirs));
        ensure!(ours == theirs, "the shell says\n{}\nand on QEMU\n{}", ours.join("\n"), theirs.join("\n"));
    }
    Ok(())
}

/// What the shell shows from its greeting on, without the terminal's control sequences.
fn said(outcome: &Outcome) -> Vec<String> {
    let text = String::from_utf8_lossy(&outcome.bytes);
    let plain = without_controls(&text);
    let lines = plain.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty());
    lines.skip_while(|line| !line.contains("UEFI Interactive Shell")).collect()
}

/// Without control sequences (ECMA-48, 5.4: parameters, then a final byte from `@` on).
fn without_controls(text: &str) -> String {
    let mut pieces = text.split("\x1b[");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|c: char| ('@'..='~').contains(&c)).map_or(piece.len(), |at| at + 1);
        plain.push_str(&piece[end..]);
    }
    plain
}

/// GRUB in the place where firmware looks on any disk; kernel and initramfs beside it.
fn grub(guests: &Guests, kernel: Kernel, machines: Machines) -> Result<()> {
    const WORDS: &str = "console=ttyAMA0 panic=-1 vambrace.batch=demo";
    let config = format!("set timeout=0\nlinux /Image {WORDS}\ninitrd /initrd.gz\nboot\n");
    let read = |path: &Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let (program, image, initrd) =
        (read(&guests.grub()?)?, read(&guests.image(kernel))?, read(&guests.initrd(kernel))?);
    let files = [
        ("EFI/BOOT/BOOTAA64.EFI", program.as_slice()),
        ("EFI/debian/grub.cfg", config.as_bytes()),
        ("Image", &image),
        ("initrd.gz", &initrd),
    ];
    let disk = volume("efi-grub", 128 << 20, &files)?;
    let mut boot = Boot::firmware(Some(guests.edk2()?));
    boot.disk = Some(disk);
    each(&boot, machines, |outcome| expect_linux(outcome, 1)).map(drop)
}

/// A disk of `bytes` with a FAT file system that holds these files.
fn volume(name: &str, bytes: usize, files: &[(&str, &[u8])]) -> Result<Disk> {
    let path = boot::scratch(name)?.with_extension("img");
    fs::write(&path, fat(bytes, files).with_context(|| format!("cannot make {}", path.display()))?)?;
    Ok(Disk { path, access: Access::ReadOnly })
}

fn fat(bytes: usize, files: &[(&str, &[u8])]) -> Result<Vec<u8>> {
    let mut image = vec![0; bytes];
    let kind = if bytes < 64 << 20 { FatType::Fat16 } else { FatType::Fat32 };
    fatfs::format_volume(Cursor::new(&mut image[..]), FormatVolumeOptions::new().fat_type(kind))?;
    {
        let volume = FileSystem::new(Cursor::new(&mut image[..]), FsOptions::new())?;
        for (name, contents) in files {
            let parents = Path::new(name).ancestors().skip(1).filter(|dir| !dir.as_os_str().is_empty());
            let parents: Vec<PathBuf> = parents.map(Path::to_path_buf).collect();
            for dir in parents.iter().rev() {
                volume.root_dir().create_dir(&dir.to_string_lossy())?;
            }
            volume.root_dir().create_file(name)?.write_all(contents)?;
        }
    }
    Ok(image)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn files_are_on_the_volume() {
        let mut image = fat(4 << 20, &[("a/b/one.txt", b"1"), ("a/b/two", b"22"), ("three", b"333")]).unwrap();
        assert_eq!(image[510..512], [0x55, 0xaa]);
        let volume = FileSystem::new(Cursor::new(&mut image[..]), FsOptions::new()).unwrap();
        let mut text = String::new();
        volume.root_dir().open_file("a/b/two").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "22");
    }

    #[test]
    fn controls_are_left_out() {
        assert_eq!(without_controls("a\x1b[2J\x1b[01;02Hb\x1b[=3hc\x1b["), "abc");
    }
}
