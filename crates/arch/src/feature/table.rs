//! The feature table, one line a feature: name, `[ID register, lowest bit of the 4-bit field, unsigned or signed, the
//! least value that says the feature is there]`, `[the features it needs]`. An empty field list: see `CpuModel::id_value`.

use super::{FeatureInfo, IdField};
use crate::sysreg::Reg;

macro_rules! sign {
    (u) => {
        false
    };
    (s) => {
        true
    };
}

macro_rules! features {
    ($($name:ident [$($reg:ident $lsb:literal $sign:tt $value:literal),*] [$($needs:ident)*];)*) => {
        /// A feature, by the manual's name.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, missing_docs)]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Feature {
            $($name),*
        }

        impl Feature {
            /// Every feature, in table order: `ALL[f as usize] == f`.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$name),*];
            /// How many features there are.
            pub const COUNT: usize = [$(stringify!($name)),*].len();
        }

        /// The facts of each feature, indexed by `Feature as usize`.
        pub static FEATURES: [FeatureInfo; Feature::COUNT] = [$(FeatureInfo {
            name: stringify!($name),
            fields: &[$(IdField { reg: Reg::$reg, lsb: $lsb, signed: sign!($sign), value: $value }),*],
            needs: &[$(Feature::$needs),*],
        }),*];
    };
}

