//! Clocks.

use alloc::sync::Arc;
use core::sync::atomic::Ordering;

use hal::uaccess;

use super::user;
use crate::errno::{Errno, Result};
use crate::proc::{Process, table};
use crate::sched::{self, CURRENT};
use crate::signal::Restart;
use crate::time;
use crate::timer::Clock;

const SECOND: u64 = 1_000_000_000;

/// Clocks by number (include/uapi/linux/time.h).
pub(super) mod clocks {
    pub const REALTIME: i32 = 0;
    pub const MONOTONIC: i32 = 1;
    pub const PROCESS: i32 = 2;
    pub const THREAD: i32 = 3;
    pub const MONOTONIC_RAW: i32 = 4;
    pub const REALTIME_COARSE: i32 = 5;
    pub const MONOTONIC_COARSE: i32 = 6;
    pub const BOOTTIME: i32 = 7;
    /// As the one without ALARM: nothing sleeps so deeply that it had to be woken.
    pub const REALTIME_ALARM: i32 = 8;
    pub const BOOTTIME_ALARM: i32 = 9;
    pub const TAI: i32 = 11;
}
use clocks as c;

/// What a clock goes by, and what it has when the counter has 0.
pub(super) fn clock_of(clock: i32) -> Result<(Clock, u64)> {
    /// A negative number is one of CPU time: of which process or thread, and bits for which of the two and the kind.
    const KIND: i32 = 3;
    const SCHED: i32 = 2;
    const OF_THREAD: i32 = 4;
    let current = CURRENT.share();
    let own = &current.process;
    Ok(match clock {
        c::REALTIME | c::REALTIME_COARSE | c::REALTIME_ALARM | c::TAI => {
            (Clock::Counter, time::realtime() - sched::now_nanoseconds())
        }
        c::MONOTONIC | c::MONOTONIC_RAW | c::MONOTONIC_COARSE | c::BOOTTIME | c::BOOTTIME_ALARM => (Clock::Counter, 0),
        c::PROCESS => (Clock::Process(Arc::downgrade(own)), 0),
        c::THREAD => (Clock::Thread(Arc::downgrade(&current)), 0),
        ..0 if clock & KIND == SCHED => {
            let id = !(clock >> 3);
            if clock & OF_THREAD != 0 {
                let thread = if id == 0 { Some(current) } else { table::thread(id) };
                (Clock::Thread(Arc::downgrade(&thread.ok_or(Errno::EINVAL)?)), 0)
            } else {
                let process = if id == 0 { Some(Arc::clone(own)) } else { table::process(id) };
                (Clock::Process(Arc::downgrade(&process.ok_or(Errno::EINVAL)?)), 0)
            }
        }
        _ => return Err(Errno::EINVAL),
    })
}

fn process_nanoseconds(process: &Process) -> u64 {
    sched::nanoseconds_of(process.ticks())
}

fn read_clock(clock: i32) -> Result<u64> {
    let (clock, offset) = clock_of(clock)?;
    Ok(clock.now().saturating_add(offset))
}

fn put_time(address: u64, nanoseconds: u64) -> Result<()> {
    user::put_numbers(address, [nanoseconds / SECOND, nanoseconds % SECOND])
}

pub fn clock_gettime(clock: i32, address: u64) -> Result<()> {
    put_time(address, read_clock(clock)?)
}

pub fn clock_getres(clock: i32, address: u64) -> Result<()> {
    /// The coarse clocks tell the time of the last tick of 250 Hz: that is what programs are to expect of them.
    const COARSE: u64 = SECOND / 250;
    read_clock(clock)?;
    let resolution = if matches!(clock, c::REALTIME_COARSE | c::MONOTONIC_COARSE) { COARSE } else { 1 };
    if address == 0 { Ok(()) } else { put_time(address, resolution) }
}

pub fn gettimeofday(address: u64, _zone: u64) -> Result<()> {
    let now = time::realtime();
    user::put_numbers(address, [now / SECOND, now % SECOND / 1000])
}

pub fn nanosleep(request: u64, remaining: u64) -> Result<()> {
    sleep(sched::after_nanoseconds(user::timespec(request)?), remaining)
}

