//! A Linux guest of Linux's KVM: the host's initramfs has a VMM of Debian's, and for it a kernel, an initramfs and a disk.

mod commands;
mod deep;
mod seed002;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::boot::{self, Boot, Gic, Level, Outcome};
use crate::guests::{File, Guests, HACKBENCH, Kernel, VMM};
pub use commands::{Args, TRAPPING_LOG, prepare, run};

pub use seed002::{Args as Seed002Args, run as seed002};

/// How the host's KVM uses EL2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// The host kernel is at EL2.
    Vhe,
    /// The host kernel is at EL1, a small part of KVM at EL2.
    Nvhe,
    /// The same, and the part at EL2 does not trust the host (pKVM).
    Protected,
}

impl Mode {
    /// As `kvm-arm.mode=` has it; VHE is what the kernel chooses without.
    const fn word(self) -> Option<&'static str> {
        match self {
            Self::Vhe => None,
            Self::Nvhe => Some("kvm-arm.mode=nvhe"),
            Self::Protected => Some("kvm-arm.mode=protected"),
        }
    }

    /// For tables.
    const fn name(self) -> &'static str {
        match self {
            Self::Vhe => "vhe",
            Self::Nvhe => "nvhe",
            Self::Protected => "protected",
        }
    }

    /// Whether this is the mode that the host's log speaks of. What is not VHE was "Hyp mode" up to 6.1; "hVHE" is the
    /// protected part with HCR_EL2.E2H set.
    fn is_in(self, line: &str) -> bool {
        let Some((name, _)) = line.split_once(" mode initialized successfully") else { return false };
        match self {
            Self::Vhe => name.ends_with(": VHE"),
            Self::Nvhe => name.ends_with(": Hyp") || name.ends_with(": Hyp nVHE"),
            Self::Protected => name.contains(": Protected "),
        }
    }
}

/// What the inner guest does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// The script that tells of system, time and disk.
    Check,
    /// A shell on the console.
    Shell,
    /// hackbench with so many groups and loops.
    Hackbench {
        /// Groups of 20 senders and 20 receivers.
        groups: u32,
        /// Messages of each sender to each receiver.
        loops: u32,
    },
}

/// A host and its guest.
#[derive(Debug, Clone)]
pub struct Nested {
    /// The host's kernel.
    pub kernel: Kernel,
    /// The inner guest's.
    pub inner_kernel: Kernel,
    /// CPUs of the host.
    pub cpus: u32,
    /// CPUs of the inner guest.
    pub inner_cpus: u32,
    /// How the host uses EL2.
    pub mode: Mode,
    /// The interrupt controller of both.
    pub gic: Gic,
    /// What the inner guest does.
    pub work: Work,
    /// Further words on the host kernel's command line.
    pub host_words: Vec<&'static str>,
    /// Further words on the inner kernel's command line.
    pub inner_words: Vec<&'static str>,
}

/// The virtual machine that the VMM is to make.
const PLAIN: &str = "virt,gic-version=3,its=off";

const OUTER: &str = include_str!("../../initramfs/nested/outer.sh");
const HACKBENCH_SCRIPT: &str = include_str!("../../initramfs/nested/hackbench.sh");
const INNER: &str = include_str!("../../initramfs/nested/inner.sh");

/// Sectors of the inner guest's disk, each a line of text that says which it is.
const SECTORS: u32 = 2048;

impl Nested {
    /// 6.1 in 6.1, one CPU each, VHE.
    pub const fn new(work: Work) -> Self {
        Self {
            kernel: Kernel::V6_1,
            inner_kernel: Kernel::V6_1,
            cpus: 1,
            inner_cpus: 1,
            mode: Mode::Vhe,
            gic: Gic::V3,
            work,
            host_words: Vec::new(),
            inner_words: Vec::new(),
        }
    }

    /// The kernels that it needs.
    pub fn kernels(&self) -> [Kernel; 2] {
        [self.kernel, self.inner_kernel]
    }

