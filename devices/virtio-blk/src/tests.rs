use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use virtio_mmio::spec::{reg, ring, status};
use virtio_mmio::testing::{DATA, DESC, Driver};

use super::spec::*;
use super::*;

const W: u16 = ring::WRITE;
/// Where a test's header, data and status lie.
const HEADER: u64 = DATA;
const BODY: u64 = DATA + 0x1000;
const STATUS: u64 = DATA + 0xf000;

/// A disk in memory, of which the test keeps a handle.
#[derive(Clone)]
struct Memory {
    bytes: Arc<Mutex<Vec<u8>>>,
    len: u64,
    access: Access,
    flushes: Arc<Mutex<u32>>,
    /// The flush, counted from 1, that fails.
    bad_flush: u32,
}

impl Memory {
    fn new(len: u64, access: Access) -> Self {
        let bytes = (0..len).map(|n| (n / 512) as u8 ^ n as u8).collect();
        Self { bytes: Arc::new(Mutex::new(bytes)), len, access, flushes: Arc::default(), bad_flush: 0 }
    }
    fn part(&self, from: usize, n: usize) -> Vec<u8> {
        self.bytes.lock().expect("bytes")[from..from + n].to_vec()
    }
}

impl Disk for Memory {
    fn len(&self) -> u64 {
        self.len
    }
    fn access(&self) -> Access {
        self.access
    }
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let bytes = self.bytes.lock().expect("bytes");
        let from = bytes.get(offset as usize..offset as usize + into.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        into.copy_from_slice(from);
        Ok(())
    }
    fn write_at(&mut self, offset: u64, from: &[u8]) -> io::Result<()> {
        assert_eq!(self.access, Access::ReadWrite, "a read-only disk is never written");
        let mut bytes = self.bytes.lock().expect("bytes");
        let into = bytes.get_mut(offset as usize..offset as usize + from.len()).ok_or(io::ErrorKind::StorageFull)?;
        into.copy_from_slice(from);
        Ok(())
    }
    fn flush(&mut self) -> io::Result<()> {
        let mut flushes = self.flushes.lock().expect("flushes");
        *flushes += 1;
        if *flushes == self.bad_flush { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
    fn discard(&mut self, offset: u64, len: u64) -> io::Result<()> {
        self.bytes.lock().expect("bytes")[offset as usize..(offset + len) as usize].fill(0xdd);
        Ok(())
    }
}

fn driver(disk: &Memory) -> Driver {
    Driver::live(Box::new(VirtioBlk::new(Box::new(disk.clone()), "disk-0")), 16, 0)
}

/// Sends a request with its data in `data` and a status after it; gives the status.
fn request(d: &mut Driver, kind: u32, sector: u64, data: &[(u64, u32, u16)]) -> u8 {
    let mut header = kind.to_le_bytes().to_vec();
    header.extend([0; 4]);
    header.extend(sector.to_le_bytes());
    d.memory.write(HEADER, &header).expect("RAM");
    d.memory.write(STATUS, &[0xaa]).expect("RAM");
    let mut buffers = vec![(HEADER, 16, 0)];
    buffers.extend(data);
    buffers.push((STATUS, 1, W));
    let written: u32 = 1 + data.iter().filter(|b| b.2 == W).map(|b| b.1).sum::<u32>();
    assert_eq!(d.request(&buffers), [(0, written)]);
    d.bytes(STATUS, 1)[0]
}

const OK: u8 = Status::Ok as u8;
const IOERR: u8 = Status::IoErr as u8;
const UNSUPP: u8 = Status::Unsupp as u8;

#[test]
fn configuration_and_features() {
    let mut d = driver(&Memory::new(10 * 512 + 511, Access::ReadWrite));
    assert_eq!(d.read(reg::DEVICE_ID), 2);
    let config: Vec<u32> = (0..15).map(|n| d.read(reg::CONFIG + 4 * n)).collect();
    assert_eq!(config, [10, 0, 0, 254, 0, 512, 0, 0, 1 << 16, 1 << 18, 32, 1, 1 << 18, 32, 1]);
    for (access, bits) in [(Access::ReadWrite, [2, 6, 9, 13, 14].as_slice()), (Access::ReadOnly, &[2, 5, 6, 9])] {
        let offered = driver(&Memory::new(512, access)).offered();
        assert_eq!(offered, bits.iter().fold(1 << 32 | 1 << 28, |f, b| f | 1 << b), "{access:?}");
    }
}

#[test]
fn reads_and_writes() {
    let disk = Memory::new(300 * 512, Access::ReadWrite);
    let mut d = driver(&disk);
    // Split anywhere, not only between sectors.
    assert_eq!(request(&mut d, request::IN, 3, &[(BODY, 100, W), (BODY + 0x800, 924, W)]), OK);
    let expected = disk.part(3 * 512, 1024);
    assert_eq!((d.bytes(BODY, 100), d.bytes(BODY + 0x800, 924)), (expected[..100].to_vec(), expected[100..].to_vec()));
    d.memory.write(BODY, &[7; 1024]).expect("RAM");
    assert_eq!(request(&mut d, request::OUT, 298, &[(BODY, 1000, 0), (BODY + 1000, 24, 0)]), OK);
    assert_eq!(disk.part(298 * 512, 1024), [7; 1024]);
    // More than one chunk.
    assert_eq!(request(&mut d, request::IN, 0, &[(DATA + 0x2_0000, 300 * 512, W)]), OK);
    assert_eq!(d.bytes(DATA + 0x2_0000, 300 * 512), disk.part(0, 300 * 512));
    assert_eq!(request(&mut d, request::IN, 300, &[]), OK, "nothing at the end is nothing wrong");
    assert_eq!(*disk.flushes.lock().expect("flushes"), 0);
    assert_eq!(request(&mut d, request::FLUSH, 0, &[]), OK);
    assert_eq!(*disk.flushes.lock().expect("flushes"), 1);
    assert_eq!(request(&mut d, request::GET_ID, 0, &[(BODY, 20, W)]), OK);
    assert_eq!(d.bytes(BODY, 20), b"disk-0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    assert_eq!(request(&mut d, request::GET_ID, 0, &[(BODY, 4, W)]), OK);
    assert_eq!(d.mmio.broken(), None);
}

#[test]
fn what_fails_and_how() {
    let disk = Memory::new(10 * 512 + 511, Access::ReadWrite);
    let before = disk.part(0, 5631);
    let mut d = driver(&disk);
    for (kind, sector, len, flags, expected) in [
        (request::IN, 9, 1024, W, IOERR),
        (request::IN, 10, 512, W, IOERR),
        (request::IN, 11, 0, W, IOERR),
        (request::IN, u64::MAX, 512, W, IOERR),
        (request::IN, u64::MAX / 512 + 1, 512, W, IOERR),
        (request::IN, 0, 100, W, IOERR),
        (request::OUT, 10, 512, 0, IOERR),
        (request::OUT, 0, 513, 0, IOERR),
        (request::DISCARD, 0, 8, 0, IOERR),
        (request::DISCARD, 0, 0, 0, IOERR),
        (2, 0, 512, W, UNSUPP),
        (u32::MAX, 0, 512, 0, UNSUPP),
    ] {
        assert_eq!(request(&mut d, kind, sector, &[(BODY, len, flags)]), expected, "{kind} at {sector} of {len}");
    }
    assert_eq!(disk.part(0, 5631), before);
    // The storage became shorter than the guest believes.
    disk.bytes.lock().expect("bytes").truncate(1000);
    assert_eq!(request(&mut d, request::IN, 0, &[(BODY, 512, W)]), OK);
    assert_eq!(request(&mut d, request::IN, 1, &[(BODY, 512, W)]), IOERR);
    assert_eq!(request(&mut d, request::OUT, 5, &[(BODY, 512, 0)]), IOERR);
    assert_eq!(d.mmio.broken(), None);
}

#[test]
fn read_only_and_without_flush() {
    let disk = Memory::new(4096, Access::ReadOnly);
    let before = disk.part(0, 4096);
    let mut d = driver(&disk);
    assert_eq!(request(&mut d, request::OUT, 0, &[(BODY, 512, 0)]), IOERR);
    assert_eq!(request(&mut d, request::DISCARD, 0, &[(BODY, 16, 0)]), UNSUPP, "not on offer");
    assert_eq!(request(&mut d, request::FLUSH, 0, &[]), OK);
    assert_eq!(request(&mut d, request::IN, 7, &[(BODY, 512, W)]), OK);
    assert_eq!(disk.part(0, 4096), before);
    // A driver without FLUSH takes a completed write for durable.
    let disk = Memory::new(4096, Access::ReadWrite);
    let blk = VirtioBlk::new(Box::new(disk.clone()), "a name longer than twenty bytes");
    let mut d = Driver::live(Box::new(blk), 16, feature::FLUSH);
    assert_eq!(request(&mut d, request::OUT, 0, &[(BODY, 512, 0)]), OK);
    assert_eq!(*disk.flushes.lock().expect("flushes"), 1);
    request(&mut d, request::GET_ID, 0, &[(BODY, 20, W)]);
    assert_eq!(d.bytes(BODY, 20), b"a name longer than t");
}

#[test]
fn no_flush_is_good_after_one_that_failed() {
    for without in [0, feature::FLUSH] {
        let disk = Memory { bad_flush: 2, ..Memory::new(4096, Access::ReadWrite) };
        let mut d = Driver::live(Box::new(VirtioBlk::new(Box::new(disk), "")), 16, without);
        // Where the driver does without FLUSH, each write is one.
        let kind = if without == 0 { request::FLUSH } else { request::OUT };
        let data: &[_] = if without == 0 { &[] } else { &[(BODY, 512, 0)] };
        for expected in [OK, IOERR, IOERR, IOERR] {
            assert_eq!(request(&mut d, kind, 0, data), expected);
        }
        assert_eq!(request(&mut d, request::IN, 0, &[(BODY, 512, W)]), OK, "what is there can be read");
        assert_eq!(d.mmio.broken(), None);
    }
}

#[test]
fn discard_and_write_zeroes() {
    let disk = Memory::new(200 * 512, Access::ReadWrite);
    let mut d = driver(&disk);
    let mut ranges = |kind, list: &[(u64, u32, u32)]| {
        let mut raw = vec![];
        for (sector, sectors, flags) in list {
            raw.extend(sector.to_le_bytes());
            raw.extend(sectors.to_le_bytes());
            raw.extend(flags.to_le_bytes());
        }
        d.memory.write(BODY, &raw).expect("RAM");
        request(&mut d, kind, 0, &[(BODY, raw.len() as u32, 0)])
    };
    assert_eq!(ranges(request::WRITE_ZEROES, &[(1, 2, 0), (40, 150, 1), (5, 0, 0)]), OK);
    assert_eq!(disk.part(512, 1024), [0; 1024]);
    assert!(disk.part(40 * 512, 150 * 512).iter().all(|b| *b == 0));
    assert_ne!(disk.part(3 * 512, 512), [0; 512]);
    assert_eq!(ranges(request::DISCARD, &[(199, 1, 0), (0, 0, 0)]), OK);
    assert_eq!(disk.part(199 * 512, 512), [0xdd; 512]);
    for (kind, range, expected) in [
        (request::DISCARD, (199, 2, 0), IOERR),
        (request::DISCARD, (u64::MAX, 1, 0), IOERR),
        (request::DISCARD, (0, u32::MAX, 0), IOERR),
        (request::DISCARD, (0, 1, 1), UNSUPP),
        (request::WRITE_ZEROES, (0, 1, 2), UNSUPP),
        (request::WRITE_ZEROES, (200, 1, 0), IOERR),
    ] {
        assert_eq!(ranges(kind, &[range]), expected, "{kind} {range:?}");
    }
    assert_eq!(ranges(request::DISCARD, &[(0, 0, 0); 32]), OK);
    assert_eq!(ranges(request::DISCARD, &[(0, 0, 0); 33]), IOERR);
}

#[test]
fn malformed_requests_break_the_queue() {
    let disk = Memory::new(4096, Access::ReadWrite);
    for buffers in [
        [(HEADER, 16, 0), (HEADER + 16, 0, 0)].as_slice(),
        &[(HEADER, 16, 0), (HEADER, 0, W)],
        &[(HEADER, 15, 0), (STATUS, 1, W)],
        &[(STATUS, 1, W)],
    ] {
        let mut d = driver(&disk);
        assert_eq!(d.request(buffers), [], "{buffers:x?}");
        assert!(matches!(d.mmio.broken(), Some(QueueError::Request(_))), "{buffers:x?}");
        assert_ne!(d.read(reg::STATUS) & status::NEEDS_RESET, 0);
        d.set_up(0);
        assert_eq!(request(&mut d, request::IN, 0, &[(BODY, 512, W)]), OK);
    }
}

#[test]
fn one_notification_moves_a_bounded_amount() {
    // A disk that only claims its size.
    struct Huge;
    impl Disk for Huge {
        fn len(&self) -> u64 {
            1 << 40
        }
        fn access(&self) -> Access {
            Access::ReadOnly
        }
        fn read_at(&mut self, _: u64, _: &mut [u8]) -> io::Result<()> {
            Ok(())
        }
        fn write_at(&mut self, _: u64, _: &[u8]) -> io::Result<()> {
            unreachable!("read-only")
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
        fn discard(&mut self, _: u64, _: u64) -> io::Result<()> {
            Ok(())
        }
    }
    let mut d = Driver::live(Box::new(VirtioBlk::new(Box::new(Huge), "")), 16, 0);
    d.memory.write(HEADER, &[0; 16]).expect("RAM");
    // 1000 times the same 512 KiB, through an indirect table: nearly half of the limit a request.
    let table = DATA + 0x4000;
    for n in 0..1000 {
        d.desc(table, n, (DATA + 0x2_0000, 0x8_0000, W | ring::NEXT, n + 1));
    }
    d.desc(table, 1000, (STATUS, 1, W, 0));
    d.desc(DESC, 0, (HEADER, 16, ring::NEXT, 1));
    d.desc(DESC, 1, (table, 16 * 1001, ring::INDIRECT, 0));
    let mut statuses = vec![];
    for _ in 0..2 {
        d.memory.write(STATUS, &[0xaa]).expect("RAM");
        d.offer(0);
        d.offer(0);
        d.write(reg::QUEUE_NOTIFY, 0);
        assert_eq!(d.used().len(), 2);
        statuses.push(d.bytes(STATUS, 1)[0]);
        d.offer(0);
        d.offer(0);
        d.offer(0);
        d.write(reg::QUEUE_NOTIFY, 0);
        assert_eq!(d.used().len(), 3);
        statuses.push(d.bytes(STATUS, 1)[0]);
    }
    assert_eq!(statuses, [OK, IOERR, OK, IOERR]);
    assert_eq!(d.mmio.broken(), None);
}

#[test]
fn files() {
    let dir = tempfile::tempdir().expect("a place for files");
    let path = |name: &str| dir.path().join(name);
    let error = |path: &Path, access| FileDisk::open(path, access).expect_err("no disk").to_string();

    let missing = error(&path("missing"), Access::ReadOnly);
    assert!(missing.contains("missing") && missing.contains("name an existing file"), "{missing}");
    std::fs::write(path("empty"), []).expect("file");
    let empty = error(&path("empty"), Access::ReadWrite);
    assert!(empty.contains("empty has 0 bytes") && empty.contains("truncate -s"), "{empty}");
    std::fs::write(path("small"), [0; 511]).expect("file");
    assert!(matches!(FileDisk::open(&path("small"), Access::ReadOnly), Err(DiskError::Empty { len: 511, .. })));
    assert!(matches!(FileDisk::open(dir.path(), Access::ReadOnly), Err(DiskError::Kind { .. })));
    assert!(matches!(FileDisk::open(Path::new("/dev/null"), Access::ReadOnly), Err(DiskError::Kind { .. })));

    let image = path("image");
    std::fs::write(&image, [5; 3 * 512 + 9]).expect("file");
    let mut read_only = FileDisk::open(&image, Access::ReadOnly).expect("a disk");
    assert!(read_only.write_at(0, &[1]).is_err(), "the file itself is open read-only");
    assert!(FileDisk::open(&image, Access::ReadOnly).is_ok());
    assert!(matches!(FileDisk::open(&image, Access::ReadWrite), Err(DiskError::InUse { .. })));
    drop(read_only);
    let disk = FileDisk::open(&image, Access::ReadWrite).expect("a disk");
    assert!(matches!(FileDisk::open(&image, Access::ReadOnly), Err(DiskError::InUse { .. })));
    let mut d = Driver::live(Box::new(VirtioBlk::new(Box::new(disk), "file")), 16, 0);
    assert_eq!(d.read(reg::CONFIG), 3);
    d.memory.write(BODY, &[9; 512]).expect("RAM");
    assert_eq!(request(&mut d, request::OUT, 1, &[(BODY, 512, 0)]), OK);
    assert_eq!(request(&mut d, request::IN, 0, &[(BODY, 1536, W)]), OK);
    assert_eq!(d.bytes(BODY, 1536), [[5; 512], [9; 512], [5; 512]].concat());
    assert_eq!(request(&mut d, request::OUT, 3, &[(BODY, 512, 0)]), IOERR);
    assert_eq!(request(&mut d, request::FLUSH, 0, &[]), OK);
    assert_eq!(std::fs::metadata(&image).expect("file").len(), 3 * 512 + 9, "a disk never grows");
    // A hole, or the old contents where the host's file system makes none.
    let mut raw = 2u64.to_le_bytes().to_vec();
    raw.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    d.memory.write(BODY, &raw).expect("RAM");
    assert_eq!(request(&mut d, request::DISCARD, 0, &[(BODY, 16, 0)]), OK);
    let last = std::fs::read(&image).expect("file")[1024..1536].to_vec();
    assert!(last == [0; 512] || last == [5; 512]);
    // The file is cut behind the guest's back.
    std::fs::OpenOptions::new().write(true).open(&image).expect("file").set_len(600).expect("cut");
    assert_eq!(request(&mut d, request::IN, 1, &[(BODY, 512, W)]), IOERR);
}

#[test]
fn junk_requests() {
    let seed = 0x5eed_00b1_u64;
    println!("seed {seed:#x}");
    let disk = Memory::new(64 * 512, Access::ReadWrite);
    let mut d = driver(&disk);
    let mut x = seed;
    let mut answers = [0; 3];
    for step in 0..30_000u64 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        let kind = [0, 1, 4, 8, 11, 13, 0, x as u32][(x >> 8) as usize % 8];
        let sector = if x >> 61 == 0 { x } else { (x >> 16) % 70 };
        let sizes = [0, 1, 16, 20, 32, 512, 1024, 4096];
        let flags = if kind == 0 || kind == 8 { W } else { 0 };
        let len = sizes[(x >> 24) as usize % 8];
        let data = [(BODY, len, flags), (BODY + 0x1000, sizes[(x >> 28) as usize % 8], flags)];
        d.memory.write(BODY + (x >> 32) % 64, &(x % 64).to_le_bytes()).expect("RAM");
        answers[request(&mut d, kind, sector, &data) as usize] += 1;
        assert_eq!(d.mmio.broken(), None, "seed {seed:#x}, step {step}");
    }
    assert!(answers.iter().all(|n| *n > 1000), "{answers:?}");
}
