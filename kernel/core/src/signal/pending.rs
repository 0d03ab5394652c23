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
    /// What brought it about.
    pub cause: Cause,
    /// ESR of a fault; 0: none.
    pub esr: u64,
}

/// The parts of siginfo_t that depend on the cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Cause {
    /// The kernel.
    #[default]
    Kernel,
    /// A process: number, user, value (sigqueue).
    Process(i32, u32, u64),
    /// A child's change: number, user, status.
    Child(i32, u32, i32),
    /// An instruction: the address.
    Fault(u64),
}

impl Info {
    /// SI_USER: of kill(2) by the current process.
    pub fn of_user() -> Self {
        let current = CURRENT.get();
        let uid = current.credentials.lock().uid[0];
        Self { cause: Cause::Process(current.process.pid, uid, 0), ..Self::default() }
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
        Self { code, cause: Cause::Fault(address), esr: 0 }
    }
    /// The same, with the syndrome.
    #[must_use]
    pub fn with_esr(self, esr: u64) -> Self {
        Self { esr, ..self }
    }
    /// CLD_*: of a child that ended.
    pub fn of_child(child: &Process) -> Self {
        let (code, status) = match *child.state.lock() {
            ProcessState::Zombie(ExitStatus::Code(code)) => (1, i32::from(code)),
            ProcessState::Zombie(ExitStatus::Signal(signal)) => (2, i32::from(signal)),
            _ => (0, 0),
        };
        Self { code, cause: Cause::Child(child.pid, 0, status), esr: 0 }
    }

    /// The address of a fault; 0: it is none.
    pub fn fault_address(&self) -> u64 {
        match self.cause {
            Cause::Fault(address) => address,
            _ => 0,
        }
    }

    /// The same with an address that has no tag: bits 63:56 are as bit 55. SIGTRAP's stays as it is.
    #[must_use]
    pub fn without_tag(self, signal: u8) -> Self {
        match self.cause {
            Cause::Fault(address) if signal != super::SIGTRAP => {
                Self { cause: Cause::Fault(address & ((address << 8) as i64 >> 8) as u64), ..self }
            }
            _ => self,
        }
    }

    /// siginfo_t for `signal`.
    pub fn to_bytes(&self, signal: u8) -> [u8; 128] {
        let mut bytes = [0; 128];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &i32::from(signal).to_le_bytes());
        put(8, &self.code.to_le_bytes());
        match self.cause {
            Cause::Kernel => {}
            Cause::Process(pid, uid, value) => {
                put(16, &pid.to_le_bytes());
                put(20, &uid.to_le_bytes());
                put(24, &value.to_le_bytes());
            }
            Cause::Child(pid, uid, status) => {
                put(16, &pid.to_le_bytes());
                put(20, &uid.to_le_bytes());
                put(24, &status.to_le_bytes());
            }
            Cause::Fault(address) => put(16, &address.to_le_bytes()),
        }
        bytes
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
            pending.add(signal, Info::default());
        }
        assert_eq!(pending.take(SigSet::of(2)).unwrap().0, 15);
        assert_eq!(pending.take(SigSet::default()).unwrap().0, 2);
        assert_eq!(pending.take(SigSet::default()).unwrap().0, 40);
        assert_eq!(pending.take(SigSet::default()).unwrap().0, 40);
        assert_eq!(pending.take(SigSet::default()), None);
        assert_eq!(pending.set(), SigSet::default());
    }
}
