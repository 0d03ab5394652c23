//! The generic timer as one PE has it. DDI 0487 D12.
//!
//! Time comes from the machine as a count of ticks; with `--time insn` one instruction is one tick. The timers' outputs
//! are levels on private interrupts; the PE drives them when a deadline passes or a register is written.

use bus::Level;
use sem::Insn;

use crate::pe::Pe;

/// The private interrupts of the timers, as INTIDs (the Base System Architecture's numbers).
const PPI_PHYSICAL: u32 = 30;
const PPI_VIRTUAL: u32 = 27;

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

impl Pe {
    /// The generic counter as instruction `insn` of the running block sees it, in ticks.
    pub(crate) fn counter_at(&self, insn: Insn) -> u64 {
        self.ticks() + u64::from(insn.offset() / 4)
    }

    /// Drives the timers' interrupts by the present time.
    pub fn update_timers(&mut self) {
        let now = self.ticks();
        let outputs = [self.ptimer.output(now), self.vtimer.output(now)];
        if outputs == self.timer_outputs {
            return;
        }
        self.timer_outputs = outputs;
        for (intid, output) in [PPI_PHYSICAL, PPI_VIRTUAL].into_iter().zip(outputs) {
            self.gic.set_ppi(self.index, intid, Level::from_bit(output));
        }
    }

    /// When a timer's output rises next, or a timed wait ends, in ticks after now.
    #[must_use]
    pub fn timer_deadline(&self) -> Option<u64> {
        let now = self.ticks();
        let wait = self.wait_until.filter(|end| *end > now);
        [self.ptimer.deadline(now), self.vtimer.deadline(now), wait].into_iter().flatten().min()
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
