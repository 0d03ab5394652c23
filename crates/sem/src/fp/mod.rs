//! Arm floating point as plain functions of bits, exact by the manual's pseudocode ("shared/functions/float"), for
//! binary16, binary32, binary64 and BFloat16. They read `FPCR` and add to `FPSR` through [`FpEnv`].
//!
//! What FEAT_AFP adds (FPCR.AH, FIZ, NEP) is absent; its place is in [`unpack`] (FIZ, AH's denormals), in `nan`
//! (AH's NaN) and in [`round`] (AH's tininess).

pub mod arith;
pub mod bf16;
pub mod compare;
pub mod convert;
pub mod estimate;
mod fast;
pub mod fixed;
pub mod format;
mod nan;
pub mod round;
pub mod unpack;

#[cfg(test)]
mod tests;

pub use crate::machine::FpEnv;
pub use format::{BF16, F16, F32, F64, Format};
pub use round::Rounding;

/// FPCR.AHP: alternative half-precision format.
pub const FPCR_AHP: u64 = 1 << 26;
/// FPCR.DN: NaN results are the default NaN.
pub const FPCR_DN: u64 = 1 << 25;
/// FPCR.FZ: flush denormal numbers of single and double precision to zero.
pub const FPCR_FZ: u64 = 1 << 24;
/// FPCR.RMode: the rounding mode.
pub const FPCR_RMODE: u64 = 3 << 22;
/// FPCR.FZ16: flush denormal numbers of half precision to zero.
pub const FPCR_FZ16: u64 = 1 << 19;

/// FPSR.QC: cumulative saturation.
pub const FPSR_QC: u64 = 1 << 27;
/// FPSR.IDC: input denormal.
pub const FPSR_IDC: u64 = 1 << 7;
/// FPSR.IXC: inexact.
pub const FPSR_IXC: u64 = 1 << 4;
/// FPSR.UFC: underflow.
pub const FPSR_UFC: u64 = 1 << 3;
/// FPSR.OFC: overflow.
pub const FPSR_OFC: u64 = 1 << 2;
/// FPSR.DZC: division by zero.
pub const FPSR_DZC: u64 = 1 << 1;
/// FPSR.IOC: invalid operation.
pub const FPSR_IOC: u64 = 1;
