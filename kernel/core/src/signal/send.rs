//! Sending: what a signal does at once, and who takes it.

use alloc::sync::Arc;
use core::sync::atomic::Ordering;

use hal::thread::flags;

use super::action::Action;
use super::info::{Cause, Info, untagged};
use super::{CONTINUING, SIGCONT, SIGFPE, SIGKILL, SIGSEGV, SIGTRAP, STOPPING, SigSet, file, set_blocked};
use crate::errno::Result;
use crate::proc::{ExitStatus, Process, ProcessState, Thread, exit, job};
use crate::sched::{self, CURRENT};

/// Resource limit: signals that may wait.
const RLIMIT_SIGPENDING: usize = 11;

/// Sends a signal to a process: some thread that does not block it takes it.
pub fn send_to_process(process: &Process, signal: u8, info: Info) {
    // The kernel's own signals find room always.
    let _ = try_send_to_process(process, signal, info);
}

/// The same; EAGAIN if too many wait.
pub fn try_send_to_process(process: &Process, signal: u8, info: Info) -> Result<()> {
    if matches!(*process.state.lock(), ProcessState::Zombie(_)) {
        return Ok(());
    }
    let threads = process.threads.lock().clone();
    let Some(first) = threads.first() else { return Ok(()) };
    prepare(process, &threads, signal);
    if is_ignored(process, first.signals.not_ignored(), signal) {
        return Ok(());
    }
    if signal == SIGKILL {
        exit::end_process(process, ExitStatus::Signal(SIGKILL));
        return Ok(());
    }
    process.pending.lock().add(signal, info, process.limit(RLIMIT_SIGPENDING))?;
    file::changed();
    // Rather one that has nothing to do yet.
    let takes = |thread: &&Arc<Thread>| !thread.signals.blocked().has(signal);
    let chosen = threads.iter().find(|thread| takes(thread) && !thread.has_signal());
    if let Some(thread) = chosen.or_else(|| threads.iter().find(takes)) {
        notify(thread);
    }
    Ok(())
}

/// Sends a signal to one thread.
pub fn send_to_thread(thread: &Arc<Thread>, signal: u8, info: Info) {
    let _ = try_send_to_thread(thread, signal, info);
}

/// The same; EAGAIN if too many wait.
pub fn try_send_to_thread(thread: &Arc<Thread>, signal: u8, info: Info) -> Result<()> {
    let process = &thread.process;
    let threads = process.threads.lock().clone();
    prepare(process, &threads, signal);
    if is_ignored(process, thread.signals.not_ignored(), signal) {
        return Ok(());
    }
    if signal == SIGKILL {
        exit::end_process(process, ExitStatus::Signal(SIGKILL));
        return Ok(());
    }
    thread.signals.pending.lock().add(signal, info, process.limit(RLIMIT_SIGPENDING))?;
    file::changed();
    if !thread.signals.blocked().has(signal) {
        notify(thread);
    }
    Ok(())
}

/// What happens when it is sent, even if it is blocked or ignored: SIGCONT and the stop signals call each other off.
fn prepare(process: &Process, threads: &[Arc<Thread>], signal: u8) {
    let opposite = match signal {
        SIGCONT => STOPPING,
        _ if STOPPING.has(signal) => CONTINUING,
        _ => return,
    };
    process.pending.lock().remove(opposite);
    for thread in threads {
        thread.signals.pending.lock().remove(opposite);
    }
    if signal == SIGCONT {
        job::go_on(process);
    }
}

