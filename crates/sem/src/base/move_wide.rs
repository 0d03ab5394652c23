//! Move wide (immediate).

use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::word::Word;

crate::encodings! {
    "MOVZ_*" => "movz? mov {Rd}, #{wide} | * {Rd}, #{imm16:x}{,hw}";
    "MOVN_*" => "movn? mov {Rd}, #{!wide} | * {Rd}, #{imm16:x}{,hw}";
    "*" => "* {Rd}, #{imm16:x}{,hw}";
    MOVN_32_movewide "0001001010 h iiiiiiiiiiiiiiii ddddd" - next inverted32 => mov;
    MOVZ_32_movewide "0101001010 h iiiiiiiiiiiiiiii ddddd" - next halfword => mov;
    MOVK_32_movewide "0111001010 0 iiiiiiiiiiiiiiii ddddd" - next halfword => movk::<M, 32, 0>;
    MOVK_32_movewide "0111001010 1 iiiiiiiiiiiiiiii ddddd" - next halfword => movk::<M, 32, 16>;
    MOVN_64_movewide "100100101 hh iiiiiiiiiiiiiiii ddddd" - next inverted64 => mov;
    MOVZ_64_movewide "110100101 hh iiiiiiiiiiiiiiii ddddd" - next halfword => mov;
    MOVK_64_movewide "111100101 00 iiiiiiiiiiiiiiii ddddd" - next halfword => movk::<M, 64, 0>;
    MOVK_64_movewide "111100101 01 iiiiiiiiiiiiiiii ddddd" - next halfword => movk::<M, 64, 16>;
    MOVK_64_movewide "111100101 10 iiiiiiiiiiiiiiii ddddd" - next halfword => movk::<M, 64, 32>;
    MOVK_64_movewide "111100101 11 iiiiiiiiiiiiiiii ddddd" - next halfword => movk::<M, 64, 48>;
}

/// imm16 at its place: hw at \[22:21\] is the halfword.
fn halfword(word: u32) -> Option<u64> {
    Some(u64::from(word >> 5 & 0xffff) << (16 * (word >> 21 & 3)))
}

fn inverted32(word: u32) -> Option<u64> {
    halfword(word).map(|value| !value & 0xffff_ffff)
}

fn inverted64(word: u32) -> Option<u64> {
    halfword(word).map(|value| !value)
}

/// MOVZ and MOVN: the value is ready.
fn mov<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.set_x(i.rd(), M::Word::from(i.imm));
    Ok(())
}

fn movk<M: Machine, const BITS: u32, const SHIFT: u32>(m: &mut M, i: Insn) -> Done<M> {
    let kept = m.x(i.rd()) & M::Word::from(!(0xffff << SHIFT));
    m.set_x(i.rd(), (kept | M::Word::from(i.imm)).zext(BITS));
    Ok(())
}
