//! The serial scheduler: CPUs take turns by instruction quantum, in order of their numbers, so that the same inputs give
//! the same execution on every host.
//!
//! A round lets every CPU's time pass from `now` to `now + QUANTUM` ticks. A CPU that sleeps or is off is looked at and not
//! touched, until something ends its sleep; its time passes when it is next asked for. Where all sleep, rounds are skipped
//! up to the next deadline.

use std::sync::Arc;

use arch::Va;
use bus::{CpuLines, Ram};
use cpu::{CodeCache, DebuggerStop, Exit, Marked, Pe, ToolError, Turn};
use snapshot::{Codec, Invalid};

use crate::psci;

/// Ticks a round. Short enough that a CPU that spins for another wastes little, long enough that turns cost little.
pub const QUANTUM: u64 = 10_000;

/// The longest that WFE waits, in ticks: 100 us, as with the event stream that Linux has. It may end at any time
/// (DDI 0487 D1.6), so what a guest forgets to tell it does not keep it asleep.
const LONGEST_WAIT: u64 = 10 * QUANTUM;

/// What a CPU is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuState {
    /// Not started, or switched off by PSCI.
    Off,
    /// Executing.
    Running,
    /// In WFI.
    Sleeping,
    /// In WFE.
    Waiting,
}

snapshot::persist_names!(CpuState { Off = 0, Running = 1, Sleeping = 2, Waiting = 3 });

/// One CPU on the board. What a round looks at is here and small, the PE apart.
pub struct Cpu {
    /// The processing element.
    pub pe: Box<Pe>,
    /// What it does.
    pub state: CpuState,
    /// Which code cache it uses.
    pub code: usize,
    lines: Arc<CpuLines>,
    sleep: Sleep,
}

/// What ends a CPU's sleep.
#[derive(Clone, Copy, Default)]
struct Sleep {
    /// These lines.
    lines: u32,
    /// This time, in ticks, at which it is to be looked at.
    until: u64,
    /// WFE: this time at the latest.
    latest: u64,
    /// WFE behind a load-exclusive: that the memory which it marked holds something else. A store of another CPU clears the
    /// mark, which is an event (DDI 0487 B2.9); one of the same value is noticed by time alone.
    watched: Option<Marked>,
}

/// What a CPU asks of the board in its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// HVC or SMC to firmware.
    Firmware,
    /// A semihosting call.
    Semihosting,
    /// A debugger wants to look. The turn is not over.
    Debugger(DebuggerStop),
    /// The tool cannot go on.
    Tool(ToolError),
}

/// Is another CPU worth giving way to?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Company {
    /// All others are off or asleep.
    Alone,
    /// Another one executes.
    Shared,
}

impl Cpu {
    /// A CPU that is off.
    #[must_use]
    pub fn new(pe: Pe, code: usize) -> Self {
        let lines = pe.lines().clone();
        Self { pe: Box::new(pe), state: CpuState::Off, code, lines, sleep: Sleep::default() }
    }

    /// Does it do nothing by itself before `end`, as far as can be seen now?
    pub(crate) fn sleeps_on(&self, ram: &Ram, end: u64) -> bool {
        match self.state {
            CpuState::Off => true,
            CpuState::Running => false,
            CpuState::Sleeping | CpuState::Waiting => self.sleep.until >= end && !self.is_disturbed(ram),
        }
    }

    fn is_disturbed(&self, ram: &Ram) -> bool {
        self.lines.get() & self.sleep.lines != 0 || self.sleep.watched.is_some_and(|watched| watched.has_changed(ram))
    }

    /// When this CPU, which does not run, next does something by itself, in ticks; something in the past where that is now.
    pub(crate) fn next_event(&self, ram: &Ram) -> Option<u64> {
        match self.state {
            CpuState::Off => None,
            CpuState::Running => Some(0),
            _ if self.is_disturbed(ram) => Some(0),
            _ => Some(self.sleep.until).filter(|until| *until < u64::MAX),
        }
    }

    /// An event came (SEV): WFE ends.
    pub(crate) fn hear_event(&mut self) {
        if self.state == CpuState::Waiting {
            self.sleep.until = 0;
        }
    }

