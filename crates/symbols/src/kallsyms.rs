//! The tables that a Linux kernel carries for its own backtraces (CONFIG_KALLSYMS), found in the bytes of a plain arm64
//! Image or of RAM, with nothing known of the version.
//!
//! All are in `.rodata`, each aligned to 8 bytes (from 7.0: 4):
//!
//! | table | what it holds |
//! |---|---|
//! | `num_syms` | number of symbols, u32 |
//! | `names` | each symbol: length (ULEB128, at most two bytes), then that many indexes of tokens; the text is the type's letter and the name |
//! | `markers` | u32 offsets into `names` of symbols 0, 256, 512, ... |
//! | `token_table` | 256 strings, each ending with NUL |
//! | `token_index` | u16 offsets into `token_table` |
//! | `offsets` | u32 of each symbol |
//! | `relative_base` | u64 |
//! | `seqs_of_names` | order by name (from 6.2), not needed here |
//!
//! Their order and the meaning of `offsets` changed over time:
//! - up to 6.3: offsets, relative_base, num_syms, names, markers, (seqs_of_names,) token_table, token_index;
//! - from 6.4: num_syms, names, markers, token_table, token_index, offsets, relative_base, seqs_of_names;
//! - from 7.0 there is no relative_base: an offset is signed, and counts from its own place.
//!
//! The search starts from what is the same everywhere: the tokens of the ten digits, one after the other, because symbols
//! have digits in them and so these codes always stand for themselves. `token_index` proves the find.

mod relocation;

use arch::Va;
use memchr::memmem;

use crate::{Symbol, Symbols, SymbolsError};

/// The codes of the digits in `token_table`.
const DIGITS: &[u8] = b"0\x001\x002\x003\x004\x005\x006\x007\x008\x009\x00";

/// No name is longer (KSYM_NAME_LEN since 6.1), type letter included; in bytes.
const MAX_NAME: usize = 512;

/// Symbols a marker.
const MARKER_STEP: usize = 256;

/// Most bytes that [`MARKER_STEP`] symbols take in `names`.
const MAX_STEP_BYTES: usize = MARKER_STEP * (MAX_NAME + 2);

/// More symbols are in no kernel (a distribution's has 200 thousand).
const MAX_SYMBOLS: usize = 4 << 20;

/// Steps of one search, so that crafted bytes end it. Real kernels take a few hundred thousand.
const FUEL: u64 = 100_000_000;

impl Symbols {
    /// Finds the kernel's own tables in `bytes`: a plain arm64 Image, an ELF, or RAM of a guest that runs.
    ///
    /// The addresses are those that the bytes hold: of the link in a file, of the run in RAM. Where the bytes do
    /// not say (an Image that keeps its addresses in relocations, which cannot be found), they count from the start of
    /// `bytes`. The table does not say sizes.
    pub fn from_kallsyms(bytes: &[u8]) -> Result<Self, SymbolsError> {
        find(bytes).ok_or(SymbolsError::NoKallsyms)
    }
}

fn find(bytes: &[u8]) -> Option<Symbols> {
    let mut search = Search { bytes, align: 8, fuel: FUEL };
    for digits in memmem::find_iter(bytes, DIGITS) {
        for align in [8, 4] {
            search.align = align;
            if let Some(symbols) = Tokens::at_digits(&mut search, digits).and_then(|tokens| search.symbols(&tokens)) {
                return Some(symbols);
            }
            search.spend(1)?;
        }
    }
    None
}

/// The bytes, and how much more work may be done on them.
struct Search<'a> {
    bytes: &'a [u8],
    /// What the tables are taken to be aligned to, in bytes: 4 or 8.
    align: usize,
    fuel: u64,
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// `token_table`, and where it is.
struct Tokens<'a> {
    text: Vec<&'a [u8]>,
    start: usize,
    /// The first byte behind `token_index`.
    end: usize,
}

impl<'a> Tokens<'a> {
    /// The tables whose digits' tokens are at `digits`, if `token_index` agrees.
    fn at_digits(search: &mut Search<'a>, digits: usize) -> Option<Self> {
        let bytes = search.bytes;
        let mut ends = Vec::with_capacity(256);
        let mut at = digits;
        for _ in usize::from(b'0')..256 {
            let tail = bytes.get(at..bytes.len().min(at + MAX_NAME))?;
            let len = memchr::memchr(0, tail)?;
            search.spend(1)?;
            if !tail[..len].iter().all(u8::is_ascii_graphic) {
                return None;
            }
            at += len + 1;
            ends.push(at);
        }
        let index = at.next_multiple_of(search.align);
        let offset = |code: usize| -> Option<usize> {
            Some(usize::from(u16::from_le_bytes(*bytes.get(index + 2 * code..)?.first_chunk()?)))
        };
        let start = digits.checked_sub(offset(usize::from(b'0'))?)?;
        let mut text = Vec::with_capacity(256);
        for code in 0..256 {
            let begin = start + offset(code)?;
            let end = if code < 255 { start + offset(code + 1)? } else { at };
            let (last, token) = bytes.get(begin..end)?.split_last()?;
            if *last != 0 || !token.iter().all(u8::is_ascii_graphic) {
                return None;
            }
            text.push(token);
        }
        (offset(0)? == 0 && start.is_multiple_of(search.align)).then_some(Self { text, start, end: index + 512 })
    }

