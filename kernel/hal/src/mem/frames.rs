//! Frames: which are free (a buddy system), and who shares those that are not (a count for each).

use core::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering};

use arch::Pa;

use super::cache::{self, BATCH};
use super::{PAGE_SHIFT, PAGE_SIZE};
use crate::sync::{Once, SpinLock};

/// Largest block that can be had: 2^10 frames, 4 MiB.
pub const MAX_ORDER: u8 = 10;
const NONE: u32 = u32::MAX;

/// What a frame is used for. Only `User` frames may be shared and mapped at EL0; only `Table` frames are walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameKind {
    /// Not RAM that is managed: holes, the image, what the boot loader left.
    Reserved = 0,
    /// Free.
    Free = 1,
    /// The kernel's own, for programs: stacks of threads, tables of the kernel's half.
    Kernel = 2,
    /// A translation table.
    Table = 3,
    /// Contents that EL0 sees: pages of programs and of files.
    User = 4,
    /// The kernel's heap.
    Heap = 5,
}

impl FrameKind {
    const fn of(byte: u8) -> Self {
        match byte {
            1 => Self::Free,
            2 => Self::Kernel,
            3 => Self::Table,
            4 => Self::User,
            5 => Self::Heap,
            _ => Self::Reserved,
        }
    }
}

/// What is known about one frame. All zero: reserved.
#[repr(C)]
#[derive(Debug, Default)]
pub(crate) struct Info {
    references: AtomicU32,
    kind: AtomicU8,
    /// Of the block that begins here.
    order: AtomicU8,
    /// A place for one byte of state about contents, for the mechanisms (such as: tags are valid).
    state: AtomicU8,
    /// Neighbours in the list of free blocks, as numbers of frames. For a page of the heap's small objects: in the list of
    /// pages of its class that have free ones.
    pub(super) next: AtomicU32,
    pub(super) previous: AtomicU32,
}

impl Info {
    /// For a page of the heap's small objects: how many are handed out, and the first that is free.
    pub(super) fn objects(&self) -> &AtomicU32 {
        &self.references
    }
}

/// All frames from the first to the last byte of RAM.
#[derive(Debug)]
struct Frames {
    base: Pa,
    infos: &'static [Info],
    free: SpinLock<FreeLists>,
}

#[derive(Debug)]
struct FreeLists {
    heads: [u32; MAX_ORDER as usize + 1],
}

static FRAMES: Once<Frames> = Once::new();
static FREE: AtomicUsize = AtomicUsize::new(0);
static TOTAL: AtomicUsize = AtomicUsize::new(0);

/// Begins to manage the frames from `base` on that `infos` describes, all of them reserved so far.
pub(crate) fn init(base: Pa, infos: &'static [Info]) {
    let free = SpinLock::new(FreeLists { heads: [NONE; MAX_ORDER as usize + 1] });
    assert!(FRAMES.set(Frames { base, infos, free }).is_ok(), "frames are set up once");
}

/// Gives the frames that lie wholly in the range to the allocator.
pub(crate) fn add_free(start: Pa, end: Pa) {
    let frames = frames();
    let mut at = frames.number(Pa(start.0.next_multiple_of(PAGE_SIZE as u64)));
    let end = frames.number(Pa(end.0 & !(PAGE_SIZE as u64 - 1)));
    let mut lists = frames.free.lock();
    while at < end {
        let mut order = MAX_ORDER.min(at.trailing_zeros() as u8);
        while at + (1 << order) > end {
            order -= 1;
        }
        frames.put_block(&mut lists, at, order);
        FREE.fetch_add(1 << order, Ordering::Relaxed);
        TOTAL.fetch_add(1 << order, Ordering::Relaxed);
        at += 1 << order;
    }
}

/// Frames that are free now, those that CPUs keep for themselves aside.
pub fn free_count() -> usize {
    FREE.load(Ordering::Relaxed)
}

/// Frames that were ever given to the allocator.
pub fn total_count() -> usize {
    TOTAL.load(Ordering::Relaxed)
}

