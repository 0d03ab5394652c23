//! The Performance Monitors. DDI 0487 D13, "The Performance Monitors Extension", and the registers' descriptions.
//!
//! What happens at each exception level is counted where it happens, or for instructions and cycles anyway; a counter is
//! brought up to date from the difference when someone looks at it, or when a register that controls it changes. So
//! counting costs nothing where nobody looks. A counter whose overflow must be seen at once (it interrupts, or freezes
//! others) bounds how long the PE runs on: nothing that is counted by instructions happens more than once a tick.
//!
//! A write to a register of the PMU takes effect for the instructions after it; the write itself still counts as before.

mod classes;
mod registers;

use arch::El;
use arch::feature::Feature;
use arch::field::{mdcr_el2 as mdcr, pmcr_el0 as pmcr, pmevtyper_el0 as typer};
use arch::pmu::PmuEvent;
use arch::sysreg::Reg;
use bus::{CpuLines, Level};
use mmu::AccessKind;
use snapshot::{Codec, Invalid};

use crate::pe::Pe;
use classes::Classes;

pub(crate) use registers::is_pmu;

/// The overflow interrupt, as INTID (the Base System Architecture's number).
const OVERFLOW_INTERRUPT: u32 = 23;
/// The cycle counter's place among the counters.
const CYCLES: usize = 31;
/// Its bit.
const CYCLES_BIT: u32 = 1 << 31;

/// What the PMU has beside its registers.
#[derive(Debug, Default)]
pub(crate) struct Pmu {
    /// For each counter that counts: how often its event had happened when its value was last brought up to date.
    since: [u64; 32],
    /// How often each event happened at EL0 to EL3, by `PmuEvent`. Instructions, cycles and what is for one counter alone
    /// have none.
    happened: Happened,
    /// The counters that count now, at one level at least.
    active: u32,
    /// Those of them whose overflow must be seen at once.
    watched: u32,
    /// Of these, is one for an event that is counted where it happens?
    watches_happenings: bool,
    /// Is each instruction looked at?
    classifies: bool,
    classes: Classes,
    /// The interrupt as the GIC last saw it.
    output: bool,
}

impl Pmu {
    /// Saves or loads it.
    pub(crate) fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { since, happened, active, watched, watches_happenings, classifies, classes: _, output } = self;
        codec.each([since, &mut happened.0, active, watched, watches_happenings, classifies, output])
    }
}

/// By event and level.
#[derive(Debug)]
struct Happened([[u64; 4]; PmuEvent::ALL.len()]);

impl Default for Happened {
    fn default() -> Self {
        Self([[0; 4]; PmuEvent::ALL.len()])
    }
}

/// How the machine comes to know of an event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// From the number of instructions and exceptions.
    Time,
    /// From each instruction: at most one each.
    Classified,
    /// From where it happens.
    Happening,
    /// It is for one counter, which is told.
    Told,
}

const fn origin(event: PmuEvent) -> Origin {
    match event {
        PmuEvent::InstRetired | PmuEvent::CpuCycles => Origin::Time,
        PmuEvent::LdRetired
        | PmuEvent::StRetired
        | PmuEvent::PcWriteRetired
        | PmuEvent::BrRetired
        | PmuEvent::BrImmedRetired
        | PmuEvent::BrReturnRetired => Origin::Classified,
        PmuEvent::L1iTlbRefill
        | PmuEvent::L1dTlbRefill
        | PmuEvent::ItlbWalk
        | PmuEvent::DtlbWalk
        | PmuEvent::ExcTaken
        | PmuEvent::ExcReturn
        | PmuEvent::CidWriteRetired
        | PmuEvent::TtbrWriteRetired => Origin::Happening,
        PmuEvent::SwIncr | PmuEvent::Chain => Origin::Told,
    }
}

/// The register `n` places after `first`.
fn numbered(first: Reg, n: usize) -> Reg {
    Reg::ALL[first as usize + n]
}

fn bits(set: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |n| set >> n & 1 != 0)
}

impl Pe {
    /// A field of MDCR_EL2; clear without EL2.
    fn mdcr(&self, field: arch::field::Field) -> bool {
        self.has_el2() && field.is_set(self.reg(Reg::MDCR_EL2))
    }
    fn pmcr(&self, field: arch::field::Field) -> bool {
        field.is_set(self.reg(Reg::PMCR_EL0))
    }

