//! The generic timer: one deadline for each CPU. At EL1 it is the virtual timer; at EL2 (FEAT_VHE) the EL2 physical one,
//! which CNTP_* reach there.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

static FREQUENCY: AtomicU64 = AtomicU64::new(1_000_000_000);
static INTID: AtomicU32 = AtomicU32::new(0);

/// Ticks a second.
pub fn frequency() -> u64 {
    FREQUENCY.load(Ordering::Relaxed)
}

/// The timer's interrupt.
pub fn intid() -> u32 {
    INTID.load(Ordering::Relaxed)
}

#[cfg(target_os = "none")]
mod target {
    use super::*;
    use crate::cpu::{Level, level, read_register, write_register};

    /// Chooses the timer from the device tree's four INTIDs.
    pub(crate) fn init(intids: &[u32; 4]) {
        FREQUENCY.store(read_register!("cntfrq_el0").max(1), Ordering::Relaxed);
        let intid = if level() == Level::El2 { intids[3] } else { intids[2] };
        INTID.store(intid, Ordering::Relaxed);
    }

    /// Lets EL0 read the virtual counter, and stops the timer.
    pub(crate) fn init_cpu() {
        // SAFETY: CNTKCTL_EL1 (CNTHCTL_EL2 with TGE): EL0VCTEN alone.
        unsafe { write_register!("cntkctl_el1", 2u64) };
        stop();
    }

    /// The counter, in ticks.
    #[inline]
    pub fn now() -> u64 {
        // SAFETY: reads; the ISB keeps the counter from being read early.
        unsafe { core::arch::asm!("isb", options(nomem, nostack, preserves_flags)) };
        read_register!("cntvct_el0")
    }

    /// The interrupt comes when the counter reaches `deadline`, in ticks.
    pub fn set_deadline(deadline: u64) {
        // SAFETY: timer registers.
        unsafe {
            if level() == Level::El2 {
                write_register!("cntp_cval_el0", deadline);
                write_register!("cntp_ctl_el0", 1u64);
            } else {
                write_register!("cntv_cval_el0", deadline);
                write_register!("cntv_ctl_el0", 1u64);
            }
            core::arch::asm!("isb", options(nomem, nostack, preserves_flags));
        }
    }

    /// No interrupt.
    pub fn stop() {
        // SAFETY: timer registers.
        unsafe {
            if level() == Level::El2 {
                write_register!("cntp_ctl_el0", 0u64);
            } else {
                write_register!("cntv_ctl_el0", 0u64);
            }
            core::arch::asm!("isb", options(nomem, nostack, preserves_flags));
        }
    }
}
#[cfg(target_os = "none")]
pub use target::*;

#[cfg(not(target_os = "none"))]
pub use crate::fakes::timer::*;
