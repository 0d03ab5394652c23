//! `cargo xtask guests`: real kernels and busybox from Debian, and initramfs images from them.
//!
//! Everything lands below `.vambrace/` (never committed): `guests/KERNEL/{Image,version,config,
//! modules/*.ko,initrd.gz}`, `guests/built/KERNEL` likewise, `guests/busybox`, `guests/programs/NAME/{bin,lib}`,
//! `guests/root-disk/{root.img,version}`, and the package client's private state in `apt/`.

mod drivers;
mod elf;
mod fetch;
mod firmware;
mod initramfs;
mod programs;
mod pseudo_nmi;
mod root_disk;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{image, shell};
pub use drivers::{BLOCK, BOARD, ROOT};
use fetch::{Fetcher, exact_closure, files_below, names};
pub use initramfs::{File, kernel_archive as kernel_initramfs};
pub use programs::{HACKBENCH, PERF, Program, VMM, VMM_WITH_EL2};
pub use root_disk::check as check_root_disk;

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
    /// Debian's source of 6.12, built here for what its kernels are built without.
    PseudoNmi,
}

impl Kernel {
    /// All of Debian's own, oldest first.
    pub const ALL: [Self; 4] = [Self::V5_10, Self::V6_1, Self::V6_12, Self::Newest];

    /// The name on the command line and of the directory.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V5_10 => "5.10",
            Self::V6_1 => "6.1",
            Self::V6_12 => "6.12",
            Self::Newest => "newest",
            Self::PseudoNmi => "6.12-pseudo-nmi",
        }
    }

    /// Suites to look in. The security suite stands in where the main one has lost the package.
    const fn suites(self) -> &'static [&'static str] {
        match self {
            Self::V5_10 => &["bullseye", "bullseye-security"],
            Self::V6_1 => &["bookworm", "bookworm-security"],
            Self::V6_12 | Self::PseudoNmi => &["trixie", "trixie-security"],
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
        Self::ALL.into_iter().chain([Self::PseudoNmi]).find(|kernel| kernel.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("unknown kernel `{name}`; there are {names}, {}", Self::PseudoNmi)
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
    /// Only 6.12 with pseudo-NMI, built from Debian's source: minutes.
    #[arg(long, conflicts_with_all = ["all", "kernel"])]
    pseudo_nmi: bool,
    /// Only 6.1 and a root disk: a Debian system from its packages, configured by itself in a guest.
    #[arg(long, conflicts_with_all = ["all", "kernel", "pseudo_nmi"])]
    rootfs: bool,
}

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    if args.rootfs {
        return root_disk::run();
    }
    let kernels = match args {
        Args { pseudo_nmi: true, .. } => vec![Kernel::PseudoNmi],
        Args { all: false, kernel, .. } if !kernel.is_empty() => kernel.clone(),
        _ => Kernel::ALL.to_vec(),
    };
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
        let guests = Self { dir };
        if kernels.contains(&Kernel::PseudoNmi) {
            pseudo_nmi::ensure(&guests.kernel_dir(Kernel::PseudoNmi))?;
        }
        let _lock = guests.lock()?;
        let fetcher = Fetcher::new(guests.dir.join("work"));
        guests.ensure_busybox(&fetcher)?;
        for &kernel in kernels {
            if kernel != Kernel::PseudoNmi {
                guests.ensure_kernel(&fetcher, kernel)?;
            }
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
        write_initrd(&path, &initramfs::archive(&busybox, extra))?;
        Ok(path)
    }

    /// The same, not compressed, at `path`: the guest need not unpack it. Modules are those of `kernel`.
    pub fn plain_initrd(&self, path: &Path, kernel: Option<Kernel>, extra: &[File]) -> Result<()> {
        let mut files = kernel.map_or_else(|| Ok(Vec::new()), |kernel| self.modules(kernel))?;
        files.extend_from_slice(extra);
        replace(path, &initramfs::archive(&fs::read(self.dir.join("busybox"))?, &files))
    }

    /// Until it is dropped, no other task changes the directory.
    fn lock(&self) -> Result<fs::File> {
        let lock = fs::File::create(self.dir.join("lock"))?;
        lock.lock().context("cannot lock the directory of guests")?;
        Ok(lock)
    }

    /// Debian's busybox-static for arm64.
    pub fn busybox(&self) -> Result<Vec<u8>> {
        let path = self.dir.join("busybox");
        fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Where all of them are.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What is built here lies apart from Debian's own kernels, which are judged as such.
    fn kernel_dir(&self, kernel: Kernel) -> PathBuf {
        match kernel {
            Kernel::PseudoNmi => self.dir.join("built").join(kernel.name()),
            _ => self.dir.join(kernel.name()),
        }
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

    fn modules(&self, kernel: Kernel) -> Result<Vec<File>> {
        let mut modules: Vec<PathBuf> = fs::read_dir(self.kernel_dir(kernel).join("modules"))?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_>>()?;
        modules.sort();
        modules
            .iter()
            .map(|path| {
                Ok(File { path: format!("modules/{}", name_of(path)), permissions: 0o644, contents: fs::read(path)? })
            })
            .collect()
    }

    fn ensure_initrd(&self, kernel: Kernel) -> Result<()> {
        let busybox = fs::read(self.dir.join("busybox"))?;
        write_initrd(&self.initrd(kernel), &initramfs::archive(&busybox, &self.modules(kernel)?))
    }
}

/// What virtio-mmio disks need, in the order of loading; some kernels have part of it built in.
const MODULES: [&str; 4] = ["virtio", "virtio_ring", "virtio_mmio", "virtio_blk"];

fn directory() -> PathBuf {
    std::env::var_os(GUESTS_VARIABLE)
        .filter(|dir| !dir.is_empty())
        .map_or_else(|| shell::workspace_root().join(".vambrace/guests"), PathBuf::from)
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

/// Writes only when the contents differ from the last time, which a stamp beside it tells.
fn write_initrd(path: &Path, archive: &[u8]) -> Result<()> {
    let stamp_path = path.with_extension("stamp");
    let stamp = format!("{:016x}\n", fnv1a(archive));
    if path.exists() && fs::read_to_string(&stamp_path).is_ok_and(|old| old == stamp) {
        return Ok(());
    }
    replace(path, &initramfs::compress(archive)?)?;
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
        assert_eq!("6.12-pseudo-nmi".parse::<Kernel>(), Ok(Kernel::PseudoNmi));
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
