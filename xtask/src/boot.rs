//! One run of a guest, on Vambrace or on QEMU, with its console read and timed.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::guests::{Guests, Kernel};
use crate::shell;

/// Who runs the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    /// `target/release/vambrace`.
    Vambrace,
    /// `qemu-system-aarch64`, TCG on one thread.
    Qemu,
}

impl Machine {
    /// For tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vambrace => "vambrace",
            Self::Qemu => "qemu",
        }
    }
}

/// The level that the kernel starts at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// EL1: no hypervisor can run.
    El1,
    /// EL2, with what the CPU has for hypervisors.
    El2,
}

/// The interrupt controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Gic {
    /// A GICv2.
    #[value(name = "2")]
    V2,
    /// A GICv3.
    #[value(name = "3")]
    V3,
}

impl Gic {
    /// The version, as QEMU's boards have it.
    pub const fn version(self) -> u32 {
        match self {
            Self::V2 => 2,
            Self::V3 => 3,
        }
    }
}

/// Whether the guest's console also goes to ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Echo {
    /// It does, as it comes.
    On,
    /// It does not.
    Off,
}

/// Whether the guest may write to a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It may.
    ReadWrite,
    /// It may not.
    ReadOnly,
}

/// A raw file as a virtio disk.
#[derive(Debug, Clone)]
pub struct Disk {
    /// The file.
    pub path: PathBuf,
    /// What the guest may do.
    pub access: Access,
}

/// Images for flash memory.
#[derive(Debug, Clone)]
pub struct Firmware {
    /// The firmware.
    pub code: PathBuf,
    /// Its variables, which no run writes.
    pub variables: PathBuf,
}

/// What to run.
#[derive(Debug, Clone)]
pub struct Boot {
    /// What starts the kernel, or boots the disk where there is no kernel.
    pub firmware: Option<Firmware>,
    kernel: Option<PathBuf>,
    initrd: Option<PathBuf>,
    append: String,
    /// Number of CPUs.
    pub cpus: u32,
    /// A preset that both machines know; `None`: each one's own default.
    pub cpu: Option<&'static str>,
    /// Where the kernel starts.
    pub level: Level,
    /// The interrupt controller.
    pub gic: Gic,
    /// RAM, MiB.
    pub memory: u32,
    /// Whether semihosting calls are served.
    pub semihosting: bool,
    /// Further words for Vambrace alone.
    pub words: Vec<String>,
    /// Further words for QEMU alone.
    pub qemu_words: Vec<String>,
    /// Further properties of QEMU's board, each behind a comma; Vambrace's has what the CPU has.
    pub qemu_board: &'static str,
    /// The program that is Vambrace; `None`: the usual build.
    pub binary: Option<PathBuf>,
    /// What is put before Vambrace's command line, such as a shell that sets limits.
    pub wrapper: Vec<String>,
    /// What is typed: a file.
    pub input: Option<PathBuf>,
    /// The run is killed where the console shows this line.
    pub until: Option<String>,
    /// A virtio disk.
    pub disk: Option<Disk>,
    /// A snapshot that Vambrace goes on from; then the rest of the machine is the snapshot's.
    pub restore: Option<PathBuf>,
    /// Where Vambrace writes its statistics: `-` or a file.
    pub stats: Option<PathBuf>,
    /// Where a trace goes.
    pub trace: Option<PathBuf>,
    /// Vambrace ends after this many instructions.
    pub max_insns: Option<u64>,
    /// The run is killed after this.
    pub limit: Duration,
}

impl Boot {
    /// Boots `kernel` with further words on its command line. A panic of the guest resets it at
    /// once (exit status 3) instead of waiting for ever.
    pub fn new(guests: &Guests, kernel: Kernel, words: &str) -> Self {
        let append = format!("console=ttyAMA0 panic=-1 {words}");
        Self::of(&guests.image(kernel), Some(&guests.initrd(kernel)), append.trim_end())
    }

