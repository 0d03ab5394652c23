//! Page faults: a page comes to be when it is touched; a shared private page is copied when it is written to.

use core::sync::atomic::Ordering;

use hal::mem::{Frame, FrameKind, tlb};
use hal::sync::Once;

use super::contpte;
use super::pte::Pte;
use super::space::Space;
use super::vma::{Backing, Protection, Sharing, Vma};
use super::{PAGE, USER_END};
use crate::errno::Errno;
use crate::mte;

/// What an access wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An instruction fetch.
    Execute,
}

impl Access {
    /// Does EL0's page allow it?
    pub(super) fn is_allowed_by(self, pte: Pte) -> bool {
        match self {
            Self::Read => pte.is_readable(),
            Self::Write => pte.is_writable(),
            Self::Execute => pte.is_executable(),
        }
    }
}

/// Why a fault cannot be served: the signal's code follows from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultError {
    /// Nothing is mapped there (SEGV_MAPERR).
    NotMapped,
    /// What is there has not these rights (SEGV_ACCERR).
    NoAccess,
    /// The file ends before (BUS_ADRERR).
    BehindEnd,
    /// There is no memory.
    OutOfMemory,
}

impl From<Errno> for FaultError {
    fn from(error: Errno) -> Self {
        if error == Errno::ENOMEM { Self::OutOfMemory } else { Self::BehindEnd }
    }
}

/// The page of zeros that all untouched anonymous memory reads.
fn zero_page() -> Result<Frame, FaultError> {
    static ZERO: Once<Frame> = Once::new();
    if let Some(frame) = ZERO.get() {
        return Ok(frame.clone());
    }
    let frame = Frame::zeroed(FrameKind::User).ok_or(FaultError::OutOfMemory)?;
    let share = frame.clone();
    let _ = ZERO.set(frame);
    Ok(ZERO.get().map_or(share, Frame::clone))
}

impl Space {
    /// Serves a fault; `asid` is this address space's.
    pub(super) fn fault(&mut self, address: u64, access: Access, asid: u16) -> Result<(), FaultError> {
        if address >= USER_END {
            return Err(FaultError::NotMapped);
        }
        let va = address & !(PAGE - 1);
        let vma = match self.find(va) {
            Some(vma) => vma,
            None => self.grow_stack(va).ok_or(FaultError::NotMapped)?,
        };
        let allowed = match access {
            Access::Read => vma.protection.readable(),
            Access::Write => vma.protection.writable(),
            Access::Execute => vma.protection.executable(),
        };
        if !allowed {
            return Err(FaultError::NoAccess);
        }
        let vma = vma.clone();
        let entry = self.tables.entry_or_new(va)?;
        let old = Pte(entry.load(Ordering::Relaxed));
        if old.is_valid() {
            if access.is_allowed_by(old) {
                // Another thread was first, this CPU had an older descriptor, or only the access flag is missing.
                if let Some(block) = self.tables.block(va) {
                    contpte::block::set_accessed(block, (va / PAGE) as usize % contpte::block::BLOCK);
                }
                contpte::count_spurious();
                tlb::page_local(asid, va);
                return Ok(());
            }
            if access != Access::Write {
                return Err(FaultError::NoAccess);
            }
            return self.write_shared(&vma, va, old, asid);
        }
        if access == Access::Write && self.fault_block(&vma, va) {
            return Ok(());
        }
        let (frame, protection) = first_page(&vma, va, access)?;
        if protection.executable() {
            frame.sync_instructions();
        }
        if protection.tagged() {
            mte::prepare(&frame);
        }
        entry.store(Pte::page(frame.into_descriptor(), protection).0, Ordering::Release);
        if access == Access::Read && matches!(vma.backing, Backing::Pages { .. }) {
            self.fault_around(&vma, va, protection);
        }
        // No TLB has an entry of a descriptor that was invalid; the walk has to see the new one.
        hal::cpu::dsb_ishst();
        self.fold(va, asid);
        Ok(())
    }

