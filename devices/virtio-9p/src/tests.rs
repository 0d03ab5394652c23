use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;

use tempfile::TempDir;
use virtio_mmio::spec::{reg, ring};
use virtio_mmio::testing::{DATA, Driver, Junk, Random};

use super::spec::{kind, open, setattr};
use super::*;

const W: u16 = ring::WRITE;
const EPOCH: u64 = 1_577_836_800;

/// A directory to share, with one beside it that is none of the guest's business.
struct Host {
    dir: TempDir,
}

impl Host {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a place for files");
        for name in ["share", "share/sub", "secret"] {
            fs::create_dir(dir.path().join(name)).expect("directory");
        }
        fs::write(dir.path().join("secret/key"), "secret").expect("file");
        for name in ["b", "a", "sub/c"] {
            fs::write(dir.path().join("share").join(name), name).expect("file");
        }
        Self { dir }
    }
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
    fn client(&self, access: Access) -> Client {
        let tree = Tree::open(&self.path("share"), access).expect("a share");
        let driver = Driver::live(Box::new(Virtio9p::new(tree, "work", EPOCH)), 8, 0);
        let mut client = Client { driver };
        let mut version = Answer::default();
        version.u32(8192).string(b"9P2000.L");
        let answer = client.call(kind::VERSION, &version).expect("version");
        assert_eq!(answer, [0, 32, 0, 0, 8, 0, b'9', b'P', b'2', b'0', b'0', b'0', b'.', b'L']);
        let mut attach = Answer::default();
        attach.u32(0).u32(u32::MAX).string(b"root").string(b"").u32(0);
        client.call(kind::ATTACH, &attach).expect("attach");
        client
    }
}

/// A client of the protocol.
struct Client {
    driver: Driver,
}

impl Client {
    /// Sends a message; gives the fields of the answer, or the error's number.
    fn call(&mut self, kind: u8, fields: &Answer) -> Result<Vec<u8>, u32> {
        let mut message = ((HEADER + fields.0.len()) as u32).to_le_bytes().to_vec();
        message.extend([kind, 7, 9]);
        message.extend(&fields.0);
        self.driver.memory.write(DATA, &message).expect("RAM");
        let used = self.driver.request(&[(DATA, message.len() as u32, 0), (DATA + 0x8000, 8192, W)]);
        assert_eq!(used.len(), 1, "kind {kind}: {:?}", self.driver.mmio.broken());
        let answer = self.driver.bytes(DATA + 0x8000, used[0].1 as usize);
        assert_eq!(answer[..4], used[0].1.to_le_bytes());
        assert_eq!(answer[5..7], [7, 9], "the tag");
        if answer[4] == kind::RLERROR {
            return Err(u32::from_le_bytes(answer[7..].try_into().expect("a number")));
        }
        assert_eq!(answer[4], kind + 1);
        Ok(answer[7..].to_vec())
    }
    /// A message of these fields.
    fn send(&mut self, kind: u8, fill: impl FnOnce(&mut Answer)) -> Result<Vec<u8>, u32> {
        let mut fields = Answer::default();
        fill(&mut fields);
        self.call(kind, &fields)
    }
    /// From `from` to a new fid; gives how many names led on.
    fn walk(&mut self, from: u32, to: u32, names: &[&[u8]]) -> Result<u8, u32> {
        self.send(kind::WALK, |a| {
            a.u32(from).u32(to).u16(names.len() as u16);
            for name in names {
                a.string(name);
            }
        })
        .map(|answer| answer[0])
    }
    fn clunk(&mut self, fid: u32) {
        self.send(kind::CLUNK, |a| {
            a.u32(fid);
        })
        .expect("clunk");
    }
    fn open(&mut self, fid: u32, flags: u32) -> Result<Vec<u8>, u32> {
        self.send(kind::LOPEN, |a| {
            a.u32(fid).u32(flags);
        })
    }
    fn read(&mut self, fid: u32, offset: u64, count: u32) -> Result<Vec<u8>, u32> {
        self.send(kind::READ, |a| {
            a.u32(fid).u64(offset).u32(count);
        })
        .map(|answer| answer[4..].to_vec())
    }
    fn write(&mut self, fid: u32, offset: u64, bytes: &[u8]) -> Result<Vec<u8>, u32> {
        self.send(kind::WRITE, |a| a.u32(fid).u64(offset).u32(bytes.len() as u32).0.extend(bytes))
    }
    /// Names of a directory, read `count` bytes at a time.
    fn list(&mut self, names: &[&[u8]], count: u32) -> Vec<String> {
        self.walk(0, 99, names).expect("walk");
        self.open(99, 0).expect("open");
        let (mut found, mut offset) = (vec![], 0);
        loop {
            let answer = self
                .send(kind::READDIR, |a| {
                    a.u32(99).u64(offset).u32(count);
                })
                .expect("readdir");
            let mut fields = wire::Fields(&answer[4..]);
            if fields.0.is_empty() {
                break;
            }
            while !fields.0.is_empty() {
                fields.bytes(13).expect("qid");
                offset = fields.u64().expect("offset");
                fields.u8().expect("type");
                found.push(String::from_utf8(fields.string().expect("name").to_vec()).expect("text"));
            }
        }
        self.clunk(99);
        found
    }
    /// Mode, size and time of modification.
    fn stat(&mut self, fid: u32) -> Result<(u32, u64, u64), u32> {
        let answer = self.send(kind::GETATTR, |a| {
            a.u32(fid).u64(spec::GETATTR_BASIC);
        })?;
        let number = |at: usize, n: usize| answer[at..at + n].iter().rev().fold(0, |v, b| v << 8 | u64::from(*b));
        Ok((number(21, 4) as u32, number(49, 8), number(73 + 16, 8)))
    }
}

