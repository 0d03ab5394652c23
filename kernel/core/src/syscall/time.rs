//! Clocks.

use core::sync::atomic::Ordering;

use hal::uaccess;

use super::user;
use crate::errno::{Errno, Result};
use crate::proc::Process;
use crate::sched::{self, CURRENT};
use crate::time;

const SECOND: u64 = 1_000_000_000;

fn process_nanoseconds(process: &Process) -> u64 {
    let running: u64 = process.threads.lock().iter().map(|thread| thread.ticks()).sum();
    sched::nanoseconds_of(running + process.ended_ticks.load(Ordering::Relaxed))
}

fn read_clock(clock: i32) -> Result<u64> {
    match clock {
        // REALTIME, REALTIME_COARSE, TAI
        0 | 5 | 11 => Ok(time::realtime()),
        // MONOTONIC, MONOTONIC_RAW, MONOTONIC_COARSE, BOOTTIME
        1 | 4 | 6 | 7 => Ok(sched::now_nanoseconds()),
        2 => Ok(process_nanoseconds(&CURRENT.get().process)),
        3 => Ok(sched::nanoseconds_of(CURRENT.get().ticks())),
        _ => Err(Errno::EINVAL),
    }
}

fn put_time(address: u64, nanoseconds: u64) -> Result<()> {
    user::put_numbers(address, [nanoseconds / SECOND, nanoseconds % SECOND])
}

pub fn clock_gettime(clock: i32, address: u64) -> Result<()> {
    put_time(address, read_clock(clock)?)
}

pub fn clock_getres(clock: i32, address: u64) -> Result<()> {
    read_clock(clock)?;
    if address == 0 { Ok(()) } else { put_time(address, 1) }
}

pub fn gettimeofday(address: u64, _zone: u64) -> Result<()> {
    let now = time::realtime();
    user::put_numbers(address, [now / SECOND, now % SECOND / 1000])
}

pub fn nanosleep(request: u64, remaining: u64) -> Result<()> {
    sleep(sched::after_nanoseconds(user::timespec(request)?), remaining)
}

fn sleep(deadline: u64, remaining: u64) -> Result<()> {
    let result = time::sleep_until(deadline);
    if result.is_err() && remaining != 0 {
        let left = sched::nanoseconds_of(deadline.saturating_sub(hal::timer::now()));
        put_time(remaining, left)?;
    }
    // A restart would sleep for the whole time again.
    result.map_err(|_| Errno::EINTR)
}

pub fn clock_nanosleep(clock: i32, flags: u32, request: u64, remaining: u64) -> Result<()> {
    const ABSOLUTE: u32 = 1;
    let time = user::timespec(request)?;
    let now = read_clock(clock)?;
    if flags & ABSOLUTE != 0 {
        return sleep(sched::after_nanoseconds(time.saturating_sub(now)), 0);
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
pub(super) fn put_usage(address: u64, process: &Process) -> Result<()> {
    put_rusage(address, process_nanoseconds(process))
}

fn put_rusage(address: u64, nanoseconds: u64) -> Result<()> {
    uaccess::clear(address, 144)?;
    user::put_numbers(address, [nanoseconds / SECOND, nanoseconds % SECOND / 1000])
}

pub fn getrusage(who: i32, buffer: u64) -> Result<()> {
    let process = alloc::sync::Arc::clone(&CURRENT.get().process);
    let nanoseconds = match who {
        0 => process_nanoseconds(&process),
        -1 => sched::nanoseconds_of(process.children_ticks.load(Ordering::Relaxed)),
        1 => sched::nanoseconds_of(CURRENT.get().ticks()),
        _ => return Err(Errno::EINVAL),
    };
    put_rusage(buffer, nanoseconds)
}
