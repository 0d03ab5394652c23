//! One CPU: its features and everything else that software can read from its identification registers.

mod ids;
mod presence;

pub use ids::{features_of, granules_of, pa_bits_of};

use crate::feature::{Feature, Feature::*, FeatureSet, Missing, Request, Setting, Switch};
use crate::gic::VirtualInterface;
use core::fmt;

/// Which translation granules there are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Granules {
    /// 4 KiB.
    pub k4: bool,
    /// 16 KiB.
    pub k16: bool,
    /// 64 KiB.
    pub k64: bool,
}

/// A CPU model. EL0 and EL1 are AArch64 only, whatever the hardware of that name has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CpuModel {
    /// The preset's name.
    pub name: &'static str,
    /// MIDR_EL1.
    pub midr: u32,
    /// REVIDR_EL1.
    pub revidr: u64,
    /// AIDR_EL1.
    pub aidr: u64,
    /// What it has.
    pub features: FeatureSet,
    /// Physical address bits: 32, 36, 40, 42, 44, 48 or 52.
    pub pa_bits: u8,
    /// ASID bits: 8 or 16.
    pub asid_bits: u8,
    /// Translation granules.
    pub granules: Granules,
    /// `SCTLR_ELx.{EE,E0E}` can be set (ID_AA64MMFR0_EL1.BigEnd).
    pub big_endian: bool,
    /// Breakpoints, 2 to 16.
    pub breakpoints: u8,
    /// How many of the breakpoints, the last ones, are context-aware, 1 to `breakpoints`.
    pub context_breakpoints: u8,
    /// Watchpoints, 2 to 16.
    pub watchpoints: u8,
    /// PMU event counters, 0 to 31 (PMCR_EL0.N).
    pub pmu_counters: u8,
    /// PMCR_EL0.IDCODE; IMP is MIDR's.
    pub pmu_idcode: u8,
    /// PMCEID0_EL0 and PMCEID1_EL0: the common events that can be counted.
    pub pmceid: [u64; 2],
    /// CTR_EL0.
    pub ctr: u64,
    /// DCZID_EL0.BS: log2 of the words that DC ZVA zeroes, 0 to 9.
    pub dczid_bs: u8,
    /// CLIDR_EL1.
    pub clidr: u64,
    /// CCSIDR_EL1 of the data or unified cache of levels 1 to 3; 0 where there is none.
    pub ccsidr_data: [u64; 3],
    /// CCSIDR_EL1 of the level 1 instruction cache.
    pub ccsidr_instruction: u64,
    /// The GIC's virtual CPU interface, where there is EL2.
    pub gic: VirtualInterface,
}

/// Why a model cannot be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModelError {
    /// A feature without one that it needs.
    Missing(Missing),
    /// A feature that this machine does not model.
    NotModelled(Feature),
    /// FEAT_PAuth without an algorithm (FEAT_PACQARMA5, FEAT_PACQARMA3 or FEAT_PACIMP).
    NoPauthAlgorithm,
    /// More than one of the pointer authentication algorithms.
    PauthAlgorithms(Feature, Feature),
    /// FEAT_EPAC and FEAT_PAuth2 are alternatives.
    EpacAndPauth2,
    /// FEAT_FP without FEAT_AdvSIMD: the architecture has both or neither.
    FpWithoutAdvSimd,
    /// A 52-bit physical address without FEAT_LPA or FEAT_LPA2, or either feature without it.
    PaBits {
        /// The size asked.
        bits: u8,
    },
    /// FEAT_LPA or FEAT_LVA without the 64 KiB granule, or FEAT_LPA2 without 4 KiB and 16 KiB.
    GranuleOf(Feature),
    /// No granule at all.
    NoGranule,
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(missing) => missing.fmt(f),
            Self::NotModelled(feature) => write!(f, "{feature} is not modelled yet"),
            Self::NoPauthAlgorithm => {
                f.write_str("FEAT_PAuth needs one of FEAT_PACQARMA5, FEAT_PACQARMA3 and FEAT_PACIMP")
            }
            Self::PauthAlgorithms(a, b) => write!(f, "{a} and {b} exclude each other"),
            Self::EpacAndPauth2 => f.write_str("FEAT_EPAC and FEAT_PAuth2 exclude each other"),
            Self::FpWithoutAdvSimd => f.write_str("FEAT_FP and FEAT_AdvSIMD come together"),
            Self::PaBits { bits } => {
                write!(f, "{bits} physical address bits: 52 come with FEAT_LPA or FEAT_LPA2 and only with them")
            }
            Self::GranuleOf(feature) => write!(f, "{feature} needs a granule that this CPU lacks"),
            Self::NoGranule => f.write_str("no translation granule"),
        }
    }
}

impl core::error::Error for ModelError {}

/// The pointer authentication algorithms.
pub const PAUTH_ALGORITHMS: [Feature; 3] = [FEAT_PACQARMA5, FEAT_PACQARMA3, FEAT_PACIMP];

impl CpuModel {
    /// Whether it has `feature`.
    #[inline]
    #[must_use]
    pub const fn has(&self, feature: Feature) -> bool {
        self.features.has(feature)
    }

