//! What each CPU has of its own, reached by TPIDR_EL1.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::thread::Context;

/// Most CPUs.
pub const MAX_CPUS: usize = 512;

/// One CPU. `vectors.S` knows the place of `thread`.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct PerCpu {
    /// The thread that runs here.
    pub(crate) thread: AtomicPtr<Context>,
    /// Behind the stack that is taken when a thread's is too deep. `vectors.S` knows its place.
    pub(crate) overflow: AtomicU64,
    pub(crate) id: AtomicU32,
    online: AtomicBool,
    refused: AtomicBool,
    /// MPIDR_EL1's affinity fields.
    pub(crate) affinity: AtomicU64,
    /// Virtual address of this CPU's GIC redistributor (RD_base).
    pub(crate) redistributor: AtomicU64,
}

impl PerCpu {
    pub(crate) const fn new() -> Self {
        Self {
            thread: AtomicPtr::new(core::ptr::null_mut()),
            overflow: AtomicU64::new(0),
            id: AtomicU32::new(0),
            online: AtomicBool::new(false),
            refused: AtomicBool::new(false),
            affinity: AtomicU64::new(0),
            redistributor: AtomicU64::new(0),
        }
    }
    pub(crate) fn set_online(&self) {
        self.online.store(true, Ordering::Release);
    }
    /// The kernel does not take this CPU.
    pub(crate) fn refuse(&self) {
        self.refused.store(true, Ordering::Release);
    }
    pub(crate) fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Acquire)
    }
    pub(crate) fn is_online(&self) -> bool {
        self.online.load(Ordering::Acquire)
    }
}

/// The CPU that boots; the others' are made when they are started.
#[unsafe(no_mangle)]
pub(crate) static BOOT_PERCPU: PerCpu = PerCpu::new();

static CPUS: [AtomicPtr<PerCpu>; MAX_CPUS] = [const { AtomicPtr::new(core::ptr::null_mut()) }; MAX_CPUS];
static COUNT: AtomicU32 = AtomicU32::new(1);

/// Enters a CPU into the list under its number.
pub(crate) fn register(id: usize, cpu: &'static PerCpu) {
    cpu.id.store(id as u32, Ordering::Relaxed);
    CPUS[id].store(core::ptr::from_ref(cpu).cast_mut(), Ordering::Release);
}

/// The CPU of that number runs, and so do those before it.
pub(crate) fn counted(id: usize) {
    COUNT.fetch_max(id as u32 + 1, Ordering::AcqRel);
}

/// The CPU of that number, if it was registered.
pub(crate) fn of(id: usize) -> Option<&'static PerCpu> {
    // SAFETY: only `register` stores here, and only references that live for ever.
    unsafe { CPUS.get(id)?.load(Ordering::Acquire).as_ref() }
}

/// Number of CPUs that run.
pub fn count() -> usize {
    COUNT.load(Ordering::Acquire) as usize
}

/// This CPU.
#[inline]
pub(crate) fn this() -> &'static PerCpu {
    #[cfg(target_os = "none")]
    {
        let at: *const PerCpu;
        // SAFETY: boot sets TPIDR_EL1 to a PerCpu that lives for ever, before any Rust runs on the CPU. Not `pure`: a
        // thread may go on on another CPU after a switch.
        unsafe {
            core::arch::asm!("mrs {}, tpidr_el1", out(reg) at, options(nomem, nostack, preserves_flags));
            &*at
        }
    }
    #[cfg(not(target_os = "none"))]
    &BOOT_PERCPU
}

/// This CPU's number, from 0.
#[inline]
pub fn id() -> usize {
    this().id.load(Ordering::Relaxed) as usize
}

/// MPIDR affinity of the CPU that booted.
pub fn boot_affinity() -> u64 {
    BOOT_PERCPU.affinity.load(Ordering::Relaxed)
}
