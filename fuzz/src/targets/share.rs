//! A 9P client on a directory that holds links to a secret beside it, while somebody on the host puts links where
//! directories were. Whatever it asks, it neither learns nor changes anything of the secret.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use virtio_9p::spec::kind;
use virtio_9p::{Access, Tree, Virtio9p};
use virtio_mmio::spec::{reg, ring};
use virtio_mmio::testing::{DATA, Driver};

use super::guest;
use crate::{Input, Target};

pub const TARGET: Target = Target { name: "share", run, seeds };

const SECRET: &[u8] = b"a secret that nobody may know";

/// A directory to share, and what is beside it.
struct Host(TempDir);

impl Host {
    fn new() -> Self {
        let host = Self(guest::directory());
        for name in ["share/sub/deep", "secret"] {
            fs::create_dir_all(host.path(name)).expect("a directory");
        }
        fs::write(host.path("secret/key"), SECRET).expect("a file");
        for name in ["a", "sub/c"] {
            fs::write(host.path("share").join(name), name).expect("a file");
        }
        symlink("../secret", host.path("share/out")).expect("a link");
        symlink(host.path("secret/key"), host.path("share/key")).expect("a link");
        host
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    /// All that can be seen of what is beside the share.
    fn beside(&self) -> Vec<(PathBuf, u32, i64, i64, u64, Vec<u8>)> {
        ["", "secret", "secret/key"]
            .map(|name| {
                let path = self.path(name);
                let status = fs::symlink_metadata(&path).expect("it is still there");
                let contents = fs::read(&path).unwrap_or_else(|_| {
                    let mut names: Vec<_> = fs::read_dir(&path)
                        .expect("a directory")
                        .map(|entry| entry.expect("an entry").file_name().into_encoded_bytes())
                        .collect();
                    names.sort();
                    names.concat()
                });
                (path, status.mode(), status.mtime(), status.mtime_nsec(), status.nlink(), contents)
            })
            .to_vec()
    }
    /// Somebody on the host changes the share.
    fn meddle(&self, what: usize) {
        let (sub, away) = (self.path("share/sub"), self.path("share/away"));
        let _ = match what {
            0 => fs::rename(&sub, &away).and_then(|()| symlink("../secret", &sub)),
            1 => fs::remove_file(&sub).and_then(|()| fs::rename(&away, &sub)),
            2 => fs::remove_file(self.path("share/a")).and_then(|()| symlink("../secret/key", self.path("share/a"))),
            3 => fs::remove_dir_all(&sub),
            // It may be a link by now, which would be followed.
            4 => fs::set_permissions(self.path("share/sub/deep"), fs::Permissions::from_mode(0o000)),
            _ => fs::remove_dir_all(self.path("share")),
        };
    }
}

/// A guest may take all permissions from directories; whoever is not root has to give them back to remove them.
impl Drop for Host {
    fn drop(&mut self) {
        fn open_up(path: &Path) {
            let Ok(entries) = fs::read_dir(path) else { return };
            for entry in entries.flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    let _ = fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o700));
                    open_up(&entry.path());
                }
            }
        }
        let _ = fs::set_permissions(self.path("share"), fs::Permissions::from_mode(0o700));
        open_up(&self.path("share"));
    }
}

const NAMES: [&[u8]; 14] = [
    b"sub",
    b"deep",
    b"c",
    b"a",
    b"out",
    b"key",
    b"..",
    b".",
    b"",
    b"../secret",
    b"/etc/passwd",
    b"new",
    b"away",
    b"sub/c",
];

/// Kinds of requests, as often as they are of use.
const KINDS: [u8; 30] = [
    kind::WALK,
    kind::WALK,
    kind::WALK,
    kind::LOPEN,
    kind::LOPEN,
    kind::LCREATE,
    kind::READ,
    kind::WRITE,
    kind::READDIR,
    kind::GETATTR,
    kind::SETATTR,
    kind::SYMLINK,
    kind::MKDIR,
    kind::LINK,
    kind::RENAME,
    kind::RENAMEAT,
    kind::UNLINKAT,
    kind::READLINK,
    kind::REMOVE,
    kind::CLUNK,
    kind::FSYNC,
    kind::STATFS,
    kind::LOCK,
    kind::GETLOCK,
    kind::MKNOD,
    kind::VERSION,
    kind::ATTACH,
    kind::FLUSH,
    kind::XATTRWALK,
    kind::AUTH,
];

/// Fields: numbers, names, and bytes.
fn fields(input: &mut Input<'_>) -> Vec<u8> {
    let mut fields = Vec::new();
    for _ in 0..24 {
        match input.below(9) {
            0 => break,
            1 => fields.push(input.u8()),
            2 => fields.extend(input.u16().to_le_bytes()),
            // A fid, flags.
            3 | 4 => fields.extend(u32::from(input.u8() % 8).to_le_bytes()),
            5 => fields.extend((input.value() as u32).to_le_bytes()),
            6 => fields.extend(input.value().to_le_bytes()),
            7 => {
                let name = input.of(&NAMES);
                fields.extend((name.len() as u16).to_le_bytes());
                fields.extend(name);
            }
            _ => {
                let len = input.u8();
                fields.extend(input.bytes(len.into()));
            }
        }
    }
    fields
}

