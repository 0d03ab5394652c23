//! Loads, stores and atomics of a PE: a fast path through the host-pointer cache, and behind it alignment,
//! translation, permission and the bus. DDI 0487 B2 and D8.

use std::sync::atomic::{
    Ordering::{Release, SeqCst},
    fence,
};

use arch::Va;
use arch::feature::Feature;
use arch::field::sctlr_el1 as sctlr;
use bus::{MmioAccess, Ram, Size, Target};
use mmu::{AccessKind, Admission, Caching, Dirty, MemAttr, Rights};
use sem::{Access, Order, Privilege, Word};

use crate::abort::AccessFault;
use crate::eval::Q;
use crate::pe::Pe;
use crate::stop::Stop;
use crate::tags::TagRule;

/// The granule by which the fast caches and the splitting of unaligned accesses work, in bytes.
pub(crate) const PAGE: u64 = 4096;

/// Kinds of accesses that have to be aligned without FEAT_LSE2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unaligned {
    /// Load-acquire and store-release.
    Ordered,
    /// Atomic and exclusive.
    Atomic,
}

/// Where an access ends up.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub target: Target,
    pub attr: MemAttr,
}

fn size_of(log2: u32) -> Size {
    match log2 {
        0 => Size::Byte,
        1 => Size::Half,
        2 => Size::Word,
        _ => Size::Double,
    }
}

impl Pe {
    /// The fast cache's context for `va`.
    #[inline(always)]
    fn context(&self, va: u64, privilege: Privilege) -> mmu::CtxId {
        match privilege {
            Privilege::Current => self.contexts.of(Va(va)),
            Privilege::Unprivileged => self.contexts_unprivileged.of(Va(va)),
        }
    }

    /// Is `va` aligned as far as this access must be? Then the fast cache may answer (which refuses what crosses a page).
    #[inline(always)]
    fn is_aligned_enough(&self, va: u64, access: Access) -> bool {
        let low = (1u64 << access.log2) - 1;
        let must_align = if access.order == Order::Plain { self.align_mask } else { !0 };
        va & low & must_align == 0
    }

    /// Where a load of `bytes` at `va` finds its data in RAM, if the fast cache knows.
    #[inline(always)]
    pub(crate) fn fast_read(&self, va: u64, privilege: Privilege, bytes: u64) -> Option<u64> {
        self.fast.lookup_read(Va(va), self.context(va, privilege), bytes)
    }
    /// The same for a store.
    #[inline(always)]
    pub(crate) fn fast_write(&self, va: u64, privilege: Privilege, bytes: u64) -> Option<u64> {
        self.fast.lookup_write(Va(va), self.context(va, privilege), bytes)
    }

    #[inline(always)]
    pub(crate) fn ram_read(&self, offset: u64, log2: u32) -> Option<u64> {
        match log2 {
            0 => self.ram.read_u8(offset).map(u64::from),
            1 => self.ram.read_u16(offset).map(u64::from),
            2 => self.ram.read_u32(offset).map(u64::from),
            _ => self.ram.read_u64(offset),
        }
    }
    #[inline(always)]
    pub(crate) fn ram_write(&self, offset: u64, value: u64, log2: u32) -> Option<()> {
        match log2 {
            0 => self.ram.write_u8(offset, value as u8),
            1 => self.ram.write_u16(offset, value as u16),
            2 => self.ram.write_u32(offset, value as u32),
            _ => self.ram.write_u64(offset, value),
        }
    }

    #[inline(always)]
    pub(crate) fn load_word(&mut self, va: u64, access: Access) -> Result<u64, Stop> {
        if self.is_aligned_enough(va, access)
            && let Some(offset) = self.fast_read(va, access.privilege, 1 << access.log2)
            && let Some(value) = self.ram_read(offset, access.log2)
        {
            if access.order != Order::Plain && self.peers.is_some() {
                Self::order_after_load(access.order);
            }
            return Ok(value);
        }
        self.load_slow(va, access)
    }

