//! What EL2 traps of the lower levels: the controls of `arch::trap` turned around for one model, so that an access meets
//! the few conditions on its own register and nothing else. A write of a control costs nothing more.
//!
//! Order (DDI 0487, the accessibility pseudocode of each register): UNDEFINED, then what EL1 traps of EL0, then EL2's
//! controls. These all report the access in the same way, so that their order does not show.

use arch::El;
use arch::feature::Feature;
use arch::field::hcr_el2 as hcr;
use arch::model::CpuModel;
use arch::sysreg::{Enc, Reg};
use arch::trap::{self, COARSE, Control, FINE, Fine, INSTRUCTIONS, On, Scope, Sense, hfgitr};

use crate::pe::Pe;

/// Which way a register is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Read,
    Write,
}

impl Way {
    const fn on(self) -> On {
        match self {
            Self::Read => On::Read,
            Self::Write => On::Write,
        }
    }
}

/// A trap is taken where `register` under `mask` is `value`, and HCR_EL2 under `hcr_mask` is `hcr_value`.
#[derive(Clone, Copy, Debug)]
struct Condition {
    register: Reg,
    /// It applies to a host's EL0 as well.
    host: bool,
    mask: u64,
    value: u64,
    hcr_mask: u64,
    hcr_value: u64,
}

/// A piece of `Traps::conditions`.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    first: u16,
    count: u16,
}

/// The traps that a model has, by what they cover.
pub(crate) struct Traps {
    conditions: Vec<Condition>,
    /// For reads and for writes of each register.
    registers: Box<[[Span; 2]; Reg::COUNT]>,
    /// In the order of `INSTRUCTIONS`.
    instructions: Vec<Span>,
}

impl Traps {
    pub(crate) fn of(model: &CpuModel) -> Self {
        let mut traps = Self {
            conditions: Vec::new(),
            registers: Box::new([[Span::default(); 2]; Reg::COUNT]),
            instructions: Vec::new(),
        };
        if !model.has(Feature::FEAT_EL2) {
            traps.instructions = vec![Span::default(); INSTRUCTIONS.len()];
            return traps;
        }
        let reachable =
            |reg: &Reg| model.has_register(*reg) && reg.info().min_read.max(reg.info().min_write) < Some(El::El2);
        for reg in Reg::ALL.into_iter().filter(reachable) {
            for way in [Way::Read, Way::Write] {
                let coarse = COARSE.iter().filter(|c| c.regs.contain(reg) && trap::covers(c.on, way.on(), reg));
                let fine = FINE.iter().filter(|f| f.regs.contain(reg) && trap::covers(f.on, way.on(), reg));
                let conditions = coarse.filter_map(|c| coarse_condition(c, model));
                let span = traps.add(conditions.chain(fine.filter_map(|f| fine_condition(f, way, model))));
                traps.registers[reg as usize][way as usize] = span;
            }
        }
        for instruction in INSTRUCTIONS {
            let coarse = instruction
                .coarse
                .iter()
                .map(|field| is_set(Reg::HCR_EL2, model.writable(Reg::HCR_EL2) & field.mask()));
            let fine = instruction.fine.map(|bit| is_set(Reg::HFGITR_EL2, 1 << bit));
            let present = |c: &Condition| c.mask != 0 && model.has_register(c.register);
            let span = traps.add(coarse.chain(fine).filter(present));
            traps.instructions.push(span);
        }
        traps
    }

    fn add(&mut self, conditions: impl Iterator<Item = Condition>) -> Span {
        let first = self.conditions.len();
        self.conditions.extend(conditions);
        Span { first: first as u16, count: (self.conditions.len() - first) as u16 }
    }

    fn at(&self, span: Span) -> &[Condition] {
        &self.conditions[usize::from(span.first)..][..usize::from(span.count)]
    }
}

const fn is_set(register: Reg, mask: u64) -> Condition {
    Condition { register, host: false, mask, value: mask, hcr_mask: 0, hcr_value: 0 }
}

fn coarse_condition(control: &Control, model: &CpuModel) -> Option<Condition> {
    if !model.has_register(control.register) || control.feature.is_some_and(|f| !model.has(f)) {
        return None;
    }
    let (hcr_mask, hcr_value) = trap::scope_condition(control.scope);
    let mask = control.field.mask();
    let value = if control.sense == Sense::Set { mask } else { 0 };
    let host = control.scope == Scope::AndHostEl0;
    Some(Condition { register: control.register, host, mask, value, hcr_mask, hcr_value })
}

