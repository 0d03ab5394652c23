//! The run loop: rounds of turns, the firmware's calls, limits, time.

mod parallel;

use std::hash::Hasher;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use arch::{Pa, Va};
use cpu::{Broadcast, Debugger, DebuggerStop, Turn, Watched};
use event::Sink;
use xxhash_rust::xxh3::Xxh3;

use crate::board::Board;
use crate::map::FREQUENCY;
use crate::outcome::{Limit, Outcome, Stuck};
use crate::power::PowerButton;
use crate::psci;
use crate::sampler::{Listener, Sampler};
use crate::schedule::{Company, CpuState, QUANTUM, Request};

/// How the guest's clock relates to the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Not at all: one instruction is one tick, and time in which all sleep is skipped. Deterministic.
    Instructions,
    /// The same, but time in which all sleep passes on the host as well: for a user at the console.
    PacedSleep,
    /// The guest's clock follows the host's.
    Wall,
}

/// How CPUs share the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// They take turns on one thread, in a fixed order. Deterministic.
    #[default]
    Serial,
    /// Each has a thread of its own. Not deterministic; the clock is the host's.
    Parallel,
}

/// What bounds a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Instructions and exceptions, on all CPUs together.
    pub steps: Option<u64>,
    /// At the end of the round in which this many instructions and exceptions are reached, the run pauses: where all CPUs
    /// are between two turns, which every other run comes by as well.
    pub pause: Option<u64>,
    /// The host's time.
    pub timeout: Option<Duration>,
}

/// A board that runs.
pub struct Machine {
    board: Board,
    /// Where the boot CPU started.
    entry: Pa,
    pace: Pace,
    limits: Limits,
    /// The time of the present round's start, in ticks.
    now: u64,
    /// What CPUs have seen of the system counter at most. No later than the next round's start: a CPU sees what its own time
    /// is before a turn's end.
    seen: u64,
    /// [`Machine::steps_done`], while it runs.
    steps: u64,
    /// How many CPUs ran when the present round began.
    running: usize,
    /// That of the CPU whose turn it is.
    company: Company,
    psci: psci::Firmware,
    quit: Arc<AtomicBool>,
    button: PowerButton,
    started: Instant,
    /// The time at which `started` was, in ticks.
    origin: u64,
    /// In the middle of a round: whose turn it is.
    turn_of: Option<usize>,
    debugger: Debugger,
    sampler: Option<Sampler>,
    threads: Threads,
}

/// How far a run went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advance {
    /// To the end of a round.
    Round,
    /// To where a debugger wants to look.
    Halted(Halt),
    /// To its end.
    Ended(Outcome),
}

/// Where a run stopped for a debugger, in the middle of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// Before the instruction at a breakpoint.
    Breakpoint {
        /// The CPU.
        cpu: usize,
    },
    /// Before an access to what is watched.
    Watchpoint {
        /// The CPU.
        cpu: usize,
        /// The first watched address of the access.
        va: Va,
        /// What the watchpoint stops at.
        watched: Watched,
    },
    /// After a step.
    Step {
        /// The CPU.
        cpu: usize,
    },
}

/// How much of a CPU's turn is run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// All that is left of it.
    Turn,
    /// An instruction or an exception.
    Step,
}

/// One CPU's share of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSummary {
    /// Instructions retired.
    pub insns: u64,
    /// Of these, at each exception level.
    pub insns_by_el: [u64; 4],
    /// The CPU's time.
    pub ticks: u64,
    /// Of that, asleep or off.
    pub idle_ticks: u64,
}

impl Machine {
    /// A machine of `board`, whose boot CPU starts at `entry` with `x0` (the device tree's address).
    #[must_use]
    pub fn new(mut board: Board, entry: Pa, x0: u64, pace: Pace, limits: Limits, psci: psci::Firmware) -> Self {
        let boot = &mut board.cpus[0];
        boot.pe.start(Va(entry.0), x0);
        boot.state = CpuState::Running;
        Self {
            board,
            entry,
            pace,
            limits,
            now: 0,
            seen: 0,
            steps: 0,
            running: 0,
            company: Company::Alone,
            psci,
            quit: Arc::default(),
            button: PowerButton::default(),
            started: Instant::now(),
            origin: 0,
            turn_of: None,
            debugger: Debugger::default(),
            sampler: None,
            threads: Threads::Serial,
        }
    }

