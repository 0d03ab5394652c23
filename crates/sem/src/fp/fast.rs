//! The host's arithmetic, where it is proven equal: rounding to nearest, operands that are zeros or normal numbers, a
//! result in the middle of the normal range, so that no denormal number, underflow, overflow or NaN is near. What is
//! left of the flags is "inexact", found exactly: by the error term of an addition, by trailing zeros of products, or
//! by multiplying back. Everything else is `None`, and the soft functions do it.
// Comparisons ask whether a result is exact, and so are exact themselves.
#![allow(clippy::float_cmp)]

use super::{FPCR_RMODE, FPSR_IXC, FpEnv};

/// Rounding to nearest?
#[inline(always)]
fn nearest(env: &FpEnv) -> bool {
    env.fpcr & FPCR_RMODE == 0
}

/// Adds IXC where `inexact`.
#[inline(always)]
fn flag(env: &mut FpEnv, inexact: bool) {
    env.fpsr |= if inexact { FPSR_IXC } else { 0 };
}

/// A normal number, not of the two highest binades.
#[inline(always)]
fn normal64(bits: u64) -> bool {
    (bits >> 52 & 0x7ff).wrapping_sub(1) < 0x7fc
}

#[inline(always)]
fn normal32(bits: u64) -> bool {
    (bits >> 23 & 0xff).wrapping_sub(1) < 0xfc
}

/// Nor of the lowest binade, where a result that was rounded up would have been tiny before.
#[inline(always)]
fn result64(bits: u64) -> bool {
    (bits >> 52 & 0x7ff).wrapping_sub(2) < 0x7fb
}

#[inline(always)]
fn result32(bits: u64) -> bool {
    (bits >> 23 & 0xff).wrapping_sub(2) < 0xfb
}

#[inline(always)]
fn zero64(bits: u64) -> bool {
    bits << 1 == 0
}

#[inline(always)]
fn zero32(bits: u64) -> bool {
    bits as u32 & 0x7fff_ffff == 0
}

/// The significand of a normal number without trailing zeros.
#[inline(always)]
fn odd_significand(bits: u64) -> u64 {
    let significand = bits & ((1 << 52) - 1) | 1 << 52;
    significand >> significand.trailing_zeros()
}

#[inline(always)]
fn odd_product(a: u64, b: u64) -> u128 {
    u128::from(odd_significand(a)) * u128::from(odd_significand(b))
}

/// The rounding error of the sum `s` of `a` and `b` (Knuth's TwoSum).
#[inline(always)]
fn error64(a: f64, b: f64, s: f64) -> f64 {
    let b_part = s - a;
    (a - (s - b_part)) + (b - b_part)
}

#[inline(always)]
pub(super) fn add64(env: &mut FpEnv, a: u64, b: u64) -> Option<u64> {
    if !(nearest(env) && (normal64(a) || zero64(a)) && (normal64(b) || zero64(b))) {
        return None;
    }
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    let sum = x + y;
    let bits = sum.to_bits();
    if !(result64(bits) || zero64(bits)) {
        return None;
    }
    flag(env, error64(x, y, sum) != 0.0);
    Some(bits)
}

#[inline(always)]
pub(super) fn add32(env: &mut FpEnv, a: u64, b: u64) -> Option<u64> {
    if !(nearest(env) && (normal32(a) || zero32(a)) && (normal32(b) || zero32(b))) {
        return None;
    }
    let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
    let sum = x + y;
    let bits = u64::from(sum.to_bits());
    if !(result32(bits) || zero32(bits)) {
        return None;
    }
    let b_part = sum - x;
    flag(env, (x - (sum - b_part)) + (y - b_part) != 0.0);
    Some(bits)
}

