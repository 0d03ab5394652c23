//! Software-generated interrupts. What the sender did before is seen by who serves it.

use std::sync::{Arc, Mutex as HostMutex};

use core::Fresh;
use core::sync::atomic::{AtomicU32, Ordering};
use loom::sync::Notify;

use crate::percpu::{self, MAX_CPUS};
use crate::run;

static PENDING: [AtomicU32; MAX_CPUS] = [const { AtomicU32::new(0) }; MAX_CPUS];
static LINES: [Fresh<Notify>; MAX_CPUS] = [const { Fresh::new() }; MAX_CPUS];
static HANDLER: HostMutex<Option<fn(u32)>> = HostMutex::new(None);

fn line(cpu: usize) -> Arc<Notify> {
    LINES[cpu].get(|| Arc::new(Notify::new()))
}

/// Who serves interrupts.
pub fn set_handler(handler: fn(u32)) {
    *HANDLER.lock().unwrap() = Some(handler);
}

/// Sends one of 0 to 15.
pub fn send(sgi: u32, cpu: usize) {
    PENDING[cpu].fetch_or(1 << sgi, Ordering::AcqRel);
    line(cpu).notify();
}

/// Waits until one is pending, or the model has ended.
pub(crate) fn wait() {
    let cpu = percpu::id();
    while PENDING[cpu].load(Ordering::Relaxed) == 0 && !run::has_ended() {
        line(cpu).wait();
    }
}

/// Serves what is pending; returns how many. Taking an exception, and returning, synchronises the context.
pub(crate) fn serve() -> u32 {
    let pending = PENDING[percpu::id()].swap(0, Ordering::AcqRel);
    let handler = *HANDLER.lock().unwrap();
    for sgi in (0..16).filter(|sgi| pending >> sgi & 1 != 0) {
        handler.expect("someone serves interrupts")(sgi);
    }
    pending.count_ones()
}