#[test]
fn the_tag_and_the_version() {
    let host = Host::new();
    let mut client = host.client(Access::ReadWrite);
    assert_eq!(client.driver.read(reg::DEVICE_ID), 9);
    assert_eq!(client.driver.offered() & 1, 1);
    assert_eq!(client.driver.read(reg::CONFIG), u32::from_le_bytes([4, 0, b'w', b'o']));
    let unknown = client
        .send(kind::VERSION, |a| {
            a.u32(8192).string(b"9P2000.u");
        })
        .expect("an answer");
    assert_eq!(&unknown[6..], b"unknown");
    assert_eq!(client.walk(0, 1, &[]), Err(71), "nothing before the version");
    assert_eq!(
        client.send(kind::VERSION, |a| {
            a.u32(100).string(b"9P2000.L");
        }),
        Err(22)
    );
}

#[test]
fn files_are_read_written_made_and_removed() {
    let host = Host::new();
    let mut c = host.client(Access::ReadWrite);
    assert_eq!(c.walk(0, 1, &[b"sub", b"c"]), Ok(2));
    assert!(c.open(1, open::READ_WRITE).is_ok());
    assert_eq!(c.read(1, 0, 100).as_deref(), Ok(b"sub/c".as_slice()));
    assert_eq!(c.write(1, 3, b"!more").as_deref(), Ok([5, 0, 0, 0].as_slice()));
    assert_eq!(c.read(1, 1, 100).as_deref(), Ok(b"ub!more".as_slice()));
    assert_eq!(fs::read(host.path("share/sub/c")).expect("file"), b"sub!more");
    assert_eq!(c.read(1, u64::MAX, 10), Err(22));
    assert!(
        c.send(kind::FSYNC, |a| {
            a.u32(1).u32(0);
        })
        .is_ok()
    );
    // Its times are the guest's from now on.
    assert_eq!(c.stat(1).map(|s| (s.1, s.2)), Ok((8, EPOCH)));

    c.walk(0, 2, &[]).expect("walk");
    let create = |a: &mut Answer| {
        a.u32(2).string(b"new").u32(open::READ_WRITE | open::CREATE).u32(0o104_755).u32(0);
    };
    c.send(kind::LCREATE, create).expect("create");
    c.write(2, 0, b"12345").expect("write");
    let mode = fs::metadata(host.path("share/new")).expect("file").permissions().mode();
    assert_eq!(mode & 0o7777, 0o755, "no set-user-ID");
    c.send(kind::MKDIR, |a| {
        a.u32(0).string(b"d").u32(0o700).u32(0);
    })
    .expect("mkdir");
    c.send(kind::SYMLINK, |a| {
        a.u32(0).string(b"l").string(b"/etc/passwd").u32(0);
    })
    .expect("symlink");
    c.send(kind::LINK, |a| {
        a.u32(0).u32(1).string(b"h");
    })
    .expect("link");
    assert_eq!(c.list(&[], 100), [".", "..", "a", "b", "d", "h", "l", "new", "sub"]);
    assert_eq!(c.list(&[], 8000), [".", "..", "a", "b", "d", "h", "l", "new", "sub"]);
    c.walk(0, 3, &[b"l"]).expect("a link itself");
    let target = c
        .send(kind::READLINK, |a| {
            a.u32(3);
        })
        .expect("readlink");
    assert_eq!(&target[2..], b"/etc/passwd");

    // An open file goes with its directory.
    c.send(kind::RENAMEAT, |a| {
        a.u32(0).string(b"sub").u32(0).string(b"moved");
    })
    .expect("rename");
    c.walk(0, 4, &[b"moved"]).expect("walk");
    assert_eq!(c.stat(1).map(|s| s.1), Ok(8));
    assert_eq!(
        c.send(kind::UNLINKAT, |a| {
            a.u32(0).string(b"moved").u32(0x200);
        }),
        Err(39),
        "not empty"
    );
    c.send(kind::UNLINKAT, |a| {
        a.u32(4).string(b"c").u32(0);
    })
    .expect("unlink");
    assert_eq!(c.read(1, 0, 3).as_deref(), Ok(b"sub".as_slice()), "still open");
    c.send(kind::REMOVE, |a| {
        a.u32(4);
    })
    .expect("remove");
    assert_eq!(c.stat(4), Err(9), "a removal forgets the fid");
    assert_eq!(c.list(&[], 100), [".", "..", "a", "b", "d", "h", "l", "new"]);

    let set = |valid: u32, mode: u32, uid: u32, size: u64| {
        move |a: &mut Answer| {
            a.u32(2).u32(valid).u32(mode).u32(uid).u32(0).u64(size).u64(0).u64(0).u64(77).u64(5);
        }
    };
    c.send(kind::SETATTR, set(setattr::SIZE | setattr::MODE, 0o4600, 0, 2)).expect("setattr");
    assert_eq!(c.stat(2).map(|s| (s.0, s.1)), Ok((0o100_600, 2)));
    c.send(kind::SETATTR, set(setattr::MTIME | setattr::MTIME_SET, 0, 0, 0)).expect("setattr");
    assert_eq!(c.stat(2).map(|s| s.2), Ok(77));
    assert_eq!(fs::metadata(host.path("share/new")).expect("file").mtime(), 77);
    c.send(kind::SETATTR, set(setattr::UID, 0, 0, 0)).expect("it is root's already");
    assert_eq!(c.send(kind::SETATTR, set(setattr::UID, 0, 1, 0)), Err(1));
}

