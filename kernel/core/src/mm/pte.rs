//! Descriptors of EL0's pages: 4K granule, 48 bits.

use arch::Pa;
use arch::descriptor::{ap, sh};

use super::vma::Protection;

const VALID: u64 = 1;
const PAGE_OR_TABLE: u64 = 2;
const ATTR: u64 = 7 << 2;
const ATTR_NORMAL: u64 = 1 << 2;
const ATTR_TAGGED: u64 = 3 << 2;
const AP_SHIFT: u32 = 6;
const AP_READ_ONLY: u64 = 2 << AP_SHIFT;
const SH: u64 = sh::INNER << 8;
const AF: u64 = 1 << 10;
const NG: u64 = 1 << 11;
const GP: u64 = 1 << 50;
const DBM: u64 = 1 << 51;
const CONTIGUOUS: u64 = 1 << 52;
const PXN: u64 = 1 << 53;
const UXN: u64 = 1 << 54;
const ADDRESS: u64 = 0xffff_ffff_f000;

/// A descriptor. Zero: nothing is mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pte(pub u64);

/// What walks note in a descriptor by themselves (FEAT_HAFDBS): that the page was accessed, and, by clearing AP\[2\] of one
/// with DBM, that it was written to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Noted {
    /// AF
    pub accessed: bool,
    /// DBM, and AP\[2\] is 0.
    pub dirty: bool,
}

impl Noted {
    /// What either has.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { accessed: self.accessed || other.accessed, dirty: self.dirty || other.dirty }
    }
}

impl Pte {
    /// Nothing.
    pub const NONE: Self = Self(0);

    /// A page of EL0 with these rights. Without any it is kept, but inaccessible to EL0.
    pub fn page(pa: Pa, protection: Protection) -> Self {
        Self(pa.0 | VALID | PAGE_OR_TABLE | SH | AF | NG | PXN).with(protection)
    }

    /// A table of the next level.
    pub fn table(pa: Pa) -> Self {
        Self(pa.0 | VALID | PAGE_OR_TABLE)
    }

    /// Is it Tagged memory?
    pub fn is_tagged(self) -> bool {
        self.0 & ATTR == ATTR_TAGGED
    }

    /// The same page with other rights.
    #[must_use]
    pub fn with(self, protection: Protection) -> Self {
        let rights = if protection.writable() {
            ap::RW_ALL
        } else if protection.readable() {
            ap::RO_ALL
        } else {
            ap::RO_EL1 // executable only, or nothing
        };
        let uxn = if protection.executable() { 0 } else { UXN };
        let memory = if protection.tagged() { ATTR_TAGGED } else { ATTR_NORMAL };
        // Guarded page; RES0 on CPUs without FEAT_BTI, where it is never asked for.
        let guard = if protection.guarded() { GP } else { 0 };
        Self(self.0 & !(3 << AP_SHIFT | UXN | ATTR | GP) | memory | rights << AP_SHIFT | uxn | guard)
    }

    /// The same page, not to be written to.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self(self.0 | AP_READ_ONLY)
    }

    /// The same page as part of a contiguous block.
    #[must_use]
    pub fn contiguous(self) -> Self {
        Self(self.0 | CONTIGUOUS)
    }
    /// The same page by itself.
    #[must_use]
    pub fn single(self) -> Self {
        Self(self.0 & !CONTIGUOUS)
    }
    /// Is it part of a contiguous block?
    pub fn is_contiguous(self) -> bool {
        self.0 & CONTIGUOUS != 0
    }
    /// The same page, with the access flag.
    #[must_use]
    pub fn accessed(self) -> Self {
        Self(self.0 | AF)
    }
    /// What hardware may have noted in it.
    pub fn noted(self) -> Noted {
        Noted { accessed: self.0 & AF != 0, dirty: self.0 & DBM != 0 && self.0 & AP_READ_ONLY == 0 }
    }
    /// The same page with these notes beside its own.
    #[must_use]
    pub fn with_noted(self, noted: Noted) -> Self {
        let set = if noted.accessed { AF } else { 0 };
        let clear = if noted.dirty && self.0 & DBM != 0 { AP_READ_ONLY } else { 0 };
        Self((self.0 | set) & !clear)
    }
    /// Everything but the output address, the Contiguous bit, and what hardware may change by itself.
    pub fn attributes(self) -> u64 {
        let dirty = if self.0 & DBM != 0 { AP_READ_ONLY } else { 0 };
        self.0 & !(ADDRESS | CONTIGUOUS | AF | dirty)
    }
    /// Does it map something?
    pub fn is_valid(self) -> bool {
        self.0 & VALID != 0
    }
    /// May EL0 write?
    pub fn is_writable(self) -> bool {
        self.0 >> AP_SHIFT & 3 == ap::RW_ALL
    }
    /// May EL0 read?
    pub fn is_readable(self) -> bool {
        self.0 >> AP_SHIFT & 1 == 1
    }
    /// May EL0 execute?
    pub fn is_executable(self) -> bool {
        self.0 & UXN == 0
    }
    /// The output address.
    pub fn pa(self) -> Pa {
        Pa(self.0 & ADDRESS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_those_asked_for() {
        for bits in 0..8 {
            let protection = Protection::from_bits(bits);
            let pte = Pte::page(Pa(0x1234_5000), protection);
            assert_eq!(pte.pa(), Pa(0x1234_5000));
            assert!(pte.is_valid());
            assert_eq!(pte.is_writable(), protection.writable());
            // As on every VMSA without more: what EL0 can write it can read.
            assert_eq!(pte.is_readable(), protection.readable() || protection.writable());
            assert_eq!(pte.is_executable(), protection.executable());
            assert!(!pte.read_only().is_writable());
        }
    }
}
