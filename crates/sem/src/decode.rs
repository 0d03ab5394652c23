//! From a word to its encoding: the most specific line wins.

use crate::machine::Machine;
use crate::pattern::Pattern;
use crate::spec::{Spec, specs};

/// The position of an encoding's line in [`specs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InsnId(pub u16);

/// The encodings of `M`, indexed for look-up by bits \[31:21\].
pub struct Decoder<M: Machine> {
    lines: Vec<&'static Spec<M>>,
    /// For each value of bits \[31:21\] the range in `order` of lines that may match.
    buckets: Vec<(u32, u32)>,
    /// Line numbers, bucket by bucket, the most specific (most fixed bits) first.
    order: Vec<u16>,
}

const INDEX_BITS: u32 = 11;

impl<M: Machine> Default for Decoder<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Machine> Decoder<M> {
    /// Builds the index.
    #[must_use]
    pub fn new() -> Self {
        let lines = specs::<M>();
        let mut by_weight: Vec<u16> = (0..lines.len() as u16).collect();
        by_weight.sort_by_key(|&i| core::cmp::Reverse(lines[usize::from(i)].pattern.mask.count_ones()));
        let (mut buckets, mut order) = (Vec::new(), Vec::new());
        for index in 0..1u32 << INDEX_BITS {
            let here = Pattern { mask: !0 << (32 - INDEX_BITS), value: index << (32 - INDEX_BITS) };
            let start = order.len() as u32;
            order.extend(by_weight.iter().copied().filter(|&i| lines[usize::from(i)].pattern.overlaps(here)));
            buckets.push((start, order.len() as u32));
        }
        Self { lines, buckets, order }
    }

    /// The encoding of `word`, or `None` where no line matches (unallocated, or not done yet).
    #[must_use]
    pub fn decode(&self, word: u32) -> Option<(InsnId, &'static Spec<M>)> {
        let (start, end) = self.buckets[(word >> (32 - INDEX_BITS)) as usize];
        self.order[start as usize..end as usize].iter().find_map(|&i| {
            let spec = self.lines[usize::from(i)];
            spec.pattern.matches(word).then_some((InsnId(i), spec))
        })
    }
}
