//! A driver of each virtio device that sets it up and then writes rings that no driver would.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::Arc;

use bus::{Device, Entropy, MmioAccess, Size};
use snapshot::Codec;
use tempfile::TempDir;
use virtio_9p::{Tree, Virtio9p};
use virtio_blk::{Access, Disk, VirtioBlk};
use virtio_console::VirtioConsole;
use virtio_mmio::VirtioDevice;
use virtio_mmio::spec::{reg, ring};
use virtio_mmio::testing::{AVAIL, BASE, DATA, DESC, Driver, LEN, QUEUES, STRIDE, USED};
use virtio_net::{Link, VirtioNet};
use virtio_rng::VirtioRng;
use virtio_vsock::{Header, Host, MAX_CONNECTIONS, Stream, VirtioVsock};

use super::guest;
use crate::{Input, Target};

pub const TARGET: Target = Target { name: "queues", run, seeds };

/// A disk in memory that fails when it is told to.
struct Faulty {
    bytes: Vec<u8>,
    access: Access,
    /// Bit n: request n (modulo 8) fails.
    fails: u8,
    done: u32,
}

impl Faulty {
    const LEN: usize = 1 << 15;

    fn step(&mut self, offset: u64, len: u64) -> io::Result<std::ops::Range<usize>> {
        assert!(offset.is_multiple_of(512) && len.is_multiple_of(512) && offset + len <= Self::LEN as u64);
        self.done = self.done.wrapping_add(1);
        if self.fails >> (self.done % 8) & 1 != 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(offset as usize..(offset + len) as usize)
    }
}

impl Disk for Faulty {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
    fn access(&self) -> Access {
        self.access
    }
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let range = self.step(offset, into.len() as u64)?;
        into.copy_from_slice(&self.bytes[range]);
        Ok(())
    }
    fn write_at(&mut self, offset: u64, from: &[u8]) -> io::Result<()> {
        assert_eq!(self.access, Access::ReadWrite, "a read-only disk is written");
        let range = self.step(offset, from.len() as u64)?;
        self.bytes[range].copy_from_slice(from);
        Ok(())
    }
    fn flush(&mut self) -> io::Result<()> {
        self.step(0, 0).map(drop)
    }
    fn discard(&mut self, offset: u64, len: u64) -> io::Result<()> {
        assert_eq!(self.access, Access::ReadWrite, "a read-only disk is discarded");
        self.step(offset, len).map(drop)
    }
}

/// A cable on which frames come back.
#[derive(Default)]
struct Loop(VecDeque<Vec<u8>>);

impl Link for Loop {
    fn send(&mut self, frame: &[u8], _now: u64) {
        if self.0.len() < 8 {
            self.0.push_back(frame.to_vec());
        }
    }
    fn poll(&mut self, _now: u64) {}
    fn receive(&mut self) -> Option<Vec<u8>> {
        self.0.pop_front()
    }
    fn reset(&mut self) {
        self.0.clear();
    }
}

/// Programs of the host: those that are reached send back what comes, those that reach for the guest do so without end.
struct Programs {
    fails: u8,
    asked: u32,
    alive: Arc<()>,
}

impl Programs {
    fn program(&self) -> Box<dyn Stream> {
        assert!(Arc::strong_count(&self.alive) <= MAX_CONNECTIONS, "more connections than there may be");
        let echo =
            Echo { bytes: VecDeque::new(), has_ended: false, fails: self.fails, done: 0, _alive: self.alive.clone() };
        Box::new(echo)
    }
}

impl Host for Programs {
    fn is_due(&mut self) -> bool {
        true
    }
    fn accept(&mut self) -> Option<(u32, Box<dyn Stream>)> {
        self.asked = self.asked.wrapping_add(1);
        (self.asked % 4 == 1).then(|| (self.asked % 3, self.program()))
    }
    fn connect(&mut self, port: u32) -> Option<Box<dyn Stream>> {
        (port < 8).then(|| self.program())
    }
}

/// A program that sends back what comes. Bit n of `fails`: what is done to it as number n (modulo 8) goes wrong.
struct Echo {
    bytes: VecDeque<u8>,
    has_ended: bool,
    fails: u8,
    done: u32,
    _alive: Arc<()>,
}

impl Echo {
    const ROOM: usize = 0x8000;

    fn step(&mut self) -> io::Result<()> {
        self.done = self.done.wrapping_add(1);
        if self.fails >> (self.done % 8) & 1 == 0 {
            return Ok(());
        }
        let kinds = [
            io::ErrorKind::WouldBlock,
            io::ErrorKind::WouldBlock,
            io::ErrorKind::Interrupted,
            io::ErrorKind::BrokenPipe,
        ];
        Err(kinds[self.done as usize / 8 % kinds.len()].into())
    }
}

impl Read for Echo {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.step()?;
        match self.bytes.read(into) {
            Ok(0) if !self.has_ended => Err(io::ErrorKind::WouldBlock.into()),
            result => result,
        }
    }
}

