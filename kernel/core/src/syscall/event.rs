//! Waiting for files: poll, select, epoll, eventfd.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use hal::uaccess;

use super::file::{add, limit};
use super::user;
use crate::errno::{Errno, Result};
use crate::sched::wait::{Ended, Sleep, WaitQueue};
use crate::sched::{self};
use crate::signal::{self, SigSet};
use crate::vfs::epoll::{self, Change, Event};
use crate::vfs::eventfd::{self, Take};
use crate::vfs::{File, Poll, open_flags};

/// Bytes of a set of signals.
const SET: u64 = 8;

/// Waits with the signals at `mask` blocked in place of the thread's own; 0: with its own. If a signal ends it, the mask
/// goes back behind its handler.
fn with_mask<T>(mask: u64, size: u64, wait: impl FnOnce() -> Result<T>) -> Result<T> {
    if mask == 0 {
        return wait();
    }
    if size != SET {
        return Err(Errno::EINVAL);
    }
    let mask = SigSet(user::number(mask)?);
    signal::set_aside_and_block(mask);
    let result = wait();
    if !matches!(result, Err(Errno::EINTR | Errno::ERESTARTNOHAND)) {
        signal::put_back();
    }
    result
}

/// The counter's value at the end of a timespec from now; a null pointer: never.
fn deadline(timeout: u64) -> Result<Option<u64>> {
    if timeout == 0 {
        return Ok(None);
    }
    Ok(Some(sched::after_nanoseconds(user::timespec(timeout)?)))
}

/// What is left until then, in place of the timespec.
fn put_left(timeout: u64, deadline: Option<u64>) {
    if let Some(deadline) = deadline {
        let left = sched::nanoseconds_of(deadline.saturating_sub(hal::timer::now()));
        // What cannot be told is not told.
        let _ = user::put_numbers(timeout, [left / 1_000_000_000, left % 1_000_000_000]);
    }
}

/// One of poll's entries: struct pollfd.
#[derive(Clone, Copy, Debug)]
struct PollEntry {
    fd: i32,
    events: u32,
}

pub fn ppoll(fds: u64, count: usize, timeout: u64, mask: u64, size: u64) -> Result<usize> {
    if count as u64 > limit() {
        return Err(Errno::EINVAL);
    }
    let deadline = deadline(timeout)?;
    let mut bytes = crate::memory::zeroed(8 * count)?;
    crate::memory::check_room(64 * count)?;
    uaccess::read(&mut bytes, fds)?;
    let entries: Vec<PollEntry> = bytes
        .chunks_exact(8)
        .map(|entry| PollEntry {
            fd: i32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]),
            events: u32::from(u16::from_le_bytes([entry[4], entry[5]])) | Poll::ERROR.0 | Poll::HANG_UP.0,
        })
        .collect();
    let files: Vec<Option<Result<Arc<File>>>> =
        entries.iter().map(|entry| (entry.fd >= 0).then(|| user::file(entry.fd))).collect();
    let result = with_mask(mask, size, || poll(&entries, &files, deadline));
    put_left(timeout, deadline);
    let (count, events) = result?;
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
                Some(Ok(file)) => file.ops.poll(file).0 & entry.events,
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
    let result = own.wait_until(Sleep::Interruptible, deadline, || {
        join(false);
        join(true);
        look()
    });
    join(false);
    match result {
        Ok(found) => Ok(found),
        Err(Ended::ByTime) => Ok((0, vec![0; entries.len()])),
        Err(Ended::BySignal) => Err(Errno::ERESTARTNOHAND),
    }
}

/// What readable, writable and exceptional are, as poll's events.
const SELECTED: [u32; 3] = [
    // IN, RDNORM, RDBAND, HUP, ERR
    0x1 | 0x40 | 0x80 | 0x10 | 0x8,
    // OUT, WRNORM, WRBAND, ERR
    0x4 | 0x100 | 0x200 | 0x8,
    // PRI
    0x2,
];

