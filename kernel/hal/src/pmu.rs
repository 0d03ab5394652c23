//! FEAT_PMUv3, as far as a sampler needs it: one counter of what EL0 does, whose overflow is an interrupt.

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Counter {
    /// Processor cycles, by PMCCNTR_EL0.
    Cycles = 0,
    /// Instructions that are architecturally executed (INST_RETIRED), by PMEVCNTR0_EL0.
    Instructions = 1,
}

/// The longest period: half of what PMEVCNTR0_EL0 holds, so that an overflow that is seen late is seen as one.
pub const LONGEST: u32 = 1 << 31;

#[cfg(target_os = "none")]
mod target {
    use super::Counter;
    use crate::cpu::{isb, read_register, write_register};

    const ENABLE: u64 = 1;
    /// PMCR_EL0.LC: PMCCNTR_EL0 overflows at 64 bits.
    const LONG_CYCLES: u64 = 1 << 6;
    const CYCLES_BIT: u64 = 1 << 31;
    /// PMEVTYPERn_EL0.P: not at EL1. (EL2 needs NSH, which is 0.)
    const NOT_EL1: u64 = 1 << 31;
    const INST_RETIRED: u64 = 0x08;

    /// Has this CPU PMUv3, with a counter of events?
    pub fn is_here() -> bool {
        let version = read_register!("id_aa64dfr0_el1") >> 8 & 0xf;
        version != 0 && version != 15 && read_register!("pmcr_el0") >> 11 & 0x1f != 0
    }

    fn bit(counter: Counter) -> u64 {
        match counter {
            Counter::Cycles => CYCLES_BIT,
            Counter::Instructions => 1,
        }
    }

    fn load(counter: Counter, period: u32) {
        let value = u64::from(period).wrapping_neg();
        // SAFETY: counters of the PMU, which is there (the callers' part); nothing but their interrupt follows.
        unsafe {
            match counter {
                Counter::Cycles => write_register!("pmccntr_el0", value),
                Counter::Instructions => write_register!("pmevcntr0_el0", value & 0xffff_ffff),
            }
        }
    }

    /// Counts on this CPU, which must have the PMU; an overflow comes after each `period`.
    pub fn start(counter: Counter, period: u32) {
        stop();
        load(counter, period);
        // SAFETY: as above.
        unsafe {
            write_register!("pmuserenr_el0", 0u64);
            match counter {
                Counter::Cycles => write_register!("pmccfiltr_el0", NOT_EL1),
                Counter::Instructions => write_register!("pmevtyper0_el0", NOT_EL1 | INST_RETIRED),
            }
            write_register!("pmintenset_el1", bit(counter));
            write_register!("pmcntenset_el0", bit(counter));
            write_register!("pmcr_el0", ENABLE | LONG_CYCLES);
        }
        isb();
    }

    /// Nothing is counted on this CPU, and nothing interrupts.
    pub fn stop() {
        // SAFETY: as above.
        unsafe {
            write_register!("pmcr_el0", 0u64);
            write_register!("pmcntenclr_el0", u64::from(u32::MAX));
            write_register!("pmintenclr_el1", u64::from(u32::MAX));
            write_register!("pmovsclr_el0", u64::from(u32::MAX));
        }
        isb();
    }

    /// Has the counter overflowed since the last time? Then it begins anew, and the interrupt goes.
    pub fn take_overflow(counter: Counter, period: u32) -> bool {
        if read_register!("pmovsclr_el0") & bit(counter) == 0 {
            return false;
        }
        load(counter, period);
        // SAFETY: as above.
        unsafe { write_register!("pmovsclr_el0", bit(counter)) };
        isb();
        true
    }
}
#[cfg(target_os = "none")]
pub use target::*;

#[cfg(not(target_os = "none"))]
pub use crate::fakes::pmu::*;
