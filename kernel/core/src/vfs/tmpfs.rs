//! A file system in memory: the root, /tmp, and what /dev is.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use core::any::Any;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hal::mem::{Frame, FrameKind, PAGE_SIZE};
use hal::sync::SpinLock;

use super::{Change, DirEntry, File, FileOps, Inode, InodeKind, Metadata, NewInode, Sink, Source, device, pipe};
use crate::errno::{Errno, Result};
use crate::mm::PageSource;
use crate::time;

/// Bytes between two looks at what else there is to do.
const BREATH: u64 = 1 << 16;

/// Largest file.
const MAX_SIZE: u64 = 1 << 40;

static NEXT_DEVICE: AtomicU64 = AtomicU64::new(1);

/// One file system.
#[derive(Debug)]
struct FileSystem {
    device: u64,
    next_ino: AtomicU64,
}

#[derive(Debug)]
struct Attributes {
    mode: u32,
    uid: u32,
    gid: u32,
    links: u32,
    times: [u64; 3],
}

/// A directory's entries.
type Entries = SpinLock<BTreeMap<Box<[u8]>, Arc<Node>>>;

#[derive(Debug)]
enum Body {
    Regular(Arc<Contents>),
    Directory(Entries),
    Symlink(Box<[u8]>),
    Character((u32, u32)),
    Fifo(pipe::Named),
    Socket,
}

/// An inode.
#[derive(Debug)]
pub struct Node {
    me: Weak<Self>,
    fs: Arc<FileSystem>,
    ino: u64,
    attributes: SpinLock<Attributes>,
    /// Of a directory: the one that it is in. Changes under [`RENAME`].
    above: SpinLock<Weak<Self>>,
    body: Body,
}

/// One rename at a time: two never hold each other's directories, and none goes into itself.
static RENAME: SpinLock<()> = SpinLock::new(());

/// Pages of all files.
static PAGES: AtomicUsize = AtomicUsize::new(0);

/// A file's page.
#[derive(Debug)]
struct Page(Frame);

