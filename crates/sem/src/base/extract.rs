//! Extract.
//!
//! N must equal sf, and in 32 bits imms over 31 is UNDEFINED: no line has these.

use super::imm::imm6;
use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::word::Word;

crate::encodings! {
    "*" => "n=m? ror {Rd}, {Rn}, #{imms} | * {Rd}, {Rn}, {Rm}, #{imms}";
    EXTR_32_extract "00010011100 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => extr32;
    EXTR_64_extract "10010011110 mmmmm iiiiii nnnnn ddddd"  - next imm6 => extr64;
}

fn extr32<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let pair = m.x(i.rn()).shl(M::Word::from(32)) | m.x(i.rm()).low32();
    m.set_x(i.rd(), pair.lshr(M::Word::from(i.imm)).low32());
    Ok(())
}

fn extr64<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    // Two shifts move Rn out by 64 bits where the amount is 0.
    let high = m.x(i.rn()).shl(M::Word::from(1)).shl(M::Word::from(63 - i.imm));
    let low = m.x(i.rm()).lshr(M::Word::from(i.imm));
    m.set_x(i.rd(), high | low);
    Ok(())
}
