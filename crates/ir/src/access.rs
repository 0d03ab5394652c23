//! The payloads of operations that reach outside the values: how memory is accessed, how control moves, and pure
//! functions by name.

use crate::tags::TagCheck;

/// Which exception level's permissions an access uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Privilege {
    /// The current one's.
    Current,
    /// EL0's: LDTR, STTR and their kind (unless PSTATE.UAO says otherwise).
    Unprivileged,
}

/// Memory ordering of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// None.
    Plain,
    /// Load-acquire (RCsc).
    Acquire,
    /// Load-acquire (RCpc).
    AcquirePc,
    /// Store-release.
    Release,
    /// Both (atomics).
    AcquireRelease,
    /// LoadLOAcquire, StoreLORelease.
    LimitedOrder,
}

/// How memory is accessed. A constant in each body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// log2 of the size in bytes: 0 to 3.
    pub log2: u32,
    /// Ordering.
    pub order: Order,
    /// Whose permissions.
    pub privilege: Privilege,
    /// May it be checked against allocation tags?
    pub tags: TagCheck,
}

impl Access {
    /// The size in bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        1 << self.log2
    }
    /// A plain access of 1 << `log2` bytes.
    #[must_use]
    pub const fn plain(log2: u32) -> Self {
        Self::ordered(log2, Order::Plain)
    }
    /// With that ordering.
    #[must_use]
    pub const fn ordered(log2: u32, order: Order) -> Self {
        Self { log2, order, privilege: Privilege::Current, tags: TagCheck::Checked }
    }
    /// With EL0's permissions.
    #[must_use]
    pub const fn unprivileged(log2: u32) -> Self {
        Self { privilege: Privilege::Unprivileged, ..Self::plain(log2) }
    }
    /// With those checks of allocation tags.
    #[must_use]
    pub const fn tagged(self, tags: TagCheck) -> Self {
        Self { tags, ..self }
    }
}

/// Atomic read-modify-write operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    /// LDADD.
    Add,
    /// LDCLR: and not.
    Clear,
    /// LDEOR.
    Eor,
    /// LDSET: or.
    Set,
    /// LDSMAX.
    SignedMax,
    /// LDSMIN.
    SignedMin,
    /// LDUMAX.
    UnsignedMax,
    /// LDUMIN.
    UnsignedMin,
    /// SWP.
    Swap,
}

impl AtomicOp {
    /// The new contents of an element of `1 << log2` bytes that held `old`; upper bits of both operands are ignored.
    #[must_use]
    pub const fn apply(self, log2: u32, old: u64, operand: u64) -> u64 {
        let unused = 64 - (8 << log2);
        let (a, b) = (old << unused, operand << unused);
        // Left-aligned, an element compares as a whole word does and its sum loses what it carries out.
        let new = match self {
            Self::Add => a.wrapping_add(b),
            Self::Clear => a & !b,
            Self::Eor => a ^ b,
            Self::Set => a | b,
            Self::SignedMax if a as i64 > b as i64 => a,
            Self::SignedMin if (a as i64) < b as i64 => a,
            Self::UnsignedMax if a > b => a,
            Self::UnsignedMin if a < b => a,
            Self::SignedMax | Self::SignedMin | Self::UnsignedMax | Self::UnsignedMin | Self::Swap => b,
        };
        new >> unused
    }
}

/// A key of pointer authentication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PauthKey {
    /// Instruction key A.
    IA,
    /// Instruction key B.
    IB,
    /// Data key A.
    DA,
    /// Data key B.
    DB,
}

