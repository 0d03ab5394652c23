//! The register table, one line a register:
//! name, `op0 op1 CRn CRm op2`, lowest EL that reads, lowest EL that writes (`_`: none), the feature it comes with
//! (`-`: always there), bits software can write on every implementation that has the register, reset value, kind.
//!
//! Bits that become writable with a further feature are in `bits`, those of the fine-grained traps' registers follow from
//! `trap`. A bit outside both keeps its reset value, which is how RES0 and RES1 are expressed.

use super::{Enc, Kind, RegInfo};
use crate::{El, feature::Feature};

macro_rules! el {
    (_) => {
        None
    };
    (0) => {
        Some(El::El0)
    };
    (1) => {
        Some(El::El1)
    };
    (2) => {
        Some(El::El2)
    };
}

macro_rules! feature {
    (-) => {
        None
    };
    ($name:ident) => {
        Some(Feature::$name)
    };
}

macro_rules! registers {
    ($($name:ident $op0:literal $op1:literal $crn:literal $crm:literal $op2:literal $read:tt $write:tt $feature:tt
        $mask:literal $reset:literal $kind:ident;)*) => {
        /// A system register, by the manual's name. The value is a dense index below [`Reg::COUNT`].
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, missing_docs)]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u16)]
        pub enum Reg {
            $($name),*
        }

        impl Reg {
            /// Every register, in table order: `ALL[r as usize] == r`.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$name),*];
            /// How many registers there are.
            pub const COUNT: usize = [$(stringify!($name)),*].len();
        }

        /// The facts of each register, indexed by `Reg as usize`.
        pub static REGS: [RegInfo; Reg::COUNT] = INFOS;

        pub(super) const INFOS: [RegInfo; Reg::COUNT] = [$(RegInfo {
            name: stringify!($name),
            enc: Enc::new($op0, $op1, $crn, $crm, $op2),
            min_read: el!($read),
            min_write: el!($write),
            feature: feature!($feature),
            mask: $mask,
            reset: $reset,
            kind: Kind::$kind,
        }),*];
    };
}