    /// The name that `codes` stand for, with the type's letter in front.
    fn expand(&self, codes: &[u8]) -> Option<(u8, String)> {
        let mut name = String::new();
        for code in codes {
            name.push_str(str::from_utf8(self.text[usize::from(*code)]).ok()?);
        }
        let kind = *name.as_bytes().first()?;
        name.remove(0);
        let is_kind = kind.is_ascii_alphabetic() || kind == b'?';
        (is_kind && (1..MAX_NAME).contains(&name.len())).then_some((kind, name))
    }
}

/// `num_syms` and `names`, and where they are.
struct Names {
    num_syms: usize,
    symbols: Vec<(u8, String)>,
}

impl<'a> Search<'a> {
    /// Uses up some of the work that may be done; `None` when nothing is left.
    fn spend(&mut self, steps: u64) -> Option<()> {
        self.fuel = self.fuel.checked_sub(steps)?;
        Some(())
    }

    fn symbols(&mut self, tokens: &Tokens<'a>) -> Option<Symbols> {
        let names = self.names(tokens)?;
        let offsets = self.offsets_before(&names).or_else(|| self.offsets_behind(tokens.end, &names))?;
        let base = self.base(&offsets, &names);
        let symbols = names.symbols.into_iter().zip(offsets.values).map(|((kind, name), offset)| Symbol {
            address: Va(base).add(offset),
            size: None,
            kind,
            name,
        });
        Some(symbols.collect())
    }

    /// Looks for `markers` before `token_table`, and from each find for `names`.
    fn names(&mut self, tokens: &Tokens<'a>) -> Option<Names> {
        // Between the two there is at most `seqs_of_names`.
        let floor = tokens.start.saturating_sub(4 * MAX_SYMBOLS);
        let mut at = tokens.start;
        while at >= floor + self.align {
            at -= self.align;
            self.spend(1)?;
            if u32_at(self.bytes, at) == Some(0)
                && let Some(names) = self.names_before(at, tokens)
            {
                return Some(names);
            }
        }
        None
    }

    /// Takes what is at `markers` for that table, and looks for `num_syms` and `names` that fit it.
    fn names_before(&mut self, markers: usize, tokens: &Tokens<'a>) -> Option<Names> {
        let mut offsets = vec![0usize];
        // What follows the table may look as if it went on; the number of symbols decides.
        while let Some(next) = u32_at(self.bytes, markers + 4 * offsets.len()) {
            let step = (next as usize).wrapping_sub(offsets[offsets.len() - 1]);
            if !(2 * MARKER_STEP..=MAX_STEP_BYTES).contains(&step) || offsets.len() * MARKER_STEP >= MAX_SYMBOLS {
                break;
            }
            offsets.push(next as usize);
        }
        if offsets.len() < 2 {
            return None;
        }
        self.spend(offsets.len() as u64)?;
        let farthest = offsets[offsets.len() - 1] + MAX_STEP_BYTES + 16;
        let floor = markers.saturating_sub(farthest).next_multiple_of(8);
        for at in (floor..markers).step_by(self.align).rev() {
            self.spend(1)?;
            let num_syms = u32_at(self.bytes, at)? as usize;
            let is_plausible = (MARKER_STEP + 1..=offsets.len() * MARKER_STEP).contains(&num_syms)
                && (self.align == 4 || u32_at(self.bytes, at + 4) == Some(0));
            if is_plausible && let Some(symbols) = self.walk(at + self.align, num_syms, &offsets, markers, tokens) {
                return Some(Names { num_syms: at, symbols });
            }
        }
        None
    }

