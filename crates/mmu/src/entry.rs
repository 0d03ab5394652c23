//! The result of a walk, which is also what a TLB holds.

use arch::{Pa, Va};

use crate::{Granule, MemAttr, Regime, Shareability, Stage2Rights};

/// Access permissions after the hierarchical controls, before PAN and WXN (which depend on the access).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Perms(u8);

impl Perms {
    /// AP\[1\]: EL0 may access.
    pub const EL0: Self = Self(1);
    /// AP\[2\]: no writes. Clear for a writable-clean page (DBM set under hardware dirty state).
    pub const READ_ONLY: Self = Self(2);
    /// UXN; XN in a regime without EL0.
    pub const UXN: Self = Self(4);
    /// PXN.
    pub const PXN: Self = Self(8);

    /// Stage 1 is off: it grants everything, and the entry counts only while it is off.
    pub const STAGE1_OFF: Self = Self(16);

    pub(crate) const fn to_bits(self) -> u8 {
        self.0
    }
    pub(crate) fn with_bits(bits: u8) -> Option<Self> {
        (bits < 32).then_some(Self(bits))
    }
    /// The bits of AP\[1\], AP\[2\], UXN and PXN in that order from bit 0.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & 15)
    }
    /// Is `bit` among them?
    #[inline(always)]
    #[must_use]
    pub const fn has(self, bit: Self) -> bool {
        self.0 & bit.0 != 0
    }
}

/// Which ASIDs an entry belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// nG = 0, or a regime without ASIDs.
    Global,
    /// nG = 1: this one.
    Asid(u16),
}

/// Was the Contiguous bit honoured?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Contiguous {
    /// The entry is one descriptor's.
    Single,
    /// The entry spans the run that the descriptor belongs to.
    Run,
}

/// The GP bit: BTI applies to branches into the page (where FEAT_BTI is implemented).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guarded {
    /// GP = 0.
    No,
    /// GP = 1.
    Yes,
}

/// Hardware-managed dirty state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dirty {
    /// Not managed: DBM is clear or the feature is off.
    NotTracked,
    /// Writable-clean: the first write must walk and clear AP\[2\] in memory.
    Clean,
    /// Writable-dirty.
    Marked,
}

/// What may hold the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Caching {
    /// A TLB, and what derives from it.
    Tlb,
    /// Translation is off: the fast cache may hold it (under its own context), a TLB does not.
    Identity,
    /// Nothing: the nT bit was set, or AT looked at a descriptor whose Access flag is clear.
    Never,
}

/// A translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// First address, a multiple of the size; bits \[63:56\] repeat bit 55.
    pub va: Va,
    /// Output of the first address.
    pub pa: Pa,
    /// log2 of the size in bytes: of the page, block, or contiguous run.
    pub size_log2: u8,
    /// Level of the descriptor, -1 to 3.
    pub level: i8,
    /// Granule of the tables.
    pub granule: Granule,
    /// Is it a contiguous run?
    pub contiguous: Contiguous,
    /// Permissions.
    pub perms: Perms,
    /// Memory type.
    pub attr: MemAttr,
    /// Shareability as it applies.
    pub sh: Shareability,
    /// Which ASIDs.
    pub scope: Scope,
    /// Which translation regime.
    pub regime: Regime,
    /// Which virtual machine; 0 in regimes without.
    pub vmid: u16,
    /// What stage 2 grants; all where it is not in use.
    pub stage2: Stage2Rights,
    /// BTI guard.
    pub guarded: Guarded,
    /// Dirty state.
    pub dirty: Dirty,
    /// What may hold it.
    pub caching: Caching,
    /// Descriptors that the walk read.
    pub steps: u8,
}

impl Entry {
    /// Size in bytes.
    #[inline(always)]
    #[must_use]
    pub const fn size(&self) -> u64 {
        1 << self.size_log2
    }

    /// Does it translate `va`? The top byte does not count.
    #[inline(always)]
    #[must_use]
    pub const fn covers(&self, va: Va) -> bool {
        ((va.0 ^ self.va.0) << 8) >> 8 >> self.size_log2 == 0
    }

    /// The output address of `va`, which it must cover.
    #[inline(always)]
    #[must_use]
    pub const fn output(&self, va: Va) -> Pa {
        Pa(self.pa.0 | va.0 & (self.size() - 1))
    }
}
