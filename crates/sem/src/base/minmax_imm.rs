//! Min/max (immediate). FEAT_CSSC.

use super::imm::{simm8, uimm8};
use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::word::Word;

crate::encodings! {
    "S*" => "* {Rd}, {Rn}, #{imm8:s}";
    "U*" => "* {Rd}, {Rn}, #{imm8}";
    SMAX_32_minmax_imm  "00010001110000 iiiiiiii nnnnn ddddd" FEAT_CSSC next simm8 => smax::<M, 32>;
    UMAX_32U_minmax_imm "00010001110001 iiiiiiii nnnnn ddddd" FEAT_CSSC next uimm8 => umax::<M, 32>;
    SMIN_32_minmax_imm  "00010001110010 iiiiiiii nnnnn ddddd" FEAT_CSSC next simm8 => smin::<M, 32>;
    UMIN_32U_minmax_imm "00010001110011 iiiiiiii nnnnn ddddd" FEAT_CSSC next uimm8 => umin::<M, 32>;
    SMAX_64_minmax_imm  "10010001110000 iiiiiiii nnnnn ddddd" FEAT_CSSC next simm8 => smax::<M, 64>;
    UMAX_64U_minmax_imm "10010001110001 iiiiiiii nnnnn ddddd" FEAT_CSSC next uimm8 => umax::<M, 64>;
    SMIN_64_minmax_imm  "10010001110010 iiiiiiii nnnnn ddddd" FEAT_CSSC next simm8 => smin::<M, 64>;
    UMIN_64U_minmax_imm "10010001110011 iiiiiiii nnnnn ddddd" FEAT_CSSC next uimm8 => umin::<M, 64>;
}

fn smax<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (a, b) = (m.x(i.rn()).sext(BITS), M::Word::from(i.imm));
    m.set_x(i.rd(), a.is_slt(b).select(b, a).zext(BITS));
    Ok(())
}

fn smin<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (a, b) = (m.x(i.rn()).sext(BITS), M::Word::from(i.imm));
    m.set_x(i.rd(), a.is_slt(b).select(a, b).zext(BITS));
    Ok(())
}

fn umax<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (a, b) = (m.x(i.rn()).zext(BITS), M::Word::from(i.imm));
    m.set_x(i.rd(), a.is_ult(b).select(b, a));
    Ok(())
}

fn umin<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (a, b) = (m.x(i.rn()).zext(BITS), M::Word::from(i.imm));
    m.set_x(i.rd(), a.is_ult(b).select(a, b));
    Ok(())
}
