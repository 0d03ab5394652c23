//! Booting: reads the kernel, the initial RAM disk and the device tree, decides where each goes, and copies them in.
//!
//! A kernel is an arm64 Linux Image (protocol: Documentation/arch/arm64/booting.rst of Linux), an ELF of Linux
//! (`vmlinux`), or any other AArch64 ELF with physical addresses in RAM. It is entered at EL1 with the MMU off,
//! X0 = the device tree, X1 to X3 = 0. Where there is firmware, it is started, and gets the kernel from a device.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use arch::Pa;
use arch::feature::Feature;
use bus::Ram;
use thiserror::Error;

use crate::config::MachineConfig;
use crate::fdt::{self, Additions, Description, DtbError, Firmware, Hypervisor, MAX_DTB, Monitors};
use crate::map::RAM_BASE;

mod elf;
pub mod firmware;
mod foreign;
mod image;
mod kernel;
#[cfg(test)]
mod tests;

pub use foreign::Foreign;
pub use kernel::{Kernel, KernelError, Kind, Segment};

/// Kernel and device tree start at multiples of this, in bytes (booting.rst asks for it).
const MIB_2: u64 = 2 << 20;

/// A kernel may be this much larger than RAM as a file, in bytes: debug information is not loaded.
const KERNEL_FILE_SLACK: u64 = 1 << 30;

/// A machine cannot boot what it was given.
#[derive(Debug, Error)]
pub enum BootError {
    /// No kernel was named; [`MachineConfig::validate`] refuses that.
    #[error("nothing to boot: give --kernel FILE")]
    NoKernel,
    /// A file cannot be read.
    #[error("{flag} {}: {source}", .path.display())]
    Read {
        /// The flag that names the file.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// The host's reason.
        source: io::Error,
    },
    /// A directory, a device, a socket.
    #[error("{flag} {}: {what}, not a file", .path.display())]
    NotAFile {
        /// The flag that names the file.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A file without content.
    #[error("{flag} {}: the file is empty", .path.display())]
    Empty {
        /// The flag that names the file.
        flag: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// A file that could never fit.
    #[error("{flag} {}: larger than {limit} bytes, the most that can be used{}", .path.display(), if *flag == "--dtb" { "" } else { " with this --memory" })]
    FileTooLarge {
        /// The flag that names the file.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// The limit, in bytes.
        limit: u64,
    },
    /// The kernel.
    #[error("--kernel {}: {source}", .path.display())]
    Kernel {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: KernelError,
    },
    /// A kernel that firmware cannot start.
    #[error("--kernel {}: neither an arm64 Linux Image nor an EFI application (PE); firmware starts nothing else", .path.display())]
    NotForFirmware {
        /// The file.
        path: PathBuf,
    },
    /// The user's device tree.
    #[error("--dtb {}: {source}", .path.display())]
    Dtb {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: DtbError,
    },
    /// No room for the device tree.
    #[error(
        "no room for the device tree behind the kernel, which ends at {kernel_end:#x}: RAM ends at {ram_end:#x}; give more --memory"
    )]
    NoRoomForDtb {
        /// Where the kernel ends.
        kernel_end: u64,
        /// Where RAM ends.
        ram_end: u64,
    },
    /// No room for the initial RAM disk.
    #[error("--initrd {}: {bytes} bytes, but only {free} bytes of RAM are free behind the kernel; give more --memory", .path.display())]
    InitrdTooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// What is left of RAM, in bytes.
        free: u64,
    },
}

/// How the boot CPU starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The first instruction.
    pub pc: Pa,
    /// The device tree: X0.
    pub dtb: Pa,
    /// What the kernel was recognised as.
    pub kind: Kind,
}

/// What messages call the demo's files.
const BUILT_IN: &str = "(built in)";

