//! A kernel as segments, whatever it was as a file.

use thiserror::Error;

use super::foreign::{self, Foreign};
use super::{elf, image};
use crate::map::RAM_BASE;

/// What a kernel was recognised as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An arm64 Linux Image.
    Image,
    /// Linux as an ELF, linked at virtual addresses.
    Vmlinux,
    /// Another ELF, with physical addresses in RAM.
    Elf,
}

/// A piece of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Where it goes.
    pub pa: u64,
    /// What goes there.
    pub bytes: &'a [u8],
    /// Bytes of memory that it takes: not less than `bytes`; what is left over is zero.
    pub len: u64,
}

/// A kernel that fits into RAM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel<'a> {
    /// What it was recognised as.
    pub kind: Kind,
    /// Address of the first instruction.
    pub entry: u64,
    /// Its pieces, at least one, in ascending order.
    pub segments: Vec<Segment<'a>>,
}

/// A file is no kernel for this machine.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum KernelError {
    /// It is something else.
    #[error("{0}")]
    Foreign(Foreign),
    /// It is nothing known.
    #[error("neither an arm64 Linux Image nor an AArch64 ELF (it starts with {0:02x?})")]
    Unknown(Vec<u8>),
    /// An Image that ends too early.
    #[error("truncated arm64 Linux Image: it needs {needs} bytes, the file has {actual}")]
    ImageTruncated {
        /// Bytes needed.
        needs: u64,
        /// Bytes there are.
        actual: u64,
    },
    /// A big-endian kernel.
    #[error("a big-endian arm64 Linux Image (flags bit 0): only little-endian kernels are run")]
    ImageBigEndian,
    /// It does not fit.
    #[error(
        "it takes {needs} bytes of memory from the start of RAM, its BSS included, and RAM has {ram}; give more --memory"
    )]
    TooLarge {
        /// Bytes needed from the start of RAM.
        needs: u64,
        /// Bytes of RAM.
        ram: u64,
    },
    /// An ELF of another class or machine.
    #[error("an ELF for {0}, not for AArch64 (64-bit, little-endian)")]
    ElfMachine(String),
    /// An ELF that is not linked to run.
    #[error("an ELF of type {0}; only an executable can be booted")]
    ElfType(String),
    /// An ELF with headers that do not make sense.
    #[error("malformed ELF: {0}")]
    ElfMalformed(String),
    /// An ELF with nothing to load.
    #[error("an ELF without anything to load (no PT_LOAD segment with content)")]
    ElfEmpty,
    /// An ELF that ends too early.
    #[error("truncated ELF: it goes on to byte {needs}, the file has {actual}")]
    ElfTruncated {
        /// Bytes needed.
        needs: u64,
        /// Bytes there are.
        actual: u64,
    },
    /// A segment elsewhere.
    #[error(
        "a segment of {bytes} bytes at physical address {pa:#x} is not within RAM ({RAM_BASE:#x} to {ram_end:#x}); link it there, or give more --memory"
    )]
    SegmentOutsideRam {
        /// Where it goes.
        pa: u64,
        /// Bytes of memory that it takes.
        bytes: u64,
        /// Where RAM ends.
        ram_end: u64,
    },
    /// An entry point elsewhere.
    #[error("the entry point {0:#x} is in none of the ELF's segments")]
    EntryOutside(u64),
    /// An ELF at kernel virtual addresses that is not Linux.
    #[error(
        "an ELF at virtual addresses (lowest: {0:#x}) that has no arm64 Linux Image header: nothing says where in RAM it goes; link it with physical addresses"
    )]
    NotLinux(u64),
}

impl<'a> Kernel<'a> {
    /// Recognises `file` and lays it out in `ram` bytes of RAM from [`RAM_BASE`]. Takes any bytes.
    pub fn parse(file: &'a [u8], ram: u64) -> Result<Self, KernelError> {
        if image::is_image(file) {
            return image::parse(file, ram);
        }
        if elf::is_elf(file) {
            return elf::parse(file, ram);
        }
        match foreign::recognise(file) {
            Some(foreign) => Err(KernelError::Foreign(foreign)),
            None => Err(KernelError::Unknown(file[..file.len().min(8)].to_vec())),
        }
    }

    /// The first byte.
    pub fn start(&self) -> u64 {
        self.segments.iter().map(|s| s.pa).min().unwrap_or(RAM_BASE)
    }
    /// The first byte behind it and its BSS.
    pub fn end(&self) -> u64 {
        self.segments.iter().map(|s| s.pa + s.len).max().unwrap_or(RAM_BASE)
    }
}
