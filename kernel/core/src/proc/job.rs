//! Stopping and going on: SIGSTOP and its like, SIGCONT, and what a parent hears of it.
//!
//! A process is to stop once a thread of it has taken a stop signal; its threads then come to stand on their way to EL0,
//! and with the last one the process has stopped. SIGCONT ends that when it is sent, whether or not it is blocked.

use alloc::sync::Arc;
use core::sync::atomic::Ordering;

use super::{ExitStatus, Process, ProcessState, table};
use crate::sched::{self, CURRENT, State};
use crate::signal::{self, Info, SIGCHLD, SIGCONT, SIGHUP};

/// What a parent hears of a child.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StateChange {
    /// It has ended.
    Ended(ExitStatus),
    /// It has stopped, by this signal.
    Stopped(u8),
    /// It goes on.
    Continued,
}

impl StateChange {
    /// CLD_* and si_status.
    pub const fn code_and_status(self) -> (i32, i32) {
        match self {
            Self::Ended(ExitStatus::Code(code)) => (1, code as i32),
            Self::Ended(ExitStatus::Signal(signal)) => (2, signal as i32),
            Self::Stopped(signal) => (5, signal as i32),
            Self::Continued => (6, SIGCONT as i32),
        }
    }
    /// The word of wait4.
    pub const fn wait_status(self) -> i32 {
        match self {
            Self::Ended(status) => status.wait_status(),
            Self::Stopped(signal) => (signal as i32) << 8 | 0x7f,
            Self::Continued => 0xffff,
        }
    }
}

/// A process's part of it.
#[derive(Debug, Default)]
pub struct Job {
    /// The signal by which it is to stop, or has.
    stop: Option<u8>,
    /// Threads that stand.
    standing: usize,
    /// They all do.
    is_stopped: bool,
    /// What wait4 can tell of it.
    report: Option<StateChange>,
    /// What its parent is to be told by the next thread on its way to EL0.
    news: Option<StateChange>,
    /// How often it was told to go on: a stop signal that was taken before is void.
    continued: u64,
}

impl Job {
    /// To give to [`Job::begin`]; read before a signal is taken.
    pub fn turn(&self) -> u64 {
        self.continued
    }
    /// Are threads to stand?
    pub fn is_stopping(&self) -> bool {
        self.stop.is_some()
    }
    /// A thread has taken a stop signal. False: SIGCONT came meanwhile.
    pub fn begin(&mut self, signal: u8, turn: u64) -> bool {
        if turn != self.continued {
            return false;
        }
        if self.stop.is_none() {
            self.stop = Some(signal);
        }
        true
    }
    /// One more thread stands, of `threads`. What the parent is to be told, if it is the last one.
    fn stand(&mut self, threads: usize) -> Option<StateChange> {
        self.standing += 1;
        self.settle(threads)
    }
    /// There are `threads` now: do they all stand?
    fn settle(&mut self, threads: usize) -> Option<StateChange> {
        let signal = self.stop?;
        if self.is_stopped || threads == 0 || self.standing < threads {
            return None;
        }
        self.is_stopped = true;
        self.report = Some(StateChange::Stopped(signal));
        self.report
    }
    /// SIGCONT was sent. True: threads that stand are to be woken.
    fn go_on(&mut self) -> bool {
        self.continued += 1;
        let Some(signal) = self.stop.take() else { return false };
        self.news = Some(if self.is_stopped { StateChange::Continued } else { StateChange::Stopped(signal) });
        self.report = Some(StateChange::Continued);
        self.is_stopped = false;
        self.standing = 0;
        true
    }
    /// What wait4 can tell: a stop (WUNTRACED), that it goes on (WCONTINUED).
    pub fn report(&self) -> Option<StateChange> {
        self.report
    }
    /// It was told.
    pub fn clear_report(&mut self) {
        self.report = None;
    }
}

/// The current thread has taken a stop signal.
pub fn begin_stop(signal: u8, turn: u64) {
    let process = Arc::clone(&CURRENT.get().process);
    if !process.job.lock().begin(signal, turn) {
        return;
    }
    let threads = process.threads.lock().clone();
    threads.iter().for_each(signal::notify);
}

/// The current thread stands if its process is to stop, and tells the parent what is to be told. False: there was nothing
/// of that.
pub fn stand() -> bool {
    let process = Arc::clone(&CURRENT.get().process);
    let news = {
        let mut job = process.job.lock();
        if job.news.is_none() && !job.is_stopping() {
            return false;
        }
        job.news.take()
    };
    if let Some(change) = news {
        tell_parent(&process, change);
    }
    let (change, turn) = {
        let mut job = process.job.lock();
        if !job.is_stopping() {
            return news.is_some();
        }
        // Counted here: one that ends meanwhile looks after this.
        let threads = process.threads.lock().len();
        (job.stand(threads), job.turn())
    };
    if let Some(change) = change {
        tell_parent(&process, change);
    }
    loop {
        sched::prepare_to_sleep(State::Stopped);
        // It may be to stop again already: then it stands anew, and is counted anew.
        if process.job.lock().turn() != turn || process.is_ending() {
            sched::stay_awake();
            return true;
        }
        sched::schedule();
    }
}

