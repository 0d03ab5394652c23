//! Debian's EFI firmware for the `virt` board, and its boot loader.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::fetch::{self, Fetcher};
use super::{Guests, replace};
use crate::boot::Firmware;

/// Files of a package: what they are called here, and where the package has them.
struct Wanted {
    directory: &'static str,
    package: &'static str,
    files: &'static [(&'static str, &'static str)],
}

/// EDK2.
const EDK2: Wanted = Wanted {
    directory: "edk2",
    package: "qemu-efi-aarch64",
    files: &[("code.fd", "usr/share/AAVMF/AAVMF_CODE.fd"), ("vars.fd", "usr/share/AAVMF/AAVMF_VARS.fd")],
};

/// GRUB as one EFI program with all of its modules.
const GRUB: Wanted = Wanted {
    directory: "grub",
    package: "grub-efi-arm64-bin",
    files: &[("grubaa64.efi", "usr/lib/grub/arm64-efi/monolithic/grubaa64.efi")],
};

impl Guests {
    /// EDK2's image and its empty variables, fetched when they are not there yet.
    pub fn edk2(&self) -> Result<Firmware> {
        let dir = self.files(&EDK2)?;
        Ok(Firmware { code: dir.join("code.fd"), variables: dir.join("vars.fd") })
    }

    /// GRUB.
    pub fn grub(&self) -> Result<PathBuf> {
        Ok(self.files(&GRUB)?.join("grubaa64.efi"))
    }

    fn files(&self, wanted: &Wanted) -> Result<PathBuf> {
        let _lock = self.lock()?;
        let dir = self.dir().join(wanted.directory);
        // Written last, so its presence says that all of it is there.
        if dir.join("version").exists() {
            return Ok(dir);
        }
        let fetcher = Fetcher::new(self.dir().join("work"));
        let found = fetcher.find(wanted.package, &["bookworm", "trixie"], false)?;
        let packages = [found.package];
        let tree = fetcher.unpack(&found.repository, &packages)?;
        fs::create_dir_all(&dir)?;
        for (name, path) in wanted.files {
            let contents = fs::read(tree.join(path)).with_context(|| format!("{} has no {path}", wanted.package))?;
            replace(&dir.join(name), &contents)?;
        }
        let text = format!("package {}\nsuite {}\n", fetch::names(&packages), found.repository.suite());
        replace(&dir.join("version"), text.as_bytes())?;
        fs::remove_dir_all(&fetcher.work)?;
        Ok(dir)
    }
}
