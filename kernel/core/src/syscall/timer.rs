//! Timers.

use alloc::sync::Arc;

use super::time::{clock_of, clocks as c};
use super::user;
use crate::errno::{Errno, Result};
use crate::proc::table;
use crate::sched::CURRENT;
use crate::signal::{LAST, SIGALRM};
use crate::timer::{IntervalTimer, Notice, Setting, TimerFile, Which};
use crate::vfs::{File, open_flags};

const SECOND: u64 = 1_000_000_000;
/// TIMER_ABSTIME, TFD_TIMER_ABSTIME
const ABSOLUTE: u32 = 1;
/// TFD_TIMER_CANCEL_ON_SET: nobody sets the clock.
const CANCEL_ON_SET: u32 = 2;

/// struct itimerspec: interval, value.
fn setting(address: u64) -> Result<Setting> {
    Ok(Setting { interval: user::timespec(address)?, value: user::timespec(address.wrapping_add(16))? })
}

fn put_setting(address: u64, setting: Setting) -> Result<()> {
    let parts = [setting.interval, setting.value];
    let [a, b] = parts.map(|time| (time / SECOND, time % SECOND));
    user::put_numbers(address, [a.0, a.1, b.0, b.1])
}

/// A time of a clock that is ahead of what its timers go by.
fn of_counter(setting: Setting, offset: u64, flags: u32) -> Setting {
    if flags & ABSOLUTE == 0 || setting.value == 0 {
        return setting;
    }
    // What is over is due at once.
    Setting { value: setting.value.saturating_sub(offset).max(1), ..setting }
}

/// What struct sigevent says, given the timer's number.
enum Event {
    /// No struct.
    Default,
    Given(Notice),
}

fn event(address: u64) -> Result<Event> {
    const SIGNAL: i32 = 0;
    const NONE: i32 = 1;
    const THREAD: i32 = 2;
    const THREAD_ID: i32 = 4;
    if address == 0 {
        return Ok(Event::Default);
    }
    let value = user::number(address)?;
    let (numbers, tid) = (user::number(address.wrapping_add(8))?, user::number(address.wrapping_add(16))? as i32);
    let (signal, kind) = (numbers as i32, (numbers >> 32) as i32);
    let thread = match kind {
        NONE => return Ok(Event::Given(Notice::Nothing)),
        SIGNAL | THREAD => None,
        THREAD_ID => {
            let own = CURRENT.get().process.pid;
            let thread = table::thread(tid).filter(|thread| thread.process.pid == own).ok_or(Errno::EINVAL)?;
            Some(Arc::downgrade(&thread))
        }
        _ => return Err(Errno::EINVAL),
    };
    let signal = u8::try_from(signal).ok().filter(|signal| (1..=LAST).contains(signal)).ok_or(Errno::EINVAL)?;
    Ok(Event::Given(Notice::Signal { id: 0, signal, value, thread }))
}

pub fn timer_create(clock: i32, event_at: u64, id_at: u64) -> Result<()> {
    const RLIMIT_SIGPENDING: usize = 11;
    // These two are there to be read only.
    if matches!(clock, c::MONOTONIC_RAW | c::REALTIME_COARSE | c::MONOTONIC_COARSE) {
        return Err(Errno::EOPNOTSUPP);
    }
    // A clock that there is not takes no number; a process that there is not does.
    if clock >= 0 {
        clock_of(clock)?;
    }
    let process = Arc::clone(&CURRENT.get().process);
    let id = process.timers.create(process.limit(RLIMIT_SIGPENDING), |id| {
        let notice = match event(event_at)? {
            Event::Default => Notice::Signal { id, signal: SIGALRM, value: id as u64, thread: None },
            Event::Given(Notice::Signal { signal, value, thread, .. }) => Notice::Signal { id, signal, value, thread },
            Event::Given(other) => other,
        };
        let (source, offset) = clock_of(clock)?;
        Ok(IntervalTimer::new(Arc::downgrade(&process), source, offset, notice))
    })?;
    hal::uaccess::write(id_at, &id.to_ne_bytes()).map_err(|fault| {
        let _ = process.timers.delete(id);
        fault.into()
    })
}

