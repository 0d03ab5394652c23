//! The FP and SIMD registers. The kernel is built without them, so they are EL0's and change hands at thread switches
//! only: saved if EL0 may have used them, loaded unless the CPU still has them. A thread that never used them is let to
//! them by a trap (CPACR_EL1.FPEN).

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicPtr, AtomicU32};

use crate::percpu::MAX_CPUS;

/// V0 to V31, FPSR, FPCR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct FpRegisters {
    /// V0 to V31, low halves first.
    pub vectors: [[u64; 2]; 32],
    /// FPSR.
    pub fpsr: u32,
    /// FPCR.
    pub fpcr: u32,
}

impl FpRegisters {
    /// What a thread begins with.
    pub const ZERO: Self = Self { vectors: [[0; 2]; 32], fpsr: 0, fpcr: 0 };
}

const NOWHERE: u32 = u32::MAX;

/// A thread's FP and SIMD state.
#[repr(C, align(16))]
pub(crate) struct FpState {
    registers: UnsafeCell<FpRegisters>,
    /// The thread has used them.
    used: AtomicU32,
    /// The CPU that last loaded them, so may have them still.
    cpu: AtomicU32,
}

// SAFETY: only the CPU that runs or switches the thread touches the registers (`on_cpu` of the context).
unsafe impl Sync for FpState {}

/// Whose registers a CPU has; the address only is used.
static OWNERS: [AtomicPtr<FpState>; MAX_CPUS] = [const { AtomicPtr::new(core::ptr::null_mut()) }; MAX_CPUS];

impl FpState {
    pub(crate) const fn new() -> Self {
        Self { registers: UnsafeCell::new(FpRegisters::ZERO), used: AtomicU32::new(0), cpu: AtomicU32::new(NOWHERE) }
    }
}

#[cfg(target_os = "none")]
mod target {
    use core::sync::atomic::Ordering;

    use super::*;
    use crate::cpu::{read_register, write_register};
    use crate::percpu;
    use crate::thread::Context;

    unsafe extern "C" {
        fn fp_save(to: *mut FpRegisters);
        fn fp_load(from: *const FpRegisters);
    }

    /// CPACR_EL1.FPEN: 0b01 traps EL0, 0b11 nothing.
    const OPEN: u64 = 3 << 20;
    const CLOSED: u64 = 1 << 20;

    pub(crate) fn init_cpu() {
        // SAFETY: CPACR_EL1 (CPTR_EL2 with E2H): traps of EL0 only.
        unsafe { write_register!("cpacr_el1", CLOSED) };
        crate::cpu::isb();
    }

    fn is_open() -> bool {
        read_register!("cpacr_el1") & 2 << 20 != 0
    }

    fn load(state: &FpState) {
        let cpu = percpu::id();
        let at = core::ptr::from_ref(state).cast_mut();
        let has = OWNERS[cpu].load(Ordering::Relaxed) == at && state.cpu.load(Ordering::Relaxed) == cpu as u32;
        if !has {
            // SAFETY: this CPU runs or is switching to the thread.
            unsafe { fp_load(state.registers.get()) };
            OWNERS[cpu].store(at, Ordering::Relaxed);
            state.cpu.store(cpu as u32, Ordering::Relaxed);
        }
    }

    /// At a switch of threads.
    pub(crate) fn switch(old: &Context, new: &Context) {
        let was_open = is_open();
        if was_open {
            // SAFETY: EL0 of `old` may have changed them; this CPU still has them.
            unsafe { fp_save(old.fp.registers.get()) };
        }
        let opens = new.fp.used.load(Ordering::Relaxed) != 0;
        if opens {
            load(&new.fp);
        }
        if opens != was_open {
            // SAFETY: as in `init_cpu`; the return to EL0 synchronises it.
            unsafe { write_register!("cpacr_el1", if opens { OPEN } else { CLOSED }) };
        }
    }

    /// The current thread meets the trap: from now on it has the registers.
    pub fn allow(current: &Context) {
        current.fp.used.store(1, Ordering::Relaxed);
        load(&current.fp);
        // SAFETY: as in `init_cpu`.
        unsafe { write_register!("cpacr_el1", OPEN) };
        crate::cpu::isb();
    }

    /// The current thread's registers. `None`: it never used them.
    pub fn get(current: &Context) -> Option<FpRegisters> {
        if current.fp.used.load(Ordering::Relaxed) == 0 {
            return None;
        }
        // SAFETY: this CPU runs the thread.
        unsafe {
            fp_save(current.fp.registers.get());
            Some(*current.fp.registers.get())
        }
    }

    /// Replaces the current thread's registers.
    pub fn set(current: &Context, registers: &FpRegisters) {
        // SAFETY: as above.
        unsafe { *current.fp.registers.get() = *registers };
        current.fp.cpu.store(NOWHERE, Ordering::Relaxed);
        allow(current);
    }

    /// The current thread has none any more (execve).
    pub fn forget(current: &Context) {
        // SAFETY: as above.
        unsafe { *current.fp.registers.get() = FpRegisters::ZERO };
        current.fp.used.store(0, Ordering::Relaxed);
        current.fp.cpu.store(NOWHERE, Ordering::Relaxed);
        init_cpu();
    }

    /// A new thread gets the current one's registers.
    pub fn copy_to(current: &Context, new: &Context) {
        if let Some(registers) = get(current) {
            assert!(!new.is_on_cpu(), "a new thread does not run");
            // SAFETY: nobody runs it yet.
            unsafe { *new.fp.registers.get() = registers };
            new.fp.used.store(1, Ordering::Relaxed);
        }
    }
}
#[cfg(target_os = "none")]
pub use target::*;

#[cfg(not(target_os = "none"))]
pub use crate::fakes::fp::*;
