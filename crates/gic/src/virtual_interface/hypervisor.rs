//! The `ICH_*` registers (§12.4): what the hypervisor sees and sets.

use arch::field::{Field, ich_hcr_el2 as hcr, ich_lr_el2 as lr};
use arch::sysreg::Enc;

use super::{EOI_REQUEST, INVALID, PENDING, VirtualInterface, settle};
use crate::priority::Group;
use crate::state::State;

const HCR: Enc = Enc::new(3, 4, 12, 11, 0);
const VTR: Enc = Enc::new(3, 4, 12, 11, 1);
const MISR: Enc = Enc::new(3, 4, 12, 11, 2);
const EISR: Enc = Enc::new(3, 4, 12, 11, 3);
const ELRSR: Enc = Enc::new(3, 4, 12, 11, 5);
const VMCR: Enc = Enc::new(3, 4, 12, 11, 7);

/// What the other encodings name.
enum Row {
    /// `ICH_LR<n>_EL2`.
    List(usize),
    /// `ICH_AP0R<n>_EL2`, `ICH_AP1R<n>_EL2`.
    Active(Group, usize),
}

fn row(reg: Enc) -> Option<Row> {
    if (reg.op0(), reg.op1(), reg.crn()) != (3, 4, 12) {
        return None;
    }
    let n = usize::from(reg.op2());
    match reg.crm() {
        8 => Some(Row::Active(Group::Zero, n)),
        9 => Some(Row::Active(Group::One, n)),
        12 => Some(Row::List(n)),
        13 => Some(Row::List(8 + n)),
        _ => None,
    }
}

impl VirtualInterface {
    /// `ICH_EISR_EL2`: ended, and asked to say so.
    pub fn eisr(&self) -> u64 {
        self.mask(|value| lr::State.get(value) == INVALID && !lr::HW.is_set(value) && value & EOI_REQUEST != 0)
    }
    /// `ICH_ELRSR_EL2`: free for use.
    pub fn elrsr(&self) -> u64 {
        self.mask(|value| lr::State.get(value) == INVALID && (lr::HW.is_set(value) || value & EOI_REQUEST == 0))
    }
    fn mask(&self, is: impl Fn(u64) -> bool) -> u64 {
        self.registers().iter().enumerate().fold(0, |mask, (n, value)| mask | u64::from(is(*value)) << n)
    }

    /// `ICH_MISR_EL2`: why a maintenance interrupt is asserted, whether or not ICH_HCR_EL2.En lets it out.
    pub fn misr(&self) -> u64 {
        let on = |field: Field, condition: bool| field.is_set(self.hcr) && condition;
        // One that is active as well is not in the pending state.
        let none_pending = !self.registers().iter().any(|value| lr::State.get(*value) == PENDING);
        [
            self.eisr() != 0,
            on(hcr::UIE, self.in_use() <= 1),
            on(hcr::LRENPIE, hcr::EOIcount.get(self.hcr) != 0),
            on(hcr::NPIE, none_pending),
            on(hcr::VGrp0EIE, self.enabled(Group::Zero)),
            on(hcr::VGrp0DIE, !self.enabled(Group::Zero)),
            on(hcr::VGrp1EIE, self.enabled(Group::One)),
            on(hcr::VGrp1DIE, !self.enabled(Group::One)),
        ]
        .into_iter()
        .enumerate()
        .fold(0, |misr, (n, set)| misr | u64::from(set) << n)
    }
}

/// Reads an `ICH_*` register of PE `pe`.
pub fn read(state: &State, pe: usize, reg: Enc) -> Option<u64> {
    let v = &state.pes[pe].virtual_interface;
    Some(match reg {
        HCR => v.hcr,
        VTR => v.model.vtr(),
        MISR => v.misr(),
        EISR => v.eisr(),
        ELRSR => v.elrsr(),
        VMCR => v.vmcr,
        _ => match row(reg)? {
            Row::List(n) => *v.registers().get(n)?,
            Row::Active(group, n) => v.active.register(group, n)?.into(),
        },
    })
}

/// Writes an `ICH_*` register of PE `pe`; `None` where it cannot be written.
pub fn write(state: &mut State, pe: usize, reg: Enc, value: u64) -> Option<()> {
    let v = &mut state.pes[pe].virtual_interface;
    match reg {
        HCR => v.hcr = value & v.model.hcr_mask(),
        VMCR => v.set_vmcr(value),
        _ => match row(reg)? {
            Row::List(n) if n < v.registers().len() => v.lr[n] = value & v.model.lr_mask(),
            Row::List(_) => return None,
            Row::Active(group, n) => v.active.set_register(group, n, value as u32)?,
        },
    }
    settle(state, pe);
    Some(())
}
