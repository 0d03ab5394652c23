//! Worlds: EL2 with its own EL0, and the EL1 and EL0 that run below it, each under its VMID. What each executed and what
//! exceptions it took; why it left for EL2 and what that cost there; its faults of stage 2.
//!
//! The instructions of an exit are those from the exception to the next entry of any world on that CPU. They are EL2's and,
//! where EL2 is a host with EL0 of its own (HCR_EL2.{E2H, TGE}), those of its EL0: a device model, or whatever the host ran
//! in between.

use std::collections::BTreeMap;

use arch::esr::{Ec, Fsc, esr};
use arch::sysreg::Enc;
use event::{Event, ExitCause, World};

use crate::counters::{Exceptions, merge, trapped_register};

/// Where a CPU is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Place {
    /// At EL2 or its own EL0; or EL2 was never used.
    #[default]
    Own,
    /// In EL1 or EL0 below EL2.
    Below(World),
}

/// What an access was that stage 2 faulted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stage2Access {
    /// A load.
    Read,
    /// A store or atomic.
    Write,
    /// An instruction fetch.
    Fetch,
    /// A walk of stage 1 (S1PTW), for whatever access.
    Walk,
    /// A cache maintenance or address translation instruction.
    Maintenance,
}

/// A kind of stage 2 fault.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Stage2Fault {
    /// Translation, Access flag, Permission or Address size, and the level.
    pub status: Fsc,
    /// What met it.
    pub access: Stage2Access,
}

impl Stage2Fault {
    /// The fault in the syndrome of an exception that EL2 took from a world. With HCR_EL2.TGE clear EL1 takes the faults
    /// of stage 1, so what has one of these codes is of stage 2.
    fn of(esr: u64) -> Option<Self> {
        const S1PTW: u64 = 1 << 7;
        const CM: u64 = 1 << 8;
        const WNR: u64 = 1 << 6;
        let status = Fsc::from_code((esr & 0x3f) as u8)?;
        if !matches!(status, Fsc::Translation(_) | Fsc::AccessFlag(_) | Fsc::Permission(_) | Fsc::AddressSize(_)) {
            return None;
        }
        let access = match Ec::from_bits(esr::EC.get(esr))? {
            Ec::DataAbort | Ec::InstructionAbort if esr & S1PTW != 0 => Stage2Access::Walk,
            Ec::InstructionAbort => Stage2Access::Fetch,
            Ec::DataAbort if esr & CM != 0 => Stage2Access::Maintenance,
            Ec::DataAbort if esr & WNR != 0 => Stage2Access::Write,
            Ec::DataAbort => Stage2Access::Read,
            _ => return None,
        };
        Some(Self { status, access })
    }
}

/// Which way a system register was accessed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Way {
    /// MSR, or a system instruction.
    Write,
    /// MRS.
    Read,
}

/// A kind of exit from a world to EL2.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ExitKind {
    /// An IRQ.
    Irq,
    /// An FIQ.
    Fiq,
    /// An SError.
    SError,
    /// A trapped wait instruction, by ISS.TI: WFI, WFE, WFIT, WFET.
    Wait(u8),
    /// A trapped access to a system register, or a system instruction.
    Register(Enc, Way),
    /// A fault of stage 2.
    Stage2(Stage2Fault),
    /// Any other exception class, by its number.
    Class(u8),
}

impl ExitKind {
    /// The kind of an exit.
    pub fn of(cause: ExitCause) -> Self {
        let esr = match cause {
            ExitCause::Irq => return Self::Irq,
            ExitCause::Fiq => return Self::Fiq,
            ExitCause::SError => return Self::SError,
            ExitCause::Synchronous(esr) => esr,
        };
        let class = esr::EC.get(esr);
        match Ec::from_bits(class) {
            Some(Ec::Wfx) => Self::Wait((esr & 3) as u8),
            Some(Ec::SysReg) => {
                Self::Register(trapped_register(esr), if esr & 1 == 0 { Way::Write } else { Way::Read })
            }
            _ => Stage2Fault::of(esr).map_or(Self::Class(class as u8), Self::Stage2),
        }
    }
}

/// Exits of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ExitSum {
    /// Times.
    pub times: u64,
    /// Instructions at EL2 until the next entry.
    pub el2: u64,
    /// The most of one exit that an entry has followed.
    pub most_el2: u64,
    /// Instructions at the host's EL0 until the next entry.
    pub host_el0: u64,
    /// Times that the host's EL0 ran before the next entry.
    pub through_el0: u64,
}

/// What happened in one world, and to it.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct WorldCounts {
    /// Entries: exception returns of EL2 to it.
    pub entries: u64,
    /// Instructions retired in it at EL0 to EL3.
    pub insns: [u64; 4],
    /// Exceptions taken from it, to EL1 and to EL2.
    pub exceptions: Exceptions,
    /// Exits by kind.
    pub exits: BTreeMap<ExitKind, ExitSum>,
    /// Exits by the world that was entered next on that CPU.
    pub next: BTreeMap<World, u64>,
    /// Faults of stage 2.
    pub stage2_faults: BTreeMap<Stage2Fault, u64>,
    /// Entries with the virtual CPU interface on, by the number of list registers in use.
    pub list_registers: BTreeMap<u8, u64>,
}

