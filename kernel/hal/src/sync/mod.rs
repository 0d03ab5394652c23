//! Locks. Interrupts are masked in the kernel, so none but [`QueuedLock`] saves them.

mod mutex;
mod once;
mod queued;
mod spin;

pub use mutex::{Mutex, MutexGuard, Waiting};
pub use once::Once;
pub use queued::{QueuedGuard, QueuedLock};
pub use spin::{SpinGuard, SpinLock};
