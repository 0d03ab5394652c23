//! The fast cache: from virtual page and context to an offset in guest RAM, direct-mapped.
//!
//! A hit is: index, load, compare, add. Tags hold the virtual page number (top byte included, so that an address
//! tagged by TBI is a page of its own) and the context id in the 12 bits below.
//! The index comes from address bits alone, so all contexts and tags of one page share a slot, and an invalidation by
//! address looks at one slot.
//!
//! Only pages in RAM whose accesses need no further look belong here: not Device memory (alignment), not pages that
//! hold pre-decoded code (for writes), not pages under watchpoints. What changes the meaning of an entry without a
//! change of context (`SCTLR_ELx.WXN`, `EPAN`, TCR, MAIR) calls for [`FastCache::invalidate_all`].

use arch::Va;

use crate::{CtxId, Rights};

const SLOTS: usize = 1024;
const PAGE_BITS: u32 = 12;
const PAGE: u64 = 1 << PAGE_BITS;
/// The page number's place in a tag, without the top byte.
const PAGE_MASK: u64 = 0x00ff_ffff_ffff_f000;
/// No context has this id, so it matches nothing; and no slot holds a tag of [`CtxId::NEVER`].
const EMPTY: u64 = 0xfff;

#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct Slot {
    read: u64,
    write: u64,
    fetch: u64,
    /// Offset in RAM minus virtual address, wrapping.
    base: u64,
}

impl Slot {
    const EMPTY: Self = Self { read: EMPTY, write: EMPTY, fetch: EMPTY, base: 0 };

    fn tags(&mut self) -> [&mut u64; 3] {
        [&mut self.read, &mut self.write, &mut self.fetch]
    }
}

/// The cache of one PE: 1024 pages, 32 KiB.
pub struct FastCache {
    slots: Box<[Slot; SLOTS]>,
}

impl Default for FastCache {
    fn default() -> Self {
        Self::new()
    }
}

#[inline(always)]
const fn index(va: Va) -> usize {
    (va.0 >> PAGE_BITS) as usize % SLOTS
}

/// The tag to look for. Made from the access's last byte: an access that leaves its page meets the tag of the page's
/// slot with the next page's number, which is never there.
#[inline(always)]
const fn want(va: Va, ctx: CtxId, bytes: u64) -> u64 {
    va.0.wrapping_add(bytes - 1) & !(PAGE - 1) | ctx.get()
}

impl FastCache {
    /// An empty cache.
    #[must_use]
    pub fn new() -> Self {
        let Ok(slots) = vec![Slot::EMPTY; SLOTS].into_boxed_slice().try_into() else {
            unreachable!("the length is SLOTS")
        };
        Self { slots }
    }

    /// The RAM offset for a load of `bytes` (1 to 4096) at `va`; `None` on a miss or where it crosses a page.
    #[inline(always)]
    #[must_use]
    pub fn lookup_read(&self, va: Va, ctx: CtxId, bytes: u64) -> Option<u64> {
        let slot = &self.slots[index(va)];
        if slot.read == want(va, ctx, bytes) { Some(slot.base.wrapping_add(va.0)) } else { None }
    }

    /// The same for a store.
    #[inline(always)]
    #[must_use]
    pub fn lookup_write(&self, va: Va, ctx: CtxId, bytes: u64) -> Option<u64> {
        let slot = &self.slots[index(va)];
        if slot.write == want(va, ctx, bytes) { Some(slot.base.wrapping_add(va.0)) } else { None }
    }

    /// The same for an instruction fetch of `bytes`.
    #[inline(always)]
    #[must_use]
    pub fn lookup_fetch(&self, va: Va, ctx: CtxId, bytes: u64) -> Option<u64> {
        let slot = &self.slots[index(va)];
        if slot.fetch == want(va, ctx, bytes) { Some(slot.base.wrapping_add(va.0)) } else { None }
    }

    /// Records that `va` lies at `ram_offset` and may be used with `rights`. Rights that the slot already grants for
    /// the same page, context and offset stay; whatever else it held goes. Under [`CtxId::NEVER`] it does nothing.
    #[inline]
    pub fn fill(&mut self, va: Va, ctx: CtxId, ram_offset: u64, rights: Rights) {
        if ctx == CtxId::NEVER {
            return;
        }
        let tag = want(va, ctx, 1);
        let base = ram_offset.wrapping_sub(va.0);
        let slot = &mut self.slots[index(va)];
        if slot.base != base {
            *slot = Slot { base, ..Slot::EMPTY };
        }
        for (old, right) in slot.tags().into_iter().zip([Rights::READ, Rights::WRITE, Rights::FETCH]) {
            if rights.contains(right) {
                *old = tag;
            } else if *old != tag {
                *old = EMPTY;
            }
        }
    }

    /// Drops the page of `va` in every context and under every top byte.
    #[inline]
    pub fn invalidate_page(&mut self, va: Va) {
        for tag in self.slots[index(va)].tags() {
            if (*tag ^ va.0) & PAGE_MASK == 0 {
                *tag = EMPTY;
            }
        }
    }

    /// Drops the pages that `bytes` from `va` touch (the first address of a page or block), in every context and under
    /// every top byte.
    pub fn invalidate_range(&mut self, va: Va, bytes: u64) {
        let start = va.0 & PAGE_MASK;
        let pages = ((va.0 & (PAGE - 1)).saturating_add(bytes)).div_ceil(PAGE);
        if pages < SLOTS as u64 {
            for page in 0..pages {
                self.invalidate_page(Va(start.wrapping_add(page << PAGE_BITS)));
            }
            return;
        }
        let span = pages << PAGE_BITS;
        for slot in self.slots.iter_mut() {
            for tag in slot.tags() {
                if (*tag & PAGE_MASK).wrapping_sub(start) & PAGE_MASK < span {
                    *tag = EMPTY;
                }
            }
        }
    }

    /// Drops everything.
    pub fn invalidate_all(&mut self) {
        self.slots.fill(Slot::EMPTY);
    }

    /// Takes the right to write away from every page whose offset in RAM `is_code` names: it holds pre-decoded code, and
    /// stores to it must be seen.
    pub fn drop_writes_to(&mut self, is_code: impl Fn(u64) -> bool) {
        for slot in self.slots.iter_mut() {
            if slot.write != EMPTY && is_code(slot.base.wrapping_add(slot.write & !(PAGE - 1))) {
                slot.write = EMPTY;
            }
        }
    }
}
