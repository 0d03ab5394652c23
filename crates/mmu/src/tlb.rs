//! The architectural TLB of one PE.
//!
//! Set-associative over all sizes: an entry of 2^s bytes lies in the set that its address bits above s hash to, and
//! a look-up probes only the sizes that are present (two to four in practice). 256 sets of 8 ways hold as many entries
//! as a server core's second-level TLB and cost 112 KiB; more do not pay, since a walk is four host loads (50 ns
//! against 15 ns for a hit).
//! Replacement is first in, first out within a set, so it is deterministic.
//!
//! Only leaf translations are held, no intermediate walk results; so the last-level TLBI forms remove what the
//! others do.

use arch::Va;
use snapshot::{Codec, Invalid, Persist};

use crate::{Contiguous, Dirty, Entry, Granule, Guarded, MemAttr, Perms, Regime, Scope, Shareability, Stage1};
use crate::{TlbiOp, TlbiStages, TlbiTarget, VmidMatch};

const SETS: usize = 256;
const WAYS: usize = 8;
const ENTRIES: usize = SETS * WAYS;
/// Ranges of up to this many smallest pages are looked up page by page; larger ones scan the TLB.
const PROBE_PAGES: u64 = 64;

/// What a look-up matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The address, bits \[63:56\] repeating bit 55 (as [`Stage1::input`] gives it).
    pub va: Va,
    /// Regime, VMID and ASID as in a [`Tag`].
    context: u64,
}

impl Key {
    /// The key of `va` in the current context of `stage1`.
    #[inline(always)]
    #[must_use]
    pub const fn new(stage1: &Stage1, va: Va) -> Self {
        let off = if stage1.enabled.is_on() { 0 } else { STAGE1_OFF };
        Self { va, context: context(stage1.regime, stage1.vmid, stage1.asid) | off }
    }
}

const GLOBAL: u64 = 1 << 63;
const ASID: u64 = 0xffff;
const VMID: u64 = 0xffff << 16;
const REGIME: u64 = 3 << 32;
/// Made with stage 1 off (and stage 2 in use).
const STAGE1_OFF: u64 = 1 << 34;

const fn context(regime: Regime, vmid: u16, asid: u16) -> u64 {
    (regime as u64) << 32 | (vmid as u64) << 16 | asid as u64
}

/// What identifies an entry. Split from the entries, so that a probe touches little memory.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Tag {
    /// First address; its size's log2 in the low 6 bits, 0 for an empty way.
    va: u64,
    /// Regime \[33:32\], VMID \[31:16\], ASID \[15:0\], stage 1 off \[34\], global \[63\].
    context: u64,
}

impl Tag {
    const EMPTY: Self = Self { va: 0, context: 0 };

    const fn of(entry: &Entry) -> Self {
        let scope = match entry.scope {
            Scope::Global => GLOBAL,
            Scope::Asid(asid) => asid as u64,
        };
        let off = if entry.perms.has(Perms::STAGE1_OFF) { STAGE1_OFF } else { 0 };
        Self { va: entry.va.0 | entry.size_log2 as u64, context: context(entry.regime, entry.vmid, 0) | scope | off }
    }

    /// Does the context of `key` see an entry tagged so?
    #[inline(always)]
    const fn sees(self, key: u64) -> bool {
        let ignore = if self.context & GLOBAL != 0 { GLOBAL | ASID } else { 0 };
        (self.context ^ key) & !ignore == 0
    }
}

const BLANK: Entry = Entry {
    va: Va(0),
    pa: arch::Pa(0),
    size_log2: 12,
    level: 3,
    granule: Granule::K4,
    contiguous: Contiguous::Single,
    perms: Perms::from_bits(0),
    attr: MemAttr::DEVICE_NGNRNE,
    sh: Shareability::Non,
    scope: Scope::Global,
    regime: Regime::El10,
    vmid: 0,
    stage2: crate::Stage2Rights::ALL,
    guarded: Guarded::No,
    dirty: Dirty::NotTracked,
    caching: crate::Caching::Tlb,
    steps: 0,
};