    /// Reads `num_syms` names from `at` on: they must be where `offsets` says, and end before `end`.
    fn walk(
        &mut self,
        at: usize,
        num_syms: usize,
        offsets: &[usize],
        end: usize,
        tokens: &Tokens<'a>,
    ) -> Option<Vec<(u8, String)>> {
        let last = offsets[(num_syms - 1) / MARKER_STEP];
        if !(last + 2..=last + MAX_STEP_BYTES + 8).contains(&end.checked_sub(at)?) {
            return None;
        }
        let names = &self.bytes[at..end];
        let mut symbols = Vec::new();
        let mut position = 0;
        for index in 0..num_syms {
            if index % MARKER_STEP == 0 && offsets[index / MARKER_STEP] != position {
                return None;
            }
            self.spend(1)?;
            let mut len = usize::from(*names.get(position)?);
            position += 1;
            if len & 0x80 != 0 {
                len = len & 0x7f | usize::from(*names.get(position)?) << 7;
                position += 1;
            }
            let codes = names.get(position..position + len).filter(|_| len <= MAX_NAME)?;
            symbols.push(tokens.expand(codes)?);
            position += len;
        }
        let padding = &names[position..];
        (padding.len() < self.align && padding.iter().all(|byte| *byte == 0)).then_some(symbols)
    }

    /// `offsets` and `relative_base` before `num_syms`, as up to 6.3.
    fn offsets_before(&self, names: &Names) -> Option<Offsets> {
        let relative_base = names.num_syms.checked_sub(8)?;
        let start = relative_base.checked_sub((4 * names.symbols.len()).next_multiple_of(8))?;
        self.offsets_with_base(start, relative_base, names)
    }

    /// `offsets` behind `token_index`, as from 6.4.
    fn offsets_behind(&self, start: usize, names: &Names) -> Option<Offsets> {
        let relative_base = start + (4 * names.symbols.len()).next_multiple_of(8);
        self.offsets_with_base(start, relative_base, names).or_else(|| self.offsets_of_places(start, names))
    }

    fn raw_offsets(&self, start: usize, names: &Names) -> Option<impl Iterator<Item = u32>> {
        let raw = self.bytes.get(start..start + 4 * names.symbols.len())?;
        Some(raw.as_chunks::<4>().0.iter().map(|raw| u32::from_le_bytes(*raw)))
    }

    fn offsets_with_base(&self, start: usize, relative_base: usize, names: &Names) -> Option<Offsets> {
        let values: Vec<u64> = self.raw_offsets(start, names)?.map(u64::from).collect();
        let base = Base::Stored { at: relative_base, value: u64_at(self.bytes, relative_base)? };
        // The least one is that of the base itself.
        (values.is_sorted() && values.first() == Some(&0)).then_some(Offsets { values, base })
    }

    /// As from 7.0: from each offset's own place to the symbol. Gives the symbols' distances from the start of the bytes.
    fn offsets_of_places(&self, start: usize, names: &Names) -> Option<Offsets> {
        let places = (start as u64..).step_by(4);
        let values: Vec<u64> = self
            .raw_offsets(start, names)?
            .zip(places)
            .map(|(raw, place)| place.wrapping_add(i64::from(raw.cast_signed()).cast_unsigned()))
            .collect();
        // The first may lie before the bytes where they begin in the middle of the kernel.
        values.is_sorted_by_key(|value| value.cast_signed()).then_some(Offsets { values, base: Base::StartOfBytes })
    }

    /// What the offsets count from, as an address.
    fn base(&self, offsets: &Offsets, names: &Names) -> u64 {
        let base = match offsets.base {
            Base::Stored { value, .. } if value != 0 => return value,
            Base::Stored { at, .. } => relocation::of(self.bytes, at).map(|relocation| relocation.value),
            Base::StartOfBytes => self.start_by_system_calls(offsets, names),
        };
        base.unwrap_or(0)
    }

    /// The address of the first byte, from a pointer to a known symbol: the first entry of `sys_call_table`, which is
    /// `io_setup` on arm64.
    fn start_by_system_calls(&self, offsets: &Offsets, names: &Names) -> Option<u64> {
        let distance = |wanted: &str| {
            let index = names.symbols.iter().position(|(_, name)| name == wanted)?;
            offsets.values.get(index).copied()
        };
        let table = usize::try_from(distance("sys_call_table")?).ok()?;
        match u64_at(self.bytes, table)? {
            0 => relocation::of(self.bytes, table).map(|relocation| relocation.start),
            pointer => {
                let start = pointer.wrapping_sub(distance("__arm64_sys_io_setup")?);
                start.is_multiple_of(relocation::ALIGNMENT).then_some(start)
            }
        }
    }
}

/// `offsets`, as distances from a base.
struct Offsets {
    values: Vec<u64>,
    base: Base,
}

#[derive(Clone, Copy)]
enum Base {
    /// `relative_base` is `at`.
    Stored { at: usize, value: u64 },
    /// The first of the bytes.
    StartOfBytes,
}
