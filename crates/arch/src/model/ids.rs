//! The values of the identification registers, from the model; and the features that given values show.

use super::{CpuModel, Granules, PAUTH_ALGORITHMS};
use crate::{
    feature::{FEATURES, Feature, Feature::*, FeatureSet, IdField},
    field::{Field, id_aa64dfr0_el1 as dfr0, id_aa64mmfr0_el1 as mmfr0},
    sysreg::{Kind, Reg, Reg::*},
};

/// A 4-bit field.
const fn nibble(lsb: u8) -> Field {
    Field { lsb, width: 4 }
}

/// Where each algorithm shows: the register, the field with the level of address authentication, the one of generic.
const PAUTH_FIELDS: [(Feature, Reg, Field, Field); 3] = [
    (FEAT_PACQARMA5, ID_AA64ISAR1_EL1, nibble(4), nibble(24)),
    (FEAT_PACQARMA3, ID_AA64ISAR2_EL1, nibble(12), nibble(8)),
    (FEAT_PACIMP, ID_AA64ISAR1_EL1, nibble(8), nibble(28)),
];

/// The levels of pointer authentication, by the value of the field.
const PAUTH_LEVELS: [(u64, Feature); 5] =
    [(1, FEAT_PAuth), (2, FEAT_EPAC), (3, FEAT_PAuth2), (4, FEAT_FPAC), (5, FEAT_FPACCOMBINE)];

const MTE: Field = nibble(8);
const MTE_FRAC: Field = nibble(40);
const E2H0: Field = nibble(24);

/// PARange by the number of physical address bits.
const PA_RANGE: [u8; 7] = [32, 36, 40, 42, 44, 48, 52];

/// Whether `field` of a register value `value` says that the feature is there.
fn shows(field: IdField, value: u64) -> bool {
    let place = nibble(field.lsb);
    if field.signed {
        place.get_signed(value) >= i64::from(field.value)
    } else {
        place.get(value) >= u64::from(field.value)
    }
}

/// The features that ID register values show; `value` gives the value of a register, 0 where it is not known.
#[must_use]
pub fn features_of(value: &dyn Fn(Reg) -> u64) -> FeatureSet {
    // PMUVer 0xf: a PMU that is not Arm's.
    let value = |reg| match (reg, value(reg)) {
        (ID_AA64DFR0_EL1, v) if dfr0::PMUVer.get(v) == 0xf => dfr0::PMUVer.set(v, 0),
        (_, v) => v,
    };
    let mut set: FeatureSet = Feature::ALL
        .into_iter()
        .filter(|f| !f.info().fields.is_empty() && f.info().fields.iter().all(|&field| shows(field, value(field.reg))))
        .collect();
    for (algorithm, reg, address, _) in PAUTH_FIELDS {
        let level = address.get(value(reg));
        if level != 0 {
            set = set.with(algorithm);
        }
        for (least, feature) in PAUTH_LEVELS {
            // FEAT_EPAC is what value 2 alone means; from 3 on FEAT_PAuth2 replaces it.
            if level >= least && (feature != FEAT_EPAC || level == 2) {
                set = set.with(feature);
            }
        }
    }
    let pfr1 = value(ID_AA64PFR1_EL1);
    if MTE.get(pfr1) >= 2 && MTE_FRAC.get(pfr1) == 0 {
        set = set.with(FEAT_MTE_ASYNC);
    }
    let mm = value(ID_AA64MMFR0_EL1);
    if mmfr0::PARange.get(mm) >= 6 {
        set = set.with(FEAT_LPA);
    }
    if mmfr0::TGran4.get(mm) == 1 || mmfr0::TGran16.get(mm) == 2 {
        set = set.with(FEAT_LPA2);
    }
    if mmfr0::TGran4_2.get(mm) | mmfr0::TGran16_2.get(mm) | mmfr0::TGran64_2.get(mm) != 0 && set.has(FEAT_EL2) {
        set = set.with(FEAT_GTG);
    }
    if set.has(FEAT_EL2) && E2H0.get(value(ID_AA64MMFR4_EL1)) == 0 {
        set = set.with(FEAT_E2H0);
    }
    set
}

/// The granules that ID_AA64MMFR0_EL1 shows for stage 1.
#[must_use]
pub fn granules_of(mmfr0_value: u64) -> Granules {
    Granules {
        k4: mmfr0::TGran4.get(mmfr0_value) != 0xf,
        k16: mmfr0::TGran16.get(mmfr0_value) != 0,
        k64: mmfr0::TGran64.get(mmfr0_value) != 0xf,
    }
}

/// The number of physical address bits that ID_AA64MMFR0_EL1 shows.
#[must_use]
pub fn pa_bits_of(mmfr0_value: u64) -> u8 {
    PA_RANGE.get(mmfr0::PARange.get(mmfr0_value) as usize).copied().unwrap_or(52)
}

