//! Compare and branch (immediate), test and branch (immediate).

use crate::base::imm::offset19;
use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::word::Word;

crate::encodings! {
    "CB*" => "* {Rt}, {label19}";
    "TB*" => "* {Rt}, #{bit}, {label14}";
    CBZ_32_compbranch    "00110100 iiiiiiiiiiiiiiiiiii ttttt"   - end offset19 => cbz::<M, 32>;
    CBNZ_32_compbranch   "00110101 iiiiiiiiiiiiiiiiiii ttttt"   - end offset19 => cbnz::<M, 32>;
    CBZ_64_compbranch    "10110100 iiiiiiiiiiiiiiiiiii ttttt"   - end offset19 => cbz::<M, 64>;
    CBNZ_64_compbranch   "10110101 iiiiiiiiiiiiiiiiiii ttttt"   - end offset19 => cbnz::<M, 64>;
    TBZ_only_testbranch  "b 0110110 bbbbb iiiiiiiiiiiiii ttttt" - end bit_and_offset => tbz;
    TBNZ_only_testbranch "b 0110111 bbbbb iiiiiiiiiiiiii ttttt" - end bit_and_offset => tbnz;
}

/// The bit's number b5:b40 in bits \[5:0\], and above bit 8 the offset imm14, signed, in words.
fn bit_and_offset(word: u32) -> Option<u64> {
    let bit = word >> 31 << 5 | word >> 19 & 31;
    let offset = (word << 13) as i32 >> 18 << 2;
    Some((i64::from(offset) << 8) as u64 | u64::from(bit))
}

fn cbz<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let target = m.pc(i) + M::Word::from(i.imm);
    let zero = m.x(i.rt()).zext(BITS).is_eq(M::Word::from(0));
    m.branch_if(zero, target)
}

fn cbnz<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let target = m.pc(i) + M::Word::from(i.imm);
    let value = m.x(i.rt()).zext(BITS);
    m.branch_if(value, target)
}

/// The tested bit as 0 or 1, and the target.
#[inline(always)]
fn test<M: Machine>(m: &mut M, i: Insn) -> (M::Word, M::Word) {
    let bit = m.x(i.rt()).lshr(M::Word::from(i.imm & 63)) & M::Word::from(1);
    (bit, m.pc(i) + M::Word::from((i.imm as i64 >> 8) as u64))
}

fn tbz<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let (bit, target) = test(m, i);
    m.branch_if(bit ^ M::Word::from(1), target)
}

fn tbnz<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let (bit, target) = test(m, i);
    m.branch_if(bit, target)
}
