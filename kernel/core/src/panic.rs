//! The end of a kernel that cannot go on.

use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};

/// The status with which a panic ends the run.
pub const STATUS: u8 = 101;

/// Says where and why, stops the other CPUs, and switches off.
pub fn panic(info: &PanicInfo<'_>) -> ! {
    static PANICS: AtomicBool = AtomicBool::new(false);
    if PANICS.swap(true, Ordering::AcqRel) {
        // Another CPU's, or one within the panic: the first has the word.
        hal::cpu::halt();
    }
    crate::sched::stop_others();
    hal::console::print_emergency(format_args!("\nvambrace-kernel: CPU {}: {info}\n", hal::percpu::id()));
    hal::power::off(STATUS)
}
