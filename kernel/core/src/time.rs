//! Clocks and sleeping.

use crate::errno::{Errno, Result};
use crate::sched::wait::{Ended, Sleep, WaitQueue};
use crate::sched::{after_nanoseconds, now_nanoseconds};

/// 2026-01-01: there is no real-time clock that is read yet.
const BOOT_SECONDS: u64 = 1_767_225_600;

/// Seconds of 1970 at which the counter was 0.
pub fn boot_seconds() -> u64 {
    BOOT_SECONDS
}

/// Nanoseconds since 1970.
pub fn realtime() -> u64 {
    BOOT_SECONDS * 1_000_000_000 + now_nanoseconds()
}

/// Sleeps; ERESTARTSYS with a signal.
pub fn sleep(nanoseconds: u64) -> Result<()> {
    sleep_until(after_nanoseconds(nanoseconds))
}

/// Sleeps until the counter reaches `deadline`.
pub fn sleep_until(deadline: u64) -> Result<()> {
    match WaitQueue::new().wait_until(Sleep::Interruptible, Some(deadline), || None::<()>) {
        Err(Ended::BySignal) => Err(Errno::ERESTARTSYS),
        _ => Ok(()),
    }
}

/// Sleeps whatever comes.
pub fn sleep_uninterruptibly(nanoseconds: u64) {
    let deadline = after_nanoseconds(nanoseconds);
    let _ = WaitQueue::new().wait_until(Sleep::Uninterruptible, Some(deadline), || None::<()>);
}
