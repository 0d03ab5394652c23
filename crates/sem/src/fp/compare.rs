//! Comparison, maximum, minimum.

use core::cmp::Ordering;

use super::nan::process_all;
use super::unpack::{Class, Unpacked, unpack};
use super::{FPSR_IOC, Format, FpEnv};

/// Which NaN operands of a comparison are invalid operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// Signalling NaNs only: FCMP, FCMEQ.
    Signalling,
    /// Any NaN: FCMPE, FCMGT, FCMGE.
    AnyNan,
}

/// The order of two values that are not NaNs.
fn order<F: Format>((x, a): (Unpacked, u64), (y, b): (Unpacked, u64)) -> Ordering {
    // A flushed number is a zero.
    let unflushed = |value: Unpacked, bits: u64| if value.class == Class::Zero { bits & F::SIGN } else { bits };
    key::<F>(unflushed(x, a)).cmp(&key::<F>(unflushed(y, b)))
}

/// Orders as the numbers do; zeros of either sign are equal.
#[inline(always)]
fn key<F: Format>(bits: u64) -> i64 {
    let magnitude = (bits & !F::SIGN) as i64;
    if bits & F::SIGN == 0 { magnitude } else { -magnitude }
}

/// Neither NaN nor infinity nor denormal.
#[inline(always)]
fn is_plain<F: Format>(bits: u64) -> bool {
    (bits >> F::FRACTION & F::MAX_BIASED).wrapping_sub(1) < F::MAX_BIASED - 1 || bits & !F::SIGN == 0
}

/// The order of `a` and `b`; `None` where one is a NaN.
#[inline]
pub fn compare<F: Format>(env: &mut FpEnv, a: u64, b: u64, invalid: Invalid) -> Option<Ordering> {
    if is_plain::<F>(a) && is_plain::<F>(b) {
        return Some(key::<F>(a).cmp(&key::<F>(b)));
    }
    let (x, y) = (unpack::<F>(env, a), unpack::<F>(env, b));
    if x.class.is_nan() || y.class.is_nan() {
        let signalling = x.class == Class::SignallingNan || y.class == Class::SignallingNan;
        if signalling || invalid == Invalid::AnyNan {
            env.fpsr |= FPSR_IOC;
        }
        return None;
    }
    Some(order::<F>((x, a), (y, b)))
}

/// `FPCompare`: N, Z, C, V in bits \[31:28\].
pub fn compare_flags<F: Format>(env: &mut FpEnv, a: u64, b: u64, invalid: Invalid) -> u64 {
    match compare::<F>(env, a, b, invalid) {
        Some(Ordering::Less) => 0b1000 << 28,
        Some(Ordering::Equal) => 0b0110 << 28,
        Some(Ordering::Greater) => 0b0010 << 28,
        None => 0b0011 << 28,
    }
}

/// `FPMax`.
pub fn max<F: Format>(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    pick::<F>(env, a, b, Ordering::Greater)
}

/// `FPMin`.
pub fn min<F: Format>(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    pick::<F>(env, a, b, Ordering::Less)
}

/// The operand that stands in order `wanted` to the other. Of zeros the maximum is the positive one, the minimum the
/// negative one.
fn pick<F: Format>(env: &mut FpEnv, a: u64, b: u64, wanted: Ordering) -> u64 {
    let (x, y) = (unpack::<F>(env, a), unpack::<F>(env, b));
    if let Some(nan) = process_all::<F, 2>(env, [(x, a), (y, b)]) {
        return nan;
    }
    if x.class == Class::Zero && y.class == Class::Zero {
        let negative = if wanted == Ordering::Greater { x.sign && y.sign } else { x.sign || y.sign };
        return F::signed(negative, 0);
    }
    let (picked, bits) = if order::<F>((x, a), (y, b)) == wanted { (x, a) } else { (y, b) };
    if picked.class == Class::Zero { F::signed(picked.sign, 0) } else { bits }
}

/// `FPMaxNum`: a single quiet NaN counts as minus infinity.
pub fn max_num<F: Format>(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    let (a, b) = without_quiet_nan::<F>(env, a, b, F::INFINITY | F::SIGN);
    max::<F>(env, a, b)
}

/// `FPMinNum`: a single quiet NaN counts as plus infinity.
pub fn min_num<F: Format>(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    let (a, b) = without_quiet_nan::<F>(env, a, b, F::INFINITY);
    min::<F>(env, a, b)
}

/// The operands, where one alone is a quiet NaN with `instead` in its place.
fn without_quiet_nan<F: Format>(env: &mut FpEnv, a: u64, b: u64, instead: u64) -> (u64, u64) {
    let quiet = |env: &mut FpEnv, bits: u64| unpack::<F>(env, bits).class == Class::QuietNan;
    match (quiet(env, a), quiet(env, b)) {
        (true, false) => (instead, b),
        (false, true) => (a, instead),
        _ => (a, b),
    }
}
