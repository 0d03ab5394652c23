//! The PMU's registers: who may use them, and what they do.

use arch::El;
use arch::feature::Feature;
use arch::field::{mdcr_el2 as mdcr, pmcr_el0 as pmcr, pmselr_el0, pmuserenr_el0 as pmuserenr};
use arch::pmu::PmuEvent;
use arch::sysreg::Reg;
use sem::Insn;

use super::{CYCLES, CYCLES_BIT, bits, numbered};
use crate::el2::Way;
use crate::pe::Pe;
use crate::stop::{Exit, Stop};

/// What a register is of a counter, or of all.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    Control,
    /// One bit a counter, kept in this register.
    Set(Reg),
    /// The same, writing clears.
    Clear(Reg),
    Increment,
    /// Of a counter: 31 for the cycle counter.
    Count(usize),
    Type(usize),
    /// PMXEVCNTR_EL0 and PMXEVTYPER_EL0, of the counter that PMSELR_EL0 names.
    SelectedCount,
    SelectedType,
    /// It only stores.
    Plain,
}

fn view(reg: Reg) -> View {
    let within = |first: Reg, last: Reg| (first..=last).contains(&reg).then(|| reg as usize - first as usize);
    if let Some(n) = within(Reg::PMEVCNTR0_EL0, Reg::PMEVCNTR30_EL0) {
        return View::Count(n);
    }
    if let Some(n) = within(Reg::PMEVTYPER0_EL0, Reg::PMEVTYPER30_EL0) {
        return View::Type(n);
    }
    match reg {
        Reg::PMCR_EL0 => View::Control,
        Reg::PMCNTENSET_EL0 => View::Set(Reg::PMCNTENSET_EL0),
        Reg::PMCNTENCLR_EL0 => View::Clear(Reg::PMCNTENSET_EL0),
        Reg::PMOVSSET_EL0 => View::Set(Reg::PMOVSSET_EL0),
        Reg::PMOVSCLR_EL0 => View::Clear(Reg::PMOVSSET_EL0),
        Reg::PMINTENSET_EL1 => View::Set(Reg::PMINTENSET_EL1),
        Reg::PMINTENCLR_EL1 => View::Clear(Reg::PMINTENSET_EL1),
        Reg::PMSWINC_EL0 => View::Increment,
        Reg::PMCCNTR_EL0 => View::Count(CYCLES),
        Reg::PMCCFILTR_EL0 => View::Type(CYCLES),
        Reg::PMXEVCNTR_EL0 => View::SelectedCount,
        Reg::PMXEVTYPER_EL0 => View::SelectedType,
        _ => View::Plain,
    }
}

/// Is it a register of the PMU?
pub(crate) fn is_pmu(reg: Reg) -> bool {
    let enc = reg.info().enc;
    match (enc.op0(), enc.op1(), enc.crn()) {
        (3, 3, 9) => true,
        (3, 0, 9) => enc.crm() == 14,
        (3, 3, 14) => enc.crm() >= 8,
        _ => false,
    }
}

/// What a write to MDCR_EL2 did to the PMU.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PmuControls {
    Same,
    Changed,
}

impl Pe {
    /// May EL0 access this register of the PMU? PMUSERENR_EL0.
    pub(crate) fn pmu_open_to_el0(&self, reg: Reg, way: Way) -> bool {
        let enabled = |field: arch::field::Field| field.is_set(self.reg(Reg::PMUSERENR_EL0));
        let read = way == Way::Read;
        enabled(pmuserenr::EN)
            || match reg {
                Reg::PMUSERENR_EL0 => true,
                Reg::PMSWINC_EL0 => enabled(pmuserenr::SW) && !read,
                Reg::PMCCNTR_EL0 => enabled(pmuserenr::CR) && read,
                Reg::PMSELR_EL0 => enabled(pmuserenr::ER),
                _ => {
                    let count = matches!(view(reg), View::SelectedCount) || view(reg).is_event_count();
                    enabled(pmuserenr::ER) && read && count
                }
            }
    }

    /// Instructions retired before `insn`.
    fn retired_before(&self, insn: Insn) -> u64 {
        self.insns + u64::from(insn.offset() / 4)
    }

    /// The bits of counters that the current level may see.
    fn visible_counters(&self) -> u64 {
        let events = if self.pstate.el < El::El2 { self.first_range_mask() } else { self.event_counter_mask() };
        (events | CYCLES_BIT).into()
    }

    /// The counter that PMSELR_EL0 names, where the level may use it.
    fn selected(&self) -> Option<usize> {
        let n = pmselr_el0::SEL.get(self.reg(Reg::PMSELR_EL0)) as usize;
        (self.visible_counters() >> n & 1 != 0).then_some(n)
    }

    /// An event counter of the second range is out of reach of EL1 and EL0: with FEAT_FGT the access traps to EL2, without
    /// it is CONSTRAINED UNPREDICTABLE and here UNDEFINED.
    fn check_range(&mut self, insn: Insn, view: View) -> Result<(), Stop> {
        let (View::Count(n) | View::Type(n)) = view else { return Ok(()) };
        if self.visible_counters() >> n & 1 != 0 {
            return Ok(());
        }
        if self.model.has(Feature::FEAT_FGT) { Err(self.sysreg_trap_to_el2(insn)) } else { self.undefined_here() }
    }

