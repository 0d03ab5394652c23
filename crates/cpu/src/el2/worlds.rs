//! Events of the switches between EL2 and the worlds below it. Each follows the exception or return that makes it, after
//! the instructions of the level that ends were counted.

use arch::El;
use arch::field::{hcr_el2 as hcr, ich_hcr_el2 as ich_hcr};
use arch::sysreg::Reg;
use event::{Event, ExitCause, World};

use crate::exception::Vector;
use crate::pe::Pe;

impl Pe {
    /// EL2 takes an exception from `from`, which PSTATE still has.
    pub(crate) fn report_world_exit(&mut self, from: El, vector: Vector) {
        // With TGE, EL0 is the host's own and no world.
        if !self.is_heard() || from >= El::El2 || self.hcr(hcr::TGE) {
            return;
        }
        let cause = match vector {
            Vector::Synchronous => ExitCause::Synchronous(self.reg(Reg::ESR_EL2)),
            Vector::Irq => ExitCause::Irq,
            Vector::Fiq => ExitCause::Fiq,
            Vector::SError => ExitCause::SError,
        };
        self.emit(Event::WorldExit { cause, insns: self.accounted() });
    }

    /// EL2 has returned to the level in PSTATE.
    pub(crate) fn report_world_entry(&mut self) {
        if !self.is_heard() || self.pstate.el >= El::El2 || self.hcr(hcr::TGE) {
            return;
        }
        let world = World { vmid: self.stage2.vmid, stage2: self.stage2.enabled.is_on() };
        let interface_on = ich_hcr::En.is_set(self.reg(Reg::ICH_HCR_EL2));
        let list_registers = interface_on.then(|| self.gic.list_registers_in_use(self.index));
        self.emit(Event::WorldEntry { world, insns: self.accounted(), list_registers });
    }
}
