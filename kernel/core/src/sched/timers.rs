//! What happens when the counter reaches some value, for each CPU.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};

use hal::{percpu, timer};

use super::{CPUS, wake};
use crate::proc::Thread;

/// Something that happens at a time: in the timer's interrupt, where nothing sleeps, and no lock is held.
pub trait Alarm: Send + Sync + fmt::Debug {
    /// The time has come.
    fn ring(self: Arc<Self>);
}

/// What is due.
#[derive(Debug)]
pub(super) enum Due {
    Wake(Arc<Thread>),
    Ring(Arc<dyn Alarm>),
}

impl Due {
    pub fn run(self) {
        match self {
            Self::Wake(thread) => {
                wake(&thread);
            }
            Self::Ring(alarm) => alarm.ring(),
        }
    }
}

/// A timer that was set.
#[derive(Clone, Copy, Debug)]
pub struct TimerId {
    cpu: usize,
    key: (u64, u64),
}

/// Deadlines in counter ticks, each with a number that makes it unique.
#[derive(Debug)]
pub(super) struct Timers {
    due: BTreeMap<(u64, u64), Due>,
}

impl Timers {
    pub const fn new() -> Self {
        Self { due: BTreeMap::new() }
    }
    pub fn first(&self) -> Option<u64> {
        self.due.first_key_value().map(|(key, _)| key.0)
    }
    pub fn take_due(&mut self, now: u64) -> Option<Due> {
        let entry = self.due.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(entry.remove())
    }
}

/// Counter ticks of so many nanoseconds: no fewer, so that nothing happens too early.
pub fn ticks_of(nanoseconds: u64) -> u64 {
    let ticks = (u128::from(nanoseconds) * u128::from(timer::frequency())).div_ceil(1_000_000_000);
    u64::try_from(ticks).unwrap_or(u64::MAX)
}

/// Nanoseconds since the counter began.
pub fn now_nanoseconds() -> u64 {
    nanoseconds_of(timer::now())
}

/// Nanoseconds of so many ticks.
pub fn nanoseconds_of(ticks: u64) -> u64 {
    let frequency = timer::frequency();
    if frequency == 1_000_000_000 {
        return ticks;
    }
    (u128::from(ticks) * 1_000_000_000 / u128::from(frequency)) as u64
}

/// The counter's value in so many nanoseconds; saturates.
pub fn after_nanoseconds(nanoseconds: u64) -> u64 {
    timer::now().saturating_add(ticks_of(nanoseconds))
}

impl TimerId {
    /// `thread` is woken when the counter reaches `deadline`.
    pub fn wake_at(deadline: u64, thread: Arc<Thread>) -> Self {
        Self::set(deadline, Due::Wake(thread))
    }

    /// `alarm` rings when the counter reaches `deadline`.
    pub fn ring_at(deadline: u64, alarm: Arc<dyn Alarm>) -> Self {
        Self::set(deadline, Due::Ring(alarm))
    }

    fn set(deadline: u64, due: Due) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let cpu = percpu::id();
        let key = (deadline, NUMBER.fetch_add(1, Ordering::Relaxed));
        CPUS[cpu].timers.lock().due.insert(key, due);
        CPUS[cpu].set_timer();
        Self { cpu, key }
    }

    /// Is it still to come?
    pub fn is_set(self) -> bool {
        CPUS[self.cpu].timers.lock().due.contains_key(&self.key)
    }

    /// It is no longer wanted.
    pub fn cancel(self) {
        // The CPU's timer may come in vain.
        let due = CPUS[self.cpu].timers.lock().due.remove(&self.key);
        drop(due);
    }
}
