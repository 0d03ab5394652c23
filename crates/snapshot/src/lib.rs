//! Snapshots of a machine: how state becomes bytes ([`Codec`], [`Persist`]) and what a file of them looks like
//! ([`Writer`], [`Reader`]).
//!
//! One function describes a part's state for both directions, so that what is saved and what is loaded cannot differ. It
//! takes its structure apart without `..`, so that a new field does not compile until someone decides what it is in a
//! snapshot.
//!
//! Nothing in a file is believed: sections carry checksums, lengths are bounded before memory is taken for them, and each
//! value that a part could not have had by itself is refused.

mod codec;
mod file;
#[cfg(feature = "testing")]
pub mod testing;
mod values;

pub use codec::{Codec, Invalid, Persist};
pub use file::{MAX_SECTION, Reader, SnapshotError, VERSION, Writer};

use xxhash_rust::xxh3::Xxh3;

/// A digest of bytes, for what a snapshot refers to and does not hold.
#[derive(Default)]
pub struct Digest(Xxh3);

impl Digest {
    /// Of nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    /// The digest of all that was added.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.0.digest()
    }
    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> u64 {
        xxhash_rust::xxh3::xxh3_64(bytes)
    }
}
