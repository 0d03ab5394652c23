//! A trace for Perfetto, in the JSON trace event format, which <https://ui.perfetto.dev> and `chrome://tracing` read. A tick
//! is shown as a nanosecond. Each CPU has two rows: its exceptions, nested as they were taken and returned from, with sleep;
//! and the contexts that it worked for, by TTBR0 and CONTEXTIDR.

use std::fmt;

use arch::El;
use event::{Event, Sink};

use super::Trace;
use crate::names;

/// How the file begins: with an event that names the process, so that each further one has a comma before it.
pub(super) const BEGIN: &str = r#"{"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","name":"process_name","pid":0,"args":{"name":"Vambrace"}}"#;
/// How it ends.
pub(super) const END: &str = "\n]}\n";

/// The rows of a CPU.
#[derive(Clone, Copy)]
enum Row {
    Levels,
    Contexts,
}

impl Row {
    fn tid(self, cpu: usize) -> usize {
        2 * cpu + self as usize
    }
}

/// What is open on a CPU's first row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// An exception, by the level that it was taken from.
    Exception(El),
    Sleep,
}

/// The sink of one CPU.
pub(super) struct CpuTimeline {
    cpu: usize,
    trace: Trace,
    open: Vec<Open>,
    /// The open context: level, TTBR0, CONTEXTIDR.
    context: Option<(El, u64, u64)>,
}

