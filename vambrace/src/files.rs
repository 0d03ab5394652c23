//! Files that a run writes: none of them may be one that it reads.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use machine::MachineConfig;
use machine::config::{DiskAccess, VariableWrites, Variables};
use thiserror::Error;

/// A file cannot be written.
#[derive(Debug, Error)]
pub enum FileError {
    /// The host refuses.
    #[error("{flag} {}: {source}", .path.display())]
    Create {
        /// The flag that names it.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// The host's reason.
        source: std::io::Error,
    },
    /// It is in use already.
    #[error("{flag} {}: is also given as {other}, which it would overwrite", .path.display())]
    Same {
        /// The flag that names it.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// The flag that names it too.
        other: &'static str,
    },
    /// A file that the guest may write is another that the machine is made of.
    #[error("{flag} {}: is also given as {other}, which the guest could overwrite; {advice}", .path.display())]
    Written {
        /// The flag that lets the guest write.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// The flag that names it too.
        other: &'static str,
        /// What to do.
        advice: &'static str,
    },
}

/// Files that flags name.
#[derive(Default)]
pub struct Named {
    files: Vec<(&'static str, PathBuf)>,
}

impl Named {
    /// Adds a file that the run reads.
    pub fn add(&mut self, flag: &'static str, path: &Path) {
        self.files.push((flag, path.to_owned()));
    }

    /// Those that `config` names, and that of `--vmlinux`. Nothing that the guest may write is another of them.
    pub fn of(config: &MachineConfig, vmlinux: Option<&Path>) -> Result<Self, FileError> {
        let one = |flag, path: &Option<PathBuf>| path.iter().map(|p| (flag, p.clone())).collect::<Vec<_>>();
        let mut files = one("--kernel", &config.kernel);
        files.extend(one("--initrd", &config.initrd));
        files.extend(one("--dtb", &config.dtb));
        files.extend(vmlinux.map(|path| ("--vmlinux", path.to_owned())));
        files.extend(config.firmware.iter().map(|firmware| ("--firmware", firmware.code.clone())));
        let variables = config.firmware.as_ref().and_then(|firmware| firmware.variables.as_ref());
        if let Some(Variables { path, writes: VariableWrites::Kept }) = variables {
            refuse_others(&files, "--firmware-vars", path, "copy it, or leave out ,keep")?;
        }
        files.extend(variables.map(|variables| ("--firmware-vars", variables.path.clone())));
        for disk in config.disks.iter().filter(|disk| disk.access == DiskAccess::ReadWrite) {
            refuse_others(&files, "--disk", &disk.path, "add ,ro")?;
        }
        if let Some(Variables { path, writes: VariableWrites::Kept }) = variables {
            let disks: Vec<_> = config.disks.iter().map(|disk| ("--disk", disk.path.clone())).collect();
            refuse_others(&disks, "--firmware-vars", path, "copy it")?;
        }
        files.extend(config.disks.iter().map(|disk| ("--disk", disk.path.clone())));
        Ok(Self { files })
    }

    /// Opens the file at `path` for writing, unless another flag names it, and creates it where it is not there. What it
    /// holds stays until [`empty`].
    pub fn create(&mut self, flag: &'static str, path: &Path) -> Result<File, FileError> {
        if let Some((other, _)) = self.files.iter().find(|(_, other)| is_same(path, other)) {
            return Err(FileError::Same { flag, path: path.to_owned(), other });
        }
        let file = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|source| FileError::Create { flag, path: path.to_owned(), source })?;
        self.files.push((flag, path.to_owned()));
        Ok(file)
    }
}

/// An error if the guest could write one of `files` through the file at `path`.
fn refuse_others(
    files: &[(&'static str, PathBuf)],
    flag: &'static str,
    path: &Path,
    advice: &'static str,
) -> Result<(), FileError> {
    match files.iter().find(|(_, file)| is_same(file, path)) {
        Some((other, _)) => Err(FileError::Written { flag, path: path.to_owned(), other, advice }),
        None => Ok(()),
    }
}

/// Removes what `file` holds. Devices and pipes hold nothing.
pub fn empty(file: &File) -> std::io::Result<()> {
    if file.metadata()?.is_file() { file.set_len(0) } else { Ok(()) }
}

/// Do two names mean one file?
fn is_same(a: &Path, b: &Path) -> bool {
    match (identity(a), identity(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

/// Device and inode of what is there; nothing for a device file, which does not keep what is written to it.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let is_kept = |status: &Metadata| status.is_file();
    path.metadata().ok().filter(is_kept).map(|status| (status.dev(), status.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let kernel = dir.path().join("Image");
        std::fs::write(&kernel, "kernel").unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&kernel, &link).unwrap();
        let stats = dir.path().join("stats");
        let mut named =
            Named::of(&MachineConfig { kernel: Some(kernel.clone()), ..MachineConfig::default() }, None).unwrap();
        for path in [&kernel, &link] {
            assert!(matches!(named.create("--stats", path), Err(FileError::Same { other: "--kernel", .. })));
        }
        assert_eq!(std::fs::read(&kernel).unwrap(), b"kernel");
        assert!(named.create("--stats", &stats).is_ok());
        assert!(matches!(named.create("--console", &stats), Err(FileError::Same { other: "--stats", .. })));
        assert!(matches!(named.create("--console", dir.path()), Err(FileError::Create { .. })));
    }
}