    /// How CPUs share the host in [`Machine::run`]. Debuggers, samplers and snapshots need [`Threads::Serial`].
    pub fn set_threads(&mut self, threads: Threads) {
        self.threads = threads;
    }

    /// Setting this flag ends the run at the next round.
    #[must_use]
    pub fn quit_flag(&self) -> Arc<AtomicBool> {
        self.quit.clone()
    }
    pub(crate) fn board_mut(&mut self) -> &mut Board {
        &mut self.board
    }
    /// What a snapshot holds of the machine itself: entry, time, firmware, and the CPUs, of which it has who runs.
    pub(crate) fn own_state(&mut self) -> (&mut Pa, &mut u64, &mut psci::Firmware, &mut [crate::schedule::Cpu]) {
        // The quantum, the pace, limits, who presses the power button and the host's clock are the run's. What was seen of the
        // counter is in the past.
        let Self {
            board,
            entry,
            pace: _,
            limits: _,
            now,
            seen: _,
            steps: _,
            running: _,
            company: _,
            psci,
            quit: _,
            button: _,
            started: _,
            origin: _,
            turn_of: _,
            debugger: _,
            sampler: _,
            threads: _,
        } = self;
        (entry, now, psci, &mut board.cpus)
    }
    /// The power button.
    pub fn power_button(&mut self) -> &mut PowerButton {
        &mut self.button
    }
    /// The board.
    #[must_use]
    pub fn board(&self) -> &Board {
        &self.board
    }
    /// Where the boot CPU started.
    #[must_use]
    pub fn entry(&self) -> Pa {
        self.entry
    }
    /// Sends the events of CPU `cpu` to `sink`.
    pub fn set_sink(&mut self, cpu: usize, sink: Box<dyn Sink>) {
        if let Some(cpu) = self.board.cpus.get_mut(cpu) {
            cpu.pe.set_sink(Some(sink));
        }
    }

    /// From here on `listener` hears of each CPU's instructions, `every` at a time, and of the rest with
    /// [`Self::finish_samples`].
    pub fn set_sampler(&mut self, every: NonZeroU64, listener: Listener) {
        self.sampler = Some(Sampler::new(every, listener));
    }
    /// Tells the listener of the instructions that it has not heard of.
    pub fn finish_samples(&mut self) {
        if let Some(sampler) = &mut self.sampler {
            self.board.cpus.iter().for_each(|cpu| sampler.finish(&cpu.pe));
        }
    }

    /// What each CPU did.
    #[must_use]
    pub fn summary(&self) -> Vec<CpuSummary> {
        let of = |c: &crate::schedule::Cpu| CpuSummary {
            insns: c.pe.instructions(),
            insns_by_el: c.pe.instructions_by_el(),
            ticks: c.pe.ticks(),
            idle_ticks: c.pe.idle_ticks(),
        };
        self.board.cpus.iter().map(of).collect()
    }

    /// A hash over the whole guest-visible state.
    #[must_use]
    pub fn state_hash(&self) -> u64 {
        let mut state = Xxh3::new();
        self.board.bus.hash(&mut state);
        for cpu in &self.board.cpus {
            cpu.pe.hash_state(&mut state);
            state.write_u8(cpu.state as u8);
        }
        state.finish()
    }

    /// Runs until the guest ends, a limit is reached or nothing can happen.
    pub fn run(&mut self) -> Outcome {
        self.begin();
        if self.threads == Threads::Parallel {
            return self.run_parallel();
        }
        loop {
            if let Advance::Ended(outcome) = self.advance(None) {
                return outcome;
            }
        }
    }

    /// From here on the host's time counts.
    pub fn begin(&mut self) {
        self.started = Instant::now();
        self.origin = self.now;
        self.steps = self.steps_done();
    }

    /// Runs on to the end of the round, or until a debugger's breakpoint or watchpoint, or until CPU `step` has executed an
    /// instruction or taken an exception. The CPUs' turns are the same however the run is cut.
    pub fn advance(&mut self, step: Option<usize>) -> Advance {
        let limit = if self.turn_of.is_none() { self.check_limits() } else { None };
        let advance = limit.map_or_else(|| self.round(step), Advance::Ended);
        if advance != Advance::Round {
            for cpu in &mut self.board.cpus {
                cpu.catch_up(self.now);
            }
        }
        advance
    }

