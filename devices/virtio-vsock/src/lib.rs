//! The virtio socket device: stream sockets between the guest and programs on the host.
//!
//! What lies behind it on the host is a [`Host`]: [`UnixHost`] in a machine. Connections come and go in the host's time, so
//! runs with this device do not repeat.
//!
//! What a guest can make the tool hold is bounded: [`MAX_CONNECTIONS`] connections, those that it has left included, with
//! at most 320 KiB each, and [`MAX_RESETS`] answers to packets that belong to none; when these wait, its packets wait.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::Shutdown;

use snapshot::{Codec, Invalid};
use virtio_mmio::{QueueError, QueueIo, Queues, VirtioDevice, total};

mod connection;
mod packet;
pub mod spec;
#[cfg(test)]
mod tests;
mod unix;

pub use packet::Header;
pub use unix::{MAX_PATH, UnixHost, VsockError};

use connection::{Broken, Connection, Ends, Leaving};
use spec::{HEADER_LEN, op};

/// The most connections; the guest's further ones are refused, the host's wait.
pub const MAX_CONNECTIONS: usize = 128;
/// The most packets that wait to tell the guest that there is no such connection.
pub const MAX_RESETS: usize = 64;
/// The first of the host's ports that are given to programs of the host which reach for the guest.
const FIRST_PORT: u32 = 1 << 30;

/// A connected program of the host. Reading and writing never wait: where there is nothing to do, the error is
/// [`std::io::ErrorKind::WouldBlock`].
pub trait Stream: Read + Write + Send {
    /// From here on nothing will be written, or read.
    fn end(&mut self, how: Shutdown);
    /// Has the program closed its end, so that it neither reads nor writes?
    fn is_gone(&self) -> bool;
}

/// The host's side.
pub trait Host: Send {
    /// Is it time to look at the host again? Asked often.
    fn is_due(&mut self) -> bool;
    /// The next program of the host that wants to be connected, and the guest's port that it wants.
    fn accept(&mut self) -> Option<(u32, Box<dyn Stream>)>;
    /// Connects to the program that serves a port of the host, if there is one.
    fn connect(&mut self, port: u32) -> Option<Box<dyn Stream>>;
}

/// A socket device.
pub struct VirtioVsock {
    /// The guest's context identifier, as the driver reads it.
    config: [u8; 8],
    host: Box<dyn Host>,
    connections: Vec<Connection>,
    /// The guest is through with these.
    leaving: Vec<Leaving>,
    /// Packets that say that there is no connection.
    resets: VecDeque<Header>,
    /// Packets of the guest wait until some of `resets` are out.
    is_stalled: bool,
    next_port: u32,
    /// The connection whose turn it is to send.
    turn: usize,
}

impl VirtioVsock {
    /// The device of the guest with the context identifier `cid` ([`spec::MIN_CID`] to [`spec::MAX_CID`]).
    pub fn new(cid: u32, host: Box<dyn Host>) -> Self {
        Self {
            config: u64::from(cid).to_le_bytes(),
            host,
            connections: Vec::new(),
            leaving: Vec::new(),
            resets: VecDeque::new(),
            is_stalled: false,
            next_port: FIRST_PORT,
            turn: 0,
        }
    }

    fn cid(&self) -> u64 {
        u64::from_le_bytes(self.config)
    }

    fn is_full(&self) -> bool {
        self.connections.len() + self.leaving.len() >= MAX_CONNECTIONS
    }

    fn transmit(&mut self, io: &mut QueueIo<'_>) -> Result<(), QueueError> {
        self.is_stalled = false;
        loop {
            if self.resets.len() >= MAX_RESETS {
                self.is_stalled = true;
                return Ok(());
            }
            let Some(chain) = io.pop()? else { return Ok(()) };
            let mut bytes = [0; HEADER_LEN];
            chain.read(io.memory(), 0, &mut bytes).ok_or(QueueError::Request("no header"))?;
            let header = Header::parse(&bytes);
            if u64::from(header.len) > total(&chain.readable) - HEADER_LEN as u64 {
                return Err(QueueError::Request("more data than buffers"));
            }
            let read = |into: &mut [u8]| {
                let read = chain.read(io.memory(), HEADER_LEN as u64, into);
                read.ok_or(QueueError::Request("a buffer is not in RAM"))
            };
            self.take(&header, read)?;
            io.push(chain.head, 0)?;
        }
    }

    /// A packet of the guest's; `read` gives its data.
    fn take(
        &mut self,
        header: &Header,
        read: impl FnOnce(&mut [u8]) -> Result<(), QueueError>,
    ) -> Result<(), QueueError> {
        if header.src_cid != self.cid() {
            // Nobody else is on this side.
            return Ok(());
        }
        if header.dst_cid != spec::HOST_CID || header.kind != spec::TYPE_STREAM {
            self.refuse(header);
            return Ok(());
        }
        let ends = Ends { guest: header.src_port, host: header.dst_port };
        let known = self.connections.iter().position(|connection| connection.ends == ends);
        match (header.op, known) {
            (op::RST, Some(index)) => drop(self.connections.swap_remove(index)),
            (op::RST, None) => {}
            (op::REQUEST, None) => self.open(ends, header),
            (_, Some(index)) if header.op != op::REQUEST => {
                let connection = &mut self.connections[index];
                if connection.take(header, read)? == Err(Broken) {
                    self.connections.swap_remove(index);
                    self.refuse(header);
                } else if connection.is_left() {
                    // This ends the connection, and the guest may use the port again (§5.10.6.5).
                    self.leaving.extend(self.connections.swap_remove(index).leave());
                    self.refuse(header);
                }
            }
            (_, known) => {
                if let Some(index) = known {
                    self.connections.swap_remove(index);
                }
                self.refuse(header);
            }
        }
        Ok(())
    }