impl Page {
    fn new(frame: Frame) -> Self {
        PAGES.fetch_add(1, Ordering::Relaxed);
        Self(frame)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        PAGES.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Files may have half of memory (Linux: tmpfs's default size).
fn is_full() -> bool {
    PAGES.load(Ordering::Relaxed) >= hal::mem::total_count() / 2
}

/// The bytes of a regular file: pages, and under those that are not there the bytes that the initramfs has for it.
#[derive(Debug)]
pub struct Contents {
    ino: u64,
    size: AtomicU64,
    pages: SpinLock<BTreeMap<u64, Page>>,
    origin: &'static [u8],
}

/// A new file system; its root.
pub fn new() -> Arc<Node> {
    let fs = Arc::new(FileSystem { device: NEXT_DEVICE.fetch_add(1, Ordering::Relaxed), next_ino: AtomicU64::new(1) });
    Node::new(&fs, NewInode::Directory { mode: 0o755 }, &[])
}

/// A new file system with the devices that there are.
pub fn new_devices() -> Result<Arc<dyn Inode>> {
    let root = new();
    for (name, mode, number) in device::LIST {
        root.create(name.as_bytes(), NewInode::Character { mode: *mode, device: *number })?;
    }
    root.create(b"fd", NewInode::Symlink { target: b"/proc/self/fd".to_vec() })?;
    Ok(root)
}

/// Memory that processes share, without a name (MAP_SHARED | MAP_ANONYMOUS).
pub fn shared_memory(size: u64) -> Arc<dyn PageSource> {
    Arc::new(Contents::new(0, size, &[]))
}

impl Node {
    fn new(fs: &Arc<FileSystem>, new: NewInode, origin: &'static [u8]) -> Arc<Self> {
        let ino = fs.next_ino.fetch_add(1, Ordering::Relaxed);
        let (mode, body) = match new {
            NewInode::Regular { mode } => {
                (mode, Body::Regular(Arc::new(Contents::new(ino, origin.len() as u64, origin))))
            }
            NewInode::Directory { mode } => (mode, Body::Directory(SpinLock::default())),
            NewInode::Symlink { target } => (0o777, Body::Symlink(target.into())),
            NewInode::Character { mode, device } => (mode, Body::Character(device)),
            NewInode::Fifo { mode } => (mode, Body::Fifo(pipe::Named::default())),
            NewInode::Socket { mode } => (mode, Body::Socket),
        };
        let links = if matches!(body, Body::Directory(_)) { 2 } else { 1 };
        let attributes = Attributes { mode, uid: 0, gid: 0, links, times: [time::realtime(); 3] };
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            fs: Arc::clone(fs),
            ino,
            attributes: SpinLock::new(attributes),
            above: SpinLock::default(),
            body,
        })
    }

    fn entries(&self) -> Result<&Entries> {
        match &self.body {
            Body::Directory(entries) => Ok(entries),
            _ => Err(Errno::ENOTDIR),
        }
    }

    /// Makes an entry that may have bytes of the initramfs.
    pub fn create_with(&self, name: &[u8], new: NewInode, origin: &'static [u8]) -> Result<Arc<Self>> {
        let mut entries = self.entries()?.lock();
        if entries.contains_key(name) {
            return Err(Errno::EEXIST);
        }
        crate::memory::check().map_err(|_| Errno::ENOSPC)?;
        let node = Self::new(&self.fs, new, origin);
        if matches!(node.body, Body::Directory(_)) {
            self.attributes.lock().links += 1;
            *node.above.lock() = self.me.clone();
        }
        entries.insert(name.into(), Arc::clone(&node));
        drop(entries);
        self.touch();
        Ok(node)
    }

    fn touch(&self) {
        let now = time::realtime();
        let mut attributes = self.attributes.lock();
        attributes.times[1] = now;
        attributes.times[2] = now;
    }

    fn of(inode: &dyn Inode) -> Result<&Self> {
        inode.as_any().downcast_ref::<Self>().ok_or(Errno::EXDEV)
    }

    fn same_fs(&self, other: &Self) -> Result<()> {
        if Arc::ptr_eq(&self.fs, &other.fs) { Ok(()) } else { Err(Errno::EXDEV) }
    }

    /// Is it that directory, or somewhere in it? Under [`RENAME`].
    fn is_within(&self, directory: &Self) -> bool {
        let mut at = self.me.upgrade();
        while let Some(node) = at {
            if core::ptr::eq(&raw const *node, directory) {
                return true;
            }
            at = node.above.lock().upgrade();
        }
        false
    }

    fn is_empty_directory(&self) -> Result<bool> {
        Ok(self.entries()?.lock().is_empty())
    }
}

/// A tree goes node by node, not one within the other: it may be deep.
impl Drop for Node {
    fn drop(&mut self) {
        let Body::Directory(entries) = &mut self.body else { return };
        let mut above = Vec::new();
        let mut entries = core::mem::take(entries.get_mut());
        loop {
            match entries.pop_first() {
                Some((_, node)) => {
                    let Some(mut node) = Arc::into_inner(node) else { continue };
                    let Body::Directory(inner) = &mut node.body else { continue };
                    let inner = core::mem::take(inner.get_mut());
                    if crate::memory::reserve(&mut above, 1).is_err() {
                        // Lost, rather than too deep for the stack.
                        core::mem::forget(inner);
                        continue;
                    }
                    above.push(core::mem::replace(&mut entries, inner));
                }
                None => match above.pop() {
                    Some(next) => entries = next,
                    None => return,
                },
            }
        }
    }
}

impl Inode for Node {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn metadata(&self) -> Metadata {
        let attributes = self.attributes.lock();
        let (kind, size, device) = match &self.body {
            Body::Regular(contents) => (InodeKind::Regular, contents.len(), (0, 0)),
            Body::Directory(_) => (InodeKind::Directory, 0, (0, 0)),
            Body::Symlink(target) => (InodeKind::Symlink, target.len() as u64, (0, 0)),
            Body::Character(device) => (InodeKind::Character, 0, *device),
            Body::Fifo(_) => (InodeKind::Fifo, 0, (0, 0)),
            Body::Socket => (InodeKind::Socket, 0, (0, 0)),
        };
        Metadata {
            ino: self.ino,
            dev: self.fs.device,
            kind,
            mode: attributes.mode,
            links: attributes.links,
            uid: attributes.uid,
            gid: attributes.gid,
            size,
            device,
            times: attributes.times,
        }
    }

