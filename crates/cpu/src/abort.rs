//! Data and instruction aborts: from a fault to its syndrome. DDI 0487 D17.2.37, ISS encodings for aborts.

use arch::Va;
use arch::esr::{DataAbort, Fsc, InstructionAbort};
use mmu::{AccessKind, Direction};

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
    fn status(self) -> Fsc {
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
        let abort = DataAbort { write, cache_maintenance, ..DataAbort::new(fault.status()) };
        self.raise(abort.syndrome(), Some(Va(va)))
    }

    /// An instruction abort at `pc`.
    #[cold]
    pub(crate) fn instruction_abort(&mut self, pc: u64, fault: AccessFault) -> Stop {
        self.raise(InstructionAbort::new(fault.status()).syndrome(), Some(Va(pc)))
    }
}
