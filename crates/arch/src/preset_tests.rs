use super::*;
use crate::sysreg::{Kind, REGS};

/// Bits in which a model with all that the hardware has may differ from the published value, and why.
const EXCUSED: [(Reg, u64); 5] = [
    // The TRMs leave GIC to the integration.
    (ID_AA64PFR0_EL1, 0x0f00_0000),
    // TraceVer: no trace unit. PMUVer 0xf (Apple): no PMU of Arm's.
    (ID_AA64DFR0_EL1, 0x0ff0),
    // SNSMem is given with EL3 only.
    (ID_AA64MMFR0_EL1, 0xf000),
    // Reserved; Apple's reads 1.
    (ID_AA64MMFR2_EL1, 0xf000_0000_0000),
    // The SVE sub-features are not listed.
    (ID_AA64ZFR0_EL1, !0xf),
];

#[test]
fn published_values_come_back_from_the_features() {
    for preset in PRESETS.iter().filter(|p| matches!(p.source, Source::Published(_))) {
        let model = hardware(preset.name).unwrap();
        for (reg, info) in Reg::ALL.into_iter().zip(&REGS) {
            if !info.name.starts_with("ID_AA64") && !matches!(reg, CTR_EL0 | CLIDR_EL1 | AIDR_EL1 | REVIDR_EL1) {
                continue;
            }
            let excused = EXCUSED.iter().find(|(r, _)| *r == reg).map_or(0, |(_, mask)| *mask);
            let (ours, mut published) = (model.id_value(reg), preset.value(reg));
            if reg == ID_AA64PFR0_EL1 {
                // AArch64 and AArch32 (2) at some EL: AArch64 alone (1) here.
                published = published & !0xffff | (published & 0x1111) | (published & 0x2222) >> 1;
            }
            assert_eq!(
                ours & !excused,
                published & !excused,
                "{} {}: {ours:#x} {published:#x}",
                preset.name,
                info.name
            );
        }
    }
}

// What a guest reads, field by field: the TRM's value, then what differs here.
#[test]
fn cortex_a57_without_el2_and_el3() {
    let model = preset("cortex-a57").unwrap().without_dependents(FEAT_EL2).without_dependents(FEAT_EL3);
    for (reg, trm, ours) in [
        // EL0 and EL1 AArch64 only, EL2 and EL3 absent, a GICv3 CPU interface.
        (ID_AA64PFR0_EL1, 0x0000_2222_u64, 0x0100_0011_u64),
        (ID_AA64PFR1_EL1, 0, 0),
        (ID_AA64DFR0_EL1, 0x1030_5106, 0x1030_5106),
        (ID_AA64ISAR0_EL1, 0x0001_1120, 0x0001_1120),
        (ID_AA64ISAR1_EL1, 0, 0),
        // SNSMem goes with EL3.
        (ID_AA64MMFR0_EL1, 0x0000_1124, 0x0000_0124),
        (ID_AA64MMFR1_EL1, 0, 0),
        (ID_AA64MMFR2_EL1, 0, 0),
        (CTR_EL0, 0x8444_c004, 0x8444_c004),
        (CLIDR_EL1, 0x0a20_0023, 0x0a20_0023),
        (DCZID_EL0, 4, 4),
        (MIDR_EL1, 0x411f_d070, 0x411f_d070),
        // AArch32's are UNKNOWN.
        (ID_ISAR0_EL1, 0x0210_1110, 0),
        (MVFR0_EL1, 0x1011_0222, 0),
    ] {
        assert_eq!(model.id_value(reg), ours, "{} (TRM {trm:#x})", reg.name());
    }
    assert_eq!((model.ccsidr(0), model.ccsidr(1), model.ccsidr(2)), (0x701f_e00a, 0x201f_e012, 0x70ff_e07a));
    assert_eq!(model.pmcr_id(), 0x4101_3000);
}

#[test]
fn neoverse_n1_without_el2_and_el3() {
    let model = preset("neoverse-n1").unwrap().without_dependents(FEAT_EL2).without_dependents(FEAT_EL3);
    for (reg, trm, ours) in [
        (ID_AA64PFR0_EL1, 0x1100_0000_1011_1112, 0x1100_0000_1111_0011),
        (ID_AA64PFR1_EL1, 0x20, 0x20),
        // FEAT_SPE is not modelled yet.
        (ID_AA64DFR0_EL1, 0x1_1030_5408, 0x1030_5408),
        (ID_AA64ISAR0_EL1, 0x1000_1021_1120, 0x1000_1021_1120),
        (ID_AA64ISAR1_EL1, 0x10_0001, 0x10_0001),
        (ID_AA64MMFR0_EL1, 0x10_1125, 0x10_0125),
        // VMIDBits, VH and XNX go with EL2.
        (ID_AA64MMFR1_EL1, 0x1021_2122, 0x0021_2002),
        (ID_AA64MMFR2_EL1, 0x1011, 0x1011),
        (CTR_EL0, 0x8444_c004, 0x8444_c004),
        (CLIDR_EL1, 0x8200_0023, 0x8200_0023),
        (MIDR_EL1, 0x413f_d0c1, 0x413f_d0c1),
    ] {
        let ours = if reg == ID_AA64DFR0_EL1 && model.has(FEAT_SPE) { trm } else { ours };
        assert_eq!(model.id_value(reg), ours, "{} (TRM {trm:#x})", reg.name());
    }
    assert_eq!(model.pmcr_id(), 0x410c_3000);
}

#[test]
fn every_preset_is_consistent_as_hardware_and_as_modelled() {
    for name in names() {
        let hardware = hardware(name).unwrap();
        assert_eq!(hardware.check(), Ok(()), "{name}");
        let model = preset(name).unwrap();
        assert_eq!(model.check(), Ok(()), "{name}");
        assert_eq!(model.features.minus(modelled()), FeatureSet::EMPTY, "{name}");
        assert_eq!(model.name, name);
    }
    assert!(preset("cortex-a99").is_none());
}

#[test]
fn features_and_id_values_agree_for_every_single_feature() {
    let max = hardware("max").unwrap();
    for feature in Feature::ALL {
        let mut set = FeatureSet::EMPTY.with_needs(feature);
        if set.has(FEAT_FP) {
            set = set.with(FEAT_AdvSIMD);
        }
        if set.has(FEAT_PAuth) && crate::model::PAUTH_ALGORITHMS.iter().all(|&f| !set.has(f)) {
            set = set.with(FEAT_PACIMP);
        }
        let wide = set.has(FEAT_LPA) || set.has(FEAT_LPA2);
        let model = CpuModel { features: set, pa_bits: if wide { 52 } else { 48 }, ..max.clone() };
        assert_eq!(model.check(), Ok(()), "{feature}");
        let mut back = features_of(&|reg| model.id_value(reg));
        // A 52-bit PARange shows as FEAT_LPA; the debug version shows VHE; VHE without E2H0 needs its field.
        if set.has(FEAT_LPA2) && !set.has(FEAT_LPA) {
            back = back.without(FEAT_LPA);
        }
        for implied in [FEAT_VHE, FEAT_E2H0, FEAT_Debugv8p2] {
            if !set.has(implied) {
                back = back.without(implied);
            }
        }
        assert_eq!(back, set, "{feature}");
    }
}

#[test]
fn values_of_the_rest() {
    let model = preset("max").unwrap();
    for (reg, info) in Reg::ALL.into_iter().zip(&REGS) {
        if info.kind != Kind::Id && reg != MIDR_EL1 {
            assert_eq!(model.id_value(reg), 0, "{}", info.name);
        }
    }
    assert_eq!(model.ccsidr(0xf), 0);
}
