//! The virtio block device over a [`Disk`].
//!
//! Requests complete before the notification that brings them returns. A disk has the whole 512-byte sectors of what
//! is behind it; a rest is cut off. Whatever the host cannot do, and whatever lies beyond the end, reaches the guest
//! as `VIRTIO_BLK_S_IOERR`. One notification moves at most [`MAX_BYTES`]; requests beyond that fail too, so that no
//! guest can keep the host busy without end. Once a flush has failed, all later ones fail.

use snapshot::{Codec, Digest, Invalid};
use virtio_mmio::{Buffer, Chain, GuestMemory, QueueError, QueueIo, VirtioDevice, part, total};

mod disk;
pub mod spec;
#[cfg(test)]
mod tests;

pub use disk::{Access, Disk, DiskError, FileDisk};

use spec::{CONFIG_LEN, FLAG_UNMAP, HEADER_LEN, ID_LEN, RANGE_LEN, SECTOR, Status, feature, request};

/// The most bytes that the requests of one notification move: 1 GiB.
pub const MAX_BYTES: u64 = 1 << 30;

/// Bytes moved at once between disk and guest.
const CHUNK: usize = 1 << 16;

/// A block device.
pub struct VirtioBlk {
    disk: Box<dyn Disk>,
    id: [u8; ID_LEN],
    config: [u8; CONFIG_LEN],
    sectors: u64,
    /// What the driver negotiated.
    features: u64,
    buffer: Vec<u8>,
    /// Bytes that this notification may still move.
    budget: u64,
    /// A flush has failed: what was written before it may be gone from the host's cache, and no later one brings it back.
    is_lost: bool,
}

impl VirtioBlk {
    /// A block device over `disk`, which names itself `id` to the guest (its first 20 bytes).
    pub fn new(disk: Box<dyn Disk>, id: &str) -> Self {
        let sectors = disk.len() / SECTOR;
        let mut name = [0; ID_LEN];
        let n = id.len().min(ID_LEN);
        name[..n].copy_from_slice(&id.as_bytes()[..n]);
        Self {
            disk,
            id: name,
            config: spec::config(sectors),
            sectors,
            features: 0,
            buffer: vec![0; CHUNK],
            budget: 0,
            is_lost: false,
        }
    }

    /// Carries out one request and writes its status. Gives the bytes written for the used ring: always up to the
    /// status, which is the last one.
    fn serve(&mut self, chain: &Chain, memory: &GuestMemory) -> Result<u32, QueueError> {
        let mut header = [0; HEADER_LEN];
        chain.read(memory, 0, &mut header).ok_or(QueueError::Request("the header has less than 16 bytes"))?;
        let room = total(&chain.writable).checked_sub(1).ok_or(QueueError::Request("there is no room for a status"))?;
        let kind = le(&header[..4]) as u32;
        let sector = le(&header[8..]);
        let status = match kind {
            request::IN => {
                self.transfer(sector, &chain.writable, 0, room, |blk, buffer, at| blk.disk_to_guest(memory, buffer, at))
            }
            request::OUT => {
                let len = total(&chain.readable) - HEADER_LEN as u64;
                self.writable()
                    .and_then(|()| {
                        self.transfer(sector, &chain.readable, HEADER_LEN as u64, len, |blk, buffer, at| {
                            blk.guest_to_disk(memory, buffer, at)
                        })
                    })
                    // Without a way to flush, the driver takes a completed write for durable (§5.2.6.2).
                    .and_then(|()| if self.features & feature::FLUSH == 0 { self.flush() } else { Ok(()) })
            }
            request::FLUSH => self.flush(),
            request::GET_ID => {
                let n = room.min(ID_LEN as u64) as usize;
                chain.write(memory, 0, &self.id[..n]).ok_or(Status::IoErr)
            }
            request::DISCARD if self.features & feature::DISCARD != 0 => self.ranges(chain, memory, Range::Discard),
            request::WRITE_ZEROES if self.features & feature::WRITE_ZEROES != 0 => {
                self.ranges(chain, memory, Range::WriteZeroes)
            }
            _ => Err(Status::Unsupp),
        };
        let status = status.err().unwrap_or(Status::Ok);
        chain.write(memory, room, &[status as u8]).ok_or(QueueError::Request("the status is not in RAM"))?;
        Ok((room + 1) as u32)
    }

    /// A digest of all that is on the disk.
    fn digest(&mut self) -> std::io::Result<u64> {
        let mut digest = Digest::new();
        let end = self.sectors * SECTOR;
        let mut at = 0;
        while at < end {
            let n = (end - at).min(CHUNK as u64);
            let bytes = &mut self.buffer[..n as usize];
            self.disk.read_at(at, bytes)?;
            digest.add(bytes);
            at += n;
        }
        Ok(digest.value())
    }

