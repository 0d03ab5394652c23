//! `cargo xtask setup`: what the tasks need from the system, installed with its package client.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::shell;

/// Something a task needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Unpacking Debian packages, kernels and modules.
    Guests,
    /// Making file systems of Debian packages.
    RootDisk,
    /// Cross binutils and gcc for guest programs.
    Cross,
    /// QEMU as the machine to compare with.
    QemuSystem,
    /// QEMU as judge of single programs.
    QemuUser,
    /// Building a kernel from its source.
    KernelBuild,
    /// Debian's Rust compiler and its library's sources, for our kernel where rustup cannot serve.
    KernelCompiler,
    /// LLVM's assembler and disassembler as judge of encodings.
    Llvm,
    /// GDB as a client of Vambrace.
    Gdb,
    /// A compiler of C++ for the engine that fuzzes.
    Fuzz,
}

impl Part {
    /// What is installed when nothing is named: what every machine needs.
    fn usual() -> Vec<Self> {
        let is_usual = |part: &Self| !matches!(part, Self::KernelCompiler | Self::Fuzz);
        Self::value_variants().iter().copied().filter(is_usual).collect()
    }

    /// Programs, and files by their absolute paths, each with the Debian package that has it.
    const fn programs(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Guests => &[("apt-get", "apt"), ("dpkg-deb", "dpkg"), ("xz", "xz-utils"), ("zstd", "zstd")],
            // Not in the PATH of everyone: /usr/sbin.
            Self::RootDisk => &[
                ("/usr/sbin/mke2fs", "e2fsprogs"),
                ("/usr/sbin/e2fsck", "e2fsprogs"),
                ("fakeroot", "fakeroot"),
                ("tar", "tar"),
            ],
            Self::Cross => &[
                ("aarch64-linux-gnu-as", "binutils-aarch64-linux-gnu"),
                ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
                ("/usr/aarch64-linux-gnu/lib/libc.a", "libc6-dev-arm64-cross"),
                ("/usr/aarch64-linux-gnu/include/linux/kvm.h", "linux-libc-dev-arm64-cross"),
            ],
            Self::QemuSystem => &[("qemu-system-aarch64", "qemu-system-arm")],
            Self::QemuUser => &[("qemu-aarch64", "qemu-user")],
            Self::KernelBuild => &[
                ("make", "make"),
                ("gcc", "gcc"),
                ("flex", "flex"),
                ("bison", "bison"),
                ("bc", "bc"),
                ("/usr/include/libelf.h", "libelf-dev"),
                ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
            ],
            Self::KernelCompiler => &[
                ("/usr/bin/rustc", "rustc-web"),
                ("/usr/lib/rustlib/src/rust/library/core/Cargo.toml", "rust-web-src"),
            ],
            Self::Fuzz => &[("c++", "g++")],
            Self::Llvm => &[("llvm-mc", "llvm"), ("llvm-objdump-19", "llvm-19")],
            Self::Gdb => &[("gdb-multiarch", "gdb-multiarch")],
        }
    }
}

/// Arguments of `cargo xtask setup`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which parts; all but the compilers of the kernel and for fuzzing if none is given.
    #[arg(value_enum)]
    parts: Vec<Part>,
}

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    let parts = if args.parts.is_empty() { Part::usual() } else { args.parts.clone() };
    ensure(&parts)?;
    for (program, _) in parts.iter().flat_map(|part| part.programs()) {
        let place = shell::which(program).with_context(|| format!("{program} is missing"))?;
        println!("{program}: {}", place.display());
    }
    Ok(())
}

/// Installs what is missing of `parts`, or says in one line how to.
pub fn ensure(parts: &[Part]) -> Result<()> {
    let missing = missing(parts);
    if missing.is_empty() {
        return Ok(());
    }
    let mut install = vec!["apt-get", "install", "-y", "--no-install-recommends"];
    install.extend(&missing);
    let by_hand = format!("sudo {}", install.join(" "));
    if shell::which("apt-get").is_none() {
        bail!("needed, as Debian calls it: {}; install that and start again", missing.join(" "));
    }
    let Some(prefix) = privilege() else {
        bail!("needed: {}; run this and start again:\n  {by_hand}", missing.join(" "));
    };
    eprintln!("setup: installing {}", missing.join(" "));
    let client = |words: &[&str]| {
        let mut all = prefix.to_vec();
        all.extend(["env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C"]);
        all.extend(words);
        let mut command = Command::new(all[0]);
        command.args(&all[1..]);
        command
    };
    // A fresh system has no lists yet, so the first try may fail for that alone.
    if shell::capture(&mut client(&install)).is_err() {
        shell::capture(&mut client(&["apt-get", "update", "-q"]))
            .and_then(|_| shell::capture(&mut client(&install)))
            .with_context(|| format!("cannot install what is needed; by hand:\n  {by_hand}"))?;
    }
    let still = self::missing(parts);
    if !still.is_empty() {
        bail!("installed, yet still not in PATH: {}", still.join(" "));
    }
    Ok(())
}

/// Packages of the programs that are not in PATH.
fn missing(parts: &[Part]) -> Vec<&'static str> {
    let mut packages = Vec::new();
    for (program, package) in parts.iter().flat_map(|part| part.programs()) {
        if shell::which(program).is_none() && !packages.contains(package) {
            packages.push(*package);
        }
    }
    packages
}

/// What to put before a command so that it runs as root, if that needs no password.
fn privilege() -> Option<&'static [&'static str]> {
    let id = shell::capture(Command::new("id").arg("-u")).unwrap_or_default();
    if id.trim() == "0" {
        return Some(&[]);
    }
    let mut sudo = Command::new("sudo");
    sudo.args(["-n", "true"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    sudo.status().is_ok_and(|status| status.success()).then_some(&["sudo", "-n"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_names_a_program_and_its_package() {
        for part in Part::value_variants() {
            assert!(!part.programs().is_empty());
            for (program, package) in part.programs() {
                assert!(!program.is_empty() && !package.contains(' '));
            }
        }
    }
}
