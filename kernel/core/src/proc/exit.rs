//! The end of threads and processes.

use alloc::sync::Arc;
use core::sync::atomic::Ordering;

use hal::thread::flags;

use super::{ExitStatus, Process, ProcessState, Thread, table};
use crate::sched::{self, CURRENT, State};
use crate::signal::{self, Info};

/// Ends the process of the current thread: exit_group(2), or a signal. The first reason counts.
pub fn exit_group(status: ExitStatus) -> ! {
    end_process(&CURRENT.get().process, status);
    exit_thread(status)
}

/// Tells a process to end. Its threads do so on their next way to EL0 or at an interruptible sleep.
pub fn end_process(process: &Process, status: ExitStatus) {
    {
        let mut state = process.state.lock();
        if *state != ProcessState::Alive {
            return;
        }
        *state = ProcessState::Ending(status);
    }
    let threads = process.threads.lock().clone();
    for thread in threads {
        thread.context.set_flags(flags::SIGNAL);
        sched::wake_for_signal(&thread);
    }
}

/// Ends the current thread, and with the last one its process. `status` counts if nothing else was said.
pub fn exit_thread(status: ExitStatus) -> ! {
    // No share may stay on this stack, which is never left.
    end_current(status);
    sched::prepare_to_sleep(State::Dead);
    sched::schedule();
    unreachable!("a dead thread runs");
}

fn end_current(status: ExitStatus) {
    let current = CURRENT.share();
    let process = &current.process;
    if process.pid == 1 && process.threads.lock().len() == 1 {
        let status = match *process.state.lock() {
            ProcessState::Ending(first) => first,
            _ => status,
        };
        crate::boot::power_off(status);
    }
    crate::futex::leave(&current);
    let tid_address = current.clear_child_tid.load(Ordering::Relaxed);
    if tid_address != 0 && hal::uaccess::write(tid_address, &0u32.to_ne_bytes()).is_ok() {
        crate::futex::wake_one_at(tid_address);
    }
    drop(current.replace_files(None));
    release_vfork(&current);
    drop(current.replace_mm(None));
    process.ended_ticks.fetch_add(current.ticks(), Ordering::Relaxed);
    table::remove_thread(current.tid);
    let is_last = {
        let mut threads = process.threads.lock();
        threads.retain(|thread| thread.tid != current.tid);
        threads.is_empty()
    };
    if is_last {
        end_of_process(process, status);
    }
}

/// The parent of a vfork goes on: the child uses its memory no more.
pub fn release_vfork(thread: &Thread) {
    let parent = thread.vfork_parent.lock().take();
    if let Some(parent) = parent {
        parent.vfork_released.fetch_add(1, Ordering::Release);
        parent.vfork_done.wake_all();
    }
}

fn end_of_process(process: &Arc<Process>, status: ExitStatus) {
    {
        let mut state = process.state.lock();
        let status = match *state {
            ProcessState::Ending(first) => first,
            _ => status,
        };
        *state = ProcessState::Zombie(status);
    }
    // Orphans become the first process's.
    let orphans = core::mem::take(&mut *process.children.lock());
    if let Some(init) = table::process(1) {
        let any = !orphans.is_empty();
        for orphan in orphans {
            *orphan.parent.lock() = Arc::downgrade(&init);
            init.children.lock().push(orphan);
        }
        if any {
            init.child_changed.wake_all();
        }
    }
    let parent = process.parent.lock().upgrade();
    let Some(parent) = parent else { return };
    let exit_signal = process.exit_signal.load(Ordering::Relaxed);
    if parent.handlers.lock().ignores_children() {
        forget(&parent, process);
    }
    if exit_signal != 0 {
        signal::send_to_process(&parent, exit_signal as u8, Info::of_child(process));
    }
    parent.child_changed.wake_all();
}

/// Takes a zombie off the books.
pub fn forget(parent: &Process, child: &Process) {
    let removed = {
        let mut children = parent.children.lock();
        children.iter().position(|other| other.pid == child.pid).map(|at| children.swap_remove(at))
    };
    let ticks = child.ended_ticks.load(Ordering::Relaxed) + child.children_ticks.load(Ordering::Relaxed);
    parent.children_ticks.fetch_add(ticks, Ordering::Relaxed);
    table::remove_process(child.pid);
    drop(removed);
}
