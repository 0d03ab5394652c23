//! `--trace`: what the CPUs did, as lines of text in the order in which it happened.
//!
//!     CPU INSNS exception FROM TO ESR PC      a synchronous exception, with the preferred return address
//!     CPU INSNS irq|fiq|serror FROM TO        an interrupt
//!     CPU INSNS return FROM TO                an exception return
//!     CPU load|store PA BYTES                 an access to RAM, with `--trace-events accesses`
//!
//! INSNS are the instructions that the CPU has retired so far; ESR and addresses are in hexadecimal.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use arch::El;
use event::{AccessKind, Detail, Event, Sink};

/// The file that all CPUs' sinks write to.
#[derive(Clone)]
pub struct Trace(Arc<Mutex<Lines>>);

struct Lines {
    file: BufWriter<File>,
    /// The first error; nothing is written after it.
    failed: Option<io::Error>,
}

impl Trace {
    /// Into `file`, which is empty.
    pub fn new(file: File) -> Self {
        Self(Arc::new(Mutex::new(Lines { file: BufWriter::with_capacity(1 << 20, file), failed: None })))
    }

    /// What CPU `cpu` tells its events to. `also` hears of them too.
    pub fn sink(&self, cpu: usize, detail: Detail, also: Option<Box<dyn Sink>>) -> Box<dyn Sink> {
        Box::new(TraceSink { cpu, detail, trace: self.clone(), begun: String::new(), also })
    }

    /// Writes what is left; the first error of all.
    pub fn finish(&self) -> io::Result<()> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match lines.failed.take() {
            Some(error) => Err(error),
            None => lines.file.flush(),
        }
    }

    fn line(&self, line: std::fmt::Arguments<'_>) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.failed.is_none() {
            lines.failed = lines.file.write_fmt(line).err();
        }
    }
}

struct TraceSink {
    cpu: usize,
    detail: Detail,
    trace: Trace,
    /// A line behind INSNS, whose number comes with the next event.
    begun: String,
    also: Option<Box<dyn Sink>>,
}

impl TraceSink {
    fn begin(&mut self, what: std::fmt::Arguments<'_>) {
        self.begun.clear();
        // A String takes everything.
        let _ = self.begun.write_fmt(what);
    }
}

fn name(el: El) -> &'static str {
    ["el0", "el1", "el2", "el3"][el as usize]
}

impl Sink for TraceSink {
    fn detail(&self) -> Detail {
        self.detail
    }

    fn event(&mut self, event: &Event) {
        let cpu = self.cpu;
        match *event {
            Event::Exception { from, to, esr, pc } => {
                self.begin(format_args!("exception {} {} {esr:#x} {:#x}", name(from), name(to), pc.0));
            }
            Event::Irq { from, to } => self.begin(format_args!("irq {} {}", name(from), name(to))),
            Event::Fiq { from, to } => self.begin(format_args!("fiq {} {}", name(from), name(to))),
            Event::SError { from, to } => self.begin(format_args!("serror {} {}", name(from), name(to))),
            Event::ExceptionReturn { from, to } => self.begin(format_args!("return {} {}", name(from), name(to))),
            Event::Retired { insns } => {
                let insns: u64 = insns.iter().sum();
                self.trace.line(format_args!("{cpu} {insns} {}\n", self.begun));
            }
            Event::Access { kind, pa, bytes } => {
                let kind = match kind {
                    AccessKind::Load => "load",
                    AccessKind::Store => "store",
                };
                self.trace.line(format_args!("{cpu} {kind} {:#x} {bytes}\n", pa.0));
            }
            _ => {}
        }
        if let Some(also) = &mut self.also {
            also.event(event);
        }
    }
}
