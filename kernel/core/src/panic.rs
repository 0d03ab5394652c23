//! The end of a kernel that cannot go on.

use core::panic::PanicInfo;

use hal::power::{self, LastWord};

/// The status with which a panic ends the run.
pub const STATUS: u8 = 101;
/// The status of a panic within a panic.
pub const STATUS_TWICE: u8 = 102;

/// Says where and why, stops the other CPUs, and switches off.
pub fn panic(info: &PanicInfo<'_>) -> ! {
    match power::take_last_word() {
        LastWord::Mine => {}
        // Nothing that may fail again: no formatting, no lock.
        LastWord::MineAgain => {
            hal::console::output_emergency(b"\r\nvambrace-kernel: panic within a panic\r\n");
            power::off(STATUS_TWICE)
        }
        LastWord::Another => hal::cpu::halt(),
    }
    crate::sched::stop_others();
    hal::console::print_emergency(format_args!("\nvambrace-kernel: CPU {}: {info}\n", hal::percpu::id()));
    power::off(STATUS)
}
