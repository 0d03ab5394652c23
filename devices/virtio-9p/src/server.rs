//! The server: fids, and what each request does.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rustix::fs::AtFlags;

use crate::fids::{Fid, Fids, MAX_DEPTH};
use crate::spec::{self, errno, kind, setattr};
use crate::tree::{Attributes, Entry, Named, Names, Opened, Tree};
use crate::wire::{Answer, Fields, Qid, Refusal};

type Time = (u64, u32);

/// A server of one client.
pub struct Server {
    tree: Tree,
    fids: Fids,
    /// The largest message that both sides take; 0 before they agreed.
    msize: u32,
}

impl Server {
    /// A server that nobody has spoken to.
    pub fn new(tree: Tree) -> Self {
        Self { tree, fids: Fids::default(), msize: 0 }
    }

    /// The client starts again.
    pub fn forget(&mut self) {
        self.fids.clear();
        self.msize = 0;
    }

    /// Has nobody spoken to it, ever?
    pub fn is_unused(&self) -> bool {
        self.fids.is_empty() && self.msize == 0 && self.tree.is_unseen()
    }

    /// The largest message that is taken, in bytes.
    pub fn message_size(&self) -> u32 {
        if self.msize == 0 { spec::MIN_MSIZE } else { self.msize }
    }

    /// Folds what the client set up.
    pub fn hash(&self, state: &mut dyn core::hash::Hasher) {
        state.write_u32(self.msize);
        for (number, fid) in self.fids.iter() {
            state.write_u32(*number);
            state.write_u8(fid.open.is_some().into());
            for name in &fid.names {
                state.write_usize(name.len());
                state.write(name);
            }
        }
    }

    /// Does what a request of `request` and `fields` asks; its answer may have `room` bytes with its header.
    pub fn serve(&mut self, request: u8, fields: &[u8], room: u32, now: Time) -> Result<Answer, Refusal> {
        let mut fields = Fields(fields);
        let f = &mut fields;
        let mut answer = Answer::default();
        let a = &mut answer;
        if self.msize == 0 && request != kind::VERSION {
            return Err(Refusal(errno::EPROTO));
        }
        match request {
            kind::VERSION => self.version(f, a)?,
            kind::ATTACH => self.attach(f, a)?,
            kind::WALK => self.walk(f, a)?,
            kind::CLUNK => {
                self.fids.remove(f.u32()?)?;
            }
            kind::REMOVE => {
                let fid = self.fids.remove(f.u32()?)?;
                let is_directory = self.tree.is_directory(&fid.names)?;
                let what = if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
                self.tree.remove(&fid.names, what, now)?;
            }
            kind::FLUSH => {}
            kind::LOPEN => self.open(f, a, now)?,
            kind::LCREATE => self.create(f, a, now)?,
            kind::READ => self.read(f, a, room)?,
            kind::WRITE => self.write(f, a, now)?,
            kind::READDIR => self.read_directory(f, a, room)?,
            kind::FSYNC => {
                if let Some(Opened::File(file)) = &self.fids.get(f.u32()?)?.open {
                    file.sync_all()?;
                }
            }
            kind::GETATTR => self.attributes(f, a)?,
            kind::SETATTR => self.set_attributes(f, now)?,
            kind::STATFS => {
                self.fids.get(f.u32()?)?;
                // A tebibyte, free: what the host has free is not the same on every run.
                const BLOCKS: u64 = 1 << 28;
                a.u32(spec::MAGIC).u32(4096).u64(BLOCKS).u64(BLOCKS).u64(BLOCKS);
                a.u64(BLOCKS).u64(BLOCKS).u64(0).u32(255);
            }
            kind::READLINK => {
                let target = self.tree.read_link(&self.fids.get(f.u32()?)?.names)?;
                a.string(&target);
            }
            kind::SYMLINK => {
                let names = self.entry(f)?;
                let target = f.string()?;
                let qid = self.tree.make_symlink(&names, target, now)?;
                a.qid(qid);
            }
            kind::MKDIR => {
                let names = self.entry(f)?;
                let mode = f.u32()?;
                let qid = self.tree.make_directory(&names, mode, now)?;
                a.qid(qid);
            }
            kind::LINK => {
                let directory = f.u32()?;
                let from = self.fids.get(f.u32()?)?.names.clone();
                let to = self.below(directory, f.name()?)?;
                self.tree.link(&from, &to, now)?;
            }
            kind::RENAME => {
                let from = self.fids.get(f.u32()?)?.names.clone();
                let to = self.entry(f)?;
                self.rename(&from, &to, now)?;
            }
            kind::RENAMEAT => {
                let (from, to) = (self.entry(f)?, self.entry(f)?);
                self.rename(&from, &to, now)?;
            }
            kind::UNLINKAT => {
                let names = self.entry(f)?;
                let is_directory = f.u32()? & spec::AT_REMOVEDIR != 0;
                let what = if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
                self.tree.remove(&names, what, now)?;
            }
            kind::LOCK => {
                self.fids.get(f.u32()?)?;
                a.u8(spec::LOCK_SUCCESS);
            }
            kind::GETLOCK => {
                self.fids.get(f.u32()?)?;
                f.u8()?;
                let (start, len, process, client) = (f.u64()?, f.u64()?, f.u32()?, f.string()?);
                a.u8(spec::UNLOCKED).u64(start).u64(len).u32(process).string(client);
            }
            // Special files would be the host's to open; a user is known to nobody here.
            kind::MKNOD => return Err(Refusal(errno::EPERM)),
            _ => return Err(Refusal(errno::EOPNOTSUPP)),
        }
        Ok(answer)
    }