    /// Writes the initramfs below the target directory. Runs with the same `name` overwrite each other's.
    pub fn boot(&self, guests: &Guests, name: &str) -> Result<Boot> {
        let initrd = boot::scratch(&format!("{name}.cpio"))?;
        guests.plain_initrd(&initrd, None, &self.outer_files(guests, name)?)?;
        let mut words = vec!["vambrace.batch=nested"];
        words.extend(self.mode.word());
        words.extend(&self.host_words);
        let mut boot = Boot::new(guests, self.kernel, &words.join(" ")).with_initrd(&initrd);
        boot.cpu = Some("max");
        boot.level = Level::El2;
        boot.gic = self.gic;
        boot.cpus = self.cpus;
        boot.limit = std::time::Duration::from_secs(1800);
        Ok(boot)
    }

    fn outer_files(&self, guests: &Guests, name: &str) -> Result<Vec<File>> {
        let input = if self.work == Work::Shell { "/dev/console" } else { "/dev/null" };
        let settings = format!(
            "machine={}\nmemory=256\ncpus={}\nappend=\"{}\"\ninput={input}\n",
            self.machine(),
            self.inner_cpus,
            self.inner_append()
        );
        let mut files = guests.program(&VMM)?;
        files.push(File::executable("batch/nested.sh", OUTER));
        files.push(File::executable("nested/settings", settings));
        files.push(File::executable("nested/Image", fs::read(guests.image(self.inner_kernel))?));
        files.push(File::executable("nested/initrd", self.inner_initrd(guests, name)?));
        files.push(File::executable("nested/disk", disk()));
        Ok(files)
    }

    /// The virtual machine that the VMM is to make.
    const fn machine(&self) -> &'static str {
        match self.gic {
            Gic::V2 => "virt,gic-version=2",
            Gic::V3 => PLAIN,
        }
    }

    fn inner_append(&self) -> String {
        let mut words = vec!["console=ttyAMA0 panic=-1".to_owned()];
        match self.work {
            Work::Check => words.push("vambrace.batch=inner".to_owned()),
            Work::Shell => {}
            Work::Hackbench { groups, loops } => {
                words.push(format!("vambrace.batch=hackbench vambrace.groups={groups} vambrace.loops={loops}"));
            }
        }
        if (self.kernel, self.mode) == (Kernel::V6_12, Mode::Protected) {
            // 6.12 offers pointer authentication to guests and makes their accesses to the keys UNDEFINED, on QEMU too.
            words.push("arm64.nopauth".to_owned());
        }
        words.extend(self.inner_words.iter().map(|word| (*word).to_owned()));
        words.join(" ")
    }

    fn inner_initrd(&self, guests: &Guests, name: &str) -> Result<Vec<u8>> {
        let mut files =
            vec![File::executable("batch/inner.sh", INNER), File::executable("batch/hackbench.sh", HACKBENCH_SCRIPT)];
        if matches!(self.work, Work::Hackbench { .. }) {
            files.extend(guests.program(&HACKBENCH)?);
        }
        let path = boot::scratch(&format!("{name}-inner.cpio"))?;
        guests.plain_initrd(&path, Some(self.inner_kernel), &files)?;
        fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Both guests did what they should: an error says what is missing.
    pub fn expect(&self, outcome: &Outcome) -> Result<()> {
        outcome.expect_status(0)?;
        let missing = |what: &str| format!("{what}\n{}", outcome.report());
        let mode = outcome.lines_with(" mode initialized successfully").any(|line| self.mode.is_in(line));
        ensure!(mode, missing(&format!("the host's log does not say that KVM is in mode {}", self.mode.name())));
        // Neither the host nor its guest.
        let is_v3 = outcome.line_with("GICv3: ").is_some();
        ensure!(is_v3 == (self.gic == Gic::V3), missing("the interrupt controller is of the other version"));
        outcome.expect_line("vambrace-batch: nested: status 0")?;
        // Both say so.
        let downs = outcome.lines_with("reboot: Power down").count();
        ensure!(downs == 2, missing(&format!("{downs} of 2 kernels powered down")));
        match self.work {
            Work::Shell => Ok(()),
            Work::Hackbench { .. } => {
                outcome.expect_line("vambrace-batch: hackbench: status 0")?;
                ensure!(outcome.line_from("Time: ").is_some(), missing("hackbench did not print its time"));
                Ok(())
            }
            Work::Check => self.expect_check(outcome),
        }
    }

    fn expect_check(&self, outcome: &Outcome) -> Result<()> {
        let missing = |what: &str| format!("{what}\n{}", outcome.report());
        outcome.expect_line("vambrace-batch: inner: status 0")?;
        for place in ["outer", "inner"] {
            let line = outcome.line_from(&format!("{place}: Linux "));
            ensure!(line.is_some(), missing(&format!("{place} did not print its `uname -a`")));
        }
        outcome.expect_line(&format!("inner: nproc {}", self.inner_cpus))?;
        let slept = passed(outcome, "inner: uptime ")?;
        let outside = passed(outcome, "outer: uptime ")?;
        ensure!((0.99..1.5).contains(&slept), missing(&format!("`sleep 1` took {slept} s of the inner guest's time")));
        ensure!(
            outside > slept,
            missing(&format!("the guest slept {slept} s and ran {outside} s on the host's clock"))
        );
        outcome.expect_line(&format!("inner: disk of {SECTORS} lines ends: sector {}", SECTORS - 1))?;
        outcome.expect_line("outer: disk begins: written inside")
    }
}

