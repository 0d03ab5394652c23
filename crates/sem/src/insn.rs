//! One decoded instruction: its word, its place in the block, a prepared immediate.

/// A register number in an instruction, 0 to 31. What 31 means (XZR or SP) the instruction says.
pub type Reg = u32;

/// One instruction as a body sees it. Fields are read from the word; what is costly to decode
/// (bitmask immediates) was prepared once into `imm` by the encoding's line.
///
/// Two 64-bit fields, so that it travels in two registers of the host.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Insn {
    /// The word in the lower half, the offset in the upper.
    head: u64,
    /// The prepared immediate, 0 where the encoding prepares none.
    pub imm: u64,
}

impl core::fmt::Debug for Insn {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:08x} at +{:#x}, imm {:#x}", self.word(), self.offset(), self.imm)
    }
}

impl Insn {
    /// Instruction `word`, `offset` bytes from the start of its block, with its prepared immediate.
    #[inline(always)]
    #[must_use]
    pub const fn new(word: u32, offset: u32, imm: u64) -> Self {
        Self { head: word as u64 | (offset as u64) << 32, imm }
    }
    /// The instruction word.
    #[inline(always)]
    #[must_use]
    pub const fn word(self) -> u32 {
        self.head as u32
    }
    /// Byte offset from the start of the block, so that the PC is the block's PC plus this.
    #[inline(always)]
    #[must_use]
    pub const fn offset(self) -> u32 {
        (self.head >> 32) as u32
    }
    /// Bits \[hi:lo\] of the word.
    #[inline(always)]
    #[must_use]
    pub const fn bits(self, hi: u32, lo: u32) -> u32 {
        self.word() >> lo & (u32::MAX >> (31 - (hi - lo)))
    }
    /// Bit `n` of the word as 0 or 1.
    #[inline(always)]
    #[must_use]
    pub const fn bit(self, n: u32) -> u32 {
        self.word() >> n & 1
    }
    /// Bits \[hi:lo\], sign-extended.
    #[inline(always)]
    #[must_use]
    pub const fn signed(self, hi: u32, lo: u32) -> i64 {
        ((self.word() << (31 - hi)) as i32 >> (31 - hi + lo)) as i64
    }
    /// Rd or Rt, bits \[4:0\].
    #[inline(always)]
    #[must_use]
    pub const fn rd(self) -> Reg {
        self.word() & 31
    }
    /// Rt, bits \[4:0\].
    #[inline(always)]
    #[must_use]
    pub const fn rt(self) -> Reg {
        self.word() & 31
    }
    /// Rn, bits \[9:5\].
    #[inline(always)]
    #[must_use]
    pub const fn rn(self) -> Reg {
        self.word() >> 5 & 31
    }
    /// Rm, bits \[20:16\].
    #[inline(always)]
    #[must_use]
    pub const fn rm(self) -> Reg {
        self.word() >> 16 & 31
    }
    /// Rs, bits \[20:16\].
    #[inline(always)]
    #[must_use]
    pub const fn rs(self) -> Reg {
        self.word() >> 16 & 31
    }
    /// Ra or Rt2, bits \[14:10\].
    #[inline(always)]
    #[must_use]
    pub const fn ra(self) -> Reg {
        self.word() >> 10 & 31
    }
    /// Rt2, bits \[14:10\].
    #[inline(always)]
    #[must_use]
    pub const fn rt2(self) -> Reg {
        self.word() >> 10 & 31
    }
}