    /// Leaves the place at which a debugger stopped CPU `cpu`, by one step that stops at nothing. Gives what came of it.
    pub fn step_off(&mut self, cpu: usize) -> Advance {
        let debugger = self.debugger.clone();
        self.set_debugger(Debugger::default());
        let advance = self.advance(Some(cpu));
        self.set_debugger(debugger);
        advance
    }

    /// Has all CPUs stop where `debugger` says.
    pub fn set_debugger(&mut self, debugger: Debugger) {
        if debugger != self.debugger {
            for cpu in &mut self.board.cpus {
                cpu.pe.set_debugger(Some(debugger.clone()).filter(|debugger| *debugger != Debugger::default()));
            }
            self.debugger = debugger;
        }
    }
    /// A CPU, for a debugger that changes its registers.
    pub fn pe_mut(&mut self, cpu: usize) -> Option<&mut cpu::Pe> {
        self.board.cpus.get_mut(cpu).map(|cpu| &mut *cpu.pe)
    }
    /// The time is that at the beginning of a round: the state can be saved.
    #[must_use]
    pub fn is_between_rounds(&self) -> bool {
        self.turn_of.is_none()
    }

    fn look_at_button(&mut self, now: u64) {
        if self.button.is_due(self.steps, now) {
            self.board.press_power_button(now);
        }
    }

    fn check_limits(&self) -> Option<Outcome> {
        if self.quit.load(Ordering::Relaxed) {
            return Some(Outcome::Quit);
        }
        if let Some(steps) = self.limits.steps
            && self.steps_left() == 0
        {
            return Some(Outcome::Limit(Limit::Instructions(steps)));
        }
        if self.limits.pause.is_some_and(|pause| self.steps >= pause) {
            return Some(Outcome::Paused);
        }
        self.out_of_time()
    }

    /// How the run ends if its time on the host is over.
    #[must_use]
    pub fn out_of_time(&self) -> Option<Outcome> {
        let timeout = self.limits.timeout.filter(|t| self.started.elapsed() >= *t)?;
        Some(Outcome::Limit(Limit::Seconds(timeout.as_secs())))
    }

    /// Instructions and exceptions so far, on all CPUs together.
    #[must_use]
    pub fn steps_done(&self) -> u64 {
        self.board.cpus.iter().map(|c| c.pe.steps()).sum()
    }

    fn steps_left(&self) -> u64 {
        self.limits.steps.map_or(u64::MAX, |limit| limit.saturating_sub(self.steps))
    }

    /// Lets all CPUs' time pass by one quantum, after skipping time in which all sleep.
    fn round(&mut self, step: Option<usize>) -> Advance {
        let device_time;
        let first = if let Some(first) = self.turn_of {
            device_time = nanoseconds(self.now);
            first
        } else {
            if let Err(stuck) = self.skip_sleep() {
                return Advance::Ended(Outcome::Stuck(stuck));
            }
            self.pace_round();
            device_time = nanoseconds(self.now);
            self.look_at_button(device_time);
            self.board.tick_devices(device_time);
            self.running = self.board.cpus.iter().filter(|c| c.state == CpuState::Running).count();
            0
        };
        let end = self.now + QUANTUM;
        for index in first..self.board.cpus.len() {
            let resumes = self.turn_of.replace(index) == Some(index);
            if !resumes {
                let cpu = &self.board.cpus[index];
                if cpu.sleeps_on(self.board.bus.ram(), end) {
                    continue;
                }
                self.choose_company(index);
            }
            let reach = if step == Some(index) { Reach::Step } else { Reach::Turn };
            loop {
                let before = self.board.cpus[index].pe.steps();
                let request = self.turn(index, device_time, end, reach);
                let stepped = reach == Reach::Step && self.board.cpus[index].pe.steps() != before;
                match request {
                    Some(Request::Debugger(DebuggerStop::Breakpoint)) => {
                        return Advance::Halted(Halt::Breakpoint { cpu: index });
                    }
                    Some(Request::Debugger(DebuggerStop::Watchpoint { va, watched })) => {
                        return Advance::Halted(Halt::Watchpoint { cpu: index, va, watched });
                    }
                    Some(request) => {
                        if let Some(outcome) = self.serve(index, request) {
                            return Advance::Ended(outcome);
                        }
                    }
                    None if stepped => {}
                    None => break,
                }
                if stepped {
                    return Advance::Halted(Halt::Step { cpu: index });
                }
            }
        }
        self.turn_of = None;
        self.now = end;
        Advance::Round
    }

