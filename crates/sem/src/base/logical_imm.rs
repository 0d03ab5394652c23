//! Logical (immediate).
//!
//! Rd of AND, ORR and EOR may be the stack pointer: lines of their own. Of a word with a reserved immediate
//! DecodeBitMasks says UNDEFINED, and so does `prepare`.

use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::word::Word;

crate::encodings! {
    "ORR_*" => "n=31 & mov? mov {Rd|sp}, #{bitmask} | * {Rd|sp}, {Rn}, #{bitmask}";
    "ANDS_*" => "d=31? tst {Rn}, #{bitmask} | * {Rd}, {Rn}, #{bitmask}";
    "*" => "* {Rd|sp}, {Rn}, #{bitmask}";
    AND_32_log_imm   "0001001000 iiiiii iiiiii nnnnn ddddd"  - next bitmask32 => and::<M>;
    AND_32_log_imm   "0001001000 iiiiii iiiiii nnnnn 11111"  - next bitmask32 => and_sp::<M>;
    ORR_32_log_imm   "0011001000 iiiiii iiiiii nnnnn ddddd"  - next bitmask32 => orr::<M, 32>;
    ORR_32_log_imm   "0011001000 iiiiii iiiiii nnnnn 11111"  - next bitmask32 => orr_sp::<M, 32>;
    ORR_32_log_imm   "0011001000 iiiiii iiiiii 11111 ddddd"  - next bitmask32 => mov;
    ORR_32_log_imm   "0011001000 iiiiii iiiiii 11111 11111"  - next bitmask32 => orr_sp::<M, 32>;
    EOR_32_log_imm   "0101001000 iiiiii iiiiii nnnnn ddddd"  - next bitmask32 => eor::<M, 32>;
    EOR_32_log_imm   "0101001000 iiiiii iiiiii nnnnn 11111"  - next bitmask32 => eor_sp::<M, 32>;
    ANDS_32S_log_imm "0111001000 iiiiii iiiiii nnnnn 11111"  - next bitmask32 => tst::<M, 32>;
    ANDS_32S_log_imm "0111001000 iiiiii iiiiii nnnnn ddddd"  - next bitmask32 => ands::<M, 32>;
    AND_64_log_imm   "100100100 n iiiiii iiiiii nnnnn ddddd" - next bitmask64 => and::<M>;
    AND_64_log_imm   "100100100 n iiiiii iiiiii nnnnn 11111" - next bitmask64 => and_sp::<M>;
    ORR_64_log_imm   "101100100 n iiiiii iiiiii nnnnn ddddd" - next bitmask64 => orr::<M, 64>;
    ORR_64_log_imm   "101100100 n iiiiii iiiiii nnnnn 11111" - next bitmask64 => orr_sp::<M, 64>;
    ORR_64_log_imm   "101100100 n iiiiii iiiiii 11111 ddddd" - next bitmask64 => mov;
    ORR_64_log_imm   "101100100 n iiiiii iiiiii 11111 11111" - next bitmask64 => orr_sp::<M, 64>;
    EOR_64_log_imm   "110100100 n iiiiii iiiiii nnnnn ddddd" - next bitmask64 => eor::<M, 64>;
    EOR_64_log_imm   "110100100 n iiiiii iiiiii nnnnn 11111" - next bitmask64 => eor_sp::<M, 64>;
    ANDS_64S_log_imm "111100100 n iiiiii iiiiii nnnnn 11111" - next bitmask64 => tst::<M, 64>;
    ANDS_64S_log_imm "111100100 n iiiiii iiiiii nnnnn ddddd" - next bitmask64 => ands::<M, 64>;
}

/// DecodeBitMasks' wmask for N:imms:immr at \[22:10\], in 64 bits; `None` where reserved.
pub(crate) fn bitmask64(word: u32) -> Option<u64> {
    let (n, immr, imms) = (word >> 22 & 1, word >> 16 & 63, word >> 10 & 63);
    // HighestSetBit(N:NOT(imms)) is log2 of the element's size; 0 and none are reserved.
    let len = (n << 6 | !imms & 63).checked_ilog2().filter(|&len| len >= 1)?;
    let size = 1 << len;
    let (ones, rotation) = ((imms & (size - 1)) + 1, immr & (size - 1));
    if ones == size {
        return None;
    }
    let element = (1u64 << ones) - 1;
    let mask = u64::MAX >> (64 - size);
    let rotated = if rotation == 0 { element } else { (element >> rotation | element << (size - rotation)) & mask };
    // Replicates the element: u64::MAX / mask has a 1 at each element's lowest bit.
    Some(rotated * (u64::MAX / mask))
}

/// The same in 32 bits (N is 0 in every line that uses it).
fn bitmask32(word: u32) -> Option<u64> {
    bitmask64(word).map(|mask| mask & 0xffff_ffff)
}

fn and<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) & M::Word::from(i.imm);
    m.set_x(i.rd(), result);
    Ok(())
}

fn orr<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) | M::Word::from(i.imm);
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

/// ORR with XZR: MOV (bitmask immediate).
fn mov<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.set_x(i.rd(), M::Word::from(i.imm));
    Ok(())
}

fn eor<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) ^ M::Word::from(i.imm);
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

fn and_sp<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) & M::Word::from(i.imm);
    m.set_sp(result);
    Ok(())
}

fn orr_sp<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) | M::Word::from(i.imm);
    m.set_sp(result.zext(BITS));
    Ok(())
}

fn eor_sp<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) ^ M::Word::from(i.imm);
    m.set_sp(result.zext(BITS));
    Ok(())
}

fn ands<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) & M::Word::from(i.imm);
    let nzcv = m.logic_flags(BITS, result);
    m.set_nzcv(nzcv);
    m.set_x(i.rd(), result);
    Ok(())
}

/// ANDS to XZR.
fn tst<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) & M::Word::from(i.imm);
    let nzcv = m.logic_flags(BITS, result);
    m.set_nzcv(nzcv);
    Ok(())
}