#[inline(always)]
pub(super) fn mul64(env: &mut FpEnv, a: u64, b: u64) -> Option<u64> {
    if !(nearest(env) && normal64(a) && normal64(b)) {
        return None;
    }
    let bits = (f64::from_bits(a) * f64::from_bits(b)).to_bits();
    if !result64(bits) {
        return None;
    }
    if env.fpsr & FPSR_IXC == 0 {
        flag(env, odd_product(a, b) >> 53 != 0);
    }
    Some(bits)
}

/// The product of two single-precision numbers is exact in double precision.
#[inline(always)]
pub(super) fn mul32(env: &mut FpEnv, a: u64, b: u64) -> Option<u64> {
    if !(nearest(env) && normal32(a) && normal32(b)) {
        return None;
    }
    let exact = f64::from(f32::from_bits(a as u32)) * f64::from(f32::from_bits(b as u32));
    let product = exact as f32;
    let bits = u64::from(product.to_bits());
    if !result32(bits) {
        return None;
    }
    flag(env, f64::from(product) != exact);
    Some(bits)
}

#[inline(always)]
pub(super) fn div64(env: &mut FpEnv, a: u64, b: u64) -> Option<u64> {
    if !(nearest(env) && normal64(a) && normal64(b)) {
        return None;
    }
    let bits = (f64::from_bits(a) / f64::from_bits(b)).to_bits();
    if !result64(bits) {
        return None;
    }
    if env.fpsr & FPSR_IXC == 0 {
        flag(env, odd_product(bits, b) != u128::from(odd_significand(a)));
    }
    Some(bits)
}

/// Quotient times divisor is exact in double precision.
#[inline(always)]
pub(super) fn div32(env: &mut FpEnv, a: u64, b: u64) -> Option<u64> {
    if !(nearest(env) && normal32(a) && normal32(b)) {
        return None;
    }
    let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
    let quotient = x / y;
    let bits = u64::from(quotient.to_bits());
    if !result32(bits) {
        return None;
    }
    flag(env, f64::from(quotient) * f64::from(y) != f64::from(x));
    Some(bits)
}

#[inline(always)]
pub(super) fn sqrt64(env: &mut FpEnv, a: u64) -> Option<u64> {
    if !(nearest(env) && normal64(a) && a >> 63 == 0) {
        return None;
    }
    let bits = f64::from_bits(a).sqrt().to_bits();
    if env.fpsr & FPSR_IXC == 0 {
        flag(env, odd_product(bits, bits) != u128::from(odd_significand(a)));
    }
    Some(bits)
}

#[inline(always)]
pub(super) fn sqrt32(env: &mut FpEnv, a: u64) -> Option<u64> {
    if !(nearest(env) && normal32(a) && a >> 31 == 0) {
        return None;
    }
    let x = f32::from_bits(a as u32);
    let root = x.sqrt();
    flag(env, f64::from(root) * f64::from(root) != f64::from(x));
    Some(u64::from(root.to_bits()))
}

/// The product is exact in double precision; the sum there is made odd where it is inexact, so that rounding it once
/// more to single precision gives what rounding once would.
#[inline(always)]
pub(super) fn mul_add32(env: &mut FpEnv, addend: u64, a: u64, b: u64) -> Option<u64> {
    let usable = |bits: u64| normal32(bits) || zero32(bits);
    if !(nearest(env) && usable(addend) && usable(a) && usable(b)) {
        return None;
    }
    let single = |bits: u64| f64::from(f32::from_bits(bits as u32));
    let (product, addend) = (single(a) * single(b), single(addend));
    let sum = product + addend;
    let error = error64(product, addend, sum);
    let mut bits = sum.to_bits();
    if error != 0.0 && bits & 1 == 0 {
        // Towards the true sum.
        bits = if (error > 0.0) == (sum > 0.0) { bits + 1 } else { bits - 1 };
    }
    let result = f64::from_bits(bits) as f32;
    let result_bits = u64::from(result.to_bits());
    if !(result32(result_bits) || sum == 0.0) {
        return None;
    }
    flag(env, error != 0.0 || f64::from(result) != sum);
    Some(result_bits)
}
