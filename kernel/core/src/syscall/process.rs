//! Processes and threads.

use alloc::sync::Arc;
use core::sync::atomic::Ordering;

use hal::uaccess;

use super::user;
use crate::errno::{Errno, Result};
use crate::futex as futexes;
use crate::mte;
use crate::pauth;
use crate::proc::wait::{Options, Which};
use crate::proc::{ExitStatus, Process, clone as cloning, exec, exit as ending, table, wait};
use crate::sched::{self, CURRENT};
use crate::signal::Restart;
use crate::vfs;

pub fn getpid() -> Result<i32> {
    Ok(CURRENT.get().process.pid)
}

pub fn gettid() -> Result<i32> {
    Ok(CURRENT.get().tid)
}

pub fn getppid() -> Result<i32> {
    Ok(CURRENT.get().process.parent_pid())
}

pub fn getuid() -> Result<u32> {
    Ok(CURRENT.get().credentials.lock().uid[0])
}

pub fn geteuid() -> Result<u32> {
    Ok(CURRENT.get().credentials.lock().uid[1])
}

pub fn getgid() -> Result<u32> {
    Ok(CURRENT.get().credentials.lock().gid[0])
}

pub fn getegid() -> Result<u32> {
    Ok(CURRENT.get().credentials.lock().gid[1])
}

pub fn setuid(uid: u32) -> Result<()> {
    CURRENT.get().credentials.lock().uid = [uid; 3];
    Ok(())
}

pub fn setgid(gid: u32) -> Result<()> {
    CURRENT.get().credentials.lock().gid = [gid; 3];
    Ok(())
}

fn put_ids(ids: [u32; 3], places: [u64; 3]) -> Result<()> {
    for (id, place) in ids.iter().zip(places) {
        uaccess::write(place, &id.to_le_bytes())?;
    }
    Ok(())
}

pub fn getresuid(real: u64, effective: u64, saved: u64) -> Result<()> {
    let ids = CURRENT.get().credentials.lock().uid;
    put_ids(ids, [real, effective, saved])
}

pub fn getresgid(real: u64, effective: u64, saved: u64) -> Result<()> {
    let ids = CURRENT.get().credentials.lock().gid;
    put_ids(ids, [real, effective, saved])
}

pub fn getgroups(_count: i32, _list: u64) -> Result<i32> {
    Ok(0)
}

pub fn exit(status: i32) -> Result<()> {
    ending::exit_thread(ExitStatus::Code(status as u8))
}

pub fn exit_group(status: i32) -> Result<()> {
    ending::exit_group(ExitStatus::Code(status as u8))
}

pub fn clone(flags: u64, stack: u64, parent_tid: u64, tls: u64, child_tid: u64) -> Result<i32> {
    let exit_signal = (flags & 0xff) as i32;
    cloning::clone(&cloning::CloneArgs { flags: flags & 0xffff_ff00, child_tid, parent_tid, exit_signal, stack, tls })
}

pub fn clone3(arguments: u64, size: u64) -> Result<i32> {
    // flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, then what is newer.
    const FIRST_SIZE: u64 = 64;
    if !(FIRST_SIZE..=4096).contains(&size) {
        return Err(if size > 4096 { Errno::E2BIG } else { Errno::EINVAL });
    }
    let word = |n: u64| user::number(arguments.wrapping_add(8 * n));
    for n in FIRST_SIZE / 8..size / 8 {
        if word(n)? != 0 {
            return Err(Errno::EINVAL);
        }
    }
    let (stack, stack_size) = (word(5)?, word(6)?);
    if (stack == 0) != (stack_size == 0) {
        return Err(Errno::EINVAL);
    }
    cloning::clone(&cloning::CloneArgs {
        flags: word(0)?,
        child_tid: word(2)?,
        parent_tid: word(3)?,
        exit_signal: i32::try_from(word(4)?).map_err(|_| Errno::EINVAL)?,
        stack: stack.wrapping_add(stack_size),
        tls: word(7)?,
    })
}

