//! The fine-grained traps of system registers (FEAT_FGT): HFGRTR_EL2 and HFGWTR_EL2, HDFGRTR_EL2 and HDFGWTR_EL2. The bits
//! are named after what they cover. Not here: bits of registers that the table of registers has not.

use super::{Fine, On, Regs, Sense};
use crate::sysreg::Reg::{self, *};

/// A bit of HFGRTR_EL2 and HFGWTR_EL2.
const fn h(bit: u8, regs: &'static [Reg]) -> Fine {
    Fine { read: HFGRTR_EL2, write: HFGWTR_EL2, bit, sense: Sense::Set, on: On::Both, regs: Regs::Of(regs) }
}

/// One of those whose name begins with n.
const fn n(bit: u8, regs: &'static [Reg]) -> Fine {
    Fine { sense: Sense::Clear, ..h(bit, regs) }
}

/// A bit of HDFGRTR_EL2 and HDFGWTR_EL2.
const fn hd(bit: u8, regs: &'static [Reg]) -> Fine {
    Fine { read: HDFGRTR_EL2, write: HDFGWTR_EL2, ..h(bit, regs) }
}

const fn hd_row(bit: u8, first: Reg, last: Reg) -> Fine {
    Fine { regs: Regs::Row(first, last), ..hd(bit, &[]) }
}

/// One that HDFGWTR_EL2 alone has, though the register can be read.
const fn hd_write(bit: u8, regs: &'static [Reg]) -> Fine {
    Fine { on: On::Write, ..hd(bit, regs) }
}

/// One line a bit.
pub static FINE: &[Fine] = &[
    h(0, &[AFSR0_EL1]),
    h(1, &[AFSR1_EL1]),
    h(2, &[AIDR_EL1]),
    h(3, &[AMAIR_EL1]),
    h(4, &[APDAKeyLo_EL1, APDAKeyHi_EL1]),
    h(5, &[APDBKeyLo_EL1, APDBKeyHi_EL1]),
    h(6, &[APGAKeyLo_EL1, APGAKeyHi_EL1]),
    h(7, &[APIAKeyLo_EL1, APIAKeyHi_EL1]),
    h(8, &[APIBKeyLo_EL1, APIBKeyHi_EL1]),
    h(9, &[CCSIDR_EL1]),
    h(10, &[CLIDR_EL1]),
    h(11, &[CONTEXTIDR_EL1]),
    h(12, &[CPACR_EL1]),
    h(13, &[CSSELR_EL1]),
    h(14, &[CTR_EL0]),
    h(15, &[DCZID_EL0]),
    h(16, &[ESR_EL1]),
    h(17, &[FAR_EL1]),
    h(18, &[ISR_EL1]),
    h(19, &[LORC_EL1]),
    h(20, &[LOREA_EL1]),
    h(21, &[LORID_EL1]),
    h(22, &[LORN_EL1]),
    h(23, &[LORSA_EL1]),
    h(24, &[MAIR_EL1]),
    h(25, &[MIDR_EL1]),
    h(26, &[MPIDR_EL1]),
    h(27, &[PAR_EL1]),
    h(28, &[REVIDR_EL1]),
    h(29, &[SCTLR_EL1, SCTLR2_EL1]),
    h(30, &[SCXTNUM_EL1]),
    h(31, &[SCXTNUM_EL0]),
    h(32, &[TCR_EL1, TCR2_EL1]),
    h(33, &[TPIDR_EL1]),
    h(34, &[TPIDRRO_EL0]),
    h(35, &[TPIDR_EL0]),
    h(36, &[TTBR0_EL1]),
    h(37, &[TTBR1_EL1]),
    h(38, &[VBAR_EL1]),
    h(39, &[ICC_IGRPEN0_EL1, ICC_IGRPEN1_EL1]),
    h(40, &[ERRIDR_EL1]),
    h(41, &[ERRSELR_EL1]),
    h(42, &[ERXFR_EL1]),
    h(43, &[ERXCTLR_EL1]),
    h(44, &[ERXSTATUS_EL1]),
    h(45, &[ERXMISC0_EL1, ERXMISC1_EL1, ERXMISC2_EL1, ERXMISC3_EL1]),
    h(46, &[ERXPFGF_EL1]),
    h(47, &[ERXPFGCTL_EL1]),
    h(48, &[ERXPFGCDN_EL1]),
    h(49, &[ERXADDR_EL1]),
    n(50, &[ACCDATA_EL1]),
    n(55, &[TPIDR2_EL0]),
    n(57, &[PIRE0_EL1]),
    n(58, &[PIR_EL1]),
    n(59, &[POR_EL0]),
    n(60, &[POR_EL1]),
    n(62, &[MAIR2_EL1]),
    n(63, &[AMAIR2_EL1]),
    hd_row(0, DBGBCR0_EL1, DBGBCR15_EL1),
    hd_row(1, DBGBVR0_EL1, DBGBVR15_EL1),
    hd_row(2, DBGWCR0_EL1, DBGWCR15_EL1),
    hd_row(3, DBGWVR0_EL1, DBGWVR15_EL1),
    hd(4, &[MDSCR_EL1]),
    hd(5, &[DBGCLAIMSET_EL1, DBGCLAIMCLR_EL1]),
    hd(6, &[DBGAUTHSTATUS_EL1]),
    hd(7, &[DBGPRCR_EL1]),
    hd(8, &[OSLAR_EL1]),
    hd(9, &[OSLSR_EL1]),
    hd(10, &[OSECCR_EL1]),
    hd(11, &[OSDLR_EL1]),
    Fine { regs: Regs::RowAnd(PMEVCNTR0_EL0, PMEVCNTR30_EL0, PMXEVCNTR_EL0), ..hd(12, &[]) },
    Fine { regs: Regs::RowAnd(PMEVTYPER0_EL0, PMEVTYPER30_EL0, PMXEVTYPER_EL0), ..hd(13, &[]) },
    hd(14, &[PMCCFILTR_EL0]),
    hd(15, &[PMCCNTR_EL0]),
    hd(16, &[PMCNTENSET_EL0, PMCNTENCLR_EL0]),
    hd(17, &[PMINTENSET_EL1, PMINTENCLR_EL1]),
    hd(18, &[PMOVSSET_EL0, PMOVSCLR_EL0]),
    hd(19, &[PMSELR_EL0]),
    hd(20, &[PMSWINC_EL0]),
    hd_write(21, &[PMCR_EL0]),
    hd(22, &[PMMIR_EL1]),
    hd(23, &[PMBLIMITR_EL1]),
    hd(24, &[PMBPTR_EL1]),
    hd(25, &[PMBSR_EL1]),
    hd(26, &[PMSCR_EL1]),
    hd(27, &[PMSEVFR_EL1]),
    hd(28, &[PMSFCR_EL1]),
    hd(29, &[PMSICR_EL1]),
    hd(30, &[PMSIDR_EL1]),
    hd(31, &[PMSIRR_EL1]),
    hd(32, &[PMSLATFR_EL1]),
    hd_write(49, &[TRFCR_EL1]),
    hd(57, &[PMUSERENR_EL0]),
    hd(58, &[PMCEID0_EL0, PMCEID1_EL0]),
    Fine { sense: Sense::Clear, ..hd(62, &[PMSNEVFR_EL1]) },
    hd(63, &[PMBIDR_EL1]),
];
