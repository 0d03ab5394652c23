//! The mmap family on one address space.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::Ordering;

use hal::mem::{Frame, tlb};

use super::contpte;
use super::pte::Pte;
use super::vma::{Backing, Protection, Sharing, Vma};
use super::{AddressTables, PAGE, USER_END};
use crate::errno::{Errno, Result};

/// Lowest address that mmap gives by itself (Linux: vm.mmap_min_addr).
const MIN_ADDRESS: u64 = 0x1_0000;
/// Areas that one address space may have (Linux: vm.max_map_count).
const MAX_AREAS: usize = 65530;

/// Where a mapping goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// Anywhere, here if it is free.
    Hint(u64),
    /// Here, in place of what is there (MAP_FIXED).
    Fixed(u64),
    /// Here, or EEXIST (MAP_FIXED_NOREPLACE).
    FixedFree(u64),
}

/// What mmap asks for.
#[derive(Clone, Debug)]
pub struct MapRequest {
    /// Where.
    pub placement: Placement,
    /// Bytes; rounded up to pages.
    pub len: u64,
    /// Rights.
    pub protection: Protection,
    /// Private or shared.
    pub sharing: Sharing,
    /// Contents.
    pub backing: Backing,
    /// MAP_GROWSDOWN
    pub grows_down: bool,
    /// For /proc/PID/maps.
    pub name: &'static str,
}

/// Areas and tables.
#[derive(Debug)]
pub struct Space {
    pub(super) tables: AddressTables,
    pub(super) areas: BTreeMap<u64, Vma>,
    /// Mappings are placed downwards from here.
    pub mmap_top: u64,
    /// The heap's start and end (brk).
    pub brk: (u64, u64),
    /// Where arguments and environment lie on the stack, for /proc/PID/cmdline and environ.
    pub arguments: (u64, u64),
    /// See `arguments`.
    pub environment: (u64, u64),
    /// The program's file, for /proc/PID/exe.
    pub program: Option<Arc<crate::vfs::Location>>,
    /// What a signal handler returns to.
    pub trampoline: u64,
    /// Most bytes that the stack grows to.
    pub stack_limit: u64,
}

impl Space {
    pub(super) fn new(tables: AddressTables) -> Self {
        Self {
            tables,
            areas: BTreeMap::new(),
            mmap_top: USER_END - PAGE,
            brk: (0, 0),
            arguments: (0, 0),
            environment: (0, 0),
            program: None,
            trampoline: 0,
            stack_limit: 8 << 20,
        }
    }

    /// The area that holds `address`.
    pub fn find(&self, address: u64) -> Option<&Vma> {
        self.areas.range(..=address).next_back().map(|(_, vma)| vma).filter(|vma| address < vma.end)
    }

    /// All areas, by address.
    pub fn areas(&self) -> impl Iterator<Item = &Vma> {
        self.areas.values()
    }

    /// Those that begin at or behind `start`.
    pub fn areas_from(&self, start: u64) -> impl Iterator<Item = &Vma> {
        self.areas.range(start..).map(|(_, vma)| vma)
    }

    /// Pages of all areas, and pages that are there (for /proc).
    pub fn sizes(&self) -> (u64, u64) {
        let virtual_pages = self.areas.values().map(|vma| (vma.end - vma.start) / PAGE).sum();
        let mut resident = 0;
        self.tables.for_each(0, USER_END, |_, _| resident += 1);
        (virtual_pages, resident)
    }

