//! The frame of the virtual CPU interfaces (IHI 0048, §5.5), which a hypervisor gives its guests in place of that of the CPU
//! interfaces: at one address, each CPU reaches its own.

use arch::field::{Field, ich_lr_el2 as lr, ich_vmcr_el2 as vmcr};
use bus::MmioAccess;

use super::cpu_interface::{View, deactivate};
use super::frame::Registers;
use super::spec::{CPU_INTERFACE, CpuReg, GICC_IIDR, GICV_CTLR, INTID, OTHER_GROUP, SOURCE_SHIFT};
use super::state::State;
use crate::priority::{Group, IDLE};
use crate::spec::{SGIS, SPECIAL, SPURIOUS, readable, writable};
use crate::virtual_interface::{ACTIVE, INVALID, VirtualInterface, group_of};

/// The frame. Its state is that of the control registers.
pub(super) const REGISTERS: Registers =
    Registers { name: "gic-v2-virtual-cpu-interfaces", read, write, hash: |_, _| {} };

fn read(state: &mut State, access: MmioAccess) -> u32 {
    let Some(block) = readable(CPU_INTERFACE, access.offset, access.size) else { return 0 };
    let v = &mut state.pes[access.cpu].virtual_interface;
    let field = |field: Field| field.get(v.vmcr) as u32;
    let pending = |view| v.highest().map_or(SPURIOUS, |n| seen(v, view, n));
    match block.reg {
        CpuReg::Ctlr => (v.vmcr & GICV_CTLR) as u32,
        CpuReg::Pmr => field(vmcr::VPMR),
        CpuReg::Bpr => field(vmcr::VBPR0),
        CpuReg::Abpr => field(vmcr::VBPR1),
        CpuReg::Iar => acknowledge(v, View::Plain),
        CpuReg::Aiar => acknowledge(v, View::Alias),
        CpuReg::Hppir => pending(View::Plain),
        CpuReg::Ahppir => pending(View::Alias),
        CpuReg::Rpr => v.active.running().into(),
        CpuReg::Apr => v.active.register(Group::Zero, 0).unwrap_or(0),
        CpuReg::Iidr => GICC_IIDR,
        // GICV_APR0 is of both groups.
        CpuReg::Nsapr | CpuReg::Eoir | CpuReg::Aeoir | CpuReg::Dir => 0,
    }
}

fn write(state: &mut State, access: MmioAccess, value: u32) {
    let Some(block) = writable(CPU_INTERFACE, access.offset, access.size) else { return };
    let v = &mut state.pes[access.cpu].virtual_interface;
    let wide = u64::from(value);
    match block.reg {
        CpuReg::Ctlr => v.set_vmcr(v.vmcr & !GICV_CTLR | wide & GICV_CTLR),
        CpuReg::Pmr => v.set_vmcr(vmcr::VPMR.set(v.vmcr, wide & 0xff)),
        CpuReg::Bpr => v.set_vmcr(vmcr::VBPR0.set(v.vmcr, wide & 7)),
        CpuReg::Abpr => v.set_vmcr(vmcr::VBPR1.set(v.vmcr, wide & 7)),
        CpuReg::Apr => drop(v.active.set_register(Group::Zero, 0, value)),
        CpuReg::Eoir => end(state, access.cpu, value, View::Plain),
        CpuReg::Aeoir => end(state, access.cpu, value, View::Alias),
        // Writing it with EOImode 0 is UNPREDICTABLE; it is ignored.
        CpuReg::Dir if !vmcr::VEOIM.is_set(v.vmcr) => {}
        CpuReg::Dir => end_active(state, access.cpu, value),
        CpuReg::Iar | CpuReg::Rpr | CpuReg::Hppir | CpuReg::Aiar | CpuReg::Ahppir | CpuReg::Nsapr | CpuReg::Iidr => {}
    }
}

/// The number of the CPU that sent what a list register holds, as the hypervisor says it: 0 where it is no SGI.
fn source(value: u64) -> u32 {
    let is_sgi = lr::vINTID.get(value) < SGIS.into() && !lr::HW.is_set(value);
    if is_sgi { lr::pINTID.get(value) as u32 & 7 } else { 0 }
}

/// What `view` shows of list register `n`, as of a physical interrupt.
fn seen(v: &VirtualInterface, view: View, n: usize) -> u32 {
    match (view, group_of(v.lr[n])) {
        (View::Plain, Group::One) if !vmcr::VAckCtl.is_set(v.vmcr) => OTHER_GROUP,
        (View::Alias, Group::Zero) => SPURIOUS,
        _ => lr::vINTID.get(v.lr[n]) as u32 | source(v.lr[n]) << SOURCE_SHIFT,
    }
}

/// A read of `GICV_IAR` or `GICV_AIAR`: what is shown becomes active, and its group priority the running priority. A list
/// register with a special INTID is used up, and its INTID is what is read.
fn acknowledge(v: &mut VirtualInterface, view: View) -> u32 {
    let Some(n) = v.signalled() else { return SPURIOUS };
    let value = seen(v, view, n);
    let intid = lr::vINTID.get(v.lr[n]) as u32;
    if value & INTID != intid {
        return value;
    }
    let state = if intid >= SPECIAL { INVALID } else { ACTIVE };
    if state == ACTIVE {
        v.active.raise(Group::Zero, v.group_priority_of(n));
    }
    v.lr[n] = lr::State.set(v.lr[n], state);
    value
}

/// The first list register where what an end register's `value` names is active.
fn find_active(v: &VirtualInterface, value: u32) -> Option<usize> {
    let intid = value & INTID;
    let sender = if intid < SGIS { value >> SOURCE_SHIFT & 7 } else { 0 };
    v.registers().iter().position(|found| {
        lr::State.get(*found) & ACTIVE != 0 && lr::vINTID.get(*found) == intid.into() && source(*found) == sender
    })
}

/// A write to `GICV_EOIR` or `GICV_AEOIR`: priority drop, and with EOImode 0 deactivation. One that names no interrupt is
/// ignored; so is one while nothing is active, which is UNPREDICTABLE.
fn end(state: &mut State, cpu: usize, value: u32, view: View) {
    let v = &mut state.pes[cpu].virtual_interface;
    let of_other_group = find_active(v, value).is_some_and(|n| view == View::Alias && group_of(v.lr[n]) == Group::Zero);
    if value & INTID >= SPECIAL || of_other_group || v.active.running() == IDLE {
        return;
    }
    v.active.drop_highest(Group::Zero);
    if !vmcr::VEOIM.is_set(v.vmcr) {
        end_active(state, cpu, value);
    }
}

/// What `value` names is active no more, nor with HW the physical interrupt. Where no list register holds it, the hypervisor
/// has it elsewhere: GICH_HCR.EOICount tells of it.
fn end_active(state: &mut State, cpu: usize, value: u32) {
    let v = &mut state.pes[cpu].virtual_interface;
    let Some(n) = find_active(v, value) else {
        if value & INTID < SPECIAL {
            v.count_end();
        }
        return;
    };
    let value = v.lr[n];
    v.lr[n] = lr::State.set(value, lr::State.get(value) & !ACTIVE);
    if lr::HW.is_set(value) {
        deactivate(state, cpu, lr::pINTID.get(value) as u32);
    }
}
