//! A processing element (PE): its state, execution of pre-decoded blocks, exceptions, system registers, timers.

pub mod code;
pub mod pstate;
pub mod stop;
pub mod timer;

mod abort;
mod bti;
mod debug;
mod debugger;
mod el2;
mod eval;
mod exception;
mod footprint;
mod memory;
mod mops;
mod pauth;
mod pe;
mod peers;
mod pmu;
mod run;
mod snapshots;
mod spin;
mod step;
mod system;
mod tags;

pub use code::CodeCache;
pub use debugger::{Debugger, DebuggerStop, DebuggerWatch, Watched};
pub use eval::Q;
pub use memory::Marked;
pub use pe::{Broadcast, Conduit, Pe, PeConfig, Semihosting, Turn};
pub use peers::{Backoff, Peers};
pub use pstate::Pstate;
pub use stop::{Exit, Stop, ToolError};