    /// Maps; returns the address.
    pub fn map(&mut self, request: MapRequest, asid: u16) -> Result<u64> {
        let len = request.len.checked_next_multiple_of(PAGE).ok_or(Errno::ENOMEM)?;
        if len == 0 {
            return Err(Errno::EINVAL);
        }
        if len > USER_END {
            return Err(Errno::ENOMEM);
        }
        self.check_growth()?;
        let start = match request.placement {
            Placement::Hint(hint) => self.place(hint, len)?,
            Placement::Fixed(at) | Placement::FixedFree(at) if at % PAGE != 0 => return Err(Errno::EINVAL),
            Placement::Fixed(at) => {
                check_range(at, len)?;
                self.unmap(at, len, asid)?;
                at
            }
            Placement::FixedFree(at) => {
                check_range(at, len)?;
                if self.overlaps(at, at + len) {
                    return Err(Errno::EEXIST);
                }
                at
            }
        };
        self.insert(Vma {
            start,
            end: start + len,
            protection: request.protection,
            sharing: request.sharing,
            backing: request.backing,
            grows_down: request.grows_down,
            name: request.name,
        });
        Ok(start)
    }

    fn overlaps(&self, start: u64, end: u64) -> bool {
        self.areas.range(..end).next_back().is_some_and(|(_, vma)| vma.end > start)
    }

    /// The highest gap below `mmap_top`, or the hint if that is free.
    fn place(&self, hint: u64, len: u64) -> Result<u64> {
        let hint = hint & !(PAGE - 1);
        let hint_end = hint.checked_add(len).filter(|end| *end <= USER_END - PAGE);
        if hint >= MIN_ADDRESS && hint_end.is_some_and(|end| !self.overlaps(hint, end)) {
            return Ok(hint);
        }
        let mut end = self.mmap_top;
        for vma in self.areas.range(..self.mmap_top).rev().map(|(_, vma)| vma) {
            if vma.end <= end && end - vma.end >= len {
                break;
            }
            end = end.min(vma.start);
        }
        end.checked_sub(len).filter(|start| *start >= MIN_ADDRESS).ok_or(Errno::ENOMEM)
    }

    /// Adds an area where there is none, joined with its neighbours if they are alike.
    fn insert(&mut self, mut vma: Vma) {
        if let Some((_, before)) = self.areas.range(..vma.start).next_back() {
            if before.continues(&vma) {
                let whole = Vma { end: vma.end, ..before.clone() };
                vma = whole;
            }
        }
        if let Some(after) = self.areas.get(&vma.end) {
            if vma.continues(after) {
                let end = after.end;
                self.areas.remove(&vma.end);
                vma.end = end;
            }
        }
        self.areas.insert(vma.start, vma);
    }

    /// Takes the areas in `start..end` out, cut at the borders.
    fn cut(&mut self, start: u64, end: u64) -> Vec<Vma> {
        let keys: Vec<u64> =
            self.areas.range(..end).rev().take_while(|(_, vma)| vma.end > start).map(|(key, _)| *key).collect();
        let mut inside = Vec::new();
        for key in keys.into_iter().rev() {
            let Some(vma) = self.areas.remove(&key) else { continue };
            if vma.start < start {
                let before = vma.part(vma.start, start);
                self.areas.insert(before.start, before);
            }
            if vma.end > end {
                let after = vma.part(end, vma.end);
                self.areas.insert(after.start, after);
            }
            inside.push(vma.part(vma.start.max(start), vma.end.min(end)));
        }
        inside
    }

    /// munmap(2)
    pub fn unmap(&mut self, start: u64, len: u64, asid: u16) -> Result<()> {
        let len = len.checked_next_multiple_of(PAGE).ok_or(Errno::EINVAL)?;
        if start % PAGE != 0 || len == 0 {
            return Err(Errno::EINVAL);
        }
        check_range(start, len).map_err(|_| Errno::EINVAL)?;
        let end = start + len;
        if self.cut(start, end).is_empty() {
            return Ok(());
        }
        self.discard(start, end, asid);
        Ok(())
    }

    /// Drops the pages of `start..end`; the areas stay (MADV_DONTNEED).
    pub fn discard(&mut self, start: u64, end: u64, asid: u16) {
        self.unfold_edges(start, end, asid);
        let mut at = start;
        while at < end {
            let (frames, stopped) = self.tables.take(at, end);
            if !frames.is_empty() {
                tlb::range(asid, at, ((stopped - at) / PAGE) as usize);
            }
            at = stopped;
        }
    }

