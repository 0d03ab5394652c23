//! Processes and threads.
//!
//! `thread`, `process`: what they are · `table`: by number · `clone`, `exec`, `exit`, `wait`: their life · `job`: stopping
//! and going on · `elf`, `stack`: what exec reads and writes.

pub mod clone;
pub mod elf;
pub mod exec;
pub mod exit;
pub mod job;
mod process;
mod stack;
pub mod table;
mod thread;
pub mod wait;

pub use job::StateChange;
pub use process::{ExitStatus, Limits, Process, ProcessState};
pub use thread::{Credentials, Thread};
