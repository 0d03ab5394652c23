//! A fair spin lock: tickets, waiting by WFE.

use core::cell::UnsafeCell;
use core::fmt;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicU32, Ordering};

use crate::{cpu, timer};

/// A value that one CPU at a time may touch.
pub struct SpinLock<T: ?Sized> {
    /// The next ticket to be handed out.
    next: AtomicU32,
    /// The ticket whose holder has the lock.
    serving: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: the lock gives out one guard at a time, so the value only moves between CPUs.
unsafe impl<T: ?Sized + Send> Send for SpinLock<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for SpinLock<T> {}

impl<T> SpinLock<T> {
    /// An open lock around `value`.
    pub const fn new(value: T) -> Self {
        Self { next: AtomicU32::new(0), serving: AtomicU32::new(0), value: UnsafeCell::new(value) }
    }
    /// The value, which nobody else has.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> SpinLock<T> {
    /// Waits for its turn.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> SpinGuard<'_, T> {
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        if self.serving.load(Ordering::Acquire) != ticket {
            self.wait(ticket);
        }
        SpinGuard { lock: self, not_send: core::marker::PhantomData }
    }

    #[cold]
    #[track_caller]
    fn wait(&self, ticket: u32) {
        /// Seconds after which a holder will never let go: most likely it is the caller itself.
        const PATIENCE: u64 = 5;
        let mut limit = timer::now() + PATIENCE * timer::frequency();
        let mut last = None;
        loop {
            let serving = self.serving.load(Ordering::Acquire);
            if serving == ticket {
                return;
            }
            if last != Some(serving) {
                // Many may be before this one; each has its time.
                limit = timer::now() + PATIENCE * timer::frequency();
                last = Some(serving);
            }
            crate::power::stop_if_over();
            assert!(timer::now() < limit, "a spin lock is not released");
            cpu::wait_while(&self.serving, serving);
        }
    }

    /// The guard if nobody has or wants the lock.
    pub fn try_lock(&self) -> Option<SpinGuard<'_, T>> {
        let ticket = self.serving.load(Ordering::Acquire);
        self.next
            .compare_exchange(ticket, ticket.wrapping_add(1), Ordering::Acquire, Ordering::Relaxed)
            .ok()
            .map(|_| SpinGuard { lock: self, not_send: core::marker::PhantomData })
    }

    /// The value without locking, by the exclusive reference.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T: Default> Default for SpinLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized> fmt::Debug for SpinLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SpinLock")
    }
}

/// The right to the value, until it is dropped.
pub struct SpinGuard<'a, T: ?Sized> {
    lock: &'a SpinLock<T>,
    not_send: core::marker::PhantomData<*mut ()>,
}

impl<T: ?Sized> Deref for SpinGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard is the only one.
        unsafe { &*self.lock.value.get() }
    }
}
impl<T: ?Sized> DerefMut for SpinGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard is the only one.
        unsafe { &mut *self.lock.value.get() }
    }
}
impl<T: ?Sized> Drop for SpinGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let serving = self.lock.serving.load(Ordering::Relaxed);
        self.lock.serving.store(serving.wrapping_add(1), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::sync::Arc;
    use alloc::vec::Vec;

    #[test]
    fn increments_of_many_threads_all_count() {
        let lock = Arc::new(SpinLock::new(0u64));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let lock = Arc::clone(&lock);
                std::thread::spawn(move || (0..5000).for_each(|_| *lock.lock() += 1))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(*lock.lock(), 20000);
    }

    #[test]
    fn a_held_lock_is_not_given_twice() {
        let lock = SpinLock::new(());
        let guard = lock.lock();
        assert!(lock.try_lock().is_none());
        drop(guard);
        assert!(lock.try_lock().is_some());
    }
}
