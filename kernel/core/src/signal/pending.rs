//! Signals that were sent and not taken.

use alloc::collections::VecDeque;

use super::SigSet;
use crate::proc::{ExitStatus, Process, ProcessState};
use crate::sched::CURRENT;

/// First real-time signal: from here on each one sent counts.
const REALTIME: u8 = 32;

/// What siginfo_t tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Info {
    /// si_code
    pub code: i32,
    /// si_errno
    pub errno: i32,
    /// si_pid, or the timer's number
    pub pid: i32,
    /// si_uid, or the timer's overrun
    pub uid: u32,
    /// si_status
    pub status: i32,
    /// si_addr or si_value
    pub value: u64,
}

impl Info {
    /// SI_USER: of kill(2) by the current process.
    pub fn of_user() -> Self {
        let current = CURRENT.get();
        let uid = current.credentials.lock().uid[0];
        Self { pid: current.process.pid, uid, ..Self::default() }
    }
    /// SI_TKILL
    pub fn of_tkill() -> Self {
        Self { code: -6, ..Self::of_user() }
    }
    /// SI_KERNEL
    pub fn of_kernel() -> Self {
        Self { code: 0x80, ..Self::default() }
    }
    /// Of a fault at `address`, with a code such as SEGV_MAPERR.
    pub fn of_fault(code: i32, address: u64) -> Self {
        Self { code, value: address, ..Self::default() }
    }
    /// CLD_*: of a child that ended.
    pub fn of_child(child: &Process) -> Self {
        let (code, status) = match *child.state.lock() {
            ProcessState::Zombie(ExitStatus::Code(code)) => (1, i32::from(code)),
            ProcessState::Zombie(ExitStatus::Signal(signal)) => (2, i32::from(signal)),
            _ => (0, 0),
        };
        Self { code, pid: child.pid, status, ..Self::default() }
    }
}

/// Signals that wait.
#[derive(Debug, Default)]
pub struct Pending {
    set: SigSet,
    queue: VecDeque<(u8, Info)>,
}

impl Pending {
    /// Adds one; an ordinary signal that waits already is not added again.
    pub fn add(&mut self, signal: u8, info: Info) {
        if signal < REALTIME && self.set.has(signal) {
            return;
        }
        self.set.0 |= SigSet::of(signal).0;
        self.queue.push_back((signal, info));
    }

    /// Which ones.
    pub fn set(&self) -> SigSet {
        self.set
    }

    /// Takes the lowest that is not blocked.
    pub fn take(&mut self, blocked: SigSet) -> Option<(u8, Info)> {
        let open = self.set.0 & !blocked.0;
        if open == 0 {
            return None;
        }
        let signal = open.trailing_zeros() as u8 + 1;
        let at = self.queue.iter().position(|(queued, _)| *queued == signal)?;
        let taken = self.queue.remove(at);
        if !self.queue.iter().any(|(queued, _)| *queued == signal) {
            self.set.0 &= !SigSet::of(signal).0;
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_signals_merge_and_real_time_ones_queue() {
        let mut pending = Pending::default();
        for signal in [15, 40, 15, 40, 2] {
            pending.add(signal, Info { pid: i32::from(signal), ..Info::default() });
        }
        assert_eq!(pending.take(SigSet::of(2)).unwrap().0, 15);
        assert_eq!(pending.take(SigSet::default()).unwrap().0, 2);
        assert_eq!(pending.take(SigSet::default()).unwrap().0, 40);
        assert_eq!(pending.take(SigSet::default()).unwrap().0, 40);
        assert_eq!(pending.take(SigSet::default()), None);
        assert_eq!(pending.set(), SigSet::default());
    }
}
