//! Signals: who gets them, and what becomes of them.
//!
//! A signal that is sent waits in the `Pending` of a thread or a process; the thread flag `SIGNAL` makes a thread look on
//! its way to EL0 ([`deliver`]). A handler runs on a frame on the program's stack (`frame`). Processes do not stop yet:
//! SIGSTOP and its like do nothing.

mod action;
mod frame;
mod pending;

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hal::thread::flags;
use hal::trap::UserFrame;

pub use action::{Action, Default as DefaultAction, Handlers, default_action};
pub use frame::{map_trampoline, stack_flags};
pub use pending::{Cause, Info, Pending};

use crate::errno::Errno;
use crate::proc::{ExitStatus, Process, Thread, exit};
use crate::sched::{self, CURRENT};

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
    pub const SIGWINCH: u8 = 28;
}
pub use numbers::*;

/// Signals are 1 to this.
pub const LAST: u8 = 64;

/// AT_MINSIGSTKSZ: the frame of a handler with the context that exists.
pub const MIN_STACK: u64 = frame::SIZE;

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

/// A thread's part.
#[derive(Debug, Default)]
pub struct ThreadSignals {
    /// Blocked signals; only the thread itself changes them.
    blocked: AtomicU64,
    /// Signals for this thread alone.
    pending: hal::sync::SpinLock<Pending>,
    /// The blocked signals to go back to after the next handler, or none.
    set_aside: hal::sync::SpinLock<Option<SigSet>>,
    /// The thread, not its process, is to end (exec of another thread).
    ends: AtomicBool,
    /// The alternate stack: address, size, SS_* flags (sigaltstack).
    pub stack: hal::sync::SpinLock<(u64, u64, u32)>,
}

impl ThreadSignals {
    /// The blocked signals.
    pub fn blocked(&self) -> SigSet {
        SigSet(self.blocked.load(Ordering::Acquire))
    }
    /// A new thread's are its maker's.
    pub fn inherit(&self, from: &Self) {
        self.blocked.store(from.blocked().0, Ordering::Relaxed);
    }
    /// The thread is to end.
    pub fn end(&self) {
        self.ends.store(true, Ordering::Release);
    }
}

/// Sends a signal to a process: some thread that does not block it takes it.
pub fn send_to_process(process: &Process, signal: u8, info: Info) {
    if is_ignored(process, signal) {
        return;
    }
    process.pending.lock().add(signal, info);
    let threads = process.threads.lock().clone();
    let chosen = threads.iter().find(|thread| !thread.signals.blocked().has(signal));
    if let Some(thread) = chosen {
        notify(thread);
    }
}

/// Sends a signal to one thread.
pub fn send_to_thread(thread: &Arc<Thread>, signal: u8, info: Info) {
    if is_ignored(&thread.process, signal) && !thread.signals.blocked().has(signal) {
        return;
    }
    thread.signals.pending.lock().add(signal, info);
    if !thread.signals.blocked().has(signal) {
        notify(thread);
    }
}

/// A signal that the current thread brought about by an instruction: it cannot be ignored or blocked away.
pub fn force(signal: u8, info: Info) {
    let current = CURRENT.share();
    let action = current.process.handlers.lock().get(signal);
    if action.is_ignore() || current.signals.blocked().has(signal) {
        let handlers = Arc::clone(&current.process.handlers.lock());
        handlers.set(signal, Action::DEFAULT);
        set_blocked(SigSet(current.signals.blocked().0 & !SigSet::of(signal).0));
    }
    current.signals.pending.lock().add(signal, info);
    current.context.set_flags(flags::SIGNAL);
}

fn is_ignored(process: &Process, signal: u8) -> bool {
    let action = process.handlers.lock().get(signal);
    action.is_ignore() || action.is_default() && default_action(signal) == DefaultAction::Ignore
}

fn notify(thread: &Arc<Thread>) {
    thread.context.set_flags(flags::SIGNAL);
    sched::wake_for_signal(thread);
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
    SigSet(current.signals.pending.lock().set().0 | current.process.pending.lock().set().0)
}

/// Is there a signal for the current thread that is not blocked and not ignored?
pub fn can_be_taken() -> bool {
    let current = CURRENT.get();
    let open = pending().0 & !current.signals.blocked().0;
    (1..=LAST).any(|signal| SigSet(open).has(signal) && !is_ignored(&current.process, signal))
}

