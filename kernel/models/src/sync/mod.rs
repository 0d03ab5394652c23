//! The locks: `hal`'s own files, but for the spin lock, in whose place is loom's. Its own file is [`ticket`].

#[path = "../../../hal/src/sync/mutex.rs"]
mod mutex;
#[path = "../../../hal/src/sync/once.rs"]
mod once;
#[path = "../../../hal/src/sync/queued.rs"]
mod queued;
mod spin;
#[path = "../../../hal/src/sync/spin.rs"]
pub mod ticket;

pub use mutex::{Mutex, MutexGuard, Waiting};
pub use once::Once;
pub use queued::{QueuedGuard, QueuedLock};
pub use spin::{SpinGuard, SpinLock};
