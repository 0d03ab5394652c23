//! A lock whose holder may sleep and touch user memory. How to sleep is the scheduler's business ([`Waiting`]); that there
//! is one holder is decided here.

use core::cell::UnsafeCell;
use core::fmt;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicBool, Ordering};

/// How a thread waits for a mutex.
pub trait Waiting {
    /// Sleeps until `ready` gives true; it is asked again after each wake-up, and at least once.
    fn wait_until(&self, ready: &mut dyn FnMut() -> bool);
    /// Wakes one that sleeps, if any does.
    fn wake_one(&self);
}

/// A value that one thread at a time may touch.
pub struct Mutex<T: ?Sized, W> {
    held: AtomicBool,
    waiting: W,
    value: UnsafeCell<T>,
}

// SAFETY: `held` admits one guard at a time, so the value only moves between threads.
unsafe impl<T: ?Sized + Send, W: Send> Send for Mutex<T, W> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send, W: Sync> Sync for Mutex<T, W> {}

impl<T, W> Mutex<T, W> {
    /// An open lock.
    pub const fn with(value: T, waiting: W) -> Self {
        Self { held: AtomicBool::new(false), waiting, value: UnsafeCell::new(value) }
    }
}

impl<T: ?Sized, W: Waiting> Mutex<T, W> {
    /// Sleeps until the lock is its own.
    pub fn lock(&self) -> MutexGuard<'_, T, W> {
        let mut taken = self.take();
        while !taken {
            self.waiting.wait_until(&mut || {
                taken = taken || self.take();
                taken
            });
        }
        MutexGuard { mutex: self }
    }

    fn take(&self) -> bool {
        self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

impl<T: ?Sized, W> fmt::Debug for Mutex<T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mutex")
    }
}

/// The right to the value, until it is dropped.
#[derive(Debug)]
pub struct MutexGuard<'a, T: ?Sized, W: Waiting> {
    mutex: &'a Mutex<T, W>,
}

impl<T: ?Sized, W: Waiting> Deref for MutexGuard<'_, T, W> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: `lock` leaves its loop only after it won `held` itself, whatever `Waiting` does.
        unsafe { &*self.mutex.value.get() }
    }
}
impl<T: ?Sized, W: Waiting> DerefMut for MutexGuard<'_, T, W> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.mutex.value.get() }
    }
}
impl<T: ?Sized, W: Waiting> Drop for MutexGuard<'_, T, W> {
    fn drop(&mut self) {
        self.mutex.held.store(false, Ordering::Release);
        self.mutex.waiting.wake_one();
    }
}
