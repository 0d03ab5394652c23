//! How a machine is configured: plain data, filled by the command line and read by the board.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use arch::feature::{Feature, Request, Switch, modelled};
use arch::gic::VirtualInterface;
use arch::model::CpuModel;
use arch::policy::Policy;
use arch::preset;
use bus::Ram;

mod controller;
mod error;
mod firmware;
mod net;
mod snapshots;
#[cfg(test)]
mod tests;
mod vsock;

pub use controller::{BoardRequest, Controller, GicVersion};
pub use error::ConfigError;
pub use firmware::{FirmwareConfig, VariableWrites, Variables};
pub use net::parse_net;
pub use vsock::VsockConfig;

use virtio_net::UserConfig;

use crate::map::{MAX_CPUS, VIRTIO_COUNT};
use crate::power::Press;
use crate::run::Threads;
use crate::topology::Topology;

/// Least RAM, in bytes: less does not hold a kernel, its device tree and a stack.
pub const MIN_MEMORY: u64 = 16 << 20;
/// RAM is a multiple of this, in bytes: the largest translation granule.
pub const PAGE: u64 = 64 << 10;
/// Longest name of a share, in bytes (Linux takes no longer ones).
const MAX_TAG: usize = 127;
/// Longest kernel command line, in bytes without the terminator (Linux's COMMAND_LINE_SIZE on arm64, less one).
pub const MAX_APPEND: usize = 2047;

/// Everything that a machine is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineConfig {
    /// Number of CPUs, 1 to [`MAX_CPUS`].
    pub cpus: usize,
    /// RAM in bytes.
    pub memory: u64,
    /// Which CPUs and what memory are near each other.
    pub topology: Topology,
    /// What the CPUs are models of.
    pub cpu: CpuConfig,
    /// Firmware, which is started in place of a kernel.
    pub firmware: Option<FirmwareConfig>,
    /// Kernel image; where there is firmware, for it to start.
    pub kernel: Option<PathBuf>,
    /// Initial RAM disk, handed to the kernel as it is.
    pub initrd: Option<PathBuf>,
    /// What is booted where no kernel is named.
    pub demo: Option<Demo>,
    /// Kernel command line. `None` where the user gave none: a device tree of the user's then keeps its own.
    pub append: Option<String>,
    /// The user's device tree, in place of the generated one.
    pub dtb: Option<PathBuf>,
    /// Disks, in the order of their virtio-mmio slots.
    pub disks: Vec<Disk>,
    /// Directories of the host for the guest.
    pub shares: Vec<Share>,
    /// A network card with a network of the tool's own, if there is to be one. Runs with it are not the same every time.
    pub net: Option<UserConfig>,
    /// A virtio socket device, if there is to be one. Runs with it are not the same every time.
    pub vsock: Option<VsockConfig>,
    /// When the power button is pressed.
    pub power_button: Option<Press>,
    /// Is there a virtio entropy device?
    pub rng: Presence,
    /// What the guest's clock counts.
    pub time: TimeMode,
    /// How instructions are executed.
    pub engine: Engine,
    /// How CPUs share the host.
    pub threads: Threads,
    /// Where everything that looks random to the guest comes from.
    pub seed: u64,
    /// How the machine chooses among outcomes that the architecture permits.
    pub policy: Policy,
    /// Stop after this many instructions, all CPUs together.
    pub max_insns: Option<u64>,
    /// Pause at the end of the round in which this many are reached.
    pub pause: Option<u64>,
    /// Stop after this much of the host's time.
    pub timeout: Option<Duration>,
}

impl Default for MachineConfig {
    fn default() -> Self {
        Self {
            cpus: 1,
            memory: 1 << 30,
            topology: Topology::default(),
            cpu: CpuConfig::default(),
            firmware: None,
            kernel: None,
            initrd: None,
            demo: None,
            append: None,
            dtb: None,
            disks: Vec::new(),
            shares: Vec::new(),
            net: None,
            vsock: None,
            power_button: None,
            rng: Presence::Absent,
            time: TimeMode::Insn,
            engine: Engine::Auto,
            threads: Threads::Serial,
            seed: 0,
            policy: Policy::Benign,
            max_insns: None,
            pause: None,
            timeout: None,
        }
    }
}

