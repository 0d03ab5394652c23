//! `--run mrs-trace`: what the way of an emulated MRS writes. Four threads on four CPUs (`guest/el0/mrs.c`) read a register
//! at the same time while the machine traces all accesses. Lock-free, no cache line that a CPU stores to on the way, from
//! the exception to the return, is accessed by another CPU meanwhile; with `mrs=locked` the lock's is, so the test can fail.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::boot::{self, Boot, Echo, Level, Machine};
use crate::shell;

use super::program;
use super::trace::{self, Event, Line};

/// Its name on the command line.
pub const NAME: &str = "mrs-trace";

const CPUS: u32 = 4;
/// Bytes of a cache line, as a number of bits.
const LINE_BITS: u32 = 6;
/// Bytes of a kernel stack, which begins at a multiple of them, as a number of bits (`hal::thread::STACK_SIZE`).
const STACK_BITS: u32 = 14;
/// Ways that each CPU must have gone while all did.
const LEAST: usize = 100;

/// Runs it; a line about how it went.
pub fn check(image: &Path, echo: Echo) -> Result<String> {
    let program = program::build("mrs")?;
    let instruction = program::symbol(&program, "at_mrs")?;
    let mut facts = Vec::new();
    for (cpu, level) in [("cortex-a57", Level::El1), ("max", Level::El1), ("max", Level::El2)] {
        let found = run(image, cpu, level, "mrs=lockfree", instruction, echo)?;
        if let Some(line) = found.shared.first() {
            let name = name(image, *line)?;
            bail!("{cpu}, {level:?}: the line at {line:#x} ({name}) is written on the way and accessed by another CPU");
        }
        for (cpu, lines) in &found.stored {
            let stacks: BTreeSet<u64> = lines.iter().map(|line| line >> STACK_BITS).collect();
            ensure!(stacks.len() == 1, "CPU {cpu} stores outside of its thread's stack: {lines:x?}");
        }
        let lines = found.stored.values().map(BTreeSet::len).max().unwrap_or(0);
        facts.push(format!("{cpu} {level:?} lock-free: {} ways, {lines} lines each of its own stack", found.ways));
    }
    let found = run(image, "cortex-a57", Level::El1, "mrs=locked", instruction, echo)?;
    let names = found.shared.iter().map(|line| name(image, *line)).collect::<Result<BTreeSet<_>>>()?;
    ensure!(names.iter().any(|name| name.contains("HOOKS")), "locked: the lock is not among {names:?}");
    let names: Vec<String> = names.into_iter().collect();
    facts.push(format!("locked: {} ways, shared lines of {}", found.ways, names.join(", ")));
    Ok(format!("{NAME}: {}", facts.join("; ")))
}

/// What the trace shows of the time in which all CPUs were at it. Addresses are those of cache lines.
#[derive(Debug, Default)]
struct Found {
    ways: usize,
    /// Lines that each CPU stored to on the way.
    stored: BTreeMap<usize, BTreeSet<u64>>,
    /// Those of them that another CPU accessed at any time meanwhile.
    shared: Vec<u64>,
}

fn run(image: &Path, cpu: &'static str, level: Level, words: &str, instruction: u64, echo: Echo) -> Result<Found> {
    let path = boot::scratch("kernel-mrs.trace")?;
    let initrd = program::initramfs("mrs")?;
    let mut boot = Boot::of(image, Some(&initrd), words);
    (boot.cpu, boot.level, boot.cpus, boot.memory) = (Some(cpu), level, CPUS, 128);
    boot.semihosting = true;
    boot.max_insns = Some(100_000_000);
    boot.words.extend(["--trace-events".to_owned(), "accesses".to_owned()]);
    boot.words.extend(["--trace".to_owned(), path.display().to_string()]);
    let outcome = boot.run(Machine::Vambrace, echo)?;
    outcome.expect_status(0)?;
    outcome.expect_line("mrs: right")?;
    let found = look(&path, instruction);
    fs::remove_file(&path)?;
    found.with_context(|| format!("{cpu}, {level:?}, {words}"))
}

