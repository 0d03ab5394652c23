//! Signals that were sent and not taken.

use alloc::collections::VecDeque;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::SigSet;
use super::info::{Cause, Info};
use super::{SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
use crate::errno::{Errno, Result};

/// First real-time signal: from here on each one sent counts.
const REALTIME: u8 = 32;

/// What the current instruction brings about comes before everything else.
const SYNCHRONOUS: SigSet = SigSet(
    SigSet::of(SIGSEGV).0
        | SigSet::of(SIGBUS).0
        | SigSet::of(SIGILL).0
        | SigSet::of(SIGTRAP).0
        | SigSet::of(SIGFPE).0
        | SigSet::of(SIGSYS).0,
);

/// Most entries of all queues, whatever the limits.
const MOST: u64 = 16_384;

/// Entries of all queues: RLIMIT_SIGPENDING counts a user's, and all are root's.
static QUEUED: AtomicUsize = AtomicUsize::new(0);

/// Signals that wait: which ones, and what is known of each. Of a signal that found no room only the number is known.
#[derive(Debug, Default)]
pub struct Pending {
    set: SigSet,
    queue: VecDeque<(u8, Info)>,
}

impl Pending {
    /// Adds one; an ordinary signal that waits already is not added again, nor one of a timer, which then counts it.
    /// `limit` is how many may wait in all queues: EAGAIN for a real-time signal of a program beyond that.
    pub fn add(&mut self, signal: u8, info: Info, limit: u64) -> Result<()> {
        if let Cause::Timer(new) = info.cause {
            for (_, queued) in &mut self.queue {
                if let Cause::Timer(old) = &mut queued.cause {
                    if old.id == new.id {
                        old.overrun = old.overrun.saturating_add(1);
                        return Ok(());
                    }
                }
            }
        } else if signal < REALTIME && self.set.has(signal) {
            return Ok(());
        }
        // The kernel's own, and kill(2)'s ordinary ones, are never lost.
        let is_exempt = matches!(info.cause, Cause::Timer(_)) || signal < REALTIME && info.code >= 0;
        if is_exempt || (QUEUED.load(Ordering::Relaxed) as u64) < limit.min(MOST) {
            self.queue.push_back((signal, info));
            QUEUED.fetch_add(1, Ordering::Relaxed);
        } else if signal >= REALTIME && info.code != super::info::SI_USER {
            return Err(Errno::EAGAIN);
        }
        self.set.0 |= SigSet::of(signal).0;
        Ok(())
    }

    /// Which ones.
    pub fn set(&self) -> SigSet {
        self.set
    }

    /// Forgets those.
    pub fn remove(&mut self, signals: SigSet) {
        if self.set.0 & signals.0 == 0 {
            return;
        }
        self.set.0 &= !signals.0;
        let before = self.queue.len();
        self.queue.retain(|(signal, _)| !signals.has(*signal));
        QUEUED.fetch_sub(before - self.queue.len(), Ordering::Relaxed);
    }

    /// Takes the next that is not blocked: what an instruction brought about, else the lowest number, of equal ones the
    /// one that was sent first.
    pub fn take(&mut self, blocked: SigSet) -> Option<(u8, Info)> {
        let open = self.set.0 & !blocked.0;
        if open == 0 {
            return None;
        }
        let first = if open & SYNCHRONOUS.0 == 0 { open } else { open & SYNCHRONOUS.0 };
        let signal = first.trailing_zeros() as u8 + 1;
        let taken = self.take_queued(|queued, _| queued == signal);
        if taken.is_none() {
            self.set.0 &= !SigSet::of(signal).0;
        }
        Some(taken.unwrap_or((signal, Info { cause: Cause::Process(0, 0), ..Info::default() })))
    }

    /// Takes what an instruction brought about, if it is there.
    pub fn take_synchronous(&mut self, blocked: SigSet) -> Option<(u8, Info)> {
        if self.set.0 & SYNCHRONOUS.0 & !blocked.0 == 0 {
            return None;
        }
        // Not what others sent by that number.
        self.take_queued(|signal, info| {
            SYNCHRONOUS.has(signal) && !blocked.has(signal) && info.code > super::info::SI_USER
        })
    }

    fn take_queued(&mut self, is_meant: impl Fn(u8, &Info) -> bool) -> Option<(u8, Info)> {
        let at = self.queue.iter().position(|(signal, info)| is_meant(*signal, info))?;
        let taken = self.queue.remove(at)?;
        QUEUED.fetch_sub(1, Ordering::Relaxed);
        if !self.queue.iter().any(|(queued, _)| *queued == taken.0) {
            self.set.0 &= !SigSet::of(taken.0).0;
        }
        Some(taken)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        QUEUED.fetch_sub(self.queue.len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::info::{SI_TKILL, TimerSignal};

    const NONE: SigSet = SigSet(0);

    fn sent(value: u64) -> Info {
        Info { code: -1, cause: Cause::Given([0, value, 0, 0]), ..Info::default() }
    }

    #[test]
    fn ordinary_signals_merge_and_real_time_ones_queue() {
        let mut pending = Pending::default();
        for signal in [15, 40, 15, 40, 2] {
            pending.add(signal, Info::default(), u64::MAX).unwrap();
        }
        assert_eq!(pending.take(SigSet::of(2)).unwrap().0, 15);
        assert_eq!(pending.take(NONE).unwrap().0, 2);
        assert_eq!(pending.take(NONE).unwrap().0, 40);
        assert_eq!(pending.take(NONE).unwrap().0, 40);
        assert_eq!(pending.take(NONE), None);
        assert_eq!(pending.set(), NONE);
    }

    #[test]
    fn equal_ones_come_in_the_order_of_sending() {
        let mut pending = Pending::default();
        for value in 0..5 {
            pending.add(33, sent(value), u64::MAX).unwrap();
            pending.add(34, sent(100 + value), u64::MAX).unwrap();
        }
        let values: std::vec::Vec<Cause> = core::iter::from_fn(|| Some(pending.take(NONE)?.1.cause)).collect();
        let expected = (0..5).chain(100..105).map(|value| Cause::Given([0, value, 0, 0]));
        assert!(values.into_iter().eq(expected));
    }

    #[test]
    fn faults_come_first() {
        let mut pending = Pending::default();
        pending.add(1, Info::default(), u64::MAX).unwrap();
        pending.add(SIGTRAP, sent(0), u64::MAX).unwrap();
        pending.add(SIGSEGV, Info::of_fault(1, 0), u64::MAX).unwrap();
        assert_eq!(pending.take_synchronous(NONE).unwrap().0, SIGSEGV);
        assert_eq!(pending.take_synchronous(NONE), None, "a sent SIGTRAP is no fault");
        assert_eq!(pending.take(NONE).unwrap().0, SIGTRAP);
        assert_eq!(pending.take(NONE).unwrap().0, 1);
    }

    #[test]
    fn beyond_the_limit_only_numbers_are_kept() {
        let mut pending = Pending::default();
        assert_eq!(pending.add(40, sent(1), 0), Err(Errno::EAGAIN));
        assert_eq!(pending.add(40, Info { code: SI_TKILL, ..sent(1) }, 0), Err(Errno::EAGAIN));
        assert_eq!(pending.set(), NONE);
        pending.add(40, Info { code: 0, ..sent(1) }, 0).unwrap();
        pending.add(12, sent(1), 0).unwrap();
        pending.add(10, Info { code: 0, ..sent(7) }, 0).unwrap();
        assert_eq!(pending.take(NONE), Some((10, Info { code: 0, ..sent(7) })));
        let lost = Info { cause: Cause::Process(0, 0), ..Info::default() };
        assert_eq!(pending.take(NONE), Some((12, lost)));
        assert_eq!(pending.take(NONE), Some((40, lost)));
        assert_eq!(pending.take(NONE), None);
    }

    #[test]
    fn a_timer_has_one_signal_and_counts_the_rest() {
        let mut pending = Pending::default();
        let of = |id, overrun| Info::of_timer(TimerSignal { id, setting: 1, overrun, value: 0 });
        for id in [1, 2, 1, 1] {
            pending.add(14, of(id, 0), 0).unwrap();
        }
        assert_eq!(pending.take(NONE), Some((14, of(1, 2))));
        assert_eq!(pending.take(NONE), Some((14, of(2, 0))));
        assert_eq!(pending.take(NONE), None);
    }

    #[test]
    fn removed_ones_are_gone() {
        let mut pending = Pending::default();
        for signal in [40, 12, 40] {
            pending.add(signal, sent(1), u64::MAX).unwrap();
        }
        pending.remove(SigSet::of(40));
        assert_eq!(pending.take(NONE).unwrap().0, 12);
        assert_eq!(pending.take(NONE), None);
    }
}