/// All worlds, and where the CPU is.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Worlds {
    /// By place. Empty where no world below EL2 was ever entered, or before [`Worlds::settle`].
    pub by_place: BTreeMap<Place, WorldCounts>,
    here: Place,
    /// The exit that no entry has followed yet.
    open: Option<(World, ExitKind)>,
    /// Instructions at each level as of the last switch.
    since: [u64; 4],
}

impl Worlds {
    /// All of it, for snapshots.
    #[expect(clippy::type_complexity, reason = "its fields")]
    pub(crate) fn state(
        &mut self,
    ) -> (&mut BTreeMap<Place, WorldCounts>, &mut Place, &mut Option<(World, ExitKind)>, &mut [u64; 4]) {
        let Self { by_place, here, open, since } = self;
        (by_place, here, open, since)
    }

    fn counts(&mut self, place: Place) -> &mut WorldCounts {
        self.by_place.entry(place).or_default()
    }

    /// The instructions at each level since the last switch are those of the present place, and of the open exit.
    fn account(&mut self, insns: [u64; 4]) {
        let spent: [u64; 4] = std::array::from_fn(|el| insns[el].saturating_sub(self.since[el]));
        self.since = insns;
        let here = self.counts(self.here);
        for (into, count) in here.insns.iter_mut().zip(spent) {
            *into += count;
        }
        if let Some((world, kind)) = self.open {
            let exit = self.counts(Place::Below(world)).exits.entry(kind).or_default();
            exit.el2 += spent[2];
            exit.host_el0 += spent[0];
            exit.through_el0 += u64::from(spent[0] > 0);
        }
    }

    pub(crate) fn enter(&mut self, world: World, insns: [u64; 4], list_registers: Option<u8>) {
        let spent = insns[2].saturating_sub(self.since[2]);
        self.account(insns);
        if let Some((left, kind)) = self.open.take() {
            let counts = self.counts(Place::Below(left));
            *counts.next.entry(world).or_default() += 1;
            let exit = counts.exits.entry(kind).or_default();
            exit.most_el2 = exit.most_el2.max(spent);
        }
        self.here = Place::Below(world);
        let counts = self.counts(self.here);
        counts.entries += 1;
        if let Some(used) = list_registers {
            *counts.list_registers.entry(used).or_default() += 1;
        }
    }

    pub(crate) fn leave(&mut self, cause: ExitCause, insns: [u64; 4]) {
        self.account(insns);
        // A sink that was set in the middle does not know what world this was.
        let Place::Below(world) = std::mem::take(&mut self.here) else { return };
        let kind = ExitKind::of(cause);
        let counts = self.counts(Place::Below(world));
        counts.exits.entry(kind).or_default().times += 1;
        if let ExitKind::Stage2(fault) = kind {
            *counts.stage2_faults.entry(fault).or_default() += 1;
        }
        self.open = Some((world, kind));
    }

    pub(crate) fn restart(&mut self, insns: [u64; 4]) {
        if !self.by_place.is_empty() {
            self.account(insns);
        }
        (self.here, self.open) = (Place::Own, None);
    }

    pub(crate) fn exception(&mut self, event: &Event) {
        if self.here != Place::Own {
            self.counts(self.here).exceptions.count(event);
        }
    }

    /// At the end of a run: accounts for the instructions since the last switch. A machine without worlds stays without.
    pub(crate) fn settle(&mut self, insns: [u64; 4]) {
        if !self.by_place.is_empty() {
            self.account(insns);
        }
    }

    /// Adds another CPU's.
    pub(crate) fn add(&mut self, other: &Self) {
        for (place, counts) in &other.by_place {
            self.counts(*place).add(counts);
        }
    }
}

impl WorldCounts {
    fn add(&mut self, other: &Self) {
        self.entries += other.entries;
        for (into, count) in self.insns.iter_mut().zip(other.insns) {
            *into += count;
        }
        self.exceptions.add(&other.exceptions);
        for (kind, sum) in &other.exits {
            let into = self.exits.entry(*kind).or_default();
            into.times += sum.times;
            into.el2 += sum.el2;
            into.most_el2 = into.most_el2.max(sum.most_el2);
            into.host_el0 += sum.host_el0;
            into.through_el0 += sum.through_el0;
        }
        merge(&mut self.next, &other.next);
        merge(&mut self.stage2_faults, &other.stage2_faults);
        merge(&mut self.list_registers, &other.list_registers);
    }
}

#[cfg(test)]
mod tests {
    use arch::esr::Level;

    use super::*;

    const GUEST: World = World { vmid: 3, stage2: true };
    const HOST: World = World { vmid: 0, stage2: false };

