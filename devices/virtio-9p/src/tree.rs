//! The shared directory on the host. Nothing outside it is reached: every path is resolved by openat2 beneath the directory,
//! through no symbolic link, and what is done to an entry is done by its name in an open directory, or to an open file.

#![allow(clippy::unnecessary_cast, reason = "the types of stat's fields differ between hosts")]

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RawMode, ResolveFlags, Stat, Timespec, Timestamps, fstat, openat2,
};
use rustix::io::Errno;
use thiserror::Error;

use crate::spec::{errno, open, qid};
use crate::wire::{Qid, Refusal};

/// May the guest write?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Only read.
    ReadOnly,
    /// Read and write.
    ReadWrite,
}

/// A directory cannot be shared.
#[derive(Debug, Error)]
pub enum ShareError {
    /// It cannot be opened.
    #[error("cannot share {}: {source}; name a directory that can be read", .path.display())]
    Open {
        /// The directory.
        path: PathBuf,
        /// The host's reason.
        source: std::io::Error,
    },
    /// The host cannot keep a guest in.
    #[error("cannot share {}: the host has no openat2, which Linux has from 5.6", .path.display())]
    NoOpenat2 {
        /// The directory.
        path: PathBuf,
    },
}

/// Most entries of a directory that is read.
const MAX_ENTRIES: usize = 1 << 18;

/// The names from the root to a file.
pub type Names = Vec<Vec<u8>>;

/// A file as the guest sees it.
#[derive(Clone, Copy, Debug)]
pub struct Attributes {
    /// Its qid.
    pub qid: Qid,
    /// Type and permissions.
    pub mode: u32,
    /// Owner and group.
    pub owner: (u32, u32),
    /// Links.
    pub links: u64,
    /// Length in bytes.
    pub size: u64,
    /// Time of modification: seconds and nanoseconds since 1970.
    pub modified: (u64, u32),
}

/// What the guest knows of a file of the host.
#[derive(Clone, Copy, Debug)]
struct Known {
    path: u64,
    version: u32,
    /// When the guest changed it, in its own time: the host's must not be seen.
    modified: Option<(u64, u32)>,
}

/// The directory.
pub struct Tree {
    root: OwnedFd,
    access: Access,
    /// By device and inode. Numbers are given in the order in which the guest first sees files, so that runs repeat.
    known: BTreeMap<(u64, u64), Known>,
    next: u64,
    /// Who runs the tool, whose files are the guest's root's.
    user: (u32, u32),
}

/// What an open file is.
pub enum Opened {
    /// A regular file.
    File(File),
    /// A directory: names, in order, the two dots first.
    Directory(Vec<Entry>),
}

/// An entry of a directory.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its qid.
    pub qid: Qid,
    /// Its type, as readdir has it.
    pub kind: u8,
    /// Its name.
    pub name: Vec<u8>,
}

impl Tree {
    /// Opens `path`.
    pub fn open(path: &Path, access: Access) -> Result<Self, ShareError> {
        let failed = |source: Errno| ShareError::Open { path: path.to_owned(), source: source.into() };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(failed)?;
        let user = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let tree = Self { root, access, known: BTreeMap::new(), next: 0, user };
        match tree.resolve(&[], OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()) {
            Ok(_) => Ok(tree),
            Err(Errno::NOSYS) => Err(ShareError::NoOpenat2 { path: path.to_owned() }),
            Err(source) => Err(failed(source)),
        }
    }

    /// Has the guest seen nothing of it?
    pub fn is_unseen(&self) -> bool {
        self.next == 0
    }

    /// May the guest change anything?
    pub fn writable(&self) -> Result<(), Refusal> {
        match self.access {
            Access::ReadOnly => Err(Refusal(errno::EROFS)),
            Access::ReadWrite => Ok(()),
        }
    }

    /// The only way from names to a file.
    fn resolve(&self, names: &[Vec<u8>], flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let path = if names.is_empty() { b".".to_vec() } else { names.join(&b'/') };
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let mut tries = 0;
        loop {
            match openat2(&self.root, path.as_slice(), flags, mode, within) {
                // Something was renamed meanwhile, so that the host cannot tell whether this is still within.
                Err(Errno::AGAIN) if tries < 16 => tries += 1,
                result => return result,
            }
        }
    }

    /// A handle of the file, whatever it is, a symbolic link too: nothing happens to it by that.
    fn handle(&self, names: &[Vec<u8>]) -> Result<OwnedFd, Errno> {
        self.resolve(names, OFlags::PATH, Mode::empty())
    }

