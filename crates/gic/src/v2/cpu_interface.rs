//! The CPU interfaces' frame (IHI 0048, §4.4): at one address, each CPU reaches its own.

use bus::MmioAccess;

use super::frame::Registers;
use super::spec::{CPU_INTERFACE, CpuReg, GICC_IIDR, INTID, OTHER_GROUP, SOURCE_SHIFT, gicc_ctlr};
use super::state::State;
use crate::priority::{Group, MIN_BPR0, MIN_BPR1};
use crate::spec::{PRIORITY_MASK, SGIS, SPURIOUS, readable, writable};
use crate::state::Pending;

/// The frame.
pub(super) const REGISTERS: Registers =
    Registers { name: "gic-v2-cpu-interfaces", read, write, hash: State::hash_interfaces };

/// The registers that acknowledge and show come twice: `GICC_IAR` and `GICC_HPPIR`, and their aliases for group 1.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Without the alias.
    Plain,
    /// The alias.
    Alias,
}

fn read(state: &mut State, access: MmioAccess) -> u32 {
    let Some(block) = readable(CPU_INTERFACE, access.offset, access.size) else { return 0 };
    let cpu = access.cpu;
    let pe = &state.pes[cpu];
    let active = |group| pe.interface.active.register(group, 0).unwrap_or(0);
    match block.reg {
        CpuReg::Ctlr => pe.ctlr,
        CpuReg::Pmr => pe.interface.pmr.into(),
        CpuReg::Bpr => pe.interface.bpr[0].into(),
        CpuReg::Abpr => pe.interface.bpr[1].into(),
        CpuReg::Iar => acknowledge(state, cpu, View::Plain),
        CpuReg::Aiar => acknowledge(state, cpu, View::Alias),
        CpuReg::Hppir => pe.hppi.map_or(SPURIOUS, |pending| seen(state, cpu, View::Plain, pending)),
        CpuReg::Ahppir => pe.hppi.map_or(SPURIOUS, |pending| seen(state, cpu, View::Alias, pending)),
        CpuReg::Rpr => pe.interface.active.running().into(),
        CpuReg::Apr => active(Group::Zero),
        CpuReg::Nsapr => active(Group::One),
        CpuReg::Iidr => GICC_IIDR,
        CpuReg::Eoir | CpuReg::Aeoir | CpuReg::Dir => 0,
    }
}

fn write(state: &mut State, access: MmioAccess, value: u32) {
    let Some(block) = writable(CPU_INTERFACE, access.offset, access.size) else { return };
    let cpu = access.cpu;
    let pe = &mut state.pes[cpu];
    let interface = &mut pe.interface;
    let point = value as u8 & 7;
    match block.reg {
        CpuReg::Ctlr => pe.set_ctlr(value),
        CpuReg::Pmr => interface.pmr = value as u8 & PRIORITY_MASK,
        CpuReg::Bpr => interface.bpr[0] = point.max(MIN_BPR0),
        CpuReg::Abpr => interface.bpr[1] = point.max(MIN_BPR1),
        CpuReg::Apr => drop(interface.active.set_register(Group::Zero, 0, value)),
        CpuReg::Nsapr => drop(interface.active.set_register(Group::One, 0, value)),
        CpuReg::Eoir => end(state, cpu, value, View::Plain),
        CpuReg::Aeoir => end(state, cpu, value, View::Alias),
        // Writing it with EOImode 0 is UNPREDICTABLE; it is ignored.
        CpuReg::Dir if pe.ctlr & gicc_ctlr::EOI_MODE == 0 => {}
        CpuReg::Dir => deactivate(state, cpu, value & INTID),
        CpuReg::Iar | CpuReg::Rpr | CpuReg::Hppir | CpuReg::Aiar | CpuReg::Ahppir | CpuReg::Iidr => {}
    }
}

/// What `view` shows of a pending interrupt: its number with, for an SGI, the CPU that sent it (the lowest of several, this
/// implementation's choice), or a number that says that it is of the other group (§3.2, §4.4.4).
fn seen(state: &State, cpu: usize, view: View, pending: Pending) -> u32 {
    let pe = &state.pes[cpu];
    match (view, pending.group) {
        (View::Plain, Group::One) if pe.ctlr & gicc_ctlr::ACK_CTL == 0 => OTHER_GROUP,
        (View::Alias, Group::Zero) => SPURIOUS,
        _ => {
            let sources = pe.sources.get(pending.intid as usize).copied().unwrap_or(0);
            let source = if sources == 0 { 0 } else { sources.trailing_zeros() };
            pending.intid | source << SOURCE_SHIFT
        }
    }
}

/// A read of `GICC_IAR` or `GICC_AIAR`: what is shown becomes active, and its group priority the running priority.
fn acknowledge(state: &mut State, cpu: usize, view: View) -> u32 {
    let pe = &state.pes[cpu];
    let Some(pending) = pe.hppi.filter(|pending| pe.interface.can_signal(*pending)) else { return SPURIOUS };
    let value = seen(state, cpu, view, pending);
    if value & INTID != pending.intid {
        return value;
    }
    let pe = &mut state.pes[cpu];
    let group_priority = pe.interface.group_priority(pending.group, pending.priority);
    pe.interface.active.raise(pending.group, group_priority);
    if let Some((bank, n)) = state.bank(cpu, pending.intid) {
        bank.activate(n);
    }
    if pending.intid < SGIS {
        // What other CPUs sent stays pending.
        let n = pending.intid as usize;
        let pe = &mut state.pes[cpu];
        pe.set_sources(n, pe.sources[n] & !(1 << (value >> SOURCE_SHIFT)));
    }
    value
}

/// A write to `GICC_EOIR` or `GICC_AEOIR`: priority drop, and with EOImode 0 deactivation. One that names no interrupt is
/// ignored; so is one that does not fit what has the running priority, which is UNPREDICTABLE. `GICC_EOIR` ends interrupts of
/// group 1 too: that is UNPREDICTABLE only while `AckCtl` is 0, and is then as if it were 1.
fn end(state: &mut State, cpu: usize, value: u32, view: View) {
    let intid = value & INTID;
    let Some((bank, n)) = state.bank(cpu, intid) else { return };
    let group = bank.group_of(n);
    let pe = &mut state.pes[cpu];
    if view == View::Alias && group == Group::Zero || pe.interface.active.running_group() != Some(group) {
        return;
    }
    pe.interface.active.drop_highest(group);
    if pe.ctlr & gicc_ctlr::EOI_MODE == 0 {
        deactivate(state, cpu, intid);
    }
}

/// Interrupt `intid` of this CPU is active no more, where there is one.
pub fn deactivate(state: &mut State, cpu: usize, intid: u32) {
    if let Some((bank, n)) = state.bank(cpu, intid) {
        bank.active &= !(1 << n);
    }
}