    fn exit(kind: ExitKind) -> ExitSum {
        let mut worlds = Worlds::default();
        // 10 at EL2 before, 20 and 5 in the guest, then 7 at EL2, 100 at EL0 of the host, 8 at EL2.
        worlds.enter(GUEST, [0, 0, 10, 0], Some(2));
        worlds.leave(cause(kind), [5, 20, 10, 0]);
        worlds.enter(GUEST, [105, 20, 25, 0], None);
        worlds.settle([106, 22, 25, 0]);
        let guest = &worlds.by_place[&Place::Below(GUEST)];
        assert_eq!((guest.insns, guest.entries), ([6, 22, 0, 0], 2));
        assert_eq!(worlds.by_place[&Place::Own].insns, [100, 0, 25, 0]);
        assert_eq!(guest.list_registers, [(2, 1)].into());
        guest.exits[&kind]
    }

    fn cause(kind: ExitKind) -> ExitCause {
        match kind {
            ExitKind::Irq => ExitCause::Irq,
            ExitKind::Fiq => ExitCause::Fiq,
            ExitKind::SError => ExitCause::SError,
            ExitKind::Wait(ti) => ExitCause::Synchronous(0x0600_0000 | u64::from(ti)),
            ExitKind::Class(class) => ExitCause::Synchronous(u64::from(class) << 26),
            _ => unreachable!(),
        }
    }

    #[test]
    fn every_kind_of_exit_costs_what_follows_it() {
        let kinds = [ExitKind::Irq, ExitKind::Fiq, ExitKind::SError, ExitKind::Wait(1), ExitKind::Class(0x17)];
        for kind in kinds {
            let expected = ExitSum { times: 1, el2: 15, most_el2: 15, host_el0: 100, through_el0: 1 };
            assert_eq!(exit(kind), expected, "{kind:?}");
        }
    }

    #[test]
    fn syndromes() {
        let of = |esr| ExitKind::of(ExitCause::Synchronous(esr));
        let fault = |status, access| ExitKind::Stage2(Stage2Fault { status, access });
        // ESR_EL2 values: EC, IL and ISS by hand.
        assert_eq!(of(0x9380_0046), fault(Fsc::Translation(Level::L2), Stage2Access::Write));
        assert_eq!(of(0x9200_000f), fault(Fsc::Permission(Level::L3), Stage2Access::Read));
        assert_eq!(of(0x9200_0147), fault(Fsc::Translation(Level::L3), Stage2Access::Maintenance));
        assert_eq!(of(0x9200_00cb), fault(Fsc::AccessFlag(Level::L3), Stage2Access::Walk));
        assert_eq!(of(0x8200_0001), fault(Fsc::AddressSize(Level::L1), Stage2Access::Fetch));
        // A synchronous external abort with HCR_EL2.TEA, and HVC, whose immediate is no fault status.
        assert_eq!(of(0x9200_0010), ExitKind::Class(0x24));
        assert_eq!(of(0x5a00_0007), ExitKind::Class(0x16));
        // MSR ICC_SGI1R_EL1, X5.
        assert_eq!(of(0x6200_0000 | 3 << 20 | 5 << 17 | 12 << 10 | 5 << 5 | 11 << 1), {
            ExitKind::Register(Enc::new(3, 0, 12, 11, 5), Way::Write)
        });
    }

    #[test]
    fn worlds_follow_each_other() {
        let mut worlds = Worlds::default();
        worlds.enter(HOST, [0, 0, 1, 0], None);
        worlds.leave(ExitCause::Irq, [0, 10, 1, 0]);
        worlds.enter(GUEST, [0, 10, 3, 0], None);
        worlds.leave(ExitCause::Irq, [0, 11, 3, 0]);
        worlds.enter(HOST, [0, 11, 7, 0], None);
        worlds.leave(ExitCause::Irq, [0, 12, 7, 0]);
        let of = |world| &worlds.by_place[&Place::Below(world)];
        assert_eq!((&of(HOST).next, &of(GUEST).next), (&[(GUEST, 1)].into(), &[(HOST, 1)].into()));
        // The last exit is not over.
        assert_eq!((of(HOST).exits[&ExitKind::Irq].times, of(HOST).exits[&ExitKind::Irq].el2), (2, 2));
        worlds.settle([0, 12, 107, 0]);
        let irq = worlds.by_place[&Place::Below(HOST)].exits[&ExitKind::Irq];
        assert_eq!((irq.el2, irq.most_el2), (102, 2));
    }

    #[test]
    fn a_cpu_that_is_started_anew_is_at_el2() {
        let mut worlds = Worlds::default();
        worlds.enter(HOST, [0, 0, 1, 0], None);
        worlds.restart([0, 10, 1, 0]);
        worlds.settle([0, 10, 5, 0]);
        assert_eq!(worlds.by_place[&Place::Below(HOST)].insns, [0, 10, 0, 0]);
        assert_eq!(worlds.by_place[&Place::Own].insns, [0, 0, 5, 0]);
        assert!(worlds.by_place[&Place::Below(HOST)].exits.is_empty());
    }

    #[test]
    fn without_worlds_there_is_nothing() {
        let mut worlds = Worlds::default();
        worlds.restart([0, 5, 0, 0]);
        worlds.settle([3, 9, 0, 0]);
        assert!(worlds.by_place.is_empty());
    }
}
