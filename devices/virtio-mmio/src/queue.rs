//! Split virtqueues (VIRTIO 1.2, §2.7), read with the distrust that a guest's memory deserves.

use std::sync::atomic::{Ordering, fence};

use snapshot::{Codec, Invalid};
use thiserror::Error;

use crate::spec::ring;
use bus::GuestMemory;

/// What a driver did wrong with a queue. The device then needs a reset.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum QueueError {
    /// The queue's size.
    #[error("queue size {0} is not a power of two within the device's limit")]
    Size(u32),
    /// The available ring's index.
    #[error("available index {index} is more than the queue's size ahead of {next}")]
    Index {
        /// The driver's index.
        index: u16,
        /// The next entry that the device would take.
        next: u16,
    },
    /// A descriptor's number.
    #[error("descriptor {index} in a table of {len}")]
    Descriptor {
        /// Its number.
        index: u16,
        /// Descriptors in the table.
        len: u32,
    },
    /// A chain that is longer than any can be, such as one that runs in a circle.
    #[error("descriptor chain from {0} is too long or runs in a circle")]
    Chain(u16),
    /// Memory that is not RAM.
    #[error("{len} bytes at {addr:#x} are not in RAM")]
    OutsideRam {
        /// Guest physical address.
        addr: u64,
        /// Length in bytes.
        len: u64,
    },
    /// An indirect descriptor that may not be one.
    #[error("indirect descriptor {0}")]
    Indirect(&'static str),
    /// A device-readable buffer after a device-writable one.
    #[error("a device-readable buffer after a device-writable one")]
    Order,
    /// A request that the device cannot even answer.
    #[error("malformed request: {0}")]
    Request(&'static str),
}

/// A buffer of a chain; it lies in RAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Guest physical address.
    pub addr: u64,
    /// Length in bytes, may be 0.
    pub len: u32,
}

/// Total length of buffers in bytes.
#[must_use]
pub fn total(buffers: &[Buffer]) -> u64 {
    buffers.iter().map(|b| u64::from(b.len)).sum()
}

/// The part of `buffers` that starts `skip` bytes in and is at most `take` bytes long.
pub fn part(buffers: &[Buffer], mut skip: u64, mut take: u64) -> impl Iterator<Item = Buffer> + '_ {
    buffers.iter().filter_map(move |b| {
        let len = u64::from(b.len);
        let from = skip.min(len);
        skip -= from;
        let n = take.min(len - from);
        take -= n;
        (n != 0).then_some(Buffer { addr: b.addr + from, len: n as u32 })
    })
}

/// A request: a chain of buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The descriptor it started from.
    pub head: u16,
    /// What the device may read.
    pub readable: Vec<Buffer>,
    /// What the device may write.
    pub writable: Vec<Buffer>,
}

impl Chain {
    /// Copies from the readable buffers, `skip` bytes in; `None` where they are too short.
    #[must_use]
    pub fn read(&self, memory: &GuestMemory, skip: u64, into: &mut [u8]) -> Option<()> {
        let mut done = 0;
        for buffer in part(&self.readable, skip, into.len() as u64) {
            memory.read(buffer.addr, &mut into[done..done + buffer.len as usize])?;
            done += buffer.len as usize;
        }
        (done == into.len()).then_some(())
    }
    /// Copies to the writable buffers, `skip` bytes in; `None` where they are too short.
    #[must_use]
    pub fn write(&self, memory: &GuestMemory, skip: u64, from: &[u8]) -> Option<()> {
        let mut done = 0;
        for buffer in part(&self.writable, skip, from.len() as u64) {
            memory.write(buffer.addr, &from[done..done + buffer.len as usize])?;
            done += buffer.len as usize;
        }
        (done == from.len()).then_some(())
    }
}

/// What the driver set up, and how far the device is.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pub max: u16,
    pub size: u32,
    pub ready: bool,
    /// Descriptor area.
    pub desc: u64,
    /// Driver area, the available ring.
    pub driver: u64,
    /// Device area, the used ring.
    pub device: u64,
    next_avail: u16,
    next_used: u16,
}

impl Queue {
    pub const fn new(max: u16) -> Self {
        Self { max, size: max as u32, ready: false, desc: 0, driver: 0, device: 0, next_avail: 0, next_used: 0 }
    }

