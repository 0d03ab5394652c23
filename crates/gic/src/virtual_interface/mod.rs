//! The virtual CPU interface (IHI 0069, §6 and §12.4): its state and what follows from it. `hypervisor` has the `ICH_*`
//! registers, `guest` the `ICV_*` ones.

mod guest;
mod hypervisor;

pub use guest::{read, write};
pub use hypervisor::{read as read_hypervisor, write as write_hypervisor};

use arch::field::{Field, ich_hcr_el2 as hcr, ich_lr_el2 as lr, ich_vmcr_el2 as vmcr};
use arch::gic::{Seis, VirtualInterface as Model};
use arch::policy::{Choices, Policy};
use bus::{CpuLines, Level};
use snapshot::{Codec, Invalid};

use crate::cpu_interface::change;
use crate::priority::{ActivePriorities, Group, IDLE, group_priority};
use crate::state::{Pe, State};

/// The maintenance interrupt's INTID (the Base System Architecture's number).
pub const MAINTENANCE: u32 = 25;

/// States of a list register.
pub const INVALID: u64 = 0;
const PENDING: u64 = 1;
/// Bit 1: it is active; bit 0: it is pending.
pub const ACTIVE: u64 = 2;
/// Without HW, bit 41 asks for a maintenance interrupt when the interrupt ends.
const EOI_REQUEST: u64 = 1 << 41;
/// LPIs begin here. There is nothing to deactivate for software when one ends.
const FIRST_LPI: u64 = 8192;

/// How software reaches a virtual interface, on which it depends what there is in ICH_VMCR_EL2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// By system registers: a GICv3's.
    System,
    /// By memory: a GICv2's.
    Memory,
}

/// What a virtual interface drives otherwise than before.
pub struct Change {
    /// Virtual lines that become high.
    pub rising: u32,
    /// And low.
    pub falling: u32,
    /// The maintenance interrupt.
    pub maintenance: Option<Level>,
}

/// The virtual interface of one PE. Registers are kept in the form of the system registers.
#[derive(Clone, Debug)]
pub struct VirtualInterface {
    /// What it has.
    pub model: Model,
    form: Form,
    choices: Choices,
    /// ICH_HCR_EL2.
    pub hcr: u64,
    /// ICH_VMCR_EL2.
    pub vmcr: u64,
    /// ICH_LR<n>_EL2. Those that exist are the first ones.
    pub lr: [u64; 16],
    /// Those of both groups; a GICv2 has one register for both, which is group 0's here.
    pub active: ActivePriorities,
    driven: u32,
    maintenance: bool,
}

impl VirtualInterface {
    /// The reset state of PE `pe`'s.
    pub fn new(model: Model, form: Form, policy: Policy, pe: usize) -> Self {
        let mut this = Self {
            model,
            form,
            choices: Choices::new(policy, pe as u64),
            hcr: 0,
            vmcr: 0,
            lr: [0; 16],
            active: ActivePriorities::new(model.preemption_bits),
            driven: 0,
            maintenance: false,
        };
        this.set_vmcr(0);
        this
    }

    /// The list registers that exist.
    pub fn registers(&self) -> &[u64] {
        &self.lr[..usize::from(self.model.list_registers)]
    }

    /// List registers that hold an interrupt, in whatever state.
    pub fn in_use(&self) -> u8 {
        self.registers().iter().map(|value| u8::from(lr::State.get(*value) != INVALID)).sum()
    }

    fn enabled(&self, group: Group) -> bool {
        let field = if group == Group::Zero { vmcr::VENG0 } else { vmcr::VENG1 };
        field.is_set(self.vmcr)
    }

    /// The least value of a group's binary point; group 1's scale is one above (§4.8).
    fn least_point(&self, group: Group) -> u64 {
        u64::from(7 - self.model.preemption_bits) + u64::from(group == Group::One)
    }

    /// A write to ICH_VMCR_EL2. VFIQEn is RES1, as group 0 is always signalled as FIQ with system registers, and VAckCtl
    /// RES0; a GICv2 has both. A binary point below the least one becomes it.
    pub fn set_vmcr(&mut self, value: u64) {
        let kept = [vmcr::VENG0, vmcr::VENG1, vmcr::VCBPR, vmcr::VEOIM].map(Field::mask).into_iter().sum::<u64>();
        let at_least = |field: Field, least: u64| field.of(field.get(value).max(least));
        self.vmcr = value & kept
            | match self.form {
                Form::System => vmcr::VFIQEn.mask(),
                Form::Memory => value & (vmcr::VAckCtl.mask() | vmcr::VFIQEn.mask()),
            }
            | at_least(vmcr::VBPR0, self.least_point(Group::Zero))
            | at_least(vmcr::VBPR1, self.least_point(Group::One))
            | vmcr::VPMR.of(vmcr::VPMR.get(value) & u64::from(self.model.priority_mask()));
    }

    /// The highest-priority pending list register of the enabled groups, the first of equals. One that is active as well
    /// waits until it is not.
    pub fn highest(&self) -> Option<usize> {
        let pending = |value: u64| lr::State.get(value) == PENDING && self.enabled(group_of(value));
        let candidates = self.registers().iter().enumerate().filter(|(_, value)| pending(**value));
        candidates.min_by_key(|(_, value)| lr::Priority.get(**value)).map(|(n, _)| n)
    }

