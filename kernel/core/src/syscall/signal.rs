//! Signals.

use alloc::sync::Arc;
use core::sync::atomic::Ordering;

use hal::uaccess;

use super::user;
use crate::errno::{Errno, Result};
use crate::proc::table;
use crate::sched::wait::Ended;
use crate::sched::{self, CURRENT};
use crate::signal::file::SignalFile;
use crate::signal::{self, Action, INFO_SIZE, Info, LAST, Restart, SI_TKILL, SIGKILL, SIGSTOP, SigSet};
use crate::vfs::{File, open_flags};

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
    let info = Info::of_user();
    let group = match pid {
        pid if pid > 0 => {
            let process = table::process(pid).ok_or(Errno::ESRCH)?;
            return number.map_or(Ok(()), |number| signal::try_send_to_process(&process, number, info));
        }
        0 => Some(CURRENT.get().process.group.load(Ordering::Relaxed)),
        -1 => None,
        pid => Some(pid.checked_neg().ok_or(Errno::ESRCH)?),
    };
    let own = CURRENT.get().process.pid;
    let mut result = Err(Errno::ESRCH);
    // A process that is just being made by one of them gets it too, or is not made.
    table::for_each_process(|process| {
        let is_meant = match group {
            Some(group) => process.group.load(Ordering::Relaxed) == group,
            None => process.pid != 1 && process.pid != own,
        };
        if is_meant {
            let sent = number.map_or(Ok(()), |number| signal::try_send_to_process(process, number, info));
            if result.is_err() {
                result = sent;
            }
        }
    });
    result
}

fn to_thread(process: Option<i32>, tid: i32, signal: i32, info: Info) -> Result<()> {
    if tid <= 0 || process.is_some_and(|pid| pid <= 0) {
        return Err(Errno::EINVAL);
    }
    let thread = table::thread(tid).filter(|thread| process.is_none_or(|pid| thread.process.pid == pid));
    let thread = thread.ok_or(Errno::ESRCH)?;
    number(signal)?.map_or(Ok(()), |number| signal::try_send_to_thread(&thread, number, info))
}

pub fn tkill(tid: i32, signal: i32) -> Result<()> {
    to_thread(None, tid, signal, Info::of_tkill())
}

pub fn tgkill(pid: i32, tid: i32, signal: i32) -> Result<()> {
    to_thread(Some(pid), tid, signal, Info::of_tkill())
}

/// A program's siginfo for another: nobody pretends that the kernel or tkill(2) sent it.
fn given_info(signal: i32, address: u64, to: i32) -> Result<Info> {
    let mut bytes = [0; INFO_SIZE];
    uaccess::read(&mut bytes, address)?;
    // The layout is known by the signal; one that cannot be fails later.
    let info = Info::from_bytes(&bytes, u8::try_from(signal).unwrap_or(0)).ok_or(Errno::E2BIG)?;
    let current = CURRENT.get();
    let is_own = to == current.process.pid;
    if (info.code >= 0 || info.code == SI_TKILL) && !is_own {
        return Err(Errno::EPERM);
    }
    Ok(info)
}

pub fn rt_sigqueueinfo(pid: i32, signal: i32, info: u64) -> Result<()> {
    let info = given_info(signal, info, pid)?;
    let number = number(signal)?;
    let process = table::process(pid).ok_or(Errno::ESRCH)?;
    number.map_or(Ok(()), |number| signal::try_send_to_process(&process, number, info))
}

pub fn rt_tgsigqueueinfo(pid: i32, tid: i32, signal: i32, info: u64) -> Result<()> {
    let info = given_info(signal, info, pid)?;
    to_thread(Some(pid), tid, signal, info)
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
        _ => Some(Action::given(word(0)?, word(1)?, word(2)?, SigSet(word(3)?))),
    };
    let handlers = Arc::clone(&CURRENT.get().process.handlers.lock());
    let before = match new {
        Some(action) => handlers.set(number, action),
        None => handlers.get(number),
    };
    if new.is_some_and(|new| new.ignores(number)) {
        // POSIX: what waits is discarded, blocked or not.
        let process = Arc::clone(&CURRENT.get().process);
        process.pending.lock().remove(SigSet::of(number));
        process.threads.lock().iter().for_each(|thread| thread.signals.forget(SigSet::of(number)));
    }
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
    let waiting = signal::pending().0 & CURRENT.get().signals.blocked().0;
    Ok(uaccess::write(set, &waiting.to_le_bytes()[..size])?)
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

pub fn rt_sigtimedwait(set: u64, info: u64, timeout: u64, size: usize) -> Result<i32> {
    let wanted = set_at(set, size)?;
    let deadline = match timeout {
        0 => None,
        address => Some(sched::after_nanoseconds(user::timespec(address)?)),
    };
    let (number, taken) = signal::wait_for(wanted, deadline).map_err(|ended| match ended {
        Ended::ByTime => Errno::EAGAIN,
        Ended::BySignal => Errno::EINTR,
    })?;
    if info != 0 {
        uaccess::write(info, &taken.to_bytes(number))?;
    }
    Ok(i32::from(number))
}

pub fn signalfd4(fd: i32, set: u64, size: usize, flags: u32) -> Result<i32> {
    if flags & !(open_flags::CLOEXEC | open_flags::NONBLOCK) != 0 {
        return Err(Errno::EINVAL);
    }
    let set = set_at(set, size)?;
    if fd == -1 {
        let file = File::new(None, Arc::new(SignalFile::new(set)), open_flags::RDWR | flags);
        return super::file::add(Arc::new(file), flags, 0);
    }
    let file = user::file(fd)?;
    let signals = file.ops.as_any().and_then(|ops| ops.downcast_ref::<SignalFile>()).ok_or(Errno::EINVAL)?;
    signals.set(set);
    Ok(fd)
}

pub fn restart_syscall() -> Result<u64> {
    let restart = core::mem::take(&mut *CURRENT.get().signals.restart.lock());
    match restart {
        Restart::Nothing => Err(Errno::EINTR),
        Restart::Sleep(deadline, remaining) => super::time::sleep(deadline, remaining).map(|()| 0),
        Restart::Futex(address, is_private, value, bits, deadline) => {
            super::process::futex_wait(address, is_private, value, bits, Some(deadline)).map(|()| 0)
        }
    }
}

pub fn sigaltstack(new: u64, old: u64) -> Result<()> {
    let current = CURRENT.get();
    let before = *current.signals.stack.lock();
    let sp = hal::thread::user_sp();
    if new != 0 {
        let word = |n: u64| user::number(new.wrapping_add(8 * n));
        let stack = before.replaced(word(0)?, word(1)? as u32, word(2)?, sp)?;
        *current.signals.stack.lock() = stack;
    }
    if old != 0 {
        // What is between the flags and the size is nobody's.
        uaccess::write(old, &before.start.to_le_bytes())?;
        uaccess::write(old.wrapping_add(8), &before.flags_at(sp).to_le_bytes())?;
        uaccess::write(old.wrapping_add(16), &before.size.to_le_bytes())?;
    }
    Ok(())
}
