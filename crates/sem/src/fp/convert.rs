//! Conversions between formats, and rounding to an integral number.

use super::nan::process_all;
use super::round::{Rounding, round, round_to_convert, shift_right};
use super::unpack::{Class, unpack, unpack_to_convert};
use super::{FPCR_AHP, FPCR_DN, FPSR_IOC, FPSR_IXC, Format, FpEnv};

/// `FPConvertNaN`: sign and the fraction's upper bits stay, and it is quiet.
#[must_use]
pub fn convert_nan<From: Format, To: Format>(bits: u64) -> u64 {
    widen_nan::<From, To>(bits) | To::QUIET
}

/// A NaN's bits in another format, signalling ones not yet quiet.
pub(super) fn widen_nan<From: Format, To: Format>(bits: u64) -> u64 {
    let fraction = (bits & From::FRACTION_MASK) << (52 - From::FRACTION) >> (52 - To::FRACTION);
    To::signed(bits & From::SIGN != 0, To::INFINITY | fraction)
}

/// `FPConvert`, and `FPConvertBF` with [`super::BF16`].
pub fn convert<From: Format, To: Format>(env: &mut FpEnv, bits: u64, mode: Rounding) -> u64 {
    let x = unpack_to_convert::<From>(env, bits);
    let alternative = To::ALTERNATIVE && env.fpcr & FPCR_AHP != 0;
    match x.class {
        Class::QuietNan | Class::SignallingNan => {
            if x.class == Class::SignallingNan || alternative {
                env.fpsr |= FPSR_IOC;
            }
            if alternative {
                To::signed(x.sign, 0)
            } else if env.fpcr & FPCR_DN != 0 {
                To::DEFAULT_NAN
            } else {
                convert_nan::<From, To>(bits)
            }
        }
        Class::Infinity if alternative => {
            env.fpsr |= FPSR_IOC;
            To::signed(x.sign, To::SIGN - 1)
        }
        Class::Infinity => To::signed(x.sign, To::INFINITY),
        Class::Zero => To::signed(x.sign, 0),
        Class::Number => round_to_convert::<To>(env, x.sign, x.exponent, u128::from(x.significand), mode),
    }
}

/// Does rounding to an integral number say that it was inexact?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exact {
    /// FRINTX: yes.
    Flagged,
    /// The other FRINTs: no.
    Silent,
}

/// `FPRoundInt`.
pub fn round_int<F: Format>(env: &mut FpEnv, bits: u64, mode: Rounding, exact: Exact) -> u64 {
    let x = unpack::<F>(env, bits);
    if let Some(nan) = process_all::<F, 1>(env, [(x, bits)]) {
        return nan;
    }
    match x.class {
        Class::Zero => return F::signed(x.sign, 0),
        Class::Number if x.exponent < 0 => {}
        _ => return bits,
    }
    let (whole, inexact) = round_magnitude(x.sign, x.exponent, x.significand, mode);
    if inexact && exact == Exact::Flagged {
        env.fpsr |= FPSR_IXC;
    }
    if whole == 0 { F::signed(x.sign, 0) } else { round::<F>(env, x.sign, 0, whole, Rounding::Zero) }
}

/// `FPRoundIntN`: to an integral number of `int_bits` bits, 32 or 64; else the most negative one.
pub fn round_int_n<F: Format>(env: &mut FpEnv, bits: u64, mode: Rounding, int_bits: u32) -> u64 {
    let x = unpack::<F>(env, bits);
    let out_of_range = F::SIGN | (F::BIAS as u64 + u64::from(int_bits) - 1) << F::FRACTION;
    match x.class {
        Class::Zero => return F::signed(x.sign, 0),
        Class::Number if x.exponent <= 64 => {}
        _ => {
            env.fpsr |= FPSR_IOC;
            return out_of_range;
        }
    }
    let (whole, inexact) = round_magnitude(x.sign, x.exponent, x.significand, mode);
    let limit = 1u128 << (int_bits - 1);
    if whole > limit || whole == limit && !x.sign {
        env.fpsr |= FPSR_IOC;
        return out_of_range;
    }
    if inexact {
        env.fpsr |= FPSR_IXC;
    }
    if whole == 0 { F::signed(x.sign, 0) } else { round::<F>(env, x.sign, 0, whole, Rounding::Zero) }
}

/// `significand * 2^exponent`, exponent at most 64, rounded to an integer's magnitude; was it inexact?
pub(super) fn round_magnitude(sign: bool, exponent: i32, significand: u64, mode: Rounding) -> (u128, bool) {
    if exponent >= 0 {
        return (u128::from(significand) << exponent, false);
    }
    let (whole, tail) = shift_right(u128::from(significand), exponent.unsigned_abs());
    let up = mode.rounds_up(sign, whole as u64 & 1, tail);
    (whole + u128::from(up), tail.inexact())
}