    /// Is there somebody whom CPU `index` may give way to in its turn? Who wakes within the round is no company yet.
    fn choose_company(&mut self, index: usize) {
        let own = usize::from(self.board.cpus[index].state == CpuState::Running);
        self.company = if self.running > own { Company::Shared } else { Company::Alone };
    }

    /// One CPU's turn, or the rest of it; then the others hear what it did.
    fn turn(&mut self, index: usize, device_time: u64, end: u64, reach: Reach) -> Option<Request> {
        let steps = self.steps_left();
        let turn = Turn { begin: self.now, device_time, seen: self.seen };
        let cpu = &mut self.board.cpus[index];
        let before = cpu.pe.steps();
        let steps = if reach == Reach::Step { steps.min(1) } else { steps };
        let code = &mut self.board.code[cpu.code];
        let request = match &mut self.sampler {
            None => cpu.turn(code, turn, end, steps, self.company),
            Some(sampler) => sampler.turn(cpu, code, turn, end, steps, self.company),
        };
        let done = cpu.pe.steps() - before;
        self.steps += done;
        self.seen = cpu.pe.seen();
        let stepped = reach == Reach::Step && request.is_none() && done != 0;
        if stepped || matches!(request, Some(Request::Debugger(_))) {
            // For the guest the turn is not over.
            return request;
        }
        if cpu.pe.has_broadcasts() {
            for broadcast in cpu.pe.take_broadcasts() {
                self.deliver(index, broadcast);
            }
        }
        if self.board.cpus.len() > 1 {
            self.board.cpus[index].pe.clear_monitor();
        }
        request
    }

    /// All CPUs but number `from` hear of `broadcast`.
    fn deliver(&mut self, from: usize, broadcast: Broadcast) {
        for (_, other) in self.board.cpus.iter_mut().enumerate().filter(|(index, _)| *index != from) {
            other.pe.receive(broadcast);
            if matches!(broadcast, Broadcast::Event) {
                other.hear_event();
            }
        }
    }

    /// Where no CPU executes: time passes at once to what comes next.
    fn skip_sleep(&mut self) -> Result<(), Stuck> {
        if self.board.cpus.iter().any(|c| c.state == CpuState::Running) {
            return Ok(());
        }
        if self.board.cpus.iter().all(|c| c.state == CpuState::Off) {
            return Err(Stuck::Off);
        }
        let devices = self.board.device_deadline().into_iter().chain(self.button.deadline());
        let device = devices.min().map(|ns| ticks(ns).max(self.now));
        let ram = self.board.bus.ram();
        let next = self.board.cpus.iter().filter_map(|cpu| cpu.next_event(ram)).chain(device).min();
        match (next, self.pace) {
            // So many instructions will not come.
            (None, _) if self.button.is_armed() => self.button.press(),
            (Some(next), Pace::Instructions) => self.skip_to(next),
            (Some(next), _) => {
                let wait = Duration::from_nanos(nanoseconds(next.saturating_sub(self.now)));
                let slept = self.board.input.wait(self.board.nap(wait));
                self.skip_to(next.min(self.now + ticks(slept.as_nanos() as u64)));
            }
            (None, Pace::Instructions) => return Err(Stuck::Asleep),
            // Someone may type.
            (None, _) => {
                let slept = self.board.input.wait(self.board.nap(Duration::from_millis(100)));
                self.skip_to(self.now + ticks(slept.as_nanos() as u64));
            }
        }
        Ok(())
    }

    /// Starts the next round at the quantum that holds `next`.
    fn skip_to(&mut self, next: u64) {
        self.now = self.now.max(next / QUANTUM * QUANTUM);
    }

