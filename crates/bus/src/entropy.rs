//! Values that look random to the guest and follow from the machine's seed alone.

use snapshot::{Codec, Invalid, Persist};

/// A stream of bits that the seed and a purpose determine. Not for cryptography on the host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entropy(u64);

impl Persist for Entropy {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        codec.value(&mut self.0)
    }
}

impl Entropy {
    /// The stream of `seed` for `purpose`; streams of two purposes do not share values.
    pub fn new(seed: u64, purpose: &str) -> Self {
        let mut stream = Self(seed);
        for byte in purpose.bytes() {
            stream.0 = stream.next_u64() ^ u64::from(byte);
        }
        stream
    }

    /// The next 64 bits (SplitMix64, Steele, Lea and Flood 2014).
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// The next `N` bytes.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        for chunk in out.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values() {
        // The first outputs of SplitMix64 for seed 1234567, as its reference implementation gives them.
        let mut stream = Entropy(1234567);
        assert_eq!([stream.next_u64(), stream.next_u64()], [6457827717110365317, 3203168211198807973]);
    }

    #[test]
    fn streams_differ_by_seed_and_purpose() {
        let first = |seed, purpose| Entropy::new(seed, purpose).bytes::<32>();
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(2, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(0, "ab"), first(0, "ba"));
    }
}
