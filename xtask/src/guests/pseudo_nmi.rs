//! A kernel with pseudo-NMI, which Debian's own are built without: Debian's source of 6.12, a small configuration.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::fetch::{self, Fetcher};
use super::{fnv1a, replace};
use crate::setup::{self, Part};
use crate::shell;

/// What is not as in `allnoconfig`.
const CONFIG: &str = include_str!("../../guests/linux-6.12-pseudo-nmi.config");

/// Builds the kernel into `target` unless it is there from this configuration: minutes. Its lock is its own, so that
/// meanwhile other tasks can use the other guests.
pub fn ensure(target: &Path) -> Result<()> {
    fs::create_dir_all(target.join("modules"))?;
    let lock = fs::File::create(target.join("lock"))?;
    lock.lock().context("cannot lock the directory of the kernel")?;
    let config = format!("config {:016x}", fnv1a(CONFIG.as_bytes()));
    // Written last, so it says that all of it is there.
    if fs::read_to_string(target.join("version")).is_ok_and(|text| text.lines().any(|line| line == config)) {
        return Ok(());
    }
    setup::ensure(&[Part::KernelBuild])?;
    let fetcher = Fetcher::new(target.join("work"));
    let found = fetcher.find("linux-source-6.12", &["trixie", "trixie-security"], false)?;
    let tree = fetcher.unpack(&found.repository, std::slice::from_ref(&found.package))?;
    let files = fetch::files_below(&tree.join("usr/src"))?;
    let archive = files.iter().find(|path| path.extension().is_some_and(|ext| ext == "xz"));
    let archive = archive.context("the package of the kernel's source holds no archive")?;
    let source = tree.join("linux");
    fs::create_dir_all(&source)?;
    let mut tar = Command::new("tar");
    shell::capture(tar.args(["--strip-components=1", "-xf"]).arg(archive).arg("-C").arg(&source))?;
    let settings = std::path::absolute(tree.join("settings"))?;
    fs::write(&settings, CONFIG)?;
    shell::capture(make(&source).arg(format!("KCONFIG_ALLCONFIG={}", settings.display())).arg("allnoconfig"))?;
    eprintln!("guests: building Linux {} with pseudo-NMI; this takes minutes", found.package.version);
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    shell::capture(make(&source).arg(format!("-j{jobs}")).arg("Image"))?;

    replace(&target.join("config"), &fs::read(source.join(".config"))?)?;
    replace(&target.join("System.map"), &fs::read(source.join("System.map"))?)?;
    replace(&target.join("Image"), &fs::read(source.join("arch/arm64/boot/Image"))?)?;
    let release = fs::read_to_string(source.join("include/config/kernel.release"))?;
    let package = fetch::names(&[found.package]);
    let text = format!("release {}\npackage {package}\nsuite {}\n{config}\n", release.trim(), found.repository.suite());
    replace(&target.join("version"), text.as_bytes())?;
    fs::remove_dir_all(&fetcher.work)?;
    Ok(())
}

/// The same source gives the same kernel, whoever builds it when with the same compiler.
fn make(source: &Path) -> Command {
    let mut make = Command::new("make");
    make.args(["--silent", "ARCH=arm64", "CROSS_COMPILE=aarch64-linux-gnu-"]).arg("-C").arg(source);
    make.env("KBUILD_BUILD_TIMESTAMP", "@0").env("KBUILD_BUILD_USER", "vambrace").env("KBUILD_BUILD_HOST", "vambrace");
    make
}