#[test]
fn nothing_leads_out() {
    let host = Host::new();
    symlink("../secret", host.path("share/out")).expect("link");
    symlink(host.path("secret/key"), host.path("share/absolute")).expect("link");
    symlink("sub", host.path("share/within")).expect("link");
    let pipe = rustix::fs::mkfifoat(rustix::fs::CWD, host.path("share/pipe"), 0o666.into());
    pipe.expect("pipe");
    let mut c = host.client(Access::ReadWrite);
    // `..` stays at the root.
    assert_eq!(c.walk(0, 1, &[b"..", b"..", b"a"]), Ok(3));
    assert_eq!(c.walk(0, 2, &[b"..", b"secret"]), Ok(1));
    assert_eq!(c.stat(2), Err(9));
    for name in [b"../secret/key".as_slice(), b"/etc/passwd", b"sub/c", b"", b".", b"a\0", b"out/key"] {
        assert_eq!(c.walk(0, 3, &[name]), Err(22), "{name:?}");
        for request in [kind::MKDIR, kind::SYMLINK, kind::UNLINKAT, kind::LCREATE] {
            let made = c.send(request, |a| {
                a.u32(0).string(name).u32(0).u32(0).u32(0);
            });
            assert_eq!(made, Err(22), "{request} {name:?}");
        }
    }
    assert_eq!(
        c.send(kind::MKDIR, |a| {
            a.u32(0).string(b"..").u32(0).u32(0);
        }),
        Err(22)
    );
    // A link is a file; nothing goes through it.
    for (n, name) in [b"out".as_slice(), b"absolute", b"within"].into_iter().enumerate() {
        let fid = 10 + n as u32;
        assert_eq!(c.walk(0, fid, &[name]), Ok(1));
        assert_eq!(c.open(fid, 0), Err(13));
        assert_eq!(c.open(fid, open::WRITE | open::TRUNCATE), Err(13));
        assert_eq!(c.walk(fid, 50, &[b"key"]), Err(40), "ELOOP");
        assert_eq!(c.walk(0, 51, &[name, b"key"]), Ok(1));
        let set = c.send(kind::SETATTR, |a| {
            a.u32(fid).u32(setattr::MODE | setattr::SIZE).u32(0o777).u32(0).u32(0).u64(0).u64(0).u64(0).u64(0).u64(0);
        });
        assert_eq!(set, Err(95));
        let made = c.send(kind::MKDIR, |a| {
            a.u32(fid).string(b"x").u32(0o777).u32(0);
        });
        assert!(made.is_err(), "{made:?}");
    }
    // Creating through a link that is there does not write where it leads.
    c.walk(0, 20, &[]).expect("walk");
    let create = |a: &mut Answer| {
        a.u32(20).string(b"absolute").u32(open::WRITE | open::TRUNCATE).u32(0o644).u32(0);
    };
    assert_eq!(c.send(kind::LCREATE, create), Err(40));
    assert_eq!(fs::read(host.path("secret/key")).expect("file"), b"secret");
    // A pipe is not opened, and nothing special is made.
    c.walk(0, 21, &[b"pipe"]).expect("walk");
    assert_eq!(c.open(21, 0), Err(13));
    assert_eq!(
        c.send(kind::MKNOD, |a| {
            a.u32(0).string(b"n").u32(0o60666).u32(8).u32(0).u32(0);
        }),
        Err(1)
    );
    assert_eq!(fs::read_dir(host.path("secret")).expect("directory").count(), 1);
}

