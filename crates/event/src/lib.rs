//! What a processing element (PE) did, as typed values. Counters, profiles, traces and rule checkers consume them;
//! none of them reaches into the CPU. A PE without a sink pays one untaken branch on slow paths only.
#![cfg_attr(not(test), no_std)]

use arch::{El, Pa, Va};

/// One thing that a PE did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A synchronous exception was taken. `esr` is the syndrome as written to `ESR_ELx`.
    Exception {
        /// Level it was taken from.
        from: El,
        /// Level it was taken to.
        to: El,
        /// Syndrome.
        esr: u64,
        /// Preferred return address.
        pc: Va,
    },
    /// An IRQ was taken.
    Irq {
        /// Level it was taken from.
        from: El,
        /// Level it was taken to.
        to: El,
    },
    /// An FIQ was taken.
    Fiq {
        /// Level it was taken from.
        from: El,
        /// Level it was taken to.
        to: El,
    },
    /// An SError interrupt was taken.
    SError {
        /// Level it was taken from.
        from: El,
        /// Level it was taken to.
        to: El,
    },
    /// An exception return.
    ExceptionReturn {
        /// Level of the ERET.
        from: El,
        /// Level returned to.
        to: El,
    },
    /// A translation table walk was made; `steps` descriptors were read.
    Walk {
        /// Number of descriptors read.
        steps: u8,
        /// What asked for it.
        cause: WalkCause,
    },
    /// An entry went into the architectural TLB.
    TlbFill,
    /// A TLB invalidation was executed.
    TlbInvalidate {
        /// Its CRm:op2 within op1, packed as in [`arch::sysreg::Enc`].
        enc: u16,
        /// Entries that it removed on this PE.
        removed: u32,
    },
    /// A barrier instruction: DMB, DSB, ISB, SB.
    Barrier(BarrierKind),
    /// A store-exclusive returned 1.
    ExclusiveFailed {
        /// Where.
        pa: Pa,
    },
    /// The PE went to sleep in WFI or WFE.
    Sleep,
}

/// Why a walk was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkCause {
    /// A load.
    Read,
    /// A store or atomic.
    Write,
    /// An instruction fetch.
    Fetch,
    /// An AT instruction or the debugger.
    Probe,
}

/// The barrier instructions that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierKind {
    /// Data memory barrier.
    Dmb,
    /// Data synchronisation barrier.
    Dsb,
    /// Instruction synchronisation barrier.
    Isb,
    /// Speculation barrier.
    Sb,
}

/// A consumer of one PE's events.
pub trait Sink: Send {
    /// Takes one event; must not block.
    fn event(&mut self, event: &Event);
}
