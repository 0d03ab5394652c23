//! Instructions under qemu-aarch64, the user-mode emulator: an independent judge for what EL0 may execute.
//!
//! `user.c` is built with the system's cross compiler and run once for a batch of cases.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail, ensure};

use crate::case::{Case, End, Outcome, State, WORDS};

const STATE_BYTES: usize = 34 * 8 + 32 * 16 + 8;

fn write(state: &State, out: &mut Vec<u8>) {
    for word in state.x.iter().chain([&state.sp, &state.pc, &state.nzcv]) {
        out.extend(word.to_le_bytes());
    }
    for q in state.q {
        out.extend(q.to_le_bytes());
    }
    out.extend(state.fpsr.to_le_bytes());
    out.extend(state.fpcr.to_le_bytes());
}

fn read(bytes: &mut &[u8]) -> State {
    State {
        x: core::array::from_fn(|_| u64::from_le_bytes(take(bytes))),
        sp: u64::from_le_bytes(take(bytes)),
        pc: u64::from_le_bytes(take(bytes)),
        nzcv: u64::from_le_bytes(take(bytes)),
        q: core::array::from_fn(|_| u128::from_le_bytes(take(bytes))),
        fpsr: u32::from_le_bytes(take(bytes)),
        fpcr: u32::from_le_bytes(take(bytes)),
    }
}

/// Splits off the first `N` bytes, which must be there.
fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let (first, rest) = bytes.split_first_chunk().expect("the length was checked");
    *bytes = rest;
    *first
}

/// The built program.
#[derive(Debug)]
pub struct Judge {
    program: PathBuf,
}

impl Judge {
    /// Builds the program in `directory`. Fails where the cross compiler is missing.
    pub fn build(directory: &Path) -> Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let program = directory.join(format!("oracle-user-{}-{number}", std::process::id()));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/user.c");
        let status = Command::new("aarch64-linux-gnu-gcc")
            .args(["-O2", "-ffreestanding", "-nostdlib", "-static", "-fno-stack-protector", "-mgeneral-regs-only"])
            // Far from the addresses that cases make up.
            .arg("-Wl,-Ttext-segment=0x3a5c600000")
            .arg("-o")
            .arg(&program)
            .arg(&source)
            .status()
            .context("aarch64-linux-gnu-gcc is needed (Debian: gcc-aarch64-linux-gnu)")?;
        ensure!(status.success(), "the cross compiler failed on {}", source.display());
        Ok(Self { program })
    }

    /// Runs the cases in order. A case that kills the judge itself ends with [`End::Died`].
    pub fn run(&self, cases: &[Case]) -> Result<Vec<Outcome>> {
        if let Some(outcomes) = self.run_once(cases)? {
            return Ok(outcomes);
        }
        if let [case] = cases {
            return Ok(vec![Outcome { state: case.state.clone(), end: End::Died, memory: BTreeMap::new() }]);
        }
        let (first, second) = cases.split_at(cases.len() / 2);
        let mut outcomes = self.run(first)?;
        outcomes.extend(self.run(second)?);
        Ok(outcomes)
    }

    /// As [`Judge::run`]; `None` where the judge died.
    fn run_once(&self, cases: &[Case]) -> Result<Option<Vec<Outcome>>> {
        let mut input = Vec::with_capacity(cases.len() * (STATE_BYTES + 16 + 4 * WORDS));
        for case in cases {
            write(&case.state, &mut input);
            input.extend(case.seed.to_le_bytes());
            input.extend((case.words.len() as u64).to_le_bytes());
            let words = case.words.iter().copied().chain(std::iter::repeat(0)).take(WORDS);
            words.for_each(|word| input.extend(word.to_le_bytes()));
        }
        // Without SVE and SME, for a frame with their state would have V registers twice; without pointer authentication,
        // whose keys are not known.
        let mut child = Command::new("qemu-aarch64")
            .args(["-cpu", "max,sve=off,sme=off,pauth=off"])
            .arg(&self.program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("qemu-aarch64 is needed (Debian: qemu-user)")?;
        let mut stdin = child.stdin.take().context("no pipe to qemu-aarch64")?;
        // The program reads everything before it writes, so one thread does.
        stdin.write_all(&input).context("qemu-aarch64 does not read its cases")?;
        drop(stdin);
        let output = child.wait_with_output()?;
        let message = String::from_utf8_lossy(&output.stderr);
        // A failed assertion. The abort may even come to the program as a signal of its own, so that it ends well.
        if output.stdout.starts_with(b"Bail out!") || message.contains("ERROR:") {
            return Ok(None);
        }
        ensure!(output.status.success(), "qemu-aarch64 ended with {}: {message}", output.status);
        let mut rest = &output.stdout[..];
        let outcomes = cases.iter().map(|_| outcome(&mut rest)).collect::<Result<Vec<_>>>()?;
        ensure!(rest.is_empty(), "qemu-aarch64 gave {} bytes too many", rest.len());
        Ok(Some(outcomes))
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        // A file left behind in a build directory does no harm.
        let _ = std::fs::remove_file(&self.program);
    }
}

fn outcome(bytes: &mut &[u8]) -> Result<Outcome> {
    ensure!(bytes.len() >= STATE_BYTES + 24, "qemu-aarch64 gave too little");
    let state = read(bytes);
    let signal = u32::from_le_bytes(take(bytes));
    take::<4>(bytes);
    let fault = u64::from_le_bytes(take(bytes));
    let changed = u64::from_le_bytes(take(bytes)) as usize;
    ensure!(bytes.len() / 16 >= changed, "qemu-aarch64 gave too little");
    let word = |bytes: &mut &[u8]| (u64::from_le_bytes(take(bytes)), u64::from_le_bytes(take(bytes)));
    let memory: BTreeMap<u64, u64> = (0..changed).map(|_| word(bytes)).collect();
    let end = match signal {
        4 => End::Undefined,
        5 => End::Done,
        7 => End::Alignment,
        11 => End::Fault(fault & 0x00ff_ffff_ffff_ffff),
        14 => End::Endless,
        _ => bail!("signal {signal} at {:#x}", state.pc),
    };
    Ok(Outcome { state, end, memory })
}
