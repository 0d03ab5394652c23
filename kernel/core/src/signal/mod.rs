//! Signals: who gets them, and what becomes of them.
//!
//! `send`: a signal waits in the `Pending` of a thread or a process, and the thread flag `SIGNAL` makes a thread look on its
//! way to EL0 · `deliver`: what it finds there · `frame`: the frame on the program's stack on which a handler runs ·
//! `action`: what a process does about each · `info`: siginfo_t · `file`: signalfd. Stopping is in `proc::job`.

mod action;
mod deliver;
pub mod file;
mod frame;
mod info;
mod pending;
mod send;
mod stack;

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hal::sync::SpinLock;
use hal::thread::flags;

pub use action::{Action, Default as DefaultAction, Handlers, default_action};
pub use deliver::{deliver, return_from_handler};
pub use frame::map_trampoline;
pub use info::{Cause, Info, SI_TKILL, SIZE as INFO_SIZE, TimerSignal};
pub use pending::Pending;
pub use send::{force, is_dropped, notify, send_to_process, send_to_thread, try_send_to_process, try_send_to_thread};
pub use stack::{AltStack, MIN_ALT_STACK};

use crate::sched::CURRENT;
use crate::sched::wait::{Ended, Sleep, WaitQueue};

/// Signals' numbers (include/uapi/asm-generic/signal.h).
#[allow(missing_docs)]
mod numbers {
    pub const SIGHUP: u8 = 1;
    pub const SIGINT: u8 = 2;
    pub const SIGQUIT: u8 = 3;
    pub const SIGILL: u8 = 4;
    pub const SIGTRAP: u8 = 5;
    pub const SIGABRT: u8 = 6;
    pub const SIGBUS: u8 = 7;
    pub const SIGFPE: u8 = 8;
    pub const SIGKILL: u8 = 9;
    pub const SIGSEGV: u8 = 11;
    pub const SIGPIPE: u8 = 13;
    pub const SIGALRM: u8 = 14;
    pub const SIGTERM: u8 = 15;
    pub const SIGCHLD: u8 = 17;
    pub const SIGCONT: u8 = 18;
    pub const SIGSTOP: u8 = 19;
    pub const SIGTSTP: u8 = 20;
    pub const SIGTTIN: u8 = 21;
    pub const SIGTTOU: u8 = 22;
    pub const SIGURG: u8 = 23;
    pub const SIGXCPU: u8 = 24;
    pub const SIGVTALRM: u8 = 26;
    pub const SIGPROF: u8 = 27;
    pub const SIGWINCH: u8 = 28;
    pub const SIGSYS: u8 = 31;
}
pub use numbers::*;

/// Signals are 1 to this.
pub const LAST: u8 = 64;

/// AT_MINSIGSTKSZ: the frame of a handler with the context that exists, and what aligning it may take.
pub const MIN_STACK: u64 = frame::SIZE + 16;

/// A set of signals: bit n - 1 for signal n.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SigSet(pub u64);

impl SigSet {
    /// Is it in there?
    pub const fn has(self, signal: u8) -> bool {
        self.0 >> (signal - 1) & 1 != 0
    }
    /// One signal.
    pub const fn of(signal: u8) -> Self {
        Self(1 << (signal - 1))
    }
    /// Those that can be blocked.
    #[must_use]
    pub const fn blockable(self) -> Self {
        Self(self.0 & !(Self::of(SIGKILL).0 | Self::of(SIGSTOP).0))
    }
}

/// The signals that stop a process.
const STOPPING: SigSet =
    SigSet(SigSet::of(SIGSTOP).0 | SigSet::of(SIGTSTP).0 | SigSet::of(SIGTTIN).0 | SigSet::of(SIGTTOU).0);
/// The one that ends that.
const CONTINUING: SigSet = SigSet::of(SIGCONT);

/// What restart_syscall(2) goes on with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Restart {
    /// Nothing: EINTR.
    #[default]
    Nothing,
    /// A sleep until the counter reaches this; where to store what is left of it (0: nowhere).
    Sleep(u64, u64),
    /// A wait at a futex: address, whether private, value, bits, deadline.
    Futex(u64, bool, u32, u32, u64),
}

/// A thread's part.
#[derive(Debug, Default)]
pub struct ThreadSignals {
    /// Blocked signals; only the thread itself changes them.
    blocked: AtomicU64,
    /// Those that are let through for the while of a rt_sigtimedwait: not to be dropped, though their action may be to
    /// ignore them.
    waited_for: AtomicU64,
    /// Signals for this thread alone.
    pending: SpinLock<Pending>,
    /// The blocked signals to go back to after the next handler, or none.
    set_aside: SpinLock<Option<SigSet>>,
    /// The thread, not its process, is to end (exec of another thread).
    ends: AtomicBool,
    /// The alternate stack.
    pub stack: SpinLock<AltStack>,
    /// What frames tell of the last fault: address and syndrome.
    fault: [AtomicU64; 2],
    /// For restart_syscall(2).
    pub restart: SpinLock<Restart>,
}

