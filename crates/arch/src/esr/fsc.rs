//! Fault status codes: `ESR_ELx.ISS.{DFSC,IFSC}` and `PAR_EL1.FST`.

/// A level of translation table lookup, -1 (FEAT_LPA2) to 3.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(i8)]
pub enum Level {
    /// Level -1.
    Minus1 = -1,
    /// Level 0. For an address size fault, also "the base in TTBR".
    L0 = 0,
    /// Level 1.
    L1 = 1,
    /// Level 2.
    L2 = 2,
    /// Level 3.
    L3 = 3,
}

impl Level {
    /// Every level, from the root.
    pub const ALL: [Self; 5] = [Self::Minus1, Self::L0, Self::L1, Self::L2, Self::L3];

    /// The level of number `n`, or `None` unless -1 to 3.
    #[must_use]
    pub const fn new(n: i8) -> Option<Self> {
        match n {
            -1 => Some(Self::Minus1),
            0 => Some(Self::L0),
            1 => Some(Self::L1),
            2 => Some(Self::L2),
            3 => Some(Self::L3),
            _ => None,
        }
    }
}

/// Why an access to memory failed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fsc {
    /// An output address too large, at this level; level 0 also for the base register.
    AddressSize(Level),
    /// No valid entry.
    Translation(Level),
    /// The access flag is clear. There are no blocks at level -1: it counts as level 0.
    AccessFlag(Level),
    /// Permission. There are no blocks at level -1: it counts as level 0.
    Permission(Level),
    /// Synchronous external abort of the access itself.
    External,
    /// Synchronous external abort of a table walk or of a hardware update of the table.
    ExternalOnWalk(Level),
    /// Synchronous tag check fault.
    TagCheck,
    /// Synchronous parity or ECC error of the access itself.
    Parity,
    /// Synchronous parity or ECC error of a table walk.
    ParityOnWalk(Level),
    /// Alignment.
    Alignment,
    /// Debug exception (breakpoint, watchpoint, step).
    Debug,
    /// Granule protection fault of the access itself.
    Granule,
    /// Granule protection fault of a table walk.
    GranuleOnWalk(Level),
    /// TLB conflict abort.
    TlbConflict,
    /// Unsupported atomic hardware update of the table.
    UnsupportedUpdate,
    /// IMPLEMENTATION DEFINED: lockdown.
    Lockdown,
    /// IMPLEMENTATION DEFINED: exclusive or atomic access to memory that does not support it.
    UnsupportedAtomic,
}

impl Fsc {
    /// The six-bit code.
    #[must_use]
    pub const fn code(self) -> u8 {
        const fn at(base: u8, minus1: u8, level: Level) -> u8 {
            match level {
                Level::Minus1 => minus1,
                _ => base + level as u8,
            }
        }
        match self {
            Self::AddressSize(level) => at(0x00, 0x29, level),
            Self::Translation(level) => at(0x04, 0x2b, level),
            Self::AccessFlag(level) => at(0x08, 0x08, level),
            Self::Permission(level) => at(0x0c, 0x0c, level),
            Self::External => 0x10,
            Self::TagCheck => 0x11,
            Self::ExternalOnWalk(level) => at(0x14, 0x13, level),
            Self::Parity => 0x18,
            Self::ParityOnWalk(level) => at(0x1c, 0x1b, level),
            Self::Alignment => 0x21,
            Self::Debug => 0x22,
            Self::GranuleOnWalk(level) => at(0x24, 0x23, level),
            Self::Granule => 0x28,
            Self::TlbConflict => 0x30,
            Self::UnsupportedUpdate => 0x31,
            Self::Lockdown => 0x34,
            Self::UnsupportedAtomic => 0x35,
        }
    }

    /// Every fault status.
    pub fn all() -> impl Iterator<Item = Self> {
        let by_level: [fn(Level) -> Self; 7] = [
            Self::AddressSize,
            Self::Translation,
            Self::AccessFlag,
            Self::Permission,
            Self::ExternalOnWalk,
            Self::ParityOnWalk,
            Self::GranuleOnWalk,
        ];
        let plain = [
            Self::External,
            Self::TagCheck,
            Self::Parity,
            Self::Alignment,
            Self::Debug,
            Self::Granule,
            Self::TlbConflict,
            Self::UnsupportedUpdate,
            Self::Lockdown,
            Self::UnsupportedAtomic,
        ];
        let leveled = Level::ALL.into_iter().flat_map(move |level| by_level.into_iter().map(move |f| f(level)));
        leveled.filter(|f| !matches!(f, Self::AccessFlag(Level::Minus1) | Self::Permission(Level::Minus1))).chain(plain)
    }

    /// The status that `code` (six bits) names, or `None` where the manual reserves it.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::all().find(|f| f.code() == code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes() {
        for (fsc, code) in [
            (Fsc::AddressSize(Level::L0), 0x00),
            (Fsc::Translation(Level::L0), 0x04),
            (Fsc::AccessFlag(Level::L1), 0x09),
            (Fsc::Permission(Level::L3), 0x0f),
            (Fsc::ExternalOnWalk(Level::Minus1), 0x13),
            (Fsc::ExternalOnWalk(Level::L3), 0x17),
            (Fsc::AddressSize(Level::Minus1), 0x29),
            (Fsc::Translation(Level::Minus1), 0x2b),
        ] {
            assert_eq!((fsc.code(), Fsc::from_code(code)), (code, Some(fsc)));
        }
        let mut seen = 0u64;
        for fsc in Fsc::all() {
            assert_eq!(seen >> fsc.code() & 1, 0, "{fsc:?} shares its code");
            seen |= 1 << fsc.code();
        }
        assert_eq!((seen.count_ones(), Fsc::from_code(0x3f)), (43, None));
    }
}