/// Another process moves a directory and puts a link in its place, again and again.
#[test]
fn nothing_leads_out_in_a_race() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    let host = Host::new();
    fs::create_dir(host.path("share/d")).expect("directory");
    fs::write(host.path("share/d/key"), "shared").expect("file");
    let stop = Arc::new(AtomicBool::new(false));
    let (d, away, secret) = (host.path("share/d"), host.path("share/away"), host.path("secret"));
    let of_thread = stop.clone();
    let swapper = std::thread::spawn(move || {
        while !of_thread.load(Ordering::Relaxed) {
            fs::rename(&d, &away).expect("rename");
            symlink(&secret, &d).expect("link");
            fs::remove_file(&d).expect("unlink");
            fs::rename(&away, &d).expect("rename");
            std::thread::yield_now();
        }
    });
    let mut c = host.client(Access::ReadWrite);
    let (mut good, mut refused, mut tries) = (0, 0, 0);
    // How the two threads meet is the host's business: on until both outcomes came often enough.
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while (tries < 20_000 || good <= 100 || refused <= 10) && std::time::Instant::now() < end {
        tries += 1;
        match c.walk(0, 1, &[b"d", b"key"]) {
            Ok(2) => {
                if c.open(1, open::READ_WRITE).is_ok() {
                    let text = c.read(1, 0, 100).expect("read");
                    assert_eq!(text, b"shared");
                    c.write(1, 0, b"shared").expect("write");
                    good += 1;
                }
                c.clunk(1);
            }
            _ => refused += 1,
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().expect("no panic");
    assert!(good > 100 && refused > 10, "{good} {refused}");
    assert_eq!(fs::read(host.path("secret/key")).expect("file"), b"secret");
}

#[test]
fn a_read_only_share_is_not_changed() {
    let host = Host::new();
    let mut c = host.client(Access::ReadOnly);
    c.walk(0, 1, &[b"a"]).expect("walk");
    assert_eq!(c.open(1, open::WRITE), Err(30));
    assert_eq!(c.open(1, open::TRUNCATE), Err(30));
    for request in [kind::MKDIR, kind::SYMLINK, kind::UNLINKAT] {
        assert_eq!(
            c.send(request, |a| {
                a.u32(0).string(b"b").u32(0).u32(0).u32(0);
            }),
            Err(30)
        );
    }
    assert_eq!(
        c.send(kind::RENAMEAT, |a| {
            a.u32(0).string(b"a").u32(0).string(b"z");
        }),
        Err(30)
    );
    let all = |a: &mut Answer| {
        a.u32(1).u32(0x1ff).u32(0).u32(0).u32(0).u64(0).u64(0).u64(0).u64(0).u64(0);
    };
    assert_eq!(c.send(kind::SETATTR, all), Err(30));
    assert_eq!(
        c.send(kind::REMOVE, |a| {
            a.u32(1);
        }),
        Err(30)
    );
    c.walk(0, 1, &[b"a"]).expect("the fid is free");
    c.open(1, 0).expect("open");
    assert_eq!(c.read(1, 0, 9).as_deref(), Ok(b"a".as_slice()));
    assert_eq!(c.write(1, 0, b"x"), Err(9), "EBADF of the host");
}

#[test]
fn what_the_guest_sees_does_not_depend_on_the_host() {
    let seen = || {
        let host = Host::new();
        for name in ["a", "b", "sub/c"] {
            let file = fs::File::options().write(true).open(host.path("share").join(name)).expect("file");
            file.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(9)).expect("time");
        }
        let mut c = host.client(Access::ReadWrite);
        let mut answers = vec![];
        for (n, names) in [[b"b".as_slice()].as_slice(), &[b"a"], &[b"sub", b"c"]].into_iter().enumerate() {
            c.walk(0, n as u32 + 1, names).expect("walk");
            answers.push(
                c.send(kind::GETATTR, |a| {
                    a.u32(n as u32 + 1).u64(0x7ff);
                })
                .expect("getattr"),
            );
        }
        c.walk(0, 9, &[]).expect("walk");
        c.open(9, 0).expect("open");
        answers.push(
            c.send(kind::READDIR, |a| {
                a.u32(9).u64(0).u32(4096);
            })
            .expect("readdir"),
        );
        answers.push(
            c.send(kind::STATFS, |a| {
                a.u32(0);
            })
            .expect("statfs"),
        );
        answers
    };
    let first = seen();
    assert_eq!(first, seen());
    assert_eq!(first[0][57 + 16..][..8], 9u64.to_le_bytes(), "access is told as modification");
}

