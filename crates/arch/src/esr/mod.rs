//! Exception syndromes: `ESR_ELx`, one typed builder per exception class.
//!
//! `IL` is 1 in every syndrome built here: A64 instructions are 32 bits, and the classes for which `IL` does not describe
//! an instruction have it 1 too (ESR_ELx.IL).

mod fsc;
mod iss;

pub use fsc::{Fsc, Level};
pub use iss::*;

use crate::field::fields;

fields! {
    /// ESR_ELx.
    mod esr { ISS [24 0]; IL [25]; EC [31 26]; ISS2 [55 32]; }
}

/// An exception class, `ESR_ELx.EC`. The classes that only AArch32 raises are left out. Where the manual has one class
/// for "from a lower EL" and one for "without a change of EL", the former is here and [`Syndrome::taken`] adjusts it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Ec {
    /// Unknown reason: UNDEFINED encodings and the like.
    Unknown = 0x00,
    /// Trapped WFI, WFE, WFIT or WFET.
    Wfx = 0x01,
    /// Access to SVE, Advanced SIMD or floating point trapped by CPACR or CPTR.
    FpAccess = 0x07,
    /// Trapped pointer authentication instruction.
    PauthTrap = 0x09,
    /// Trapped LD64B, ST64B and the others without a class of their own.
    OtherTrap = 0x0a,
    /// Branch target exception.
    Bti = 0x0d,
    /// Illegal Execution state.
    IllegalState = 0x0e,
    /// SVC.
    Svc = 0x15,
    /// HVC.
    Hvc = 0x16,
    /// SMC.
    Smc = 0x17,
    /// Trapped MSR, MRS or system instruction.
    SysReg = 0x18,
    /// Access to SVE trapped by CPACR or CPTR.
    Sve = 0x19,
    /// Trapped ERET, ERETAA or ERETAB.
    Eret = 0x1a,
    /// Pointer authentication failure (FEAT_FPAC).
    PacFail = 0x1c,
    /// Access to SME trapped.
    Sme = 0x1d,
    /// Instruction abort.
    InstructionAbort = 0x20,
    /// PC alignment.
    PcAlignment = 0x22,
    /// Data abort.
    DataAbort = 0x24,
    /// SP alignment.
    SpAlignment = 0x26,
    /// Memory copy and set (FEAT_MOPS).
    Mops = 0x27,
    /// Trapped floating-point exception.
    FpException = 0x2c,
    /// SError interrupt.
    SError = 0x2f,
    /// Breakpoint.
    Breakpoint = 0x30,
    /// Software step.
    SoftwareStep = 0x32,
    /// Watchpoint.
    Watchpoint = 0x34,
    /// BRK.
    Brk = 0x3c,
}

impl Ec {
    /// Every class.
    pub const ALL: [Self; 26] = [
        Self::Unknown,
        Self::Wfx,
        Self::FpAccess,
        Self::PauthTrap,
        Self::OtherTrap,
        Self::Bti,
        Self::IllegalState,
        Self::Svc,
        Self::Hvc,
        Self::Smc,
        Self::SysReg,
        Self::Sve,
        Self::Eret,
        Self::PacFail,
        Self::Sme,
        Self::InstructionAbort,
        Self::PcAlignment,
        Self::DataAbort,
        Self::SpAlignment,
        Self::Mops,
        Self::FpException,
        Self::SError,
        Self::Breakpoint,
        Self::SoftwareStep,
        Self::Watchpoint,
        Self::Brk,
    ];

    /// Whether the manual gives the class another number, one higher, when it is taken without a change of EL.
    #[must_use]
    pub const fn has_same_el_form(self) -> bool {
        matches!(
            self,
            Self::InstructionAbort | Self::DataAbort | Self::Breakpoint | Self::SoftwareStep | Self::Watchpoint
        )
    }

    /// The class that `ESR_ELx.EC` = `bits` names, the same-EL forms folded into the lower-EL ones.
    #[must_use]
    pub fn from_bits(bits: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|ec| *ec as u64 == bits || (ec.has_same_el_form() && *ec as u64 + 1 == bits))
    }
}

/// Where an exception was taken from, relative to where it goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// From a lower EL than the target.
    Lower,
    /// From the target EL itself.
    Same,
}

/// What happened, before it is known which EL takes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Syndrome {
    /// The class.
    pub ec: Ec,
    /// `ESR_ELx.ISS`, 25 bits.
    pub iss: u32,
    /// `ESR_ELx.ISS2`, 24 bits.
    pub iss2: u32,
}

impl Syndrome {
    /// Unknown reason: EC 0, ISS 0.
    pub const UNKNOWN: Self = Self::bare(Ec::Unknown);
    /// Illegal Execution state.
    pub const ILLEGAL_STATE: Self = Self::bare(Ec::IllegalState);
    /// Misaligned PC.
    pub const PC_ALIGNMENT: Self = Self::bare(Ec::PcAlignment);
    /// Misaligned SP.
    pub const SP_ALIGNMENT: Self = Self::bare(Ec::SpAlignment);
    /// Pointer authentication trapped by `HCR_EL2.API` or `SCR_EL3.API`.
    pub const PAUTH_TRAP: Self = Self::bare(Ec::PauthTrap);

    const fn bare(ec: Ec) -> Self {
        Self { ec, iss: 0, iss2: 0 }
    }

