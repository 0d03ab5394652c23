//! The PE itself: registers, barriers, interrupt masks, waiting.

/// Reads a system register by its assembler name.
#[cfg(target_os = "none")]
macro_rules! read_register {
    ($name:literal) => {{
        let value: u64;
        // SAFETY: a read of these registers has no effect on memory.
        #[allow(unused_unsafe)]
        unsafe {
            core::arch::asm!(concat!("mrs {}, ", $name), out(reg) value, options(nomem, nostack, preserves_flags));
        }
        value
    }};
}
/// Writes a system register by its assembler name. Unsafe to expand: some registers change what memory is.
#[cfg(target_os = "none")]
macro_rules! write_register {
    ($name:literal, $value:expr) => {
        core::arch::asm!(concat!("msr ", $name, ", {}"), in(reg) $value, options(nostack, preserves_flags))
    };
}
#[cfg(target_os = "none")]
pub(crate) use {read_register, write_register};

/// The exception level that the kernel runs at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// EL1.
    El1,
    /// EL2 with FEAT_VHE: HCR_EL2.{E2H,TGE} are 1.
    El2,
}

#[cfg(target_os = "none")]
mod target {
    use super::Level;
    use core::sync::atomic::AtomicU32;

    /// The level of this CPU.
    pub fn level() -> Level {
        if read_register!("CurrentEL") >> 2 & 3 == 2 { Level::El2 } else { Level::El1 }
    }

    /// MPIDR_EL1's affinity fields, in their places.
    pub fn affinity() -> u64 {
        read_register!("mpidr_el1") & 0xff_00ff_ffff
    }

    /// ID_AA64MMFR0_EL1 and its neighbours: `id!(aa64mmfr0)`-like access by name.
    #[derive(Clone, Copy, Debug)]
    pub struct IdRegisters {
        /// MIDR_EL1
        pub midr: u64,
        /// ID_AA64PFR0_EL1
        pub pfr0: u64,
        /// ID_AA64MMFR0_EL1
        pub mmfr0: u64,
        /// ID_AA64MMFR1_EL1
        pub mmfr1: u64,
        /// ID_AA64ISAR0_EL1
        pub isar0: u64,
        /// ID_AA64ISAR1_EL1
        pub isar1: u64,
    }

    /// This CPU's ID registers.
    pub fn id_registers() -> IdRegisters {
        IdRegisters {
            midr: read_register!("midr_el1"),
            pfr0: read_register!("id_aa64pfr0_el1"),
            mmfr0: read_register!("id_aa64mmfr0_el1"),
            mmfr1: read_register!("id_aa64mmfr1_el1"),
            isar0: read_register!("id_aa64isar0_el1"),
            isar1: read_register!("id_aa64isar1_el1"),
        }
    }

    /// Waits for an interrupt, then serves it. For the idle loop: interrupts are open only inside.
    pub fn idle() {
        // SAFETY: WFI with interrupts masked wakes on a pending one; the handler runs between the two masks, on this
        // stack, and restores everything (`trap`). The caller holds no lock (crate rule).
        unsafe { core::arch::asm!("dsb sy", "wfi", "msr daifclr, #3", "isb", "msr daifset, #3", options(nostack)) };
    }

    /// Serves interrupts that are pending, in the midst of long work. The caller holds no spin lock.
    pub fn window() {
        // SAFETY: as in `idle`.
        // Whoever looks again and again for what another CPU does says so: a machine that runs CPUs in turns runs that.
        unsafe { core::arch::asm!("msr daifclr, #3", "isb", "msr daifset, #3", "yield", options(nostack)) };
    }

    /// Masks interrupts; returns what was masked before.
    #[inline]
    pub fn save_and_mask() -> u64 {
        let saved = read_register!("daif");
        // SAFETY: masking is always allowed.
        unsafe { core::arch::asm!("msr daifset, #3", options(nostack, preserves_flags)) };
        saved
    }

    /// Masks again what [`save_and_mask`] returned.
    #[inline]
    pub fn restore_mask(saved: u64) {
        // SAFETY: the mask that the caller had.
        unsafe { write_register!("daif", saved) };
    }

