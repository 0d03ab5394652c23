//! Files that a run writes: none of them may be one that it reads.

use std::fs::{File, Metadata};
use std::io::{BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use machine::MachineConfig;
use machine::config::{DiskAccess, VariableWrites};
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
        files.extend(variables.map(|variables| ("--firmware-vars", variables.path.clone())));
        files.extend(config.disks.iter().map(|disk| ("--disk", disk.path.clone())));
        let disks = config.disks.iter().filter(|disk| disk.access == DiskAccess::ReadWrite);
        let disks = disks.map(|disk| ("--disk", &disk.path, "add ,ro"));
        let variables = variables.filter(|variables| variables.writes == VariableWrites::Kept);
        let variables = variables.map(|variables| ("--firmware-vars", &variables.path, "copy it, or leave out ,keep"));
        for (flag, path, advice) in disks.chain(variables) {
            // Two disks that are one are refused where disks are opened.
            if let Some((other, _)) = files.iter().find(|(other, file)| *other != flag && is_same(file, path)) {
                return Err(FileError::Written { flag, path: path.clone(), other, advice });
            }
        }
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

/// Removes what `file` holds. Devices and pipes hold nothing.
pub fn empty(file: &File) -> std::io::Result<()> {
    if file.metadata()?.is_file() { file.set_len(0) } else { Ok(()) }
}

/// Empties `file`, which `path` names, for long output: buffered, and compressed where the name ends in .gz.
pub fn anew(file: File, path: &Path) -> std::io::Result<Box<dyn Write + Send>> {
    empty(&file)?;
    let file = BufWriter::with_capacity(1 << 20, file);
    Ok(if path.extension().is_some_and(|extension| extension == "gz") {
        Box::new(GzEncoder::new(file, flate2::Compression::fast()))
    } else {
        Box::new(file)
    })
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

    #[test]
    fn what_the_guest_may_write_is_nothing_else() {
        use machine::config::{Disk, FirmwareConfig, Variables};
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "variables").unwrap();
        let refused = |access, writes| {
            let firmware =
                FirmwareConfig { code: "code".into(), variables: Some(Variables { path: file.clone(), writes }) };
            let disks = vec![Disk { path: file.clone(), access }];
            let config = MachineConfig { firmware: Some(firmware), disks, ..MachineConfig::default() };
            Named::of(&config, None).err().map(|error| error.to_string().split(' ').next().unwrap().to_owned())
        };
        let (disk, variables) = (Some("--disk".to_owned()), Some("--firmware-vars".to_owned()));
        assert_eq!(refused(DiskAccess::ReadWrite, VariableWrites::Kept), disk);
        assert_eq!(refused(DiskAccess::ReadWrite, VariableWrites::Forgotten), disk);
        assert_eq!(refused(DiskAccess::ReadOnly, VariableWrites::Kept), variables);
        assert_eq!(refused(DiskAccess::ReadOnly, VariableWrites::Forgotten), None);
    }
}
