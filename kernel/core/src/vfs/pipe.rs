//! Pipes: up to 16 pages of bytes between writers and readers.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use hal::mem::{Frame, FrameKind, PAGE_SIZE};
use hal::sync::SpinLock;

use super::{File, FileOps, InodeKind, Metadata, Poll, Sink, Source, open_flags};
use crate::errno::{Errno, Result};
use crate::sched::CURRENT;
use crate::sched::wait::{Mutex, WaitQueue, mutex};
use crate::signal::{self, Info, SIGPIPE};
use crate::time;

/// Pages that a pipe holds.
const PAGES: usize = 16;
/// Writes up to this size are not mixed with others' (PIPE_BUF).
const ATOMIC: usize = PAGE_SIZE;

/// Bytes `start..end` of a page.
#[derive(Debug)]
struct Part {
    frame: Frame,
    start: usize,
    end: usize,
}

/// A pipe.
#[derive(Debug)]
pub struct Pipe {
    id: u64,
    created: u64,
    /// One reader or writer at a time; user memory is touched meanwhile.
    parts: Mutex<VecDeque<Part>>,
    /// A page kept for the next write.
    spare: SpinLock<Option<Frame>>,
    /// Are there bytes; is there room? For those that wait, without the lock.
    has_bytes: AtomicBool,
    has_room: AtomicBool,
    readers: AtomicUsize,
    writers: AtomicUsize,
    can_read: WaitQueue,
    can_write: WaitQueue,
}

/// Which way an end goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Read,
    Write,
    Both,
}

/// An end that is open.
#[derive(Debug)]
struct End {
    pipe: Arc<Pipe>,
    way: Way,
}

