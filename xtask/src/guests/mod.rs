//! `cargo xtask guests`: real kernels and busybox from Debian, and initramfs images from them.
//!
//! Everything lands below `.vambrace/` (never committed): `guests/KERNEL/{Image,version,config,
//! modules/*.ko,initrd.gz}`, `guests/busybox`, and the package client's private state in `apt/`.

mod initramfs;

use std::cell::OnceCell;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::apt::{MIRROR_VARIABLE, Mirror, Package, Repository};
use crate::{image, shell};
pub use initramfs::File;

/// Where the guests are, if not below the workspace: one directory for several checkouts.
pub const GUESTS_VARIABLE: &str = "VAMBRACE_GUESTS";

/// A kernel that Vambrace is tried with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kernel {
    /// Debian 11.
    V5_10,
    /// Debian 12.
    V6_1,
    /// Debian 13.
    V6_12,
    /// The newest that the mirror has.
    Newest,
}

impl Kernel {
    /// All of them, oldest first.
    pub const ALL: [Self; 4] = [Self::V5_10, Self::V6_1, Self::V6_12, Self::Newest];

    /// The name on the command line and of the directory.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V5_10 => "5.10",
            Self::V6_1 => "6.1",
            Self::V6_12 => "6.12",
            Self::Newest => "newest",
        }
    }

    /// Suites to look in. The security suite stands in where the main one has lost the package.
    const fn suites(self) -> &'static [&'static str] {
        match self {
            Self::V5_10 => &["bullseye", "bullseye-security"],
            Self::V6_1 => &["bookworm", "bookworm-security"],
            Self::V6_12 => &["trixie", "trixie-security"],
            Self::Newest => &["trixie-backports", "forky", "sid"],
        }
    }

    /// Whether all suites are asked for the highest version, rather than the first that has any.
    const fn is_highest_wanted(self) -> bool {
        matches!(self, Self::Newest)
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Kernel {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kernel| kernel.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("unknown kernel `{name}`; there are {names}")
        })
    }
}

/// Arguments of `cargo xtask guests`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// All kernels (also what happens without any option).
    #[arg(long, conflicts_with = "kernel")]
    all: bool,
    /// Only this kernel: 5.10, 6.1, 6.12 or newest. May be given several times.
    #[arg(long)]
    kernel: Vec<Kernel>,
}

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    let kernels = if args.all || args.kernel.is_empty() { Kernel::ALL.to_vec() } else { args.kernel.clone() };
    let guests = Guests::prepare(&kernels)?;
    for kernel in kernels {
        let version = fs::read_to_string(guests.kernel_dir(kernel).join("version"))?;
        println!("{kernel}: {}", version.trim_end().replace('\n', ", "));
    }
    println!("in {}", guests.dir.display());
    Ok(())
}

/// The directory of guests, with what was asked for in place.
#[derive(Debug)]
pub struct Guests {
    dir: PathBuf,
}

impl Guests {
    /// Fetches and builds what is missing of `kernels`; quick when nothing is.
    pub fn prepare(kernels: &[Kernel]) -> Result<Self> {
        let dir = directory();
        fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
        let lock = fs::File::create(dir.join("lock"))?;
        lock.lock().context("cannot lock the directory of guests")?;
        let guests = Self { dir };
        let fetcher = Fetcher { work: guests.dir.join("work"), mirror: OnceCell::new() };
        guests.ensure_busybox(&fetcher)?;
        for &kernel in kernels {
            guests.ensure_kernel(&fetcher, kernel)?;
            guests.ensure_initrd(kernel)?;
        }
        if fetcher.work.exists() {
            fs::remove_dir_all(&fetcher.work)?;
        }
        Ok(guests)
    }

    /// The kernel's plain Image.
    pub fn image(&self, kernel: Kernel) -> PathBuf {
        self.kernel_dir(kernel).join("Image")
    }

    /// The initramfs with that kernel's modules, in gzip.
    pub fn initrd(&self, kernel: Kernel) -> PathBuf {
        self.kernel_dir(kernel).join("initrd.gz")
    }

    /// An initramfs of [`Guests::initrd`]'s making with further files, kept as `NAME.gz`.
    pub fn initrd_with(&self, name: &str, extra: &[File]) -> Result<PathBuf> {
        let path = self.dir.join(name).with_extension("gz");
        let busybox = fs::read(self.dir.join("busybox"))?;
        write_initrd(&path, &busybox, extra)?;
        Ok(path)
    }

