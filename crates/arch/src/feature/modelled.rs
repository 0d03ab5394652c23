//! What the machine models. A feature's line goes when its work is done; presets and `max` then have it.

use super::{Feature, Feature::*, FeatureSet};

/// Features that the machine does not model yet.
pub const NOT_MODELLED: &[Feature] = &[
    // Exception levels.
    FEAT_EL3,
    FEAT_GICv4p1,
    // Instructions.
    FEAT_LSE128,
    FEAT_SPECRES,
    FEAT_EBF16,
    FEAT_XS,
    FEAT_LS64,
    FEAT_RPRES,
    FEAT_SYSREG128,
    FEAT_SYSINSTR128,
    FEAT_ATS1A,
    FEAT_AFP,
    // Process state and speculation.
    FEAT_NMI,
    FEAT_GCS,
    FEAT_THE,
    // Reliability.
    FEAT_RASv2,
    // Translation and memory.
    FEAT_HAFT,
    FEAT_TWED,
    FEAT_SpecSEI,
    FEAT_TCR2,
    FEAT_SCTLR2,
    FEAT_MPAM,
    FEAT_AMUv1,
    // Debug, PMU, profiling, trace.
    FEAT_Debugv8p4,
    FEAT_PMUv3p9,
    FEAT_MTPMU,
    FEAT_SPE,
    FEAT_TRF,
    FEAT_BRBE,
    // Scalable vectors and matrices: their own issue.
    FEAT_SVE,
    FEAT_SME,
];

/// Everything the machine models.
#[must_use]
pub fn modelled() -> FeatureSet {
    FeatureSet::all().minus(FeatureSet::of(NOT_MODELLED)).consistent_part()
}
