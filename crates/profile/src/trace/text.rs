//! A trace as lines of text.
//! ```text
//! CPU INSNS exception FROM TO ESR PC      a synchronous exception, with the preferred return address
//! CPU INSNS irq|fiq|serror FROM TO        an interrupt
//! CPU INSNS return FROM TO                an exception return
//! CPU load|store PA BYTES                 an access to RAM, for those who ask
//! ```
//!
//! INSNS are the instructions that the CPU has retired so far; ESR and addresses are in hexadecimal.

use std::fmt::{self, Write as _};

use arch::El;
use event::{AccessKind, Detail, Event, Sink};

use super::Trace;

/// The sink of one CPU.
pub(super) struct CpuLines {
    cpu: usize,
    detail: Detail,
    trace: Trace,
    /// A line behind INSNS, whose number comes with the next event.
    begun: String,
}

impl CpuLines {
    pub(super) fn new(cpu: usize, detail: Detail, trace: Trace) -> Self {
        Self { cpu, detail, trace, begun: String::new() }
    }
    fn begin(&mut self, what: fmt::Arguments<'_>) {
        self.begun.clear();
        // A String takes everything.
        let _ = self.begun.write_fmt(what);
    }
}

fn name(el: El) -> &'static str {
    ["el0", "el1", "el2", "el3"][el as usize]
}

impl Sink for CpuLines {
    fn detail(&self) -> Detail {
        self.detail
    }

    fn event(&mut self, _: u64, event: &Event) {
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
                self.trace.put(format_args!("{cpu} {insns} {}\n", self.begun));
            }
            Event::Access { kind, pa, bytes } => {
                let kind = match kind {
                    AccessKind::Load => "load",
                    AccessKind::Store => "store",
                };
                self.trace.put(format_args!("{cpu} {kind} {:#x} {bytes}\n", pa.0));
            }
            _ => {}
        }
    }
}