    /// A syndrome of class `ec` with `iss`, cut to 25 bits, and ISS2 0.
    #[must_use]
    pub const fn new(ec: Ec, iss: u32) -> Self {
        Self { ec, iss: iss & 0x1ff_ffff, iss2: 0 }
    }

    /// The value of `ESR_ELx` at the EL that takes it.
    #[must_use]
    pub const fn taken(self, from: Origin) -> u64 {
        let same = matches!(from, Origin::Same) && self.ec.has_same_el_form();
        esr::EC.of(self.ec as u64 + same as u64)
            | esr::IL.mask()
            | esr::ISS.of(self.iss as u64)
            | esr::ISS2.of(self.iss2 as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sysreg::Enc;

    #[test]
    fn classes_map_back() {
        for ec in Ec::ALL {
            assert_eq!(Ec::from_bits(ec as u64), Some(ec));
            let same = Syndrome::new(ec, 0).taken(Origin::Same);
            assert_eq!(Ec::from_bits(esr::EC.get(same)), Some(ec));
        }
        assert_eq!((Ec::from_bits(0x21), Ec::from_bits(0x26)), (Some(Ec::InstructionAbort), Some(Ec::SpAlignment)));
        assert_eq!(Ec::from_bits(0x3f), None);
    }

    // Expected values are written out as ESR_ELx would show them in a kernel's log.
    #[test]
    fn syndromes() {
        let taken = |s: Syndrome| s.taken(Origin::Lower);
        assert_eq!(taken(Syndrome::UNKNOWN), 0x0200_0000);
        assert_eq!(taken(svc(0)), 0x5600_0000);
        assert_eq!(taken(svc(0x1_2345)), 0x5600_2345);
        assert_eq!(taken(hvc(1)), 0x5a00_0001);
        assert_eq!(taken(smc(2)), 0x5e00_0002);
        assert_eq!(taken(brk(0x800)), 0xf200_0800);
        assert_eq!(taken(FP_ACCESS), 0x1fe0_0000);
        assert_eq!(taken(Wfx { kind: WfxKind::Wfi, timeout: None }.syndrome()), 0x07e0_0000);
        assert_eq!(taken(Wfx { kind: WfxKind::Wfe, timeout: None }.syndrome()), 0x07e0_0001);
        assert_eq!(taken(Wfx { kind: WfxKind::Wfi, timeout: Some(3) }.syndrome()), 0x07e0_0066);
        // mrs x5, id_aa64isar0_el1 and msr tcr_el1, x1 (op0 3, op1 0, CRn 2, CRm 0, op2 2).
        let read = SysRegTrap { enc: Enc::new(3, 0, 0, 6, 0), rt: 5, direction: Direction::Read };
        assert_eq!(taken(read.syndrome()), 0x6230_00ad);
        let write = SysRegTrap { enc: Enc::new(3, 0, 2, 0, 2), rt: 1, direction: Direction::Write };
        assert_eq!(taken(write.syndrome()), 0x6234_0820);
        assert_eq!(SysRegTrap::of_iss(write.syndrome().iss), write);
        // A store to an unmapped page at level 3, seen by a kernel: 0x9600_0047; a user's load: 0x9200_0007.
        let fault = DataAbort { write: true, ..DataAbort::new(Fsc::Translation(Level::L3)) };
        assert_eq!(fault.syndrome().taken(Origin::Same), 0x9600_0047);
        assert_eq!(taken(DataAbort::new(Fsc::Translation(Level::L3)).syndrome()), 0x9200_0007);
        let walk = DataAbort { s1ptw: true, ..DataAbort::new(Fsc::Translation(Level::L1)) };
        assert_eq!(taken(walk.syndrome()), 0x9200_0085);
        // ldr w3, [..] to unbacked memory under a hypervisor: ISV, SAS word.
        let register =
            Register { srt: 3, size: AccessSize::Word, sign_extend: false, sixty_four: false, acquire_release: false };
        let mmio = DataAbort { register: Some(register), ..DataAbort::new(Fsc::Translation(Level::L2)) };
        assert_eq!(taken(mmio.syndrome()), 0x9383_0006);
        let fetch = InstructionAbort::new(Fsc::Permission(Level::L3));
        assert_eq!(taken(fetch.syndrome()), 0x8200_000f);
        assert_eq!(fetch.syndrome().taken(Origin::Same), 0x8600_000f);
        assert_eq!(taken(bti(2)), 0x3600_0002);
        assert_eq!(taken(pac_fail(PacKey::DB)), 0x7200_0003);
        assert_eq!(taken(SoftwareStep { exclusive: Some(false) }.syndrome()), 0xcb00_0022);
        assert_eq!(taken(SoftwareStep { exclusive: Some(true) }.syndrome()), 0xcb00_0062);
        assert_eq!(taken(SoftwareStep { exclusive: None }.syndrome()), 0xca00_0022);
        assert_eq!(taken(BREAKPOINT), 0xc200_0022);
        let watch = Watchpoint { write: true, cache_maintenance: false, number: None };
        assert_eq!(watch.syndrome().taken(Origin::Same), 0xd600_0062);
        assert_eq!(taken(SError::Implementation(0).syndrome()), 0xbf00_0000);
        assert_eq!(taken(SError::Ras { aet: 0, external: true, iesb: false }.syndrome()), 0xbe00_0211);
        assert_eq!(taken(eret(EretKind::Eretab)), 0x6a00_0003);
    }
}
