//! `FPProcessNaNs`: which NaN an operation returns.

use super::unpack::{Class, Unpacked};
use super::{FPCR_DN, FPSR_IOC, Format, FpEnv};

/// `FPProcessNaN`: the quiet NaN for this NaN operand.
pub(super) fn process<F: Format>(env: &mut FpEnv, class: Class, bits: u64) -> u64 {
    if class == Class::SignallingNan {
        env.fpsr |= FPSR_IOC;
    }
    if env.fpcr & FPCR_DN != 0 { F::DEFAULT_NAN } else { bits | F::QUIET }
}

/// The NaN to return where an operand is one: the first signalling one, else the first quiet one.
pub(super) fn process_all<F: Format, const N: usize>(env: &mut FpEnv, operands: [(Unpacked, u64); N]) -> Option<u64> {
    [Class::SignallingNan, Class::QuietNan].into_iter().find_map(|class| {
        let (_, bits) = operands.iter().find(|(operand, _)| operand.class == class)?;
        Some(process::<F>(env, class, *bits))
    })
}

/// An invalid operation's result.
pub(super) fn invalid<F: Format>(env: &mut FpEnv) -> u64 {
    env.fpsr |= FPSR_IOC;
    F::DEFAULT_NAN
}
