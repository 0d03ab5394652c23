//! The syndromes of each class.

use super::{Ec, Fsc, Syndrome};
use crate::{field::fields, sysreg::Enc};

fields! {
    /// ISS of a data abort.
    mod data_abort {
        DFSC [5 0]; WnR [6]; S1PTW [7]; CM [8]; EA [9]; FnV [10]; SET [12 11]; VNCR [13]; AR [14]; SF [15]; SRT [20 16];
        SSE [21]; SAS [23 22]; ISV [24];
    }
    /// ISS of an instruction abort.
    mod instruction_abort { IFSC [5 0]; S1PTW [7]; EA [9]; FnV [10]; SET [12 11]; }
    /// ISS2 of an abort.
    mod abort_iss2 {
        Xs [4 0]; DirtyBit [5]; Overlay [6]; AssuredOnly [7]; GCS [8]; TagAccess [9]; TnD [10]; HDBSSF [11];
    }
    /// ISS of a trapped system register or instruction.
    mod sysreg_trap { Direction [0]; CRm [4 1]; Rt [9 5]; CRn [13 10]; Op1 [16 14]; Op2 [19 17]; Op0 [21 20]; }
    /// ISS of a trapped WFI, WFE, WFIT or WFET.
    mod wfx { TI [1 0]; RV [2]; RN [9 5]; COND [23 20]; CV [24]; }
    /// ISS of a watchpoint exception.
    mod watchpoint { DFSC [5 0]; WnR [6]; CM [8]; FnV [10]; VNCR [13]; FnP [15]; WPF [16]; WPTV [17]; WPT [23 18]; }
    /// ISS of a software step exception.
    mod software_step { IFSC [5 0]; EX [6]; ISV [24]; }
    /// ISS of an SError interrupt.
    mod serror { DFSC [5 0]; EA [9]; AET [12 10]; IESB [13]; IDS [24]; }
    /// ISS of a memory copy or set exception.
    mod mops {
        Sizereg [4 0]; Srcreg [9 5]; Destreg [14 10]; OptionA [16]; WrongOption [17]; FromEpilogue [18]; Options [22 19];
        isSETG [23]; MemInst [24];
    }
}

/// CV 1 and COND 0b1110: an A64 instruction is unconditional.
const UNCONDITIONAL: u64 = wfx::CV.of(1) | wfx::COND.of(0xe);

/// Access to floating point or Advanced SIMD that CPACR or CPTR traps.
pub const FP_ACCESS: Syndrome = Syndrome::new(Ec::FpAccess, UNCONDITIONAL as u32);

/// A breakpoint.
pub const BREAKPOINT: Syndrome = Syndrome::new(Ec::Breakpoint, Fsc::Debug.code() as u32);

/// SVC with its 16-bit immediate.
#[must_use]
pub const fn svc(imm: u32) -> Syndrome {
    Syndrome::new(Ec::Svc, imm & 0xffff)
}

/// HVC with its 16-bit immediate.
#[must_use]
pub const fn hvc(imm: u32) -> Syndrome {
    Syndrome::new(Ec::Hvc, imm & 0xffff)
}

/// SMC with its 16-bit immediate.
#[must_use]
pub const fn smc(imm: u32) -> Syndrome {
    Syndrome::new(Ec::Smc, imm & 0xffff)
}

/// BRK with its 16-bit immediate.
#[must_use]
pub const fn brk(imm: u32) -> Syndrome {
    Syndrome::new(Ec::Brk, imm & 0xffff)
}

/// Branch target exception; `btype` is `PSTATE.BTYPE`, 1 to 3.
#[must_use]
pub const fn bti(btype: u8) -> Syndrome {
    Syndrome::new(Ec::Bti, btype as u32 & 3)
}

/// Which key an authentication used.
#[allow(clippy::upper_case_acronyms)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PacKey {
    /// Instruction key A.
    IA = 0,
    /// Instruction key B.
    IB = 1,
    /// Data key A.
    DA = 2,
    /// Data key B.
    DB = 3,
}

