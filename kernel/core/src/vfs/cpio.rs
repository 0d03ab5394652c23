//! The initramfs: cpio archives in the "newc" format (Documentation/driver-api/early-userspace/buffer-format.rst of Linux).
//! Files are not copied: they keep pointing into the archive until they are written to.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::fmt;

use super::tmpfs::Node;
use super::{Change, Inode, InodeKind, NewInode};
use crate::errno::Errno;

const HEADER: usize = 110;

/// Why an archive cannot be unpacked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CpioError {
    /// It is compressed; the loader has to unpack it.
    Compressed,
    /// No header where one should be, at this offset.
    NoHeader(usize),
    /// It ends within an entry.
    Cut,
    /// A name that leads nowhere, in the entry at this offset.
    BadName(usize, Errno),
}

impl fmt::Display for CpioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compressed => f.write_str("it is compressed, and this kernel takes plain cpio archives only"),
            Self::NoHeader(at) => write!(f, "no newc header at offset {at}"),
            Self::Cut => f.write_str("it ends within an entry"),
            Self::BadName(at, error) => write!(f, "the entry at offset {at} cannot be made ({error:?})"),
        }
    }
}

/// One entry's header, numbers decoded.
#[derive(Clone, Copy, Debug)]
struct Header {
    ino: u32,
    mode: u32,
    uid: u32,
    gid: u32,
    links: u32,
    size: u32,
    device: (u32, u32),
    name_size: u32,
}

fn header(bytes: &[u8], at: usize) -> Result<Header, CpioError> {
    let head = bytes.get(at..at + HEADER).ok_or(CpioError::Cut)?;
    if &head[..6] != b"070701" && &head[..6] != b"070702" {
        return Err(CpioError::NoHeader(at));
    }
    let field = |n: usize| {
        let digits = &head[6 + 8 * n..14 + 8 * n];
        let mut value = 0u32;
        for digit in digits {
            let digit = char::from(*digit).to_digit(16).ok_or(CpioError::NoHeader(at))?;
            value = value << 4 | digit;
        }
        Ok(value)
    };
    Ok(Header {
        ino: field(0)?,
        mode: field(1)?,
        uid: field(2)?,
        gid: field(3)?,
        links: field(4)?,
        size: field(6)?,
        device: (field(9)?, field(10)?),
        name_size: field(11)?,
    })
}

/// Unpacks archives, one behind the other, below `root`; returns how many entries there were.
pub fn unpack(root: &Arc<Node>, bytes: &'static [u8]) -> Result<usize, CpioError> {
    if let [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] | [0xfd, b'7', b'z', ..] = bytes {
        return Err(CpioError::Compressed);
    }
    let mut count = 0;
    let mut at = 0;
    let mut links: BTreeMap<u32, Arc<dyn Inode>> = BTreeMap::new();
    loop {
        // Between archives there may be zeros.
        while bytes.get(at) == Some(&0) {
            at += 1;
        }
        if at >= bytes.len() {
            return Ok(count);
        }
        let head = header(bytes, at)?;
        let name_at = at + HEADER;
        let name_end = name_at.checked_add(head.name_size as usize).ok_or(CpioError::Cut)?;
        let name = bytes.get(name_at..name_end).ok_or(CpioError::Cut)?;
        let name = name.strip_suffix(&[0]).ok_or(CpioError::NoHeader(at))?;
        let body_at = name_end.next_multiple_of(4);
        let body_end = body_at.checked_add(head.size as usize).ok_or(CpioError::Cut)?;
        let body = bytes.get(body_at..body_end).ok_or(CpioError::Cut)?;
        if name == b"TRAILER!!!" {
            links.clear();
        } else {
            make(root, &head, name, body, &mut links).map_err(|error| CpioError::BadName(at, error))?;
            count += 1;
        }
        at = body_end.next_multiple_of(4);
    }
}