    /// The number of event counters in the first range, which MDCR_EL2.HPMN leaves to EL1 and EL0. More than there are, and
    /// 0 without FEAT_HPMN0, are CONSTRAINED UNPREDICTABLE: all of them.
    fn first_range(&self) -> usize {
        let all = usize::from(self.model.pmu_counters);
        if !self.has_el2() {
            return all;
        }
        match mdcr::HPMN.get(self.reg(Reg::MDCR_EL2)) as usize {
            0 if !self.model.has(Feature::FEAT_HPMN0) => all,
            n => n.min(all),
        }
    }
    /// Their bits.
    fn first_range_mask(&self) -> u32 {
        (1 << self.first_range()) - 1
    }
    /// The bits of all event counters.
    fn event_counter_mask(&self) -> u32 {
        (1 << self.model.pmu_counters) - 1
    }

    /// The event that counter `n` is set to.
    fn event_of(&self, n: usize) -> Option<PmuEvent> {
        if n == CYCLES {
            return Some(PmuEvent::CpuCycles);
        }
        let number = typer::evtCount.get(self.reg(numbered(Reg::PMEVTYPER0_EL0, n)));
        let event = PmuEvent::of_number(number as u16)?;
        // Even counters never count CHAIN.
        (event != PmuEvent::Chain || n % 2 == 1).then_some(event)
    }

    /// At which levels counter `n` counts: bit m for ELm. DDI 0487, PMEVTYPERn_EL0.{P, U, NSH}, MDCR_EL2.{HPMD, HCCD},
    /// PMCR_EL0.DP.
    fn counted_levels(&self, n: usize) -> u8 {
        // The PE may ignore the filter of a CHAIN counter: that of the counter before it is what counts.
        if self.event_of(n) == Some(PmuEvent::Chain) {
            return 0b111;
        }
        let filter = self.reg(if n == CYCLES { Reg::PMCCFILTR_EL0 } else { numbered(Reg::PMEVTYPER0_EL0, n) });
        let first = n == CYCLES || n < self.first_range();
        let prohibited = self.mdcr(mdcr::HPMD) && first && (n != CYCLES || self.pmcr(pmcr::DP))
            || self.mdcr(mdcr::HCCD) && n == CYCLES;
        let at = |el: El, counts: bool| u8::from(counts) << el as u8;
        at(El::El0, !typer::U.is_set(filter))
            | at(El::El1, !typer::P.is_set(filter))
            | at(El::El2, typer::NSH.is_set(filter) && !prohibited)
    }

    /// The counters that are enabled and not frozen.
    fn enabled_counters(&self) -> u32 {
        let first = self.first_range_mask();
        let second = self.event_counter_mask() & !first;
        let overflowed = self.reg(Reg::PMOVSSET_EL0) as u32;
        let mut on = 0;
        if self.pmcr(pmcr::E) {
            on |= first | CYCLES_BIT;
        }
        if self.mdcr(mdcr::HPME) {
            on |= second;
        }
        if self.pmcr(pmcr::FZO) && overflowed & first != 0 {
            on &= !first;
            if self.pmcr(pmcr::DP) {
                on &= !CYCLES_BIT;
            }
        }
        if self.mdcr(mdcr::HPMFZO) && overflowed & second != 0 {
            on &= !second;
        }
        self.reg(Reg::PMCNTENSET_EL0) as u32 & on
    }

    /// Does counter `n` overflow at 64 bits, not at 32? PMCR_EL0.LP, MDCR_EL2.HLP; the cycle counter always does without
    /// AArch32 (PMCR_EL0.LC is RES1).
    fn is_long(&self, n: usize) -> bool {
        n == CYCLES || if n < self.first_range() { self.pmcr(pmcr::LP) } else { self.mdcr(mdcr::HLP) }
    }

    /// How often `event` has happened at `levels`, where `retired` instructions have retired.
    fn occurrences(&self, event: PmuEvent, levels: u8, retired: u64) -> u64 {
        let insns = self.retired_by_el(retired);
        (0..4)
            .filter(|el| levels >> el & 1 != 0)
            .map(|el| match event {
                PmuEvent::InstRetired => insns[el],
                PmuEvent::CpuCycles => insns[el] + self.pmu.happened.0[PmuEvent::ExcTaken as usize][el],
                _ => self.pmu.happened.0[event as usize][el],
            })
            .fold(0, u64::wrapping_add)
    }