impl CpuModel {
    /// The value of an identification register (kind [`Kind::Id`], and MIDR_EL1). Zero for any other.
    /// CCSIDR_EL1 depends on CSSELR_EL1: see [`CpuModel::ccsidr`]. MPIDR_EL1 is the board's.
    #[must_use]
    pub fn id_value(&self, reg: Reg) -> u64 {
        match reg {
            MIDR_EL1 => u64::from(self.midr),
            REVIDR_EL1 => self.revidr,
            AIDR_EL1 => self.aidr,
            CTR_EL0 => self.ctr,
            CLIDR_EL1 => self.clidr,
            DCZID_EL0 => u64::from(self.dczid_bs),
            // BS: log2 of the words whose tags LDGM moves, 2 to 6; here as many as DC ZVA zeroes.
            GMID_EL1 => u64::from(self.dczid_bs.clamp(2, 6)),
            // Non-secure invasive debug implemented and not enabled, non-invasive enabled: no external debugger.
            DBGAUTHSTATUS_EL1 => 0xe,
            PMCEID0_EL0 => self.pmceid[0],
            PMCEID1_EL0 => self.pmceid[1],
            // Filtering by event, type and latency; interval 1024; records of 64 bytes; a 12-bit counter.
            PMSIDR_EL1 => 0x2_6417,
            // Records aligned to 64 bytes; the access flag and dirty state are managed.
            PMBIDR_EL1 => 0x26,
            AMCFGR_EL0 => 0x3f03,
            AMCGCR_EL0 => 4,
            AMEVTYPER00_EL0 => 0x11,
            AMEVTYPER01_EL0 => 0x4004,
            AMEVTYPER02_EL0 => 0x8,
            AMEVTYPER03_EL0 => 0x4005,
            _ if reg.info().kind == Kind::Id => self.feature_register(reg),
            _ => 0,
        }
    }

    /// CCSIDR_EL1 for a value of CSSELR_EL1; 0 where there is no such cache (the value is UNKNOWN then).
    #[must_use]
    pub fn ccsidr(&self, csselr: u64) -> u64 {
        match csselr & 0xf {
            1 => self.ccsidr_instruction,
            n if n & 1 == 0 => self.ccsidr_data.get(n as usize / 2).copied().unwrap_or(0),
            _ => 0,
        }
    }

    fn feature_register(&self, reg: Reg) -> u64 {
        let fields = || FEATURES.iter().zip(Feature::ALL).flat_map(|(info, f)| info.fields.iter().map(move |x| (f, x)));
        let mut value = 0;
        for (_, field) in fields().filter(|(_, field)| field.reg == reg && field.signed) {
            value |= nibble(field.lsb).mask();
        }
        for (_, field) in fields().filter(|&(f, field)| field.reg == reg && self.has(f)) {
            if !shows(*field, value) {
                value = nibble(field.lsb).set(value, u64::from(field.value));
            }
        }
        match reg {
            // EL0 and EL1: AArch64 only.
            ID_AA64PFR0_EL1 => value | 0x11,
            ID_AA64PFR1_EL1 if self.has(FEAT_MTE2) && !self.has(FEAT_MTE_ASYNC) => value | MTE_FRAC.mask(),
            ID_AA64DFR0_EL1 => self.debug_register(value),
            ID_AA64MMFR0_EL1 => self.memory_register(value),
            ID_AA64MMFR4_EL1 if self.has(FEAT_VHE) && !self.has(FEAT_E2H0) => value | E2H0.mask(),
            ID_AA64ISAR1_EL1 | ID_AA64ISAR2_EL1 => value | self.pauth_fields(reg),
            _ => value,
        }
    }

    fn debug_register(&self, value: u64) -> u64 {
        // The debug architecture is at least Armv8.0's, 6.
        let version = dfr0::DebugVer.get(value).max(6);
        let value = dfr0::DebugVer.set(value, version);
        let value = dfr0::BRPs.set(value, u64::from(self.breakpoints - 1));
        let value = dfr0::WRPs.set(value, u64::from(self.watchpoints - 1));
        dfr0::CTX_CMPs.set(value, u64::from(self.context_breakpoints - 1))
    }

    fn memory_register(&self, value: u64) -> u64 {
        let Granules { k4, k16, k64 } = self.granules;
        let lpa2 = self.has(FEAT_LPA2);
        let range = PA_RANGE.iter().position(|&bits| bits == self.pa_bits).unwrap_or(0);
        let value = mmfr0::PARange.set(value, range as u64);
        let value = mmfr0::ASIDBits.set(value, if self.asid_bits == 16 { 2 } else { 0 });
        let value = mmfr0::BigEnd.set(value, u64::from(self.big_endian));
        let value = mmfr0::SNSMem.set(value, u64::from(self.has(FEAT_EL3)));
        let value = mmfr0::TGran4.set(value, if k4 { u64::from(lpa2) } else { 0xf });
        let value = mmfr0::TGran16.set(value, if k16 { 1 + u64::from(lpa2) } else { 0 });
        let value = mmfr0::TGran64.set(value, if k64 { 0 } else { 0xf });
        if !self.has(FEAT_GTG) {
            return value;
        }
        // Stage 2 has the granules of stage 1: 1 none, 2 there, 3 there with 52 bits.
        let of = |there: bool, wide: bool| if there { 2 + u64::from(wide) } else { 1 };
        let value = mmfr0::TGran4_2.set(value, of(k4, lpa2));
        let value = mmfr0::TGran16_2.set(value, of(k16, lpa2));
        mmfr0::TGran64_2.set(value, of(k64, false))
    }

    fn pauth_fields(&self, reg: Reg) -> u64 {
        let level = PAUTH_LEVELS.iter().rev().find(|(_, f)| self.has(*f)).map_or(0, |(level, _)| *level);
        PAUTH_FIELDS
            .iter()
            .filter(|(algorithm, at, ..)| *at == reg && self.has(*algorithm))
            .fold(0, |value, (_, _, address, generic)| value | address.of(level) | generic.of(1))
    }

    /// The fixed part of PMCR_EL0: IMP, IDCODE and N.
    #[must_use]
    pub fn pmcr_id(&self) -> u64 {
        use crate::field::{midr_el1::Implementer, pmcr_el0::*};
        IMP.of(Implementer.get(u64::from(self.midr)))
            | IDCODE.of(u64::from(self.pmu_idcode))
            | N.of(u64::from(self.pmu_counters))
    }

    /// The algorithm of pointer authentication, if it has that.
    #[must_use]
    pub fn pauth_algorithm(&self) -> Option<Feature> {
        PAUTH_ALGORITHMS.into_iter().find(|&f| self.has(f))
    }
}
