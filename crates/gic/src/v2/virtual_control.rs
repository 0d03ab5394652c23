//! The frame of the virtual interface control registers (IHI 0048, §5.3), the hypervisor's: at one address, each CPU reaches its
//! own.

use bus::MmioAccess;

use super::frame::Registers;
use super::spec::{ControlReg, GICH_HCR, GICH_VTR, VIRTUAL_CONTROL, narrow, widen};
use super::state::State;
use crate::priority::Group;
use crate::spec::{readable, writable};

/// The frame.
pub(super) const REGISTERS: Registers =
    Registers { name: "gic-v2-virtual-control", read, write, hash: State::hash_virtual };

fn read(state: &mut State, access: MmioAccess) -> u32 {
    let Some(block) = readable(VIRTUAL_CONTROL, access.offset, access.size) else { return 0 };
    let v = &state.pes[access.cpu].virtual_interface;
    let at = access.offset - block.offset;
    let value = match block.reg {
        ControlReg::Hcr => v.hcr,
        ControlReg::Vtr => v.model.vtr() & GICH_VTR,
        ControlReg::Vmcr => v.vmcr,
        ControlReg::Misr => v.misr(),
        ControlReg::Eisr => v.eisr() >> (8 * at),
        ControlReg::Elrsr => v.elrsr() >> (8 * at),
        ControlReg::Apr => v.active.register(Group::Zero, 0).unwrap_or(0).into(),
        ControlReg::List => v.registers().get(at as usize / 4).map_or(0, |value| narrow(*value).into()),
    };
    value as u32
}

fn write(state: &mut State, access: MmioAccess, value: u32) {
    let Some(block) = writable(VIRTUAL_CONTROL, access.offset, access.size) else { return };
    let v = &mut state.pes[access.cpu].virtual_interface;
    let n = (access.offset - block.offset) as usize / 4;
    match block.reg {
        ControlReg::Hcr => v.hcr = u64::from(value) & GICH_HCR,
        // VMPriMask has the five bits that there are.
        ControlReg::Vmcr => v.set_vmcr(value.into()),
        ControlReg::Apr => drop(v.active.set_register(Group::Zero, 0, value)),
        ControlReg::List if n < v.registers().len() => v.lr[n] = widen(value),
        ControlReg::List | ControlReg::Vtr | ControlReg::Misr | ControlReg::Eisr | ControlReg::Elrsr => {}
    }
}
