//! Open files, and the table by which a process knows them.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::{BitOr, BitOrAssign};
use core::sync::atomic::{AtomicU32, Ordering};

use hal::sync::SpinLock;

use super::{Location, Metadata, Sink, Source};
use crate::errno::{Errno, Result};
use crate::mm::PageSource;
use crate::sched::wait::{Mutex, WaitQueue, mutex};

/// open's flags (include/uapi/asm-generic/fcntl.h, with arm64's values of DIRECTORY and NOFOLLOW).
#[allow(missing_docs)]
pub mod open_flags {
    pub const ACCMODE: u32 = 3;
    pub const RDONLY: u32 = 0;
    pub const WRONLY: u32 = 1;
    pub const RDWR: u32 = 2;
    pub const CREAT: u32 = 0o100;
    pub const EXCL: u32 = 0o200;
    pub const NOCTTY: u32 = 0o400;
    pub const TRUNC: u32 = 0o1000;
    pub const APPEND: u32 = 0o2000;
    pub const NONBLOCK: u32 = 0o4000;
    pub const DIRECTORY: u32 = 0o40_000;
    pub const NOFOLLOW: u32 = 0o100_000;
    pub const LARGEFILE: u32 = 0o400_000;
    pub const CLOEXEC: u32 = 0o2_000_000;
    pub const PATH: u32 = 0o10_000_000;
    /// What fcntl(F_SETFL) may change.
    pub const CHANGEABLE: u32 = APPEND | NONBLOCK;
}

/// What can be done with a file without waiting: poll's events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Poll(pub u32);

impl Poll {
    /// POLLIN | POLLRDNORM
    pub const IN: Self = Self(0x41);
    /// POLLOUT | POLLWRNORM
    pub const OUT: Self = Self(0x104);
    /// POLLERR
    pub const ERROR: Self = Self(0x8);
    /// POLLHUP
    pub const HANG_UP: Self = Self(0x10);
    /// POLLRDHUP
    pub const READ_HANG_UP: Self = Self(0x2000);
    /// POLLWRBAND
    pub const OUT_BAND: Self = Self(0x200);
    /// Whatever there is.
    pub const ANY: Self = Self(u32::MAX);
}
impl BitOr for Poll {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
impl BitOrAssign for Poll {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// What an open file does. Whatever holds resources for it releases them when it is dropped, which is at the last close.
pub trait FileOps: Send + Sync + fmt::Debug {
    /// Reads at `offset` (0 for what has no offsets); returns how many bytes, 0 at the end.
    fn read(&self, _file: &File, _to: &mut Sink<'_>, _offset: u64) -> Result<usize> {
        Err(Errno::EINVAL)
    }
    /// Writes at `offset`; returns how many bytes.
    fn write(&self, _file: &File, _from: &mut Source<'_>, _offset: u64) -> Result<usize> {
        Err(Errno::EINVAL)
    }
    /// The length, if the file has offsets.
    fn size(&self) -> Option<u64> {
        None
    }
    /// ioctl(2)
    fn ioctl(&self, _file: &File, _request: u32, _argument: u64) -> Result<i64> {
        Err(Errno::ENOTTY)
    }
    /// What can be done now.
    fn poll(&self, _file: &File) -> Poll {
        Poll::IN | Poll::OUT
    }
    /// Calls `each` with the queues that are woken when [`FileOps::poll`] changes.
    fn wait_queues<'a>(&'a self, _each: &mut dyn FnMut(&'a WaitQueue)) {}
    /// Its pages, for mmap.
    fn pages(&self) -> Option<Arc<dyn PageSource>> {
        None
    }
    /// What fstat tells of a file without a name.
    fn metadata(&self) -> Option<Metadata> {
        None
    }
    /// For /proc/PID/fd: `pipe:[7]` and the like.
    fn describe(&self) -> Option<alloc::string::String> {
        None
    }
    /// Itself, for calls that only some kind of file knows (sockets, epoll).
    fn as_any(&self) -> Option<&dyn core::any::Any> {
        None
    }
}

#[derive(Debug)]
struct PathOnly;
impl FileOps for PathOnly {
    fn read(&self, _file: &File, _to: &mut Sink<'_>, _offset: u64) -> Result<usize> {
        Err(Errno::EBADF)
    }
    fn write(&self, _file: &File, _from: &mut Source<'_>, _offset: u64) -> Result<usize> {
        Err(Errno::EBADF)
    }
}

/// What O_PATH opens.
pub(super) fn path_only() -> Arc<dyn FileOps> {
    Arc::new(PathOnly)
}

/// An open file: what dup and fork share.
#[derive(Debug)]
pub struct File {
    /// Where it is; `None` for pipes and the like.
    pub location: Option<Arc<Location>>,
    /// What it does.
    pub ops: Arc<dyn FileOps>,
    flags: AtomicU32,
    /// Where the next read or write goes. Held while it does, so that it is one at a time.
    pub offset: Mutex<u64>,
}

impl File {
    /// At offset 0.
    pub fn new(location: Option<Arc<Location>>, ops: Arc<dyn FileOps>, flags: u32) -> Self {
        let flags = flags & !(open_flags::CREAT | open_flags::EXCL | open_flags::TRUNC | open_flags::CLOEXEC);
        Self { location, ops, flags: AtomicU32::new(flags), offset: mutex(0) }
    }