    /// After a page of a file was mapped for a load: those around it that the file has already, as they will be next. Not
    /// where a page needs more than its descriptor.
    #[inline(never)]
    fn fault_around(&self, vma: &Vma, va: u64, protection: Protection) {
        let Backing::Pages { source, first } = &vma.backing else { return };
        if protection.executable() || protection.tagged() {
            return;
        }
        let Some(descriptors) = self.tables.block(va) else { return };
        // The block of the table that `va` is in, as far as it is the area's.
        let block = va & !(contpte::BLOCK_SIZE - 1);
        let (start, end) = (block.max(vma.start), (block + contpte::BLOCK_SIZE).min(vma.end));
        let index_of = |at: u64| first + (at - vma.start) / PAGE;
        let (range, skipped) = (index_of(start)..index_of(end), (start - block) / PAGE);
        source.present(range.clone(), &mut |index, frame| {
            let Some(entry) = descriptors.get((index - range.start + skipped) as usize) else { return };
            if entry.load(Ordering::Relaxed) == 0 {
                entry.store(Pte::page(frame.into_descriptor(), protection).0, Ordering::Release);
            }
        });
    }

    /// A page that is there and read-only, in an area that may be written to.
    fn write_shared(&mut self, vma: &Vma, va: u64, old: Pte, asid: u16) -> Result<(), FaultError> {
        self.unfold(va, asid);
        let entry = self.tables.entry(va).ok_or(FaultError::NotMapped)?;
        let frame = Frame::from_descriptor(old.pa());
        // The descriptor's is the only share: nobody else reads it, and no file has it.
        if vma.sharing == Sharing::Shared || frame.shares() == 1 {
            let pa = frame.into_descriptor();
            entry.store(Pte::page(pa, vma.protection).0, Ordering::Release);
            tlb::page(asid, va);
            self.fold(va, asid);
            return Ok(());
        }
        let Some(new) = Frame::new(FrameKind::User) else {
            let _ = frame.into_descriptor();
            return Err(FaultError::OutOfMemory);
        };
        new.copy_from(&frame);
        mte::copy(&new, &frame);
        if vma.protection.tagged() {
            mte::prepare(&new);
        }
        if vma.protection.executable() {
            new.sync_instructions();
        }
        // The output address changes: break before make.
        entry.store(0, Ordering::Release);
        tlb::page(asid, va);
        entry.store(Pte::page(new.into_descriptor(), vma.protection).0, Ordering::Release);
        hal::cpu::dsb_ishst();
        drop(frame);
        Ok(())
    }

    /// Extends the stack above `va` down to it, if that is what it is.
    fn grow_stack(&mut self, va: u64) -> Option<&Vma> {
        /// Pages below a stack that nothing else may come into (Linux: stack_guard_gap).
        const GAP: u64 = 256 * PAGE;
        let above = self.areas.range(va..).next().map(|(_, vma)| vma.clone()).filter(|vma| vma.grows_down)?;
        let limit = above.end.checked_sub(self.stack_limit)?;
        let below = self.areas.range(..va).next_back().map_or(0, |(_, vma)| vma.end);
        if va < limit || va.checked_sub(GAP)? < below {
            return None;
        }
        self.areas.remove(&above.start);
        self.areas.insert(va, Vma { start: va, ..above });
        self.areas.get(&va)
    }
}

