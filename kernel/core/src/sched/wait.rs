//! Sleeping until something holds.

use alloc::collections::VecDeque;
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering};

use hal::sync::{Mutex as HalMutex, SpinLock, Waiting};
use hal::timer;

use super::timers::TimerId;
use super::{CURRENT, State, prepare_to_sleep, schedule, stay_awake, wake};
use crate::proc::Thread;
use crate::vfs::Poll;

/// Threads that wait for the same thing, and what else wants to know when it comes.
#[derive(Debug, Default)]
pub struct WaitQueue {
    waiting: SpinLock<VecDeque<Arc<Thread>>>,
    /// Told of each wake-up for all. Few queues have any.
    watchers: SpinLock<Vec<Weak<dyn Watcher>>>,
    /// How many there are, for those who wake: they need no lock to find that there are none.
    watched: AtomicUsize,
}

/// What wants to know that a queue's threads were woken, and stays in the queue.
pub trait Watcher: Send + Sync + fmt::Debug {
    /// They were, for these events. Called without locks of the queue; it must not sleep.
    fn woken(&self, events: Poll);
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
        Self {
            waiting: SpinLock::new(VecDeque::new()),
            watchers: SpinLock::new(Vec::new()),
            watched: AtomicUsize::new(0),
        }
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
            let state = if sleep == Sleep::Interruptible { State::Interruptible } else { State::Uninterruptible };
            prepare_to_sleep(state);
            // Behind that: who takes this thread out of the queue wakes it, and does not find it awake still. Else it would
            // sleep, in no queue, if what it was woken for is gone when it looks.
            self.join();
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

    /// The current thread is woken with this queue, until it leaves it. For those who wait for several things: after
    /// [`prepare_to_sleep`], and before what they wait for is looked at.
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
        self.wake_for(Poll::ANY);
    }

    /// Wakes all: these events are why.
    pub fn wake_for(&self, events: Poll) {
        core::sync::atomic::fence(Ordering::SeqCst);
        let all = core::mem::take(&mut *self.waiting.lock());
        for thread in all {
            wake(&thread);
        }
        if self.is_watched() {
            let watchers: Vec<Arc<dyn Watcher>> = self.watchers.lock().iter().filter_map(Weak::upgrade).collect();
            for watcher in watchers {
                watcher.woken(events);
            }
        }
    }

    /// `watcher` is told of wake-ups from now on, as long as somebody has it.
    pub fn watch(&self, watcher: Weak<dyn Watcher>) {
        let mut watchers = self.watchers.lock();
        watchers.retain(|watcher| watcher.strong_count() > 0);
        watchers.push(watcher);
        self.watched.store(watchers.len(), Ordering::SeqCst);
    }

    /// No longer, and nobody that is gone.
    pub fn unwatch(&self, watcher: &dyn Watcher) {
        let own = core::ptr::from_ref(watcher).cast::<()>();
        let mut watchers = self.watchers.lock();
        watchers.retain(|watcher| watcher.strong_count() > 0 && watcher.as_ptr().cast::<()>() != own);
        self.watched.store(watchers.len(), Ordering::SeqCst);
    }

    /// Is there somebody to be told?
    pub fn is_watched(&self) -> bool {
        self.watched.load(Ordering::Relaxed) > 0
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
