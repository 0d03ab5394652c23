//! Data-processing (3 source).

use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::spec::plain;
use crate::word::Word;

crate::encodings! {
    "MADD_*" => "a=31? mul {Rd}, {Rn}, {Rm} | * {Rd}, {Rn}, {Rm}, {Ra}";
    "MSUB_*" => "a=31? mneg {Rd}, {Rn}, {Rm} | * {Rd}, {Rn}, {Rm}, {Ra}";
    "SMADDL_*" => "a=31? smull {Xd}, {Wn}, {Wm} | * {Xd}, {Wn}, {Wm}, {Xa}";
    "SMSUBL_*" => "a=31? smnegl {Xd}, {Wn}, {Wm} | * {Xd}, {Wn}, {Wm}, {Xa}";
    "UMADDL_*" => "a=31? umull {Xd}, {Wn}, {Wm} | * {Xd}, {Wn}, {Wm}, {Xa}";
    "UMSUBL_*" => "a=31? umnegl {Xd}, {Wn}, {Wm} | * {Xd}, {Wn}, {Wm}, {Xa}";
    "*MULH_*" => "* {Xd}, {Xn}, {Xm}";
    MADD_32A_dp_3src    "00011011000 mmmmm 0 aaaaa nnnnn ddddd" - next plain => madd::<M, 32>;
    MADD_32A_dp_3src    "00011011000 mmmmm 0 11111 nnnnn ddddd" - next plain => mul::<M, 32>;
    MSUB_32A_dp_3src    "00011011000 mmmmm 1 aaaaa nnnnn ddddd" - next plain => msub::<M, 32>;
    MADD_64A_dp_3src    "10011011000 mmmmm 0 aaaaa nnnnn ddddd" - next plain => madd::<M, 64>;
    MADD_64A_dp_3src    "10011011000 mmmmm 0 11111 nnnnn ddddd" - next plain => mul::<M, 64>;
    MSUB_64A_dp_3src    "10011011000 mmmmm 1 aaaaa nnnnn ddddd" - next plain => msub::<M, 64>;
    SMADDL_64WA_dp_3src "10011011001 mmmmm 0 aaaaa nnnnn ddddd" - next plain => smaddl;
    SMSUBL_64WA_dp_3src "10011011001 mmmmm 1 aaaaa nnnnn ddddd" - next plain => smsubl;
    SMULH_64_dp_3src    "10011011010 mmmmm 0 zzzzz nnnnn ddddd" - next plain => smulh;
    UMADDL_64WA_dp_3src "10011011101 mmmmm 0 aaaaa nnnnn ddddd" - next plain => umaddl;
    UMSUBL_64WA_dp_3src "10011011101 mmmmm 1 aaaaa nnnnn ddddd" - next plain => umsubl;
    UMULH_64_dp_3src    "10011011110 mmmmm 0 zzzzz nnnnn ddddd" - next plain => umulh;
}

fn madd<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.ra()) + m.x(i.rn()) * m.x(i.rm());
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

/// MADD with XZR.
fn mul<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) * m.x(i.rm());
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

fn msub<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.ra()) - m.x(i.rn()) * m.x(i.rm());
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

fn smaddl<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.ra()) + m.x(i.rn()).sext(32) * m.x(i.rm()).sext(32);
    m.set_x(i.rd(), result);
    Ok(())
}

fn smsubl<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.ra()) - m.x(i.rn()).sext(32) * m.x(i.rm()).sext(32);
    m.set_x(i.rd(), result);
    Ok(())
}

fn umaddl<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.ra()) + m.x(i.rn()).low32() * m.x(i.rm()).low32();
    m.set_x(i.rd(), result);
    Ok(())
}

fn umsubl<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.ra()) - m.x(i.rn()).low32() * m.x(i.rm()).low32();
    m.set_x(i.rd(), result);
    Ok(())
}

fn smulh<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()).smulh(m.x(i.rm()));
    m.set_x(i.rd(), result);
    Ok(())
}

fn umulh<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()).umulh(m.x(i.rm()));
    m.set_x(i.rd(), result);
    Ok(())
}
