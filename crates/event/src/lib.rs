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
    /// The same, in a loop of which only the passes were counted.
    Barriers {
        /// Which.
        kind: BarrierKind,
        /// How many.
        times: u64,
    },
    /// A store-exclusive returned 1.
    ExclusiveFailed {
        /// Where.
        pa: Pa,
    },
    /// The PE went to sleep in WFI or WFE.
    Sleep,
    /// A PE that had gone to sleep runs again.
    Wake,
    /// The address space or the thread that the PE works for was written: TTBR0 or CONTEXTIDR of EL1 or EL2. The values
    /// are what is there now; both may be what they were.
    Context {
        /// Whose registers they are: EL1's, or EL2's where a hypervisor or a host with E2H wrote its own.
        level: El,
        /// `TTBR0_ELx`.
        ttbr0: u64,
        /// `CONTEXTIDR_ELx`.
        contextidr: u64,
    },
    /// EL2 returned to EL1 or EL0 of a world: an exception return with `HCR_EL2.TGE` clear. It follows the
    /// [`Event::ExceptionReturn`].
    WorldEntry {
        /// Whose they are.
        world: World,
        /// Instructions retired so far at EL0 to EL3.
        insns: [u64; 4],
        /// List registers in use (their state is not invalid); `None` while `ICH_HCR_EL2.En` is clear.
        list_registers: Option<u8>,
    },
    /// EL2 took an exception from EL1 or EL0 of a world: with `HCR_EL2.TGE` clear. It follows the exception's event.
    WorldExit {
        /// The exception.
        cause: ExitCause,
        /// Instructions retired so far at EL0 to EL3.
        insns: [u64; 4],
    },
    /// Instructions retired so far at EL0 to EL3. It follows each exception and each exception return, for a sink that asks
    /// for [`Detail::Instructions`].
    Retired {
        /// By level.
        insns: [u64; 4],
    },
    /// A load, store or atomic accessed memory, for a sink that asks for [`Detail::Accesses`]. An atomic is a load and a
    /// store, whether or not it stores.
    Access {
        /// What it did.
        kind: AccessKind,
        /// Its first byte.
        pa: Pa,
        /// Bytes.
        bytes: u64,
    },
    /// Firmware started the PE anew, at its highest level.
    Restart {
        /// Instructions retired so far at EL0 to EL3.
        insns: [u64; 4],
    },
}

/// Whose EL1 and EL0 run below EL2: a guest's, or those of a host whose hypervisor has EL2 for itself (nVHE).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct World {
    /// `VTTBR_EL2.VMID`.
    pub vmid: u16,
    /// Is stage 2 on (`HCR_EL2.VM`, or DC)?
    pub stage2: bool,
}

/// What brought a world to EL2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCause {
    /// A synchronous exception with this `ESR_EL2`.
    Synchronous(u64),
    /// An IRQ.
    Irq,
    /// An FIQ.
    Fiq,
    /// An SError.
    SError,
}

/// What an access to memory did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Read.
    Load,
    /// Wrote.
    Store,
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

/// Which events a sink gets beside those that every sink gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// None.
    Plain,
    /// [`Event::Retired`].
    Instructions,
    /// That, and [`Event::Access`]: the PE then takes the slow way for each access.
    Accesses,
}

/// A consumer of one PE's events.
pub trait Sink: Send {
    /// What it asks for; the same each time.
    fn detail(&self) -> Detail {
        Detail::Plain
    }
    /// Takes one event; must not block. `at` is the PE's time in ticks: exact for exceptions and returns, sleep, waking and
    /// [`Event::Context`]; for what happens in the middle of a block of instructions, that block's start.
    fn event(&mut self, at: u64, event: &Event);
}
