//! Reserved combinations of fields, shared by many encodings: functions for the tables' "prepare" column.

/// The field `size`, bits \[23:22\].
pub(super) const fn size(word: u32) -> u32 {
    word >> 22 & 3
}

pub(super) const fn q(word: u32) -> u32 {
    word >> 30 & 1
}

pub(super) const fn unless(reserved: bool) -> Option<u64> {
    if reserved { None } else { Some(0) }
}

/// The arrangement 1D is reserved.
pub(super) const fn no_1d(word: u32) -> Option<u64> {
    unless(size(word) == 3 && q(word) == 0)
}

/// Elements of 64 bits are reserved.
pub(super) const fn no_d(word: u32) -> Option<u64> {
    unless(size(word) == 3)
}

/// Elements of 8 bits only.
pub(super) const fn only_b(word: u32) -> Option<u64> {
    unless(size(word) != 0)
}

/// Elements of 8 or 16 bits only.
pub(super) const fn only_b_h(word: u32) -> Option<u64> {
    unless(size(word) > 1)
}

/// Elements of 16 or 32 bits only.
pub(super) const fn only_h_s(word: u32) -> Option<u64> {
    unless(matches!(size(word), 0 | 3))
}

/// Elements of 32 bits only.
pub(super) const fn only_s(word: u32) -> Option<u64> {
    unless(size(word) != 2)
}

/// Across lanes: at least four lanes (two of 32 bits are reserved), not of 64 bits.
pub(super) const fn four_lanes(word: u32) -> Option<u64> {
    unless(size(word) == 3 || size(word) == 2 && q(word) == 0)
}

/// EXT of 64-bit vectors: the index is below 8.
pub(super) const fn ext(word: u32) -> Option<u64> {
    unless(q(word) == 0 && word >> 14 & 1 == 1)
}

/// `imm5` of DUP, INS and so on: its lowest set bit gives the element's size, log2 of the bytes.
pub(super) const fn imm5_log2(word: u32) -> u32 {
    (word >> 16 & 31).trailing_zeros()
}

/// DUP: some size, and not 1D.
pub(super) const fn dup(word: u32) -> Option<u64> {
    unless(imm5_log2(word) > 3 || imm5_log2(word) == 3 && q(word) == 0)
}

/// INS and scalar DUP: some size.
pub(super) const fn some_size(word: u32) -> Option<u64> {
    unless(imm5_log2(word) > 3)
}

/// SMOV: an element narrower than the register.
pub(super) const fn smov(word: u32) -> Option<u64> {
    unless(imm5_log2(word) > 1 + q(word))
}

/// UMOV of up to 32 bits.
pub(super) const fn umov(word: u32) -> Option<u64> {
    unless(imm5_log2(word) > 2)
}

/// log2 of the element's bytes by `immh`, bits \[22:19\], which is not 0.
pub(super) const fn immh_log2(word: u32) -> u32 {
    (word >> 19 & 15).ilog2()
}

const fn immh_immb(word: u32) -> u32 {
    word >> 16 & 127
}

/// Shift right by immediate, 1 to the element's size. The amount is prepared.
pub(super) const fn shift_right(word: u32) -> Option<u64> {
    if word >> 19 & 15 == 0 || word >> 22 & 1 == 1 && q(word) == 0 {
        return None;
    }
    Some(((16 << immh_log2(word)) - immh_immb(word)) as u64)
}

/// Shift left by immediate, 0 to the element's size less 1. The amount is prepared.
pub(super) const fn shift_left(word: u32) -> Option<u64> {
    if word >> 19 & 15 == 0 || word >> 22 & 1 == 1 && q(word) == 0 {
        return None;
    }
    Some((immh_immb(word) - (8 << immh_log2(word))) as u64)
}

/// Shift right and narrow: sizes are those of the narrow element, 8 to 32 bits.
pub(super) const fn shift_right_narrow(word: u32) -> Option<u64> {
    if word >> 19 & 15 == 0 || word >> 22 & 1 == 1 {
        return None;
    }
    Some(((16 << immh_log2(word)) - immh_immb(word)) as u64)
}

/// Widen and shift left.
pub(super) const fn shift_left_long(word: u32) -> Option<u64> {
    if word >> 19 & 15 == 0 || word >> 22 & 1 == 1 {
        return None;
    }
    Some((immh_immb(word) - (8 << immh_log2(word))) as u64)
}