    pub(crate) fn read_pmu(&mut self, insn: Insn, reg: Reg) -> Result<u64, Stop> {
        self.check_range(insn, view(reg))?;
        let retired = self.retired_before(insn);
        self.settle_counters(retired);
        Ok(self.inspect_pmu(retired, reg))
    }

    /// The value of a register where `retired` instructions have retired; counters need not be up to date.
    pub(crate) fn inspect_pmu(&self, retired: u64, reg: Reg) -> u64 {
        match view(reg) {
            View::Control => {
                let id = self.model.pmcr_id();
                let lower = self.pstate.el < El::El2 && self.has_el2();
                let id = if lower { pmcr::N.set(id, self.first_range() as u64) } else { id };
                self.reg(reg) | id
            }
            View::Set(of) | View::Clear(of) => self.reg(of) & self.visible_counters(),
            View::Increment => 0,
            View::Count(n) => self.count_of_counter(n, retired),
            View::Type(_) | View::Plain => self.reg(reg),
            // Those that PMSELR_EL0 must not name are RAZ/WI, and so is the cycle counter here (CONSTRAINED UNPREDICTABLE).
            View::SelectedCount => {
                self.selected().filter(|n| *n != CYCLES).map_or(0, |n| self.count_of_counter(n, retired))
            }
            View::SelectedType => self.selected().map_or(0, |n| self.reg(type_register(n))),
        }
    }

    pub(crate) fn write_pmu(&mut self, insn: Insn, reg: Reg, value: u64) -> Result<(), Stop> {
        self.check_range(insn, view(reg))?;
        // The write retires under the old rules.
        self.set_pmu(self.retired_before(insn) + 1, reg, value);
        // A deadline may have come closer.
        Err(self.leave(Exit::Reschedule))
    }

    /// Writes a register where `retired` instructions have retired.
    pub(crate) fn set_pmu(&mut self, retired: u64, reg: Reg, value: u64) {
        self.settle_counters(retired);
        let visible = value & self.visible_counters() & self.facts[reg as usize].writable;
        match view(reg) {
            View::Control => self.write_control(value),
            View::Set(of) => self.sys[of as usize] |= visible,
            View::Clear(of) => self.sys[of as usize] &= !visible,
            View::Increment => self.software_increment(visible as u32),
            View::Count(n) => self.write_count(n, value),
            View::Type(_) | View::Plain => {
                self.store_masked(reg, value);
            }
            View::SelectedCount => {
                if let Some(n) = self.selected().filter(|n| *n != CYCLES) {
                    self.write_count(n, value);
                }
            }
            View::SelectedType => {
                if let Some(n) = self.selected() {
                    self.store_masked(type_register(n), value);
                }
            }
        }
        self.pmu_changed(retired);
    }

    /// MDCR_EL2 is written: its controls of the PMU act from the next instruction on.
    pub(crate) fn write_debug_control(&mut self, insn: Insn, value: u64) -> Result<(), Stop> {
        match self.set_debug_control(self.retired_before(insn) + 1, value) {
            PmuControls::Changed => Err(self.leave(Exit::Reschedule)),
            PmuControls::Same => Ok(()),
        }
    }

    /// Writes MDCR_EL2 where `retired` instructions have retired.
    pub(crate) fn set_debug_control(&mut self, retired: u64, value: u64) -> PmuControls {
        self.settle_counters(retired);
        let changed = self.store_masked(Reg::MDCR_EL2, value);
        self.context_changed();
        let controls = [mdcr::HPMN, mdcr::HPME, mdcr::HPMD, mdcr::HCCD, mdcr::HLP, mdcr::HPMFZO];
        if controls.iter().all(|field| field.get(changed) == 0) {
            return PmuControls::Same;
        }
        self.pmu_changed(retired);
        PmuControls::Changed
    }

    fn write_control(&mut self, value: u64) {
        self.store_masked(Reg::PMCR_EL0, value);
        if pmcr::C.is_set(value) {
            self.write_count(CYCLES, 0);
        }
        if pmcr::P.is_set(value) {
            for n in bits(self.visible_counters() as u32 & !CYCLES_BIT) {
                self.write_count(n, 0);
            }
        }
    }

    fn write_count(&mut self, n: usize, value: u64) {
        self.store_masked(Self::counter_register(n), value);
    }

    /// PMSWINC_EL0: the counters in `set` that count SW_INCR at this level.
    fn software_increment(&mut self, set: u32) {
        for n in bits(set & self.pmu.active) {
            let here = self.counted_levels(n) >> self.pstate.el as u8 & 1 != 0;
            if here && self.event_of(n) == Some(PmuEvent::SwIncr) {
                self.add_to_counter(n, 1);
            }
        }
    }
}

fn type_register(n: usize) -> Reg {
    if n == CYCLES { Reg::PMCCFILTR_EL0 } else { numbered(Reg::PMEVTYPER0_EL0, n) }
}

impl View {
    fn is_event_count(self) -> bool {
        matches!(self, Self::Count(n) if n != CYCLES)
    }
}