    fn change(&self, change: Change) -> Result<()> {
        let mut attributes = self.attributes.lock();
        match change {
            Change::Mode(mode) => attributes.mode = mode & 0o7777,
            Change::Owner(uid, gid) => {
                attributes.uid = uid.unwrap_or(attributes.uid);
                attributes.gid = gid.unwrap_or(attributes.gid);
            }
            Change::Times(access, modification) => {
                attributes.times[0] = access.unwrap_or(attributes.times[0]);
                attributes.times[1] = modification.unwrap_or(attributes.times[1]);
            }
        }
        attributes.times[2] = time::realtime();
        Ok(())
    }

    fn lookup(&self, name: &[u8]) -> Result<Arc<dyn Inode>> {
        let entries = self.entries()?.lock();
        let node = entries.get(name).ok_or(Errno::ENOENT)?;
        Ok(Arc::clone(node) as Arc<dyn Inode>)
    }

    fn create(&self, name: &[u8], new: NewInode) -> Result<Arc<dyn Inode>> {
        Ok(self.create_with(name, new, &[])?)
    }

    fn link(&self, name: &[u8], inode: &Arc<dyn Inode>) -> Result<()> {
        let node = Self::of(&**inode)?;
        self.same_fs(node)?;
        if matches!(node.body, Body::Directory(_)) {
            return Err(Errno::EPERM);
        }
        let node = node.me.upgrade().ok_or(Errno::ENOENT)?;
        let mut entries = self.entries()?.lock();
        if entries.contains_key(name) {
            return Err(Errno::EEXIST);
        }
        crate::memory::check().map_err(|_| Errno::ENOSPC)?;
        node.attributes.lock().links += 1;
        entries.insert(name.into(), node);
        drop(entries);
        self.touch();
        Ok(())
    }

    fn unlink(&self, name: &[u8]) -> Result<()> {
        let mut entries = self.entries()?.lock();
        let node = entries.get(name).ok_or(Errno::ENOENT)?;
        if matches!(node.body, Body::Directory(_)) {
            return Err(Errno::EISDIR);
        }
        node.attributes.lock().links -= 1;
        let removed = entries.remove(name);
        drop(entries);
        drop(removed);
        self.touch();
        Ok(())
    }

    fn remove_directory(&self, name: &[u8]) -> Result<()> {
        let mut entries = self.entries()?.lock();
        let node = entries.get(name).ok_or(Errno::ENOENT)?;
        if !node.is_empty_directory()? {
            return Err(Errno::ENOTEMPTY);
        }
        let removed = entries.remove(name);
        drop(entries);
        drop(removed);
        self.attributes.lock().links -= 1;
        self.touch();
        Ok(())
    }

    fn rename(&self, old: &[u8], to: &dyn Inode, new: &[u8]) -> Result<()> {
        let to = Self::of(to)?;
        self.same_fs(to)?;
        let _one = RENAME.lock();
        let node = Arc::clone(self.entries()?.lock().get(old).ok_or(Errno::ENOENT)?);
        let is_directory = matches!(node.body, Body::Directory(_));
        if is_directory && to.is_within(&node) {
            return Err(Errno::EINVAL);
        }
        let replaced = to.entries()?.lock().get(new).cloned();
        if let Some(replaced) = &replaced {
            if Arc::ptr_eq(replaced, &node) {
                return Ok(());
            }
            match (is_directory, matches!(replaced.body, Body::Directory(_))) {
                (true, false) => return Err(Errno::ENOTDIR),
                (false, true) => return Err(Errno::EISDIR),
                (true, true) if !replaced.is_empty_directory()? => return Err(Errno::ENOTEMPTY),
                _ => {}
            }
            replaced.attributes.lock().links -= 1;
        }
        let moved = self.entries()?.lock().remove(old).ok_or(Errno::ENOENT)?;
        *moved.above.lock() = to.me.clone();
        let replaced_entry = to.entries()?.lock().insert(new.into(), moved);
        drop(replaced_entry);
        self.touch();
        to.touch();
        Ok(())
    }

