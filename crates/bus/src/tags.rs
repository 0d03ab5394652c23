//! Allocation tags of guest RAM (FEAT_MTE2): 4 bits for each 16 bytes. Nothing is allocated for a stretch of RAM in
//! which no tag other than 0 was ever set.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Bytes of RAM whose tags are allocated together.
const CHUNK: u64 = 64 * 1024;
/// Two tags in a byte, the one of the lower granule in the low half.
const CHUNK_TAGS: usize = (CHUNK / 32) as usize;

type Chunk = Box<[AtomicU8]>;

/// The tags.
#[derive(Debug)]
pub(crate) struct TagStore {
    bytes: u64,
    chunks: OnceLock<Box<[OnceLock<Chunk>]>>,
}

impl TagStore {
    /// All tags 0, for RAM of that size.
    pub(crate) fn new(bytes: u64) -> Self {
        Self { bytes, chunks: OnceLock::new() }
    }

    /// The byte in its chunk, and the shift, of the tag at `offset`.
    fn place(offset: u64) -> (usize, u32) {
        ((offset % CHUNK / 32) as usize, (offset / 16 % 2 * 4) as u32)
    }

    /// The tag of the granule that holds `offset`; 0 outside RAM.
    pub(crate) fn get(&self, offset: u64) -> u8 {
        let (byte, shift) = Self::place(offset);
        let chunk = self.chunks.get().and_then(|chunks| chunks.get((offset / CHUNK) as usize)?.get());
        chunk.map_or(0, |chunk| chunk[byte].load(Relaxed) >> shift & 15)
    }

    /// Sets it; outside RAM nothing happens.
    pub(crate) fn set(&self, offset: u64, tag: u8) {
        if tag == 0 && self.get(offset) == 0 {
            return;
        }
        let chunks = self.chunks.get_or_init(|| (0..self.bytes.div_ceil(CHUNK)).map(|_| OnceLock::new()).collect());
        let Some(chunk) = chunks.get((offset / CHUNK) as usize) else { return };
        let chunk = chunk.get_or_init(|| (0..CHUNK_TAGS).map(|_| AtomicU8::new(0)).collect());
        let (byte, shift) = Self::place(offset);
        // Another PE may set the neighbour.
        let mut old = chunk[byte].load(Relaxed);
        let new = |old: u8| old & !(15 << shift) | (tag & 15) << shift;
        while let Err(found) = chunk[byte].compare_exchange_weak(old, new(old), Relaxed, Relaxed) {
            old = found;
        }
    }

    /// The tags from `offset` on (a multiple of 32) for `bytes`, two in a byte; `None` where all are 0.
    pub(crate) fn packed(&self, offset: u64, bytes: u64) -> Option<Vec<u8>> {
        let chunks = self.chunks.get()?;
        let mut seen = false;
        let pair = |at: u64| {
            let chunk = chunks.get((at / CHUNK) as usize)?.get()?;
            Some(chunk[Self::place(at).0].load(Relaxed))
        };
        let pairs = (offset..offset + bytes).step_by(32).map(|at| pair(at).unwrap_or(0));
        let packed = pairs.inspect(|pair| seen |= *pair != 0).collect();
        seen.then_some(packed)
    }

    /// Folds the tags that are not 0 into `state`.
    pub(crate) fn hash(&self, state: &mut dyn core::hash::Hasher) {
        for (index, chunk) in self.chunks.get().into_iter().flatten().enumerate() {
            for (at, pair) in chunk.get().into_iter().flatten().enumerate() {
                let pair = pair.load(Relaxed);
                if pair != 0 {
                    state.write_u64(index as u64 * CHUNK + at as u64 * 32);
                    state.write_u8(pair);
                }
            }
        }
    }

    #[cfg(test)]
    fn allocated(&self) -> usize {
        self.chunks.get().into_iter().flatten().filter(|chunk| chunk.get().is_some()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(store: &TagStore) -> u64 {
        use core::hash::Hasher as _;
        let mut state = std::hash::DefaultHasher::new();
        store.hash(&mut state);
        state.finish()
    }

    #[test]
    fn tags_are_apart_and_lazy() {
        let (store, empty) = (TagStore::new(CHUNK + 48), TagStore::new(CHUNK + 48));
        store.set(0, 0);
        assert!(store.chunks.get().is_none(), "zeros need no room");
        store.set(CHUNK + 16, 5);
        store.set(CHUNK + 32, 0xfa);
        assert_eq!(store.allocated(), 1);
        let tags = [0, CHUNK, CHUNK + 15, CHUNK + 16, CHUNK + 31, CHUNK + 32].map(|at| store.get(at));
        assert_eq!(tags, [0, 0, 0, 5, 5, 10]);
        store.set(CHUNK * 2, 7);
        assert_eq!((store.get(CHUNK * 2), store.get(u64::MAX)), (0, 0), "outside RAM");
        assert_ne!(digest(&store), digest(&empty));
        store.set(CHUNK + 16, 0);
        store.set(CHUNK + 32, 0);
        assert_eq!(digest(&store), digest(&empty), "allocated zeros do not show");
    }
}