/// Pointer authentication failure.
#[must_use]
pub const fn pac_fail(key: PacKey) -> Syndrome {
    Syndrome::new(Ec::PacFail, key as u32)
}

/// A memory copy or set, `word`, of an implementation of Option A found what is to go in Option B's form.
#[must_use]
pub const fn mops_wrong_option(word: u32) -> Syndrome {
    use mops::*;
    let word = word as u64;
    let is_set = word >> 22 & 3 == 3;
    let (epilogue, options) =
        if is_set { (word >> 14 & 3 == 2, word >> 12 & 3) } else { (word >> 22 & 3 == 2, word >> 12 & 15) };
    let iss = MemInst.of(is_set as u64)
        | isSETG.of((is_set && word >> 26 & 1 == 1) as u64)
        | Options.of(options)
        | FromEpilogue.of(epilogue as u64)
        | WrongOption.of(1)
        | OptionA.of(1)
        | Destreg.of(word & 31)
        | Srcreg.of(word >> 16 & 31)
        | Sizereg.of(word >> 5 & 31);
    Syndrome::new(Ec::Mops, iss as u32)
}

/// Which exception return was trapped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EretKind {
    /// ERET.
    Eret = 0,
    /// ERETAA.
    Eretaa = 2,
    /// ERETAB.
    Eretab = 3,
}

/// A trapped exception return.
#[must_use]
pub const fn eret(kind: EretKind) -> Syndrome {
    Syndrome::new(Ec::Eret, kind as u32)
}

/// Which wait was trapped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WfxKind {
    /// WFI, WFIT.
    Wfi = 0,
    /// WFE, WFET.
    Wfe = 1,
}

/// A trapped WFI, WFE, WFIT or WFET.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Wfx {
    /// Interrupt or event.
    pub kind: WfxKind,
    /// The register with the timeout (0 to 31), for the forms that have one.
    pub timeout: Option<u8>,
}

impl Wfx {
    /// Its syndrome.
    #[must_use]
    pub const fn syndrome(self) -> Syndrome {
        let iss = UNCONDITIONAL
            | match self.timeout {
                None => wfx::TI.of(self.kind as u64),
                Some(rn) => wfx::TI.of(self.kind as u64 | 2) | wfx::RV.of(1) | wfx::RN.of(rn as u64),
            };
        Syndrome::new(Ec::Wfx, iss as u32)
    }
}

/// Which way a system register access goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// MSR, SYS.
    Write = 0,
    /// MRS, SYSL.
    Read = 1,
}

/// A trapped MRS, MSR or system instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SysRegTrap {
    /// The encoding accessed.
    pub enc: Enc,
    /// The general register, 0 to 31.
    pub rt: u8,
    /// Read or write.
    pub direction: Direction,
}

impl SysRegTrap {
    /// Its syndrome.
    #[must_use]
    pub const fn syndrome(self) -> Syndrome {
        use sysreg_trap::*;
        let iss = Op0.of(self.enc.op0() as u64)
            | Op2.of(self.enc.op2() as u64)
            | Op1.of(self.enc.op1() as u64)
            | CRn.of(self.enc.crn() as u64)
            | Rt.of(self.rt as u64)
            | CRm.of(self.enc.crm() as u64)
            | self.direction as u64;
        Syndrome::new(Ec::SysReg, iss as u32)
    }

    /// What the ISS of class [`Ec::SysReg`] says.
    #[must_use]
    pub const fn of_iss(iss: u32) -> Self {
        use sysreg_trap::*;
        let iss = iss as u64;
        Self {
            enc: Enc::new(
                Op0.get(iss) as u16,
                Op1.get(iss) as u16,
                CRn.get(iss) as u16,
                CRm.get(iss) as u16,
                Op2.get(iss) as u16,
            ),
            rt: Rt.get(iss) as u8,
            direction: if sysreg_trap::Direction.is_set(iss) { self::Direction::Read } else { self::Direction::Write },
        }
    }
}