/// Frames kept back from EL0, so that the kernel's own small needs are met when programs have taken all they can. Tables
/// and stacks may take half of it, the heap all.
pub fn reserve() -> usize {
    (total_count() / 32).clamp(256, 8192)
}

/// Is so little left that nothing new should be made that stays in the kernel's heap?
pub fn is_low() -> bool {
    free_count() < reserve() * 3 / 4
}

/// Could the heap have `bytes` more, and the kernel go on?
pub fn has_room(bytes: usize) -> bool {
    free_count() >= bytes.div_ceil(PAGE_SIZE).saturating_add(reserve() / 2)
}

fn least_left(kind: FrameKind) -> usize {
    match kind {
        FrameKind::User => reserve(),
        FrameKind::Table | FrameKind::Kernel => reserve() / 2,
        FrameKind::Heap | FrameKind::Free | FrameKind::Reserved => 0,
    }
}

/// Who has what, in frames and, for the heap, in objects. Exact while nobody allocates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Contents of programs and files.
    pub user: usize,
    /// Translation tables of programs.
    pub tables: usize,
    /// Stacks, tables of the kernel's half.
    pub kernel: usize,
    /// The heap.
    pub heap: usize,
    /// Small objects of the heap that are in use.
    pub objects: usize,
    /// The same by their classes: of 16, 32, ... 2048 bytes.
    pub classes: [usize; 8],
    /// Blocks of whole frames that the heap has given.
    pub blocks: usize,
    /// Everything else that was ever given to the allocator.
    pub free: usize,
}

/// Counts by looking at every frame.
pub fn census() -> Census {
    let frames = frames();
    let mut census = Census::default();
    let mut at = 0;
    while let Some(info) = frames.infos.get(at) {
        let order = info.order.load(Ordering::Relaxed).min(MAX_ORDER);
        let count = 1 << order;
        let place = match FrameKind::of(info.kind.load(Ordering::Relaxed)) {
            FrameKind::User => &mut census.user,
            FrameKind::Table => &mut census.tables,
            FrameKind::Kernel => &mut census.kernel,
            FrameKind::Heap => {
                let class = usize::from(info.state.load(Ordering::Relaxed)).checked_sub(usize::from(SMALL_OBJECTS));
                if let Some(place) = class.and_then(|class| census.classes.get_mut(class)) {
                    let objects = (info.references.load(Ordering::Relaxed) & 0xffff) as usize;
                    census.objects += objects;
                    *place += objects;
                } else {
                    census.blocks += 1;
                }
                &mut census.heap
            }
            FrameKind::Free | FrameKind::Reserved => {
                at += 1;
                continue;
            }
        };
        *place += count;
        at += count;
    }
    census.free = total_count() - census.user - census.tables - census.kernel - census.heap;
    census
}

/// The state of a heap frame that is cut into the smallest objects; those of the other classes follow.
pub(super) const SMALL_OBJECTS: u8 = 1;

/// The frame's number and what is known about it, for the heap.
pub(super) fn numbered(pa: Pa) -> (u32, &'static Info) {
    let frames = frames();
    (frames.number(pa), frames.info(pa).expect("the heap is in RAM"))
}

/// What is known about the frame of that number, and where it is.
pub(super) fn of_number(number: u32) -> (Pa, &'static Info) {
    let frames = frames();
    (frames.pa(number), &frames.infos[number as usize])
}

#[inline]
fn frames() -> &'static Frames {
    FRAMES.get().expect("frames are set up at boot")
}