    #[inline(always)]
    pub(crate) fn store_word(&mut self, va: u64, value: u64, access: Access) -> Result<(), Stop> {
        if access.order != Order::Plain && self.peers.is_some() {
            return self.store_released(va, value, access);
        }
        self.store_unordered(va, value, access)
    }

    /// A store-release beside peers: behind what came before it, and before a load-acquire that follows.
    #[inline(never)]
    fn store_released(&mut self, va: u64, value: u64, access: Access) -> Result<(), Stop> {
        fence(Release);
        self.store_unordered(va, value, access)?;
        fence(SeqCst);
        Ok(())
    }

    #[inline(always)]
    fn store_unordered(&mut self, va: u64, value: u64, access: Access) -> Result<(), Stop> {
        if self.is_aligned_enough(va, access)
            && let Some(offset) = self.fast_write(va, access.privilege, 1 << access.log2)
            && self.ram_write(offset, value, access.log2).is_some()
        {
            return Ok(());
        }
        self.store_slow(va, value, access)
    }

    #[inline(never)]
    fn load_slow(&mut self, va: u64, access: Access) -> Result<u64, Stop> {
        let bytes = 1u64 << access.log2;
        self.check_own_alignment(va, access, AccessKind::Read)?;
        let place = self.place(va, AccessKind::Read, access.privilege)?;
        self.check_device_alignment(va, bytes, place.attr, AccessKind::Read)?;
        self.watch(va, bytes, AccessKind::Read, access.privilege)?;
        if va % PAGE + bytes > PAGE {
            return self.load_split(va, access);
        }
        self.check_tags(va, bytes, place, AccessKind::Read, access)?;
        let value = self.read_place(va, place, access.log2)?;
        if self.peers.is_some() {
            Self::order_after_load(access.order);
        }
        Ok(value)
    }

    /// An unaligned load over a page boundary, byte by byte.
    fn load_split(&mut self, va: u64, access: Access) -> Result<u64, Stop> {
        let bytes = 1u64 << access.log2;
        let second = (va | (PAGE - 1)).wrapping_add(1);
        let place = self.place(second, AccessKind::Read, access.privilege)?;
        self.check_device_alignment(va, bytes, place.attr, AccessKind::Read)?;
        let byte = Access { log2: 0, ..access };
        (0..bytes).try_fold(0, |value, n| Ok(value | self.load_word(va.wrapping_add(n), byte)? << (8 * n)))
    }

    #[inline(never)]
    fn store_slow(&mut self, va: u64, value: u64, access: Access) -> Result<(), Stop> {
        let bytes = 1u64 << access.log2;
        self.check_own_alignment(va, access, AccessKind::Write)?;
        let place = self.place(va, AccessKind::Write, access.privilege)?;
        self.check_device_alignment(va, bytes, place.attr, AccessKind::Write)?;
        self.watch(va, bytes, AccessKind::Write, access.privilege)?;
        if va % PAGE + bytes > PAGE {
            // Both pages are checked before the first byte is written.
            let second = (va | (PAGE - 1)).wrapping_add(1);
            let upper = self.place(second, AccessKind::Write, access.privilege)?;
            self.check_device_alignment(va, bytes, upper.attr, AccessKind::Write)?;
            let below = PAGE - va % PAGE;
            self.check_tags(va, below, place, AccessKind::Write, access)?;
            self.check_tags(second, bytes - below, upper, AccessKind::Write, access)?;
            let byte = Access { log2: 0, ..access };
            return (0..bytes).try_for_each(|n| self.store_word(va.wrapping_add(n), value >> (8 * n), byte));
        }
        self.check_tags(va, bytes, place, AccessKind::Write, access)?;
        self.write_place(va, place, value, access.log2)
    }

    /// 16 bytes in elements of `1 << access.log2`, the unit of alignment: of 16 for LDR, less for LD1 to LD4.
    pub(crate) fn load_quadword(&mut self, va: u64, access: Access) -> Result<Q, Stop> {
        if va & 15 != 0 {
            self.check_quadword(va, access, AccessKind::Read)?;
        }
        let lo = self.load_half(va, access)?;
        let hi = self.load_half(va.wrapping_add(8), access)?;
        Ok(Q(u128::from(hi) << 64 | u128::from(lo)))
    }

