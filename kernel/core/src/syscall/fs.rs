//! Names: what is where.

use alloc::sync::Arc;

use hal::uaccess;

use super::user::{self, AT_FDCWD};
use crate::errno::{Errno, Result};
use crate::sched::CURRENT;
use crate::time;
use crate::vfs::{self, Change, Follow, InodeKind, Location, NewInode, PATH_MAX, mount as mounts, open_flags};

fn parent(directory: i32, path: u64) -> Result<(Arc<Location>, alloc::vec::Vec<u8>)> {
    let path = user::path(path)?;
    let start = user::start(directory, &path)?;
    vfs::resolve_parent(&CURRENT.get().fs(), &start, &path)
}

fn masked(mode: u32) -> u32 {
    mode & 0o7777 & !CURRENT.get().fs().umask()
}

pub fn getcwd(buffer: u64, size: usize) -> Result<usize> {
    let mut path = CURRENT.get().fs().cwd().path();
    path.push(0);
    if path.len() > size {
        return Err(Errno::ERANGE);
    }
    uaccess::write(buffer, &path)?;
    Ok(path.len())
}

fn change_directory(location: Arc<Location>) -> Result<()> {
    if location.inode.metadata().kind != InodeKind::Directory {
        return Err(Errno::ENOTDIR);
    }
    CURRENT.get().fs().set_cwd(location);
    Ok(())
}

pub fn chdir(path: u64) -> Result<()> {
    change_directory(user::location(AT_FDCWD, path, Follow::Yes)?)
}

pub fn fchdir(fd: i32) -> Result<()> {
    change_directory(user::file(fd)?.location.clone().ok_or(Errno::ENOTDIR)?)
}

/// A name for something new is taken by what is there: EEXIST before any other error.
fn new_name(directory: i32, path: u64) -> Result<(Arc<Location>, alloc::vec::Vec<u8>)> {
    match parent(directory, path) {
        Err(Errno::EINVAL) => Err(Errno::EEXIST),
        other => other,
    }
}

pub fn mkdirat(directory: i32, path: u64, mode: u32) -> Result<()> {
    let (parent, name) = new_name(directory, path)?;
    parent.inode.create(&name, NewInode::Directory { mode: masked(mode) }).map(|_| ())
}

pub fn mknodat(directory: i32, path: u64, mode: u32, device: u32) -> Result<()> {
    let (parent, name) = new_name(directory, path)?;
    let bits = masked(mode);
    let new = match mode & 0o170_000 {
        0 | 0o100_000 => NewInode::Regular { mode: bits },
        0o010_000 => NewInode::Fifo { mode: bits },
        0o020_000 => {
            // The kernel's encoding of device numbers in 32 bits.
            let numbers = (device >> 8 & 0xfff, device & 0xff | device >> 12 & 0xf_ff00);
            NewInode::Character { mode: bits, device: numbers }
        }
        0o140_000 => NewInode::Socket { mode: bits },
        _ => return Err(Errno::EPERM),
    };
    parent.inode.create(&name, new).map(|_| ())
}

pub fn symlinkat(target: u64, directory: i32, path: u64) -> Result<()> {
    let target = user::path(target)?;
    if target.is_empty() {
        return Err(Errno::ENOENT);
    }
    let (parent, name) = new_name(directory, path)?;
    parent.inode.create(&name, NewInode::Symlink { target }).map(|_| ())
}

pub fn linkat(old_directory: i32, old: u64, new_directory: i32, new: u64, flags: u32) -> Result<()> {
    const AT_SYMLINK_FOLLOW: u32 = 0x400;
    let follow = if flags & AT_SYMLINK_FOLLOW == 0 { Follow::No } else { Follow::Yes };
    let old = user::location(old_directory, old, follow)?;
    let (parent, name) = new_name(new_directory, new)?;
    parent.inode.link(&name, &old.inode)
}

pub fn unlinkat(directory: i32, path: u64, flags: u32) -> Result<()> {
    const AT_REMOVEDIR: u32 = 0x200;
    let (parent, name) = parent(directory, path)?;
    if flags & AT_REMOVEDIR == 0 {
        return parent.inode.unlink(&name);
    }
    mounts::check_uncovered(&*parent.inode.lookup(&name)?)?;
    parent.inode.remove_directory(&name)
}

pub fn renameat(old_directory: i32, old: u64, new_directory: i32, new: u64) -> Result<()> {
    renameat2(old_directory, old, new_directory, new, 0)
}

