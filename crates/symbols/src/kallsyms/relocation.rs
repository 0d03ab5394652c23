//! Relocations of an Image: until the kernel applies them to itself, a pointer in it may be 0 and its value stand in a
//! table of `Elf64_Rela`.

use super::u64_at;

/// R_AARCH64_RELATIVE (AAELF64 5.7.12), with symbol 0: `r_info` of every entry.
const RELATIVE: u64 = 1027;

/// An Image is linked at a multiple of this, in bytes: the segment alignment.
pub(super) const ALIGNMENT: u64 = 64 << 10;

/// The relocation of one pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Relocation {
    /// The link address of the first byte.
    pub start: u64,
    /// What the pointer becomes when the kernel runs where it was linked.
    pub value: u64,
}

/// The relocation of the pointer at `at`.
///
/// Entries say link addresses, so that one for `at` could be one for any place some 64 KiB farther on. All places and values
/// lie in the Image, and one of the values is near its start: the highest start that leaves nothing before it is taken.
pub(super) fn of(bytes: &[u8], at: usize) -> Option<Relocation> {
    let len = bytes.len() as u64;
    let entries = || {
        (8..bytes.len()).step_by(8).filter(|info| u64_at(bytes, *info) == Some(RELATIVE)).filter_map(|info| {
            let (place, value) = (u64_at(bytes, info - 8)?, u64_at(bytes, info + 8)?);
            (place >> 63 == 1 && place.abs_diff(value) < len).then_some((place, value))
        })
    };
    let least = entries().map(|(place, value)| place.min(value)).min()?;
    entries()
        .filter_map(|(place, value)| Some(Relocation { start: place.checked_sub(at as u64)?, value }))
        .filter(|relocation| relocation.start.is_multiple_of(ALIGNMENT) && relocation.start <= least)
        .max_by_key(|relocation| relocation.start)
}