    /// mprotect(2)
    pub fn protect(&mut self, start: u64, len: u64, protection: Protection, asid: u16) -> Result<()> {
        let len = len.checked_next_multiple_of(PAGE).ok_or(Errno::ENOMEM)?;
        if start % PAGE != 0 {
            return Err(Errno::EINVAL);
        }
        check_range(start, len)?;
        let end = start + len;
        if !self.is_covered(start, end) {
            return Err(Errno::ENOMEM);
        }
        self.check_growth()?;
        // A block that changes as a whole stays folded: only the rights change, so what the TLB has is one or the other.
        self.unfold_edges(start, end, asid);
        for mut vma in self.cut(start, end) {
            let becomes_tagged = protection.tagged() && !vma.protection.tagged();
            let protection = protection.over(vma.protection);
            vma.protection = protection;
            if becomes_tagged {
                // Memory types differ: no page of a folded block may go before the others.
                self.unfold_range(vma.start, vma.end, asid);
            }
            let is_private = vma.sharing == Sharing::Private;
            let mut changed = 0;
            let mut own = contpte::Own::new(&vma);
            self.tables.for_each(vma.start, vma.end, |va, entry| {
                let old = Pte(entry.load(Ordering::Relaxed));
                let mut new = old.with(protection);
                // A private page may be shared with the file or a fork: the first write decides.
                if is_private && !old.is_writable() && !own.has(va, old) {
                    new = new.read_only();
                }
                if new != old {
                    if new.is_tagged() && !old.is_tagged() {
                        let frame = Frame::from_descriptor(old.pa());
                        crate::mte::prepare(&frame);
                        let _ = frame.into_descriptor();
                        // The memory type changes: break before make.
                        entry.store(0, Ordering::Relaxed);
                        tlb::page(asid, va);
                    }
                    if new.is_executable() && !old.is_executable() {
                        let frame = Frame::from_descriptor(old.pa());
                        frame.sync_instructions();
                        let _ = frame.into_descriptor();
                    }
                    entry.store(new.0, Ordering::Relaxed);
                    changed += 1;
                }
            });
            if changed > 0 {
                tlb::range(asid, vma.start, ((vma.end - vma.start) / PAGE) as usize);
            }
            self.insert(vma);
        }
        self.fold_range(start, end, asid);
        Ok(())
    }

    /// Is every page of `start..end` in some area?
    pub fn is_covered(&self, start: u64, end: u64) -> bool {
        let mut at = start;
        while at < end {
            match self.find(at) {
                Some(vma) => at = vma.end,
                None => return false,
            }
        }
        true
    }

    /// brk(2): the new end, or the old one where that is not possible.
    pub fn set_brk(&mut self, end: u64, asid: u16) -> u64 {
        let (start, old) = self.brk;
        let (old_page, new_page) = (old.next_multiple_of(PAGE), end.next_multiple_of(PAGE));
        if end < start || end >= USER_END || self.check_growth().is_err() && end > old {
            return old;
        }
        if new_page > old_page {
            if self.overlaps(old_page, new_page + PAGE) {
                return old;
            }
            self.insert(Vma {
                start: old_page,
                end: new_page,
                protection: Protection::READ_WRITE,
                sharing: Sharing::Private,
                backing: Backing::Anonymous,
                grows_down: false,
                name: "[heap]",
            });
        } else if new_page < old_page && self.unmap(new_page, old_page - new_page, asid).is_err() {
            return old;
        }
        self.brk.1 = end;
        end
    }

