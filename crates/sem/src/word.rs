//! Values that instructions compute with.
//!
//! A body may use a Rust `if` on decode-time fields only, never on a [`Word`]: where a value decides, it says
//! `select`.

use core::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Sub};

/// A 64-bit value: a number in the PE, an IR value when lifted, nothing in a footprint.
/// Arithmetic wraps. Comparisons give 0 or 1.
pub trait Word:
    Copy
    + From<u64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
{
    /// Shifts left by `n` modulo 64.
    #[must_use]
    fn shl(self, n: Self) -> Self;
    /// Shifts right by `n` modulo 64, filling with zeros.
    #[must_use]
    fn lshr(self, n: Self) -> Self;
    /// Shifts right by `n` modulo 64, filling with the sign.
    #[must_use]
    fn ashr(self, n: Self) -> Self;
    /// Rotates right by `n` modulo 64.
    #[must_use]
    fn ror(self, n: Self) -> Self;
    /// The low `bits` (1 to 64), zero-extended.
    #[must_use]
    fn zext(self, bits: u32) -> Self;
    /// The low `bits` (1 to 64), sign-extended.
    #[must_use]
    fn sext(self, bits: u32) -> Self;
    /// 1 where equal.
    #[must_use]
    fn is_eq(self, other: Self) -> Self;
    /// 1 where less, unsigned.
    #[must_use]
    fn is_ult(self, other: Self) -> Self;
    /// 1 where less, signed.
    #[must_use]
    fn is_slt(self, other: Self) -> Self;
    /// `then` where `self` is not 0, else `other`.
    #[must_use]
    fn select(self, then: Self, other: Self) -> Self;
    /// Leading zeros of the 64 bits (64 for 0).
    #[must_use]
    fn clz(self) -> Self;
    /// The 64 bits reversed.
    #[must_use]
    fn rbit(self) -> Self;
    /// The 8 bytes reversed.
    #[must_use]
    fn rev(self) -> Self;
    /// Number of set bits.
    #[must_use]
    fn popcount(self) -> Self;
    /// The upper 64 bits of the unsigned product.
    #[must_use]
    fn umulh(self, other: Self) -> Self;
    /// The upper 64 bits of the signed product.
    #[must_use]
    fn smulh(self, other: Self) -> Self;
    /// Unsigned quotient, 0 for a zero divisor.
    #[must_use]
    fn udiv(self, by: Self) -> Self;
    /// Signed quotient towards zero, 0 for a zero divisor, wrapping for `MIN / -1`.
    #[must_use]
    fn sdiv(self, by: Self) -> Self;

    /// The low 32 bits: what writing a W register keeps.
    #[inline(always)]
    #[must_use]
    fn low32(self) -> Self {
        self.zext(32)
    }
    /// 1 where not equal.
    #[inline(always)]
    #[must_use]
    fn is_ne(self, other: Self) -> Self {
        self.is_eq(other) ^ Self::from(1)
    }
}

/// A 128-bit value: the contents of a SIMD&FP register. Element work is done by [`crate::Pure`] functions.
pub trait Quad: Copy {
    /// The [`Word`] that goes with it.
    type Word: Word;
    /// From its low and high halves.
    #[must_use]
    fn from_halves(lo: Self::Word, hi: Self::Word) -> Self;
    /// Bits \[63:0\].
    #[must_use]
    fn lo(self) -> Self::Word;
    /// Bits \[127:64\].
    #[must_use]
    fn hi(self) -> Self::Word;
    /// `word` in the low half, zeros above.
    #[inline(always)]
    #[must_use]
    fn from_lo(word: Self::Word) -> Self {
        Self::from_halves(word, Self::Word::from(0))
    }
}

impl Word for u64 {
    #[inline(always)]
    fn shl(self, n: Self) -> Self {
        self.wrapping_shl(n as u32)
    }
    #[inline(always)]
    fn lshr(self, n: Self) -> Self {
        self.wrapping_shr(n as u32)
    }
    #[inline(always)]
    fn ashr(self, n: Self) -> Self {
        (self as i64).wrapping_shr(n as u32) as u64
    }
    #[inline(always)]
    fn ror(self, n: Self) -> Self {
        self.rotate_right(n as u32 & 63)
    }
    #[inline(always)]
    fn zext(self, bits: u32) -> Self {
        self & u64::MAX >> (64 - bits)
    }
    #[inline(always)]
    fn sext(self, bits: u32) -> Self {
        ((self << (64 - bits)) as i64 >> (64 - bits)) as u64
    }
    #[inline(always)]
    fn is_eq(self, other: Self) -> Self {
        u64::from(self == other)
    }
    #[inline(always)]
    fn is_ult(self, other: Self) -> Self {
        u64::from(self < other)
    }
    #[inline(always)]
    fn is_slt(self, other: Self) -> Self {
        u64::from((self as i64) < other as i64)
    }
    #[inline(always)]
    fn select(self, then: Self, other: Self) -> Self {
        if self != 0 { then } else { other }
    }
    #[inline(always)]
    fn clz(self) -> Self {
        u64::from(self.leading_zeros())
    }
    #[inline(always)]
    fn rbit(self) -> Self {
        self.reverse_bits()
    }
    #[inline(always)]
    fn rev(self) -> Self {
        self.swap_bytes()
    }
    #[inline(always)]
    fn popcount(self) -> Self {
        u64::from(self.count_ones())
    }
    #[inline(always)]
    fn umulh(self, other: Self) -> Self {
        ((u128::from(self) * u128::from(other)) >> 64) as u64
    }
    #[inline(always)]
    fn smulh(self, other: Self) -> Self {
        ((i128::from(self as i64) * i128::from(other as i64)) >> 64) as u64
    }
    #[inline(always)]
    fn udiv(self, by: Self) -> Self {
        self.checked_div(by).unwrap_or(0)
    }
    #[inline(always)]
    fn sdiv(self, by: Self) -> Self {
        if by == 0 { 0 } else { (self as i64).wrapping_div(by as i64) as u64 }
    }
}

impl Quad for u128 {
    type Word = u64;
    #[inline(always)]
    fn from_halves(lo: u64, hi: u64) -> Self {
        u128::from(lo) | u128::from(hi) << 64
    }
    #[inline(always)]
    fn lo(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn hi(self) -> u64 {
        (self >> 64) as u64
    }
}