    pub(crate) fn store_quadword(&mut self, va: u64, value: Q, access: Access) -> Result<(), Stop> {
        let second = va.wrapping_add(8);
        if va & 15 != 0 {
            self.check_quadword(va, access, AccessKind::Write)?;
            if self.fast_write(second, access.privilege, 8).is_none() {
                // A fault of the second half, or on the second page, is found before the first half is written, but after
                // those of the first.
                if self.fast_write(va, access.privilege, 1).is_none() {
                    let place = self.place(va, AccessKind::Write, access.privilege)?;
                    self.check_tags(va, (PAGE - va % PAGE).min(8), place, AccessKind::Write, access)?;
                }
                let next_page = (va | (PAGE - 1)).wrapping_add(1);
                let from = if va % PAGE + 8 > PAGE { next_page } else { second };
                let place = self.place(from, AccessKind::Write, access.privilege)?;
                let within = (PAGE - from % PAGE).min(8);
                self.check_tags(from, within, place, AccessKind::Write, access)?;
                if within < 8 {
                    self.place(next_page, AccessKind::Write, access.privilege)?;
                }
            }
        }
        self.store_half(va, value.0 as u64, access)?;
        self.store_half(second, (value.0 >> 64) as u64, access)
    }

    /// The alignment of each of a quadword's elements, which all have that of the first.
    #[inline(never)]
    fn check_quadword(&mut self, va: u64, access: Access, kind: AccessKind) -> Result<(), Stop> {
        self.check_own_alignment(va, access, kind)?;
        let bytes = 1 << access.log2;
        if va & (bytes - 1) == 0 {
            return Ok(());
        }
        // Unaligned elements must not lie in Device memory, on neither page.
        for at in [va, va.wrapping_add(15)].into_iter().take(if va % PAGE + 16 > PAGE { 2 } else { 1 }) {
            let known = match kind {
                AccessKind::Read => self.fast_read(at, access.privilege, 1),
                _ => self.fast_write(at, access.privilege, 1),
            };
            if known.is_none() {
                let from = if at == va { va } else { at & !(PAGE - 1) };
                let place = self.place(from, kind, access.privilege)?;
                self.check_device_alignment(va, bytes, place.attr, kind)?;
            }
        }
        Ok(())
    }

    /// Must what is smaller than a doubleword be accessed by itself? Alone where alignment could be checked.
    #[inline(always)]
    fn by_elements(&self, va: u64, access: Access, known: Option<u64>) -> bool {
        va & 7 != 0 && access.log2 < 3 && (self.align_mask != 0 || known.is_none())
    }

    #[inline(always)]
    fn load_half(&mut self, va: u64, access: Access) -> Result<u64, Stop> {
        if va & 7 != 0 && self.by_elements(va, access, self.fast_read(va, access.privilege, 8)) {
            let bytes = 1 << access.log2;
            return (0..8)
                .step_by(bytes)
                .try_fold(0, |value, at| Ok(value | self.load_word(va.wrapping_add(at as u64), access)? << (8 * at)));
        }
        self.load_word(va, Access { log2: 3, ..access })
    }

    #[inline(always)]
    fn store_half(&mut self, va: u64, value: u64, access: Access) -> Result<(), Stop> {
        if va & 7 != 0 && self.by_elements(va, access, self.fast_write(va, access.privilege, 8)) {
            let bytes = 1 << access.log2;
            return (0..8)
                .step_by(bytes)
                .try_for_each(|at| self.store_word(va.wrapping_add(at as u64), value >> (8 * at), access));
        }
        self.store_word(va, value, Access { log2: 3, ..access })
    }

    /// Alignment as SCTLR_ELx.A and ordered accesses ask for it: these faults come before those of translation
    /// (DDI 0487 D1.3.5.6).
    fn check_own_alignment(&mut self, va: u64, access: Access, kind: AccessKind) -> Result<(), Stop> {
        if self.is_aligned_enough(va, access) || self.allows_unaligned(va, 1 << access.log2, Unaligned::Ordered) {
            Ok(())
        } else {
            self.alignment_fault(va, kind)
        }
    }

