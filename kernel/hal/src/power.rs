//! The end: power-off, with a status for those who run the kernel as a program.

use crate::{cpu, psci};

/// Ends the run. Where the machine serves semihosting (`--semihosting on` of Vambrace, `-semihosting` of QEMU), `status`
/// becomes its exit status; elsewhere HLT is UNDEFINED, and the system is switched off by PSCI.
pub fn off(status: u8) -> ! {
    if status != 0 {
        semihosting_exit(status);
    }
    psci::system_off();
    crate::log!("power-off failed: no PSCI");
    cpu::halt()
}

/// Resets the system.
pub fn reset() -> ! {
    psci::system_reset();
    crate::log!("reset failed: no PSCI");
    cpu::halt()
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
