//! eventfd: a counter that can be waited for.

use alloc::string::String;
use alloc::sync::Arc;

use hal::sync::SpinLock;

use super::{File, FileOps, Metadata, Poll, Sink, Source, open_flags};
use crate::errno::{Errno, Result};
use crate::sched::wait::WaitQueue;

/// What a read takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Take {
    /// All.
    All,
    /// One (EFD_SEMAPHORE).
    One,
}

/// Poll's bits of this kind are the plain ones.
const IN: Poll = Poll(1);
const OUT: Poll = Poll(4);
/// The counter stays below this.
const LIMIT: u64 = u64::MAX;

#[derive(Debug)]
struct EventFd {
    count: SpinLock<u64>,
    take: Take,
    can_read: WaitQueue,
    can_write: WaitQueue,
}

/// eventfd2(2); of `flags` O_NONBLOCK counts.
pub fn new(count: u64, take: Take, flags: u32) -> Arc<File> {
    let (can_read, can_write) = (WaitQueue::new(), WaitQueue::new());
    let event = EventFd { count: SpinLock::new(count), take, can_read, can_write };
    Arc::new(File::new(None, Arc::new(event), flags & open_flags::NONBLOCK | open_flags::RDWR))
}

impl EventFd {
    fn take(&self) -> Option<u64> {
        let mut count = self.count.lock();
        let taken = if self.take == Take::One { (*count).min(1) } else { *count };
        *count -= taken;
        (taken > 0).then_some(taken)
    }

    fn add(&self, value: u64) -> Option<()> {
        let mut count = self.count.lock();
        if LIMIT - *count <= value {
            return None;
        }
        *count += value;
        Some(())
    }
}

/// Tries; with patience, until it works.
fn attempt<T>(queue: &WaitQueue, file: &File, mut attempt: impl FnMut() -> Option<T>) -> Result<T> {
    match attempt() {
        Some(value) => Ok(value),
        None if file.is_nonblocking() => Err(Errno::EAGAIN),
        None => queue.wait(attempt).map_err(|_| Errno::ERESTARTSYS),
    }
}

impl FileOps for EventFd {
    fn read(&self, file: &File, to: &mut Sink<'_>, _offset: u64) -> Result<usize> {
        if to.left() < 8 {
            return Err(Errno::EINVAL);
        }
        let value = attempt(&self.can_read, file, || self.take())?;
        self.can_write.wake_for(OUT);
        if to.put(&value.to_le_bytes())? < 8 {
            return Err(Errno::EFAULT);
        }
        Ok(8)
    }

    fn write(&self, file: &File, from: &mut Source<'_>, _offset: u64) -> Result<usize> {
        if from.left() < 8 {
            return Err(Errno::EINVAL);
        }
        let mut bytes = [0; 8];
        if from.take(&mut bytes)? < 8 {
            return Err(Errno::EFAULT);
        }
        let value = u64::from_le_bytes(bytes);
        if value == LIMIT {
            return Err(Errno::EINVAL);
        }
        attempt(&self.can_write, file, || self.add(value))?;
        self.can_read.wake_for(IN);
        Ok(8)
    }

    fn poll(&self, _file: &File) -> Poll {
        let count = *self.count.lock();
        let mut poll = Poll::default();
        if count > 0 {
            poll |= IN;
        }
        if count < LIMIT - 1 {
            poll |= OUT;
        }
        poll
    }

    fn wait_queues<'a>(&'a self, each: &mut dyn FnMut(&'a WaitQueue)) {
        each(&self.can_read);
        each(&self.can_write);
    }

    fn metadata(&self) -> Option<Metadata> {
        Some(Metadata::anonymous())
    }

    fn describe(&self) -> Option<String> {
        Some("anon_inode:[eventfd]".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(file: &File) -> Result<u64> {
        let mut bytes = [0; 8];
        file.read(&mut Sink::kernel(&mut bytes))?;
        Ok(u64::from_le_bytes(bytes))
    }
    fn write(file: &File, value: u64) -> Result<usize> {
        file.write(&mut Source::kernel(&value.to_le_bytes()))
    }

    #[test]
    fn the_counter_has_its_limits() {
        let file = new(0, Take::All, open_flags::NONBLOCK);
        assert_eq!(read(&file), Err(Errno::EAGAIN));
        assert_eq!((write(&file, u64::MAX), write(&file, u64::MAX - 1)), (Err(Errno::EINVAL), Ok(8)));
        assert_eq!(file.ops.poll(&file), IN);
        assert_eq!((write(&file, 0), write(&file, 1)), (Ok(8), Err(Errno::EAGAIN)));
        assert_eq!((read(&file), read(&file)), (Ok(u64::MAX - 1), Err(Errno::EAGAIN)));
        assert_eq!(file.ops.poll(&file), OUT);
        assert_eq!(file.write(&mut Source::kernel(&[0; 7])), Err(Errno::EINVAL));
    }

    proptest! {
        /// Against a number.
        #[test]
        fn it_counts(is_semaphore in any::<bool>(), first in 0u64..3, steps in prop::collection::vec((any::<bool>(), 0u64..9), 0..40)) {
            let take = if is_semaphore { Take::One } else { Take::All };
            let file = new(first, take, open_flags::NONBLOCK);
            let mut model = first;
            for (is_write, value) in steps {
                prop_assert_eq!(file.ops.poll(&file) | OUT, if model > 0 { IN | OUT } else { OUT });
                if is_write {
                    prop_assert_eq!(write(&file, value), Ok(8));
                    model += value;
                } else if model == 0 {
                    prop_assert_eq!(read(&file), Err(Errno::EAGAIN));
                } else {
                    let taken = if is_semaphore { 1 } else { model };
                    prop_assert_eq!(read(&file), Ok(taken));
                    model -= taken;
                }
            }
        }
    }
}
