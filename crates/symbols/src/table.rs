//! The table.

use std::fmt;
use std::sync::Arc;

use arch::Va;

/// Bytes that the last symbol is taken to cover where nothing says its size.
const LAST_SIZE: u64 = 4096;

/// What the vectors of Linux for arm64 are called, with how many there are in a row: `VBAR_EL1` holds the first name
/// usually, and the second in a kernel that mitigates Spectre-BHB (one copy for each kind of mitigation).
const VECTORS: [(&str, u64); 2] = [("vectors", 1), ("__bp_harden_el1_vectors", 3)];

/// Bytes of one vector table, and their alignment (DDI 0487 D1.3.1).
const VECTORS_SIZE: u64 = 0x800;

/// Linux for arm64 runs a multiple of this from where it was linked, in bytes: the largest granule's page, to which
/// its segments are aligned.
const SLIDE_GRANULE: u64 = 64 << 10;

/// One symbol as a source gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Where it was linked.
    pub address: Va,
    /// Bytes, where the source knows them.
    pub size: Option<u64>,
    /// Its kind as one letter as in `nm`: upper case for global symbols, T and t for code.
    pub kind: u8,
    /// Its name.
    pub name: String,
}

/// A symbol inside the table; the name is a range of the table's text.
#[derive(Clone, Copy, Debug)]
struct Entry {
    address: u64,
    /// 0: not known.
    size: u64,
    name: u32,
    name_len: u16,
    kind: u8,
}

#[derive(Debug, Default)]
struct Table {
    /// Sorted by address; of those at one address the best name first.
    entries: Vec<Entry>,
    names: String,
}

/// Symbols by address. A copy is cheap: it shares the table.
#[derive(Clone, Default)]
pub struct Symbols {
    table: Arc<Table>,
    slide: u64,
}

impl fmt::Debug for Symbols {
    /// Without the symbols, which are many.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Symbols").field("len", &self.len()).field("slide", &self.slide).finish_non_exhaustive()
    }
}

/// What lies at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location<'a> {
    /// The symbol's name.
    pub name: &'a str,
    /// Bytes from the symbol's start.
    pub offset: u64,
    /// Bytes from the symbol's start to its end, or to the next symbol where the source does not say.
    pub size: u64,
}

impl fmt::Display for Location<'_> {
    /// As Linux prints it: `name+0x10/0x80`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{:#x}/{:#x}", self.name, self.offset, self.size)
    }
}

/// How good a name is among those at one address; less is better. A function's own name tells more than the label of
/// the section that begins or ends there.
fn rank(kind: u8, name: &str) -> u8 {
    let is_boundary = |name: &str| {
        ["_start", "_end", "_begin"].iter().any(|suffix| name.ends_with(suffix))
            || ["_text", "_stext", "_etext", "_sinittext", "_einittext", "_head"].contains(&name)
    };
    match kind {
        _ if is_boundary(name) => 2,
        b'A'..=b'Z' => 0,
        _ => 1,
    }
}

impl FromIterator<Symbol> for Symbols {
    fn from_iter<I: IntoIterator<Item = Symbol>>(symbols: I) -> Self {
        let mut table = Table::default();
        for symbol in symbols {
            // A table of names beyond 4 GiB is nobody's kernel: what does not fit is left out.
            let (Ok(name), Ok(name_len)) = (u32::try_from(table.names.len()), u16::try_from(symbol.name.len())) else {
                continue;
            };
            table.names.push_str(&symbol.name);
            table.entries.push(Entry {
                address: symbol.address.0,
                size: symbol.size.unwrap_or(0),
                name,
                name_len,
                kind: symbol.kind,
            });
        }
        let Table { entries, names } = &mut table;
        entries.sort_by_key(|entry| (entry.address, rank(entry.kind, text(names, entry))));
        Self { table: Arc::new(table), slide: 0 }
    }
}

fn text<'a>(names: &'a str, entry: &Entry) -> &'a str {
    &names[entry.name as usize..][..usize::from(entry.name_len)]
}

impl Symbols {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.entries.len()
    }
    /// Is there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.entries.is_empty()
    }

    /// Name, kind (the letter of `nm`) and run-time address of each symbol, by ascending link address.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u8, Va)> {
        self.table.entries.iter().map(|entry| (text(&self.table.names, entry), entry.kind, self.run_time(entry)))
    }

    /// The run-time address of the first symbol of this name.
    #[must_use]
    pub fn address(&self, name: &str) -> Option<Va> {
        let entry = self.table.entries.iter().find(|entry| text(&self.table.names, entry) == name)?;
        Some(self.run_time(entry))
    }

    fn run_time(&self, entry: &Entry) -> Va {
        Va(entry.address).add(self.slide)
    }

    /// The symbol that covers `va`: the last that does not lie behind it, and whose end, where it is known, does. `None`
    /// outside the kernel.
    #[must_use]
    pub fn lookup(&self, va: Va) -> Option<Location<'_>> {
        let entries = &self.table.entries;
        let address = va.0.wrapping_sub(self.slide);
        let behind = entries.partition_point(|entry| entry.address <= address);
        let start = entries[..behind].last()?.address;
        let first = entries[..behind].partition_point(|entry| entry.address < start);
        let best = &entries[first];
        let offset = address - start;
        let size = match (best.size, entries.get(behind)) {
            (0, Some(next)) => next.address - start,
            (0, None) => LAST_SIZE,
            (size, _) => size,
        };
        (offset < size).then(|| Location { name: text(&self.table.names, best), offset, size })
    }

    /// Run-time less link address, in bytes; wraps.
    #[must_use]
    pub fn slide(&self) -> u64 {
        self.slide
    }

    /// The same symbols for a kernel that runs `slide` bytes (wrapping) behind where it was linked.
    #[must_use]
    pub fn with_slide(&self, slide: u64) -> Self {
        Self { table: self.table.clone(), slide }
    }

    /// The same symbols for a kernel that has its exception vectors at `vbar` (`VBAR_EL1`). `None` where no known table
    /// of vectors can be there: before Linux set the register, or while the trampoline of KPTI is in it (which is
    /// mapped elsewhere than the kernel, while code at EL0 runs).
    #[must_use]
    pub fn with_vectors_at(&self, vbar: Va) -> Option<Self> {
        let linked = self.with_slide(0);
        for (name, count) in VECTORS {
            let Some(first) = linked.address(name) else { continue };
            if is_fixmap(vbar, first) {
                return None;
            }
            let slides = (0..count).map(|n| vbar.0.wrapping_sub(first.add(n * VECTORS_SIZE).0));
            if let Some(slide) = slides.into_iter().find(|slide| slide.is_multiple_of(SLIDE_GRANULE)) {
                return Some(self.with_slide(slide));
            }
        }
        None
    }
}

/// Is `vbar` in the fixmap, given where the kernel's vectors were linked? Linux for arm64 links its image near the
/// start of the upper half of the kernel's address space, and KASLR moves it by at most three quarters of that half;
/// fixmap and vmemmap have the last 32nd. (Documentation/arch/arm64/memory.rst)
fn is_fixmap(vbar: Va, linked: Va) -> bool {
    let half_bits = match 64 - linked.0.leading_ones() {
        bits @ 32..=47 => bits,
        // Not at a kernel's address: as with 48-bit addresses, which nearly all have.
        _ => 47,
    };
    vbar.0 >= (1u64 << (half_bits - 3)).wrapping_neg()
}
