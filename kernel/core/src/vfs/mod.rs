//! Files.
//!
//! `inode`: what is in a file system, and what it is asked · `location`: paths, mounts · `file`: open files and the table of
//! them · `transfer`: from and to programs · `tmpfs`, `cpio`: the root · `device`, `pipe`, `procfs`: further kinds.
//!
//! A new file system is a type that implements [`Inode`] and a line in [`mount::make`]; a new kind of open file is a type
//! that implements [`FileOps`].

pub mod cpio;
pub mod device;
pub mod epoll;
pub mod eventfd;
mod file;
mod inode;
mod location;
pub mod mount;
pub mod pipe;
pub mod procfs;
pub mod tmpfs;
mod transfer;

use alloc::sync::Arc;

pub use file::{File, FileOps, FileTable, Poll, open_flags};
pub use inode::{Change, DirEntry, Inode, InodeKind, Metadata, NewInode};
pub use location::{Follow, FsContext, Location, resolve, resolve_parent};
pub use transfer::{Buffer, Sink, Source};

use crate::errno::{Errno, Result};

/// Longest path, with its NUL.
pub const PATH_MAX: usize = 4096;
/// Longest name.
pub const NAME_MAX: usize = 255;

/// What is at `path`, symbolic links followed, from the working directory.
pub fn lookup(fs: &FsContext, path: &[u8]) -> Result<Arc<Location>> {
    resolve(fs, &fs.cwd(), path, Follow::Yes)
}

/// open(2) below `start`.
pub fn open(fs: &FsContext, start: &Arc<Location>, path: &[u8], flags: u32, mode: u32) -> Result<Arc<File>> {
    use open_flags as o;
    let follow = if flags & o::NOFOLLOW != 0 { Follow::No } else { Follow::Yes };
    let location =
        if flags & o::CREAT == 0 { resolve(fs, start, path, follow)? } else { create(fs, start, path, flags, mode)? };
    let metadata = location.inode.metadata();
    match metadata.kind {
        InodeKind::Symlink if flags & o::PATH == 0 => return Err(Errno::ELOOP),
        InodeKind::Directory if flags & o::ACCMODE != o::RDONLY || flags & o::CREAT != 0 => return Err(Errno::EISDIR),
        InodeKind::Directory => {}
        _ if flags & o::DIRECTORY != 0 => return Err(Errno::ENOTDIR),
        _ => {}
    }
    if flags & o::TRUNC != 0 && metadata.kind == InodeKind::Regular && flags & o::ACCMODE != o::RDONLY {
        location.inode.truncate(0)?;
    }
    let ops = if flags & o::PATH != 0 { file::path_only() } else { location.inode.open(flags)? };
    Ok(Arc::new(File::new(Some(location), ops, flags)))
}

fn create(fs: &FsContext, start: &Arc<Location>, path: &[u8], flags: u32, mode: u32) -> Result<Arc<Location>> {
    use open_flags as o;
    // Through symbolic links to a file that may not be there yet: as often as a path may have links.
    let mut start = Arc::clone(start);
    let mut path = path.to_vec();
    for _ in 0..location::MAX_LINKS {
        let (parent, name) = resolve_parent(fs, &start, &path)?;
        match parent.step(&name) {
            Ok(_) if flags & o::EXCL != 0 => return Err(Errno::EEXIST),
            Ok(found) if found.inode.metadata().kind == InodeKind::Symlink && flags & o::NOFOLLOW == 0 => {
                path = found.inode.read_link()?;
                start = parent;
            }
            Ok(found) => return Ok(found),
            Err(Errno::ENOENT) => {
                let new = NewInode::Regular { mode: mode & 0o7777 & !fs.umask() };
                let inode = parent.inode.create(&name, new)?;
                return Ok(parent.child(&name, inode));
            }
            Err(error) => return Err(error),
        }
    }
    Err(Errno::ELOOP)
}
