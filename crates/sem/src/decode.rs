//! From a word to its encoding: the most specific line wins.

use crate::machine::Machine;
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
const INDEX_SHIFT: u32 = 32 - INDEX_BITS;

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
        let mut lists = vec![Vec::new(); 1 << INDEX_BITS];
        for line in by_weight {
            let pattern = lines[usize::from(line)].pattern;
            let (fixed, value) = (pattern.mask >> INDEX_SHIFT, pattern.value >> INDEX_SHIFT);
            // Walks the index bits that the line leaves free, as a counter that skips the fixed bits.
            let free = !fixed & ((1 << INDEX_BITS) - 1);
            let mut bits = 0;
            loop {
                lists[(value | bits) as usize].push(line);
                bits = bits.wrapping_sub(free) & free;
                if bits == 0 {
                    break;
                }
            }
        }
        let (mut buckets, mut order) = (Vec::with_capacity(lists.len()), Vec::new());
        for list in lists {
            let start = order.len() as u32;
            order.extend(list);
            buckets.push((start, order.len() as u32));
        }
        Self { lines, buckets, order }
    }

    /// The line of an encoding that this decoder gave.
    #[must_use]
    pub fn spec(&self, InsnId(line): InsnId) -> &'static Spec<M> {
        self.lines[usize::from(line)]
    }

    /// How many lines there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Are there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The encoding of `word`, or `None` where no line matches: it is unallocated, thus UNDEFINED.
    #[must_use]
    pub fn decode(&self, word: u32) -> Option<(InsnId, &'static Spec<M>)> {
        let (start, end) = self.buckets[(word >> INDEX_SHIFT) as usize];
        self.order[start as usize..end as usize].iter().find_map(|&i| {
            let spec = self.lines[usize::from(i)];
            spec.pattern.matches(word).then_some((InsnId(i), spec))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Flat;
    use crate::pattern::Pattern;

    /// Where two equally specific lines match one word they say the same, or a more specific line takes all such
    /// words. So no word's meaning hangs on the order of lines.
    #[test]
    fn the_most_specific_line_is_one() {
        let lines = specs::<Flat>();
        let mut clashes = Vec::new();
        for (n, a) in lines.iter().enumerate() {
            for b in &lines[n + 1..] {
                let equal = a.pattern.mask.count_ones() == b.pattern.mask.count_ones();
                if !equal || !a.pattern.overlaps(b.pattern) {
                    continue;
                }
                let both = Pattern { mask: a.pattern.mask | b.pattern.mask, value: a.pattern.value | b.pattern.value };
                let same = a.name == b.name && core::ptr::fn_addr_eq(a.run, b.run);
                let settled = lines.iter().any(|c| {
                    let weight = c.pattern.mask.count_ones();
                    weight > a.pattern.mask.count_ones() && c.pattern.mask & !both.mask == 0 && c.pattern.overlaps(both)
                });
                if !same && !settled {
                    clashes.push((a.name, b.name, both));
                }
            }
        }
        assert!(clashes.is_empty(), "{clashes:x?}");
    }

    /// Of each line some word decodes to it: no line is hidden by more specific ones.
    #[test]
    fn no_line_is_hidden() {
        let (lines, decoder) = (specs::<Flat>(), Decoder::<Flat>::new());
        // A fixed sequence of words (xorshift), the same in every run.
        let mut state = 0x2545_f491_u32;
        let mut words = core::iter::from_fn(|| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            Some(state)
        });
        let hidden: Vec<_> = lines
            .iter()
            .enumerate()
            .filter(|(n, line)| {
                let of_line = |fill: u32| line.pattern.value | fill & !line.pattern.mask;
                let mut fills = words.by_ref().take(2000).chain([0, !0]);
                !fills.any(|fill| decoder.decode(of_line(fill)).is_some_and(|(id, _)| usize::from(id.0) == *n))
            })
            .map(|(_, line)| line.name)
            .collect();
        assert!(hidden.is_empty(), "{hidden:?}");
    }

    /// The index gives what a search through all lines gives.
    #[test]
    fn index_and_search_agree() {
        let (lines, decoder) = (specs::<Flat>(), Decoder::<Flat>::new());
        let mut word = 0u32;
        for _ in 0..200_000 {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let found = decoder.decode(word).map(|(_, line)| line.pattern.mask.count_ones());
            let best =
                lines.iter().filter(|line| line.pattern.matches(word)).map(|line| line.pattern.mask.count_ones()).max();
            assert_eq!(found, best, "{word:#010x}");
        }
    }

    /// Every source file with a table is in its folder's list.
    #[test]
    fn every_table_is_listed() {
        fn visit(dir: &std::path::Path, missing: &mut Vec<String>) {
            let list = std::fs::read_to_string(dir.join("mod.rs")).unwrap_or_default();
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    visit(&path, missing);
                    continue;
                }
                let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
                let has_table =
                    std::fs::read_to_string(&path).unwrap().lines().any(|line| line == "crate::encodings! {");
                if has_table
                    && !list.contains(&format!("{stem}::specs()"))
                    && !list.contains(&format!("{stem}::specs::<"))
                {
                    missing.push(path.display().to_string());
                }
            }
        }
        let mut missing = Vec::new();
        visit(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut missing);
        assert!(missing.is_empty(), "{missing:?}");
    }
}