/// A kernel and its initial RAM disk that are part of the program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Demo {
    /// As a file would hold it.
    pub kernel: &'static [u8],
    /// Likewise.
    pub initrd: &'static [u8],
}

impl std::fmt::Debug for Demo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Demo {{ kernel: {} bytes, initrd: {} bytes }}", self.kernel.len(), self.initrd.len())
    }
}

/// What the CPUs are models of: a preset, changed feature by feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuConfig {
    /// Name of the preset, such as `cortex-a57`.
    pub preset: String,
    /// Changes to it, later ones over earlier ones.
    pub features: Vec<FeatureSetting>,
    /// Changes to its GIC virtual CPU interface, later ones over earlier ones.
    pub gic: Vec<GicSetting>,
}

impl Default for CpuConfig {
    fn default() -> Self {
        Self { preset: "cortex-a57".into(), features: Vec::new(), gic: Vec::new() }
    }
}

impl CpuConfig {
    /// What is asked of CPU `index`, in order.
    pub fn requests(&self, index: usize) -> impl Iterator<Item = Request> {
        let of_cpu = self.features.iter().filter(move |setting| setting.cpu.is_none_or(|cpu| cpu == index));
        of_cpu.filter_map(|setting| match setting.asked {
            Asked::Cpu(request) => Some(request),
            Asked::Board(_) => None,
        })
    }
}

/// What a `--feature` is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// CPUs.
    Cpu(Request),
    /// The board.
    Board(BoardRequest),
}

/// One `--feature`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureSetting {
    /// The CPU that it is for; `None` for all, and for the board.
    pub cpu: Option<usize>,
    /// What is asked.
    pub asked: Asked,
    /// The whole setting as the user wrote it, for messages.
    pub text: String,
}

impl FromStr for FeatureSetting {
    type Err = ConfigError;

    /// `NAME=VALUE` or `N:NAME=VALUE`; see [`Request::parse`], and [`BoardRequest::NAMES`] for the board.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let error = |reason: String| ConfigError::Feature { setting: text.to_owned(), reason };
        let (cpu, request) = for_cpu(text).map_err(error)?;
        let asked = match BoardRequest::parse(request) {
            Some(Ok(_)) if cpu.is_some() => {
                return Err(error("it is the board's, not a CPU's; leave the number away".to_owned()));
            }
            Some(board) => Asked::Board(board.map_err(error)?),
            None => Asked::Cpu(Request::parse(request).map_err(|reason| error(reason.to_string()))?),
        };
        Ok(Self { cpu, asked, text: text.to_owned() })
    }
}

/// One `--gic`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GicSetting {
    /// The CPU that it is for; `None` for all.
    pub cpu: Option<usize>,
    /// `NAME=VALUE[,NAME=VALUE...]`, as [`VirtualInterface::apply`] takes it.
    properties: String,
    /// The whole setting as the user wrote it, for messages.
    pub text: String,
}

impl FromStr for GicSetting {
    type Err = ConfigError;

    /// `NAME=VALUE,...` or `N:NAME=VALUE,...`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let error = |reason: String| ConfigError::Gic { setting: text.to_owned(), reason };
        let (cpu, properties) = for_cpu(text).map_err(error)?;
        VirtualInterface::DEFAULT.clone().apply(properties).map_err(|reason| error(reason.to_string()))?;
        Ok(Self { cpu, properties: properties.to_owned(), text: text.to_owned() })
    }
}

impl GicSetting {
    fn error(&self, reason: impl std::fmt::Display) -> ConfigError {
        ConfigError::Gic { setting: self.text.clone(), reason: reason.to_string() }
    }
}

/// Splits `N:` off, a CPU's number.
fn for_cpu(text: &str) -> Result<(Option<usize>, &str), String> {
    let Some((cpu, rest)) = text.split_once(':') else { return Ok((None, text)) };
    match cpu.parse() {
        Ok(cpu) => Ok((Some(cpu), rest)),
        Err(_) => Err(format!("`{cpu}` before the colon is not a CPU's number")),
    }
}

/// Is a device there?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// No.
    #[default]
    Absent,
    /// Yes.
    Present,
}