    /// FEAT_LSE2: ordered and atomic accesses need not be aligned inside 16 aligned bytes; with SCTLR_ELx.nAA ordered
    /// ones need not be anywhere (AArch64.UnalignedAccessFaults). For unaligned accesses only.
    #[cold]
    fn allows_unaligned(&self, va: u64, bytes: u64, what: Unaligned) -> bool {
        let anywhere = what == Unaligned::Ordered && sctlr::nAA.is_set(self.control());
        self.align_mask == 0 && self.model.has(Feature::FEAT_LSE2) && (anywhere || (va & 15) + bytes <= 16)
    }

    /// Alignment as Device memory asks for it: these faults come after those of translation.
    fn check_device_alignment(&mut self, va: u64, bytes: u64, attr: MemAttr, kind: AccessKind) -> Result<(), Stop> {
        if va & (bytes - 1) != 0 && attr.is_device() {
            return self.alignment_fault(va, kind);
        }
        Ok(())
    }

    pub(crate) fn alignment_fault<T>(&mut self, va: u64, kind: AccessKind) -> Result<T, Stop> {
        Err(self.data_abort(va, kind, AccessFault::Alignment))
    }

    /// Translates `va` and finds what lies there; fills the fast cache where that is RAM.
    pub(crate) fn place(&mut self, va: u64, kind: AccessKind, privilege: Privilege) -> Result<Place, Stop> {
        let access = self.mmu_access(kind, privilege);
        let entry = match self.translate(Va(va), access) {
            Ok(entry) => entry,
            Err(fault) => return Err(self.data_abort(va, kind, AccessFault::Mmu(fault))),
        };
        let target = self.bus.target(entry.output(Va(va)));
        if let Target::Ram(offset) = target
            && (!entry.attr.is_device() || self.align_mask != 0)
        {
            self.fill_fast(va, &entry, access, privilege, offset);
        }
        Ok(Place { target, attr: entry.attr })
    }

    /// Records in the fast cache that `va` lies at `offset` in RAM, with the rights that need no further look.
    fn fill_fast(&mut self, va: u64, entry: &mmu::Entry, access: mmu::Access, privilege: Privilege, offset: u64) {
        // Checks of tags need a look at each access.
        let watched = self.debugger_watches_page(va);
        if watched || entry.caching == Caching::Never || self.tag_rule(va, entry.attr, privilege) != TagRule::Unchecked
        {
            return;
        }
        if self.context_table.admit(&mut self.fast, entry) == Admission::Renewed {
            self.context_changed();
        }
        let mut rights = mmu::permissions::rights(&self.stage1, entry, access.privilege, access.pan);
        if self.ram.is_code(offset) || entry.dirty == Dirty::Clean {
            rights = rights.without(Rights::WRITE);
        }
        let context = match privilege {
            Privilege::Current => self.contexts.of(Va(va)),
            Privilege::Unprivileged => self.contexts_unprivileged.of(Va(va)),
        };
        self.fast.fill(Va(va), context, offset, rights.without(Rights::FETCH));
    }

    pub(crate) fn read_place(&mut self, va: u64, place: Place, log2: u32) -> Result<u64, Stop> {
        let value = match place.target {
            Target::Ram(offset) => {
                self.report_access(event::AccessKind::Load, offset, 1 << log2);
                self.ram_read(offset, log2)
            }
            Target::Device(index, offset) => {
                let access = self.mmio(offset, log2);
                let lines = self.lines.get();
                let value = self.bus.read_device(index, access).ok();
                // As where a register of the GIC is read: an interrupt is taken before the next instruction.
                self.leave_block |= self.lines.get() != lines;
                value
            }
            Target::Nothing => None,
        };
        value.ok_or_else(|| self.data_abort(va, AccessKind::Read, AccessFault::External))
    }

