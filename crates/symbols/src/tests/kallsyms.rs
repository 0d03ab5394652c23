//! The kernel's own tables, laid out as its versions do, and junk around them.

use std::time::Instant;

use arch::Va;
use proptest::prelude::*;

use crate::{Symbols, SymbolsError};

const BASE: u64 = 0xffff_8000_0800_0000;

/// How a version lays its tables out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// 5.10, 6.1.
    OffsetsFirst,
    /// 6.2 and 6.3.
    OffsetsFirstSequences,
    /// 6.4 to 6.19.
    OffsetsLast,
    /// 7.0.
    Places,
}

const LAYOUTS: [Layout; 4] = [Layout::OffsetsFirst, Layout::OffsetsFirstSequences, Layout::OffsetsLast, Layout::Places];

/// Where the Image of a test has its tables, so that place and offset differ.
const TABLES: usize = 0x3010;

/// Offsets from the start of the Image, and names with the type's letter.
fn names(count: usize) -> Vec<(u32, String)> {
    let mut names: Vec<_> = (0..count).map(|n| (n as u32 * 12, format!("tfunction_{n}"))).collect();
    names[1].1 = "Tvectors".to_owned();
    names[2].1 = "Dsys_call_table".to_owned();
    names[3].1 = "T__arm64_sys_io_setup".to_owned();
    // As long as needs two bytes of length: names of Rust.
    names[4].1 = format!("t_RNv{}", "Xy7_".repeat(60));
    names
}

/// Codes for characters themselves, and one for a frequent word.
const WORD: (u8, &str) = (0xf0, "function_");

/// One symbol's entry in `names`.
fn encode(name: &str) -> Vec<u8> {
    let mut codes = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.bytes().next() {
        if let Some(tail) = rest.strip_prefix(WORD.1) {
            codes.push(WORD.0);
            rest = tail;
        } else {
            codes.push(first);
            rest = &rest[1..];
        }
    }
    let mut entry = match codes.len() {
        len @ 0..=0x7f => vec![len as u8],
        len => vec![len as u8 & 0x7f | 0x80, (len >> 7) as u8],
    };
    entry.extend(codes);
    entry
}

struct Image {
    bytes: Vec<u8>,
    align: usize,
}

impl Image {
    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(self.align), 0);
    }
    fn words(&mut self, words: impl IntoIterator<Item = u32>) {
        self.align();
        self.bytes.extend(words.into_iter().flat_map(u32::to_le_bytes));
    }

    fn offsets(&mut self, layout: Layout, names: &[(u32, String)], relative_base: u64) {
        self.align();
        let start = self.bytes.len() as u32;
        let places = (start..).step_by(4);
        if layout == Layout::Places {
            self.words(names.iter().zip(places).map(|((offset, _), place)| offset.wrapping_sub(place)));
        } else {
            self.words(names.iter().map(|(offset, _)| *offset));
            self.align();
            self.bytes.extend(relative_base.to_le_bytes());
        }
    }

    fn sequences(&mut self, names: &[(u32, String)]) {
        self.align();
        self.bytes.extend((0..names.len() as u32).rev().flat_map(|n| [(n >> 16) as u8, (n >> 8) as u8, n as u8]));
    }

    fn names(&mut self, names: &[(u32, String)]) {
        self.words([names.len() as u32]);
        self.align();
        let start = self.bytes.len();
        let mut markers = Vec::new();
        for (n, (_, name)) in names.iter().enumerate() {
            if n % 256 == 0 {
                markers.push((self.bytes.len() - start) as u32);
            }
            self.bytes.extend(encode(name));
        }
        self.words(markers);
    }

    fn tokens(&mut self) {
        self.align();
        let start = self.bytes.len();
        let mut index = Vec::new();
        for code in 0..=255u8 {
            index.push((self.bytes.len() - start) as u16);
            match code {
                code if code == WORD.0 => self.bytes.extend(WORD.1.bytes()),
                b'!'..=b'~' => self.bytes.push(code),
                _ => self.bytes.extend(b"zz"),
            }
            self.bytes.push(0);
        }
        self.align();
        self.bytes.extend(index.into_iter().flat_map(u16::to_le_bytes));
    }
}

fn image(layout: Layout, names: &[(u32, String)], relative_base: u64) -> Vec<u8> {
    let mut image = Image { bytes: vec![0x5a; TABLES], align: if layout == Layout::Places { 4 } else { 8 } };
    let is_first = matches!(layout, Layout::OffsetsFirst | Layout::OffsetsFirstSequences);
    if is_first {
        image.offsets(layout, names, relative_base);
    }
    image.names(names);
    if layout == Layout::OffsetsFirstSequences {
        image.sequences(names);
    }
    image.tokens();
    if !is_first {
        image.offsets(layout, names, relative_base);
        image.sequences(names);
    }
    image.bytes.extend([0xa5; 100]);
    image.bytes
}

fn check(symbols: &Symbols, names: &[(u32, String)], base: u64) {
    let expected: Vec<_> =
        names.iter().map(|(offset, name)| (&name[1..], name.as_bytes()[0], Va(base + u64::from(*offset)))).collect();
    let found: Vec<_> = symbols.iter().collect();
    assert_eq!(found, expected);
}

