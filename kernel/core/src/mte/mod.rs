//! Memory tagging of programs: modes of threads, asynchronous failures, tags of pages.
//!
//! A thread whose checks are asynchronous or asymmetric has [`flags::MTE_ASYNC`], which takes it off the short way into
//! system calls: so only there TFSRE0_EL1 is read, and no other thread's system call has an instruction for it. It is read
//! on each entry ([`on_entry`]) and cleared before each return ([`on_exit`]): what the kernel's accesses find in between is
//! told to nobody, as under Linux. (With synchronous checks they fault, and the system call gives EFAULT.)

pub mod control;

use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use hal::mem::Frame;
use hal::mte::{self, Mte};
use hal::percpu::{self, MAX_CPUS};
use hal::thread::flags;
use hal::trap::MteCheck;

use crate::cmdline;
use crate::errno::Result;
use crate::feature::{self, Capability};
use crate::proc::Thread;
use crate::sched::CURRENT;
use crate::signal::{self, Info, SIGSEGV};
use control::{Control, Preferred};

/// SEGV_MTEAERR
const ASYNCHRONOUS: i32 = 8;
/// A frame's state: its tags are its contents' (not what another use left).
const TAGS_VALID: u8 = 0x80;

static PREFERRED: AtomicU8 = AtomicU8::new(0);
/// What each CPU's registers hold.
static LOADED: [AtomicU64; MAX_CPUS] = [const { AtomicU64::new(0) }; MAX_CPUS];

/// Reads `mte_tcf_preferred=async|sync|asymm`, once the features are final.
pub fn init() {
    let preferred = match cmdline::value("mte_tcf_preferred") {
        Some("sync") => Preferred::Sync,
        // Where the CPUs have it; else as if nothing had been said.
        Some("asymm") if feature::has(Capability::Mte3) => Preferred::Asymmetric,
        _ => Preferred::Async,
    };
    PREFERRED.store(preferred as u8, Ordering::Relaxed);
}

/// Reads `mte_check=folded|flag|feature`: how system calls look for failures. Before other CPUs start.
pub fn choose_check() {
    hal::trap::choose(match cmdline::value("mte_check") {
        Some("flag") => MteCheck::Flag,
        Some("feature") => MteCheck::Feature,
        _ => MteCheck::Folded,
    });
}

fn preferred() -> Preferred {
    match PREFERRED.load(Ordering::Relaxed) {
        1 => Preferred::Sync,
        2 => Preferred::Asymmetric,
        _ => Preferred::Async,
    }
}

fn load(mte: Mte, control: Control) {
    mte.set(control.check(preferred()), control.excluded());
    LOADED[percpu::id()].store(control.bits(), Ordering::Relaxed);
}

/// The current thread's mode becomes this one.
pub fn set_control(control: Control) {
    let current = CURRENT.get();
    current.mte_control.store(control.bits(), Ordering::Relaxed);
    if control.allows_tags() {
        current.context.set_flags(flags::TAGGED_ADDRESSES);
    } else {
        current.context.clear_flags(flags::TAGGED_ADDRESSES);
    }
    let Some(mte) = mte::get() else { return };
    if control::is_asynchronous(control.check(preferred())) {
        current.context.set_flags(flags::MTE_ASYNC);
    } else {
        current.context.clear_flags(flags::MTE_ASYNC);
    }
    load(mte, control);
}

/// exec: no mode.
pub fn reset() {
    set_control(Control::default());
}

/// A new thread has its maker's mode.
pub fn inherit(new: &Thread, from: &Thread) {
    new.mte_control.store(from.mte_control.load(Ordering::Relaxed), Ordering::Relaxed);
    new.context.set_flags(from.context.flags() & (flags::MTE_ASYNC | flags::TAGGED_ADDRESSES));
}

/// The current thread's word for PR_GET_TAGGED_ADDR_CTRL.
pub fn control() -> Result<u64> {
    Ok(CURRENT.get().mte_control.load(Ordering::Relaxed))
}

/// In a switch, while `previous` is current: the registers become the next one's. What the program failed in was taken
/// note of on entry; what failed since then is the kernel's, and dropped.
pub fn switch(previous: &Thread, next: &Thread) {
    let Some(mte) = mte::get() else { return };
    if previous.context.flags() & flags::MTE_ASYNC != 0 {
        mte.take_fault();
    }
    let control = next.mte_control.load(Ordering::Relaxed);
    // An idle thread runs nothing at EL0.
    if !next.is_idle() && LOADED[percpu::id()].load(Ordering::Relaxed) != control {
        load(mte, Control::from_bits(control));
    }
}

/// On entry from EL0: if an access failed asynchronously, one SIGSEGV. True if so. TFSRE0_EL1 is of no interest, and not
/// touched, in the other modes.
pub fn on_entry() -> bool {
    let Some(mte) = mte::get() else { return false };
    {
        let current = CURRENT.get();
        if current.context.flags() & flags::MTE_ASYNC == 0 {
            return false;
        }
        current.context.set_flags(flags::MTE_CLEAR);
        if !mte.take_fault() {
            return false;
        }
    }
    // It belongs to no instruction, so to no address.
    signal::force(SIGSEGV, Info::of_fault(ASYNCHRONOUS, 0));
    true
}

/// Before the return to EL0, with the flag MTE_CLEAR set.
pub fn on_exit() {
    CURRENT.get().context.clear_flags(flags::MTE_CLEAR);
    if let Some(mte) = mte::get() {
        mte.take_fault();
    }
}

/// Before a page is mapped with PROT_MTE: its tags are 0, unless they are its own already.
pub fn prepare(frame: &Frame) {
    let Some(mte) = mte::get() else { return };
    if frame.state().load(Ordering::Acquire) & TAGS_VALID == 0 {
        mte.clear_tags(frame);
        frame.state().fetch_or(TAGS_VALID, Ordering::Release);
    }
}

/// After a page was copied: its tags too, if it has any.
pub fn copy(to: &Frame, from: &Frame) {
    let Some(mte) = mte::get() else { return };
    if from.state().load(Ordering::Acquire) & TAGS_VALID != 0 {
        mte.copy_tags(to, from);
        to.state().fetch_or(TAGS_VALID, Ordering::Release);
    }
}