    fn read_directory(&self, from: u64, each: &mut dyn FnMut(DirEntry<'_>) -> bool) -> Result<()> {
        // Cursors are positions: an entry that is removed meanwhile makes a later one be missed, which POSIX permits for
        // neither; so callers take as many as they can in one go.
        // As few at a time as need little memory and a short hold of the lock.
        const AT_ONCE: usize = 64;
        let mut at = from;
        loop {
            let some: Vec<(Box<[u8]>, u64, InodeKind)> = {
                let entries = self.entries()?.lock();
                let rest = entries.iter().skip(at as usize).take(AT_ONCE);
                rest.map(|(name, node)| (name.clone(), node.ino, node.metadata().kind)).collect()
            };
            for (name, ino, kind) in &some {
                at += 1;
                if !each(DirEntry { name, ino: *ino, kind: *kind, next: at }) {
                    return Ok(());
                }
            }
            if some.len() < AT_ONCE {
                return Ok(());
            }
        }
    }

    fn read_link(&self) -> Result<Vec<u8>> {
        match &self.body {
            Body::Symlink(target) => Ok(target.to_vec()),
            _ => Err(Errno::EINVAL),
        }
    }

    fn open(&self, flags: u32) -> Result<Arc<dyn FileOps>> {
        let me = self.me.upgrade().ok_or(Errno::ENOENT)?;
        match &self.body {
            Body::Regular(contents) => Ok(Arc::new(OpenFile { node: me, contents: Arc::clone(contents) })),
            Body::Directory(_) | Body::Symlink(_) => Ok(Arc::new(OpenDirectory)),
            Body::Character(number) => device::open(*number, flags),
            Body::Fifo(named) => named.open(flags),
            Body::Socket => Err(Errno::ENXIO),
        }
    }

    fn read_kernel(&self, offset: u64, to: &mut [u8]) -> Result<usize> {
        match &self.body {
            Body::Regular(contents) => contents.read(&mut Sink::kernel(to), offset),
            _ => Err(Errno::EACCES),
        }
    }

    fn pages(&self) -> Option<Arc<dyn PageSource>> {
        match &self.body {
            Body::Regular(contents) => Some(Arc::clone(contents) as Arc<dyn PageSource>),
            _ => None,
        }
    }

    fn truncate(&self, len: u64) -> Result<()> {
        match &self.body {
            Body::Regular(contents) => contents.set_len(len)?,
            Body::Directory(_) => return Err(Errno::EISDIR),
            _ => return Err(Errno::EINVAL),
        }
        self.touch();
        Ok(())
    }
}

impl Contents {
    fn new(ino: u64, size: u64, origin: &'static [u8]) -> Self {
        Self { ino, size: AtomicU64::new(size), pages: SpinLock::new(BTreeMap::new()), origin }
    }

    fn len(&self) -> u64 {
        self.size.load(Ordering::Acquire)
    }

    /// The page, made if it is not there. Behind the end it is zeros.
    fn page_or_new(&self, index: u64) -> Result<Frame> {
        if let Some(Page(frame)) = self.pages.lock().get(&index) {
            return Ok(frame.clone());
        }
        let start = index.saturating_mul(PAGE_SIZE as u64).min(self.origin.len() as u64) as usize;
        let bytes = &self.origin[start..self.origin.len().min(start + PAGE_SIZE)];
        let frame = Frame::new(FrameKind::User).ok_or(Errno::ENOMEM)?;
        frame.write(0, bytes);
        frame.clear(bytes.len(), PAGE_SIZE - bytes.len());
        // Another may have been first.
        Ok(self.pages.lock().entry(index).or_insert_with(|| Page::new(frame)).0.clone())
    }

    fn read(&self, to: &mut Sink<'_>, offset: u64) -> Result<usize> {
        let mut at = offset;
        let before = to.done();
        while to.left() > 0 {
            let left = self.len().saturating_sub(at).min(to.left() as u64) as usize;
            if left == 0 {
                break;
            }
            let inside = (at % PAGE_SIZE as u64) as usize;
            let len = left.min(PAGE_SIZE - inside);
            let cached = self.pages.lock().get(&(at / PAGE_SIZE as u64)).map(|page| page.0.clone());
            // Without a page: straight from the initramfs, or a hole.
            let start = at.min(self.origin.len() as u64) as usize;
            let original = &self.origin[start..self.origin.len().min(start + len)];
            let put = match cached {
                Some(frame) => to.put_page(&frame, inside, len),
                None if original.is_empty() => to.put_zeros(len),
                None => to.put(original),
            };
            match put {
                Ok(0) => break,
                Ok(put) => at += put as u64,
                Err(_) if to.done() > before => break,
                Err(error) => return Err(error),
            }
            if at % BREATH == 0 && crate::signal::breathe_or_end() {
                break;
            }
        }
        Ok(to.done() - before)
    }

