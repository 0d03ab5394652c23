//! CPUs at the same time, one thread of the host each (`--threads parallel`), and one more that looks at limits, devices and
//! the console. Each thread has a cache of decoded code of its own; what it shares with the others is in [`cpu::Peers`],
//! behind the locks of the devices and the interrupt controller, and here. The guest's clock is the host's. What happens in
//! which order is the host's choice: nothing of such a run is the same every time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arch::{Pa, Va};
use bus::{Bus, CpuLines};
use cpu::{Backoff, CodeCache, Exit, Pe, Peers};

use crate::console::ConsoleInput;
use crate::map::FREQUENCY;
use crate::outcome::{Limit, Outcome, Stuck};
use crate::psci;
use crate::run::{Machine, nanoseconds, semihosting_exit};
use crate::schedule::{Cpu, CpuState};

/// Instructions and exceptions after which a CPU looks at its timers and at the run's limits: some 50 us.
const PIECE: u64 = 5_000;
/// The shortest piece before a timer's deadline.
const SHORTEST_PIECE: u64 = 200;
/// Ticks in which an instruction is executed, more or less: so many before a deadline a piece ends.
const TICKS_EACH: u64 = 8;
/// The longest that WFE waits. It may end at any time (DDI 0487 D1.6).
const LONGEST_WAIT: Duration = Duration::from_micros(100);
/// How often devices and limits are looked at.
const TICK: Duration = Duration::from_millis(1);
/// The same where the interrupt controller has work left.
const SHORT_TICK: Duration = Duration::from_micros(20);

/// What the threads share.
struct Shared {
    peers: Arc<Peers>,
    firmware: Mutex<Firmware>,
    /// Instructions and exceptions so far.
    steps: AtomicU64,
    /// How many there may be.
    limit: Option<u64>,
    outcome: Mutex<Option<Outcome>>,
    input: ConsoleInput,
    bus: Arc<Bus>,
    gic: gic::Controller,
    lines: Vec<Arc<CpuLines>>,
    affinities: Vec<u64>,
}

/// PSCI, and which CPUs it has switched on.
struct Firmware {
    psci: psci::Firmware,
    power: Vec<Power>,
}

#[derive(Clone, Copy)]
enum Power {
    Off,
    On,
    /// To be switched on here, with this in X0.
    Pending {
        entry: u64,
        context: u64,
    },
}

/// What the firmware sees of the CPUs.
struct View<'a> {
    shared: &'a Shared,
    power: &'a [Power],
}

impl psci::Cpus for View<'_> {
    fn count(&self) -> usize {
        self.power.len()
    }
    fn affinity(&self, index: usize) -> u64 {
        self.shared.affinities[index]
    }
    fn power(&self, index: usize) -> psci::Power {
        match self.power[index] {
            Power::Off => psci::Power::Off,
            Power::On => psci::Power::On,
            Power::Pending { .. } => psci::Power::Pending,
        }
    }
    fn is_ram(&self, pa: u64) -> bool {
        matches!(self.shared.bus.target(Pa(pa)), bus::Target::Ram(_))
    }
}

/// Ends the run if its thread panics, so that no other waits for it.
struct EndsByPanic<'a>(&'a Shared);

impl Drop for EndsByPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

impl Shared {
    fn firmware(&self) -> MutexGuard<'_, Firmware> {
        self.firmware.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run ends; the first one to say how is right.
    fn end(&self, outcome: Outcome) {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(outcome);
        self.stop();
    }

    fn stop(&self) {
        self.peers.stop();
        self.input.wake();
    }

    fn steps_left(&self) -> u64 {
        self.limit.map_or(u64::MAX, |limit| limit.saturating_sub(self.steps.load(Ordering::Relaxed)))
    }

    /// One CPU's thread.
    fn run(&self, cpu: &mut Cpu) {
        let _ends = EndsByPanic(self);
        let mut code = CodeCache::new(self.bus.ram().clone(), cpu.pe.model().features);
        cpu.pe.lines().attach_thread();
        if cpu.state == CpuState::Running {
            cpu.pe.rejoin();
        }
        while !self.peers.is_stopping() {
            match cpu.state {
                CpuState::Off => self.wait_for_start(cpu),
                CpuState::Sleeping => self.sleep(cpu, None),
                CpuState::Waiting if self.sees_change(&cpu.pe) => cpu.state = CpuState::Running,
                CpuState::Waiting => self.sleep(cpu, Some(LONGEST_WAIT)),
                CpuState::Running => self.piece(cpu, &mut code),
            }
        }
        cpu.pe.retire();
    }