/// The TLB.
pub struct Tlb {
    tags: Box<[Tag; ENTRIES]>,
    entries: Box<[Entry; ENTRIES]>,
    /// Next way to replace in each set.
    next: Box<[u8; SETS]>,
    /// Entries present by log2 of their size.
    count: [u16; 64],
    /// Bit n: entries of 2^n bytes are present.
    sizes: u64,
}

impl Default for Tlb {
    fn default() -> Self {
        Self::new()
    }
}

impl Tlb {
    /// An empty TLB.
    #[must_use]
    pub fn new() -> Self {
        Self { tags: boxed(Tag::EMPTY), entries: boxed(BLANK), next: boxed(0), count: [0; 64], sizes: 0 }
    }

    #[inline(always)]
    fn set(va: u64, size_log2: u32) -> usize {
        let n = va >> size_log2;
        ((n ^ n >> 8) as usize % SETS) * WAYS
    }

    /// The way that holds the translation for `key`, smallest size first.
    #[inline]
    fn find(&self, key: Key) -> Option<usize> {
        let mut sizes = self.sizes;
        while sizes != 0 {
            let s = sizes.trailing_zeros();
            sizes &= sizes - 1;
            let want = key.va.0 & (u64::MAX << s) | s as u64;
            let first = Self::set(key.va.0, s);
            for way in first..first + WAYS {
                let tag = self.tags[way];
                if tag.va == want && tag.sees(key.context) {
                    return Some(way);
                }
            }
        }
        None
    }

    /// The translation for `key`. Where entries overlap (software broke break-before-make), the smallest.
    #[inline]
    #[must_use]
    pub fn lookup(&self, key: Key) -> Option<Entry> {
        self.find(key).map(|way| self.entries[way])
    }

    /// Removes what [`Tlb::lookup`] finds for `key`.
    pub fn remove(&mut self, key: Key, mut dropped: impl FnMut(&Entry)) {
        if let Some(way) = self.find(key) {
            self.drop_way(way, &mut dropped);
        }
    }

    /// Adds an entry, which must be one that a TLB may hold ([`crate::Caching::Tlb`]). An entry with the same tag is
    /// replaced; else the oldest of a full set gives way. `dropped` sees what left.
    pub fn insert(&mut self, entry: Entry, mut dropped: impl FnMut(&Entry)) {
        debug_assert_eq!(entry.caching, crate::Caching::Tlb);
        let tag = Tag::of(&entry);
        let set = Self::set(entry.va.0, u32::from(entry.size_log2));
        let ways = set..set + WAYS;
        let same = ways.clone().find(|w| self.tags[*w] == tag);
        let way = same.or_else(|| ways.clone().find(|w| self.tags[*w] == Tag::EMPTY)).unwrap_or_else(|| {
            let next = &mut self.next[set / WAYS];
            let way = set + *next as usize;
            *next = (*next + 1) % WAYS as u8;
            way
        });
        if self.tags[way] != Tag::EMPTY {
            self.drop_way(way, &mut dropped);
        }
        self.tags[way] = tag;
        self.entries[way] = entry;
        self.count[entry.size_log2 as usize] += 1;
        self.sizes |= 1 << entry.size_log2;
    }

    fn drop_way(&mut self, way: usize, dropped: &mut impl FnMut(&Entry)) {
        let size = (self.tags[way].va & 63) as usize;
        self.tags[way] = Tag::EMPTY;
        self.count[size] -= 1;
        if self.count[size] == 0 {
            self.sizes &= !(1 << size);
        }
        dropped(&self.entries[way]);
    }

