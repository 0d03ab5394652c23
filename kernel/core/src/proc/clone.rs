//! fork, vfork, clone, clone3.

use alloc::sync::Arc;
use core::sync::atomic::Ordering;

use hal::thread;

use super::{Process, ProcessState, Thread, table};
use crate::errno::{Errno, Result};
use crate::sched::wait::Sleep;
use crate::sched::{self, CURRENT};

/// clone's flags (include/uapi/linux/sched.h).
#[allow(missing_docs)]
pub mod clone_flags {
    pub const VM: u64 = 0x100;
    pub const FS: u64 = 0x200;
    pub const FILES: u64 = 0x400;
    pub const SIGHAND: u64 = 0x800;
    pub const VFORK: u64 = 0x4000;
    pub const PARENT: u64 = 0x8000;
    pub const THREAD: u64 = 0x1_0000;
    pub const SETTLS: u64 = 0x8_0000;
    pub const PARENT_SETTID: u64 = 0x10_0000;
    pub const CHILD_CLEARTID: u64 = 0x20_0000;
    pub const CHILD_SETTID: u64 = 0x100_0000;
    pub const NAMESPACES: u64 = 0x7e02_0080;
    pub const PIDFD: u64 = 0x1000;
    pub const CLEAR_SIGHAND: u64 = 0x1_0000_0000;
}

/// What clone3 takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct CloneArgs {
    /// CLONE_*
    pub flags: u64,
    /// Where CHILD_SETTID and CHILD_CLEARTID go.
    pub child_tid: u64,
    /// Where PARENT_SETTID goes.
    pub parent_tid: u64,
    /// The signal at its end.
    pub exit_signal: i32,
    /// SP_EL0; 0: the parent's.
    pub stack: u64,
    /// TPIDR_EL0, with SETTLS.
    pub tls: u64,
}

/// Makes the new thread or process; returns its number.
pub fn clone(args: &CloneArgs) -> Result<i32> {
    use clone_flags as c;
    let has = |flag| args.flags & flag != 0;
    let is_wrong =
        has(c::SIGHAND) && !has(c::VM) || has(c::THREAD) && !has(c::SIGHAND) || !(0..=64).contains(&args.exit_signal);
    if is_wrong || has(c::NAMESPACES | c::PIDFD) {
        return Err(Errno::EINVAL);
    }
    if table::thread_count() >= table::most_threads() {
        return Err(Errno::EAGAIN);
    }
    crate::memory::check()?;
    let current = CURRENT.share();
    let mm = if has(c::VM) { current.mm()? } else { current.mm()?.fork()? };
    let files = current.files()?;
    let files = if has(c::FILES) { files } else { Arc::new(files.copy()?) };
    let fs = if has(c::FS) { current.fs() } else { Arc::new(current.fs().copy()) };
    let tid = table::new_id();
    let process = if has(c::THREAD) { Arc::clone(&current.process) } else { new_process(&current, tid, args)? };
    let new = Thread::new(tid, Arc::clone(&process), Some(mm), files, fs, None)?;
    *new.name.lock() = *current.name.lock();
    *new.credentials.lock() = *current.credentials.lock();
    new.signals.inherit(&current.signals);
    crate::mte::inherit(&new, &current);
    if !has(c::VM) || has(c::VFORK) {
        new.signals.inherit_stack(&current.signals);
    }
    crate::pauth::inherit(&new, &current);
    let frame = new.context.frame();
    frame.copy_from(current.context.frame());
    frame.set_register(0, 0);
    let sp = if args.stack == 0 { thread::user_sp() } else { args.stack };
    let tls = if has(c::SETTLS) { args.tls } else { thread::user_tpidr() };
    new.context.set_user_pointers(sp, tls);
    hal::fp::copy_to(&current.context, &new.context);
    if has(c::CHILD_CLEARTID) {
        new.clear_child_tid.store(args.child_tid, Ordering::Relaxed);
    }
    if has(c::PARENT_SETTID) {
        hal::uaccess::write(args.parent_tid, &tid.to_ne_bytes())?;
    }
    let new = Arc::new(new);
    if has(c::VFORK) {
        *new.vfork_parent.lock() = Some(Arc::clone(&current));
    }
    if has(c::CHILD_SETTID) {
        set_child_tid(&new, args.child_tid)?;
    }
    {
        // exit_group of another thread must not miss this one.
        let state = process.state.lock();
        if *state != ProcessState::Alive || process.is_in_exec() {
            return Err(Errno::EAGAIN);
        }
        process.threads.lock().push(Arc::clone(&new));
        if process.job.lock().is_stopping() {
            new.context.set_flags(thread::flags::SIGNAL);
        }
    }
    if !table::insert_unless(&new, || crate::signal::is_told_to_end(&current)) {
        process.threads.lock().retain(|other| !Arc::ptr_eq(other, &new));
        return Err(Errno::EAGAIN);
    }
    if !has(c::THREAD) {
        super::exit::give_to_parent(&process);
    }
    let released = current.vfork_released.load(Ordering::Acquire);
    sched::start(&new);
    drop(new);
    if has(c::VFORK) {
        wait_for_vfork(&current, released);
    }
    Ok(tid)
}

/// Until the child lets go of the memory. Only what ends this thread ends the wait too, and is looked for now and then.
fn wait_for_vfork(current: &Thread, released: u64) {
    const LOOK: u64 = 10_000_000;
    while !crate::signal::is_told_to_end(current) {
        let deadline = Some(sched::after_nanoseconds(LOOK));
        let waited = current.vfork_done.wait_until(Sleep::Uninterruptible, deadline, || {
            (current.vfork_released.load(Ordering::Acquire) != released).then_some(())
        });
        if waited.is_ok() {
            return;
        }
    }
}

fn new_process(current: &Arc<Thread>, pid: i32, args: &CloneArgs) -> Result<Arc<Process>> {
    let handlers = Arc::clone(&current.process.handlers.lock());
    let handlers = if args.flags & clone_flags::SIGHAND != 0 {
        handlers
    } else if args.flags & clone_flags::CLEAR_SIGHAND != 0 {
        Arc::new(handlers.for_exec())
    } else {
        Arc::new(handlers.copy())
    };
    let parent = if args.flags & clone_flags::PARENT != 0 {
        current.process.parent.lock().upgrade().ok_or(Errno::EINVAL)?
    } else {
        Arc::clone(&current.process)
    };
    let process = Process::new(pid, Some(&parent), handlers, args.exit_signal);
    process.group.store(current.process.group.load(Ordering::Relaxed), Ordering::Relaxed);
    process.session.store(current.process.session.load(Ordering::Relaxed), Ordering::Relaxed);
    Ok(Arc::new(process))
}

/// The number into the child's memory, which may be a copy of the parent's.
fn set_child_tid(new: &Arc<Thread>, address: u64) -> Result<()> {
    let mm = new.mm()?;
    if Arc::ptr_eq(&mm, &CURRENT.get().mm()?) {
        hal::uaccess::write(address, &new.tid.to_ne_bytes())?;
        return Ok(());
    }
    mm.write_foreign(address, &new.tid.to_ne_bytes())
}
