//! The functions that `hal`'s assembly and boot code call by name.

use hal::dt::Board;
use hal::trap::{SYSCALLS, Syscall, UserFrame};

/// The table that `vectors.S` indexes.
#[unsafe(no_mangle)]
static SYSCALL_TABLE: [Syscall; SYSCALLS] = kcore::syscall::TABLE;

#[unsafe(no_mangle)]
fn kernel_main(board: &'static Board) -> ! {
    kcore::boot::main(board)
}

#[unsafe(no_mangle)]
fn kernel_secondary() -> ! {
    kcore::boot::secondary()
}

#[unsafe(no_mangle)]
fn kernel_cpu_check() -> bool {
    kcore::feature::take_this_cpu()
}

/// A number behind the table's end.
#[unsafe(no_mangle)]
extern "C" fn kernel_syscall_unknown(number: u64) -> i64 {
    kcore::syscall::unknown(number)
}

/// See `vectors.S`: 0 to run the call.
#[unsafe(no_mangle)]
extern "C" fn kernel_syscall_entry_work(frame: &UserFrame) -> u64 {
    u64::from(!kcore::trap::syscall_entry_work(frame))
}

#[unsafe(no_mangle)]
extern "C" fn kernel_syscall_exit_work(frame: &UserFrame, result: i64) {
    kcore::trap::syscall_exit_work(frame, result);
}

#[unsafe(no_mangle)]
extern "C" fn kernel_exit_work(frame: &UserFrame) {
    kcore::trap::exit_work(frame);
}

/// 0: X19 to X29 in the frame are as they were.
#[unsafe(no_mangle)]
extern "C" fn kernel_el0_sync(frame: &UserFrame, esr: u64, far: u64) -> u64 {
    u64::from(kcore::trap::el0_sync(frame, esr, far))
}

#[unsafe(no_mangle)]
extern "C" fn kernel_el1_sync(frame: &UserFrame, esr: u64, far: u64) {
    kcore::trap::el1_sync(frame, esr, far);
}

#[unsafe(no_mangle)]
extern "C" fn kernel_irq() {
    kcore::trap::irq();
}

#[unsafe(no_mangle)]
extern "C" fn kernel_bad_exception(frame: &UserFrame, vector: u64, esr: u64, far: u64) {
    kcore::trap::bad_exception(frame, vector, esr, far)
}

#[unsafe(no_mangle)]
extern "C" fn kernel_stack_overflow(sp: u64, esr: u64, far: u64, pc: u64) {
    kcore::trap::stack_overflow(sp, esr, far, pc)
}

#[unsafe(no_mangle)]
extern "C" fn kernel_thread_begin() {
    kcore::sched::begin();
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    kcore::panic::panic(info)
}
