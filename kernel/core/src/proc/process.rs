//! A process: threads that share a number, signals, and an end.

use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};

use hal::sync::SpinLock;

use super::Thread;
use super::job::Job;
use crate::sched::wait::WaitQueue;
use crate::signal::{Handlers, Pending};
use crate::timer::ProcessTimers;

/// How a process ended, as wait4 gives it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExitStatus {
    /// exit(2) with this code.
    Code(u8),
    /// By this signal.
    Signal(u8),
}

impl ExitStatus {
    /// The word of wait4.
    pub const fn wait_status(self) -> i32 {
        match self {
            Self::Code(code) => (code as i32) << 8,
            Self::Signal(signal) => signal as i32,
        }
    }
    /// As a shell gives it.
    pub const fn shell_status(self) -> u8 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
        }
    }
}

/// Where a process is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProcessState {
    /// It runs.
    Alive,
    /// Its threads are told to end.
    Ending(ExitStatus),
    /// It has ended, and its parent has not asked yet.
    Zombie(ExitStatus),
}

/// Resource limits: (soft, hard) for each of prlimit64's numbers.
pub type Limits = [(u64, u64); 16];

const INFINITY: u64 = u64::MAX;
const DEFAULT_LIMITS: Limits = {
    let mut limits = [(INFINITY, INFINITY); 16];
    limits[3] = (8 << 20, INFINITY); // STACK
    limits[4] = (0, INFINITY); // CORE
    limits[7] = (1024, 1 << 20); // NOFILE
    limits[13] = (0, 0); // NICE
    limits[14] = (0, 0); // RTPRIO
    limits
};

/// Of the first process, and so of all: as many signals may wait as Linux allows with this memory, half of the threads
/// that an eighth of it has stacks for.
fn first_limits() -> Limits {
    const STACK_PAGES: u64 = 4;
    let mut limits = DEFAULT_LIMITS;
    let signals = hal::mem::total_count() as u64 / (8 * STACK_PAGES) / 2;
    limits[11] = (signals, signals); // SIGPENDING
    limits
}

/// A process.
#[derive(Debug)]
pub struct Process {
    /// Its number (the thread group's).
    pub pid: i32,
    /// Who waits for its end.
    pub parent: SpinLock<Weak<Self>>,
    /// Whose ends it may wait for.
    pub children: SpinLock<Vec<Arc<Self>>>,
    /// Threads that have not ended.
    pub threads: SpinLock<Vec<Arc<Thread>>>,
    /// The thread whose exec ends the others; 0: none.
    exec_by: AtomicI32,
    /// Where it is in its life.
    pub state: SpinLock<ProcessState>,
    /// Woken when a child changes.
    pub child_changed: WaitQueue,
    /// Process group and session.
    pub group: AtomicI32,
    /// See `group`.
    pub session: AtomicI32,
    /// What it does about signals. exec and CLONE_SIGHAND replace the whole.
    pub handlers: SpinLock<Arc<Handlers>>,
    /// Signals for any of its threads.
    pub pending: SpinLock<Pending>,
    /// Stopping and going on.
    pub job: SpinLock<Job>,
    /// Its timers.
    pub timers: ProcessTimers,
    /// The first process: signals that it has no handler for do nothing to it (kill(2)).
    pub is_unkillable: AtomicBool,
    /// It has run another program than its parent's: the parent can move it to another group no more.
    pub has_run_exec: AtomicBool,
    /// The real user of its last thread, for those who ask about it when it has none any more.
    pub uid: AtomicU32,
    /// Resource limits.
    pub limits: SpinLock<Limits>,
    /// The signal that the parent gets at its end.
    pub exit_signal: AtomicI32,
    /// Counter ticks of ended threads and of children waited for.
    pub ended_ticks: AtomicU64,
    /// See `ended_ticks`.
    pub children_ticks: AtomicU64,
    /// Page faults of ended threads.
    pub ended_faults: AtomicU64,
    /// Counter when it began.
    pub started: u64,
}

impl Process {
    /// A process without threads, child of `parent`.
    pub fn new(pid: i32, parent: Option<&Arc<Self>>, handlers: Arc<Handlers>, exit_signal: i32) -> Self {
        let (group, session, limits) = match parent {
            Some(parent) => {
                (parent.group.load(Ordering::Relaxed), parent.session.load(Ordering::Relaxed), *parent.limits.lock())
            }
            // As Linux's first program: in the group and the session of what was before all programs.
            None => (0, 0, first_limits()),
        };
        Self {
            pid,
            parent: SpinLock::new(parent.map_or_else(Weak::new, Arc::downgrade)),
            children: SpinLock::new(Vec::new()),
            threads: SpinLock::new(Vec::new()),
            exec_by: AtomicI32::new(0),
            state: SpinLock::new(ProcessState::Alive),
            child_changed: WaitQueue::new(),
            group: AtomicI32::new(group),
            session: AtomicI32::new(session),
            handlers: SpinLock::new(handlers),
            pending: SpinLock::new(Pending::default()),
            job: SpinLock::new(Job::default()),
            timers: ProcessTimers::default(),
            is_unkillable: AtomicBool::new(parent.is_none()),
            has_run_exec: AtomicBool::new(false),
            uid: AtomicU32::new(0),
            limits: SpinLock::new(limits),
            exit_signal: AtomicI32::new(exit_signal),
            ended_ticks: AtomicU64::new(0),
            children_ticks: AtomicU64::new(0),
            ended_faults: AtomicU64::new(0),
            started: hal::timer::now(),
        }
    }

    /// The parent's number; 0 for the first process.
    pub fn parent_pid(&self) -> i32 {
        self.parent.lock().upgrade().map_or(0, |parent| parent.pid)
    }

    /// Its first thread that has not ended.
    pub fn any_thread(&self) -> Option<Arc<Thread>> {
        self.threads.lock().first().cloned()
    }

    /// Its real user.
    pub fn uid(&self) -> u32 {
        let of_thread = self.any_thread().map(|thread| thread.credentials.lock().uid[0]);
        of_thread.unwrap_or_else(|| self.uid.load(Ordering::Relaxed))
    }

    /// Counter ticks that its threads have run.
    pub fn ticks(&self) -> u64 {
        let running: u64 = self.threads.lock().iter().map(|thread| thread.ticks()).sum();
        running + self.ended_ticks.load(Ordering::Relaxed)
    }

    /// A soft limit by prlimit64's number.
    pub fn limit(&self, resource: usize) -> u64 {
        self.limits.lock().get(resource).map_or(INFINITY, |limit| limit.0)
    }

    /// Thread `tid` is about to end all others. False: the process ends, or another thread is about to.
    pub fn begin_exec(&self, tid: i32) -> bool {
        let state = self.state.lock();
        *state == ProcessState::Alive
            && self.exec_by.compare_exchange(0, tid, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// The others have ended.
    pub fn end_exec(&self) {
        self.exec_by.store(0, Ordering::Relaxed);
    }

    /// Is there an exec under way, with which no thread may begin?
    pub fn is_in_exec(&self) -> bool {
        self.exec_by.load(Ordering::Relaxed) != 0
    }

    /// Is it told to end?
    pub fn is_ending(&self) -> bool {
        *self.state.lock() != ProcessState::Alive
    }
}