/// Is it the exception that this is about? FEAT_IDST or not, its preferred return address is the instruction.
fn is_way(line: Line, instruction: u64) -> bool {
    matches!(line.event, Event::Exception { from: 0, pc, .. } if pc == instruction)
}

fn look(path: &Path, instruction: u64) -> Result<Found> {
    // First pass: from the last CPU's first way to the first CPU's last one, as numbers of lines.
    let (mut first, mut last) = (BTreeMap::new(), BTreeMap::new());
    let mut number = 0u64;
    trace::read(path, |line| {
        number += 1;
        if is_way(line, instruction) {
            first.entry(line.cpu).or_insert(number);
            last.insert(line.cpu, number);
        }
        Ok(())
    })?;
    ensure!(first.len() == CPUS as usize, "only CPUs {:?} read the register", first.keys());
    let start = first.values().max().copied().unwrap_or(0);
    let end = last.values().min().copied().unwrap_or(0);

    // Second: who accesses what between.
    let mut found = Found::default();
    let mut accessed: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
    let mut on_the_way: BTreeSet<usize> = BTreeSet::new();
    let mut ways: BTreeMap<usize, usize> = BTreeMap::new();
    number = 0;
    trace::read(path, |line| {
        number += 1;
        if !(start..=end).contains(&number) {
            return Ok(());
        }
        match line.event {
            _ if is_way(line, instruction) => {
                on_the_way.insert(line.cpu);
                *ways.entry(line.cpu).or_default() += 1;
            }
            // An interrupt or a fault on the way is part of it, up to the return to EL0.
            Event::Return(0) => {
                on_the_way.remove(&line.cpu);
            }
            Event::Load(pa, bytes) | Event::Store(pa, bytes) => {
                for at in pa >> LINE_BITS..=(pa + bytes - 1) >> LINE_BITS {
                    let at = at << LINE_BITS;
                    accessed.entry(at).or_default().insert(line.cpu);
                    if matches!(line.event, Event::Store(..)) && on_the_way.contains(&line.cpu) {
                        found.stored.entry(line.cpu).or_default().insert(at);
                    }
                }
            }
            Event::Exception { .. } | Event::Interrupt | Event::Return(_) => {}
        }
        Ok(())
    })?;
    ensure!(ways.len() == CPUS as usize && ways.values().all(|n| *n >= LEAST), "too few ways at one time: {ways:?}");
    ensure!(found.stored.len() == CPUS as usize, "a way without stores: {:?}", found.stored.keys());
    found.ways = ways.values().sum();
    let is_shared = |cpu: &usize, line: &u64| accessed[line].iter().any(|other| other != cpu);
    let all = found.stored.iter().flat_map(|(cpu, lines)| lines.iter().map(move |line| (cpu, line)));
    let shared: BTreeSet<u64> = all.filter(|(cpu, line)| is_shared(cpu, line)).map(|(_, line)| *line).collect();
    found.shared = shared.into_iter().collect();
    Ok(found)
}

/// The kernel's static that lies at a line, or nothing of the image.
fn name(image: &Path, line: u64) -> Result<String> {
    /// Where RAM begins, and with it the image.
    const RAM_BASE: u64 = 0x4000_0000;
    let header = fs::read(image)?;
    let offset = header.get(8..16).context("the image is cut off")?;
    let offset = u64::from_le_bytes(offset.try_into()?);
    let listing = shell::capture(
        Command::new("aarch64-linux-gnu-nm").args(["-nC"]).arg(image.with_file_name("vambrace-kernel")),
    )?;
    let symbols = listing.lines().filter_map(|line| {
        let (address, rest) = line.split_once(' ')?;
        Some((u64::from_str_radix(address, 16).ok()?, rest.get(2..)?))
    });
    let symbols: Vec<(u64, &str)> = symbols.filter(|(address, _)| address >> 48 == 0xffff).collect();
    let base = symbols.first().context("the kernel has no symbols")?.0 & !0xffff;
    let end = line + (1 << LINE_BITS) - RAM_BASE - offset + base;
    // The last that begins in the line, or before it.
    let found = symbols.iter().rfind(|(address, _)| *address < end);
    Ok(found.map_or("no symbol", |(_, name)| *name).to_owned())
}
