//! What EL2 traps of the lower levels' accesses to system registers, as data: a condition, and what it covers.
//! DDI 0487 D19.2, the trap controls of HCR_EL2, MDCR_EL2, CPTR_EL2 and CNTHCTL_EL2.

use arch::El;
use arch::feature::Feature;
use arch::field::{Field, cnthctl_el2, cnthctl_el2_e2h, cptr_el2, hcr_el2 as hcr, mdcr_el2 as mdcr};
use arch::sysreg::Enc;
use arch::sysreg::Reg::{self, *};

use crate::pe::Pe;

/// A direction, or both.
#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    Read,
    Write,
    Both,
}

/// One control of HCR_EL2 and the registers whose accesses from EL1 (and EL0 where they reach so far) it traps.
struct Control {
    field: Field,
    on: On,
    regs: &'static [Reg],
}

const fn control(field: Field, on: On, regs: &'static [Reg]) -> Control {
    Control { field, on, regs }
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
];

/// The controls of HCR_EL2, but for TID3, which covers a range.
const HCR_CONTROLS: &[Control] = &[
    control(hcr::TVM, On::Write, VIRTUAL_MEMORY),
    control(hcr::TRVM, On::Read, VIRTUAL_MEMORY),
    control(hcr::TACR, On::Both, &[ACTLR_EL1]),
    control(hcr::TID1, On::Read, &[REVIDR_EL1, AIDR_EL1]),
    control(hcr::TID2, On::Both, &[CTR_EL0, CCSIDR_EL1, CCSIDR2_EL1, CLIDR_EL1, CSSELR_EL1]),
    control(hcr::TID4, On::Both, &[CCSIDR_EL1, CCSIDR2_EL1, CLIDR_EL1, CSSELR_EL1]),
    control(hcr::TID5, On::Read, &[GMID_EL1]),
    control(hcr::TLOR, On::Both, &[LORSA_EL1, LOREA_EL1, LORN_EL1, LORC_EL1, LORID_EL1]),
    control(
        hcr::TERR,
        On::Both,
        &[
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
        ],
    ),
];

const PAUTH_KEYS: &[Reg] = &[
    APIAKeyLo_EL1,
    APIAKeyHi_EL1,
    APIBKeyLo_EL1,
    APIBKeyHi_EL1,
    APDAKeyLo_EL1,
    APDAKeyHi_EL1,
    APDBKeyLo_EL1,
    APDBKeyHi_EL1,
    APGAKeyLo_EL1,
    APGAKeyHi_EL1,
];

/// Which way a register is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Read,
    Write,
}

impl Pe {
    /// Does EL2 trap this access of EL0 or EL1 to `reg`?
    pub(crate) fn el2_traps(&self, reg: Reg, way: Way) -> bool {
        if self.pstate.el >= El::El2 || !self.has_el2() || self.is_host_el0() {
            return false;
        }
        let covered = |c: &Control| {
            self.hcr(c.field) && (c.on == On::Both || (c.on == On::Read) == (way == Way::Read)) && c.regs.contains(&reg)
        };
        HCR_CONTROLS.iter().any(covered)
            || self.traps_id_group3(reg)
            || self.traps_pauth_keys(reg)
            || self.traps_tags(reg)
            || self.traps_coprocessor(reg)
            || self.traps_debug(reg)
            || self.traps_timer(reg)
    }

    /// Does EL2 trap this cache, TLB or address translation instruction of EL0 or EL1?
    pub(crate) fn el2_traps_instruction(&self, enc: Enc) -> bool {
        if self.pstate.el >= El::El2 || !self.has_el2() || self.is_host_el0() {
            return false;
        }
        let fields: &[Field] = match (enc.op1(), enc.crn(), enc.crm(), enc.op2()) {
            // TLBI, by shareability as well (FEAT_EVT).
            (0, 8, 1 | 5, _) => &[hcr::TTLB, hcr::TTLBOS],
            (0, 8, 2 | 3, _) => &[hcr::TTLB, hcr::TTLBIS],
            (0, 8, ..) => &[hcr::TTLB],
            // IC IALLUIS; IC IALLU, IC IVAU and DC CVAU.
            (0, 7, 1, 0) => &[hcr::TPU, hcr::TICAB],
            (0 | 3, 7, 5, _) | (3, 7, 11, 1) => &[hcr::TPU, hcr::TOCU],
            // DC by set and way.
            (0, 7, 6 | 10 | 14, 2 | 4 | 6) => &[hcr::TSW],
            // DC ZVA and its kin.
            (3, 7, 4, _) => &[hcr::TDZ],
            // DC by address to the Point of Coherency or Persistence.
            (0, 7, 6, _) | (3, 7, 10 | 12 | 13 | 14, _) => &[hcr::TPCP],
            _ => &[],
        };
        fields.iter().any(|field| self.hcr(*field))
    }