impl Frames {
    #[inline]
    fn number(&self, pa: Pa) -> u32 {
        (pa.0.wrapping_sub(self.base.0) >> PAGE_SHIFT) as u32
    }
    #[inline]
    fn pa(&self, number: u32) -> Pa {
        Pa(self.base.0 + (u64::from(number) << PAGE_SHIFT))
    }
    /// `None` for an address outside of RAM.
    #[inline]
    fn info(&self, pa: Pa) -> Option<&'static Info> {
        let number = pa.0.wrapping_sub(self.base.0) >> PAGE_SHIFT;
        self.infos.get(usize::try_from(number).ok()?)
    }

    fn take(&self, order: u8) -> Option<u32> {
        let number = self.take_block(&mut self.free.lock(), order)?;
        FREE.fetch_sub(1 << order, Ordering::Relaxed);
        Some(number)
    }

    /// A frame of this CPU's own, after a batch was taken if it has none.
    #[inline]
    fn take_one(&self) -> Option<u32> {
        match cache::with(cache::Cache::pop) {
            Some(number) => Some(number),
            None => self.take_batch(),
        }
    }

    #[cold]
    fn take_batch(&self) -> Option<u32> {
        let mut batch = [0; BATCH];
        let mut len = 0;
        {
            let mut lists = self.free.lock();
            while len < BATCH {
                let Some(number) = self.take_block(&mut lists, 0) else { break };
                batch[len] = number;
                len += 1;
            }
        }
        FREE.fetch_sub(len, Ordering::Relaxed);
        let (first, rest) = batch[..len].split_first()?;
        cache::with(|cache| {
            // There is room: the cache was empty.
            for number in rest {
                cache.push(*number);
            }
        });
        Some(*first)
    }

    #[inline]
    fn put_one(&self, number: u32) {
        self.infos[number as usize].kind.store(FrameKind::Reserved as u8, Ordering::Relaxed);
        if !cache::with(|cache| cache.push(number)) {
            self.put_batch(number);
        }
    }

    #[cold]
    fn put_batch(&self, number: u32) {
        let mut batch = [number; BATCH];
        cache::with(|cache| {
            // It was full, so there are as many.
            for place in &mut batch[1..] {
                *place = cache.pop().unwrap_or(number);
            }
        });
        let mut lists = self.free.lock();
        for number in batch {
            self.put_block(&mut lists, number, 0);
        }
        drop(lists);
        FREE.fetch_add(BATCH, Ordering::Relaxed);
    }

    fn put_block(&self, lists: &mut FreeLists, mut number: u32, mut order: u8) {
        while order < MAX_ORDER {
            let buddy = number ^ (1 << order);
            let Some(info) = self.infos.get(buddy as usize) else { break };
            let is_free = info.kind.load(Ordering::Relaxed) == FrameKind::Free as u8;
            if !is_free || info.order.load(Ordering::Relaxed) != order {
                break;
            }
            self.unlink(lists, buddy, order);
            number &= !(1 << order);
            order += 1;
        }
        let info = &self.infos[number as usize];
        info.kind.store(FrameKind::Free as u8, Ordering::Relaxed);
        info.order.store(order, Ordering::Relaxed);
        let head = &mut lists.heads[order as usize];
        info.next.store(*head, Ordering::Relaxed);
        info.previous.store(NONE, Ordering::Relaxed);
        if *head != NONE {
            self.infos[*head as usize].previous.store(number, Ordering::Relaxed);
        }
        *head = number;
    }

    fn unlink(&self, lists: &mut FreeLists, number: u32, order: u8) {
        let info = &self.infos[number as usize];
        let (next, previous) = (info.next.load(Ordering::Relaxed), info.previous.load(Ordering::Relaxed));
        if next != NONE {
            self.infos[next as usize].previous.store(previous, Ordering::Relaxed);
        }
        if previous == NONE {
            lists.heads[order as usize] = next;
        } else {
            self.infos[previous as usize].next.store(next, Ordering::Relaxed);
        }
        info.kind.store(FrameKind::Reserved as u8, Ordering::Relaxed);
    }

    fn take_block(&self, lists: &mut FreeLists, order: u8) -> Option<u32> {
        let found = (order..=MAX_ORDER).find(|&o| lists.heads[o as usize] != NONE)?;
        let number = lists.heads[found as usize];
        self.unlink(lists, number, found);
        // The upper halves go back, from large to small.
        for o in (order..found).rev() {
            let half = number + (1 << o);
            let info = &self.infos[half as usize];
            info.kind.store(FrameKind::Free as u8, Ordering::Relaxed);
            info.order.store(o, Ordering::Relaxed);
            let head = lists.heads[o as usize];
            info.next.store(head, Ordering::Relaxed);
            info.previous.store(NONE, Ordering::Relaxed);
            if head != NONE {
                self.infos[head as usize].previous.store(half, Ordering::Relaxed);
            }
            lists.heads[o as usize] = half;
        }
        Some(number)
    }
}

