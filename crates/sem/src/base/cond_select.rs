//! Conditional select.

use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::spec::plain;
use crate::word::Word;

crate::encodings! {
    "CSINC_*" =>
        "n=31 & m=31 & cond<14? cset {Rd}, {!cond} | n=m & n!=31 & cond<14? cinc {Rd}, {Rn}, {!cond} \
         | * {Rd}, {Rn}, {Rm}, {cond}";
    "CSINV_*" =>
        "n=31 & m=31 & cond<14? csetm {Rd}, {!cond} | n=m & n!=31 & cond<14? cinv {Rd}, {Rn}, {!cond} \
         | * {Rd}, {Rn}, {Rm}, {cond}";
    "CSNEG_*" => "n=m & cond<14? cneg {Rd}, {Rn}, {!cond} | * {Rd}, {Rn}, {Rm}, {cond}";
    "CSEL_*" => "* {Rd}, {Rn}, {Rm}, {cond}";
    CSEL_32_condsel  "00011010100 mmmmm cccc 00 nnnnn ddddd" - next plain => csel::<M, 32>;
    CSINC_32_condsel "00011010100 mmmmm cccc 01 nnnnn ddddd" - next plain => csinc::<M, 32>;
    CSINC_32_condsel "00011010100 11111 cccc 01 11111 ddddd" - next plain => cset;
    CSINV_32_condsel "01011010100 mmmmm cccc 00 nnnnn ddddd" - next plain => csinv::<M, 32>;
    CSNEG_32_condsel "01011010100 mmmmm cccc 01 nnnnn ddddd" - next plain => csneg::<M, 32>;
    CSEL_64_condsel  "10011010100 mmmmm cccc 00 nnnnn ddddd" - next plain => csel::<M, 64>;
    CSINC_64_condsel "10011010100 mmmmm cccc 01 nnnnn ddddd" - next plain => csinc::<M, 64>;
    CSINC_64_condsel "10011010100 11111 cccc 01 11111 ddddd" - next plain => cset;
    CSINV_64_condsel "11011010100 mmmmm cccc 00 nnnnn ddddd" - next plain => csinv::<M, 64>;
    CSNEG_64_condsel "11011010100 mmmmm cccc 01 nnnnn ddddd" - next plain => csneg::<M, 64>;
}

fn csel<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (then, other) = (m.x(i.rn()), m.x(i.rm()));
    select::<M, BITS>(m, i, then, other)
}

fn csinc<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (then, other) = (m.x(i.rn()), m.x(i.rm()) + M::Word::from(1));
    select::<M, BITS>(m, i, then, other)
}

/// CSINC of XZR and XZR: CSET of the inverted condition.
fn cset<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let holds = m.condition(i.bits(15, 12));
    m.set_x(i.rd(), holds ^ M::Word::from(1));
    Ok(())
}

fn csinv<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (then, other) = (m.x(i.rn()), !m.x(i.rm()));
    select::<M, BITS>(m, i, then, other)
}

fn csneg<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (then, other) = (m.x(i.rn()), M::Word::from(0) - m.x(i.rm()));
    select::<M, BITS>(m, i, then, other)
}

#[inline(always)]
fn select<M: Machine, const BITS: u32>(m: &mut M, i: Insn, then: M::Word, other: M::Word) -> Done<M> {
    let result = m.condition(i.bits(15, 12)).select(then, other);
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}