pub fn execve(path: u64, arguments: u64, environment: u64) -> Result<()> {
    const MAX: usize = 2 << 20;
    let path = user::path(path)?;
    let mut arguments = user::texts(arguments, MAX)?;
    if arguments.is_empty() {
        arguments.push(alloc::vec::Vec::new());
    }
    let environment = user::texts(environment, MAX)?;
    let fs = CURRENT.get().fs();
    let file = vfs::lookup(&fs, &path)?;
    exec::exec(exec::Request { file, path, arguments, environment })
}

pub fn wait4(pid: i32, status: u64, options: u32, usage: u64) -> Result<i32> {
    const KNOWN: u32 =
        Options::NOHANG | Options::STOPPED | Options::CONTINUED | Options::NOTHREAD | Options::CLONE | Options::ALL;
    if options & !KNOWN != 0 {
        return Err(Errno::EINVAL);
    }
    let which = match pid {
        -1 => Which::Any,
        0 => Which::Group(CURRENT.get().process.group.load(Ordering::Relaxed)),
        pid if pid > 0 => Which::Pid(pid),
        group => Which::Group(group.checked_neg().ok_or(Errno::ESRCH)?),
    };
    let Some(found) = wait::wait(which, Options(options | Options::EXITED))? else { return Ok(0) };
    if status != 0 {
        uaccess::write(status, &found.change.wait_status().to_le_bytes())?;
    }
    if usage != 0 {
        super::time::put_usage(usage, &found.process)?;
    }
    Ok(found.process.pid)
}

pub fn waitid(kind: u32, id: i32, info: u64, options: u32, usage: u64) -> Result<()> {
    const WANTED: u32 = Options::EXITED | Options::STOPPED | Options::CONTINUED;
    const KNOWN: u32 = WANTED | Options::NOHANG | Options::NOWAIT | Options::NOTHREAD | Options::CLONE | Options::ALL;
    if options & !KNOWN != 0 || options & WANTED == 0 {
        return Err(Errno::EINVAL);
    }
    let which = match kind {
        0 => Which::Any,
        1 if id > 0 => Which::Pid(id),
        2 if id == 0 => Which::Group(CURRENT.get().process.group.load(Ordering::Relaxed)),
        2 if id > 0 => Which::Group(id),
        _ => return Err(Errno::EINVAL),
    };
    let found = wait::wait(which, Options(options))?;
    if let (Some(found), true) = (&found, usage != 0) {
        super::time::put_usage(usage, &found.process)?;
    }
    if info == 0 {
        return Ok(());
    }
    // siginfo_t: signo, errno, code, (pad,) pid, uid, status. The padding is not written.
    let words = found.map_or([0; 6], |found| {
        let (code, status) = found.change.code_and_status();
        let uid = found.process.uid();
        [i32::from(crate::signal::SIGCHLD), 0, code, found.process.pid, uid as i32, status]
    });
    for (place, word) in [0, 4, 8, 16, 20, 24].into_iter().zip(words) {
        uaccess::write(info.wrapping_add(place), &word.to_le_bytes())?;
    }
    Ok(())
}

pub fn set_tid_address(address: u64) -> Result<i32> {
    let current = CURRENT.get();
    current.clear_child_tid.store(address, Ordering::Relaxed);
    Ok(current.tid)
}

/// A wait that a signal without a handler only interrupts: it goes on to the same deadline.
pub(super) fn futex_wait(address: u64, is_private: bool, value: u32, bits: u32, deadline: Option<u64>) -> Result<()> {
    let result = futexes::wait(address, is_private, value, bits, deadline);
    match (result, deadline) {
        (Err(Errno::ERESTART_RESTARTBLOCK), Some(deadline)) => {
            let restart = Restart::Futex(address, is_private, value, bits, deadline);
            *CURRENT.get().signals.restart.lock() = restart;
            Err(Errno::ERESTART_RESTARTBLOCK)
        }
        (result, _) => result,
    }
}

