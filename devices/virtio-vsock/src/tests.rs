use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};

use virtio_mmio::spec::{reg, ring};
use virtio_mmio::testing::{DATA, Driver, Junk, Random};

use super::connection::TO_HOST;
use super::spec::{TYPE_STREAM, shutdown};
use super::*;

const CID: u32 = 42;
/// A port that somebody on the host serves.
const SERVED: u32 = 100;
/// Where packets from the device go.
const RECEIVED: u64 = DATA + 0x4_0000;
const ROOM: u32 = 0x2_0000;

/// What the host's programs have in hand.
#[derive(Clone, Default)]
struct Programs(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    wanting: VecDeque<(u32, UnixStream)>,
    serving: VecDeque<UnixStream>,
}

/// The device's end and the program's, neither of which waits.
fn pair() -> (UnixStream, UnixStream) {
    let (ours, theirs) = UnixStream::pair().expect("sockets");
    ours.set_nonblocking(true).expect("a socket");
    theirs.set_nonblocking(true).expect("a socket");
    (ours, theirs)
}

impl Programs {
    fn want(&self, port: u32) -> UnixStream {
        let (ours, theirs) = pair();
        self.0.lock().unwrap().wanting.push_back((port, ours));
        theirs
    }
    fn served(&self) -> UnixStream {
        self.0.lock().unwrap().serving.pop_front().expect("a connection")
    }
}

impl Host for Programs {
    fn is_due(&mut self) -> bool {
        true
    }
    fn accept(&mut self) -> Option<(u32, Box<dyn Stream>)> {
        let (port, stream) = self.0.lock().unwrap().wanting.pop_front()?;
        Some((port, Box::new(stream)))
    }
    fn connect(&mut self, port: u32) -> Option<Box<dyn Stream>> {
        let (ours, theirs) = pair();
        self.0.lock().unwrap().serving.push_back(theirs);
        (port == SERVED).then(|| Box::new(ours) as Box<dyn Stream>)
    }
}

/// A guest's driver, and programs of the host.
struct Bench {
    driver: Driver,
    programs: Programs,
    is_offered: bool,
}

fn header(op: u16, src_port: u32, dst_port: u32) -> Header {
    Header {
        src_cid: CID.into(),
        dst_cid: spec::HOST_CID,
        src_port,
        dst_port,
        kind: TYPE_STREAM,
        op,
        buf_alloc: 1 << 20,
        ..Header::default()
    }
}

impl Bench {
    fn new() -> Self {
        let programs = Programs::default();
        let device = VirtioVsock::new(CID, Box::new(programs.clone()));
        Self { driver: Driver::live(Box::new(device), 16, 0), programs, is_offered: false }
    }

    /// The guest sends a packet. Is its buffer used?
    fn send(&mut self, header: Header, data: &[u8]) -> bool {
        let header = Header { len: data.len() as u32, ..header };
        let bytes = [header.bytes().as_slice(), data].concat();
        self.driver.memory.write(DATA, &bytes).expect("in RAM");
        self.driver.queue = spec::TRANSMIT;
        self.driver.request(&[(DATA, bytes.len() as u32, 0)]) == [(0, 0)]
    }

    /// The next packet for the guest.
    fn packet(&mut self) -> Option<(Header, Vec<u8>)> {
        self.driver.queue = spec::RECEIVE;
        if !self.is_offered {
            self.driver.chain(0, &[(RECEIVED, 100, ring::WRITE), (RECEIVED + 100, ROOM - 100, ring::WRITE)]);
        }
        self.driver.write(reg::QUEUE_NOTIFY, spec::RECEIVE as u32);
        self.driver.mmio.poll(0);
        self.driver.queue = spec::RECEIVE;
        let used = self.driver.used();
        self.is_offered = used.is_empty();
        let (_, len) = *used.first()?;
        let bytes = self.driver.bytes(RECEIVED, len as usize);
        let header = Header::parse(bytes[..HEADER_LEN].try_into().expect("a header"));
        assert_eq!(header.len as usize, bytes.len() - HEADER_LEN);
        Some((header, bytes[HEADER_LEN..].to_vec()))
    }