    /// mremap(2) without MREMAP_FIXED: the new address.
    pub fn remap(&mut self, old: u64, old_len: u64, new_len: u64, may_move: bool, asid: u16) -> Result<u64> {
        let old_len = old_len.checked_next_multiple_of(PAGE).ok_or(Errno::EINVAL)?;
        let new_len = new_len.checked_next_multiple_of(PAGE).ok_or(Errno::EINVAL)?;
        if old % PAGE != 0 || new_len == 0 || old_len == 0 {
            return Err(Errno::EINVAL);
        }
        check_range(old, old_len).map_err(|_| Errno::EFAULT)?;
        if new_len > USER_END {
            return Err(Errno::ENOMEM);
        }
        let vma = self.find(old).ok_or(Errno::EFAULT)?.clone();
        if old + old_len > vma.end {
            return Err(Errno::EFAULT);
        }
        if new_len <= old_len {
            if new_len < old_len {
                self.unmap(old + new_len, old_len - new_len, asid)?;
            }
            return Ok(old);
        }
        let is_end = old + old_len == vma.end;
        if is_end && old + new_len <= USER_END - PAGE && !self.overlaps(vma.end, old + new_len) {
            self.cut(vma.start, vma.end);
            self.insert(Vma { end: old + new_len, ..vma });
            return Ok(old);
        }
        if !may_move {
            return Err(Errno::ENOMEM);
        }
        self.check_growth()?;
        let new = self.place(0, new_len)?;
        let part = vma.part(old, old + old_len);
        self.cut(old, old + old_len);
        self.insert(Vma { start: new, end: new + new_len, ..part });
        self.unfold_edges(old, old + old_len, asid);
        self.move_pages(old, new, old_len, asid);
        self.fold_range(new, new + old_len, asid);
        Ok(new)
    }

    /// The pages of `old..old + len` to `new..`.
    fn move_pages(&mut self, old: u64, new: u64, len: u64, asid: u16) {
        const AT_ONCE: u64 = 64;
        /// Parts end where contiguous blocks do.
        const ALIGN: u64 = AT_ONCE * PAGE;
        let end = old + len;
        let mut at = old;
        while at < end {
            // Behind what there are no tables for, where there is much of that.
            let Some(first) = self.tables.first(at, end) else { break };
            let part_end = end.min((first & !(ALIGN - 1)) + ALIGN);
            let mut moved = [0; AT_ONCE as usize];
            self.tables.for_each(first, part_end, |va, entry| {
                moved[((va - first) / PAGE) as usize] = entry.swap(0, Ordering::Relaxed);
            });
            tlb::range(asid, first, ((part_end - first) / PAGE) as usize);
            for (n, descriptor) in moved.into_iter().enumerate().filter(|(_, descriptor)| *descriptor != 0) {
                match self.tables.entry_or_new(first - old + new + n as u64 * PAGE) {
                    Ok(place) => place.store(Pte(descriptor).single().0, Ordering::Relaxed),
                    // Its contents are lost with the memory that there was not; the program meets zeros.
                    Err(_) => drop(Frame::from_descriptor(Pte(descriptor).pa())),
                }
            }
            at = part_end;
        }
        hal::cpu::dsb_ishst();
    }

    /// May there be more areas?
    fn check_growth(&self) -> Result<()> {
        if self.areas.len() >= MAX_AREAS { Err(Errno::ENOMEM) } else { crate::memory::check() }
    }

