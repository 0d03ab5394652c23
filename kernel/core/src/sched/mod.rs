//! Who runs where. Each CPU has a queue of threads that are ready; they take turns of [`SLICE`]. A thread that wakes goes
//! to a CPU that is idle, else to where it ran last; a CPU without work takes some from the longest queue.
//!
//! A thread's `state` becomes `Ready` only under the lock of the queue of its `cpu`; only the thread itself makes it
//! anything else. A thread that is in a queue and on a CPU is on that queue's CPU: so nobody waits for a thread to leave a
//! CPU that itself waits.

mod idle;
mod queue;
mod timers;
pub mod wait;

use alloc::sync::Arc;
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence};

use hal::percpu::{self, MAX_CPUS};
use hal::thread::{Current, flags};
use hal::{gic, timer};

use crate::proc::Thread;
use queue::Cpu;

pub use idle::run as idle;
pub use timers::{Alarm, TimerId, after_nanoseconds, nanoseconds_of, now_nanoseconds, ticks_of};

/// The thread that each CPU runs.
pub static CURRENT: Current<Thread> = Current::new();

static CPUS: [Cpu; MAX_CPUS] = [const { Cpu::new() }; MAX_CPUS];

/// Nanoseconds that a thread runs while others wait.
pub const SLICE: u64 = 4_000_000;

/// The software-generated interrupt that makes a CPU look at its queue and its thread's flags.
pub const SGI_KICK: u32 = 0;
/// The one that stops a CPU for ever.
pub const SGI_STOP: u32 = 2;

/// What a thread is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum State {
    /// Runs, or waits for its turn.
    Ready = 0,
    /// Sleeps; a signal wakes it.
    Interruptible = 1,
    /// Sleeps; only what it waits for wakes it.
    Uninterruptible = 2,
    /// Will not run again.
    Dead = 3,
    /// Stands, with its process, until that goes on or ends.
    Stopped = 4,
}

/// A thread's part of the scheduler.
#[derive(Debug)]
pub struct Schedule {
    state: AtomicU8,
    /// The CPU that it runs on, or ran on last, or waits at.
    cpu: AtomicU32,
    /// It is in that CPU's queue. Changed under the queue's lock.
    queued: core::sync::atomic::AtomicBool,
    /// Counter ticks that it has run.
    pub run_ticks: AtomicU64,
    /// When it was switched to.
    since: AtomicU64,
}

impl Schedule {
    /// Of a thread that does not run yet.
    pub fn new() -> Self {
        Self {
            state: AtomicU8::new(State::Uninterruptible as u8),
            cpu: AtomicU32::new(percpu::id() as u32),
            queued: core::sync::atomic::AtomicBool::new(false),
            run_ticks: AtomicU64::new(0),
            since: AtomicU64::new(0),
        }
    }

    /// What the thread is about.
    pub fn state(&self) -> State {
        match self.state.load(Ordering::Acquire) {
            0 => State::Ready,
            1 => State::Interruptible,
            2 => State::Uninterruptible,
            4 => State::Stopped,
            _ => State::Dead,
        }
    }

    /// Counter ticks that it has run: with its present turn, if it has one.
    pub fn ticks(&self, runs: bool) -> u64 {
        let since = self.since.load(Ordering::Relaxed);
        let turn = if runs { timer::now().saturating_sub(since) } else { 0 };
        self.run_ticks.load(Ordering::Relaxed) + turn
    }

    /// The CPU that it runs on or ran on last.
    pub fn cpu(&self) -> usize {
        self.cpu.load(Ordering::Relaxed) as usize
    }
}

impl Default for Schedule {
    fn default() -> Self {
        Self::new()
    }
}

/// The current thread is about to sleep: what it waits for must be looked at after this, and then [`schedule`] called or
/// [`stay_awake`].
pub fn prepare_to_sleep(state: State) {
    CURRENT.get().schedule.state.store(state as u8, Ordering::Relaxed);
    // A waker stores what is waited for, then reads the state; this thread the other way round.
    fence(Ordering::SeqCst);
}

/// What the current thread waited for is there already.
pub fn stay_awake() {
    CURRENT.get().schedule.state.store(State::Ready as u8, Ordering::Relaxed);
}

/// Wakes a thread that sleeps. True if it did.
pub fn wake(thread: &Arc<Thread>) -> bool {
    wake_from(thread, &[State::Interruptible, State::Uninterruptible])
}

/// Wakes a thread that sleeps interruptibly, and makes one that runs look at its flags: there is a signal.
pub fn wake_for_signal(thread: &Arc<Thread>) {
    if !wake_from(thread, &[State::Interruptible]) && thread.context.is_on_cpu() {
        kick(thread.schedule.cpu());
    }
}

/// Wakes a thread that stands.
pub fn wake_stopped(thread: &Arc<Thread>) {
    wake_from(thread, &[State::Stopped]);
}

