//! The kernel's heap: classes of powers of two up to half a page, cut from frames; whole blocks of frames above. A frame
//! whose objects are all free goes back.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr;
use core::sync::atomic::Ordering;

use super::PAGE_SIZE;
use super::frames::{self, Frame, FrameKind, MAX_ORDER, SMALL_OBJECTS};
use super::layout::linear;
use crate::sync::SpinLock;

const SMALLEST: usize = 16;
const CLASSES: usize = 8; // 16 to 2048
/// No frame.
const NONE: u32 = u32::MAX;
/// No free object.
const FULL: u32 = 0xffff;

/// The first frame of a class that has free objects; frames are linked by their numbers. A free object holds the index of
/// the next one in its frame, and `Info::objects` the first one's (bits 31:16) beside the count of those in use.
struct Partial(u32);

struct Heap {
    classes: [SpinLock<Partial>; CLASSES],
}

#[cfg_attr(target_os = "none", global_allocator)]
static HEAP: Heap = Heap { classes: [const { SpinLock::new(Partial(NONE)) }; CLASSES] };

fn class(size: usize) -> usize {
    (size.max(SMALLEST).next_power_of_two() / SMALLEST).trailing_zeros() as usize
}

fn order(size: usize) -> u8 {
    (size.div_ceil(PAGE_SIZE).next_power_of_two()).trailing_zeros() as u8
}

impl Partial {
    fn link(&mut self, number: u32, info: &frames::Info) {
        info.next.store(self.0, Ordering::Relaxed);
        info.previous.store(NONE, Ordering::Relaxed);
        if self.0 != NONE {
            frames::of_number(self.0).1.previous.store(number, Ordering::Relaxed);
        }
        self.0 = number;
    }

    fn unlink(&mut self, info: &frames::Info) {
        let (next, previous) = (info.next.load(Ordering::Relaxed), info.previous.load(Ordering::Relaxed));
        if next != NONE {
            frames::of_number(next).1.previous.store(previous, Ordering::Relaxed);
        }
        if previous == NONE {
            self.0 = next;
        } else {
            frames::of_number(previous).1.next.store(next, Ordering::Relaxed);
        }
    }

    /// A new frame for objects of that class, linked.
    fn grow(&mut self, class: usize) -> bool {
        let size = SMALLEST << class;
        let Some(frame) = Frame::new(FrameKind::Heap) else { return false };
        frame.state().store(SMALL_OBJECTS + class as u8, Ordering::Relaxed);
        let pa = frame.into_descriptor();
        let count = (PAGE_SIZE / size) as u32;
        for index in 0..count {
            let next = if index + 1 == count { FULL } else { index + 1 };
            // SAFETY: within the page that was just allocated, at a multiple of 16.
            unsafe { linear(pa).add(index as usize * size).cast::<u32>().write(next) };
        }
        let (number, info) = frames::numbered(pa);
        info.objects().store(0, Ordering::Relaxed);
        self.link(number, info);
        true
    }
}

// SAFETY: an object is free in its frame or handed out, never both; objects of a class lie side by side in a frame, aligned
// to their size; larger ones are blocks of frames, aligned to theirs.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let size = layout.size().max(layout.align());
        if size > PAGE_SIZE / 2 {
            if size > PAGE_SIZE << MAX_ORDER {
                return ptr::null_mut();
            }
            let block = Frame::block(FrameKind::Heap, order(size));
            return block.map_or(ptr::null_mut(), |frame| linear(frame.into_descriptor()));
        }
        let class = class(size);
        let size = SMALLEST << class;
        let mut partial = self.classes[class].lock();
        if partial.0 == NONE && !partial.grow(class) {
            return ptr::null_mut();
        }
        let (pa, info) = frames::of_number(partial.0);
        let objects = info.objects().load(Ordering::Relaxed);
        // SAFETY: the index is of a free object of this frame, which holds the next one's.
        let (object, next) = unsafe {
            let object = linear(pa).add((objects >> 16) as usize * size);
            (object, object.cast::<u32>().read())
        };
        info.objects().store((next << 16) | ((objects & 0xffff) + 1), Ordering::Relaxed);
        if next == FULL {
            partial.unlink(info);
        }
        object
    }

    unsafe fn dealloc(&self, object: *mut u8, layout: Layout) {
        let size = layout.size().max(layout.align());
        let pa = arch::Pa(object as u64 - linear(arch::Pa(0)) as u64);
        assert!(frames::kind_of(pa) == FrameKind::Heap, "no kernel memory at {object:p}");
        if size > PAGE_SIZE / 2 {
            drop(Frame::adopt(pa));
            return;
        }
        let class = class(size);
        let page = arch::Pa(pa.0 & !(PAGE_SIZE as u64 - 1));
        let index = (pa.0 - page.0) as u32 >> (SMALLEST.trailing_zeros() as usize + class);
        let (number, info) = frames::numbered(page);
        let mut partial = self.classes[class].lock();
        let objects = info.objects().load(Ordering::Relaxed);
        // SAFETY: the caller gives the object up, and it is large enough for an index.
        unsafe { object.cast::<u32>().write(objects >> 16) };
        info.objects().store((index << 16) | ((objects & 0xffff) - 1), Ordering::Relaxed);
        if objects >> 16 == FULL {
            partial.link(number, info);
        }
        // The last frame of the class stays, for the next object.
        let is_only = partial.0 == number && info.next.load(Ordering::Relaxed) == NONE;
        if objects & 0xffff == 1 && !is_only {
            partial.unlink(info);
            drop(partial);
            info.objects().store(1, Ordering::Relaxed);
            drop(Frame::adopt(page));
        }
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

    #[test]
    fn frames_without_objects_go_back() {
        crate::fakes::init();
        // Of a class that no other test has.
        let layout = Layout::from_size_align(256, 8).unwrap();
        let heap_frames = || frames::census().heap;
        let before = heap_frames();
        for rounds in 0..3u64 {
            // SAFETY: as above.
            let mut objects: alloc::vec::Vec<*mut u8> = (0..1000).map(|_| unsafe { HEAP.alloc(layout) }).collect();
            assert!(objects.iter().all(|object| !object.is_null()));
            assert!(heap_frames() >= before + 1000 / 16);
            // In another order than they came.
            objects.sort_by_key(|object| (*object as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15 + 2 * rounds));
            for object in objects {
                // SAFETY: given back once.
                unsafe { HEAP.dealloc(object, layout) };
            }
            // Other tests may hold objects of their classes meanwhile.
            assert!(heap_frames() <= before + 40);
        }
    }
}
