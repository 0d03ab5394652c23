//! What a run was made of: counters fed by events, and the report written from them.
//!
//! [`Counters`] is the event sink of one CPU; the machine gets it as [`Counters::sink`] and the counts are read from the
//! handle that stays behind. [`Report`] is `--stats`: JSON with sorted keys, or a short text.

mod counters;
mod names;
mod report;

pub use counters::{Counters, Counts, SharedSink, Syndrome};
pub use names::tlbi_name;
pub use report::{CpuReport, Exit, Report, RunFacts};