    /// Everything into an empty space, for fork.
    pub(super) fn copy_into(&mut self, new: &mut Self) -> Result<()> {
        crate::memory::check_room(self.areas.len() * 2 * size_of::<Vma>())?;
        new.areas = self.areas.clone();
        new.mmap_top = self.mmap_top;
        new.brk = self.brk;
        new.arguments = self.arguments;
        new.environment = self.environment;
        new.program.clone_from(&self.program);
        new.trampoline = self.trampoline;
        new.stack_limit = self.stack_limit;
        for vma in self.areas.values() {
            let is_private = vma.sharing == Sharing::Private;
            // Pages of a file come back by a fault; only those that were written to are this program's own.
            let mut result = Ok(());
            self.tables.for_each(vma.start, vma.end, |va, entry| {
                let mut pte = Pte(entry.load(Ordering::Relaxed));
                // A block that is folded stays so: all of it is in this area, and gets these rights.
                if is_private && pte.is_writable() {
                    pte = pte.read_only();
                    entry.store(pte.0, Ordering::Relaxed);
                }
                if result.is_err() {
                    return;
                }
                let frame = Frame::from_descriptor(pte.pa());
                let share = frame.clone();
                let _ = frame.into_descriptor();
                match new.tables.entry_or_new(va) {
                    Ok(place) => {
                        let _ = share.into_descriptor();
                        place.store(pte.0, Ordering::Relaxed);
                    }
                    Err(error) => result = Err(error),
                }
            });
            result?;
        }
        hal::cpu::dsb_ishst();
        Ok(())
    }
}

fn check_range(start: u64, len: u64) -> Result<()> {
    match start.checked_add(len) {
        Some(end) if end <= USER_END - PAGE => Ok(()),
        _ => Err(Errno::ENOMEM),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn request(placement: Placement, pages: u64, bits: u64) -> MapRequest {
        MapRequest {
            placement,
            len: pages * PAGE,
            protection: Protection::from_bits(bits),
            sharing: Sharing::Private,
            backing: Backing::Anonymous,
            grows_down: false,
            name: "",
        }
    }

    fn space() -> Space {
        hal::fakes_init();
        Space::new(AddressTables::new().unwrap())
    }

    #[test]
    fn mappings_go_downwards_and_fill_gaps() {
        let mut space = space();
        let a = space.map(request(Placement::Hint(0), 4, 3), 0).unwrap();
        let b = space.map(request(Placement::Hint(0), 4, 1), 0).unwrap();
        let c = space.map(request(Placement::Hint(0), 4, 3), 0).unwrap();
        assert!(c < b && b < a);
        space.unmap(b, 4 * PAGE, 0).unwrap();
        assert_eq!(space.map(request(Placement::Hint(0), 2, 1), 0).unwrap(), b + 2 * PAGE);
        assert_eq!(space.map(request(Placement::FixedFree(a), 1, 1), 0).unwrap_err(), Errno::EEXIST);
    }

    proptest! {
        /// Against an array of pages.
        #[test]
        fn areas_are_what_an_array_says(
            operations in prop::collection::vec((0u8..3, 0u64..64, 1u64..16, 0u64..8), 1..60)
        ) {
            const BASE: u64 = 0x10_0000;
            let mut space = space();
            let mut pages: Vec<Option<u8>> = vec![None; 80];
            for (kind, at, len, bits) in operations {
                let (start, place) = (BASE + at * PAGE, at as usize..(at + len) as usize);
                match kind {
                    0 => {
                        space.map(request(Placement::Fixed(start), len, bits), 0).unwrap();
                        pages[place].fill(Some(bits as u8));
                    }
                    1 => {
                        space.unmap(start, len * PAGE, 0).unwrap();
                        pages[place].fill(None);
                    }
                    _ => {
                        let result = space.protect(start, len * PAGE, Protection::from_bits(bits), 0);
                        let covered = pages[place.clone()].iter().all(Option::is_some);
                        prop_assert_eq!(result.is_ok(), covered);
                        if covered {
                            pages[place].fill(Some(bits as u8));
                        }
                    }
                }
                for (n, page) in pages.iter().enumerate() {
                    let found = space.find(BASE + n as u64 * PAGE).map(|vma| vma.protection.bits());
                    prop_assert_eq!(found, *page);
                }
                let list: Vec<&Vma> = space.areas().collect();
                for pair in list.windows(2) {
                    prop_assert!(pair[0].end <= pair[1].start);
                    prop_assert!(!pair[0].continues(pair[1]), "neighbours that are alike are one area");
                }
            }
        }
    }
}
