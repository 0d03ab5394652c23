//! `--table`: instructions that the short ways through the kernel take, beside Linux's on the same machine with the same
//! program (`guest/el0/paths.c`). The machine counts, in its trace of exceptions: from the exception of a named instruction
//! to the next return to EL0. Ways that an interrupt lengthened are left out.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::boot::{self, Boot, Echo, Machine};
use crate::guests::{File, Guests, kernel_initramfs};
use crate::shell;

use super::JUDGE;
use super::program;
use super::trace::{self, Event};

/// What a row counts.
#[derive(Debug, Clone, Copy)]
enum Operation {
    /// The middle value of the ways from that instruction.
    Median(&'static str),
    /// The middle value of the ways from either instruction that the other one follows: each is another thread's.
    Switch(&'static str, &'static str),
    /// All ways from these instructions, divided by so many times.
    Total(&'static [&'static str], u64),
}

#[derive(Debug, Clone, Copy)]
struct Row {
    name: &'static str,
    operation: Operation,
}

/// Rounds of `guest/el0/paths.c`: of each of its two threads.
const ROUNDS: u64 = 1000;

/// Pages of each of its memories.
const PAGES: u64 = 512;

const ROWS: [Row; 9] = [
    Row { name: "invalid system call", operation: Operation::Median("at_invalid") },
    Row { name: "getpid", operation: Operation::Median("at_getpid") },
    Row { name: "emulated MRS of ID_AA64ISAR0_EL1", operation: Operation::Median("at_mrs") },
    Row { name: "switch of threads: sched_yield", operation: Operation::Switch("at_yield", "at_other_yield") },
    Row { name: "switch: futex wake, wait, switch", operation: Operation::Total(&["at_wake", "at_wait"], 2 * ROUNDS) },
    Row { name: "minor fault: first write, anonymous", operation: Operation::Median("at_write") },
    Row { name: "minor fault: first read, anonymous", operation: Operation::Median("at_read") },
    Row { name: "minor fault: copy on write", operation: Operation::Median("at_copy") },
    // Either may map more pages than the one that is touched.
    Row { name: "minor faults of a file, for each page", operation: Operation::Total(&["at_file"], PAGES) },
];

/// Most that ours may take, as a part of Linux's.
const TARGET: f64 = 0.5;

/// A kernel with its command line.
#[derive(Debug, Clone, Copy)]
enum System {
    /// Ours. 4K at each fault, as Linux 6.1 does it.
    Ours,
    /// As it comes.
    Linux,
    /// Without mitigations, as ours is.
    LinuxBare,
}

/// Instructions of the ways, by the symbol that they began at and the one that came next.
type Counts = BTreeMap<(&'static str, &'static str), Vec<u64>>;

/// Prints the table for both CPUs. An error if ours takes more than its part somewhere.
pub fn table(guests: &Guests, image: &Path, echo: Echo) -> Result<()> {
    let program = build()?;
    let symbols = symbols(&program)?;
    let initrd = boot::scratch("kernel-paths.cpio")?;
    let init = File::executable("init", fs::read(&program)?);
    fs::write(&initrd, kernel_initramfs(None, &[init]))?;
    let mut over = Vec::new();
    for cpu in ["cortex-a57", "max"] {
        let run = |system| measure(guests, image, &initrd, &symbols, cpu, system, echo);
        let ((ours, _), (linux, notes), (bare, bare_notes)) =
            (run(System::Ours)?, run(System::Linux)?, run(System::LinuxBare)?);
        println!("\n{cpu}: instructions at the kernel's level, from the exception to the return");
        println!(
            "{:<38} {:>8} {:>10} {:>6} {:>16} {:>6}",
            "operation", "ours", "Linux 6.1", "ratio", "mitigations=off", "ratio"
        );
        for row in ROWS {
            let [ours, linux, bare] = [&ours, &linux, &bare].map(|counts| value(row.operation, counts));
            let (ours, linux, bare) = (ours?, linux?, bare?);
            println!(
                "{:<38} {ours:>8.0} {linux:>10.0} {:>6.2} {bare:>16.0} {:>6.2}",
                row.name,
                ours / linux,
                ours / bare
            );
            if ours / bare > TARGET {
                over.push(format!("{cpu}: {}: {:.2}", row.name, ours / bare));
            }
        }
        println!("  Linux as it comes: {notes}; with mitigations=off kpti=off: {bare_notes}. Ours has no mitigations.");
    }
    ensure!(over.is_empty(), "over {TARGET} of Linux's without mitigations: {}", over.join("; "));
    println!("\nAll are at most {TARGET} of Linux's without mitigations.");
    Ok(())
}