    /// What the next packet is for.
    fn op(&mut self) -> Option<u16> {
        self.packet().map(|(header, _)| header.op)
    }

    /// A connection that the guest has made from port 7.
    fn connected(&mut self) -> UnixStream {
        assert!(self.send(header(op::REQUEST, 7, SERVED), &[]));
        assert_eq!(self.op(), Some(op::RESPONSE));
        self.programs.served()
    }

    /// A packet of that connection.
    fn say(&mut self, op: u16, flags: u32, data: &[u8]) {
        assert!(self.send(Header { flags, ..header(op, 7, SERVED) }, data));
    }
}

/// What there is to read; `None` at the end.
fn read(stream: &mut UnixStream) -> Option<Vec<u8>> {
    let mut bytes = vec![0; 1 << 20];
    match stream.read(&mut bytes) {
        Ok(0) => None,
        Ok(len) => Some(bytes[..len].to_vec()),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            Some(vec![])
        }
    }
}

/// Bytes that differ from those beside them.
fn pattern(len: usize) -> Vec<u8> {
    let mut random = Random::new(1);
    (0..len).map(|_| random.word() as u8).collect()
}

#[test]
fn what_the_driver_finds() {
    let mut bench = Bench::new();
    assert_eq!(bench.driver.read(reg::DEVICE_ID), 19);
    assert_eq!((bench.driver.read(reg::CONFIG), bench.driver.read(reg::CONFIG + 4)), (CID, 0));
    for queue in 0..4 {
        bench.driver.write(reg::QUEUE_SEL, queue);
        assert_eq!(bench.driver.read(reg::QUEUE_NUM_MAX), if queue < 3 { 256 } else { 0 });
    }
}

#[test]
fn headers() {
    let header = Header {
        src_cid: 0x0102_0304_0506_0708,
        dst_cid: 2,
        src_port: 0x1112_1314,
        dst_port: 4,
        len: 5,
        kind: 0x2122,
        op: 7,
        flags: 8,
        buf_alloc: 9,
        fwd_cnt: 0x3132_3334,
    };
    let bytes = header.bytes();
    assert_eq!((&bytes[..3], &bytes[16..18], &bytes[28..30]), (&[8, 7, 6][..], &[0x14, 0x13][..], &[0x22, 0x21][..]));
    assert_eq!((bytes[24], bytes[30], bytes[32], bytes[36], bytes[40]), (5, 7, 8, 9, 0x34));
    assert_eq!(Header::parse(&bytes), header);
}

#[test]
fn the_guest_connects() {
    let mut bench = Bench::new();
    assert!(bench.send(header(op::REQUEST, 7, SERVED), &[]));
    let (answer, data) = bench.packet().unwrap();
    let expected = Header {
        src_cid: 2,
        dst_cid: CID.into(),
        src_port: SERVED,
        dst_port: 7,
        kind: TYPE_STREAM,
        op: op::RESPONSE,
        buf_alloc: TO_HOST,
        ..Header::default()
    };
    assert_eq!((answer, data), (expected, vec![]));
    let mut program = bench.programs.served();
    bench.say(op::RW, 0, b"hello");
    assert_eq!(read(&mut program), Some(b"hello".to_vec()));
    program.write_all(b"to you too").unwrap();
    let (answer, data) = bench.packet().unwrap();
    assert_eq!((answer, data), (Header { op: op::RW, len: 10, fwd_cnt: 5, ..expected }, b"to you too".to_vec()));
    assert_eq!(bench.op(), None);
    bench.say(op::SHUTDOWN, shutdown::BOTH, &[]);
    assert_eq!(bench.packet().unwrap().0, Header { op: op::RST, buf_alloc: 0, ..expected });
    assert_eq!(read(&mut program), None);
    // The port is free again.
    bench.connected();
}

