//! Bits of registers that become writable with a feature. Without it they keep their reset value (RES0 or RES1).

use super::Reg::{self, *};
use crate::feature::{Feature, Feature::*, FeatureSet};

/// The bits of each register from `first` to `last` that are writable with a feature.
struct Rule {
    first: Reg,
    last: Reg,
    bits: &'static [(Feature, u64)],
}

macro_rules! rules {
    ($($first:ident $(..= $last:ident)? { $($feature:ident $mask:literal),* $(,)? })*) => {
        static RULES: &[Rule] = &[$(Rule {
            first: $first,
            last: rules!(@ $first $($last)?),
            bits: &[$(($feature, $mask)),*],
        }),*];
    };
    (@ $first:ident) => { $first };
    (@ $first:ident $last:ident) => { $last };
}

rules! {
    CSSELR_EL1 { FEAT_MTE2 0x10 }
    SCTLR_EL1 {
        FEAT_LSE2 0x40, FEAT_SPECRES 0x400, FEAT_ExS 0x40_0800, FEAT_PAuth 0xc800_2000, FEAT_CSV2_2 0x10_0000,
        FEAT_CSV2_1p2 0x10_0000, FEAT_IESB 0x20_0000, FEAT_PAN 0x80_0000, FEAT_LSMAOC 0x3000_0000,
        FEAT_CMOW 0x1_0000_0000, FEAT_MOPS 0x2_0000_0000, FEAT_BTI 0x18_0000_0000, FEAT_MTE_ASYNC 0x20_0000_0000,
        FEAT_MTE2 0xfc0_0000_0000, FEAT_SSBS 0x1000_0000_0000, FEAT_TWED 0x3_e000_0000_0000,
        FEAT_LS64_V 0x40_0000_0000_0000, FEAT_LS64_ACCDATA 0x80_0000_0000_0000, FEAT_LS64 0x100_0000_0000_0000,
        FEAT_PAN3 0x200_0000_0000_0000, FEAT_SME 0x1000_0000_0000_0000, FEAT_NMI 0x6000_0000_0000_0000,
        FEAT_TIDCP1 0x8000_0000_0000_0000,
    }
    SCTLR_EL2 {
        FEAT_VHE 0x0585_c010, FEAT_LSE2 0x40, FEAT_SPECRES 0x400, FEAT_ExS 0x40_0800, FEAT_PAuth 0xc800_2000,
        FEAT_CSV2_2 0x10_0000, FEAT_CSV2_1p2 0x10_0000, FEAT_IESB 0x20_0000, FEAT_LSMAOC 0x3000_0000,
        FEAT_CMOW 0x1_0000_0000, FEAT_MOPS 0x2_0000_0000, FEAT_BTI 0x18_0000_0000, FEAT_MTE_ASYNC 0x20_0000_0000,
        FEAT_MTE2 0xfc0_0000_0000, FEAT_SSBS 0x1000_0000_0000, FEAT_TWED 0x3_e000_0000_0000,
        FEAT_PAN3 0x200_0000_0000_0000, FEAT_SME 0x1000_0000_0000_0000, FEAT_NMI 0x6000_0000_0000_0000,
        FEAT_TIDCP1 0x8000_0000_0000_0000,
    }
    CPACR_EL1 { FEAT_SVE 0x3_0000, FEAT_SME 0x300_0000, FEAT_S1POE 0x2000_0000 }
    TTBR0_EL1 ..= TTBR1_EL1 { FEAT_TTCNP 1 }
    TTBR0_EL2 ..= TTBR1_EL2 { FEAT_TTCNP 1 }
    VTTBR_EL2 { FEAT_TTCNP 1 }
    TCR_EL1 {
        FEAT_HAFDBS 0x80_0000_0000, FEAT_HAFDBS_DBM 0x100_0000_0000, FEAT_HPDS 0x600_0000_0000,
        FEAT_HPDS2 0x7_f800_0000_0000, FEAT_PAuth 0x18_0000_0000_0000, FEAT_SVE 0x60_0000_0000_0000,
        FEAT_E0PD 0x180_0000_0000_0000, FEAT_MTE2 0x600_0000_0000_0000, FEAT_LPA2 0x800_0000_0000_0000,
    }
    // With VHE, the layout of TCR_EL1 as well.
    TCR_EL2 {
        FEAT_VHE 0x0077_ffff_ffbf, FEAT_HAFDBS 0x80_0020_0000, FEAT_HAFDBS_DBM 0x100_0040_0000,
        FEAT_HPDS 0x600_0100_0000, FEAT_HPDS2 0x7_f800_1e00_0000, FEAT_PAuth 0x18_0000_2000_0000,
        FEAT_SVE 0x60_0000_0000_0000, FEAT_E0PD 0x180_0000_0000_0000, FEAT_MTE2 0x600_0000_4000_0000,
        FEAT_LPA2 0x800_0001_0000_0000,
    }
    VTCR_EL2 {
        FEAT_VMID16 0x8_0000, FEAT_HAFDBS 0x20_0000, FEAT_HAFDBS_DBM 0x40_0000, FEAT_HPDS2 0x1e00_0000,
        FEAT_SEL2 0x6000_0000, FEAT_LPA2 0x3_0000_0000,
    }
    SPSR_EL1 {
        FEAT_BTI 0xc00, FEAT_SSBS 0x1000, FEAT_NMI 0x2000, FEAT_PAN 0x40_0000, FEAT_UAO 0x80_0000,
        FEAT_DIT 0x100_0000, FEAT_MTE 0x200_0000, FEAT_GCS 0x4_0000_0000,
    }
    SPSR_EL2 {
        FEAT_BTI 0xc00, FEAT_SSBS 0x1000, FEAT_NMI 0x2000, FEAT_PAN 0x40_0000, FEAT_UAO 0x80_0000,
        FEAT_DIT 0x100_0000, FEAT_MTE 0x200_0000, FEAT_GCS 0x4_0000_0000,
    }
    ESR_EL1 { FEAT_LS64 0x1f_0000_0000, FEAT_MTE2 0x600_0000_0000, FEAT_S1POE 0x40_0000_0000 }
    ESR_EL2 { FEAT_LS64 0x1f_0000_0000, FEAT_MTE2 0x600_0000_0000, FEAT_S1POE 0x40_0000_0000 }
    FPCR { FEAT_AFP 0x7, FEAT_EBF16 0x2000, FEAT_FP16 0x8_0000 }
    MDSCR_EL1 { FEAT_TRF 0x8000_0000 }
    CNTKCTL_EL1 { FEAT_ECV 0x2_0000 }
    CNTHCTL_EL2 { FEAT_VHE 0xf00, FEAT_ECV_POFF 0x1000, FEAT_ECV 0x3_e000 }
    PMCR_EL0 { FEAT_PMUv3p5 0x80, FEAT_PMUv3p7 0x220 }
    PMEVCNTR0_EL0 ..= PMEVCNTR30_EL0 { FEAT_PMUv3p5 0xffff_ffff_0000_0000 }
    PMEVTYPER0_EL0 ..= PMEVTYPER30_EL0 { FEAT_PMUv3p1 0xfc00, FEAT_EL2 0x800_0000, FEAT_EL3 0x3400_0000 }
    PMCCFILTR_EL0 { FEAT_EL2 0x800_0000, FEAT_EL3 0x3400_0000 }
    PMSFCR_EL1 { FEAT_SPEv1p2 0x8 }
    PMBLIMITR_EL1 { FEAT_SPEv1p2 0x20 }
    TCR2_EL1 { FEAT_S1PIE 0x2, FEAT_S1POE 0xc, FEAT_AIE 0x10, FEAT_D128 0x20, FEAT_HAFT 0x800 }
    CPTR_EL2 { FEAT_VHE 0x30_0000, FEAT_SVE 0x3_0100, FEAT_SME 0x300_1000, FEAT_AMUv1 0x4000_0000 }
    MDCR_EL2 {
        FEAT_SPE 0x7000, FEAT_PMUv3p1 0x2_0000, FEAT_TRF 0x8_0000, FEAT_PMUv3p5 0x480_0000, FEAT_FGT 0x800_0000,
        FEAT_PMUv3p7 0x2000_0000,
    }
    HCR_EL2 {
        FEAT_VHE 0x4_0000_0000, FEAT_LOR 0x8_0000_0000, FEAT_RAS 0x30_0000_0000, FEAT_PAuth 0x300_0000_0000,
        FEAT_NV 0x1c00_0000_0000, FEAT_NV2 0x2000_0000_0000, FEAT_S2FWB 0x4000_0000_0000,
        FEAT_RASv1p1 0x8000_0000_0000, FEAT_RME 0x1_0000_0000_0000, FEAT_EVT 0x16_0000_0000_0000,
        FEAT_AMUv1p1 0x8_0000_0000_0000, FEAT_CSV2_2 0x20_0000_0000_0000, FEAT_CSV2_1p2 0x20_0000_0000_0000,
        FEAT_EVT_TTLBxS 0xc0_0000_0000_0000, FEAT_MTE2 0x700_0000_0000_0000, FEAT_TWED 0xf800_0000_0000_0000,
    }
    HCRX_EL2 {
        FEAT_LS64_ACCDATA 0x1, FEAT_LS64 0x2, FEAT_LS64_V 0x4, FEAT_XS 0x18, FEAT_SME 0x20, FEAT_NMI 0x1c0,
        FEAT_CMOW 0x200, FEAT_MOPS 0xc00, FEAT_TCR2 0x4000, FEAT_SCTLR2 0x8000, FEAT_GCS 0x40_0000,
    }
}

