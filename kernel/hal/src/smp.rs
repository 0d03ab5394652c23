//! Starting the other CPUs.

use crate::psci::PsciError;

/// Why a CPU is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartError {
    /// PSCI refused.
    Psci(PsciError),
    /// There is none for its stacks.
    NoMemory,
    /// It was started and did not report within a second.
    Silent,
    /// The kernel does not take it, and has said why. It is parked.
    Refused,
}

#[cfg(target_os = "none")]
mod target {
    use super::*;
    use crate::mem::layout;
    use crate::mem::stacks::Stack;
    use crate::percpu::{self, PerCpu};
    use crate::thread::{Current, Thread};
    use crate::{boot, cpu, psci, timer};
    use alloc::boxed::Box;
    use alloc::sync::Arc;
    use core::sync::atomic::Ordering;

    /// What `secondary_entry` reads with caches off.
    #[repr(C, align(64))]
    struct SecondaryBoot {
        stack: u64,
        percpu: u64,
        ttbr1: u64,
    }

    /// Starts CPU `id` of that affinity; it goes on as `thread` in the image's `kernel_secondary`.
    pub fn start<T: Thread>(current: &Current<T>, id: usize, affinity: u64, thread: Arc<T>) -> Result<(), StartError> {
        let percpu: &'static PerCpu = Box::leak(Box::new(PerCpu::new()));
        percpu.affinity.store(affinity, Ordering::Relaxed);
        let overflow = Box::leak(Box::new(Stack::new().ok_or(StartError::NoMemory)?));
        percpu.overflow.store(overflow.top() as u64, Ordering::Relaxed);
        percpu::register(id, percpu);
        let stack = thread.context().stack_top() as u64;
        current.install(id, thread);
        let boot = Box::leak(Box::new(SecondaryBoot {
            stack,
            percpu: core::ptr::from_ref(percpu) as u64,
            ttbr1: boot::kernel_table(),
        }));
        let at = core::ptr::from_ref(boot) as usize;
        cpu::clean_to_memory(at, size_of::<SecondaryBoot>());
        psci::cpu_on(affinity, boot::secondary_entry(), (at - layout::LINEAR) as u64).map_err(StartError::Psci)?;
        let limit = timer::now() + timer::frequency();
        while !percpu.is_online() {
            if timer::now() > limit {
                return Err(StartError::Silent);
            }
            if percpu.is_refused() {
                current.uninstall(id);
                return Err(StartError::Refused);
            }
            core::hint::spin_loop();
        }
        percpu::counted(id);
        Ok(())
    }
}
#[cfg(target_os = "none")]
pub use target::*;

#[cfg(not(target_os = "none"))]
pub use crate::fakes::smp::*;
