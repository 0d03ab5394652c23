//! Data and instruction aborts: from a fault to its syndrome. DDI 0487 D17.2.37, ISS encodings for aborts.

use arch::esr::{DataAbort, Ec, Fsc, InstructionAbort};
use arch::field::{hcr_el2, hpfar_el2};
use arch::{El, Va};
use mmu::{AccessKind, Direction, Fault, FaultKind, Stage, Stage2Cause};

use crate::el2::transfer_of;
use crate::exception::{Exception, Target};
use crate::pe::Pe;
use crate::stop::Stop;

/// Why a memory access failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessFault {
    /// Translation, permission, access flag, address size, abort on a walk.
    Mmu(mmu::Fault),
    /// Not aligned.
    Alignment,
    /// Its tag does not match that of the memory.
    TagCheck,
    /// Nothing answers at the physical address, or a device refused.
    External,
    /// An atomic or exclusive access to what does not support it.
    UnsupportedAtomic,
}

impl AccessFault {
    /// DFSC or IFSC.
    pub(crate) fn status(self) -> Fsc {
        match self {
            // The walker's codes are the architecture's; one that is not would be its defect, and reads as external.
            Self::Mmu(fault) => Fsc::from_code(fault.fsc()).unwrap_or(Fsc::External),
            Self::Alignment => Fsc::Alignment,
            Self::TagCheck => Fsc::TagCheck,
            Self::External => Fsc::External,
            Self::UnsupportedAtomic => Fsc::UnsupportedAtomic,
        }
    }
}

impl Pe {
    /// A data abort at `va`.
    #[cold]
    pub(crate) fn data_abort(&mut self, va: u64, kind: AccessKind, fault: AccessFault) -> Stop {
        // CM and WnR are 1 for cache maintenance and for address translation instructions.
        let cache_maintenance = matches!(
            kind,
            AccessKind::CacheMaintenance | AccessKind::CacheInvalidate | AccessKind::AtRead | AccessKind::AtWrite
        );
        let write = match fault {
            AccessFault::Mmu(fault) => fault.direction == Direction::Write,
            _ => cache_maintenance || kind == AccessKind::Write,
        };
        let (target, s1ptw) = self.target_of(fault);
        let abort = DataAbort { write, cache_maintenance, s1ptw, ..DataAbort::new(fault.status()) };
        self.pending = Some(Exception { syndrome: abort.syndrome(), far: Some(Va(va)), target });
        Stop::Exception
    }

    /// An instruction abort at `pc`.
    #[cold]
    pub(crate) fn instruction_abort(&mut self, pc: u64, fault: AccessFault) -> Stop {
        let (target, s1ptw) = self.target_of(fault);
        let abort = InstructionAbort { s1ptw, ..InstructionAbort::new(fault.status()) };
        self.pending = Some(Exception { syndrome: abort.syndrome(), far: Some(Va(pc)), target });
        Stop::Exception
    }
}

impl Pe {
    /// Adds to the syndrome of a data abort that EL2 takes for stage 2 what instruction `word` transfers, so that a
    /// hypervisor can emulate the access. Not where stage 2 faulted on a walk of stage 1.
    pub(crate) fn complete_syndrome(&mut self, word: u32) {
        if let Some(Exception { syndrome, target: Target::Stage2 { .. }, .. }) = &mut self.pending
            && syndrome.ec == Ec::DataAbort
            && u64::from(syndrome.iss) & (S1PTW | CM) == 0
            && let Some(register) = transfer_of(word)
        {
            *syndrome = syndrome.with_register(register);
        }
    }
}

/// ISS.S1PTW and ISS.CM of a data abort.
const S1PTW: u64 = 1 << 7;
const CM: u64 = 1 << 8;

impl Pe {
    /// Who takes an abort, and whether stage 2 faulted on a walk of stage 1 (S1PTW). HPFAR_EL2 is written for translation,
    /// access flag and address size faults, and for permission faults only on a walk (R_FKLWR).
    fn target_of(&self, fault: AccessFault) -> (Target, bool) {
        let AccessFault::Mmu(Fault { kind, stage: Stage::Two { ipa, cause }, .. }) = fault else {
            // HCR_EL2.TEA sends synchronous external aborts to EL2, those on walks included.
            let external = match fault {
                AccessFault::External => true,
                AccessFault::Mmu(fault) => matches!(fault.kind, FaultKind::External | FaultKind::ExternalOnWalk),
                _ => false,
            };
            let to_el2 = external && self.pstate.el < El::El2 && self.hcr(hcr_el2::TEA);
            return (if to_el2 { Target::El2 } else { Target::Default }, false);
        };
        let on_walk = cause == Stage2Cause::Stage1Walk;
        let recorded = match kind {
            FaultKind::Translation | FaultKind::AccessFlag | FaultKind::AddressSize => true,
            FaultKind::Permission => on_walk,
            _ => false,
        };
        let hpfar = recorded.then(|| hpfar_el2::FIPA.of(ipa.0 >> 12));
        (Target::Stage2 { hpfar }, on_walk)
    }
}
