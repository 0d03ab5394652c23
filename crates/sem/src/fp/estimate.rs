//! Estimates of reciprocals and of reciprocal square roots, with the manual's 8 bits of precision.

use super::nan::{invalid, process_all};
use super::unpack::{Class, unpack};
use super::{FPSR_DZC, FPSR_IXC, FPSR_OFC, FPSR_UFC, Format, FpEnv, Rounding};

/// `RecipEstimate`: for 0.5 <= a/512 < 1.0, the reciprocal in 256ths.
const fn recip(a: u64) -> u64 {
    ((1 << 19) / (2 * a + 1)).div_ceil(2)
}

/// `RecipSqrtEstimate`: for 0.25 <= a/512 < 1.0, the reciprocal square root in 256ths.
const fn rsqrt(a: u64) -> u64 {
    // The middle of the interval that `a` stands for.
    let a = if a < 256 { 2 * a + 1 } else { ((a >> 1 << 1) + 1) * 2 };
    let mut b = 512;
    while a * (b + 1) * (b + 1) < 1 << 28 {
        b += 1;
    }
    b.div_ceil(2)
}

const fn recip_table() -> [u16; 256] {
    let (mut table, mut i) = ([0; 256], 0);
    while i < 256 {
        table[i] = recip(i as u64 + 256) as u16;
        i += 1;
    }
    table
}

const fn rsqrt_table() -> [u16; 384] {
    let (mut table, mut i) = ([0; 384], 0);
    while i < 384 {
        table[i] = rsqrt(i as u64 + 128) as u16;
        i += 1;
    }
    table
}

/// Indexed by a - 256.
static RECIP: [u16; 256] = recip_table();
/// Indexed by a - 128.
static RSQRT: [u16; 384] = rsqrt_table();

/// The fraction, left-aligned in 52 bits, and the biased exponent, of a number that is not 0; denormal numbers are
/// normalised.
fn normalised<F: Format>(bits: u64) -> (u64, i32) {
    let fraction = (bits & F::FRACTION_MASK) << (52 - F::FRACTION);
    let biased = (bits >> F::FRACTION & F::MAX_BIASED) as i32;
    if biased != 0 {
        return (fraction, biased);
    }
    let shift = fraction.leading_zeros() - 11;
    (fraction << shift & ((1 << 52) - 1), 1 - shift as i32)
}

/// `FPRecipEstimate`.
pub fn recip_estimate<F: Format>(env: &mut FpEnv, bits: u64) -> u64 {
    let x = unpack::<F>(env, bits);
    if let Some(nan) = process_all::<F, 1>(env, [(x, bits)]) {
        return nan;
    }
    match x.class {
        Class::Infinity => return F::signed(x.sign, 0),
        Class::Zero => {
            env.fpsr |= FPSR_DZC;
            return F::signed(x.sign, F::INFINITY);
        }
        _ => {}
    }
    let (fraction, biased) = normalised::<F>(bits);
    // Below 2^(-BIAS - 1): the reciprocal overflows.
    if biased < -1 {
        env.fpsr |= FPSR_OFC | FPSR_IXC;
        let to_infinity = match Rounding::of(env.fpcr) {
            Rounding::PlusInfinity => !x.sign,
            Rounding::MinusInfinity => x.sign,
            Rounding::Zero => false,
            _ => true,
        };
        return F::signed(x.sign, if to_infinity { F::INFINITY } else { F::MAX_NORMAL });
    }
    // From 2^(BIAS - 1) up: the reciprocal is denormal.
    if env.fpcr & F::FLUSH != 0 && biased >= 2 * F::BIAS - 1 {
        env.fpsr |= FPSR_UFC;
        return F::signed(x.sign, 0);
    }
    let scaled = (fraction >> 44) as usize;
    let result_biased = 2 * F::BIAS - 1 - biased;
    let fraction = u64::from(RECIP[scaled] & 255) << 44;
    let (result_biased, fraction) = match result_biased {
        0 => (0, 1 << 51 | fraction >> 1),
        -1 => (0, 1 << 50 | fraction >> 2),
        _ => (result_biased as u64, fraction),
    };
    F::signed(x.sign, result_biased << F::FRACTION | fraction >> (52 - F::FRACTION))
}

/// `FPRSqrtEstimate`.
pub fn rsqrt_estimate<F: Format>(env: &mut FpEnv, bits: u64) -> u64 {
    let x = unpack::<F>(env, bits);
    if let Some(nan) = process_all::<F, 1>(env, [(x, bits)]) {
        return nan;
    }
    match x.class {
        Class::Zero => {
            env.fpsr |= FPSR_DZC;
            return F::signed(x.sign, F::INFINITY);
        }
        _ if x.sign => return invalid::<F>(env),
        Class::Infinity => return 0,
        _ => {}
    }
    let (fraction, biased) = normalised::<F>(bits);
    let scaled = if biased % 2 == 0 { 256 | fraction >> 44 } else { 128 | fraction >> 45 };
    let result_biased = (3 * F::BIAS - 1 - biased).div_euclid(2) as u64;
    let estimate = u64::from(RSQRT[scaled as usize - 128] & 255);
    result_biased << F::FRACTION | estimate << (F::FRACTION - 8)
}

/// `FPRecpX`: a number of roughly the reciprocal's exponent.
pub fn recip_exponent<F: Format>(env: &mut FpEnv, bits: u64) -> u64 {
    let x = unpack::<F>(env, bits);
    if let Some(nan) = process_all::<F, 1>(env, [(x, bits)]) {
        return nan;
    }
    let biased = bits >> F::FRACTION & F::MAX_BIASED;
    let result = if biased == 0 { F::MAX_BIASED - 1 } else { !biased & F::MAX_BIASED };
    F::signed(x.sign, result << F::FRACTION)
}

/// `UnsignedRecipEstimate`, for URECPE.
#[must_use]
pub fn unsigned_recip(value: u32) -> u32 {
    if value >> 31 == 0 { u32::MAX } else { u32::from(RECIP[(value >> 23) as usize - 256]) << 23 }
}

/// `UnsignedRSqrtEstimate`, for URSQRTE.
#[must_use]
pub fn unsigned_rsqrt(value: u32) -> u32 {
    if value >> 30 == 0 { u32::MAX } else { u32::from(RSQRT[(value >> 23) as usize - 128]) << 23 }
}
