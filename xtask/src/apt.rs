//! The system's own package client with a private state directory.
//!
//! One [`Repository`] is one suite of the Debian mirror that the system already uses, seen with
//! arm64 eyes. The system's lists, cache and status are not touched; its proxies and credentials
//! (apt.conf.d) stay in force. Signatures are always checked: there is no `trusted=yes` here.

mod sources;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::shell;
pub use sources::{MIRROR_VARIABLE, Mirror};

/// What the index says about one package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// The package's name.
    pub name: String,
    /// Its version in this suite.
    pub version: String,
    /// Names of the packages it depends on at exactly one version (`name (= version)`).
    pub exact_depends: Vec<String>,
    /// Names of the packages it depends on at any version; of alternatives the first.
    pub depends: Vec<String>,
}

/// One suite of the mirror, with its own lists and cache.
#[derive(Debug)]
pub struct Repository {
    suite: String,
    config: PathBuf,
}

impl Repository {
    /// Fetches the index of `suite` into `state` (a directory of its own).
    ///
    /// Fails when the mirror lacks the suite, its index has expired, or its signature does not
    /// verify with the system's keyring nor with the newer one in the mirror's own suites.
    pub fn open(mirror: &Mirror, suite: &str, state: &Path) -> Result<Self> {
        let first = Self::update(mirror, suite, state, mirror.keyring.as_deref());
        match first {
            Err(error) if format!("{error:#}").contains("NO_PUBKEY") => {
                let keyring = newer_keyring(mirror, state).with_context(|| {
                    format!("the system's keyring lacks the key of {suite}, and no newer one verifies")
                })?;
                Self::update(mirror, suite, state, Some(&keyring))
            }
            other => other,
        }
    }

    fn update(mirror: &Mirror, suite: &str, state: &Path, keyring: Option<&Path>) -> Result<Self> {
        // Absolute, since apt would take a relative path from its own root.
        let state = std::path::absolute(state)?.join(suite);
        for dir in ["state/lists/partial", "cache/archives/partial", "log"] {
            fs::create_dir_all(state.join(dir))
                .with_context(|| format!("cannot create {}", state.join(dir).display()))?;
        }
        write(&state.join("state/status"), "")?;
        let signed_by = keyring.map(|k| format!("[signed-by={}] ", k.display())).unwrap_or_default();
        let uri = mirror.uri_for(suite);
        write(&state.join("sources.list"), &format!("deb {signed_by}{uri} {suite} main\n"))?;
        let config = state.join("apt.conf");
        write(&config, &apt_conf(&state))?;
        let repository = Self { suite: suite.to_owned(), config };
        // --error-on=any: by itself apt-get update keeps quiet about an index it could not fetch.
        shell::capture(repository.apt("apt-get").args(["update", "-q", "--error-on=any"]))
            .with_context(|| format!("cannot fetch the index of {suite} from the system's mirror"))?;
        Ok(repository)
    }

    /// The name of the suite, as in `bookworm`.
    pub fn suite(&self) -> &str {
        &self.suite
    }

    /// The entry for `name`, or `None` if this suite has no such package.
    pub fn find(&self, name: &str) -> Result<Option<Package>> {
        let listed = shell::capture(self.apt("apt-cache").args(["pkgnames", name]))?;
        if !listed.lines().any(|line| line == name) {
            return Ok(None);
        }
        Ok(self.show(&[name])?.pop())
    }

    /// The entries for `names`, in their order; all of them have to be there.
    ///
    /// One start of the client for all: each takes a second.
    pub fn find_all(&self, names: &[String]) -> Result<Vec<Package>> {
        let shown = self.show(names)?;
        let of = |name: &String| shown.iter().find(|package| package.name == *name).cloned();
        names.iter().map(|name| of(name).with_context(|| format!("{} has no {name}", self.suite))).collect()
    }