    /// Boots any kernel.
    pub fn of(kernel: &Path, initrd: Option<&Path>, append: &str) -> Self {
        Self {
            kernel: Some(kernel.to_path_buf()),
            initrd: initrd.map(Path::to_path_buf),
            append: append.to_owned(),
            ..Self::firmware(None)
        }
    }

    /// Starts firmware, which finds no kernel but on a disk.
    pub fn firmware(firmware: Option<Firmware>) -> Self {
        Self {
            firmware,
            kernel: None,
            initrd: None,
            append: String::new(),
            cpus: 1,
            cpu: None,
            level: Level::El2,
            gic: Gic::V3,
            memory: 1024,
            semihosting: false,
            words: Vec::new(),
            qemu_words: Vec::new(),
            qemu_board: "",
            binary: None,
            wrapper: Vec::new(),
            input: None,
            until: None,
            disk: None,
            restore: None,
            stats: None,
            trace: None,
            max_insns: None,
            limit: Duration::from_secs(300),
        }
    }

    /// The same with this initramfs.
    pub fn with_initrd(self, initrd: &Path) -> Self {
        Self { initrd: Some(initrd.to_path_buf()), ..self }
    }

    /// The command line for `machine`.
    pub fn command(&self, machine: Machine) -> Command {
        match machine {
            Machine::Vambrace => self.vambrace(),
            Machine::Qemu => self.qemu(),
        }
    }

    fn vambrace(&self) -> Command {
        let binary = self.binary.clone().unwrap_or_else(vambrace_binary);
        let mut command = match self.wrapper.split_first() {
            None => Command::new(binary),
            Some((program, words)) => {
                let mut command = Command::new(program);
                command.args(words).arg(binary);
                command
            }
        };
        command.arg("run");
        match &self.restore {
            Some(file) => {
                command.arg("--restore").arg(file);
            }
            None => self.describe(&mut command),
        }
        if let Some(disk) = &self.disk {
            let mut value = disk.path.clone().into_os_string();
            if disk.access == Access::ReadOnly {
                value.push(",ro");
            }
            command.arg("--disk").arg(value);
        }
        if let Some(stats) = &self.stats {
            command.arg("--stats").arg(stats);
        }
        if let Some(trace) = &self.trace {
            command.arg("--trace").arg(trace);
        }
        if let Some(max_insns) = self.max_insns {
            command.args(["--max-insns", &max_insns.to_string()]);
        }
        command
    }

    /// What the machine is.
    fn describe(&self, command: &mut Command) {
        if let Some(Firmware { code, variables }) = &self.firmware {
            command.arg("--firmware").arg(code).arg("--firmware-vars").arg(variables);
        }
        if let Some(kernel) = &self.kernel {
            command.arg("--kernel").arg(kernel).args(["--append", &self.append]);
        }
        if let Some(initrd) = &self.initrd {
            command.arg("--initrd").arg(initrd);
        }
        command.args(["--cpus", &self.cpus.to_string()]);
        command.args(["--memory", &format!("{}M", self.memory)]);
        if let Some(cpu) = self.cpu {
            command.args(["--cpu", cpu]);
        }
        if self.level == Level::El1 {
            command.args(["--feature", "el2=off"]);
        }
        if self.gic == Gic::V2 {
            command.args(["--feature", "gic=2"]);
        }
        command.args(&self.words);
        if self.semihosting {
            command.args(["--semihosting", "on"]);
        }
    }

