//! A spin lock as one step.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, PoisonError};

use core::Fresh;

type Inner = loom::sync::Mutex<()>;

/// A value that one CPU at a time may touch.
#[derive(Debug)]
pub struct SpinLock<T: ?Sized> {
    lock: Fresh<&'static Inner>,
    value: std::sync::Mutex<T>,
}

/// The right to it.
#[derive(Debug)]
pub struct SpinGuard<'a, T: ?Sized> {
    // Dropped first.
    value: std::sync::MutexGuard<'a, T>,
    _lock: loom::sync::MutexGuard<'static, ()>,
}

impl<T> SpinLock<T> {
    /// Open.
    pub const fn new(value: T) -> Self {
        Self { lock: Fresh::new(), value: std::sync::Mutex::new(value) }
    }
}

impl<T: ?Sized> SpinLock<T> {
    /// This execution's lock: for good, since guards refer to it.
    fn inner(&self) -> &'static Inner {
        *self.lock.get(|| Arc::new(Box::leak(Box::new(Inner::new(())))))
    }

    fn guard(&self, lock: loom::sync::MutexGuard<'static, ()>) -> SpinGuard<'_, T> {
        SpinGuard { value: self.value.lock().unwrap_or_else(PoisonError::into_inner), _lock: lock }
    }

    /// Waits for its turn.
    pub fn lock(&self) -> SpinGuard<'_, T> {
        self.guard(self.inner().lock().unwrap())
    }

    /// The guard if nobody has it.
    pub fn try_lock(&self) -> Option<SpinGuard<'_, T>> {
        self.inner().try_lock().ok().map(|lock| self.guard(lock))
    }
}

impl<T: Default> Default for SpinLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized> Deref for SpinGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}
impl<T: ?Sized> DerefMut for SpinGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
