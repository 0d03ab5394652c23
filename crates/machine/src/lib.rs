//! The machine: the board, how it is configured, what it boots, the firmware that it stands in for, and the run loop.

pub mod board;
pub mod boot;
pub mod config;
pub mod console;
pub mod diagnose;
pub mod fdt;
mod firmware;
pub mod map;
pub mod outcome;
pub mod power;
pub mod psci;
pub mod run;
mod sampler;
pub mod schedule;
pub mod setup;
mod slots;
pub mod snapshots;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod topology;

pub use board::{Board, BoardConfig, BoardError};
pub use bus::entropy;
pub use config::{ConfigError, Controller, MachineConfig};
pub use console::ConsoleInput;
pub use cpu::{Debugger, DebuggerWatch, Semihosting, ToolError, Watched};
pub use diagnose::Diagnosis;
pub use outcome::{Limit, Outcome, Stuck};
pub use power::{PowerButton, Press};
pub use run::{Advance, CpuSummary, Halt, Limits, Machine, Pace, Threads};
pub use sampler::{Listener, Names, Sample};
pub use schedule::QUANTUM;
pub use setup::{Options, SetupError};
pub use slots::{Devices, DiskConfig, Input, ShareConfig};
pub use snapshots::Description;
pub use topology::Topology;
