//! One CPU's ready threads, its turn's end, its counters.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicU64, Ordering};

use hal::sync::{Once, SpinLock};
use hal::timer;

use super::timers::Timers;
use super::{SLICE, State, ticks_of};
use crate::proc::Thread;

/// No turn ends.
const NEVER: u64 = u64::MAX;

#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Cpu {
    pub queue: SpinLock<Queue>,
    pub idle: Once<Arc<Thread>>,
    pub timers: SpinLock<Timers>,
    slice_end: AtomicU64,
    pub switches: AtomicU64,
}

/// Threads in the order of their turns.
#[derive(Debug)]
pub(super) struct Queue {
    ready: VecDeque<Arc<Thread>>,
}

impl Queue {
    pub fn push(&mut self, thread: Arc<Thread>) {
        thread.schedule.queued.store(true, Ordering::Relaxed);
        self.ready.push_back(thread);
    }

    /// The next one. One that went to sleep while it stood here is passed over.
    pub fn pop(&mut self) -> Option<Arc<Thread>> {
        while let Some(thread) = self.ready.pop_front() {
            thread.schedule.queued.store(false, Ordering::Relaxed);
            if thread.schedule.state() == State::Ready {
                return Some(thread);
            }
        }
        None
    }

    /// The next one that no CPU is on.
    pub fn pop_movable(&mut self) -> Option<Arc<Thread>> {
        let at = self
            .ready
            .iter()
            .position(|thread| !thread.context.is_on_cpu() && thread.schedule.state() == State::Ready)?;
        let thread = self.ready.remove(at)?;
        thread.schedule.queued.store(false, Ordering::Relaxed);
        Some(thread)
    }

    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    pub fn len(&self) -> usize {
        self.ready.len()
    }
}

impl Cpu {
    pub const fn new() -> Self {
        Self {
            queue: SpinLock::new(Queue { ready: VecDeque::new() }),
            idle: Once::new(),
            timers: SpinLock::new(Timers::new()),
            slice_end: AtomicU64::new(NEVER),
            switches: AtomicU64::new(0),
        }
    }

    pub fn is_slice_armed(&self) -> bool {
        self.slice_end.load(Ordering::Relaxed) != NEVER
    }

    /// This CPU's thread has a turn from now, unless it is counted already.
    pub fn arm_slice(&self) {
        if !self.is_slice_armed() {
            self.slice_end.store(timer::now() + ticks_of(SLICE), Ordering::Relaxed);
            self.set_timer();
        }
    }

    /// Nobody waits for this CPU.
    pub fn disarm_slice(&self) {
        // The timer may still come: then nothing is over.
        self.slice_end.store(NEVER, Ordering::Relaxed);
    }

    /// Is the turn over? Then the next one is counted when it begins.
    pub fn slice_over(&self) -> bool {
        let is_over = timer::now() >= self.slice_end.load(Ordering::Relaxed);
        if is_over {
            self.disarm_slice();
        }
        is_over
    }

    /// Programs this CPU's timer for what comes first.
    pub fn set_timer(&self) {
        let first = self.timers.lock().first().unwrap_or(NEVER).min(self.slice_end.load(Ordering::Relaxed));
        if first == NEVER {
            timer::stop();
        } else {
            timer::set_deadline(first);
        }
    }

    /// Does what is due, and programs the timer for what comes next.
    pub fn expire(&self) {
        loop {
            let now = timer::now();
            let due = self.timers.lock().take_due(now);
            match due {
                Some(due) => due.run(),
                None => break,
            }
        }
        self.set_timer();
    }
}