fn fine_condition(control: &Fine, way: Way, model: &CpuModel) -> Option<Condition> {
    let register = if way == Way::Read { control.read } else { control.write };
    let condition = is_set(register, 1 << control.bit);
    let value = if control.sense == Sense::Set { condition.mask } else { 0 };
    model.has_register(register).then_some(Condition { value, ..condition })
}

impl Pe {
    /// Does EL2 trap this access of EL0 or EL1 to `reg`?
    #[inline]
    pub(crate) fn el2_traps(&self, reg: Reg, way: Way) -> bool {
        self.pstate.el < El::El2 && self.any_holds(self.traps.registers[reg as usize][way as usize])
    }

    /// Does EL2 trap this cache, TLB or address translation instruction of EL0 or EL1?
    pub(crate) fn el2_traps_instruction(&self, enc: Enc) -> bool {
        if self.pstate.el >= El::El2 || !self.has_el2() {
            return false;
        }
        let at = INSTRUCTIONS.binary_search_by_key(&enc, |i| i.enc);
        at.is_ok_and(|at| self.any_holds(self.traps.instructions[at]))
    }

    fn any_holds(&self, span: Span) -> bool {
        if span.count == 0 {
            return false;
        }
        let control = self.reg(Reg::HCR_EL2);
        let host = self.pstate.el == El::El0 && self.is_host_el0();
        self.traps.at(span).iter().any(|c| {
            self.reg(c.register) & c.mask == c.value && control & c.hcr_mask == c.hcr_value && (c.host || !host)
        })
    }

    /// HFGITR_EL2.SVC_EL0 and SVC_EL1.
    pub(crate) fn traps_supervisor_call(&self) -> bool {
        let control = self.reg(Reg::HFGITR_EL2);
        match self.pstate.el {
            El::El0 => hfgitr::SVC_EL0.is_set(control) && !self.is_host_el0(),
            El::El1 => hfgitr::SVC_EL1.is_set(control),
            El::El2 | El::El3 => false,
        }
    }

    /// HFGITR_EL2.ERET, and HCR_EL2.NV.
    pub(crate) fn traps_exception_return(&self) -> bool {
        self.pstate.el == El::El1 && (self.nested.is_some() || hfgitr::ERET.is_set(self.reg(Reg::HFGITR_EL2)))
    }

    /// HCR_EL2.TIDCP: EL1's accesses to what is reserved for IMPLEMENTATION DEFINED registers and instructions, CRn 11 and 15,
    /// there or not. Those of EL0 need not be trapped, and are UNDEFINED.
    pub(crate) fn el2_traps_implementation_space(&self, enc: Enc) -> bool {
        let space = matches!(enc.op0(), 1 | 3) && matches!(enc.crn(), 11 | 15);
        space && self.pstate.el == El::El1 && self.hcr(hcr::TIDCP)
    }

    /// HCR_EL2.TID3 where no register is allocated in the ID space, which reads as zero.
    pub(crate) fn el2_traps_unallocated_id(&self) -> bool {
        self.pstate.el == El::El1 && self.hcr(hcr::TID3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arch::preset;

    #[test]
    fn a_model_has_the_conditions_of_its_features() {
        let max = preset::hardware("max").unwrap();
        let conditions = |model: &CpuModel, reg: Reg, way: Way| {
            let traps = Traps::of(model);
            traps
                .at(traps.registers[reg as usize][way as usize])
                .iter()
                .map(|c| (c.register, c.mask))
                .collect::<Vec<_>>()
        };
        use Reg::*;
        let all = conditions(&max, SCTLR_EL1, Way::Write);
        assert_eq!(all, [(HCR_EL2, hcr::TVM.mask()), (HFGWTR_EL2, 1 << 29)]);
        let v8 = max.without_dependents(Feature::FEAT_FGT);
        assert_eq!(conditions(&v8, SCTLR_EL1, Way::Write), [(HCR_EL2, hcr::TVM.mask())]);
        let without = max.without_dependents(Feature::FEAT_EL2);
        assert!(conditions(&without, SCTLR_EL1, Way::Write).is_empty());
        assert!(conditions(&max, HCR_EL2, Way::Write).is_empty());
        // The sum of all stays far below what the indices hold.
        assert!(Traps::of(&max).conditions.len() < 2000);
    }
}
