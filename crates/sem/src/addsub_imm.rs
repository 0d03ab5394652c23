//! Add/subtract (immediate). DDI 0487 C4.1.

use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::spec::plain;
use crate::word::Word;

crate::encodings! {
    ADD_32_addsub_imm   "0 0 0 100010 s iiiiiiiiiiii nnnnn ddddd" - next plain => add::<M, 32>;
    ADDS_32S_addsub_imm "0 0 1 100010 s iiiiiiiiiiii nnnnn ddddd" - next plain => adds::<M, 32>;
    SUB_32_addsub_imm   "0 1 0 100010 s iiiiiiiiiiii nnnnn ddddd" - next plain => sub::<M, 32>;
    SUBS_32S_addsub_imm "0 1 1 100010 s iiiiiiiiiiii nnnnn ddddd" - next plain => subs::<M, 32>;
    ADD_64_addsub_imm   "1 0 0 100010 s iiiiiiiiiiii nnnnn ddddd" - next plain => add::<M, 64>;
    ADDS_64S_addsub_imm "1 0 1 100010 s iiiiiiiiiiii nnnnn ddddd" - next plain => adds::<M, 64>;
    SUB_64_addsub_imm   "1 1 0 100010 s iiiiiiiiiiii nnnnn ddddd" - next plain => sub::<M, 64>;
    SUBS_64S_addsub_imm "1 1 1 100010 s iiiiiiiiiiii nnnnn ddddd" - next plain => subs::<M, 64>;
}

/// imm12, shifted left by 12 where `sh` is set.
fn immediate<M: Machine>(i: Insn) -> M::Word {
    let imm12 = u64::from(i.bits(21, 10));
    M::Word::from(if i.bit(22) == 1 { imm12 << 12 } else { imm12 })
}

fn add<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x_or_sp(i.rn()) + immediate::<M>(i);
    m.set_x_or_sp(i.rd(), result.zext(BITS));
    Ok(())
}

fn sub<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x_or_sp(i.rn()) - immediate::<M>(i);
    m.set_x_or_sp(i.rd(), result.zext(BITS));
    Ok(())
}

fn adds<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let a = m.x_or_sp(i.rn());
    let (result, nzcv) = m.add_with_carry(BITS, a, immediate::<M>(i), M::Word::from(0));
    m.set_nzcv(nzcv);
    m.set_x(i.rd(), result);
    Ok(())
}

fn subs<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let a = m.x_or_sp(i.rn());
    let (result, nzcv) = m.add_with_carry(BITS, a, !immediate::<M>(i), M::Word::from(1));
    m.set_nzcv(nzcv);
    m.set_x(i.rd(), result);
    Ok(())
}
