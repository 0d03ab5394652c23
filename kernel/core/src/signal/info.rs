//! What siginfo_t tells (include/uapi/asm-generic/siginfo.h).

use crate::proc::{Process, StateChange};
use crate::sched::{self, CURRENT};

/// SI_USER: kill(2).
pub const SI_USER: i32 = 0;
/// SI_KERNEL
const SI_KERNEL: i32 = 0x80;
/// SI_TIMER: timer_create(2)'s.
pub const SI_TIMER: i32 = -2;
/// SI_TKILL: tkill(2), tgkill(2).
pub const SI_TKILL: i32 = -6;

/// Bytes of siginfo_t.
pub const SIZE: usize = 128;

/// What siginfo_t tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Info {
    /// si_errno: 0, but for what a program sends with a siginfo of its own.
    pub errno: i32,
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
    /// A process: number, user.
    Process(i32, u32),
    /// A child's change: number, user, status, time at EL0 and in the kernel in 1/100 s.
    Child(i32, u32, i32, [u64; 2]),
    /// An instruction: the address.
    Fault(u64),
    /// timer_create(2)'s timer.
    Timer(TimerSignal),
    /// rt_sigqueueinfo(2): the bytes as the program gave them.
    Given([u64; 4]),
}

/// A signal of a timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TimerSignal {
    /// Its number.
    pub id: i32,
    /// Which setting of the timer this is of: others are none of its business any more.
    pub setting: u64,
    /// How often it expired beyond the first time.
    pub overrun: i32,
    /// si_value
    pub value: u64,
}

impl Info {
    /// SI_USER: of kill(2) by the current process.
    pub fn of_user() -> Self {
        let current = CURRENT.get();
        let uid = current.credentials.lock().uid[0];
        Self { cause: Cause::Process(current.process.pid, uid), ..Self::default() }
    }
    /// SI_TKILL
    pub fn of_tkill() -> Self {
        Self { code: SI_TKILL, ..Self::of_user() }
    }
    /// SI_KERNEL
    pub fn of_kernel() -> Self {
        Self { code: SI_KERNEL, ..Self::default() }
    }
    /// Of a fault at `address`, with a code such as SEGV_MAPERR.
    pub fn of_fault(code: i32, address: u64) -> Self {
        Self { code, cause: Cause::Fault(address), ..Self::default() }
    }
    /// The same, with the syndrome.
    #[must_use]
    pub fn with_esr(self, esr: u64) -> Self {
        Self { esr, ..self }
    }
    /// SI_TIMER
    pub fn of_timer(signal: TimerSignal) -> Self {
        Self { code: SI_TIMER, cause: Cause::Timer(signal), ..Self::default() }
    }
    /// CLD_*: of a child that changed.
    pub fn of_child(child: &Process, change: StateChange) -> Self {
        const HUNDREDTH: u64 = 10_000_000;
        let time = sched::nanoseconds_of(child.ticks()) / HUNDREDTH;
        let (code, status) = change.code_and_status();
        Self { code, cause: Cause::Child(child.pid, child.uid(), status, [time, 0]), ..Self::default() }
    }
    /// From a program's siginfo_t. `None`: what cannot be, since the kernel has no such kind and the bytes behind the
    /// first 48 are not zeros.
    pub fn from_bytes(bytes: &[u8; SIZE], signal: u8) -> Option<Self> {
        let word = |at: usize| i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let code = word(8);
        if !has_known_layout(signal, code) && bytes[48..].iter().any(|byte| *byte != 0) {
            return None;
        }
        let long =
            |at: usize| -> u64 { (0..8).rev().fold(0, |value, n| value << 8 | u64::from(bytes[16 + 8 * at + n])) };
        Some(Self { errno: word(4), code, cause: Cause::Given(core::array::from_fn(long)), esr: 0 })
    }

