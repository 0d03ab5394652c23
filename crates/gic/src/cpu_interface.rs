//! The CPU interface's system registers (IHI 0069, §12.2) and what they do to interrupts (§4).

use arch::sysreg::Enc;

use crate::priority::{Group, MIN_BPR0, MIN_BPR1};
use crate::spec::{ICC_SRE, PRIORITY_MASK, PRIVATE, SPECIAL, SPURIOUS, icc, icc_ctlr, sgir};
use crate::state::{Bank, Pending, State};
use crate::virtual_interface::report_physical;

/// Bits of an INTID in `ICC_EOIR*` and `ICC_DIR` beyond the implemented 16.
const INTID_RES0: u32 = 0xff_0000;

/// Reads `reg` of PE `pe`; `None` where there is no such register or it cannot be read.
pub fn read(state: &mut State, pe: usize, reg: Enc) -> Option<u64> {
    let interface = &state.pes[pe].interface;
    Some(match reg {
        icc::PMR => interface.pmr.into(),
        icc::IAR0 => acknowledge(state, pe, Group::Zero),
        icc::IAR1 => acknowledge(state, pe, Group::One),
        icc::HPPIR0 => highest_pending(state, pe, Group::Zero),
        icc::HPPIR1 => highest_pending(state, pe, Group::One),
        icc::BPR0 => interface.bpr[0].into(),
        // With CBPR the Non-secure binary point reads as Group 0's plus one, saturated.
        icc::BPR1 if interface.ctlr & icc_ctlr::CBPR != 0 => (interface.bpr[0] + 1).min(7).into(),
        icc::BPR1 => interface.bpr[1].into(),
        icc::AP0R0 => interface.active.register(Group::Zero, 0)?.into(),
        icc::AP1R0 => interface.active.register(Group::One, 0)?.into(),
        icc::RPR => interface.active.running().into(),
        icc::CTLR => {
            let errors = state.pes[pe].virtual_interface.model.reports_errors();
            interface.ctlr | icc_ctlr::FIXED | if errors { icc_ctlr::SEIS } else { 0 }
        }
        icc::SRE => ICC_SRE,
        icc::IGRPEN0 => u64::from(interface.enables & 1),
        icc::IGRPEN1 => u64::from(interface.enables >> 1),
        _ => return None,
    })
}

/// Writes `reg` of PE `pe`; `None` where there is no such register or it cannot be written.
pub fn write(state: &mut State, pe: usize, reg: Enc, value: u64) -> Option<()> {
    let interface = &mut state.pes[pe].interface;
    let point = value as u8 & 7;
    match reg {
        icc::PMR => interface.pmr = value as u8 & PRIORITY_MASK,
        icc::EOIR0 => end_of_interrupt(state, pe, Group::Zero, value as u32 & 0xff_ffff),
        icc::EOIR1 => end_of_interrupt(state, pe, Group::One, value as u32 & 0xff_ffff),
        // Writing DIR with EOImode 0, or an INTID of more than the implemented 16 bits, is UNPREDICTABLE; it is ignored.
        icc::DIR if interface.ctlr & icc_ctlr::EOI_MODE == 0 || value as u32 & INTID_RES0 != 0 => {
            report_physical(&state.pes[pe]);
        }
        icc::DIR => deactivate(state, pe, value as u32 & 0xff_ffff),
        icc::BPR0 => interface.bpr[0] = point.max(MIN_BPR0),
        icc::BPR1 if interface.ctlr & icc_ctlr::CBPR != 0 => {}
        icc::BPR1 => interface.bpr[1] = point.max(MIN_BPR1),
        icc::AP0R0 => interface.active.set_register(Group::Zero, 0, value as u32)?,
        icc::AP1R0 => interface.active.set_register(Group::One, 0, value as u32)?,
        icc::CTLR => interface.ctlr = value & icc_ctlr::WRITABLE,
        icc::SRE => {}
        icc::IGRPEN0 => enable_group(state, pe, Group::Zero, value & 1),
        icc::IGRPEN1 => enable_group(state, pe, Group::One, value & 1),
        // With one security state ICC_SGI1R_EL1 reaches interrupts of either group. ICC_ASGI1R_EL1 has no other
        // security state to reach, and acts as ICC_SGI0R_EL1: on Group 0 only.
        icc::SGI1R => send_sgi(state, pe, value, &Group::ALL),
        icc::ASGI1R | icc::SGI0R => send_sgi(state, pe, value, &[Group::Zero]),
        _ => return None,
    }
    state.touch(pe);
    Some(())
}

