//! `PAR_EL1` after an AT instruction.

use arch::Va;

use crate::{Entry, Fault, Stage, Stage2Cause};

const RES1: u64 = 1 << 11;

/// The value of `PAR_EL1` for AT on `va`.
#[must_use]
pub fn par_value(va: Va, result: &Result<Entry, Fault>) -> u64 {
    match result {
        Ok(entry) => {
            // NS is UNKNOWN outside Secure state; it reads as one, as on QEMU.
            const NS: u64 = 1 << 9;
            u64::from(entry.attr.0) << 56
                | entry.output(va).0 & 0x000f_ffff_ffff_f000
                | RES1
                | NS
                | (entry.sh as u64) << 7
        }
        Err(fault) => {
            let stage = match fault.stage {
                Stage::One => 0,
                Stage::Two { cause: Stage2Cause::Output, .. } => 1 << 9,
                Stage::Two { cause: Stage2Cause::Stage1Walk, .. } => 1 << 9 | 1 << 8,
            };
            RES1 | stage | u64::from(fault.fsc()) << 1 | 1
        }
    }
}
