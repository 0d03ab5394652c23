//! Programs of `guest/el0` as init.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::guests::{File, kernel_initramfs};
use crate::{boot, cross, shell};

/// Compiles `guest/el0/NAME.c`; returns where the program is.
pub fn build(name: &str) -> Result<PathBuf> {
    let warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-parentheses"];
    let flags = ["-O2", "-ffreestanding", "-nostdlib", "-fno-stack-protector", "-mno-outline-atomics"];
    cross::compile(&format!("el0/{name}.c"), &format!("kernel-{name}"), flags.iter().chain(&warnings))
}

/// An initramfs with the program as `/init`, and where it lies.
pub fn initramfs(name: &str) -> Result<PathBuf> {
    let init = File::executable("init", fs::read(build(name)?)?);
    let initrd = boot::scratch(&format!("kernel-{name}.cpio"))?;
    fs::write(&initrd, kernel_initramfs(None, &[init]))?;
    Ok(initrd)
}

/// The address of a symbol of a program.
pub fn symbol(program: &Path, name: &str) -> Result<u64> {
    let listing = shell::capture(Command::new("aarch64-linux-gnu-nm").arg(program))?;
    let line = listing.lines().find(|line| line.ends_with(&format!(" {name}")));
    let address = line.and_then(|line| line.split(' ').next()).with_context(|| format!("no symbol {name}"))?;
    Ok(u64::from_str_radix(address, 16)?)
}
