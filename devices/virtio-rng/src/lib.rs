//! The virtio entropy device. Its bytes follow from the machine's seed alone, so that runs repeat: nothing in a guest that
//! has to be secret may depend on them.

use bus::Entropy;
use snapshot::{Codec, Invalid};
use virtio_mmio::{Chain, GuestMemory, QueueError, QueueIo, VirtioDevice, total};

pub mod spec;
#[cfg(test)]
mod tests;

/// The most bytes that one request gets; the device may give less than was asked for (§5.4.6.1).
pub const MAX_BYTES: u64 = 4096;

/// An entropy device.
pub struct VirtioRng {
    entropy: Entropy,
}

impl VirtioRng {
    /// One that gives the bytes of `entropy`. A reset does not start them again.
    pub fn new(entropy: Entropy) -> Self {
        Self { entropy }
    }

    fn serve(&mut self, chain: &Chain, memory: &GuestMemory) -> Result<u32, QueueError> {
        let mut bytes = [0; MAX_BYTES as usize];
        let bytes = &mut bytes[..total(&chain.writable).min(MAX_BYTES) as usize];
        if bytes.is_empty() {
            return Err(QueueError::Request("there is no room for a byte"));
        }
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.entropy.next_u64().to_le_bytes()[..chunk.len()]);
        }
        chain.write(memory, 0, bytes).ok_or(QueueError::Request("a buffer is not in RAM"))?;
        Ok(bytes.len() as u32)
    }
}

impl VirtioDevice for VirtioRng {
    fn id(&self) -> u32 {
        spec::DEVICE_ID
    }
    fn features(&self) -> u64 {
        0
    }
    fn queue_sizes(&self) -> &[u16] {
        &[spec::QUEUE_SIZE]
    }
    fn config(&self) -> &[u8] {
        &[]
    }
    fn start(&mut self, _features: u64) {}
    fn reset(&mut self) {}
    fn notify(&mut self, _queue: usize, io: &mut QueueIo<'_>) -> Result<(), QueueError> {
        while let Some(chain) = io.pop()? {
            let written = self.serve(&chain, io.memory())?;
            io.push(chain.head, written)?;
        }
        Ok(())
    }
    fn hash(&self, mut state: &mut dyn core::hash::Hasher) {
        core::hash::Hash::hash(&self.entropy, &mut state);
    }
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { entropy } = self;
        codec.value(entropy)
    }
}