impl Pipe {
    /// Without bytes and ends.
    fn new() -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arc::new(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            created: time::realtime(),
            parts: mutex(VecDeque::new()),
            spare: SpinLock::new(None),
            has_bytes: AtomicBool::new(false),
            has_room: AtomicBool::new(true),
            readers: AtomicUsize::new(0),
            writers: AtomicUsize::new(0),
            can_read: WaitQueue::new(),
            can_write: WaitQueue::new(),
        })
    }

    fn end(self: &Arc<Self>, way: Way) -> Arc<End> {
        if way != Way::Write {
            self.readers.fetch_add(1, Ordering::AcqRel);
        }
        if way != Way::Read {
            self.writers.fetch_add(1, Ordering::AcqRel);
        }
        Arc::new(End { pipe: Arc::clone(self), way })
    }

    fn update(&self, parts: &VecDeque<Part>) {
        self.has_bytes.store(!parts.is_empty(), Ordering::Release);
        let has_room = parts.len() < PAGES || parts.back().is_some_and(|part| part.end < PAGE_SIZE);
        self.has_room.store(has_room, Ordering::Release);
    }

    fn read(&self, to: &mut Sink<'_>, nonblocking: bool) -> Result<usize> {
        if to.left() == 0 {
            return Ok(0);
        }
        loop {
            {
                let mut parts = self.parts.lock();
                let was_full = !self.has_room.load(Ordering::Relaxed);
                let mut result = Ok(());
                while let Some(part) = parts.front_mut() {
                    match to.put_page(&part.frame, part.start, part.end - part.start) {
                        Ok(put) => part.start += put,
                        Err(error) => result = Err(error),
                    }
                    if part.start < part.end {
                        break;
                    }
                    let gone = parts.pop_front().map(|part| part.frame);
                    let mut spare = self.spare.lock();
                    if spare.is_none() {
                        *spare = gone;
                    }
                    drop(spare);
                    if to.left() == 0 {
                        break;
                    }
                }
                self.update(&parts);
                drop(parts);
                if to.done() > 0 {
                    if was_full {
                        self.can_write.wake_for(Poll::OUT);
                    }
                    return Ok(to.done());
                }
                result?;
            }
            if self.writers.load(Ordering::Acquire) == 0 {
                // Bytes may have come right before the last writer went.
                if !self.has_bytes.load(Ordering::Acquire) {
                    return Ok(0);
                }
                continue;
            }
            if nonblocking {
                return Err(Errno::EAGAIN);
            }
            let ready = || {
                let is_ready = self.has_bytes.load(Ordering::Acquire) || self.writers.load(Ordering::Acquire) == 0;
                is_ready.then_some(())
            };
            self.can_read.wait(ready).map_err(|_| Errno::ERESTARTSYS)?;
        }
    }

    fn write(&self, from: &mut Source<'_>, nonblocking: bool) -> Result<usize> {
        let whole = from.left() <= ATOMIC;
        let total = from.left();
        loop {
            if self.readers.load(Ordering::Acquire) == 0 {
                if from.done() > 0 {
                    return Ok(from.done());
                }
                signal::send_to_thread(&CURRENT.share(), SIGPIPE, Info::of_user());
                return Err(Errno::EPIPE);
            }
            let result = self.fill(from, whole);
            match result {
                Ok(()) if from.left() == 0 => return Ok(total),
                Ok(()) => {}
                Err(_) if from.done() > 0 => return Ok(from.done()),
                Err(error) => return Err(error),
            }
            if nonblocking {
                return if from.done() > 0 { Ok(from.done()) } else { Err(Errno::EAGAIN) };
            }
            let waited = self.can_write.wait(|| {
                let is_ready = self.has_room.load(Ordering::Acquire) || self.readers.load(Ordering::Acquire) == 0;
                is_ready.then_some(())
            });
            if waited.is_err() {
                return if from.done() > 0 { Ok(from.done()) } else { Err(Errno::ERESTARTSYS) };
            }
        }
    }

    /// Takes what there is room for; nothing, if it must be all and is not.
    fn fill(&self, from: &mut Source<'_>, whole: bool) -> Result<()> {
        let mut parts = self.parts.lock();
        let in_last = parts.back().map_or(0, |part| PAGE_SIZE - part.end);
        if whole && from.left() > in_last + (PAGES - parts.len()) * PAGE_SIZE {
            self.has_room.store(false, Ordering::Release);
            return Ok(());
        }
        let was_empty = parts.is_empty();
        let result = self.fill_locked(&mut parts, from);
        self.update(&parts);
        drop(parts);
        // Those who watch want to know of each write (epoll's edges); those who sleep need not.
        if was_empty || self.can_read.is_watched() {
            self.can_read.wake_for(Poll::IN);
        }
        result
    }

    fn fill_locked(&self, parts: &mut VecDeque<Part>, from: &mut Source<'_>) -> Result<()> {
        while from.left() > 0 {
            if let Some(part) = parts.back_mut().filter(|part| part.end < PAGE_SIZE) {
                part.end += from.take_page(&part.frame, part.end, PAGE_SIZE - part.end)?;
                continue;
            }
            if parts.len() == PAGES {
                break;
            }
            let spare = self.spare.lock().take();
            let frame = spare.or_else(|| Frame::new(FrameKind::User)).ok_or(Errno::ENOMEM)?;
            let end = from.take_page(&frame, 0, PAGE_SIZE)?;
            parts.push_back(Part { frame, start: 0, end });
        }
        Ok(())
    }
}

impl FileOps for End {
    fn read(&self, file: &File, to: &mut Sink<'_>, _offset: u64) -> Result<usize> {
        self.pipe.read(to, file.is_nonblocking())
    }

    fn write(&self, file: &File, from: &mut Source<'_>, _offset: u64) -> Result<usize> {
        self.pipe.write(from, file.is_nonblocking())
    }

    fn poll(&self, _file: &File) -> Poll {
        let mut poll = Poll::default();
        let pipe = &self.pipe;
        if self.way != Way::Write {
            if pipe.has_bytes.load(Ordering::Acquire) {
                poll |= Poll::IN;
            }
            if pipe.writers.load(Ordering::Acquire) == 0 {
                poll |= Poll::HANG_UP;
            }
        }
        if self.way != Way::Read {
            if pipe.has_room.load(Ordering::Acquire) {
                poll |= Poll::OUT;
            }
            if pipe.readers.load(Ordering::Acquire) == 0 {
                poll |= Poll::ERROR;
            }
        }
        poll
    }

    fn wait_queues<'a>(&'a self, each: &mut dyn FnMut(&'a WaitQueue)) {
        each(&self.pipe.can_read);
        each(&self.pipe.can_write);
    }

    fn ioctl(&self, _file: &File, request: u32, argument: u64) -> Result<i64> {
        const FIONREAD: u32 = 0x541b;
        if request != FIONREAD {
            return Err(Errno::ENOTTY);
        }
        let bytes: usize = self.pipe.parts.lock().iter().map(|part| part.end - part.start).sum();
        hal::uaccess::write(argument, &(bytes as u32).to_ne_bytes())?;
        Ok(0)
    }