    fn qemu(&self) -> Command {
        let mut command = Command::new("qemu-system-aarch64");
        let level = match self.level {
            Level::El1 => "",
            Level::El2 => ",virtualization=on",
        };
        let board = format!("virt,gic-version={}{level}{}", self.gic.version(), self.qemu_board);
        let cpu = match self.cpu {
            None => "cortex-a57",
            // QARMA5 makes QEMU four times slower, and its fixed algorithm is as good for what is measured.
            Some("max") => "max,pauth-impdef=on",
            Some(cpu) => cpu,
        };
        command.args(["-M", &board, "-cpu", cpu]);
        command.args(["-accel", "tcg,thread=single", "-nographic", "-nic", "none", "-no-reboot"]);
        command.args(["-m", &self.memory.to_string(), "-smp", &self.cpus.to_string()]);
        if self.semihosting {
            command.arg("-semihosting");
        }
        if let Some(Firmware { code, variables }) = &self.firmware {
            for (file, more) in [(code, ",readonly=on"), (variables, ",snapshot=on")] {
                command.args(["-drive", &format!("if=pflash,format=raw{more},file={}", file.display())]);
            }
        }
        if let Some(kernel) = &self.kernel {
            command.arg("-kernel").arg(kernel).args(["-append", &self.append]);
        }
        if let Some(initrd) = &self.initrd {
            command.arg("-initrd").arg(initrd);
        }
        if let Some(disk) = &self.disk {
            let readonly = if disk.access == Access::ReadOnly { "on" } else { "off" };
            let path = disk.path.display();
            let drive = format!("if=none,id=disk,format=raw,readonly={readonly},file={path}");
            // In the first slot, as Vambrace has it.
            command.args(["-drive", &drive, "-device", "virtio-blk-device,drive=disk,bus=virtio-mmio-bus.0"]);
        }
        command.args(&self.qemu_words);
        command
    }

    /// Runs to the end or to the limit. Errors are the tool's; how the guest ended is in the
    /// [`Outcome`].
    pub fn run(&self, machine: Machine, echo: Echo) -> Result<Outcome> {
        let mut command = self.command(machine);
        let line = shell::display(&command);
        let input = match &self.input {
            None => Stdio::null(),
            Some(path) => fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?.into(),
        };
        let started = Instant::now();
        let mut child = command
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start `{line}`"))?;
        let stdout = child.stdout.take().context("no pipe")?;
        let stderr = child.stderr.take().context("no pipe")?;
        let (sender, ended) = mpsc::channel();
        let until = self.until.clone();
        let console = std::thread::spawn(move || {
            // Nobody listens any more after the limit.
            let end = |end| {
                let _ = sender.send(end);
            };
            let console = read_console(stdout, started, echo, |line| {
                if until.as_deref() == Some(line) {
                    end(End::Line);
                }
            });
            end(End::Closed);
            console
        });
        let complaints = std::thread::spawn(move || {
            let mut text = Vec::new();
            // What could not be read is missing from the report, no more.
            let _ = { stderr }.read_to_end(&mut text);
            text
        });
        let end = ended.recv_timeout(self.limit);
        let is_cut_off = end.is_err();
        if end != Ok(End::Closed) {
            child.kill().context("cannot kill the run at its limit")?;
        }
        let status = child.wait()?;
        let seconds = started.elapsed().as_secs_f64();
        let console = console.join().unwrap_or_default();
        let complaints = complaints.join().unwrap_or_default();
        if echo == Echo::On {
            std::io::stderr().write_all(&complaints)?;
        }
        Ok(Outcome {
            command: line,
            status,
            limit: is_cut_off.then_some(self.limit),
            bytes: console.bytes,
            lines: console.lines,
            complaints: String::from_utf8_lossy(&complaints).into_owned(),
            seconds,
        })
    }
}

/// What ends the reading of a console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Closed,
    /// [`Boot::until`].
    Line,
}

/// How a run went.
#[derive(Debug)]
pub struct Outcome {
    command: String,
    status: ExitStatus,
    limit: Option<Duration>,
    /// The console, byte for byte.
    pub bytes: Vec<u8>,
    lines: Vec<(Duration, String)>,
    /// What the tool said on standard error.
    pub complaints: String,
    /// From start to exit, host seconds.
    pub seconds: f64,
}

