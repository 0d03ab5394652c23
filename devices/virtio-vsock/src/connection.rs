//! One connection: a port of the guest, a port of the host, and the host's program behind it.
//!
//! Flow control (VIRTIO 1.2, §5.10.6.3): each side says in every packet how many bytes it holds for the connection and how
//! many it has passed on so far. The other side may have no more than that under way. Counts are modulo 2^32.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::Shutdown;

use crate::Stream;
use crate::packet::Header;
use crate::spec::{op, shutdown};

/// Bytes from the guest that wait for the host's program: what the guest is told that it may have under way.
pub const TO_HOST: u32 = 256 << 10;
/// Bytes from the host's program that wait for the guest.
pub const TO_GUEST: usize = 64 << 10;
/// The most data of one packet, in bytes.
const MAX_DATA: usize = 64 << 10;

/// The guest's port and the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    pub guest: u32,
    pub host: u32,
}

/// The connection is over at once: the guest broke the rules, or the host's program has gone before it was answered.
#[derive(Debug, PartialEq, Eq)]
pub struct Broken;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The host's program wants it; the guest has not been asked.
    Wanted,
    /// The guest was asked.
    Asked,
    /// The guest wants it, and the host's program takes it; the guest has not been told.
    Taken,
    /// Data flows.
    Open,
}

pub struct Connection {
    pub ends: Ends,
    stage: Stage,
    /// `None` where the host's program is gone.
    stream: Option<Box<dyn Stream>>,
    /// From the guest, for the host's program.
    to_host: VecDeque<u8>,
    /// Bytes that came from the guest, bytes of them that were passed on, and how many of these the guest knows of.
    received: u32,
    forwarded: u32,
    told: u32,
    /// The guest wants to be told.
    owes_credit: bool,
    /// From the host's program, for the guest.
    to_guest: VecDeque<u8>,
    /// Bytes that were sent to the guest; what it holds for them, and how many of them it has passed on.
    sent: u32,
    peer_buffer: u32,
    peer_forwarded: u32,
    /// The guest was asked for room, and has had none since.
    asked_for_credit: bool,
    /// What the guest will not do any more, as [`shutdown`] has it; what the host's program will not; and how much of that
    /// the guest knows.
    guest_end: u32,
    host_end: u32,
    told_end: u32,
    /// The host's program knows that the guest sends no more.
    told_host: bool,
}

impl Connection {
    fn new(ends: Ends, stage: Stage, stream: Box<dyn Stream>) -> Self {
        Self {
            ends,
            stage,
            stream: Some(stream),
            to_host: VecDeque::new(),
            received: 0,
            forwarded: 0,
            told: 0,
            owes_credit: false,
            to_guest: VecDeque::new(),
            sent: 0,
            peer_buffer: 0,
            peer_forwarded: 0,
            asked_for_credit: false,
            guest_end: 0,
            host_end: 0,
            told_end: 0,
            told_host: false,
        }
    }

    /// One that the host's program wants.
    pub fn wanted(ends: Ends, stream: Box<dyn Stream>) -> Self {
        Self::new(ends, Stage::Wanted, stream)
    }

    /// One that the guest asks for by `header`.
    pub fn taken(ends: Ends, stream: Box<dyn Stream>, header: &Header) -> Self {
        let mut this = Self::new(ends, Stage::Taken, stream);
        this.note_credit(header);
        this
    }

    fn note_credit(&mut self, header: &Header) {
        self.peer_buffer = header.buf_alloc;
        self.peer_forwarded = header.fwd_cnt;
        // A guest that has no room yet says so when it has: to ask again would only keep it busy.
        self.asked_for_credit &= self.credit() == 0;
    }

    /// Bytes that the guest has room for; a guest that has passed on more than it got has none.
    fn credit(&self) -> u32 {
        self.peer_buffer.saturating_sub(self.sent.wrapping_sub(self.peer_forwarded))
    }

