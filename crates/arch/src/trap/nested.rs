//! Nested virtualization (FEAT_NV, FEAT_NV2): what a guest hypervisor at EL1 reaches by the names of EL2's registers and,
//! where it lives in EL1's, by those of EL1. DDI 0487, the accessibility pseudocode of each register, where
//! EffectiveHCR_EL2_NVx() is `HCR_EL2.{NV2, NV1, NV}`; the addresses behind VNCR_EL2 are its NVMem\[\].

use crate::field::hcr_el2 as hcr;
use crate::sysreg::Reg::{self, *};

/// What an access of EL1 becomes while HCR_EL2.NV is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nested {
    /// What it is otherwise.
    Unchanged,
    /// A trap to EL2.
    Trap,
    /// A load or store at VNCR_EL2 and this many bytes.
    Memory(u16),
    /// An access to this register of EL1.
    Instead(Reg),
}

/// HCR_EL2.{NV2, NV1} where NV is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NestedMode {
    /// FEAT_NV: all is trapped; NV1 says whether the guest hypervisor is without FEAT_VHE and keeps its own state in EL1's
    /// registers under other meanings.
    Trapping {
        /// NV1.
        nv1: bool,
    },
    /// FEAT_NV2: most of it is memory.
    InMemory {
        /// NV1.
        nv1: bool,
    },
}

impl NestedMode {
    /// What `HCR_EL2` = `control` says, with reserved bits 0; `None` where NV is clear: NV1 and NV2 then do nothing, of what the
    /// architecture lets choose.
    #[must_use]
    pub const fn of(control: u64) -> Option<Self> {
        let nv1 = hcr::NV1.is_set(control);
        match (hcr::NV.is_set(control), hcr::NV2.is_set(control)) {
            (false, _) => None,
            (true, false) => Some(Self::Trapping { nv1 }),
            (true, true) => Some(Self::InMemory { nv1 }),
        }
    }

    /// NV1.
    #[must_use]
    pub const fn nv1(self) -> bool {
        match self {
            Self::Trapping { nv1 } | Self::InMemory { nv1 } => nv1,
        }
    }
}

/// Registers of EL2 that are memory, and registers of EL1 that are so whatever NV1 is.
const ALWAYS: &[(Reg, u16)] = &[
    (VTTBR_EL2, 0x020),
    (VTCR_EL2, 0x040),
    (VMPIDR_EL2, 0x050),
    (CNTVOFF_EL2, 0x060),
    (HCR_EL2, 0x078),
    (HSTR_EL2, 0x080),
    (VPIDR_EL2, 0x088),
    (TPIDR_EL2, 0x090),
    (HCRX_EL2, 0x0a0),
    (VNCR_EL2, 0x0b0),
    (ACTLR_EL1, 0x118),
    (MDSCR_EL1, 0x158),
    (HDFGRTR2_EL2, 0x1a0),
    (CNTPOFF_EL2, 0x1a8),
    (HDFGWTR2_EL2, 0x1b0),
    (HFGRTR_EL2, 0x1b8),
    (HFGWTR_EL2, 0x1c0),
    (HFGITR_EL2, 0x1c8),
    (HDFGRTR_EL2, 0x1d0),
    (HDFGWTR_EL2, 0x1d8),
    (HAFGRTR_EL2, 0x1e8),
    (SP_EL1, 0x240),
    (HFGRTR2_EL2, 0x2c0),
    (HFGWTR2_EL2, 0x2c8),
    (HFGITR2_EL2, 0x310),
    (ICH_LR0_EL2, 0x400),
    (ICH_LR1_EL2, 0x408),
    (ICH_LR2_EL2, 0x410),
    (ICH_LR3_EL2, 0x418),
    (ICH_LR4_EL2, 0x420),
    (ICH_LR5_EL2, 0x428),
    (ICH_LR6_EL2, 0x430),
    (ICH_LR7_EL2, 0x438),
    (ICH_LR8_EL2, 0x440),
    (ICH_LR9_EL2, 0x448),
    (ICH_LR10_EL2, 0x450),
    (ICH_LR11_EL2, 0x458),
    (ICH_LR12_EL2, 0x460),
    (ICH_LR13_EL2, 0x468),
    (ICH_LR14_EL2, 0x470),
    (ICH_LR15_EL2, 0x478),
    (ICH_AP0R0_EL2, 0x480),
    (ICH_AP0R1_EL2, 0x488),
    (ICH_AP0R2_EL2, 0x490),
    (ICH_AP0R3_EL2, 0x498),
    (ICH_AP1R0_EL2, 0x4a0),
    (ICH_AP1R1_EL2, 0x4a8),
    (ICH_AP1R2_EL2, 0x4b0),
    (ICH_AP1R3_EL2, 0x4b8),
    (ICH_HCR_EL2, 0x4c0),
    (ICH_VMCR_EL2, 0x4c8),
    (VDISR_EL2, 0x500),
    (VSESR_EL2, 0x508),
    (MPAMHCR_EL2, 0x930),
];

