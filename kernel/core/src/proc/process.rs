//! A process: threads that share a number, signals, and an end.

use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use hal::sync::SpinLock;

use super::Thread;
use crate::sched::wait::WaitQueue;
use crate::signal::{Handlers, Pending};

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
    /// Resource limits.
    pub limits: SpinLock<Limits>,
    /// The signal that the parent gets at its end.
    pub exit_signal: AtomicI32,
    /// Counter ticks of ended threads and of children waited for.
    pub ended_ticks: AtomicU64,
    /// See `ended_ticks`.
    pub children_ticks: AtomicU64,
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
            None => (pid, pid, DEFAULT_LIMITS),
        };
        Self {
            pid,
            parent: SpinLock::new(parent.map_or_else(Weak::new, Arc::downgrade)),
            children: SpinLock::new(Vec::new()),
            threads: SpinLock::new(Vec::new()),
            state: SpinLock::new(ProcessState::Alive),
            child_changed: WaitQueue::new(),
            group: AtomicI32::new(group),
            session: AtomicI32::new(session),
            handlers: SpinLock::new(handlers),
            pending: SpinLock::new(Pending::default()),
            limits: SpinLock::new(limits),
            exit_signal: AtomicI32::new(exit_signal),
            ended_ticks: AtomicU64::new(0),
            children_ticks: AtomicU64::new(0),
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

    /// A soft limit by prlimit64's number.
    pub fn limit(&self, resource: usize) -> u64 {
        self.limits.lock().get(resource).map_or(INFINITY, |limit| limit.0)
    }

    /// Is it told to end?
    pub fn is_ending(&self) -> bool {
        *self.state.lock() != ProcessState::Alive
    }
}
