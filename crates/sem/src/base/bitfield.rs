//! Bitfield.
//!
//! Every form is two shifts, both known when the instruction is decoded: the first moves the field's top (bit imms) to
//! bit 63, the second moves the field down to its place, filling with zeros or its sign. In 32 bits imms and immr over
//! 31 are UNDEFINED: no line has them.

use super::imm::{first, second, two_shifts};
use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::word::Word;

crate::encodings! {
    "SBFM_*" =>
        "imms=top? asr {Rd}, {Rn}, #{immr} | immr=0 & imms=7? sxtb {Rd}, {Wn} | immr=0 & imms=15? sxth {Rd}, {Wn} \
         | immr=0 & imms=31? sxtw {Rd}, {Wn} | imms<immr? sbfiz {Rd}, {Rn}, #{lsb}, #{imms+1} \
         | sbfx {Rd}, {Rn}, #{immr}, #{width}";
    "BFM_*" =>
        "imms<immr & n=31? bfc {Rd}, #{lsb}, #{imms+1} | imms<immr? bfi {Rd}, {Rn}, #{lsb}, #{imms+1} \
         | bfxil {Rd}, {Rn}, #{immr}, #{width}";
    "UBFM_*" =>
        "imms=top? lsr {Rd}, {Rn}, #{immr} | imms+1=immr? lsl {Rd}, {Rn}, #{lsb} \
         | sf=0 & immr=0 & imms=7? uxtb {Rd}, {Rn} | sf=0 & immr=0 & imms=15? uxth {Rd}, {Rn} \
         | imms<immr? ubfiz {Rd}, {Rn}, #{lsb}, #{imms+1} | ubfx {Rd}, {Rn}, #{immr}, #{width}";
    SBFM_32M_bitfield "0001001100 0 iiiii 0 iiiii nnnnn ddddd" - next shifts::<32> => sbfm::<M, 32>;
    BFM_32M_bitfield  "0011001100 0 iiiii 0 iiiii nnnnn ddddd" - next shifts::<32> => bfm::<M, 32>;
    UBFM_32M_bitfield "0101001100 0 iiiii 0 iiiii nnnnn ddddd" - next shifts::<32> => ubfm;
    SBFM_64M_bitfield "1001001101 iiiiii iiiiii nnnnn ddddd"   - next shifts::<64> => sbfm::<M, 64>;
    BFM_64M_bitfield  "1011001101 iiiiii iiiiii nnnnn ddddd"   - next shifts::<64> => bfm::<M, 64>;
    UBFM_64M_bitfield "1101001101 iiiiii iiiiii nnnnn ddddd"   - next shifts::<64> => ubfm;
    UBFM_64M_bitfield "1101001101 iiiiii 111111 nnnnn ddddd"   - next shifts::<64> => lsr;
}

/// The two shifts for a register of `BITS`, 32 or 64.
fn shifts<const BITS: u32>(word: u32) -> Option<u64> {
    let (immr, imms) = (word >> 16 & 63, word >> 10 & 63);
    let up = 63 - imms;
    // imms >= immr extracts: the field's lowest bit immr goes to bit 0. Else it inserts: bit 0 goes to BITS - immr.
    let down = if imms >= immr { up + immr } else { up - (BITS - immr) };
    Some(two_shifts(up, down))
}

fn ubfm<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()).shl(M::Word::from(first(i))).lshr(M::Word::from(second(i)));
    m.set_x(i.rd(), result);
    Ok(())
}

/// UBFM whose field ends at bit 63: LSR.
fn lsr<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()).lshr(M::Word::from(second(i)));
    m.set_x(i.rd(), result);
    Ok(())
}

fn sbfm<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()).shl(M::Word::from(first(i))).ashr(M::Word::from(second(i)));
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

fn bfm<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let mask = M::Word::from(u64::MAX << first(i) >> second(i));
    let field = m.x(i.rn()).shl(M::Word::from(first(i))).lshr(M::Word::from(second(i)));
    let result = m.x(i.rd()) & !mask | field;
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}
