//! The virtio console device: one port, without a size.
//!
//! The host's input waits without limit until the driver has buffers for it and the guest has printed something: Linux's
//! driver throws away what comes while nobody has the terminal open, and who opens it prints a prompt. One notification transmits at most
//! [`MAX_BYTES`]; what is beyond is dropped, so that no guest can keep the host busy without end.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use snapshot::{Codec, Invalid};
use virtio_mmio::{Chain, QueueError, QueueIo, Queues, VirtioDevice, part, total};

pub mod spec;
#[cfg(test)]
mod tests;

/// The most bytes that one notification transmits: 16 MiB.
pub const MAX_BYTES: u64 = 16 << 20;

/// Bytes moved at once.
const CHUNK: usize = 4096;

/// The host's side of a console. Clones are the same.
#[derive(Clone, Default)]
pub struct ConsoleQueue(Arc<Mutex<VecDeque<u8>>>);

impl ConsoleQueue {
    /// Gives `bytes` to the guest, as it takes them.
    pub fn push(&self, bytes: &[u8]) {
        self.lock().extend(bytes);
    }
    /// Bytes that the guest has not taken yet.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.lock().len()
    }
    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A console.
pub struct VirtioConsole {
    output: Box<dyn Write + Send>,
    input: ConsoleQueue,
    has_printed: bool,
}

impl VirtioConsole {
    /// A console that writes what the guest sends to `output`.
    pub fn new(output: Box<dyn Write + Send>) -> Self {
        Self { output, input: ConsoleQueue::default(), has_printed: false }
    }

    /// Its input.
    pub fn input(&self) -> ConsoleQueue {
        self.input.clone()
    }

    /// Where the host does not take it any more, it is lost: the guest has no way to be told.
    fn print(&mut self, bytes: &[u8]) {
        let _ = self.output.write_all(bytes);
    }

    fn transmit(&mut self, io: &mut QueueIo<'_>) -> Result<(), QueueError> {
        let mut budget = MAX_BYTES;
        while let Some(chain) = io.pop()? {
            let len = total(&chain.readable).min(budget);
            budget -= len;
            self.has_printed |= len != 0;
            for buffer in part(&chain.readable, 0, len) {
                let mut bytes = [0; CHUNK];
                for from in (0..buffer.len).step_by(CHUNK) {
                    let bytes = &mut bytes[..CHUNK.min((buffer.len - from) as usize)];
                    let read = io.memory().read(buffer.addr + u64::from(from), bytes);
                    read.ok_or(QueueError::Request("a buffer is not in RAM"))?;
                    self.print(bytes);
                }
            }
            io.push(chain.head, 0)?;
        }
        Ok(())
    }

    /// Fills the driver's buffers with what waits.
    fn receive(&mut self, io: &mut QueueIo<'_>) -> Result<(), QueueError> {
        if !self.has_printed {
            return Ok(());
        }
        let mut input = self.input.lock();
        while !input.is_empty() {
            let Some(chain) = io.pop()? else { break };
            let written = fill(&chain, io, &mut input)?;
            io.push(chain.head, written)?;
        }
        Ok(())
    }
}

fn fill(chain: &Chain, io: &QueueIo<'_>, input: &mut VecDeque<u8>) -> Result<u32, QueueError> {
    let room = total(&chain.writable).min(CHUNK as u64) as usize;
    if room == 0 {
        return Err(QueueError::Request("there is no room for a byte"));
    }
    let bytes: Vec<u8> = input.drain(..room.min(input.len())).collect();
    chain.write(io.memory(), 0, &bytes).ok_or(QueueError::Request("a buffer is not in RAM"))?;
    Ok(bytes.len() as u32)
}

impl VirtioDevice for VirtioConsole {
    fn id(&self) -> u32 {
        spec::DEVICE_ID
    }
    fn features(&self) -> u64 {
        spec::feature::EMERG_WRITE
    }
    fn queue_sizes(&self) -> &[u16] {
        &[spec::QUEUE_SIZE; 2]
    }
    fn config(&self) -> &[u8] {
        &[0; spec::CONFIG_LEN]
    }
    /// `emerg_wr` prints one character, even before the driver is live (§5.3.4).
    fn write_config(&mut self, offset: u64, bytes: &[u8]) {
        if let (spec::EMERG_WR, Some(character)) = (offset, bytes.first()) {
            self.print(&[*character]);
        }
    }
    fn start(&mut self, _features: u64) {}
    fn reset(&mut self) {
        self.has_printed = false;
    }
    fn notify(&mut self, queue: usize, io: &mut QueueIo<'_>) -> Result<(), QueueError> {
        match queue {
            spec::RECEIVE => self.receive(io),
            _ => self.transmit(io),
        }
    }
    fn poll(&mut self, queues: &mut Queues<'_>) -> Result<(), QueueError> {
        if self.input.waiting() == 0 {
            return Ok(());
        }
        queues.with(spec::RECEIVE, |io| self.receive(io)).map(drop)
    }
    /// What waits is not the guest's yet.
    fn hash(&self, state: &mut dyn core::hash::Hasher) {
        state.write_u8(self.has_printed.into());
    }
    /// What waits is part of it.
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { output: _, input, has_printed } = self;
        codec.each([has_printed, &mut *input.lock()])
    }
}