    /// Until PSCI switches it on.
    fn wait_for_start(&self, cpu: &mut Cpu) {
        let index = cpu.pe.index();
        let is_on = || !matches!(self.firmware().power[index], Power::Off);
        self.lines[index].park(None, || is_on() || self.peers.is_stopping());
        let Power::Pending { entry, context } = self.firmware().power[index] else { return };
        cpu.pe.rejoin();
        cpu.pe.start(Va(entry), context);
        cpu.state = CpuState::Running;
        self.firmware().power[index] = Power::On;
    }

    /// WFE behind a load-exclusive: waits a little for a store to what that marked, which is an event. Gives `false` where
    /// nothing is marked.
    fn sees_change(&self, pe: &Pe) -> bool {
        let end = Instant::now() + LONGEST_WAIT;
        let mut backoff = Backoff::default();
        loop {
            match pe.mark_changed() {
                None => return false,
                Some(true) => return true,
                Some(false) => {}
            }
            if pe.is_disturbed() || self.peers.is_stopping() || Instant::now() >= end {
                return true;
            }
            backoff.wait();
        }
    }

    /// Until something ends WFI or, at the `longest`, WFE.
    fn sleep(&self, cpu: &mut Cpu, longest: Option<Duration>) {
        let pe = &mut *cpu.pe;
        let waits = cpu.state == CpuState::Waiting;
        let lines = pe.lines().clone();
        let wanted = if waits { pe.unmasked_lines() | CpuLines::EVENT } else { pe.waking_lines() };
        pe.retire();
        let (begin, slept_from) = (Instant::now(), self.peers.count());
        loop {
            if self.peers.is_stopping() {
                return;
            }
            pe.update_timers();
            let left = longest.map(|longest| longest.saturating_sub(begin.elapsed()));
            let is_over = lines.get() & wanted != 0 || pe.wait_is_over() || left.is_some_and(|left| left.is_zero());
            if is_over || waits && pe.take_event() {
                break;
            }
            let deadline = pe.time_to_deadline().map(|ticks| Duration::from_nanos(nanoseconds(ticks)));
            let limit = deadline.into_iter().chain(left).min();
            lines.park(limit, || lines.get() & wanted != 0 || self.peers.is_stopping());
        }
        if waits {
            // It may have been what ended the sleep.
            let _ = pe.take_event();
        }
        pe.rejoin();
        pe.skip_to(pe.ticks() + (self.peers.count() - slept_from));
        pe.tell_waking();
        cpu.state = CpuState::Running;
    }

    /// Executes a little.
    fn piece(&self, cpu: &mut Cpu, code: &mut CodeCache) {
        let left = self.steps_left();
        if left == 0 {
            return self.end(Outcome::Limit(Limit::Instructions(self.limit.unwrap_or(0))));
        }
        let pe = &mut *cpu.pe;
        pe.begin_piece();
        let to_deadline = pe.time_to_deadline().map_or(PIECE, |ticks| (ticks / TICKS_EACH).max(SHORTEST_PIECE));
        let until = pe.ticks() + PIECE.min(left).min(to_deadline);
        let before = pe.steps();
        let exit = pe.run(code, until.min(pe.pmu_deadline().unwrap_or(u64::MAX)));
        pe.send_invalidations();
        self.steps.fetch_add(pe.steps() - before, Ordering::Relaxed);
        match exit {
            // There is no debugger with such a run.
            Exit::Budget | Exit::Reschedule | Exit::Debugger(_) => {}
            Exit::Yield => std::thread::yield_now(),
            Exit::WaitForInterrupt => cpu.state = CpuState::Sleeping,
            Exit::WaitForEvent => cpu.state = CpuState::Waiting,
            Exit::FirmwareCall => self.call_firmware(cpu),
            Exit::Semihosting => {
                if let Some(outcome) = semihosting_exit(pe) {
                    self.end(outcome);
                }
            }
            Exit::Tool(error) => self.end(Outcome::Tool { cpu: pe.index(), error }),
        }
    }

