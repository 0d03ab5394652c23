//! The virtio network card, and what its cable leads to ([`user::UserNet`]).
//!
//! This is the one device whose input comes from the host's network, in the host's time: runs with it do not repeat.

use snapshot::{Codec, Invalid};
use virtio_mmio::{QueueError, QueueIo, Queues, VirtioDevice, total};

pub mod spec;
#[cfg(test)]
mod tests;
pub mod user;

pub use user::{Forward, NetError, UserConfig, UserNet};

use spec::{HEADER_LEN, MAX_FRAME};

/// What a cable leads to.
pub trait Link: Send {
    /// The guest sends a frame, at `now` in nanoseconds since power-on.
    fn send(&mut self, frame: &[u8], now: u64);
    /// Time has passed.
    fn poll(&mut self, now: u64);
    /// The next frame for the guest, of at most [`MAX_FRAME`] bytes.
    fn receive(&mut self) -> Option<Vec<u8>>;
    /// The guest's driver starts again.
    fn reset(&mut self);
}

/// A network card.
pub struct VirtioNet {
    mac: [u8; 6],
    link: Box<dyn Link>,
    /// A frame that had no buffer.
    waiting: Option<Vec<u8>>,
}

impl VirtioNet {
    /// A card with the address `mac`, on `link`.
    pub fn new(mac: [u8; 6], link: Box<dyn Link>) -> Self {
        Self { mac, link, waiting: None }
    }

    /// Frames that are too short or too long are dropped, as on a wire.
    fn transmit(&mut self, io: &mut QueueIo<'_>) -> Result<(), QueueError> {
        while let Some(chain) = io.pop()? {
            let len = total(&chain.readable);
            let frame_len = len.checked_sub(HEADER_LEN as u64).ok_or(QueueError::Request("no header"))?;
            if (14..=MAX_FRAME as u64).contains(&frame_len) {
                let mut frame = vec![0; frame_len as usize];
                let read = chain.read(io.memory(), HEADER_LEN as u64, &mut frame);
                read.ok_or(QueueError::Request("a buffer is not in RAM"))?;
                self.link.send(&frame, io.now());
            }
            io.push(chain.head, 0)?;
        }
        Ok(())
    }

    fn receive(&mut self, io: &mut QueueIo<'_>) -> Result<(), QueueError> {
        while let Some(frame) = self.waiting.take().or_else(|| self.link.receive()) {
            let Some(chain) = io.pop()? else {
                self.waiting = Some(frame);
                break;
            };
            // No offloads, one buffer.
            let mut bytes = vec![0; HEADER_LEN];
            bytes[10] = 1;
            bytes.extend(frame);
            // The driver gives room for whole frames (§5.1.6.3.1).
            chain.write(io.memory(), 0, &bytes).ok_or(QueueError::Request("no room for a frame"))?;
            io.push(chain.head, bytes.len() as u32)?;
        }
        Ok(())
    }
}

impl VirtioDevice for VirtioNet {
    fn id(&self) -> u32 {
        spec::DEVICE_ID
    }
    fn features(&self) -> u64 {
        spec::MAC
    }
    fn queue_sizes(&self) -> &[u16] {
        &[spec::QUEUE_SIZE; 2]
    }
    fn config(&self) -> &[u8] {
        &self.mac
    }
    fn start(&mut self, _features: u64) {}
    fn reset(&mut self) {
        self.waiting = None;
        self.link.reset();
    }
    fn notify(&mut self, queue: usize, io: &mut QueueIo<'_>) -> Result<(), QueueError> {
        match queue {
            spec::RECEIVE => self.receive(io),
            _ => self.transmit(io),
        }
    }
    fn poll(&mut self, queues: &mut Queues<'_>) -> Result<(), QueueError> {
        self.link.poll(queues.now());
        if self.waiting.is_none() {
            self.waiting = self.link.receive();
        }
        if self.waiting.is_none() {
            return Ok(());
        }
        queues.with(spec::RECEIVE, |io| self.receive(io)).map(drop)
    }
    /// What is on its way is not the guest's yet.
    fn hash(&self, state: &mut dyn core::hash::Hasher) {
        state.write(&self.mac);
    }
    /// What the cable leads to is the host's, and cannot be had again.
    fn persist(&mut self, _codec: &mut Codec<'_>) -> Result<(), Invalid> {
        Err(Invalid::new("a machine with a network cannot be saved: leave --net out"))
    }
}
