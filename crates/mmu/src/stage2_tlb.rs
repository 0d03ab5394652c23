//! What a PE holds of stage 2 alone: intermediate addresses to physical ones, by VMID.
//!
//! A walk of both stages goes through stage 2 for each table of stage 1 and for its output; what it finds there is held
//! here, and the combination in the [`crate::Tlb`]. So TLBI of stage 1 leaves this alone, and TLBI by intermediate address
//! leaves the combinations (DDI 0487 D8.16.4): a hypervisor that forgets one of them meets what it forgot.
//!
//! Replacement is first in, first out within a set. Nothing is allocated before the first entry.

use arch::{Ipa, Pa};
use snapshot::{Codec, Invalid, Persist};

use crate::{Caching, Dirty, Shareability, Stage2Entry, Stage2Rights, TlbiOp, TlbiStages, TlbiTarget, VmidMatch};

const SETS: usize = 128;
const WAYS: usize = 4;

/// A translation and whose it is.
#[derive(Clone, Copy)]
struct Held {
    vmid: u16,
    entry: Stage2Entry,
}

/// The stage 2 entries of one PE.
#[derive(Default)]
pub struct Stage2Tlb {
    ways: Vec<Option<Held>>,
    /// Next way to replace in each set.
    next: Vec<u8>,
    /// Bit n: entries of 2^n bytes may be present.
    sizes: u64,
}

impl Stage2Tlb {
    /// Holds nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn set(ipa: Ipa, size_log2: u32) -> usize {
        let n = ipa.0 >> size_log2;
        ((n ^ n >> 7) as usize % SETS) * WAYS
    }

    fn find(&self, vmid: u16, ipa: Ipa) -> Option<usize> {
        let mut sizes = self.sizes;
        while sizes != 0 {
            let s = sizes.trailing_zeros();
            sizes &= sizes - 1;
            let first = Self::set(ipa, s);
            let covers = |held: &Held| {
                held.vmid == vmid && u32::from(held.entry.size_log2) == s && (held.entry.ipa.0 ^ ipa.0) >> s == 0
            };
            if let Some(way) = (first..first + WAYS).find(|way| self.ways[*way].as_ref().is_some_and(covers)) {
                return Some(way);
            }
        }
        None
    }

    /// The translation of `ipa` for virtual machine `vmid`; where entries overlap, the smallest.
    #[must_use]
    pub fn lookup(&self, vmid: u16, ipa: Ipa) -> Option<Stage2Entry> {
        self.find(vmid, ipa).and_then(|way| self.ways[way]).map(|held| held.entry)
    }

    /// Removes what [`Stage2Tlb::lookup`] finds.
    pub fn remove(&mut self, vmid: u16, ipa: Ipa) {
        if let Some(way) = self.find(vmid, ipa) {
            self.ways[way] = None;
        }
    }

    /// Adds an entry, which must be one that a TLB may hold ([`crate::Caching::Tlb`]).
    pub fn insert(&mut self, vmid: u16, entry: Stage2Entry) {
        debug_assert_eq!(entry.caching, crate::Caching::Tlb);
        if self.ways.is_empty() {
            self.ways = vec![None; SETS * WAYS];
            self.next = vec![0; SETS];
        }
        let set = Self::set(entry.ipa, u32::from(entry.size_log2));
        let same =
            |held: &Held| (held.vmid, held.entry.ipa, held.entry.size_log2) == (vmid, entry.ipa, entry.size_log2);
        let mut ways = set..set + WAYS;
        let way = ways
            .clone()
            .find(|way| self.ways[*way].as_ref().is_some_and(same))
            .or_else(|| ways.find(|way| self.ways[*way].is_none()))
            .unwrap_or_else(|| {
                let next = &mut self.next[set / WAYS];
                let way = set + *next as usize;
                *next = (*next + 1) % WAYS as u8;
                way
            });
        self.ways[way] = Some(Held { vmid, entry });
        self.sizes |= 1 << entry.size_log2;
    }

    /// Entries held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ways.iter().flatten().count()
    }
    /// Does it hold nothing?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Empties it, as reset does.
    pub fn clear(&mut self) {
        self.ways.fill(None);
        self.next.fill(0);
        self.sizes = 0;
    }

    /// Executes a TLBI that reached this PE. Gives the number of entries removed.
    pub fn invalidate(&mut self, op: &TlbiOp) -> u32 {
        if self.sizes == 0 || op.regime != crate::Regime::El10 || op.stages == TlbiStages::One {
            return 0;
        }
        let mut total = 0;
        for way in &mut self.ways {
            let Some(held) = way else { continue };
            let vmid = match op.vmid {
                VmidMatch::This(vmid) => held.vmid == vmid,
                VmidMatch::Any => true,
            };
            let (first, bytes) = (held.entry.ipa.0, 1 << held.entry.size_log2);
            let named = match op.target {
                TlbiTarget::All => true,
                TlbiTarget::Ipa { start, bytes: length } => {
                    first.wrapping_sub(start.0) < length || (start.0.wrapping_sub(first) < bytes && length != 0)
                }
                TlbiTarget::Asid(_) | TlbiTarget::Va { .. } | TlbiTarget::Range { .. } => false,
            };
            if vmid && named {
                *way = None;
                total += 1;
            }
        }
        if self.is_empty() {
            self.sizes = 0;
        }
        total
    }
}

/// Each entry in its place: which one gives way next depends on it.
impl Persist for Stage2Tlb {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { ways, next, sizes } = self;
        let held = codec.count(ways.iter().flatten().count())?;
        if codec.is_loading() {
            (*ways, *next) = (vec![None; SETS * WAYS], vec![0; SETS]);
            for _ in 0..held {
                let (mut way, mut vmid, mut entry) = (0u16, 0, BLANK);
                codec.each([&mut way, &mut vmid, &mut entry])?;
                let set = Self::set(entry.ipa, u32::from(entry.size_log2));
                let free = |way: usize| (set..set + WAYS).contains(&way) && ways[way].is_none();
                if !free(usize::from(way)) {
                    return Err(Invalid::new("a stage 2 TLB entry where it cannot be"));
                }
                ways[usize::from(way)] = Some(Held { vmid, entry });
            }
        } else {
            for (way, held) in ways.iter_mut().enumerate() {
                if let Some(Held { vmid, entry }) = held {
                    codec.each([&mut (way as u16), vmid, entry])?;
                }
            }
        }
        // Sizes of what has gone may still be looked for: that changes nothing.
        codec.each([next, sizes])?;
        if next.is_empty() && ways.iter().all(Option::is_none) {
            ways.clear();
        }
        let known = ways.iter().flatten().fold(0, |sizes, held| sizes | 1 << held.entry.size_log2);
        let is_whole = next.is_empty() && ways.is_empty() || next.len() == SETS;
        if known & !*sizes != 0 || !is_whole || next.iter().any(|next| usize::from(*next) >= WAYS) {
            return Err(Invalid::new("a place in the stage 2 TLB that is not there"));
        }
        Ok(())
    }
}

const BLANK: Stage2Entry = Stage2Entry {
    ipa: Ipa(0),
    pa: Pa(0),
    size_log2: 12,
    rights: Stage2Rights::ALL,
    attr: 0,
    sh: Shareability::Non,
    dirty: Dirty::NotTracked,
    caching: Caching::Tlb,
    steps: 0,
};