    /// Does what the firmware's answer to a call asks of the caller. What it asks of the board is left to do.
    pub(crate) fn take_answer(&mut self, answer: &psci::Outcome) {
        match *answer {
            psci::Outcome::Return(results) => {
                for (n, value) in results.into_iter().enumerate() {
                    self.pe.set_x_register(n, value);
                }
            }
            psci::Outcome::PowerOff | psci::Outcome::Reset => {}
            psci::Outcome::CpuOff => self.state = CpuState::Off,
            psci::Outcome::CpuOn { .. } => self.pe.set_x_register(0, 0),
            psci::Outcome::Standby => {
                self.pe.set_x_register(0, 0);
                self.sleep(CpuState::Sleeping);
            }
            // Powered down and up again at once, then asleep until an interrupt: the caller finds its state lost either way.
            psci::Outcome::Suspend { entry, context } => {
                self.pe.start(Va(entry), context);
                self.sleep(CpuState::Sleeping);
            }
        }
    }

    /// Lets this CPU's time pass to the turn's end, executing at most `steps` (instructions and exceptions); comes back
    /// earlier with a request.
    pub fn turn(
        &mut self,
        code: &mut CodeCache,
        turn: Turn,
        end: u64,
        steps: u64,
        company: Company,
    ) -> Option<Request> {
        let last = self.pe.steps().saturating_add(steps);
        self.pe.begin_turn(turn);
        let mut run: fn(&mut Pe, &mut CodeCache, u64) -> Exit = Pe::run_waiting;
        while self.pe.ticks() < end {
            if self.state == CpuState::Off || self.state != CpuState::Running && !self.wake(end) {
                return None;
            }
            // An instruction that causes an exception is two steps.
            let left = last.saturating_sub(self.pe.steps());
            if left == 0 {
                return None;
            }
            let deadline = self.pe.timer_deadline().unwrap_or(u64::MAX).min(end);
            let overflow = self.pe.pmu_deadline().unwrap_or(u64::MAX);
            let until = deadline.min(overflow).min(self.pe.ticks().saturating_add(left));
            let exit = run(&mut self.pe, code, until);
            run = Pe::run;
            match exit {
                Exit::WaitForInterrupt => self.sleep(CpuState::Sleeping),
                Exit::WaitForEvent => self.sleep(CpuState::Waiting),
                Exit::Yield if company == Company::Shared => self.pe.skip_to(deadline),
                Exit::Yield | Exit::Budget | Exit::Reschedule => {}
                Exit::FirmwareCall => return Some(Request::Firmware),
                Exit::Semihosting => return Some(Request::Semihosting),
                Exit::Debugger(stop) => return Some(Request::Debugger(stop)),
                Exit::Tool(error) => return Some(Request::Tool(error)),
            }
        }
        None
    }

    /// It stops executing, for [`CpuState::Sleeping`] or [`CpuState::Waiting`].
    pub(crate) fn sleep(&mut self, state: CpuState) {
        self.state = state;
        self.sleep = match state {
            // A masked interrupt does not end it.
            CpuState::Waiting => Sleep {
                lines: self.pe.unmasked_lines(),
                until: 0,
                latest: self.pe.ticks().saturating_add(LONGEST_WAIT),
                watched: self.pe.marked(),
            },
            _ => Sleep { lines: self.pe.waking_lines(), until: 0, latest: u64::MAX, watched: None },
        };
    }

    /// Wakes a sleeping CPU if something ends its sleep, now or at a time before `end`; else notes when to look again.
    fn wake(&mut self, end: u64) -> bool {
        loop {
            self.pe.update_timers();
            let waits = self.state == CpuState::Waiting;
            if self.is_disturbed(self.pe.ram())
                || self.pe.wait_is_over()
                || self.pe.ticks() >= self.sleep.latest
                || waits && self.pe.take_event()
            {
                self.state = CpuState::Running;
                self.pe.tell_waking();
                return true;
            }
            // A deadline of a timer that the GIC does not forward wakes nobody: look for the next one.
            let next = self.pe.timer_deadline().unwrap_or(u64::MAX).min(self.sleep.latest);
            if next >= end {
                self.sleep.until = next;
                return false;
            }
            self.pe.skip_to(next);
        }
    }

    /// Lets the time that passed without it pass for its PE: nothing that anyone will see later differs.
    pub(crate) fn catch_up(&mut self, now: u64) {
        self.pe.skip_to(now);
    }

    /// Saves or loads what it does, where the PE has been.
    pub(crate) fn persist_state(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { pe: _, state, code: _, lines: _, sleep: Sleep { lines, until, latest, watched } } = self;
        codec.each([state, lines, until, latest, watched])
    }
}
