//! Bare-metal programs under qemu-system-aarch64 and on our machine.
//!
//! The programs are in `guest/bare`, C and assembly, built with the system's cross compiler. Each prints one line for
//! each case, `name: field=value ...`, with names that are unique in it, and powers off. The lines have to be equal, but for what
//! [`differences`] lists.
//!
//! A program starts at EL1, on boards without EL2; one whose name begins with `el2_` starts at EL2, over `el2.S` and `el2.c`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use cpu::Semihosting;
use machine::setup::Sleep;
use machine::{Input, Machine, MachineConfig, Options, Outcome, config::CpuConfig};

mod compare;
pub mod differences;

pub use compare::{Comparison, compare};

const CROSS_COMPILER: &str = "aarch64-linux-gnu-gcc";
const JUDGE: &str = "qemu-system-aarch64";

/// RAM of either machine in bytes.
pub const MEMORY: u64 = 128 << 20;

/// Most instructions of a program on our machine.
const STEPS: u64 = 400_000_000;

/// What of the host is missing, if anything: with the Debian package that has it.
#[must_use]
pub fn missing() -> Option<&'static str> {
    let there = |program: &str| {
        let mut command = Command::new(program);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    if !there(CROSS_COMPILER) {
        Some("aarch64-linux-gnu-gcc (Debian: gcc-aarch64-linux-gnu)")
    } else if !there(JUDGE) {
        Some("qemu-system-aarch64 (Debian: qemu-system-arm)")
    } else {
        None
    }
}

/// Where the programs' sources are.
#[must_use]
pub fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../guest/bare")
}

/// Where a program starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At EL1; there is no EL2.
    El1,
    /// At EL2.
    El2,
}

/// Where `program` starts, which its name says.
#[must_use]
pub fn start(program: &str) -> Start {
    if program.starts_with("el2_") { Start::El2 } else { Start::El1 }
}

/// What is not a program of its own.
const COMMON: [&str; 2] = ["bare", "el2"];

/// The programs: every C file in the directory of sources but the common ones.
pub fn programs() -> Result<Vec<String>> {
    let directory = sources();
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&directory).with_context(|| format!("{}", directory.display()))? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|s| s.to_str()).unwrap_or_default().to_owned();
        if path.extension().is_some_and(|e| e == "c") && !COMMON.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Builds `program` as an ELF at `output`.
pub fn build(program: &str, output: &Path) -> Result<()> {
    let directory = sources();
    let common: &[&str] = match start(program) {
        Start::El1 => &["start.S", "bare.c"],
        Start::El2 => &["el2.S", "el2.c", "bare.c"],
    };
    let status = Command::new(CROSS_COMPILER)
        .current_dir(&directory)
        .args(["-O1", "-ffreestanding", "-nostdlib", "-static", "-mgeneral-regs-only", "-fno-stack-protector"])
        .args(["-fno-pic", "-no-pie", "-fno-builtin", "-Wall", "-Wextra", "-Werror", "-Wa,-W"])
        .args(["-Wl,--build-id=none", "-Wl,-T,bare.ld", "-Wl,-z,max-page-size=65536"])
        .args(common)
        .args([&format!("{program}.c"), "-o"])
        .arg(output)
        .status()
        .with_context(|| format!("{CROSS_COMPILER} is needed (Debian: gcc-aarch64-linux-gnu)"))?;
    ensure!(status.success(), "the cross compiler failed on {program}");
    Ok(())
}

/// What one machine printed.
pub type Lines = Vec<String>;

fn lines(bytes: &[u8]) -> Lines {
    String::from_utf8_lossy(bytes).lines().map(|line| line.trim_end().to_owned()).collect()
}

/// How a program is run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The model, by a name that QEMU knows as well.
    pub cpu: String,
    /// Number of CPUs.
    pub cpus: usize,
    /// Where the program starts.
    pub start: Start,
    /// What our model is given beside its preset's features, or not, to be as QEMU's.
    pub features: Vec<&'static str>,
}

impl Setup {
    /// What `program` is to run on as the model `cpu`.
    #[must_use]
    pub fn new(program: &str, cpu: &str) -> Self {
        Self { cpu: cpu.to_owned(), cpus: cpus(program), start: start(program), features: features(program, cpu) }
    }
}

