//! wait4 and waitid.

use alloc::sync::Arc;
use core::sync::atomic::Ordering;

use super::{ExitStatus, Process, ProcessState, exit};
use crate::errno::{Errno, Result};
use crate::sched::CURRENT;
use crate::sched::wait::Ended;

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

/// Whether a child that ended stays to be asked about (WNOWAIT).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reap {
    /// It goes.
    Yes,
    /// It stays.
    No,
}

/// A child that ended.
#[derive(Debug)]
pub struct Ending {
    /// Its process.
    pub process: Arc<Process>,
    /// How.
    pub status: ExitStatus,
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

/// A child that ended, of those that are meant. `None`: none has yet, and there was no patience.
pub fn wait(which: Which, patience: Patience, reap: Reap) -> Result<Option<Ending>> {
    let parent = Arc::clone(&CURRENT.get().process);
    let look = || -> Option<Result<Ending>> {
        let mut any = false;
        let children = parent.children.lock();
        for child in children.iter().filter(|child| which.is(child)) {
            any = true;
            if let ProcessState::Zombie(status) = *child.state.lock() {
                return Some(Ok(Ending { process: Arc::clone(child), status }));
            }
        }
        (!any).then_some(Err(Errno::ECHILD))
    };
    let found = match patience {
        Patience::None => look(),
        Patience::Wait => match parent.child_changed.wait(look) {
            Ok(found) => Some(found),
            Err(Ended::BySignal | Ended::ByTime) => return Err(Errno::ERESTARTSYS),
        },
    };
    match found {
        None => Ok(None),
        Some(Err(error)) => Err(error),
        Some(Ok(ending)) => {
            if reap == Reap::Yes {
                exit::forget(&parent, &ending.process);
            }
            Ok(Some(ending))
        }
    }
}
