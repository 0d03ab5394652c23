//! Elements of a vector: typed lanes of a `u128`, so that a loop over them becomes vector code of the host.

use core::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Shl, Shr, Sub};

/// Integers that lanes compute in: the lanes' own types and the ones twice as wide.
pub trait Int:
    Copy
    + Ord
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Addition modulo 2^BITS.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// Subtraction modulo 2^BITS.
    #[must_use]
    fn minus(self, other: Self) -> Self;
    /// Multiplication modulo 2^BITS.
    #[must_use]
    fn times(self, other: Self) -> Self;
}

/// One element of a vector.
pub trait Lane: Int {
    /// Twice as wide, same signedness.
    type Wide: Int;
    /// Its size in bits, 8 to 64.
    const BITS: u32;
    /// Its least value.
    const MIN: Self;
    /// Its greatest value.
    const MAX: Self;
    /// All lanes of 128 bits.
    type All: Copy + AsRef<[Self]> + AsMut<[Self]>;

    /// The lanes of `vector`, the lowest first.
    fn split(vector: u128) -> Self::All;
    /// The vector with these lanes.
    fn join(lanes: Self::All) -> u128;
    /// `f(i)` for each lane.
    fn all(f: impl FnMut(usize) -> Self) -> Self::All;
    /// Extended by its sign, or by zeros.
    fn wide(self) -> Self::Wide;
    /// The low half.
    fn low(wide: Self::Wide) -> Self;
    /// The bits, zero-extended.
    fn bits(self) -> u64;
    /// From the low bits.
    fn of(bits: u64) -> Self;
    /// Leading zeros.
    fn clz(self) -> u32;

    /// Lanes in 128 bits.
    const COUNT: usize = 128 / Self::BITS as usize;
    /// `f` of each lane.
    #[inline(always)]
    fn map(a: u128, mut f: impl FnMut(Self) -> Self) -> u128 {
        let a = Self::split(a);
        Self::join(Self::all(|i| f(a.as_ref()[i])))
    }
    /// `f` of each pair of lanes.
    #[inline(always)]
    fn map2(a: u128, b: u128, mut f: impl FnMut(Self, Self) -> Self) -> u128 {
        let (a, b) = (Self::split(a), Self::split(b));
        Self::join(Self::all(|i| f(a.as_ref()[i], b.as_ref()[i])))
    }
    /// `f` of each three lanes.
    #[inline(always)]
    fn map3(a: u128, b: u128, c: u128, mut f: impl FnMut(Self, Self, Self) -> Self) -> u128 {
        let (a, b, c) = (Self::split(a), Self::split(b), Self::split(c));
        Self::join(Self::all(|i| f(a.as_ref()[i], b.as_ref()[i], c.as_ref()[i])))
    }
    /// `f` of the first `count` pairs of lanes, zeros above.
    #[inline(always)]
    fn some2(count: usize, a: u128, b: u128, mut f: impl FnMut(Self, Self) -> Self) -> u128 {
        let (a, b) = (Self::split(a), Self::split(b));
        Self::join(Self::all(|i| if i < count { f(a.as_ref()[i], b.as_ref()[i]) } else { Self::ZERO }))
    }
    /// `f` of the first `count` three lanes, zeros above.
    #[inline(always)]
    fn some3(count: usize, a: u128, b: u128, c: u128, mut f: impl FnMut(Self, Self, Self) -> Self) -> u128 {
        let (a, b, c) = (Self::split(a), Self::split(b), Self::split(c));
        Self::join(Self::all(|i| if i < count { f(a.as_ref()[i], b.as_ref()[i], c.as_ref()[i]) } else { Self::ZERO }))
    }
}

/// An element whose double is an element too: 8 to 32 bits.
pub trait Narrow: Lane<Wide = Self::Double> {
    /// Twice as wide.
    type Double: Lane;

    /// Wide lanes from the low half's lanes of `a` and `b`.
    #[inline(always)]
    fn widen2(a: u128, b: u128, mut f: impl FnMut(Self::Double, Self::Double) -> Self::Double) -> u128 {
        let (a, b) = (Self::split(a), Self::split(b));
        Self::Double::join(Self::Double::all(|i| f(a.as_ref()[i].wide(), b.as_ref()[i].wide())))
    }
    /// Wide lanes from wide lanes of `d` and the low half's lanes of `a` and `b`.
    #[inline(always)]
    fn widen3(
        d: u128,
        a: u128,
        b: u128,
        mut f: impl FnMut(Self::Double, Self::Double, Self::Double) -> Self::Double,
    ) -> u128 {
        let (d, a, b) = (Self::Double::split(d), Self::split(a), Self::split(b));
        Self::Double::join(Self::Double::all(|i| f(d.as_ref()[i], a.as_ref()[i].wide(), b.as_ref()[i].wide())))
    }
    /// Lanes in the low half from the wide lanes of `a` and `b`.
    #[inline(always)]
    fn narrow2(a: u128, b: u128, mut f: impl FnMut(Self::Double, Self::Double) -> Self) -> u128 {
        let (a, b) = (Self::Double::split(a), Self::Double::split(b));
        Self::join(Self::all(|i| if i < Self::Double::COUNT { f(a.as_ref()[i], b.as_ref()[i]) } else { Self::ZERO }))
    }
}

macro_rules! int {
    ($($t:ty)*) => {$(
        impl Int for $t {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            #[inline(always)]
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
        }
    )*};
}
int!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128);

macro_rules! lane {
    ($($t:ident $unsigned:ident $wide:ident;)*) => {$(
        impl Lane for $t {
            type Wide = $wide;
            const BITS: u32 = $t::BITS;
            const MIN: Self = $t::MIN;
            const MAX: Self = $t::MAX;
            type All = [$t; 128 / $t::BITS as usize];
            #[inline(always)]
            fn split(vector: u128) -> Self::All {
                core::array::from_fn(|i| (vector >> (i as u32 * $t::BITS)) as $t)
            }
            #[inline(always)]
            fn join(lanes: Self::All) -> u128 {
                let mut bytes = [0u8; 16];
                for (to, lane) in bytes.chunks_exact_mut(size_of::<$t>()).zip(lanes) {
                    to.copy_from_slice(&lane.to_le_bytes());
                }
                u128::from_le_bytes(bytes)
            }
            #[inline(always)]
            fn all(f: impl FnMut(usize) -> Self) -> Self::All { core::array::from_fn(f) }
            #[inline(always)]
            fn wide(self) -> $wide { self as $wide }
            #[inline(always)]
            fn low(wide: $wide) -> Self { wide as $t }
            #[inline(always)]
            fn bits(self) -> u64 { self as $unsigned as u64 }
            #[inline(always)]
            fn of(bits: u64) -> Self { bits as $t }
            #[inline(always)]
            fn clz(self) -> u32 { self.leading_zeros() }
        }
    )*};
}
lane! {
    u8 u8 u16; u16 u16 u32; u32 u32 u64; u64 u64 u128;
    i8 u8 i16; i16 u16 i32; i32 u32 i64; i64 u64 i128;
}

macro_rules! narrow {
    ($($t:ident)*) => {$(
        impl Narrow for $t {
            type Double = <$t as Lane>::Wide;
        }
    )*};
}
narrow!(u8 u16 u32 i8 i16 i32);
