//! timerfd: a timer read from a file.

use alloc::sync::Arc;

use hal::sync::SpinLock;

use super::{Periodic, Setting};
use crate::errno::{Errno, Result};
use crate::sched::wait::WaitQueue;
use crate::sched::{self, Alarm, TimerId};
use crate::vfs::{File, FileOps, Poll, Sink};

#[derive(Debug, Default)]
struct State {
    times: Periodic,
    armed: Option<TimerId>,
    /// It has expired, and nobody has read that yet.
    is_due: bool,
}

#[derive(Debug, Default)]
struct Timer {
    state: SpinLock<State>,
    changed: WaitQueue,
}

/// An open timer. Times are nanoseconds since the counter began.
#[derive(Debug)]
pub struct TimerFile {
    timer: Arc<Timer>,
    /// What this clock has when the counter has 0.
    pub clock_offset: u64,
}

impl TimerFile {
    /// One that is not set.
    pub fn new(clock_offset: u64) -> Self {
        Self { timer: Arc::default(), clock_offset }
    }

    /// Sets it; what it was. `is_absolute`: the value is a time.
    pub fn set(&self, new: Setting, is_absolute: bool) -> Setting {
        let now = sched::now_nanoseconds();
        let mut state = self.timer.state.lock();
        let old = state.remaining(now);
        state.times = Periodic::new(new, is_absolute, now);
        state.is_due = false;
        let before = self.timer.arm(&mut state, now);
        drop(state);
        cancel(before);
        old
    }

    /// What is left.
    pub fn get(&self) -> Setting {
        self.timer.state.lock().remaining(sched::now_nanoseconds())
    }

    /// How often it expired since it was read last.
    fn take(&self) -> Option<u64> {
        let now = sched::now_nanoseconds();
        let mut state = self.timer.state.lock();
        if !state.is_due {
            return None;
        }
        state.is_due = false;
        if state.times.interval == 0 {
            state.times.deadline = None;
            return Some(1);
        }
        let count = state.times.forward(now);
        let before = self.timer.arm(&mut state, now);
        drop(state);
        cancel(before);
        Some(count)
    }
}

impl State {
    fn remaining(&self, now: u64) -> Setting {
        let mut times = self.times;
        if self.is_due {
            if times.interval == 0 {
                return Setting::default();
            }
            times.forward(now);
        }
        times.setting(now, 0)
    }
}

impl Timer {
    fn arm(self: &Arc<Self>, state: &mut State, now: u64) -> Option<TimerId> {
        let new = state.times.deadline.map(|deadline| {
            let at = sched::after_nanoseconds(deadline.saturating_sub(now));
            TimerId::ring_at(at, Arc::clone(self) as Arc<dyn Alarm>)
        });
        core::mem::replace(&mut state.armed, new)
    }
}

fn cancel(timer: Option<TimerId>) {
    if let Some(timer) = timer {
        timer.cancel();
    }
}

impl Alarm for Timer {
    fn ring(self: Arc<Self>) {
        let now = sched::now_nanoseconds();
        let mut state = self.state.lock();
        match state.times.deadline {
            // Set anew meanwhile.
            Some(deadline) if now < deadline => {
                if !state.armed.is_some_and(TimerId::is_set) {
                    self.arm(&mut state, now);
                }
                return;
            }
            Some(_) => state.is_due = true,
            None => return,
        }
        drop(state);
        self.changed.wake_all();
    }
}

impl Drop for TimerFile {
    fn drop(&mut self) {
        let before = self.timer.state.lock().armed.take();
        cancel(before);
    }
}

impl FileOps for TimerFile {
    fn read(&self, file: &File, to: &mut Sink<'_>, _offset: u64) -> Result<usize> {
        if to.left() < 8 {
            return Err(Errno::EINVAL);
        }
        let count = match self.take() {
            Some(count) => count,
            None if file.is_nonblocking() => return Err(Errno::EAGAIN),
            None => self.timer.changed.wait(|| self.take()).map_err(|_| Errno::ERESTARTSYS)?,
        };
        to.put(&count.to_ne_bytes())
    }

    fn poll(&self, _file: &File) -> Poll {
        if self.timer.state.lock().is_due { Poll::IN } else { Poll::default() }
    }

    fn wait_queues<'a>(&'a self, each: &mut dyn FnMut(&'a WaitQueue)) {
        each(&self.timer.changed);
    }

    fn describe(&self) -> Option<alloc::string::String> {
        Some("anon_inode:[timerfd]".into())
    }

    fn as_any(&self) -> Option<&dyn core::any::Any> {
        Some(self)
    }
}