/// Reads all that `config` names and puts it into `ram`, which starts at [`RAM_BASE`] and holds zeros.
pub fn load(config: &MachineConfig, ram: &Ram) -> Result<Entry, BootError> {
    let (path, file) = match (config.kernel.as_deref(), config.demo) {
        (Some(path), _) => (path, Cow::Owned(read("--kernel", path, ram.len().saturating_add(KERNEL_FILE_SLACK))?)),
        (None, Some(demo)) => (Path::new(BUILT_IN), Cow::Borrowed(demo.kernel)),
        (None, None) => return Err(BootError::NoKernel),
    };
    let built_in = PathBuf::from(BUILT_IN);
    let kernel_error = |source| BootError::Kernel { path: path.to_owned(), source };
    let kernel = Kernel::parse(&file, ram.len()).map_err(kernel_error)?;

    let initrd = match (&config.initrd, &config.kernel, config.demo) {
        (Some(path), ..) => Some((path, Cow::Owned(read("--initrd", path, ram.len())?))),
        (None, None, Some(demo)) => Some((&built_in, Cow::Borrowed(demo.initrd))),
        (None, ..) => None,
    };
    let ram_end = RAM_BASE + ram.len();
    let behind_kernel = kernel.end().next_multiple_of(MIB_2);
    let initrd_start = behind_kernel + MIB_2;
    let initrd_range = match &initrd {
        Some((path, bytes)) => {
            let free = ram_end.saturating_sub(initrd_start);
            let bytes = bytes.len() as u64;
            if bytes > free {
                return Err(BootError::InitrdTooLarge { path: (*path).clone(), bytes, free });
            }
            Some(initrd_start..initrd_start + bytes)
        }
        None => None,
    };

    let additions = Additions { bootargs: config.append.as_deref(), initrd: initrd_range.clone(), memory: ram.len() };
    let blob = device_tree(config, additions)?;
    let dtb = dtb_place(&kernel, blob.len() as u64);
    let no_room = BootError::NoRoomForDtb { kernel_end: kernel.end(), ram_end };
    let offset = |pa: u64| pa - RAM_BASE;
    ram.write_bytes(offset(dtb), &blob).ok_or(no_room)?;
    for segment in &kernel.segments {
        let outside = KernelError::SegmentOutsideRam { pa: segment.pa, bytes: segment.len, ram_end };
        ram.write_bytes(offset(segment.pa), segment.bytes).ok_or_else(|| kernel_error(outside))?;
    }
    if let (Some((path, bytes)), Some(range)) = (&initrd, &initrd_range) {
        ram.write_bytes(offset(range.start), bytes).ok_or_else(|| BootError::InitrdTooLarge {
            path: (*path).clone(),
            bytes: bytes.len() as u64,
            free: 0,
        })?;
    }
    Ok(Entry { pc: Pa(kernel.entry), dtb: Pa(dtb), kind: kernel.kind })
}

/// The user's device tree or that of the board, with what `additions` say.
fn device_tree(config: &MachineConfig, additions: Additions) -> Result<Vec<u8>, BootError> {
    if let Some(path) = &config.dtb {
        let blob = read("--dtb", path, MAX_DTB)?;
        return fdt::complete(&blob, &additions).map_err(|source| BootError::Dtb { path: path.clone(), source });
    }
    let models = config.models().unwrap_or_default();
    let el2 = models.iter().any(|m| m.has(Feature::FEAT_EL2));
    let pmu = models.iter().all(|m| m.has(Feature::FEAT_PMUv3));
    Ok(fdt::generate(&Description {
        preset: &config.cpu.preset,
        cpus: config.cpus,
        memory: additions.memory,
        topology: &config.topology,
        bootargs: additions.bootargs.unwrap_or(""),
        initrd: additions.initrd,
        hypervisor: if el2 { Hypervisor::Present } else { Hypervisor::Absent },
        monitors: if pmu { Monitors::Present } else { Monitors::Absent },
        firmware: if config.firmware.is_some() { Firmware::Started } else { Firmware::StoodInFor },
        controller: config.controller(),
        seed: config.seed,
    }))
}

/// Where the device tree goes: behind the kernel and its BSS, in a 2 MiB block of its own. Bare-metal programs find it
/// at the start of RAM, where they expect it on the `virt` board, if they leave room there.
fn dtb_place(kernel: &Kernel, bytes: u64) -> u64 {
    match kernel.kind {
        Kind::Elf if kernel.start() - RAM_BASE >= bytes => RAM_BASE,
        _ => kernel.end().next_multiple_of(MIB_2),
    }
}

/// Reads the file at `path`, at most `limit` bytes of it.
fn read(flag: &'static str, path: &Path, limit: u64) -> Result<Vec<u8>, BootError> {
    let error = |source| BootError::Read { flag, path: path.to_owned(), source };
    let mut bytes = Vec::new();
    open(flag, path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(error)?;
    if bytes.is_empty() {
        return Err(BootError::Empty { flag, path: path.to_owned() });
    }
    if bytes.len() as u64 > limit {
        return Err(BootError::FileTooLarge { flag, path: path.to_owned(), limit });
    }
    Ok(bytes)
}

/// Opens the file at `path`.
fn open(flag: &'static str, path: &Path) -> Result<File, BootError> {
    let error = |source| BootError::Read { flag, path: path.to_owned(), source };
    // Looked at before it is opened: to open a FIFO without a writer, or some devices, waits for ever.
    let kind = std::fs::metadata(path).map_err(error)?.file_type();
    if !kind.is_file() {
        let what = if kind.is_dir() { "a directory" } else { "a device, a pipe or a socket" };
        return Err(BootError::NotAFile { flag, path: path.to_owned(), what });
    }
    File::open(path).map_err(error)
}
