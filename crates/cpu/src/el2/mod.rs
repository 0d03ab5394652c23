//! EL2's hold on the lower levels: HCR_EL2 as it is in force, translation regimes, who takes an exception.
//! DDI 0487 D1.3.6, D8.1 and the description of HCR_EL2. Without FEAT_EL2 every question here has EL1's answer.

mod instruction;
mod nested;
mod traps;
mod worlds;

use arch::El;
use arch::feature::Feature;
use arch::field::{cpacr_el1 as cpacr, cptr_el2 as cptr, hcr_el2 as hcr, sctlr_el1 as sctlr};
use arch::sysreg::Reg;
use arch::trap::NestedMode;
use bus::CpuLines;
use mmu::{MemAttr, Regime, Stage2, Stage2Regs, Switch};

pub(crate) use instruction::transfer_of;
pub(crate) use traps::{Traps, Way};

use crate::exception::Interrupt;
use crate::pe::Pe;

/// The registers that an exception level takes exceptions with.
#[derive(Clone, Copy)]
pub(crate) struct LevelRegs {
    pub esr: Reg,
    pub far: Reg,
    pub elr: Reg,
    pub spsr: Reg,
    pub vbar: Reg,
    pub sctlr: Reg,
}

/// Those of `el`, EL1 or EL2.
pub(crate) const fn level_regs(el: El) -> LevelRegs {
    match el {
        El::El2 => LevelRegs {
            esr: Reg::ESR_EL2,
            far: Reg::FAR_EL2,
            elr: Reg::ELR_EL2,
            spsr: Reg::SPSR_EL2,
            vbar: Reg::VBAR_EL2,
            sctlr: Reg::SCTLR_EL2,
        },
        _ => LevelRegs {
            esr: Reg::ESR_EL1,
            far: Reg::FAR_EL1,
            elr: Reg::ELR_EL1,
            spsr: Reg::SPSR_EL1,
            vbar: Reg::VBAR_EL1,
            sctlr: Reg::SCTLR_EL1,
        },
    }
}

/// Who takes a trapped access to floating point and Advanced SIMD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FpTrap {
    /// Nobody: it is enabled.
    None,
    /// Whoever takes EL0's and EL1's exceptions.
    Default,
    /// EL2.
    El2,
}

impl Pe {
    /// Is EL2 implemented?
    #[inline(always)]
    pub(crate) fn has_el2(&self) -> bool {
        self.model.has(Feature::FEAT_EL2)
    }
    /// The bit of `HCR_EL2`, in force: 0 without EL2.
    #[inline(always)]
    pub(crate) fn hcr(&self, field: arch::field::Field) -> bool {
        field.is_set(self.reg(Reg::HCR_EL2))
    }
    /// `HCR_EL2.{E2H, TGE}` both set: EL0 is the host's.
    #[inline(always)]
    pub(crate) fn is_host_el0(&self) -> bool {
        self.hcr(hcr::E2H) && self.hcr(hcr::TGE)
    }

    /// Does a host's program run, at EL2 or at EL0 (ELIsInHost)?
    pub(crate) fn is_host(&self) -> bool {
        match self.pstate.el {
            El::El2 | El::El3 => self.hcr(hcr::E2H),
            El::El1 => false,
            El::El0 => self.is_host_el0(),
        }
    }

    /// The translation regime of `el`.
    pub(crate) fn regime_of(&self, el: El) -> Regime {
        match el {
            El::El2 | El::El3 if self.hcr(hcr::E2H) => Regime::El20,
            El::El2 | El::El3 => Regime::El2,
            El::El0 if self.is_host_el0() => Regime::El20,
            El::El0 | El::El1 => Regime::El10,
        }
    }
    /// The current translation regime.
    pub(crate) fn regime(&self) -> Regime {
        self.regime_of(self.pstate.el)
    }
    /// SCTLR of the current regime.
    pub(crate) fn control(&self) -> u64 {
        self.reg(if self.regime() == Regime::El10 { Reg::SCTLR_EL1 } else { Reg::SCTLR_EL2 })
    }
    /// TCR of the current regime.
    pub(crate) fn translation_control(&self) -> u64 {
        self.reg(if self.regime() == Regime::El10 { Reg::TCR_EL1 } else { Reg::TCR_EL2 })
    }

    /// The level that takes a synchronous exception from the current one, where nothing else is said.
    #[must_use]
    pub fn default_target(&self) -> El {
        match self.pstate.el {
            El::El2 | El::El3 => El::El2,
            El::El0 if self.hcr(hcr::TGE) => El::El2,
            El::El0 | El::El1 => El::El1,
        }
    }

    /// The level that takes physical `interrupt` (DDI 0487 D1.3.6, without EL3).
    pub(crate) fn interrupt_target(&self, interrupt: Interrupt) -> El {
        let routed = match interrupt {
            Interrupt::Irq => hcr::IMO,
            Interrupt::Fiq => hcr::FMO,
            Interrupt::SError => hcr::AMO,
        };
        if self.has_el2() && (self.hcr(routed) || self.hcr(hcr::TGE)) { El::El2 } else { El::El1 }
    }

    /// Is virtual `interrupt` enabled, so that its line may interrupt EL0 and EL1?
    pub(crate) fn virtual_enabled(&self, interrupt: Interrupt) -> bool {
        let routed = match interrupt {
            Interrupt::Irq => hcr::IMO,
            Interrupt::Fiq => hcr::FMO,
            Interrupt::SError => hcr::AMO,
        };
        self.pstate.el < El::El2 && self.hcr(routed) && !self.hcr(hcr::TGE)
    }