    /// O_*
    pub fn flags(&self) -> u32 {
        self.flags.load(Ordering::Relaxed)
    }
    /// Changes what may be changed.
    pub fn set_flags(&self, flags: u32) {
        let kept = self.flags() & !open_flags::CHANGEABLE;
        self.flags.store(kept | flags & open_flags::CHANGEABLE, Ordering::Relaxed);
    }
    /// O_NONBLOCK
    pub fn is_nonblocking(&self) -> bool {
        self.flags() & open_flags::NONBLOCK != 0
    }

    fn check(&self, forbidden: u32) -> Result<()> {
        if self.flags() & open_flags::ACCMODE == forbidden { Err(Errno::EBADF) } else { Ok(()) }
    }

    /// read(2)
    pub fn read(&self, to: &mut Sink<'_>) -> Result<usize> {
        self.check(open_flags::WRONLY)?;
        if self.ops.size().is_none() {
            return self.ops.read(self, to, 0);
        }
        let mut offset = self.offset.lock();
        let count = self.ops.read(self, to, *offset)?;
        *offset += count as u64;
        Ok(count)
    }

    /// write(2)
    pub fn write(&self, from: &mut Source<'_>) -> Result<usize> {
        self.check(open_flags::RDONLY)?;
        let Some(size) = self.ops.size() else { return self.ops.write(self, from, 0) };
        let mut offset = self.offset.lock();
        if self.flags() & open_flags::APPEND != 0 {
            *offset = size;
        }
        let count = self.ops.write(self, from, *offset)?;
        *offset += count as u64;
        Ok(count)
    }

    /// pread64(2)
    pub fn read_at(&self, to: &mut Sink<'_>, offset: u64) -> Result<usize> {
        self.check(open_flags::WRONLY)?;
        self.ops.size().ok_or(Errno::ESPIPE)?;
        self.ops.read(self, to, offset)
    }

    /// pwrite64(2)
    pub fn write_at(&self, from: &mut Source<'_>, offset: u64) -> Result<usize> {
        self.check(open_flags::RDONLY)?;
        self.ops.size().ok_or(Errno::ESPIPE)?;
        self.ops.write(self, from, offset)
    }

    /// lseek(2)
    pub fn seek(&self, offset: i64, whence: u32) -> Result<u64> {
        let size = self.ops.size().ok_or(Errno::ESPIPE)?;
        let mut at = self.offset.lock();
        let base = match whence {
            0 => 0,
            1 => *at,
            2 => size,
            // SEEK_DATA and SEEK_HOLE of a file without holes.
            3 if (offset as u64) < size => offset as u64,
            4 if (offset as u64) < size => size,
            3 | 4 => return Err(Errno::ENXIO),
            _ => return Err(Errno::EINVAL),
        };
        let new = if whence > 2 { Some(base) } else { base.checked_add_signed(offset) };
        let new = new.filter(|new| i64::try_from(*new).is_ok()).ok_or(Errno::EINVAL)?;
        *at = new;
        Ok(new)
    }

    /// What fstat tells.
    pub fn metadata(&self) -> Result<Metadata> {
        match (&self.location, self.ops.metadata()) {
            (_, Some(metadata)) => Ok(metadata),
            (Some(location), None) => Ok(location.inode.metadata()),
            (None, None) => Err(Errno::EBADF),
        }
    }
}

#[derive(Clone, Debug)]
struct Entry {
    file: Arc<File>,
    close_on_exec: bool,
}

/// Makes the table reach to `fd`.
fn grow(entries: &mut Vec<Option<Entry>>, fd: usize) -> Result<()> {
    if fd >= entries.len() {
        crate::memory::check()?;
        let more = fd + 1 - entries.len();
        crate::memory::reserve(entries, more)?;
        entries.resize(fd + 1, None);
    }
    Ok(())
}

/// Files by number.
#[derive(Debug, Default)]
pub struct FileTable {
    entries: SpinLock<Vec<Option<Entry>>>,
}

impl FileTable {
    /// The file of that number.
    #[inline]
    pub fn get(&self, fd: i32) -> Result<Arc<File>> {
        let entries = self.entries.lock();
        let entry = usize::try_from(fd).ok().and_then(|fd| entries.get(fd)?.as_ref());
        entry.map(|entry| Arc::clone(&entry.file)).ok_or(Errno::EBADF)
    }