fn make(
    root: &Arc<Node>,
    head: &Header,
    path: &[u8],
    body: &'static [u8],
    links: &mut BTreeMap<u32, Arc<dyn Inode>>,
) -> Result<(), Errno> {
    let mut names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty() && *name != b".").peekable();
    let mut directory = Arc::clone(root) as Arc<dyn Inode>;
    let name = loop {
        let Some(name) = names.next() else { return Ok(()) }; // the root itself
        if name == b".." {
            return Err(Errno::EINVAL);
        }
        if name.len() > super::NAME_MAX {
            return Err(Errno::ENAMETOOLONG);
        }
        if names.peek().is_none() {
            break name;
        }
        directory = directory.lookup(name)?;
    };
    let mode = head.mode & 0o7777;
    let new = match head.mode & 0o170_000 {
        0o100_000 => NewInode::Regular { mode },
        0o040_000 => NewInode::Directory { mode },
        0o120_000 => NewInode::Symlink { target: body.to_vec() },
        0o020_000 => NewInode::Character { mode, device: head.device },
        0o010_000 => NewInode::Fifo { mode },
        // Block devices and sockets serve nobody here.
        _ => return Ok(()),
    };
    let is_regular = matches!(new, NewInode::Regular { .. });
    if is_regular && head.links > 1 {
        if let Some(first) = links.get(&head.ino) {
            directory.link(name, first)?;
            if body.is_empty() {
                return Ok(());
            }
            // The bytes may come with a later name of the file.
            directory.unlink(name)?;
        }
    }
    if let Ok(there) = directory.lookup(name) {
        if there.metadata().kind == InodeKind::Directory {
            return there.change(Change::Mode(mode));
        }
        directory.unlink(name)?;
    }
    let node = directory.as_any().downcast_ref::<Node>().ok_or(Errno::EXDEV)?.create_with(
        name,
        new,
        if is_regular { body } else { &[] },
    )?;
    node.change(Change::Owner(Some(head.uid), Some(head.gid)))?;
    if is_regular && head.links > 1 {
        links.insert(head.ino, node);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tmpfs;
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn entry(name: &str, mode: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = b"070701".to_vec();
        for field in [1, mode, 7, 8, 1, 0, body.len() as u32, 0, 0, 5, 1, name.len() as u32 + 1, 0] {
            bytes.extend(format!("{field:08x}").bytes());
        }
        bytes.extend(name.bytes());
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend(body);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn sample() -> Vec<u8> {
        [
            entry(".", 0o040_755, b""),
            entry("bin", 0o040_755, b""),
            entry("./bin/sh", 0o100_755, b"#!/x"),
            entry("bin/link", 0o120_777, b"sh"),
            entry("console", 0o020_600, b""),
            entry("TRAILER!!!", 0, b""),
        ]
        .concat()
    }

    #[test]
    fn entries_become_inodes() {
        hal::fakes_init();
        let root = tmpfs::new();
        assert_eq!(unpack(&root, Vec::leak(sample())), Ok(5));
        let bin = root.lookup(b"bin").unwrap();
        let sh = bin.lookup(b"sh").unwrap();
        assert_eq!((sh.metadata().mode, sh.metadata().size, sh.metadata().uid), (0o755, 4, 7));
        assert_eq!(bin.lookup(b"link").unwrap().read_link().unwrap(), b"sh");
        assert_eq!(root.lookup(b"console").unwrap().metadata().device, (5, 1));
    }

    #[test]
    fn broken_archives_are_told_apart() {
        hal::fakes_init();
        let bytes = sample();
        let cut = Vec::leak(bytes[..150].to_vec());
        assert_eq!(unpack(&tmpfs::new(), cut), Err(CpioError::Cut));
        assert_eq!(unpack(&tmpfs::new(), &[b'x'; 200]), Err(CpioError::NoHeader(0)));
        assert_eq!(unpack(&tmpfs::new(), &[0x1f, 0x8b, 8, 0]), Err(CpioError::Compressed));
        let nowhere = Vec::leak(entry("no/where", 0o100_644, b""));
        assert_eq!(unpack(&tmpfs::new(), nowhere), Err(CpioError::BadName(0, Errno::ENOENT)));
        for (name, error) in [("n".repeat(256), Errno::ENAMETOOLONG), ("../up".into(), Errno::EINVAL)] {
            let archive = Vec::leak(entry(&name, 0o100_644, b""));
            assert_eq!(unpack(&tmpfs::new(), archive), Err(CpioError::BadName(0, error)));
        }
    }

    proptest! {
        #[test]
        fn changed_archives_never_panic(at in 0usize..700, value in any::<u8>(), len in 0usize..700) {
            hal::fakes_init();
            let mut bytes = sample();
            let last = bytes.len();
            bytes[at.min(last - 1)] = value;
            bytes.truncate(len.max(1));
            let _ = unpack(&tmpfs::new(), Vec::leak(bytes));
        }
    }
}
