//! A directory of the host for the guest: virtio's 9P transport and a server of 9P2000.L.
//!
//! What the guest cannot do: leave the directory ([`tree`]); open what is neither a regular file nor a directory, or make such;
//! give files away; set set-user-ID and its kin. What belongs to whoever runs the tool is the guest's root's. There are no
//! extended attributes, and locks are granted, as there is one client.
//!
//! What the guest sees follows from the directory's contents, permissions and times of modification, and from what it does:
//! entries come in the order of their names; files are numbered as they are first seen; what the guest changes is of the
//! guest's time; access and status-change times are those of modification; the size of the file system is a constant.
//! What others on the host change meanwhile is seen, and is then not the same on every run.

use snapshot::{Codec, Invalid};
use virtio_mmio::{QueueError, QueueIo, VirtioDevice, total};

mod fids;
mod server;
pub mod spec;
#[cfg(test)]
mod tests;
mod tree;
mod wire;

pub use tree::{Access, ShareError, Tree};

use server::Server;
use spec::{HEADER, errno, kind};
use wire::{Answer, Refusal};

/// A 9P transport with its server.
pub struct Virtio9p {
    config: Vec<u8>,
    server: Server,
    /// Seconds since 1970 at power-on.
    epoch: u64,
}

impl Virtio9p {
    /// A share of `tree` by the name `tag` (at most 65535 bytes), in a machine that was switched on at `epoch` (seconds since
    /// 1970).
    pub fn new(tree: Tree, tag: &str, epoch: u64) -> Self {
        let mut config = Answer::default();
        config.string(tag.as_bytes());
        Self { config: config.0, server: Server::new(tree), epoch }
    }

    /// One message, and the answer to it. `None` where it is not even a message.
    fn answer(&mut self, request: &[u8], room: u32, now: (u64, u32)) -> Option<Vec<u8>> {
        let (header, fields) = request.split_at_checked(HEADER)?;
        let (request_kind, tag) = (header[4], [header[5], header[6]]);
        let (answer_kind, fields) = match self.server.serve(request_kind, fields, room, now) {
            Ok(answer) => (request_kind.wrapping_add(1), answer.0),
            Err(Refusal(number)) => (kind::RLERROR, number.to_le_bytes().to_vec()),
        };
        let mut answer = ((HEADER + fields.len()) as u32).to_le_bytes().to_vec();
        answer.push(answer_kind);
        answer.extend(tag);
        answer.extend(fields);
        Some(answer)
    }
}

impl VirtioDevice for Virtio9p {
    fn id(&self) -> u32 {
        spec::DEVICE_ID
    }
    fn features(&self) -> u64 {
        spec::MOUNT_TAG
    }
    fn queue_sizes(&self) -> &[u16] {
        &[spec::QUEUE_SIZE]
    }
    fn config(&self) -> &[u8] {
        &self.config
    }
    fn start(&mut self, _features: u64) {}
    fn reset(&mut self) {
        self.server.forget();
    }
    fn notify(&mut self, _queue: usize, io: &mut QueueIo<'_>) -> Result<(), QueueError> {
        let now = (self.epoch + io.now() / 1_000_000_000, (io.now() % 1_000_000_000) as u32);
        while let Some(chain) = io.pop()? {
            // The message's own size says how much of the buffers it is.
            let mut size = [0; 4];
            chain.read(io.memory(), 0, &mut size).ok_or(QueueError::Request("a message of less than 4 bytes"))?;
            let size = u32::from_le_bytes(size);
            if size > self.server.message_size() {
                return Err(QueueError::Request("a message beyond the size agreed on"));
            }
            let mut request = vec![0; size as usize];
            chain.read(io.memory(), 0, &mut request).ok_or(QueueError::Request("a message beyond its buffers"))?;
            let room = total(&chain.writable).min(u64::from(self.server.message_size())) as u32;
            let answer = self.answer(&request, room, now).ok_or(QueueError::Request("a message without a header"))?;
            let answer = if answer.len() as u64 > u64::from(room) {
                // What was asked for does not fit; an error may.
                let mut error = 11u32.to_le_bytes().to_vec();
                error.push(kind::RLERROR);
                error.extend(&request[5..7]);
                error.extend(errno::EOVERFLOW.to_le_bytes());
                error
            } else {
                answer
            };
            chain.write(io.memory(), 0, &answer).ok_or(QueueError::Request("no room for an answer"))?;
            io.push(chain.head, answer.len() as u32)?;
        }
        Ok(())
    }
    /// The files are the host's and are not folded.
    fn hash(&self, state: &mut dyn core::hash::Hasher) {
        self.server.hash(state);
    }
    /// Open files and the numbers of those seen are of the host's directory, and cannot be had again elsewhere: a machine
    /// can be saved while its guest has the directory not mounted.
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { config, server, epoch: _ } = self;
        if !server.is_unused() {
            return Err(Invalid::new("a shared directory is in use: save before the guest mounts it"));
        }
        codec.same(config, "the name of a share")
    }
}