/// On the way to EL0, with the flag `SIGNAL` set. `interrupted`: the frame is about to make a system call again that gave
/// this; a handler may want EINTR instead.
pub fn deliver(frame: &UserFrame, interrupted: Option<Errno>) {
    CURRENT.get().context.clear_flags(flags::SIGNAL);
    let ending = match *CURRENT.get().process.state.lock() {
        crate::proc::ProcessState::Ending(status) => Some(status),
        _ => None,
    };
    let ends = CURRENT.get().signals.ends.load(Ordering::Acquire);
    if ends || ending.is_some() {
        exit::exit_thread(ending.unwrap_or(ExitStatus::Code(0)));
    }
    let mut interrupted = interrupted;
    while let Some((signal, info)) = next() {
        let action = CURRENT.get().process.handlers.lock().get(signal);
        if action.is_ignore() {
            continue;
        }
        if action.is_default() {
            match default_action(signal) {
                // Nobody can continue what is stopped yet: so nothing stops.
                DefaultAction::Ignore | DefaultAction::Continue | DefaultAction::Stop => continue,
                DefaultAction::Terminate => die(signal, frame),
            }
        }
        if let Some(errno) = interrupted.take() {
            if !action.restarts(errno) {
                frame.set_register(0, (-i64::from(Errno::EINTR.0)) as u64);
                frame.set_pc(frame.pc() + 4);
            }
        }
        handle(frame, signal, &info, &action);
    }
    // Nobody's handler takes the mask back that a call such as rt_sigsuspend set aside.
    if let Some(mask) = CURRENT.get().signals.set_aside.lock().take() {
        set_blocked(mask);
    }
}

/// Makes the handler the next thing that runs.
fn handle(frame: &UserFrame, signal: u8, info: &Info, action: &Action) {
    let blocked = CURRENT.get().signals.blocked();
    let aside = CURRENT.get().signals.set_aside.lock().take();
    if frame::push(frame, signal, info, action, aside.unwrap_or(blocked)).is_err() {
        // Without a stack there is no handler, not even for this.
        let handlers = Arc::clone(&CURRENT.get().process.handlers.lock());
        handlers.set(SIGSEGV, Action::DEFAULT);
        die(SIGSEGV, frame);
    }
    if action.is_one_shot() {
        let handlers = Arc::clone(&CURRENT.get().process.handlers.lock());
        handlers.set(signal, Action::DEFAULT);
    }
    let own = if action.is_reentrant() { 0 } else { SigSet::of(signal).0 };
    let mask = SigSet(blocked.0 | action.mask.0 | own);
    CURRENT.get().signals.blocked.store(mask.blockable().0, Ordering::Release);
}

/// rt_sigreturn(2): back to where the handler was called.
pub fn return_from_handler() -> u64 {
    let current = CURRENT.get();
    let frame = current.context.frame();
    match frame::pop(frame) {
        Ok(mask) => set_blocked(mask),
        Err(_) => force(SIGSEGV, Info::of_kernel()),
    }
    frame.register(0)
}

/// Blocks `mask` until a handler was called, and gives EINTR then: rt_sigsuspend, and the masks of ppoll and its like.
pub fn set_aside_and_block(mask: SigSet) {
    let before = CURRENT.get().signals.blocked();
    *CURRENT.get().signals.set_aside.lock() = Some(before);
    set_blocked(mask);
}

/// No signal ended what [`set_aside_and_block`] began.
pub fn put_back() {
    let before = CURRENT.get().signals.set_aside.lock().take();
    if let Some(before) = before {
        set_blocked(before);
    }
}

fn die(signal: u8, frame: &UserFrame) -> ! {
    {
        let current = CURRENT.get();
        let is_fault = matches!(signal, SIGILL | SIGBUS | SIGFPE | SIGSEGV | SIGTRAP);
        if is_fault && crate::cmdline::has("print-fatal-signals") {
            let (tid, pc) = (current.tid, frame.pc());
            hal::log!("{}[{tid}]: signal {signal} at {pc:#x}", current.name_text());
        }
    }
    exit::exit_group(ExitStatus::Signal(signal))
}

/// The next signal that the current thread does not block, taken out: its own first.
fn next() -> Option<(u8, Info)> {
    let current = CURRENT.get();
    let blocked = current.signals.blocked();
    let own = current.signals.pending.lock().take(blocked);
    own.or_else(|| current.process.pending.lock().take(blocked))
}