    fn metadata(&self) -> Option<Metadata> {
        Some(Metadata {
            ino: self.pipe.id,
            dev: 0,
            kind: InodeKind::Fifo,
            mode: 0o600,
            links: 1,
            uid: 0,
            gid: 0,
            size: 0,
            device: (0, 0),
            times: [self.pipe.created; 3],
        })
    }

    fn describe(&self) -> Option<alloc::string::String> {
        Some(format!("pipe:[{}]", self.pipe.id))
    }
}

impl Drop for End {
    fn drop(&mut self) {
        if self.way != Way::Write && self.pipe.readers.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.pipe.can_write.wake_all();
        }
        if self.way != Way::Read && self.pipe.writers.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.pipe.can_read.wake_all();
        }
    }
}

/// pipe2(2): the end to read from, and the one to write to.
pub fn pair(flags: u32) -> (Arc<File>, Arc<File>) {
    let pipe = Pipe::new();
    let flags = flags & open_flags::NONBLOCK;
    let read = File::new(None, pipe.end(Way::Read), flags | open_flags::RDONLY);
    let write = File::new(None, pipe.end(Way::Write), flags | open_flags::WRONLY);
    (Arc::new(read), Arc::new(write))
}

/// A pipe with a name: it is there while someone has it open.
#[derive(Debug)]
pub struct Named {
    pipe: Arc<Pipe>,
    opened: WaitQueue,
    /// How often each end was opened.
    opens: [AtomicU64; 2],
}

impl Default for Named {
    fn default() -> Self {
        Self { pipe: Pipe::new(), opened: WaitQueue::new(), opens: [AtomicU64::new(0), AtomicU64::new(0)] }
    }
}

impl Named {
    /// Opens an end; waits until the other end is open too, or has been.
    pub fn open(&self, flags: u32) -> Result<Arc<dyn FileOps>> {
        let (way, mine, other) = match flags & open_flags::ACCMODE {
            open_flags::RDONLY => (Way::Read, 0, 1),
            open_flags::WRONLY => (Way::Write, 1, 0),
            _ => return Ok(self.pipe.end(Way::Both)),
        };
        let is_other_open = |pipe: &Pipe| {
            let count = if other == 0 { &pipe.readers } else { &pipe.writers };
            count.load(Ordering::Acquire) > 0
        };
        let nonblocking = flags & open_flags::NONBLOCK != 0;
        if nonblocking && way == Way::Write && !is_other_open(&self.pipe) {
            return Err(Errno::ENXIO);
        }
        let before = self.opens[other].load(Ordering::Acquire);
        let end = self.pipe.end(way);
        self.opens[mine].fetch_add(1, Ordering::AcqRel);
        self.opened.wake_all();
        if !nonblocking {
            let waited = self.opened.wait(|| {
                let was_opened = self.opens[other].load(Ordering::Acquire) != before;
                (is_other_open(&self.pipe) || was_opened).then_some(())
            });
            waited.map_err(|_| Errno::ERESTARTSYS)?;
        }
        Ok(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        /// What comes out is what went in, in order, whatever the sizes.
        #[test]
        fn bytes_keep_their_order(steps in prop::collection::vec((any::<bool>(), 1usize..9000), 1..60)) {
            hal::fakes_init();
            let pipe = Pipe::new();
            let _reader = pipe.end(Way::Read);
            let _writer = pipe.end(Way::Write);
            let (mut written, mut read) = (0usize, 0usize);
            for (is_write, len) in steps {
                if is_write {
                    let bytes: Vec<u8> = (written..written + len).map(|n| (n % 251) as u8).collect();
                    match pipe.write(&mut Source::kernel(&bytes), true) {
                        Ok(count) => {
                            prop_assert!(count == len || len > ATOMIC);
                            written += count;
                        }
                        Err(error) => prop_assert_eq!(error, Errno::EAGAIN),
                    }
                } else {
                    let mut bytes = vec![0; len];
                    match pipe.read(&mut Sink::kernel(&mut bytes), true) {
                        Ok(count) => {
                            for byte in &bytes[..count] {
                                prop_assert_eq!(*byte, (read % 251) as u8);
                                read += 1;
                            }
                        }
                        Err(error) => prop_assert!(error == Errno::EAGAIN && read == written),
                    }
                }
                prop_assert!(written - read <= PAGES * PAGE_SIZE);
            }
        }
    }
}
