//! The generic timer as one PE has it. DDI 0487 D12.
//!
//! Time comes from the machine as a count of ticks; with `--time insn` one instruction is one tick. The timers' outputs
//! are levels on private interrupts; the PE drives them when a deadline passes or a register is written.
//!
//! The system counter is one for all PEs, but within a round of the machine their own times differ. So the count is a PE's
//! own time, or what any PE has seen of the counter before, if that is more. Whatever tells a guest that a time has come
//! counts as seeing it: a counter's value, ISTATUS, a timer's interrupt, the end of WFIT. Conditions go by this count, so
//! what registers and interrupts say is the same. After a round all own times are beyond everything that was seen.

use arch::El;
use arch::field::{cnthctl_el2, hcr_el2};
use arch::sysreg::Reg;
use bus::Level;
use sem::Insn;

use crate::pe::Pe;

/// A timer's registers: CTL and CVAL. TVAL is a view of CVAL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Timer {
    /// ENABLE bit 0, IMASK bit 1. ISTATUS is computed.
    pub ctl: u64,
    /// The compare value.
    pub cval: u64,
}

impl Timer {
    const ENABLE: u64 = 1;
    const IMASK: u64 = 2;
    const ISTATUS: u64 = 4;

    /// Is the condition met at `count`? Unsigned comparison as in CompareValue conditions.
    fn met(self, count: u64) -> bool {
        self.ctl & Self::ENABLE != 0 && count >= self.cval
    }
    /// CTL as read: ISTATUS only while enabled.
    #[must_use]
    pub fn read_ctl(self, count: u64) -> u64 {
        self.ctl & 3 | if self.met(count) { Self::ISTATUS } else { 0 }
    }
    /// TVAL as read: the low 32 bits of CVAL - count.
    #[must_use]
    pub fn read_tval(self, count: u64) -> u64 {
        self.cval.wrapping_sub(count) & 0xffff_ffff
    }
    /// Writes TVAL: CVAL = count + sign-extended value.
    pub fn write_tval(&mut self, count: u64, value: u64) {
        self.cval = count.wrapping_add(value as u32 as i32 as u64);
    }
    /// The level of its interrupt at `count`.
    #[must_use]
    pub fn output(self, count: u64) -> bool {
        self.met(count) && self.ctl & Self::IMASK == 0
    }
    /// The count at which the output rises next, if it will.
    #[must_use]
    pub fn deadline(self, count: u64) -> Option<u64> {
        (self.ctl & 3 == Self::ENABLE && count < self.cval).then_some(self.cval)
    }
}

/// The timers of a PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerId {
    /// EL1 physical.
    Physical = 0,
    /// Virtual.
    Virtual = 1,
    /// EL2 physical.
    HypPhysical = 2,
    /// EL2 virtual (FEAT_VHE).
    HypVirtual = 3,
}

/// Which of a timer's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    Ctl,
    Cval,
    Tval,
}

/// The private interrupt of each timer, as INTID (the Base System Architecture's numbers).
const PPIS: [u32; 4] = [30, 27, 26, 28];

/// The timer and its register that `reg` is.
fn timer_register(reg: Reg) -> Option<(TimerId, View)> {
    Some(match reg {
        Reg::CNTP_CTL_EL0 => (TimerId::Physical, View::Ctl),
        Reg::CNTP_CVAL_EL0 => (TimerId::Physical, View::Cval),
        Reg::CNTP_TVAL_EL0 => (TimerId::Physical, View::Tval),
        Reg::CNTV_CTL_EL0 => (TimerId::Virtual, View::Ctl),
        Reg::CNTV_CVAL_EL0 => (TimerId::Virtual, View::Cval),
        Reg::CNTV_TVAL_EL0 => (TimerId::Virtual, View::Tval),
        Reg::CNTHP_CTL_EL2 => (TimerId::HypPhysical, View::Ctl),
        Reg::CNTHP_CVAL_EL2 => (TimerId::HypPhysical, View::Cval),
        Reg::CNTHP_TVAL_EL2 => (TimerId::HypPhysical, View::Tval),
        Reg::CNTHV_CTL_EL2 => (TimerId::HypVirtual, View::Ctl),
        Reg::CNTHV_CVAL_EL2 => (TimerId::HypVirtual, View::Cval),
        Reg::CNTHV_TVAL_EL2 => (TimerId::HypVirtual, View::Tval),
        _ => return None,
    })
}

impl Pe {
    /// This PE's time at instruction `insn` of the running block, in ticks.
    pub(crate) fn time_at(&self, insn: Insn) -> u64 {
        self.ticks() + u64::from(insn.offset() / 4)
    }

    /// The system counter between two blocks, which nobody has seen yet.
    pub(crate) fn count(&self) -> u64 {
        match &self.peers {
            None => self.ticks().max(self.seen),
            Some(peers) => peers.count(),
        }
    }

    /// The system counter at instruction `insn` of the running block.
    pub(crate) fn counter_at(&self, insn: Insn) -> u64 {
        match &self.peers {
            None => self.seen.max(self.time_at(insn)),
            Some(peers) => peers.count(),
        }
    }

    /// The guest sees the system counter, or what follows from it, by instruction `insn`.
    pub(crate) fn see_counter(&mut self, insn: Insn) {
        self.seen = self.counter_at(insn);
    }