    /// Entries held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count.iter().map(|n| *n as usize).sum()
    }
    /// Does it hold nothing?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sizes == 0
    }

    /// All entries, in no meaningful order but the same on every run.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.tags.iter().zip(self.entries.iter()).filter(|(t, _)| **t != Tag::EMPTY).map(|(_, e)| e)
    }

    /// Empties the TLB, as reset does. The caller empties the fast cache.
    pub fn clear(&mut self) {
        self.tags.fill(Tag::EMPTY);
        self.next.fill(0);
        self.count = [0; 64];
        self.sizes = 0;
    }

    /// Executes a TLBI that reached this PE; `removed` sees each entry that it removed. Gives their number.
    pub fn invalidate(&mut self, op: &TlbiOp, mut removed: impl FnMut(&Entry)) -> u32 {
        if self.is_empty() || op.stages == TlbiStages::Two {
            return 0;
        }
        let mut total = 0;
        let Some((start, last)) = self.probes(op.target) else {
            // The tags alone decide for most; they are less than half of what the entries are.
            let (want, mask) = filter(op);
            for way in 0..ENTRIES {
                if (self.tags[way].context ^ want) & mask == 0 {
                    total += self.remove_if(way, op, &mut removed);
                }
            }
            return total;
        };
        let mut sizes = self.sizes;
        while sizes != 0 {
            let s = sizes.trailing_zeros();
            sizes &= sizes - 1;
            for page in start >> s..=last >> s {
                let first = Self::set(page << s, s);
                for way in first..first + WAYS {
                    total += self.remove_if(way, op, &mut removed);
                }
            }
        }
        total
    }

    /// The first and last address to probe for `target`; `None` where scanning the TLB is the better or only way.
    fn probes(&self, target: TlbiTarget) -> Option<(u64, u64)> {
        match target {
            TlbiTarget::Va { va, .. } => Some((va.0, va.0)),
            TlbiTarget::Range { start, bytes, .. } => {
                let last = start.0.checked_add(bytes.checked_sub(1)?)?;
                let smallest = self.sizes.trailing_zeros();
                ((last >> smallest) - (start.0 >> smallest) < PROBE_PAGES).then_some((start.0, last))
            }
            TlbiTarget::All | TlbiTarget::Asid(_) | TlbiTarget::Ipa { .. } => None,
        }
    }

    #[inline]
    fn remove_if(&mut self, way: usize, op: &TlbiOp, removed: &mut impl FnMut(&Entry)) -> u32 {
        if self.tags[way] == Tag::EMPTY || !op.matches(&self.entries[way]) {
            return 0;
        }
        self.drop_way(way, removed);
        1
    }
}

/// Each entry in its place: which one gives way next depends on it.
impl Persist for Tlb {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let held = codec.count(self.len())?;
        if !codec.is_loading() {
            let Self { tags, entries, next, count: _, sizes: _ } = self;
            for way in (0..ENTRIES).filter(|way| tags[*way] != Tag::EMPTY) {
                codec.each([&mut (way as u16), &mut entries[way]])?;
            }
            return codec.value(next);
        }
        self.clear();
        for _ in 0..held {
            let (mut way, mut entry) = (0u16, BLANK);
            codec.each([&mut way, &mut entry])?;
            let way = usize::from(way);
            let set = Self::set(entry.va.0, u32::from(entry.size_log2));
            if !(set..set + WAYS).contains(&way) || self.tags[way] != Tag::EMPTY {
                return Err(Invalid::new("a TLB entry where it cannot be"));
            }
            self.tags[way] = Tag::of(&entry);
            self.entries[way] = entry;
            self.count[entry.size_log2 as usize] += 1;
            self.sizes |= 1 << entry.size_log2;
        }
        codec.value(&mut self.next)?;
        if self.next.iter().any(|next| usize::from(*next) >= WAYS) {
            return Err(Invalid::new("a place in the TLB that is not there"));
        }
        Ok(())
    }
}

/// What the context of a tag must be, and in which bits, for `op` to match its entry. Necessary, not sufficient.
fn filter(op: &TlbiOp) -> (u64, u64) {
    let regime = context(op.regime, 0, 0);
    let (vmid, vmid_mask) = match op.vmid {
        VmidMatch::This(vmid) if op.regime == Regime::El10 => (context(Regime::El10, vmid, 0), VMID),
        _ => (0, 0),
    };
    let (asid, asid_mask) = match op.target {
        TlbiTarget::Asid(asid) => (u64::from(asid), GLOBAL | ASID),
        _ => (0, 0),
    };
    (regime | vmid | asid, REGIME | vmid_mask | asid_mask)
}

/// An array on the heap, never on the stack.
fn boxed<T: Clone, const N: usize>(value: T) -> Box<[T; N]> {
    let Ok(array) = vec![value; N].into_boxed_slice().try_into() else { unreachable!("the length is N") };
    array
}
