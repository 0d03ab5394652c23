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

/// Most mounts.
const MOST: usize = 1000;

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

/// Is something mounted there? Then its name must not go (EBUSY).
pub fn check_uncovered(inode: &dyn Inode) -> Result<()> {
    let mounts = MOUNTS.lock();
    let is_covered = !mounts.is_empty() && mounts.iter().any(|mount| mount.covered == identity(inode));
    if is_covered { Err(Errno::EBUSY) } else { Ok(()) }
}

/// mount(2) of a new file system.
pub fn mount(kind: &str, at: &Location) -> Result<()> {
    if at.inode.metadata().kind != super::InodeKind::Directory {
        return Err(Errno::ENOTDIR);
    }
    crate::memory::check()?;
    let root = make(kind)?;
    let mount = Mount { covered: identity(&*at.inode), root, kind: kind.into(), path: at.path() };
    let id = identity(&*mount.root);
    let mut mounts = MOUNTS.lock();
    // There is one /proc, wherever it is mounted: what is above its root must not lead back to it.
    if id == mount.covered || mounts.iter().any(|other| other.covered == id) {
        return Err(Errno::EBUSY);
    }
    if mounts.len() >= MOST {
        return Err(Errno::ENOSPC);
    }
    mounts.push(mount);
    Ok(())
}

/// umount2(2) of what was mounted last at `at`.
pub fn unmount(at: &Location) -> Result<()> {
    let (id, path) = (identity(&*at.inode), at.path());
    let mut mounts = MOUNTS.lock();
    // One file system may be at several places.
    let found = mounts.iter().rposition(|mount| identity(&*mount.root) == id && mount.path == path);
    let found = found.ok_or(Errno::EINVAL)?;
    let removed = mounts.remove(found);
    drop(mounts);
    drop(removed);
    Ok(())
}

/// For /proc/mounts: kind and path of each.
pub fn list() -> Vec<(String, Vec<u8>)> {
    MOUNTS.lock().iter().map(|mount| (mount.kind.clone(), mount.path.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_never_lead_in_a_circle() {
        hal::fakes_init();
        let place = Location::root(tmpfs::new());
        let seen = || Location::root(above(Arc::clone(&place.inode)));
        mount("proc", &place).unwrap();
        assert_eq!(mount("proc", &seen()), Err(Errno::EBUSY));
        mount("tmpfs", &seen()).unwrap();
        assert_eq!(mount("proc", &seen()), Err(Errno::EBUSY));
        for _ in 0..2 {
            unmount(&seen()).unwrap();
        }
        assert_eq!(identity(&*seen().inode), identity(&*place.inode));
    }

    #[test]
    fn what_goes_is_the_mount_at_that_place() {
        hal::fakes_init();
        let root = Location::root(tmpfs::new());
        let places = ["a", "b"].map(|name| {
            let inode = root.inode.create(name.as_bytes(), super::super::NewInode::Directory { mode: 0o755 }).unwrap();
            root.child(name.as_bytes(), inode)
        });
        for place in &places {
            mount("proc", place).unwrap();
        }
        let is_covered = |place: &Location| check_uncovered(&*place.inode) == Err(Errno::EBUSY);
        unmount(&root.child(b"b", above(Arc::clone(&places[1].inode)))).unwrap();
        assert!(is_covered(&places[0]) && !is_covered(&places[1]));
        unmount(&root.child(b"a", above(Arc::clone(&places[0].inode)))).unwrap();
        assert!(!is_covered(&places[0]));
    }
}
