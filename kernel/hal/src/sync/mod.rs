//! Locks. Interrupts are masked in the kernel, so none of these saves them.

mod mutex;
mod once;
mod spin;

pub use mutex::{Mutex, MutexGuard, Waiting};
pub use once::Once;
pub use spin::{SpinGuard, SpinLock};
