//! The virtual CPU interface: list registers and `ICH_*` for the hypervisor, `ICV_*` for its guest (IHI 0069, §6 and §12.4).

use arch::field::{Field, ich_hcr_el2 as hcr, ich_lr_el2 as lr, ich_vmcr_el2 as vmcr, ich_vtr_el2 as vtr};
use arch::sysreg::Enc;
use bus::{CpuLines, Level};

use crate::cpu_interface::{change, deactivate};
use crate::priority::{ActivePriorities, Group, IDLE, MIN_BPR0, MIN_BPR1, group_priority};
use crate::spec::{PRIORITY_MASK, SPECIAL, SPURIOUS, icc, icc_ctlr};
use crate::state::State;

/// The maintenance interrupt's INTID (the Base System Architecture's number).
pub const MAINTENANCE: u32 = 25;
/// Encodings of the `ICH_*` registers.
mod ich {
    use arch::sysreg::Enc;
    pub const AP0R0: Enc = Enc::new(3, 4, 12, 8, 0);
    pub const AP1R0: Enc = Enc::new(3, 4, 12, 9, 0);
    pub const HCR: Enc = Enc::new(3, 4, 12, 11, 0);
    pub const VTR: Enc = Enc::new(3, 4, 12, 11, 1);
    pub const MISR: Enc = Enc::new(3, 4, 12, 11, 2);
    pub const EISR: Enc = Enc::new(3, 4, 12, 11, 3);
    pub const ELRSR: Enc = Enc::new(3, 4, 12, 11, 5);
    pub const VMCR: Enc = Enc::new(3, 4, 12, 11, 7);
}

/// States of a list register.
const PENDING: u64 = 1;
const ACTIVE: u64 = 2;
/// Without HW, bit 41 asks for a maintenance interrupt when the interrupt ends.
const EOI_REQUEST: u64 = 1 << 41;
/// Bits of ICH_HCR_EL2 that are kept.
const HCR_MASK: u64 = 0xf800_fdff;
const VMCR_MASK: u64 = 0xfffc_021f;
const LR_MASK: u64 = 0xf0ff_1fff_ffff_ffff | EOI_REQUEST;
/// LPIs have no active state.
const FIRST_LPI: u64 = 8192;

/// The virtual interface of one PE.
#[derive(Clone, Debug)]
pub struct VirtualInterface {
    hcr: u64,
    vmcr: u64,
    /// The list registers that exist are the first `count`.
    lr: [u64; 16],
    count: usize,
    active: ActivePriorities,
    driven: u32,
    maintenance: bool,
}

impl VirtualInterface {
    /// The reset state, with `count` list registers (1 to 16).
    pub fn new(count: usize) -> Self {
        let vmcr = vmcr::VBPR0.of(MIN_BPR0.into()) | vmcr::VBPR1.of(MIN_BPR1.into());
        Self {
            hcr: 0,
            vmcr,
            lr: [0; 16],
            count: count.clamp(1, 16),
            active: ActivePriorities([0; 2]),
            driven: 0,
            maintenance: false,
        }
    }

    fn registers(&self) -> &[u64] {
        &self.lr[..self.count]
    }

    fn enabled(&self, group: Group) -> bool {
        let field = if group == Group::Zero { vmcr::VENG0 } else { vmcr::VENG1 };
        field.is_set(self.vmcr)
    }

    /// The highest-priority pending list register of the enabled groups, the first of equals.
    fn highest(&self) -> Option<usize> {
        let pending = |n: &usize| {
            let value = self.lr[*n];
            lr::State.get(value) == PENDING && self.enabled(group_of(value))
        };
        (0..self.count).filter(pending).min_by_key(|n| lr::Priority.get(self.lr[*n]))
    }

    fn group_priority(&self, group: Group, priority: u8) -> u8 {
        let point = |field: Field| field.get(self.vmcr) as u8;
        match group {
            Group::One if !vmcr::VCBPR.is_set(self.vmcr) => group_priority(priority, point(vmcr::VBPR1) - 1),
            _ => group_priority(priority, point(vmcr::VBPR0)),
        }
    }