/// May the guest write to a disk?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskAccess {
    /// Yes: writes go to the file.
    ReadWrite,
    /// No: the disk says so, and the file is opened for reading only.
    ReadOnly,
}

/// One disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// The file that holds it, raw.
    pub path: PathBuf,
    /// May the guest write?
    pub access: DiskAccess,
}

impl FromStr for Disk {
    type Err = ConfigError;

    /// `FILE` or `FILE,ro`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let (path, access) = match text.strip_suffix(",ro") {
            Some(path) => (path, DiskAccess::ReadOnly),
            None => (text, DiskAccess::ReadWrite),
        };
        if path.is_empty() {
            return Err(ConfigError::DiskSyntax(text.to_owned()));
        }
        Ok(Self { path: path.into(), access })
    }
}

/// A directory of the host for the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The directory.
    pub path: PathBuf,
    /// May the guest write?
    pub access: DiskAccess,
    /// Its name in the guest; `None`: `share`, then `share1` and so on.
    pub tag: Option<String>,
}

impl FromStr for Share {
    type Err = ConfigError;

    /// `DIR`, with `,ro` and `,tag=NAME` behind it.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let mut share = Self { path: text.into(), access: DiskAccess::ReadWrite, tag: None };
        let mut rest = text;
        while let Some((before, word)) = rest.rsplit_once(',') {
            match (word, word.strip_prefix("tag=")) {
                ("ro", _) => share.access = DiskAccess::ReadOnly,
                (_, Some(tag)) if !tag.is_empty() && tag.len() <= MAX_TAG => share.tag = Some(tag.to_owned()),
                (_, Some(_)) => return Err(ConfigError::ShareSyntax(text.to_owned())),
                // A comma of the directory's name.
                _ => break,
            }
            rest = before;
        }
        if rest.is_empty() {
            return Err(ConfigError::ShareSyntax(text.to_owned()));
        }
        share.path = rest.into();
        Ok(share)
    }
}

/// What the guest's clock counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeMode {
    /// Instructions: one instruction, one tick. The same on every run and host.
    Insn,
    /// The host's clock.
    Wall,
}

impl FromStr for TimeMode {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text {
            "insn" => Ok(Self::Insn),
            "wall" => Ok(Self::Wall),
            _ if text.starts_with("cost=") => Err(ConfigError::NotYet {
                flag: "--time",
                value: text.to_owned(),
                instead: "count instructions (insn) or follow the host's clock (wall)",
            }),
            _ => Err(ConfigError::TimeSyntax(text.to_owned())),
        }
    }
}

/// How instructions are executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Pre-decoded blocks, interpreted.
    Interpreter,
    /// Whatever is fastest; the same to the guest.
    Auto,
}

/// Bytes of a size such as `1G`, `512M` or `1048576`: a number, then K, M, G or T (powers of 1024) or nothing.
/// `None` for anything else and for what exceeds 64 bits.
pub fn parse_size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" => 0,
        "k" | "K" => 10,
        "m" | "M" => 20,
        "g" | "G" => 30,
        "t" | "T" => 40,
        _ => return None,
    };
    // `parse` alone would take a leading plus sign.
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Bytes of RAM that the host has, where it says so.
pub fn host_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

