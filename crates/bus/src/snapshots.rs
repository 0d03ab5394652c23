//! RAM and flash in snapshots: by stretches of a mebibyte, without the pages that hold zeros.

use snapshot::{Codec, Invalid};

use crate::Ram;
use crate::ram::CODE_PAGE;

/// Bytes of RAM that go together.
const STRETCH: u64 = 1 << 20;
/// Pages of a stretch.
const PAGES: usize = (STRETCH / CODE_PAGE) as usize;
/// RAM for which one byte of packed tags stands.
const TAGGED: u64 = 32;

/// A stretch that holds something.
#[derive(Default)]
struct Stretch {
    number: u64,
    /// Bit n of word n / 64: page n is there.
    present: [u64; PAGES / 64],
    /// The pages that are there, one after the other.
    contents: Vec<u8>,
    /// Packed tags of all of it; empty where they are 0.
    tags: Vec<u8>,
}

impl Stretch {
    fn pages(&self) -> impl Iterator<Item = usize> + use<> {
        let present = self.present;
        (0..PAGES).filter(move |n| present[n / 64] >> (n % 64) & 1 != 0)
    }

    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { number, present, contents: _, tags } = self;
        codec.each([number, present, tags])?;
        let bytes = self.pages().count() * CODE_PAGE as usize;
        let contents = &mut self.contents;
        contents.resize(bytes, 0);
        codec.bytes(contents)
    }
}

impl Ram {
    /// The numbers of stretches that hold something.
    #[must_use]
    pub fn stretches(&self) -> Vec<u64> {
        let resident = self.resident_pages();
        let has = |n: &u64| {
            let pages = resident.chunks(PAGES).nth(*n as usize).unwrap_or_default();
            // What the host holds pages of may have been written with zeros.
            let written = pages.iter().enumerate().filter(|(_, resident)| **resident);
            written.map(|(page, _)| n * STRETCH + page as u64 * CODE_PAGE).any(|offset| self.page(offset).is_some())
                || self.packed_tags(n * STRETCH, STRETCH.min(self.size() - n * STRETCH)).is_some()
        };
        (0..self.size().div_ceil(STRETCH)).filter(has).collect()
    }

    /// The page at `offset`, unless it holds zeros. The last one may be shorter; behind its end there are zeros.
    fn page(&self, offset: u64) -> Option<[u8; CODE_PAGE as usize]> {
        let mut page = [0; CODE_PAGE as usize];
        let length = CODE_PAGE.min(self.size().checked_sub(offset)?) as usize;
        self.read_any(offset, &mut page[..length])?;
        page.iter().any(|byte| *byte != 0).then_some(page)
    }

    /// Saves stretch `number`.
    pub fn save_stretch(&self, number: u64, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let start = number * STRETCH;
        let bytes = STRETCH.min(self.size().saturating_sub(start));
        let mut stretch = Stretch { number, ..Stretch::default() };
        for n in 0..bytes.div_ceil(CODE_PAGE) as usize {
            if let Some(page) = self.page(start + n as u64 * CODE_PAGE) {
                stretch.present[n / 64] |= 1 << (n % 64);
                stretch.contents.extend_from_slice(&page);
            }
        }
        stretch.tags = self.packed_tags(start, bytes).unwrap_or_default();
        stretch.persist(codec)
    }

    /// Loads a stretch into RAM that holds zeros there; gives its number.
    pub fn load_stretch(&self, codec: &mut Codec<'_>) -> Result<u64, Invalid> {
        let mut stretch = Stretch::default();
        stretch.persist(codec)?;
        let outside = || Invalid::new("has memory that this machine has not");
        let start = stretch.number.checked_mul(STRETCH).filter(|start| *start < self.size()).ok_or_else(outside)?;
        for (n, page) in stretch.pages().zip(stretch.contents.chunks(CODE_PAGE as usize)) {
            let offset = start + n as u64 * CODE_PAGE;
            let length = CODE_PAGE.min(self.size().checked_sub(offset).ok_or_else(outside)?) as usize;
            self.write_any(offset, &page[..length]).ok_or_else(outside)?;
        }
        for (n, pair) in stretch.tags.iter().enumerate() {
            // Outside RAM nothing happens.
            let at = start.saturating_add(n as u64 * TAGGED);
            self.set_tag(at, pair & 15);
            self.set_tag(at.saturating_add(TAGGED / 2), pair >> 4);
        }
        Ok(stretch.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::{DefaultHasher, Hasher};

    fn digest(ram: &Ram) -> u64 {
        let mut state = DefaultHasher::new();
        ram.hash(&mut state);
        state.finish()
    }

    #[test]
    fn memory_and_tags_come_back() {
        let size = 5 * STRETCH + 3 * CODE_PAGE;
        let (first, second) = (Ram::new(size).unwrap(), Ram::new(size).unwrap());
        for (offset, byte) in [(0, 1), (CODE_PAGE - 1, 2), (2 * STRETCH + 70 * CODE_PAGE, 3), (size - 1, 4)] {
            first.write_bytes(offset, &[byte]).unwrap();
        }
        // Written, and nothing there all the same.
        first.write_bytes(4 * STRETCH, &[5]).unwrap();
        first.write_bytes(4 * STRETCH, &[0]).unwrap();
        first.set_tag(STRETCH + 16, 9);
        assert_eq!(first.stretches(), [0, 1, 2, 5]);
        let mut sections = Vec::new();
        for number in first.stretches() {
            let mut bytes = Vec::new();
            first.save_stretch(number, &mut Codec::save(&mut bytes)).unwrap();
            sections.push(bytes);
        }
        for bytes in &sections {
            let mut codec = Codec::load(bytes);
            second.load_stretch(&mut codec).unwrap();
            codec.finish().unwrap();
        }
        assert_eq!(digest(&first), digest(&second));
        assert_eq!((second.tag(STRETCH + 16), second.tag(STRETCH)), (9, 0));
        let smaller = Ram::new(STRETCH).unwrap();
        assert!(sections.iter().any(|bytes| smaller.load_stretch(&mut Codec::load(bytes)).is_err()));
    }
}