/// A read of `ICC_HPPIR*`: the pending interrupt, whether or not its priority suffices.
fn highest_pending(state: &State, pe: usize, group: Group) -> u64 {
    state.pes[pe].hppi.filter(|p| p.group == group).map_or(SPURIOUS, |p| p.intid).into()
}

/// A read of `ICC_IAR*`: the pending interrupt becomes active and its group priority the running priority.
fn acknowledge(state: &mut State, index: usize, group: Group) -> u64 {
    let pe = &mut state.pes[index];
    let Some(Pending { intid, priority, .. }) = pe.hppi.filter(|p| p.group == group && pe.interface.can_signal(*p))
    else {
        return SPURIOUS.into();
    };
    let group_priority = pe.interface.group_priority(group, priority);
    pe.interface.active.raise(group, group_priority);
    state.touch(index);
    // An LPI has no active state.
    if state.is_lpi(intid) {
        state.clear_lpi(index, intid);
    } else {
        change(state, index, intid, Bank::activate);
    }
    intid.into()
}

/// A write to `ICC_EOIR*`: priority drop, and deactivation too with EOImode 0. A write that names a special INTID is ignored;
/// so is one with an INTID that does not exist or from the other group than the running priority's, which is UNPREDICTABLE and
/// may be reported.
fn end_of_interrupt(state: &mut State, index: usize, group: Group, intid: u32) {
    if (SPECIAL..=SPURIOUS).contains(&intid) {
        return;
    }
    let exists = intid < SPECIAL || state.is_lpi(intid);
    let interface = &mut state.pes[index].interface;
    if !exists || interface.active.running_group() != Some(group) {
        return report_physical(&state.pes[index]);
    }
    interface.active.drop_highest(group);
    if interface.ctlr & icc_ctlr::EOI_MODE == 0 {
        deactivate(state, index, intid);
    }
}

/// Interrupt `intid` (of PE `index` if private) stops being active.
pub fn deactivate(state: &mut State, index: usize, intid: u32) {
    change(state, index, intid, |bank, n| bank.active &= !(1 << n));
}

/// Changes interrupt `intid`, private to PE `index` or shared, and marks the PEs concerned.
pub fn change(state: &mut State, index: usize, intid: u32, f: impl FnOnce(&mut Bank, u32)) {
    if intid < PRIVATE {
        f(&mut state.pes[index].bank, intid);
        state.touch(index);
        return;
    }
    let (at, n) = ((intid / 32 - 1) as usize, intid % 32);
    if let Some(bank) = state.banks.get_mut(at).filter(|b| b.implemented >> n & 1 != 0) {
        f(bank, n);
        state.replace(at, 1 << n);
    }
}

/// A write to `ICC_IGRPEN*`.
fn enable_group(state: &mut State, index: usize, group: Group, enable: u64) {
    let enables = &mut state.pes[index].interface.enables;
    *enables = *enables & !(1 << group.index()) | (enable as u32) << group.index();
    state.choose_takers();
}

/// A write to `ICC_SGI*R`: the SGI becomes pending on every target PE where it is configured in one of `groups`.
fn send_sgi(state: &mut State, from: usize, value: u64, groups: &[Group]) {
    let intid = (value >> sgir::INTID_SHIFT) as u32 & 15;
    let pend = |state: &mut State, pe: usize| {
        if groups.contains(&state.pes[pe].bank.group_of(intid)) {
            state.pes[pe].bank.latch |= 1 << intid;
            state.touch(pe);
        }
    };
    if value & sgir::IRM != 0 {
        (0..state.pes.len()).filter(|pe| *pe != from).for_each(|pe| pend(state, pe));
        return;
    }
    // Aff3 is in bits [55:48], Aff2 in [39:32], Aff1 in [23:16], and RS names 16 values of Aff0.
    let aff = |shift: u32| (value >> shift) as u32 & 0xff;
    let range = aff(48) << 20 | aff(32) << 12 | aff(16) << 4 | (value >> sgir::RS_SHIFT) as u32 & 15;
    state.targets(range, value as u16).for_each(|pe| pend(state, pe));
}
