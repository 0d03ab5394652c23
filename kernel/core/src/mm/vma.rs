//! What lies where in an address space.

use alloc::sync::Arc;

use super::{PAGE, PageSource};

/// Rights: PROT_READ 1, PROT_WRITE 2, PROT_EXEC 4 of mmap(2), PROT_BTI 0x10, and PROT_MTE 0x20.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Protection(u8);

impl Protection {
    /// None.
    pub const NONE: Self = Self(0);
    /// Reading.
    pub const READ: Self = Self(1);
    /// Reading and writing.
    pub const READ_WRITE: Self = Self(3);

    const BTI: u8 = 0x10;
    const MTE: u8 = 0x20;

    /// From the low three bits, PROT_BTI and PROT_MTE.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits as u8 & (7 | Self::BTI | Self::MTE))
    }
    /// PROT_BTI: indirect branches must land on instructions that allow it.
    pub const fn guarded(self) -> bool {
        self.0 & Self::BTI != 0
    }
    /// The same with PROT_BTI.
    #[must_use]
    pub const fn with_guard(self) -> Self {
        Self(self.0 | Self::BTI)
    }
    /// The same without PROT_BTI.
    #[must_use]
    pub const fn unguarded(self) -> Self {
        Self(self.0 & !Self::BTI)
    }
    /// PROT_MTE: the page's allocation tags can be accessed, and checked against.
    pub const fn tagged(self) -> bool {
        self.0 & Self::MTE != 0
    }
    /// The same without PROT_MTE.
    #[must_use]
    pub const fn untagged(self) -> Self {
        Self(self.0 & !Self::MTE)
    }
    /// These rights on a page that had `old`: PROT_MTE stays, PROT_BTI does not.
    #[must_use]
    pub const fn over(self, old: Self) -> Self {
        Self(self.0 | old.0 & Self::MTE)
    }
    /// As mmap's bits.
    pub const fn bits(self) -> u8 {
        self.0
    }
    /// PROT_READ
    pub const fn readable(self) -> bool {
        self.0 & 1 != 0
    }
    /// PROT_WRITE
    pub const fn writable(self) -> bool {
        self.0 & 2 != 0
    }
    /// PROT_EXEC
    pub const fn executable(self) -> bool {
        self.0 & 4 != 0
    }
}

/// Who sees what is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// This address space alone; forks get copies.
    Private,
    /// Everyone who maps the same.
    Shared,
}

/// Where pages come from.
#[derive(Clone, Debug)]
pub enum Backing {
    /// Zeros.
    Anonymous,
    /// A file, or shared memory, from page `first` on.
    Pages {
        /// Whose pages.
        source: Arc<dyn PageSource>,
        /// Index of the page at the area's start.
        first: u64,
    },
}

/// An area: `start..end`, multiples of the page size.
#[derive(Clone, Debug)]
pub struct Vma {
    /// First address.
    pub start: u64,
    /// Address behind the last.
    pub end: u64,
    /// Rights.
    pub protection: Protection,
    /// Private or shared.
    pub sharing: Sharing,
    /// Contents of pages that are not there yet.
    pub backing: Backing,
    /// It is a stack: a fault below it may extend it.
    pub grows_down: bool,
    /// For /proc/PID/maps: `[stack]`, `[heap]`.
    pub name: &'static str,
}

impl Vma {
    /// Index in the source of the page at `address`.
    pub fn source_page(&self, address: u64) -> Option<(&Arc<dyn PageSource>, u64)> {
        match &self.backing {
            Backing::Anonymous => None,
            Backing::Pages { source, first } => Some((source, first + (address - self.start) / PAGE)),
        }
    }

    /// The part `start..end` of it, which must be inside.
    #[must_use]
    pub fn part(&self, start: u64, end: u64) -> Self {
        debug_assert!(self.start <= start && start < end && end <= self.end);
        let backing = match &self.backing {
            Backing::Anonymous => Backing::Anonymous,
            Backing::Pages { source, first } => {
                Backing::Pages { source: Arc::clone(source), first: first + (start - self.start) / PAGE }
            }
        };
        Self { start, end, backing, ..self.clone() }
    }

    /// Could `next`, which begins where this ends, be the same area?
    pub fn continues(&self, next: &Self) -> bool {
        let same_backing = match (&self.backing, &next.backing) {
            (Backing::Anonymous, Backing::Anonymous) => true,
            (Backing::Pages { source: a, first: x }, Backing::Pages { source: b, first: y }) => {
                Arc::ptr_eq(a, b) && x + (self.end - self.start) / PAGE == *y
            }
            _ => false,
        };
        same_backing
            && self.end == next.start
            && self.protection == next.protection
            && self.sharing == next.sharing
            && self.grows_down == next.grows_down
            && self.name == next.name
    }
}
