//! `FPRound`: from a number to bits.

use core::cmp::Ordering;

use super::{FPCR_AHP, FPCR_FZ16, FPCR_RMODE, FPSR_IOC, FPSR_IXC, FPSR_OFC, FPSR_UFC, Format, FpEnv, unpack::Big};

/// `FPRounding`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To nearest, ties to even.
    TieEven,
    /// Towards plus infinity.
    PlusInfinity,
    /// Towards minus infinity.
    MinusInfinity,
    /// Towards zero.
    Zero,
    /// To nearest, ties away from zero.
    TieAway,
    /// To odd: an inexact result has its lowest bit set.
    Odd,
    /// To odd, but what overflows becomes infinite: `BFRound`.
    OddOrInfinity,
}

impl Rounding {
    /// `FPRoundingMode`: FPCR's.
    #[inline]
    #[must_use]
    pub const fn of(fpcr: u64) -> Self {
        match (fpcr & FPCR_RMODE) >> 22 {
            0 => Self::TieEven,
            1 => Self::PlusInfinity,
            2 => Self::MinusInfinity,
            _ => Self::Zero,
        }
    }

    /// Does a magnitude of that sign become greater, whose lowest bit is `lowest`, 0 or 1, with `tail` cut off?
    #[inline]
    #[must_use]
    pub const fn rounds_up(self, sign: bool, lowest: u64, tail: Tail) -> bool {
        match self {
            Self::TieEven => matches!(tail, Tail::AboveHalf) || matches!(tail, Tail::Half) && lowest == 1,
            Self::TieAway => matches!(tail, Tail::AboveHalf | Tail::Half),
            Self::PlusInfinity => tail.inexact() && !sign,
            Self::MinusInfinity => tail.inexact() && sign,
            Self::Zero | Self::Odd | Self::OddOrInfinity => false,
        }
    }

    /// The sign of a sum that is exactly zero.
    #[must_use]
    pub fn zero_is_negative(self) -> bool {
        self == Self::MinusInfinity
    }

    const fn overflows_to_infinity(self, sign: bool) -> bool {
        match self {
            Self::TieEven | Self::TieAway | Self::OddOrInfinity => true,
            Self::PlusInfinity => !sign,
            Self::MinusInfinity => sign,
            Self::Zero | Self::Odd => false,
        }
    }
}

/// What was cut off, against the half of the lowest bit that was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Nothing.
    None,
    /// Less than half.
    BelowHalf,
    /// Half.
    Half,
    /// More than half.
    AboveHalf,
}

impl Tail {
    /// Was anything cut off?
    #[must_use]
    pub const fn inexact(self) -> bool {
        !matches!(self, Self::None)
    }
}

/// `value` shifted right, and what that cut off.
#[inline]
#[must_use]
pub fn shift_right(value: u128, by: u32) -> (u128, Tail) {
    // The part cut off, its highest bit at bit 127, where it is more than nothing.
    let (kept, cut) = match by {
        0 => return (value, Tail::None),
        1..128 => (value >> by, value << (128 - by)),
        128 => (0, value),
        _ => (0, u128::from(value != 0)),
    };
    let tail = match cut.cmp(&(1 << 127)) {
        Ordering::Less if cut == 0 => Tail::None,
        Ordering::Less => Tail::BelowHalf,
        Ordering::Equal => Tail::Half,
        Ordering::Greater => Tail::AboveHalf,
    };
    (kept, tail)
}

/// `FPRound` of `significand * 2^exponent` (not 0) with that sign.
#[inline]
pub fn round<F: Format>(env: &mut FpEnv, sign: bool, exponent: i32, significand: u128, mode: Rounding) -> u64 {
    round_by::<F>(env, env.fpcr & !FPCR_AHP, sign, exponent, significand, mode)
}

/// [`round`] of a sum.
pub fn round_big<F: Format>(env: &mut FpEnv, value: Big, mode: Rounding) -> u64 {
    round::<F>(env, value.sign, value.exponent, value.significand, mode)
}

/// `FPRoundCV`, for conversions between formats: half precision is not flushed, and may be the alternative format.
pub fn round_to_convert<F: Format>(
    env: &mut FpEnv,
    sign: bool,
    exponent: i32,
    significand: u128,
    mode: Rounding,
) -> u64 {
    round_by::<F>(env, env.fpcr & !FPCR_FZ16, sign, exponent, significand, mode)
}

fn round_by<F: Format>(
    env: &mut FpEnv,
    fpcr: u64,
    sign: bool,
    exponent: i32,
    significand: u128,
    mode: Rounding,
) -> u64 {
    let leading = 127 - significand.leading_zeros() as i32;
    // Where 1 is the biased exponent of the least normal number.
    let mut biased = exponent + leading + F::BIAS;
    if biased < 1 && fpcr & F::FLUSH != 0 {
        env.fpsr |= FPSR_UFC;
        return F::signed(sign, 0);
    }
    let mut drop = leading - F::FRACTION as i32;
    if biased < 1 {
        drop += 1 - biased;
        biased = 0;
    }
    let (kept, tail) =
        if drop <= 0 { (significand << -drop, Tail::None) } else { shift_right(significand, drop as u32) };
    let mut kept = kept as u64;
    let inexact = tail.inexact();
    // Tininess is detected before rounding.
    if biased == 0 && inexact {
        env.fpsr |= FPSR_UFC;
    }
    if mode.rounds_up(sign, kept & 1, tail) {
        kept += 1;
        if kept == 1 << F::FRACTION {
            biased = 1;
        } else if kept == 2 << F::FRACTION {
            biased += 1;
            kept >>= 1;
        }
    }
    if matches!(mode, Rounding::Odd | Rounding::OddOrInfinity) && inexact {
        kept |= 1;
    }
    if F::ALTERNATIVE && fpcr & FPCR_AHP != 0 {
        if biased > F::MAX_BIASED as i32 {
            env.fpsr |= FPSR_IOC;
            return F::signed(sign, F::SIGN - 1);
        }
    } else if biased >= F::MAX_BIASED as i32 {
        env.fpsr |= FPSR_OFC | FPSR_IXC;
        let magnitude = if mode.overflows_to_infinity(sign) { F::INFINITY } else { F::MAX_NORMAL };
        return F::signed(sign, magnitude);
    }
    if inexact {
        env.fpsr |= FPSR_IXC;
    }
    F::signed(sign, (biased as u64) << F::FRACTION | kept & F::FRACTION_MASK)
}
