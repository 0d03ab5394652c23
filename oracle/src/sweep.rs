//! Every word decodes without a panic, and random programs at EL2, EL1 and EL0 neither panic nor hang the PE.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use arch::sysreg::Reg;
use arch::{El, Va};
use cpu::{Exit, Pe, ToolError};
use sem::testing::Rng;
use sem::{Decoder, Machine, Quad, System};

use crate::case::{CODE, DATA, PC};
use crate::generate::Source;
use crate::ours::{self, ERET, Ours, TEXT, VECTORS};

/// What a sweep over words found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Decoded {
    /// Words looked at.
    pub words: u64,
    /// Words with a line.
    pub allocated: u64,
    /// Of those, words whose fields are reserved.
    pub reserved: u64,
}

/// Decodes every `stride`-th word, on `threads` threads. Fails where a word panics.
pub fn decode(stride: u64, threads: usize) -> Result<Decoded> {
    const CHUNK: u64 = 1 << 22;
    let decoder = Decoder::<Pe>::new();
    let next = AtomicU64::new(0);
    let total = Mutex::new(Decoded::default());
    let one = |word: u64, found: &mut Decoded| {
        let word = word as u32;
        found.words += 1;
        if let Some((_, spec)) = decoder.decode(word) {
            found.allocated += 1;
            found.reserved += u64::from((spec.prepare)(word).is_none());
        }
    };
    let worker = || -> Result<()> {
        loop {
            let start = next.fetch_add(CHUNK, Ordering::Relaxed);
            if start >= 1 << 32 {
                return Ok(());
            }
            let words = || (start.next_multiple_of(stride)..start + CHUNK).step_by(stride as usize);
            let mut found = Decoded::default();
            if catch_unwind(AssertUnwindSafe(|| words().for_each(|word| one(word, &mut found)))).is_err() {
                let panics = |word: &u64| catch_unwind(AssertUnwindSafe(|| one(*word, &mut found))).is_err();
                let word = words().find(panics).unwrap_or(start);
                bail!("decoding {word:#010x} panics");
            }
            let mut total = total.lock().expect("no holder panics");
            total.words += found.words;
            total.allocated += found.allocated;
            total.reserved += found.reserved;
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })?;
    total.into_inner().context("a worker panicked")
}

/// What random programs did.
#[derive(Clone, Debug, Default)]
pub struct Executed {
    /// Programs.
    pub programs: u64,
    /// Instructions that they retired.
    pub instructions: u64,
    /// Programs that the tool could not go on with, by what it said.
    pub refused: BTreeMap<String, u64>,
}

/// Instructions of a program, at most.
const STEPS: u64 = 2000;
/// Times that a program may ask the machine for something.
const EXITS: u32 = 50;
/// Longer than any program takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs random programs until there were `programs` of them, or for `time` where that is longer.
pub fn execute(seed: u64, programs: u64, time: Duration, threads: usize) -> Result<Executed> {
    let model = ours::max()?;
    let hypervisor = ours::max_with_el2()?;
    let source = Source::new(hypervisor.features);
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let total = Mutex::new(Executed::default());
    let started = Instant::now();
    let worker = || -> Result<()> {
        let mut models = [(Ours::new(model.clone())?, El::El1), (Ours::new(hypervisor.clone())?, El::El2)];
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let (ours, highest) = &mut models[number as usize % 2];
            if number >= programs && started.elapsed() >= time {
                return Ok(());
            }
            let run =
                catch_unwind(AssertUnwindSafe(|| program(ours, *highest, &source, &mut Rng::new(seed ^ number << 20))));
            let Ok((instructions, refused)) = run else {
                bail!("program {number} of seed {seed} panics the PE");
            };
            done.fetch_add(1, Ordering::Relaxed);
            let mut total = total.lock().expect("no holder panics");
            total.programs += 1;
            total.instructions += instructions;
            if let Some(refused) = refused {
                *total.refused.entry(refused).or_default() += 1;
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(worker)).collect();
        let mut seen = (0, Instant::now());
        while workers.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(50));
            let now = done.load(Ordering::Relaxed);
            if now != seen.0 {
                seen = (now, Instant::now());
            } else if seen.1.elapsed() > PATIENCE && workers.iter().all(|worker| !worker.is_finished()) {
                // Its thread cannot be stopped.
                eprintln!("error: a program near {now} of seed {seed} hangs the PE");
                std::process::exit(1);
            }
        }
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })?;
    let total = total.into_inner().context("a worker panicked")?;
    ensure!(total.instructions > 0, "no instruction was executed");
    Ok(total)
}