    /// May list register `n` be signalled: the interface is on, the mask lets it through, it preempts what runs?
    fn can_signal(&self, n: usize) -> bool {
        let (group, priority) = (group_of(self.lr[n]), lr::Priority.get(self.lr[n]) as u8);
        let running = self.active.running();
        hcr::En.is_set(self.hcr)
            && u64::from(priority) < vmcr::VPMR.get(self.vmcr)
            && (running == IDLE || self.group_priority(group, priority) < running)
    }

    /// The wires that the interface drives.
    fn lines(&self) -> u32 {
        match self.highest().filter(|n| self.can_signal(*n)).map(|n| group_of(self.lr[n])) {
            Some(Group::Zero) => CpuLines::VFIQ,
            Some(Group::One) => CpuLines::VIRQ,
            None => 0,
        }
    }

    /// `ICH_EISR_EL2`: ended, and asked to say so.
    fn eisr(&self) -> u64 {
        self.mask(|value| lr::State.get(value) == 0 && !lr::HW.is_set(value) && value & EOI_REQUEST != 0)
    }
    /// `ICH_ELRSR_EL2`: free for use.
    fn elrsr(&self) -> u64 {
        self.mask(|value| lr::State.get(value) == 0 && (lr::HW.is_set(value) || value & EOI_REQUEST == 0))
    }
    fn mask(&self, is: impl Fn(u64) -> bool) -> u64 {
        self.registers().iter().enumerate().fold(0, |mask, (n, value)| mask | u64::from(is(*value)) << n)
    }

    fn used(&self) -> usize {
        self.registers().iter().filter(|value| lr::State.get(**value) != 0).count()
    }

