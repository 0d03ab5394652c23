//! `--trace`: what each CPU did, in the order in which it happened.

mod text;
mod timeline;

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use event::Sink;

/// What a trace holds, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// Exceptions and returns, interrupts, sleep and contexts, for Perfetto.
    Timeline,
    /// Exceptions, interrupts and returns, as lines of text.
    Exceptions,
    /// These and each load and store.
    Accesses,
}

/// A trace that is being written. Clones are the same trace.
#[derive(Clone)]
pub struct Trace {
    format: TraceFormat,
    out: Arc<Mutex<Out>>,
}

struct Out {
    file: Box<dyn Write + Send>,
    /// The first error: nothing is written after it.
    error: Option<io::Error>,
}

impl Trace {
    /// A trace into `file`, which should be buffered.
    #[must_use]
    pub fn new(format: TraceFormat, file: Box<dyn Write + Send>) -> Self {
        let trace = Self { format, out: Arc::new(Mutex::new(Out { file, error: None })) };
        if format == TraceFormat::Timeline {
            trace.put(format_args!("{}", timeline::BEGIN));
        }
        trace
    }

    /// The sink of CPU `cpu`.
    #[must_use]
    pub fn sink(&self, cpu: usize) -> Box<dyn Sink> {
        match self.format {
            TraceFormat::Timeline => Box::new(timeline::CpuTimeline::new(cpu, self.clone())),
            TraceFormat::Exceptions => Box::new(text::CpuLines::new(cpu, event::Detail::Instructions, self.clone())),
            TraceFormat::Accesses => Box::new(text::CpuLines::new(cpu, event::Detail::Accesses, self.clone())),
        }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// The first error of all writing.
    pub fn finish(&self) -> io::Result<()> {
        if self.format == TraceFormat::Timeline {
            self.put(format_args!("{}", timeline::END));
        }
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        match out.error.take() {
            Some(error) => Err(error),
            None => out.file.flush(),
        }
    }

    fn put(&self, text: fmt::Arguments<'_>) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if out.error.is_none() {
            out.error = out.file.write_fmt(text).err();
        }
    }
}