/// A thread has ended: the others may all stand.
pub fn thread_ended(process: &Arc<Process>) {
    let change = {
        let mut job = process.job.lock();
        let threads = process.threads.lock().len();
        job.settle(threads)
    };
    if let Some(change) = change {
        tell_parent(process, change);
    }
}

/// SIGCONT was sent to it.
pub fn go_on(process: &Process) {
    if !process.job.lock().go_on() {
        return;
    }
    let threads = process.threads.lock().clone();
    for thread in threads {
        signal::notify(&thread);
        sched::wake_stopped(&thread);
    }
}

fn tell_parent(process: &Arc<Process>, change: StateChange) {
    let parent = process.parent.lock().upgrade();
    let Some(parent) = parent else { return };
    let wants = parent.handlers.lock().wants_stops();
    if wants {
        signal::send_to_process(&parent, SIGCHLD, Info::of_child(process, change));
    }
    parent.child_changed.wake_all();
}

/// Has nobody in a process group a parent in its session, but in another group? Such a group's programs do not stop by
/// the terminal's signals, since no shell could continue them. One process may be left out of it.
pub fn is_orphaned(group: i32, without: Option<i32>) -> bool {
    !table::processes().iter().any(|process| {
        let is_member = process.group.load(Ordering::Relaxed) == group && Some(process.pid) != without;
        if !is_member || matches!(*process.state.lock(), ProcessState::Zombie(_)) {
            return false;
        }
        let parent = process.parent.lock().upgrade();
        parent.is_some_and(|parent| {
            parent.pid != 1
                && parent.group.load(Ordering::Relaxed) != group
                && parent.session.load(Ordering::Relaxed) == process.session.load(Ordering::Relaxed)
        })
    })
}

/// `process` ends, or its parent `parent` does: if that leaves its group an orphan with stopped processes, these are told
/// to hang up and to go on.
pub fn check_orphaned(process: &Process, parent: &Process, without: Option<i32>) {
    let group = process.group.load(Ordering::Relaxed);
    let was_parent_outside = parent.group.load(Ordering::Relaxed) != group
        && parent.session.load(Ordering::Relaxed) == process.session.load(Ordering::Relaxed);
    if !was_parent_outside || !is_orphaned(group, without) {
        return;
    }
    let members: alloc::vec::Vec<Arc<Process>> =
        table::processes().into_iter().filter(|other| other.group.load(Ordering::Relaxed) == group).collect();
    if members.iter().any(|member| member.job.lock().is_stopped) {
        for signal in [SIGHUP, SIGCONT] {
            for member in &members {
                signal::send_to_process(member, signal, Info::of_kernel());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::{SIGSTOP, SIGTSTP};

    #[test]
    fn the_last_thread_stops_the_process() {
        let mut job = Job::default();
        assert!(job.begin(SIGTSTP, job.turn()));
        assert_eq!(job.stand(2), None);
        // A second stop signal changes nothing.
        assert!(job.begin(SIGSTOP, job.turn()));
        assert_eq!(job.stand(2), Some(StateChange::Stopped(SIGTSTP)));
        assert_eq!(job.report(), Some(StateChange::Stopped(SIGTSTP)));
        assert!(job.go_on());
        assert_eq!((job.news, job.report()), (Some(StateChange::Continued), Some(StateChange::Continued)));
        assert!(!job.is_stopping() && !job.go_on());
    }

    #[test]
    fn a_thread_that_ends_need_not_stand() {
        let mut job = Job::default();
        job.begin(SIGSTOP, 0);
        assert_eq!(job.stand(2), None);
        assert_eq!(job.settle(1), Some(StateChange::Stopped(SIGSTOP)));
        assert_eq!(job.settle(1), None, "told once");
    }

    #[test]
    fn going_on_voids_a_stop_that_was_taken_before() {
        let mut job = Job::default();
        let turn = job.turn();
        assert!(!job.go_on());
        assert!(!job.begin(SIGTSTP, turn));
        assert!(!job.is_stopping());
    }

    #[test]
    fn a_stop_that_was_not_complete_is_told_nevertheless() {
        let mut job = Job::default();
        job.begin(SIGSTOP, 0);
        job.stand(2);
        assert!(job.go_on());
        assert_eq!((job.news, job.report()), (Some(StateChange::Stopped(SIGSTOP)), Some(StateChange::Continued)));
    }

    #[test]
    fn a_stop_right_behind_counts_anew() {
        let mut job = Job::default();
        job.begin(SIGSTOP, job.turn());
        let first = job.turn();
        assert_eq!((job.stand(2), job.stand(2)), (None, Some(StateChange::Stopped(SIGSTOP))));
        job.go_on();
        // Before any of the two has run.
        assert!(job.begin(SIGTSTP, job.turn()));
        assert_ne!(job.turn(), first, "who stands sees that it is another stop");
        assert_eq!((job.stand(2), job.stand(2)), (None, Some(StateChange::Stopped(SIGTSTP))));
    }

    #[test]
    fn words_of_wait() {
        assert_eq!(StateChange::Stopped(19).wait_status(), 0x137f);
        assert_eq!(StateChange::Continued.wait_status(), 0xffff);
        assert_eq!(StateChange::Ended(ExitStatus::Code(3)).wait_status(), 0x300);
        assert_eq!(StateChange::Ended(ExitStatus::Signal(9)).code_and_status(), (2, 9));
    }
}
