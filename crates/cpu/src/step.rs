//! Software step: one instruction, then an exception. DDI 0487 D2.11.
//!
//! While stepping is on no fetch context is valid, so that the block loop comes to [`Pe::step`] before each instruction,
//! and pays nothing otherwise.

use arch::El;
use arch::esr::SoftwareStep;
use arch::field::{mdcr_el2, mdscr_el1};
use arch::sysreg::Reg;

use crate::pe::Pe;

/// What [`Pe::step`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Active and not pending: one instruction may execute.
    One,
    /// Active and pending: the exception was taken.
    Taken,
}

impl Pe {
    /// The level that debug exceptions go to.
    pub(crate) fn debug_target(&self) -> El {
        let tde = mdcr_el2::TDE.is_set(self.reg(Reg::MDCR_EL2)) || self.hcr(arch::field::hcr_el2::TGE);
        if self.has_el2() && tde { El::El2 } else { El::El1 }
    }

    /// Are debug exceptions enabled at `el` with that D mask (AArch64.GenerateDebugExceptionsFrom)?
    pub(crate) fn debug_enabled(&self, el: El, d: u8) -> bool {
        // OSLSR_EL1.OSLK
        let locked = self.reg(Reg::OSLSR_EL1) & 2 != 0;
        let target = self.debug_target();
        let at_target = mdscr_el1::KDE.is_set(self.reg(Reg::MDSCR_EL1)) && d == 0;
        !locked && (el < target || (el == target && at_target))
    }

    /// Is software step on at `el` with that D mask?
    pub(crate) fn steps_at(&self, el: El, daif: u8) -> bool {
        mdscr_el1::SS.is_set(self.reg(Reg::MDSCR_EL1)) && self.debug_enabled(el, daif >> 3)
    }

    /// PSTATE.SS after an exception return to `el` with that D mask and SPSR.SS (DebugExceptionReturnSS): kept only where
    /// stepping is off here and on there.
    pub(crate) fn step_after_return(&self, ss: u8, el: El, daif: u8) -> u8 {
        if !self.steps_at(self.pstate.el, self.pstate.daif) && self.steps_at(el, daif) { ss } else { 0 }
    }

    /// Called before an instruction while stepping is on.
    pub(crate) fn step(&mut self) -> Step {
        if self.pstate.ss == 1 {
            self.single = true;
            return Step::One;
        }
        let syndrome = SoftwareStep { exclusive: self.stepped.take() }.syndrome();
        self.raise_debug(syndrome, None);
        self.take_pending(self.pc);
        Step::Taken
    }

    /// The instruction `word` of a step has executed.
    pub(crate) fn stepped(&mut self, word: u32) {
        self.single = false;
        self.pstate.ss = 0;
        // Load-exclusive and load-acquire exclusive, single and pair.
        self.stepped = Some(word & 0x3f40_0000 == 0x0840_0000 && word >> 23 & 1 == 0);
    }
}
