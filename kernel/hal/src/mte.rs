//! FEAT_MTE: allocation tags in memory, and how EL0's accesses are checked against them.

use core::sync::atomic::{AtomicU8, Ordering};

/// Not decided, absent, there: for the boot, before alternatives are chosen.
static STATE: AtomicU8 = AtomicU8::new(0);

/// The right to use FEAT_MTE2: there is one only where every CPU has it.
#[derive(Clone, Copy, Debug)]
pub struct Mte(());

/// FEAT_MTE2, if every CPU has it and `nomte` was not said. From when alternatives are chosen.
#[inline(always)]
pub fn get() -> Option<Mte> {
    crate::patch::has::<{ crate::patch::capability::MTE }>().then_some(Mte(()))
}

/// Is it used? The boot CPU decides.
pub(crate) fn is_used() -> bool {
    STATE.load(Ordering::Relaxed) == 2
}

/// What becomes of an access of EL0 with the wrong tag: SCTLR_EL1.TCF0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Check {
    /// Nothing.
    None = 0,
    /// An exception.
    Sync = 1,
    /// TFSRE0_EL1.TF0 is set.
    Async = 2,
    /// An exception for loads, TF0 for stores.
    Asymmetric = 3,
}

#[cfg(target_os = "none")]
mod target {
    use super::*;
    use crate::cpu::{read_register, write_register};
    use crate::mem::Frame;

    /// ATA, ATA0: tags can be accessed. ITFSB: TFSRE0_EL1 is up to date after an exception.
    const SCTLR_ALLOW: u64 = 1 << 43 | 1 << 42 | 1 << 37;
    const TCF0: u32 = 38;

    core::arch::global_asm!(include_str!("mem/tags.S"), options(raw));

    unsafe extern "C" {
        fn page_tags_clear(at: *mut u8);
        fn page_tags_copy(to: *mut u8, from: *const u8);
    }

    /// Has this CPU FEAT_MTE2?
    fn is_here() -> bool {
        read_register!("id_aa64pfr1_el1") >> 8 & 0xf >= 2
    }

    /// On the boot CPU, before RAM is mapped: is it to be used?
    pub(crate) fn decide(is_wanted: bool) {
        STATE.store(if is_wanted && is_here() { 2 } else { 1 }, Ordering::Relaxed);
    }

    /// On each CPU, which has what the boot CPU has (`Scope::Boot` of `kcore::feature`).
    pub(crate) fn init_cpu() {
        if !is_used() {
            return;
        }
        let sctlr = read_register!("sctlr_el1") | SCTLR_ALLOW;
        // Any seed but 0 does for RGSR_EL1; IRG is random by GCR_EL1.RRND where the CPU can.
        let seed = (read_register!("cntvct_el0") & 0xffff | 1) << 8;
        // SAFETY: the kernel's own accesses stay unchecked (TCF 0); EL0's too, until a thread asks (TCF0 0).
        unsafe {
            write_register!("S3_0_C1_C0_5", seed);
            write_register!("S3_0_C1_C0_6", 1u64 << 16 | 0xffff);
            write_register!("S3_0_C5_C6_1", 0u64);
            write_register!("S3_0_C5_C6_0", 0u64);
            write_register!("sctlr_el1", sctlr);
        }
        crate::cpu::isb();
    }

    impl Mte {
        /// How EL0's accesses are checked from now on, and which tags IRG does not give (bit n: tag n).
        pub fn set(self, check: Check, excluded: u16) {
            let sctlr = read_register!("sctlr_el1") & !(3 << TCF0) | (check as u64) << TCF0;
            // SAFETY: TCF0 and GCR_EL1 are about EL0's accesses and instructions alone.
            unsafe {
                write_register!("S3_0_C1_C0_6", 1u64 << 16 | u64::from(excluded));
                write_register!("sctlr_el1", sctlr);
            }
            crate::cpu::isb();
        }

        /// Did an access of EL0 (or of the kernel on its behalf) fail its check since the last time? Only where checks are
        /// asynchronous or asymmetric may this be asked.
        pub fn take_fault(self) -> bool {
            // What the kernel's unprivileged accesses found is in the register after a DSB.
            // SAFETY: a barrier.
            unsafe { core::arch::asm!("dsb nsh", options(nostack, preserves_flags)) };
            let faults = read_register!("S3_0_C5_C6_1");
            if faults & 1 == 0 {
                return false;
            }
            // SAFETY: the DSB is done, so no earlier failure comes in behind this.
            unsafe { write_register!("S3_0_C5_C6_1", 0u64) };
            crate::cpu::isb();
            true
        }

        /// Sets all tags of a page to 0.
        pub fn clear_tags(self, frame: &Frame) {
            // SAFETY: the frame is in the linear map, which is Tagged where FEAT_MTE2 is used.
            unsafe { page_tags_clear(frame.contents()) };
        }

        /// Gives a page the tags of another.
        pub fn copy_tags(self, to: &Frame, from: &Frame) {
            // SAFETY: as above.
            unsafe { page_tags_copy(to.contents(), from.contents()) };
        }
    }
}
#[cfg(target_os = "none")]
pub(crate) use target::{decide, init_cpu};

#[cfg(not(target_os = "none"))]
impl Mte {
    /// Nothing.
    pub fn set(self, _check: Check, _excluded: u16) {}
    /// No.
    pub fn take_fault(self) -> bool {
        false
    }
    /// Nothing.
    pub fn clear_tags(self, _frame: &crate::mem::Frame) {}
    /// Nothing.
    pub fn copy_tags(self, _to: &crate::mem::Frame, _from: &crate::mem::Frame) {}
}
