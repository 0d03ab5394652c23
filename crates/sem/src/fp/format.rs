//! The formats.

use super::{FPCR_FZ, FPCR_FZ16};

/// A binary format. Values travel as the low [`Format::BITS`] bits of a `u64`; the bits above are 0.
pub trait Format: Copy + 'static {
    /// Size in bits.
    const BITS: u32;
    /// Bits of the fraction.
    const FRACTION: u32;
    /// The FPCR bit that flushes its denormal numbers.
    const FLUSH: u64;
    /// FPSR bits that a flushed operand sets: none for half precision.
    const FLUSHED: u64;
    /// Is there an alternative format without infinities and NaNs (FPCR.AHP)?
    const ALTERNATIVE: bool = false;

    /// Bits of the exponent.
    const EXPONENT: u32 = Self::BITS - 1 - Self::FRACTION;
    /// The greatest biased exponent, that of infinities and NaNs.
    const MAX_BIASED: u64 = (1 << Self::EXPONENT) - 1;
    /// Exponent bias.
    const BIAS: i32 = (1 << (Self::EXPONENT - 1)) - 1;
    /// The sign's bit.
    const SIGN: u64 = 1 << (Self::BITS - 1);
    /// All bits.
    const MASK: u64 = u64::MAX >> (64 - Self::BITS);
    /// The bits of the fraction.
    const FRACTION_MASK: u64 = (1 << Self::FRACTION) - 1;
    /// The fraction's top bit, set in quiet NaNs.
    const QUIET: u64 = 1 << (Self::FRACTION - 1);
    /// Positive infinity.
    const INFINITY: u64 = Self::MAX_BIASED << Self::FRACTION;
    /// `FPDefaultNaN`.
    const DEFAULT_NAN: u64 = Self::INFINITY | Self::QUIET;
    /// The greatest finite number.
    const MAX_NORMAL: u64 = Self::INFINITY - 1;
    /// 1.0.
    const ONE: u64 = (Self::BIAS as u64) << Self::FRACTION;
    /// 2.0.
    const TWO: u64 = (Self::BIAS as u64 + 1) << Self::FRACTION;
    /// 1.5.
    const ONE_AND_HALF: u64 = Self::ONE | Self::QUIET;

    /// `value` with this sign bit: 0, or any other value for negative.
    #[must_use]
    fn signed(sign: bool, value: u64) -> u64 {
        if sign { value | Self::SIGN } else { value }
    }
    /// `a + b` by the host, where that is proven equal; see `fast`.
    #[inline(always)]
    fn host_add(_: &mut super::FpEnv, _a: u64, _b: u64) -> Option<u64> {
        None
    }
    /// `a * b` by the host.
    #[inline(always)]
    fn host_mul(_: &mut super::FpEnv, _a: u64, _b: u64) -> Option<u64> {
        None
    }
    /// `a / b` by the host.
    #[inline(always)]
    fn host_div(_: &mut super::FpEnv, _a: u64, _b: u64) -> Option<u64> {
        None
    }
    /// The square root by the host.
    #[inline(always)]
    fn host_sqrt(_: &mut super::FpEnv, _a: u64) -> Option<u64> {
        None
    }
    /// `addend + a * b` by the host.
    #[inline(always)]
    fn host_mul_add(_: &mut super::FpEnv, _addend: u64, _a: u64, _b: u64) -> Option<u64> {
        None
    }
}

/// Half precision.
#[derive(Clone, Copy, Debug)]
pub struct F16;
/// Single precision.
#[derive(Clone, Copy, Debug)]
pub struct F32;
/// Double precision.
#[derive(Clone, Copy, Debug)]
pub struct F64;
/// BFloat16: single precision with a short fraction.
#[derive(Clone, Copy, Debug)]
pub struct BF16;

impl Format for F16 {
    const BITS: u32 = 16;
    const FRACTION: u32 = 10;
    const FLUSH: u64 = FPCR_FZ16;
    const FLUSHED: u64 = 0;
    const ALTERNATIVE: bool = true;
}

impl Format for BF16 {
    const BITS: u32 = 16;
    const FRACTION: u32 = 7;
    const FLUSH: u64 = FPCR_FZ;
    const FLUSHED: u64 = super::FPSR_IDC;
}

impl Format for F32 {
    const BITS: u32 = 32;
    const FRACTION: u32 = 23;
    const FLUSH: u64 = FPCR_FZ;
    const FLUSHED: u64 = super::FPSR_IDC;

    #[inline(always)]
    fn host_add(env: &mut super::FpEnv, a: u64, b: u64) -> Option<u64> {
        super::fast::add32(env, a, b)
    }
    #[inline(always)]
    fn host_mul(env: &mut super::FpEnv, a: u64, b: u64) -> Option<u64> {
        super::fast::mul32(env, a, b)
    }
    #[inline(always)]
    fn host_div(env: &mut super::FpEnv, a: u64, b: u64) -> Option<u64> {
        super::fast::div32(env, a, b)
    }
    #[inline(always)]
    fn host_sqrt(env: &mut super::FpEnv, a: u64) -> Option<u64> {
        super::fast::sqrt32(env, a)
    }
    #[inline(always)]
    fn host_mul_add(env: &mut super::FpEnv, addend: u64, a: u64, b: u64) -> Option<u64> {
        super::fast::mul_add32(env, addend, a, b)
    }
}

impl Format for F64 {
    const BITS: u32 = 64;
    const FRACTION: u32 = 52;
    const FLUSH: u64 = FPCR_FZ;
    const FLUSHED: u64 = super::FPSR_IDC;

    #[inline(always)]
    fn host_add(env: &mut super::FpEnv, a: u64, b: u64) -> Option<u64> {
        super::fast::add64(env, a, b)
    }
    #[inline(always)]
    fn host_mul(env: &mut super::FpEnv, a: u64, b: u64) -> Option<u64> {
        super::fast::mul64(env, a, b)
    }
    #[inline(always)]
    fn host_div(env: &mut super::FpEnv, a: u64, b: u64) -> Option<u64> {
        super::fast::div64(env, a, b)
    }
    #[inline(always)]
    fn host_sqrt(env: &mut super::FpEnv, a: u64) -> Option<u64> {
        super::fast::sqrt64(env, a)
    }
}
