//! The kernel's heap: classes of powers of two up to half a page, cut from frames; whole blocks of frames above.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr;

use super::PAGE_SIZE;
use super::frames::{Frame, FrameKind, MAX_ORDER};
use super::layout::linear;
use crate::sync::SpinLock;

const SMALLEST: usize = 16;
const CLASSES: usize = 8; // 16 to 2048

/// First free object of a class; each holds the address of the next.
struct FreeList(*mut u8);
// SAFETY: the list owns the objects it points to.
unsafe impl Send for FreeList {}

struct Heap {
    lists: [SpinLock<FreeList>; CLASSES],
}

#[cfg_attr(target_os = "none", global_allocator)]
static HEAP: Heap = Heap { lists: [const { SpinLock::new(FreeList(ptr::null_mut())) }; CLASSES] };

fn class(size: usize) -> usize {
    (size.max(SMALLEST).next_power_of_two() / SMALLEST).trailing_zeros() as usize
}

fn order(size: usize) -> u8 {
    (size.div_ceil(PAGE_SIZE).next_power_of_two()).trailing_zeros() as u8
}

// SAFETY: an object is in a free list or handed out, never both; objects of a class lie side by side in a frame, aligned
// to their size; larger ones are blocks of frames, aligned to theirs.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let size = layout.size().max(layout.align());
        if size > PAGE_SIZE / 2 {
            if size > PAGE_SIZE << MAX_ORDER {
                return ptr::null_mut();
            }
            let block = Frame::block(FrameKind::Kernel, order(size));
            return block.map_or(ptr::null_mut(), |frame| linear(frame.into_descriptor()));
        }
        let class = class(size);
        let mut list = self.lists[class].lock();
        if list.0.is_null() {
            let Some(frame) = Frame::new(FrameKind::Kernel) else { return ptr::null_mut() };
            let page = linear(frame.into_descriptor());
            for offset in (0..PAGE_SIZE).step_by(SMALLEST << class) {
                // SAFETY: within the page that was just allocated.
                unsafe {
                    let object = page.add(offset);
                    object.cast::<*mut u8>().write(list.0);
                    list.0 = object;
                }
            }
        }
        let object = list.0;
        // SAFETY: a free object holds the next one's address.
        list.0 = unsafe { object.cast::<*mut u8>().read() };
        object
    }

    unsafe fn dealloc(&self, object: *mut u8, layout: Layout) {
        let size = layout.size().max(layout.align());
        if size > PAGE_SIZE / 2 {
            drop(Frame::of_kernel(object));
            return;
        }
        let mut list = self.lists[class(size)].lock();
        // SAFETY: the caller gives the object up, and it is large enough for an address.
        unsafe { object.cast::<*mut u8>().write(list.0) };
        list.0 = object;
    }
}

impl Frame {
    /// The block that a heap object or a stack is.
    pub(crate) fn of_kernel(at: *mut u8) -> Self {
        let pa = arch::Pa(at as u64 - linear(arch::Pa(0)) as u64);
        assert!(super::frames::kind_of(pa) == FrameKind::Kernel, "no kernel memory at {at:p}");
        Self::adopt(pa)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_aligned_and_apart() {
        crate::fakes::init();
        let mut seen: alloc::vec::Vec<(usize, usize)> = alloc::vec::Vec::new();
        for (size, align) in [(1, 1), (24, 8), (100, 64), (2048, 16), (2049, 8), (8, 4096), (70000, 16)] {
            let layout = Layout::from_size_align(size, align).unwrap();
            // SAFETY: sizes are not zero; objects are used within them and given back once.
            let object = unsafe { HEAP.alloc(layout) };
            assert!(!object.is_null() && object as usize % align == 0);
            let (start, end) = (object as usize, object as usize + size);
            assert!(seen.iter().all(|&(s, e)| end <= s || e <= start));
            seen.push((start, end));
            // SAFETY: as above.
            unsafe { object.write_bytes(0xa5, size) };
        }
    }
}
