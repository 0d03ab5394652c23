//! BFloat16 products of FEAT_BF16 (without FEAT_EBF16): `BFDotAdd` rounds to odd, flushes denormal numbers, returns
//! only the default NaN, and touches neither FPCR nor FPSR.

use super::arith::{add_to_odd, mul_to_odd};
use super::{FPCR_DN, FPCR_FZ, FpEnv};

/// `BFDotAdd`: `addend + (a0 * b0 + a1 * b1)` of single-precision `addend` and pairs of BFloat16 in `a` and `b`.
#[must_use]
pub fn dot_add(addend: u32, a: u32, b: u32) -> u32 {
    let mut env = FpEnv { fpcr: FPCR_DN | FPCR_FZ, fpsr: 0 };
    let wide = |value: u32| [u64::from(value << 16), u64::from(value & 0xffff_0000)];
    let ([a0, a1], [b0, b1]) = (wide(a), wide(b));
    let low = mul_to_odd(&mut env, a0, b0);
    let high = mul_to_odd(&mut env, a1, b1);
    let products = add_to_odd(&mut env, low, high);
    add_to_odd(&mut env, u64::from(addend), products) as u32
}