    /// `QueueReady` is written with 1.
    pub fn start(&mut self) -> Result<(), QueueError> {
        if !self.size.is_power_of_two() || self.size > u32::from(self.max.min(ring::MAX_SIZE)) {
            return Err(QueueError::Size(self.size));
        }
        self.ready = true;
        self.next_avail = 0;
        self.next_used = 0;
        Ok(())
    }

    pub fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { max: _, size, ready, desc, driver, device, next_avail, next_used } = self;
        codec.each([size, ready, desc, driver, device, next_avail, next_used])?;
        if self.ready && (!self.size.is_power_of_two() || self.size > u32::from(self.max.min(ring::MAX_SIZE))) {
            return Err(Invalid::new("a queue in use whose size cannot be"));
        }
        Ok(())
    }

    pub fn hash(&self, state: &mut dyn core::hash::Hasher) {
        for value in [u64::from(self.size), u64::from(self.ready), self.desc, self.driver, self.device] {
            state.write_u64(value);
        }
        state.write_u16(self.next_avail);
        state.write_u16(self.next_used);
    }
}

/// Whether the driver negotiated `VIRTIO_F_INDIRECT_DESC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Indirect {
    Negotiated,
    Refused,
}

/// All queues in the hands of their device.
pub struct Queues<'a> {
    all: &'a mut [Queue],
    memory: &'a GuestMemory,
    indirect: Indirect,
    now: u64,
    wants_interrupt: bool,
}

impl<'a> Queues<'a> {
    pub(crate) fn new(all: &'a mut [Queue], memory: &'a GuestMemory, indirect: Indirect, now: u64) -> Self {
        Self { all, memory, indirect, now, wants_interrupt: false }
    }

    /// The machine's time in nanoseconds since power-on.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Works on queue number `index`; `None` where the driver has not made it ready.
    pub fn with<R>(
        &mut self,
        index: usize,
        work: impl FnOnce(&mut QueueIo<'_>) -> Result<R, QueueError>,
    ) -> Result<Option<R>, QueueError> {
        let Some(queue) = self.all.get_mut(index).filter(|queue| queue.ready) else { return Ok(None) };
        let mut io = QueueIo::new(queue, self.memory, self.indirect, self.now);
        let result = work(&mut io);
        // What was completed before an error is announced all the same.
        self.wants_interrupt |= io.wants_interrupt()?;
        result.map(Some)
    }

    pub(crate) fn wants_interrupt(&self) -> bool {
        self.wants_interrupt
    }
}

/// A queue in the hands of its device.
pub struct QueueIo<'a> {
    queue: &'a mut Queue,
    memory: &'a GuestMemory,
    indirect: Indirect,
    /// Requests that may still be taken.
    left: u32,
    used: u32,
    now: u64,
}

impl<'a> QueueIo<'a> {
    pub(crate) fn new(queue: &'a mut Queue, memory: &'a GuestMemory, indirect: Indirect, now: u64) -> Self {
        let left = queue.size;
        Self { queue, memory, indirect, left, used: 0, now }
    }