    pub(crate) fn write_place(&mut self, va: u64, place: Place, value: u64, log2: u32) -> Result<(), Stop> {
        let done = match place.target {
            Target::Ram(offset) => {
                self.report_access(event::AccessKind::Store, offset, 1 << log2);
                let done = self.ram_write(offset, value, log2);
                self.ram.order_store();
                self.note_found(offset, 1 << log2);
                done
            }
            Target::Device(index, offset) => {
                let access = self.mmio(offset, log2);
                // A device may write code by DMA, or raise an interrupt: look again before the next instruction.
                self.leave_block = true;
                self.bus.write_device(index, access, value).ok()
            }
            Target::Nothing => None,
        };
        done.ok_or_else(|| self.data_abort(va, AccessKind::Write, AccessFault::External))
    }

    fn mmio(&self, offset: u64, log2: u32) -> MmioAccess {
        MmioAccess { offset, size: size_of(log2), cpu: self.index, now: self.device_time }
    }

    /// The offset in RAM of an atomic or exclusive access: aligned, and allowed as `kinds` ask, in that order, so that
    /// the syndrome says write only where a read would not have faulted.
    #[inline(never)]
    fn atomic_slow(&mut self, va: u64, bytes: u64, kinds: &[AccessKind], access: Access) -> Result<u64, Stop> {
        let unaligned = va & (bytes - 1) != 0;
        if unaligned && !self.allows_unaligned(va, bytes, Unaligned::Atomic) {
            return self.alignment_fault(va, kinds[0]);
        }
        let mut place = self.place(va, kinds[0], access.privilege)?;
        for kind in &kinds[1..] {
            place = self.place(va, *kind, access.privilege)?;
        }
        // Unaligned ones to other than Write-Back memory: an Alignment fault, of what the architecture lets choose.
        if unaligned && !place.attr.is_write_back() {
            return self.alignment_fault(va, kinds[0]);
        }
        for kind in kinds {
            self.watch(va, bytes, *kind, access.privilege)?;
        }
        match place.target {
            Target::Ram(offset) if offset + bytes <= self.ram.len() => {
                // A tag check that fails does so for the read.
                self.check_tags(va, bytes, place, kinds[0], access)?;
                for kind in kinds {
                    let kind =
                        if *kind == AccessKind::Read { event::AccessKind::Load } else { event::AccessKind::Store };
                    self.report_access(kind, offset, bytes);
                }
                Ok(offset)
            }
            // Atomics to what does not support them: IMPLEMENTATION DEFINED fault, DFSC 0x35 (DDI 0487 B2.2.6).
            Target::Ram(_) | Target::Device(..) => Err(self.data_abort(va, kinds[0], AccessFault::UnsupportedAtomic)),
            Target::Nothing => Err(self.data_abort(va, kinds[0], AccessFault::External)),
        }
    }

    /// The offset in RAM that an atomic of `bytes` reads and writes.
    #[inline(always)]
    fn atomic_offset(&mut self, va: u64, bytes: u64, access: Access) -> Result<u64, Stop> {
        if va & (bytes - 1) == 0
            && let Some(offset) = self.fast_write(va, access.privilege, bytes)
        {
            return Ok(offset);
        }
        self.atomic_slow(va, bytes, &[AccessKind::Read, AccessKind::Write], access)
    }

    /// Writes RAM that `atomic_offset` found; a code page becomes stale.
    #[inline(always)]
    fn write_found(&mut self, offset: u64, value: u64, log2: u32) {
        // In bounds: the offset came with that size.
        let _ = self.ram_write(offset, value, log2);
        self.note_found(offset, 1 << log2);
    }

    #[inline(always)]
    fn note_found(&mut self, offset: u64, bytes: u64) {
        if self.ram.is_code(offset) {
            self.ram.note_write(offset, bytes);
            self.leave_block = true;
        }
    }

    /// Replaces what `offset` holds by what `new` makes of it, in one piece, beside peers.
    #[inline(never)]
    fn replace(&mut self, offset: u64, log2: u32, new: impl Fn(u128) -> u128) -> u128 {
        let mut old = self.ram.read_whole(offset, log2).unwrap_or(0);
        // In bounds: the offset came with that size.
        while let Some(Err(found)) = self.ram.compare_exchange(offset, log2, old, new(old)) {
            old = found;
        }
        self.ram.order_store();
        self.note_found(offset, 1 << log2);
        old
    }

