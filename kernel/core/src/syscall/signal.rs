//! Signals.

use alloc::sync::Arc;
use core::sync::atomic::Ordering;

use hal::uaccess;

use super::user;
use crate::errno::{Errno, Result};
use crate::proc::{Process, table};
use crate::sched::CURRENT;
use crate::signal::{self, Action, Info, LAST, SIGKILL, SIGSTOP, SigSet};

/// Bytes of a set of signals.
const SET: usize = 8;

fn number(number: i32) -> Result<Option<u8>> {
    match u8::try_from(number) {
        Ok(0) => Ok(None),
        Ok(number) if number <= LAST => Ok(Some(number)),
        _ => Err(Errno::EINVAL),
    }
}

pub fn kill(pid: i32, signal: i32) -> Result<()> {
    let number = number(signal)?;
    let group = match pid {
        pid if pid > 0 => {
            let process = table::process(pid).ok_or(Errno::ESRCH)?;
            send(&process, number);
            return Ok(());
        }
        0 => Some(CURRENT.get().process.group.load(Ordering::Relaxed)),
        -1 => None,
        pid => Some(pid.checked_neg().ok_or(Errno::ESRCH)?),
    };
    let own = CURRENT.get().process.pid;
    let mut any = false;
    for process in table::processes() {
        let is_meant = match group {
            Some(group) => process.group.load(Ordering::Relaxed) == group,
            None => process.pid != 1 && process.pid != own,
        };
        if is_meant {
            any = true;
            send(&process, number);
        }
    }
    if any { Ok(()) } else { Err(Errno::ESRCH) }
}

fn send(process: &Process, number: Option<u8>) {
    // The first process is not killed by what it has no handler for (kill(2)).
    let is_harmless = process.pid == 1 && number.is_some_and(|number| process.handlers.lock().get(number).is_default());
    if let Some(number) = number.filter(|_| !is_harmless) {
        signal::send_to_process(process, number, Info::of_user());
    }
}

fn to_thread(process: Option<i32>, tid: i32, signal: i32) -> Result<()> {
    let number = number(signal)?;
    if tid <= 0 {
        return Err(Errno::EINVAL);
    }
    let thread = table::thread(tid).filter(|thread| process.is_none_or(|pid| thread.process.pid == pid));
    let thread = thread.ok_or(Errno::ESRCH)?;
    if let Some(number) = number {
        signal::send_to_thread(&thread, number, Info::of_tkill());
    }
    Ok(())
}

pub fn tkill(tid: i32, signal: i32) -> Result<()> {
    to_thread(None, tid, signal)
}

pub fn tgkill(pid: i32, tid: i32, signal: i32) -> Result<()> {
    to_thread(Some(pid), tid, signal)
}

fn set_at(address: u64, size: usize) -> Result<SigSet> {
    if size != SET {
        return Err(Errno::EINVAL);
    }
    user::number(address).map(SigSet)
}

pub fn rt_sigaction(signal: i32, new: u64, old: u64, size: usize) -> Result<()> {
    let number = number(signal)?.ok_or(Errno::EINVAL)?;
    if size != SET || new != 0 && matches!(number, SIGKILL | SIGSTOP) {
        return Err(Errno::EINVAL);
    }
    let word = |n: u64| user::number(new.wrapping_add(8 * n));
    let new = match new {
        0 => None,
        _ => {
            Some(Action { handler: word(0)?, flags: word(1)?, restorer: word(2)?, mask: SigSet(word(3)?).blockable() })
        }
    };
    let handlers = Arc::clone(&CURRENT.get().process.handlers.lock());
    let before = match new {
        Some(action) => handlers.set(number, action),
        None => handlers.get(number),
    };
    if old != 0 {
        user::put_numbers(old, [before.handler, before.flags, before.restorer, before.mask.0])?;
    }
    Ok(())
}

pub fn rt_sigprocmask(how: u32, new: u64, old: u64, size: usize) -> Result<()> {
    if size != SET {
        return Err(Errno::EINVAL);
    }
    let before = CURRENT.get().signals.blocked();
    if new != 0 {
        let set = set_at(new, size)?;
        let after = match how {
            0 => before.0 | set.0,
            1 => before.0 & !set.0,
            2 => set.0,
            _ => return Err(Errno::EINVAL),
        };
        signal::set_blocked(SigSet(after));
    }
    if old != 0 {
        uaccess::write(old, &before.0.to_le_bytes())?;
    }
    Ok(())
}

pub fn rt_sigpending(set: u64, size: usize) -> Result<()> {
    if size > SET {
        return Err(Errno::EINVAL);
    }
    Ok(uaccess::write(set, &signal::pending().0.to_le_bytes()[..size])?)
}

pub fn rt_sigsuspend(mask: u64, size: usize) -> Result<()> {
    let mask = set_at(mask, size)?;
    signal::set_aside_and_block(mask);
    // Nothing is ever ready: only a signal ends this.
    let _ = crate::sched::wait::WaitQueue::new().wait(|| signal::can_be_taken().then_some(()));
    Err(Errno::ERESTARTNOHAND)
}

pub fn rt_sigreturn() -> Result<u64> {
    Ok(signal::return_from_handler())
}

pub fn sigaltstack(new: u64, old: u64) -> Result<()> {
    const ONSTACK: u32 = 1;
    const DISABLE: u32 = 2;
    let current = CURRENT.get();
    let before = *current.signals.stack.lock();
    let sp = hal::thread::user_sp();
    if new != 0 {
        if signal::stack_flags(before, sp) == ONSTACK {
            return Err(Errno::EPERM);
        }
        let (address, flags, size) =
            (user::number(new)?, user::number(new.wrapping_add(8))? as u32, user::number(new.wrapping_add(16))?);
        if flags & DISABLE == 0 && size < signal::MIN_STACK {
            return Err(Errno::ENOMEM);
        }
        let stack = if flags & DISABLE == 0 { (address, size, 0) } else { (0, 0, DISABLE) };
        *current.signals.stack.lock() = stack;
    }
    if old != 0 {
        let flags = signal::stack_flags(before, sp);
        user::put_numbers(old, [before.0, u64::from(flags), before.1])?;
    }
    Ok(())
}
