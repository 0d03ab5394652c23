//! `FPUnpack`: from bits to a number.

use super::{FPCR_AHP, FPCR_FZ16, Format, FpEnv};

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A zero, or a denormal number flushed to zero.
    Zero,
    /// Another finite number.
    Number,
    /// An infinity.
    Infinity,
    /// A quiet NaN.
    QuietNan,
    /// A signalling NaN.
    SignallingNan,
}

impl Class {
    /// A NaN of either kind?
    #[must_use]
    pub fn is_nan(self) -> bool {
        matches!(self, Self::QuietNan | Self::SignallingNan)
    }
}

/// An unpacked value. A number is `significand * 2^exponent` with that sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unpacked {
    /// What it is.
    pub class: Class,
    /// Negative?
    pub sign: bool,
    /// The weight of the significand's lowest bit.
    pub exponent: i32,
    /// Not 0 for [`Class::Number`].
    pub significand: u64,
}

impl Unpacked {
    /// The magnitude, or `None` for zero. Not for infinities and NaNs.
    #[must_use]
    pub fn big(self) -> Option<Big> {
        (self.class == Class::Number).then(|| Big::new(self.sign, self.exponent, u128::from(self.significand)))
    }
}

/// Unpacks with the current FPCR.
#[inline]
pub fn unpack<F: Format>(env: &mut FpEnv, bits: u64) -> Unpacked {
    unpack_by::<F>(env, env.fpcr & !FPCR_AHP, bits)
}

/// `FPUnpackCV`, for conversions between formats: half precision is not flushed, and may be the alternative format.
pub fn unpack_to_convert<F: Format>(env: &mut FpEnv, bits: u64) -> Unpacked {
    unpack_by::<F>(env, env.fpcr & !FPCR_FZ16, bits)
}

#[inline]
fn unpack_by<F: Format>(env: &mut FpEnv, fpcr: u64, bits: u64) -> Unpacked {
    let sign = bits & F::SIGN != 0;
    let (biased, fraction) = (bits >> F::FRACTION & F::MAX_BIASED, bits & F::FRACTION_MASK);
    let exponent = |biased: u64| biased as i32 - F::BIAS - F::FRACTION as i32;
    let (class, exponent, significand) = if biased == 0 {
        if fraction == 0 {
            (Class::Zero, 0, 0)
        } else if fpcr & F::FLUSH != 0 {
            env.fpsr |= F::FLUSHED;
            (Class::Zero, 0, 0)
        } else {
            (Class::Number, exponent(1), fraction)
        }
    } else if biased == F::MAX_BIASED && !(F::ALTERNATIVE && fpcr & FPCR_AHP != 0) {
        if fraction == 0 {
            (Class::Infinity, 0, 0)
        } else if fraction & F::QUIET != 0 {
            (Class::QuietNan, 0, 0)
        } else {
            (Class::SignallingNan, 0, 0)
        }
    } else {
        (Class::Number, exponent(biased), fraction | 1 << F::FRACTION)
    };
    Unpacked { class, sign, exponent, significand }
}

/// A number with its leading bit at bit 125 of the significand, so that two can be added in 128 bits: bits that an
/// alignment shifts out are remembered in the lowest bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Big {
    /// Negative?
    pub sign: bool,
    /// The weight of the significand's lowest bit.
    pub exponent: i32,
    /// Not 0.
    pub significand: u128,
}

/// Where [`Big`]'s leading bit stands.
const LEADING: u32 = 125;

impl Big {
    /// `significand * 2^exponent`; `significand` is not 0 and below 2^126.
    #[must_use]
    pub fn new(sign: bool, exponent: i32, significand: u128) -> Self {
        let shift = significand.leading_zeros() - (127 - LEADING);
        Self { sign, exponent: exponent - shift as i32, significand: significand << shift }
    }

    /// The product of two numbers, exact.
    #[must_use]
    pub fn product(a: Unpacked, b: Unpacked) -> Option<Self> {
        if a.class != Class::Number || b.class != Class::Number {
            return None;
        }
        let significand = u128::from(a.significand) * u128::from(b.significand);
        Some(Self::new(a.sign != b.sign, a.exponent + b.exponent, significand))
    }

    /// The sum, `None` where it is exactly zero. At most the lowest bit of a long tail is inexact, which rounding to
    /// any format cannot tell from the true sum.
    #[must_use]
    pub fn sum(a: Self, b: Self) -> Option<Self> {
        let (high, low) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
        let aligned = shift_right_jam(low.significand, (high.exponent - low.exponent) as u32);
        let (sign, significand) = if high.sign == low.sign {
            (high.sign, high.significand + aligned)
        } else if high.significand >= aligned {
            (high.sign, high.significand - aligned)
        } else {
            (low.sign, aligned - high.significand)
        };
        (significand != 0).then_some(Self { sign, exponent: high.exponent, significand })
    }
}

/// Shifts right; bits that fall out set the lowest bit.
#[must_use]
pub fn shift_right_jam(value: u128, by: u32) -> u128 {
    match by {
        0 => value,
        1..128 => value >> by | u128::from(value << (128 - by) != 0),
        _ => u128::from(value != 0),
    }
}
