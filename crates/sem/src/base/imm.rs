//! Prepared immediates. An encoding's line names one of these; it runs once, when the instruction is decoded, and its
//! result is in [`Insn::imm`] ready for use. `None` says that the word is UNDEFINED.

use crate::insn::Insn;

/// The word's fields, read as a body reads them.
const fn fields(word: u32) -> Insn {
    Insn::new(word, 0, 0)
}

/// imm12 at \[21:10\], shifted left by 12 where `sh` (bit 22) is set: add/subtract (immediate).
#[must_use]
pub fn imm12_shifted(word: u32) -> Option<u64> {
    let i = fields(word);
    Some(u64::from(i.bits(21, 10)) << (12 * i.bit(22)))
}

/// imm6 at \[15:10\]: a shift amount.
#[must_use]
pub fn imm6(word: u32) -> Option<u64> {
    Some(u64::from(fields(word).bits(15, 10)))
}

/// imm12 at \[21:10\] times the access size.
#[must_use]
pub fn imm12_scaled<const LOG2: u32>(word: u32) -> Option<u64> {
    Some(u64::from(fields(word).bits(21, 10)) << LOG2)
}

/// imm9 at \[20:12\], signed.
#[must_use]
pub fn simm9(word: u32) -> Option<u64> {
    Some(fields(word).signed(20, 12) as u64)
}

/// imm7 at \[21:15\], signed, times the element size.
#[must_use]
pub fn simm7_scaled<const LOG2: u32>(word: u32) -> Option<u64> {
    Some((fields(word).signed(21, 15) << LOG2) as u64)
}

/// imm26 at \[25:0\], signed, in words.
#[must_use]
pub fn offset26(word: u32) -> Option<u64> {
    Some((fields(word).signed(25, 0) << 2) as u64)
}

/// imm19 at \[23:5\], signed, in words.
#[must_use]
pub fn offset19(word: u32) -> Option<u64> {
    Some((fields(word).signed(23, 5) << 2) as u64)
}

/// imm16 at \[20:5\].
#[must_use]
pub fn imm16(word: u32) -> Option<u64> {
    Some(u64::from(fields(word).bits(20, 5)))
}

/// imm8 at \[17:10\], unsigned.
#[must_use]
pub fn uimm8(word: u32) -> Option<u64> {
    Some(u64::from(fields(word).bits(17, 10)))
}

/// imm8 at \[17:10\], signed.
#[must_use]
pub fn simm8(word: u32) -> Option<u64> {
    Some(fields(word).signed(17, 10) as u64)
}

/// Two shift amounts in one immediate; see [`first`] and [`second`].
pub(super) const fn two_shifts(first: u32, second: u32) -> u64 {
    (first | second << 8) as u64
}

/// The first of two shift amounts.
#[inline(always)]
pub(super) const fn first(i: Insn) -> u64 {
    i.imm & 63
}

/// The second of two shift amounts.
#[inline(always)]
pub(super) const fn second(i: Insn) -> u64 {
    i.imm >> 8
}