impl Outcome {
    /// The exit status as text.
    pub fn status(&self) -> String {
        match (self.limit, self.status.code()) {
            (Some(limit), _) => format!("over {} s", limit.as_secs()),
            (None, Some(code)) => code.to_string(),
            (None, None) => self.status.to_string(),
        }
    }

    /// Whether the run was killed at its limit.
    pub fn is_over_limit(&self) -> bool {
        self.limit.is_some()
    }

    /// Whether some console line is exactly this.
    pub fn has_line(&self, wanted: &str) -> bool {
        self.lines.iter().any(|(_, line)| line == wanted)
    }

    /// The first console line that begins so.
    pub fn line_from(&self, prefix: &str) -> Option<&str> {
        self.lines.iter().map(|(_, line)| line.as_str()).find(|line| line.starts_with(prefix))
    }

    /// All console lines that begin so.
    pub fn lines_from<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        self.lines.iter().map(|(_, line)| line.as_str()).filter(move |line| line.starts_with(prefix))
    }

    /// An error unless the console lines that begin so are these, in this order.
    pub fn expect_lines_from(&self, prefix: &str, wanted: &[impl AsRef<str>]) -> Result<()> {
        let found: Vec<&str> = self.lines_from(prefix).collect();
        if !found.iter().copied().eq(wanted.iter().map(AsRef::as_ref)) {
            let wanted: Vec<&str> = wanted.iter().map(AsRef::as_ref).collect();
            bail!("expected\n{}\nfound\n{}\n{}", wanted.join("\n"), found.join("\n"), self.report());
        }
        Ok(())
    }

    /// The first console line that has this somewhere.
    pub fn line_with<'a>(&'a self, part: &'a str) -> Option<&'a str> {
        self.lines_with(part).next()
    }

    /// All console lines that have this somewhere.
    pub fn lines_with<'a>(&'a self, part: &'a str) -> impl Iterator<Item = &'a str> {
        self.lines.iter().map(|(_, line)| line.as_str()).filter(move |line| line.contains(part))
    }

    /// The console lines behind the first one that is exactly this.
    pub fn lines_behind(&self, wanted: &str) -> impl Iterator<Item = &str> {
        self.lines.iter().map(|(_, line)| line.as_str()).skip_while(move |line| *line != wanted).skip(1)
    }

    /// Host seconds between the first lines that begin with `from` and with `to`.
    pub fn seconds_between(&self, from: &str, to: &str) -> Result<f64> {
        let at = |prefix: &str| {
            let found = self.lines.iter().find(|(_, line)| line.starts_with(prefix));
            found
                .map(|(at, _)| *at)
                .with_context(|| format!("the console shows no line \"{prefix}\"\n{}", self.report()))
        };
        Ok((at(to)?.saturating_sub(at(from)?)).as_secs_f64())
    }

    /// An error unless the tool exited with `code`.
    pub fn expect_status(&self, code: i32) -> Result<()> {
        if self.limit.is_some() || self.status.code() != Some(code) {
            bail!("exit status {} instead of {code}\n{}", self.status(), self.report());
        }
        Ok(())
    }

    /// An error unless that line is on the console.
    pub fn expect_line(&self, wanted: &str) -> Result<()> {
        if !self.has_line(wanted) {
            bail!("the console shows no line \"{wanted}\"\n{}", self.report());
        }
        Ok(())
    }

    /// The command, the end of the console and what the tool said, for an error message.
    pub fn report(&self) -> String {
        let tail = self.lines.len().saturating_sub(15);
        let mut text = format!("  command: {}\n", self.command);
        for (_, line) in &self.lines[tail..] {
            text.push_str("  console: ");
            text.push_str(line);
            text.push('\n');
        }
        let complaints: Vec<&str> = self.complaints.lines().collect();
        for line in &complaints[complaints.len().saturating_sub(15)..] {
            text.push_str("  stderr: ");
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

#[derive(Debug, Default)]
struct Console {
    bytes: Vec<u8>,
    lines: Vec<(Duration, String)>,
}

/// Until the end of the pipe; a line's time is when its end was read.
fn read_console(mut pipe: impl Read, started: Instant, echo: Echo, mut seen: impl FnMut(&str)) -> Console {
    let mut console = Console::default();
    let mut line_start = 0;
    let mut buffer = [0; 4096];
    loop {
        let count = match pipe.read(&mut buffer) {
            Ok(count) if count > 0 => count,
            _ => break,
        };
        let at = started.elapsed();
        if echo == Echo::On {
            let mut out = std::io::stdout();
            // Whoever closed our stdout does not want to see it.
            let _ = out.write_all(&buffer[..count]).and_then(|()| out.flush());
        }
        console.bytes.extend_from_slice(&buffer[..count]);
        while let Some(length) = console.bytes[line_start..].iter().position(|b| *b == b'\n') {
            let end = line_start + length;
            let line = String::from_utf8_lossy(&console.bytes[line_start..end]).trim_end_matches('\r').to_owned();
            seen(&line);
            console.lines.push((at, line));
            line_start = end + 1;
        }
    }
    if line_start < console.bytes.len() {
        let line = String::from_utf8_lossy(&console.bytes[line_start..]).into_owned();
        console.lines.push((started.elapsed(), line));
    }
    console
}

/// Names a built `vambrace` for every boot to run, in place of one that is built here.
const BINARY_VARIABLE: &str = "VAMBRACE_BINARY";

/// Builds the release binary that every boot runs.
pub fn build_vambrace() -> Result<()> {
    if let Some(given) = std::env::var_os(BINARY_VARIABLE) {
        ensure!(Path::new(&given).is_file(), "{BINARY_VARIABLE} is `{}`, which is no file", given.display());
        return Ok(());
    }
    shell::run(shell::cargo().args(["build", "--release", "--package", "vambrace"])).context("building vambrace")?;
    if !vambrace_binary().exists() {
        bail!("the build left no {}", vambrace_binary().display());
    }
    Ok(())
}

/// The release binary that boots run.
pub fn vambrace_binary() -> PathBuf {
    if let Some(given) = std::env::var_os(BINARY_VARIABLE) {
        return given.into();
    }
    built_vambrace()
}

/// Builds the release binary with a feature of its crate, apart from the usual one; returns where it is.
pub fn build_vambrace_with(feature: &str) -> Result<PathBuf> {
    let target = shell::workspace_root().join("target").join(feature);
    let mut build = shell::cargo();
    build.args(["build", "--release", "--package", "vambrace", "--features", feature, "--target-dir"]).arg(&target);
    shell::run(&mut build).with_context(|| format!("building vambrace with {feature}"))?;
    Ok(target.join("release/vambrace"))
}

/// Where a build leaves the release binary.
pub fn built_vambrace() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| shell::workspace_root().join("target"), PathBuf::from)
        .join("release/vambrace")
}

/// Total guest instructions in a statistics file.
pub fn instructions(stats: &Path) -> Result<u64> {
    let text = fs::read_to_string(stats).with_context(|| format!("cannot read the statistics {}", stats.display()))?;
    let json: serde_json::Value =
        serde_json::from_str(&text).with_context(|| format!("{} is no JSON", stats.display()))?;
    json.get("insns")
        .and_then(serde_json::Value::as_u64)
        .with_context(|| format!("{} has no number \"insns\" at the top", stats.display()))
}

/// A directory for files of a run, below the target directory.
pub fn scratch(name: &str) -> Result<PathBuf> {
    let dir = shell::workspace_root().join("target/xtask");
    fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    Ok(dir.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_console_is_cut_into_lines() {
        let console = read_console(&b"one\r\ntwo\nthe rest"[..], Instant::now(), Echo::Off, |_| ());
        let lines: Vec<&str> = console.lines.iter().map(|(_, line)| line.as_str()).collect();
        assert_eq!(lines, ["one", "two", "the rest"]);
        assert_eq!(console.bytes, b"one\r\ntwo\nthe rest");
    }
}