    /// Whether the model is one that the architecture allows.
    pub fn check(&self) -> Result<(), ModelError> {
        self.features.check().map_err(ModelError::Missing)?;
        let mut algorithms = PAUTH_ALGORITHMS.into_iter().filter(|&f| self.has(f));
        match (self.has(FEAT_PAuth), algorithms.next(), algorithms.next()) {
            (true, None, _) => return Err(ModelError::NoPauthAlgorithm),
            (_, Some(a), Some(b)) => return Err(ModelError::PauthAlgorithms(a, b)),
            _ => {}
        }
        if self.has(FEAT_EPAC) && self.has(FEAT_PAuth2) {
            return Err(ModelError::EpacAndPauth2);
        }
        if self.has(FEAT_FP) != self.has(FEAT_AdvSIMD) {
            return Err(ModelError::FpWithoutAdvSimd);
        }
        if (self.pa_bits == 52) != (self.has(FEAT_LPA) || self.has(FEAT_LPA2)) {
            return Err(ModelError::PaBits { bits: self.pa_bits });
        }
        let Granules { k4, k16, k64 } = self.granules;
        if !(k4 || k16 || k64) {
            return Err(ModelError::NoGranule);
        }
        for (feature, there) in [(FEAT_LPA, k64), (FEAT_LVA, k64), (FEAT_LPA2, k4 || k16)] {
            if self.has(feature) && !there {
                return Err(ModelError::GranuleOf(feature));
            }
        }
        Ok(())
    }

    /// The model with the requests applied, in order, and the result checked as a whole. A feature turned on brings
    /// nothing with it, and one turned off takes nothing away: the check says what is missing. But an exception level takes
    /// with it all that needs it.
    /// `modelled` is what the machine can do.
    pub fn with_requests(
        &self,
        requests: impl IntoIterator<Item = Request>,
        modelled: &FeatureSet,
    ) -> Result<Self, ModelError> {
        let mut model = self.clone();
        for request in requests {
            match request {
                Request::Feature(feature, Switch::On) if !modelled.has(feature) => {
                    return Err(ModelError::NotModelled(feature));
                }
                Request::Feature(feature, Switch::On) => model.features = model.features.with(feature),
                Request::Feature(level @ (FEAT_EL2 | FEAT_EL3), Switch::Off) => {
                    model.features = model.features.without_dependents(level);
                }
                Request::Feature(feature, Switch::Off) => model.features = model.features.without(feature),
                Request::Set(setting, value) => model.set(setting, value),
            }
        }
        model.check()?;
        Ok(model)
    }

    fn set(&mut self, setting: Setting, value: u8) {
        match setting {
            Setting::PaBits => self.pa_bits = value,
            Setting::AsidBits => self.asid_bits = value,
            Setting::Breakpoints => {
                self.breakpoints = value;
                self.context_breakpoints = self.context_breakpoints.min(value);
            }
            Setting::Watchpoints => self.watchpoints = value,
            Setting::PmuCounters => self.pmu_counters = value,
        }
    }

    /// The model without what `modelled` lacks and without what needs that; where 52-bit addresses go, 48 bits remain.
    #[must_use]
    pub fn limited_to(&self, modelled: &FeatureSet) -> Self {
        let mut model = self.clone();
        model.features = self.features.intersection(*modelled).consistent_part();
        if model.has(FEAT_PAuth) && !PAUTH_ALGORITHMS.into_iter().any(|f| model.has(f)) {
            model.features = model.features.without_dependents(FEAT_PAuth);
        }
        if model.pa_bits == 52 && !(model.has(FEAT_LPA) || model.has(FEAT_LPA2)) {
            model.pa_bits = 48;
        }
        model
    }

    /// The model without `feature` and without all that needs it.
    #[must_use]
    pub fn without_dependents(&self, feature: Feature) -> Self {
        self.limited_to(&FeatureSet::all().without(feature))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset;

    fn n1() -> CpuModel {
        preset::hardware("neoverse-n1").unwrap()
    }

    fn asked(text: &str) -> Result<CpuModel, ModelError> {
        let requests = text.split(',').map(|t| Request::parse(t).unwrap());
        n1().with_requests(requests, &FeatureSet::all().without(FEAT_SVE))
    }

    #[test]
    fn requests_are_checked_as_a_whole() {
        assert!(!asked("lse=off").unwrap().has(FEAT_LSE));
        assert!(asked("lse128=on").unwrap().has(FEAT_LSE128));
        let missing = Missing { feature: FEAT_LSE128, needs: FEAT_LSE };
        assert_eq!(asked("lse128=on,lse=off"), Err(ModelError::Missing(missing)));
        assert_eq!(asked("sve=on"), Err(ModelError::NotModelled(FEAT_SVE)));
        assert_eq!(asked("pauth=on"), Err(ModelError::NoPauthAlgorithm));
        assert!(asked("pacimp=on,pauth=on").is_ok());
        let two = ModelError::PauthAlgorithms(FEAT_PACQARMA5, FEAT_PACIMP);
        assert_eq!(asked("pacimp=on,pauth=on,pacqarma5=on"), Err(two));
        let el1 = asked("el2=off").unwrap();
        assert!(![FEAT_EL2, FEAT_VHE, FEAT_XNX, FEAT_E2H0].into_iter().any(|f| el1.has(f)));
        let missing = Missing { feature: FEAT_VHE, needs: FEAT_EL2 };
        assert_eq!(asked("el2=off,vhe=on"), Err(ModelError::Missing(missing)));
        assert_eq!(asked("pa-bits=52"), Err(ModelError::PaBits { bits: 52 }));
        assert!(asked("pa-bits=52,lpa=on").is_ok());
        assert_eq!(asked("lpa=on"), Err(ModelError::PaBits { bits: 48 }));
        assert_eq!(asked("breakpoints=2,pmu-counters=31").unwrap().breakpoints, 2);
    }

    #[test]
    fn taking_away_takes_what_needs_it() {
        let less = n1().without_dependents(FEAT_AdvSIMD);
        assert!(!less.has(FEAT_AES) && !less.has(FEAT_DotProd) && !less.has(FEAT_FP16) && less.has(FEAT_LSE));
    }
}
