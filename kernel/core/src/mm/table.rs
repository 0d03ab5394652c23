//! The tree of tables of one address space. Whoever calls holds the address space's lock; walkers of the hardware do not,
//! so each change is one store.

use core::cell::Cell;
use core::fmt;
use core::ops::ControlFlow;
use core::sync::atomic::{AtomicU64, Ordering};

use arch::Pa;
use hal::mem::{Frame, Table, new_table, table_at};

use super::PAGE;
use super::contpte::block::BLOCK;
use super::pte::Pte;
use crate::errno::{Errno, Result};

const LEVELS: u32 = 4;

fn index(va: u64, level: u32) -> usize {
    (va >> (12 + 9 * (3 - level)) & 511) as usize
}

/// The places of the contiguous block around `va` in the tree from `root`, if there are tables down to it.
pub(super) fn block(root: Pa, va: u64) -> Option<&'static [AtomicU64; BLOCK]> {
    let mut table = root;
    for level in 0..LEVELS - 1 {
        let next = Pte(table_at(table)[index(va, level)].load(Ordering::Acquire));
        if !next.is_valid() {
            return None;
        }
        table = next.pa();
    }
    block_in(table_at(table), va)
}

#[inline]
fn block_in(table: &'static Table, va: u64) -> Option<&'static [AtomicU64; BLOCK]> {
    let first = index(va, 3) / BLOCK * BLOCK;
    table[first..].first_chunk()
}

/// Shares of pages that were taken out of tables, in a fixed place: memory is given back where there is none.
#[derive(Debug)]
pub struct Taken {
    frames: [Option<Frame>; Self::MOST],
    len: usize,
}

impl Taken {
    /// As many as one call takes.
    const MOST: usize = 128;

    /// How many.
    pub fn len(&self) -> usize {
        self.len
    }
    /// None?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Default for Taken {
    fn default() -> Self {
        Self { frames: [const { None }; Self::MOST], len: 0 }
    }
}

/// Tables, from level 0. Dropping it gives all pages and tables back; nothing may use them any more.
pub struct AddressTables {
    root: Pa,
    /// The last table of level 3 that was found, with the address bits above it. Tables stay until all of them are freed.
    last: Cell<Option<(u64, &'static Table)>>,
}

impl fmt::Debug for AddressTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AddressTables {{ root: {:#x} }}", self.root.0)
    }
}

/// Bits of an address that tell tables of level 3 apart.
const TABLE_SHIFT: u32 = 21;

impl AddressTables {
    /// Without any page.
    pub fn new() -> Result<Self> {
        Ok(Self { root: new_table().ok_or(Errno::ENOMEM)?.into_descriptor(), last: Cell::new(None) })
    }

    /// Physical address of the level 0 table.
    pub fn root(&self) -> Pa {
        self.root
    }

    /// The place of `va`'s page descriptor, if there are tables down to it.
    #[inline]
    pub fn entry(&self, va: u64) -> Option<&'static AtomicU64> {
        Some(&self.last_level(va)?[index(va, 3)])
    }

    /// The table of level 3 for `va`, if there is one.
    #[inline]
    fn last_level(&self, va: u64) -> Option<&'static Table> {
        match self.last.get() {
            Some((above, table)) if above == va >> TABLE_SHIFT => Some(table),
            _ => self.walk_to_last_level(va),
        }
    }

    #[inline(never)]
    fn walk_to_last_level(&self, va: u64) -> Option<&'static Table> {
        let mut table = self.root;
        for level in 0..LEVELS - 1 {
            let next = Pte(table_at(table)[index(va, level)].load(Ordering::Relaxed));
            if !next.is_valid() {
                return None;
            }
            table = next.pa();
        }
        Some(self.remember(va, table))
    }

    fn remember(&self, va: u64, table: Pa) -> &'static Table {
        let table = table_at(table);
        self.last.set(Some((va >> TABLE_SHIFT, table)));
        table
    }

    /// The places of the contiguous block around `va`, if there are tables down to it.
    #[inline]
    pub fn block(&self, va: u64) -> Option<&'static [AtomicU64; BLOCK]> {
        block_in(self.last_level(va)?, va)
    }

    /// The place of `va`'s page descriptor; missing tables are made.
    #[inline]
    pub fn entry_or_new(&mut self, va: u64) -> Result<&'static AtomicU64> {
        match self.last_level(va) {
            Some(table) => Ok(&table[index(va, 3)]),
            None => self.new_entry(va),
        }
    }

    #[inline(never)]
    fn new_entry(&mut self, va: u64) -> Result<&'static AtomicU64> {
        let mut table = self.root;
        for level in 0..LEVELS - 1 {
            let place = &table_at(table)[index(va, level)];
            let next = Pte(place.load(Ordering::Relaxed));
            table = if next.is_valid() {
                next.pa()
            } else {
                let new = new_table().ok_or(Errno::ENOMEM)?.into_descriptor();
                // Release: a walker that sees the descriptor sees the zeros.
                hal::cpu::dsb_ishst();
                place.store(Pte::table(new).0, Ordering::Release);
                new
            };
        }
        Ok(&self.remember(va, table)[index(va, 3)])
    }

    /// The descriptor of `va`'s page.
    pub fn get(&self, va: u64) -> Pte {
        self.entry(va).map_or(Pte::NONE, |entry| Pte(entry.load(Ordering::Relaxed)))
    }

    /// Calls `visit` with address and place of each valid page descriptor in `start..end`.
    pub fn for_each(&self, start: u64, end: u64, mut visit: impl FnMut(u64, &'static AtomicU64)) {
        Self::walk(self.root, 0, start, end, &mut |va, entry| {
            visit(va, entry);
            ControlFlow::Continue(())
        });
    }

    /// The address of the page at which `visit` stopped, if it did.
    fn walk(
        table: Pa,
        level: u32,
        start: u64,
        end: u64,
        visit: &mut impl FnMut(u64, &'static AtomicU64) -> ControlFlow<()>,
    ) -> Option<u64> {
        let span = PAGE << (9 * (3 - level));
        let mut va = start;
        while va < end {
            let next = (va & !(span - 1)) + span;
            let entry = &table_at(table)[index(va, level)];
            let pte = Pte(entry.load(Ordering::Relaxed));
            if pte.is_valid() {
                if level == 3 {
                    if visit(va, entry).is_break() {
                        return Some(va);
                    }
                } else if let Some(stopped) = Self::walk(pte.pa(), level + 1, va, next.min(end), visit) {
                    return Some(stopped);
                }
            }
            va = next;
        }
        None
    }

    /// The first page of `start..end` that is there.
    pub fn first(&self, start: u64, end: u64) -> Option<u64> {
        Self::walk(self.root, 0, start, end, &mut |_, _| ControlFlow::Break(()))
    }

    /// Takes pages of `start..end` out, from `start` on. Their shares are in what is returned: they may be dropped after
    /// the TLB was invalidated, from `start` to the address beside them, where there may be more.
    pub fn take(&mut self, start: u64, end: u64) -> (Taken, u64) {
        let mut taken = Taken::default();
        let mut last_block = None;
        let stopped = Self::walk(self.root, 0, start, end, &mut |va, entry| {
            // A contiguous block goes as a whole.
            let block = Some(va / (BLOCK as u64 * PAGE));
            if taken.len + BLOCK > Taken::MOST && block != last_block {
                return ControlFlow::Break(());
            }
            last_block = block;
            let pte = Pte(entry.swap(0, Ordering::Relaxed));
            taken.frames[taken.len] = Some(Frame::from_descriptor(pte.pa()));
            taken.len += 1;
            ControlFlow::Continue(())
        });
        (taken, stopped.unwrap_or(end))
    }

    fn free(table: Pa, level: u32) {
        for entry in table_at(table) {
            let pte = Pte(entry.swap(0, Ordering::Relaxed));
            if !pte.is_valid() {
                continue;
            }
            if level < 3 {
                Self::free(pte.pa(), level + 1);
            } else {
                drop(Frame::from_descriptor(pte.pa()));
            }
        }
        drop(Frame::from_descriptor(table));
    }
}

impl Drop for AddressTables {
    fn drop(&mut self) {
        Self::free(self.root, 0);
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod oracle;

#[cfg(test)]
mod tests {
    use super::super::vma::Protection;
    use super::*;
    use alloc::vec::Vec;
    use hal::mem::FrameKind;

    #[test]
    fn pages_are_found_taken_and_given_back() {
        hal::fakes_init();
        let mut tables = AddressTables::new().unwrap();
        let addresses = [0x1000, 0x20_0000, 0x7fff_ffff_f000, 0xffff_ffff_f000];
        let watched = Frame::zeroed(FrameKind::User).unwrap();
        for va in addresses {
            let pte = Pte::page(watched.clone().into_descriptor(), Protection::READ);
            tables.entry_or_new(va).unwrap().store(pte.0, Ordering::Relaxed);
        }
        let mut seen = Vec::new();
        tables.for_each(0, 1 << 48, |va, _| seen.push(va));
        assert_eq!(seen, addresses);
        assert_eq!(watched.shares(), 5);
        let (taken, end) = tables.take(0x1001 & !0xfff, 0x7fff_ffff_0000);
        assert_eq!((taken.len(), end), (2, 0x7fff_ffff_0000));
        drop(taken);
        assert_eq!(watched.shares(), 3);
        drop(tables);
        assert_eq!(watched.shares(), 1);
    }
}