    fn writable(&self) -> Result<(), Status> {
        match self.disk.access() {
            Access::ReadOnly => Err(Status::IoErr),
            Access::ReadWrite => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), Status> {
        if self.disk.access() == Access::ReadOnly {
            return Ok(());
        }
        // A host tells of a page that it could not write once, and takes it for written then.
        if self.is_lost {
            return Err(Status::IoErr);
        }
        self.disk.flush().map_err(|_| {
            self.is_lost = true;
            Status::IoErr
        })
    }

    /// The byte position of `len` bytes from `sector`, which must lie on the disk, be whole sectors, and fit the
    /// budget.
    fn claim(&mut self, sector: u64, len: u64) -> Result<u64, Status> {
        let end = sector.checked_add(len.div_ceil(SECTOR)).ok_or(Status::IoErr)?;
        if end > self.sectors || !len.is_multiple_of(SECTOR) {
            return Err(Status::IoErr);
        }
        self.budget = self.budget.checked_sub(len).ok_or(Status::IoErr)?;
        Ok(sector * SECTOR)
    }

    /// Moves `len` bytes, `skip` bytes into `buffers`, by `step`, in pieces of at most [`CHUNK`].
    fn transfer(
        &mut self,
        sector: u64,
        buffers: &[Buffer],
        skip: u64,
        len: u64,
        mut step: impl FnMut(&mut Self, Buffer, u64) -> Result<(), Status>,
    ) -> Result<(), Status> {
        let mut at = self.claim(sector, len)?;
        for buffer in part(buffers, skip, len) {
            let mut done = 0;
            while done < buffer.len {
                let n = (buffer.len - done).min(CHUNK as u32);
                step(self, Buffer { addr: buffer.addr + u64::from(done), len: n }, at)?;
                done += n;
                at += u64::from(n);
            }
        }
        Ok(())
    }

    fn disk_to_guest(&mut self, memory: &GuestMemory, buffer: Buffer, at: u64) -> Result<(), Status> {
        let bytes = &mut self.buffer[..buffer.len as usize];
        self.disk.read_at(at, bytes).map_err(|_| Status::IoErr)?;
        memory.write(buffer.addr, bytes).ok_or(Status::IoErr)
    }

    fn guest_to_disk(&mut self, memory: &GuestMemory, buffer: Buffer, at: u64) -> Result<(), Status> {
        let bytes = &mut self.buffer[..buffer.len as usize];
        memory.read(buffer.addr, bytes).ok_or(Status::IoErr)?;
        self.disk.write_at(at, bytes).map_err(|_| Status::IoErr)
    }

    /// A discard or write-zeroes request: its data are the ranges.
    fn ranges(&mut self, chain: &Chain, memory: &GuestMemory, kind: Range) -> Result<(), Status> {
        self.writable()?;
        let len = total(&chain.readable) - HEADER_LEN as u64;
        let count = len / RANGE_LEN as u64;
        if !len.is_multiple_of(RANGE_LEN as u64) || count == 0 || count > spec::MAX_RANGES.into() {
            return Err(Status::IoErr);
        }
        for n in 0..count {
            let mut raw = [0; RANGE_LEN];
            chain.read(memory, HEADER_LEN as u64 + n * RANGE_LEN as u64, &mut raw).ok_or(Status::IoErr)?;
            let (sector, sectors, flags) = (le(&raw[..8]), le(&raw[8..12]) as u32, le(&raw[12..]) as u32);
            // Unknown flags, and unmap in a discard, are unsupported (§5.2.6.2).
            if flags & !(if kind == Range::Discard { 0 } else { FLAG_UNMAP }) != 0 {
                return Err(Status::Unsupp);
            }
            if sectors > spec::MAX_RANGE_SECTORS {
                return Err(Status::IoErr);
            }
            let len = u64::from(sectors) * SECTOR;
            let at = self.claim(sector, len)?;
            match kind {
                Range::Discard if len == 0 => {}
                Range::Discard => self.disk.discard(at, len).map_err(|_| Status::IoErr)?,
                Range::WriteZeroes => self.write_zeroes(at, len)?,
            }
        }
        Ok(())
    }

    fn write_zeroes(&mut self, at: u64, len: u64) -> Result<(), Status> {
        self.buffer.fill(0);
        let mut done = 0;
        while done < len {
            let n = (len - done).min(CHUNK as u64);
            self.disk.write_at(at + done, &self.buffer[..n as usize]).map_err(|_| Status::IoErr)?;
            done += n;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Range {
    Discard,
    WriteZeroes,
}

/// A little-endian number.
fn le(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, b| value << 8 | u64::from(*b))
}

impl VirtioDevice for VirtioBlk {
    fn id(&self) -> u32 {
        spec::DEVICE_ID
    }
    fn features(&self) -> u64 {
        feature::SEG_MAX
            | feature::BLK_SIZE
            | feature::FLUSH
            | match self.disk.access() {
                Access::ReadOnly => feature::RO,
                Access::ReadWrite => feature::DISCARD | feature::WRITE_ZEROES,
            }
    }
    fn queue_sizes(&self) -> &[u16] {
        &[spec::QUEUE_SIZE]
    }
    fn config(&self) -> &[u8] {
        &self.config
    }
    fn start(&mut self, features: u64) {
        self.features = features;
    }
    fn reset(&mut self) {
        self.features = 0;
    }
    fn notify(&mut self, _queue: usize, io: &mut QueueIo<'_>) -> Result<(), QueueError> {
        self.budget = MAX_BYTES;
        while let Some(chain) = io.pop()? {
            let written = self.serve(&chain, io.memory())?;
            io.push(chain.head, written)?;
        }
        Ok(())
    }
    /// The disk's contents are not folded: they are the host's, and may be large.
    fn hash(&self, state: &mut dyn core::hash::Hasher) {
        state.write_u64(self.sectors);
        state.write_u64(self.features);
    }
    /// The disk itself is not in a snapshot, but a digest of it: a machine goes on only with the disk that it had.
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let digest = self.digest().map_err(|error| Invalid::new(format!("the disk cannot be read: {error}")))?;
        // What was lost shows in the digest.
        let Self { disk, id: _, config: _, sectors, features, buffer: _, budget: _, is_lost: _ } = self;
        codec.same(sectors, "the length of the disk")?;
        codec.same(&(disk.access() == Access::ReadWrite), "whether the disk can be written")?;
        codec.same(&digest, "what is on the disk (was it written since?)")?;
        codec.value(features)
    }
}
