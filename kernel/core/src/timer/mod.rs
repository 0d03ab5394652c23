//! Timers of programs: timer_create, setitimer, timerfd.
//!
//! A periodic timer does not run while what it brought about waits to be noticed: it counts the intervals that went by then,
//! and goes on from there. So no setting, however short, keeps a CPU busy.

mod file;
mod interval;
mod periodic;

use alloc::collections::BTreeMap;
use alloc::sync::{Arc, Weak};

use hal::sync::SpinLock;

pub use file::TimerFile;
pub use interval::{IntervalTimer, Notice};
pub use periodic::{Periodic, Setting};

use crate::errno::{Errno, Result};
use crate::proc::{Process, Thread};
use crate::sched;
use crate::signal::{SIGALRM, SIGPROF, SIGVTALRM, TimerSignal};

/// What a timer goes by.
#[derive(Clone, Debug)]
pub enum Clock {
    /// Nanoseconds since the counter began.
    Counter,
    /// Time that a process has run.
    Process(Weak<Process>),
    /// Time that a thread has run.
    Thread(Weak<Thread>),
}

impl Clock {
    /// Its time, ns. Of what has ended: the end of time.
    pub fn now(&self) -> u64 {
        match self {
            Self::Counter => sched::now_nanoseconds(),
            Self::Process(process) => {
                process.upgrade().map_or(u64::MAX, |process| sched::nanoseconds_of(process.ticks()))
            }
            Self::Thread(thread) => thread.upgrade().map_or(u64::MAX, |thread| sched::nanoseconds_of(thread.ticks())),
        }
    }

    /// When to look at it next if something is due in `left` ns: no later than it can be due, in ns of the counter.
    fn look_in(&self, left: u64) -> u64 {
        /// One that does not run, or not always, is looked at again and again: not more often than this.
        const LEAST: u64 = 1_000_000;
        let parallel = match self {
            Self::Counter => return left,
            Self::Process(process) => process.upgrade().map_or(1, |process| process.threads.lock().len()),
            Self::Thread(_) => 1,
        };
        (left / parallel.max(1) as u64).max(LEAST)
    }
}

/// setitimer's three.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// ITIMER_REAL
    Real,
    /// ITIMER_VIRTUAL
    Virtual,
    /// ITIMER_PROF
    Prof,
}

impl Which {
    /// By number.
    pub fn of(number: u32) -> Result<Self> {
        [Self::Real, Self::Virtual, Self::Prof].get(number as usize).copied().ok_or(Errno::EINVAL)
    }
    fn signal(self) -> u8 {
        match self {
            Self::Real => SIGALRM,
            Self::Virtual => SIGVTALRM,
            Self::Prof => SIGPROF,
        }
    }
    fn clock(self, process: &Arc<Process>) -> Clock {
        match self {
            Self::Real => Clock::Counter,
            // Time in the kernel is not told apart.
            Self::Virtual | Self::Prof => Clock::Process(Arc::downgrade(process)),
        }
    }
}

/// A process's timers.
#[derive(Debug, Default)]
pub struct ProcessTimers {
    created: SpinLock<Created>,
    interval: SpinLock<[Option<Arc<IntervalTimer>>; 3]>,
}

#[derive(Debug, Default)]
struct Created {
    next: i32,
    timers: BTreeMap<i32, Arc<IntervalTimer>>,
}

impl ProcessTimers {
    /// timer_create: `make` gets the number, which is used up even if it fails. EAGAIN: it has `limit` already.
    pub fn create(&self, limit: u64, make: impl FnOnce(i32) -> Result<IntervalTimer>) -> Result<i32> {
        let id = {
            let mut created = self.created.lock();
            if created.timers.len() as u64 >= limit {
                return Err(Errno::EAGAIN);
            }
            let id = created.next;
            created.next = id.checked_add(1).unwrap_or(0);
            id
        };
        let timer = Arc::new(make(id)?);
        let mut created = self.created.lock();
        if created.timers.contains_key(&id) {
            return Err(Errno::EAGAIN);
        }
        created.timers.insert(id, timer);
        Ok(id)
    }

    /// The timer of that number.
    pub fn created(&self, id: i32) -> Result<Arc<IntervalTimer>> {
        self.created.lock().timers.get(&id).cloned().ok_or(Errno::EINVAL)
    }

    /// timer_delete
    pub fn delete(&self, id: i32) -> Result<()> {
        let timer = self.created.lock().timers.remove(&id).ok_or(Errno::EINVAL)?;
        timer.stop();
        Ok(())
    }

    /// exec deletes those of timer_create.
    pub fn end_created(&self) {
        let timers = core::mem::take(&mut self.created.lock().timers);
        for timer in timers.values() {
            timer.stop();
        }
    }

    /// At the end of the process.
    pub fn end(&self) {
        self.end_created();
        let timers = core::mem::take(&mut *self.interval.lock());
        timers.iter().flatten().for_each(|timer| timer.stop());
    }

    /// setitimer; `None`: getitimer. What it was.
    pub fn interval(&self, process: &Arc<Process>, which: Which, new: Option<Setting>) -> Setting {
        let existing = self.interval.lock()[which as usize].clone();
        let timer = match (existing, new) {
            (Some(timer), _) => timer,
            (None, None) => return Setting::default(),
            (None, Some(_)) => {
                let notice = Notice::Alarm(which.signal());
                let timer = Arc::new(IntervalTimer::new(Arc::downgrade(process), which.clock(process), 0, notice));
                let mut interval = self.interval.lock();
                Arc::clone(interval[which as usize].get_or_insert(timer))
            }
        };
        match new {
            None => timer.get(),
            Some(new) => timer.set(new, false),
        }
    }

    /// A signal of a timer is taken: the timer goes on, and the signal tells what was missed.
    pub fn signal_taken(&self, signal: &mut TimerSignal) {
        let timer = self.created.lock().timers.get(&signal.id).cloned();
        if let Some(timer) = timer {
            timer.taken(signal);
        }
    }

    /// SIGALRM is taken: ITIMER_REAL goes on.
    pub fn alarm_taken(&self) {
        let timer = self.interval.lock()[Which::Real as usize].clone();
        if let Some(timer) = timer {
            timer.go_on();
        }
    }
}
