//! Paths: from names to inodes, and back.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, Ordering};

use hal::sync::SpinLock;

use super::{Inode, InodeKind, NAME_MAX, mount};
use crate::errno::{Errno, Result};

/// Most symbolic links in one path.
pub(super) const MAX_LINKS: usize = 40;

/// Most directories one within the other that can be walked down; their path is longer than any that can be named.
const MAX_DEPTH: u32 = 8192;

/// An inode and the way that led to it.
#[derive(Debug)]
pub struct Location {
    /// What is there.
    pub inode: Arc<dyn Inode>,
    /// The directory; `None` for the root.
    pub parent: Option<Arc<Location>>,
    /// Its name there.
    pub name: Box<[u8]>,
    /// Directories above it.
    depth: u32,
}

/// The way up may be long: one step after the other, not one within the other.
impl Drop for Location {
    fn drop(&mut self) {
        let mut above = self.parent.take();
        while let Some(mut location) = above.and_then(Arc::into_inner) {
            above = location.parent.take();
        }
    }
}

impl Location {
    /// The root of everything.
    pub fn root(inode: Arc<dyn Inode>) -> Arc<Self> {
        Arc::new(Self { inode, parent: None, name: Box::from(&b""[..]), depth: 0 })
    }

    /// An entry that is known.
    pub fn child(self: &Arc<Self>, name: &[u8], inode: Arc<dyn Inode>) -> Arc<Self> {
        Arc::new(Self { inode, parent: Some(Arc::clone(self)), name: Box::from(name), depth: self.depth + 1 })
    }

    /// The entry `name`, with what is mounted there.
    pub fn step(self: &Arc<Self>, name: &[u8]) -> Result<Arc<Self>> {
        if name.len() > NAME_MAX || self.depth >= MAX_DEPTH {
            return Err(Errno::ENAMETOOLONG);
        }
        let inode = self.inode.lookup(name)?;
        Ok(self.child(name, mount::above(inode)))
    }

    /// Its path.
    pub fn path(&self) -> Vec<u8> {
        /// Longer ones have no use.
        const LONGEST: usize = 1 << 16;
        let mut names: Vec<&[u8]> = Vec::new();
        let mut at = self;
        let mut len = 0;
        while let Some(parent) = &at.parent {
            names.push(&at.name);
            len += at.name.len() + 1;
            if len > LONGEST {
                return b"(too long)".to_vec();
            }
            at = parent;
        }
        if names.is_empty() {
            return b"/".to_vec();
        }
        names.iter().rev().flat_map(|name| core::iter::once(&b'/').chain(name.iter())).copied().collect()
    }
}

/// A process's root, working directory and umask.
#[derive(Debug)]
pub struct FsContext {
    root: Arc<Location>,
    cwd: SpinLock<Arc<Location>>,
    umask: AtomicU32,
}

impl FsContext {
    /// In the root, with umask 022.
    pub fn new(root: Arc<Location>) -> Self {
        Self { cwd: SpinLock::new(Arc::clone(&root)), root, umask: AtomicU32::new(0o022) }
    }
    /// The same for another process.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self { root: Arc::clone(&self.root), cwd: SpinLock::new(self.cwd()), umask: AtomicU32::new(self.umask()) }
    }
    /// The root.
    pub fn root(&self) -> &Arc<Location> {
        &self.root
    }
    /// The working directory.
    pub fn cwd(&self) -> Arc<Location> {
        Arc::clone(&self.cwd.lock())
    }
    /// Changes the working directory.
    pub fn set_cwd(&self, to: Arc<Location>) {
        let old = core::mem::replace(&mut *self.cwd.lock(), to);
        drop(old);
    }
    /// Permission bits that new files do not get.
    pub fn umask(&self) -> u32 {
        self.umask.load(Ordering::Relaxed)
    }
    /// Sets them; returns the old ones.
    pub fn set_umask(&self, umask: u32) -> u32 {
        self.umask.swap(umask & 0o777, Ordering::Relaxed)
    }
}

/// Is a symbolic link at the end of a path followed?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Follow {
    /// To where it points.
    Yes,
    /// It is what is meant.
    No,
}

/// What is at `path`, from `start` if it is relative.
pub fn resolve(fs: &FsContext, start: &Arc<Location>, path: &[u8], follow: Follow) -> Result<Arc<Location>> {
    if path.is_empty() {
        return Err(Errno::ENOENT);
    }
    let mut links = 0;
    walk(fs, start, path, follow, &mut links)
}

/// The directory that the last name of `path` is in, and that name. A path that ends in `.`, `..` or `/` alone has none:
/// EINVAL.
pub fn resolve_parent(fs: &FsContext, start: &Arc<Location>, path: &[u8]) -> Result<(Arc<Location>, Vec<u8>)> {
    if path.is_empty() {
        return Err(Errno::ENOENT);
    }
    let trimmed = path.iter().rposition(|byte| *byte != b'/').map_or(&path[..0], |last| &path[..=last]);
    let (directory, name) = match trimmed.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (&path[..=slash], &trimmed[slash + 1..]),
        None => (if path[0] == b'/' { &path[..1] } else { &b"."[..] }, trimmed),
    };
    if name.is_empty() || name == b"." || name == b".." {
        return Err(Errno::EINVAL);
    }
    if name.len() > NAME_MAX {
        return Err(Errno::ENAMETOOLONG);
    }
    let mut links = 0;
    let parent = walk(fs, start, directory, Follow::Yes, &mut links)?;
    if parent.inode.metadata().kind != InodeKind::Directory {
        return Err(Errno::ENOTDIR);
    }
    Ok((parent, name.to_vec()))
}