impl CpuTimeline {
    pub(super) fn new(cpu: usize, trace: Trace) -> Self {
        for (row, what) in [(Row::Levels, "exceptions"), (Row::Contexts, "contexts")] {
            let tid = row.tid(cpu);
            trace.put(format_args!(
                ",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":{tid},\"args\":{{\"name\":\"CPU {cpu} {what}\"}}}}"
            ));
        }
        Self { cpu, trace, open: Vec::new(), context: None }
    }
    fn begin(&self, row: Row, at: u64, name: &str, args: &str) {
        self.put(row, 'B', at, format_args!(r#","name":"{name}","args":{{{args}}}"#));
    }
    fn end(&self, row: Row, at: u64) {
        self.put(row, 'E', at, format_args!(""));
    }
    /// The format's unit is the microsecond.
    fn put(&self, row: Row, phase: char, at: u64, rest: fmt::Arguments<'_>) {
        let (tid, whole, part) = (row.tid(self.cpu), at / 1000, at % 1000);
        self.trace
            .put(format_args!(",\n{{\"ph\":\"{phase}\",\"pid\":0,\"tid\":{tid},\"ts\":{whole}.{part:03}{rest}}}"));
    }

    fn take(&mut self, at: u64, from: El, to: El, name: &str, args: &str) {
        self.wake(at);
        let separator = if args.is_empty() { "" } else { "," };
        let levels = format!(r#""from":"{}","to":"{}"{separator}{args}"#, names::level(from), names::level(to));
        self.begin(Row::Levels, at, name, &levels);
        self.open.push(Open::Exception(from));
    }

    /// A return to `to` ends the exception that was taken from there last, and what was taken since: a kernel that switches
    /// threads does not return from every exception on the CPU that took it.
    fn give(&mut self, at: u64, to: El) {
        let Some(last) = self.open.iter().rposition(|open| *open == Open::Exception(to)) else { return };
        for _ in self.open.drain(last..).collect::<Vec<_>>() {
            self.end(Row::Levels, at);
        }
    }

    fn wake(&mut self, at: u64) {
        if self.open.last() == Some(&Open::Sleep) {
            self.open.pop();
            self.end(Row::Levels, at);
        }
    }

    fn switch(&mut self, at: u64, context: (El, u64, u64)) {
        if self.context == Some(context) {
            return;
        }
        if self.context.is_some() {
            self.end(Row::Contexts, at);
        }
        self.context = Some(context);
        let (level, ttbr0, contextidr) = context;
        let name = format!("TTBR0 {ttbr0:#x}, CONTEXTIDR {contextidr:#x}");
        self.begin(Row::Contexts, at, &name, &format!(r#""level":"{}""#, names::level(level)));
    }
}

impl Sink for CpuTimeline {
    fn event(&mut self, at: u64, event: &Event) {
        match *event {
            Event::Exception { from, to, esr, pc } => {
                let args = format!(r#""esr":"{esr:#x}","pc":"{:#x}""#, pc.0);
                self.take(at, from, to, &names::class(esr), &args);
            }
            Event::Irq { from, to } => self.take(at, from, to, "IRQ", ""),
            Event::Fiq { from, to } => self.take(at, from, to, "FIQ", ""),
            Event::SError { from, to } => self.take(at, from, to, "SError", ""),
            Event::ExceptionReturn { to, .. } => self.give(at, to),
            Event::Sleep => {
                self.begin(Row::Levels, at, "sleep", "");
                self.open.push(Open::Sleep);
            }
            Event::Wake => self.wake(at),
            Event::Context { level, ttbr0, contextidr } => self.switch(at, (level, ttbr0, contextidr)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use arch::Va;

    use super::*;
    use crate::trace::TraceFormat;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Phase, row, time in ticks and name of each event but the rows' names.
    fn traced(events: &[(u64, Event)]) -> Vec<(String, u64, u64, String)> {
        let kept = Kept::default();
        let trace = Trace::new(TraceFormat::Timeline, Box::new(kept.clone()));
        let mut sink = trace.sink(1);
        for (at, event) in events {
            sink.event(*at, event);
        }
        trace.finish().unwrap();
        let json: serde_json::Value = serde_json::from_slice(&kept.0.lock().unwrap()).unwrap();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let events = json["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] != "M");
        events
            .map(|e| {
                let ticks = (e["ts"].as_f64().unwrap() * 1000.0).round() as u64;
                (text(&e["ph"]), e["tid"].as_u64().unwrap(), ticks, text(&e["name"]))
            })
            .collect()
    }

    fn svc(from: El) -> Event {
        Event::Exception { from, to: El::El1, esr: 0x15 << 26, pc: Va(0x1000) }
    }

    fn eret(to: El) -> Event {
        Event::ExceptionReturn { from: El::El1, to }
    }

    #[test]
    fn exceptions_nest() {
        let (from, to) = (El::El1, El::El1);
        let events = [
            (5, svc(El::El0)),
            (1_234_567, Event::Irq { from, to }),
            (1_234_600, eret(from)),
            (2_000_000, eret(El::El0)),
        ];
        let expected = [("B", 5, "Svc"), ("B", 1_234_567, "IRQ"), ("E", 1_234_600, ""), ("E", 2_000_000, "")];
        let seen = traced(&events);
        assert_eq!(seen, expected.map(|(phase, at, name)| (phase.to_owned(), 2, at, name.to_owned())));
    }

    /// A thread that was interrupted in the kernel goes on elsewhere; another returns to EL0 here.
    #[test]
    fn a_return_ends_what_was_taken_since() {
        let (from, to) = (El::El1, El::El1);
        let events = [(1, svc(El::El0)), (2, Event::Irq { from, to }), (3, eret(El::El0)), (4, eret(El::El1))];
        let phases: Vec<_> = traced(&events).into_iter().map(|(phase, _, at, _)| (phase, at)).collect();
        assert_eq!(phases, [("B", 1), ("B", 2), ("E", 3), ("E", 3)].map(|(phase, at)| (phase.to_owned(), at)));
    }

    #[test]
    fn sleep_and_contexts() {
        let context = |ttbr0, contextidr| Event::Context { level: El::El1, ttbr0, contextidr };
        let events = [
            (1, context(0x4000, 7)),
            (2, context(0x4000, 7)),
            (3, Event::Sleep),
            (9, Event::Wake),
            (9, Event::Wake),
            (10, context(0x4000, 8)),
        ];
        let expected = [
            ("B", 3, 1, "TTBR0 0x4000, CONTEXTIDR 0x7"),
            ("B", 2, 3, "sleep"),
            ("E", 2, 9, ""),
            ("E", 3, 10, ""),
            ("B", 3, 10, "TTBR0 0x4000, CONTEXTIDR 0x8"),
        ];
        assert_eq!(
            traced(&events),
            expected.map(|(phase, tid, at, name)| (phase.to_owned(), tid, at, name.to_owned()))
        );
    }

    #[test]
    fn the_first_error_is_told() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let trace = Trace::new(TraceFormat::Timeline, Box::new(Full));
        trace.sink(0).event(1, &Event::Sleep);
        assert_eq!(trace.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