pub fn futex(address: u64, operation: u32, value: u32, timeout: u64, address2: u64, value3: u32) -> Result<usize> {
    const PRIVATE: u32 = 128;
    const CLOCK_REALTIME: u32 = 256;
    let is_private = operation & PRIVATE != 0;
    let deadline = |is_relative: bool| -> Result<Option<u64>> {
        if timeout == 0 {
            return Ok(None);
        }
        let time = user::timespec(timeout)?;
        let now = if operation & CLOCK_REALTIME != 0 { crate::time::realtime() } else { sched::now_nanoseconds() };
        let from_now = if is_relative { time } else { time.saturating_sub(now) };
        Ok(Some(sched::after_nanoseconds(from_now)))
    };
    // As many as a positive int says; at least one is woken, whatever it says.
    let at_least_one = (value as i32).max(1) as usize;
    let positive = |value: u64| usize::try_from(value as i32).map_err(|_| Errno::EINVAL);
    let command = operation & !(PRIVATE | CLOCK_REALTIME);
    if operation & CLOCK_REALTIME != 0 && !matches!(command, 9 | 11 | 13) {
        return Err(Errno::ENOSYS);
    }
    match command {
        0 => futex_wait(address, is_private, value, u32::MAX, deadline(true)?).map(|()| 0),
        1 => futexes::wake(address, is_private, at_least_one, u32::MAX),
        3 | 4 => {
            let expected = (command == 4).then_some(value3);
            let (wake, requeue) = (positive(u64::from(value))?, positive(timeout)?);
            futexes::requeue(address, address2, is_private, wake, requeue, expected)
        }
        5 => {
            let second = (timeout as i32).max(1) as usize;
            futexes::wake_op(address, address2, is_private, at_least_one, second, value3)
        }
        // LOCK_PI's time is of CLOCK_REALTIME, whatever the flag says.
        6 => {
            let time = if timeout == 0 { None } else { Some(user::timespec(timeout)?) };
            let left = time.map(|time| sched::after_nanoseconds(time.saturating_sub(crate::time::realtime())));
            futexes::lock(address, is_private, left).map(|()| 0)
        }
        7 => futexes::unlock(address, is_private).map(|()| 0),
        8 => futexes::try_lock(address).map(|()| 0),
        9 => futex_wait(address, is_private, value, value3, deadline(false)?).map(|()| 0),
        10 => futexes::wake(address, is_private, at_least_one, value3),
        13 => futexes::lock(address, is_private, deadline(false)?).map(|()| 0),
        _ => Err(Errno::ENOSYS),
    }
}

/// Bytes of struct robust_list_head.
const ROBUST_HEAD: usize = 24;

pub fn set_robust_list(head: u64, len: usize) -> Result<()> {
    if len != ROBUST_HEAD {
        return Err(Errno::EINVAL);
    }
    CURRENT.get().robust_list.store(head, Ordering::Relaxed);
    Ok(())
}

pub fn get_robust_list(tid: i32, head: u64, len: u64) -> Result<()> {
    let thread = if tid == 0 { CURRENT.share() } else { table::thread(tid).ok_or(Errno::ESRCH)? };
    user::put_numbers(len, [ROBUST_HEAD as u64])?;
    user::put_numbers(head, [thread.robust_list.load(Ordering::Relaxed)])
}

pub fn sched_yield() -> Result<()> {
    sched::yield_now();
    Ok(())
}

pub fn sched_setaffinity(_pid: i32, _size: usize, _mask: u64) -> Result<()> {
    // Threads go where there is room; nothing is pinned yet.
    Ok(())
}

pub fn sched_getaffinity(_pid: i32, size: usize, mask: u64) -> Result<usize> {
    let cpus = hal::percpu::count();
    let len = cpus.div_ceil(64) * 8;
    if size < len || size % 8 != 0 {
        return Err(Errno::EINVAL);
    }
    for word in 0..len / 8 {
        let bits = (cpus - 64 * word).min(64);
        let value = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        uaccess::write(mask.wrapping_add(8 * word as u64), &value.to_le_bytes())?;
    }
    Ok(len)
}

fn process_of(pid: i32) -> Result<Arc<Process>> {
    if pid == 0 {
        return Ok(Arc::clone(&CURRENT.get().process));
    }
    table::process(pid).ok_or(Errno::ESRCH)
}

