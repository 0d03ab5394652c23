//! What becomes of a signal that is taken: on the way to EL0.

use alloc::sync::Arc;
use core::sync::atomic::Ordering;

use hal::thread::flags;
use hal::trap::UserFrame;

use super::{Action, DefaultAction, Info, Restart, SigSet, default_action, force, frame, put_back, take};
use super::{SIGBUS, SIGFPE, SIGILL, SIGKILL, SIGSEGV, SIGSTOP, SIGTRAP};
use crate::errno::Errno;
use crate::proc::{ExitStatus, ProcessState, exit, job};
use crate::sched::CURRENT;

/// restart_syscall's number.
const RESTART_SYSCALL: u64 = 128;

const SA_EXPOSE_TAGBITS: u64 = 0x800;

/// On the way to EL0, with the flag `SIGNAL` set. `interrupted`: the frame is about to make a system call again that gave
/// this; a handler may want EINTR instead.
pub fn deliver(frame: &UserFrame, interrupted: Option<Errno>) {
    let mut interrupted = interrupted;
    loop {
        // Before the looking, so that what comes meanwhile is seen then or makes it look again.
        CURRENT.get().context.clear_flags(flags::SIGNAL);
        end_if_told();
        if job::stand() {
            continue;
        }
        let turn = CURRENT.get().process.job.lock().turn();
        let Some((signal, info)) = next() else { break };
        // No share of them is kept: `default` may be where this stack is left for ever.
        let action = CURRENT.get().process.handlers.lock().get(signal);
        if action.is_ignore() {
            continue;
        }
        if action.is_default() {
            default(signal, turn, frame);
            continue;
        }
        if action.is_one_shot() {
            let handlers = Arc::clone(&CURRENT.get().process.handlers.lock());
            handlers.set(signal, Action { handler: Action::DEFAULT.handler, ..action });
        }
        if let Some(errno) = interrupted.take() {
            if !action.restarts(errno) {
                frame.set_register(0, (-i64::from(Errno::EINTR.0)) as u64);
                frame.set_pc(frame.pc() + 4);
            }
        }
        handle(frame, signal, info, &action);
    }
    if interrupted == Some(Errno::ERESTART_RESTARTBLOCK) {
        // Not the same call again, whose time would begin anew.
        frame.set_register(8, RESTART_SYSCALL);
    }
    // Nobody's handler takes the mask back that a call such as rt_sigsuspend set aside.
    put_back();
}

fn end_if_told() {
    let ending = match *CURRENT.get().process.state.lock() {
        ProcessState::Ending(status) => Some(status),
        _ => None,
    };
    let ends = CURRENT.get().signals.ends.load(Ordering::Acquire);
    if ends || ending.is_some() {
        exit::exit_thread(ending.unwrap_or(ExitStatus::Code(0)));
    }
}

/// The next signal that the current thread does not block, taken out: what an instruction brought about comes first.
fn next() -> Option<(u8, Info)> {
    let blocked = CURRENT.get().signals.blocked();
    let fault = CURRENT.get().signals.pending.lock().take_synchronous(blocked);
    fault.or_else(|| take(blocked))
}

fn default(signal: u8, turn: u64, frame: &UserFrame) {
    let (group, is_unkillable) = {
        let process = &CURRENT.get().process;
        (process.group.load(Ordering::Relaxed), process.is_unkillable.load(Ordering::Relaxed))
    };
    if is_unkillable && !matches!(signal, SIGKILL | SIGSTOP) {
        return;
    }
    match default_action(signal) {
        DefaultAction::Ignore | DefaultAction::Continue => {}
        DefaultAction::Stop if signal != SIGSTOP && job::is_orphaned(group, None) => {}
        DefaultAction::Stop => job::begin_stop(signal, turn),
        DefaultAction::Terminate => die(signal, frame),
    }
}

/// Makes the handler the next thing that runs.
fn handle(frame: &UserFrame, signal: u8, info: Info, action: &Action) {
    let blocked = CURRENT.get().signals.blocked();
    let aside = *CURRENT.get().signals.set_aside.lock();
    let info = if action.flags & SA_EXPOSE_TAGBITS == 0 { info.without_tag(signal) } else { info };
    if frame::push(frame, signal, &info, action, aside.unwrap_or(blocked)).is_err() {
        // Without a stack there is no handler. That of SIGSEGV may have another stack.
        if signal == SIGSEGV {
            let handlers = Arc::clone(&CURRENT.get().process.handlers.lock());
            handlers.set(SIGSEGV, Action::DEFAULT);
        }
        force(SIGSEGV, Info::of_kernel());
        return;
    }
    CURRENT.get().signals.set_aside.lock().take();
    let own = if action.is_reentrant() { 0 } else { SigSet::of(signal).0 };
    let mask = SigSet(blocked.0 | action.mask.0 | own);
    CURRENT.get().signals.blocked.store(mask.blockable().0, Ordering::Release);
}

/// rt_sigreturn(2): back to where the handler was called.
pub fn return_from_handler() -> u64 {
    const MAPERR: i32 = 1;
    const ACCERR: i32 = 2;
    let current = CURRENT.share();
    *current.signals.restart.lock() = Restart::Nothing;
    let frame = current.context.frame();
    if frame::pop(frame).is_err() {
        let sp = hal::thread::user_sp();
        // As Linux: whether there is anything mapped at this address or above.
        let address = super::info::untagged(sp);
        let is_below_something = current.mm().is_ok_and(|mm| mm.lock().areas().any(|vma| vma.end > address));
        force(SIGSEGV, Info::of_fault(if is_below_something { ACCERR } else { MAPERR }, sp));
    }
    frame.register(0)
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