    #[inline(always)]
    pub(crate) fn read_modify_write(&mut self, va: u64, access: Access, new: impl Fn(u64) -> u64) -> Result<u64, Stop> {
        let offset = self.atomic_offset(va, 1 << access.log2, access)?;
        if self.peers.is_some() {
            return Ok(self.replace(offset, access.log2, |old| u128::from(new(old as u64))) as u64);
        }
        let old = self.ram_read(offset, access.log2).unwrap_or(0);
        self.write_found(offset, new(old), access.log2);
        Ok(old)
    }

    /// CASP.
    pub(crate) fn read_modify_write_pair(
        &mut self,
        va: u64,
        access: Access,
        expected: (u64, u64),
        new: (u64, u64),
    ) -> Result<(u64, u64), Stop> {
        let (bytes, bits) = (1u64 << access.log2, 8 << access.log2);
        let offset = self.atomic_offset(va, 2 * bytes, access)?;
        if self.peers.is_some() {
            let expected = joined(expected, access.log2);
            let replaced = |old| if old == expected { joined(new, access.log2) } else { old };
            return Ok(halves(self.replace(offset, access.log2 + 1, replaced), access.log2));
        }
        let old = self.read_pair(offset, access.log2);
        if old == (expected.0.zext(bits), expected.1.zext(bits)) {
            self.write_found(offset, new.0, access.log2);
            self.write_found(offset + bytes, new.1, access.log2);
        }
        Ok(old)
    }

    fn read_pair(&self, offset: u64, log2: u32) -> (u64, u64) {
        (self.ram_read(offset, log2).unwrap_or(0), self.ram_read(offset + (1 << log2), log2).unwrap_or(0))
    }

    /// Marks `bytes` at `va` for exclusive access and gives their offset in RAM.
    fn mark_exclusive(&mut self, va: u64, bytes: u64, access: Access) -> Result<u64, Stop> {
        let found = if va & (bytes - 1) == 0 { self.fast_read(va, access.privilege, bytes) } else { None };
        let offset = match found {
            Some(offset) => offset,
            None => self.atomic_slow(va, bytes, &[AccessKind::Read], access)?,
        };
        self.monitor = Some(Monitor { offset, bytes });
        Ok(offset)
    }

    pub(crate) fn exclusive_load(&mut self, va: u64, access: Access) -> Result<u64, Stop> {
        let offset = self.mark_exclusive(va, 1 << access.log2, access)?;
        if self.peers.is_some() {
            return Ok(self.marked_value(offset, access.log2, access.order) as u64);
        }
        Ok(self.ram_read(offset, access.log2).unwrap_or(0))
    }

    pub(crate) fn exclusive_load_pair(&mut self, va: u64, access: Access) -> Result<(u64, u64), Stop> {
        let offset = self.mark_exclusive(va, 2 << access.log2, access)?;
        if self.peers.is_some() {
            return Ok(halves(self.marked_value(offset, access.log2 + 1, access.order), access.log2));
        }
        Ok(self.read_pair(offset, access.log2))
    }

    /// Does the monitor allow an exclusive store? Gives the offset in RAM, and clears the monitor either way.
    fn claim_exclusive(&mut self, va: u64, bytes: u64, access: Access) -> Result<Option<u64>, Stop> {
        let offset = self.atomic_slow_or_fast(va, bytes, access)?;
        let held = self.monitor.take() == Some(Monitor { offset, bytes });
        if !held {
            self.emit(event::Event::ExclusiveFailed { pa: self.bus.ram_base().add(offset) });
        }
        Ok(held.then_some(offset))
    }

    /// As [`Pe::atomic_offset`], for a store that does not read.
    fn atomic_slow_or_fast(&mut self, va: u64, bytes: u64, access: Access) -> Result<u64, Stop> {
        if va & (bytes - 1) == 0
            && let Some(offset) = self.fast_write(va, access.privilege, bytes)
        {
            return Ok(offset);
        }
        self.atomic_slow(va, bytes, &[AccessKind::Write], access)
    }

