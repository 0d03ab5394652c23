//! Where the CPUs were when a run did not end as it should, with the kernel's symbols.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use machine::{Diagnosis, Machine, Outcome};
use symbols::{Symbols, SymbolsError};
use thiserror::Error;

/// No file of symbols is larger, in bytes; a kernel with all debug information has a tenth of it.
const MAX_FILE: u64 = 4 << 30;

/// A file of symbols cannot be used.
#[derive(Debug, Error)]
pub enum VmlinuxError {
    /// The host refuses.
    #[error("{flag} {}: {source}", .path.display())]
    Read {
        /// What names it.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// The host's reason.
        source: std::io::Error,
    },
    /// A directory, a device, a pipe.
    #[error("{flag} {}: not a file but a directory, a device or a pipe", .path.display())]
    NotAFile {
        /// What names it.
        flag: &'static str,
        /// What was named.
        path: PathBuf,
    },
    /// Far too much.
    #[error("{flag} {}: {bytes} bytes; no kernel's symbols take more than {MAX_FILE}", .path.display())]
    TooLarge {
        /// What names it.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// Its length.
        bytes: u64,
    },
    /// There is nothing in it.
    #[error("{flag} {}: {source}", .path.display())]
    Symbols {
        /// What names it.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: SymbolsError,
    },
}

/// The symbols in the file that `flag` names.
pub fn read_symbols(flag: &'static str, path: &Path) -> Result<Symbols, VmlinuxError> {
    let read = |source| VmlinuxError::Read { flag, path: path.to_owned(), source };
    let metadata = fs::metadata(path).map_err(read)?;
    if !metadata.is_file() {
        return Err(VmlinuxError::NotAFile { flag, path: path.to_owned() });
    }
    if metadata.len() > MAX_FILE {
        return Err(VmlinuxError::TooLarge { flag, path: path.to_owned(), bytes: metadata.len() });
    }
    let bytes = fs::read(path).map_err(read)?;
    Symbols::from_file(&bytes).map_err(|source| VmlinuxError::Symbols { flag, path: path.to_owned(), source })
}

/// Where symbols come from.
pub enum SymbolSource {
    /// The user's file, which has been read.
    User(Symbols),
    /// The kernel, which is looked at only when symbols are needed.
    Kernel(Option<PathBuf>),
}

impl SymbolSource {
    /// Reads the user's file, if there is one: what is wrong with it is to be said before the run.
    pub fn open(vmlinux: Option<&Path>, kernel: Option<&Path>) -> Result<Self, VmlinuxError> {
        let Some(path) = vmlinux else { return Ok(Self::Kernel(kernel.map(Path::to_owned))) };
        read_symbols("--vmlinux", path).map(Self::User)
    }

    /// The symbols; a kernel without any is nothing to complain about.
    pub fn read(&self) -> Symbols {
        match self {
            Self::User(symbols) => symbols.clone(),
            Self::Kernel(path) => {
                // A snapshot may name anything.
                path.as_ref().and_then(|path| read_symbols("--kernel", path).ok()).unwrap_or_default()
            }
        }
    }
}

/// Linux's function for what it cannot survive: whoever is in it does not come back.
const PANIC: &str = "panic";

/// Where each CPU was, one line each, if the run ended at a limit, in a way that goes on no more, by an error of the tool, or
/// with a CPU in the guest's panic; all about the CPU that met that.
pub fn whereabouts(machine: &Machine, outcome: &Outcome, symbols: &SymbolSource) -> String {
    let (is_asked_for, culprit) = match outcome {
        Outcome::Tool { cpu, .. } => (true, Some(*cpu)),
        Outcome::Limit(_) | Outcome::Stuck(_) | Outcome::NoThread { .. } => (true, None),
        Outcome::Reset | Outcome::Quit => (false, None),
        Outcome::PoweredOff | Outcome::Exit(_) | Outcome::Paused => return String::new(),
    };
    let cpus = machine.diagnose(&symbols.read());
    let panicked = cpus.iter().find(|cpu| cpu.is_in(PANIC)).map(|cpu| cpu.cpu);
    if !is_asked_for && panicked.is_none() {
        return String::new();
    }
    let mut text = String::new();
    for cpu in cpus {
        // Writing to a string does not fail.
        let _ = if culprit.or(panicked) == Some(cpu.cpu) {
            write!(text, "{cpu}")
        } else {
            writeln!(text, "{}", Diagnosis::line(&cpu))
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use machine::setup::Sleep;
    use machine::testing::elf;
    use machine::{Input, MachineConfig, Options, Semihosting, ToolError};

    use super::*;

    /// An ELF of one instruction, `b .`, at the start of RAM.
    fn spinning() -> Machine {
        let directory = tempfile::tempdir().unwrap();
        let kernel = directory.path().join("kernel");
        fs::write(&kernel, elf(machine::map::RAM_BASE, &[0x1400_0000])).unwrap();
        let config = MachineConfig { kernel: Some(kernel), max_insns: Some(1), ..MachineConfig::default() };
        let options = Options {
            console: Box::new(std::io::sink()),
            virtio_console: None,
            input: Input::Uart,
            sleep: Sleep::Skipped,
            semihosting: Semihosting::Off,
        };
        Machine::from_config(&config, options).unwrap()
    }

    /// No instruction of today's models leads to such an error, so this one is made up.
    #[test]
    fn an_error_of_the_tool_tells_address_word_text_and_symbol() {
        let mut machine = spinning();
        let limit = machine.run();
        let symbols = || SymbolSource::User(Symbols::from_map(b"40000000 T _start\n").unwrap());
        let error = ToolError::NoRegister { name: "X".into(), pc: machine.board().cpus[0].pe.pc() };
        let text = whereabouts(&machine, &Outcome::Tool { cpu: 0, error: error.clone() }, &symbols());
        let start = "CPU 0 in EL2 at 0x0000000040000000 _start+0x0/0x1000\n  instruction 14000000: b 0x40000000\n";
        assert!(text.starts_with(start) && text.contains("VBAR_EL2"), "{text}");

        let line = "CPU 0 in EL2: 0x0000000040000000 _start+0x0/0x1000\n";
        assert_eq!(whereabouts(&machine, &limit, &symbols()), line);
        assert_eq!(whereabouts(&machine, &Outcome::Tool { cpu: 1, error }, &symbols()), line);
        assert_eq!(whereabouts(&machine, &Outcome::PoweredOff, &symbols()), "");
        assert_eq!(whereabouts(&machine, &Outcome::Reset, &symbols()), "");
        let panic = || SymbolSource::User(Symbols::from_map(b"40000000 T panic\n").unwrap());
        for outcome in [Outcome::Reset, Outcome::Quit] {
            let text = whereabouts(&machine, &outcome, &panic());
            assert!(text.starts_with("CPU 0 in EL2 at 0x0000000040000000 panic+0x0"), "{text}");
        }
    }
}
