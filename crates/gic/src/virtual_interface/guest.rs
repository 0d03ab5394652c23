//! The `ICV_*` registers (§12.2), which a guest reaches by the names of `ICC_*`, and what they do to list registers.

use arch::field::{Field, ich_hcr_el2 as hcr, ich_lr_el2 as lr, ich_vmcr_el2 as vmcr};
use arch::sysreg::Enc;

use super::{ACTIVE, FIRST_LPI, INVALID, VirtualInterface, group_of, report_guest, settle};
use crate::cpu_interface::deactivate;
use crate::priority::Group;
use crate::spec::{SPECIAL, SPURIOUS, icc, icc_ctlr};
use crate::state::State;

/// What ICC_EOIR<n>_EL1 and ICC_DIR_EL1 have of an INTID.
const INTID: u64 = 0xff_ffff;

/// `ICV_AP0R<n>_EL1` and `ICV_AP1R<n>_EL1`.
fn active_register(reg: Enc) -> Option<(Group, usize)> {
    match (reg.op0(), reg.op1(), reg.crn(), reg.crm(), reg.op2()) {
        (3, 0, 12, 8, n @ 4..) => Some((Group::Zero, usize::from(n - 4))),
        (3, 0, 12, 9, n @ ..4) => Some((Group::One, usize::from(n))),
        _ => None,
    }
}

/// INTIDs 1020 to 1023 name no interrupt.
fn is_special(intid: u64) -> bool {
    (u64::from(SPECIAL)..=u64::from(SPURIOUS)).contains(&intid)
}

impl VirtualInterface {
    /// ICV_CTLR_EL1.EOImode: deactivation is for ICV_DIR_EL1.
    fn split(&self) -> bool {
        vmcr::VEOIM.is_set(self.vmcr)
    }
    fn has_intid(&self, intid: u64) -> bool {
        intid >> self.model.id_bits == 0
    }
    /// The first list register where `intid` is active.
    fn find_active(&self, intid: u64) -> Option<usize> {
        let active = |value: &u64| lr::vINTID.get(*value) == intid && lr::State.get(*value) & ACTIVE != 0;
        self.registers().iter().position(active)
    }
    /// ICH_HCR_EL2.EOIcount: an interrupt ended that the hypervisor keeps elsewhere. It wraps.
    pub fn count_end(&mut self) {
        self.hcr = hcr::EOIcount.set(self.hcr, hcr::EOIcount.get(self.hcr).wrapping_add(1));
    }
}

/// Reads the `ICV_*` counterpart of `reg`.
pub fn read(state: &mut State, pe: usize, reg: Enc) -> Option<u64> {
    let v = &state.pes[pe].virtual_interface;
    let field = |f: Field| f.get(v.vmcr);
    let common = vmcr::VCBPR.is_set(v.vmcr);
    Some(match reg {
        icc::PMR => field(vmcr::VPMR),
        icc::IAR0 => acknowledge(state, pe, Group::Zero),
        icc::IAR1 => acknowledge(state, pe, Group::One),
        icc::HPPIR0 => highest_pending(v, Group::Zero),
        icc::HPPIR1 => highest_pending(v, Group::One),
        icc::BPR0 => field(vmcr::VBPR0),
        icc::BPR1 if common => (field(vmcr::VBPR0) + 1).min(7),
        icc::BPR1 => field(vmcr::VBPR1),
        icc::RPR => v.active.running().into(),
        icc::CTLR => {
            let mode = if v.split() { icc_ctlr::EOI_MODE } else { 0 };
            v.model.ctlr() | mode | u64::from(common)
        }
        icc::IGRPEN0 => field(vmcr::VENG0),
        icc::IGRPEN1 => field(vmcr::VENG1),
        _ => {
            let (group, n) = active_register(reg)?;
            v.active.register(group, n)?.into()
        }
    })
}

/// Writes the `ICV_*` counterpart of `reg`.
pub fn write(state: &mut State, pe: usize, reg: Enc, value: u64) -> Option<()> {
    let v = &mut state.pes[pe].virtual_interface;
    let common = vmcr::VCBPR.is_set(v.vmcr);
    let (least0, least1) = (v.least_point(Group::Zero), v.least_point(Group::One));
    let priorities = u64::from(v.model.priority_mask());
    let mut set = |field: Field, value: u64| v.vmcr = field.set(v.vmcr, value);
    let point = value & 7;
    match reg {
        icc::PMR => set(vmcr::VPMR, value & priorities),
        icc::EOIR0 => end_of_interrupt(state, pe, Group::Zero, value & INTID),
        icc::EOIR1 => end_of_interrupt(state, pe, Group::One, value & INTID),
        icc::DIR => deactivate_interrupt(state, pe, value & INTID),
        icc::BPR0 => set(vmcr::VBPR0, point.max(least0)),
        icc::BPR1 if common => {}
        icc::BPR1 => set(vmcr::VBPR1, point.max(least1)),
        icc::CTLR => {
            set(vmcr::VCBPR, value & icc_ctlr::CBPR);
            set(vmcr::VEOIM, value >> 1 & 1);
        }
        icc::IGRPEN0 => set(vmcr::VENG0, value & 1),
        icc::IGRPEN1 => set(vmcr::VENG1, value & 1),
        _ => {
            let (group, n) = active_register(reg)?;
            v.active.set_register(group, n, value as u32)?;
        }
    }
    settle(state, pe);
    Some(())
}

