//! The controls of HCR_EL2, HCRX_EL2, CPTR_EL2, MDCR_EL2 and CNTHCTL_EL2.

use super::{Control, On, Regs, Scope, Sense};
use crate::feature::Feature::{self, *};
use crate::field::{
    Field, cnthctl_el2 as cnthctl, cnthctl_el2_e2h as cnthctl_e2h, cptr_el2, hcr_el2 as hcr, hcrx_el2 as hcrx,
    mdcr_el2 as mdcr,
};
use crate::sysreg::Reg::{self, *};

/// A control that traps where it is set.
const fn set(register: Reg, field: Field, on: On, regs: &'static [Reg]) -> Control {
    Control { register, field, sense: Sense::Set, scope: Scope::Guest, on, regs: Regs::Of(regs), feature: None }
}

const fn row(register: Reg, field: Field, on: On, first: Reg, last: Reg) -> Control {
    Control { regs: Regs::Row(first, last), ..set(register, field, on, &[]) }
}

/// One that traps where it is clear, which exists with `feature`.
const fn clear(register: Reg, field: Field, feature: Feature, regs: &'static [Reg]) -> Control {
    Control { sense: Sense::Clear, feature: Some(feature), ..set(register, field, On::Both, regs) }
}

/// One that reaches a host's EL0 too.
const fn and_host(control: Control) -> Control {
    Control { scope: Scope::AndHostEl0, ..control }
}

const fn within(scope: Scope, control: Control) -> Control {
    Control { scope, ..control }
}

const fn with(feature: Feature, control: Control) -> Control {
    Control { feature: Some(feature), ..control }
}

const fn enables(control: Control) -> Control {
    Control { sense: Sense::Clear, ..control }
}

const VIRTUAL_MEMORY: &[Reg] = &[
    SCTLR_EL1,
    TTBR0_EL1,
    TTBR1_EL1,
    TCR_EL1,
    ESR_EL1,
    FAR_EL1,
    AFSR0_EL1,
    AFSR1_EL1,
    MAIR_EL1,
    AMAIR_EL1,
    CONTEXTIDR_EL1,
    TCR2_EL1,
    SCTLR2_EL1,
    MAIR2_EL1,
    AMAIR2_EL1,
    PIRE0_EL1,
    PIR_EL1,
    POR_EL1,
    POR_EL0,
];

const ERROR_RECORDS: &[Reg] = &[
    ERRIDR_EL1,
    ERRSELR_EL1,
    ERXFR_EL1,
    ERXCTLR_EL1,
    ERXSTATUS_EL1,
    ERXADDR_EL1,
    ERXMISC0_EL1,
    ERXMISC1_EL1,
    ERXMISC2_EL1,
    ERXMISC3_EL1,
];

const DEBUG_ROM: &[Reg] = &[MDRAR_EL1];
const DEBUG_OS: &[Reg] = &[OSLAR_EL1, OSLSR_EL1, OSDLR_EL1, DBGPRCR_EL1];
const DEBUG_CHANNEL: &[Reg] = &[OSDTRRX_EL1, OSDTRTX_EL1, MDCCSR_EL0, MDCCINT_EL1, DBGDTR_EL0, DBGDTRRX_EL0];
const DEBUG_OTHER: &[Reg] = &[MDSCR_EL1, OSECCR_EL1, DBGCLAIMSET_EL1, DBGCLAIMCLR_EL1, DBGAUTHSTATUS_EL1];

/// What each of HCR_EL2.TGE, MDCR_EL2.TDE and the debug register controls traps: TGE and TDE act as all of them.
const fn debug(register: Reg, field: Field, regs: &'static [Reg]) -> Control {
    and_host(set(register, field, On::Both, regs))
}

const fn debug_row(register: Reg, field: Field) -> Control {
    and_host(row(register, field, On::Both, DBGBVR0_EL1, DBGWCR15_EL1))
}

const PHYSICAL_COUNTER: &[Reg] = &[CNTPCT_EL0, CNTPCTSS_EL0];
const PHYSICAL_TIMER: &[Reg] = &[CNTP_TVAL_EL0, CNTP_CTL_EL0, CNTP_CVAL_EL0];

