//! Fields of the system-control, translation and hypervisor-control registers.

use super::fields;

fields! {
    /// SCTLR_EL1, and SCTLR_EL2 where `HCR_EL2.{E2H,TGE}` = {1,1}; without E2H, SCTLR_EL2 has a subset at the same bits.
    mod sctlr_el1 {
        M [0]; A [1]; C [2]; SA [3]; SA0 [4]; nAA [6]; UMA [9]; EnRCTX [10]; EOS [11]; I [12]; EnDB [13]; DZE [14];
        UCT [15]; nTWI [16]; nTWE [18]; WXN [19]; TSCXT [20]; IESB [21]; EIS [22]; SPAN [23]; E0E [24]; EE [25];
        UCI [26]; EnDA [27]; nTLSMD [28]; LSMAOE [29]; EnIB [30]; EnIA [31]; CMOW [32]; MSCEn [33]; BT0 [35]; BT1 [36];
        ITFSB [37]; TCF0 [39 38]; TCF [41 40]; ATA0 [42]; ATA [43]; DSSBS [44]; TWEDEn [45]; TWEDEL [49 46];
        TMT0 [50]; TMT [51]; TME0 [52]; TME [53]; EnASR [54]; EnAS0 [55]; EnALS [56]; EPAN [57]; TCSO0 [58]; TCSO [59];
        EnTP2 [60]; NMI [61]; SPINTMASK [62]; TIDCP [63];
    }
    /// CPACR_EL1, and CPTR_EL2 where `HCR_EL2.E2H` = 1.
    mod cpacr_el1 { ZEN [17 16]; FPEN [21 20]; SMEN [25 24]; TTA [28]; E0POE [29]; TAM [30]; TCPAC [31]; }
    /// CPTR_EL2 where `HCR_EL2.E2H` = 0.
    mod cptr_el2 { TZ [8]; TFP [10]; TSM [12]; TTA [20]; TAM [30]; TCPAC [31]; }
    /// TCR_EL1, and TCR_EL2 where `HCR_EL2.E2H` = 1.
    mod tcr_el1 {
        T0SZ [5 0]; EPD0 [7]; IRGN0 [9 8]; ORGN0 [11 10]; SH0 [13 12]; TG0 [15 14]; T1SZ [21 16]; A1 [22]; EPD1 [23];
        IRGN1 [25 24]; ORGN1 [27 26]; SH1 [29 28]; TG1 [31 30]; IPS [34 32]; AS [36]; TBI0 [37]; TBI1 [38]; HA [39];
        HD [40]; HPD0 [41]; HPD1 [42]; HWU059 [43]; HWU060 [44]; HWU061 [45]; HWU062 [46]; HWU159 [47]; HWU160 [48];
        HWU161 [49]; HWU162 [50]; TBID0 [51]; TBID1 [52]; NFD0 [53]; NFD1 [54]; E0PD0 [55]; E0PD1 [56]; TCMA0 [57];
        TCMA1 [58]; DS [59]; MTX0 [60]; MTX1 [61];
    }
    /// TCR_EL2 where `HCR_EL2.E2H` = 0.
    mod tcr_el2 {
        T0SZ [5 0]; IRGN0 [9 8]; ORGN0 [11 10]; SH0 [13 12]; TG0 [15 14]; PS [18 16]; TBI [20]; HA [21]; HD [22];
        HPD [24]; HWU59 [25]; HWU60 [26]; HWU61 [27]; HWU62 [28]; TBID [29]; TCMA [30]; DS [32]; MTX [33];
    }
    /// VTCR_EL2.
    mod vtcr_el2 {
        T0SZ [5 0]; SL0 [7 6]; IRGN0 [9 8]; ORGN0 [11 10]; SH0 [13 12]; TG0 [15 14]; PS [18 16]; VS [19]; HA [21];
        HD [22]; HWU59 [25]; HWU60 [26]; HWU61 [27]; HWU62 [28]; NSW [29]; NSA [30]; DS [32]; SL2 [33];
    }
    /// TTBR0_ELx and TTBR1_ELx. `BADDR` is bits 47 to 1 of the base; with a 52-bit output address, bits 5 to 2 of the
    /// register are bits 51 to 48 of the base.
    mod ttbr { CnP [0]; BADDR [47 1]; ASID [63 48]; }
    /// VTTBR_EL2.
    mod vttbr_el2 { CnP [0]; BADDR [47 1]; VMID [63 48]; }
    /// PAR_EL1, success (`F` = 0).
    mod par_el1 { F [0]; SH [8 7]; NS [9]; PA [51 12]; ATTR [63 56]; }
    /// PAR_EL1, failure (`F` = 1).
    mod par_el1_fault { F [0]; FST [6 1]; PTW [8]; S [9]; }
    /// HCR_EL2.
    mod hcr_el2 {
        VM [0]; SWIO [1]; PTW [2]; FMO [3]; IMO [4]; AMO [5]; VF [6]; VI [7]; VSE [8]; FB [9]; BSU [11 10]; DC [12];
        TWI [13]; TWE [14]; TID0 [15]; TID1 [16]; TID2 [17]; TID3 [18]; TSC [19]; TIDCP [20]; TACR [21]; TSW [22];
        TPCP [23]; TPU [24]; TTLB [25]; TVM [26]; TGE [27]; TDZ [28]; HCD [29]; TRVM [30]; RW [31]; CD [32]; ID [33];
        E2H [34]; TLOR [35]; TERR [36]; TEA [37]; MIOCNCE [38]; TME [39]; APK [40]; API [41]; NV [42]; NV1 [43]; AT [44];
        NV2 [45]; FWB [46]; FIEN [47]; GPF [48]; TID4 [49]; TICAB [50]; AMVOFFEN [51]; TOCU [52]; EnSCXT [53];
        TTLBIS [54]; TTLBOS [55]; ATA [56]; DCT [57]; TID5 [58]; TWEDEn [59]; TWEDEL [63 60];
    }
    /// HCRX_EL2.
    mod hcrx_el2 {
        EnAS0 [0]; EnALS [1]; EnASR [2]; FnXS [3]; FGTnXS [4]; SMPME [5]; TALLINT [6]; VINMI [7]; VFNMI [8]; CMOW [9];
        MCE2 [10]; MSCEn [11]; TCR2En [14]; SCTLR2En [15]; PTTWI [16]; D128En [17]; EnSNERR [18]; TMEA [19];
        EnSDERR [20]; EnIDCP128 [21]; GCSEn [22]; EnFPM [23]; PACMEn [24]; SRMASKEn [26];
    }
    /// ID of the process that SCTLR-independent checks use: CONTEXTIDR_ELx.
    mod contextidr { PROCID [31 0]; }
    /// HPFAR_EL2: `FIPA` is bits 55 to 12 of the faulting address.
    mod hpfar_el2 { FIPA [47 4]; NS [63]; }
    /// TFSR_ELx and TFSRE0_EL1.
    mod tfsr { TF0 [0]; TF1 [1]; }
    /// GCR_EL1.
    mod gcr_el1 { Exclude [15 0]; RRND [16]; }
    /// RGSR_EL1.
    mod rgsr_el1 { TAG [3 0]; SEED [23 8]; }
    /// FPCR.
    mod fpcr {
        FIZ [0]; AH [1]; NEP [2]; IOE [8]; DZE [9]; OFE [10]; UFE [11]; IXE [12]; EBF [13]; IDE [15]; FZ16 [19];
        RMode [23 22]; FZ [24]; DN [25]; AHP [26];
    }
    /// FPSR.
    mod fpsr { IOC [0]; DZC [1]; OFC [2]; UFC [3]; IXC [4]; IDC [7]; QC [27]; }
    /// DISR_EL1 and VDISR_EL2, AArch64 view.
    mod disr_el1 { ISS [23 0]; IDS [24]; A [31]; }
}