impl ThreadSignals {
    /// The blocked signals.
    pub fn blocked(&self) -> SigSet {
        SigSet(self.blocked.load(Ordering::Acquire))
    }
    /// Those that are kept even if their action is to ignore them.
    fn not_ignored(&self) -> SigSet {
        SigSet(self.blocked().0 | self.waited_for.load(Ordering::Acquire))
    }
    /// Those for this thread alone.
    pub fn own_pending(&self) -> SigSet {
        self.pending.lock().set()
    }
    /// A new thread's are its maker's.
    pub fn inherit(&self, from: &Self) {
        self.blocked.store(from.blocked().0, Ordering::Relaxed);
        for (to, from) in self.fault.iter().zip(&from.fault) {
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
    /// A new thread with a copy of its maker's memory, or with the same until it runs another program, has its stack too.
    pub fn inherit_stack(&self, from: &Self) {
        *self.stack.lock() = *from.stack.lock();
    }
    /// The thread is to end.
    pub fn end(&self) {
        self.ends.store(true, Ordering::Release);
    }
    /// A signal is no longer wanted, now that it is ignored.
    pub fn forget(&self, signals: SigSet) {
        self.pending.lock().remove(signals);
    }
    fn set_fault(&self, address: u64, esr: u64) {
        let (address, esr) = send::fault_as_told(address, esr);
        self.fault[0].store(address, Ordering::Relaxed);
        self.fault[1].store(esr, Ordering::Relaxed);
    }
    fn fault(&self) -> (u64, u64) {
        (self.fault[0].load(Ordering::Relaxed), self.fault[1].load(Ordering::Relaxed))
    }
}

/// Sets the current thread's blocked signals; those that are let through now are looked for.
pub fn set_blocked(set: SigSet) {
    let current = CURRENT.get();
    let blocked = set.blockable();
    current.signals.blocked.store(blocked.0, Ordering::Release);
    if pending().0 & !blocked.0 != 0 {
        current.context.set_flags(flags::SIGNAL);
    }
}

/// Signals that wait for the current thread, blocked or not.
pub fn pending() -> SigSet {
    let current = CURRENT.get();
    SigSet(current.signals.own_pending().0 | current.process.pending.lock().set().0)
}

/// Takes the next of the current thread's signals that is none of `others`: its own first.
pub fn take(others: SigSet) -> Option<(u8, Info)> {
    let current = CURRENT.get();
    let own = current.signals.pending.lock().take(others);
    let (signal, mut info) = if let Some(own) = own {
        own
    } else {
        let taken = current.process.pending.lock().take(others)?;
        if taken.0 == SIGALRM {
            current.process.timers.alarm_taken();
        }
        taken
    };
    if let Cause::Timer(timer) = &mut info.cause {
        current.process.timers.signal_taken(timer);
    }
    Some((signal, info))
}

/// Takes one of `wanted`, blocked or not, waiting for it until the counter reaches `deadline`.
pub fn wait_for(wanted: SigSet, deadline: Option<u64>) -> Result<(u8, Info), Ended> {
    let wanted = wanted.blockable();
    let others = SigSet(!wanted.0);
    if let Some(taken) = take(others) {
        return Ok(taken);
    }
    let current = CURRENT.share();
    let blocked = current.signals.blocked();
    // While it sleeps these wake it as if they were not blocked, and are kept as if they were.
    current.signals.waited_for.store(blocked.0, Ordering::Release);
    current.signals.blocked.store(blocked.0 & others.0, Ordering::Release);
    let result = WaitQueue::new().wait_until(Sleep::Interruptible, deadline, || take(others));
    current.signals.blocked.store(blocked.0, Ordering::Release);
    current.signals.waited_for.store(0, Ordering::Release);
    match result {
        Ok(taken) => Ok(taken),
        // It came with the end.
        Err(ended) => take(others).ok_or(ended),
    }
}

/// Is there a signal for the current thread that is not blocked and not ignored?
pub fn can_be_taken() -> bool {
    let current = CURRENT.get();
    let open = SigSet(pending().0 & !current.signals.blocked().0);
    (1..=LAST).any(|signal| open.has(signal) && !send::is_ignored(&current.process, SigSet(0), signal))
}

/// Is that thread to end whatever it does: by an exit of its process, another thread's exec, or SIGKILL?
pub fn is_told_to_end(thread: &crate::proc::Thread) -> bool {
    let is_killed =
        || thread.signals.pending.lock().set().has(SIGKILL) || thread.process.pending.lock().set().has(SIGKILL);
    thread.has_signal() && (thread.signals.ends.load(Ordering::Acquire) || thread.process.is_ending() || is_killed())
}

/// In the midst of work that a program can make as long as it likes, as [`sched::breathe`]. True: the current thread is to
/// end, and so should the work.
pub fn breathe_or_end() -> bool {
    crate::sched::breathe();
    is_told_to_end(&CURRENT.get())
}

/// Blocks `mask` until a handler was called, and gives EINTR then: rt_sigsuspend, and the masks of ppoll and its like.
pub fn set_aside_and_block(mask: SigSet) {
    let before = CURRENT.get().signals.blocked();
    *CURRENT.get().signals.set_aside.lock() = Some(before);
    set_blocked(mask);
}

/// A call that set a mask aside ends without a signal: the mask is back at once.
pub fn put_back() {
    let aside = CURRENT.get().signals.set_aside.lock().take();
    if let Some(mask) = aside {
        set_blocked(mask);
    }
}
