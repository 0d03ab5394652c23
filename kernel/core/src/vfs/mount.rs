//! File systems on directories of others.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use hal::sync::SpinLock;

use super::{Inode, Location, procfs, tmpfs};
use crate::errno::{Errno, Result};

#[derive(Debug)]
struct Mount {
    /// File system and number of the directory that is covered.
    covered: (u64, u64),
    root: Arc<dyn Inode>,
    kind: String,
    path: Vec<u8>,
}

static MOUNTS: SpinLock<Vec<Mount>> = SpinLock::new(Vec::new());

fn identity(inode: &dyn Inode) -> (u64, u64) {
    let metadata = inode.metadata();
    (metadata.dev, metadata.ino)
}

/// What is seen in place of `inode`: the root of what was mounted there last, or itself.
pub fn above(mut inode: Arc<dyn Inode>) -> Arc<dyn Inode> {
    let mounts = MOUNTS.lock();
    if mounts.is_empty() {
        return inode;
    }
    while let Some(mount) = mounts.iter().find(|mount| mount.covered == identity(&*inode)) {
        inode = Arc::clone(&mount.root);
    }
    inode
}

/// A new file system of that kind; ENODEV for an unknown one.
pub fn make(kind: &str) -> Result<Arc<dyn Inode>> {
    match kind {
        "tmpfs" | "ramfs" | "sysfs" | "devpts" => Ok(tmpfs::new()),
        "devtmpfs" => tmpfs::new_devices(),
        "proc" => Ok(procfs::new()),
        _ => Err(Errno::ENODEV),
    }
}

/// mount(2) of a new file system.
pub fn mount(kind: &str, at: &Location) -> Result<()> {
    if at.inode.metadata().kind != super::InodeKind::Directory {
        return Err(Errno::ENOTDIR);
    }
    let root = make(kind)?;
    let covered = identity(&*at.inode);
    MOUNTS.lock().push(Mount { covered, root, kind: kind.into(), path: at.path() });
    Ok(())
}

/// umount2(2) of what was mounted last at `at`.
pub fn unmount(at: &Location) -> Result<()> {
    let mut mounts = MOUNTS.lock();
    let id = identity(&*at.inode);
    let found = mounts.iter().position(|mount| identity(&*mount.root) == id).ok_or(Errno::EINVAL)?;
    let removed = mounts.remove(found);
    drop(mounts);
    drop(removed);
    Ok(())
}

/// For /proc/mounts: kind and path of each.
pub fn list() -> Vec<(String, Vec<u8>)> {
    MOUNTS.lock().iter().map(|mount| (mount.kind.clone(), mount.path.clone())).collect()
}
