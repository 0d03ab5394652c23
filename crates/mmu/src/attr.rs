//! Memory types and shareability.

/// A memory attribute in the encoding of one `MAIR_ELx` byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemAttr(pub u8);

/// What a [`MemAttr`] means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MemType {
    /// Device-nGnRnE.
    DeviceNGnRnE,
    /// Device-nGnRE.
    DeviceNGnRE,
    /// Device-nGRE.
    DeviceNGRE,
    /// Device-GRE.
    DeviceGRE,
    /// Normal; `outer` and `inner` are the MAIR nibbles (0b0100 is Non-cacheable, 0b1111 is write-back,
    /// non-transient, allocating on reads and writes).
    Normal {
        /// Outer cacheability.
        outer: u8,
        /// Inner cacheability.
        inner: u8,
    },
    /// Normal, write-back, with allocation tags (FEAT_MTE2).
    Tagged,
}

impl MemAttr {
    /// Device-nGnRnE, the default of data with translation off.
    pub const DEVICE_NGNRNE: Self = Self(0x00);
    /// Normal, inner and outer Non-cacheable.
    pub const NORMAL_NC: Self = Self(0x44);
    /// Normal, inner and outer write-through, allocating on reads: fetches with translation off and `SCTLR_ELx.I` set.
    pub const NORMAL_WT_RA: Self = Self(0xaa);
    /// Normal, inner and outer write-back, allocating on reads and writes.
    pub const NORMAL_WB: Self = Self(0xff);
    /// The same with allocation tags (FEAT_MTE2).
    pub const NORMAL_TAGGED: Self = Self(0xf0);

    /// The memory type. The reserved encodings are UNPREDICTABLE; Device-like ones read as Device-nGnRnE, the rest as
    /// Normal with the nibbles as they are.
    #[must_use]
    pub const fn memory_type(self) -> MemType {
        match (self.0 >> 4, self.0 & 15) {
            (0, 0b0100..=0b0101) => MemType::DeviceNGnRE,
            (0, 0b1000..=0b1001) => MemType::DeviceNGRE,
            (0, 0b1100..=0b1101) => MemType::DeviceGRE,
            (0, _) => MemType::DeviceNGnRnE,
            (0xf, 0) => MemType::Tagged,
            (outer, inner) => MemType::Normal { outer, inner },
        }
    }

    /// Is it Device memory, where unaligned accesses fault?
    #[inline(always)]
    #[must_use]
    pub const fn is_device(self) -> bool {
        self.0 & 0xf0 == 0
    }

    /// Is it Normal memory, inner and outer write-back?
    #[must_use]
    pub const fn is_write_back(self) -> bool {
        const fn level(nibble: u8) -> bool {
            nibble > 4 && nibble & 4 != 0
        }
        self.is_tagged() || level(self.0 >> 4) && level(self.0 & 15)
    }

    /// Is it Normal tagged memory?
    #[inline(always)]
    #[must_use]
    pub const fn is_tagged(self) -> bool {
        self.0 == 0xf0
    }
}

/// Shareability, in the encoding of descriptors and PAR_EL1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Shareability {
    /// Non-shareable.
    Non = 0,
    /// Outer Shareable.
    Outer = 2,
    /// Inner Shareable.
    Inner = 3,
}

impl Shareability {
    /// The meaning of a two-bit SH field. 0b01 is reserved and taken as Outer Shareable.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        match bits & 3 {
            0 => Self::Non,
            3 => Self::Inner,
            _ => Self::Outer,
        }
    }

    /// That of both stages together: the wider domain (DDI 0487 D8.6.5).
    #[must_use]
    pub const fn combine(self, other: Self) -> Self {
        match (self, other) {
            (Self::Outer, _) | (_, Self::Outer) => Self::Outer,
            (Self::Inner, _) | (_, Self::Inner) => Self::Inner,
            (Self::Non, Self::Non) => Self::Non,
        }
    }

    /// What applies to memory of `attr`: Device and Normal Non-cacheable are always Outer Shareable.
    #[must_use]
    pub const fn effective(self, attr: MemAttr) -> Self {
        if attr.is_device() || attr.0 == MemAttr::NORMAL_NC.0 { Self::Outer } else { self }
    }
}