pub fn renameat2(old_directory: i32, old: u64, new_directory: i32, new: u64, flags: u32) -> Result<()> {
    const NOREPLACE: u32 = 1;
    if flags & !NOREPLACE != 0 {
        return Err(Errno::EINVAL);
    }
    let (from, old_name) = parent(old_directory, old)?;
    let (to, new_name) = parent(new_directory, new)?;
    if flags & NOREPLACE != 0 && to.inode.lookup(&new_name).is_ok() {
        return Err(Errno::EEXIST);
    }
    // A directory must not go into itself.
    let moved = from.inode.lookup(&old_name)?;
    mounts::check_uncovered(&*moved)?;
    if let Ok(replaced) = to.inode.lookup(&new_name) {
        mounts::check_uncovered(&*replaced)?;
    }
    let moved = moved.metadata();
    let mut above = Some(&to);
    while let Some(location) = above {
        let there = location.inode.metadata();
        if (there.dev, there.ino) == (moved.dev, moved.ino) {
            return Err(Errno::EINVAL);
        }
        above = location.parent.as_ref();
    }
    from.inode.rename(&old_name, &*to.inode, &new_name)
}

pub fn readlinkat(directory: i32, path: u64, buffer: u64, size: usize) -> Result<usize> {
    if size == 0 {
        return Err(Errno::EINVAL);
    }
    let target = user::location(directory, path, Follow::No)?.inode.read_link()?;
    let len = target.len().min(size).min(PATH_MAX);
    uaccess::write(buffer, &target[..len])?;
    Ok(len)
}

pub fn truncate(path: u64, length: u64) -> Result<()> {
    user::location(AT_FDCWD, path, Follow::Yes)?.inode.truncate(length)
}

pub fn ftruncate(fd: i32, length: u64) -> Result<()> {
    let file = user::file(fd)?;
    if file.flags() & open_flags::ACCMODE == open_flags::RDONLY {
        return Err(Errno::EINVAL);
    }
    file.location.as_ref().ok_or(Errno::EINVAL)?.inode.truncate(length)
}

pub fn faccessat(directory: i32, path: u64, mode: u32) -> Result<()> {
    faccessat2(directory, path, mode, 0)
}

pub fn faccessat2(directory: i32, path: u64, mode: u32, flags: u32) -> Result<()> {
    const EXECUTE: u32 = 1;
    let metadata = user::location(directory, path, user::follow(flags))?.inode.metadata();
    // Root may read and write all, and execute what anyone may.
    if mode & EXECUTE != 0 && metadata.kind == InodeKind::Regular && metadata.mode & 0o111 == 0 {
        return Err(Errno::EACCES);
    }
    Ok(())
}

pub fn fchmod(fd: i32, mode: u32) -> Result<()> {
    user::file(fd)?.location.as_ref().ok_or(Errno::EINVAL)?.inode.change(Change::Mode(mode))
}

pub fn fchmodat(directory: i32, path: u64, mode: u32) -> Result<()> {
    user::location(directory, path, Follow::Yes)?.inode.change(Change::Mode(mode))
}

fn owner(user: u32, group: u32) -> Change {
    let known = |id: u32| (id != u32::MAX).then_some(id);
    Change::Owner(known(user), known(group))
}

pub fn fchownat(directory: i32, path: u64, user: u32, group: u32, flags: u32) -> Result<()> {
    user::location(directory, path, user::follow(flags))?.inode.change(owner(user, group))
}

pub fn fchown(fd: i32, user: u32, group: u32) -> Result<()> {
    user::file(fd)?.location.as_ref().ok_or(Errno::EINVAL)?.inode.change(owner(user, group))
}

pub fn utimensat(directory: i32, path: u64, times: u64, flags: u32) -> Result<()> {
    const NOW: u64 = 0x3fff_ffff;
    const OMIT: u64 = 0x3fff_fffe;
    let one = |at: u64| -> Result<Option<u64>> {
        if times == 0 {
            return Ok(Some(time::realtime()));
        }
        match user::number(at.wrapping_add(8))? {
            NOW => Ok(Some(time::realtime())),
            OMIT => Ok(None),
            _ => user::timespec(at).map(Some),
        }
    };
    let change = Change::Times(one(times)?, one(times.wrapping_add(16))?);
    if path == 0 {
        return user::file(directory)?.location.as_ref().ok_or(Errno::EINVAL)?.inode.change(change);
    }
    user::location(directory, path, user::follow(flags))?.inode.change(change)
}

pub fn umask(mask: u32) -> Result<u32> {
    Ok(CURRENT.get().fs().set_umask(mask))
}

pub fn mount(_source: u64, target: u64, kind: u64, flags: u64, _data: u64) -> Result<()> {
    const REMOUNT: u64 = 32;
    const BIND: u64 = 4096;
    let at = user::location(AT_FDCWD, target, Follow::Yes)?;
    if flags & REMOUNT != 0 {
        return Ok(());
    }
    if flags & BIND != 0 {
        return Err(Errno::EINVAL);
    }
    let kind = user::text(kind, 64, Errno::EINVAL)?;
    mounts::mount(core::str::from_utf8(&kind).map_err(|_| Errno::ENODEV)?, &at)
}

pub fn umount2(path: u64, _flags: u32) -> Result<()> {
    mounts::unmount(&*user::location(AT_FDCWD, path, Follow::Yes)?)
}