    fn call_firmware(&self, cpu: &mut Cpu) {
        let index = cpu.pe.index();
        let args = [0, 1, 2, 3].map(|n| cpu.pe.x_register(n));
        let mut firmware = self.firmware();
        let Firmware { psci, power } = &mut *firmware;
        let answer = psci.call(&View { shared: self, power }, args);
        cpu.take_answer(&answer);
        match answer {
            psci::Outcome::PowerOff => self.end(Outcome::PoweredOff),
            psci::Outcome::Reset => self.end(Outcome::Reset),
            psci::Outcome::CpuOff => {
                cpu.pe.retire();
                power[index] = Power::Off;
                if power.iter().all(|power| matches!(power, Power::Off)) {
                    self.end(Outcome::Stuck(Stuck::Off));
                }
            }
            psci::Outcome::CpuOn { cpu: other, entry, context } => {
                self.gic.reset_interface(other);
                power[other] = Power::Pending { entry, context };
                drop(firmware);
                self.lines[other].unpark();
            }
            // The caller's alone.
            psci::Outcome::Return(_) | psci::Outcome::Standby | psci::Outcome::Suspend { .. } => {}
        }
    }
}

impl Machine {
    /// Runs with one thread a CPU, until the guest ends or a limit is reached.
    pub(super) fn run_parallel(&mut self) -> Outcome {
        let count = self.board.cpus.len();
        let affinities = (0..count).map(|index| self.board.affinity(index)).collect();
        let mut cpus = std::mem::take(&mut self.board.cpus);
        let lines: Vec<_> = cpus.iter().map(|cpu| cpu.pe.lines().clone()).collect();
        let peers = Arc::new(Peers::new(lines.clone(), self.now, FREQUENCY));
        let power = |cpu: &Cpu| if cpu.state == CpuState::Off { Power::Off } else { Power::On };
        let shared = Shared {
            peers: peers.clone(),
            firmware: Mutex::new(Firmware { psci: self.psci.clone(), power: cpus.iter().map(power).collect() }),
            steps: AtomicU64::new(self.steps),
            limit: self.limits.steps,
            outcome: Mutex::new(None),
            input: self.board.input.clone(),
            bus: self.board.bus.clone(),
            gic: self.board.gic.clone(),
            lines,
            affinities,
        };
        self.board.bus.ram().set_shared(true);
        for cpu in &mut cpus {
            cpu.pe.set_peers(Some(peers.clone()));
        }
        std::thread::scope(|scope| {
            let _ends = EndsByPanic(&shared);
            for (index, cpu) in cpus.iter_mut().enumerate() {
                let thread = std::thread::Builder::new().name(format!("cpu{index}"));
                let shared = &shared;
                if let Err(reason) = thread.spawn_scoped(scope, move || shared.run(cpu)) {
                    shared.end(Outcome::NoThread { cpu: index, reason: reason.to_string() });
                    break;
                }
            }
            self.watch(&shared);
        });
        for cpu in &mut cpus {
            cpu.pe.set_peers(None);
        }
        self.board.bus.ram().set_shared(false);
        self.board.cpus = cpus;
        self.now = peers.count();
        self.steps = self.steps_done();
        self.psci = shared.firmware.into_inner().unwrap_or_else(PoisonError::into_inner).psci;
        let outcome = shared.outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcome.expect("whoever ends a run says how, or panics")
    }

    /// Looks at devices and limits until the run ends.
    fn watch(&mut self, shared: &Shared) {
        while !shared.peers.is_stopping() {
            if self.quit.load(Ordering::Relaxed) {
                return shared.end(Outcome::Quit);
            }
            if let Some(outcome) = self.out_of_time() {
                return shared.end(outcome);
            }
            self.steps = shared.steps.load(Ordering::Relaxed);
            let now = shared.peers.nanoseconds();
            self.look_at_button(now);
            self.board.tick_devices(now);
            let is_due = self.board.device_deadline().is_some_and(|at| at <= now);
            self.board.input.wait(self.board.nap(if is_due { SHORT_TICK } else { TICK }));
        }
    }
}