    /// With wall-clock time: a guest that is ahead waits, one that is behind has its clock put forward.
    fn pace_round(&mut self) {
        if self.pace != Pace::Wall {
            return;
        }
        let host = self.origin + ticks(self.started.elapsed().as_nanos() as u64);
        if host > self.now {
            self.now = host;
        } else if self.now - host > ticks(1_000_000) {
            std::thread::sleep(Duration::from_nanos(nanoseconds(self.now - host)));
        }
    }
}

fn nanoseconds(ticks: u64) -> u64 {
    (u128::from(ticks) * 1_000_000_000 / u128::from(FREQUENCY)) as u64
}

fn ticks(nanoseconds: u64) -> u64 {
    (u128::from(nanoseconds) * u128::from(FREQUENCY) / 1_000_000_000) as u64
}

/// What the firmware sees of the CPUs.
struct View<'a>(&'a Board);

impl psci::Cpus for View<'_> {
    fn count(&self) -> usize {
        self.0.cpus.len()
    }
    fn affinity(&self, index: usize) -> u64 {
        self.0.affinity(index)
    }
    fn power(&self, index: usize) -> psci::Power {
        match self.0.cpus[index].state {
            CpuState::Off => psci::Power::Off,
            CpuState::Running | CpuState::Sleeping | CpuState::Waiting => psci::Power::On,
        }
    }
    fn is_ram(&self, pa: u64) -> bool {
        matches!(self.0.bus.target(Pa(pa)), bus::Target::Ram(_))
    }
}

impl Machine {
    /// Serves CPU `index`; gives how the run ends, if it does.
    fn serve(&mut self, index: usize, request: Request) -> Option<Outcome> {
        match request {
            Request::Firmware => self.call_firmware(index),
            Request::Semihosting => semihosting_exit(&mut self.board.cpus[index].pe),
            Request::Debugger(_) => None,
            Request::Tool(error) => Some(Outcome::Tool { cpu: index, error }),
        }
    }

    fn call_firmware(&mut self, index: usize) -> Option<Outcome> {
        let args = [0, 1, 2, 3].map(|n| self.board.cpus[index].pe.x_register(n));
        let answer = self.psci.call(&View(&self.board), args);
        let caller = &mut self.board.cpus[index];
        let now = caller.pe.ticks();
        caller.take_answer(&answer);
        match answer {
            psci::Outcome::PowerOff => return Some(Outcome::PoweredOff),
            psci::Outcome::Reset => return Some(Outcome::Reset),
            psci::Outcome::CpuOn { cpu, entry, context } => self.start(cpu, entry, context, now),
            // The caller's alone.
            psci::Outcome::Return(_)
            | psci::Outcome::CpuOff
            | psci::Outcome::Standby
            | psci::Outcome::Suspend { .. } => {}
        }
        None
    }

    /// Switches CPU `index` on.
    fn start(&mut self, index: usize, entry: u64, x0: u64, now: u64) {
        self.board.gic.reset_interface(index);
        let cpu = &mut self.board.cpus[index];
        cpu.pe.skip_to(now);
        cpu.pe.start(Va(entry), x0);
        cpu.state = CpuState::Running;
    }
}

/// The one call that is served: SYS_EXIT (0x18) and SYS_EXIT_EXTENDED (0x20) of the Arm semihosting specification.
/// Others return -1 in X0.
fn semihosting_exit(pe: &mut cpu::Pe) -> Option<Outcome> {
    const EXIT: u32 = 0x18;
    const EXIT_EXTENDED: u32 = 0x20;
    /// ADP_Stopped_ApplicationExit
    const APPLICATION_EXIT: u64 = 0x2_0026;
    let (operation, block) = (pe.x_register(0) as u32, Va(pe.x_register(1)));
    if operation != EXIT && operation != EXIT_EXTENDED {
        pe.set_x_register(0, u64::MAX);
        return None;
    }
    let word = |pe: &mut cpu::Pe, n: u64| pe.peek(block.add(8 * n));
    let code = match (word(pe, 0), word(pe, 1)) {
        (Some(APPLICATION_EXIT), Some(code)) => code as u32,
        // Any other reason is an abnormal end.
        _ => 1,
    };
    Some(Outcome::Exit(code))
}
