//! wait4 and waitid.

use alloc::sync::Arc;
use core::sync::atomic::Ordering;

use super::{Process, ProcessState, StateChange, exit};
use crate::errno::{Errno, Result};
use crate::sched::CURRENT;
use crate::sched::wait::Ended;
use crate::signal::SIGCHLD;

/// Which children are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// Any.
    Any,
    /// The one of this number.
    Pid(i32),
    /// Those of this process group.
    Group(i32),
}

/// Whether to sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Patience {
    /// Until there is something to tell.
    Wait,
    /// WNOHANG
    None,
}

/// Whether what was told can be told again (WNOWAIT).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reap {
    /// It is done with.
    Yes,
    /// It stays.
    No,
}

/// What is asked for: W* (include/uapi/linux/wait.h).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options(pub u32);

impl Options {
    /// WNOHANG
    pub const NOHANG: u32 = 1;
    /// WUNTRACED, WSTOPPED
    pub const STOPPED: u32 = 2;
    /// WEXITED
    pub const EXITED: u32 = 4;
    /// WCONTINUED
    pub const CONTINUED: u32 = 8;
    /// WNOWAIT
    pub const NOWAIT: u32 = 0x0100_0000;
    /// __WNOTHREAD: all threads of a process have the same children here.
    pub const NOTHREAD: u32 = 0x2000_0000;
    /// __WALL
    pub const ALL: u32 = 0x4000_0000;
    /// __WCLONE
    pub const CLONE: u32 = 0x8000_0000;

    const fn has(self, option: u32) -> bool {
        self.0 & option != 0
    }

    /// Are children that tell their end by this signal meant?
    const fn is_for(self, exit_signal: i32) -> bool {
        self.has(Self::ALL) || self.has(Self::CLONE) != (exit_signal == SIGCHLD as i32)
    }

    /// Is this change asked for?
    const fn wants(self, change: StateChange) -> bool {
        match change {
            StateChange::Ended(_) => self.has(Self::EXITED),
            StateChange::Stopped(_) => self.has(Self::STOPPED),
            StateChange::Continued => self.has(Self::CONTINUED),
        }
    }
}

/// A child that changed.
#[derive(Debug)]
pub struct Found {
    /// Its process.
    pub process: Arc<Process>,
    /// How.
    pub change: StateChange,
}

impl Which {
    fn is(self, child: &Process) -> bool {
        match self {
            Self::Any => true,
            Self::Pid(pid) => child.pid == pid,
            Self::Group(group) => child.group.load(Ordering::Relaxed) == group,
        }
    }
}

/// A child that changed, of those that are meant. `None`: none has yet, and there was no patience.
pub fn wait(which: Which, options: Options) -> Result<Option<Found>> {
    let patience = if options.has(Options::NOHANG) { Patience::None } else { Patience::Wait };
    let reap = if options.has(Options::NOWAIT) { Reap::No } else { Reap::Yes };
    let parent = Arc::clone(&CURRENT.get().process);
    let look = || look(&parent, which, options, reap);
    loop {
        let found = match patience {
            Patience::None => look(),
            Patience::Wait => match parent.child_changed.wait(look) {
                Ok(found) => Some(found),
                Err(Ended::BySignal | Ended::ByTime) => return Err(Errno::ERESTARTSYS),
            },
        };
        let found = found.transpose()?;
        if let (Some(Found { process, change: StateChange::Ended(_) }), Reap::Yes) = (&found, reap) {
            // Another thread may have been told of the same.
            if !exit::forget(&parent, process) {
                continue;
            }
        }
        return Ok(found);
    }
}

fn look(parent: &Process, which: Which, options: Options, reap: Reap) -> Option<Result<Found>> {
    let mut any = false;
    let children = parent.children.lock();
    let is_meant = |child: &Process| which.is(child) && options.is_for(child.exit_signal.load(Ordering::Relaxed));
    for child in children.iter().filter(|child| is_meant(child)) {
        let change = match *child.state.lock() {
            ProcessState::Zombie(status) => Some(StateChange::Ended(status)),
            _ => None,
        };
        // One that has ended and is not asked about counts as none.
        any |= change.is_none() || options.has(Options::EXITED);
        if let Some(change) = change {
            if options.wants(change) {
                return Some(Ok(Found { process: Arc::clone(child), change }));
            }
            continue;
        }
        let mut job = child.job.lock();
        if let Some(change) = job.report().filter(|change| options.wants(*change)) {
            if reap == Reap::Yes {
                job.clear_report();
            }
            drop(job);
            return Some(Ok(Found { process: Arc::clone(child), change }));
        }
    }
    (!any).then_some(Err(Errno::ECHILD))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clone_children_are_asked_for_apart() {
        let (sigchld, none) = (i32::from(SIGCHLD), 0);
        for (options, ordinary, clone) in [(0, true, false), (Options::CLONE, false, true), (Options::ALL, true, true)]
        {
            assert_eq!((Options(options).is_for(sigchld), Options(options).is_for(none)), (ordinary, clone));
        }
    }
}