/// Runs the ELF at `program` under the judge, which has to power off within a minute.
pub fn run_judge(program: &Path, setup: &Setup) -> Result<Lines> {
    let version = if setup.features.contains(&GIC_V2) { 2 } else { 3 };
    let mut board = format!("virt,gic-version={version}");
    // The judge refuses tags for a model that has none.
    if setup.cpu == "max" {
        board += ",mte=on";
    }
    if setup.start == Start::El2 {
        board += ",virtualization=on";
    }
    let output = Command::new("timeout")
        .args(["60", JUDGE, "-M", &board, "-cpu", &setup.cpu])
        .args(["-smp", &setup.cpus.to_string(), "-m", &format!("{}M", MEMORY >> 20)])
        // Its time counts instructions too, so that a slow host changes nothing.
        .args(["-icount", "shift=0,sleep=off"])
        // Firmware for a network card need not be there.
        .args(["-nic", "none", "-display", "none", "-serial", "stdio", "-monitor", "none", "-kernel"])
        .arg(program)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{JUDGE} is needed (Debian: qemu-system-arm)"))?;
    let found = lines(&output.stdout);
    let end = || found.last().cloned().unwrap_or_default();
    ensure!(output.status.success(), "{JUDGE}: {}, after `{}`", output.status, end());
    Ok(found)
}

/// Console output, kept.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().map_err(|_| io::ErrorKind::Other)?.extend(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a run on our machine came to.
#[derive(Debug, PartialEq, Eq)]
pub struct Record {
    /// What it printed.
    pub lines: Lines,
    /// Instructions by CPU.
    pub instructions: Vec<u64>,
    /// The hash of the final state.
    pub hash: u64,
}

/// Runs the ELF at `program` on our machine, which has to power off.
pub fn run_ours(program: &Path, setup: &Setup) -> Result<Lines> {
    record(program, setup).map(|record| record.lines)
}

/// The same with all that two runs must agree in.
pub fn record(program: &Path, setup: &Setup) -> Result<Record> {
    let features = setup.features.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    let config = MachineConfig {
        cpus: setup.cpus,
        memory: MEMORY,
        cpu: CpuConfig { preset: setup.cpu.clone(), features, ..CpuConfig::default() },
        kernel: Some(program.to_path_buf()),
        max_insns: Some(STEPS),
        timeout: Some(Duration::from_secs(120)),
        ..MachineConfig::default()
    };
    let console = Kept::default();
    let options = Options {
        console: Box::new(console.clone()),
        virtio_console: None,
        input: Input::Uart,
        sleep: Sleep::Skipped,
        semihosting: Semihosting::Off,
    };
    let mut machine = Machine::from_config(&config, options)?;
    let outcome = machine.run();
    let found = console.0.lock().map(|bytes| lines(&bytes)).unwrap_or_default();
    match outcome {
        Outcome::PoweredOff => {
            let instructions = machine.summary().iter().map(|cpu| cpu.insns).collect();
            Ok(Record { lines: found, instructions, hash: machine.state_hash() })
        }
        other => bail!("our machine: {other:?}, after `{}`", found.last().cloned().unwrap_or_default()),
    }
}

/// The board's setting that makes its interrupt controller a GICv2.
const GIC_V2: &str = "gic=2";

/// The models that every program is run on.
pub const MODELS: [&str; 3] = ["cortex-a57", "neoverse-n1", "max"];

/// Feature settings that make our model `cpu` as QEMU's is, for `program`.
fn features(program: &str, cpu: &str) -> Vec<&'static str> {
    let mut settings = match start(program) {
        Start::El1 => vec!["el2=off"],
        Start::El2 => Vec::new(),
    };
    settings.extend_from_slice(match (program, cpu) {
        ("its", _) => &["its=on"],
        ("gicv2" | "el2_vgic2", _) => &[GIC_V2],
        // QEMU 7.2 has the first level only, and of the ciphers QARMA5.
        ("pauth" | "bti", "max") => {
            &["pacimp=off", "pacqarma5=on", "pauth2=off", "fpac=off", "fpaccombine=off", "constpacfield=off"]
        }
        // QEMU 7.2 has no FEAT_LSE2.
        ("memory", "max") => &["lse2=off"],
        // QEMU 7.2 has the level of Armv8.5.
        ("pmu", "max") => &["pmuv3p8=off", "pmuv3p7=off"],
        _ => &[],
    });
    settings
}

/// How many CPUs `program` is written for.
fn cpus(program: &str) -> usize {
    match program {
        "smp" | "el2_smp" => 4,
        "its" | "gicv2" => 2,
        _ => 1,
    }
}
