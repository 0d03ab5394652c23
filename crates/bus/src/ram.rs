//! Guest RAM: one private anonymous mapping, committed by the host on first touch.
//!
//! Offsets are relative to the start of RAM. Every access is bounds-checked. Aligned accesses of up to
//! 8 bytes are single-copy atomic, so that PEs on several host threads see no torn values; for 16 bytes, and for unaligned
//! ones within 16 aligned bytes (FEAT_LSE2), there are accesses of their own.
#![allow(unsafe_code)]

use std::sync::Mutex;
use std::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
    fence,
};

use memmap2::{MmapOptions, MmapRaw};
use portable_atomic::AtomicU128;
use thiserror::Error;

use crate::tags::TagStore;

/// RAM could not be made.
#[derive(Debug, Error)]
pub enum RamError {
    /// The host refused the mapping.
    #[error("cannot reserve {bytes} bytes of guest memory: {source}; ask for less with --memory")]
    Map {
        /// Size asked for.
        bytes: u64,
        /// The host's reason.
        source: std::io::Error,
    },
}

/// The page size by which code is tracked, in bytes.
pub const CODE_PAGE: u64 = 4096;

/// Guest RAM, and behind it in the same mapping the contents of flash memory, so that code there is decoded and run as in
/// RAM. Offsets below [`Ram::len`] are RAM's. Single values are read and written anywhere; ranges of bytes by offset are
/// RAM's alone, since those are for devices that a guest gives addresses to.
pub struct Ram {
    map: MmapRaw,
    base: *mut u8,
    /// Bytes of RAM.
    len: u64,
    /// Bytes of RAM and flash.
    size: u64,
    /// One flag a [`CODE_PAGE`]: pre-decoded blocks exist for it, so writes must be noted.
    code: Vec<AtomicU8>,
    /// How often a page became code.
    code_marks: AtomicU32,
    /// How many pages of code became stale: the end of `stale`.
    stale_end: AtomicU64,
    stale: Mutex<StaleLog>,
    /// PEs run on several threads of the host.
    is_shared: AtomicBool,
    tags: TagStore,
}

/// The pages of code that became stale last, in order. Each cache of decoded code reads them at its own pace.
#[derive(Default)]
struct StaleLog {
    /// How many are no longer in it.
    start: u64,
    pages: Vec<u32>,
}

/// When the log has this many entries, the older half goes; who has not read that drops all that it has decoded.
const STALE_ENTRIES: usize = 4096;

/// What became stale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stale {
    /// These pages, by number; they may repeat.
    Pages(Vec<u32>),
    /// Any page.
    All,
}

// SAFETY: `base` points into `map`, which lives as long as the struct; every access through it is an atomic
// access or a raw copy of plain bytes, and no reference to the bytes is ever given out.
unsafe impl Send for Ram {}
// SAFETY: as above; shared accesses are atomic or racing plain bytes, which carry no validity invariant.
unsafe impl Sync for Ram {}

