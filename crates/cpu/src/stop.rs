//! Why a PE stops: inside a block, and towards the machine.

use arch::Va;
use thiserror::Error;

/// Why an instruction left its block. What happened is in the PE; this says what the block loop does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stop {
    /// The instruction is complete; the block's remaining instructions must be looked at anew.
    EndBlock,
    /// The instruction did not complete: the PE's pending exception is to be taken.
    Exception,
    /// The instruction is complete; the PE's pending exception is to be taken after it (SVC and its kind).
    ExceptionAfter,
    /// The instruction is complete and the machine is asked for something.
    Leave,
    /// The instruction did not complete because the tool cannot do it.
    Tool,
}

impl Stop {
    /// Has the instruction retired?
    pub(crate) const fn completes(self) -> bool {
        !matches!(self, Self::Exception | Self::Tool)
    }
}

/// Why [`crate::Pe::run`] came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Its time is used up.
    Budget,
    /// It sleeps until an interrupt is pending.
    WaitForInterrupt,
    /// It sleeps until an event, an interrupt, or any time the machine likes.
    WaitForEvent,
    /// A timer was written, or what the PMU counts has changed: the deadline that the machine computed no longer holds.
    Reschedule,
    /// It gives way.
    Yield,
    /// HVC or SMC to firmware: arguments in X0 to X7; the machine writes the results and runs on.
    FirmwareCall,
    /// HLT with a semihosting immediate: operation in W0, argument in X1.
    Semihosting,
    /// A debugger outside the machine wants to look.
    Debugger(crate::debugger::DebuggerStop),
    /// The tool cannot go on.
    Tool(ToolError),
}

/// What the tool cannot do. Never what a guest does wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ToolError {
    /// An instruction that is known but not done.
    #[error("instruction {word:08x} at {pc} is not modelled yet: {} ({name})", sem::text::disassemble(*word, pc.0))]
    NotDone {
        /// The word.
        word: u32,
        /// Arm's name of the encoding.
        name: String,
        /// Where.
        pc: Va,
    },
    /// A system register or system instruction that the architecture has and this tool does not.
    #[error("system register {name} at {pc} is not modelled yet")]
    NoRegister {
        /// Its name or encoding.
        name: String,
        /// Where.
        pc: Va,
    },
}