    /// DSB ISH.
    pub fn dsb_ish() {
        // SAFETY: a barrier.
        unsafe { core::arch::asm!("dsb ish", options(nostack, preserves_flags)) };
    }

    /// DSB ISHST: earlier stores (of descriptors) are visible to walks before what follows.
    pub fn dsb_ishst() {
        // SAFETY: a barrier.
        unsafe { core::arch::asm!("dsb ishst", options(nostack, preserves_flags)) };
    }

    /// ISB.
    pub fn isb() {
        // SAFETY: a barrier.
        unsafe { core::arch::asm!("isb", options(nostack, preserves_flags)) };
    }

    /// SEV: other CPUs' WFE ends.
    pub fn sev() {
        // SAFETY: a hint.
        unsafe { core::arch::asm!("sev", options(nomem, nostack, preserves_flags)) };
    }

    /// Waits until `word` is no longer `value`, or for no reason at all.
    pub fn wait_while(word: &AtomicU32, value: u32) {
        // SAFETY: LDAXR of an atomic that the reference keeps alive. Its monitor is cleared by another's store, which
        // is an event that ends WFE.
        unsafe {
            core::arch::asm!("ldaxr {now:w}, [{at}]", "cmp {now:w}, {value:w}", "b.ne 2f", "wfe", "2:",
                now = out(reg) _, at = in(reg) word.as_ptr(), value = in(reg) value, options(nostack));
        }
    }

    /// Makes instructions written to `len` bytes at `address` visible to fetches of all CPUs (CTR_EL0's line sizes are
    /// taken at their least, 16 bytes).
    pub fn sync_instructions(address: usize, len: usize) {
        let end = address + len;
        let start = address & !15;
        // SAFETY: cache maintenance by address of the kernel's own mapped memory.
        unsafe {
            for line in (start..end).step_by(16) {
                core::arch::asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags));
            }
            core::arch::asm!("dsb ish", options(nostack, preserves_flags));
            for line in (start..end).step_by(16) {
                core::arch::asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags));
            }
            core::arch::asm!("dsb ish", "isb", options(nostack, preserves_flags));
        }
    }

    /// Makes an instruction that was written at `alias` visible to fetches from `address`, on all CPUs.
    pub fn sync_patched(alias: usize, address: usize) {
        // SAFETY: cache maintenance by address of the kernel's own mapped memory.
        unsafe {
            core::arch::asm!("dc cvau, {alias}", "dsb ish", "ic ivau, {address}", "dsb ish", "isb",
                alias = in(reg) alias, address = in(reg) address, options(nostack, preserves_flags));
        }
    }

    /// CONTEXTIDR_EL1 (with FEAT_VHE and E2H: EL2's) := a PID. The next context synchronisation makes it take effect.
    #[inline]
    pub fn set_context_id(id: u32) {
        // SAFETY: nothing but debug, trace and profiling reads it.
        unsafe { write_register!("contextidr_el1", u64::from(id)) };
    }

    /// What [`set_context_id`] wrote last.
    pub fn context_id() -> u32 {
        read_register!("contextidr_el1") as u32
    }

    /// Makes `len` bytes at `address` visible to a CPU whose caches are off.
    pub fn clean_to_memory(address: usize, len: usize) {
        // SAFETY: as above.
        unsafe {
            for line in (address & !15..address + len).step_by(16) {
                core::arch::asm!("dc civac, {}", in(reg) line, options(nostack, preserves_flags));
            }
            core::arch::asm!("dsb sy", options(nostack, preserves_flags));
        }
    }

    /// Stops this CPU for ever.
    pub fn halt() -> ! {
        loop {
            // SAFETY: nothing is served any more: all is masked.
            unsafe { core::arch::asm!("msr daifset, #0xf", "wfi", options(nomem, nostack)) };
        }
    }
}
#[cfg(target_os = "none")]
pub use target::*;

#[cfg(not(target_os = "none"))]
pub use crate::fakes::cpu::*;