/// The size of an access, log2 of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AccessSize {
    /// 1 byte.
    Byte = 0,
    /// 2 bytes.
    Halfword = 1,
    /// 4 bytes.
    Word = 2,
    /// 8 bytes.
    Doubleword = 3,
}

/// The valid instruction syndrome (ISV) of a data abort: a load or store of one register without writeback.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Register {
    /// The register transferred, 0 to 31.
    pub srt: u8,
    /// The size of the access.
    pub size: AccessSize,
    /// The value loaded is sign-extended (SSE).
    pub sign_extend: bool,
    /// The register transferred is 64 bits wide (SF).
    pub sixty_four: bool,
    /// The instruction has acquire or release semantics (AR).
    pub acquire_release: bool,
}

/// Synchronous error type, with FEAT_RAS.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Set {
    /// Recoverable state.
    Uer = 0,
    /// Uncontainable.
    Uc = 2,
    /// Restartable.
    Ueo = 3,
}

/// A data abort.
#[allow(clippy::struct_excessive_bools)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DataAbort {
    /// Why.
    pub fsc: Fsc,
    /// The access was a write, or a cache maintenance or address translation instruction (WnR).
    pub write: bool,
    /// A stage 2 fault on an access made for a stage 1 walk (S1PTW).
    pub s1ptw: bool,
    /// The fault is from cache maintenance or address translation (CM). DC ZVA, GVA and GZVA do not set it.
    pub cache_maintenance: bool,
    /// The external abort is of the IMPLEMENTATION DEFINED type 1 (EA).
    pub external: bool,
    /// FAR is not valid; only for an external abort that is not on a walk (FnV).
    pub far_not_valid: bool,
    /// The access was made through VNCR_EL2 (VNCR).
    pub vncr: bool,
    /// The error type, for an external abort with FEAT_RAS (SET).
    pub set: Option<Set>,
    /// The instruction syndrome, for stage 2 faults to EL2 that are not on a stage 1 walk (ISV and what it makes valid).
    pub register: Option<Register>,
}

impl DataAbort {
    /// A data abort with `fsc`, of a read, with nothing else set.
    #[must_use]
    pub const fn new(fsc: Fsc) -> Self {
        Self {
            fsc,
            write: false,
            s1ptw: false,
            cache_maintenance: false,
            external: false,
            far_not_valid: false,
            vncr: false,
            set: None,
            register: None,
        }
    }

    /// Its syndrome.
    #[must_use]
    pub const fn syndrome(self) -> Syndrome {
        use data_abort::*;
        let mut iss = DFSC.of(self.fsc.code() as u64)
            | WnR.of(self.write as u64)
            | S1PTW.of(self.s1ptw as u64)
            | CM.of(self.cache_maintenance as u64)
            | EA.of(self.external as u64)
            | FnV.of(self.far_not_valid as u64)
            | VNCR.of(self.vncr as u64);
        if let Some(set) = self.set {
            iss |= SET.of(set as u64);
        }
        if let Some(register) = self.register {
            iss |= register.iss();
        }
        Syndrome::new(Ec::DataAbort, iss as u32)
    }
}

impl Register {
    /// ISV and what it makes valid.
    const fn iss(self) -> u64 {
        use data_abort::*;
        ISV.of(1)
            | SAS.of(self.size as u64)
            | SSE.of(self.sign_extend as u64)
            | SRT.of(self.srt as u64)
            | SF.of(self.sixty_four as u64)
            | AR.of(self.acquire_release as u64)
    }
}

impl Syndrome {
    /// This data abort's syndrome with what the instruction transfers.
    #[must_use]
    pub const fn with_register(self, register: Register) -> Self {
        Self { iss: self.iss | register.iss() as u32, ..self }
    }
}

