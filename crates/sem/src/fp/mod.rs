//! Arm floating point as plain functions. DDI 0487 "shared/functions/float".

/// FPSR.QC: cumulative saturation.
pub const FPSR_QC: u64 = 1 << 27;