impl MachineConfig {
    /// The flag of a device whose guest has connections to the host, if there is one: they come and go in the host's time,
    /// and cannot be saved.
    #[must_use]
    pub fn connects_to_host(&self) -> Option<&'static str> {
        let devices = [("--net", self.net.is_some()), ("--vsock", self.vsock.is_some())];
        devices.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag))
    }

    /// Checks all that can be checked without opening a file. `host_memory` is what [`host_memory`] found.
    pub fn validate(&self, host_memory: Option<u64>) -> Result<(), ConfigError> {
        if self.cpus == 0 || self.cpus > MAX_CPUS {
            return Err(ConfigError::Cpus(self.cpus));
        }
        if self.threads == Threads::Parallel && !Ram::has_quad_atomics() {
            return Err(ConfigError::NoQuadAtomics);
        }
        self.validate_memory(host_memory)?;
        self.topology.validate(self.cpus, self.memory)?;
        self.validate_boot()?;
        let features = self.cpu.features.iter().map(|setting| ("--feature", setting.cpu, &setting.text));
        let gic = self.cpu.gic.iter().map(|setting| ("--gic", setting.cpu, &setting.text));
        for (flag, cpu, setting) in features.chain(gic) {
            if let Some(cpu) = cpu.filter(|cpu| *cpu >= self.cpus) {
                return Err(ConfigError::SettingCpu { flag, setting: setting.clone(), cpu, cpus: self.cpus });
            }
        }
        self.models()?;
        self.validate_controller()?;
        self.validate_disks()?;
        if let (Some(_), Some(flag)) = (self.pause, self.connects_to_host()) {
            return Err(ConfigError::NotSaved(flag));
        }
        if self.timeout.is_some_and(|limit| limit.is_zero()) {
            return Err(ConfigError::Timeout("0".into()));
        }
        Ok(())
    }

    /// The model of each CPU: the preset with the settings that concern it.
    pub fn models(&self) -> Result<Vec<CpuModel>, ConfigError> {
        let name = &self.cpu.preset;
        let base = preset::preset(name).ok_or_else(|| ConfigError::Preset {
            name: name.clone(),
            known: preset::names().collect::<Vec<_>>().join(", "),
        })?;
        // The system registers go with a GICv3.
        let version = match self.controller().version {
            GicVersion::V2 => Some(Request::Feature(Feature::FEAT_GICv3, Switch::Off)),
            GicVersion::V3 => None,
        };
        let model = |cpu| {
            let mut model = base
                .with_requests(self.cpu.requests(cpu).chain(version), &modelled())
                .map_err(|reason| ConfigError::Model { preset: name.clone(), cpu, reason: reason.to_string() })?;
            let mut last = None;
            for setting in self.cpu.gic.iter().filter(|setting| setting.cpu.is_none_or(|n| n == cpu)) {
                model.gic.apply(&setting.properties).map_err(|reason| setting.error(reason))?;
                last = Some(setting);
            }
            // A preset's own properties go together.
            match (model.gic.check(), last) {
                (Err(reason), Some(setting)) => Err(setting.error(reason)),
                _ => Ok(model),
            }
        };
        (0..self.cpus).map(model).collect()
    }

    fn validate_memory(&self, host_memory: Option<u64>) -> Result<(), ConfigError> {
        if self.memory < MIN_MEMORY {
            return Err(ConfigError::MemoryTooSmall(self.memory));
        }
        if let Some(host) = host_memory.filter(|host| self.memory > *host) {
            return Err(ConfigError::MemoryTooLarge { bytes: self.memory, host });
        }
        if !self.memory.is_multiple_of(PAGE) {
            return Err(ConfigError::MemoryAlignment(self.memory));
        }
        Ok(())
    }

    fn validate_boot(&self) -> Result<(), ConfigError> {
        let append = self.append.as_deref().unwrap_or("");
        if self.firmware.is_some() {
            let without_kernel = [("--initrd", self.initrd.is_some()), ("--append", self.append.is_some())];
            if let (None, Some((flag, _))) = (&self.kernel, without_kernel.iter().find(|(_, given)| *given)) {
                return Err(ConfigError::FirmwareWithoutKernel(flag));
            }
        } else if self.kernel.is_none() && self.demo.is_none() {
            return Err(ConfigError::NoKernel);
        }
        if self.kernel.is_none() && self.initrd.is_some() {
            return Err(ConfigError::InitrdWithoutKernel);
        }
        if append.len() > MAX_APPEND {
            return Err(ConfigError::AppendTooLong(append.len()));
        }
        if append.contains('\0') {
            return Err(ConfigError::AppendNul);
        }
        Ok(())
    }

    fn validate_disks(&self) -> Result<(), ConfigError> {
        let devices = self.disks.len() + self.shares.len();
        if devices > VIRTIO_COUNT {
            return Err(ConfigError::TooManyDevices(devices));
        }
        for (n, disk) in self.disks.iter().enumerate() {
            let both_read_only =
                |other: &Disk| other.access == DiskAccess::ReadOnly && disk.access == DiskAccess::ReadOnly;
            if self.disks[..n].iter().any(|other| other.path == disk.path && !both_read_only(other)) {
                return Err(ConfigError::SharedDisk(disk.path.clone()));
            }
        }
        Ok(())
    }
}