#[test]
fn the_host_connects() {
    let mut bench = Bench::new();
    let mut programs = [bench.programs.want(22), bench.programs.want(22), bench.programs.want(23)];
    programs[0].write_all(b"early").unwrap();
    let asked: Vec<_> = (0..3).map(|_| bench.packet().unwrap().0).collect();
    assert_eq!(bench.op(), None);
    let mut ends: Vec<_> = asked.iter().map(|header| (header.op, header.dst_port, header.src_port)).collect();
    ends.sort_unstable();
    assert_eq!(ends, [(1, 22, FIRST_PORT), (1, 22, FIRST_PORT + 1), (1, 23, FIRST_PORT + 2)]);
    assert_eq!(read(&mut programs[0]), Some(vec![]), "told before the guest has answered");
    assert!(bench.send(header(op::RESPONSE, 22, FIRST_PORT), &[]));
    assert_eq!(read(&mut programs[0]), Some(format!("OK {FIRST_PORT}\n").into_bytes()));
    let (answer, data) = bench.packet().unwrap();
    assert_eq!((answer.op, answer.dst_port, answer.src_port, data), (op::RW, 22, FIRST_PORT, b"early".to_vec()));
    // The second one is refused, and the third goes before it is answered.
    assert!(bench.send(header(op::RST, 22, FIRST_PORT + 1), &[]));
    assert_eq!(read(&mut programs[1]), None);
    let [first, _, third] = programs;
    drop(third);
    let (answer, _) = bench.packet().unwrap();
    assert_eq!((answer.op, answer.src_port), (op::RST, FIRST_PORT + 2));
    drop(first);
    // One that has gone before the guest heard of it.
    drop(bench.programs.want(24));
    assert_eq!(bench.packet().unwrap().0.op, op::SHUTDOWN);
    bench.driver.mmio.poll(0);
    assert_eq!(bench.op(), None);
}

/// What a packet that no connection expects is answered with: its ends, type and operation, if it is answered at all.
#[test]
fn packets_that_belong_nowhere() {
    let good = header(op::RW, 7, SERVED);
    let cases = [
        (Header { src_cid: 3, ..good }, None),
        (Header { src_cid: u64::from(CID) | 1 << 32, ..good }, None),
        (Header { dst_cid: 9, ..good }, Some((9, 1))),
        (Header { dst_cid: 0, op: op::REQUEST, ..good }, Some((0, 1))),
        (Header { dst_cid: 2 | 1 << 32, op: op::REQUEST, ..good }, Some((2 | 1 << 32, 1))),
        (Header { kind: 2, op: op::REQUEST, ..good }, Some((2, 2))),
        (Header { kind: 0, op: op::REQUEST, ..good }, Some((2, 0))),
        (Header { kind: 9, op: op::RST, ..good }, None),
        (Header { op: op::RST, ..good }, None),
        (Header { op: op::REQUEST, dst_port: SERVED + 1, ..good }, Some((2, 1))),
        (Header { op: op::RESPONSE, ..good }, Some((2, 1))),
        (Header { op: op::RW, ..good }, Some((2, 1))),
        (Header { op: op::SHUTDOWN, flags: 3, ..good }, Some((2, 1))),
        (Header { op: op::CREDIT_REQUEST, ..good }, Some((2, 1))),
        (Header { op: op::CREDIT_UPDATE, ..good }, Some((2, 1))),
        (Header { op: 0, ..good }, Some((2, 1))),
        (Header { op: 8, ..good }, Some((2, 1))),
        (Header { op: u16::MAX, ..good }, Some((2, 1))),
    ];
    for (sent, answered) in cases {
        let mut bench = Bench::new();
        assert!(bench.send(sent, &[]));
        let reset = answered.map(|(src_cid, kind)| Header {
            src_cid,
            dst_cid: CID.into(),
            src_port: sent.dst_port,
            dst_port: 7,
            kind,
            op: op::RST,
            ..Header::default()
        });
        assert_eq!(bench.packet().map(|(header, _)| header), reset, "{sent:?}");
        assert_eq!(bench.op(), None);
        assert_eq!(bench.driver.mmio.broken(), None);
    }
}