fn wake_from(thread: &Arc<Thread>, states: &[State]) -> bool {
    fence(Ordering::SeqCst);
    if !states.contains(&thread.schedule.state()) {
        return false;
    }
    loop {
        let cpu = thread.schedule.cpu();
        let mut queue = CPUS[cpu].queue.lock();
        if thread.schedule.cpu() != cpu {
            continue;
        }
        let state = thread.schedule.state();
        // Not a mere store: the thread may have found what it waits for, stayed awake and come to its end meanwhile.
        let is_asleep = states.contains(&state)
            && thread
                .schedule
                .state
                .compare_exchange(state as u8, State::Ready as u8, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok();
        if !is_asleep {
            return false;
        }
        if thread.schedule.queued.load(Ordering::Relaxed) {
            return true;
        }
        // One that is still on its way off its CPU stays there.
        let target = if thread.context.is_on_cpu() { cpu } else { idle::claim(cpu) };
        if target == cpu {
            queue.push(Arc::clone(thread));
            drop(queue);
        } else {
            thread.schedule.cpu.store(target as u32, Ordering::Relaxed);
            drop(queue);
            CPUS[target].queue.lock().push(Arc::clone(thread));
        }
        nudge(target);
        return true;
    }
}

/// A new thread becomes ready for the first time.
pub fn start(thread: &Arc<Thread>) {
    wake(thread);
}

/// Makes CPU `cpu` notice that its queue has grown.
fn nudge(cpu: usize) {
    if cpu == percpu::id() {
        CPUS[cpu].arm_slice();
    } else if !CPUS[cpu].is_slice_armed() {
        kick(cpu);
    }
}

/// Interrupts a CPU, so that it looks at its queue and at its thread's flags.
pub fn kick(cpu: usize) {
    if cpu == percpu::id() {
        return;
    }
    gic::send(SGI_KICK, cpu);
}

/// Lets another thread run, if one is ready, until this one's turn comes again; for ever, if it is dead.
pub fn schedule() {
    let cpu = percpu::id();
    let me = &CPUS[cpu];
    let current = CURRENT.get();
    let mut queue = me.queue.lock();
    current.context.clear_flags(flags::RESCHEDULE);
    let is_ready = current.schedule.state() == State::Ready;
    if is_ready && !current.is_idle() && !current.schedule.queued.load(Ordering::Relaxed) {
        queue.push(CURRENT.share());
    }
    let mut next = queue.pop();
    if next.is_none() && !current.is_idle() {
        drop(queue);
        // Not from the idle loop: that has looked already.
        next = idle::steal(cpu);
        queue = me.queue.lock();
        if next.is_none() {
            next = queue.pop();
        }
    }
    let next = match next {
        Some(next) => next,
        None if current.is_idle() => return,
        None => Arc::clone(me.idle.get().expect("each CPU has its idle thread")),
    };
    next.schedule.cpu.store(cpu as u32, Ordering::Relaxed);
    let others_wait = !queue.is_empty();
    drop(queue);
    if others_wait {
        me.arm_slice();
    } else {
        me.disarm_slice();
    }
    if core::ptr::eq(&raw const *next, &raw const *current) {
        return;
    }
    let now = timer::now();
    let since = current.schedule.since.load(Ordering::Relaxed);
    current.schedule.run_ticks.fetch_add(now.wrapping_sub(since), Ordering::Relaxed);
    next.schedule.since.store(now, Ordering::Relaxed);
    me.switches.fetch_add(1, Ordering::Relaxed);
    crate::mte::switch(&current, &next);
    crate::pauth::switch(&next);
    // Before the translation table: the switch's one ISB is behind both.
    crate::contextidr::switch(next.tid);
    next.activate_memory(&current);
    drop(CURRENT.switch_to(next));
}

/// Where a new thread's life begins: on its own stack, right after the switch. Returns to EL0.
pub fn begin() {
    drop(CURRENT.switched());
    let start = CURRENT.get().take_start();
    if let Some(start) = start {
        start();
    }
}

/// The current thread's turn is over if others wait.
pub fn yield_now() {
    if !CPUS[percpu::id()].queue.lock().is_empty() {
        schedule();
    }
}

/// In the midst of long work, without any spin lock: serves interrupts, and lets others run.
pub fn breathe() {
    hal::cpu::window();
    if CURRENT.get().context.flags() & flags::RESCHEDULE != 0 {
        schedule();
    }
}

/// Gives CPU `cpu` its idle thread, with which it begins.
pub fn set_idle(cpu: usize, thread: Arc<Thread>) {
    thread.schedule.state.store(State::Ready as u8, Ordering::Relaxed);
    thread.schedule.cpu.store(cpu as u32, Ordering::Relaxed);
    assert!(CPUS[cpu].idle.set(thread).is_ok(), "CPU {cpu} has an idle thread");
}

/// The timer's interrupt: sleepers wake, and the current thread's turn may be over.
pub fn on_timer() {
    let me = &CPUS[percpu::id()];
    me.expire();
    if me.slice_over() && !me.queue.lock().is_empty() {
        CURRENT.get().context.set_flags(flags::RESCHEDULE);
    }
}

/// The kick's interrupt.
pub fn on_kick() {
    let me = &CPUS[percpu::id()];
    if !me.queue.lock().is_empty() {
        if CURRENT.get().is_idle() {
            return;
        }
        me.arm_slice();
    }
}

/// Stops all other CPUs; for a panic and the end.
pub fn stop_others() {
    for cpu in (0..percpu::count()).filter(|cpu| *cpu != percpu::id()) {
        gic::send(SGI_STOP, cpu);
    }
}

/// Thread switches of all CPUs so far.
pub fn switches() -> u64 {
    CPUS.iter().map(|cpu| cpu.switches.load(Ordering::Relaxed)).sum()
}

/// Threads that are ready or run, idle ones aside.
pub fn ready_count() -> usize {
    let queued: usize = CPUS[..percpu::count()].iter().map(|cpu| cpu.queue.lock().len()).sum();
    queued + percpu::count() - idle::count()
}