macro_rules! scalar {
    ($read:ident, $write:ident, $ty:ty, $atomic:ty) => {
        /// Reads little-endian at `offset`, or `None` outside RAM and flash.
        #[inline(always)]
        #[must_use]
        pub fn $read(&self, offset: u64) -> Option<$ty> {
            const N: u64 = size_of::<$ty>() as u64;
            if offset > self.size.wrapping_sub(N) || self.size < N {
                return None;
            }
            // SAFETY: offset + N <= size, so the N bytes lie inside the mapping.
            let p = unsafe { self.base.add(offset as usize) };
            let v = if offset.is_multiple_of(N) {
                // SAFETY: in bounds as above, aligned by the test (the mapping is page-aligned).
                unsafe { <$atomic>::from_ptr(p.cast()) }.load(Relaxed)
            } else {
                // SAFETY: in bounds as above; unaligned reads of plain bytes.
                unsafe { p.cast::<$ty>().read_unaligned() }
            };
            Some(<$ty>::from_le(v))
        }

        /// Writes little-endian at `offset`; `None` outside RAM and flash. Does not note writes to code:
        /// for PEs, which look at [`Ram::is_code`] themselves.
        #[inline(always)]
        #[must_use]
        pub fn $write(&self, offset: u64, value: $ty) -> Option<()> {
            const N: u64 = size_of::<$ty>() as u64;
            if offset > self.size.wrapping_sub(N) || self.size < N {
                return None;
            }
            // SAFETY: offset + N <= size, so the N bytes lie inside the mapping.
            let p = unsafe { self.base.add(offset as usize) };
            if offset.is_multiple_of(N) {
                // SAFETY: in bounds as above, aligned by the test (the mapping is page-aligned).
                unsafe { <$atomic>::from_ptr(p.cast()) }.store(value.to_le(), Relaxed);
            } else {
                // SAFETY: in bounds as above; unaligned writes of plain bytes.
                unsafe { p.cast::<$ty>().write_unaligned(value.to_le()) };
            }
            Some(())
        }
    };
}

impl Ram {
    /// Reserves `bytes` of zeroed RAM; the host commits pages when they are touched.
    pub fn new(bytes: u64) -> Result<Self, RamError> {
        Self::with_flash(bytes, 0)
    }

    /// The same with `flash` bytes of flash memory, which hold zeros too.
    pub fn with_flash(bytes: u64, flash: u64) -> Result<Self, RamError> {
        let size = bytes.saturating_add(flash);
        let map = MmapOptions::new()
            .len(size as usize)
            .no_reserve_swap()
            .map_anon()
            .map_err(|source| RamError::Map { bytes: size, source })?;
        let map = MmapRaw::from(map);
        let pages = size.div_ceil(CODE_PAGE) as usize;
        Ok(Self {
            base: map.as_mut_ptr(),
            len: bytes,
            size,
            map,
            code: (0..pages).map(|_| AtomicU8::new(0)).collect(),
            code_marks: AtomicU32::new(0),
            stale_end: AtomicU64::new(0),
            stale: Mutex::default(),
            is_shared: AtomicBool::new(false),
            tags: TagStore::new(bytes),
        })
    }

