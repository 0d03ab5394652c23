//! Modules of Debian's kernels beyond those of the usual initramfs, each with the modules that it needs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::fetch::{Fetcher, exact_closure, files_below, names};
use super::{File, Guests, Kernel, module_name, release_of, replace};
use crate::image;

/// Modules for one purpose.
#[derive(Debug, Clone, Copy)]
pub struct Drivers {
    /// The directory that keeps them here.
    directory: &'static str,
    names: &'static [&'static str],
}

/// What drives the board's devices.
pub const BOARD: Drivers = Drivers {
    directory: "drivers",
    names: &[
        "virtio_mmio",
        "virtio_blk",
        "virtio_rng",
        "virtio_console",
        "9p",
        "9pnet_virtio",
        "virtio_net",
        "gpio_keys",
        "evdev",
        "vmw_vsock_virtio_transport",
    ],
};

/// What a system on a disk needs, whose own modules are not there.
pub const ROOT: Drivers = Drivers {
    directory: "drivers-root",
    names: &["virtio_mmio", "virtio_blk", "virtio_rng", "virtio_net", "ext4", "autofs4", "binfmt_misc"],
};

/// A disk, and one that does nothing.
pub const BLOCK: Drivers = Drivers { directory: "drivers-block", names: &["virtio_mmio", "virtio_blk", "null_blk"] };

impl Guests {
    /// Drivers as `modules/*.ko`, and `modules/order`: their names, in an order of loading.
    pub fn drivers(&self, drivers: Drivers, kernel: Kernel) -> Result<Vec<File>> {
        let _lock = self.lock()?;
        let dir = self.dir().join(drivers.directory).join(kernel.name());
        let of_kernel = fs::read_to_string(self.kernel_dir(kernel).join("version"))?;
        let release = of_kernel.lines().next().unwrap_or_default();
        let wanted = format!("{release}\ndrivers {}\n", drivers.names.join(" "));
        // Written last, so its presence says that all of it is there.
        let found = fs::read_to_string(dir.join("version")).unwrap_or_default();
        if !found.starts_with(&wanted) {
            self.fetch_drivers(drivers, kernel, &dir, &wanted)
                .with_context(|| format!("cannot get the drivers of {kernel}"))?;
        }
        let order = fs::read_to_string(dir.join("order"))?;
        let mut files = vec![file("modules/order", order.clone().into_bytes())];
        for name in order.split_whitespace() {
            files.push(file(&format!("modules/{name}.ko"), fs::read(dir.join(name).with_extension("ko"))?));
        }
        Ok(files)
    }

    fn fetch_drivers(&self, drivers: Drivers, kernel: Kernel, dir: &Path, wanted: &str) -> Result<()> {
        let fetcher = Fetcher::new(self.dir().join("work"));
        let found = fetcher.find("linux-image-arm64", kernel.suites(), kernel.is_highest_wanted())?;
        let packages = exact_closure(&found)?;
        let tree = fetcher.unpack(&found.repository, &packages)?;
        let files = files_below(&tree)?;
        let release = release_of(&files).context("the package holds no modules")?;
        ensure!(
            wanted.starts_with(&format!("release {release}\n")),
            "the mirror has {release} by now; remove {} and fetch both",
            self.kernel_dir(kernel).display()
        );
        if dir.exists() {
            fs::remove_dir_all(dir)?;
        }
        fs::create_dir_all(dir)?;
        let modules = files.iter().filter_map(|path| Some((module_name(path)?.replace('-', "_"), path.clone())));
        let builtin = files.iter().find(|path| path.ends_with("modules.builtin")).map(fs::read_to_string);
        let mut order = Order { modules: modules.collect(), builtin: builtin.transpose()?, done: Vec::new() };
        for driver in drivers.names {
            order.add(driver, 0)?;
        }
        for (name, contents) in &order.done {
            replace(&dir.join(name).with_extension("ko"), contents)?;
        }
        let list: Vec<&str> = order.done.iter().map(|(name, _)| name.as_str()).collect();
        replace(&dir.join("order"), list.join("\n").as_bytes())?;
        replace(&dir.join("version"), format!("{wanted}package {}\n", names(&packages)).as_bytes())?;
        fs::remove_dir_all(&fetcher.work)?;
        Ok(())
    }
}

fn file(path: &str, contents: Vec<u8>) -> File {
    File { path: path.to_owned(), permissions: 0o644, contents }
}

struct Order {
    /// All there are, by name with underscores.
    modules: BTreeMap<String, PathBuf>,
    builtin: Option<String>,
    /// Names and contents, each behind those that it needs.
    done: Vec<(String, Vec<u8>)>,
}

impl Order {
    fn add(&mut self, name: &str, depth: u32) -> Result<()> {
        // Deeper than modules need each other.
        ensure!(depth < 32, "{name} needs itself");
        if self.done.iter().any(|(done, _)| done == name) {
            return Ok(());
        }
        let Some(path) = self.modules.get(name) else {
            let is_built_in = |line: &str| module_name(Path::new(line)).is_some_and(|n| n.replace('-', "_") == name);
            match &self.builtin {
                Some(list) if !list.lines().any(is_built_in) => bail!("the kernel has no module {name}"),
                _ => return Ok(()),
            }
        };
        let contents = image::plain_module(fs::read(path)?).with_context(|| format!("{}", path.display()))?;
        for need in listed(&contents, "depends=", ',') {
            self.add(&need, depth + 1)?;
        }
        // An algorithm, which a module of its name or its plain form provides; newer kernels have some in themselves.
        for wish in listed(&contents, "softdep=pre: ", ' ') {
            let algorithm = wish.trim_start_matches("crypto_");
            let names = [algorithm.to_owned(), format!("{algorithm}_generic")];
            if let Some(name) = names.iter().find(|name| self.modules.contains_key(*name)) {
                self.add(name, depth + 1)?;
            }
        }
        self.done.push((name.to_owned(), contents));
        Ok(())
    }
}

/// The modules that a module names behind `key` in its .modinfo: `depends=` is what it needs, `softdep=pre: ` what is
/// better there before it.
fn listed(module: &[u8], key: &str, separator: char) -> Vec<String> {
    let key = [b"\0", key.as_bytes()].concat();
    let Some(at) = module.windows(key.len()).position(|window| window == key) else { return Vec::new() };
    let value = module[at + key.len()..].split(|byte| *byte == 0).next().unwrap_or_default();
    let names = String::from_utf8_lossy(value).replace('-', "_");
    names.split(separator).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_are_in_the_module_information() {
        let module = b"x\0license=GPL\0depends=9pnet,fs-cache\0softdep=pre: crc32c \0name=9p\0";
        assert_eq!(listed(module, "depends=", ','), ["9pnet", "fs_cache"]);
        assert_eq!(listed(module, "softdep=pre: ", ' '), ["crc32c"]);
        assert!(listed(b"\0depends=\0", "depends=", ',').is_empty());
        assert!(listed(b"depends", "depends=", ',').is_empty());
    }
}
