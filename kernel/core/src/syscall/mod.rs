//! System calls.
//!
//! `table` has a line for each: number and function. The functions are in files by subject; they take what the registers
//! hold, converted by [`Argument`], and give a [`Result`]. A number without a line is counted and gives ENOSYS.

#![allow(clippy::unnecessary_wraps, reason = "the table expects a Result of every function")]

mod event;
mod file;
mod fs;
mod memory;
mod misc;
mod process;
mod signal;
mod socket;
mod stat;
mod table;
mod time;
mod timer;
mod user;

use core::sync::atomic::{AtomicU64, Ordering};

use hal::trap::{SYSCALLS, Syscall};

use crate::errno::{Errno, Result};

pub use table::TABLE;

/// What a register becomes.
pub trait Argument {
    /// Takes the low bits that the type has.
    fn of(register: u64) -> Self;
}
macro_rules! arguments {
    ($($type:ty),*) => { $(impl Argument for $type { #[inline(always)] fn of(register: u64) -> Self { register as Self } })* };
}
arguments!(u64, i64, u32, i32, usize);

/// What a function gives, as X0.
pub trait Value {
    /// Never negative for a result that is no error.
    fn value(self) -> i64;
}
macro_rules! values {
    ($($type:ty),*) => { $(impl Value for $type { #[inline(always)] fn value(self) -> i64 { self as i64 } })* };
}
values!(u64, i64, u32, i32, usize);
impl Value for () {
    #[inline(always)]
    fn value(self) -> i64 {
        0
    }
}

#[inline(always)]
fn finish<T: Value>(result: Result<T>) -> i64 {
    match result {
        Ok(value) => value.value(),
        Err(error) => -i64::from(error.0),
    }
}

static UNKNOWN: [AtomicU64; SYSCALLS] = [const { AtomicU64::new(0) }; SYSCALLS];
static UNKNOWN_ABOVE: AtomicU64 = AtomicU64::new(0);

/// A number without a function: counted, ENOSYS.
pub fn unknown(number: u64) -> i64 {
    UNKNOWN.get(number as usize).unwrap_or(&UNKNOWN_ABOVE).fetch_add(1, Ordering::Relaxed);
    -i64::from(Errno::ENOSYS.0)
}

/// The table's entry for such a number.
extern "C" fn no_function(_: u64, _: u64, _: u64, _: u64, _: u64, _: u64) -> i64 {
    unknown(crate::sched::CURRENT.get().context.frame().register(8))
}

const NO_FUNCTION: Syscall = no_function;

/// At the end: which unknown numbers were called, and how often.
pub fn report_unknown() {
    for (number, count) in UNKNOWN.iter().enumerate() {
        let count = count.load(Ordering::Relaxed);
        if count > 0 {
            hal::log!("vambrace-kernel: unknown system call {number}: {count} time(s)");
        }
    }
    let above = UNKNOWN_ABOVE.load(Ordering::Relaxed);
    if above > 0 {
        hal::log!("vambrace-kernel: system calls of {SYSCALLS} and above: {above} time(s)");
    }
}
