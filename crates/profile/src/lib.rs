//! What a run was made of: counters fed by events, and the report written from them.
//!
//! [`Counters`] is the event sink of one CPU; the machine gets it as [`Counters::sink`] and the counts are read from the
//! handle that stays behind. [`Report`] is `--stats`: JSON with sorted keys, or a short text. [`Trace`] is `--trace`,
//! [`Calls`] is `--profile`.

mod calls;
mod counters;
mod names;
mod report;
mod snapshots;
mod trace;
mod worlds;

pub use calls::{Calls, Work};
pub use counters::{Counters, Counts, Exceptions, SharedSink, Syndrome};
pub use names::{exit as exit_name, tlbi_name};
pub use report::{CpuReport, Exit, Report, RunFacts};
pub use trace::{Trace, TraceFormat};
pub use worlds::{ExitKind, ExitSum, Place, Stage2Access, Stage2Fault, Way, WorldCounts, Worlds};

use event::{Detail, Event, Sink};

/// Several sinks as one; `None` of none.
#[must_use]
pub fn together(mut sinks: Vec<Box<dyn Sink>>) -> Option<Box<dyn Sink>> {
    match sinks.len() {
        0 | 1 => sinks.pop(),
        _ => Some(Box::new(All(sinks))),
    }
}

struct All(Vec<Box<dyn Sink>>);

impl Sink for All {
    fn detail(&self) -> Detail {
        self.0.iter().map(|sink| sink.detail()).max().unwrap_or(Detail::Plain)
    }
    fn event(&mut self, at: u64, event: &Event) {
        for sink in &mut self.0 {
            sink.event(at, event);
        }
    }
}