/// What ends a connection at once.
#[test]
fn packets_that_break_a_connection() {
    let rw = header(op::RW, 7, SERVED);
    for (sent, len) in [
        (Header { op: op::REQUEST, ..rw }, 0),
        (Header { op: op::RESPONSE, ..rw }, 0),
        (Header { op: 0, ..rw }, 0),
        (Header { op: 8, ..rw }, 0),
        (rw, TO_HOST + 1),
    ] {
        let mut bench = Bench::new();
        let mut program = bench.connected();
        assert!(bench.send(sent, &vec![0; len as usize]));
        assert_eq!(bench.op(), Some(op::RST), "{sent:?}");
        assert_eq!(read(&mut program), None);
        assert_eq!(bench.op(), None);
    }
    // Data behind the end, and before the connection is taken.
    let mut bench = Bench::new();
    let mut program = bench.connected();
    bench.say(op::SHUTDOWN, shutdown::SEND, &[]);
    assert_eq!(read(&mut program), None);
    bench.say(op::RW, 0, b"more");
    assert_eq!(bench.op(), Some(op::RST));
    let mut program = bench.programs.want(5);
    assert_eq!(bench.op(), Some(op::REQUEST));
    assert!(bench.send(header(op::RW, 5, FIRST_PORT), b"x"));
    assert_eq!(bench.op(), Some(op::RST));
    assert_eq!(read(&mut program), None);
    // One of another type is not that connection's.
    let mut program = bench.connected();
    assert!(bench.send(Header { kind: 2, ..rw }, b"x"));
    assert_eq!(bench.packet().unwrap().0.kind, 2);
    assert_eq!(read(&mut program), Some(vec![]));
}

#[test]
fn no_more_than_the_guest_has_room_for() {
    let mut bench = Bench::new();
    let small = |op, fwd_cnt| Header { buf_alloc: 10, fwd_cnt, ..header(op, 7, SERVED) };
    assert!(bench.send(small(op::REQUEST, 0), &[]));
    assert_eq!(bench.op(), Some(op::RESPONSE));
    let mut program = bench.programs.served();
    program.write_all(&pattern(25)).unwrap();
    assert_eq!(bench.packet().unwrap().1, pattern(25)[..10]);
    assert_eq!(bench.op(), Some(op::CREDIT_REQUEST));
    assert_eq!(bench.op(), None);
    // The answer is that there is no room; it is not asked again and again.
    assert!(bench.send(small(op::CREDIT_UPDATE, 0), &[]));
    assert_eq!(bench.op(), None);
    assert!(bench.send(small(op::CREDIT_UPDATE, 4), &[]));
    assert_eq!(bench.packet().unwrap().1, pattern(25)[10..14]);
    assert_eq!(bench.op(), Some(op::CREDIT_REQUEST));
    // More than it got: that is no room.
    assert!(bench.send(small(op::CREDIT_UPDATE, 15), &[]));
    assert_eq!(bench.op(), None);
    assert!(bench.send(Header { buf_alloc: u32::MAX, ..small(op::CREDIT_UPDATE, 14) }, &[]));
    assert_eq!(bench.packet().unwrap().1, pattern(25)[14..]);
}

