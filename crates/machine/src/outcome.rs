//! How a run ends, and what cannot be set up.

use cpu::ToolError;
use thiserror::Error;

/// A limit that the user set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `--max-insns`: this many instructions (and exceptions) on all CPUs together.
    Instructions(u64),
    /// `--timeout`: this many seconds of the host's time.
    Seconds(u64),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The guest powered the machine off.
    PoweredOff,
    /// The guest asked for a reset.
    Reset,
    /// The guest ended itself by semihosting with this code.
    Exit(u32),
    /// A limit was reached.
    Limit(Limit),
    /// The first round in which [`crate::Limits::pause`] was reached is over; running goes on from here.
    Paused,
    /// Nothing can happen any more.
    Stuck(Stuck),
    /// The user stopped it at the console.
    Quit,
    /// The host gives no thread for a CPU.
    NoThread {
        /// The CPU.
        cpu: usize,
        /// The host's reason.
        reason: String,
    },
    /// The tool cannot go on; the CPU's number says which CPU met it.
    Tool {
        /// The CPU.
        cpu: usize,
        /// What it met.
        error: ToolError,
    },
}

/// Why nothing can happen any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Stuck {
    /// All CPUs sleep and no interrupt can come.
    #[error("every CPU waits for an interrupt, and none can come")]
    Asleep,
    /// All CPUs are off.
    #[error("every CPU is switched off")]
    Off,
}
