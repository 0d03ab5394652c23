//! What file systems hold.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;

use super::FileOps;
use crate::errno::{Errno, Result};
use crate::mm::PageSource;

/// Kinds, with the bits of st_mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InodeKind {
    /// A named pipe.
    Fifo,
    /// A character device.
    Character,
    /// A directory.
    Directory,
    /// A regular file.
    Regular,
    /// A symbolic link.
    Symlink,
    /// A socket.
    Socket,
    /// Something that has no place and no kind (Linux: anon_inode).
    Anonymous,
}

impl InodeKind {
    /// S_IFMT's part of st_mode.
    pub const fn mode_bits(self) -> u32 {
        match self {
            Self::Fifo => 0o010_000,
            Self::Character => 0o020_000,
            Self::Directory => 0o040_000,
            Self::Regular => 0o100_000,
            Self::Symlink => 0o120_000,
            Self::Socket => 0o140_000,
            Self::Anonymous => 0,
        }
    }
    /// d_type of getdents64.
    pub const fn dirent_type(self) -> u8 {
        (self.mode_bits() >> 12) as u8
    }
}

/// What stat tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metadata {
    /// Number in its file system.
    pub ino: u64,
    /// Number of the file system.
    pub dev: u64,
    /// Kind.
    pub kind: InodeKind,
    /// Permissions, with set-user-ID and the like.
    pub mode: u32,
    /// Names it has.
    pub links: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Bytes.
    pub size: u64,
    /// Major and minor number of a device.
    pub device: (u32, u32),
    /// Nanoseconds since 1970: access, modification, change.
    pub times: [u64; 3],
}

impl Metadata {
    /// Of what has no place.
    pub fn anonymous() -> Self {
        Self {
            ino: 1,
            dev: 0,
            kind: InodeKind::Anonymous,
            mode: 0o600,
            links: 1,
            uid: 0,
            gid: 0,
            size: 0,
            device: (0, 0),
            times: [crate::time::realtime(); 3],
        }
    }
}

/// A change of metadata.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// chmod
    Mode(u32),
    /// chown; `None` stays.
    Owner(Option<u32>, Option<u32>),
    /// utimensat: access and modification; `None` stays.
    Times(Option<u64>, Option<u64>),
}

/// What is made in a directory.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum NewInode {
    Regular { mode: u32 },
    Directory { mode: u32 },
    Symlink { target: Vec<u8> },
    Character { mode: u32, device: (u32, u32) },
    Fifo { mode: u32 },
    Socket { mode: u32 },
}

/// An entry of a directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DirEntry<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Its inode's number.
    pub ino: u64,
    /// Its kind.
    pub kind: InodeKind,
    /// The cursor with which reading goes on behind it.
    pub next: u64,
}

/// A file, directory or the like. What a kind does not do gives the error that Linux gives.
pub trait Inode: Send + Sync + fmt::Debug {
    /// Itself, for its own file system's sake.
    fn as_any(&self) -> &dyn Any;
    /// What stat tells.
    fn metadata(&self) -> Metadata;
    /// chmod, chown, utimensat.
    fn change(&self, _change: Change) -> Result<()> {
        Err(Errno::EPERM)
    }
    /// The entry `name` of a directory.
    fn lookup(&self, _name: &[u8]) -> Result<Arc<dyn Inode>> {
        Err(Errno::ENOTDIR)
    }
    /// Makes an entry; EEXIST.
    fn create(&self, _name: &[u8], _new: NewInode) -> Result<Arc<dyn Inode>> {
        Err(Errno::EPERM)
    }
    /// One more name for `inode`; EXDEV if it is not of this file system.
    fn link(&self, _name: &[u8], _inode: &Arc<dyn Inode>) -> Result<()> {
        Err(Errno::EPERM)
    }
    /// Removes a name of what is no directory.
    fn unlink(&self, _name: &[u8]) -> Result<()> {
        Err(Errno::EPERM)
    }
    /// Removes an empty directory.
    fn remove_directory(&self, _name: &[u8]) -> Result<()> {
        Err(Errno::EPERM)
    }
    /// Gives entry `old` of this directory the name `new` in another, in place of what is there.
    fn rename(&self, _old: &[u8], _to: &dyn Inode, _new: &[u8]) -> Result<()> {
        Err(Errno::EPERM)
    }
    /// Calls `each` for the entries from cursor `from` (0: the first) on, until it gives false. `.` and `..` are not among
    /// them.
    fn read_directory(&self, _from: u64, _each: &mut dyn FnMut(DirEntry<'_>) -> bool) -> Result<()> {
        Err(Errno::ENOTDIR)
    }
    /// Where a symbolic link points.
    fn read_link(&self) -> Result<Vec<u8>> {
        Err(Errno::EINVAL)
    }
    /// A symbolic link of procfs may lead to something that no path names.
    fn follow_link(&self) -> Option<Arc<super::Location>> {
        None
    }
    /// Opens it, with open's flags.
    fn open(&self, _flags: u32) -> Result<Arc<dyn FileOps>> {
        Err(Errno::ENXIO)
    }
    /// Reads a regular file for the kernel; returns how many bytes there were.
    fn read_kernel(&self, _offset: u64, _to: &mut [u8]) -> Result<usize> {
        Err(Errno::EACCES)
    }
    /// Its pages, if they can be mapped.
    fn pages(&self) -> Option<Arc<dyn PageSource>> {
        None
    }
    /// Sets the length.
    fn truncate(&self, _len: u64) -> Result<()> {
        Err(Errno::EINVAL)
    }
}