    fn group_priority(&self, group: Group, priority: u8) -> u8 {
        let point = |field: Field| field.get(self.vmcr) as u8;
        match group {
            Group::One if !vmcr::VCBPR.is_set(self.vmcr) => group_priority(priority, point(vmcr::VBPR1) - 1),
            _ => group_priority(priority, point(vmcr::VBPR0)),
        }
    }

    /// The group priority of what list register `n` holds.
    pub fn group_priority_of(&self, n: usize) -> u8 {
        self.group_priority(group_of(self.lr[n]), lr::Priority.get(self.lr[n]) as u8)
    }

    /// May list register `n` be signalled: the interface is on, the mask lets it through, it preempts what runs? Subpriorities
    /// do not count in that, its own group's: without bits of group priority there is no preemption (§4.8).
    fn can_signal(&self, n: usize) -> bool {
        let running = self.active.running();
        hcr::En.is_set(self.hcr)
            && lr::Priority.get(self.lr[n]) < vmcr::VPMR.get(self.vmcr)
            && (running == IDLE || self.group_priority_of(n) < self.group_priority(group_of(self.lr[n]), running))
    }

    /// The list register that the guest could acknowledge now.
    pub fn signalled(&self) -> Option<usize> {
        self.highest().filter(|n| self.can_signal(*n))
    }

    /// The wires that the interface drives.
    fn lines(&self) -> u32 {
        match self.signalled().map(|n| group_of(self.lr[n])) {
            Some(Group::Zero) if vmcr::VFIQEn.is_set(self.vmcr) => CpuLines::VFIQ,
            Some(_) => CpuLines::VIRQ,
            None => 0,
        }
    }

    /// The lines that it drives.
    pub fn driven(&self) -> u32 {
        self.driven
    }

    /// The wires that it must drive now, by the present state, where they differ from before.
    pub fn settle(&mut self) -> Change {
        let lines = self.lines();
        let changed = lines ^ std::mem::replace(&mut self.driven, lines);
        let asserted = hcr::En.is_set(self.hcr) && self.misr() != 0;
        let before = std::mem::replace(&mut self.maintenance, asserted);
        Change {
            rising: changed & lines,
            falling: changed & !lines,
            maintenance: (asserted != before).then_some(Level::from_bit(asserted)),
        }
    }

    /// Saves or loads it, with what it drives.
    pub fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { model: _, form: _, choices, hcr, vmcr, lr, active, driven, maintenance } = self;
        let mut state = choices.state();
        codec.each([&mut state, hcr, vmcr, lr, driven, maintenance])?;
        active.persist(codec)?;
        if codec.is_loading() {
            choices.set_state(state);
            let value = *vmcr;
            self.set_vmcr(value);
            if self.vmcr != value {
                return Err(Invalid::new("a value of ICH_VMCR_EL2 that cannot be"));
            }
            let before = (self.driven, self.maintenance);
            self.settle();
            if before != (self.driven, self.maintenance) {
                return Err(Invalid::new("a virtual interface whose wires differ from its registers"));
            }
        }
        Ok(())
    }

    /// Folds the state.
    pub fn hash(&self, state: &mut dyn core::hash::Hasher) {
        state.write_u64(self.hcr);
        state.write_u64(self.vmcr);
        self.registers().iter().for_each(|value| state.write_u64(*value));
        self.active.hash(state);
        state.write_u64(self.choices.state());
    }
}

/// The group of what a list register holds.
pub fn group_of(value: u64) -> Group {
    if lr::Group.is_set(value) { Group::One } else { Group::Zero }
}

/// Puts the virtual interface of PE `pe` into its reset state.
pub fn reset(state: &mut State, pe: usize) {
    let v = &mut state.pes[pe].virtual_interface;
    v.hcr = 0;
    v.set_vmcr(0);
    v.lr = [0; 16];
    v.active = ActivePriorities::new(v.model.preemption_bits);
    settle(state, pe);
}

/// The guest of `pe` did what is UNPREDICTABLE and may be reported by a system error (ICH_VTR_EL2.SEIS).
fn report_guest(pe: &mut Pe) {
    let v = &mut pe.virtual_interface;
    if !v.choices.raises_errors() {
        return;
    }
    match v.model.seis {
        Seis::Off => {}
        Seis::Broken if v.choices.unusual() => pe.drive(CpuLines::SERROR, Level::High),
        Seis::On | Seis::Broken => pe.drive(CpuLines::SEI, Level::High),
    }
}

/// The same of the physical interface (ICC_CTLR_EL1.SEIS).
pub fn report_physical(pe: &Pe) {
    let v = &pe.virtual_interface;
    if v.choices.raises_errors() && v.model.reports_errors() {
        pe.drive(CpuLines::SERROR, Level::High);
    }
}

/// Drives the virtual wires and the maintenance interrupt by the present state.
fn settle(state: &mut State, pe: usize) {
    let this = &mut state.pes[pe];
    let Change { rising, falling, maintenance } = this.virtual_interface.settle();
    this.drive(rising, Level::High);
    this.drive(falling, Level::Low);
    if let Some(level) = maintenance {
        change(state, pe, MAINTENANCE, |bank, n| bank.drive(1 << n, level));
    }
}
