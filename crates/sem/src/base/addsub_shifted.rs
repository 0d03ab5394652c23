//! Add/subtract (shifted register).
//!
//! Shift type 11 and, in 32 bits, amounts over 31 are UNDEFINED: no line has them.

use super::imm::imm6;
use super::operand::{Asr, Lsl, Lsr, Operand, Register};
use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::spec::plain;
use crate::word::Word;

crate::encodings! {
    "ADD_*" => "* {Rd}, {Rn}, {Rm}{,shift}";
    "ADDS_*" => "d=31? cmn {Rn}, {Rm}{,shift} | * {Rd}, {Rn}, {Rm}{,shift}";
    "SUB_*" => "n=31? neg {Rd}, {Rm}{,shift} | * {Rd}, {Rn}, {Rm}{,shift}";
    "SUBS_*" => "d=31? cmp {Rn}, {Rm}{,shift} | n=31? negs {Rd}, {Rm}{,shift} | * {Rd}, {Rn}, {Rm}{,shift}";
    ADD_32_addsub_shift  "00001011 00 0 mmmmm 000000 nnnnn ddddd"  - next plain => add::<M, Register, 32>;
    ADD_32_addsub_shift  "00001011 00 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => add::<M, Lsl, 32>;
    ADD_32_addsub_shift  "00001011 01 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => add::<M, Lsr, 32>;
    ADD_32_addsub_shift  "00001011 10 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => add::<M, Asr, 32>;
    ADDS_32_addsub_shift "00101011 00 0 mmmmm 000000 nnnnn 11111"  - next plain => cmn::<M, 32>;
    ADDS_32_addsub_shift "00101011 00 0 mmmmm 000000 nnnnn ddddd"  - next plain => adds::<M, Register, 32>;
    ADDS_32_addsub_shift "00101011 00 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => adds::<M, Lsl, 32>;
    ADDS_32_addsub_shift "00101011 01 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => adds::<M, Lsr, 32>;
    ADDS_32_addsub_shift "00101011 10 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => adds::<M, Asr, 32>;
    SUB_32_addsub_shift  "01001011 00 0 mmmmm 000000 nnnnn ddddd"  - next plain => sub::<M, Register, 32>;
    SUB_32_addsub_shift  "01001011 00 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => sub::<M, Lsl, 32>;
    SUB_32_addsub_shift  "01001011 01 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => sub::<M, Lsr, 32>;
    SUB_32_addsub_shift  "01001011 10 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => sub::<M, Asr, 32>;
    SUBS_32_addsub_shift "01101011 00 0 mmmmm 000000 nnnnn 11111"  - next plain => cmp::<M, 32>;
    SUBS_32_addsub_shift "01101011 00 0 mmmmm 000000 nnnnn ddddd"  - next plain => subs::<M, Register, 32>;
    SUBS_32_addsub_shift "01101011 00 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => subs::<M, Lsl, 32>;
    SUBS_32_addsub_shift "01101011 01 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => subs::<M, Lsr, 32>;
    SUBS_32_addsub_shift "01101011 10 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => subs::<M, Asr, 32>;
    ADD_64_addsub_shift  "10001011 00 0 mmmmm 000000 nnnnn ddddd"  - next plain => add::<M, Register, 64>;
    ADD_64_addsub_shift  "10001011 00 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => add::<M, Lsl, 64>;
    ADD_64_addsub_shift  "10001011 01 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => add::<M, Lsr, 64>;
    ADD_64_addsub_shift  "10001011 10 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => add::<M, Asr, 64>;
    ADDS_64_addsub_shift "10101011 00 0 mmmmm 000000 nnnnn 11111"  - next plain => cmn::<M, 64>;
    ADDS_64_addsub_shift "10101011 00 0 mmmmm 000000 nnnnn ddddd"  - next plain => adds::<M, Register, 64>;
    ADDS_64_addsub_shift "10101011 00 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => adds::<M, Lsl, 64>;
    ADDS_64_addsub_shift "10101011 01 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => adds::<M, Lsr, 64>;
    ADDS_64_addsub_shift "10101011 10 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => adds::<M, Asr, 64>;
    SUB_64_addsub_shift  "11001011 00 0 mmmmm 000000 nnnnn ddddd"  - next plain => sub::<M, Register, 64>;
    SUB_64_addsub_shift  "11001011 00 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => sub::<M, Lsl, 64>;
    SUB_64_addsub_shift  "11001011 01 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => sub::<M, Lsr, 64>;
    SUB_64_addsub_shift  "11001011 10 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => sub::<M, Asr, 64>;
    SUBS_64_addsub_shift "11101011 00 0 mmmmm 000000 nnnnn 11111"  - next plain => cmp::<M, 64>;
    SUBS_64_addsub_shift "11101011 00 0 mmmmm 000000 nnnnn ddddd"  - next plain => subs::<M, Register, 64>;
    SUBS_64_addsub_shift "11101011 00 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => subs::<M, Lsl, 64>;
    SUBS_64_addsub_shift "11101011 01 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => subs::<M, Lsr, 64>;
    SUBS_64_addsub_shift "11101011 10 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => subs::<M, Asr, 64>;
}

fn add<M: Machine, O: Operand, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) + O::read::<M, BITS>(m, i);
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

fn sub<M: Machine, O: Operand, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) - O::read::<M, BITS>(m, i);
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

fn adds<M: Machine, O: Operand, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (a, b) = (m.x(i.rn()), O::read::<M, BITS>(m, i));
    let (result, nzcv) = m.add_with_carry(BITS, a, b, M::Word::from(0));
    m.set_nzcv(nzcv);
    m.set_x(i.rd(), result);
    Ok(())
}

fn subs<M: Machine, O: Operand, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (a, b) = (m.x(i.rn()), O::read::<M, BITS>(m, i));
    let (result, nzcv) = m.add_with_carry(BITS, a, !b, M::Word::from(1));
    m.set_nzcv(nzcv);
    m.set_x(i.rd(), result);
    Ok(())
}

/// ADDS to XZR, not shifted.
fn cmn<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (a, b) = (m.x(i.rn()), m.x(i.rm()));
    let (_, nzcv) = m.add_with_carry(BITS, a, b, M::Word::from(0));
    m.set_nzcv(nzcv);
    Ok(())
}

/// SUBS to XZR, not shifted.
fn cmp<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (a, b) = (m.x(i.rn()), m.x(i.rm()));
    let (_, nzcv) = m.add_with_carry(BITS, a, !b, M::Word::from(1));
    m.set_nzcv(nzcv);
    Ok(())
}
