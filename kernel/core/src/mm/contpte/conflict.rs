//! TLB conflict aborts (fault status 0x30): the TLB has the old and the new form of a block. The remedy is to empty it and to
//! try again; a CPU that then meets the conflict over and over has something that this does not cure.

use core::sync::atomic::{AtomicU64, Ordering};

use hal::mem::tlb;
use hal::percpu::{self, MAX_CPUS};
use hal::sync::SpinLock;
use hal::timer;

use crate::sched;

static COUNT: AtomicU64 = AtomicU64::new(0);
static LAST: [SpinLock<Series>; MAX_CPUS] = [const { SpinLock::new(Series::new()) }; MAX_CPUS];

/// Conflicts of one instruction that may follow each other.
const LIMIT: u32 = 1000;
/// How close, in nanoseconds, they must be to be one series. A change of form takes longer than a retry, and one conflict
/// needs one.
const GAP: u64 = 100_000;

/// Is the fault status of this ESR_ELx a TLB conflict abort?
pub fn is_conflict(esr: u64) -> bool {
    const DATA_OR_INSTRUCTION: [u64; 4] = [0x20, 0x21, 0x24, 0x25];
    DATA_OR_INSTRUCTION.contains(&(esr >> 26)) && esr & 0x3f == 0x30
}

/// The conflicts of one CPU that came one after the other without the program getting on.
#[derive(Debug)]
struct Series {
    pc: u64,
    last: u64,
    length: u32,
}

impl Series {
    const fn new() -> Self {
        Self { pc: 0, last: 0, length: 0 }
    }

    /// One more, at `pc` and `now`. False: it is one too many.
    fn note(&mut self, pc: u64, now: u64, gap: u64) -> bool {
        let continues = self.length > 0 && pc == self.pc && now.wrapping_sub(self.last) < gap;
        self.length = if continues { self.length + 1 } else { 1 };
        self.pc = pc;
        self.last = now;
        self.length <= LIMIT
    }
}

/// Makes the instruction at `pc` worth another try on this CPU: TLBI VMALLE1, DSB NSH, ISB. With FEAT_VHE at EL2 that is the
/// EL2&0 regime. False: it has been tried too often.
pub fn recover(pc: u64) -> bool {
    COUNT.fetch_add(1, Ordering::Relaxed);
    // The exception was taken on this CPU, and interrupts are masked since: so this is the TLB that has the conflict.
    tlb::all_local();
    LAST[percpu::id()].lock().note(pc, timer::now(), sched::ticks_of(GAP))
}

/// How many there were.
pub fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_data_and_instruction_aborts_with_that_status_are_conflicts() {
        for class in 0..64u64 {
            for status in 0..64u64 {
                let esr = class << 26 | 1 << 25 | 1 << 6 | status;
                assert_eq!(is_conflict(esr), matches!(class, 0x20 | 0x21 | 0x24 | 0x25) && status == 0x30);
            }
        }
    }

    #[test]
    fn a_series_ends_by_time_or_another_instruction_and_not_by_itself() {
        let mut series = Series::new();
        let mut now = 0;
        for _ in 0..LIMIT {
            now += 9;
            assert!(series.note(0x1000, now, 10));
        }
        assert!(!series.note(0x1000, now + 9, 10), "no way forward");
        assert!(series.note(0x1004, now + 18, 10), "another instruction: the program got on");
        for _ in 0..5 * LIMIT {
            now += 10;
            assert!(series.note(0x1000, now, 10), "time went by: so did something");
        }
    }

    #[test]
    fn recovery_counts() {
        let before = count();
        assert!(recover(0x1234));
        assert_eq!(count(), before + 1);
    }
}