/// Sends a message; the answer is no secret.
fn send(driver: &mut Driver, kind: u8, fields: &[u8]) {
    let mut message = ((7 + fields.len()) as u32).to_le_bytes().to_vec();
    message.extend([kind, 1, 0]);
    message.extend(fields);
    if driver.memory.write(DATA, &message).is_none() {
        return;
    }
    for (_, len) in driver.request(&[(DATA, message.len() as u32, 0), (DATA + 0x8000, 0x4000, ring::WRITE)]) {
        let answer = driver.bytes(DATA + 0x8000, len as usize);
        assert!(!answer.windows(SECRET.len()).any(|part| part == SECRET), "the secret is out");
    }
    if driver.mmio.broken().is_some() || driver.read(reg::STATUS) != 0xf {
        driver.set_up(0);
    }
}

const VERSION: &[u8] = b"\0\x20\0\0\x08\x009P2000.L";
const ATTACH: &[u8] = b"\0\0\0\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0";

fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let host = Host::new();
    let before = host.beside();
    let access = input.of(&[Access::ReadWrite, Access::ReadWrite, Access::ReadOnly]);
    let tree = Tree::open(&host.path("share"), access).expect("a share");
    let mut driver = Driver::live(Box::new(Virtio9p::new(tree, "fuzz", 0)), 8, 0);
    if input.u8() & 1 == 0 {
        send(&mut driver, kind::VERSION, VERSION);
        send(&mut driver, kind::ATTACH, ATTACH);
    }
    while !input.is_empty() {
        match input.u8() {
            what @ 0..=15 => host.meddle(usize::from(what) % 6),
            16 => send(&mut driver, input.u8(), input.rest()),
            what => {
                let fields = fields(&mut input);
                send(&mut driver, KINDS[usize::from(what - 17) % KINDS.len()], &fields);
            }
        }
    }
    drop(driver);
    let mut after = host.beside();
    // The share itself may be gone from beside the secret: the host did that.
    if !host.path("share").exists() {
        after[0] = before[0].clone();
    }
    assert_eq!(before[1..], after[1..], "the secret has changed");
    assert_eq!(before[0].5, after[0].5, "something is beside the share");
}

fn seeds() -> Vec<Vec<u8>> {
    let of = |wanted: u8| 17 + KINDS.iter().position(|kind| *kind == wanted).expect("a kind") as u8;
    let name = |name: &[u8]| vec![7, NAMES.iter().position(|known| *known == name).expect("a name") as u8];
    let fid = |n: u8| vec![3, n];
    let (one, end) = (vec![2, 1, 0], vec![0]);
    let walk = |from: u8, to: u8, to_name: &[u8]| {
        [vec![of(kind::WALK)], fid(from), fid(to), one.clone(), name(to_name), end.clone()].concat()
    };
    let clone = |to: u8| [vec![of(kind::WALK)], fid(0), fid(to), vec![2, 0, 0], end.clone()].concat();
    let open = |n: u8, flags: u8| [vec![of(kind::LOPEN)], fid(n), fid(flags), end.clone()].concat();
    let read = |n: u8| [vec![of(kind::READ)], fid(n), vec![6, 0], vec![5, 18], end.clone()].concat();
    let begin = vec![0, 0];
    let with = |parts: &[Vec<u8>]| [begin.clone(), parts.concat()].concat();
    vec![
        with(&[
            walk(0, 1, b"a"),
            open(1, 2),
            read(1),
            [vec![of(kind::WRITE)], fid(1), vec![6, 0], fid(4), vec![8, 4], b"text".to_vec(), end.clone()].concat(),
        ]),
        with(&[
            walk(0, 1, b"sub"),
            open(1, 0),
            [vec![of(kind::READDIR)], fid(1), vec![6, 0], vec![5, 18], end.clone()].concat(),
        ]),
        with(&[
            clone(1),
            [vec![of(kind::LCREATE)], fid(1), name(b"new"), fid(2), vec![5, 15], fid(0), end.clone()].concat(),
            read(1),
        ]),
        with(&[walk(0, 1, b"out"), open(1, 0), walk(1, 2, b"key"), walk(0, 3, b"key"), open(3, 2)]),
        with(&[walk(0, 1, b"sub"), vec![0], walk(1, 2, b"key"), open(2, 0), read(2), vec![1], walk(1, 3, b"c")]),
        with(&[
            [vec![of(kind::RENAMEAT)], fid(0), name(b"a"), fid(0), name(b".."), end.clone()].concat(),
            [vec![of(kind::MKDIR)], fid(0), name(b"../secret"), fid(7), fid(0), end.clone()].concat(),
            [vec![of(kind::SYMLINK)], fid(0), name(b"new"), name(b"/etc/passwd"), fid(0), end.clone()].concat(),
            [vec![of(kind::UNLINKAT)], fid(0), name(b"a"), vec![5, 0], end.clone()].concat(),
        ]),
        with(&[
            walk(0, 1, b"a"),
            [vec![of(kind::GETATTR)], fid(1), vec![6, 1], end.clone()].concat(),
            [
                vec![of(kind::SETATTR)],
                fid(1),
                vec![5, 9 + 69 - 60],
                vec![5, 1],
                fid(0),
                fid(0),
                vec![6, 15],
                vec![6, 0],
                vec![6, 0],
                vec![6, 0],
                vec![6, 0],
                end.clone(),
            ]
            .concat(),
        ]),
        with(&[
            walk(0, 1, b"a"),
            [vec![of(kind::LINK)], fid(0), fid(1), name(b"new"), end.clone()].concat(),
            [vec![of(kind::REMOVE)], fid(1), end.clone()].concat(),
        ]),
    ]
}