/// One share of a frame (or of a block of 2^order frames). The block is free again when the last share is dropped.
/// Contents are what the last user left, unless it was made by [`Frame::zeroed`].
#[derive(Debug)]
#[repr(transparent)]
pub struct Frame {
    pa: Pa,
}

impl Frame {
    /// A block of 2^`order` frames, aligned to its size.
    pub fn block(kind: FrameKind, order: u8) -> Option<Self> {
        assert!(order <= MAX_ORDER && !matches!(kind, FrameKind::Free | FrameKind::Reserved));
        let count = 1usize << order;
        let least = least_left(kind);
        if least > 0 && free_count() < least + count {
            return None;
        }
        let frames = frames();
        let number = if order == 0 { frames.take_one()? } else { frames.take(order)? };
        let info = &frames.infos[number as usize];
        info.kind.store(kind as u8, Ordering::Relaxed);
        info.order.store(order, Ordering::Relaxed);
        info.state.store(0, Ordering::Relaxed);
        info.references.store(1, Ordering::Relaxed);
        Some(Self { pa: frames.pa(number) })
    }

    /// One frame.
    pub fn new(kind: FrameKind) -> Option<Self> {
        Self::block(kind, 0)
    }

    /// One frame full of zeros.
    pub fn zeroed(kind: FrameKind) -> Option<Self> {
        let frame = Self::new(kind)?;
        super::clear_page(frame.pa);
        Some(frame)
    }

    /// 2^`order` frames full of zeros, side by side from a multiple of their size; each is shared and freed by itself.
    pub fn zeroed_run(kind: FrameKind, order: u8) -> Option<impl Iterator<Item = Self>> {
        let first = Self::block(kind, order)?.into_descriptor();
        let pages = (0..1u64 << order).map(move |n| Pa(first.0 + (n << PAGE_SHIFT)));
        for pa in pages.clone() {
            let info = frames().info(pa).expect("a block is in RAM");
            info.order.store(0, Ordering::Relaxed);
            info.state.store(0, Ordering::Relaxed);
            info.references.store(1, Ordering::Relaxed);
            // Last: who looks at the kind may look at the rest.
            info.kind.store(kind as u8, Ordering::Release);
            super::clear_page(pa);
        }
        Some(pages.map(|pa| Self { pa }))
    }

    /// Its physical address.
    #[inline]
    pub fn pa(&self) -> Pa {
        self.pa
    }

    /// How many shares there are, this one included.
    #[inline]
    pub fn shares(&self) -> u32 {
        self.info().references.load(Ordering::Acquire)
    }

    /// A byte about its contents that the frame's users agree on; 0 when allocated.
    pub fn state(&self) -> &'static AtomicU8 {
        &self.info().state
    }

    /// Turns the share into the physical address, for a descriptor. [`Frame::from_descriptor`] takes it back.
    #[inline]
    pub fn into_descriptor(self) -> Pa {
        let pa = self.pa;
        core::mem::forget(self);
        pa
    }

    /// The share that a descriptor held. Panics if no frame for EL0 or of tables is there: then tables are corrupt.
    #[inline]
    pub fn from_descriptor(pa: Pa) -> Self {
        let info = frames().info(pa).expect("a descriptor points to RAM");
        let kind = FrameKind::of(info.kind.load(Ordering::Relaxed));
        assert!(
            matches!(kind, FrameKind::User | FrameKind::Table) && info.references.load(Ordering::Relaxed) > 0,
            "a descriptor points to a {kind:?} frame at {:#x}",
            pa.0
        );
        Self { pa }
    }

    /// The share that a raw address stood for.
    pub(crate) fn adopt(pa: Pa) -> Self {
        Self { pa }
    }

    #[inline]
    fn info(&self) -> &'static Info {
        frames().info(self.pa).expect("a frame is in RAM")
    }
}