    /// The names of an entry of the directory `fid`.
    fn below(&self, fid: u32, name: &[u8]) -> Result<Names, Refusal> {
        let mut names = self.fids.get(fid)?.names.clone();
        if names.len() >= MAX_DEPTH {
            return Err(Refusal(errno::ENAMETOOLONG));
        }
        names.push(name.to_vec());
        Ok(names)
    }

    /// A directory's fid and a name, as many requests have them.
    fn entry(&self, f: &mut Fields) -> Result<Names, Refusal> {
        let directory = f.u32()?;
        self.below(directory, f.name()?)
    }

    fn version(&mut self, f: &mut Fields, a: &mut Answer) -> Result<(), Refusal> {
        let (msize, version) = (f.u32()?, f.string()?);
        if msize < spec::MIN_MSIZE {
            return Err(Refusal(errno::EINVAL));
        }
        self.forget();
        let msize = msize.min(spec::MAX_MSIZE);
        let is_known = version == spec::VERSION;
        if is_known {
            self.msize = msize;
        }
        a.u32(msize).string(if is_known { version } else { spec::UNKNOWN });
        Ok(())
    }

    fn attach(&mut self, f: &mut Fields, a: &mut Answer) -> Result<(), Refusal> {
        let number = f.u32()?;
        let qid = self.tree.attributes(&[])?.qid;
        self.fids.add(number, Vec::new())?;
        a.qid(qid);
        Ok(())
    }

    /// As far as the names lead; the new fid is there only if that is all the way.
    fn walk(&mut self, f: &mut Fields, a: &mut Answer) -> Result<(), Refusal> {
        let (from, to, count) = (f.u32()?, f.u32()?, f.u16()?);
        if count > spec::MAX_NAMES {
            return Err(Refusal(errno::EINVAL));
        }
        let start = self.fids.get(from)?;
        if start.open.is_some() {
            return Err(Refusal(errno::EBADF));
        }
        let mut names = start.names.clone();
        let mut qids = Vec::new();
        for step in 0..count {
            match self.step(&mut names, f) {
                Ok(qid) => qids.push(qid),
                Err(refusal) if step == 0 => return Err(refusal),
                Err(_) => break,
            }
        }
        if qids.len() == usize::from(count) {
            if to == from {
                self.fids.set(to, Fid { names, open: None })?;
            } else {
                self.fids.add(to, names)?;
            }
        }
        a.u16(qids.len() as u16);
        for qid in qids {
            a.qid(qid);
        }
        Ok(())
    }

    fn step(&mut self, names: &mut Names, f: &mut Fields) -> Result<Qid, Refusal> {
        // `..` of the root is the root.
        if f.0.starts_with(&[2, 0, b'.', b'.']) {
            f.bytes(4)?;
            names.pop();
            return Ok(self.tree.attributes(names)?.qid);
        }
        let name = f.name()?;
        if names.len() >= MAX_DEPTH {
            return Err(Refusal(errno::ENAMETOOLONG));
        }
        names.push(name.to_vec());
        Ok(self.tree.attributes(names)?.qid)
    }

    fn open(&mut self, f: &mut Fields, a: &mut Answer, now: Time) -> Result<(), Refusal> {
        let (number, flags) = (f.u32()?, f.u32()?);
        let names = self.fids.to_open(number)?.names.clone();
        let (qid, opened) = self.tree.open_file(&names, flags, now)?;
        self.fids.set(number, Fid { names, open: Some(opened) })?;
        a.qid(qid).u32(0);
        Ok(())
    }

    /// The fid of the directory becomes that of the file.
    fn create(&mut self, f: &mut Fields, a: &mut Answer, now: Time) -> Result<(), Refusal> {
        let number = f.u32()?;
        let names = self.below(number, f.name()?)?;
        let (flags, mode) = (f.u32()?, f.u32()?);
        self.fids.to_open(number)?;
        let (qid, file) = self.tree.create(&names, flags, mode, now)?;
        self.fids.set(number, Fid { names, open: Some(Opened::File(file)) })?;
        a.qid(qid).u32(0);
        Ok(())
    }

    fn file(&self, number: u32) -> Result<&File, Refusal> {
        match &self.fids.get(number)?.open {
            Some(Opened::File(file)) => Ok(file),
            _ => Err(Refusal(errno::EBADF)),
        }
    }