/// A signal that the current thread brought about by an instruction: it cannot be ignored or blocked away.
pub fn force(signal: u8, info: Info) {
    let current = CURRENT.share();
    if let Cause::Fault(address) = info.cause {
        if leaves_trace(signal, info.code) {
            current.signals.set_fault(address, info.esr);
        }
    }
    if signal == SIGKILL {
        exit::end_process(&current.process, ExitStatus::Signal(SIGKILL));
        return;
    }
    let handlers = Arc::clone(&current.process.handlers.lock());
    let action = handlers.get(signal);
    let is_blocked = current.signals.blocked().has(signal);
    if action.is_ignore() || is_blocked {
        handlers.set(signal, Action { handler: Action::DEFAULT.handler, ..action });
        set_blocked(SigSet(current.signals.blocked().0 & !SigSet::of(signal).0));
    }
    if handlers.get(signal).is_default() {
        // Not even the first process survives it.
        current.process.is_unkillable.store(false, Ordering::Relaxed);
    }
    // Ordinary signals of the kernel find room always.
    let _ = current.signals.pending.lock().add(signal, info, u64::MAX);
    current.context.set_flags(flags::SIGNAL);
}

/// Would a signal to that process be dropped?
pub fn is_dropped(process: &Process, signal: u8) -> bool {
    let first = process.any_thread();
    first.is_some_and(|first| is_ignored(process, first.signals.not_ignored(), signal))
}

/// Is a signal dropped? Not if it is blocked: its action may change before it is let through.
pub(super) fn is_ignored(process: &Process, not_ignored: SigSet, signal: u8) -> bool {
    if not_ignored.has(signal) {
        return false;
    }
    let action = process.handlers.lock().get(signal);
    action.ignores(signal) || action.is_default() && process.is_unkillable.load(Ordering::Relaxed)
}

/// Makes a thread look for signals on its way to EL0, or at once if it sleeps interruptibly.
pub fn notify(thread: &Arc<Thread>) {
    thread.context.set_flags(flags::SIGNAL);
    sched::wake_for_signal(thread);
}

/// Is it a fault that later frames tell of too? Linux keeps none of breakpoints, of exceptions of FP instructions, and of
/// tag check faults that were found out late (SEGV_MTEAERR).
fn leaves_trace(signal: u8, code: i32) -> bool {
    const SEGV_MTEAERR: i32 = 8;
    match signal {
        SIGTRAP | SIGFPE => false,
        SIGSEGV => code != SEGV_MTEAERR,
        _ => true,
    }
}

/// What a fault leaves for the frames of handlers: the address without its tag and the syndrome, of which a program is
/// told no more than a translation fault where the address is the kernel's (as Linux's set_thread_esr).
pub(super) fn fault_as_told(address: u64, esr: u64) -> (u64, u64) {
    const EC: u64 = 0x3f << 26;
    const IL: u64 = 1 << 25;
    const CM: u64 = 1 << 8;
    const WNR: u64 = 1 << 6;
    const TRANSLATION_LEVEL_0: u64 = 4;
    let address = untagged(address);
    match (esr & EC) >> 26 {
        // Instruction and data aborts of EL0.
        0x20 if address >> 55 != 0 => (address, esr & (EC | IL) | TRANSLATION_LEVEL_0),
        0x24 if address >> 55 != 0 => (address, esr & (EC | IL | CM | WNR) | TRANSLATION_LEVEL_0),
        0x20 | 0x24 => (address, esr),
        // Other exceptions have no address there.
        _ => (0, esr),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_the_kernels_addresses_are_all_alike() {
        let (dabt, iabt) = (0x9200_0000u64, 0x8200_0000u64);
        assert_eq!(fault_as_told(0x1234, dabt | 0x4f), (0x1234, dabt | 0x4f));
        assert_eq!(fault_as_told(0xab00_0000_0000_1234, dabt | 7), (0x1234, dabt | 7));
        let kernel = 0xffff_8000_0000_0000;
        assert_eq!(fault_as_told(kernel, dabt | 0x1_004f), (kernel, dabt | 0x44));
        assert_eq!(fault_as_told(kernel, iabt | 0xf), (kernel, iabt | 4));
        assert_eq!(fault_as_told(0x3, 0x8a00_0000), (0, 0x8a00_0000), "PC alignment");
    }
}
