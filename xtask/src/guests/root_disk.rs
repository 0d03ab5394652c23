//! A root disk: an ext4 file system with a Debian system on it.
//!
//! The system's own client finds and fetches the packages, and we put their files into a tree and make the file system,
//! without root. What packages do to configure themselves they do in a guest of Vambrace, whose root is the disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::drivers::ROOT;
use super::fetch::Fetcher;
use super::{File, Guests, Kernel, fnv1a, initramfs, replace};
use crate::boot::{self, Access, Boot, Disk, Echo, Machine};
use crate::{setup, shell};

/// The system on the disk.
const SUITE: &str = "bookworm";

/// What is asked for; the client adds what that needs.
const PACKAGES: [&str; 11] = [
    "?essential",
    // The small one of two that serve.
    "usr-is-merged",
    "apt",
    "systemd-sysv",
    "udev",
    "python3",
    "perl",
    "gcc",
    "libc6-dev",
    "stress-ng",
    "rt-tests",
];

/// Length of the disk; what nobody wrote is a hole in the file.
const LENGTH: u64 = 1536 << 20;

/// The kernel that the packages are configured under.
const KERNEL: Kernel = Kernel::V6_1;

const FIRST_STAGE: &str = include_str!("../../rootfs/first-stage.sh");
const SECOND_STAGE: &str = include_str!("../../rootfs/second-stage.sh");
const FEATURES: &str = include_str!("../../rootfs/mke2fs.conf");

/// Files of ours on the disk.
const FILES: [(&str, &str); 6] = [
    ("etc/hostname", "vambrace\n"),
    ("etc/hosts", "127.0.0.1 localhost vambrace\n"),
    ("etc/fstab", "/dev/vda / ext4 defaults 0 0\n"),
    ("etc/resolv.conf", "nameserver 10.0.2.3\n"),
    ("etc/systemd/network/user.network", "[Match]\nName=eth*\n[Network]\nDHCP=ipv4\n"),
    // A disk that is made anew on any trouble needs no patience.
    ("etc/dpkg/dpkg.cfg.d/unsafe-io", "force-unsafe-io\n"),
];

/// `cargo xtask guests --rootfs`.
pub fn run() -> Result<()> {
    setup::ensure(&[setup::Part::Guests])?;
    let guests = Guests::prepare(&[KERNEL])?;
    let image = guests.root_disk()?;
    print!("{}", fs::read_to_string(image.with_file_name("version"))?);
    println!("in {}", image.display());
    Ok(())
}

impl Guests {
    /// The disk's file, which nobody may write; made when it is not there yet.
    pub fn root_disk(&self) -> Result<PathBuf> {
        setup::ensure(&[setup::Part::RootDisk])?;
        let dir = self.dir().join("root-disk");
        let image = dir.join("root.img");
        let stamp = stamp();
        let is_made = || fs::read_to_string(dir.join("version")).is_ok_and(|text| text.starts_with(&stamp));
        if is_made() {
            return Ok(image);
        }
        boot::build_vambrace()?;
        let guests = Self::prepare(&[KERNEL])?;
        fs::create_dir_all(&dir)?;
        // A lock of its own: it takes minutes, in which others need guests.
        let lock = fs::File::create(dir.join("lock"))?;
        lock.lock().context("cannot lock the directory of the root disk")?;
        // Somebody else may have made it while we waited.
        if is_made() {
            return Ok(image);
        }
        let started = Instant::now();
        let work = dir.join("work");
        let made = guests.make(&work).context("cannot make the root disk")?;
        fs::rename(&made.image, &image)?;
        let text = format!("{stamp}suite {SUITE}\n{}\n", made.summary);
        replace(&dir.join("version"), text.as_bytes())?;
        eprintln!("guests: the root disk is made ({:.0} s)", started.elapsed().as_secs_f64());
        fs::remove_dir_all(work)?;
        Ok(image)
    }

    /// A copy of the disk for one run, at `path`; holes stay holes.
    pub fn root_disk_copy(&self, path: &Path) -> Result<()> {
        let image = self.root_disk()?;
        let mut copy = Command::new("cp");
        copy.args(["--sparse=always", "--reflink=auto"]).arg(image).arg(path);
        shell::capture(&mut copy).map(drop)
    }