/// What the PE does with up to three words, beside computing and accessing memory once. Gives one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Assist {
    /// Signs the first operand, a pointer, with the second, the modifier.
    Sign(PauthKey),
    /// Authenticates a pointer with a modifier.
    Authenticate(PauthKey),
    /// The same as a part of an instruction that then uses the pointer.
    AuthenticateCombined(PauthKey),
    /// Strips the code off an instruction address.
    StripInstruction,
    /// Strips the code off a data address.
    StripData,
    /// The generic code of the first operand with the second as modifier.
    SignGeneric,
    /// An exception where memory copy and set are not enabled, or where the first operand, the bytes to go, is not 0 and
    /// the flags, the second, are not those of Option A. Gives 0.
    CheckMops,
    /// Stores the low byte of the third operand at the address in the first and above, at most as often as the second
    /// says. Gives how often, 0 only where nothing was asked.
    SetMemory(Privilege),
    /// The same in granules of 16 bytes, whose allocation tags become the address's.
    SetMemoryAndTags(Privilege),
    /// Copies to the address in the first operand plus the third from the second plus the third, and upwards, at most as
    /// many bytes as are missing from the third to 0. Where the third is positive and `order` allows it, downwards from
    /// below those addresses, at most as many bytes as it says. Gives how many, 0 only where nothing was asked.
    CopyMemory {
        /// Whose permissions the loads use.
        read: Privilege,
        /// Whose permissions the stores use.
        write: Privilege,
        /// Which way.
        order: CopyOrder,
    },
}

impl Assist {
    /// May it read memory?
    #[must_use]
    pub const fn loads(self) -> bool {
        matches!(self, Self::CopyMemory { .. })
    }
    /// May it write memory?
    #[must_use]
    pub const fn stores(self) -> bool {
        matches!(self, Self::CopyMemory { .. } | Self::SetMemory(_) | Self::SetMemoryAndTags(_))
    }
}

/// The order of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CopyOrder {
    /// Upwards.
    Upwards,
    /// As the sign of the count says.
    BySign,
}

/// How control moves; for profiles, BTI and PMU events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BranchKind {
    /// B, B.cond, CBZ, TBZ.
    Direct,
    /// BL.
    Call,
    /// BR, but for the next.
    Indirect,
    /// BR X16 and BR X17, which linkers use between modules.
    IndirectVeneer,
    /// BLR.
    IndirectCall,
    /// RET.
    Return,
}

/// What floating-point functions see: the control register, and the cumulative flags that they add to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FpEnv {
    /// `FPCR`.
    pub fpcr: u64,
    /// `FPSR`; functions only set bits (IOC, DZC, OFC, UFC, IXC, IDC, QC).
    pub fpsr: u64,
}

/// A named pure function of up to three 128-bit operands, for vector and floating-point work.
/// The same in every reading: the IR holds it as a call, which a back end may know by name.
#[derive(Clone, Copy)]
pub struct Pure {
    /// Its name, unique.
    pub name: &'static str,
    /// The function. Operands it does not use are passed as 0.
    pub run: fn(&mut FpEnv, [u128; 3]) -> u128,
}

/// Two functions are the same where their names are.
impl PartialEq for Pure {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Pure {}

impl core::fmt::Debug for Pure {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::AtomicOp;

    #[test]
    fn elements_stay_in_their_size() {
        assert_eq!(AtomicOp::Add.apply(0, 0xff, 0x1_02), 1);
        assert_eq!(AtomicOp::Clear.apply(1, 0xffff, 0xff_00f0), 0xff0f);
        assert_eq!(AtomicOp::Eor.apply(3, 5, 6), 3);
        assert_eq!(AtomicOp::Set.apply(2, 1, u64::MAX << 31), 0x8000_0001);
        assert_eq!(AtomicOp::Swap.apply(2, 1, u64::MAX), 0xffff_ffff);
        assert_eq!(AtomicOp::SignedMax.apply(0, 0x80, 0x7f), 0x7f);
        assert_eq!(AtomicOp::SignedMin.apply(0, 0x80, 0x7f), 0x80);
        assert_eq!(AtomicOp::UnsignedMax.apply(0, 0x80, 0x7f), 0x80);
        assert_eq!(AtomicOp::UnsignedMin.apply(0, 0x80, 0x7f), 0x7f);
    }
}
