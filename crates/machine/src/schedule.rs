//! The serial scheduler: CPUs take turns by instruction quantum, in order of their numbers, so that the same inputs give
//! the same execution on every host.
//!
//! A round lets every CPU's time pass from `now` to `now + QUANTUM` ticks. A CPU that sleeps lets it pass without
//! instructions; where all sleep, rounds are skipped up to the next deadline.

use cpu::{CodeCache, DebuggerStop, Exit, Pe, ToolError};

/// Ticks a round. Short enough that a CPU that spins for another wastes little, long enough that turns cost little.
pub const QUANTUM: u64 = 10_000;

/// What a CPU is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuState {
    /// Not started, or switched off by PSCI.
    Off,
    /// Executing.
    Running,
    /// In WFI.
    Sleeping,
}

snapshot::persist_names!(CpuState { Off = 0, Running = 1, Sleeping = 2 });

/// One CPU on the board.
pub struct Cpu {
    /// The processing element.
    pub pe: Pe,
    /// What it does.
    pub state: CpuState,
    /// Which code cache it uses.
    pub code: usize,
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
    /// When this CPU next does something by itself, in ticks: at once where it runs, at a timer's deadline where it
    /// sleeps, never where it is off.
    #[must_use]
    pub fn next_event(&mut self) -> Option<u64> {
        // A deadline that is this very tick has not raised its interrupt yet.
        self.pe.update_timers();
        match self.state {
            CpuState::Off => None,
            CpuState::Running => Some(self.pe.ticks()),
            CpuState::Sleeping if self.pe.has_pending_interrupt() => Some(self.pe.ticks()),
            CpuState::Sleeping => self.pe.timer_deadline(),
        }
    }

    /// Lets this CPU's time pass to `end`, executing at most `steps` (instructions and exceptions); comes back earlier with
    /// a request.
    pub fn turn(&mut self, code: &mut CodeCache, end: u64, steps: u64, company: Company) -> Option<Request> {
        let last = self.pe.steps().saturating_add(steps);
        while self.pe.ticks() < end {
            if self.state == CpuState::Off {
                self.pe.skip_to(end);
                return None;
            }
            if self.state == CpuState::Sleeping && !self.wake(end) {
                return None;
            }
            // An instruction that causes an exception is two steps.
            let left = last.saturating_sub(self.pe.steps());
            if left == 0 {
                return None;
            }
            let deadline = self.pe.timer_deadline().unwrap_or(u64::MAX).min(end);
            let overflow = self.pe.pmu_deadline().unwrap_or(u64::MAX);
            match self.pe.run(code, deadline.min(overflow).min(self.pe.ticks().saturating_add(left))) {
                Exit::WaitForInterrupt => self.state = CpuState::Sleeping,
                // WFE may end at any time (DDI 0487 D1.6): here at the end of the turn, or at the CPU's own deadline.
                Exit::WaitForEvent => {
                    self.pe.skip_to(deadline);
                    self.pe.tell_waking();
                }
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

    /// Wakes a sleeping CPU if an interrupt is pending, now or at a deadline before `end`; else its time passes to `end`.
    fn wake(&mut self, end: u64) -> bool {
        loop {
            self.pe.update_timers();
            if self.pe.has_pending_interrupt() || self.pe.wait_is_over() {
                self.state = CpuState::Running;
                self.pe.tell_waking();
                return true;
            }
            // A deadline of a timer that the GIC does not forward wakes nobody: look for the next one.
            match self.pe.timer_deadline() {
                Some(deadline) if deadline < end => self.pe.skip_to(deadline),
                _ => {
                    self.pe.skip_to(end);
                    return false;
                }
            }
        }
    }
}
