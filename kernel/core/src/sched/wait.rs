//! Sleeping until something holds.

use alloc::collections::VecDeque;
use alloc::sync::Arc;

use hal::sync::{Mutex as HalMutex, SpinLock, Waiting};
use hal::timer;

use super::timers::TimerId;
use super::{CURRENT, State, prepare_to_sleep, schedule, stay_awake, wake};
use crate::proc::Thread;

/// Threads that wait for the same thing.
#[derive(Debug, Default)]
pub struct WaitQueue {
    waiting: SpinLock<VecDeque<Arc<Thread>>>,
}

/// Why a sleep ended although nothing holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// A signal is there.
    BySignal,
    /// The deadline has come.
    ByTime,
}

/// How to sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sleep {
    /// Signals end it.
    Interruptible,
    /// Nothing but what is waited for, and the deadline.
    Uninterruptible,
}

impl WaitQueue {
    /// Nobody waits.
    pub const fn new() -> Self {
        Self { waiting: SpinLock::new(VecDeque::new()) }
    }

    /// Sleeps until `ready` gives something. It is asked before the first sleep, and after each wake-up of this queue.
    pub fn wait<T>(&self, mut ready: impl FnMut() -> Option<T>) -> Result<T, Ended> {
        self.wait_until(Sleep::Interruptible, None, &mut ready)
    }

    /// The same, with a deadline in counter ticks.
    pub fn wait_until<T>(
        &self,
        sleep: Sleep,
        deadline: Option<u64>,
        mut ready: impl FnMut() -> Option<T>,
    ) -> Result<T, Ended> {
        if let Some(value) = ready() {
            return Ok(value);
        }
        let timer = deadline.map(|deadline| TimerId::wake_at(deadline, CURRENT.share()));
        let result = loop {
            self.join();
            let state = if sleep == Sleep::Interruptible { State::Interruptible } else { State::Uninterruptible };
            prepare_to_sleep(state);
            let verdict = if let Some(value) = ready() {
                Some(Ok(value))
            } else if deadline.is_some_and(|deadline| timer::now() >= deadline) {
                Some(Err(Ended::ByTime))
            } else if sleep == Sleep::Interruptible && CURRENT.get().has_signal() {
                Some(Err(Ended::BySignal))
            } else {
                None
            };
            if let Some(verdict) = verdict {
                stay_awake();
                self.leave();
                break verdict;
            }
            schedule();
            self.leave();
        };
        if let Some(timer) = timer {
            timer.cancel();
        }
        result
    }

    /// The current thread is woken with this queue, until it leaves it. For those who wait for several things.
    pub fn join(&self) {
        self.waiting.lock().push_back(CURRENT.share());
    }

    /// The current thread no longer waits here.
    pub fn leave(&self) {
        let current = CURRENT.get();
        let mut waiting = self.waiting.lock();
        let at = waiting.iter().position(|thread| core::ptr::eq(&raw const **thread, &raw const *current));
        let share = at.and_then(|at| waiting.remove(at));
        drop(waiting);
        drop(share);
    }

    /// Wakes the first that sleeps.
    pub fn wake_one(&self) {
        loop {
            // What is waited for was stored before; see `prepare_to_sleep`.
            let thread = self.waiting.lock().pop_front();
            match thread {
                Some(thread) if wake(&thread) => return,
                Some(_) => {}
                None => return,
            }
        }
    }

    /// Wakes all.
    pub fn wake_all(&self) {
        core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
        let all = core::mem::take(&mut *self.waiting.lock());
        for thread in all {
            wake(&thread);
        }
    }
}

impl Waiting for WaitQueue {
    fn wait_until(&self, ready: &mut dyn FnMut() -> bool) {
        let _ = Self::wait_until(self, Sleep::Uninterruptible, None, || ready().then_some(()));
    }
    fn wake_one(&self) {
        Self::wake_one(self);
    }
}

/// A lock whose holder may sleep and touch user memory.
pub type Mutex<T> = HalMutex<T, WaitQueue>;

/// An open one.
pub const fn mutex<T>(value: T) -> Mutex<T> {
    HalMutex::with(value, WaitQueue::new())
}