impl Write for Echo {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.step()?;
        let len = from.len().min(Self::ROOM - self.bytes.len());
        self.bytes.extend(&from[..len]);
        if len == 0 { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(len) }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Echo {
    fn end(&mut self, how: std::net::Shutdown) {
        self.has_ended |= how == std::net::Shutdown::Write;
    }
    fn is_gone(&self) -> bool {
        self.has_ended && self.fails & 1 != 0
    }
}

/// The guest's context identifier.
const CID: u32 = 3;

/// Can a device of this kind be saved whatever its driver did?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Saved {
    Always,
    Unused,
}

/// The device of that kind; a share is of `share`.
fn device(kind: usize, fails: u8, share: &TempDir) -> (Box<dyn VirtioDevice>, Saved) {
    let disk = |access| {
        let disk = Faulty { bytes: vec![0x5a; Faulty::LEN], access, fails, done: 0 };
        Box::new(VirtioBlk::new(Box::new(disk), "fuzz"))
    };
    match kind {
        // What is on a disk is read when it is saved, and has to be what it was.
        0 => (disk(Access::ReadWrite), Saved::Unused),
        1 => (disk(Access::ReadOnly), if fails == 0 { Saved::Always } else { Saved::Unused }),
        2 => (Box::new(VirtioRng::new(Entropy::new(0, "fuzz"))), Saved::Always),
        3 => {
            let console = VirtioConsole::new(Box::new(io::sink()));
            console.input().push(b"typed");
            (Box::new(console), Saved::Always)
        }
        4 => (Box::new(VirtioNet::new([2, 0, 0, 0, 0, 1], Box::new(Loop::default()))), Saved::Unused),
        5 => {
            let path = share.path();
            std::fs::create_dir(path.join("sub")).expect("a directory");
            std::fs::write(path.join("sub/file"), "contents").expect("a file");
            let tree = Tree::open(path, virtio_9p::Access::ReadOnly).expect("a share");
            (Box::new(Virtio9p::new(tree, "fuzz", 0)), Saved::Unused)
        }
        _ => {
            let host = Programs { fails, asked: 0, alive: Arc::new(()) };
            (Box::new(VirtioVsock::new(CID, Box::new(host))), Saved::Unused)
        }
    }
}

fn address(input: &mut Input<'_>) -> u64 {
    match input.u8() {
        0 => BASE + LEN - u64::from(input.u8()),
        1 => 0x0a00_0000 + u64::from(input.u16()),
        2 => 0x0900_0000,
        3 => u64::MAX - u64::from(input.u8()),
        4 => input.u64(),
        5 => DESC + u64::from(input.u16()),
        6 => AVAIL + u64::from(input.u16()),
        7 => USED + u64::from(input.u16()),
        8 => BASE - u64::from(input.u8()),
        n => DATA + u64::from(n) * 0x100,
    }
}

fn length(input: &mut Input<'_>) -> u32 {
    match input.u8() {
        0 => u32::MAX,
        1 => input.u32(),
        2 => input.u16().into(),
        3 => (LEN - 0x1_0000) as u32,
        n => u32::from(n - 4) * 16,
    }
}

/// Kinds of [`device`].
const KINDS: usize = 7;

fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (kind, fails) = (input.below(KINDS), input.u8());
    let size = input.of(&[8, 1, 2, 16, 128]);
    let share = guest::directory();
    let (made, saved) = device(kind, fails, &share);
    let mut driver = Driver::live(made, size, 0);
    while !input.is_empty() {
        let queue = input.below(QUEUES);
        driver.queue = queue;
        let base = STRIDE * queue as u64;
        match input.below(10) {
            0 | 1 => {
                let n = input.u8();
                let descriptor = (address(&mut input), length(&mut input), input.u16(), input.u16());
                driver.desc(base + DESC, n.into(), descriptor);
            }
            2 => driver.offer(input.u16()),
            3 => driver.write(reg::QUEUE_NOTIFY, queue as u32),
            4 => driver.mmio.poll(input.value() >> 1),
            5 => {
                let at = u64::from(input.u16());
                let _ = driver.memory.write_u16(BASE + 2 * at, input.u16());
            }
            6 => {
                let size = input.of(&[Size::Word, Size::Byte, Size::Half, Size::Double]);
                let offset = u64::from(input.u16()) % 0x200 / size.bytes() * size.bytes();
                let value = input.value() & size.mask();
                let _ = driver.mmio.write(MmioAccess { offset, size, cpu: 0, now: 0 }, value);
            }
            7 => driver.set_up(input.of(&[0, u64::from(u32::MAX), 1 << 28])),
            8 => {
                let (at, len) = (u64::from(input.u8()) * 0x100, input.u8());
                let _ = driver.memory.write(DATA + at, input.bytes(len.into()));
            }
            // Something that is well-formed: what is to be read, and room for two answers.
            _ => {
                let (at, len, room) = (DATA + u64::from(input.u8()) * 0x100, input.u8(), length(&mut input) & 0xffff);
                let bytes = input.bytes(len.into());
                let _ = driver.memory.write(at, bytes);
                let readable = (at, bytes.len() as u32, 0);
                let writable =
                    [(DATA + 0x2_0000, room / 2, ring::WRITE), (DATA + 0x4_0000, room - room / 2, ring::WRITE)];
                let all = [readable, writable[0], writable[1]];
                driver.chain(0, &all[usize::from(bytes.is_empty())..]);
                driver.write(reg::QUEUE_NOTIFY, queue as u32);
            }
        }
    }
    let mut state = Vec::new();
    let is_saved = driver.mmio.persist(&mut Codec::save(&mut state));
    if saved == Saved::Always {
        is_saved.expect("what any driver makes of a device can be saved");
        let mut again = Driver::new(device(kind, fails, &share).0, size);
        let mut codec = Codec::load(&state);
        again.mmio.persist(&mut codec).and_then(|()| codec.finish()).expect("what was saved can be loaded");
        let mut twice = Vec::new();
        again.mmio.persist(&mut Codec::save(&mut twice)).expect("saved again");
        assert_eq!(state, twice, "a device is loaded as another");
    }
}