pub fn pselect6(count: i32, reads: u64, writes: u64, exceptions: u64, timeout: u64, mask: u64) -> Result<usize> {
    let count = usize::try_from(count).map_err(|_| Errno::EINVAL)?.min(limit() as usize);
    let deadline = deadline(timeout)?;
    let (mask, size) = match mask {
        0 => (0, 0),
        at => (user::number(at)?, user::number(at.wrapping_add(8))?),
    };
    let places = [reads, writes, exceptions];
    let len = count.div_ceil(64) * 8;
    let zeros = || crate::memory::zeroed(len);
    let mut sets = [zeros()?, zeros()?, zeros()?];
    for (set, at) in sets.iter_mut().zip(places).filter(|(_, at)| *at != 0) {
        uaccess::read(set, at)?;
    }
    let is_in = |set: &[u8], fd: usize| set[fd / 8] >> (fd % 8) & 1 != 0;
    let mut entries = Vec::new();
    let mut files = Vec::new();
    for fd in 0..count {
        let wanted = sets.iter().zip(SELECTED).filter(|(set, _)| is_in(set, fd));
        let events = wanted.fold(0, |events, (_, selected)| events | selected);
        if events != 0 {
            files.push(Some(Ok(user::file(fd as i32)?)));
            entries.push(PollEntry { fd: fd as i32, events });
        }
    }
    let result = with_mask(mask, size, || poll(&entries, &files, deadline));
    put_left(timeout, deadline);
    let (_, events) = result?;
    let mut total = 0;
    for ((set, selected), at) in sets.iter_mut().zip(SELECTED).zip(places) {
        let mut found = vec![0; len];
        for (entry, events) in entries.iter().zip(&events) {
            let fd = entry.fd as usize;
            if is_in(set, fd) && events & selected != 0 {
                found[fd / 8] |= 1 << (fd % 8);
                total += 1;
            }
        }
        if at != 0 {
            uaccess::write(at, &found)?;
        }
    }
    Ok(total)
}

pub fn eventfd2(count: u32, flags: u32) -> Result<i32> {
    const SEMAPHORE: u32 = 1;
    if flags & !(SEMAPHORE | open_flags::CLOEXEC | open_flags::NONBLOCK) != 0 {
        return Err(Errno::EINVAL);
    }
    let take = if flags & SEMAPHORE != 0 { Take::One } else { Take::All };
    add(eventfd::new(u64::from(count), take, flags), flags, 0)
}

pub fn epoll_create1(flags: u32) -> Result<i32> {
    if flags & !open_flags::CLOEXEC != 0 {
        return Err(Errno::EINVAL);
    }
    add(epoll::new(), flags, 0)
}

/// Bytes of struct epoll_event.
const EVENT: u64 = 16;

pub fn epoll_ctl(epoll: i32, operation: u32, fd: i32, event: u64) -> Result<()> {
    const ADD: u32 = 1;
    const REMOVE: u32 = 2;
    const MODIFY: u32 = 3;
    let wanted = if operation == REMOVE {
        Event::default()
    } else {
        Event { events: user::number(event)? as u32, data: user::number(event.wrapping_add(8))? }
    };
    let (epoll_file, file) = (user::file(epoll)?, user::file(fd)?);
    // What has offsets is always ready, and cannot be waited for.
    if file.ops.size().is_some() {
        return Err(Errno::EPERM);
    }
    let epoll = epoll::of(&epoll_file).filter(|_| !Arc::ptr_eq(&epoll_file, &file)).ok_or(Errno::EINVAL)?;
    let change = match operation {
        ADD => Change::Add(wanted),
        REMOVE => Change::Remove,
        MODIFY if wanted.events & epoll::how::EXCLUSIVE != 0 => return Err(Errno::EINVAL),
        MODIFY => Change::Modify(wanted),
        _ => return Err(Errno::EINVAL),
    };
    epoll.change(&file, fd, change)
}

fn wait(epoll: i32, events: u64, count: i32, deadline: Option<u64>, mask: u64, size: u64) -> Result<usize> {
    /// As many as an int has bytes for.
    const MOST: usize = i32::MAX as usize / EVENT as usize;
    let most = usize::try_from(count).ok().filter(|count| (1..=MOST).contains(count)).ok_or(Errno::EINVAL)?;
    let file = user::file(epoll)?;
    let epoll = epoll::of(&file).ok_or(Errno::EINVAL)?;
    let found = with_mask(mask, size, || epoll.wait(most, deadline))?;
    for (n, event) in found.iter().enumerate() {
        user::put_numbers(events.wrapping_add(EVENT * n as u64), [u64::from(event.events), event.data])?;
    }
    Ok(found.len())
}

pub fn epoll_pwait(epoll: i32, events: u64, count: i32, timeout: i32, mask: u64, size: u64) -> Result<usize> {
    let nanoseconds = u64::try_from(timeout).ok().map(|milliseconds| milliseconds * 1_000_000);
    wait(epoll, events, count, nanoseconds.map(sched::after_nanoseconds), mask, size)
}

pub fn epoll_pwait2(epoll: i32, events: u64, count: i32, timeout: u64, mask: u64, size: u64) -> Result<usize> {
    wait(epoll, events, count, deadline(timeout)?, mask, size)
}
