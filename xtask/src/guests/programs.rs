//! Debian's arm64 programs for a guest, each with the shared libraries that it needs and no others.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::fetch::{self, Fetcher, Found};
use super::{File, Guests, elf, name_of, replace};
use crate::apt::Package;

/// A program of a Debian package.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// What it is called below /bin.
    pub name: &'static str,
    /// The directory that keeps it here.
    directory: &'static str,
    package: &'static str,
    suites: &'static [&'static str],
    /// Where the package has it.
    path: &'static str,
}

/// What makes virtual machines from Linux's KVM. No suite has kvmtool for arm64. Bookworm's is the smallest, and the one
/// that also judges.
pub const VMM: Program = Program {
    name: "qemu-system-aarch64",
    directory: "qemu-system-aarch64",
    package: "qemu-system-arm",
    suites: &["bookworm"],
    path: "usr/bin/qemu-system-aarch64",
};

/// A newer one, which can ask KVM for a virtual machine that has EL2.
pub const VMM_WITH_EL2: Program = Program { directory: "qemu-system-aarch64-el2", suites: &["forky", "sid"], ..VMM };

/// Groups of processes that send messages to each other (rt-tests).
pub const HACKBENCH: Program = Program {
    name: "hackbench",
    directory: "hackbench",
    package: "rt-tests",
    suites: &["bookworm"],
    path: "usr/bin/hackbench",
};

/// perf, for its benchmarks; with the libraries of all that it can do.
pub const PERF: Program =
    Program { name: "perf", directory: "perf", package: "linux-perf", suites: &["bookworm"], path: "usr/bin/perf" };

/// The dynamic loader, by the name that programs have in them (`/lib/...`). It looks for libraries in /lib too.
const LOADER: &str = "ld-linux-aarch64.so.1";

impl Guests {
    /// The program as `bin/NAME` and its libraries as `lib/*`, fetched when they are not there yet.
    pub fn program(&self, program: &Program) -> Result<Vec<File>> {
        let _lock = self.lock()?;
        let dir = self.dir().join("programs").join(program.directory);
        // Written last, so its presence says that all of it is there.
        if !dir.join("version").exists() {
            self.fetch_program(program, &dir).with_context(|| format!("cannot get the program {}", program.name))?;
        }
        let mut files = Vec::new();
        for part in ["bin", "lib"] {
            for path in fetch::files_below(&dir.join(part))? {
                files.push(File::executable(format!("{part}/{}", name_of(&path)), fs::read(&path)?));
            }
        }
        Ok(files)
    }

    fn fetch_program(&self, program: &Program, dir: &std::path::Path) -> Result<()> {
        let fetcher = Fetcher::new(self.dir().join("work"));
        let found = fetcher.find(program.package, program.suites, false)?;
        let packages = libraries_of(&found)?;
        let tree = fetcher.unpack(&found.repository, &packages)?;
        let closure = closure(&tree.join(program.path), &shared_objects(&tree)?)?;
        for part in ["bin", "lib"] {
            fs::create_dir_all(dir.join(part))?;
        }
        for (name, path) in &closure {
            replace(&dir.join("lib").join(name), &fs::read(path)?)?;
        }
        replace(&dir.join("bin").join(program.name), &fs::read(tree.join(program.path))?)?;
        let text = format!("package {}\nsuite {}\n", fetch::names(&packages), found.repository.suite());
        replace(&dir.join("version"), text.as_bytes())?;
        fs::remove_dir_all(&fetcher.work)?;
        Ok(())
    }
}

/// The package and the packages of libraries that it and they depend on.
fn libraries_of(found: &Found) -> Result<Vec<Package>> {
    let is_library = |name: &str| name.starts_with("lib") || name.starts_with("zlib");
    let mut packages = found.closure(|package| &package.depends, is_library)?;
    packages.push(found.package.clone());
    packages.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(packages)
}

/// Files with `.so` in their names, by name, links among them.
fn shared_objects(tree: &std::path::Path) -> Result<BTreeMap<String, PathBuf>> {
    let entries = fetch::entries_below(tree)?;
    let shared = entries.into_iter().filter(|path| name_of(path).contains(".so"));
    Ok(shared.map(|path| (name_of(&path).to_owned(), path)).collect())
}

/// What `program` needs, directly or not, and the loader: names and files.
fn closure(program: &std::path::Path, libraries: &BTreeMap<String, PathBuf>) -> Result<BTreeMap<String, PathBuf>> {
    let mut done = BTreeMap::new();
    let read = |path: &std::path::Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let mut open = elf::needed(&read(program)?);
    if open.is_empty() {
        bail!("{} is no dynamic AArch64 program", program.display());
    }
    open.push(LOADER.to_owned());
    while let Some(name) = open.pop() {
        if done.contains_key(&name) {
            continue;
        }
        let path = libraries.get(&name).with_context(|| format!("no package has the library {name}"))?;
        open.extend(elf::needed(&read(path)?));
        done.insert(name, path.clone());
    }
    Ok(done)
}