    /// The directory that holds the file, and its name in it. The root is in none.
    fn parent<'a>(&self, names: &'a [Vec<u8>]) -> Result<(OwnedFd, &'a [u8]), Errno> {
        let (name, above) = names.split_last().ok_or(Errno::BUSY)?;
        Ok((self.resolve(above, OFlags::PATH | OFlags::DIRECTORY, Mode::empty())?, name))
    }

    /// What a file is.
    pub fn attributes(&mut self, names: &[Vec<u8>]) -> Result<Attributes, Refusal> {
        let status = fstat(self.handle(names)?)?;
        Ok(self.seen(&status))
    }

    /// The same of an open one, which may have no name any more.
    pub fn attributes_of(&mut self, file: &File) -> Result<Attributes, Refusal> {
        let status = fstat(file)?;
        Ok(self.seen(&status))
    }

    fn know(&mut self, status: &Stat) -> &mut Known {
        let next = &mut self.next;
        self.known.entry((status.st_dev as u64, status.st_ino as u64)).or_insert_with(|| {
            *next += 1;
            Known { path: *next, version: 0, modified: None }
        })
    }

    /// What the guest sees follows from contents, permissions and times of modification alone: not from the host's file
    /// system, its inode numbers, or when the files came there.
    fn seen(&mut self, status: &Stat) -> Attributes {
        let known = *self.know(status);
        let kind = FileType::from_raw_mode(status.st_mode as RawMode);
        let is_directory = kind == FileType::Directory;
        let of_host = (status.st_mtime as u64, status.st_mtime_nsec as u32);
        let id = |id: u32, own: u32| if id == own { 0 } else { id };
        Attributes {
            qid: Qid { kind: qid_kind(kind), version: known.version, path: known.path },
            mode: status.st_mode as u32,
            owner: (id(status.st_uid, self.user.0), id(status.st_gid, self.user.1)),
            links: if is_directory { 1 } else { status.st_nlink as u64 },
            size: if is_directory { 4096 } else { status.st_size as u64 },
            modified: known.modified.unwrap_or(of_host),
        }
    }

    /// The guest changed a file at `now`.
    fn changed(&mut self, status: &Stat, now: (u64, u32)) {
        let known = self.know(status);
        known.version = known.version.wrapping_add(1);
        known.modified = Some(now);
    }

    /// The guest changed an open file.
    pub fn touched(&mut self, file: &File, now: (u64, u32)) -> Result<(), Refusal> {
        let status = fstat(file)?;
        self.changed(&status, now);
        Ok(())
    }

    /// Opens what a client may open: a regular file or a directory. Opening anything else has effects on the host.
    pub fn open_file(&mut self, names: &[Vec<u8>], flags: u32, now: (u64, u32)) -> Result<(Qid, Opened), Refusal> {
        let handle = self.handle(names)?;
        let found = fstat(&handle)?;
        match FileType::from_raw_mode(found.st_mode as RawMode) {
            FileType::Directory if flags & open::ACCESS == 0 => {
                let qid = self.seen(&found).qid;
                Ok((qid, Opened::Directory(self.entries(names)?)))
            }
            FileType::RegularFile if flags & open::DIRECTORY == 0 => {
                let file = self.open_regular(names, flags, OFlags::empty(), Mode::empty())?;
                if flags & open::TRUNCATE != 0 {
                    self.touched(&file, now)?;
                }
                Ok((self.attributes_of(&file)?.qid, Opened::File(file)))
            }
            FileType::Directory => Err(Errno::ISDIR.into()),
            FileType::RegularFile => Err(Errno::NOTDIR.into()),
            _ => Err(Refusal(errno::EACCES)),
        }
    }

    fn open_regular(&mut self, names: &[Vec<u8>], flags: u32, more: OFlags, mode: Mode) -> Result<File, Refusal> {
        let mut wanted = match flags & open::ACCESS {
            open::WRITE => OFlags::WRONLY,
            open::READ_WRITE => OFlags::RDWR,
            _ => OFlags::RDONLY,
        };
        if flags & open::TRUNCATE != 0 {
            wanted |= OFlags::TRUNC;
        }
        if wanted != OFlags::RDONLY {
            self.writable()?;
        }
        // Should it have become a pipe meanwhile, nobody waits for its other end.
        let file = File::from(self.resolve(names, wanted | more | OFlags::NONBLOCK, mode)?);
        match FileType::from_raw_mode(fstat(&file)?.st_mode as RawMode) {
            FileType::RegularFile => Ok(file),
            _ => Err(Refusal(errno::EACCES)),
        }
    }

    /// Creates and opens a file. Set-user-ID and the like are not for a guest to set on the host.
    pub fn create(
        &mut self,
        names: &[Vec<u8>],
        flags: u32,
        mode: u32,
        now: (u64, u32),
    ) -> Result<(Qid, File), Refusal> {
        self.writable()?;
        let mode = Mode::from_raw_mode((mode & 0o777) as RawMode);
        let exclusive = if flags & open::EXCLUSIVE != 0 { OFlags::EXCL } else { OFlags::empty() };
        let was_there = self.handle(names).is_ok();
        let file = self.open_regular(names, flags, OFlags::CREATE | exclusive, mode)?;
        if !was_there {
            // The umask of whoever runs the tool is not the guest's.
            rustix::fs::fchmod(&file, mode)?;
            self.entered(names, now)?;
        }
        self.touched(&file, now)?;
        Ok((self.attributes_of(&file)?.qid, file))
    }

    /// The directory that holds `names` changed, and `names` with it where it is there.
    fn entered(&mut self, names: &[Vec<u8>], now: (u64, u32)) -> Result<(), Refusal> {
        if let Some((_, above)) = names.split_last() {
            let status = fstat(self.handle(above)?)?;
            self.changed(&status, now);
        }
        if let Ok(handle) = self.handle(names) {
            let status = fstat(handle)?;
            self.changed(&status, now);
        }
        Ok(())
    }

    /// Makes a directory.
    pub fn make_directory(&mut self, names: &[Vec<u8>], mode: u32, now: (u64, u32)) -> Result<Qid, Refusal> {
        self.writable()?;
        let (directory, name) = self.parent(names)?;
        rustix::fs::mkdirat(&directory, name, Mode::from_raw_mode((mode & 0o777) as RawMode))?;
        self.set_mode(names, mode)?;
        self.entered(names, now)?;
        Ok(self.attributes(names)?.qid)
    }

    /// Makes a symbolic link. Where it leads is the guest's affair: nobody here follows it.
    pub fn make_symlink(&mut self, names: &[Vec<u8>], target: &[u8], now: (u64, u32)) -> Result<Qid, Refusal> {
        self.writable()?;
        let (directory, name) = self.parent(names)?;
        rustix::fs::symlinkat(target, &directory, name)?;
        self.entered(names, now)?;
        Ok(self.attributes(names)?.qid)
    }

    /// Where a symbolic link leads.
    pub fn read_link(&self, names: &[Vec<u8>]) -> Result<Vec<u8>, Refusal> {
        let (directory, name) = self.parent(names).map_err(|_| Refusal(errno::EINVAL))?;
        Ok(rustix::fs::readlinkat(&directory, name, Vec::new())?.into_bytes())
    }

    /// Gives a file another name.
    pub fn link(&mut self, from: &[Vec<u8>], to: &[Vec<u8>], now: (u64, u32)) -> Result<(), Refusal> {
        self.writable()?;
        let ((old, old_name), (new, new_name)) = (self.parent(from)?, self.parent(to)?);
        rustix::fs::linkat(&old, old_name, &new, new_name, AtFlags::empty())?;
        self.entered(to, now)
    }

    /// Renames.
    pub fn rename(&mut self, from: &[Vec<u8>], to: &[Vec<u8>], now: (u64, u32)) -> Result<(), Refusal> {
        self.writable()?;
        let replaced = self.last_link(to);
        let ((old, old_name), (new, new_name)) = (self.parent(from)?, self.parent(to)?);
        let same = match (self.handle(from), self.handle(to)) {
            (Ok(a), Ok(b)) => is_same(&fstat(a)?, &fstat(b)?),
            _ => false,
        };
        rustix::fs::renameat(&old, old_name, &new, new_name)?;
        if let (Some(inode), false) = (replaced, same) {
            self.known.remove(&inode);
        }
        self.entered(from, now)?;
        self.entered(to, now)
    }

    /// Removes a file, or an empty directory.
    pub fn remove(&mut self, names: &[Vec<u8>], what: AtFlags, now: (u64, u32)) -> Result<(), Refusal> {
        self.writable()?;
        let gone = self.last_link(names);
        let (directory, name) = self.parent(names)?;
        rustix::fs::unlinkat(&directory, name, what)?;
        // The host may give its inode to another file.
        if let Some(inode) = gone {
            self.known.remove(&inode);
        }
        self.entered(names, now)
    }

    /// Device and inode of what goes if this name does.
    fn last_link(&self, names: &[Vec<u8>]) -> Option<(u64, u64)> {
        let status = fstat(self.handle(names).ok()?).ok()?;
        let is_directory = FileType::from_raw_mode(status.st_mode as RawMode) == FileType::Directory;
        (is_directory || status.st_nlink == 1).then_some((status.st_dev as u64, status.st_ino as u64))
    }

    /// Is it a directory?
    pub fn is_directory(&self, names: &[Vec<u8>]) -> Result<bool, Refusal> {
        Ok(FileType::from_raw_mode(fstat(self.handle(names)?)?.st_mode as RawMode) == FileType::Directory)
    }

    /// Sets permissions, on the file that is there now and on no other: its handle has a name below /proc.
    pub fn set_mode(&mut self, names: &[Vec<u8>], mode: u32) -> Result<(), Refusal> {
        self.writable()?;
        let handle = self.handle(names)?;
        match FileType::from_raw_mode(fstat(&handle)?.st_mode as RawMode) {
            FileType::RegularFile | FileType::Directory => {
                let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
                let mode = Mode::from_raw_mode((mode & 0o777) as RawMode);
                Ok(rustix::fs::chmodat(CWD, path.as_str(), mode, AtFlags::empty())?)
            }
            _ => Err(Refusal(errno::EOPNOTSUPP)),
        }
    }

    /// May the guest give the file to `owner` and `group`? Only to whom it belongs already: nothing changes.
    pub fn set_owner(&mut self, names: &[Vec<u8>], owner: Option<u32>, group: Option<u32>) -> Result<(), Refusal> {
        self.writable()?;
        let (uid, gid) = self.attributes(names)?.owner;
        let is_as_asked = owner.is_none_or(|owner| owner == uid) && group.is_none_or(|group| group == gid);
        if is_as_asked { Ok(()) } else { Err(Refusal(errno::EPERM)) }
    }

    /// Sets the length.
    pub fn set_size(&mut self, names: &[Vec<u8>], size: u64, now: (u64, u32)) -> Result<(), Refusal> {
        let file = self.open_regular(names, open::WRITE, OFlags::empty(), Mode::empty())?;
        file.set_len(size)?;
        self.touched(&file, now)
    }

    /// Sets the time of modification, on the host too where the guest names one; its own time is not the host's.
    pub fn set_modified(&mut self, names: &[Vec<u8>], at: (u64, u32), is_named: Named) -> Result<(), Refusal> {
        self.writable()?;
        if is_named == Named::ByGuest {
            let keep = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT };
            let at = Timespec { tv_sec: at.0 as i64, tv_nsec: i64::from(at.1.min(999_999_999)) as _ };
            let times = Timestamps { last_access: keep, last_modification: at };
            if let Ok((directory, name)) = self.parent(names) {
                rustix::fs::utimensat(&directory, name, &times, AtFlags::SYMLINK_NOFOLLOW)?;
            } else {
                let root = self.resolve(&[], OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
                rustix::fs::futimens(root, &times)?;
            }
        }
        let status = fstat(self.handle(names)?)?;
        self.changed(&status, at);
        Ok(())
    }

    /// The entries of a directory, by name; the host's order is not seen.
    fn entries(&mut self, names: &[Vec<u8>]) -> Result<Vec<Entry>, Refusal> {
        let directory = self.resolve(names, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK, Mode::empty())?;
        let mut found = Vec::new();
        for entry in Dir::read_from(&directory)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if found.len() >= MAX_ENTRIES {
                return Err(Refusal(errno::EOVERFLOW));
            }
            if name != b"." && name != b".." {
                found.push(name);
            }
        }
        found.sort();
        let above = names.split_last().map_or(names, |(_, above)| above);
        let mut entries = Vec::with_capacity(found.len() + 2);
        for (name, status) in [(b".".as_slice(), fstat(&directory)?), (b"..", fstat(self.handle(above)?)?)] {
            entries.push(self.entry(name, &status));
        }
        for name in found {
            // One that has gone meanwhile is left out.
            let Ok(status) = rustix::fs::statat(&directory, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            entries.push(self.entry(&name, &status));
        }
        Ok(entries)
    }

    fn entry(&mut self, name: &[u8], status: &Stat) -> Entry {
        // DT_* of readdir is the type's bits of the mode.
        let kind = ((status.st_mode as u32 & 0o170_000) >> 12) as u8;
        Entry { qid: self.seen(status).qid, kind, name: name.to_vec() }
    }
}

/// Who says what time it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// The guest names a time.
    ByGuest,
    /// It is now.
    Now,
}

fn is_same(a: &Stat, b: &Stat) -> bool {
    (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)
}

fn qid_kind(kind: FileType) -> u8 {
    match kind {
        FileType::Directory => qid::DIRECTORY,
        FileType::Symlink => qid::SYMLINK,
        _ => qid::FILE,
    }
}