    /// `ICH_MISR_EL2`: why a maintenance interrupt is asserted.
    fn misr(&self) -> u64 {
        let on = |field: Field, condition: bool| field.is_set(self.hcr) && condition;
        let none_pending = !self.registers().iter().any(|value| lr::State.get(*value) & PENDING != 0);
        [
            self.eisr() != 0,
            on(hcr::UIE, self.used() <= 1),
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

    fn vtr(&self) -> u64 {
        // Five bits of priority and preemption, 16 bits of INTID, Aff3 valid, no direct injection, DIR trapped alone.
        vtr::ListRegs.of(self.count as u64 - 1)
            | vtr::TDS.of(1)
            | vtr::nV4.of(1)
            | vtr::A3V.of(1)
            | vtr::PREbits.of(4)
            | vtr::PRIbits.of(4)
    }

    /// Folds the state.
    pub fn hash(&self, state: &mut dyn core::hash::Hasher) {
        state.write_u64(self.hcr);
        state.write_u64(self.vmcr);
        self.registers().iter().for_each(|value| state.write_u64(*value));
        state.write_u32(self.active.0[0]);
        state.write_u32(self.active.0[1]);
    }
}

fn group_of(value: u64) -> Group {
    if lr::Group.is_set(value) { Group::One } else { Group::Zero }
}

/// The list register that an `ICH_LR<n>_EL2` encoding names.
fn list_register(reg: Enc) -> Option<usize> {
    let named = (reg.op0(), reg.op1(), reg.crn()) == (3, 4, 12) && matches!(reg.crm(), 12 | 13);
    named.then(|| usize::from((reg.crm() & 1) * 8 + reg.op2()))
}

/// Puts the virtual interface of PE `pe` into its reset state.
pub fn reset(state: &mut State, pe: usize) {
    let v = &mut state.pes[pe].virtual_interface;
    let (driven, maintenance) = (v.driven, v.maintenance);
    *v = VirtualInterface { driven, maintenance, ..VirtualInterface::new(v.count) };
    settle(state, pe);
}

/// The list registers of PE `pe` whose state is not invalid.
pub fn in_use(state: &State, pe: usize) -> u8 {
    // At most 16.
    state.pes[pe].virtual_interface.used() as u8
}

/// Reads an `ICH_*` register of PE `pe`.
pub fn read_hypervisor(state: &State, pe: usize, reg: Enc) -> Option<u64> {
    let v = &state.pes[pe].virtual_interface;
    Some(match reg {
        ich::HCR => v.hcr,
        ich::VTR => v.vtr(),
        ich::MISR => v.misr(),
        ich::EISR => v.eisr(),
        ich::ELRSR => v.elrsr(),
        ich::VMCR => v.vmcr,
        ich::AP0R0 => v.active.0[0].into(),
        ich::AP1R0 => v.active.0[1].into(),
        _ => *v.registers().get(list_register(reg)?)?,
    })
}

/// Writes an `ICH_*` register of PE `pe`.
pub fn write_hypervisor(state: &mut State, pe: usize, reg: Enc, value: u64) -> Option<()> {
    let v = &mut state.pes[pe].virtual_interface;
    match reg {
        ich::HCR => v.hcr = value & HCR_MASK,
        ich::VMCR => {
            let at_least = |field: Field, least: u8| field.of(field.get(value).max(least.into()));
            // VFIQEn is RAO/WI, as group 0 is always signalled as FIQ with system registers; VAckCtl is RAZ/WI.
            let fixed = vmcr::VBPR0.mask() | vmcr::VBPR1.mask() | vmcr::VAckCtl.mask() | vmcr::VPMR.mask();
            v.vmcr = value & VMCR_MASK & !fixed
                | vmcr::VFIQEn.mask()
                | at_least(vmcr::VBPR0, MIN_BPR0)
                | at_least(vmcr::VBPR1, MIN_BPR1)
                | vmcr::VPMR.of(vmcr::VPMR.get(value) & u64::from(PRIORITY_MASK));
        }
        ich::AP0R0 => v.active.0[0] = value as u32,
        ich::AP1R0 => v.active.0[1] = value as u32,
        // Read-only ones ignore writes that nobody should make.
        _ => *v.lr[..v.count].get_mut(list_register(reg)?)? = value & LR_MASK,
    }
    settle(state, pe);
    Some(())
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
        icc::AP0R0 => v.active.0[0].into(),
        icc::AP1R0 => v.active.0[1].into(),
        icc::RPR => v.active.running().into(),
        icc::CTLR => {
            let mode = if vmcr::VEOIM.is_set(v.vmcr) { icc_ctlr::EOI_MODE } else { 0 };
            icc_ctlr::FIXED | mode | u64::from(common)
        }
        icc::SRE => crate::spec::ICC_SRE,
        icc::IGRPEN0 => field(vmcr::VENG0),
        icc::IGRPEN1 => field(vmcr::VENG1),
        _ => return None,
    })
}

/// Writes the `ICV_*` counterpart of `reg`.
pub fn write(state: &mut State, pe: usize, reg: Enc, value: u64) -> Option<()> {
    let v = &mut state.pes[pe].virtual_interface;
    let (split, common) = (vmcr::VEOIM.is_set(v.vmcr), vmcr::VCBPR.is_set(v.vmcr));
    let mut set = |field: Field, value: u64| v.vmcr = field.set(v.vmcr, value);
    let point = (value & 7) as u8;
    match reg {
        icc::PMR => set(vmcr::VPMR, value & u64::from(PRIORITY_MASK)),
        icc::EOIR0 => end_of_interrupt(state, pe, Group::Zero, value & 0xff_ffff),
        icc::EOIR1 => end_of_interrupt(state, pe, Group::One, value & 0xff_ffff),
        icc::DIR if !split => {}
        icc::DIR => end_active(state, pe, value & 0xff_ffff),
        icc::BPR0 => set(vmcr::VBPR0, point.max(MIN_BPR0).into()),
        icc::BPR1 if common => {}
        icc::BPR1 => set(vmcr::VBPR1, point.max(MIN_BPR1).into()),
        icc::AP0R0 => v.active.0[0] = value as u32,
        icc::AP1R0 => v.active.0[1] = value as u32,
        icc::CTLR => {
            set(vmcr::VCBPR, value & icc_ctlr::CBPR);
            set(vmcr::VEOIM, value >> 1 & 1);
        }
        icc::SRE => {}
        icc::IGRPEN0 => set(vmcr::VENG0, value & 1),
        icc::IGRPEN1 => set(vmcr::VENG1, value & 1),
        _ => return None,
    }
    settle(state, pe);
    Some(())
}

