//! Guests' programs, made by Debian's cross compiler.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::{boot, shell};

/// Compiles `guest/SOURCE` to a static program, among the scratch files as `name`; returns where it is.
pub fn compile(source: &str, name: &str, flags: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<PathBuf> {
    let program = boot::scratch(name)?;
    let source = shell::workspace_root().join("guest").join(source);
    let mut gcc = Command::new("aarch64-linux-gnu-gcc");
    gcc.args(flags).args(["-static", "-Wl,--build-id=none", "-o"]).arg(&program).arg(&source);
    shell::capture(&mut gcc).with_context(|| format!("cannot build {}", source.display()))?;
    Ok(program)
}

/// Compiles `guest/el0/NAME.c`, which wants the C library.
pub fn hosted(name: &str, flags: &[&str]) -> Result<PathBuf> {
    compile(&format!("el0/{name}.c"), &format!("el0-{name}"), ["-O1"].iter().chain(flags))
}