    /// The physical counter as the current level reads it (CNTPCT_EL0).
    pub(crate) fn physical_counter_at(&self, insn: Insn) -> u64 {
        let offset = if self.pstate.el < El::El2 { self.physical_offset() } else { 0 };
        self.counter_at(insn).wrapping_sub(offset)
    }

    /// CNTPOFF_EL2 where it is in force for the lower levels and the EL1 physical timer: with CNTHCTL_EL2.ECV, unless
    /// `HCR_EL2.{E2H, TGE}` are both set (FEAT_ECV_POFF).
    fn physical_offset(&self) -> u64 {
        let on = cnthctl_el2::ECV.is_set(self.reg(Reg::CNTHCTL_EL2)) && !self.is_host_el0();
        if on { self.reg(Reg::CNTPOFF_EL2) } else { 0 }
    }

    /// The virtual counter: without the offset where the host reads it (at EL2 with E2H, at EL0 with TGE as well).
    pub(crate) fn virtual_counter_at(&self, insn: Insn) -> u64 {
        let host = match self.pstate.el {
            El::El2 | El::El3 => self.hcr(hcr_el2::E2H),
            El::El0 => self.is_host_el0(),
            El::El1 => false,
        };
        let offset = if host { 0 } else { self.reg(Reg::CNTVOFF_EL2) };
        self.counter_at(insn).wrapping_sub(offset)
    }

    /// What `timer` compares with, where the physical counter is at `now`.
    fn count_of(&self, timer: usize, now: u64) -> u64 {
        const VIRTUAL: usize = TimerId::Virtual as usize;
        const PHYSICAL: usize = TimerId::Physical as usize;
        now.wrapping_sub(match timer {
            VIRTUAL => self.reg(Reg::CNTVOFF_EL2),
            PHYSICAL => self.physical_offset(),
            _ => 0,
        })
    }

    /// Reads a timer's register; `None` where `reg` is none.
    pub(crate) fn read_timer(&self, insn: Insn, reg: Reg) -> Option<u64> {
        let (timer, view) = timer_register(reg)?;
        let now = self.counter_at(insn);
        let count = self.count_of(timer as usize, now);
        let timer = self.timers[timer as usize];
        Some(match view {
            View::Ctl => timer.read_ctl(count),
            View::Cval => timer.cval,
            View::Tval => timer.read_tval(count),
        })
    }

    /// Writes a timer's register; `None` where `reg` is none.
    pub(crate) fn write_timer(&mut self, insn: Insn, reg: Reg, value: u64) -> Option<()> {
        let (timer, view) = timer_register(reg)?;
        // TVAL is relative to it.
        self.see_counter(insn);
        let now = self.seen;
        let count = self.count_of(timer as usize, now);
        let timer = &mut self.timers[timer as usize];
        match view {
            View::Ctl => timer.ctl = value & 3,
            View::Cval => timer.cval = value,
            View::Tval => timer.write_tval(count, value),
        }
        Some(())
    }

    /// Drives the timers' interrupts by the present time.
    pub fn update_timers(&mut self) {
        let now = self.count();
        let mut outputs = [false; 4];
        for (n, output) in outputs.iter_mut().enumerate() {
            *output = self.timers[n].output(self.count_of(n, now));
        }
        if outputs == self.timer_outputs {
            return;
        }
        self.timer_outputs = outputs;
        self.seen = now;
        for (intid, output) in PPIS.into_iter().zip(outputs) {
            self.gic.set_ppi(self.index, intid, Level::from_bit(output));
        }
    }

    /// How many ticks from now a timer's output rises next, or a timed wait ends.
    #[must_use]
    pub fn time_to_deadline(&self) -> Option<u64> {
        let now = self.count();
        self.timer_deadline().map(|at| at.saturating_sub(now))
    }

    /// When a timer's output rises next, or a timed wait ends, in ticks, after now.
    #[must_use]
    pub fn timer_deadline(&self) -> Option<u64> {
        let now = self.count();
        let wait = self.wait_until.filter(|end| *end > now);
        let deadline = |n: usize| {
            let count = self.count_of(n, now);
            // The count's distance is the counter's.
            self.timers[n].deadline(count).map(|at| now.saturating_add(at - count))
        };
        (0..self.timers.len()).filter_map(deadline).chain(wait).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_fires_at_its_compare_value() {
        let mut t = Timer { ctl: 1, cval: 100 };
        assert_eq!((t.output(99), t.output(100), t.deadline(99), t.deadline(100)), (false, true, Some(100), None));
        assert_eq!((t.read_ctl(99), t.read_ctl(100)), (1, 5));
        t.ctl = 3;
        assert_eq!((t.output(100), t.read_ctl(100), t.deadline(5)), (false, 7, None));
        t.ctl = 0;
        assert_eq!(t.read_ctl(100), 0);
    }

    #[test]
    fn tval_is_a_signed_view_of_cval() {
        let mut t = Timer::default();
        t.write_tval(1000, 0xffff_ffff);
        assert_eq!(t.cval, 999);
        assert_eq!(t.read_tval(1000), 0xffff_ffff);
        t.write_tval(u64::MAX, 2);
        assert_eq!(t.cval, 1);
    }
}
