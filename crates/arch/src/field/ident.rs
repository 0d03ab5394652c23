//! Fields of the identification registers that are not features (those are in [`crate::feature`]).

use super::fields;

fields! {
    /// MIDR_EL1.
    mod midr_el1 { Revision [3 0]; PartNum [15 4]; Architecture [19 16]; Variant [23 20]; Implementer [31 24]; }
    /// MPIDR_EL1.
    mod mpidr_el1 { Aff0 [7 0]; Aff1 [15 8]; Aff2 [23 16]; MT [24]; U [30]; Aff3 [39 32]; }
    /// CTR_EL0. Line sizes are log2 of the number of words.
    mod ctr_el0 { IminLine [3 0]; L1Ip [15 14]; DminLine [19 16]; ERG [23 20]; CWG [27 24]; IDC [28]; DIC [29]; TminLine [37 32]; }
    /// DCZID_EL0. BS is log2 of the number of words.
    mod dczid_el0 { BS [3 0]; DZP [4]; }
    /// CSSELR_EL1.
    mod csselr_el1 { InD [0]; Level [3 1]; TnD [4]; }
    /// CCSIDR_EL1 without FEAT_CCIDX.
    mod ccsidr_el1 { LineSize [2 0]; Associativity [12 3]; NumSets [27 13]; }
    /// CCSIDR_EL1 with FEAT_CCIDX.
    mod ccsidr_el1_ccidx { LineSize [2 0]; Associativity [23 3]; NumSets [55 32]; }
    /// CLIDR_EL1.
    mod clidr_el1 {
        Ctype1 [2 0]; Ctype2 [5 3]; Ctype3 [8 6]; Ctype4 [11 9]; Ctype5 [14 12]; Ctype6 [17 15]; Ctype7 [20 18];
        LoUIS [23 21]; LoC [26 24]; LoUU [29 27]; ICB [32 30];
    }
    /// ID_AA64MMFR0_EL1, the parts that are sizes rather than features.
    mod id_aa64mmfr0_el1 {
        PARange [3 0]; ASIDBits [7 4]; BigEnd [11 8]; SNSMem [15 12]; BigEndEL0 [19 16]; TGran16 [23 20];
        TGran64 [27 24]; TGran4 [31 28]; TGran16_2 [35 32]; TGran64_2 [39 36]; TGran4_2 [43 40];
    }
    /// ID_AA64DFR0_EL1, the parts that are counts rather than features.
    mod id_aa64dfr0_el1 { DebugVer [3 0]; PMUVer [11 8]; BRPs [15 12]; WRPs [23 20]; CTX_CMPs [31 28]; }
    /// LORID_EL1.
    mod lorid_el1 { LR [7 0]; LD [23 16]; }
}