    fn show(&self, names: &[impl AsRef<OsStr>]) -> Result<Vec<Package>> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let text = shell::capture(self.apt("apt-cache").args(["show", "--no-all-versions"]).args(names))?;
        Ok(text.split("\n\n").filter_map(parse_package).collect())
    }

    /// Downloads packages and unpacks their files below `into`. The client checks the hashes.
    pub fn unpack(&self, packages: &[Package], into: &Path) -> Result<()> {
        let work = into.with_extension("deb");
        recreate(&work)?;
        fs::create_dir_all(into)?;
        let wanted = packages.iter().map(|package| format!("{}={}", package.name, package.version));
        shell::capture(self.apt("apt-get").args(["download", "-q"]).args(wanted).current_dir(&work))?;
        let archives = deb_files(&work)?;
        ensure!(
            archives.len() == packages.len(),
            "apt-get download left {} files for {} packages",
            archives.len(),
            packages.len()
        );
        for archive in archives {
            shell::capture(Command::new("dpkg-deb").arg("-x").arg(&archive).arg(into))?;
        }
        fs::remove_dir_all(&work)?;
        Ok(())
    }

    /// Downloads `packages` and all that an empty system needs for them, recommendations left out, to `into`. They may be
    /// patterns of the client's, such as `?essential`. The client checks the hashes.
    pub fn download_system(&self, packages: &[&str], into: &Path) -> Result<Vec<PathBuf>> {
        let into = std::path::absolute(into)?;
        recreate(&into.join("partial"))?;
        let mut archives = std::ffi::OsString::from("Dir::Cache::archives=");
        archives.push(&into);
        let mut install = self.apt("apt-get");
        install.arg("-o").arg(archives).args(["install", "-q", "-y", "--download-only", "--no-install-recommends"]);
        shell::capture(install.args(packages))
            .with_context(|| format!("cannot fetch {} from {}", packages.join(" "), self.suite))?;
        deb_files(&into)
    }

    fn apt(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.arg("-c").arg(&self.config).env("LC_ALL", "C").env_remove("APT_CONFIG");
        command
    }
}

/// Read after the system's own configuration, so that this wins.
fn apt_conf(state: &Path) -> String {
    let state = state.display();
    format!(
        r#"Dir::State "{state}/state";
Dir::State::lists "{state}/state/lists";
Dir::State::status "{state}/state/status";
Dir::State::extended_states "{state}/state/extended_states";
Dir::Cache "{state}/cache";
Dir::Cache::archives "{state}/cache/archives";
Dir::Log "{state}/log";
Dir::Etc::sourcelist "{state}/sources.list";
Dir::Etc::sourceparts "-";
Dir::Etc::preferences "-";
Dir::Etc::preferencesparts "-";
APT::Architecture "arm64";
#clear APT::Architectures;
APT::Architectures {{ "arm64"; }};
Acquire::Languages "none";
// The system's hooks act on the system's cache.
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
// The state lies below a directory that the sandbox user may not be able to enter.
APT::Sandbox::User "root";
"#
    )
}

/// A debian-archive-keyring newer than the system's, from a suite that the system's own verifies.
fn newer_keyring(mirror: &Mirror, state: &Path) -> Result<PathBuf> {
    let root = state.join("keyring");
    let keyring = root.join("usr/share/keyrings/debian-archive-keyring.gpg");
    if keyring.exists() {
        return Ok(std::path::absolute(keyring)?);
    }
    let mut reasons = Vec::new();
    for suite in &mirror.suites {
        let attempt = Repository::update(mirror, suite, state, mirror.keyring.as_deref()).and_then(|repository| {
            let package = repository
                .find("debian-archive-keyring")?
                .with_context(|| format!("{suite} has no debian-archive-keyring"))?;
            repository.unpack(std::slice::from_ref(&package), &root)
        });
        match attempt {
            Ok(()) if keyring.exists() => return Ok(std::path::absolute(keyring)?),
            Ok(()) => reasons.push(format!("{suite}: the package holds no {}", keyring.display())),
            Err(error) => reasons.push(format!("{error:#}")),
        }
    }
    bail!("{}", reasons.join("\n"))
}

fn parse_package(show: &str) -> Option<Package> {
    let first = show.split("\n\n").next()?;
    let field = |name: &str| first.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim);
    let clauses = || field("Depends").unwrap_or_default().split(',');
    let exact_depends = clauses()
        .filter_map(|clause| {
            let (name, version) = clause.trim().split_once(' ')?;
            version.starts_with("(= ").then(|| name.to_owned())
        })
        .collect();
    let depends = clauses().filter_map(|clause| clause.split([' ', '|', ':']).find(|word| !word.is_empty()));
    Some(Package {
        name: field("Package")?.to_owned(),
        version: field("Version")?.to_owned(),
        exact_depends,
        depends: depends.map(str::to_owned).collect(),
    })
}

/// Packages in a directory, sorted.
fn deb_files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|ext| ext == "deb"));
    files.sort();
    Ok(files)
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn recreate(dir: &Path) -> Result<()> {
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_dependencies_are_found_and_loose_ones_are_not() {
        let package = parse_package(
            "Package: linux-image-arm64\nVersion: 7.3.4-1~bpo13+1\n\
             Depends: linux-base-arm64 (= 7.3.4-1~bpo13+1), kmod, linux-base (>= 4.3~), \
             dracut | initramfs-tools (>= 0.120)\nDescription: x\n\nPackage: other\nVersion: 1\n",
        )
        .unwrap();
        assert_eq!(package.name, "linux-image-arm64");
        assert_eq!(package.version, "7.3.4-1~bpo13+1");
        assert_eq!(package.exact_depends, ["linux-base-arm64"]);
        assert_eq!(package.depends, ["linux-base-arm64", "kmod", "linux-base", "dracut"]);
    }
}