#[test]
fn limits_and_faults_of_the_protocol() {
    let host = Host::new();
    let mut c = host.client(Access::ReadWrite);
    assert_eq!(
        c.send(kind::WALK, |a| {
            a.u32(0);
        }),
        Err(71),
        "cut off"
    );
    assert_eq!(
        c.send(kind::AUTH, |a| {
            a.u32(5).string(b"").string(b"").u32(0);
        }),
        Err(95)
    );
    assert_eq!(c.send(250, |_| ()), Err(95));
    assert_eq!(
        c.send(kind::XATTRWALK, |a| {
            a.u32(0).u32(9).string(b"user.x");
        }),
        Err(95)
    );
    assert_eq!(c.walk(77, 1, &[]), Err(9));
    assert_eq!(c.walk(0, 0, &[b"a"]), Ok(1), "a fid may become another");
    assert_eq!(c.walk(0, 0, &[b".."]), Ok(1));
    c.walk(0, 1, &[]).expect("walk");
    assert_eq!(c.walk(0, 1, &[]), Err(22), "in use");
    let long = [b'x'; 300];
    assert_eq!(c.walk(0, 2, &[&long]), Err(36));
    // Only so many open files, and each can be closed again.
    for n in 0..600 {
        c.walk(0, 1000 + n, &[b"a"]).expect("walk");
        assert_eq!(c.open(1000 + n, 0).err(), (n >= 512).then_some(23), "{n}");
    }
    for n in 0..600 {
        c.clunk(1000 + n);
    }
    c.walk(0, 1000, &[b"a"]).expect("walk");
    c.open(1000, 0).expect("open");
    // Deeper than any path.
    c.walk(0, 3, &[]).expect("walk");
    let mut depth = 0;
    let made = loop {
        if let Err(error) = c.send(kind::MKDIR, |a| {
            a.u32(3).string(b"d").u32(0o700).u32(0);
        }) {
            break error;
        }
        c.walk(3, 3, &[b"d"]).expect("walk");
        depth += 1;
    };
    assert_eq!((depth, made), (256, 36));
    // A message that says it is longer than it is.
    c.driver.memory.write(DATA, &[0xff, 0xff, 0, 0, 100, 0, 0]).expect("RAM");
    assert_eq!(c.driver.request(&[(DATA, 7, 0), (DATA + 0x8000, 100, W)]), []);
    assert!(matches!(c.driver.mmio.broken(), Some(QueueError::Request(_))));
}

