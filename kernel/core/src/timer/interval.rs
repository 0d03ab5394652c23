//! A timer that sends a signal.

use alloc::sync::{Arc, Weak};

use hal::sync::SpinLock;

use super::{Clock, Periodic, Setting};
use crate::proc::{Process, Thread};
use crate::sched::{self, Alarm, TimerId};
use crate::signal::{self, Info, TimerSignal};

/// What happens when it expires.
#[derive(Clone, Debug)]
pub enum Notice {
    /// Nothing (SIGEV_NONE).
    Nothing,
    /// This signal of the kernel's (setitimer).
    Alarm(u8),
    /// A signal of this number with a value, to the process, or to one thread (SIGEV_THREAD_ID).
    Signal {
        /// The timer's number.
        id: i32,
        /// The signal's.
        signal: u8,
        /// si_value
        value: u64,
        /// The thread.
        thread: Option<Weak<Thread>>,
    },
}

#[derive(Debug, Default)]
struct State {
    times: Periodic,
    armed: Option<TimerId>,
    /// How often it was set: signals of former settings are none of its business.
    setting: u64,
    /// Its signal waits to be taken; then it goes on.
    waits: bool,
    /// Intervals that were missed, as the last signal told.
    overrun: i32,
    /// Of times at which the signal was dropped.
    unseen: u64,
}

/// A timer that sends a signal.
#[derive(Debug)]
pub struct IntervalTimer {
    process: Weak<Process>,
    clock: Clock,
    /// What the program's clock has when that one has 0.
    pub clock_offset: u64,
    notice: Notice,
    state: SpinLock<State>,
}

impl IntervalTimer {
    /// One that is not set.
    pub fn new(process: Weak<Process>, clock: Clock, clock_offset: u64, notice: Notice) -> Self {
        Self { process, clock, clock_offset, notice, state: SpinLock::new(State::default()) }
    }

    fn is_silent(&self) -> bool {
        matches!(self.notice, Notice::Nothing)
    }

    /// Sets it; what it was. `is_absolute`: the value is a time of its clock.
    pub fn set(self: &Arc<Self>, new: Setting, is_absolute: bool) -> Setting {
        let now = self.clock.now();
        let old = self.get();
        let mut state = self.state.lock();
        state.times = Periodic::new(new, is_absolute, now);
        state.setting += 1;
        state.waits = false;
        state.unseen = 0;
        let before = self.arm(&mut state, now);
        drop(state);
        cancel(before);
        old
    }

    /// What is left until it expires.
    pub fn get(&self) -> Setting {
        let now = self.clock.now();
        let mut state = self.state.lock();
        if state.waits || self.is_silent() {
            let missed = state.times.forward(now);
            if !self.is_silent() {
                state.unseen += missed;
            }
        }
        if state.waits && matches!(self.notice, Notice::Alarm(_)) {
            return Setting { value: 0, ..state.times.setting(now, 0) };
        }
        let least = match self.notice {
            Notice::Nothing => 0,
            Notice::Signal { .. } => 1,
            // setitimer counts in microseconds.
            Notice::Alarm(_) => 1000,
        };
        state.times.setting(now, least)
    }

    /// timer_getoverrun
    pub fn overrun(&self) -> i32 {
        self.state.lock().overrun
    }

    /// It will not ring again.
    pub fn stop(&self) {
        let before = {
            let mut state = self.state.lock();
            state.times = Periodic::default();
            state.setting += 1;
            state.armed.take()
        };
        cancel(before);
    }

    /// Has it ring at its deadline; what is to be cancelled.
    fn arm(self: &Arc<Self>, state: &mut State, now: u64) -> Option<TimerId> {
        let new = match state.times.deadline {
            Some(deadline) if !self.is_silent() => {
                let left = self.clock.look_in(deadline.saturating_sub(now));
                Some(TimerId::ring_at(sched::after_nanoseconds(left), Arc::clone(self) as Arc<dyn Alarm>))
            }
            _ => None,
        };
        core::mem::replace(&mut state.armed, new)
    }

    /// Its signal was taken.
    pub(super) fn taken(self: &Arc<Self>, signal: &mut TimerSignal) {
        let now = self.clock.now();
        let mut state = self.state.lock();
        if signal.setting != state.setting || !state.waits {
            return;
        }
        state.waits = false;
        // The first expiry is the signal itself.
        let missed = (state.unseen + state.times.forward(now)).saturating_sub(1);
        state.unseen = 0;
        signal.overrun = i32::try_from(missed).unwrap_or(i32::MAX).saturating_add(signal.overrun);
        state.overrun = signal.overrun;
        let before = self.arm(&mut state, now);
        drop(state);
        cancel(before);
    }

    /// The same for a signal that tells nothing.
    pub(super) fn go_on(self: &Arc<Self>) {
        let now = self.clock.now();
        let mut state = self.state.lock();
        if !state.waits {
            return;
        }
        state.waits = false;
        state.times.forward(now);
        state.unseen = 0;
        let before = self.arm(&mut state, now);
        drop(state);
        cancel(before);
    }

    /// It has expired: what is sent, if anything.
    fn expire(self: &Arc<Self>, process: &Process) -> Option<Info> {
        let now = self.clock.now();
        let mut state = self.state.lock();
        // A ring of a former setting.
        if state.waits || state.armed.is_some_and(TimerId::is_set) {
            return None;
        }
        state.armed = None;
        let deadline = state.times.deadline?;
        if now < deadline {
            self.arm(&mut state, now);
            return None;
        }
        let is_periodic = state.times.interval > 0;
        match self.notice {
            Notice::Nothing => None,
            Notice::Alarm(_) if matches!(self.clock, Clock::Counter) => {
                if is_periodic {
                    state.waits = true;
                } else {
                    state.times.deadline = None;
                }
                Some(Info::of_kernel())
            }
            Notice::Alarm(_) => {
                // Those of CPU time go on by themselves: a process that does not run does not expire.
                if is_periodic {
                    state.times.forward(now);
                    self.arm(&mut state, now);
                } else {
                    state.times.deadline = None;
                }
                Some(Info::of_kernel())
            }
            Notice::Signal { id, signal, value, .. } => {
                if is_periodic && signal::is_dropped(process, signal) {
                    // Nobody will take it: the timer goes on, not too fast.
                    const TICK: u64 = 4_000_000;
                    let missed = state.times.forward(now.saturating_add(TICK));
                    state.unseen += missed;
                    self.arm(&mut state, now);
                    return None;
                }
                if is_periodic {
                    state.waits = true;
                } else {
                    state.times.deadline = None;
                    state.overrun = 0;
                }
                Some(Info::of_timer(TimerSignal { id, setting: state.setting, overrun: 0, value }))
            }
        }
    }
}

fn cancel(timer: Option<TimerId>) {
    if let Some(timer) = timer {
        timer.cancel();
    }
}

impl Alarm for IntervalTimer {
    fn ring(self: Arc<Self>) {
        let Some(process) = self.process.upgrade() else { return };
        let Some(info) = self.expire(&process) else { return };
        match &self.notice {
            Notice::Nothing => {}
            Notice::Alarm(number) | Notice::Signal { signal: number, thread: None, .. } => {
                signal::send_to_process(&process, *number, info);
            }
            Notice::Signal { signal: number, thread: Some(thread), .. } => {
                if let Some(thread) = thread.upgrade() {
                    signal::send_to_thread(&thread, *number, info);
                }
            }
        }
    }
}
