//! Saturation, with the cumulative flag QC.

use crate::fp::FPSR_QC;
use crate::machine::FpEnv;
use crate::simd::lanes::{Int, Lane};

/// `SatQ`: `value` limited to `E`'s range.
#[inline(always)]
pub(super) fn saturate<E: Lane>(env: &mut FpEnv, value: E::Wide) -> E {
    let limited = value.clamp(E::MIN.wide(), E::MAX.wide());
    if limited != value {
        env.fpsr |= FPSR_QC;
    }
    E::low(limited)
}

/// A signed `value` limited to `E`'s bits taken as unsigned. `E` is a signed type.
#[inline(always)]
pub(super) fn saturate_unsigned<E: Lane>(env: &mut FpEnv, value: E::Wide) -> E {
    let limited = value.clamp(E::Wide::ZERO, (E::Wide::ONE << E::BITS) - E::Wide::ONE);
    if limited != value {
        env.fpsr |= FPSR_QC;
    }
    E::low(limited)
}