#[test]
fn no_more_than_the_host_has_room_for() {
    const LEN: usize = 3 << 20;
    let mut bench = Bench::new();
    let mut program = bench.connected();
    let bytes = pattern(LEN);
    let (mut sent, mut told, mut got, mut updates, mut most) = (0, 0, Vec::new(), 0, 0);
    while got.len() < LEN {
        // As much as the guest may have under way; the program reads only when that is used up.
        let room = TO_HOST as usize - (sent - told);
        let len = room.min(LEN - sent).min(0x8000);
        most = most.max(sent - got.len());
        if len != 0 {
            bench.say(op::RW, 0, &bytes[sent..sent + len]);
            sent += len;
        } else {
            got.extend(read(&mut program).expect("more"));
        }
        if let Some((header, _)) = bench.packet() {
            assert_eq!(header.op, op::CREDIT_UPDATE);
            told = header.fwd_cnt as usize;
            updates += 1;
        }
    }
    assert!(got == bytes, "other bytes");
    assert!((8..60).contains(&updates), "{updates} updates of room");
    // It did wait, for no more than the device and the host's socket hold.
    assert!((TO_HOST as usize..1 << 20).contains(&most), "{most} bytes under way");
    bench.say(op::CREDIT_REQUEST, 0, &[]);
    assert_eq!(bench.op(), Some(op::CREDIT_UPDATE));
    assert_eq!(bench.op(), None);
}