    /// The machine's time in nanoseconds since power-on.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Guest memory.
    #[must_use]
    pub fn memory(&self) -> &'a GuestMemory {
        self.memory
    }

    /// Takes the next request, `None` when there is none. All its buffers lie in RAM.
    ///
    /// One notification brings at most as many requests as the queue has entries, so that a driver on another host
    /// thread cannot keep the device busy without end; what it adds meanwhile, it notifies again.
    pub fn pop(&mut self) -> Result<Option<Chain>, QueueError> {
        let queue = &mut *self.queue;
        let index = read_u16(self.memory, queue.driver, 2)?;
        let ahead = index.wrapping_sub(queue.next_avail);
        if u32::from(ahead) > queue.size {
            return Err(QueueError::Index { index, next: queue.next_avail });
        }
        if ahead == 0 || self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        // The index was read before the entries that it covers.
        fence(Ordering::Acquire);
        let slot = u64::from(queue.next_avail) % u64::from(queue.size);
        let head = read_u16(self.memory, queue.driver, 4 + 2 * slot)?;
        queue.next_avail = queue.next_avail.wrapping_add(1);
        self.chain(head).map(Some)
    }

    /// Gives a request back, of whose writable buffers the device wrote `written` bytes.
    pub fn push(&mut self, head: u16, written: u32) -> Result<(), QueueError> {
        let queue = &mut *self.queue;
        let slot = u64::from(queue.next_used) % u64::from(queue.size);
        let mut element = [0; 8];
        element[..4].copy_from_slice(&u32::from(head).to_le_bytes());
        element[4..].copy_from_slice(&written.to_le_bytes());
        let outside = QueueError::OutsideRam { addr: queue.device, len: 4 + 8 * u64::from(queue.size) };
        let at = |offset: u64| queue.device.checked_add(offset);
        at(4 + 8 * slot).and_then(|addr| self.memory.write(addr, &element)).ok_or(outside.clone())?;
        // The element is there before the index that covers it.
        fence(Ordering::Release);
        let next = queue.next_used.wrapping_add(1);
        at(2).and_then(|addr| self.memory.write_u16(addr, next)).ok_or(outside)?;
        queue.next_used = next;
        self.used += 1;
        Ok(())
    }

    /// Does the driver want an interrupt for what was pushed?
    pub(crate) fn wants_interrupt(&self) -> Result<bool, QueueError> {
        Ok(self.used != 0 && read_u16(self.memory, self.queue.driver, 0)? & ring::NO_INTERRUPT == 0)
    }

    fn chain(&self, head: u16) -> Result<Chain, QueueError> {
        let mut chain = Chain { head, readable: vec![], writable: vec![] };
        let (mut table, mut len, mut nesting) = (self.queue.desc, self.queue.size, Nesting::Ring);
        let mut index = head;
        let mut bytes = 0u64;
        for _ in 0..ring::MAX_CHAIN {
            if u32::from(index) >= len {
                return Err(QueueError::Descriptor { index, len });
            }
            let desc = Descriptor::read(self.memory, table, index)?;
            if desc.flags & ring::INDIRECT != 0 {
                if self.indirect == Indirect::Refused {
                    return Err(QueueError::Indirect("without VIRTIO_F_INDIRECT_DESC"));
                }
                if nesting == Nesting::Indirect {
                    return Err(QueueError::Indirect("in an indirect table"));
                }
                if desc.flags & ring::NEXT != 0 {
                    return Err(QueueError::Indirect("with a next one"));
                }
                if desc.len == 0 || !u64::from(desc.len).is_multiple_of(ring::DESC_SIZE) {
                    return Err(QueueError::Indirect("whose length is not a number of descriptors"));
                }
                (table, len, nesting) = (desc.addr, desc.len / ring::DESC_SIZE as u32, Nesting::Indirect);
                index = 0;
                continue;
            }
            if desc.len != 0 && !self.memory.contains(desc.addr, desc.len.into()) {
                return Err(QueueError::OutsideRam { addr: desc.addr, len: desc.len.into() });
            }
            // A chain is shorter than 2^32 bytes (§2.7.5).
            bytes += u64::from(desc.len);
            if bytes > u64::from(u32::MAX) {
                return Err(QueueError::Chain(head));
            }
            let buffer = Buffer { addr: desc.addr, len: desc.len };
            if desc.flags & ring::WRITE != 0 {
                chain.writable.push(buffer);
            } else if chain.writable.is_empty() {
                chain.readable.push(buffer);
            } else {
                return Err(QueueError::Order);
            }
            if desc.flags & ring::NEXT == 0 {
                return Ok(chain);
            }
            index = desc.next;
        }
        Err(QueueError::Chain(head))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Nesting {
    Ring,
    Indirect,
}

struct Descriptor {
    addr: u64,
    len: u32,
    flags: u16,
    next: u16,
}

impl Descriptor {
    fn read(memory: &GuestMemory, table: u64, index: u16) -> Result<Self, QueueError> {
        let mut raw = [0; ring::DESC_SIZE as usize];
        let outside = QueueError::OutsideRam { addr: table, len: ring::DESC_SIZE * (u64::from(index) + 1) };
        let addr = table.checked_add(ring::DESC_SIZE * u64::from(index));
        addr.and_then(|addr| memory.read(addr, &mut raw)).ok_or(outside)?;
        let field = |at: usize, n: usize| (0..n).rev().fold(0, |v, i| v << 8 | u64::from(raw[at + i]));
        Ok(Self { addr: field(0, 8), len: field(8, 4) as u32, flags: field(12, 2) as u16, next: field(14, 2) as u16 })
    }
}

fn read_u16(memory: &GuestMemory, base: u64, offset: u64) -> Result<u16, QueueError> {
    let addr = base.checked_add(offset);
    addr.and_then(|addr| memory.read_u16(addr)).ok_or(QueueError::OutsideRam { addr: base, len: offset + 2 })
}
