//! Which registers a model has, and which of their bits software can write.

use super::CpuModel;
use crate::{
    feature::Feature::*,
    sysreg::{Reg, Reg::*, writable},
};

/// `reg`'s place in the row of registers that begins with `first`, if it is in it.
fn index(reg: Reg, first: Reg, last: Reg) -> Option<u8> {
    (first..=last).contains(&reg).then(|| (reg as u16 - first as u16) as u8)
}

impl CpuModel {
    /// Whether the model has `reg`. Where not, MRS and MSR are UNDEFINED at every EL.
    #[must_use]
    pub fn has_register(&self, reg: Reg) -> bool {
        if matches!(reg, SCXTNUM_EL0 | SCXTNUM_EL1 | SCXTNUM_EL2) {
            return self.has(FEAT_CSV2_2) || self.has(FEAT_CSV2_1p2);
        }
        if reg.info().feature.is_some_and(|feature| !self.has(feature)) {
            return false;
        }
        let rows = [
            (DBGBVR0_EL1, DBGBVR15_EL1, self.breakpoints),
            (DBGBCR0_EL1, DBGBCR15_EL1, self.breakpoints),
            (DBGWVR0_EL1, DBGWVR15_EL1, self.watchpoints),
            (DBGWCR0_EL1, DBGWCR15_EL1, self.watchpoints),
            (PMEVCNTR0_EL0, PMEVCNTR30_EL0, self.pmu_counters),
            (PMEVTYPER0_EL0, PMEVTYPER30_EL0, self.pmu_counters),
            // Names of the virtual registers too; the physical interface has one for each group.
            (ICC_AP0R0_EL1, ICC_AP0R3_EL1, self.gic.active_priority_registers()),
            (ICC_AP1R0_EL1, ICC_AP1R3_EL1, self.gic.active_priority_registers()),
            (ICH_AP0R0_EL2, ICH_AP0R3_EL2, self.gic.active_priority_registers()),
            (ICH_AP1R0_EL2, ICH_AP1R3_EL2, self.gic.active_priority_registers()),
            (ICH_LR0_EL2, ICH_LR15_EL2, self.gic.list_registers),
            // No auxiliary activity counters (AMCGCR_EL0.CG1NC is 0).
            (AMEVCNTR10_EL0, AMEVCNTR115_EL0, 0),
            (AMEVTYPER10_EL0, AMEVTYPER115_EL0, 0),
            (AMCNTENCLR1_EL0, AMCNTENSET1_EL0, 0),
        ];
        for (first, last, count) in rows {
            if let Some(n) = index(reg, first, last) {
                return n < count;
            }
        }
        match reg {
            // At the highest EL only.
            RVBAR_EL1 => !self.has(FEAT_EL2) && !self.has(FEAT_EL3),
            RVBAR_EL2 => !self.has(FEAT_EL3),
            // Needed only to choose between AArch32 and AArch64.
            RMR_EL1 | RMR_EL2 => false,
            _ => reg.el12_target().is_none_or(|target| self.has_register(target)),
        }
    }

    /// The value of `reg` after reset, RES1 bits of this model included.
    #[must_use]
    pub fn reset(&self, reg: Reg) -> u64 {
        let more = if reg == HCR_EL2 && self.has_e2h_only() { crate::field::hcr_el2::E2H.mask() } else { 0 };
        reg.info().reset | more
    }

    /// Without FEAT_E2H0, HCR_EL2.E2H is RES1 (ID_AA64MMFR4_EL1.E2H0).
    const fn has_e2h_only(&self) -> bool {
        self.has(FEAT_VHE) && !self.has(FEAT_E2H0)
    }

    /// The bits of `reg` that software can write.
    #[must_use]
    pub fn writable(&self, reg: Reg) -> u64 {
        if let Some(bits) = crate::trap::fine_bits(reg, &|covered| self.has_register(covered)) {
            return bits;
        }
        let mask = writable(reg, &self.features);
        match reg {
            PMCNTENSET_EL0 | PMCNTENCLR_EL0 | PMOVSSET_EL0 | PMOVSCLR_EL0 | PMINTENSET_EL1 | PMINTENCLR_EL1 => {
                mask & self.counter_mask()
            }
            // DP is there for EL2's sake, or with FEAT_PMUv3p7.
            PMCR_EL0 if self.has(FEAT_PMUv3p1) && self.has(FEAT_EL2) => mask | crate::field::pmcr_el0::DP.mask(),
            PMSWINC_EL0 => mask & self.counter_mask() & 0x7fff_ffff,
            ICH_HCR_EL2 => mask & self.gic.hcr_mask(),
            HCR_EL2 if self.has_e2h_only() => mask & !crate::field::hcr_el2::E2H.mask(),
            TCR_EL1 if self.asid_bits == 8 => mask & !crate::field::tcr_el1::AS.mask(),
            _ => mask,
        }
    }

    /// One bit a PMU counter, and bit 31 for the cycle counter.
    #[must_use]
    pub const fn counter_mask(&self) -> u64 {
        1 << 31 | ((1 << self.pmu_counters) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{feature::FeatureSet, preset};

    #[test]
    fn presence() {
        let n1 = preset::hardware("neoverse-n1").unwrap();
        assert!(n1.has_register(DBGBVR5_EL1) && !n1.has_register(DBGBVR6_EL1));
        assert!(n1.has_register(PMEVCNTR5_EL0) && !n1.has_register(PMEVCNTR6_EL0));
        assert!(n1.has_register(ICC_AP1R0_EL1) && !n1.has_register(ICC_AP1R1_EL1));
        assert!(n1.has_register(ICH_LR3_EL2) && !n1.has_register(ICH_LR4_EL2));
        assert!(n1.has_register(PMSCR_EL12) && !n1.has_register(TCR2_EL12) && !n1.has_register(APIAKeyLo_EL1));
        assert!(!n1.has_register(RVBAR_EL1) && !n1.has_register(SCXTNUM_EL1));
        let a57 = preset::hardware("cortex-a57").unwrap().limited_to(&FeatureSet::all().without(FEAT_EL2));
        assert!(!a57.has_register(HCR_EL2) && !a57.has_register(PAN) && a57.has_register(SCTLR_EL1));
        assert_eq!(n1.writable(PMCNTENSET_EL0), 0x8000_003f);
        let only = n1.limited_to(&FeatureSet::all().without(FEAT_E2H0));
        assert_eq!((n1.reset(HCR_EL2) >> 34 & 1, n1.writable(HCR_EL2) >> 34 & 1), (0, 1));
        assert_eq!((only.reset(HCR_EL2) >> 34 & 1, only.writable(HCR_EL2) >> 34 & 1), (1, 0));
        assert_eq!(n1.writable(SCTLR_EL1) & 1 << 23, 1 << 23);
    }
}