    /// HCR_EL2.ATA clear: EL1's registers of FEAT_MTE2.
    fn traps_tags(&self, reg: Reg) -> bool {
        !self.hcr(hcr::ATA) && matches!(reg, RGSR_EL1 | GCR_EL1 | TFSR_EL1 | TFSRE0_EL1)
    }

    /// HCR_EL2.TID3: the ID registers of group 3, CRm 1 to 7 (MVFR and ID_AA64 among them).
    fn traps_id_group3(&self, reg: Reg) -> bool {
        let enc = reg.info().enc;
        self.hcr(hcr::TID3) && (enc.op0(), enc.op1(), enc.crn()) == (3, 0, 0) && (1..=7).contains(&enc.crm())
    }

    /// HCR_EL2.APK clear.
    fn traps_pauth_keys(&self, reg: Reg) -> bool {
        self.model.has(Feature::FEAT_PAuth) && !self.hcr(hcr::APK) && PAUTH_KEYS.contains(&reg)
    }

    /// CPTR_EL2.TCPAC for CPACR_EL1; the bit has one place in both layouts.
    fn traps_coprocessor(&self, reg: Reg) -> bool {
        reg == CPACR_EL1 && cptr_el2::TCPAC.is_set(self.reg(CPTR_EL2))
    }

    /// MDCR_EL2.{TDA, TDOSA, TDRA, TPM, TPMCR, TPMS}. TDE acts as all of the debug ones.
    fn traps_debug(&self, reg: Reg) -> bool {
        let control = self.reg(MDCR_EL2);
        let enc = reg.info().enc;
        let tde = mdcr::TDE.is_set(control) || self.hcr(hcr::TGE);
        if enc.op0() == 2 {
            let field = match reg {
                MDRAR_EL1 => mdcr::TDRA,
                OSLAR_EL1 | OSLSR_EL1 | OSDLR_EL1 | DBGPRCR_EL1 => mdcr::TDOSA,
                _ => mdcr::TDA,
            };
            return tde || field.is_set(control);
        }
        let pmu = (enc.op0(), enc.crn()) == (3, 14) && enc.op1() == 3 && enc.crm() >= 8
            || (enc.op0(), enc.op1(), enc.crn()) == (3, 3, 9)
            || (enc.op0(), enc.op1(), enc.crn(), enc.crm()) == (3, 0, 9, 14);
        if pmu {
            return mdcr::TPM.is_set(control) || (reg == PMCR_EL0 && mdcr::TPMCR.is_set(control));
        }
        let spe = (enc.op0(), enc.op1(), enc.crn()) == (3, 0, 9) && matches!(enc.crm(), 9 | 10);
        spe && mdcr::TPMS.is_set(control)
    }

    /// CNTHCTL_EL2: EL1PCTEN and EL1PCEN enable, EL1TVT and EL1TVCT trap (FEAT_ECV).
    fn traps_timer(&self, reg: Reg) -> bool {
        let control = self.reg(CNTHCTL_EL2);
        let e2h = self.hcr(hcr::E2H);
        let (counter, timer) = if e2h {
            (cnthctl_el2_e2h::EL1PCTEN, cnthctl_el2_e2h::EL1PTEN)
        } else {
            (cnthctl_el2::EL1PCTEN, cnthctl_el2::EL1PCEN)
        };
        let ecv = |field: Field| self.model.has(Feature::FEAT_ECV) && field.is_set(control);
        match reg {
            CNTPCT_EL0 | CNTPCTSS_EL0 => !counter.is_set(control),
            CNTP_CTL_EL0 | CNTP_CVAL_EL0 | CNTP_TVAL_EL0 => !timer.is_set(control),
            CNTVCT_EL0 | CNTVCTSS_EL0 => ecv(cnthctl_el2::EL1TVCT),
            CNTV_CTL_EL0 | CNTV_CVAL_EL0 | CNTV_TVAL_EL0 => ecv(cnthctl_el2::EL1TVT),
            _ => false,
        }
    }
}
