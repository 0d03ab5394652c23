//! Open files: reading, writing, numbers.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use hal::uaccess;

use super::user;
use crate::errno::{Errno, Result};
use crate::sched::CURRENT;
use crate::vfs::{self, Buffer, DirEntry, File, InodeKind, Sink, Source, open_flags, pipe};

/// Most bytes of one call (Linux: MAX_RW_COUNT).
pub(super) const MAX_COUNT: usize = 0x7fff_f000;
/// Most buffers of one call (UIO_MAXIOV).
const MAX_VECTOR: usize = 1024;
/// Most numbers of files, whatever the limit (fs.nr_open).
const MAX_FILES: u64 = 1 << 20;
/// RLIMIT_NOFILE
const NOFILE: usize = 7;

pub(super) fn limit() -> u64 {
    CURRENT.get().process.limit(NOFILE).min(MAX_FILES)
}

pub(super) fn add(file: Arc<File>, flags: u32, least: usize) -> Result<i32> {
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

/// The buffers of an iovec.
pub(super) fn buffers(vector: u64, count: usize) -> Result<Vec<Buffer>> {
    if count > MAX_VECTOR {
        return Err(Errno::EINVAL);
    }
    let mut room = MAX_COUNT;
    let mut buffers = Vec::with_capacity(count);
    for n in 0..count as u64 {
        let entry = vector.wrapping_add(16 * n);
        let (address, len) = (user::number(entry)?, user::number(entry.wrapping_add(8))?);
        let len = (isize::try_from(len).map_err(|_| Errno::EINVAL)? as usize).min(room);
        room -= len;
        buffers.push((address, len));
    }
    Ok(buffers)
}

pub fn readv(fd: i32, vector: u64, count: usize) -> Result<usize> {
    user::file(fd)?.read(&mut Sink::users(&buffers(vector, count)?))
}

pub fn writev(fd: i32, vector: u64, count: usize) -> Result<usize> {
    user::file(fd)?.write(&mut Source::users(&buffers(vector, count)?))
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
        // F_GETFL: what has a place was opened, and for large files always.
        3 => Ok(u64::from(file.flags() | if file.location.is_some() { open_flags::LARGEFILE } else { 0 })),
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
    add_two(read, write, flags, fds)
}

/// Two files for the program, their numbers to `fds`; none if that cannot be.
pub(super) fn add_two(first: Arc<File>, second: Arc<File>, flags: u32, fds: u64) -> Result<()> {
    let first = add(first, flags, 0)?;
    let result = add(second, flags, 0).and_then(|second| {
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&first.to_le_bytes());
        bytes[4..].copy_from_slice(&second.to_le_bytes());
        uaccess::write(fds, &bytes).map_err(|fault| {
            let _ = close(second);
            fault.into()
        })
    });
    if result.is_err() {
        let _ = close(first);
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