/// An instruction abort.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct InstructionAbort {
    /// Why.
    pub fsc: Fsc,
    /// A stage 2 fault on an access made for a stage 1 walk (S1PTW).
    pub s1ptw: bool,
    /// The external abort is of the IMPLEMENTATION DEFINED type 1 (EA).
    pub external: bool,
    /// FAR is not valid; only for an external abort that is not on a walk (FnV).
    pub far_not_valid: bool,
    /// The error type, for an external abort with FEAT_RAS (SET).
    pub set: Option<Set>,
}

impl InstructionAbort {
    /// An instruction abort with `fsc` and nothing else set.
    #[must_use]
    pub const fn new(fsc: Fsc) -> Self {
        Self { fsc, s1ptw: false, external: false, far_not_valid: false, set: None }
    }

    /// Its syndrome.
    #[must_use]
    pub const fn syndrome(self) -> Syndrome {
        use instruction_abort::*;
        let mut iss = IFSC.of(self.fsc.code() as u64)
            | S1PTW.of(self.s1ptw as u64)
            | EA.of(self.external as u64)
            | FnV.of(self.far_not_valid as u64);
        if let Some(set) = self.set {
            iss |= SET.of(set as u64);
        }
        Syndrome::new(Ec::InstructionAbort, iss as u32)
    }
}

/// A software step exception.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SoftwareStep {
    /// Whether the instruction stepped was a load-exclusive; `None` (ISV 0) where none was stepped.
    pub exclusive: Option<bool>,
}

impl SoftwareStep {
    /// Its syndrome.
    #[must_use]
    pub const fn syndrome(self) -> Syndrome {
        let stepped = match self.exclusive {
            None => 0,
            Some(exclusive) => software_step::ISV.of(1) | software_step::EX.of(exclusive as u64),
        };
        Syndrome::new(Ec::SoftwareStep, (stepped | Fsc::Debug.code() as u64) as u32)
    }
}

/// A watchpoint exception.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Watchpoint {
    /// The access was a write (WnR).
    pub write: bool,
    /// It was a cache maintenance instruction (CM).
    pub cache_maintenance: bool,
    /// Which watchpoint, where the implementation tells (FEAT_Debugv8p2 with FEAT_SME, and later).
    pub number: Option<u8>,
}

impl Watchpoint {
    /// Its syndrome.
    #[must_use]
    pub const fn syndrome(self) -> Syndrome {
        use watchpoint::*;
        let mut iss =
            DFSC.of(Fsc::Debug.code() as u64) | WnR.of(self.write as u64) | CM.of(self.cache_maintenance as u64);
        if let Some(number) = self.number {
            iss |= WPTV.of(1) | WPT.of(number as u64);
        }
        Syndrome::new(Ec::Watchpoint, iss as u32)
    }
}

/// An SError interrupt.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SError {
    /// IMPLEMENTATION DEFINED syndrome of 24 bits (IDS 1).
    Implementation(u32),
    /// ISS\[24:0\] as software gives it (VSESR_EL2).
    Given(u32),
    /// Without FEAT_RAS details: uncategorised (all zero).
    Uncategorised,
    /// FEAT_RAS: DFSC 0x11.
    Ras {
        /// Asynchronous error type: 0 uncontainable, 1 unrecoverable, 2 restartable, 3 recoverable, 6 corrected.
        aet: u8,
        /// External abort type (EA).
        external: bool,
        /// Synchronised by an implicit error synchronisation event (IESB).
        iesb: bool,
    },
}

impl SError {
    /// Its syndrome.
    #[must_use]
    pub const fn syndrome(self) -> Syndrome {
        use serror::*;
        let iss = match self {
            Self::Implementation(bits) => IDS.of(1) | bits as u64 & 0xff_ffff,
            Self::Given(iss) => iss as u64 & 0x1ff_ffff,
            Self::Uncategorised => 0,
            Self::Ras { aet, external, iesb } => {
                DFSC.of(0x11) | AET.of(aet as u64) | EA.of(external as u64) | IESB.of(iesb as u64)
            }
        };
        Syndrome::new(Ec::SError, iss as u32)
    }
}