fn walk(
    fs: &FsContext,
    start: &Arc<Location>,
    path: &[u8],
    follow: Follow,
    links: &mut usize,
) -> Result<Arc<Location>> {
    let mut at = Arc::clone(if path[0] == b'/' { fs.root() } else { start });
    let mut names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).peekable();
    let must_be_directory = path.ends_with(b"/");
    while let Some(name) = names.next() {
        match name {
            b"." => {
                if at.inode.metadata().kind != InodeKind::Directory {
                    return Err(Errno::ENOTDIR);
                }
            }
            b".." => {
                if let Some(parent) = at.parent.clone() {
                    at = parent;
                }
            }
            name => {
                let next = at.step(name)?;
                let is_last = names.peek().is_none();
                let is_link = next.inode.metadata().kind == InodeKind::Symlink;
                if is_link && (!is_last || follow == Follow::Yes || must_be_directory) {
                    *links += 1;
                    if *links > MAX_LINKS {
                        return Err(Errno::ELOOP);
                    }
                    at = if let Some(target) = next.inode.follow_link() {
                        target
                    } else {
                        let target = next.inode.read_link()?;
                        if target.is_empty() {
                            return Err(Errno::ENOENT);
                        }
                        walk(fs, &at, &target, Follow::Yes, links)?
                    };
                } else {
                    at = next;
                }
            }
        }
    }
    if must_be_directory && at.inode.metadata().kind != InodeKind::Directory {
        return Err(Errno::ENOTDIR);
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::super::{NewInode, tmpfs};
    use super::*;

    fn tree() -> FsContext {
        hal::fakes_init();
        let root = tmpfs::new();
        let a = root.create(b"a", NewInode::Directory { mode: 0o755 }).unwrap();
        a.create(b"file", NewInode::Regular { mode: 0o644 }).unwrap();
        let link = |at: &dyn Inode, name: &[u8], target: &[u8]| {
            at.create(name, NewInode::Symlink { target: target.to_vec() }).unwrap();
        };
        link(&*a, b"up", b"../a/./file");
        link(&*a, b"loop", b"loop");
        link(&*root, b"abs", b"/a");
        FsContext::new(Location::root(root))
    }

    #[test]
    fn paths_lead_where_they_should() {
        let fs = tree();
        let find = |path: &str, follow| resolve(&fs, &fs.cwd(), path.as_bytes(), follow).map(|found| found.path());
        assert_eq!(find("/a/file", Follow::Yes).unwrap(), b"/a/file");
        assert_eq!(find("a//./file", Follow::Yes).unwrap(), b"/a/file");
        assert_eq!(find("../../a/up", Follow::Yes).unwrap(), b"/a/file");
        assert_eq!(find("a/up", Follow::No).unwrap(), b"/a/up");
        assert_eq!(find("abs/file", Follow::No).unwrap(), b"/a/file");
        assert_eq!(find("/", Follow::Yes).unwrap(), b"/");
        for (path, error) in [
            ("", Errno::ENOENT),
            ("none", Errno::ENOENT),
            ("a/file/x", Errno::ENOTDIR),
            ("a/file/", Errno::ENOTDIR),
            ("a/loop", Errno::ELOOP),
        ] {
            assert_eq!(find(path, Follow::Yes).unwrap_err(), error, "{path}");
        }
    }

    #[test]
    fn long_ways_end_and_are_dropped() {
        let fs = tree();
        let inode = Arc::clone(&fs.cwd().inode);
        let mut at = fs.cwd();
        for _ in 0..MAX_DEPTH {
            at = at.child(b"d", Arc::clone(&inode));
        }
        assert_eq!(at.path(), b"/d".repeat(MAX_DEPTH as usize));
        assert_eq!(at.step(b"a").unwrap_err(), Errno::ENAMETOOLONG);
        for _ in 0..1_000_000 {
            at = at.child(b"d", Arc::clone(&inode));
        }
        drop(at);
    }

    #[test]
    fn parents_and_names() {
        let fs = tree();
        let find =
            |path: &str| resolve_parent(&fs, &fs.cwd(), path.as_bytes()).map(|(parent, name)| (parent.path(), name));
        assert_eq!(find("new").unwrap(), (b"/".to_vec(), b"new".to_vec()));
        assert_eq!(find("/new").unwrap(), (b"/".to_vec(), b"new".to_vec()));
        assert_eq!(find("abs/new//").unwrap(), (b"/a".to_vec(), b"new".to_vec()));
        assert_eq!(find("a/file/new").unwrap_err(), Errno::ENOTDIR);
        assert_eq!(find("/").unwrap_err(), Errno::EINVAL);
        assert_eq!(find("a/..").unwrap_err(), Errno::EINVAL);
    }
}
