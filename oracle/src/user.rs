//! Single instructions under qemu-aarch64, the user-mode emulator: an independent judge for what EL0 may execute.
//!
//! `user.c` is built with the system's cross compiler and run once for a batch of cases. Each case is one instruction
//! word at [`PC`] with a full register state and a page of memory at [`DATA`].

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Where the breakpoints start.
pub const CODE: u64 = 0x2000_0000;
/// Their size in bytes.
pub const CODE_SIZE: u64 = 0x1_0000;
/// Where the instruction stands, amid breakpoints.
pub const PC: u64 = CODE + 0x8000;
/// The page of memory that a case may use.
pub const DATA: u64 = 0x2002_0000;
/// Its size in bytes. What is around it is not mapped.
pub const DATA_SIZE: u64 = 0x1000;
const WINDOW: usize = 128;

/// The registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// X0 to X30.
    pub x: [u64; 31],
    /// SP.
    pub sp: u64,
    /// PC.
    pub pc: u64,
    /// N, Z, C, V in bits \[31:28\].
    pub nzcv: u64,
    /// V0 to V31.
    pub q: [u128; 32],
    /// FPSR.
    pub fpsr: u32,
    /// FPCR.
    pub fpcr: u32,
}

const STATE_BYTES: usize = 34 * 8 + 32 * 16 + 8;

impl State {
    fn write(&self, out: &mut Vec<u8>) {
        for word in self.x.iter().chain([&self.sp, &self.pc, &self.nzcv]) {
            out.extend(word.to_le_bytes());
        }
        for q in self.q {
            out.extend(q.to_le_bytes());
        }
        out.extend(self.fpsr.to_le_bytes());
        out.extend(self.fpcr.to_le_bytes());
    }

    fn read(bytes: &mut &[u8]) -> Self {
        Self {
            x: core::array::from_fn(|_| u64::from_le_bytes(take(bytes))),
            sp: u64::from_le_bytes(take(bytes)),
            pc: u64::from_le_bytes(take(bytes)),
            nzcv: u64::from_le_bytes(take(bytes)),
            q: core::array::from_fn(|_| u128::from_le_bytes(take(bytes))),
            fpsr: u32::from_le_bytes(take(bytes)),
            fpcr: u32::from_le_bytes(take(bytes)),
        }
    }
}

/// Splits off the first `N` bytes, which must be there.
fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let (first, rest) = bytes.split_first_chunk().expect("the length was checked");
    *bytes = rest;
    *first
}

/// One instruction and what it finds.
#[derive(Clone, Debug)]
pub struct Case {
    /// The instruction.
    pub word: u32,
    /// The registers; the PC is always [`PC`].
    pub state: State,
    /// The page's bytes are `sem::eval::Fill::Hash` of this.
    pub seed: u64,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It completed.
    Done,
    /// SIGILL.
    Undefined,
    /// SIGSEGV at this data address.
    Fault(u64),
    /// SIGBUS: alignment.
    Alignment,
}

/// What the judge saw.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The registers after.
    pub state: State,
    /// How it ended.
    pub end: End,
    /// Offset in the page of the first changed byte, and the bytes up to the last changed one (128 at most).
    pub changed: Option<(usize, Vec<u8>)>,
}

/// The built program.
#[derive(Debug)]
pub struct Judge {
    program: PathBuf,
}

impl Judge {
    /// Builds the program in `directory`. Fails where the cross compiler is missing.
    pub fn build(directory: &Path) -> Result<Self> {
        let program = directory.join(format!("oracle-user-{}", std::process::id()));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/user.c");
        let status = Command::new("aarch64-linux-gnu-gcc")
            .args(["-O1", "-ffreestanding", "-nostdlib", "-static", "-fno-stack-protector", "-mgeneral-regs-only"])
            .arg("-o")
            .arg(&program)
            .arg(&source)
            .status()
            .context("aarch64-linux-gnu-gcc is needed (Debian: gcc-aarch64-linux-gnu)")?;
        ensure!(status.success(), "the cross compiler failed on {}", source.display());
        Ok(Self { program })
    }

    /// Runs the cases in order.
    pub fn run(&self, cases: &[Case]) -> Result<Vec<Outcome>> {
        let mut input = Vec::new();
        for case in cases {
            case.state.write(&mut input);
            input.extend(case.seed.to_le_bytes());
            input.extend(case.word.to_le_bytes());
            input.extend([0; 4]);
        }
        // Without SVE, for a frame with SVE state would have V registers twice.
        let mut child = Command::new("qemu-aarch64")
            .args(["-cpu", "max,sve=off"])
            .arg(&self.program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("qemu-aarch64 is needed (Debian: qemu-user)")?;
        let mut stdin = child.stdin.take().context("no pipe to qemu-aarch64")?;
        // The program reads everything before it writes, so one thread does.
        stdin.write_all(&input).context("qemu-aarch64 does not read its cases")?;
        drop(stdin);
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "qemu-aarch64 ended with {}", output.status);
        let size = STATE_BYTES + 8 + 24 + WINDOW;
        ensure!(output.stdout.len() == size * cases.len(), "qemu-aarch64 gave {} bytes", output.stdout.len());
        output.stdout.chunks_exact(size).map(outcome).collect()
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        // A file left behind in a build directory does no harm.
        let _ = std::fs::remove_file(&self.program);
    }
}

fn outcome(mut bytes: &[u8]) -> Result<Outcome> {
    let bytes = &mut bytes;
    let state = State::read(bytes);
    let signal = u32::from_le_bytes(take(bytes));
    take::<4>(bytes);
    let fault = u64::from_le_bytes(take(bytes));
    let first = u64::from_le_bytes(take(bytes)) as usize;
    let last = u64::from_le_bytes(take(bytes)) as usize;
    // A fetch that faults is the next instruction's: this one completed.
    let end = match (signal, state.pc == PC) {
        (5, _) | (7 | 11, false) => End::Done,
        (4, true) => End::Undefined,
        (7, true) => End::Alignment,
        (11, true) => End::Fault(fault),
        _ => anyhow::bail!("signal {signal} at {:#x}", state.pc),
    };
    let changed = (first < DATA_SIZE as usize).then(|| {
        let length = (last - first + 1).min(WINDOW);
        (first, bytes[..length].to_vec())
    });
    Ok(Outcome { state, end, changed })
}