    /// The initramfs in front of the disk, at `path`. Files below `run/` will be in the system's /run.
    pub fn root_initrd(&self, path: &Path, kernel: Kernel, files: &[File]) -> Result<()> {
        let mut all = self.drivers(ROOT, kernel)?;
        all.extend_from_slice(files);
        replace(path, &initramfs::compress(&initramfs::root_archive(&self.busybox()?, &all))?)
    }

    fn make(&self, work: &Path) -> Result<Made> {
        if work.exists() {
            fs::remove_dir_all(work)?;
        }
        fs::create_dir_all(work)?;
        let packages = self.fetch_system(&work.join("packages"))?;
        eprintln!("guests: unpacking {packages} packages");
        let image = work.join("root.img");
        first_stage(work, &image)?;
        eprintln!("guests: the packages configure themselves in a guest");
        let script = File::executable("run/second-stage.sh", SECOND_STAGE);
        let initrd = work.join("initrd.gz");
        self.root_initrd(&initrd, KERNEL, &[script])?;
        let summary = self.second_stage(&image, &initrd)?;
        check(&image)?;
        Ok(Made { image, summary })
    }

    /// All packages; gives how many.
    fn fetch_system(&self, into: &Path) -> Result<usize> {
        let _lock = self.lock()?;
        let repository = Fetcher::new(self.dir().join("work")).find("base-files", &[SUITE], false)?.repository;
        eprintln!("guests: fetching {} and what they need", PACKAGES.join(" "));
        Ok(repository.download_system(&PACKAGES, into)?.len())
    }

    /// In a guest; gives the line that sums it up.
    fn second_stage(&self, image: &Path, initrd: &Path) -> Result<String> {
        let words = "console=ttyAMA0 panic=-1 vambrace.root=/dev/vda vambrace.stage=second-stage.sh";
        let mut boot = Boot::of(&self.image(KERNEL), Some(initrd), words);
        boot.disk = Some(Disk { path: image.to_path_buf(), access: Access::ReadWrite });
        boot.words.push("--rng".to_owned());
        boot.limit = Duration::from_secs(3600);
        let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
        outcome.expect_status(0)?;
        outcome.expect_line("init: stage second-stage.sh: status 0")?;
        let summary = outcome.line_from("rootfs: ").context("the second stage did not sum up")?;
        Ok(summary.trim_start_matches("rootfs: ").to_owned())
    }
}

struct Made {
    image: PathBuf,
    summary: String,
}

/// What the disk is made of, as far as it is ours.
fn stamp() -> String {
    let mut text = format!("{SUITE} {PACKAGES:?} {LENGTH} {FIRST_STAGE} {SECOND_STAGE} {FEATURES}");
    for (path, contents) in FILES {
        text.push_str(path);
        text.push_str(contents);
    }
    format!("stamp {:016x}\n", fnv1a(text.as_bytes()))
}

/// A file system with the files of all packages in `work/packages`.
fn first_stage(work: &Path, image: &Path) -> Result<()> {
    let ours = work.join("ours");
    for (path, contents) in FILES {
        let path = ours.join(path);
        fs::create_dir_all(path.parent().context("a file without a directory")?)?;
        fs::write(path, contents)?;
    }
    let (script, config, tree) = (work.join("first-stage.sh"), work.join("mke2fs.conf"), work.join("tree"));
    fs::write(&script, FIRST_STAGE)?;
    fs::write(&config, FEATURES)?;
    fs::create_dir_all(&tree)?;
    fs::File::create(image)?.set_len(LENGTH)?;
    let mut stage = Command::new("fakeroot");
    stage.arg("sh").arg(&script).arg(work.join("packages")).arg(&tree).arg(image).arg(&ours);
    shell::capture(stage.env("MKE2FS_CONFIG", &config))?;
    fs::remove_dir_all(tree)?;
    Ok(())
}

/// An error unless the file system is whole.
pub fn check(image: &Path) -> Result<()> {
    let mut check = Command::new("/usr/sbin/e2fsck");
    check.args(["-f", "-n"]).arg(image).env("LC_ALL", "C");
    let text = shell::capture(&mut check).context("the file system is damaged")?;
    if let Some(line) = text.lines().find(|line| line.contains("Fix? no")) {
        bail!("the file system is damaged: {line}");
    }
    ensure!(!text.contains("recovering journal"), "the file system was not unmounted");
    Ok(())
}
