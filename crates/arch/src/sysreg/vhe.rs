//! Register redirection with FEAT_VHE (D8.1, "Effect of HCR_EL2.E2H on System registers").

use super::Reg::{self, *};

/// (the EL1 or EL0 name, what it reaches at EL2 with `HCR_EL2.E2H` = 1, the `_EL12` or `_EL02` name of the former).
pub static REDIRECTED: [(Reg, Reg, Reg); 31] = [
    (SCTLR_EL1, SCTLR_EL2, SCTLR_EL12),
    (CPACR_EL1, CPTR_EL2, CPACR_EL12),
    (SCTLR2_EL1, SCTLR2_EL2, SCTLR2_EL12),
    (TRFCR_EL1, TRFCR_EL2, TRFCR_EL12),
    (TTBR0_EL1, TTBR0_EL2, TTBR0_EL12),
    (TTBR1_EL1, TTBR1_EL2, TTBR1_EL12),
    (TCR_EL1, TCR_EL2, TCR_EL12),
    (TCR2_EL1, TCR2_EL2, TCR2_EL12),
    (SPSR_EL1, SPSR_EL2, SPSR_EL12),
    (ELR_EL1, ELR_EL2, ELR_EL12),
    (AFSR0_EL1, AFSR0_EL2, AFSR0_EL12),
    (AFSR1_EL1, AFSR1_EL2, AFSR1_EL12),
    (ESR_EL1, ESR_EL2, ESR_EL12),
    (TFSR_EL1, TFSR_EL2, TFSR_EL12),
    (FAR_EL1, FAR_EL2, FAR_EL12),
    (PMSCR_EL1, PMSCR_EL2, PMSCR_EL12),
    (MAIR_EL1, MAIR_EL2, MAIR_EL12),
    (PIRE0_EL1, PIRE0_EL2, PIRE0_EL12),
    (PIR_EL1, PIR_EL2, PIR_EL12),
    (POR_EL1, POR_EL2, POR_EL12),
    (AMAIR_EL1, AMAIR_EL2, AMAIR_EL12),
    (VBAR_EL1, VBAR_EL2, VBAR_EL12),
    (CONTEXTIDR_EL1, CONTEXTIDR_EL2, CONTEXTIDR_EL12),
    (SCXTNUM_EL1, SCXTNUM_EL2, SCXTNUM_EL12),
    (CNTKCTL_EL1, CNTHCTL_EL2, CNTKCTL_EL12),
    (CNTP_TVAL_EL0, CNTHP_TVAL_EL2, CNTP_TVAL_EL02),
    (CNTP_CTL_EL0, CNTHP_CTL_EL2, CNTP_CTL_EL02),
    (CNTP_CVAL_EL0, CNTHP_CVAL_EL2, CNTP_CVAL_EL02),
    (CNTV_TVAL_EL0, CNTHV_TVAL_EL2, CNTV_TVAL_EL02),
    (CNTV_CTL_EL0, CNTHV_CTL_EL2, CNTV_CTL_EL02),
    (CNTV_CVAL_EL0, CNTHV_CVAL_EL2, CNTV_CVAL_EL02),
];

impl Reg {
    /// What the EL1 or EL0 name `self` reaches at EL2 with `HCR_EL2.E2H` = 1, where that is another register.
    #[must_use]
    pub fn at_el2_with_e2h(self) -> Option<Self> {
        REDIRECTED.iter().find(|r| r.0 == self).map(|r| r.1)
    }

    /// The EL1 or EL0 register that an `_EL12` or `_EL02` name reaches.
    #[must_use]
    pub fn el12_target(self) -> Option<Self> {
        REDIRECTED.iter().find(|r| r.2 == self).map(|r| r.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_el12_name_is_listed_and_op1_is_the_rule() {
        for reg in Reg::ALL.into_iter().filter(|r| r.info().enc.op1() == 5) {
            let target = reg.el12_target().unwrap_or_else(|| panic!("{} reaches nothing", reg.name()));
            let (a, b) = (reg.info().enc, target.info().enc);
            assert_eq!((a.crn(), a.crm(), a.op2()), (b.crn(), b.crm(), b.op2()));
        }
        assert_eq!(CONTEXTIDR_EL1.at_el2_with_e2h(), Some(CONTEXTIDR_EL2));
        assert_eq!(TPIDR_EL1.at_el2_with_e2h(), None);
    }
}
