//! The end of an execution.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::{gic, percpu};

static MISSING: AtomicUsize = AtomicUsize::new(0);

/// So many parts must be done before the CPUs stop.
pub fn expect(parts: usize) {
    MISSING.store(parts, Ordering::SeqCst);
}

/// One part is done. With the last one all CPUs wake, and find that.
pub fn done() {
    if MISSING.fetch_sub(1, Ordering::SeqCst) == 1 {
        (0..percpu::count()).for_each(|cpu| gic::send(LAST, cpu));
    }
}

/// The interrupt that says so.
pub const LAST: u32 = 15;

/// An interrupt that means nothing.
pub const NUDGE: u32 = 14;

/// Are all parts done?
pub fn has_ended() -> bool {
    MISSING.load(Ordering::SeqCst) == 0
}

/// Why a thread was left.
pub(crate) struct Ended;

static CAN_LEAVE: AtomicBool = AtomicBool::new(false);

/// The idle threads of this model never return.
pub(crate) fn idle_is_for_ever() {
    CAN_LEAVE.store(true, Ordering::SeqCst);
}

pub(crate) fn leave_if_ended() {
    if CAN_LEAVE.load(Ordering::SeqCst) && has_ended() {
        resume_unwind(Box::new(Ended));
    }
}