#[test]
fn a_guest_that_ends_one_way() {
    let mut bench = Bench::new();
    let mut program = bench.connected();
    bench.say(op::RW, 0, b"last");
    bench.say(op::SHUTDOWN, shutdown::SEND, &[]);
    assert_eq!(read(&mut program), Some(b"last".to_vec()));
    assert_eq!(read(&mut program), None);
    program.write_all(b"answer").unwrap();
    assert_eq!(bench.packet().unwrap().1, b"answer");
    // Flags stay set.
    bench.say(op::SHUTDOWN, shutdown::RECEIVE, &[]);
    assert_eq!(bench.op(), Some(op::RST));

    let mut program = bench.connected();
    program.write_all(b"unwanted").unwrap();
    bench.say(op::SHUTDOWN, shutdown::RECEIVE, &[]);
    assert_eq!(bench.op(), None);
    assert_eq!(program.write(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
    bench.say(op::RW, 0, b"still");
    assert_eq!(read(&mut program), Some(b"still".to_vec()));
    drop(program);
    let (end, _) = bench.packet().unwrap();
    assert_eq!((end.op, end.flags), (op::SHUTDOWN, shutdown::BOTH));
}

#[test]
fn a_program_that_ends_one_way() {
    let mut bench = Bench::new();
    let mut program = bench.connected();
    program.write_all(&pattern(0x3_0000)).unwrap();
    program.shutdown(Shutdown::Write).unwrap();
    let mut got = Vec::new();
    let end = loop {
        let (header, data) = bench.packet().unwrap();
        if header.op != op::RW {
            break header;
        }
        got.extend(data);
    };
    assert!(got == pattern(0x3_0000), "other bytes before the end");
    assert_eq!((end.op, end.flags), (op::SHUTDOWN, shutdown::SEND));
    assert_eq!(bench.op(), None);
    bench.say(op::RW, 0, b"still");
    assert_eq!(read(&mut program), Some(b"still".to_vec()));
    drop(program);
    let (end, _) = bench.packet().unwrap();
    assert_eq!((end.op, end.flags), (op::SHUTDOWN, shutdown::BOTH));
    // What is on its way is dropped, and the guest need not wait for room.
    for _ in 0..3 {
        bench.say(op::RW, 0, &vec![0; TO_HOST as usize / 2]);
    }
    assert_eq!(bench.op(), Some(op::CREDIT_UPDATE));
    bench.say(op::RST, 0, &[]);
    assert_eq!(bench.op(), None);
    bench.say(op::CREDIT_REQUEST, 0, &[]);
    assert_eq!(bench.op(), Some(op::RST), "it is still there");
}

/// What the guest sent before it closed gets to a program that is slow.
#[test]
fn a_guest_that_leaves() {
    const LEN: usize = TO_HOST as usize;
    let mut bench = Bench::new();
    let mut program = bench.connected();
    let bytes = pattern(LEN * 2);
    // The host's socket takes a part of it.
    bench.say(op::RW, 0, &bytes[..LEN]);
    let taken = LEN - {
        bench.say(op::CREDIT_REQUEST, 0, &[]);
        LEN - bench.packet().unwrap().0.fwd_cnt as usize
    };
    assert!(taken > 0 && taken < LEN, "the host's socket takes {taken} bytes");
    bench.say(op::RW, 0, &bytes[LEN..LEN + taken]);
    bench.say(op::SHUTDOWN, shutdown::BOTH, &[]);
    assert_eq!(bench.op(), Some(op::RST));
    let mut got = Vec::new();
    while let Some(more) = read(&mut program) {
        got.extend(more);
        bench.driver.mmio.poll(0);
    }
    assert!(got == bytes[..LEN + taken], "{} bytes, or other ones", got.len());
}

#[test]
fn connections_are_limited() {
    let mut bench = Bench::new();
    let mut programs = Vec::new();
    for port in 0..MAX_CONNECTIONS as u32 {
        assert!(bench.send(header(op::REQUEST, port, SERVED), &[]));
        assert_eq!(bench.op(), Some(op::RESPONSE));
        programs.push(bench.programs.served());
    }
    assert!(bench.send(header(op::REQUEST, 5000, SERVED), &[]));
    assert_eq!(bench.op(), Some(op::RST));
    let _waiting = bench.programs.want(9);
    assert_eq!(bench.op(), None);
    // One that is left is one still, as long as its program has not read all.
    for _ in 0..2 {
        bench.say(op::RW, 0, &pattern(TO_HOST as usize / 2));
    }
    bench.say(op::SHUTDOWN, shutdown::BOTH, &[]);
    assert_eq!(bench.op(), Some(op::RST));
    assert_eq!(bench.op(), None);
    while read(&mut programs[7]).is_some_and(|bytes| !bytes.is_empty()) {
        bench.driver.mmio.poll(0);
    }
    assert_eq!(bench.op(), Some(op::REQUEST));
}

/// A guest that makes no room for answers is not heard, and loses nothing.
#[test]
fn answers_are_limited() {
    let mut bench = Bench::new();
    let mut sent = 0;
    while bench.send(header(op::RW, sent, 1), &[]) {
        sent += 1;
    }
    assert_eq!(sent, MAX_RESETS as u32);
    for port in 0..=sent {
        assert_eq!(bench.packet().map(|(header, _)| (header.op, header.dst_port)), Some((op::RST, port)));
    }
    assert_eq!(bench.op(), None);
    bench.driver.queue = spec::TRANSMIT;
    assert_eq!(bench.driver.used(), [(0, 0)]);
}

#[test]
fn every_connection_has_its_turn() {
    let mut bench = Bench::new();
    let mut programs = Vec::new();
    for port in 0..3 {
        assert!(bench.send(header(op::REQUEST, port, SERVED), &[]));
        assert_eq!(bench.op(), Some(op::RESPONSE));
        programs.push(bench.programs.served());
    }
    for program in &mut programs {
        program.write_all(&pattern(0x1_8000)).unwrap();
    }
    let mut ports: Vec<_> = (0..3).map(|_| bench.packet().unwrap().0.dst_port).collect();
    ports.sort_unstable();
    assert_eq!(ports, [0, 1, 2]);
}

#[test]
fn packets_that_are_none() {
    // Lengths of the guest's buffers, and of data that the header says.
    for (buffers, len) in [(vec![], 0), (vec![43], 0), (vec![44], 1), (vec![20, 24, 10], 11), (vec![60], u32::MAX)] {
        let mut bench = Bench::new();
        let sent = Header { len, ..header(op::RW, 7, SERVED) };
        bench.driver.memory.write(DATA, &sent.bytes()).unwrap();
        bench.driver.queue = spec::TRANSMIT;
        let mut at = DATA;
        let mut chain = vec![];
        for len in buffers {
            chain.push((at, len, 0));
            at += u64::from(len);
        }
        if chain.is_empty() {
            chain.push((DATA, 100, ring::WRITE));
        }
        assert_eq!(bench.driver.request(&chain), []);
        assert!(matches!(bench.driver.mmio.broken(), Some(QueueError::Request(_))));
    }
    // A header in pieces is one, and what is behind the data is nobody's.
    let mut bench = Bench::new();
    let mut program = bench.connected();
    let sent = Header { len: 3, ..header(op::RW, 7, SERVED) };
    bench.driver.memory.write(DATA, &[sent.bytes().as_slice(), b"abcdef"].concat()).unwrap();
    bench.driver.queue = spec::TRANSMIT;
    assert_eq!(bench.driver.request(&[(DATA, 1, 0), (DATA + 1, 44, 0), (DATA + 45, 5, 0)]), [(0, 0)]);
    assert_eq!(read(&mut program), Some(b"abc".to_vec()));
}

#[test]
fn buffers_without_room() {
    let mut bench = Bench::new();
    bench.send(header(op::REQUEST, 7, SERVED), &[]);
    bench.driver.queue = spec::RECEIVE;
    // Enough for an answer.
    assert_eq!(bench.driver.request(&[(RECEIVED, 44, ring::WRITE)]), [(0, 44)]);
    let mut program = bench.programs.served();
    program.write_all(b"more").unwrap();
    bench.driver.mmio.poll(0);
    assert_eq!(bench.driver.request(&[(RECEIVED, 46, ring::WRITE)]), [(0, 46)]);
    assert_eq!(bench.driver.bytes(RECEIVED + 44, 2), b"mo");
    assert_eq!(bench.driver.request(&[(RECEIVED, 44, ring::WRITE)]), []);
    assert!(matches!(bench.driver.mmio.broken(), Some(QueueError::Request(_))));
    let mut bench = Bench::new();
    bench.send(header(op::REQUEST, 7, SERVED), &[]);
    bench.driver.queue = spec::RECEIVE;
    assert_eq!(bench.driver.request(&[(RECEIVED, 43, ring::WRITE)]), []);
    assert!(matches!(bench.driver.mmio.broken(), Some(QueueError::Request(_))));
}

#[test]
fn a_driver_that_starts_again() {
    let mut bench = Bench::new();
    let mut program = bench.connected();
    bench.driver.set_up(0);
    assert_eq!(read(&mut program), None);
    bench.say(op::CREDIT_REQUEST, 0, &[]);
    assert_eq!(bench.op(), Some(op::RST));
}

#[test]
fn what_is_connected_cannot_be_saved() {
    let mut device = VirtioVsock::new(CID, Box::new(Programs::default()));
    let error = device.persist(&mut Codec::save(&mut Vec::new())).unwrap_err();
    assert!(error.to_string().contains("--vsock"));
}

#[test]
fn junk() {
    let programs = Programs::default();
    let answered = Junk {
        device: &|| Box::new(VirtioVsock::new(CID, Box::new(programs.clone()))),
        request: &|random, bytes| {
            // Now and then somebody wants the guest, and somebody who was connected goes.
            match random.below(16) {
                0 => drop(programs.want(random.below(3) as u32)),
                1 => programs.0.lock().unwrap().serving.truncate(2),
                _ => {}
            }
            let header = Header {
                src_cid: random.of(&[CID.into(), CID.into(), CID.into(), 3]),
                dst_cid: random.of(&[2, 2, 2, 2, 9]),
                src_port: random.below(3) as u32,
                dst_port: random.of(&[SERVED, SERVED, 1, FIRST_PORT, FIRST_PORT + 1]),
                len: random.of(&[0, 1, 10, 200, u32::MAX]),
                kind: random.of(&[1, 1, 1, 1, 2]),
                op: random.below(9) as u16,
                flags: random.of(&[0, 1, 2, 3, u32::MAX]),
                buf_alloc: random.of(&[0, 5, 0x1000, u32::MAX]),
                fwd_cnt: random.of(&[0, 1, u32::MAX]),
            };
            bytes.extend(header.bytes());
            bytes.extend((0..random.below(300)).map(|_| random.word() as u8));
        },
        seed: 0x50c7,
        steps: 20_000,
    }
    .run();
    assert!(answered > 1000, "only {answered} requests were answered");
}