fn build() -> Result<PathBuf> {
    let program = program::build("paths")?;
    let judge = shell::capture(Command::new("qemu-aarch64").arg(&program))?;
    ensure!(judge.ends_with("paths: right\n"), "under qemu-aarch64: {judge}");
    Ok(program)
}

/// Preferred return addresses by the name of the instruction: of a system call, that behind it.
fn symbols(program: &Path) -> Result<BTreeMap<u64, &'static str>> {
    let names = ROWS.iter().flat_map(|row| match row.operation {
        Operation::Median(name) => vec![name],
        Operation::Switch(one, other) => vec![one, other],
        Operation::Total(names, _) => names.to_vec(),
    });
    let mut found = BTreeMap::new();
    for name in names {
        // Either address means it: what lies behind a system call's instruction is none of the others.
        let at = program::symbol(program, name)?;
        found.insert(at, name);
        found.insert(at + 4, name);
    }
    Ok(found)
}

/// Runs the program; the counts, and what the kernel says of mitigations.
fn measure(
    guests: &Guests,
    image: &Path,
    initrd: &Path,
    symbols: &BTreeMap<u64, &'static str>,
    cpu: &'static str,
    system: System,
    echo: Echo,
) -> Result<(Counts, String)> {
    let trace = boot::scratch("kernel-paths.trace")?;
    let mut boot = match system {
        System::Ours => Boot::of(image, Some(initrd), "thp64k=never"),
        System::Linux => Boot::new(guests, JUDGE, "").with_initrd(initrd),
        System::LinuxBare => Boot::new(guests, JUDGE, "mitigations=off kpti=off").with_initrd(initrd),
    };
    boot.cpu = Some(cpu);
    boot.limit = Duration::from_secs(600);
    boot.trace = Some(trace.clone());
    boot.words.extend(["--trace-events", "exceptions"].map(str::to_owned));
    let outcome = boot.run(Machine::Vambrace, echo)?;
    outcome.expect_line("paths: right")?;
    // Linux panics when its init ends.
    outcome.expect_status(if matches!(system, System::Ours) { 0 } else { 3 })?;
    let detected = outcome.lines_with("detected: ").filter_map(|line| line.split("detected: ").nth(1));
    let notes: Vec<&str> =
        detected.filter(|what| ["Spectre", "isolation"].iter().any(|word| what.contains(word))).collect();
    let notes = if notes.is_empty() { "nothing detected".to_owned() } else { notes.join(", ") };
    let counts = count(&trace, symbols)?;
    fs::remove_file(&trace)?;
    Ok((counts, notes))
}

/// The lengths of the ways in the trace.
fn count(trace: &Path, symbols: &BTreeMap<u64, &'static str>) -> Result<Counts> {
    let mut counts = Counts::new();
    let mut open: Option<(&'static str, u64)> = None;
    let mut closed: Option<(&'static str, u64)> = None;
    trace::read(trace, |line| {
        match line.event {
            Event::Exception { from: 0, pc, .. } => {
                let name = symbols.get(&pc).copied();
                if let Some((before, length)) = closed.take() {
                    counts.entry((before, name.unwrap_or(""))).or_default().push(length);
                }
                open = name.map(|name| (name, line.insns));
            }
            Event::Return(0) => {
                if let Some((name, since)) = open.take() {
                    closed = Some((name, line.insns - since));
                }
            }
            // Somebody else's work.
            Event::Exception { .. } | Event::Interrupt => open = None,
            Event::Return(_) | Event::Load(..) | Event::Store(..) => {}
        }
        Ok(())
    })?;
    Ok(counts)
}

fn value(operation: Operation, counts: &Counts) -> Result<f64> {
    let of = |wanted: &dyn Fn(&str, &str) -> bool| -> Vec<u64> {
        let ways = counts.iter().filter(|((name, next), _)| wanted(name, next));
        ways.flat_map(|(_, lengths)| lengths.iter().copied()).collect()
    };
    let ways = match operation {
        Operation::Median(from) => of(&|name, _| name == from),
        Operation::Switch(one, other) => of(&|name, next| (name, next) == (one, other) || (name, next) == (other, one)),
        Operation::Total(names, _) => of(&|name, _| names.contains(&name)),
    };
    ensure!(ways.len() as u64 >= PAGES / 16 - 1, "{operation:?}: only {} ways in the trace", ways.len());
    #[expect(clippy::cast_precision_loss, reason = "counts of instructions are far below 2^52")]
    let number = |count: u64| count as f64;
    Ok(match operation {
        Operation::Median(_) | Operation::Switch(..) => number(middle(ways)),
        Operation::Total(_, times) => number(ways.iter().sum()) / number(times),
    })
}

fn middle(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}
