//! What a run was made of: counters fed by events, and the report written from them.
//!
//! [`Counters`] is the event sink of one CPU; the machine gets it as [`Counters::sink`] and the counts are read from the
//! handle that stays behind. [`Report`] is `--stats`: JSON with sorted keys, or a short text.

mod counters;
mod names;
mod report;
mod worlds;

pub use counters::{Counters, Counts, Exceptions, SharedSink, Syndrome};
pub use names::{exit as exit_name, tlbi_name};
pub use report::{CpuReport, Exit, Report, RunFacts};
pub use worlds::{ExitKind, ExitSum, Place, Stage2Access, Stage2Fault, Way, WorldCounts, Worlds};