    fn write(&self, from: &mut Source<'_>, offset: u64) -> Result<usize> {
        let before = from.done();
        let mut at = offset;
        while from.left() > 0 {
            if at >= MAX_SIZE {
                return if from.done() > before { break } else { Err(Errno::EFBIG) };
            }
            let inside = (at % PAGE_SIZE as u64) as usize;
            let index = at / PAGE_SIZE as u64;
            // What is read or mapped of files that are there is no matter of room.
            let has_room = !is_full() || self.pages.lock().contains_key(&index);
            let page = if has_room { self.page_or_new(index) } else { Err(Errno::ENOSPC) };
            let frame = match page {
                Ok(frame) => frame,
                Err(_) if from.done() > before => break,
                Err(_) => return Err(Errno::ENOSPC),
            };
            match from.take_page(&frame, inside, PAGE_SIZE - inside) {
                Ok(taken) => {
                    // Fetches must see it if it is mapped executable later.
                    frame.state().store(0, Ordering::Relaxed);
                    at += taken as u64;
                    self.size.fetch_max(at, Ordering::AcqRel);
                    if at % BREATH == 0 && crate::signal::breathe_or_end() {
                        break;
                    }
                }
                Err(_) if from.done() > before => break,
                Err(error) => return Err(error),
            }
        }
        Ok(from.done() - before)
    }