    /// Size of RAM in bytes.
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }
    /// Size of RAM and flash together in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }
    /// True for RAM of no bytes, which no board has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    scalar!(read_u8, write_u8, u8, AtomicU8);
    scalar!(read_u16, write_u16, u16, AtomicU16);
    scalar!(read_u32, write_u32, u32, AtomicU32);
    scalar!(read_u64, write_u64, u64, AtomicU64);

    /// Replaces the aligned 8 bytes at `offset` by `new` if they equal `current`; gives the old value either way.
    /// `None` outside RAM or where `offset` is not a multiple of 8.
    #[must_use]
    pub fn compare_exchange_u64(&self, offset: u64, current: u64, new: u64) -> Option<Result<u64, u64>> {
        if offset & 7 != 0 || offset.checked_add(8)? > self.len {
            return None;
        }
        // SAFETY: in bounds and aligned by the test above.
        let a = unsafe { AtomicU64::from_ptr(self.base.add(offset as usize).cast()) };
        Some(a.compare_exchange(current.to_le(), new.to_le(), AcqRel, Acquire).map(u64::from_le).map_err(u64::from_le))
    }

    /// Has the host atomics of 16 bytes, without which PEs cannot share RAM?
    #[must_use]
    pub fn has_quad_atomics() -> bool {
        AtomicU128::is_lock_free()
    }
    /// From here on PEs run on several threads of the host, or no longer.
    pub fn set_shared(&self, is_shared: bool) {
        self.is_shared.store(is_shared, SeqCst);
    }

    /// The atomic of the 16 aligned bytes around `offset`; `None` outside RAM.
    fn quad(&self, offset: u64) -> Option<&AtomicU128> {
        let start = offset & !15;
        if start.checked_add(16)? > self.size {
            return None;
        }
        // SAFETY: in bounds and aligned by the above. Other accesses to these bytes are atomic too or of plain bytes, which
        // carry no validity invariant; where they are of another size it is the host's hardware that keeps both whole.
        Some(unsafe { AtomicU128::from_ptr(self.base.add(start as usize).cast()) })
    }

    /// Reads the `1 << log2` bytes (1 to 16) at `offset` in one piece; `None` outside RAM and flash, or where they do not lie
    /// within 16 aligned bytes.
    #[must_use]
    pub fn read_whole(&self, offset: u64, log2: u32) -> Option<u128> {
        if offset & ((1 << log2) - 1) == 0 {
            match log2 {
                0 => return self.read_u8(offset).map(u128::from),
                1 => return self.read_u16(offset).map(u128::from),
                2 => return self.read_u32(offset).map(u128::from),
                3 => return self.read_u64(offset).map(u128::from),
                _ => {}
            }
        }
        let part = QuadPart::new(offset, log2)?;
        Some(part.of(u128::from_le(self.quad(offset)?.load(SeqCst))))
    }

    /// Replaces the `1 << log2` bytes (1 to 16) at `offset` by `new` if they equal `current`, in one piece; gives the old
    /// value either way. `None` as for [`Ram::read_whole`]. Does not note writes to code.
    #[must_use]
    pub fn compare_exchange(&self, offset: u64, log2: u32, current: u128, new: u128) -> Option<Result<u128, u128>> {
        macro_rules! sized {
            ($atomic:ty, $ty:ty) => {{
                if offset.checked_add(size_of::<$ty>() as u64)? > self.size {
                    return None;
                }
                // SAFETY: in bounds by the test above, aligned by the one below.
                let place = unsafe { <$atomic>::from_ptr(self.base.add(offset as usize).cast()) };
                let done = place.compare_exchange((current as $ty).to_le(), (new as $ty).to_le(), SeqCst, SeqCst);
                let value = |v: $ty| u128::from(<$ty>::from_le(v));
                return Some(done.map(value).map_err(value));
            }};
        }
        if offset & ((1 << log2) - 1) == 0 {
            match log2 {
                0 => sized!(AtomicU8, u8),
                1 => sized!(AtomicU16, u16),
                2 => sized!(AtomicU32, u32),
                3 => sized!(AtomicU64, u64),
                _ => {}
            }
        }
        let part = QuadPart::new(offset, log2)?;
        let place = self.quad(offset)?;
        let mut all = u128::from_le(place.load(SeqCst));
        loop {
            if part.of(all) != current {
                return Some(Err(part.of(all)));
            }
            match place.compare_exchange(all.to_le(), part.replaced(all, new).to_le(), SeqCst, SeqCst) {
                Ok(_) => return Some(Ok(current)),
                Err(found) => all = u128::from_le(found),
            }
        }
    }

    /// Writes the `1 << log2` bytes at `offset` in one piece. `None` as for [`Ram::read_whole`]. Does not note writes to code.
    #[must_use]
    pub fn write_whole(&self, offset: u64, log2: u32, value: u128) -> Option<()> {
        let mut found = self.read_whole(offset, log2)?;
        while let Err(other) = self.compare_exchange(offset, log2, found, value)? {
            found = other;
        }
        Some(())
    }

    /// Copies guest bytes out; `None` (and nothing copied) where the range leaves RAM.
    #[must_use]
    pub fn read_bytes(&self, offset: u64, into: &mut [u8]) -> Option<()> {
        self.check(offset, into.len() as u64)?;
        self.read_any(offset, into)
    }

    /// Copies bytes of RAM or flash out.
    pub(crate) fn read_any(&self, offset: u64, into: &mut [u8]) -> Option<()> {
        self.check_any(offset, into.len() as u64)?;
        // SAFETY: the source range is in bounds by check_any; the destination is a distinct host slice.
        unsafe { core::ptr::copy_nonoverlapping(self.base.add(offset as usize), into.as_mut_ptr(), into.len()) };
        Some(())
    }

    /// Copies bytes into the guest and notes the write for code tracking; `None` (and nothing copied)
    /// where the range leaves RAM. For loaders and devices.
    #[must_use]
    pub fn write_bytes(&self, offset: u64, from: &[u8]) -> Option<()> {
        self.check(offset, from.len() as u64)?;
        self.write_any(offset, from)
    }

    /// Copies bytes out of flash, from `offset` in it; `None` where the range leaves it.
    #[must_use]
    pub fn read_flash(&self, offset: u64, into: &mut [u8]) -> Option<()> {
        self.read_any(self.len.checked_add(offset)?, into)
    }

    /// Copies bytes into flash at `offset` in it, as [`Ram::write_bytes`] does into RAM.
    #[must_use]
    pub fn write_flash(&self, offset: u64, from: &[u8]) -> Option<()> {
        self.write_any(self.len.checked_add(offset)?, from)
    }

    /// Copies bytes into RAM or flash and notes the write.
    pub(crate) fn write_any(&self, offset: u64, from: &[u8]) -> Option<()> {
        self.check_any(offset, from.len() as u64)?;
        // SAFETY: the destination range is in bounds by check_any; the source is a distinct host slice.
        unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), self.base.add(offset as usize), from.len()) };
        self.note_write(offset, from.len() as u64);
        Some(())
    }

    /// Fills a range with zeros and notes the write; `None` where the range leaves RAM.
    #[must_use]
    pub fn zero(&self, offset: u64, bytes: u64) -> Option<()> {
        self.check(offset, bytes)?;
        // SAFETY: the range is in bounds by check.
        unsafe { core::ptr::write_bytes(self.base.add(offset as usize), 0, bytes as usize) };
        self.note_write(offset, bytes);
        Some(())
    }

    /// The allocation tag, 0 to 15, of the 16 bytes around `offset`; 0 outside RAM.
    #[must_use]
    pub fn tag(&self, offset: u64) -> u8 {
        self.tags.get(offset)
    }
    /// Sets it to the low 4 bits of `tag`; outside RAM nothing happens.
    pub fn set_tag(&self, offset: u64, tag: u8) {
        self.tags.set(offset, tag);
    }

    /// The tags of RAM from `offset` on, two in a byte, the lower granule's in the low half; `None` where all are 0.
    pub(crate) fn packed_tags(&self, offset: u64, bytes: u64) -> Option<Vec<u8>> {
        self.tags.packed(offset, bytes)
    }

    fn check(&self, offset: u64, bytes: u64) -> Option<()> {
        (offset.checked_add(bytes)? <= self.len).then_some(())
    }
    fn check_any(&self, offset: u64, bytes: u64) -> Option<()> {
        (offset.checked_add(bytes)? <= self.size).then_some(())
    }

    /// Marks the code page that holds `offset`: blocks will be decoded from it. What is read from the page after this is
    /// either what a store left there, or the storing PE finds the mark behind its next barrier.
    pub fn mark_code(&self, offset: u64) {
        if let Some(flag) = self.code.get((offset / CODE_PAGE) as usize)
            && flag.swap(1, SeqCst) == 0
        {
            self.code_marks.fetch_add(1, SeqCst);
        }
        fence(SeqCst);
    }
    /// How often a page became code, wrapping. Whoever remembers that it may write to a page unseen compares this with
    /// what it was then.
    #[inline(always)]
    #[must_use]
    pub fn code_marks(&self) -> u32 {
        self.code_marks.load(Acquire)
    }
    /// Orders a store before a look at marks, where a PE on another thread may decode what was stored to.
    #[inline(always)]
    pub fn order_store(&self) {
        if self.is_shared.load(Relaxed) {
            fence(SeqCst);
        }
    }
    /// Is the page that holds `offset` marked as code?
    #[inline(always)]
    #[must_use]
    pub fn is_code(&self, offset: u64) -> bool {
        self.code.get((offset / CODE_PAGE) as usize).is_some_and(|f| f.load(Relaxed) != 0)
    }
    /// Notes that `bytes` at `offset` were written: code pages among them become stale, and are code no longer until they are
    /// marked anew.
    pub fn note_write(&self, offset: u64, bytes: u64) {
        if bytes == 0 {
            return;
        }
        self.order_store();
        for page in offset / CODE_PAGE..=(offset + bytes - 1) / CODE_PAGE {
            if self.is_code(page * CODE_PAGE) {
                self.note_stale(page as u32);
            }
        }
    }
    #[cold]
    fn note_stale(&self, page: u32) {
        let mut log = self.stale.lock().expect("no holder panics");
        if log.pages.len() == STALE_ENTRIES {
            log.pages.drain(..STALE_ENTRIES / 2);
            log.start += STALE_ENTRIES as u64 / 2;
        }
        log.pages.push(page);
        self.stale_end.store(log.start + log.pages.len() as u64, Release);
        // Behind the entry and within the lock: whoever decodes this page again has read the entry, and marks it after this.
        if let Some(flag) = self.code.get(page as usize) {
            flag.store(0, Release);
        }
    }
    /// All code becomes stale.
    pub fn note_all_stale(&self) {
        let mut log = self.stale.lock().expect("no holder panics");
        log.start += log.pages.len() as u64 + 1;
        log.pages.clear();
        self.stale_end.store(log.start, Release);
    }
    /// How many pages of code have become stale so far.
    #[inline(always)]
    #[must_use]
    pub fn stale_end(&self) -> u64 {
        self.stale_end.load(Acquire)
    }
    /// The code pages that became stale since [`Ram::stale_end`] was `seen`, which becomes what it is now.
    #[must_use]
    pub fn stale_since(&self, seen: &mut u64) -> Stale {
        let log = self.stale.lock().expect("no holder panics");
        let from = std::mem::replace(seen, log.start + log.pages.len() as u64);
        from.checked_sub(log.start).map_or(Stale::All, |from| Stale::Pages(log.pages[from as usize..].to_vec()))
    }

    /// Folds the contents (flash's too) and tags into `state`, skipping zero pages, so that untouched RAM costs no commit.
    #[expect(clippy::should_implement_trait, reason = "not a key: a digest of all state")]
    pub fn hash(&self, state: &mut dyn core::hash::Hasher) {
        let resident = self.resident_pages();
        let mut page = [0u8; CODE_PAGE as usize];
        for (index, _) in resident.iter().enumerate().filter(|(_, present)| **present) {
            let offset = index as u64 * CODE_PAGE;
            let n = CODE_PAGE.min(self.size - offset) as usize;
            if self.read_any(offset, &mut page[..n]).is_some() && page[..n].iter().any(|b| *b != 0) {
                state.write_u64(offset);
                state.write(&page[..n]);
            }
        }
        self.tags.hash(state);
    }

    /// Which pages may hold something other than zeros.
    pub(crate) fn resident_pages(&self) -> Vec<bool> {
        let pages = self.size.div_ceil(CODE_PAGE) as usize;
        let mut seen = vec![0u8; pages];
        // SAFETY: `seen` has one byte a page of the mapping, which is what mincore writes.
        let done = unsafe { libc::mincore(self.map.as_mut_ptr().cast(), self.size as usize, seen.as_mut_ptr().cast()) };
        if done != 0 {
            return vec![true; pages];
        }
        seen.iter().map(|b| b & 1 != 0).collect()
    }
}

