//! What instructions can touch, by their words alone.

use std::sync::LazyLock;

use sem::footprint::Footprint;
use sem::{Decoder, Insn};

/// What the instruction `word` can touch; `None` where it is unallocated or reserved.
pub(crate) fn footprint(word: u32) -> Option<Footprint> {
    static DECODER: LazyLock<Decoder<Footprint>> = LazyLock::new(Decoder::new);
    let (id, spec) = DECODER.decode(word)?;
    let imm = (spec.prepare)(word)?;
    Some(Footprint::of(id, Insn::new(word, 0, imm)))
}

/// What follows from the words that were met lately.
#[derive(Debug)]
pub(crate) struct ByWord<T>(Vec<Option<(u32, T)>>);

impl<T> Default for ByWord<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy> ByWord<T> {
    const BITS: u32 = 12;

    /// What `find` says of `word`, or has said.
    pub(crate) fn of(&mut self, word: u32, find: impl FnOnce(u32) -> T) -> T {
        if self.0.is_empty() {
            self.0.resize(1 << Self::BITS, None);
        }
        // The words' low bits name registers: all bits take part.
        let place = (word.wrapping_mul(0x9e37_79b1) >> (32 - Self::BITS)) as usize;
        match self.0[place] {
            Some((known, value)) if known == word => value,
            _ => {
                let value = find(word);
                self.0[place] = Some((word, value));
                value
            }
        }
    }
}
