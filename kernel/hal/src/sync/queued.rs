//! A queued spin lock that saves and masks interrupts. One waiter spins on the lock's word (the pending bit), further ones
//! each on a line of their own, in a queue: what an arm64 kernel's `raw_spin_lock_irqsave` does. The kernel runs with
//! interrupts masked and does not need it; it is here to be measured.

use core::cell::UnsafeCell;
use core::fmt;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicU32, Ordering};

use crate::cpu;
use crate::percpu::{self, MAX_CPUS};

const LOCKED: u32 = 1;
const PENDING: u32 = 1 << 8;
const TAIL: u32 = 0xffff_0000;

/// A waiter's line.
#[repr(align(64))]
struct Node {
    /// Who comes behind: number + 1; 0: nobody yet.
    next: AtomicU32,
    /// Set to 1 by the one before: this waiter is now the queue's head.
    is_head: AtomicU32,
}

/// A value behind such a lock.
pub struct QueuedLock<T> {
    word: AtomicU32,
    nodes: [Node; MAX_CPUS],
    value: UnsafeCell<T>,
}

// SAFETY: the lock gives out one guard at a time, so the value only moves between CPUs.
unsafe impl<T: Send> Send for QueuedLock<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for QueuedLock<T> {}

impl<T> QueuedLock<T> {
    /// An open lock.
    pub const fn new(value: T) -> Self {
        let nodes = [const { Node { next: AtomicU32::new(0), is_head: AtomicU32::new(0) } }; MAX_CPUS];
        Self { word: AtomicU32::new(0), nodes, value: UnsafeCell::new(value) }
    }

    /// Masks interrupts, and waits for its turn.
    #[inline]
    pub fn lock(&self) -> QueuedGuard<'_, T> {
        self.lock_as(percpu::id())
    }

    /// As that CPU: nobody else is it meanwhile.
    fn lock_as(&self, me: usize) -> QueuedGuard<'_, T> {
        let saved = cpu::save_and_mask();
        if self.word.compare_exchange(0, LOCKED, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.wait(me);
        }
        QueuedGuard { lock: self, saved, not_send: core::marker::PhantomData }
    }

    fn wait(&self, me: usize) {
        if self.word.load(Ordering::Relaxed) & !LOCKED == 0 {
            let before = self.word.fetch_or(PENDING, Ordering::Acquire);
            if before & !LOCKED == 0 {
                self.spin(LOCKED);
                // The lock is this waiter's alone: from pending to locked.
                self.word.fetch_sub(PENDING - LOCKED, Ordering::Acquire);
                return;
            }
            if before & PENDING == 0 {
                self.word.fetch_and(!PENDING, Ordering::Relaxed);
            }
        }
        let node = &self.nodes[me];
        node.next.store(0, Ordering::Relaxed);
        node.is_head.store(0, Ordering::Relaxed);
        let mine = (me as u32 + 1) << 16;
        let mut word = self.word.load(Ordering::Relaxed);
        while let Err(now) =
            self.word.compare_exchange_weak(word, word & !TAIL | mine, Ordering::AcqRel, Ordering::Relaxed)
        {
            word = now;
        }
        if word & TAIL != 0 {
            self.nodes[(word >> 16) as usize - 1].next.store(me as u32 + 1, Ordering::Release);
            while node.is_head.load(Ordering::Acquire) == 0 {
                cpu::wait_while(&node.is_head, 0);
            }
        }
        self.spin(LOCKED | PENDING);
        if self.word.compare_exchange(mine, LOCKED, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            return;
        }
        self.word.fetch_or(LOCKED, Ordering::Acquire);
        let mut next = node.next.load(Ordering::Acquire);
        while next == 0 {
            cpu::wait_while(&node.next, 0);
            next = node.next.load(Ordering::Acquire);
        }
        self.nodes[next as usize - 1].is_head.store(1, Ordering::Release);
    }

    /// Waits until none of these bits is set.
    fn spin(&self, bits: u32) {
        loop {
            let word = self.word.load(Ordering::Acquire);
            if word & bits == 0 {
                return;
            }
            cpu::wait_while(&self.word, word);
        }
    }
}

impl<T> fmt::Debug for QueuedLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("QueuedLock")
    }
}

/// The right to the value, until it is dropped.
pub struct QueuedGuard<'a, T> {
    lock: &'a QueuedLock<T>,
    saved: u64,
    not_send: core::marker::PhantomData<*mut ()>,
}
impl<T> Deref for QueuedGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: this guard is the only one.
        unsafe { &*self.lock.value.get() }
    }
}
impl<T> DerefMut for QueuedGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard is the only one.
        unsafe { &mut *self.lock.value.get() }
    }
}
impl<T> Drop for QueuedGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.word.fetch_and(!LOCKED, Ordering::Release);
        cpu::restore_mask(self.saved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::sync::Arc;
    use alloc::vec::Vec;

    /// With one, two (the pending bit) and more (the queue) at once.
    #[test]
    fn increments_of_many_threads_all_count() {
        for threads in [1, 2, 3, 6] {
            let lock = Arc::new(QueuedLock::new(0u64));
            let running: Vec<_> = (0..threads)
                .map(|me| {
                    let lock = Arc::clone(&lock);
                    std::thread::spawn(move || (0..3000).for_each(|_| *lock.lock_as(me) += 1))
                })
                .collect();
            running.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!((*lock.lock(), lock.word.load(Ordering::Relaxed)), (threads as u64 * 3000, LOCKED));
        }
    }

    /// All but one come while the lock is held: the queue has several.
    #[test]
    fn all_of_a_queue_get_their_turn() {
        const WAITERS: usize = 4;
        let lock = Arc::new(QueuedLock::new(0u64));
        let held = lock.lock_as(0);
        let (sender, done) = std::sync::mpsc::channel();
        for me in 1..=WAITERS {
            let (lock, sender) = (Arc::clone(&lock), sender.clone());
            std::thread::spawn(move || {
                *lock.lock_as(me) += 1;
                sender.send(()).unwrap();
            });
        }
        let is_queued = |me: usize| lock.nodes.iter().any(|node| node.next.load(Ordering::Relaxed) == me as u32 + 1);
        while (1..=WAITERS).filter(|me| is_queued(*me)).count() < WAITERS - 2 {
            std::thread::yield_now();
        }
        drop(held);
        for _ in 0..WAITERS {
            done.recv_timeout(std::time::Duration::from_secs(30)).expect("its turn comes");
        }
        assert_eq!(*lock.lock(), WAITERS as u64);
    }
}
