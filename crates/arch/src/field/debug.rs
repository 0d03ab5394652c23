//! Fields of the debug, PMU, SPE and timer registers.

use super::fields;

fields! {
    /// MDSCR_EL1.
    mod mdscr_el1 {
        SS [0]; ERR [6]; TDCC [12]; KDE [13]; HDE [14]; MDE [15]; SC2 [19]; TDA [21]; INTdis [23 22]; TXU [26];
        RXO [27]; TXfull [29]; RXfull [30]; TFO [31]; EMBWE [32]; TTA [33]; EnSPM [34]; EHBWE [35]; EnSTEPOP [50];
    }
    /// MDCR_EL2.
    mod mdcr_el2 {
        HPMN [4 0]; TPMCR [5]; TPM [6]; HPME [7]; TDE [8]; TDA [9]; TDOSA [10]; TDRA [11]; E2PB [13 12]; TPMS [14];
        EnSPM [15]; HPMD [17]; TTRF [19]; HCCD [23]; E2TB [25 24]; HLP [26]; TDCC [27]; MTPME [28]; HPMFZO [29];
        PMSSE [31 30]; HPMFZS [36]; PMEE [41 40]; EBWE [43];
    }
    /// DBGBCRn_EL1.
    mod dbgbcr_el1 {
        E [0]; PMC [2 1]; BAS [8 5]; HMC [13]; SSC [15 14]; LBN [19 16]; BT [23 20]; MASK [28 24]; SSCE [29]; LBNX [31 30];
    }
    /// DBGWCRn_EL1.
    mod dbgwcr_el1 {
        E [0]; PAC [2 1]; LSC [4 3]; BAS [12 5]; HMC [13]; SSC [15 14]; LBN [19 16]; WT [20]; WT2 [21]; MASK [28 24];
        SSCE [29]; LBNX [31 30];
    }
    /// OSLSR_EL1. OSLM is split over bits 3 and 0; 0b10 says that the lock exists.
    mod oslsr_el1 { OSLM0 [0]; OSLK [1]; nTT [2]; OSLM1 [3]; }
    /// MDCCSR_EL0.
    mod mdccsr_el0 { TXfull [29]; RXfull [30]; }
    /// PMCR_EL0.
    mod pmcr_el0 {
        E [0]; P [1]; C [2]; D [3]; X [4]; DP [5]; LC [6]; LP [7]; FZO [9]; N [15 11]; IDCODE [23 16]; IMP [31 24];
        FZS [32];
    }
    /// PMEVTYPERn_EL0, PMXEVTYPER_EL0 and (the filter bits) PMCCFILTR_EL0.
    mod pmevtyper_el0 {
        evtCount [15 0]; SH [24]; MT [25]; M [26]; NSH [27]; NSU [28]; NSK [29]; U [30]; P [31]; TH [43 32]; TC [63 61];
    }
    /// PMUSERENR_EL0.
    mod pmuserenr_el0 { EN [0]; SW [1]; CR [2]; ER [3]; }
    /// PMSELR_EL0: 31 selects the cycle counter.
    mod pmselr_el0 { SEL [4 0]; }
    /// PMSCR_EL1.
    mod pmscr_el1 { E0SPE [0]; E1SPE [1]; CX [3]; PA [4]; TS [5]; PCT [7 6]; }
    /// PMSCR_EL2.
    mod pmscr_el2 { E0HSPE [0]; E2SPE [1]; CX [3]; PA [4]; TS [5]; PCT [7 6]; }
    /// PMSICR_EL1.
    mod pmsicr_el1 { COUNT [31 0]; ECOUNT [63 56]; }
    /// PMSIRR_EL1.
    mod pmsirr_el1 { RND [0]; INTERVAL [31 8]; }
    /// PMSFCR_EL1.
    mod pmsfcr_el1 { FE [0]; FT [1]; FL [2]; FnE [3]; B [16]; LD [17]; ST [18]; }
    /// PMSLATFR_EL1.
    mod pmslatfr_el1 { MINLAT [15 0]; }
    /// PMSIDR_EL1.
    mod pmsidr_el1 {
        FE [0]; FT [1]; FL [2]; ARCHINST [3]; LDS [4]; ERND [5]; FnE [6]; INTERVAL [11 8]; MAXSIZE [15 12];
        COUNTSIZE [19 16]; FORMAT [23 20]; PBT [24];
    }
    /// PMBLIMITR_EL1.
    mod pmblimitr_el1 { E [0]; FM [2 1]; PMFZ [5]; LIMIT [63 12]; }
    /// PMBSR_EL1.
    mod pmbsr_el1 { MSS [15 0]; COLL [16]; S [17]; EA [18]; DL [19]; EC [31 26]; }
    /// PMBIDR_EL1.
    mod pmbidr_el1 { ALIGN [3 0]; P [4]; F [5]; EA [11 8]; }
    /// CNTKCTL_EL1, and CNTHCTL_EL2 where `HCR_EL2.E2H` = 1 (its further fields are in `cnthctl_el2`).
    mod cntkctl_el1 {
        EL0PCTEN [0]; EL0VCTEN [1]; EVNTEN [2]; EVNTDIR [3]; EVNTI [7 4]; EL0VTEN [8]; EL0PTEN [9]; EVNTIS [17];
    }
    /// CNTHCTL_EL2 where `HCR_EL2.E2H` = 0.
    mod cnthctl_el2 {
        EL1PCTEN [0]; EL1PCEN [1]; EVNTEN [2]; EVNTDIR [3]; EVNTI [7 4]; ECV [12]; EL1TVT [13]; EL1TVCT [14];
        EL1NVPCT [15]; EL1NVVCT [16]; EVNTIS [17]; CNTVMASK [18]; CNTPMASK [19];
    }
    /// CNTHCTL_EL2 where `HCR_EL2.E2H` = 1: the two bits that move.
    mod cnthctl_el2_e2h { EL1PCTEN [10]; EL1PTEN [11]; }
    /// The control register of every generic timer.
    mod cnt_ctl { ENABLE [0]; IMASK [1]; ISTATUS [2]; }
    /// TRFCR_EL1.
    mod trfcr_el1 { E0TRE [0]; E1TRE [1]; TS [6 5]; }
}
