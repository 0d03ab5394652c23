//! What is behind a block device.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::{Path, PathBuf};

use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use thiserror::Error;

use crate::spec::SECTOR;

/// Whether a disk may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Only read.
    ReadOnly,
    /// Read and written.
    ReadWrite,
}

/// Storage of a fixed length. Positions and lengths are in bytes, multiples of 512, and were checked against `len`.
pub trait Disk: Send {
    /// Its length in bytes when it was opened. A block device has the whole sectors of it.
    fn len(&self) -> u64;
    /// Has it not one whole sector?
    fn is_empty(&self) -> bool {
        self.len() < SECTOR
    }
    /// May it be written?
    fn access(&self) -> Access;
    /// Fills `into` from `offset`; an error where the storage has become shorter.
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()>;
    /// Writes `from` at `offset`.
    fn write_at(&mut self, offset: u64, from: &[u8]) -> io::Result<()>;
    /// Makes what was written durable.
    fn flush(&mut self) -> io::Result<()>;
    /// The contents of the range no longer matter.
    fn discard(&mut self, offset: u64, len: u64) -> io::Result<()>;
}

/// A file cannot serve as a disk.
#[derive(Debug, Error)]
pub enum DiskError {
    /// It cannot be opened.
    #[error("cannot open disk {}: {source}; {}", .path.display(), advice(.source))]
    Open {
        /// The file.
        path: PathBuf,
        /// The host's reason.
        source: io::Error,
    },
    /// It is a directory, a pipe or the like.
    #[error("disk {} is neither a regular file nor a block device; name a disk image", .path.display())]
    Kind {
        /// The file.
        path: PathBuf,
    },
    /// Another disk or another run has it, and one of them writes.
    #[error("disk {} is in use by another --disk or another run; only read-only disks (,ro) can share a file", .path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// There is not one sector in it.
    #[error(
        "disk {} has {len} bytes, which is less than one sector of 512; give it a size, as with `truncate -s 1G {}`",
        .path.display(), .path.display()
    )]
    Empty {
        /// The file.
        path: PathBuf,
        /// Its length in bytes.
        len: u64,
    },
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "name an existing file, or make one of the size you want with `truncate -s`",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "ask for it read-only if it can be read, or change its permissions"
        }
        _ => "name a disk image that can be read",
    }
}

/// A file, or a block device of the host, as a disk.
#[derive(Debug)]
pub struct FileDisk {
    file: File,
    len: u64,
    access: Access,
}

impl FileDisk {
    /// Opens `path`; read-only where `access` says so, so that nothing can write it. The length is what the file has
    /// now; what is beyond the last whole sector is out of the guest's reach. The file is locked until the disk is
    /// dropped, so that whatever its names are, nobody else writes it.
    pub fn open(path: &Path, access: Access) -> Result<Self, DiskError> {
        let failed = |source| DiskError::Open { path: path.to_owned(), source };
        // Looked at before it is opened: opening a pipe would wait for its other end.
        let usable = |m: &Metadata| m.is_file() || m.file_type().is_block_device();
        if !usable(&std::fs::metadata(path).map_err(failed)?) {
            return Err(DiskError::Kind { path: path.to_owned() });
        }
        let mut file = OpenOptions::new().read(true).write(access == Access::ReadWrite).open(path).map_err(failed)?;
        let locked = match access {
            Access::ReadOnly => file.try_lock_shared(),
            Access::ReadWrite => file.try_lock(),
        };
        // Some file systems know no locks; that is no reason not to use the file.
        if matches!(locked, Err(TryLockError::WouldBlock)) {
            return Err(DiskError::InUse { path: path.to_owned() });
        }
        // The length of a block device is not in its metadata.
        let len = file.seek(SeekFrom::End(0)).map_err(failed)?;
        if len < SECTOR {
            return Err(DiskError::Empty { path: path.to_owned(), len });
        }
        Ok(Self { file, len, access })
    }
}

impl Disk for FileDisk {
    fn len(&self) -> u64 {
        self.len
    }
    fn access(&self) -> Access {
        self.access
    }
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(into, offset)
    }
    fn write_at(&mut self, offset: u64, from: &[u8]) -> io::Result<()> {
        self.file.write_all_at(from, offset)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }
    /// Punches a hole; where the host's file system cannot, the contents stay, as a discard permits.
    fn discard(&mut self, offset: u64, len: u64) -> io::Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match rustix::fs::fallocate(&self.file, flags, offset, len) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::NODEV) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
