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
    /// To start counting for samples, see [`crate::sampler`].
    StartSampling,
    /// To stop that.
    StopSampling,
    /// To stand still while code is replaced; see [`while_others_stand`].
    StandStill,
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

/// Calls `work` while all other CPUs stand still in code that `work` does not change. At boot only: `work` has to let them
/// go, which [`hal::patch::apply_alternatives`] does, and can do once. Sleeps.
pub fn while_others_stand<T>(work: impl FnOnce() -> T) -> T {
    let _round = ROUND.lock();
    let me = percpu::id();
    let count = percpu::count();
    ORDER.store(Order::StandStill as u32, Ordering::Relaxed);
    MISSING.store(count - 1, Ordering::Release);
    (0..count).filter(|cpu| *cpu != me).for_each(|cpu| gic::send(SGI, cpu));
    while hal::patch::standing() < count - 1 {
        hal::cpu::window();
    }
    // From here on this CPU serves no interrupt: what serves them may be half replaced.
    let result = work();
    while MISSING.load(Ordering::Acquire) != 0 {
        hal::cpu::window();
    }
    result
}

/// The interrupt has come.
pub fn on_interrupt() {
    carry_out(match ORDER.load(Ordering::Acquire) {
        1 => Order::WritePid,
        2 => Order::ClearPid,
        3 => Order::ReportPid,
        4 => Order::StartSampling,
        5 => Order::StopSampling,
        6 => Order::StandStill,
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
        Order::StartSampling => crate::sampler::start_own(),
        Order::StopSampling => crate::sampler::stop_own(),
        Order::StandStill => hal::patch::stand_still(),
    }
    // Exception entry and return synchronise too, but for CPUs with FEAT_ExS that were told otherwise.
    hal::cpu::isb();
}