/// The page for an address that has none, and the rights with which it is mapped now.
fn first_page(vma: &Vma, va: u64, access: Access) -> Result<(Frame, Protection), FaultError> {
    let read_only = Protection::from_bits(u64::from(vma.protection.bits() & !2));
    match &vma.backing {
        Backing::Anonymous if access == Access::Write => {
            Ok((Frame::zeroed(FrameKind::User).ok_or(FaultError::OutOfMemory)?, vma.protection))
        }
        Backing::Anonymous => Ok((zero_page()?, read_only)),
        Backing::Pages { .. } => {
            let (source, index) = vma.source_page(va).ok_or(FaultError::NotMapped)?;
            let page = source.page(index)?;
            if vma.sharing == Sharing::Shared {
                return Ok((page, vma.protection));
            }
            if access != Access::Write {
                return Ok((page, read_only));
            }
            let own = Frame::new(FrameKind::User).ok_or(FaultError::OutOfMemory)?;
            own.copy_from(&page);
            mte::copy(&own, &page);
            Ok((own, vma.protection))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AddressTables, MapRequest, PageSource, Placement};
    use super::*;
    use alloc::sync::Arc;
    use alloc::vec::Vec;
    use hal::mem::free_count;

    fn space_with(bits: u64) -> (Space, u64) {
        hal::fakes_init();
        let mut space = Space::new(AddressTables::new().unwrap());
        let request = MapRequest {
            placement: Placement::Hint(0),
            len: 4 * PAGE,
            protection: Protection::from_bits(bits),
            sharing: Sharing::Private,
            backing: Backing::Anonymous,
            grows_down: false,
            name: "",
        };
        let at = space.map(request, 0).unwrap();
        (space, at)
    }

    #[test]
    fn a_read_maps_zeros_and_a_write_its_own_page() {
        let (mut space, at) = space_with(3);
        space.fault(at + 5, Access::Read, 1).unwrap();
        let zeros = space.tables.get(at);
        assert!(zeros.is_readable() && !zeros.is_writable());
        space.fault(at + 9, Access::Write, 1).unwrap();
        let own = space.tables.get(at);
        assert!(own.is_writable() && own.pa() != zeros.pa());
        assert_eq!(space.fault(at, Access::Execute, 1), Err(FaultError::NoAccess));
        assert_eq!(space.fault(at + 4 * PAGE, Access::Read, 1), Err(FaultError::NotMapped));
    }

    #[test]
    fn a_fork_shares_until_one_side_writes() {
        let (mut parent, at) = space_with(3);
        parent.fault(at, Access::Write, 1).unwrap();
        let before = parent.tables.get(at);
        let mut child = Space::new(AddressTables::new().unwrap());
        parent.copy_into(&mut child).unwrap();
        assert!(!parent.tables.get(at).is_writable());
        assert_eq!(child.tables.get(at), parent.tables.get(at));
        child.fault(at, Access::Write, 2).unwrap();
        assert_ne!(child.tables.get(at).pa(), before.pa());
        // The parent is now alone with the page.
        parent.fault(at, Access::Write, 1).unwrap();
        assert_eq!(parent.tables.get(at), before);
    }

    /// All but page 5 of 64 are there.
    #[derive(Debug)]
    struct Pages(Vec<Frame>);
    impl PageSource for Pages {
        fn page(&self, index: u64) -> crate::errno::Result<Frame> {
            Ok(self.0[index as usize].clone())
        }
        fn present(&self, range: core::ops::Range<u64>, each: &mut dyn FnMut(u64, Frame)) {
            range.filter(|index| *index != 5).for_each(|index| each(index, self.0[index as usize].clone()));
        }
    }

    #[test]
    fn a_load_from_a_file_maps_what_is_around() {
        const START: u64 = 0x1000_0000 + 3 * PAGE;
        hal::fakes_init();
        let frames: Vec<Frame> = (0..64).map(|_| Frame::zeroed(FrameKind::User).unwrap()).collect();
        let source = Arc::new(Pages(frames.clone()));
        for (bits, sharing, around) in [
            (1, Sharing::Private, true),
            (3, Sharing::Private, true),
            (3, Sharing::Shared, true),
            (5, Sharing::Private, false),
        ] {
            let mut space = Space::new(AddressTables::new().unwrap());
            let request = MapRequest {
                placement: Placement::Fixed(START),
                len: 25 * PAGE,
                protection: Protection::from_bits(bits),
                sharing,
                backing: Backing::Pages { source: source.clone(), first: 1 },
                grows_down: false,
                name: "",
            };
            space.map(request, 0).unwrap();
            space.fault(START + 2 * PAGE, Access::Read, 1).unwrap();
            // The first block of the table begins three pages before the area; the second is untouched.
            for n in 0..25 {
                let pte = space.tables.get(START + n * PAGE);
                let expected = n == 2 || around && n < 13 && n != 4;
                assert_eq!(pte.is_valid(), expected, "page {n}, rights {bits}");
                if expected {
                    assert_eq!(pte.pa(), frames[n as usize + 1].pa());
                    assert_eq!(pte.is_writable(), sharing == Sharing::Shared);
                }
            }
            // The last block ends with the area.
            space.fault(START + 24 * PAGE, Access::Read, 1).unwrap();
            assert_eq!(space.tables.get(START + 25 * PAGE), Pte::NONE);
            assert_eq!(space.tables.get(START + 13 * PAGE).is_valid(), around);
            assert!(!space.tables.get(START - PAGE).is_valid());
        }
        // No share was lost or kept.
        let shares: Vec<u32> = frames.iter().map(Frame::shares).collect();
        assert!(shares.iter().all(|n| *n == 2), "{shares:?}");
    }

    #[test]
    fn nothing_is_lost() {
        let (space, _) = space_with(3);
        drop(space);
        let _ = zero_page();
        // Other tests run beside this one, so only the direction can be told: repeat and look for a leak.
        let free = free_count();
        for _ in 0..200 {
            let (mut space, at) = space_with(3);
            for page in 0..4 {
                space.fault(at + page * PAGE, Access::Write, 1).unwrap();
            }
        }
        assert!(free_count() + 600 > free, "frames leak: {} of {free} are left", free_count());
    }
}
