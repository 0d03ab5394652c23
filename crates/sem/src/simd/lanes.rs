//! Elements of a vector: typed lanes of a `u128`. The loops over them, in [`fill`], run over bytes in memory and are
//! functions of their own, since only so the compiler makes vector code of them.

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
    /// Element `i` of a vector's bytes.
    fn read(bytes: &[u8; 16], i: usize) -> Self;
    /// Writes it as element `i`.
    fn write(self, bytes: &mut [u8; 16], i: usize);
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
        build(Self::COUNT, [a, 0, 0], |[a, ..], i| f(Self::read(a, i)))
    }
    /// `f` of each pair of lanes.
    #[inline(always)]
    fn map2(a: u128, b: u128, f: impl FnMut(Self, Self) -> Self) -> u128 {
        Self::some2(Self::COUNT, a, b, f)
    }
    /// `f` of each three lanes.
    #[inline(always)]
    fn map3(a: u128, b: u128, c: u128, f: impl FnMut(Self, Self, Self) -> Self) -> u128 {
        Self::some3(Self::COUNT, a, b, c, f)
    }
    /// `f` of the first `count` pairs of lanes, zeros above.
    #[inline(always)]
    fn some2(count: usize, a: u128, b: u128, mut f: impl FnMut(Self, Self) -> Self) -> u128 {
        build(count, [a, b, 0], |[a, b, _], i| f(Self::read(a, i), Self::read(b, i)))
    }
    /// `f` of the first `count` three lanes, zeros above.
    #[inline(always)]
    fn some3(count: usize, a: u128, b: u128, c: u128, mut f: impl FnMut(Self, Self, Self) -> Self) -> u128 {
        build(count, [a, b, c], |[a, b, c], i| f(Self::read(a, i), Self::read(b, i), Self::read(c, i)))
    }
}

/// The bytes of a function's operands.
pub type Operands = [[u8; 16]; 3];

/// A vector with `f(operands, i)` in each of the first `count` lanes, zeros above.
#[inline(always)]
pub fn build<E: Lane>(count: usize, operands: [u128; 3], f: impl FnMut(&Operands, usize) -> E) -> u128 {
    let mut result = [0; 16];
    fill(&mut result, count, &operands.map(u128::to_le_bytes), f);
    u128::from_le_bytes(result)
}

#[inline(never)]
fn fill<E: Lane>(result: &mut [u8; 16], count: usize, operands: &Operands, mut f: impl FnMut(&Operands, usize) -> E) {
    for i in 0..count {
        f(operands, i).write(result, i);
    }
}

/// A vector with `f` of each two neighbours of `a`, then of `b`.
#[inline(always)]
pub fn build_of_pairs<E: Lane>(a: u128, b: u128, f: impl Fn(E, E) -> E) -> u128 {
    let mut result = [0; 16];
    fill_of_pairs(&mut result, &a.to_le_bytes(), &b.to_le_bytes(), f);
    u128::from_le_bytes(result)
}

/// Two loops over whole sources: so the compiler finds the shuffles.
#[inline(never)]
fn fill_of_pairs<E: Lane>(result: &mut [u8; 16], a: &[u8; 16], b: &[u8; 16], f: impl Fn(E, E) -> E) {
    for i in 0..E::COUNT / 2 {
        f(E::read(a, 2 * i), E::read(a, 2 * i + 1)).write(result, i);
    }
    for i in 0..E::COUNT / 2 {
        f(E::read(b, 2 * i), E::read(b, 2 * i + 1)).write(result, E::COUNT / 2 + i);
    }
}

/// An element whose double is an element too: 8 to 32 bits.
pub trait Narrow: Lane<Wide = Self::Double> {
    /// Twice as wide.
    type Double: Lane;

    /// Wide lanes from the low half's lanes of `a` and `b`.
    #[inline(always)]
    fn widen2(a: u128, b: u128, mut f: impl FnMut(Self::Double, Self::Double) -> Self::Double) -> u128 {
        build(Self::Double::COUNT, [a, b, 0], |[a, b, _], i| f(Self::read(a, i).wide(), Self::read(b, i).wide()))
    }
    /// Wide lanes from wide lanes of `d` and the low half's lanes of `a` and `b`.
    #[inline(always)]
    fn widen3(
        d: u128,
        a: u128,
        b: u128,
        mut f: impl FnMut(Self::Double, Self::Double, Self::Double) -> Self::Double,
    ) -> u128 {
        build(Self::Double::COUNT, [a, b, d], |[a, b, d], i| {
            f(Self::Double::read(d, i), Self::read(a, i).wide(), Self::read(b, i).wide())
        })
    }
    /// Lanes in the low half from the first `count` wide lanes of `a` and `b`, at most all.
    #[inline(always)]
    fn narrow2(count: usize, a: u128, b: u128, mut f: impl FnMut(Self::Double, Self::Double) -> Self) -> u128 {
        let count = count.min(Self::Double::COUNT);
        build(count, [a, b, 0], |[a, b, _], i| f(Self::Double::read(a, i), Self::Double::read(b, i)))
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
            #[inline(always)]
            fn read(bytes: &[u8; 16], i: usize) -> Self {
                const SIZE: usize = size_of::<$t>();
                let mut own = [0; SIZE];
                own.copy_from_slice(&bytes[SIZE * i..SIZE * (i + 1)]);
                Self::from_le_bytes(own)
            }
            #[inline(always)]
            fn write(self, bytes: &mut [u8; 16], i: usize) {
                const SIZE: usize = size_of::<$t>();
                bytes[SIZE * i..SIZE * (i + 1)].copy_from_slice(&self.to_le_bytes());
            }
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