    /// Where all of them are.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn kernel_dir(&self, kernel: Kernel) -> PathBuf {
        self.dir.join(kernel.name())
    }

    fn ensure_busybox(&self, fetcher: &Fetcher) -> Result<()> {
        let target = self.dir.join("busybox");
        if target.exists() {
            return Ok(());
        }
        let found = fetcher.find("busybox-static", &["bookworm", "trixie"], false)?;
        let tree = fetcher.unpack(&found.repository, &[found.package])?;
        let source = [tree.join("bin/busybox"), tree.join("usr/bin/busybox")]
            .into_iter()
            .find(|path| path.exists())
            .context("the package busybox-static holds no bin/busybox")?;
        replace(&target, &fs::read(source)?)
    }

    fn ensure_kernel(&self, fetcher: &Fetcher, kernel: Kernel) -> Result<()> {
        let target = self.kernel_dir(kernel);
        // Written last, so its presence says that all of it is there.
        if target.join("version").exists() {
            return Ok(());
        }
        let found = fetcher
            .find("linux-image-arm64", kernel.suites(), kernel.is_highest_wanted())
            .with_context(|| format!("cannot find a {kernel} kernel"))?;
        let packages = exact_closure(&found)?;
        let tree = fetcher.unpack(&found.repository, &packages)?;
        if target.exists() {
            fs::remove_dir_all(&target)?;
        }
        fs::create_dir_all(target.join("modules"))?;

        let files = files_below(&tree)?;
        let vmlinuz = files
            .iter()
            .find(|path| name_of(path).starts_with("vmlinuz"))
            .with_context(|| format!("no vmlinuz in {}", names(&packages)))?;
        let plain = image::plain_kernel(fs::read(vmlinuz)?).with_context(|| format!("{}", vmlinuz.display()))?;
        fs::write(target.join("Image"), plain)?;
        for (prefix, name) in [("config-", "config"), ("System.map-", "System.map")] {
            let found = files.iter().find(|path| name_of(path).starts_with(prefix));
            if let Some(file) = found {
                let contents = fs::read(file)?;
                // Debian packages a two-line notice in place of the symbols.
                if contents.len() > 1024 {
                    fs::write(target.join(name), contents)?;
                }
            }
        }
        for module in MODULES {
            // Those built into this kernel are no files.
            let Some(file) = files.iter().find(|path| module_name(path) == Some(module)) else {
                continue;
            };
            let plain = image::plain_module(fs::read(file)?).with_context(|| format!("{}", file.display()))?;
            fs::write(target.join("modules").join(format!("{module}.ko")), plain)?;
        }
        let release = release_of(&files).context("the package holds no modules")?;
        let text = format!("release {release}\npackage {}\nsuite {}\n", names(&packages), found.repository.suite());
        replace(&target.join("version"), text.as_bytes())?;
        fs::remove_dir_all(tree)?;
        Ok(())
    }

    fn ensure_initrd(&self, kernel: Kernel) -> Result<()> {
        let mut modules: Vec<PathBuf> = fs::read_dir(self.kernel_dir(kernel).join("modules"))?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_>>()?;
        modules.sort();
        let extra = modules
            .iter()
            .map(|path| {
                Ok(File { path: format!("modules/{}", name_of(path)), permissions: 0o644, contents: fs::read(path)? })
            })
            .collect::<Result<Vec<File>>>()?;
        let busybox = fs::read(self.dir.join("busybox"))?;
        write_initrd(&self.initrd(kernel), &busybox, &extra)
    }
}

/// What virtio-mmio disks need, in the order of loading; some kernels have part of it built in.
const MODULES: [&str; 4] = ["virtio", "virtio_ring", "virtio_mmio", "virtio_blk"];

fn directory() -> PathBuf {
    std::env::var_os(GUESTS_VARIABLE)
        .filter(|dir| !dir.is_empty())
        .map_or_else(|| shell::workspace_root().join(".vambrace/guests"), PathBuf::from)
}

/// The package client, started only when something is missing.
struct Fetcher {
    /// Scratch space, removed at the end.
    work: PathBuf,
    mirror: OnceCell<Mirror>,
}

