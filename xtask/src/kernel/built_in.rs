//! `cargo xtask release`: a `vambrace` that has our kernel and its demonstration inside (`guest/el0/demo.c`), and
//! `--run built-in`: what `vambrace run` without arguments then shows. Nothing that is embedded is anybody else's.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};

use crate::boot::Echo;
use crate::guests::{File, kernel_initramfs};
use crate::{boot, setup, shell};

use super::program;

/// Its name on the command line.
pub const NAME: &str = "built-in";

/// `cargo xtask release`.
pub fn release() -> Result<()> {
    setup::ensure(&[setup::Part::Cross])?;
    let binary = build(&super::build()?)?;
    println!("{}: `{} run` boots the kernel that is built in", binary.display(), binary.display());
    Ok(())
}

/// Puts the image and the demonstration where `vambrace/build.rs` takes them up, and builds the release binary.
fn build(image: &Path) -> Result<PathBuf> {
    let dir = shell::workspace_root().join("vambrace/demo");
    let init = File::executable("init", fs::read(program::build("demo")?)?);
    put(&dir.join("Image"), &fs::read(image)?)?;
    put(&dir.join("initramfs.cpio"), &kernel_initramfs(None, &[init]))?;
    shell::run(shell::cargo().args(["build", "--release", "--package", "vambrace"])).context("building vambrace")?;
    let binary = boot::built_vambrace();
    ensure!(binary.is_file(), "the build left no {}", binary.display());
    Ok(binary)
}

/// Writes a file that does not say the same already: then nothing is built anew for it.
fn put(path: &Path, contents: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == contents) {
        return Ok(());
    }
    fs::write(path, contents).with_context(|| format!("cannot write {}", path.display()))
}

/// Runs it; a line about how it went.
pub fn check(image: &Path, _echo: Echo) -> Result<String> {
    let binary = build(image)?;
    let first = run(&binary, &[], "")?;
    let lines = [
        "This is Vambrace: an arm64 machine in software, and on it an arm64 kernel, both in Rust.",
        "vambrace-kernel: 1 of 1 CPU(s) online",
        "Nobody says anything: good bye.",
        "demo: end",
        "vambrace-kernel: init exited with status 0",
    ];
    for line in lines {
        ensure!(first.lines().any(|said| said.trim_end() == line), "no line `{line}` in\n{first}");
    }
    ensure!(run(&binary, &[], "")? == first, "two runs differ");
    let second = run(&binary, &["--cpus", "4", "--cpu", "max"], "cpus\nnonsense\nexit\n")?;
    let cpus = second.lines().filter(|line| line.starts_with("CPU part\t:")).count();
    ensure!(cpus == 4, "cpus shows {cpus} CPUs:\n{second}");
    ensure!(second.contains("There is no such command"), "nonsense is a command:\n{second}");
    ensure!(!second.contains("Nobody says anything"), "exit does not end it:\n{second}");
    let size = fs::metadata(image)?.len() / 1024;
    Ok(format!(
        "{NAME}: `vambrace run` boots the kernel inside ({size} KiB), status 0, twice the same; commands on 4 CPUs"
    ))
}

/// `vambrace run` with that standard input: its console. An error unless the status is 0.
fn run(binary: &Path, words: &[&str], input: &str) -> Result<String> {
    let mut command = Command::new(binary);
    command.arg("run").args(words).args(["--max-insns", "200000000"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", binary.display()))?;
    child.stdin.take().context("no pipe")?.write_all(input.as_bytes())?;
    let Output { status, stdout, stderr } = child.wait_with_output()?;
    let (said, complaint) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    ensure!(status.code() == Some(0), "{} ends with {status}\n{said}\n{complaint}", shell::display(&command));
    Ok(said.into_owned())
}
