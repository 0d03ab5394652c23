//! What an access wants, and what a translation grants.

/// What is done at the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// A load.
    Read,
    /// A store, also DC ZVA and its kin.
    Write,
    /// An atomic read-modify-write: needs both rights.
    ReadWrite,
    /// An instruction fetch.
    Fetch,
    /// DC by VA that cleans, IC by VA: at EL0 it needs the right to read, elsewhere none.
    CacheMaintenance,
    /// DC IVAC: needs the right to write.
    CacheInvalidate,
    /// AT S1E*R, and the debugger: changes no descriptor.
    AtRead,
    /// AT S1E*W: changes no descriptor.
    AtWrite,
}

/// With whose rights an access is made. LDTR and STTR are made with [`Privilege::El0`]; UAO is the caller's business.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Privilege {
    /// Unprivileged.
    El0,
    /// Privileged, in the EL1&0 regime.
    El1,
    /// Privileged, in a regime of EL2.
    El2,
}

/// PSTATE.PAN as it applies to the access. Without FEAT_PAN it is always off; for AT, it is on for the forms of
/// FEAT_PAN2 alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PanState {
    /// Privileged data accesses to what EL0 may access are permitted.
    Off,
    /// They fault.
    On,
}

/// One access, as far as translation cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// What is done.
    pub kind: AccessKind,
    /// With whose rights.
    pub privilege: Privilege,
    /// Privileged access never. Has no meaning for EL0, fetches and cache maintenance.
    pub pan: PanState,
}

impl Access {
    /// An access without PAN.
    #[inline(always)]
    #[must_use]
    pub const fn new(kind: AccessKind, privilege: Privilege) -> Self {
        Self { kind, privilege, pan: PanState::Off }
    }

    /// The same under `pan`.
    #[inline(always)]
    #[must_use]
    pub const fn with_pan(self, pan: PanState) -> Self {
        Self { pan, ..self }
    }

    /// The rights that it needs.
    #[inline]
    #[must_use]
    pub const fn needs(self) -> Rights {
        match self.kind {
            AccessKind::Read | AccessKind::AtRead => Rights::READ,
            AccessKind::Write | AccessKind::AtWrite | AccessKind::CacheInvalidate => Rights::WRITE,
            AccessKind::ReadWrite => Rights::READ.union(Rights::WRITE),
            AccessKind::Fetch => Rights::FETCH,
            AccessKind::CacheMaintenance => match self.privilege {
                Privilege::El0 => Rights::READ,
                Privilege::El1 | Privilege::El2 => Rights::NONE,
            },
        }
    }

    /// Does it store to memory, so that it makes a page dirty?
    #[inline(always)]
    #[must_use]
    pub const fn stores(self) -> bool {
        matches!(self.kind, AccessKind::Write | AccessKind::ReadWrite)
    }

    /// May the walk for it update the tables? AT may set the Access flag or not (the manual leaves it open);
    /// here it changes nothing, as the debugger must not.
    #[inline(always)]
    #[must_use]
    pub const fn updates_tables(self) -> bool {
        !matches!(self.kind, AccessKind::AtRead | AccessKind::AtWrite)
    }
}

/// A set of rights to a page.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Rights(u8);

impl Rights {
    /// None.
    pub const NONE: Self = Self(0);
    /// To load.
    pub const READ: Self = Self(1);
    /// To store.
    pub const WRITE: Self = Self(2);
    /// To fetch instructions.
    pub const FETCH: Self = Self(4);
    /// Each of them.
    pub const ALL: Self = Self(7);

    pub(crate) const fn to_bits(self) -> u8 {
        self.0
    }
    pub(crate) fn of_bits(bits: u8) -> Option<Self> {
        (bits & !Self::ALL.0 == 0).then_some(Self(bits))
    }
    /// Both sets together.
    #[inline(always)]
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// What is in `self` but not in `other`.
    #[inline(always)]
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    /// What is in both.
    #[inline(always)]
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
    /// Is all of `other` in `self`?
    #[inline(always)]
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
    /// Is the set empty?
    #[inline(always)]
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }
}