struct Found {
    repository: Repository,
    package: Package,
}

impl Fetcher {
    /// `package` in the first of `suites` that has it, or the highest version in all of them.
    fn find(&self, package: &str, suites: &[&str], is_highest_wanted: bool) -> Result<Found> {
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
    fn unpack(&self, repository: &Repository, packages: &[Package]) -> Result<PathBuf> {
        let tree = self.work.join("tree");
        if tree.exists() {
            fs::remove_dir_all(&tree)?;
        }
        for package in packages {
            eprintln!("guests: fetching {} {}", package.name, package.version);
            repository.unpack(package, &tree)?;
        }
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

/// The packages of `linux-...` that `linux-image-arm64` pins to its version, itself left out: the
/// kernel's files are in one package up to 6.12, and spread over several from 7 on.
fn exact_closure(found: &Found) -> Result<Vec<Package>> {
    let mut done: Vec<Package> = Vec::new();
    let mut open = found.package.exact_depends.clone();
    while let Some(name) = open.pop() {
        if !name.starts_with("linux-") || done.iter().any(|package| package.name == name) {
            continue;
        }
        let package =
            found.repository.find(&name)?.with_context(|| format!("{} has no {name}", found.repository.suite()))?;
        open.extend(package.exact_depends.iter().cloned());
        done.push(package);
    }
    done.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(done)
}

fn names(packages: &[Package]) -> String {
    let each: Vec<String> = packages.iter().map(|package| format!("{} {}", package.name, package.version)).collect();
    each.join(" + ")
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// `virtio_blk` for `.../virtio_blk.ko.xz`.
fn module_name(path: &Path) -> Option<&str> {
    let (name, rest) = name_of(path).split_once(".ko")?;
    matches!(rest, "" | ".xz" | ".zst" | ".gz").then_some(name)
}

/// The kernel release, from `lib/modules/RELEASE/`.
fn release_of(files: &[PathBuf]) -> Option<String> {
    files.iter().find_map(|path| {
        let mut parts = path.iter().map(|part| part.to_string_lossy());
        parts.find(|part| part == "modules")?;
        let release = parts.next()?;
        parts.any(|part| part == "kernel").then(|| release.into_owned())
    })
}

/// All regular files, sorted.
fn files_below(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Writes only when the contents differ from the last time, which a stamp beside it tells.
fn write_initrd(path: &Path, busybox: &[u8], extra: &[File]) -> Result<()> {
    let archive = initramfs::archive(busybox, extra);
    let stamp_path = path.with_extension("stamp");
    let stamp = format!("{:016x}\n", fnv1a(&archive));
    if path.exists() && fs::read_to_string(&stamp_path).is_ok_and(|old| old == stamp) {
        return Ok(());
    }
    replace(path, &initramfs::compress(&archive)?)?;
    replace(&stamp_path, stamp.as_bytes())
}

/// By renaming, so that a reader sees the old file or the new one.
fn replace(path: &Path, contents: &[u8]) -> Result<()> {
    let temporary = path.with_extension("new");
    fs::write(&temporary, contents)
        .and_then(|()| fs::rename(&temporary, path))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// FNV-1a over 64 bits; enough to notice a change of our own files.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_known_by_name() {
        for kernel in Kernel::ALL {
            assert_eq!(kernel.name().parse::<Kernel>(), Ok(kernel));
        }
        assert!("6.2".parse::<Kernel>().unwrap_err().contains("5.10, 6.1, 6.12, newest"));
    }

    #[test]
    fn module_files_are_recognised() {
        assert_eq!(module_name(Path::new("a/virtio_blk.ko.xz")), Some("virtio_blk"));
        assert_eq!(module_name(Path::new("a/virtio.ko")), Some("virtio"));
        assert_eq!(module_name(Path::new("a/virtio.koala")), None);
    }

    #[test]
    fn the_release_is_that_of_the_modules() {
        let files = [
            PathBuf::from("t/usr/lib/modules-load.d/x.conf"),
            PathBuf::from("t/usr/lib/modules/7.3.4+deb13-arm64/kernel/drivers/virtio.ko.xz"),
        ];
        assert_eq!(release_of(&files).as_deref(), Some("7.3.4+deb13-arm64"));
    }

    #[test]
    fn the_hash_is_fnv1a() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}