    /// The guest asks for a connection.
    fn open(&mut self, ends: Ends, header: &Header) {
        let stream = if self.is_full() { None } else { self.host.connect(ends.host) };
        match stream {
            Some(stream) => self.connections.push(Connection::taken(ends, stream, header)),
            None => self.refuse(header),
        }
    }

    /// Answers a packet of the guest's with a reset, unless it is one.
    fn refuse(&mut self, header: &Header) {
        if header.op != op::RST {
            self.resets.push_back(Header {
                src_cid: header.dst_cid,
                dst_cid: header.src_cid,
                src_port: header.dst_port,
                dst_port: header.src_port,
                kind: header.kind,
                op: op::RST,
                ..Header::default()
            });
        }
    }

    /// A header of a packet to the guest.
    fn addressed(&self, ends: Ends, header: Header) -> Header {
        Header {
            src_cid: spec::HOST_CID,
            dst_cid: self.cid(),
            src_port: ends.host,
            dst_port: ends.guest,
            kind: spec::TYPE_STREAM,
            ..header
        }
    }

    /// Looks at the host.
    fn pump(&mut self) {
        while !self.is_full()
            && let Some((port, stream)) = self.host.accept()
        {
            let ends = self.free_ends(port);
            self.connections.push(Connection::wanted(ends, stream));
        }
        self.leaving.retain_mut(Leaving::pump);
        let mut index = 0;
        while let Some(connection) = self.connections.get_mut(index) {
            if connection.pump() == Err(Broken) {
                let connection = self.connections.swap_remove(index);
                // Who is told has taken a packet before, so these are no more than buffers that the guest gave.
                if connection.is_known() {
                    let reset = self.addressed(connection.ends, Header { op: op::RST, ..Header::default() });
                    self.resets.push_back(reset);
                }
            } else {
                index += 1;
            }
        }
    }

    /// Ends for a connection to the guest's port `guest`, with a port of the host that no connection has.
    fn free_ends(&mut self, guest: u32) -> Ends {
        loop {
            let host = self.next_port;
            self.next_port = host.checked_add(1).unwrap_or(FIRST_PORT);
            if !self.connections.iter().any(|connection| connection.ends.host == host) {
                return Ends { guest, host };
            }
        }
    }

    fn has_packet(&self) -> bool {
        !self.resets.is_empty() || self.connections.iter().any(Connection::has_packet)
    }

    /// The next packet, of at most `room` bytes of data. `None` where there is none that fits.
    fn packet(&mut self, room: u64) -> Option<(Header, Vec<u8>)> {
        if let Some(reset) = self.resets.pop_front() {
            return Some((reset, Vec::new()));
        }
        for _ in 0..self.connections.len() {
            self.turn = (self.turn + 1) % self.connections.len();
            let connection = &mut self.connections[self.turn];
            if let Some((header, data)) = connection.packet(room) {
                let ends = connection.ends;
                return Some((self.addressed(ends, header), data));
            }
        }
        None
    }

    fn receive(&mut self, io: &mut QueueIo<'_>) -> Result<(), QueueError> {
        while self.has_packet() {
            let Some(chain) = io.pop()? else { break };
            let room = total(&chain.writable).checked_sub(HEADER_LEN as u64);
            let packet = room.and_then(|room| self.packet(room));
            let (header, data) = packet.ok_or(QueueError::Request("no room for a packet"))?;
            let bytes = [header.bytes().as_slice(), &data].concat();
            chain.write(io.memory(), 0, &bytes).ok_or(QueueError::Request("a buffer is not in RAM"))?;
            io.push(chain.head, bytes.len() as u32)?;
        }
        Ok(())
    }
}

impl VirtioDevice for VirtioVsock {
    fn id(&self) -> u32 {
        spec::DEVICE_ID
    }
    fn features(&self) -> u64 {
        spec::STREAM
    }
    fn queue_sizes(&self) -> &[u16] {
        &[spec::QUEUE_SIZE; spec::QUEUES]
    }
    fn config(&self) -> &[u8] {
        &self.config
    }
    fn start(&mut self, _features: u64) {}
    fn reset(&mut self) {
        self.connections.clear();
        self.leaving.clear();
        self.resets.clear();
        self.is_stalled = false;
    }
    fn notify(&mut self, queue: usize, io: &mut QueueIo<'_>) -> Result<(), QueueError> {
        match queue {
            spec::RECEIVE => self.receive(io),
            spec::TRANSMIT => self.transmit(io),
            // Events are for machines that move (§5.10.6.7); one with this device cannot be saved.
            _ => Ok(()),
        }
    }
    fn poll(&mut self, queues: &mut Queues<'_>) -> Result<(), QueueError> {
        if self.host.is_due() {
            self.pump();
        }
        if self.has_packet() {
            queues.with(spec::RECEIVE, |io| self.receive(io))?;
        }
        if self.is_stalled && self.resets.len() < MAX_RESETS {
            queues.with(spec::TRANSMIT, |io| self.transmit(io))?;
        }
        Ok(())
    }
    /// What is on its way is not the guest's yet.
    fn hash(&self, state: &mut dyn core::hash::Hasher) {
        state.write(&self.config);
    }
    /// The other ends of connections are the host's, and cannot be had again.
    fn persist(&mut self, _codec: &mut Codec<'_>) -> Result<(), Invalid> {
        Err(Invalid::new("a machine with --vsock cannot be saved: leave it out"))
    }
}