    /// The lowest free number from `least` on, below `limit`, for `file`.
    pub fn add(&self, file: Arc<File>, close_on_exec: bool, least: usize, limit: u64) -> Result<i32> {
        let mut entries = self.entries.lock();
        let free = (least..entries.len()).find(|fd| entries[*fd].is_none()).unwrap_or(entries.len().max(least));
        if free as u64 >= limit {
            return Err(Errno::EMFILE);
        }
        grow(&mut entries, free)?;
        entries[free] = Some(Entry { file, close_on_exec });
        Ok(free as i32)
    }

    /// `file` under that number, in place of what is there.
    pub fn set(&self, fd: i32, file: Arc<File>, close_on_exec: bool, limit: u64) -> Result<()> {
        let fd = usize::try_from(fd).ok().filter(|fd| (*fd as u64) < limit).ok_or(Errno::EBADF)?;
        let mut entries = self.entries.lock();
        grow(&mut entries, fd)?;
        let old = entries[fd].replace(Entry { file, close_on_exec });
        drop(entries);
        drop(old);
        Ok(())
    }

    /// close(2)
    pub fn close(&self, fd: i32) -> Result<()> {
        let old = {
            let mut entries = self.entries.lock();
            usize::try_from(fd).ok().and_then(|fd| entries.get_mut(fd)?.take())
        };
        // Outside of the lock: the last close of a pipe wakes others.
        old.map(drop).ok_or(Errno::EBADF)
    }

    /// close_range(2) with CLOSE_RANGE_CLOEXEC: marks instead of closing.
    pub fn mark_range(&self, first: usize, last: usize) {
        let mut entries = self.entries.lock();
        for entry in entries.iter_mut().take(last.saturating_add(1)).skip(first).flatten() {
            entry.close_on_exec = true;
        }
    }

    /// close_range(2)
    pub fn close_range(&self, first: usize, last: usize) {
        self.close_where(first, last, |_| true);
    }

    /// One by one, outside of the lock: a last close may do much.
    fn close_where(&self, first: usize, last: usize, which: impl Fn(&Entry) -> bool) {
        let mut at = first;
        while at <= last {
            let old = {
                let mut entries = self.entries.lock();
                let end = entries.len().min(last.saturating_add(1));
                let Some(found) = (at..end).find(|fd| entries[*fd].as_ref().is_some_and(&which)) else { return };
                at = found + 1;
                entries[found].take()
            };
            drop(old);
        }
    }

    /// FD_CLOEXEC
    pub fn close_on_exec_of(&self, fd: i32) -> Result<bool> {
        let entries = self.entries.lock();
        let entry = usize::try_from(fd).ok().and_then(|fd| entries.get(fd)?.as_ref());
        entry.map(|entry| entry.close_on_exec).ok_or(Errno::EBADF)
    }

    /// Sets FD_CLOEXEC.
    pub fn set_close_on_exec(&self, fd: i32, close_on_exec: bool) -> Result<()> {
        let mut entries = self.entries.lock();
        let entry = usize::try_from(fd).ok().and_then(|fd| entries.get_mut(fd)?.as_mut()).ok_or(Errno::EBADF)?;
        entry.close_on_exec = close_on_exec;
        Ok(())
    }

    /// Closes what exec closes.
    pub fn close_on_exec(&self) {
        self.close_where(0, usize::MAX - 1, |entry| entry.close_on_exec);
    }

    /// The same files for a fork.
    pub fn copy(&self) -> Result<Self> {
        let from = self.entries.lock();
        let mut entries = crate::memory::with_capacity(from.len())?;
        entries.extend(from.iter().cloned());
        Ok(Self { entries: SpinLock::new(entries) })
    }

    /// Numbers in use.
    pub fn numbers(&self) -> Vec<i32> {
        let entries = self.entries.lock();
        entries.iter().enumerate().filter(|(_, entry)| entry.is_some()).map(|(fd, _)| fd as i32).collect()
    }
}
