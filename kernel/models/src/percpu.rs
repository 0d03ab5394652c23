//! Which CPU this is, and how many there are.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most CPUs.
pub const MAX_CPUS: usize = 64;

static COUNT: AtomicUsize = AtomicUsize::new(1);

loom::thread_local! {
    static ID: Cell<usize> = Cell::new(0);
}

/// This CPU.
pub fn id() -> usize {
    ID.with(Cell::get)
}

/// The calling thread is that CPU from now on.
pub fn become_cpu(cpu: usize) {
    ID.with(|id| id.set(cpu));
}

/// How many there are.
pub fn count() -> usize {
    COUNT.load(Ordering::Relaxed)
}

/// Says how many there are.
pub fn set_count(count: usize) {
    COUNT.store(count, Ordering::Relaxed);
}