#[test]
fn every_layout_is_read() {
    for layout in LAYOUTS {
        // One more than a marker covers, a full last marker, an odd number.
        for count in [257, 512, 999] {
            let names = names(count);
            let mut image = image(layout, &names, BASE);
            if layout == Layout::Places {
                // The pointer to io_setup says where the Image is linked.
                image[24..32].copy_from_slice(&(BASE + 36).to_le_bytes());
            }
            let symbols = Symbols::from_file(&image).unwrap_or_else(|error| panic!("{layout:?} {count}: {error}"));
            check(&symbols, &names, BASE);
        }
    }
}

#[test]
fn relocations_tell_the_link_address() {
    let names = names(300);
    let entry = |place: u64, value: u64| [place, 1027, value].into_iter().flat_map(u64::to_le_bytes);
    for layout in [Layout::OffsetsFirst, Layout::OffsetsLast, Layout::Places] {
        let mut image = image(layout, &names, 0);
        image[24..32].fill(0);
        image.resize(0x40_000, 0);
        let at = match layout {
            Layout::OffsetsFirst => TABLES + 300 * 4,
            Layout::OffsetsLast => {
                let tokens = image.windows(4).position(|w| w == b"zz\0z").expect("tokens");
                let index = image[tokens..].windows(4).position(|w| w == [0, 0, 3, 0]).expect("index");
                tokens + index + 512 + 300 * 4
            }
            // sys_call_table, whose first entry points to io_setup.
            _ => 24,
        } as u64;
        let value = if layout == Layout::Places { BASE + 36 } else { BASE };
        // One for a place that is 64 KiB before and one for another that is 64 KiB behind, before and after it.
        let mut table: Vec<u8> = entry(BASE + at + 0x1_0000, BASE + 0x2_0000).collect();
        table.extend(entry(BASE + at, value));
        table.extend(entry(BASE + at + 0x2_0000, BASE + 64));
        // The file may hold numbers that look like entries.
        table.extend(entry(0x1234, 0x5678));
        image.extend(table);
        let symbols = Symbols::from_kallsyms(&image).unwrap_or_else(|error| panic!("{layout:?}: {error}"));
        check(&symbols, &names, BASE);
    }
}

#[test]
fn without_any_address_they_count_from_the_start() {
    let names = names(300);
    for layout in [Layout::OffsetsFirst, Layout::Places] {
        let mut image = image(layout, &names, 0);
        image[24..32].fill(0);
        check(&Symbols::from_kallsyms(&image).expect("symbols"), &names, 0);
    }
}

#[test]
fn tables_that_disagree_are_refused() {
    let names = names(600);
    let intact = image(Layout::OffsetsFirst, &names, BASE);
    let position = |bytes: &[u8]| intact.windows(bytes.len()).position(|w| w == bytes).expect("is there");
    let refused = |at: usize, value: u8| {
        let mut image = intact.clone();
        assert_ne!(image[at], value);
        image[at] = value;
        assert_eq!(Symbols::from_kallsyms(&image).unwrap_err(), SymbolsError::NoKallsyms, "{value} at {at}");
    };
    // The number of symbols, a marker, a token's end, an offset out of order.
    let num_syms = position(&600u64.to_le_bytes());
    refused(num_syms, 0x57);
    let tokens = position(b"zz\0zz\0");
    // (the second of three, which with their padding are just before the tokens)
    refused(tokens - 12, 1);
    refused(tokens + 2, b'z');
    refused(TABLES + 4 * 300 + 3, 1);
}

#[test]
fn crafted_bytes_end_the_search() {
    let started = Instant::now();
    let digits: Vec<u8> = b"0\x001\x002\x003\x004\x005\x006\x007\x008\x009\x00".repeat(1 << 20);
    assert!(Symbols::from_kallsyms(&digits).is_err());

    // Good tokens, and before them as many beginnings of markers and numbers of symbols as fit.
    let names = names(300);
    let good = image(Layout::OffsetsFirst, &names, BASE);
    let tokens = good.windows(6).position(|w| w == b"zz\0zz\0").expect("tokens");
    for pattern in [&[0u32, 512, 0, 512][..], &[0, 512, 300, 0], &[0, 131_000, 262_000, 300, 0, 300], &[0; 4]] {
        let mut image: Vec<u8> = pattern.iter().flat_map(|word| word.to_le_bytes()).collect();
        image = image.repeat((8 << 20) / image.len());
        image.resize(image.len().next_multiple_of(8), 0);
        image.extend(&good[tokens..]);
        assert!(Symbols::from_kallsyms(&image).is_err(), "{pattern:?}");
    }
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn junk_and_broken_tables_never_panic(
        which in 0usize..4,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        start: prop::sample::Index,
        end: prop::sample::Index,
    ) {
        let names = names(280);
        let mut image = image(LAYOUTS[which], &names, BASE);
        for (at, value) in changes {
            let at = at.index(image.len());
            image[at] = value;
        }
        let start = start.index(TABLES * 2).min(image.len());
        let end = image.len() - end.index(image.len() - start + 1);
        for part in [&image[..], &image[start..end]] {
            if let Ok(symbols) = Symbols::from_kallsyms(part) {
                prop_assert!((257..=512).contains(&symbols.len()));
            }
        }
    }

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..4096)) {
        prop_assert!(Symbols::from_kallsyms(&bytes).is_err());
        let _ = Symbols::from_file(&bytes);
    }
}