    /// Recomputes which interrupt lines are looked at.
    pub(crate) fn masks_changed(&mut self) {
        let p = self.pstate;
        let mut unmasked = 0;
        for (interrupt, mask, physical, virtual_lines) in [
            (Interrupt::SError, 4, CpuLines::SERROR, CpuLines::HCR_VSE | CpuLines::SEI_VIRTUAL),
            (Interrupt::Irq, 2, CpuLines::IRQ, CpuLines::VIRQ | CpuLines::HCR_VI),
            (Interrupt::Fiq, 1, CpuLines::FIQ, CpuLines::VFIQ | CpuLines::HCR_VF),
        ] {
            let masked = p.daif & mask != 0;
            let target = self.interrupt_target(interrupt);
            // EL0 and EL1 cannot mask an interrupt of EL2, unless EL0 is EL2's own (E2H and TGE); what EL1 takes EL0 can. An
            // interrupt of a lower level waits.
            let host = self.hcr(hcr::E2H) && self.hcr(hcr::TGE);
            let beyond_masks = target == El::El2 && p.el < El::El2 && !host;
            if beyond_masks || (target >= p.el && !masked) {
                unmasked |= physical;
            }
            if self.virtual_enabled(interrupt) && !masked {
                unmasked |= virtual_lines;
            }
        }
        // Taken to EL2 by a control of its own: EL0 and EL1 cannot mask it.
        if self.has_el2() && (p.el < El::El2 || p.daif & 4 == 0) {
            unmasked |= CpuLines::SEI_TO_EL2;
        }
        if self.peers.is_some() {
            unmasked |= CpuLines::MAIL;
        }
        self.unmasked = unmasked | self.unmasked & CpuLines::ATTENTION;
        if self.step_on != self.steps_at(p.el, p.daif) || (self.breakpoints_on, self.watchpoints_on) != self.armed() {
            self.context_changed();
        }
    }

    /// HCR_EL2's bits for translation, as they are in force: with E2H and TGE, VM, DC and CD behave as 0, and with TGE
    /// alone PTW does.
    fn translation_hcr(&self) -> u64 {
        let hcr = self.reg(Reg::HCR_EL2);
        let host = if self.is_host_el0() { hcr::VM.mask() | hcr::DC.mask() | hcr::CD.mask() } else { 0 };
        let tge = if hcr::TGE.is_set(hcr) { hcr::PTW.mask() } else { 0 };
        hcr & !(host | tge)
    }

    /// What memory is with stage 1 off under HCR_EL2.DC: Normal write-back, tagged with DCT.
    pub(crate) fn default_attr(&self) -> Option<MemAttr> {
        let hcr = self.translation_hcr();
        let tagged = hcr::DCT.is_set(hcr) && self.model.has(Feature::FEAT_MTE2);
        hcr::DC.is_set(hcr).then_some(if tagged { MemAttr::NORMAL_TAGGED } else { MemAttr::NORMAL_WB })
    }

    /// HCR_EL2, VTCR_EL2 or VTTBR_EL2 was written.
    pub(crate) fn hypervisor_control_changed(&mut self) {
        let regs =
            Stage2Regs { hcr: self.translation_hcr(), vtcr: self.reg(Reg::VTCR_EL2), vttbr: self.reg(Reg::VTTBR_EL2) };
        self.stage2 = Stage2::new(&regs, &self.mmu_features);
        self.nested = NestedMode::of(regs.hcr);
        for (field, line) in [(hcr::VI, CpuLines::HCR_VI), (hcr::VF, CpuLines::HCR_VF), (hcr::VSE, CpuLines::HCR_VSE)] {
            self.lines.drive(line, bus::Level::from_bit(self.hcr(field)));
        }
        self.set_up_regime(Regime::El10);
        // E2H and TGE say which regime the current level is in.
        self.follow_regime();
        self.masks_changed();
        self.context_changed();
    }

    /// Does stage 2 apply to the EL1&0 regime?
    pub(crate) fn stage2_applies(&self) -> Switch {
        Switch::bit(u64::from(self.has_el2()), 0).and(self.stage2.enabled)
    }

    /// CPACR_EL1.FPEN for EL0 and EL1, then CPTR_EL2 for all.
    pub(crate) fn fp_trap(&self) -> FpTrap {
        let el = self.pstate.el;
        let denied = |fpen: u64, el0_only: bool| match fpen {
            3 => false,
            1 => el0_only,
            _ => true,
        };
        let el1_controls = el < El::El2 && !self.is_host_el0();
        if el1_controls && denied(cpacr::FPEN.get(self.reg(Reg::CPACR_EL1)), el == El::El0) {
            return FpTrap::Default;
        }
        if !self.has_el2() {
            return FpTrap::None;
        }
        let control = self.reg(Reg::CPTR_EL2);
        let trapped = if self.hcr(hcr::E2H) {
            denied(cpacr::FPEN.get(control), el == El::El0 && self.hcr(hcr::TGE))
        } else {
            cptr::TFP.is_set(control)
        };
        if trapped { FpTrap::El2 } else { FpTrap::None }
    }

    /// PSTATE.PAN on an exception to `el`: set where its SCTLR.SPAN is clear; at EL2 only in the EL2&0 regime.
    pub(crate) fn sets_pan(&self, el: El) -> bool {
        let applies = el == El::El1 || self.is_host_el0();
        self.model.has(Feature::FEAT_PAN) && applies && !sctlr::SPAN.is_set(self.reg(level_regs(el).sctlr))
    }
}
