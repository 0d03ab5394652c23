//! Conversions between floating point and integers or fixed point.

use super::convert::round_magnitude;
use super::round::{Rounding, round};
use super::unpack::{Class, unpack};
use super::{FPSR_IOC, FPSR_IXC, Format, FpEnv};

/// An integer's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signedness {
    /// Two's complement.
    Signed,
    /// Unsigned.
    Unsigned,
}

/// `FPToFixed`: a fixed-point number of `bits` bits, `fraction_bits` of them a fraction; zero-extended. Out of range
/// saturates; a NaN gives 0.
pub fn to_fixed<F: Format>(
    env: &mut FpEnv,
    value: u64,
    bits: u32,
    fraction_bits: u32,
    signedness: Signedness,
    mode: Rounding,
) -> u64 {
    let x = unpack::<F>(env, value);
    let (least, greatest) = match signedness {
        Signedness::Signed => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        Signedness::Unsigned => (0, (1i128 << bits) - 1),
    };
    let exponent = x.exponent + fraction_bits as i32;
    let (number, inexact) = match x.class {
        Class::Zero => (0, false),
        Class::Number if exponent <= 64 => {
            let (magnitude, inexact) = round_magnitude(x.sign, exponent, x.significand, mode);
            (if x.sign { -(magnitude as i128) } else { magnitude as i128 }, inexact)
        }
        Class::Number | Class::Infinity => (if x.sign { i128::MIN } else { i128::MAX }, false),
        Class::QuietNan | Class::SignallingNan => {
            env.fpsr |= FPSR_IOC;
            return 0;
        }
    };
    let limited = number.clamp(least, greatest);
    if limited != number {
        env.fpsr |= FPSR_IOC;
    } else if inexact {
        env.fpsr |= FPSR_IXC;
    }
    limited as u64 & u64::MAX >> (64 - bits)
}

/// `FixedToFP`: `value` is of `bits` bits (those above are ignored), `fraction_bits` of them a fraction.
pub fn from_fixed<F: Format>(
    env: &mut FpEnv,
    value: u64,
    bits: u32,
    fraction_bits: u32,
    signedness: Signedness,
    mode: Rounding,
) -> u64 {
    let unused = 64 - bits;
    let (sign, magnitude) = match signedness {
        Signedness::Signed => {
            let number = (value << unused) as i64 >> unused;
            (number < 0, number.unsigned_abs())
        }
        Signedness::Unsigned => (false, value << unused >> unused),
    };
    if magnitude == 0 {
        return 0;
    }
    round::<F>(env, sign, -(fraction_bits as i32), u128::from(magnitude), mode)
}

/// `FPToFixedJS`: JavaScript's conversion of a double to a 32-bit integer, modulo 2^32; and whether it was exact.
pub fn to_fixed_js(env: &mut FpEnv, value: u64) -> (u32, bool) {
    let x = unpack::<super::F64>(env, value);
    match x.class {
        Class::QuietNan | Class::SignallingNan | Class::Infinity => {
            env.fpsr |= FPSR_IOC;
            (0, false)
        }
        Class::Zero => (0, !x.sign),
        Class::Number => {
            // Bits from 2^32 up do not count.
            let (magnitude, inexact) = if x.exponent >= 32 {
                (0, false)
            } else {
                round_magnitude(x.sign, x.exponent, x.significand, Rounding::Zero)
            };
            let limit = if x.sign { 1u128 << 31 } else { (1 << 31) - 1 };
            let invalid = x.exponent >= 32 || magnitude > limit;
            env.fpsr |= if invalid {
                FPSR_IOC
            } else if inexact {
                FPSR_IXC
            } else {
                0
            };
            let low = magnitude as u32;
            (if x.sign { low.wrapping_neg() } else { low }, !invalid && !inexact)
        }
    }
}
