//! PC-relative addressing.

use crate::insn::Insn;
use crate::machine::{Done, Machine};

crate::encodings! {
    "ADR_*" => "* {Xd}, {adr}";
    "ADRP_*" => "* {Xd}, {adrp}";
    ADR_only_pcreladdr  "0 ii 10000 iiiiiiiiiiiiiiiiiii ddddd" - next offset => adr;
    ADRP_only_pcreladdr "1 ii 10000 iiiiiiiiiiiiiiiiiii ddddd" - next pages => adrp;
}

/// immhi:immlo, signed.
fn offset(word: u32) -> Option<u64> {
    Some(((word as i32) << 8 >> 13 << 2) as i64 as u64 | u64::from(word >> 29 & 3))
}

fn pages(word: u32) -> Option<u64> {
    offset(word).map(|offset| offset << 12)
}

fn adr<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.pc(i) + M::Word::from(i.imm);
    m.set_x(i.rd(), result);
    Ok(())
}

fn adrp<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let result = (m.pc(i) & M::Word::from(!0xfff)) + M::Word::from(i.imm);
    m.set_x(i.rd(), result);
    Ok(())
}