/// Sleeps until the counter reaches `deadline`. If a signal ends that, what is left is stored, and without a handler the
/// sleep goes on to the same deadline.
pub(super) fn sleep(deadline: u64, remaining: u64) -> Result<()> {
    if time::sleep_until(deadline).is_ok() {
        return Ok(());
    }
    let left = deadline.saturating_sub(hal::timer::now());
    if left == 0 {
        return Ok(());
    }
    if remaining != 0 {
        put_time(remaining, sched::nanoseconds_of(left))?;
    }
    *CURRENT.get().signals.restart.lock() = Restart::Sleep(deadline, remaining);
    Err(Errno::ERESTART_RESTARTBLOCK)
}

pub fn clock_nanosleep(clock: i32, flags: u32, request: u64, remaining: u64) -> Result<()> {
    const ABSOLUTE: u32 = 1;
    if matches!(clock, c::THREAD | c::MONOTONIC_RAW | c::REALTIME_COARSE | c::MONOTONIC_COARSE) {
        return Err(Errno::EOPNOTSUPP);
    }
    let (source, offset) = clock_of(clock)?;
    let time = user::timespec(request)?;
    let now = source.now().saturating_add(offset);
    match source {
        Clock::Thread(thread) if thread.as_ptr() == Arc::as_ptr(&CURRENT.share()) => return Err(Errno::EINVAL),
        // Sleeping for another's CPU time: looked at again and again.
        Clock::Process(_) | Clock::Thread(_) => {
            let until = if flags & ABSOLUTE != 0 { time } else { now.saturating_add(time) };
            while source.now() < until {
                let left = until - source.now();
                time::sleep(left.max(SECOND / 1000)).map_err(|_| Errno::ERESTARTNOHAND)?;
            }
            return Ok(());
        }
        Clock::Counter => {}
    }
    if flags & ABSOLUTE != 0 {
        let deadline = sched::after_nanoseconds(time.saturating_sub(now));
        return time::sleep_until(deadline).map_err(|_| Errno::ERESTARTNOHAND);
    }
    sleep(sched::after_nanoseconds(time), remaining)
}

pub fn times(buffer: u64) -> Result<u64> {
    /// Clock ticks a second of this call (AT_CLKTCK).
    const TICK: u64 = SECOND / 100;
    let process = alloc::sync::Arc::clone(&CURRENT.get().process);
    let own = process_nanoseconds(&process) / TICK;
    let children = sched::nanoseconds_of(process.children_ticks.load(Ordering::Relaxed)) / TICK;
    if buffer != 0 {
        user::put_numbers(buffer, [own, 0, children, 0])?;
    }
    Ok(sched::now_nanoseconds() / TICK)
}

/// struct rusage: user and system time, then fourteen counts.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    nanoseconds: u64,
    /// Largest resident memory, pages.
    resident: u64,
    /// Page faults; none needs a disk.
    faults: u64,
}

impl Usage {
    fn of(process: &Process) -> Self {
        let faults: u64 = process.threads.lock().iter().map(|thread| thread.faults.load(Ordering::Relaxed)).sum();
        // Only what is resident now is known.
        let mm = process.any_thread().and_then(|thread| thread.mm().ok());
        Self {
            nanoseconds: process_nanoseconds(process),
            resident: mm.map_or(0, |mm| mm.lock().sizes().1),
            faults: faults + process.ended_faults.load(Ordering::Relaxed),
        }
    }

    fn put(self, address: u64) -> Result<()> {
        const MAXRSS: u64 = 32;
        const MINFLT: u64 = 64;
        uaccess::clear(address, 144)?;
        user::put_numbers(address, [self.nanoseconds / SECOND, self.nanoseconds % SECOND / 1000])?;
        user::put_numbers(address.wrapping_add(MAXRSS), [self.resident * (crate::mm::PAGE / 1024)])?;
        user::put_numbers(address.wrapping_add(MINFLT), [self.faults])
    }
}

pub(super) fn put_usage(address: u64, process: &Process) -> Result<()> {
    Usage::of(process).put(address)
}

pub fn getrusage(who: i32, buffer: u64) -> Result<()> {
    let current = CURRENT.share();
    let process = &current.process;
    let usage = match who {
        0 => Usage::of(process),
        -1 => Usage {
            nanoseconds: sched::nanoseconds_of(process.children_ticks.load(Ordering::Relaxed)),
            ..Usage::default()
        },
        1 => Usage {
            nanoseconds: sched::nanoseconds_of(current.ticks()),
            faults: current.faults.load(Ordering::Relaxed),
            ..Usage::of(process)
        },
        _ => return Err(Errno::EINVAL),
    };
    usage.put(buffer)
}