fn seeds() -> Vec<Vec<u8>> {
    // Queue, well-formed, place, length, room (64 bytes), bytes.
    let request = |queue: u8, bytes: &[u8]| {
        let mut all = vec![queue, 9, 0, bytes.len() as u8, 8];
        all.extend(bytes);
        all
    };
    let block = |kind: u8, sector: u8, more: &[u8]| {
        let mut bytes = vec![kind, 0, 0, 0, 0, 0, 0, 0, sector, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend(more);
        request(0, &bytes)
    };
    let disk = [
        block(0, 0, &[]),
        block(4, 0, &[]),
        block(8, 0, &[]),
        block(11, 0, &[0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0]),
        block(13, 0, &[8, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0]),
    ]
    .concat();
    let message = |kind: u8, fields: &[u8]| {
        let mut bytes = vec![7 + fields.len() as u8, 0, 0, 0, kind, 1, 0];
        bytes.extend(fields);
        request(0, &bytes)
    };
    let share = [
        message(100, b"\0\x20\0\0\x08\x009P2000.L"),
        message(104, b"\0\0\0\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0"),
        message(110, b"\0\0\0\0\x01\0\0\0\x01\0\x03\0sub"),
        message(12, b"\x01\0\0\0\0\0\0\0"),
        message(40, b"\x01\0\0\0\0\0\0\0\0\0\0\0\0\x04\0\0"),
    ]
    .concat();
    let mut frame = vec![0; 12 + 60];
    frame[12..18].fill(0xff);
    let net = [request(0, &[]), request(1, &frame), vec![0, 3]].concat();
    let packet = |op: u16, dst_port: u32, flags: u32, data: &[u8]| {
        let header = Header {
            src_cid: CID.into(),
            dst_cid: 2,
            src_port: 1,
            dst_port,
            len: data.len() as u32,
            kind: 1,
            op,
            flags,
            buf_alloc: 100,
            fwd_cnt: 0,
        };
        // A buffer for what comes, and the device looks around.
        [request(1, &[header.bytes().as_slice(), data].concat()), request(0, &[]), vec![0, 4, 0]].concat()
    };
    let connection = |port: u32, first: u16| {
        [
            packet(first, port, 0, &[]),
            packet(5, port, 0, b"hello"),
            packet(7, port, 0, &[]),
            packet(4, port, 2, &[]),
            packet(6, port, 0, &[]),
            packet(4, port, 3, &[]),
            packet(3, port, 0, &[]),
        ]
        .concat()
    };
    // The guest's own, and one that a program of the host wants.
    let sockets = [connection(1, 1), connection(1 << 30, 2), packet(1, 9, 0, &[]), packet(1, 1, 0, &[])].concat();
    let console = [request(0, &[]), request(1, b"text"), vec![0, 4, 1]].concat();
    let chain = [
        vec![0, 0, 0, 9, 5, 1, 0, 1, 0],
        vec![0, 0, 1, 10, 5, 2, 0, 0, 0],
        vec![0, 2, 0, 0, 0, 3],
        // An indirect table where buffers are.
        vec![0, 0, 2, 9, 5, 4, 0, 0, 0],
        vec![0, 2, 2, 0, 0, 3],
    ]
    .concat();
    let with = |kind: u8, bytes: &[u8]| [&[kind, 0, 0], bytes].concat();
    let mut all = vec![
        with(0, &disk),
        with(1, &disk),
        with(2, &request(0, &[])),
        with(3, &console),
        with(4, &net),
        with(5, &share),
        with(6, &sockets),
        [&[6, 0xa5, 0], sockets.as_slice()].concat(),
        [&[0, 0x55, 0], disk.as_slice()].concat(),
    ];
    all.extend((0..KINDS as u8).map(|kind| with(kind, &chain)));
    all
}