    pub(crate) fn exclusive_store(&mut self, va: u64, value: u64, access: Access) -> Result<u64, Stop> {
        let Some(offset) = self.claim_exclusive(va, 1 << access.log2, access)? else { return Ok(1) };
        if self.peers.is_some() {
            return Ok(self.store_marked(offset, access.log2, value.into()));
        }
        self.write_found(offset, value, access.log2);
        Ok(0)
    }

    pub(crate) fn exclusive_store_pair(&mut self, va: u64, values: (u64, u64), access: Access) -> Result<u64, Stop> {
        let bytes = 1u64 << access.log2;
        let Some(offset) = self.claim_exclusive(va, 2 * bytes, access)? else { return Ok(1) };
        if self.peers.is_some() {
            return Ok(self.store_marked(offset, access.log2 + 1, joined(values, access.log2)));
        }
        self.write_found(offset, values.0, access.log2);
        self.write_found(offset + bytes, values.1, access.log2);
        Ok(0)
    }
}

impl Pe {
    /// Reads what a load-exclusive marked, in one piece, beside peers.
    #[inline(never)]
    fn marked_value(&mut self, offset: u64, log2: u32, order: Order) -> u128 {
        // In bounds: the offset came with that size.
        self.monitor_value = self.ram.read_whole(offset, log2).unwrap_or(0);
        Self::order_after_load(order);
        self.monitor_value
    }

    /// Writes what a load-exclusive marked if it still holds what that read. That another PE stored, and then the old value
    /// again, is not noticed.
    #[inline(never)]
    fn store_marked(&mut self, offset: u64, log2: u32, value: u128) -> u64 {
        let bits = 8u32 << log2;
        let value = if bits == 128 { value } else { value & ((1 << bits) - 1) };
        if let Some(Ok(_)) = self.ram.compare_exchange(offset, log2, self.monitor_value, value) {
            self.ram.order_store();
            self.note_found(offset, 1 << log2);
            return 0;
        }
        self.emit(event::Event::ExclusiveFailed { pa: self.bus.ram_base().add(offset) });
        1
    }

    /// Beside peers: does what the last load-exclusive marked hold something else now? `None` where nothing is marked.
    #[must_use]
    pub fn mark_changed(&self) -> Option<bool> {
        let Monitor { offset, bytes } = self.monitor?;
        Some(self.ram.read_whole(offset, bytes.trailing_zeros()) != Some(self.monitor_value))
    }
}

/// Two elements of `1 << log2` bytes as they lie in memory, the first one lower.
fn joined((first, second): (u64, u64), log2: u32) -> u128 {
    let bits = 8u32 << log2;
    u128::from(second.zext(bits)) << bits | u128::from(first.zext(bits))
}

/// The same apart.
fn halves(both: u128, log2: u32) -> (u64, u64) {
    let bits = 8u32 << log2;
    ((both as u64).zext(bits), ((both >> bits) as u64).zext(bits))
}

/// The exclusive monitor: what the last load-exclusive marked. One PE at a time runs, and its monitor is cleared
/// whenever another PE may run (the architecture allows the monitor to be cleared at any time), so that no store of
/// another PE is missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Monitor {
    pub offset: u64,
    pub bytes: u64,
}

/// Memory that a load-exclusive marked, and what it held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marked {
    offset: u64,
    value: u64,
}

snapshot::persist_fields!(Marked { offset, value });

impl Marked {
    /// Does it hold something else now?
    #[must_use]
    pub fn has_changed(self, ram: &Ram) -> bool {
        ram.read_u64(self.offset) != Some(self.value)
    }
}

impl Pe {
    /// What WFE waits for: the doubleword around what the last load-exclusive marked, since when no other PE has run.
    #[must_use]
    pub fn marked(&self) -> Option<Marked> {
        let offset = self.monitor?.offset & !7;
        Some(Marked { offset, value: self.ram.read_u64(offset)? })
    }
}