registers! {
    // Identification.
    MIDR_EL1          3 0  0  0 0  1 _  -                 0                      0            Special;
    MPIDR_EL1         3 0  0  0 5  1 _  -                 0                      0x8000_0000  Special;
    REVIDR_EL1        3 0  0  0 6  1 _  -                 0                      0            Id;

    // AArch32 views: UNKNOWN where no EL uses AArch32; read as 0 here.
    ID_PFR0_EL1       3 0  0  1 0  1 _  -                 0                      0            Id;
    ID_PFR1_EL1       3 0  0  1 1  1 _  -                 0                      0            Id;
    ID_DFR0_EL1       3 0  0  1 2  1 _  -                 0                      0            Id;
    ID_AFR0_EL1       3 0  0  1 3  1 _  -                 0                      0            Id;
    ID_MMFR0_EL1      3 0  0  1 4  1 _  -                 0                      0            Id;
    ID_MMFR1_EL1      3 0  0  1 5  1 _  -                 0                      0            Id;
    ID_MMFR2_EL1      3 0  0  1 6  1 _  -                 0                      0            Id;
    ID_MMFR3_EL1      3 0  0  1 7  1 _  -                 0                      0            Id;
    ID_ISAR0_EL1      3 0  0  2 0  1 _  -                 0                      0            Id;
    ID_ISAR1_EL1      3 0  0  2 1  1 _  -                 0                      0            Id;
    ID_ISAR2_EL1      3 0  0  2 2  1 _  -                 0                      0            Id;
    ID_ISAR3_EL1      3 0  0  2 3  1 _  -                 0                      0            Id;
    ID_ISAR4_EL1      3 0  0  2 4  1 _  -                 0                      0            Id;
    ID_ISAR5_EL1      3 0  0  2 5  1 _  -                 0                      0            Id;
    ID_MMFR4_EL1      3 0  0  2 6  1 _  -                 0                      0            Id;
    ID_ISAR6_EL1      3 0  0  2 7  1 _  -                 0                      0            Id;
    MVFR0_EL1         3 0  0  3 0  1 _  -                 0                      0            Id;
    MVFR1_EL1         3 0  0  3 1  1 _  -                 0                      0            Id;
    MVFR2_EL1         3 0  0  3 2  1 _  -                 0                      0            Id;
    ID_PFR2_EL1       3 0  0  3 4  1 _  -                 0                      0            Id;
    ID_DFR1_EL1       3 0  0  3 5  1 _  -                 0                      0            Id;
    ID_MMFR5_EL1      3 0  0  3 6  1 _  -                 0                      0            Id;

    // AArch64 feature registers.
    ID_AA64PFR0_EL1   3 0  0  4 0  1 _  -                 0                      0            Id;
    ID_AA64PFR1_EL1   3 0  0  4 1  1 _  -                 0                      0            Id;
    ID_AA64PFR2_EL1   3 0  0  4 2  1 _  -                 0                      0            Id;
    ID_AA64ZFR0_EL1   3 0  0  4 4  1 _  -                 0                      0            Id;
    ID_AA64SMFR0_EL1  3 0  0  4 5  1 _  -                 0                      0            Id;
    ID_AA64FPFR0_EL1  3 0  0  4 7  1 _  -                 0                      0            Id;
    ID_AA64DFR0_EL1   3 0  0  5 0  1 _  -                 0                      0            Id;
    ID_AA64DFR1_EL1   3 0  0  5 1  1 _  -                 0                      0            Id;
    ID_AA64DFR2_EL1   3 0  0  5 2  1 _  -                 0                      0            Id;
    ID_AA64AFR0_EL1   3 0  0  5 4  1 _  -                 0                      0            Id;
    ID_AA64AFR1_EL1   3 0  0  5 5  1 _  -                 0                      0            Id;
    ID_AA64ISAR0_EL1  3 0  0  6 0  1 _  -                 0                      0            Id;
    ID_AA64ISAR1_EL1  3 0  0  6 1  1 _  -                 0                      0            Id;
    ID_AA64ISAR2_EL1  3 0  0  6 2  1 _  -                 0                      0            Id;
    ID_AA64ISAR3_EL1  3 0  0  6 3  1 _  -                 0                      0            Id;
    ID_AA64MMFR0_EL1  3 0  0  7 0  1 _  -                 0                      0            Id;
    ID_AA64MMFR1_EL1  3 0  0  7 1  1 _  -                 0                      0            Id;
    ID_AA64MMFR2_EL1  3 0  0  7 2  1 _  -                 0                      0            Id;
    ID_AA64MMFR3_EL1  3 0  0  7 3  1 _  -                 0                      0            Id;
    ID_AA64MMFR4_EL1  3 0  0  7 4  1 _  -                 0                      0            Id;

    // Caches.
    CCSIDR_EL1        3 1  0  0 0  1 _  -                 0                      0            Special;
    CLIDR_EL1         3 1  0  0 1  1 _  -                 0                      0            Id;
    CCSIDR2_EL1       3 1  0  0 2  1 _  FEAT_CCIDX        0                      0            Special;
    GMID_EL1          3 1  0  0 4  1 _  FEAT_MTE2         0                      0            Id;
    SMIDR_EL1         3 1  0  0 6  1 _  FEAT_SME          0                      0            Id;
    AIDR_EL1          3 1  0  0 7  1 _  -                 0                      0            Id;
    CSSELR_EL1        3 2  0  0 0  1 1  -                 0xf                    0            Stored;
    CTR_EL0           3 3  0  0 1  0 _  -                 0                      0            Id;
    DCZID_EL0         3 3  0  0 7  0 _  -                 0                      0            Id;

    // System control and translation, EL1.
    SCTLR_EL1         3 0  1  0 0  1 1  -                 0x070d_d21f            0x30d0_0980  Special;
    ACTLR_EL1         3 0  1  0 1  1 1  -                 0                      0            Stored;
    CPACR_EL1         3 0  1  0 2  1 1  -                 0x0030_0000            0            Special;
    SCTLR2_EL1        3 0  1  0 3  1 1  FEAT_SCTLR2       0                      0            Special;
    TRFCR_EL1         3 0  1  2 1  1 1  FEAT_TRF          0x63                   0            Stored;
    TTBR0_EL1         3 0  2  0 0  1 1  -                 0xffff_ffff_ffff_fffe  0            Special;
    TTBR1_EL1         3 0  2  0 1  1 1  -                 0xffff_ffff_ffff_fffe  0            Special;
    TCR_EL1           3 0  2  0 2  1 1  -                 0x0077_ffff_ffbf       0            Special;
    TCR2_EL1          3 0  2  0 3  1 1  FEAT_TCR2         0                      0            Special;
    AFSR0_EL1         3 0  5  1 0  1 1  -                 0                      0            Stored;
    AFSR1_EL1         3 0  5  1 1  1 1  -                 0                      0            Stored;
    ESR_EL1           3 0  5  2 0  1 1  -                 0xffff_ffff            0            Stored;
    FAR_EL1           3 0  6  0 0  1 1  -                 0xffff_ffff_ffff_ffff  0            Stored;
    PAR_EL1           3 0  7  4 0  1 1  -                 0xffff_ffff_ffff_ffff  0            Stored;
    MAIR_EL1          3 0 10  2 0  1 1  -                 0xffff_ffff_ffff_ffff  0            Special;
    MAIR2_EL1         3 0 10  2 1  1 1  FEAT_AIE          0xffff_ffff_ffff_ffff  0            Special;
    PIRE0_EL1         3 0 10  2 2  1 1  FEAT_S1PIE        0xffff_ffff_ffff_ffff  0            Special;
    PIR_EL1           3 0 10  2 3  1 1  FEAT_S1PIE        0xffff_ffff_ffff_ffff  0            Special;
    POR_EL1           3 0 10  2 4  1 1  FEAT_S1POE        0xffff_ffff_ffff_ffff  0            Special;
    POR_EL0           3 3 10  2 4  0 0  FEAT_S1POE        0xffff_ffff_ffff_ffff  0            Special;
    AMAIR_EL1         3 0 10  3 0  1 1  -                 0                      0            Stored;
    AMAIR2_EL1        3 0 10  3 1  1 1  FEAT_AIE          0                      0            Stored;
    LORSA_EL1         3 0 10  4 0  1 1  FEAT_LOR          0x000f_ffff_ffff_0001  0            Stored;
    LOREA_EL1         3 0 10  4 1  1 1  FEAT_LOR          0x000f_ffff_ffff_0000  0            Stored;
    LORN_EL1          3 0 10  4 2  1 1  FEAT_LOR          0xff                   0            Stored;
    LORC_EL1          3 0 10  4 3  1 1  FEAT_LOR          0x3fd                  0            Stored;
    LORID_EL1         3 0 10  4 7  1 _  FEAT_LOR          0                      0            Id;
    VBAR_EL1          3 0 12  0 0  1 1  -                 0xffff_ffff_ffff_f800  0            Stored;

    // RVBAR and RMR exist at the highest implemented EL only.
    RVBAR_EL1         3 0 12  0 1  1 _  -                 0                      0            Special;
    RMR_EL1           3 0 12  0 2  1 1  -                 0x2                    0x1          Special;
    ISR_EL1           3 0 12  1 0  1 _  -                 0                      0            Special;
    CONTEXTIDR_EL1    3 0 13  0 1  1 1  -                 0xffff_ffff            0            Special;
    TPIDR_EL1         3 0 13  0 4  1 1  -                 0xffff_ffff_ffff_ffff  0            Stored;
    ACCDATA_EL1       3 0 13  0 5  1 1  FEAT_LS64_ACCDATA 0xffff_ffff            0            Stored;
    SCXTNUM_EL1       3 0 13  0 7  1 1  FEAT_CSV2_2       0xffff_ffff_ffff_ffff  0            Stored;
    TPIDR_EL0         3 3 13  0 2  0 0  -                 0xffff_ffff_ffff_ffff  0            Stored;
    TPIDRRO_EL0       3 3 13  0 3  0 1  -                 0xffff_ffff_ffff_ffff  0            Stored;
    TPIDR2_EL0        3 3 13  0 5  0 0  FEAT_SME          0xffff_ffff_ffff_ffff  0            Stored;
    SCXTNUM_EL0       3 3 13  0 7  0 0  FEAT_CSV2_2       0xffff_ffff_ffff_ffff  0            Special;

    // Process state.
    SPSR_EL1          3 0  4  0 0  1 1  -                 0xf030_03df            0            Stored;
    ELR_EL1           3 0  4  0 1  1 1  -                 0xffff_ffff_ffff_ffff  0            Stored;
    SP_EL0            3 0  4  1 0  1 1  -                 0xffff_ffff_ffff_ffff  0            Special;
    SPSel             3 0  4  2 0  1 1  -                 0x1                    0x1          Special;
    CurrentEL         3 0  4  2 2  1 _  -                 0                      0            Special;
    PAN               3 0  4  2 3  1 1  FEAT_PAN          0x0040_0000            0            Special;
    UAO               3 0  4  2 4  1 1  FEAT_UAO          0x0080_0000            0            Special;
    ALLINT            3 0  4  3 0  1 1  FEAT_NMI          0x2000                 0            Special;
    NZCV              3 3  4  2 0  0 0  -                 0xf000_0000            0            Special;
    DAIF              3 3  4  2 1  0 0  -                 0x3c0                  0x3c0        Special;
    DIT               3 3  4  2 5  0 0  FEAT_DIT          0x0100_0000            0            Special;
    SSBS              3 3  4  2 6  0 0  FEAT_SSBS2        0x1000                 0            Special;
    TCO               3 3  4  2 7  0 0  FEAT_MTE          0x0200_0000            0            Special;
    FPCR              3 3  4  4 0  0 0  FEAT_FP           0x07c0_0000            0            Special;
    FPSR              3 3  4  4 1  0 0  FEAT_FP           0x0800_009f            0            Special;

    // Pointer authentication keys.
    APIAKeyLo_EL1     3 0  2  1 0  1 1  FEAT_PAuth        0xffff_ffff_ffff_ffff  0            Special;
    APIAKeyHi_EL1     3 0  2  1 1  1 1  FEAT_PAuth        0xffff_ffff_ffff_ffff  0            Special;
    APIBKeyLo_EL1     3 0  2  1 2  1 1  FEAT_PAuth        0xffff_ffff_ffff_ffff  0            Special;
    APIBKeyHi_EL1     3 0  2  1 3  1 1  FEAT_PAuth        0xffff_ffff_ffff_ffff  0            Special;
    APDAKeyLo_EL1     3 0  2  2 0  1 1  FEAT_PAuth        0xffff_ffff_ffff_ffff  0            Special;
    APDAKeyHi_EL1     3 0  2  2 1  1 1  FEAT_PAuth        0xffff_ffff_ffff_ffff  0            Special;
    APDBKeyLo_EL1     3 0  2  2 2  1 1  FEAT_PAuth        0xffff_ffff_ffff_ffff  0            Special;
    APDBKeyHi_EL1     3 0  2  2 3  1 1  FEAT_PAuth        0xffff_ffff_ffff_ffff  0            Special;
    APGAKeyLo_EL1     3 0  2  3 0  1 1  FEAT_PAuth        0xffff_ffff_ffff_ffff  0            Special;
    APGAKeyHi_EL1     3 0  2  3 1  1 1  FEAT_PAuth        0xffff_ffff_ffff_ffff  0            Special;

    // Memory tagging and random numbers.
    RGSR_EL1          3 0  1  0 5  1 1  FEAT_MTE2         0x00ff_ff0f            0            Stored;
    GCR_EL1           3 0  1  0 6  1 1  FEAT_MTE2         0x0001_ffff            0            Stored;
    TFSR_EL1          3 0  5  6 0  1 1  FEAT_MTE_ASYNC    0x3                    0            Special;
    TFSRE0_EL1        3 0  5  6 1  1 1  FEAT_MTE_ASYNC    0x3                    0            Special;
    RNDR              3 3  2  4 0  0 _  FEAT_RNG          0                      0            Special;
    RNDRRS            3 3  2  4 1  0 _  FEAT_RNG          0                      0            Special;

    // Reliability.
    ERRIDR_EL1        3 0  5  3 0  1 _  FEAT_RAS          0                      0            Id;
    ERRSELR_EL1       3 0  5  3 1  1 1  FEAT_RAS          0xffff                 0            Special;
    ERXFR_EL1         3 0  5  4 0  1 _  FEAT_RAS          0                      0            Special;
    ERXCTLR_EL1       3 0  5  4 1  1 1  FEAT_RAS          0                      0            Special;
    ERXSTATUS_EL1     3 0  5  4 2  1 1  FEAT_RAS          0                      0            Special;
    ERXADDR_EL1       3 0  5  4 3  1 1  FEAT_RAS          0                      0            Special;
    ERXPFGF_EL1       3 0  5  4 4  1 _  FEAT_RASv1p1      0                      0            Special;
    ERXPFGCTL_EL1     3 0  5  4 5  1 1  FEAT_RASv1p1      0                      0            Special;
    ERXPFGCDN_EL1     3 0  5  4 6  1 1  FEAT_RASv1p1      0                      0            Special;
    ERXMISC0_EL1      3 0  5  5 0  1 1  FEAT_RAS          0                      0            Special;
    ERXMISC1_EL1      3 0  5  5 1  1 1  FEAT_RAS          0                      0            Special;
    ERXMISC2_EL1      3 0  5  5 2  1 1  FEAT_RASv1p1      0                      0            Special;
    ERXMISC3_EL1      3 0  5  5 3  1 1  FEAT_RASv1p1      0                      0            Special;
    DISR_EL1          3 0 12  1 1  1 1  FEAT_RAS          0x81ff_ffff            0            Special;

    // Memory partitioning.
    MPAMIDR_EL1       3 0 10  4 4  1 _  FEAT_MPAM         0                      0            Id;
    MPAM1_EL1         3 0 10  5 0  1 1  FEAT_MPAM         0x8000_ffff_ffff_ffff  0            Stored;
    MPAM0_EL1         3 0 10  5 1  1 1  FEAT_MPAM         0xffff_ffff_ffff       0            Stored;

    // Generic timer.
    CNTKCTL_EL1       3 0 14  1 0  1 1  -                 0x3ff                  0            Special;

    // CNTFRQ is written at the highest implemented EL only.
    CNTFRQ_EL0        3 3 14  0 0  0 1  -                 0xffff_ffff            0            Special;
    CNTPCT_EL0        3 3 14  0 1  0 _  -                 0                      0            Special;
    CNTVCT_EL0        3 3 14  0 2  0 _  -                 0                      0            Special;
    CNTPCTSS_EL0      3 3 14  0 5  0 _  FEAT_ECV          0                      0            Special;
    CNTVCTSS_EL0      3 3 14  0 6  0 _  FEAT_ECV          0                      0            Special;
    CNTP_TVAL_EL0     3 3 14  2 0  0 0  -                 0xffff_ffff            0            Special;
    CNTP_CTL_EL0      3 3 14  2 1  0 0  -                 0x3                    0            Special;
    CNTP_CVAL_EL0     3 3 14  2 2  0 0  -                 0xffff_ffff_ffff_ffff  0            Special;
    CNTV_TVAL_EL0     3 3 14  3 0  0 0  -                 0xffff_ffff            0            Special;
    CNTV_CTL_EL0      3 3 14  3 1  0 0  -                 0x3                    0            Special;
    CNTV_CVAL_EL0     3 3 14  3 2  0 0  -                 0xffff_ffff_ffff_ffff  0            Special;

    // GICv3 CPU interface.
    ICC_PMR_EL1       3 0  4  6 0  1 1  FEAT_GICv3        0xff                   0            Special;
    ICC_IAR0_EL1      3 0 12  8 0  1 _  FEAT_GICv3        0                      0            Special;
    ICC_EOIR0_EL1     3 0 12  8 1  _ 1  FEAT_GICv3        0xff_ffff              0            Special;
    ICC_HPPIR0_EL1    3 0 12  8 2  1 _  FEAT_GICv3        0                      0            Special;
    ICC_BPR0_EL1      3 0 12  8 3  1 1  FEAT_GICv3        0x7                    0            Special;
    ICC_AP0R0_EL1     3 0 12  8 4  1 1  FEAT_GICv3        0xffff_ffff            0            Special;
    ICC_AP0R1_EL1     3 0 12  8 5  1 1  FEAT_GICv3        0xffff_ffff            0            Special;
    ICC_AP0R2_EL1     3 0 12  8 6  1 1  FEAT_GICv3        0xffff_ffff            0            Special;
    ICC_AP0R3_EL1     3 0 12  8 7  1 1  FEAT_GICv3        0xffff_ffff            0            Special;
    ICC_AP1R0_EL1     3 0 12  9 0  1 1  FEAT_GICv3        0xffff_ffff            0            Special;
    ICC_AP1R1_EL1     3 0 12  9 1  1 1  FEAT_GICv3        0xffff_ffff            0            Special;
    ICC_AP1R2_EL1     3 0 12  9 2  1 1  FEAT_GICv3        0xffff_ffff            0            Special;
    ICC_AP1R3_EL1     3 0 12  9 3  1 1  FEAT_GICv3        0xffff_ffff            0            Special;
    ICC_NMIAR1_EL1    3 0 12  9 5  1 _  FEAT_NMI          0                      0            Special;
    ICC_DIR_EL1       3 0 12 11 1  _ 1  FEAT_GICv3        0xff_ffff              0            Special;
    ICC_RPR_EL1       3 0 12 11 3  1 _  FEAT_GICv3        0                      0            Special;
    ICC_SGI1R_EL1     3 0 12 11 5  _ 1  FEAT_GICv3        0xffff_ffff_ffff_ffff  0            Special;
    ICC_ASGI1R_EL1    3 0 12 11 6  _ 1  FEAT_GICv3        0xffff_ffff_ffff_ffff  0            Special;
    ICC_SGI0R_EL1     3 0 12 11 7  _ 1  FEAT_GICv3        0xffff_ffff_ffff_ffff  0            Special;
    ICC_IAR1_EL1      3 0 12 12 0  1 _  FEAT_GICv3        0                      0            Special;
    ICC_EOIR1_EL1     3 0 12 12 1  _ 1  FEAT_GICv3        0xff_ffff              0            Special;
    ICC_HPPIR1_EL1    3 0 12 12 2  1 _  FEAT_GICv3        0                      0            Special;
    ICC_BPR1_EL1      3 0 12 12 3  1 1  FEAT_GICv3        0x7                    0            Special;
    ICC_CTLR_EL1      3 0 12 12 4  1 1  FEAT_GICv3        0x43                   0            Special;
    ICC_SRE_EL1       3 0 12 12 5  1 1  FEAT_GICv3        0x6                    0x1          Special;
    ICC_IGRPEN0_EL1   3 0 12 12 6  1 1  FEAT_GICv3        0x1                    0            Special;
    ICC_IGRPEN1_EL1   3 0 12 12 7  1 1  FEAT_GICv3        0x1                    0            Special;

    // Statistical profiling.
    PMSCR_EL1         3 0  9  9 0  1 1  FEAT_SPE          0xfb                   0            Special;
    PMSNEVFR_EL1      3 0  9  9 1  1 1  FEAT_SPEv1p2      0xffff_ffff_ffff_ffff  0            Stored;
    PMSICR_EL1        3 0  9  9 2  1 1  FEAT_SPE          0xff00_0000_ffff_ffff  0            Special;
    PMSIRR_EL1        3 0  9  9 3  1 1  FEAT_SPE          0xffff_ff01            0            Special;
    PMSFCR_EL1        3 0  9  9 4  1 1  FEAT_SPE          0x7_0007               0            Special;
    PMSEVFR_EL1       3 0  9  9 5  1 1  FEAT_SPE          0xffff_ffff_ffff_ffff  0            Special;
    PMSLATFR_EL1      3 0  9  9 6  1 1  FEAT_SPE          0xffff                 0            Special;
    PMSIDR_EL1        3 0  9  9 7  1 _  FEAT_SPE          0                      0            Id;
    PMBLIMITR_EL1     3 0  9 10 0  1 1  FEAT_SPE          0xffff_ffff_ffff_f007  0            Special;
    PMBPTR_EL1        3 0  9 10 1  1 1  FEAT_SPE          0xffff_ffff_ffff_ffff  0            Special;
    PMBSR_EL1         3 0  9 10 3  1 1  FEAT_SPE          0xfc0f_ffff            0            Special;
    PMBIDR_EL1        3 0  9 10 7  1 _  FEAT_SPE          0                      0            Id;

    // Performance monitors.
    PMINTENSET_EL1    3 0  9 14 1  1 1  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMINTENCLR_EL1    3 0  9 14 2  1 1  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMMIR_EL1         3 0  9 14 6  1 _  FEAT_PMUv3p4      0                      0            Id;
    PMCR_EL0          3 3  9 12 0  0 0  FEAT_PMUv3        0x1                    0x40         Special;
    PMCNTENSET_EL0    3 3  9 12 1  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMCNTENCLR_EL0    3 3  9 12 2  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMOVSCLR_EL0      3 3  9 12 3  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMSWINC_EL0       3 3  9 12 4  _ 0  FEAT_PMUv3        0x7fff_ffff            0            Special;
    PMSELR_EL0        3 3  9 12 5  0 0  FEAT_PMUv3        0x1f                   0            Stored;
    PMCEID0_EL0       3 3  9 12 6  0 _  FEAT_PMUv3        0                      0            Id;
    PMCEID1_EL0       3 3  9 12 7  0 _  FEAT_PMUv3        0                      0            Id;
    PMCCNTR_EL0       3 3  9 13 0  0 0  FEAT_PMUv3        0xffff_ffff_ffff_ffff  0            Special;
    PMXEVTYPER_EL0    3 3  9 13 1  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMXEVCNTR_EL0     3 3  9 13 2  0 0  FEAT_PMUv3        0xffff_ffff_ffff_ffff  0            Special;
    PMUSERENR_EL0     3 3  9 14 0  0 1  FEAT_PMUv3        0xf                    0            Stored;
    PMOVSSET_EL0      3 3  9 14 3  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR0_EL0     3 3 14  8 0  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR1_EL0     3 3 14  8 1  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR2_EL0     3 3 14  8 2  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR3_EL0     3 3 14  8 3  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR4_EL0     3 3 14  8 4  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR5_EL0     3 3 14  8 5  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR6_EL0     3 3 14  8 6  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR7_EL0     3 3 14  8 7  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR8_EL0     3 3 14  9 0  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR9_EL0     3 3 14  9 1  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR10_EL0    3 3 14  9 2  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR11_EL0    3 3 14  9 3  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR12_EL0    3 3 14  9 4  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR13_EL0    3 3 14  9 5  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR14_EL0    3 3 14  9 6  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR15_EL0    3 3 14  9 7  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR16_EL0    3 3 14 10 0  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR17_EL0    3 3 14 10 1  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR18_EL0    3 3 14 10 2  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR19_EL0    3 3 14 10 3  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR20_EL0    3 3 14 10 4  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR21_EL0    3 3 14 10 5  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR22_EL0    3 3 14 10 6  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR23_EL0    3 3 14 10 7  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR24_EL0    3 3 14 11 0  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR25_EL0    3 3 14 11 1  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR26_EL0    3 3 14 11 2  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR27_EL0    3 3 14 11 3  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR28_EL0    3 3 14 11 4  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR29_EL0    3 3 14 11 5  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVCNTR30_EL0    3 3 14 11 6  0 0  FEAT_PMUv3        0xffff_ffff            0            Special;
    PMEVTYPER0_EL0    3 3 14 12 0  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER1_EL0    3 3 14 12 1  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER2_EL0    3 3 14 12 2  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER3_EL0    3 3 14 12 3  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER4_EL0    3 3 14 12 4  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER5_EL0    3 3 14 12 5  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER6_EL0    3 3 14 12 6  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER7_EL0    3 3 14 12 7  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER8_EL0    3 3 14 13 0  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER9_EL0    3 3 14 13 1  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER10_EL0   3 3 14 13 2  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER11_EL0   3 3 14 13 3  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER12_EL0   3 3 14 13 4  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER13_EL0   3 3 14 13 5  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER14_EL0   3 3 14 13 6  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER15_EL0   3 3 14 13 7  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER16_EL0   3 3 14 14 0  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER17_EL0   3 3 14 14 1  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER18_EL0   3 3 14 14 2  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER19_EL0   3 3 14 14 3  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER20_EL0   3 3 14 14 4  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER21_EL0   3 3 14 14 5  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER22_EL0   3 3 14 14 6  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER23_EL0   3 3 14 14 7  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER24_EL0   3 3 14 15 0  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER25_EL0   3 3 14 15 1  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER26_EL0   3 3 14 15 2  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER27_EL0   3 3 14 15 3  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER28_EL0   3 3 14 15 4  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER29_EL0   3 3 14 15 5  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMEVTYPER30_EL0   3 3 14 15 6  0 0  FEAT_PMUv3        0xc000_03ff            0            Special;
    PMCCFILTR_EL0     3 3 14 15 7  0 0  FEAT_PMUv3        0xc000_0000            0            Special;

    // Activity monitors.
    AMCR_EL0          3 3 13  2 0  0 0  FEAT_AMUv1        0x400                  0            Special;
    AMCFGR_EL0        3 3 13  2 1  0 _  FEAT_AMUv1        0                      0            Id;
    AMCGCR_EL0        3 3 13  2 2  0 _  FEAT_AMUv1        0                      0            Id;
    AMUSERENR_EL0     3 3 13  2 3  0 1  FEAT_AMUv1        0x1                    0            Stored;
    AMCNTENCLR0_EL0   3 3 13  2 4  0 0  FEAT_AMUv1        0xf                    0            Special;
    AMCNTENSET0_EL0   3 3 13  2 5  0 0  FEAT_AMUv1        0xf                    0            Special;
    AMCG1IDR_EL0      3 3 13  2 6  0 _  FEAT_AMUv1p1      0                      0            Id;
    AMCNTENCLR1_EL0   3 3 13  3 0  0 0  FEAT_AMUv1        0xffff                 0            Special;
    AMCNTENSET1_EL0   3 3 13  3 1  0 0  FEAT_AMUv1        0xffff                 0            Special;
    AMEVCNTR00_EL0    3 3 13  4 0  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVCNTR01_EL0    3 3 13  4 1  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVCNTR02_EL0    3 3 13  4 2  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVCNTR03_EL0    3 3 13  4 3  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVTYPER00_EL0   3 3 13  6 0  0 _  FEAT_AMUv1        0                      0            Id;
    AMEVTYPER01_EL0   3 3 13  6 1  0 _  FEAT_AMUv1        0                      0            Id;
    AMEVTYPER02_EL0   3 3 13  6 2  0 _  FEAT_AMUv1        0                      0            Id;
    AMEVTYPER03_EL0   3 3 13  6 3  0 _  FEAT_AMUv1        0                      0            Id;
    AMEVCNTR10_EL0    3 3 13 12 0  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVCNTR11_EL0    3 3 13 12 1  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVCNTR12_EL0    3 3 13 12 2  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVCNTR13_EL0    3 3 13 12 3  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVCNTR14_EL0    3 3 13 12 4  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVCNTR15_EL0    3 3 13 12 5  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVCNTR16_EL0    3 3 13 12 6  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVCNTR17_EL0    3 3 13 12 7  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVCNTR18_EL0    3 3 13 13 0  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVCNTR19_EL0    3 3 13 13 1  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVCNTR110_EL0   3 3 13 13 2  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVCNTR111_EL0   3 3 13 13 3  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVCNTR112_EL0   3 3 13 13 4  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVCNTR113_EL0   3 3 13 13 5  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVCNTR114_EL0   3 3 13 13 6  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVCNTR115_EL0   3 3 13 13 7  0 0  FEAT_AMUv1        0xffff_ffff_ffff_ffff  0            Special;
    AMEVTYPER10_EL0   3 3 13 14 0  0 0  FEAT_AMUv1        0xffff                 0            Special;
    AMEVTYPER11_EL0   3 3 13 14 1  0 0  FEAT_AMUv1        0xffff                 0            Special;
    AMEVTYPER12_EL0   3 3 13 14 2  0 0  FEAT_AMUv1        0xffff                 0            Special;
    AMEVTYPER13_EL0   3 3 13 14 3  0 0  FEAT_AMUv1        0xffff                 0            Special;
    AMEVTYPER14_EL0   3 3 13 14 4  0 0  FEAT_AMUv1        0xffff                 0            Special;
    AMEVTYPER15_EL0   3 3 13 14 5  0 0  FEAT_AMUv1        0xffff                 0            Special;
    AMEVTYPER16_EL0   3 3 13 14 6  0 0  FEAT_AMUv1        0xffff                 0            Special;
    AMEVTYPER17_EL0   3 3 13 14 7  0 0  FEAT_AMUv1        0xffff                 0            Special;
    AMEVTYPER18_EL0   3 3 13 15 0  0 0  FEAT_AMUv1        0xffff                 0            Special;
    AMEVTYPER19_EL0   3 3 13 15 1  0 0  FEAT_AMUv1        0xffff                 0            Special;
    AMEVTYPER110_EL0  3 3 13 15 2  0 0  FEAT_AMUv1        0xffff                 0            Special;
    AMEVTYPER111_EL0  3 3 13 15 3  0 0  FEAT_AMUv1        0xffff                 0            Special;
    AMEVTYPER112_EL0  3 3 13 15 4  0 0  FEAT_AMUv1        0xffff                 0            Special;
    AMEVTYPER113_EL0  3 3 13 15 5  0 0  FEAT_AMUv1        0xffff                 0            Special;
    AMEVTYPER114_EL0  3 3 13 15 6  0 0  FEAT_AMUv1        0xffff                 0            Special;
    AMEVTYPER115_EL0  3 3 13 15 7  0 0  FEAT_AMUv1        0xffff                 0            Special;

    // Self-hosted debug.
    OSDTRRX_EL1       2 0  0  0 2  1 1  -                 0xffff_ffff            0            Special;
    MDCCINT_EL1       2 0  0  2 0  1 1  -                 0x6000_0000            0            Stored;
    MDSCR_EL1         2 0  0  2 2  1 1  -                 0x6ce0_f041            0            Special;
    OSDTRTX_EL1       2 0  0  3 2  1 1  -                 0xffff_ffff            0            Special;
    OSECCR_EL1        2 0  0  6 2  1 1  -                 0xffff_ffff            0            Special;
    MDRAR_EL1         2 0  1  0 0  1 _  -                 0                      0            Id;
    OSLAR_EL1         2 0  1  0 4  _ 1  -                 0x1                    0            Special;
    OSLSR_EL1         2 0  1  1 4  1 _  -                 0                      0xa          Special;
    OSDLR_EL1         2 0  1  3 4  1 1  -                 0x1                    0            Special;
    DBGPRCR_EL1       2 0  1  4 4  1 1  -                 0x1                    0            Stored;
    DBGCLAIMSET_EL1   2 0  7  8 6  1 1  -                 0xff                   0            Special;
    DBGCLAIMCLR_EL1   2 0  7  9 6  1 1  -                 0xff                   0            Special;
    DBGAUTHSTATUS_EL1 2 0  7 14 6  1 _  -                 0                      0            Id;
    MDCCSR_EL0        2 3  0  1 0  0 _  -                 0                      0            Special;
    DBGDTR_EL0        2 3  0  4 0  0 0  -                 0xffff_ffff_ffff_ffff  0            Special;

    // Written, this encoding is DBGDTRTX_EL0.
    DBGDTRRX_EL0      2 3  0  5 0  0 0  -                 0xffff_ffff            0            Special;
    DBGBVR0_EL1       2 0  0  0 4  1 1  -                 0xffff_ffff_ffff_ffff  0            Special;
    DBGBVR1_EL1       2 0  0  1 4  1 1  -                 0xffff_ffff_ffff_ffff  0            Special;
    DBGBVR2_EL1       2 0  0  2 4  1 1  -                 0xffff_ffff_ffff_ffff  0            Special;
    DBGBVR3_EL1       2 0  0  3 4  1 1  -                 0xffff_ffff_ffff_ffff  0            Special;
    DBGBVR4_EL1       2 0  0  4 4  1 1  -                 0xffff_ffff_ffff_ffff  0            Special;
    DBGBVR5_EL1       2 0  0  5 4  1 1  -                 0xffff_ffff_ffff_ffff  0            Special;
    DBGBVR6_EL1       2 0  0  6 4  1 1  -                 0xffff_ffff_ffff_ffff  0            Special;
    DBGBVR7_EL1       2 0  0  7 4  1 1  -                 0xffff_ffff_ffff_ffff  0            Special;
    DBGBVR8_EL1       2 0  0  8 4  1 1  -                 0xffff_ffff_ffff_ffff  0            Special;
    DBGBVR9_EL1       2 0  0  9 4  1 1  -                 0xffff_ffff_ffff_ffff  0            Special;
    DBGBVR10_EL1      2 0  0 10 4  1 1  -                 0xffff_ffff_ffff_ffff  0            Special;
    DBGBVR11_EL1      2 0  0 11 4  1 1  -                 0xffff_ffff_ffff_ffff  0            Special;
    DBGBVR12_EL1      2 0  0 12 4  1 1  -                 0xffff_ffff_ffff_ffff  0            Special;
    DBGBVR13_EL1      2 0  0 13 4  1 1  -                 0xffff_ffff_ffff_ffff  0            Special;
    DBGBVR14_EL1      2 0  0 14 4  1 1  -                 0xffff_ffff_ffff_ffff  0            Special;
    DBGBVR15_EL1      2 0  0 15 4  1 1  -                 0xffff_ffff_ffff_ffff  0            Special;
    DBGBCR0_EL1       2 0  0  0 5  1 1  -                 0x00ff_e1e7            0            Special;
    DBGBCR1_EL1       2 0  0  1 5  1 1  -                 0x00ff_e1e7            0            Special;
    DBGBCR2_EL1       2 0  0  2 5  1 1  -                 0x00ff_e1e7            0            Special;
    DBGBCR3_EL1       2 0  0  3 5  1 1  -                 0x00ff_e1e7            0            Special;
    DBGBCR4_EL1       2 0  0  4 5  1 1  -                 0x00ff_e1e7            0            Special;
    DBGBCR5_EL1       2 0  0  5 5  1 1  -                 0x00ff_e1e7            0            Special;
    DBGBCR6_EL1       2 0  0  6 5  1 1  -                 0x00ff_e1e7            0            Special;
    DBGBCR7_EL1       2 0  0  7 5  1 1  -                 0x00ff_e1e7            0            Special;
    DBGBCR8_EL1       2 0  0  8 5  1 1  -                 0x00ff_e1e7            0            Special;
    DBGBCR9_EL1       2 0  0  9 5  1 1  -                 0x00ff_e1e7            0            Special;
    DBGBCR10_EL1      2 0  0 10 5  1 1  -                 0x00ff_e1e7            0            Special;
    DBGBCR11_EL1      2 0  0 11 5  1 1  -                 0x00ff_e1e7            0            Special;
    DBGBCR12_EL1      2 0  0 12 5  1 1  -                 0x00ff_e1e7            0            Special;
    DBGBCR13_EL1      2 0  0 13 5  1 1  -                 0x00ff_e1e7            0            Special;
    DBGBCR14_EL1      2 0  0 14 5  1 1  -                 0x00ff_e1e7            0            Special;
    DBGBCR15_EL1      2 0  0 15 5  1 1  -                 0x00ff_e1e7            0            Special;
    DBGWVR0_EL1       2 0  0  0 6  1 1  -                 0xffff_ffff_ffff_fffc  0            Special;
    DBGWVR1_EL1       2 0  0  1 6  1 1  -                 0xffff_ffff_ffff_fffc  0            Special;
    DBGWVR2_EL1       2 0  0  2 6  1 1  -                 0xffff_ffff_ffff_fffc  0            Special;
    DBGWVR3_EL1       2 0  0  3 6  1 1  -                 0xffff_ffff_ffff_fffc  0            Special;
    DBGWVR4_EL1       2 0  0  4 6  1 1  -                 0xffff_ffff_ffff_fffc  0            Special;
    DBGWVR5_EL1       2 0  0  5 6  1 1  -                 0xffff_ffff_ffff_fffc  0            Special;
    DBGWVR6_EL1       2 0  0  6 6  1 1  -                 0xffff_ffff_ffff_fffc  0            Special;
    DBGWVR7_EL1       2 0  0  7 6  1 1  -                 0xffff_ffff_ffff_fffc  0            Special;
    DBGWVR8_EL1       2 0  0  8 6  1 1  -                 0xffff_ffff_ffff_fffc  0            Special;
    DBGWVR9_EL1       2 0  0  9 6  1 1  -                 0xffff_ffff_ffff_fffc  0            Special;
    DBGWVR10_EL1      2 0  0 10 6  1 1  -                 0xffff_ffff_ffff_fffc  0            Special;
    DBGWVR11_EL1      2 0  0 11 6  1 1  -                 0xffff_ffff_ffff_fffc  0            Special;
    DBGWVR12_EL1      2 0  0 12 6  1 1  -                 0xffff_ffff_ffff_fffc  0            Special;
    DBGWVR13_EL1      2 0  0 13 6  1 1  -                 0xffff_ffff_ffff_fffc  0            Special;
    DBGWVR14_EL1      2 0  0 14 6  1 1  -                 0xffff_ffff_ffff_fffc  0            Special;
    DBGWVR15_EL1      2 0  0 15 6  1 1  -                 0xffff_ffff_ffff_fffc  0            Special;
    DBGWCR0_EL1       2 0  0  0 7  1 1  -                 0x1f1f_ffff            0            Special;
    DBGWCR1_EL1       2 0  0  1 7  1 1  -                 0x1f1f_ffff            0            Special;
    DBGWCR2_EL1       2 0  0  2 7  1 1  -                 0x1f1f_ffff            0            Special;
    DBGWCR3_EL1       2 0  0  3 7  1 1  -                 0x1f1f_ffff            0            Special;
    DBGWCR4_EL1       2 0  0  4 7  1 1  -                 0x1f1f_ffff            0            Special;
    DBGWCR5_EL1       2 0  0  5 7  1 1  -                 0x1f1f_ffff            0            Special;
    DBGWCR6_EL1       2 0  0  6 7  1 1  -                 0x1f1f_ffff            0            Special;
    DBGWCR7_EL1       2 0  0  7 7  1 1  -                 0x1f1f_ffff            0            Special;
    DBGWCR8_EL1       2 0  0  8 7  1 1  -                 0x1f1f_ffff            0            Special;
    DBGWCR9_EL1       2 0  0  9 7  1 1  -                 0x1f1f_ffff            0            Special;
    DBGWCR10_EL1      2 0  0 10 7  1 1  -                 0x1f1f_ffff            0            Special;
    DBGWCR11_EL1      2 0  0 11 7  1 1  -                 0x1f1f_ffff            0            Special;
    DBGWCR12_EL1      2 0  0 12 7  1 1  -                 0x1f1f_ffff            0            Special;
    DBGWCR13_EL1      2 0  0 13 7  1 1  -                 0x1f1f_ffff            0            Special;
    DBGWCR14_EL1      2 0  0 14 7  1 1  -                 0x1f1f_ffff            0            Special;
    DBGWCR15_EL1      2 0  0 15 7  1 1  -                 0x1f1f_ffff            0            Special;

    // EL2: control.
    VPIDR_EL2         3 4  0  0 0  2 2  FEAT_EL2          0xffff_ffff            0            Special;
    VMPIDR_EL2        3 4  0  0 5  2 2  FEAT_EL2          0x00ff_41ff_ffff       0x8000_0000  Special;
    SCTLR_EL2         3 4  1  0 0  2 2  FEAT_EL2          0x0208_100f            0x30c5_0830  Special;
    ACTLR_EL2         3 4  1  0 1  2 2  FEAT_EL2          0                      0            Stored;
    SCTLR2_EL2        3 4  1  0 3  2 2  FEAT_SCTLR2       0                      0            Special;
    HCR_EL2           3 4  1  1 0  2 2  FEAT_EL2          0x0003_7fff_ffff       0x8000_0000  Special;
    MDCR_EL2          3 4  1  1 1  2 2  FEAT_EL2          0xfff                  0            Special;
    CPTR_EL2          3 4  1  1 2  2 2  FEAT_EL2          0x8010_0400            0x33ff       Special;
    HSTR_EL2          3 4  1  1 3  2 2  FEAT_EL2          0                      0            Stored;
    HFGRTR_EL2        3 4  1  1 4  2 2  FEAT_FGT          0                      0            Special;
    HFGWTR_EL2        3 4  1  1 5  2 2  FEAT_FGT          0                      0            Special;
    HFGITR_EL2        3 4  1  1 6  2 2  FEAT_FGT          0                      0            Special;
    HACR_EL2          3 4  1  1 7  2 2  FEAT_EL2          0                      0            Stored;
    HCRX_EL2          3 4  1  2 2  2 2  FEAT_HCX          0                      0            Special;
    TRFCR_EL2         3 4  1  2 1  2 2  FEAT_TRF          0x6b                   0            Stored;
    TTBR0_EL2         3 4  2  0 0  2 2  FEAT_EL2          0xffff_ffff_ffff_fffe  0            Special;
    TTBR1_EL2         3 4  2  0 1  2 2  FEAT_VHE          0xffff_ffff_ffff_fffe  0            Special;
    TCR_EL2           3 4  2  0 2  2 2  FEAT_EL2          0x0017_ff3f            0x8080_0000  Special;
    TCR2_EL2          3 4  2  0 3  2 2  FEAT_TCR2         0                      0            Special;
    VTTBR_EL2         3 4  2  1 0  2 2  FEAT_EL2          0xffff_ffff_ffff_fffe  0            Special;
    VTCR_EL2          3 4  2  1 2  2 2  FEAT_EL2          0x0007_ffff            0x8000_0000  Special;
    VNCR_EL2          3 4  2  2 0  2 2  FEAT_NV2          0xffff_ffff_ffff_f000  0            Special;
    VSTTBR_EL2        3 4  2  6 0  2 2  FEAT_SEL2         0xffff_ffff_ffff_fffe  0            Special;
    VSTCR_EL2         3 4  2  6 2  2 2  FEAT_SEL2         0x6000_c0ff            0x8000_0000  Special;
    HDFGRTR2_EL2      3 4  3  1 0  2 2  FEAT_FGT2         0                      0            Special;
    HDFGWTR2_EL2      3 4  3  1 1  2 2  FEAT_FGT2         0                      0            Special;
    HFGRTR2_EL2       3 4  3  1 2  2 2  FEAT_FGT2         0                      0            Special;
    HFGWTR2_EL2       3 4  3  1 3  2 2  FEAT_FGT2         0                      0            Special;
    HDFGRTR_EL2       3 4  3  1 4  2 2  FEAT_FGT          0                      0            Special;
    HDFGWTR_EL2       3 4  3  1 5  2 2  FEAT_FGT          0                      0            Special;
    HAFGRTR_EL2       3 4  3  1 6  2 2  FEAT_FGT          0                      0            Special;
    HFGITR2_EL2       3 4  3  1 7  2 2  FEAT_FGT2         0                      0            Special;
    SPSR_EL2          3 4  4  0 0  2 2  FEAT_EL2          0xf030_03df            0            Stored;
    ELR_EL2           3 4  4  0 1  2 2  FEAT_EL2          0xffff_ffff_ffff_ffff  0            Stored;
    SP_EL1            3 4  4  1 0  2 2  FEAT_EL2          0xffff_ffff_ffff_ffff  0            Special;
    AFSR0_EL2         3 4  5  1 0  2 2  FEAT_EL2          0                      0            Stored;
    AFSR1_EL2         3 4  5  1 1  2 2  FEAT_EL2          0                      0            Stored;
    ESR_EL2           3 4  5  2 0  2 2  FEAT_EL2          0xffff_ffff            0            Stored;
    VSESR_EL2         3 4  5  2 3  2 2  FEAT_RAS          0x01ff_ffff            0            Stored;
    TFSR_EL2          3 4  5  6 0  2 2  FEAT_MTE_ASYNC    0x3                    0            Special;
    FAR_EL2           3 4  6  0 0  2 2  FEAT_EL2          0xffff_ffff_ffff_ffff  0            Stored;
    HPFAR_EL2         3 4  6  0 4  2 2  FEAT_EL2          0x0fff_ffff_fff0       0            Stored;
    PMSCR_EL2         3 4  9  9 0  2 2  FEAT_SPE          0xfb                   0            Special;
    MAIR_EL2          3 4 10  2 0  2 2  FEAT_EL2          0xffff_ffff_ffff_ffff  0            Special;
    PIRE0_EL2         3 4 10  2 2  2 2  FEAT_S1PIE        0xffff_ffff_ffff_ffff  0            Special;
    PIR_EL2           3 4 10  2 3  2 2  FEAT_S1PIE        0xffff_ffff_ffff_ffff  0            Special;
    POR_EL2           3 4 10  2 4  2 2  FEAT_S1POE        0xffff_ffff_ffff_ffff  0            Special;
    S2PIR_EL2         3 4 10  2 5  2 2  FEAT_S2PIE        0xffff_ffff_ffff_ffff  0            Special;
    AMAIR_EL2         3 4 10  3 0  2 2  FEAT_EL2          0                      0            Stored;
    MPAMHCR_EL2       3 4 10  4 0  2 2  FEAT_MPAM         0                      0            Stored;
    MPAM2_EL2         3 4 10  5 0  2 2  FEAT_MPAM         0xffff_ffff_ffff       0            Stored;
    VBAR_EL2          3 4 12  0 0  2 2  FEAT_EL2          0xffff_ffff_ffff_f800  0            Stored;
    RVBAR_EL2         3 4 12  0 1  2 _  FEAT_EL2          0                      0            Special;
    RMR_EL2           3 4 12  0 2  2 2  FEAT_EL2          0x2                    0x1          Special;
    VDISR_EL2         3 4 12  1 1  2 2  FEAT_RAS          0x81ff_ffff            0            Special;
    CONTEXTIDR_EL2    3 4 13  0 1  2 2  FEAT_VHE          0xffff_ffff            0            Special;
    TPIDR_EL2         3 4 13  0 2  2 2  FEAT_EL2          0xffff_ffff_ffff_ffff  0            Stored;
    SCXTNUM_EL2       3 4 13  0 7  2 2  FEAT_CSV2_2       0xffff_ffff_ffff_ffff  0            Stored;

    // EL2: timers.
    CNTVOFF_EL2       3 4 14  0 3  2 2  FEAT_EL2          0xffff_ffff_ffff_ffff  0            Special;
    CNTPOFF_EL2       3 4 14  0 6  2 2  FEAT_ECV_POFF     0xffff_ffff_ffff_ffff  0            Special;
    CNTHCTL_EL2       3 4 14  1 0  2 2  FEAT_EL2          0xff                   0            Special;
    CNTHP_TVAL_EL2    3 4 14  2 0  2 2  FEAT_EL2          0xffff_ffff            0            Special;
    CNTHP_CTL_EL2     3 4 14  2 1  2 2  FEAT_EL2          0x3                    0            Special;
    CNTHP_CVAL_EL2    3 4 14  2 2  2 2  FEAT_EL2          0xffff_ffff_ffff_ffff  0            Special;
    CNTHV_TVAL_EL2    3 4 14  3 0  2 2  FEAT_VHE          0xffff_ffff            0            Special;
    CNTHV_CTL_EL2     3 4 14  3 1  2 2  FEAT_VHE          0x3                    0            Special;
    CNTHV_CVAL_EL2    3 4 14  3 2  2 2  FEAT_VHE          0xffff_ffff_ffff_ffff  0            Special;

    // EL2: virtual GIC CPU interface control.
    ICC_SRE_EL2       3 4 12  9 5  2 2  FEAT_GICv3        0xe                    0x1          Special;
    ICH_AP0R0_EL2     3 4 12  8 0  2 2  FEAT_GICv3        0xffff_ffff            0            Special;
    ICH_AP0R1_EL2     3 4 12  8 1  2 2  FEAT_GICv3        0xffff_ffff            0            Special;
    ICH_AP0R2_EL2     3 4 12  8 2  2 2  FEAT_GICv3        0xffff_ffff            0            Special;
    ICH_AP0R3_EL2     3 4 12  8 3  2 2  FEAT_GICv3        0xffff_ffff            0            Special;
    ICH_AP1R0_EL2     3 4 12  9 0  2 2  FEAT_GICv3        0xffff_ffff            0            Special;
    ICH_AP1R1_EL2     3 4 12  9 1  2 2  FEAT_GICv3        0xffff_ffff            0            Special;
    ICH_AP1R2_EL2     3 4 12  9 2  2 2  FEAT_GICv3        0xffff_ffff            0            Special;
    ICH_AP1R3_EL2     3 4 12  9 3  2 2  FEAT_GICv3        0xffff_ffff            0            Special;
    ICH_HCR_EL2       3 4 12 11 0  2 2  FEAT_GICv3        0xf800_fdff            0            Special;
    ICH_VTR_EL2       3 4 12 11 1  2 _  FEAT_GICv3        0                      0            Special;
    ICH_MISR_EL2      3 4 12 11 2  2 _  FEAT_GICv3        0                      0            Special;
    ICH_EISR_EL2      3 4 12 11 3  2 _  FEAT_GICv3        0                      0            Special;
    ICH_ELRSR_EL2     3 4 12 11 5  2 _  FEAT_GICv3        0                      0            Special;
    ICH_VMCR_EL2      3 4 12 11 7  2 2  FEAT_GICv3        0xfffc_021f            0            Special;
    ICH_LR0_EL2       3 4 12 12 0  2 2  FEAT_GICv3        0xf0ff_1fff_ffff_ffff  0            Special;
    ICH_LR1_EL2       3 4 12 12 1  2 2  FEAT_GICv3        0xf0ff_1fff_ffff_ffff  0            Special;
    ICH_LR2_EL2       3 4 12 12 2  2 2  FEAT_GICv3        0xf0ff_1fff_ffff_ffff  0            Special;
    ICH_LR3_EL2       3 4 12 12 3  2 2  FEAT_GICv3        0xf0ff_1fff_ffff_ffff  0            Special;
    ICH_LR4_EL2       3 4 12 12 4  2 2  FEAT_GICv3        0xf0ff_1fff_ffff_ffff  0            Special;
    ICH_LR5_EL2       3 4 12 12 5  2 2  FEAT_GICv3        0xf0ff_1fff_ffff_ffff  0            Special;
    ICH_LR6_EL2       3 4 12 12 6  2 2  FEAT_GICv3        0xf0ff_1fff_ffff_ffff  0            Special;
    ICH_LR7_EL2       3 4 12 12 7  2 2  FEAT_GICv3        0xf0ff_1fff_ffff_ffff  0            Special;
    ICH_LR8_EL2       3 4 12 13 0  2 2  FEAT_GICv3        0xf0ff_1fff_ffff_ffff  0            Special;
    ICH_LR9_EL2       3 4 12 13 1  2 2  FEAT_GICv3        0xf0ff_1fff_ffff_ffff  0            Special;
    ICH_LR10_EL2      3 4 12 13 2  2 2  FEAT_GICv3        0xf0ff_1fff_ffff_ffff  0            Special;
    ICH_LR11_EL2      3 4 12 13 3  2 2  FEAT_GICv3        0xf0ff_1fff_ffff_ffff  0            Special;
    ICH_LR12_EL2      3 4 12 13 4  2 2  FEAT_GICv3        0xf0ff_1fff_ffff_ffff  0            Special;
    ICH_LR13_EL2      3 4 12 13 5  2 2  FEAT_GICv3        0xf0ff_1fff_ffff_ffff  0            Special;
    ICH_LR14_EL2      3 4 12 13 6  2 2  FEAT_GICv3        0xf0ff_1fff_ffff_ffff  0            Special;
    ICH_LR15_EL2      3 4 12 13 7  2 2  FEAT_GICv3        0xf0ff_1fff_ffff_ffff  0            Special;

    // EL2: the EL1 and EL0 registers by their VHE names (effective only with HCR_EL2.E2H set).
    SCTLR_EL12        3 5  1  0 0  2 2  FEAT_VHE          0                      0            Special;
    CPACR_EL12        3 5  1  0 2  2 2  FEAT_VHE          0                      0            Special;
    SCTLR2_EL12       3 5  1  0 3  2 2  FEAT_VHE          0                      0            Special;
    TRFCR_EL12        3 5  1  2 1  2 2  FEAT_VHE          0                      0            Special;
    TTBR0_EL12        3 5  2  0 0  2 2  FEAT_VHE          0                      0            Special;
    TTBR1_EL12        3 5  2  0 1  2 2  FEAT_VHE          0                      0            Special;
    TCR_EL12          3 5  2  0 2  2 2  FEAT_VHE          0                      0            Special;
    TCR2_EL12         3 5  2  0 3  2 2  FEAT_VHE          0                      0            Special;
    SPSR_EL12         3 5  4  0 0  2 2  FEAT_VHE          0                      0            Special;
    ELR_EL12          3 5  4  0 1  2 2  FEAT_VHE          0                      0            Special;
    AFSR0_EL12        3 5  5  1 0  2 2  FEAT_VHE          0                      0            Special;
    AFSR1_EL12        3 5  5  1 1  2 2  FEAT_VHE          0                      0            Special;
    ESR_EL12          3 5  5  2 0  2 2  FEAT_VHE          0                      0            Special;
    TFSR_EL12         3 5  5  6 0  2 2  FEAT_VHE          0                      0            Special;
    FAR_EL12          3 5  6  0 0  2 2  FEAT_VHE          0                      0            Special;
    PMSCR_EL12        3 5  9  9 0  2 2  FEAT_VHE          0                      0            Special;
    MAIR_EL12         3 5 10  2 0  2 2  FEAT_VHE          0                      0            Special;
    PIRE0_EL12        3 5 10  2 2  2 2  FEAT_VHE          0                      0            Special;
    PIR_EL12          3 5 10  2 3  2 2  FEAT_VHE          0                      0            Special;
    POR_EL12          3 5 10  2 4  2 2  FEAT_VHE          0                      0            Special;
    AMAIR_EL12        3 5 10  3 0  2 2  FEAT_VHE          0                      0            Special;
    VBAR_EL12         3 5 12  0 0  2 2  FEAT_VHE          0                      0            Special;
    CONTEXTIDR_EL12   3 5 13  0 1  2 2  FEAT_VHE          0                      0            Special;
    SCXTNUM_EL12      3 5 13  0 7  2 2  FEAT_VHE          0                      0            Special;
    CNTKCTL_EL12      3 5 14  1 0  2 2  FEAT_VHE          0                      0            Special;
    CNTP_TVAL_EL02    3 5 14  2 0  2 2  FEAT_VHE          0                      0            Special;
    CNTP_CTL_EL02     3 5 14  2 1  2 2  FEAT_VHE          0                      0            Special;
    CNTP_CVAL_EL02    3 5 14  2 2  2 2  FEAT_VHE          0                      0            Special;
    CNTV_TVAL_EL02    3 5 14  3 0  2 2  FEAT_VHE          0                      0            Special;
    CNTV_CTL_EL02     3 5 14  3 1  2 2  FEAT_VHE          0                      0            Special;
    CNTV_CVAL_EL02    3 5 14  3 2  2 2  FEAT_VHE          0                      0            Special;
}