#[test]
fn junk() {
    let host = Host::new();
    symlink("../secret", host.path("share/out")).expect("link");
    let request = |random: &mut Random, bytes: &mut Vec<u8>| {
        let kinds = [
            8u8, 12, 14, 16, 18, 20, 22, 24, 26, 30, 32, 40, 50, 52, 54, 70, 72, 74, 76, 100, 104, 108, 110, 116, 118,
            120, 122,
        ];
        let kind = random.of(&kinds);
        let mut a = Answer::default();
        if kind == kind::VERSION {
            a.u32(random.of(&[8192, 4096, 0, u32::MAX])).string(b"9P2000.L");
        } else {
            for _ in 0..random.below(6) {
                match random.below(5) {
                    0 => {
                        a.u32(random.below(4) as u32);
                    }
                    1 => {
                        a.u16(random.below(3) as u16);
                    }
                    2 => {
                        a.u64(random.of(&[0, 1, 4096, u64::MAX]));
                    }
                    3 => {
                        a.string(random.of(&[b"a".as_slice(), b"sub", b"..", b"out", b"../x", b"n", b"\0", b"key"]));
                    }
                    _ => {
                        a.u32(random.word() as u32);
                    }
                }
            }
        }
        let size = if random.below(8) == 0 { random.word() as u32 } else { (a.0.len() + HEADER) as u32 };
        bytes.extend(size.to_le_bytes());
        bytes.extend([kind, 1, 0]);
        bytes.extend(a.0);
    };
    let device = || -> Box<dyn VirtioDevice> {
        let tree = Tree::open(&host.path("share"), Access::ReadWrite).expect("a share");
        Box::new(Virtio9p::new(tree, "work", EPOCH))
    };
    let answered = Junk { device: &device, request: &request, seed: 0x0009_0009, steps: 20_000 }.run();
    assert!(answered > 500, "{answered}");
    let descriptors = fs::read_dir("/proc/self/fd").expect("descriptors").flatten();
    let kept: Vec<_> = descriptors.filter_map(|fd| fs::read_link(fd.path()).ok()).collect();
    assert!(!kept.iter().any(|path| path.starts_with(host.dir.path())), "{kept:?}");
    let secret: Vec<_> = fs::read_dir(host.path("secret")).expect("directory").flatten().collect();
    assert_eq!(secret.len(), 1);
    assert_eq!(fs::read(host.path("secret/key")).expect("file"), b"secret");
    assert_eq!(fs::read_dir(host.dir.path()).expect("directory").count(), 2);
}
