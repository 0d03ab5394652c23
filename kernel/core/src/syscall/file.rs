//! Open files: reading, writing, numbers.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use hal::uaccess;

use super::user;
use crate::errno::{Errno, Result};
use crate::sched::CURRENT;
use crate::sched::wait::{Ended, WaitQueue};
use crate::vfs::{self, DirEntry, File, InodeKind, Poll, Sink, Source, open_flags, pipe};

/// Most bytes of one call (Linux: MAX_RW_COUNT).
const MAX_COUNT: usize = 0x7fff_f000;
/// Most buffers of one call (UIO_MAXIOV).
const MAX_VECTOR: usize = 1024;
/// RLIMIT_NOFILE
const NOFILE: usize = 7;

fn limit() -> u64 {
    CURRENT.get().process.limit(NOFILE)
}

fn add(file: Arc<File>, flags: u32, least: usize) -> Result<i32> {
    CURRENT.get().files()?.add(file, flags & open_flags::CLOEXEC != 0, least, limit())
}

pub fn read(fd: i32, buffer: u64, count: usize) -> Result<usize> {
    user::file(fd)?.read(&mut Sink::user(buffer, count.min(MAX_COUNT)))
}

pub fn write(fd: i32, buffer: u64, count: usize) -> Result<usize> {
    user::file(fd)?.write(&mut Source::user(buffer, count.min(MAX_COUNT)))
}

pub fn pread64(fd: i32, buffer: u64, count: usize, offset: u64) -> Result<usize> {
    if i64::try_from(offset).is_err() {
        return Err(Errno::EINVAL);
    }
    user::file(fd)?.read_at(&mut Sink::user(buffer, count.min(MAX_COUNT)), offset)
}

pub fn pwrite64(fd: i32, buffer: u64, count: usize, offset: u64) -> Result<usize> {
    if i64::try_from(offset).is_err() {
        return Err(Errno::EINVAL);
    }
    user::file(fd)?.write_at(&mut Source::user(buffer, count.min(MAX_COUNT)), offset)
}

