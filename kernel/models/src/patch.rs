//! Code that changes. A CPU goes on with the instruction that it has fetched until it synchronises its context.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::percpu::{self, MAX_CPUS};

/// A key's number.
pub type Key = u32;

const KEYS: usize = 1;
static CODE: [AtomicBool; KEYS] = [const { AtomicBool::new(false) }; KEYS];
/// What each CPU has fetched.
static FETCHED: [[AtomicBool; KEYS]; MAX_CPUS] = [const { [const { AtomicBool::new(false) }; KEYS] }; MAX_CPUS];

fn code(key: usize) -> &'static AtomicBool {
    &CODE[key]
}
fn fetched(key: usize) -> &'static AtomicBool {
    &FETCHED[percpu::id()][key]
}

/// Is it on, as far as this CPU knows?
pub fn is_on<const KEY: Key>() -> bool {
    fetched(KEY as usize).load(Ordering::Relaxed)
}

/// Changes it: one site. This CPU synchronises.
pub fn set(key: Key, on: bool) -> usize {
    code(key as usize).store(on, Ordering::Relaxed);
    synchronise();
    1
}

pub(crate) fn synchronise() {
    for key in 0..KEYS {
        fetched(key).store(code(key).load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

static STANDING: AtomicUsize = AtomicUsize::new(0);
static IS_DONE: AtomicBool = AtomicBool::new(false);
/// The alternatives: one, which is on.
pub static ALTERNATIVE: AtomicBool = AtomicBool::new(false);

/// Stands still until the alternatives are there.
pub fn stand_still() {
    STANDING.fetch_add(1, Ordering::AcqRel);
    // Who waits for that looks again.
    (0..percpu::count()).filter(|cpu| *cpu != percpu::id()).for_each(|cpu| crate::gic::send(crate::run::NUDGE, cpu));
    while !IS_DONE.load(Ordering::Acquire) {
        IS_DONE.block_while(false);
    }
    synchronise();
}

/// How many stand.
pub fn standing() -> usize {
    STANDING.load(Ordering::Acquire)
}

/// Replaces the code, while the others stand.
pub fn apply_alternatives(is_met: impl Fn(u32) -> bool) -> usize {
    assert_eq!(STANDING.load(Ordering::Relaxed), percpu::count() - 1, "all others stand");
    ALTERNATIVE.store(is_met(0), Ordering::Relaxed);
    IS_DONE.store(true, Ordering::Release);
    1
}