/// Where 1 to 16 bytes lie in 16 aligned ones.
#[derive(Clone, Copy)]
struct QuadPart {
    shift: u32,
    mask: u128,
}

impl QuadPart {
    /// `None` where they leave the 16.
    fn new(offset: u64, log2: u32) -> Option<Self> {
        let (at, bytes) = (offset as u32 & 15, 1u32.checked_shl(log2)?);
        (at + bytes <= 16).then(|| Self { shift: 8 * at, mask: u128::MAX >> (128 - 8 * bytes) })
    }
    fn of(self, all: u128) -> u128 {
        all >> self.shift & self.mask
    }
    fn replaced(self, all: u128, new: u128) -> u128 {
        all & !(self.mask << self.shift) | (new & self.mask) << self.shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_accesses_of_all_sizes_and_places_within_16_bytes() {
        let ram = Ram::new(64).expect("RAM");
        for log2 in 0..=4 {
            let bytes = 1u64 << log2;
            for at in 16..=32 - bytes {
                let content: Vec<u8> = (0..64).map(|n| n * 3 + 1).collect();
                ram.write_bytes(0, &content).expect("inside");
                let old = content[at as usize..][..bytes as usize].iter().rev().fold(0, |v, b| v << 8 | u128::from(*b));
                let new = (u128::MAX / 5) & (u128::MAX >> (128 - 8 * bytes));
                assert_eq!(ram.read_whole(at, log2), Some(old));
                assert_eq!(ram.compare_exchange(at, log2, old ^ 1, new), Some(Err(old)));
                assert_eq!(ram.compare_exchange(at, log2, old, new), Some(Ok(old)));
                let mut found = [0; 64];
                ram.read_bytes(0, &mut found).expect("inside");
                let mut wanted = content.clone();
                wanted[at as usize..][..bytes as usize].copy_from_slice(&new.to_le_bytes()[..bytes as usize]);
                assert_eq!(found[..], wanted, "{bytes} bytes at {at}");
                assert_eq!(ram.write_whole(at, log2, old), Some(()));
                ram.read_bytes(0, &mut found).expect("inside");
                assert_eq!(found[..], content, "{bytes} bytes at {at}");
            }
        }
        assert_eq!([ram.read_whole(9, 3), ram.read_whole(64, 4), ram.read_whole(64, 0)], [None; 3]);
        assert_eq!([ram.compare_exchange(15, 1, 0, 0), ram.compare_exchange(64, 3, 0, 0)], [None; 2]);
    }

    #[test]
    fn each_reader_finds_what_became_stale_since_it_looked_last() {
        let ram = Ram::new(64 * CODE_PAGE).expect("RAM");
        let (mut first, mut second) = (ram.stale_end(), ram.stale_end());
        ram.mark_code(2 * CODE_PAGE + 8);
        ram.note_write(CODE_PAGE, 1);
        assert_eq!(ram.stale_end(), first, "no code is there");
        ram.note_write(2 * CODE_PAGE - 1, 2);
        ram.note_write(2 * CODE_PAGE, 1);
        assert_ne!(ram.stale_end(), first);
        assert_eq!(ram.stale_since(&mut first), Stale::Pages(vec![2]), "once, since it is no code afterwards");
        assert_eq!(ram.stale_since(&mut first), Stale::Pages(vec![]));
        for n in 0..STALE_ENTRIES as u64 {
            ram.mark_code(n % 64 * CODE_PAGE);
            ram.note_write(n % 64 * CODE_PAGE, 4);
        }
        assert_eq!(ram.stale_since(&mut second), Stale::All, "too much to remember");
        assert_eq!(ram.stale_since(&mut second), Stale::Pages(vec![]));
        ram.note_all_stale();
        assert_ne!(ram.stale_end(), second);
        assert_eq!([ram.stale_since(&mut second), ram.stale_since(&mut second)], [Stale::All, Stale::Pages(vec![])]);
    }
}
