//! Fids: what a client's numbers stand for, and how much of the host's memory that keeps.

use std::collections::BTreeMap;

use crate::spec::errno;
use crate::tree::{Names, Opened};
use crate::wire::Refusal;

/// Most fids.
const MAX_FIDS: usize = 1 << 16;
/// Most open files, which are descriptors of the host.
const MAX_OPEN: usize = 512;
/// The longest path from the root, in names.
pub const MAX_DEPTH: usize = 256;
/// Most bytes that names and entries of open directories take, all fids together: a guest does not fill the host's memory.
const MAX_KEPT: usize = 128 << 20;
/// What a name or an entry takes beyond its bytes.
const EACH: usize = 64;

/// What a client's number stands for.
pub struct Fid {
    /// Of the file, from the root.
    pub names: Names,
    /// Where it is open.
    pub open: Option<Opened>,
}

impl Fid {
    /// Bytes of the host's memory, about.
    fn size(&self) -> usize {
        let entries = match &self.open {
            Some(Opened::Directory(entries)) => entries.iter().map(|entry| entry.name.len() + EACH).sum(),
            Some(Opened::File(_)) | None => 0,
        };
        EACH + size(&self.names) + entries
    }
}

fn size(names: &[Vec<u8>]) -> usize {
    names.iter().map(|name| name.len() + EACH).sum()
}

/// All fids.
#[derive(Default)]
pub struct Fids {
    all: BTreeMap<u32, Fid>,
    kept: usize,
}

impl Fids {
    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
    /// All of them, by number.
    pub fn iter(&self) -> impl Iterator<Item = (&u32, &Fid)> {
        self.all.iter()
    }
    /// One that is there.
    pub fn get(&self, number: u32) -> Result<&Fid, Refusal> {
        self.all.get(&number).ok_or(Refusal(errno::EBADF))
    }
    /// One that is there and not open, when another file may be opened.
    pub fn to_open(&self, number: u32) -> Result<&Fid, Refusal> {
        let open = self.all.values().filter(|fid| fid.open.is_some()).count();
        if open >= MAX_OPEN {
            return Err(Refusal(errno::ENFILE));
        }
        self.all.get(&number).filter(|fid| fid.open.is_none()).ok_or(Refusal(errno::EBADF))
    }

    /// Makes a new one.
    pub fn add(&mut self, number: u32, names: Names) -> Result<(), Refusal> {
        if self.all.contains_key(&number) {
            return Err(Refusal(errno::EINVAL));
        }
        if self.all.len() >= MAX_FIDS {
            return Err(Refusal(errno::ENFILE));
        }
        self.set(number, Fid { names, open: None })
    }

    /// `number` stands for `fid` from now on. Where that is too much, all stays as it was.
    pub fn set(&mut self, number: u32, fid: Fid) -> Result<(), Refusal> {
        let kept = self.kept - self.all.get(&number).map_or(0, Fid::size) + fid.size();
        if kept > MAX_KEPT {
            return Err(Refusal(errno::ENOMEM));
        }
        self.kept = kept;
        self.all.insert(number, fid);
        Ok(())
    }

    /// Takes one away.
    pub fn remove(&mut self, number: u32) -> Result<Fid, Refusal> {
        let fid = self.all.remove(&number).ok_or(Refusal(errno::EBADF))?;
        self.kept -= fid.size();
        Ok(fid)
    }

    /// Takes all away.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Can what is named `from`, or lies below it, be named `to`? By renaming, paths grow beyond what any request names.
    pub fn may_rename(&self, from: &Names, to: &Names) -> Result<(), Refusal> {
        let concerned = || self.all.values().filter(|fid| fid.names.starts_with(from));
        if concerned().any(|fid| fid.names.len() - from.len() + to.len() > MAX_DEPTH) {
            return Err(Refusal(errno::ENAMETOOLONG));
        }
        let more = concerned().count() * size(to).saturating_sub(size(from));
        if self.kept + more > MAX_KEPT { Err(Refusal(errno::ENOMEM)) } else { Ok(()) }
    }

    /// Names all of that `to`.
    pub fn rename(&mut self, from: &Names, to: &Names) {
        for fid in self.all.values_mut().filter(|fid| fid.names.starts_with(from)) {
            self.kept -= fid.size();
            let rest = fid.names.split_off(from.len());
            fid.names = [to.as_slice(), &rest].concat();
            self.kept += fid.size();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Names {
        vec![vec![b'n'; 255]; count]
    }

    #[test]
    fn what_is_kept_is_bounded_and_given_back() {
        let mut fids = Fids::default();
        let added = (0..1 << 17).take_while(|n| fids.add(*n, names(MAX_DEPTH)).is_ok()).count();
        assert!(added > 1000 && fids.kept <= MAX_KEPT, "{added} fids");
        assert_eq!(fids.add(u32::MAX, names(MAX_DEPTH)), Err(Refusal(errno::ENOMEM)));
        for n in 0..added as u32 {
            fids.remove(n).unwrap();
        }
        assert_eq!(fids.kept, 0);
    }

    #[test]
    fn renaming_makes_no_path_longer_than_any() {
        let mut fids = Fids::default();
        fids.add(1, names(200)).unwrap();
        let (short, long) = (names(1), names(57));
        assert_eq!(fids.may_rename(&short, &long), Ok(()));
        fids.rename(&short, &long);
        assert_eq!(fids.get(1).map(|fid| fid.names.len()).ok(), Some(MAX_DEPTH));
        assert_eq!(fids.may_rename(&short, &names(2)), Err(Refusal(errno::ENAMETOOLONG)));
        assert_eq!(fids.kept, fids.get(1).unwrap().size());
    }
}
