//! Packages from the suites that have them, fetched only when something is missing.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::GUESTS_VARIABLE;
use crate::apt::{MIRROR_VARIABLE, Mirror, Package, Repository};
use crate::shell;

/// The package client, started only when something is missing.
pub struct Fetcher {
    /// Scratch space, removed at the end.
    pub work: PathBuf,
    mirror: OnceCell<Mirror>,
}

/// A package and the suite that has it.
pub struct Found {
    /// The suite that has it.
    pub repository: Repository,
    /// What its index says.
    pub package: Package,
}

impl Fetcher {
    /// One that has not asked the mirror for anything yet.
    pub fn new(work: PathBuf) -> Self {
        Self { work, mirror: OnceCell::new() }
    }

    /// `package` in the first of `suites` that has it, or the highest version in all of them.
    pub fn find(&self, package: &str, suites: &[&str], is_highest_wanted: bool) -> Result<Found> {
        if self.mirror.get().is_none() {
            let _ = self.mirror.set(Mirror::of_system()?);
        }
        let mirror = self.mirror.get().context("no mirror")?;
        let state = shell::workspace_root().join(".vambrace/apt");
        let mut best: Option<Found> = None;
        let mut misses = Vec::new();
        for suite in suites {
            eprintln!("guests: looking for {package} in {suite}");
            let repository = match Repository::open(mirror, suite, &state) {
                Ok(repository) => repository,
                Err(error) => {
                    eprintln!("guests: {suite} cannot be used, going on without it: {}", reason(&error));
                    misses.push(format!("{error:#}"));
                    continue;
                }
            };
            let Some(package) = repository.find(package)? else {
                misses.push(format!("{suite} has no {package}"));
                continue;
            };
            let found = Found { repository, package };
            if !is_highest_wanted {
                return Ok(found);
            }
            let is_higher = match &best {
                Some(best) => is_version_greater(&found.package.version, &best.package.version)?,
                None => true,
            };
            if is_higher {
                best = Some(found);
            }
        }
        match best {
            Some(found) => Ok(found),
            None => bail!(
                "{package} is in none of {}; check the network and the system's apt sources, or \
                 set {MIRROR_VARIABLE} to another Debian mirror, or {GUESTS_VARIABLE} to a \
                 directory that has the guests already:\n{}",
                suites.join(", "),
                misses.join("\n")
            ),
        }
    }

    /// All files of `packages` in one tree.
    pub fn unpack(&self, repository: &Repository, packages: &[Package]) -> Result<PathBuf> {
        let tree = self.work.join("tree");
        if tree.exists() {
            fs::remove_dir_all(&tree)?;
        }
        for package in packages {
            eprintln!("guests: fetching {} {}", package.name, package.version);
        }
        repository.unpack(packages, &tree)?;
        Ok(tree)
    }
}

/// The line of apt's complaint that names the reason.
fn reason(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    let line = text.lines().find(|line| line.starts_with("E: ")).unwrap_or(&text);
    line.to_owned()
}

fn is_version_greater(left: &str, right: &str) -> Result<bool> {
    let status = std::process::Command::new("dpkg")
        .args(["--compare-versions", left, "gt", right])
        .status()
        .context("cannot start dpkg")?;
    Ok(status.success())
}

impl Found {
    /// The packages that this one depends on, directly or not, as far as `is_wanted` takes their names, sorted; `depends`
    /// gives the dependencies that count.
    pub fn closure(
        &self,
        depends: impl Fn(&Package) -> &[String],
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<Package>> {
        let mut done: Vec<Package> = Vec::new();
        let mut open = depends(&self.package).to_vec();
        loop {
            open.retain(|name| is_wanted(name) && !done.iter().any(|package| package.name == *name));
            open.sort();
            open.dedup();
            if open.is_empty() {
                break;
            }
            let round = self.repository.find_all(&open)?;
            open = round.iter().flat_map(&depends).cloned().collect();
            done.extend(round);
        }
        done.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(done)
    }
}

/// The packages of `linux-...` that `linux-image-arm64` pins to its version, itself left out: the
/// kernel's files are in one package up to 6.12, and spread over several from 7 on.
pub fn exact_closure(found: &Found) -> Result<Vec<Package>> {
    found.closure(|package| &package.exact_depends, |name| name.starts_with("linux-"))
}

/// Names and versions, for the record of what was fetched.
pub fn names(packages: &[Package]) -> String {
    let each: Vec<String> = packages.iter().map(|package| format!("{} {}", package.name, package.version)).collect();
    each.join(" + ")
}

/// All regular files, sorted.
pub fn files_below(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = entries_below(dir)?;
    files.retain(|path| !path.is_symlink() && path.is_file());
    files.sort();
    Ok(files)
}

/// All that is no directory, in any order: files, links and whatever else.
pub fn entries_below(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut entries = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir)? {
            let entry = entry?;
            let list = if entry.file_type()?.is_dir() { &mut open } else { &mut entries };
            list.push(entry.path());
        }
    }
    Ok(entries)
}