    fn set_len(&self, len: u64) -> Result<()> {
        if len > MAX_SIZE {
            return Err(Errno::EFBIG);
        }
        let old = self.len();
        let first_gone = len.div_ceil(PAGE_SIZE as u64);
        if len < old {
            // The initramfs's bytes behind the new end must not come back when the file grows again.
            let inside = (len % PAGE_SIZE as u64) as usize;
            if inside != 0 {
                self.page_or_new(len / PAGE_SIZE as u64)?.clear(inside, PAGE_SIZE - inside);
            }
            let last_original = (self.origin.len() as u64).div_ceil(PAGE_SIZE as u64);
            for index in first_gone..last_original {
                self.page_or_new(index)?.clear(0, PAGE_SIZE);
            }
        }
        self.size.store(len, Ordering::Release);
        let gone = {
            let mut pages = self.pages.lock();
            let last_original = (self.origin.len() as u64).div_ceil(PAGE_SIZE as u64);
            pages.split_off(&first_gone.max(last_original))
        };
        drop(gone);
        Ok(())
    }
}

impl PageSource for Contents {
    fn page(&self, index: u64) -> Result<Frame> {
        if index >= self.len().div_ceil(PAGE_SIZE as u64) {
            return Err(Errno::EFAULT);
        }
        self.page_or_new(index)
    }
    fn present(&self, range: Range<u64>, each: &mut dyn FnMut(u64, Frame)) {
        let end = range.end.min(self.len().div_ceil(PAGE_SIZE as u64));
        if range.start < end {
            self.pages.lock().range(range.start..end).for_each(|(index, page)| each(*index, page.0.clone()));
        }
    }
    fn inode_number(&self) -> u64 {
        self.ino
    }
}

/// A regular file that is open.
#[derive(Debug)]
struct OpenFile {
    node: Arc<Node>,
    contents: Arc<Contents>,
}

impl FileOps for OpenFile {
    fn read(&self, _file: &File, to: &mut Sink<'_>, offset: u64) -> Result<usize> {
        self.contents.read(to, offset)
    }
    fn write(&self, _file: &File, from: &mut Source<'_>, offset: u64) -> Result<usize> {
        let count = self.contents.write(from, offset)?;
        self.node.touch();
        Ok(count)
    }
    fn size(&self) -> Option<u64> {
        Some(self.contents.len())
    }
    fn pages(&self) -> Option<Arc<dyn PageSource>> {
        Some(Arc::clone(&self.contents) as Arc<dyn PageSource>)
    }
}

/// A directory that is open: read by getdents64.
#[derive(Debug)]
pub(super) struct OpenDirectory;

impl FileOps for OpenDirectory {
    fn read(&self, _file: &File, _to: &mut Sink<'_>, _offset: u64) -> Result<usize> {
        Err(Errno::EISDIR)
    }
    fn size(&self) -> Option<u64> {
        Some(i64::MAX as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn regular(origin: &'static [u8]) -> Arc<Node> {
        hal::fakes_init();
        new().create_with(b"f", NewInode::Regular { mode: 0o644 }, origin).unwrap()
    }

    fn contents(node: &Node) -> Arc<Contents> {
        match &node.body {
            Body::Regular(contents) => Arc::clone(contents),
            _ => unreachable!(),
        }
    }

    #[test]
    fn a_directory_never_goes_into_itself() {
        hal::fakes_init();
        hal::fakes_init();
        let root = new();
        let make = |at: &dyn Inode, name: &[u8]| at.create(name, NewInode::Directory { mode: 0o755 }).unwrap();
        let a = make(&*root, b"a");
        let b = make(&*a, b"b");
        let c = make(&*b, b"c");
        assert_eq!(root.rename(b"a", &*c, b"x").unwrap_err(), Errno::EINVAL);
        assert_eq!(root.rename(b"a", &*a, b"x").unwrap_err(), Errno::EINVAL);
        // Where it is now counts, not how it was found.
        a.rename(b"b", &*root, b"b").unwrap();
        root.rename(b"a", &*c, b"a").unwrap();
        assert_eq!(root.rename(b"b", &*a, b"x").unwrap_err(), Errno::EINVAL);
    }

    #[test]
    fn deep_trees_are_dropped() {
        hal::fakes_init();
        hal::fakes_init();
        let root = new();
        let file = root.create(b"f", NewInode::Regular { mode: 0o644 }).unwrap();
        let mut at = Arc::clone(&root) as Arc<dyn Inode>;
        for _ in 0..100_000 {
            at.create(b"e", NewInode::Fifo { mode: 0o600 }).unwrap();
            at = at.create(b"d", NewInode::Directory { mode: 0o755 }).unwrap();
        }
        drop(at);
        drop(root);
        assert_eq!(Arc::strong_count(&file), 1);
    }

    #[test]
    fn names_come_and_go() {
        hal::fakes_init();
        let root = new();
        let directory = root.create(b"d", NewInode::Directory { mode: 0o755 }).unwrap();
        let file = directory.create(b"f", NewInode::Regular { mode: 0o644 }).unwrap();
        assert_eq!(root.remove_directory(b"d").unwrap_err(), Errno::ENOTEMPTY);
        root.link(b"g", &file).unwrap();
        assert_eq!(file.metadata().links, 2);
        directory.unlink(b"f").unwrap();
        assert_eq!(file.metadata().links, 1);
        root.rename(b"g", &*directory, b"h").unwrap();
        assert_eq!(directory.lookup(b"h").unwrap().metadata().ino, file.metadata().ino);
        assert_eq!(root.lookup(b"g").unwrap_err(), Errno::ENOENT);
        directory.unlink(b"h").unwrap();
        root.remove_directory(b"d").unwrap();
        assert_eq!(root.metadata().links, 2);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Against a vector of bytes.
        #[test]
        fn a_file_is_its_bytes(
            origin in 0usize..9000,
            operations in prop::collection::vec((0u8..3, 0u64..12000, 0usize..6000, any::<u8>()), 1..12)
        ) {
            let bytes: Vec<u8> = (0..origin).map(|n| n as u8 ^ (n >> 8) as u8).collect();
            let mut model = bytes.clone();
            let node = regular(Vec::leak(bytes));
            let contents = contents(&node);
            for (kind, at, len, value) in operations {
                match kind {
                    0 => {
                        contents.write(&mut Source::kernel(&vec![value; len]), at).unwrap();
                        if len > 0 {
                            let end = at as usize + len;
                            model.resize(model.len().max(end), 0);
                            model[at as usize..end].fill(value);
                        }
                    }
                    1 => {
                        contents.set_len(at).unwrap();
                        model.resize(at as usize, 0);
                    }
                    _ => {
                        let mut got = vec![0xee; len];
                        let count = contents.read(&mut Sink::kernel(&mut got), at).unwrap();
                        let start = (at as usize).min(model.len());
                        prop_assert_eq!(&got[..count], &model[start..model.len().min(start + len)]);
                    }
                }
                prop_assert_eq!(contents.len(), model.len() as u64);
            }
        }
    }
}