impl Clone for Frame {
    /// One more share.
    #[inline]
    fn clone(&self) -> Self {
        let before = self.info().references.fetch_add(1, Ordering::Relaxed);
        assert!(before < u32::MAX / 2, "too many shares of a frame");
        Self { pa: self.pa }
    }
}

impl Drop for Frame {
    #[inline]
    fn drop(&mut self) {
        let info = self.info();
        if info.references.fetch_sub(1, Ordering::Release) == 1 {
            core::sync::atomic::fence(Ordering::Acquire);
            let frames = frames();
            let (number, order) = (frames.number(self.pa), info.order.load(Ordering::Relaxed));
            if order == 0 {
                frames.put_one(number);
            } else {
                info.kind.store(FrameKind::Reserved as u8, Ordering::Relaxed);
                frames.put_block(&mut frames.free.lock(), number, order);
                FREE.fetch_add(1 << order, Ordering::Relaxed);
            }
        }
    }
}

/// What the frame at `pa` is used for; `Reserved` outside of RAM.
#[inline]
pub fn kind_of(pa: Pa) -> FrameKind {
    frames().info(pa).map_or(FrameKind::Reserved, |info| FrameKind::of(info.kind.load(Ordering::Relaxed)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn blocks_are_aligned_apart_and_merge_again() {
        crate::fakes::init();
        let mut held = Vec::new();
        for order in [0, 3, 1, 0, 5, 2, 10] {
            let frame = Frame::block(FrameKind::Kernel, order).unwrap();
            assert_eq!(frame.pa().0 % ((PAGE_SIZE as u64) << order), 0);
            for (other, o) in &held {
                let other: &Frame = other;
                let (a, b) = (frame.pa().0, other.pa().0);
                assert!(a + ((PAGE_SIZE as u64) << order) <= b || b + ((PAGE_SIZE as u64) << *o) <= a);
            }
            held.push((frame, order));
        }
        drop(held);
        assert!(Frame::block(FrameKind::Kernel, MAX_ORDER).is_some());
    }

    #[test]
    fn frames_of_a_run_are_freed_one_by_one() {
        crate::fakes::init();
        // Of a kind that no test beside this one has.
        let run: Vec<Frame> = Frame::zeroed_run(FrameKind::Table, 4).unwrap().collect();
        assert_eq!(run.len(), 16);
        assert_eq!(run[0].pa().0 % 0x1_0000, 0);
        let pas: Vec<Pa> = run.iter().map(Frame::pa).collect();
        for (n, frame) in run.into_iter().enumerate() {
            assert_eq!((frame.pa().0 - pas[0].0) as usize, n * PAGE_SIZE);
            assert_eq!((frame.shares(), kind_of(frame.pa())), (1, FrameKind::Table));
            let other = frame.clone();
            drop(frame);
            assert_eq!(kind_of(pas[n]), FrameKind::Table);
            drop(other);
            let references = |pa: Pa| frames().info(pa).unwrap().references.load(Ordering::Relaxed);
            assert_eq!(references(pas[n]), 0);
            assert!(pas[n + 1..].iter().all(|pa| references(*pa) == 1));
            assert!(pas[n + 1..].iter().all(|pa| kind_of(*pa) == FrameKind::Table));
        }
    }

    #[test]
    fn the_last_share_frees() {
        crate::fakes::init();
        let frame = Frame::zeroed(FrameKind::User).unwrap();
        let other = frame.clone();
        assert_eq!(frame.shares(), 2);
        drop(frame);
        assert_eq!(other.shares(), 1);
        assert_eq!(kind_of(other.pa()), FrameKind::User);
    }
}
