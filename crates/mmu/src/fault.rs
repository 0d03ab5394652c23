//! Faults of address translation and memory access.

use arch::Ipa;

use crate::{Access, AccessKind};

/// What went wrong, without its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// No translation.
    Translation,
    /// The Access flag is clear and hardware does not set it.
    AccessFlag,
    /// The access is not permitted.
    Permission,
    /// An address beyond the configured size.
    AddressSize,
    /// An external abort on a descriptor fetch or update.
    ExternalOnWalk,
    /// A synchronous external abort on the access itself.
    External,
    /// Misaligned.
    Alignment,
    /// A synchronous tag check fault.
    TagCheck,
    /// More than one TLB entry matched.
    TlbConflict,
    /// A hardware update of a descriptor is not supported where it lies.
    UnsupportedAtomicUpdate,
    /// An exclusive or atomic access is not supported at the address (implementation defined).
    UnsupportedExclusive,
}

/// What a stage 2 fault happened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage2Cause {
    /// The output address of stage 1.
    Output,
    /// The address of a stage 1 descriptor (`S1PTW`).
    Stage1Walk,
}

/// The stage that faulted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Stage 1.
    One,
    /// Stage 2.
    Two {
        /// The address that it could not translate.
        ipa: Ipa,
        /// What the address was for.
        cause: Stage2Cause,
    },
}

/// `ESR_ELx.WnR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The fault is that of a read (or fetch).
    Read,
    /// The fault is that of a write. Faults of cache maintenance and AT count as such.
    Write,
}

/// A fault: a value until an exception is taken for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// At which level of the tables, -1 to 3; 0 where the kind has no level.
    pub level: i8,
    /// At which stage.
    pub stage: Stage,
    /// For the syndrome.
    pub direction: Direction,
    /// Descriptors that the walk had read when it faulted; 0 without a walk.
    pub steps: u8,
}

impl Fault {
    /// A stage 1 fault of `access` at `level`.
    #[inline]
    #[must_use]
    pub const fn stage1(kind: FaultKind, level: i8, access: Access) -> Self {
        // For an atomic, a fault that a read would have met too is reported as a read's; the Permission fault
        // that only the write meets is corrected where permissions are known.
        let direction = match access.kind {
            AccessKind::Read | AccessKind::ReadWrite | AccessKind::Fetch => Direction::Read,
            _ => Direction::Write,
        };
        Self { kind, level, stage: Stage::One, direction, steps: 0 }
    }

    /// The same after `steps` descriptor reads.
    #[inline]
    #[must_use]
    pub const fn after(self, steps: u8) -> Self {
        Self { steps, ..self }
    }

    /// The fault status code: DFSC and IFSC of `ESR_ELx`, FST of `PAR_EL1`. Six bits.
    #[must_use]
    pub const fn fsc(&self) -> u8 {
        let level = self.level as u8 & 3;
        let minus_one = self.level < 0;
        match self.kind {
            FaultKind::AddressSize if minus_one => 0b10_1001,
            FaultKind::AddressSize => level,
            FaultKind::Translation if minus_one => 0b10_1011,
            FaultKind::Translation => 0b00_0100 | level,
            FaultKind::AccessFlag => 0b00_1000 | level,
            FaultKind::Permission => 0b00_1100 | level,
            FaultKind::External => 0b01_0000,
            FaultKind::TagCheck => 0b01_0001,
            FaultKind::ExternalOnWalk if minus_one => 0b01_0011,
            FaultKind::ExternalOnWalk => 0b01_0100 | level,
            FaultKind::Alignment => 0b10_0001,
            FaultKind::TlbConflict => 0b11_0000,
            FaultKind::UnsupportedAtomicUpdate => 0b11_0001,
            FaultKind::UnsupportedExclusive => 0b11_0101,
        }
    }
}