/// Calls `each` with the buffers of an iovec, until one is not used up.
fn each_buffer(vector: u64, count: usize, mut each: impl FnMut(u64, usize) -> Result<usize>) -> Result<usize> {
    if count > MAX_VECTOR {
        return Err(Errno::EINVAL);
    }
    let mut total = 0;
    for n in 0..count as u64 {
        let entry = vector.wrapping_add(16 * n);
        let (address, len) = (user::number(entry)?, user::number(entry.wrapping_add(8))?);
        let len = isize::try_from(len).map_err(|_| Errno::EINVAL)? as usize;
        if len == 0 {
            continue;
        }
        match each(address, len.min(MAX_COUNT - total)) {
            Ok(done) => {
                total += done;
                if done < len {
                    break;
                }
            }
            Err(_) if total > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(total)
}

pub fn readv(fd: i32, vector: u64, count: usize) -> Result<usize> {
    let file = user::file(fd)?;
    let mut first = true;
    each_buffer(vector, count, |address, len| {
        // What came is given, before more is waited for.
        if !first && file.ops.poll(&file).0 & Poll::IN.0 == 0 {
            return Ok(0);
        }
        first = false;
        file.read(&mut Sink::user(address, len))
    })
}

pub fn writev(fd: i32, vector: u64, count: usize) -> Result<usize> {
    let file = user::file(fd)?;
    each_buffer(vector, count, |address, len| file.write(&mut Source::user(address, len)))
}

pub fn sendfile(to: i32, from: i32, offset: u64, count: usize) -> Result<usize> {
    let (to, from) = (user::file(to)?, user::file(from)?);
    let mut at = if offset == 0 { None } else { Some(user::number(offset)?) };
    if from.ops.size().is_none() {
        return Err(Errno::EINVAL);
    }
    let mut buffer = vec![0; 16384];
    let mut total = 0;
    while total < count.min(MAX_COUNT) {
        let want = buffer.len().min(count - total);
        let mut sink = Sink::kernel(&mut buffer[..want]);
        let got = match at {
            Some(at) => from.read_at(&mut sink, at)?,
            None => from.read(&mut sink)?,
        };
        if got == 0 {
            break;
        }
        let mut source = Source::kernel(&buffer[..got]);
        while source.left() > 0 {
            match to.write(&mut source) {
                Ok(_) => {}
                Err(_) if total + source.done() > 0 => break,
                Err(error) => return Err(error),
            }
        }
        total += source.done();
        if let Some(at) = &mut at {
            *at += source.done() as u64;
        } else if source.left() > 0 {
            from.seek(-(source.left() as i64), 1)?;
        }
        if source.left() > 0 {
            break;
        }
    }
    if let Some(at) = at {
        user::put_numbers(offset, [at])?;
    }
    Ok(total)
}

pub fn openat(directory: i32, path: u64, flags: u32, mode: u32) -> Result<i32> {
    let path = user::path(path)?;
    let start = user::start(directory, &path)?;
    let file = vfs::open(&CURRENT.get().fs(), &start, &path, flags, mode)?;
    add(file, flags, 0)
}

pub fn close(fd: i32) -> Result<()> {
    CURRENT.get().files()?.close(fd)
}

pub fn close_range(first: u32, last: u32, flags: u32) -> Result<()> {
    const CLOEXEC: u32 = 4;
    if first > last || flags & !CLOEXEC != 0 {
        return Err(Errno::EINVAL);
    }
    let files = CURRENT.get().files()?;
    if flags & CLOEXEC == 0 {
        files.close_range(first as usize, last as usize);
    } else {
        files.mark_range(first as usize, last as usize);
    }
    Ok(())
}

pub fn dup(fd: i32) -> Result<i32> {
    add(user::file(fd)?, 0, 0)
}

pub fn dup3(old: i32, new: i32, flags: u32) -> Result<i32> {
    let file = user::file(old)?;
    if old == new || flags & !open_flags::CLOEXEC != 0 {
        return Err(Errno::EINVAL);
    }
    CURRENT.get().files()?.set(new, file, flags & open_flags::CLOEXEC != 0, limit())?;
    Ok(new)
}

pub fn fcntl(fd: i32, command: u32, argument: u64) -> Result<u64> {
    const CLOEXEC: u64 = 1;
    let file = user::file(fd)?;
    let files = CURRENT.get().files()?;
    match command {
        0 | 1030 => {
            // F_DUPFD, F_DUPFD_CLOEXEC
            let least =
                usize::try_from(argument).ok().filter(|least| (*least as u64) < limit()).ok_or(Errno::EINVAL)?;
            add(file, if command == 0 { 0 } else { open_flags::CLOEXEC }, least).map(|fd| fd as u64)
        }
        1 => Ok(if files.close_on_exec_of(fd)? { CLOEXEC } else { 0 }), // F_GETFD
        2 => files.set_close_on_exec(fd, argument & CLOEXEC != 0).map(|()| 0), // F_SETFD
        3 => Ok(u64::from(file.flags() | open_flags::LARGEFILE)),       // F_GETFL
        4 => {
            file.set_flags(argument as u32); // F_SETFL
            Ok(0)
        }
        // F_GETLK, F_SETLK, F_SETLKW: nobody else holds a lock.
        6 | 7 => Ok(0),
        1031 | 1032 => Ok(65536), // F_SETPIPE_SZ, F_GETPIPE_SZ
        _ => Err(Errno::EINVAL),
    }
}

pub fn ioctl(fd: i32, request: u32, argument: u64) -> Result<i64> {
    let file = user::file(fd)?;
    let files = CURRENT.get().files()?;
    match request {
        0x5451 => files.set_close_on_exec(fd, true).map(|()| 0), // FIOCLEX
        0x5450 => files.set_close_on_exec(fd, false).map(|()| 0), // FIONCLEX
        0x5421 => {
            let mut on = [0; 4]; // FIONBIO
            uaccess::read(&mut on, argument)?;
            let flags = file.flags() & !open_flags::NONBLOCK;
            file.set_flags(if on == [0; 4] { flags } else { flags | open_flags::NONBLOCK });
            Ok(0)
        }
        _ => file.ops.ioctl(&file, request, argument),
    }
}

pub fn lseek(fd: i32, offset: i64, whence: u32) -> Result<u64> {
    user::file(fd)?.seek(offset, whence)
}

pub fn fsync(fd: i32) -> Result<()> {
    user::file(fd).map(|_| ())
}

pub fn pipe2(fds: u64, flags: u32) -> Result<()> {
    if flags & !(open_flags::CLOEXEC | open_flags::NONBLOCK) != 0 {
        return Err(Errno::EINVAL);
    }
    let (read, write) = pipe::pair(flags);
    let read = add(read, flags, 0)?;
    let result = add(write, flags, 0).and_then(|write| {
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&read.to_le_bytes());
        bytes[4..].copy_from_slice(&write.to_le_bytes());
        uaccess::write(fds, &bytes).map_err(|fault| {
            let _ = close(write);
            fault.into()
        })
    });
    if result.is_err() {
        let _ = close(read);
    }
    result
}

pub fn getdents64(fd: i32, buffer: u64, size: usize) -> Result<usize> {
    let file = user::file(fd)?;
    let location = file.location.as_ref().ok_or(Errno::ENOTDIR)?;
    if location.inode.metadata().kind != InodeKind::Directory {
        return Err(Errno::ENOTDIR);
    }
    /// Cursors 1 and 2 are behind "." and ".."; the inode's own follow.
    const DOTS: u64 = 2;
    let parent = location.parent.as_ref().unwrap_or(location);
    let dots = [(&b"."[..], location.inode.metadata().ino), (&b".."[..], parent.inode.metadata().ino)];
    let mut offset = file.offset.lock();
    let mut list = DirectoryList { bytes: Vec::new(), room: size.min(1 << 16), cursor: *offset, is_full: false };
    while list.cursor < DOTS && !list.is_full {
        let (name, ino) = dots[list.cursor as usize];
        list.put(DirEntry { name, ino, kind: InodeKind::Directory, next: list.cursor + 1 });
    }
    if !list.is_full {
        let from = list.cursor - DOTS;
        location.inode.read_directory(from, &mut |entry| list.put(DirEntry { next: entry.next + DOTS, ..entry }))?;
    }
    if list.bytes.is_empty() && list.is_full {
        return Err(Errno::EINVAL);
    }
    uaccess::write(buffer, &list.bytes)?;
    *offset = list.cursor;
    Ok(list.bytes.len())
}

/// Entries as struct linux_dirent64.
struct DirectoryList {
    bytes: Vec<u8>,
    room: usize,
    cursor: u64,
    is_full: bool,
}

impl DirectoryList {
    /// False: there is no room.
    fn put(&mut self, entry: DirEntry<'_>) -> bool {
        // Inode, next offset, length, type, name with its NUL, to a multiple of eight.
        let len = (19 + entry.name.len() + 1).next_multiple_of(8);
        let end = self.bytes.len() + len;
        if end > self.room {
            self.is_full = true;
            return false;
        }
        self.bytes.extend_from_slice(&entry.ino.to_le_bytes());
        self.bytes.extend_from_slice(&entry.next.to_le_bytes());
        self.bytes.extend_from_slice(&(len as u16).to_le_bytes());
        self.bytes.push(entry.kind.dirent_type());
        self.bytes.extend_from_slice(entry.name);
        self.bytes.resize(end, 0);
        self.cursor = entry.next;
        true
    }
}

/// One of poll's entries: struct pollfd.
#[derive(Clone, Copy, Debug)]
struct PollEntry {
    fd: i32,
    events: u32,
}

pub fn ppoll(fds: u64, count: usize, timeout: u64, _mask: u64) -> Result<usize> {
    if count as u64 > limit() {
        return Err(Errno::EINVAL);
    }
    let deadline = match timeout {
        0 => None,
        address => Some(crate::sched::after_nanoseconds(user::timespec(address)?)),
    };
    let mut bytes = vec![0; 8 * count];
    uaccess::read(&mut bytes, fds)?;
    let entries: Vec<PollEntry> = bytes
        .chunks_exact(8)
        .map(|entry| PollEntry {
            fd: i32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]),
            events: u32::from(u16::from_le_bytes([entry[4], entry[5]])),
        })
        .collect();
    let files: Vec<Option<Result<Arc<File>>>> =
        entries.iter().map(|entry| (entry.fd >= 0).then(|| user::file(entry.fd))).collect();
    let (count, events) = poll(&entries, &files, deadline)?;
    for (entry, events) in bytes.chunks_exact_mut(8).zip(events) {
        entry[6..8].copy_from_slice(&(events as u16).to_le_bytes());
    }
    uaccess::write(fds, &bytes)?;
    Ok(count)
}

