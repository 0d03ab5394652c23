//! The end of threads and processes.

use alloc::sync::Arc;
use core::sync::atomic::Ordering;

use super::{ExitStatus, Process, ProcessState, StateChange, Thread, job, table};
use crate::sched::{self, CURRENT, State};
use crate::signal::{self, Info, SIGCHLD};
use crate::tty;

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
        signal::notify(&thread);
        sched::wake_stopped(&thread);
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
    crate::futex::leave(&current);
    let tid_address = current.clear_child_tid.load(Ordering::Relaxed);
    if tid_address != 0 && hal::uaccess::write(tid_address, &0u32.to_ne_bytes()).is_ok() {
        crate::futex::wake_one_at(tid_address);
    }
    drop(current.replace_files(None));
    release_vfork(&current);
    drop(current.replace_mm(None));
    process.uid.store(current.credentials.lock().uid[0], Ordering::Relaxed);
    table::remove_thread(current.tid);
    let is_last = {
        let mut threads = process.threads.lock();
        process.ended_ticks.fetch_add(current.ticks(), Ordering::Relaxed);
        process.ended_faults.fetch_add(current.faults.load(Ordering::Relaxed), Ordering::Relaxed);
        threads.retain(|thread| thread.tid != current.tid);
        threads.is_empty()
    };
    if is_last {
        if process.pid == 1 {
            let status = match *process.state.lock() {
                ProcessState::Ending(first) => first,
                _ => status,
            };
            crate::boot::power_off(status);
        }
        end_of_process(process, status);
    } else {
        job::thread_ended(process);
    }
}

/// Makes a new process one of its parent's children; of the first process's, if the parent has ended meanwhile.
pub fn give_to_parent(process: &Arc<Process>) {
    let parent = process.parent.lock().upgrade();
    if let Some(parent) = parent {
        // Under this lock: a parent that has not ended yet takes its children along when it does.
        let state = parent.state.lock();
        if !matches!(*state, ProcessState::Zombie(_)) {
            parent.children.lock().push(Arc::clone(process));
            return;
        }
    }
    let Some(init) = table::process(1) else { return };
    *process.parent.lock() = Arc::downgrade(&init);
    init.children.lock().push(Arc::clone(process));
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
    process.timers.end();
    tty::process_ends(process);
    // Orphans become the first process's.
    let orphans = core::mem::take(&mut *process.children.lock());
    if let Some(init) = table::process(1) {
        for orphan in &orphans {
            *orphan.parent.lock() = Arc::downgrade(&init);
            orphan.exit_signal.store(i32::from(SIGCHLD), Ordering::Relaxed);
            init.children.lock().push(Arc::clone(orphan));
        }
        for orphan in &orphans {
            job::check_orphaned(orphan, process, None);
            tell_end(orphan, &init, || {});
        }
    }
    let become_zombie = || {
        let mut state = process.state.lock();
        let status = match *state {
            ProcessState::Ending(first) => first,
            _ => status,
        };
        *state = ProcessState::Zombie(status);
    };
    let parent = process.parent.lock().upgrade();
    match parent {
        None => become_zombie(),
        Some(parent) => {
            job::check_orphaned(process, &parent, Some(process.pid));
            tell_end(process, &parent, become_zombie);
        }
    }
}

/// If a child has ended, its parent gets a signal, and something to wait for, or the child vanishes. `end` is what makes
/// it a zombie: nobody waits for it successfully and finds the signal missing, nor the other way round.
fn tell_end(child: &Arc<Process>, parent: &Arc<Process>, end: impl FnOnce()) {
    let number = child.exit_signal.load(Ordering::Relaxed) as u8;
    let vanishes = {
        let children = parent.children.lock();
        end();
        let ProcessState::Zombie(status) = *child.state.lock() else { return };
        if number != 0 {
            signal::send_to_process(parent, number, Info::of_child(child, StateChange::Ended(status)));
        }
        drop(children);
        number == SIGCHLD && parent.handlers.lock().ignores_children()
    };
    if vanishes {
        forget(parent, child);
    }
    parent.child_changed.wake_all();
}

/// Takes a zombie off the books. False: another was first.
pub fn forget(parent: &Process, child: &Process) -> bool {
    let removed = {
        let mut children = parent.children.lock();
        children.iter().position(|other| other.pid == child.pid).map(|at| children.swap_remove(at))
    };
    if removed.is_none() {
        return false;
    }
    let ticks = child.ended_ticks.load(Ordering::Relaxed) + child.children_ticks.load(Ordering::Relaxed);
    parent.children_ticks.fetch_add(ticks, Ordering::Relaxed);
    table::remove_process(child.pid);
    drop(removed);
    true
}
