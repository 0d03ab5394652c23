//! A compiler for `aarch64-unknown-none-softfloat`: the kernel must not use the FP and SIMD registers, which are EL0's.
//!
//! First choice is the standard library's bare-metal part from rustup, added if it is not there. Where rustup is absent or
//! has no way to its server, Debian's `rustc-web` compiles that part from `rust-web-src` (`-Zbuild-std`), with the linker of
//! the toolchain that runs cargo.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::{setup, shell};

/// The target.
pub const TARGET: &str = "aarch64-unknown-none-softfloat";

/// Debian's compiler, beside the one that runs cargo.
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";

/// What a dependency uses that is later than Debian's compiler.
const NOT_YET_STABLE: &str = "profile.kernel.package.dtoolkit.rustflags = \
    ['-Zcrate-attr=feature(unsigned_is_multiple_of,slice_as_chunks)']";

/// Set to `debian`: does not try rustup.
const CHOICE_VARIABLE: &str = "VAMBRACE_KERNEL_TOOLCHAIN";

/// How the kernel is compiled.
#[derive(Debug)]
pub enum Toolchain {
    /// By the compiler that compiles everything else.
    Own,
    /// By Debian's, with the library built from source.
    Debian,
}

impl Toolchain {
    /// The first that is there or can be had; says which if it had to be installed.
    pub fn find() -> Result<Self> {
        let wants_debian = std::env::var(CHOICE_VARIABLE).is_ok_and(|choice| choice == "debian");
        if !wants_debian {
            if has_target()? {
                return Ok(Self::Own);
            }
            if shell::which("rustup").is_some() {
                eprintln!("kernel: rustup target add {TARGET}");
                let added = shell::capture(Command::new("rustup").args(["target", "add", TARGET]));
                match added {
                    Ok(_) if has_target()? => return Ok(Self::Own),
                    Ok(_) => eprintln!("kernel: added, yet not in the sysroot"),
                    Err(error) => eprintln!("kernel: {error:#}"),
                }
            }
        }
        setup::ensure(&[setup::Part::KernelCompiler])?;
        eprintln!("kernel: compiled by Debian's {}", version(DEBIAN_RUSTC)?);
        Ok(Self::Debian)
    }

    /// `cargo WHAT` with this compiler.
    pub fn cargo(&self, what: &str) -> Result<Command> {
        let mut cargo = shell::cargo();
        cargo.arg(what);
        if matches!(self, Self::Debian) {
            let linker = linker()?;
            cargo
                .args(["-Zbuild-std=core,alloc,compiler_builtins", "-Zbuild-std-features=compiler-builtins-mem"])
                // Debian has 1.85. Of what is later, dependencies use two functions of the library, which are there but
                // not yet stable.
                .arg("--ignore-rust-version")
                .args(["-Zprofile-rustflags", "--config", NOT_YET_STABLE])
                .env("RUSTC_BOOTSTRAP", "1")
                .env("RUSTC", DEBIAN_RUSTC)
                .env("CARGO_TARGET_AARCH64_UNKNOWN_NONE_SOFTFLOAT_LINKER", linker);
        }
        Ok(cargo)
    }
}

/// The sysroot of the compiler that belongs to the cargo that runs this, wherever PATH leads.
fn sysroot() -> Result<PathBuf> {
    let beside = std::env::var_os("CARGO").map(|cargo| PathBuf::from(cargo).with_file_name("rustc"));
    let rustc = beside.filter(|rustc| rustc.is_file()).unwrap_or_else(|| "rustc".into());
    let text = shell::capture(Command::new(rustc).args(["--print", "sysroot"]))?;
    Ok(PathBuf::from(text.trim()))
}

fn has_target() -> Result<bool> {
    Ok(sysroot()?.join("lib/rustlib").join(TARGET).join("lib").is_dir())
}

fn version(rustc: &str) -> Result<String> {
    Ok(shell::capture(Command::new(rustc).arg("--version"))?.trim().to_owned())
}

/// The linker that comes with the toolchain that runs cargo.
fn linker() -> Result<PathBuf> {
    let libraries = sysroot()?.join("lib/rustlib");
    let entries = std::fs::read_dir(&libraries).with_context(|| format!("cannot read {}", libraries.display()))?;
    let found = entries.flatten().map(|entry| entry.path().join("bin/rust-lld")).find(|path: &PathBuf| is_file(path));
    found.or_else(|| shell::which("ld.lld")).context("no rust-lld in the toolchain, and no ld.lld in PATH")
}

fn is_file(path: &Path) -> bool {
    path.is_file()
}
