//! Kernel stacks. Each lies in a place of twice its size, at the upper end; below it nothing is mapped, so that one that is
//! too deep faults. Where a stack pointer is, one bit tells ([`OVERFLOW_BIT`]): so `vectors.S` needs no register to see it.

use super::frames::{Frame, FrameKind};
use super::{PAGE_SHIFT, PAGE_SIZE};
use crate::sync::SpinLock;
use alloc::vec::Vec;

const ORDER: u8 = 2;
/// Bytes of a kernel stack.
pub const STACK_SIZE: usize = PAGE_SIZE << ORDER;
/// The bit of a stack pointer that is 1 in a stack and 0 in what is below it.
pub(crate) const OVERFLOW_BIT: u32 = PAGE_SHIFT + ORDER as u32;
/// Stacks that there are addresses for: one table of level 2.
pub const MOST: usize = (1 << 30) / (2 * STACK_SIZE);

/// A stack.
#[repr(C)]
#[derive(Debug)]
pub struct Stack {
    place: u32,
    frame: Frame,
}

/// Places that have been used; all others have not.
#[derive(Debug)]
struct Places {
    free: Vec<u32>,
    next: u32,
}

static PLACES: SpinLock<Places> = SpinLock::new(Places { free: Vec::new(), next: 0 });

impl Stack {
    /// A stack with anything in it. `None`: no memory.
    pub fn new() -> Option<Self> {
        let frame = Frame::block(FrameKind::Kernel, ORDER)?;
        let place = {
            let mut places = PLACES.lock();
            match places.free.pop() {
                Some(place) => place,
                None => {
                    let place = places.next;
                    // All of them must fit when they come back.
                    places.free.try_reserve(place as usize + 1).ok()?;
                    if place as usize >= MOST || !target::make_table(place) {
                        return None;
                    }
                    places.next += 1;
                    place
                }
            }
        };
        target::map(place, frame.pa());
        Some(Self { place, frame })
    }

    /// The address behind it.
    pub(crate) fn top(&self) -> usize {
        target::top(self.place, self.frame.pa())
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        target::unmap(self.place);
        PLACES.lock().free.push(self.place);
    }
}

#[cfg(target_os = "none")]
mod target {
    use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

    use arch::Pa;

    use super::{FrameKind, STACK_SIZE};
    use crate::boot::{KERNEL_DATA, stack_tables};
    use crate::mem::layout::{STACKS, linear};
    use crate::mem::{Frame, PAGE_SHIFT, PAGE_SIZE, tlb};

    const PAGES: usize = STACK_SIZE / PAGE_SIZE;
    const TABLE: u64 = 3;

    type Table = [AtomicU64; 512];

    fn address(place: u32) -> usize {
        STACKS + place as usize * 2 * STACK_SIZE + STACK_SIZE
    }

    pub fn top(place: u32, _pa: Pa) -> usize {
        address(place) + STACK_SIZE
    }

    /// Tables of level 3, by the index in that of level 2.
    static TABLES: [AtomicPtr<Table>; 512] = [const { AtomicPtr::new(core::ptr::null_mut()) }; 512];

    /// Sees to it that there is a table for the place. Under the lock of the places.
    pub fn make_table(place: u32) -> bool {
        let index = address(place) >> 21 & 511;
        if !TABLES[index].load(Ordering::Acquire).is_null() {
            return true;
        }
        let Some(frame) = Frame::zeroed(FrameKind::Kernel) else { return false };
        let pa = frame.into_descriptor();
        crate::cpu::dsb_ishst();
        stack_tables()[index].store(pa.0 | TABLE, Ordering::Release);
        TABLES[index].store(linear(pa).cast(), Ordering::Release);
        true
    }

    fn entries(place: u32) -> &'static [AtomicU64] {
        let at = address(place);
        let table = TABLES[at >> 21 & 511].load(Ordering::Acquire);
        let first = at >> PAGE_SHIFT & 511;
        // SAFETY: `make_table` went before; the table is never freed, and all accesses to it are atomic.
        unsafe { &(&*table)[first..first + PAGES] }
    }

    pub fn map(place: u32, pa: Pa) {
        for (n, entry) in entries(place).iter().enumerate() {
            entry.store((pa.0 + (n << PAGE_SHIFT) as u64) | KERNEL_DATA | 3, Ordering::Relaxed);
        }
        // They were invalid: no TLB has them. The walk must see them.
        crate::cpu::dsb_ishst();
        crate::cpu::isb();
    }

    pub fn unmap(place: u32) {
        for entry in entries(place) {
            entry.store(0, Ordering::Relaxed);
        }
        tlb::kernel_pages(address(place), PAGES);
    }
}

#[cfg(not(target_os = "none"))]
mod target {
    use arch::Pa;

    pub fn top(_place: u32, pa: Pa) -> usize {
        crate::mem::layout::linear(pa) as usize + super::STACK_SIZE
    }
    pub fn make_table(_place: u32) -> bool {
        true
    }
    pub fn map(_place: u32, _pa: Pa) {}
    pub fn unmap(_place: u32) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_used_again() {
        crate::fakes::init();
        let first = Stack::new().unwrap();
        let second = Stack::new().unwrap();
        assert_ne!(first.place, second.place);
        let place = second.place;
        drop(second);
        assert_eq!(Stack::new().unwrap().place, place);
        assert_eq!(1 << OVERFLOW_BIT, STACK_SIZE);
    }
}
