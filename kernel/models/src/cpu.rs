//! The PE: interrupts, context synchronisation, CONTEXTIDR.

use std::sync::Mutex;

use core::sync::atomic::AtomicU32;
use loom::thread;

use crate::percpu::{self, MAX_CPUS};
use crate::{gic, patch, run};

/// CONTEXTIDR of each CPU. Only its own CPU writes it.
static CONTEXT_IDS: Mutex<[u32; MAX_CPUS]> = Mutex::new([0; MAX_CPUS]);

/// Sleeps until an interrupt comes, and serves it. At the model's end the CPU's thread is left for good.
pub fn idle() {
    gic::wait();
    gic::serve();
    run::leave_if_ended();
}

/// Serves what is pending. In a loop, which waits for something: that is there once an interrupt has come.
pub fn window() {
    if gic::serve() == 0 {
        idle();
    }
}

/// Serves what is pending, if anything is.
pub fn open() {
    gic::serve();
}

/// A context synchronisation event.
pub fn isb() {
    patch::synchronise();
}

/// Waits for another store. Two CPUs do it by looking again and again, since that hides no order.
pub fn wait_while(word: &AtomicU32, value: u32) {
    if percpu::count() > 2 {
        word.block_while(value);
    } else {
        thread::yield_now();
    }
}

/// Nothing is masked.
pub fn save_and_mask() -> u64 {
    0
}

/// Nothing.
pub fn restore_mask(_saved: u64) {}

/// Writes CONTEXTIDR.
pub fn set_context_id(id: u32) {
    CONTEXT_IDS.lock().unwrap()[percpu::id()] = id;
}

/// What was written last.
pub fn context_id() -> u32 {
    CONTEXT_IDS.lock().unwrap()[percpu::id()]
}

/// As after reset.
pub fn reset() {
    *CONTEXT_IDS.lock().unwrap() = [0; MAX_CPUS];
}