    fn read(&mut self, f: &mut Fields, a: &mut Answer, room: u32) -> Result<(), Refusal> {
        let (number, offset, count) = (f.u32()?, f.u64()?, f.u32()?);
        let mut bytes = vec![0; count.min(room.saturating_sub(spec::READ_HEADER)) as usize];
        let mut done = 0;
        while done < bytes.len() {
            let at = offset.checked_add(done as u64).ok_or(Refusal(errno::EINVAL))?;
            match self.file(number)?.read_at(&mut bytes[done..], at)? {
                0 => break,
                n => done += n,
            }
        }
        a.u32(done as u32).0.extend(&bytes[..done]);
        Ok(())
    }

    fn write(&mut self, f: &mut Fields, a: &mut Answer, now: Time) -> Result<(), Refusal> {
        let (number, offset, count) = (f.u32()?, f.u64()?, f.u32()?);
        let bytes = f.bytes(count as usize)?;
        let Fid { open: Some(Opened::File(file)), .. } = self.fids.get(number)? else {
            return Err(Refusal(errno::EBADF));
        };
        let written = file.write_at(bytes, offset)?;
        self.tree.touched(file, now)?;
        a.u32(written as u32);
        Ok(())
    }

    /// Whole entries, as many as fit. An entry's offset is the number of those up to it.
    fn read_directory(&mut self, f: &mut Fields, a: &mut Answer, room: u32) -> Result<(), Refusal> {
        let (number, offset, count) = (f.u32()?, f.u64()?, f.u32()?);
        let Some(Opened::Directory(entries)) = &self.fids.get(number)?.open else { return Err(Refusal(errno::EBADF)) };
        let most = count.min(room.saturating_sub(spec::READ_HEADER)) as usize;
        let mut list = Answer::default();
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(entries.len());
        for (n, Entry { qid, kind, name }) in entries.iter().enumerate().skip(from) {
            // Qid, offset, type, length and name.
            if list.0.len() + 13 + 8 + 1 + 2 + name.len() > most {
                break;
            }
            list.qid(*qid).u64(n as u64 + 1).u8(*kind).string(name);
        }
        a.u32(list.0.len() as u32).0.extend(list.0);
        Ok(())
    }

    fn seen(&mut self, number: u32) -> Result<Attributes, Refusal> {
        let fid = self.fids.get(number)?;
        match &fid.open {
            Some(Opened::File(file)) => self.tree.attributes_of(file),
            _ => self.tree.attributes(&fid.names),
        }
    }

    fn attributes(&mut self, f: &mut Fields, a: &mut Answer) -> Result<(), Refusal> {
        let seen = self.seen(f.u32()?)?;
        a.u64(spec::GETATTR_BASIC).qid(seen.qid).u32(seen.mode).u32(seen.owner.0).u32(seen.owner.1);
        a.u64(seen.links).u64(0).u64(seen.size).u64(4096).u64(seen.size.div_ceil(512));
        // Access, modification, status change.
        for _ in 0..3 {
            a.u64(seen.modified.0).u64(seen.modified.1.into());
        }
        // Birth, generation and data version are not told.
        a.u64(0).u64(0).u64(0).u64(0);
        Ok(())
    }

    fn set_attributes(&mut self, f: &mut Fields, now: Time) -> Result<(), Refusal> {
        let (number, valid, mode, uid, gid, size) = (f.u32()?, f.u32()?, f.u32()?, f.u32()?, f.u32()?, f.u64()?);
        let (_, _, seconds, nanoseconds) = (f.u64()?, f.u64()?, f.u64()?, f.u64()?);
        let fid = self.fids.get(number)?;
        self.tree.writable()?;
        let names = &fid.names;
        if valid & (setattr::UID | setattr::GID) != 0 {
            let asked = |bit, id| (valid & bit != 0).then_some(id);
            self.tree.set_owner(names, asked(setattr::UID, uid), asked(setattr::GID, gid))?;
        }
        if valid & setattr::MODE != 0 {
            self.tree.set_mode(names, mode)?;
        }
        if valid & setattr::SIZE != 0 {
            match &fid.open {
                Some(Opened::File(file)) if file.set_len(size).is_ok() => self.tree.touched(file, now)?,
                _ => self.tree.set_size(names, size, now)?,
            }
        }
        if valid & setattr::MTIME_SET != 0 {
            let at = (seconds, (nanoseconds % 1_000_000_000) as u32);
            self.tree.set_modified(names, at, Named::ByGuest)?;
        } else if valid & setattr::MTIME != 0 {
            self.tree.set_modified(names, now, Named::Now)?;
        }
        Ok(())
    }

    /// Fids of what was renamed, and of what is below it, go with it.
    fn rename(&mut self, from: &Names, to: &Names, now: Time) -> Result<(), Refusal> {
        self.fids.may_rename(from, to)?;
        self.tree.rename(from, to, now)?;
        self.fids.rename(from, to);
        Ok(())
    }
}
