//! What `vambrace run --trace` writes as text, read back.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};

/// An exception level.
pub type Level = u8;

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A synchronous exception.
    Exception {
        /// Level it came from.
        from: Level,
        /// ESR_ELx.
        esr: u64,
        /// Preferred return address.
        pc: u64,
    },
    /// An interrupt.
    Interrupt,
    /// An exception return to this level.
    Return(Level),
    /// A load of so many bytes at a physical address.
    Load(u64, u64),
    /// A store.
    Store(u64, u64),
}

/// A line with the CPU that it is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Its number.
    pub cpu: usize,
    /// Instructions that it had retired; 0 for accesses.
    pub insns: u64,
    /// What happened.
    pub event: Event,
}

/// Calls `each` with the lines of the file, in order.
pub fn read(path: &Path, mut each: impl FnMut(Line) -> Result<()>) -> Result<()> {
    let mut reader =
        BufReader::new(File::open(path).with_context(|| format!("cannot read the trace {}", path.display()))?);
    let mut text = String::new();
    while reader.read_line(&mut text)? > 0 {
        each(parse(&text).with_context(|| format!("no line of a trace: {text}"))?)?;
        text.clear();
    }
    Ok(())
}

fn parse(text: &str) -> Option<Line> {
    let mut words = text.split_ascii_whitespace();
    let cpu = words.next()?.parse().ok()?;
    let second = words.next()?;
    if let "load" | "store" = second {
        let (pa, bytes) = (hexadecimal(words.next()?)?, words.next()?.parse().ok()?);
        let event = if second == "load" { Event::Load(pa, bytes) } else { Event::Store(pa, bytes) };
        return Some(Line { cpu, insns: 0, event });
    }
    let insns = second.parse().ok()?;
    let kind = words.next()?;
    let (from, to) = (level(words.next()?)?, level(words.next()?)?);
    let event = match kind {
        "exception" => Event::Exception { from, esr: hexadecimal(words.next()?)?, pc: hexadecimal(words.next()?)? },
        "irq" | "fiq" | "serror" => Event::Interrupt,
        "return" => Event::Return(to),
        _ => return None,
    };
    Some(Line { cpu, insns, event })
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

fn level(text: &str) -> Option<Level> {
    text.strip_prefix("el")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let line = |text, insns, event| assert_eq!(parse(text), Some(Line { cpu: 1, insns, event }), "{text}");
        line(
            "1 52 exception el0 el1 0x56000000 0x400128\n",
            52,
            Event::Exception { from: 0, esr: 0x5600_0000, pc: 0x40_0128 },
        );
        line("1 53 irq el1 el1\n", 53, Event::Interrupt);
        line("1 54 return el2 el0\n", 54, Event::Return(0));
        line("1 store 0x40001000 8\n", 0, Event::Store(0x4000_1000, 8));
        line("1 load 0x40001000 1\n", 0, Event::Load(0x4000_1000, 1));
        for text in ["", "1", "1 2 other el0 el1", "x load 0x0 8", "1 load 12 8", "1 2 return el0"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