/// Seconds between the two readings of /proc/uptime in a line.
fn passed(outcome: &Outcome, prefix: &str) -> Result<f64> {
    let line = outcome.line_from(prefix).with_context(|| format!("no line \"{prefix}\"\n{}", outcome.report()))?;
    let times: Vec<f64> = line[prefix.len()..].split(' ').filter_map(|word| word.parse().ok()).collect();
    let [begin, end] = times[..] else { anyhow::bail!("\"{line}\" does not end in two times") };
    Ok(end - begin)
}

/// A line as long as a sector.
fn sector(index: u32) -> String {
    format!("sector {index} {:.<width$}\n", "", width = 512 - format!("sector {index} \n").len())
}

fn disk() -> Vec<u8> {
    (0..SECTORS).flat_map(|index| sector(index).into_bytes()).collect()
}

/// Counts of a run, from its statistics.
pub struct Counts(serde_json::Value);

impl Counts {
    /// Reads the file that a run wrote.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Self(serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))?))
    }

    /// Instructions of all CPUs at EL0, EL1 and EL2.
    pub fn by_level(&self) -> [u64; 3] {
        ["EL0", "EL1", "EL2"].map(|level| self.0["insns_by_el"][level].as_u64().unwrap_or(0))
    }

    /// Accesses to system registers that were trapped, by register.
    pub fn traps(&self) -> Vec<(String, u64)> {
        let traps = self.0["sysreg_traps"].as_object();
        traps.into_iter().flatten().filter_map(|(name, count)| Some((name.clone(), count.as_u64()?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disk_is_made_of_numbered_sectors() {
        let disk = disk();
        assert_eq!(disk.len(), 512 * SECTORS as usize);
        assert!(disk[512 * 1000..].starts_with(b"sector 1000 ..."));
        assert!(disk.chunks(512).all(|sector| sector.ends_with(b".\n") && !sector[..511].contains(&b'\n')));
    }

    #[test]
    fn modes_are_known_by_the_logs_of_all_kernels() {
        for (mode, name) in [
            (Mode::Vhe, "VHE"),
            (Mode::Nvhe, "Hyp"),
            (Mode::Nvhe, "Hyp nVHE"),
            (Mode::Protected, "Protected nVHE"),
            (Mode::Protected, "Protected hVHE"),
        ] {
            let line = format!("[    0.2] kvm [1]: {name} mode initialized successfully");
            let is_in = |mode: &Mode| mode.is_in(&line);
            assert_eq!([Mode::Vhe, Mode::Nvhe, Mode::Protected].into_iter().filter(is_in).collect::<Vec<_>>(), [mode]);
        }
    }

    #[test]
    fn the_inner_command_line_has_its_words() {
        let mut nested = Nested::new(Work::Hackbench { groups: 2, loops: 30 });
        nested.inner_words = vec!["irqchip.gicv3_pseudo_nmi=1"];
        let append = nested.inner_append();
        assert!(append.contains("vambrace.groups=2 vambrace.loops=30 irqchip.gicv3_pseudo_nmi=1"), "{append}");
    }
}