pub fn setpgid(pid: i32, group: i32) -> Result<()> {
    if group < 0 {
        return Err(Errno::EINVAL);
    }
    let own = Arc::clone(&CURRENT.get().process);
    let process = process_of(pid)?;
    let group = if group == 0 { process.pid } else { group };
    let session = |process: &Process| process.session.load(Ordering::Relaxed);
    if !Arc::ptr_eq(&process, &own) {
        let is_child = process.parent.lock().upgrade().is_some_and(|parent| Arc::ptr_eq(&parent, &own));
        if !is_child {
            return Err(Errno::ESRCH);
        }
        if session(&process) != session(&own) {
            return Err(Errno::EPERM);
        }
        if process.has_run_exec.load(Ordering::Relaxed) {
            return Err(Errno::EACCES);
        }
    }
    // A session's leader stays where it is; and another's group is no place to go.
    let is_leader = session(&process) == process.pid;
    let is_there =
        |other: &Arc<Process>| other.group.load(Ordering::Relaxed) == group && session(other) == session(&own);
    if is_leader || group != process.pid && !table::processes().iter().any(is_there) {
        return Err(Errno::EPERM);
    }
    process.group.store(group, Ordering::Relaxed);
    Ok(())
}

pub fn getpgid(pid: i32) -> Result<i32> {
    Ok(process_of(pid)?.group.load(Ordering::Relaxed))
}

pub fn getsid(pid: i32) -> Result<i32> {
    Ok(process_of(pid)?.session.load(Ordering::Relaxed))
}

pub fn setsid() -> Result<i32> {
    let process = Arc::clone(&CURRENT.get().process);
    let leads = |other: &Arc<Process>| other.group.load(Ordering::Relaxed) == process.pid;
    if process.session.load(Ordering::Relaxed) == process.pid || table::processes().iter().any(leads) {
        return Err(Errno::EPERM);
    }
    process.group.store(process.pid, Ordering::Relaxed);
    process.session.store(process.pid, Ordering::Relaxed);
    Ok(process.pid)
}

pub fn prlimit64(pid: i32, resource: usize, new: u64, old: u64) -> Result<()> {
    let process = process_of(pid)?;
    let new = if new == 0 { None } else { Some((user::number(new)?, user::number(new.wrapping_add(8))?)) };
    let before = {
        let mut limits = process.limits.lock();
        let limit = limits.get_mut(resource).ok_or(Errno::EINVAL)?;
        let before = *limit;
        if let Some((soft, hard)) = new {
            if soft > hard {
                return Err(Errno::EINVAL);
            }
            *limit = (soft, hard);
        }
        before
    };
    if old != 0 {
        user::put_numbers(old, [before.0, before.1])?;
    }
    Ok(())
}

pub fn prctl(option: u32, argument: u64, third: u64, fourth: u64, fifth: u64) -> Result<u64> {
    const SET_NAME: u32 = 15;
    const GET_NAME: u32 = 16;
    const PAC_RESET_KEYS: u32 = 54;
    const SET_TAGGED_ADDR_CTRL: u32 = 55;
    const GET_TAGGED_ADDR_CTRL: u32 = 56;
    const PAC_SET_ENABLED_KEYS: u32 = 60;
    const PAC_GET_ENABLED_KEYS: u32 = 61;
    match option {
        SET_NAME => {
            let mut name = [0; 16];
            let got = uaccess::read_some(&mut name, argument);
            let len = name[..got].iter().position(|byte| *byte == 0).unwrap_or(got);
            if got == 0 {
                return Err(Errno::EFAULT);
            }
            CURRENT.get().set_name(&name[..len]);
            Ok(0)
        }
        GET_NAME => {
            let name = *CURRENT.get().name.lock();
            uaccess::write(argument, &name)?;
            Ok(0)
        }
        SET_TAGGED_ADDR_CTRL if (third, fourth, fifth) == (0, 0, 0) => {
            mte::set_control(mte::control::Control::new(argument, hal::mte::get())?);
            Ok(0)
        }
        PAC_RESET_KEYS if (third, fourth, fifth) == (0, 0, 0) => pauth::reset_keys(argument).map(|()| 0),
        PAC_SET_ENABLED_KEYS if (fourth, fifth) == (0, 0) => pauth::set_enabled(argument, third).map(|()| 0),
        PAC_GET_ENABLED_KEYS if (argument, third, fourth, fifth) == (0, 0, 0, 0) => pauth::enabled(),
        GET_TAGGED_ADDR_CTRL if (argument, third, fourth, fifth) == (0, 0, 0, 0) => mte::control(),
        _ => Err(Errno::EINVAL),
    }
}
