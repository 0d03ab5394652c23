//! Which system registers and instructions EL0 may use: the enable controls of EL1. A denied access traps with
//! EC 0x18, where an access below the register's own level is UNDEFINED. DDI 0487 D19.

use arch::El;
use arch::esr::{Direction, SysRegTrap};
use arch::field::{cntkctl_el1 as cntkctl, sctlr_el1 as sctlr};
use arch::sysreg::{Enc, Reg};
use sem::Insn;

use crate::el2::Way;
use crate::exception::Target;
use crate::pe::Pe;
use crate::pmu::is_pmu;
use crate::stop::Stop;

impl Pe {
    /// A trapped MSR, MRS or system instruction: EC 0x18.
    pub(super) fn sysreg_trap(&mut self, insn: Insn) -> Stop {
        let direction = if insn.bit(21) == 1 { Direction::Read } else { Direction::Write };
        let trap = SysRegTrap { enc: Enc::of_word(insn.word()), rt: insn.rt() as u8, direction };
        self.raise(trap.syndrome(), None)
    }

    /// The same for EL2.
    pub(crate) fn sysreg_trap_to_el2(&mut self, insn: Insn) -> Stop {
        let stop = self.sysreg_trap(insn);
        if let Some(pending) = &mut self.pending {
            pending.target = Target::El2;
        }
        stop
    }

    /// SCTLR_EL1.UMA clear: EL0 may not touch DAIF.
    pub(super) fn el0_trap_daif(&self) -> bool {
        sctlr::UMA.get(self.control()) == 0
    }

    /// Does a control of EL1 trap EL0's access to `reg`?
    pub(super) fn el0_traps(&self, reg: Reg, way: Way) -> bool {
        if self.pstate.el != El::El0 {
            return false;
        }
        let control = self.control();
        // A host's EL0 is under CNTHCTL_EL2, whose bits for EL0 have CNTKCTL_EL1's places.
        let timer = self.reg(if self.is_host_el0() { Reg::CNTHCTL_EL2 } else { Reg::CNTKCTL_EL1 });
        match reg {
            Reg::DAIF => self.el0_trap_daif(),
            Reg::CTR_EL0 => sctlr::UCT.get(control) == 0,
            Reg::CNTFRQ_EL0 => cntkctl::EL0PCTEN.get(timer) | cntkctl::EL0VCTEN.get(timer) == 0,
            Reg::CNTPCT_EL0 | Reg::CNTPCTSS_EL0 => cntkctl::EL0PCTEN.get(timer) == 0,
            Reg::CNTVCT_EL0 | Reg::CNTVCTSS_EL0 => cntkctl::EL0VCTEN.get(timer) == 0,
            Reg::CNTP_CTL_EL0 | Reg::CNTP_CVAL_EL0 | Reg::CNTP_TVAL_EL0 => cntkctl::EL0PTEN.get(timer) == 0,
            Reg::CNTV_CTL_EL0 | Reg::CNTV_CVAL_EL0 | Reg::CNTV_TVAL_EL0 => cntkctl::EL0VTEN.get(timer) == 0,
            Reg::SCXTNUM_EL0 => sctlr::TSCXT.get(control) == 1,
            // MDSCR_EL1.TDCC
            Reg::MDCCSR_EL0 | Reg::DBGDTR_EL0 | Reg::DBGDTRRX_EL0 => self.reg(Reg::MDSCR_EL1) >> 12 & 1 == 1,
            _ => is_pmu(reg) && !self.pmu_open_to_el0(reg, way),
        }
    }
}
