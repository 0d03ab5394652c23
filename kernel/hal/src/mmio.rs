//! Registers of devices. Addresses are of mapped windows.

/// A load of a device's register by the instruction given for 32 or 64 bits, or by its acquiring form on CPUs with erratum
/// 832075 (Cortex-A57: an exclusive or acquiring access beside a load of Device memory may deadlock).
macro_rules! load {
    ($at:expr, $type:ty, $width:literal) => {{
        let value: $type;
        // SAFETY: the callers' addresses are of registers that are mapped as Device memory.
        unsafe {
            core::arch::asm!(
                "661:", concat!("ldr {value", $width, "}, [{at}]"), "662:",
                ".pushsection .alternative_code, \"a\"",
                "663:", concat!("ldar {value", $width, "}, [{at}]"), "664:", ".popsection",
                ".pushsection .alternatives, \"a\"", ".balign 8", ".8byte 661b, 663b", ".4byte {condition}",
                ".2byte 662b - 661b, 664b - 663b", ".popsection",
                value = out(reg) value, at = in(reg) $at,
                condition = const crate::patch::capability::DEVICE_LOAD_ACQUIRE,
                options(nostack, preserves_flags));
        }
        value
    }};
}

/// Reads a register of 32 bits.
pub(crate) fn read32(at: usize) -> u32 {
    load!(at, u32, ":w")
}

/// Reads a register of 64 bits.
pub(crate) fn read64(at: usize) -> u64 {
    load!(at, u64, ":x")
}

/// Writes a register of 32 bits.
pub(crate) fn write32(at: usize, value: u32) {
    // SAFETY: as above.
    unsafe { (at as *mut u32).write_volatile(value) }
}

/// Writes a register of 64 bits.
pub(crate) fn write64(at: usize, value: u64) {
    // SAFETY: as above.
    unsafe { (at as *mut u64).write_volatile(value) }
}