fn highest_pending(v: &VirtualInterface, group: Group) -> u64 {
    let of_group = v.highest().filter(|n| group_of(v.lr[*n]) == group);
    of_group.map_or(u64::from(SPURIOUS), |n| lr::vINTID.get(v.lr[n]))
}

fn acknowledge(state: &mut State, pe: usize, group: Group) -> u64 {
    let v = &mut state.pes[pe].virtual_interface;
    let Some(n) = v.highest().filter(|n| group_of(v.lr[*n]) == group && v.can_signal(*n)) else {
        return SPURIOUS.into();
    };
    let (intid, priority) = (lr::vINTID.get(v.lr[n]), lr::Priority.get(v.lr[n]) as u8);
    let group_priority = v.group_priority(group, priority);
    v.active.raise(group, group_priority);
    v.lr[n] = lr::State.set(v.lr[n], if intid < FIRST_LPI { ACTIVE } else { 0 });
    settle(state, pe);
    intid
}

/// Priority drop, and with EOImode 0 the end of the interrupt as well. What comes from the other group than the running
/// priority's, and special INTIDs, are ignored.
fn end_of_interrupt(state: &mut State, pe: usize, group: Group, intid: u64) {
    let v = &mut state.pes[pe].virtual_interface;
    if (u64::from(SPECIAL)..FIRST_LPI).contains(&intid) || v.active.running_group() != Some(group) {
        return;
    }
    v.active.drop_highest(group);
    if !vmcr::VEOIM.is_set(v.vmcr) {
        end_active(state, pe, intid);
    }
}

/// The active list register of `intid` ends, and with HW the physical interrupt with it. Where there is none, EOIcount
/// counts, so that the hypervisor learns of interrupts that it keeps elsewhere.
fn end_active(state: &mut State, pe: usize, intid: u64) {
    let v = &mut state.pes[pe].virtual_interface;
    let active = |n: &usize| {
        let value = v.lr[*n];
        lr::vINTID.get(value) == intid && lr::State.get(value) & ACTIVE != 0
    };
    let Some(n) = (0..v.count).find(active) else {
        if intid < FIRST_LPI {
            let count = hcr::EOIcount.get(v.hcr).wrapping_add(1);
            v.hcr = hcr::EOIcount.set(v.hcr, count);
        }
        return;
    };
    let value = v.lr[n];
    v.lr[n] = lr::State.set(value, lr::State.get(value) & !ACTIVE);
    if lr::HW.is_set(value) {
        let physical = lr::pINTID.get(value) as u32;
        if physical < SPECIAL {
            deactivate(state, pe, physical);
        }
    }
}

/// Drives the virtual wires and the maintenance interrupt by the present state.
fn settle(state: &mut State, pe: usize) {
    let this = &mut state.pes[pe];
    let v = &mut this.virtual_interface;
    let lines = v.lines();
    let changed = lines ^ v.driven;
    v.driven = lines;
    let asserted = hcr::En.is_set(v.hcr) && v.misr() != 0;
    let maintenance = asserted != v.maintenance;
    v.maintenance = asserted;
    if changed != 0 {
        this.drive_virtual(changed & lines, Level::High);
        this.drive_virtual(changed & !lines, Level::Low);
    }
    if maintenance {
        change(state, pe, MAINTENANCE, |bank, n| bank.drive(1 << n, Level::from_bit(asserted)));
    }
}