    /// siginfo_t for `signal`.
    pub fn to_bytes(&self, signal: u8) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &i32::from(signal).to_le_bytes());
        put(4, &self.errno.to_le_bytes());
        put(8, &self.code.to_le_bytes());
        match self.cause {
            Cause::Kernel => {}
            Cause::Process(pid, uid) => {
                put(16, &pid.to_le_bytes());
                put(20, &uid.to_le_bytes());
            }
            Cause::Child(pid, uid, status, times) => {
                put(16, &pid.to_le_bytes());
                put(20, &uid.to_le_bytes());
                put(24, &status.to_le_bytes());
                put(32, &times[0].to_le_bytes());
                put(40, &times[1].to_le_bytes());
            }
            Cause::Fault(address) => put(16, &address.to_le_bytes()),
            Cause::Timer(timer) => {
                put(16, &timer.id.to_le_bytes());
                put(20, &timer.overrun.to_le_bytes());
                put(24, &timer.value.to_le_bytes());
            }
            Cause::Given(words) => {
                for (n, word) in words.iter().enumerate() {
                    put(16 + 8 * n, &word.to_le_bytes());
                }
            }
        }
        bytes
    }

    /// The same for a handler that did not ask for the tag bits of addresses (SA_EXPOSE_TAGBITS). Those of a BRK
    /// (TRAP_BRKPT) were always shown.
    #[must_use]
    pub fn without_tag(self, signal: u8) -> Self {
        match self.cause {
            Cause::Fault(address) if !(signal == super::SIGTRAP && self.code == 1) => {
                Self { cause: Cause::Fault(untagged(address)), ..self }
            }
            _ => self,
        }
    }

    /// struct signalfd_siginfo.
    pub fn to_signalfd(&self, signal: u8) -> [u8; SIZE] {
        let from = self.to_bytes(signal);
        let mut bytes = [0; SIZE];
        let mut copy = |to: usize, at: usize, len: usize| bytes[to..to + len].copy_from_slice(&from[at..at + len]);
        // signo, errno, code
        copy(0, 0, 12);
        match self.cause {
            Cause::Kernel => {}
            Cause::Process(..) => copy(12, 16, 8),
            Cause::Child(..) => {
                copy(12, 16, 8);
                copy(40, 24, 4); // ssi_status
                copy(56, 32, 16); // ssi_utime, ssi_stime
            }
            Cause::Fault(_) => copy(72, 16, 8), // ssi_addr
            Cause::Timer(_) => {
                copy(24, 16, 4); // ssi_tid
                copy(32, 20, 4); // ssi_overrun
                copy(48, 24, 8); // ssi_ptr
                copy(44, 24, 4); // ssi_int
            }
            Cause::Given(_) => {
                copy(12, 16, 8);
                copy(48, 24, 8);
                copy(44, 24, 4);
            }
        }
        bytes
    }
}

/// An address without its tag: bits 63 to 56 are 0 if bit 55 is. Above, where the kernel's addresses are, they stay.
pub fn untagged(address: u64) -> u64 {
    address & ((address << 8) as i64 >> 8) as u64
}

/// Does the kernel itself have signals with such a code, so that it knows what of siginfo_t is used?
fn has_known_layout(signal: u8, code: i32) -> bool {
    // Codes above 0 are the kernel's: so many for each of these signals, and POLL_* for the others.
    let codes = match signal {
        super::SIGILL => 11,
        super::SIGFPE => 15,
        super::SIGSEGV => 9,
        super::SIGBUS => 5,
        super::SIGSYS => 2,
        // SIGTRAP, SIGCHLD, and POLL_*.
        _ => 6,
    };
    match code {
        SI_KERNEL => true,
        1.. => code <= codes,
        // SI_USER, SI_QUEUE, SI_TIMER, SI_MESGQ, SI_ASYNCIO, SI_SIGIO, SI_TKILL; SI_DETHREAD, SI_ASYNCNL.
        _ => matches!(code, -7..=0 | -60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::{SIGSEGV, SIGTRAP};

    #[test]
    fn fields_lie_where_the_abi_has_them() {
        let timer = Info::of_timer(TimerSignal { id: 3, setting: 9, overrun: 5, value: 0x1122_3344_5566_7788 });
        let bytes = timer.to_bytes(14);
        assert_eq!(bytes[..12], [14, 0, 0, 0, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff]);
        assert_eq!(bytes[16..32], [3, 0, 0, 0, 5, 0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]);
        assert_eq!(
            timer.to_signalfd(14)[44..56],
            [0x88, 0x77, 0x66, 0x55, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]
        );
    }

    #[test]
    fn a_given_siginfo_comes_back() {
        let mut bytes = [0; SIZE];
        for (n, byte) in bytes[..48].iter_mut().enumerate() {
            *byte = n as u8;
        }
        bytes[8..12].copy_from_slice(&(-1i32).to_le_bytes());
        let mut back = Info::from_bytes(&bytes, 40).unwrap().to_bytes(33);
        assert_eq!(back[..4], [33, 0, 0, 0]);
        back[..4].copy_from_slice(&bytes[..4]);
        back[12..16].copy_from_slice(&bytes[12..16]);
        assert_eq!(back, bytes);
        // What is behind is cut off where the kind is known, and refused where it is not.
        bytes[127] = 1;
        assert!(Info::from_bytes(&bytes, 40).is_some());
        bytes[8..12].copy_from_slice(&(-61i32).to_le_bytes());
        assert_eq!(Info::from_bytes(&bytes, 40), None);
    }

    #[test]
    fn tags_are_hidden_but_for_breakpoints() {
        let fault = Info::of_fault(1, 0x2a00_0000_0000_1234);
        assert_eq!(fault.without_tag(SIGSEGV).cause, Cause::Fault(0x1234));
        assert_eq!(fault.without_tag(SIGTRAP).cause, Cause::Fault(0x2a00_0000_0000_1234));
        assert_eq!(untagged(0x12ff_0000_0000_0000), 0x12ff_0000_0000_0000);
    }
}