    /// A packet of the guest's on this connection, other than [`op::REQUEST`] and [`op::RST`]; `read` gives its data.
    pub fn take<E>(
        &mut self,
        header: &Header,
        read: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<Result<(), Broken>, E> {
        let is_expected = match self.stage {
            Stage::Wanted => false,
            Stage::Asked => header.op == op::RESPONSE,
            Stage::Taken | Stage::Open => header.op != op::RESPONSE,
        };
        if !is_expected {
            return Ok(Err(Broken));
        }
        self.note_credit(header);
        match header.op {
            op::RESPONSE => return Ok(self.greet()),
            op::RW => return self.take_data(header.len, read),
            op::CREDIT_UPDATE => {}
            op::CREDIT_REQUEST => self.owes_credit = true,
            op::SHUTDOWN => self.end(header.flags & shutdown::BOTH),
            _ => return Ok(Err(Broken)),
        }
        Ok(Ok(()))
    }

    /// The guest has taken the connection: the host's program is told by which port.
    fn greet(&mut self) -> Result<(), Broken> {
        let greeting = format!("OK {}\n", self.ends.host);
        let stream = self.stream.as_mut().ok_or(Broken)?;
        // Nothing was written before, so there is room.
        match stream.write(greeting.as_bytes()) {
            Ok(len) if len == greeting.len() => {
                self.stage = Stage::Open;
                Ok(())
            }
            _ => Err(Broken),
        }
    }

    fn take_data<E>(
        &mut self,
        len: u32,
        read: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<Result<(), Broken>, E> {
        // No more than it was told that there is room for, and nothing after the end.
        if len > TO_HOST - self.to_host.len() as u32 || self.guest_end & shutdown::SEND != 0 {
            return Ok(Err(Broken));
        }
        let mut data = vec![0; len as usize];
        read(&mut data)?;
        self.received = self.received.wrapping_add(len);
        self.to_host.extend(data);
        self.flush();
        Ok(Ok(()))
    }

    /// The guest says what it will not do any more.
    fn end(&mut self, flags: u32) {
        let is_new = flags & !self.guest_end;
        self.guest_end |= flags;
        if is_new & shutdown::RECEIVE != 0 {
            self.to_guest = VecDeque::new();
            if let Some(stream) = &mut self.stream {
                stream.end(Shutdown::Read);
            }
        }
        self.flush();
    }

    /// Does the guest neither send nor receive any more?
    pub fn is_left(&self) -> bool {
        self.guest_end == shutdown::BOTH
    }

    /// Writes what waits to the host's program.
    fn flush(&mut self) {
        let Some(stream) = &mut self.stream else {
            self.drop_data();
            return;
        };
        if write_all(&mut self.to_host, stream.as_mut()).is_err() {
            self.host_end |= shutdown::RECEIVE;
        }
        if self.host_end & shutdown::RECEIVE != 0 {
            self.drop_data();
            return;
        }
        self.forwarded = self.received.wrapping_sub(self.to_host.len() as u32);
        if self.to_host.is_empty() && self.guest_end & shutdown::SEND != 0 && !self.told_host {
            self.told_host = true;
            stream.end(Shutdown::Write);
        }
    }

    /// Nobody will read what the guest sends; it need not wait for room.
    fn drop_data(&mut self) {
        self.to_host = VecDeque::new();
        self.forwarded = self.received;
    }

    /// Moves bytes from and to the host's program.
    pub fn pump(&mut self) -> Result<(), Broken> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        if matches!(self.stage, Stage::Wanted | Stage::Asked) {
            return if stream.is_gone() { Err(Broken) } else { Ok(()) };
        }
        if self.guest_end & shutdown::RECEIVE == 0 && self.host_end & shutdown::SEND == 0 {
            match read_some(&mut self.to_guest, stream.as_mut()) {
                Ok(Source::Open) => {}
                Ok(Source::Ended) => self.host_end |= shutdown::SEND,
                Err(_) => self.host_end |= shutdown::BOTH,
            }
        }
        // Where nothing is read, nothing else shows that it has gone.
        let is_read = (self.guest_end & shutdown::RECEIVE) | (self.host_end & shutdown::SEND) == 0;
        if !is_read && stream.is_gone() {
            self.host_end |= shutdown::BOTH;
        }
        self.flush();
        if self.host_end == shutdown::BOTH {
            self.stream = None;
        }
        Ok(())
    }

    /// Has the guest heard of it?
    pub fn is_known(&self) -> bool {
        self.stage != Stage::Wanted
    }

    /// What is left to be written when the guest has left.
    pub fn leave(self) -> Option<Leaving> {
        let stream = self.stream?;
        (!self.to_host.is_empty()).then_some(Leaving { stream, bytes: self.to_host })
    }

    fn has_data(&self) -> bool {
        !self.to_guest.is_empty() && self.stage == Stage::Open
    }

    /// How the host's program's end can be told now: that it sends no more, behind all that it sent.
    fn untold_end(&self) -> u32 {
        let end = if self.to_guest.is_empty() { self.host_end } else { self.host_end & shutdown::RECEIVE };
        end & !self.told_end
    }

    /// Has the guest used half of its room, as far as it knows, and is that free again? Then it should know.
    fn is_credit_due(&self) -> bool {
        self.owes_credit || self.forwarded.wrapping_sub(self.told) >= TO_HOST / 2
    }

    fn next_op(&self) -> Option<u16> {
        match self.stage {
            Stage::Wanted => Some(op::REQUEST),
            Stage::Taken => Some(op::RESPONSE),
            Stage::Open if self.has_data() && self.credit() != 0 => Some(op::RW),
            Stage::Open if self.untold_end() != 0 => Some(op::SHUTDOWN),
            Stage::Open if self.is_credit_due() => Some(op::CREDIT_UPDATE),
            Stage::Open if self.has_data() && !self.asked_for_credit => Some(op::CREDIT_REQUEST),
            Stage::Asked | Stage::Open => None,
        }
    }

    /// Is there a packet for the guest?
    pub fn has_packet(&self) -> bool {
        self.next_op().is_some()
    }

    /// The next packet for the guest, of at most `room` bytes of data; the ends of its header are still to be filled in.
    /// `None` where there is none, or no room at all for the data that is next.
    pub fn packet(&mut self, room: u64) -> Option<(Header, Vec<u8>)> {
        let op = self.next_op()?;
        let (mut data, mut flags) = (Vec::new(), 0);
        match op {
            op::REQUEST => self.stage = Stage::Asked,
            op::RESPONSE => self.stage = Stage::Open,
            op::RW => {
                let most = room.min(MAX_DATA as u64).min(self.credit().into()) as usize;
                if most == 0 {
                    return None;
                }
                data.extend(self.to_guest.drain(..most.min(self.to_guest.len())));
                self.sent = self.sent.wrapping_add(data.len() as u32);
            }
            op::SHUTDOWN => {
                self.told_end |= self.untold_end();
                flags = self.told_end;
            }
            op::CREDIT_REQUEST => self.asked_for_credit = true,
            _ => {}
        }
        self.told = self.forwarded;
        self.owes_credit = false;
        let header = Header {
            op,
            flags,
            len: data.len() as u32,
            buf_alloc: TO_HOST,
            fwd_cnt: self.forwarded,
            ..Header::default()
        };
        Some((header, data))
    }
}

/// What the guest sent before it left, and the host's program has yet to take.
pub struct Leaving {
    stream: Box<dyn Stream>,
    bytes: VecDeque<u8>,
}

impl Leaving {
    /// Writes what can be written; is there more?
    pub fn pump(&mut self) -> bool {
        write_all(&mut self.bytes, self.stream.as_mut()).is_ok() && !self.bytes.is_empty()
    }
}

/// Writes as much as `stream` takes.
fn write_all(bytes: &mut VecDeque<u8>, stream: &mut dyn Stream) -> std::io::Result<()> {
    while !bytes.is_empty() {
        match stream.write(bytes.as_slices().0) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(len) => drop(bytes.drain(..len)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

enum Source {
    Open,
    Ended,
}

/// Reads what `stream` has, as far as there is room.
fn read_some(bytes: &mut VecDeque<u8>, stream: &mut dyn Stream) -> std::io::Result<Source> {
    while bytes.len() < TO_GUEST {
        let mut piece = [0; 16 << 10];
        let most = piece.len().min(TO_GUEST - bytes.len());
        match stream.read(&mut piece[..most]) {
            Ok(0) => return Ok(Source::Ended),
            Ok(len) => bytes.extend(&piece[..len]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Source::Open)
}