    /// What counter `n` has not seen yet.
    fn unseen(&self, n: usize, retired: u64) -> u64 {
        self.event_of(n)
            .map_or(0, |event| self.occurrences(event, self.counted_levels(n), retired).wrapping_sub(self.pmu.since[n]))
    }

    fn counter_register(n: usize) -> Reg {
        if n == CYCLES { Reg::PMCCNTR_EL0 } else { numbered(Reg::PMEVCNTR0_EL0, n) }
    }

    /// The value of counter `n` where `retired` instructions have retired.
    pub(crate) fn count_of_counter(&self, n: usize, retired: u64) -> u64 {
        let unseen = if self.pmu.active >> n & 1 == 0 { 0 } else { self.unseen(n, retired) };
        let sum = self.reg(Self::counter_register(n)).wrapping_add(unseen);
        if self.is_wide(n) { sum } else { sum & 0xffff_ffff }
    }

    /// Has counter `n` 64 bits?
    fn is_wide(&self, n: usize) -> bool {
        n == CYCLES || self.model.has(Feature::FEAT_PMUv3p5)
    }

    /// Counters that count and may not be up to date: their registers and values after the last instruction.
    pub(crate) fn running_counts(&self) -> impl Iterator<Item = (Reg, u64)> + '_ {
        bits(self.pmu.active).map(|n| (Self::counter_register(n), self.count_of_counter(n, self.insns)))
    }

    /// Adds to a counter; where it overflows, says so in PMOVSSET_EL0 and to a counter that chains to it.
    fn add_to_counter(&mut self, n: usize, count: u64) {
        let reg = Self::counter_register(n);
        let old = self.reg(reg);
        let sum = old.wrapping_add(count);
        self.sys[reg as usize] = if self.is_wide(n) { sum } else { sum & 0xffff_ffff };
        let overflows = if self.is_long(n) {
            u64::from(sum < old)
        } else {
            ((u128::from(old & 0xffff_ffff) + u128::from(count)) >> 32) as u64
        };
        if overflows == 0 {
            return;
        }
        self.sys[Reg::PMOVSSET_EL0 as usize] |= 1 << n;
        let next = n + 1;
        let chained = n.is_multiple_of(2)
            && self.pmu.active >> next & 1 != 0
            && !self.is_long(n)
            && self.event_of(next) == Some(PmuEvent::Chain);
        if chained {
            self.add_to_counter(next, overflows);
        }
    }

    /// Brings the counters up to date, where `retired` instructions have retired.
    pub(crate) fn settle_counters(&mut self, retired: u64) {
        let overflowed = self.reg(Reg::PMOVSSET_EL0);
        for n in bits(self.pmu.active) {
            let count = self.unseen(n, retired);
            if count != 0 {
                self.pmu.since[n] = self.pmu.since[n].wrapping_add(count);
                self.add_to_counter(n, count);
            }
        }
        if overflowed != self.reg(Reg::PMOVSSET_EL0) {
            self.pmu_changed(retired);
        }
    }

    /// A register that controls the PMU was written, or a counter overflowed: from now on (`retired` instructions) it
    /// counts accordingly. The counters are up to date.
    pub(crate) fn pmu_changed(&mut self, retired: u64) {
        let counts = |n: &usize| self.event_of(*n).is_some() && self.counted_levels(*n) != 0;
        let active = bits(self.enabled_counters()).filter(counts).fold(0, |set, n| set | 1 << n);
        for n in bits(active) {
            self.pmu.since[n] =
                self.event_of(n).map_or(0, |event| self.occurrences(event, self.counted_levels(n), retired));
        }
        self.pmu.active = active;
        let origins = |set: u32| bits(set).filter_map(|n| self.event_of(n)).map(origin);
        let mut watched = self.reg(Reg::PMINTENSET_EL1) as u32 & !(self.reg(Reg::PMOVSSET_EL0) as u32);
        if self.pmcr(pmcr::FZO) || self.mdcr(mdcr::HPMFZO) {
            watched = u32::MAX;
        }
        // What chains is watched by way of what it chains to.
        let chains = |n: usize| self.event_of(n) == Some(PmuEvent::Chain);
        let low = bits(watched & active).filter(|n| chains(*n)).fold(0, |set, n| set | 1 << (n - 1));
        let watched = (watched | low) & active;
        let watches_happenings = origins(watched).any(|origin| origin == Origin::Happening);
        let classifies = origins(active).any(|origin| origin == Origin::Classified);
        self.pmu.watched = watched;
        self.pmu.watches_happenings = watches_happenings;
        self.pmu.classifies = classifies;
        self.drive_overflow_interrupt();
    }

    /// The PMU after a reset: nothing counts.
    pub(crate) fn reset_pmu(&mut self) {
        self.pmu = Pmu { output: self.pmu.output, ..Pmu::default() };
        self.drive_overflow_interrupt();
    }

    fn drive_overflow_interrupt(&mut self) {
        let mut on = 0;
        if self.pmcr(pmcr::E) {
            on |= self.first_range_mask() | CYCLES_BIT;
        }
        if self.mdcr(mdcr::HPME) {
            on |= self.event_counter_mask() & !self.first_range_mask();
        }
        let output = (self.reg(Reg::PMOVSSET_EL0) & self.reg(Reg::PMINTENSET_EL1)) as u32 & on != 0;
        if output != self.pmu.output {
            self.pmu.output = output;
            self.gic.set_ppi(self.index, OVERFLOW_INTERRUPT, Level::from_bit(output));
        }
    }

    /// Before running on: sees overflows that must be seen at once.
    #[inline]
    pub(crate) fn update_pmu(&mut self) {
        if self.pmu.watched != 0 {
            self.settle_counters(self.insns);
        }
    }

    /// When, in ticks, a counter may overflow whose overflow must be seen at once. It does not before, as long as the level
    /// does not change and no event is counted where it happens.
    #[must_use]
    pub fn pmu_deadline(&self) -> Option<u64> {
        if self.pmu.watched == 0 {
            return None;
        }
        let here = |n: &usize| self.counted_levels(*n) >> self.pstate.el as u8 & 1 != 0;
        let left = |n: usize| self.until_overflow(n).saturating_sub(self.unseen(n, self.insns));
        let by_instructions =
            |n: &usize| self.event_of(*n).map(origin).is_some_and(|o| matches!(o, Origin::Time | Origin::Classified));
        let nearest = bits(self.pmu.watched).filter(here).filter(by_instructions).map(left).min()?;
        Some(self.ticks().saturating_add(nearest))
    }

    /// The number of events until counter `n` overflows.
    fn until_overflow(&self, n: usize) -> u64 {
        let value = self.reg(Self::counter_register(n));
        if self.is_long(n) {
            // Short of one, for the value 0.
            return (!value).saturating_add(1);
        }
        (1 << 32) - (value & 0xffff_ffff)
    }

    /// `event` happened at the current level.
    #[inline]
    pub(crate) fn pmu_event(&mut self, event: PmuEvent) {
        self.pmu.happened.0[event as usize][self.pstate.el as usize] += 1;
        if self.pmu.watches_happenings {
            self.leave_block = true;
            self.ask_for_attention();
        }
    }

    /// A walk was made for an access of `kind`.
    pub(crate) fn pmu_walk(&mut self, kind: AccessKind) {
        let events = match kind {
            AccessKind::Fetch => [PmuEvent::L1iTlbRefill, PmuEvent::ItlbWalk],
            _ => [PmuEvent::L1dTlbRefill, PmuEvent::DtlbWalk],
        };
        for event in events {
            self.pmu_event(event);
        }
    }

    /// The level has changed: other counters count, so another deadline is next.
    #[inline]
    pub(crate) fn pmu_level_changed(&mut self) {
        if self.pmu.watched != 0 {
            self.ask_for_attention();
        }
    }

    /// Goes back to the machine before the next instruction.
    fn ask_for_attention(&mut self) {
        self.unmasked |= CpuLines::ATTENTION;
    }

    /// Must each instruction be classified?
    #[inline]
    pub(crate) fn pmu_classifies(&self) -> bool {
        self.pmu.classifies
    }

    /// Instruction `word` has retired at `el`.
    pub(crate) fn pmu_retired(&mut self, el: El, word: u32) {
        let class = self.pmu.classes.of(word);
        for event in class.events() {
            self.pmu.happened.0[event as usize][el as usize] += 1;
        }
        if class.is_taken(word, self.nzcv, &self.x) {
            self.pmu.happened.0[PmuEvent::PcWriteRetired as usize][el as usize] += 1;
        }
    }
}
