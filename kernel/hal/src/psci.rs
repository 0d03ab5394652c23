//! Power State Coordination Interface (Arm DEN 0022), as caller.

use crate::dt::Conduit;
use crate::sync::Once;

static CONDUIT: Once<Conduit> = Once::new();

/// Functions that are called, SMC64 where addresses are passed.
mod function {
    pub const SYSTEM_OFF: u64 = 0x8400_0008;
    pub const SYSTEM_RESET: u64 = 0x8400_0009;
    pub const CPU_ON: u64 = 0xc400_0003;
}

/// Why a CPU did not start: PSCI's error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PsciError(pub i64);

/// PSCI's NOT_SUPPORTED.
const NOT_SUPPORTED: i64 = -1;

#[cfg(target_os = "none")]
pub(crate) fn init(conduit: Option<Conduit>) {
    if let Some(conduit) = conduit {
        let _ = CONDUIT.set(conduit);
    }
}

#[cfg(target_os = "none")]
fn call(function: u64, a: u64, b: u64, c: u64) -> i64 {
    let Some(conduit) = CONDUIT.get() else { return NOT_SUPPORTED };
    let result: u64;
    // SAFETY: SMCCC 1.1 (DEN 0028): X0 to X17 may change, and memory only as the function says.
    unsafe {
        match conduit {
            Conduit::Hvc => core::arch::asm!("hvc #0", inout("x0") function => result, inout("x1") a => _,
                inout("x2") b => _, inout("x3") c => _, clobber_abi("C")),
            Conduit::Smc => core::arch::asm!("smc #0", inout("x0") function => result, inout("x1") a => _,
                inout("x2") b => _, inout("x3") c => _, clobber_abi("C")),
        }
    }
    result as i64
}
#[cfg(not(target_os = "none"))]
fn call(_function: u64, _a: u64, _b: u64, _c: u64) -> i64 {
    NOT_SUPPORTED
}

/// Starts the CPU of that affinity at `entry` (physical) with `context` in X0.
pub(crate) fn cpu_on(affinity: u64, entry: u64, context: u64) -> Result<(), PsciError> {
    match call(function::CPU_ON, affinity, entry, context) {
        0 => Ok(()),
        error => Err(PsciError(error)),
    }
}

/// Switches the system off. Returns only where that is not possible.
pub fn system_off() {
    call(function::SYSTEM_OFF, 0, 0, 0);
}

/// The same where the device tree does not say how firmware is called: by SMC at EL2, by HVC and then SMC at EL1.
pub(crate) fn system_off_guessed() {
    #[cfg(target_os = "none")]
    if CONDUIT.get().is_none() {
        // SAFETY: DEN 0022; what is UNDEFINED goes on behind it.
        unsafe {
            if crate::cpu::level() == crate::cpu::Level::El1 {
                core::arch::asm!("8888: hvc #0", "8889:", ".pushsection .extable, \"a\"", ".quad 8888b, 8889b",
                    ".popsection", inout("x0") function::SYSTEM_OFF => _, clobber_abi("C"));
            }
            core::arch::asm!("8888: smc #0", "8889:", ".pushsection .extable, \"a\"", ".quad 8888b, 8889b",
                ".popsection", inout("x0") function::SYSTEM_OFF => _, clobber_abi("C"));
        }
    }
}

/// Resets the system. Returns only where that is not possible.
pub fn system_reset() {
    call(function::SYSTEM_RESET, 0, 0, 0);
}