/// A random word, mostly allocated; more than their share of system registers and instructions.
fn random_word(source: &Source, rng: &mut Rng) -> u32 {
    match rng.below(16) {
        0 => rng.random() as u32,
        1 | 2 => {
            let reg = rng.pick(&Reg::ALL);
            0xd500_0000 | (rng.below(2) as u32 * (1 << 21)) | u32::from(reg.info().enc.0) << 5 | rng.below(32) as u32
        }
        // SYS with CRn 7 or 8: caches, AT, TLBI.
        3 => (0xd508_7000 ^ (rng.below(2) as u32 * 0xf000)) | rng.random() as u32 & 0x0007_0fff,
        _ => {
            let pattern = source.lines[rng.below(source.lines.len() as u64) as usize].spec.pattern;
            pattern.value | rng.random() as u32 & !pattern.mask
        }
    }
}

/// Runs one program: pages of random words, from a random state at EL2, EL1 or EL0. Gives the instructions retired, and
/// what the tool could not do, if anything.
fn program(ours: &mut Ours, highest: El, source: &Source, rng: &mut Rng) -> (u64, Option<String>) {
    // The last program may have written anywhere, and changed every register.
    ours.build().expect("inside RAM");
    ours.reset();
    for n in 0..768 {
        let word = if n >= 256 && rng.once_in(16) { ERET } else { random_word(source, rng) };
        // The vectors too, which EL1 may execute; the rest is EL0's.
        let at = if n < 256 { TEXT + (PC - CODE) + 4 * n } else { VECTORS + 4 * (n - 256) };
        ours.ram.write_u32(at, word).expect("inside RAM");
    }
    ours.ram.note_write(0, ours.ram.len());
    let address = |rng: &mut Rng| match rng.below(4) {
        0 => DATA + rng.below(4096),
        1 => PC + rng.below(1024),
        // Physical RAM, for where translation is off.
        2 => 0x4000_0000 + rng.below(1 << 17),
        _ => rng.word(),
    };
    let pe = &mut ours.pe;
    for n in 0..31 {
        pe.set_x_register(n, address(rng));
    }
    for n in 0..32 {
        pe.set_q(n, Quad::from_halves(rng.word(), rng.word()));
    }
    pe.set_sp(address(rng) & !15);
    let mut set = |reg: Reg, value: u64| {
        let _ = pe.system(sem::Insn::new(0, 0, 0), System::Msr(reg.info().enc), value);
    };
    let random = rng.below(1 << 32);
    set(Reg::SPSR_EL1, rng.pick(&[0, 4, 5, 0x3c0, random]));
    set(Reg::ELR_EL1, PC + 4 * rng.below(200));
    if highest == El::El2 {
        // Untranslated at EL2; EL1's registers are as for Linux, so that an ERET comes to EL1 or EL0, translated.
        set(Reg::VBAR_EL2, 0x4000_0000 + VECTORS);
        set(Reg::HCR_EL2, rng.random() & rng.random());
        set(Reg::ELR_EL2, PC + 4 * rng.below(200));
        let random = rng.below(1 << 32);
        set(Reg::SPSR_EL2, rng.pick(&[0, 5, 9, random]));
        pe.set_pc(Va(0x4000_0000 + TEXT + (PC - CODE)));
    } else if rng.once_in(3) {
        // Translation off: the code is elsewhere.
        set(Reg::VBAR_EL1, 0x4000_0000 + VECTORS);
        set(Reg::SCTLR_EL1, rng.random() & !1 & !(1 << 25 | 1 << 24));
        pe.set_pc(Va(0x4000_0000 + TEXT + (PC - CODE)));
    } else {
        // EL1 cannot execute what EL0 can write: so to EL0 first.
        let _ = pe.system(sem::Insn::new(0, 0, 0), System::Eret, 0);
        pe.set_pc(Va(PC));
    }
    let before = pe.steps();
    let instructions = pe.instructions();
    let mut refused = None;
    for _ in 0..EXITS {
        let until = pe.ticks() + STEPS.saturating_sub(pe.steps() - before);
        match pe.run(&mut ours.code, until) {
            Exit::Budget => break,
            Exit::Tool(error) => {
                refused = Some(match error {
                    ToolError::NotDone { name, .. } | ToolError::NoRegister { name, .. } => name,
                });
                break;
            }
            _ => {}
        }
    }
    (pe.instructions() - instructions, refused)
}
