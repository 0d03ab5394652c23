//! signalfd: signals read from a file.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::{SigSet, pending, take};
use crate::errno::{Errno, Result};
use crate::sched::wait::WaitQueue;
use crate::vfs::{File, FileOps, Poll, Sink};

/// struct signalfd_siginfo
const ENTRY: usize = super::info::SIZE;

/// Woken with every signal that is sent, as long as there are such files.
static CHANGED: WaitQueue = WaitQueue::new();
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// A signal was sent, or a mask changed.
pub fn changed() {
    if OPEN.load(Ordering::Acquire) > 0 {
        CHANGED.wake_all();
    }
}

/// Whoever reads it takes signals of this set.
#[derive(Debug)]
pub struct SignalFile {
    set: AtomicU64,
}

impl SignalFile {
    /// Of this set.
    pub fn new(set: SigSet) -> Self {
        OPEN.fetch_add(1, Ordering::AcqRel);
        Self { set: AtomicU64::new(set.blockable().0) }
    }
    /// Another set.
    pub fn set(&self, set: SigSet) {
        self.set.store(set.blockable().0, Ordering::Release);
        changed();
    }
    fn others(&self) -> SigSet {
        SigSet(!self.set.load(Ordering::Acquire))
    }
}

impl Drop for SignalFile {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::AcqRel);
    }
}

impl FileOps for SignalFile {
    fn read(&self, file: &File, to: &mut Sink<'_>, _offset: u64) -> Result<usize> {
        if to.left() < ENTRY {
            return Err(Errno::EINVAL);
        }
        let mut first = take(self.others());
        if first.is_none() {
            if file.is_nonblocking() {
                return Err(Errno::EAGAIN);
            }
            first = Some(CHANGED.wait(|| take(self.others())).map_err(|_| Errno::ERESTARTSYS)?);
        }
        let mut total = 0;
        let mut next = first;
        while let Some((signal, info)) = next {
            total += to.put(&info.to_signalfd(signal))?;
            next = if to.left() >= ENTRY { take(self.others()) } else { None };
        }
        Ok(total)
    }

    fn poll(&self, _file: &File) -> Poll {
        if pending().0 & !self.others().0 != 0 { Poll::IN } else { Poll::default() }
    }

    fn wait_queues<'a>(&'a self, each: &mut dyn FnMut(&'a WaitQueue)) {
        each(&CHANGED);
    }

    fn describe(&self) -> Option<alloc::string::String> {
        Some("anon_inode:[signalfd]".into())
    }

    fn as_any(&self) -> Option<&dyn core::any::Any> {
        Some(self)
    }
}