/// A read of ICV_HPPIR<n>_EL1: the pending interrupt, whether or not its priority suffices.
fn highest_pending(v: &VirtualInterface, group: Group) -> u64 {
    let of_group = v.highest().filter(|n| group_of(v.lr[*n]) == group);
    of_group.map_or(u64::from(SPURIOUS), |n| lr::vINTID.get(v.lr[n]))
}

/// A read of ICV_IAR<n>_EL1: the pending interrupt becomes active and its group priority the running priority. So does an
/// LPI in a list register, though LPIs have no active state elsewhere; its end is ICV_EOIR<n>_EL1 in either EOImode (Linux's
/// commit 9d449c71bd8f, from the manual's pseudocode). A list register with a special INTID is used up, and its INTID is what
/// is read.
fn acknowledge(state: &mut State, pe: usize, group: Group) -> u64 {
    let v = &mut state.pes[pe].virtual_interface;
    let Some(n) = v.signalled().filter(|n| group_of(v.lr[*n]) == group) else { return SPURIOUS.into() };
    let intid = lr::vINTID.get(v.lr[n]);
    let special = is_special(intid);
    if !special {
        v.active.raise(group, v.group_priority_of(n));
    }
    v.lr[n] = lr::State.set(v.lr[n], if special { INVALID } else { ACTIVE });
    settle(state, pe);
    intid
}

/// A write to ICV_EOIR<n>_EL1: priority drop, of whichever group has the highest active priority; then with EOImode 0, and
/// always for an LPI, deactivation, if the list register is of this group and of the priority that was dropped. A write that does not fit what is active is UNPREDICTABLE.
fn end_of_interrupt(state: &mut State, pe: usize, group: Group, intid: u64) {
    let this = &mut state.pes[pe];
    let v = &mut this.virtual_interface;
    if is_special(intid) {
        return;
    }
    if !v.has_intid(intid) {
        return report_guest(this);
    }
    let (dropped, found) = (v.active.running(), v.find_active(intid));
    let counts = found.is_none() && !v.split() && intid < FIRST_LPI;
    let Some(dropped_group) = v.active.running_group() else {
        // CONSTRAINED UNPREDICTABLE: a write that clears no active priority may count as well (ICH_HCR_EL2.EOIcount).
        if counts && v.choices.unusual() {
            v.count_end();
        }
        return report_guest(this);
    };
    v.active.drop_highest(dropped_group);
    if counts {
        v.count_end();
    }
    let fits = match found {
        Some(n) => group_of(v.lr[n]) == group && v.group_priority_of(n) == dropped,
        None => dropped_group == group,
    };
    let deactivates = !v.split() || intid >= FIRST_LPI;
    match found {
        _ if !fits => report_guest(this),
        Some(n) if deactivates => end_active(state, pe, n),
        _ => {}
    }
}

/// A write to ICV_DIR_EL1. With EOImode 0 it is UNPREDICTABLE; LPIs, special and reserved INTIDs are ignored.
fn deactivate_interrupt(state: &mut State, pe: usize, intid: u64) {
    let this = &mut state.pes[pe];
    let v = &mut this.virtual_interface;
    if !v.split() || !v.has_intid(intid) {
        return report_guest(this);
    }
    if intid >= u64::from(SPECIAL) {
        return;
    }
    match v.find_active(intid) {
        Some(n) => end_active(state, pe, n),
        None => v.count_end(),
    }
}

/// What list register `n` holds is active no more, nor with HW the physical interrupt.
fn end_active(state: &mut State, pe: usize, n: usize) {
    let v = &mut state.pes[pe].virtual_interface;
    let value = v.lr[n];
    v.lr[n] = lr::State.set(value, lr::State.get(value) & !ACTIVE);
    if lr::HW.is_set(value) {
        let physical = lr::pINTID.get(value) as u32;
        if physical < SPECIAL {
            deactivate(state, pe, physical);
        }
    }
}
