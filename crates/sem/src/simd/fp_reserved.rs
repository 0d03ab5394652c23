//! Reserved combinations of fields of floating-point encodings: functions for the tables' "prepare" column.

use crate::simd::reserved::{q, shift_right, size, unless};

/// Floating point by `sz`, bit \[22\]: the arrangement 1D is reserved.
pub(super) const fn fp_no_1d(word: u32) -> Option<u64> {
    unless(word >> 22 & 1 == 1 && q(word) == 0)
}

/// 32-bit elements only (`sz` is 0).
pub(super) const fn fp_only_s(word: u32) -> Option<u64> {
    unless(word >> 22 & 1 == 1)
}

/// Floating point by element: as [`fp_no_1d`], and `L` must be 0 for 64-bit elements, whose index is `H`.
pub(super) const fn fp_by_element(word: u32) -> Option<u64> {
    unless(word >> 22 & 1 == 1 && (q(word) == 0 || word >> 21 & 1 == 1))
}

/// Complex numbers: two of at least 16 bits.
pub(super) const fn complex(word: u32) -> Option<u64> {
    unless(size(word) == 0 || size(word) == 3 && q(word) == 0)
}

/// Complex numbers by element: of 16 or 32 bits; a pair must lie in the register.
pub(super) const fn complex_by_element(word: u32) -> Option<u64> {
    let (l, h) = (word >> 21 & 1, word >> 11 & 1);
    unless(match size(word) {
        1 => h == 1 && q(word) == 0,
        2 => l == 1 || q(word) == 0,
        _ => true,
    })
}

/// Conversion with fraction bits: elements of 16 (FEAT_FP16) to 64 bits. The number of fraction bits is prepared.
pub(super) const fn fraction_bits(word: u32) -> Option<u64> {
    if word >> 19 & 15 < 2 { None } else { shift_right(word) }
}

/// Scalar conversion between a general-purpose register and fixed point: a W register holds up to 32 fraction bits.
/// The number of fraction bits is prepared.
pub(super) const fn scale(word: u32) -> Option<u64> {
    let scale = word >> 10 & 63;
    if word >> 31 == 0 && scale < 32 { None } else { Some((64 - scale) as u64) }
}