features! {
    // What a PE may lack altogether.
    FEAT_EL2          [ID_AA64PFR0_EL1 8 u 1]        [];
    FEAT_EL3          [ID_AA64PFR0_EL1 12 u 1]       [];
    FEAT_FP           [ID_AA64PFR0_EL1 16 s 0]       [];
    FEAT_AdvSIMD      [ID_AA64PFR0_EL1 20 s 0]       [FEAT_FP];
    FEAT_GICv3        [ID_AA64PFR0_EL1 24 u 1]       [];
    FEAT_GICv4p1      [ID_AA64PFR0_EL1 24 u 3]       [FEAT_GICv3];

    // Instructions.
    FEAT_AES          [ID_AA64ISAR0_EL1 4 u 1]       [FEAT_AdvSIMD];
    FEAT_PMULL        [ID_AA64ISAR0_EL1 4 u 2]       [FEAT_AES];
    FEAT_SHA1         [ID_AA64ISAR0_EL1 8 u 1]       [FEAT_AdvSIMD];
    FEAT_SHA256       [ID_AA64ISAR0_EL1 12 u 1]      [FEAT_SHA1];
    FEAT_SHA512       [ID_AA64ISAR0_EL1 12 u 2]      [FEAT_SHA256];
    FEAT_SHA3         [ID_AA64ISAR0_EL1 32 u 1]      [FEAT_SHA512];
    FEAT_SM3          [ID_AA64ISAR0_EL1 36 u 1]      [FEAT_AdvSIMD];
    FEAT_SM4          [ID_AA64ISAR0_EL1 40 u 1]      [FEAT_SM3];
    FEAT_CRC32        [ID_AA64ISAR0_EL1 16 u 1]      [];
    FEAT_LSE          [ID_AA64ISAR0_EL1 20 u 2]      [];
    FEAT_LSE128       [ID_AA64ISAR0_EL1 20 u 3]      [FEAT_LSE];
    FEAT_RDM          [ID_AA64ISAR0_EL1 28 u 1]      [FEAT_AdvSIMD];
    FEAT_DotProd      [ID_AA64ISAR0_EL1 44 u 1]      [FEAT_AdvSIMD];
    FEAT_FHM          [ID_AA64ISAR0_EL1 48 u 1]      [FEAT_FP16];
    FEAT_FlagM        [ID_AA64ISAR0_EL1 52 u 1]      [];
    FEAT_FlagM2       [ID_AA64ISAR0_EL1 52 u 2]      [FEAT_FlagM];
    FEAT_TLBIOS       [ID_AA64ISAR0_EL1 56 u 1]      [];
    FEAT_TLBIRANGE    [ID_AA64ISAR0_EL1 56 u 2]      [FEAT_TLBIOS];
    FEAT_RNG          [ID_AA64ISAR0_EL1 60 u 1]      [];
    FEAT_RNG_TRAP     [ID_AA64PFR1_EL1 28 u 1]       [FEAT_EL3];
    FEAT_FP16         [ID_AA64PFR0_EL1 16 s 1, ID_AA64PFR0_EL1 20 s 1] [FEAT_AdvSIMD];
    FEAT_DPB          [ID_AA64ISAR1_EL1 0 u 1]       [];
    FEAT_DPB2         [ID_AA64ISAR1_EL1 0 u 2]       [FEAT_DPB];
    FEAT_JSCVT        [ID_AA64ISAR1_EL1 12 u 1]      [FEAT_AdvSIMD];
    FEAT_FCMA         [ID_AA64ISAR1_EL1 16 u 1]      [FEAT_AdvSIMD];
    FEAT_LRCPC        [ID_AA64ISAR1_EL1 20 u 1]      [];
    FEAT_LRCPC2       [ID_AA64ISAR1_EL1 20 u 2]      [FEAT_LRCPC];
    FEAT_LRCPC3       [ID_AA64ISAR1_EL1 20 u 3]      [FEAT_LRCPC2];
    FEAT_FRINTTS      [ID_AA64ISAR1_EL1 32 u 1]      [FEAT_AdvSIMD];
    FEAT_SB           [ID_AA64ISAR1_EL1 36 u 1]      [];
    FEAT_SPECRES      [ID_AA64ISAR1_EL1 40 u 1]      [];
    FEAT_SPECRES2     [ID_AA64ISAR1_EL1 40 u 2]      [FEAT_SPECRES];
    FEAT_BF16         [ID_AA64ISAR1_EL1 44 u 1]      [FEAT_AdvSIMD];
    FEAT_EBF16        [ID_AA64ISAR1_EL1 44 u 2]      [FEAT_BF16];
    FEAT_DGH          [ID_AA64ISAR1_EL1 48 u 1]      [];
    FEAT_I8MM         [ID_AA64ISAR1_EL1 52 u 1]      [FEAT_AdvSIMD];
    FEAT_XS           [ID_AA64ISAR1_EL1 56 u 1]      [];
    FEAT_LS64         [ID_AA64ISAR1_EL1 60 u 1]      [];
    FEAT_LS64_V       [ID_AA64ISAR1_EL1 60 u 2]      [FEAT_LS64];
    FEAT_LS64_ACCDATA [ID_AA64ISAR1_EL1 60 u 3]      [FEAT_LS64_V];
    FEAT_WFxT         [ID_AA64ISAR2_EL1 0 u 2]       [];
    FEAT_RPRES        [ID_AA64ISAR2_EL1 4 u 1]       [FEAT_AdvSIMD];
    FEAT_MOPS         [ID_AA64ISAR2_EL1 16 u 1]      [];
    FEAT_HBC          [ID_AA64ISAR2_EL1 20 u 1]      [];
    FEAT_CLRBHB       [ID_AA64ISAR2_EL1 28 u 1]      [];
    FEAT_SYSREG128    [ID_AA64ISAR2_EL1 32 u 1]      [];
    FEAT_SYSINSTR128  [ID_AA64ISAR2_EL1 36 u 1]      [];
    FEAT_PRFMSLC      [ID_AA64ISAR2_EL1 40 u 1]      [];
    FEAT_RPRFM        [ID_AA64ISAR2_EL1 48 u 1]      [];
    FEAT_CSSC         [ID_AA64ISAR2_EL1 52 u 1]      [];
    FEAT_ATS1A        [ID_AA64ISAR2_EL1 60 u 1]      [];
    FEAT_AFP          [ID_AA64MMFR1_EL1 44 u 1]      [FEAT_AdvSIMD];

    // Pointer authentication: the level; the field depends on the algorithm.
    FEAT_PAuth        []                             [];
    FEAT_EPAC         []                             [FEAT_PAuth];
    FEAT_PAuth2       []                             [FEAT_PAuth];
    FEAT_FPAC         []                             [FEAT_PAuth2];
    FEAT_FPACCOMBINE  []                             [FEAT_FPAC];
    FEAT_PACQARMA5    []                             [FEAT_PAuth];
    FEAT_PACQARMA3    []                             [FEAT_PAuth];
    FEAT_PACIMP       []                             [FEAT_PAuth];
    FEAT_CONSTPACFIELD[ID_AA64ISAR2_EL1 24 u 1]      [FEAT_PAuth2];

    // Process state, tagging, speculation.
    FEAT_BTI          [ID_AA64PFR1_EL1 0 u 1]        [];
    FEAT_SSBS         [ID_AA64PFR1_EL1 4 u 1]        [];
    FEAT_SSBS2        [ID_AA64PFR1_EL1 4 u 2]        [FEAT_SSBS];
    FEAT_MTE          [ID_AA64PFR1_EL1 8 u 1]        [];
    FEAT_MTE2         [ID_AA64PFR1_EL1 8 u 2]        [FEAT_MTE];
    FEAT_MTE_ASYNC    []                             [FEAT_MTE2];
    FEAT_MTE3         [ID_AA64PFR1_EL1 8 u 3]        [FEAT_MTE2 FEAT_MTE_ASYNC];
    FEAT_DIT          [ID_AA64PFR0_EL1 48 u 1]       [];
    FEAT_NMI          [ID_AA64PFR1_EL1 36 u 1]       [];
    FEAT_GCS          [ID_AA64PFR1_EL1 44 u 1]       [];
    FEAT_THE          [ID_AA64PFR1_EL1 48 u 1]       [];
    FEAT_CSV2         [ID_AA64PFR0_EL1 56 u 1]       [];
    FEAT_CSV2_1p1     [ID_AA64PFR1_EL1 32 u 1]       [FEAT_CSV2];
    FEAT_CSV2_1p2     [ID_AA64PFR1_EL1 32 u 2]       [FEAT_CSV2_1p1];
    FEAT_CSV2_2       [ID_AA64PFR0_EL1 56 u 2]       [FEAT_CSV2];
    FEAT_CSV2_3       [ID_AA64PFR0_EL1 56 u 3]       [FEAT_CSV2_2];
    FEAT_CSV3         [ID_AA64PFR0_EL1 60 u 1]       [];
    FEAT_ECBHB        [ID_AA64MMFR1_EL1 60 u 1]      [];

    // Reliability.
    FEAT_RAS          [ID_AA64PFR0_EL1 28 u 1]       [];
    FEAT_RASv1p1      [ID_AA64PFR0_EL1 28 u 2]       [FEAT_RAS];
    FEAT_RASv2        [ID_AA64PFR0_EL1 28 u 3]       [FEAT_RASv1p1];
    FEAT_IESB         [ID_AA64MMFR2_EL1 12 u 1]      [FEAT_RAS];

    // Translation.
    FEAT_PAN          [ID_AA64MMFR1_EL1 20 u 1]      [];
    FEAT_PAN2         [ID_AA64MMFR1_EL1 20 u 2]      [FEAT_PAN];
    FEAT_PAN3         [ID_AA64MMFR1_EL1 20 u 3]      [FEAT_PAN2];
    FEAT_UAO          [ID_AA64MMFR2_EL1 4 u 1]       [];
    FEAT_HPDS         [ID_AA64MMFR1_EL1 12 u 1]      [];
    FEAT_HPDS2        [ID_AA64MMFR1_EL1 12 u 2]      [FEAT_HPDS];
    FEAT_HAFDBS       [ID_AA64MMFR1_EL1 0 u 1]       [];
    FEAT_HAFDBS_DBM   [ID_AA64MMFR1_EL1 0 u 2]       [FEAT_HAFDBS];
    FEAT_HAFT         [ID_AA64MMFR1_EL1 0 u 3]       [FEAT_HAFDBS_DBM];
    FEAT_VMID16       [ID_AA64MMFR1_EL1 4 u 2]       [FEAT_EL2];
    FEAT_LOR          [ID_AA64MMFR1_EL1 16 u 1]      [];
    FEAT_XNX          [ID_AA64MMFR1_EL1 28 u 1]      [FEAT_EL2];
    FEAT_SpecSEI      [ID_AA64MMFR1_EL1 24 u 1]      [];
    FEAT_TWED         [ID_AA64MMFR1_EL1 32 u 1]      [];
    FEAT_ETS          [ID_AA64MMFR1_EL1 36 u 1]      [];
    FEAT_ETS2         [ID_AA64MMFR1_EL1 36 u 2]      [FEAT_ETS];
    FEAT_ETS3         [ID_AA64MMFR1_EL1 36 u 3]      [FEAT_ETS2];
    FEAT_HCX          [ID_AA64MMFR1_EL1 40 u 1]      [FEAT_EL2];
    FEAT_nTLBPA       [ID_AA64MMFR1_EL1 48 u 1]      [];
    FEAT_TIDCP1       [ID_AA64MMFR1_EL1 52 u 1]      [];
    FEAT_CMOW         [ID_AA64MMFR1_EL1 56 u 1]      [];
    FEAT_TTCNP        [ID_AA64MMFR2_EL1 0 u 1]       [];
    FEAT_LSMAOC       [ID_AA64MMFR2_EL1 8 u 1]       [];
    FEAT_LVA          [ID_AA64MMFR2_EL1 16 u 1]      [];
    FEAT_LVA3         [ID_AA64MMFR2_EL1 16 u 2]      [FEAT_LVA FEAT_D128];
    FEAT_LPA          []                             [];
    FEAT_LPA2         []                             [];
    FEAT_GTG          []                             [FEAT_EL2];
    FEAT_CCIDX        [ID_AA64MMFR2_EL1 20 u 1]      [];
    FEAT_TTST         [ID_AA64MMFR2_EL1 28 u 1]      [];
    FEAT_LSE2         [ID_AA64MMFR2_EL1 32 u 1]      [];
    FEAT_IDST         [ID_AA64MMFR2_EL1 36 u 1]      [];
    FEAT_S2FWB        [ID_AA64MMFR2_EL1 40 u 1]      [FEAT_EL2];
    FEAT_TTL          [ID_AA64MMFR2_EL1 48 u 1]      [];
    FEAT_BBML1        [ID_AA64MMFR2_EL1 52 u 1]      [];
    FEAT_BBML2        [ID_AA64MMFR2_EL1 52 u 2]      [FEAT_BBML1];
    FEAT_EVT          [ID_AA64MMFR2_EL1 56 u 1]      [FEAT_EL2];
    FEAT_EVT_TTLBxS   [ID_AA64MMFR2_EL1 56 u 2]      [FEAT_EVT];
    FEAT_E0PD         [ID_AA64MMFR2_EL1 60 u 1]      [];
    FEAT_ExS          [ID_AA64MMFR0_EL1 44 u 1]      [];
    FEAT_TCR2         [ID_AA64MMFR3_EL1 0 u 1]       [];
    FEAT_SCTLR2       [ID_AA64MMFR3_EL1 4 u 1]       [];
    FEAT_S1PIE        [ID_AA64MMFR3_EL1 8 u 1]       [FEAT_TCR2];
    FEAT_S2PIE        [ID_AA64MMFR3_EL1 12 u 1]      [FEAT_EL2 FEAT_S1PIE];
    FEAT_S1POE        [ID_AA64MMFR3_EL1 16 u 1]      [FEAT_TCR2];
    FEAT_S2POE        [ID_AA64MMFR3_EL1 20 u 1]      [FEAT_EL2 FEAT_S1POE];
    FEAT_AIE          [ID_AA64MMFR3_EL1 24 u 1]      [FEAT_TCR2];
    FEAT_MEC          [ID_AA64MMFR3_EL1 28 u 1]      [FEAT_RME];
    FEAT_D128         [ID_AA64MMFR3_EL1 32 u 1]      [FEAT_TCR2 FEAT_AIE FEAT_S1PIE FEAT_SYSREG128 FEAT_SYSINSTR128];

    // Virtualization and security.
    FEAT_VHE          [ID_AA64MMFR1_EL1 8 u 1, ID_AA64DFR0_EL1 0 u 7] [FEAT_EL2];
    FEAT_NV           [ID_AA64MMFR2_EL1 24 u 1]      [FEAT_EL2 FEAT_VHE];
    FEAT_NV2          [ID_AA64MMFR2_EL1 24 u 2]      [FEAT_NV];
    FEAT_FGT          [ID_AA64MMFR0_EL1 56 u 1]      [FEAT_EL2];
    FEAT_FGT2         [ID_AA64MMFR0_EL1 56 u 2]      [FEAT_FGT];
    FEAT_ECV          [ID_AA64MMFR0_EL1 60 u 1]      [];
    FEAT_ECV_POFF     [ID_AA64MMFR0_EL1 60 u 2]      [FEAT_ECV FEAT_EL2];
    FEAT_E2H0         []                             [FEAT_EL2];
    FEAT_SEL2         [ID_AA64PFR0_EL1 36 u 1]       [FEAT_EL2 FEAT_EL3];
    FEAT_RME          [ID_AA64PFR0_EL1 52 u 1]       [FEAT_EL2 FEAT_EL3];
    FEAT_MPAM         [ID_AA64PFR0_EL1 40 u 1]       [];
    FEAT_AMUv1        [ID_AA64PFR0_EL1 44 u 1]       [];
    FEAT_AMUv1p1      [ID_AA64PFR0_EL1 44 u 2]       [FEAT_AMUv1];

    // Debug, PMU, profiling, trace.
    FEAT_DoubleLock   [ID_AA64DFR0_EL1 36 s 0]       [];
    FEAT_Debugv8p2    [ID_AA64DFR0_EL1 0 u 8]        [];
    FEAT_Debugv8p4    [ID_AA64DFR0_EL1 0 u 9]        [FEAT_Debugv8p2];
    FEAT_Debugv8p8    [ID_AA64DFR0_EL1 0 u 10]       [FEAT_Debugv8p4];
    FEAT_Debugv8p9    [ID_AA64DFR0_EL1 0 u 11]       [FEAT_Debugv8p8];
    FEAT_PMUv3        [ID_AA64DFR0_EL1 8 u 1]        [];
    FEAT_PMUv3p1      [ID_AA64DFR0_EL1 8 u 4]        [FEAT_PMUv3];
    FEAT_PMUv3p4      [ID_AA64DFR0_EL1 8 u 5]        [FEAT_PMUv3p1];
    FEAT_PMUv3p5      [ID_AA64DFR0_EL1 8 u 6]        [FEAT_PMUv3p4];
    FEAT_PMUv3p7      [ID_AA64DFR0_EL1 8 u 7]        [FEAT_PMUv3p5];
    FEAT_PMUv3p8      [ID_AA64DFR0_EL1 8 u 8]        [FEAT_PMUv3p7];
    FEAT_PMUv3p9      [ID_AA64DFR0_EL1 8 u 9]        [FEAT_PMUv3p8];
    FEAT_MTPMU        [ID_AA64DFR0_EL1 48 u 1]       [FEAT_PMUv3];
    FEAT_HPMN0        [ID_AA64DFR0_EL1 60 u 1]       [FEAT_PMUv3 FEAT_EL2];
    FEAT_SPE          [ID_AA64DFR0_EL1 32 u 1]       [];
    FEAT_SPEv1p1      [ID_AA64DFR0_EL1 32 u 2]       [FEAT_SPE];
    FEAT_SPEv1p2      [ID_AA64DFR0_EL1 32 u 3]       [FEAT_SPEv1p1];
    FEAT_SPEv1p3      [ID_AA64DFR0_EL1 32 u 4]       [FEAT_SPEv1p2];
    FEAT_SPEv1p4      [ID_AA64DFR0_EL1 32 u 5]       [FEAT_SPEv1p3];
    FEAT_TRF          [ID_AA64DFR0_EL1 40 u 1]       [];
    FEAT_TRBE         [ID_AA64DFR0_EL1 44 u 1]       [FEAT_TRF];
    FEAT_BRBE         [ID_AA64DFR0_EL1 52 u 1]       [];

    // Scalable vectors and matrices.
    FEAT_SVE          [ID_AA64PFR0_EL1 32 u 1]       [FEAT_FP16];
    FEAT_SVE2         [ID_AA64ZFR0_EL1 0 u 1]        [FEAT_SVE];
    FEAT_SME          [ID_AA64PFR1_EL1 24 u 1]       [FEAT_FCMA FEAT_FP16 FEAT_BF16];
    FEAT_SME2         [ID_AA64PFR1_EL1 24 u 2]       [FEAT_SME];
}