/// One line a control and a group of registers.
pub static COARSE: &[Control] = &[
    set(HCR_EL2, hcr::TVM, On::Write, VIRTUAL_MEMORY),
    set(HCR_EL2, hcr::TRVM, On::Read, VIRTUAL_MEMORY),
    set(HCR_EL2, hcr::TACR, On::Both, &[ACTLR_EL1]),
    set(HCR_EL2, hcr::TID1, On::Read, &[REVIDR_EL1, AIDR_EL1, SMIDR_EL1]),
    set(HCR_EL2, hcr::TID2, On::Both, &[CTR_EL0, CCSIDR_EL1, CCSIDR2_EL1, CLIDR_EL1, CSSELR_EL1]),
    row(HCR_EL2, hcr::TID3, On::Read, ID_PFR0_EL1, ID_AA64MMFR4_EL1),
    with(FEAT_EVT, set(HCR_EL2, hcr::TID4, On::Both, &[CCSIDR_EL1, CCSIDR2_EL1, CLIDR_EL1, CSSELR_EL1])),
    with(FEAT_MTE2, set(HCR_EL2, hcr::TID5, On::Read, &[GMID_EL1])),
    set(HCR_EL2, hcr::TLOR, On::Both, &[LORSA_EL1, LOREA_EL1, LORN_EL1, LORC_EL1, LORID_EL1]),
    set(HCR_EL2, hcr::TERR, On::Both, ERROR_RECORDS),
    clear(HCR_EL2, hcr::FIEN, FEAT_RASv1p1, &[ERXPFGF_EL1, ERXPFGCTL_EL1, ERXPFGCDN_EL1]),
    Control { regs: Regs::Row(APIAKeyLo_EL1, APGAKeyHi_EL1), ..clear(HCR_EL2, hcr::APK, FEAT_PAuth, &[]) },
    clear(HCR_EL2, hcr::ATA, FEAT_MTE2, &[RGSR_EL1, GCR_EL1, TFSR_EL1, TFSRE0_EL1]),
    clear(HCR_EL2, hcr::EnSCXT, FEAT_CSV2_2, &[SCXTNUM_EL0, SCXTNUM_EL1]),
    clear(HCRX_EL2, hcrx::TCR2En, FEAT_TCR2, &[TCR2_EL1]),
    clear(HCRX_EL2, hcrx::SCTLR2En, FEAT_SCTLR2, &[SCTLR2_EL1]),
    with(FEAT_NMI, set(HCRX_EL2, hcrx::TALLINT, On::Write, &[ALLINT])),
    // The bits have the same place in both layouts of CPTR_EL2.
    set(CPTR_EL2, cptr_el2::TCPAC, On::Both, &[CPACR_EL1]),
    with(FEAT_AMUv1, row(CPTR_EL2, cptr_el2::TAM, On::Both, AMCR_EL0, AMEVTYPER115_EL0)),
    // Debug.
    debug(HCR_EL2, hcr::TGE, DEBUG_ROM),
    debug(HCR_EL2, hcr::TGE, DEBUG_OS),
    debug(HCR_EL2, hcr::TGE, DEBUG_CHANNEL),
    debug(HCR_EL2, hcr::TGE, DEBUG_OTHER),
    debug_row(HCR_EL2, hcr::TGE),
    debug(MDCR_EL2, mdcr::TDE, DEBUG_ROM),
    debug(MDCR_EL2, mdcr::TDE, DEBUG_OS),
    debug(MDCR_EL2, mdcr::TDE, DEBUG_CHANNEL),
    debug(MDCR_EL2, mdcr::TDE, DEBUG_OTHER),
    debug_row(MDCR_EL2, mdcr::TDE),
    debug(MDCR_EL2, mdcr::TDRA, DEBUG_ROM),
    debug(MDCR_EL2, mdcr::TDOSA, DEBUG_OS),
    debug(MDCR_EL2, mdcr::TDA, DEBUG_CHANNEL),
    debug(MDCR_EL2, mdcr::TDA, DEBUG_OTHER),
    debug_row(MDCR_EL2, mdcr::TDA),
    with(FEAT_FGT, debug(MDCR_EL2, mdcr::TDCC, DEBUG_CHANNEL)),
    // The Performance Monitors, profiling and trace.
    and_host(row(MDCR_EL2, mdcr::TPM, On::Both, PMINTENSET_EL1, PMCCFILTR_EL0)),
    and_host(set(MDCR_EL2, mdcr::TPMCR, On::Both, &[PMCR_EL0])),
    row(MDCR_EL2, mdcr::TPMS, On::Both, PMSCR_EL1, PMSIDR_EL1),
    // E2PB: bit 0 gives the buffer to EL1.
    enables(row(MDCR_EL2, Field::span(12, 12), On::Both, PMBLIMITR_EL1, PMBSR_EL1)),
    set(MDCR_EL2, mdcr::TTRF, On::Both, &[TRFCR_EL1]),
    // The generic timer.
    within(Scope::GuestNotE2h, enables(set(CNTHCTL_EL2, cnthctl::EL1PCTEN, On::Both, PHYSICAL_COUNTER))),
    within(Scope::GuestNotE2h, enables(set(CNTHCTL_EL2, cnthctl::EL1PCEN, On::Both, PHYSICAL_TIMER))),
    within(Scope::GuestE2h, enables(set(CNTHCTL_EL2, cnthctl_e2h::EL1PCTEN, On::Both, PHYSICAL_COUNTER))),
    within(Scope::GuestE2h, enables(set(CNTHCTL_EL2, cnthctl_e2h::EL1PTEN, On::Both, PHYSICAL_TIMER))),
    with(FEAT_ECV, set(CNTHCTL_EL2, cnthctl::EL1TVCT, On::Both, &[CNTVCT_EL0, CNTVCTSS_EL0])),
    with(FEAT_ECV, set(CNTHCTL_EL2, cnthctl::EL1TVT, On::Both, &[CNTV_TVAL_EL0, CNTV_CTL_EL0, CNTV_CVAL_EL0])),
];
