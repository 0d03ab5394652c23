//! Orders that all CPUs carry out, by a software-generated interrupt.

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use hal::{gic, percpu};

use crate::sched::wait::{Mutex, mutex};

/// The interrupt.
pub const SGI: u32 = 3;

/// What a CPU is told to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Order {
    /// Nothing but to synchronise its context.
    Synchronise,
    /// To write the PID of its thread into CONTEXTIDR.
    WritePid,
    /// To write 0 there.
    ClearPid,
    /// To report what is there: see [`crate::contextidr::Session`].
    ReportPid,
}

/// One order at a time.
static ROUND: Mutex<()> = mutex(());
static ORDER: AtomicU32 = AtomicU32::new(0);
static MISSING: AtomicUsize = AtomicUsize::new(0);

/// Has every CPU carry it out, and returns when all have. Sleeps: no spin lock may be held.
pub fn on_all(order: Order) {
    let _round = ROUND.lock();
    // Only sleeping moves a thread to another CPU, and nothing sleeps from here on.
    let me = percpu::id();
    let count = percpu::count();
    ORDER.store(order as u32, Ordering::Relaxed);
    MISSING.store(count - 1, Ordering::Release);
    (0..count).filter(|cpu| *cpu != me).for_each(|cpu| gic::send(SGI, cpu));
    carry_out(order);
    while MISSING.load(Ordering::Acquire) != 0 {
        // Another CPU may be waiting for this one meanwhile, to carry out something else of the scheduler's.
        hal::cpu::window();
    }
}

/// The interrupt has come.
pub fn on_interrupt() {
    carry_out(match ORDER.load(Ordering::Acquire) {
        1 => Order::WritePid,
        2 => Order::ClearPid,
        3 => Order::ReportPid,
        _ => Order::Synchronise,
    });
    MISSING.fetch_sub(1, Ordering::AcqRel);
}

fn carry_out(order: Order) {
    match order {
        Order::Synchronise => {}
        Order::WritePid => crate::contextidr::write_own(),
        Order::ClearPid => hal::cpu::set_context_id(0),
        Order::ReportPid => crate::contextidr::report_own(),
    }
    // Exception entry and return synchronise too, but for CPUs with FEAT_ExS that were told otherwise.
    hal::cpu::isb();
}
