//! Fields of the GICv3 CPU interface registers.

use super::fields;

fields! {
    /// ICC_CTLR_EL1 and ICV_CTLR_EL1.
    mod icc_ctlr_el1 {
        CBPR [0]; EOImode [1]; PMHE [6]; PRIbits [10 8]; IDbits [13 11]; SEIS [14]; A3V [15]; RSS [18]; ExtRange [19];
    }
    /// ICC_SRE_EL1 and ICC_SRE_EL2.
    mod icc_sre { SRE [0]; DFB [1]; DIB [2]; Enable [3]; }
    /// ICC_SGI0R_EL1, ICC_SGI1R_EL1 and ICC_ASGI1R_EL1.
    mod icc_sgir { TargetList [15 0]; Aff1 [23 16]; INTID [27 24]; Aff2 [39 32]; IRM [40]; RS [47 44]; Aff3 [55 48]; }
    /// ICH_HCR_EL2.
    mod ich_hcr_el2 {
        En [0]; UIE [1]; LRENPIE [2]; NPIE [3]; VGrp0EIE [4]; VGrp0DIE [5]; VGrp1EIE [6]; VGrp1DIE [7];
        vSGIEOICount [8]; TC [10]; TALL0 [11]; TALL1 [12]; TSEI [13]; TDIR [14]; DVIM [15]; EOIcount [31 27];
    }
    /// ICH_VTR_EL2.
    mod ich_vtr_el2 {
        ListRegs [4 0]; DVIM [18]; TDS [19]; nV4 [20]; A3V [21]; SEIS [22]; IDbits [25 23]; PREbits [28 26];
        PRIbits [31 29];
    }
    /// ICH_MISR_EL2.
    mod ich_misr_el2 { EOI [0]; U [1]; LRENP [2]; NP [3]; VGrp0E [4]; VGrp0D [5]; VGrp1E [6]; VGrp1D [7]; }
    /// ICH_VMCR_EL2.
    mod ich_vmcr_el2 {
        VENG0 [0]; VENG1 [1]; VAckCtl [2]; VFIQEn [3]; VCBPR [4]; VEOIM [9]; VBPR1 [20 18]; VBPR0 [23 21]; VPMR [31 24];
    }
    /// ICH_LRn_EL2. With `HW` = 0, bit 41 (in pINTID) is the EOI maintenance request.
    mod ich_lr_el2 { vINTID [31 0]; pINTID [44 32]; Priority [55 48]; NMI [59]; Group [60]; HW [61]; State [63 62]; }
}