/// The state of the guest hypervisor's own guest: by EL1's names with NV1, by the `_EL12` and `_EL02` names without.
const OF_EL1: &[(Reg, u16)] = &[
    (CPACR_EL1, 0x100),
    (CONTEXTIDR_EL1, 0x108),
    (SCTLR_EL1, 0x110),
    (TCR_EL1, 0x120),
    (AFSR0_EL1, 0x128),
    (AFSR1_EL1, 0x130),
    (ESR_EL1, 0x138),
    (MAIR_EL1, 0x140),
    (AMAIR_EL1, 0x148),
    (SPSR_EL1, 0x160),
    (CNTV_CVAL_EL0, 0x168),
    (CNTV_CTL_EL0, 0x170),
    (CNTP_CVAL_EL0, 0x178),
    (CNTP_CTL_EL0, 0x180),
    (SCXTNUM_EL1, 0x188),
    (TFSR_EL1, 0x190),
    (TTBR0_EL1, 0x200),
    (TTBR1_EL1, 0x210),
    (FAR_EL1, 0x220),
    (ELR_EL1, 0x230),
    (VBAR_EL1, 0x250),
    (TCR2_EL1, 0x270),
    (SCTLR2_EL1, 0x278),
    (PIRE0_EL1, 0x290),
    (PIR_EL1, 0x2a0),
    (POR_EL1, 0x2a8),
    (PMSCR_EL1, 0x828),
    (TRFCR_EL1, 0x880),
];

/// With FEAT_NV2, registers of EL2 whose state is in EL1's: what an exception that EL1 takes is reported in.
const INSTEAD: &[(Reg, Reg)] =
    &[(SPSR_EL2, SPSR_EL1), (ELR_EL2, ELR_EL1), (ESR_EL2, ESR_EL1), (FAR_EL2, FAR_EL1), (TFSR_EL2, TFSR_EL1)];

/// With FEAT_NV alone and NV1, registers of EL1 that are trapped.
const TRAPPED_WITH_NV1: &[Reg] = &[VBAR_EL1, ELR_EL1, SPSR_EL1, SCXTNUM_EL1];

fn offset_in(list: &[(Reg, u16)], reg: Reg) -> Option<Nested> {
    list.iter().find(|(r, _)| *r == reg).map(|(_, offset)| Nested::Memory(*offset))
}

/// What EL1's access to `reg` becomes under `mode`.
#[must_use]
pub fn nested(reg: Reg, mode: NestedMode) -> Nested {
    // Not EL1's otherwise: EL2's own, and SP_EL1.
    let of_el2 = reg.info().min_read.max(reg.info().min_write) == Some(crate::El::El2);
    let otherwise = if of_el2 { Nested::Trap } else { Nested::Unchanged };
    match mode {
        NestedMode::Trapping { nv1: true } if TRAPPED_WITH_NV1.contains(&reg) => Nested::Trap,
        NestedMode::Trapping { .. } => otherwise,
        NestedMode::InMemory { nv1 } => {
            if let Some(found) = offset_in(ALWAYS, reg) {
                return found;
            }
            if let Some((_, el1)) = INSTEAD.iter().find(|(el2, _)| *el2 == reg) {
                return Nested::Instead(*el1);
            }
            let name = if nv1 { Some(reg) } else { reg.el12_target() };
            name.and_then(|el1| offset_in(OF_EL1, el1)).unwrap_or(otherwise)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const NV: NestedMode = NestedMode::Trapping { nv1: false };
    const NV_NV1: NestedMode = NestedMode::Trapping { nv1: true };
    const NV2: NestedMode = NestedMode::InMemory { nv1: false };
    const NV2_NV1: NestedMode = NestedMode::InMemory { nv1: true };

    #[test]
    fn each_place_in_the_page_is_one_registers() {
        let all = ALWAYS.iter().chain(OF_EL1);
        let places: BTreeSet<u16> = all.clone().map(|(_, offset)| *offset).collect();
        assert_eq!(places.len(), all.count());
        assert!(places.iter().all(|offset| offset % 8 == 0 && *offset < 0x1000));
    }

    /// The accessibility pseudocode of a register of each kind, in the order {NV2, NV1, NV} = 001, 011, 101, 111.
    #[test]
    fn one_of_each_kind() {
        let of = |reg| [NV, NV_NV1, NV2, NV2_NV1].map(|mode| nested(reg, mode));
        use Nested::*;
        assert_eq!(of(HCR_EL2), [Trap, Trap, Memory(0x78), Memory(0x78)]);
        assert_eq!(of(MDCR_EL2), [Trap; 4]);
        assert_eq!(of(SCTLR_EL1), [Unchanged, Unchanged, Unchanged, Memory(0x110)]);
        assert_eq!(of(SCTLR_EL12), [Trap, Trap, Memory(0x110), Trap]);
        assert_eq!(of(CNTV_CTL_EL02), [Trap, Trap, Memory(0x170), Trap]);
        assert_eq!(of(CNTV_CTL_EL0), [Unchanged, Unchanged, Unchanged, Memory(0x170)]);
        assert_eq!(of(CNTV_TVAL_EL02), [Trap; 4]);
        assert_eq!(of(VBAR_EL1), [Unchanged, Trap, Unchanged, Memory(0x250)]);
        assert_eq!(of(ELR_EL2), [Trap, Trap, Instead(ELR_EL1), Instead(ELR_EL1)]);
        assert_eq!(of(SP_EL1), [Trap, Trap, Memory(0x240), Memory(0x240)]);
        assert_eq!(of(MDSCR_EL1), [Unchanged, Unchanged, Memory(0x158), Memory(0x158)]);
        assert_eq!(of(TPIDR_EL1), [Unchanged; 4]);
        assert_eq!(of(ICH_VTR_EL2), [Trap; 4]);
    }
}
