//! The end: power-off, with a status for those who run the kernel as a program.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::{console, cpu, percpu, psci};

/// The CPU whose failure ends the run, plus one; 0: there is none.
static ENDS_BY: AtomicU32 = AtomicU32::new(0);

/// Who has the last word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastWord {
    /// The caller.
    Mine,
    /// The caller had it already: it failed again on the way.
    MineAgain,
    /// Another CPU.
    Another,
}

/// This CPU cannot go on, and neither can the system.
pub fn take_last_word() -> LastWord {
    let me = percpu::id() as u32 + 1;
    match ENDS_BY.compare_exchange(0, me, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => LastWord::Mine,
        Err(other) if other == me => LastWord::MineAgain,
        Err(_) => LastWord::Another,
    }
}

/// Stops this CPU if another one is ending the run.
pub(crate) fn stop_if_over() {
    let by = ENDS_BY.load(Ordering::Relaxed);
    if by != 0 && by != percpu::id() as u32 + 1 {
        cpu::halt();
    }
}

/// Ends the run. Where the machine serves semihosting (`--semihosting on` of Vambrace, `-semihosting` of QEMU), `status`
/// becomes its exit status; elsewhere HLT is UNDEFINED, and the system is switched off by PSCI.
pub fn off(status: u8) -> ! {
    if status != 0 {
        semihosting_exit(status);
    }
    psci::system_off();
    // Nobody said how firmware is called. What is UNDEFINED here is passed over.
    psci::system_off_guessed();
    console::print_emergency(format_args!("power-off failed: no PSCI\n"));
    cpu::halt()
}

/// Resets the system.
pub fn reset() -> ! {
    psci::system_reset();
    console::print_emergency(format_args!("reset failed: no PSCI\n"));
    cpu::halt()
}

/// SYS_WRITE0: to whoever serves semihosting, where there is no console yet.
#[cfg(target_os = "none")]
pub(crate) fn semihosting_write(bytes: &[u8]) {
    for byte in bytes {
        // SYS_WRITEC takes the address of one character.
        // SAFETY: as in `semihosting_exit`.
        unsafe {
            core::arch::asm!("8888: hlt #0xf000", "8889:", ".pushsection .extable, \"a\"", ".quad 8888b, 8889b",
                ".popsection", inout("x0") 3u64 => _, in("x1") core::ptr::from_ref(byte), options(nostack));
        }
    }
}

/// SYS_EXIT_EXTENDED of the Arm semihosting specification. Returns if nobody serves it.
fn semihosting_exit(status: u8) {
    #[cfg(target_os = "none")]
    {
        let block: [u64; 2] = [0x2_0026, u64::from(status)]; // ADP_Stopped_ApplicationExit
        // SAFETY: served, it does not return; not served, HLT is UNDEFINED, and .extable goes on behind it.
        unsafe {
            core::arch::asm!("8888: hlt #0xf000", "8889:", ".pushsection .extable, \"a\"", ".quad 8888b, 8889b",
                ".popsection", inout("x0") 0x20u64 => _, in("x1") block.as_ptr(), options(nostack));
        }
    }
    #[cfg(not(target_os = "none"))]
    std::process::exit(i32::from(status));
}