/// How many have events, and which.
fn poll(
    entries: &[PollEntry],
    files: &[Option<Result<Arc<File>>>],
    deadline: Option<u64>,
) -> Result<(usize, Vec<u32>)> {
    const INVALID: u32 = 0x20; // POLLNVAL
    let look = || {
        let events: Vec<u32> = entries
            .iter()
            .zip(files)
            .map(|(entry, file)| match file {
                None => 0,
                Some(Err(_)) => INVALID,
                Some(Ok(file)) => file.ops.poll(file).0 & (entry.events | Poll::ERROR.0 | Poll::HANG_UP.0),
            })
            .collect();
        let count = events.iter().filter(|events| **events != 0).count();
        (count > 0).then_some((count, events))
    };
    let open: Vec<&Arc<File>> = files.iter().flatten().flatten().collect();
    let join = |joins: bool| {
        for file in &open {
            file.ops.wait_queues(&mut |queue: &WaitQueue| if joins { queue.join() } else { queue.leave() });
        }
    };
    // A wake-up takes the thread out of the queue that woke it: it joins again each time.
    let own = WaitQueue::new();
    let result = own.wait_until(crate::sched::wait::Sleep::Interruptible, deadline, || {
        join(false);
        join(true);
        look()
    });
    join(false);
    match result {
        Ok(found) => Ok(found),
        Err(Ended::ByTime) => Ok((0, vec![0; entries.len()])),
        Err(Ended::BySignal) => Err(Errno::EINTR),
    }
}