fn timer(id: i32) -> Result<Arc<IntervalTimer>> {
    CURRENT.get().process.timers.created(id)
}

pub fn timer_settime(id: i32, flags: u32, new: u64, old: u64) -> Result<()> {
    let new = setting(new)?;
    let timer = timer(id)?;
    let before = timer.set(of_counter(new, timer.clock_offset, flags), flags & ABSOLUTE != 0);
    if old == 0 { Ok(()) } else { put_setting(old, before) }
}

pub fn timer_gettime(id: i32, current: u64) -> Result<()> {
    put_setting(current, timer(id)?.get())
}

pub fn timer_getoverrun(id: i32) -> Result<i32> {
    Ok(timer(id)?.overrun())
}

pub fn timer_delete(id: i32) -> Result<()> {
    CURRENT.get().process.timers.delete(id)
}

/// struct timeval, as nanoseconds.
fn timeval(address: u64) -> Result<u64> {
    let (seconds, microseconds) = (user::number(address)?, user::number(address.wrapping_add(8))?);
    if seconds > i64::MAX as u64 || microseconds >= 1_000_000 {
        return Err(Errno::EINVAL);
    }
    Ok(seconds.saturating_mul(SECOND).saturating_add(microseconds * 1000))
}

fn put_interval(address: u64, setting: Setting) -> Result<()> {
    let [a, b] = [setting.interval, setting.value].map(|time| (time / SECOND, time % SECOND / 1000));
    user::put_numbers(address, [a.0, a.1, b.0, b.1])
}

pub fn getitimer(which: u32, current: u64) -> Result<()> {
    let which = Which::of(which)?;
    let process = Arc::clone(&CURRENT.get().process);
    put_interval(current, process.timers.interval(&process, which, None))
}

pub fn setitimer(which: u32, new: u64, old: u64) -> Result<()> {
    let new = match new {
        0 => Setting::default(),
        address => Setting { interval: timeval(address)?, value: timeval(address.wrapping_add(16))? },
    };
    let which = Which::of(which)?;
    let process = Arc::clone(&CURRENT.get().process);
    let before = process.timers.interval(&process, which, Some(new));
    if old == 0 { Ok(()) } else { put_interval(old, before) }
}

pub fn timerfd_create(clock: i32, flags: u32) -> Result<i32> {
    if flags & !(open_flags::CLOEXEC | open_flags::NONBLOCK) != 0
        || !matches!(clock, c::REALTIME | c::MONOTONIC | c::BOOTTIME | c::REALTIME_ALARM | c::BOOTTIME_ALARM)
    {
        return Err(Errno::EINVAL);
    }
    let (_, offset) = clock_of(clock)?;
    let file = File::new(None, Arc::new(TimerFile::new(offset)), open_flags::RDWR | flags);
    super::file::add(Arc::new(file), flags, 0)
}

/// Calls `with` with the timer of an open file.
fn with_file<T>(fd: i32, with: impl FnOnce(&TimerFile) -> T) -> Result<T> {
    let file = user::file(fd)?;
    let timer = file.ops.as_any().and_then(|ops| ops.downcast_ref::<TimerFile>());
    timer.map(with).ok_or(Errno::EINVAL)
}

pub fn timerfd_settime(fd: i32, flags: u32, new: u64, old: u64) -> Result<()> {
    let new = setting(new)?;
    if flags & !(ABSOLUTE | CANCEL_ON_SET) != 0 {
        return Err(Errno::EINVAL);
    }
    let before = with_file(fd, |timer| timer.set(of_counter(new, timer.clock_offset, flags), flags & ABSOLUTE != 0))?;
    if old == 0 { Ok(()) } else { put_setting(old, before) }
}

pub fn timerfd_gettime(fd: i32, current: u64) -> Result<()> {
    put_setting(current, with_file(fd, TimerFile::get)?)
}