/// The bits of `reg` that software can write on a PE with `features`.
#[must_use]
pub fn writable(reg: Reg, features: &FeatureSet) -> u64 {
    RULES
        .iter()
        .filter(|rule| (rule.first..=rule.last).contains(&reg))
        .flat_map(|rule| rule.bits)
        .filter(|(feature, _)| features.has(*feature))
        .fold(reg.info().mask, |mask, (_, bits)| mask | bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field;

    #[test]
    fn rules_only_add() {
        for rule in RULES {
            assert!(rule.first <= rule.last);
            for reg in Reg::ALL.into_iter().filter(|r| (rule.first..=rule.last).contains(r)) {
                for &(feature, bits) in rule.bits {
                    assert_ne!(bits, 0);
                    // With VHE TCR_EL2 and CPTR_EL2 have a second layout that covers some of the first.
                    if feature != FEAT_VHE {
                        assert_eq!(reg.info().mask & bits, 0, "{}: {feature}", reg.name());
                    }
                }
            }
        }
    }

    /// The bits that `feature` opens in `reg`.
    fn opened(reg: Reg, feature: Feature) -> u64 {
        writable(reg, &FeatureSet::of(&[feature])) & !reg.info().mask
    }

    #[test]
    fn a_feature_opens_the_fields_it_names() {
        let bits = |feature| opened(SCTLR_EL1, feature);
        use field::sctlr_el1::*;
        assert_eq!(bits(FEAT_PAuth), EnIA.mask() | EnIB.mask() | EnDA.mask() | EnDB.mask());
        assert_eq!(bits(FEAT_MTE2), TCF0.mask() | TCF.mask() | ATA0.mask() | ATA.mask());
        assert_eq!(bits(FEAT_BTI), BT0.mask() | BT1.mask());
        assert_eq!(bits(FEAT_TWED), TWEDEn.mask() | TWEDEL.mask());
        assert_eq!(bits(FEAT_ExS), EIS.mask() | EOS.mask());
        assert_eq!(bits(FEAT_PAN), SPAN.mask());
        assert_eq!(bits(FEAT_PAN3), EPAN.mask());
        assert_eq!(bits(FEAT_LSMAOC), nTLSMD.mask() | LSMAOE.mask());
        assert_eq!(bits(FEAT_LS64_ACCDATA), EnAS0.mask());
        assert_eq!(bits(FEAT_NMI), NMI.mask() | SPINTMASK.mask());
        let tcr = |feature| opened(TCR_EL1, feature);
        use field::tcr_el1::*;
        assert_eq!(tcr(FEAT_HAFDBS) | tcr(FEAT_HAFDBS_DBM), HA.mask() | HD.mask());
        assert_eq!(tcr(FEAT_HPDS), HPD0.mask() | HPD1.mask());
        assert_eq!(tcr(FEAT_HPDS2), HWU059.mask() * 0xff);
        assert_eq!(tcr(FEAT_PAuth), TBID0.mask() | TBID1.mask());
        assert_eq!(tcr(FEAT_E0PD), E0PD0.mask() | E0PD1.mask());
        assert_eq!(tcr(FEAT_MTE2), TCMA0.mask() | TCMA1.mask());
        assert_eq!(tcr(FEAT_LPA2), DS.mask());
        let hcr = |feature| opened(HCR_EL2, feature);
        use field::hcr_el2 as h;
        assert_eq!(hcr(FEAT_VHE), h::E2H.mask());
        assert_eq!(hcr(FEAT_NV), h::NV.mask() | h::NV1.mask() | h::AT.mask());
        assert_eq!(hcr(FEAT_PAuth), h::APK.mask() | h::API.mask());
        assert_eq!(hcr(FEAT_RAS), h::TERR.mask() | h::TEA.mask());
        assert_eq!(hcr(FEAT_EVT), h::TID4.mask() | h::TICAB.mask() | h::TOCU.mask());
        assert_eq!(hcr(FEAT_EVT_TTLBxS), h::TTLBIS.mask() | h::TTLBOS.mask());
        assert_eq!(hcr(FEAT_MTE2), h::ATA.mask() | h::DCT.mask() | h::TID5.mask());
        assert_eq!(hcr(FEAT_TWED), h::TWEDEn.mask() | h::TWEDEL.mask());
    }

    #[test]
    fn writable_of_v8_0_and_with_pan() {
        let none = FeatureSet::EMPTY;
        assert_eq!(writable(SCTLR_EL1, &none), 0x070d_d21f);
        assert_eq!(writable(SCTLR_EL1, &none.with(FEAT_PAN)), 0x078d_d21f);
        assert_eq!(writable(PMEVTYPER30_EL0, &none.with(FEAT_PMUv3p1)), 0xc000_ffff);
        assert_eq!(writable(TTBR1_EL1, &none.with(FEAT_TTCNP)), u64::MAX);
    }
}
