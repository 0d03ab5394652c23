//! What the CPUs can do, as programs are told.

use alloc::string::String;
use core::fmt::Write;

/// Bits of AT_HWCAP (arch/arm64/include/uapi/asm/hwcap.h).
const FP: u64 = 1 << 0;
const ASIMD: u64 = 1 << 1;

/// AT_HWCAP.
pub fn hwcap() -> u64 {
    FP | ASIMD
}

/// AT_HWCAP2.
pub fn hwcap2() -> u64 {
    0
}

/// One CPU's lines of /proc/cpuinfo.
pub fn write_cpuinfo(out: &mut String) {
    let _ = writeln!(out, "BogoMIPS\t: 100.00\nFeatures\t: fp asimd");
    let _ = writeln!(out, "CPU implementer\t: 0x41\nCPU architecture: 8");
}
