//! Add/subtract (extended register).
//!
//! Rn, and Rd where the flags are not set, may be the stack pointer. UXTX and SXTX extend nothing and are a shift.

use super::imm::two_shifts;
use super::operand::{Lsl, Operand, Signed, Unsigned};
use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::word::Word;

crate::encodings! {
    "ADDS_*" => "d=31? cmn {Rn|sp}, {extended} | * {Rd}, {Rn|sp}, {extended}";
    "SUBS_*" => "d=31? cmp {Rn|sp}, {extended} | * {Rd}, {Rn|sp}, {extended}";
    "*" => "* {Rd|sp}, {Rn|sp}, {extended}";
    ADD_32_addsub_ext   "00001011001 mmmmm 0 oo iii nnnnn ddddd" - next extend => add::<M, Unsigned, 32>;
    ADD_32_addsub_ext   "00001011001 mmmmm 011 iii nnnnn ddddd"  - next shift => add::<M, Lsl, 32>;
    ADD_32_addsub_ext   "00001011001 mmmmm 1 oo iii nnnnn ddddd" - next extend => add::<M, Signed, 32>;
    ADD_32_addsub_ext   "00001011001 mmmmm 111 iii nnnnn ddddd"  - next shift => add::<M, Lsl, 32>;
    ADDS_32S_addsub_ext "00101011001 mmmmm 0 oo iii nnnnn ddddd" - next extend => adds::<M, Unsigned, 32>;
    ADDS_32S_addsub_ext "00101011001 mmmmm 011 iii nnnnn ddddd"  - next shift => adds::<M, Lsl, 32>;
    ADDS_32S_addsub_ext "00101011001 mmmmm 1 oo iii nnnnn ddddd" - next extend => adds::<M, Signed, 32>;
    ADDS_32S_addsub_ext "00101011001 mmmmm 111 iii nnnnn ddddd"  - next shift => adds::<M, Lsl, 32>;
    SUB_32_addsub_ext   "01001011001 mmmmm 0 oo iii nnnnn ddddd" - next extend => sub::<M, Unsigned, 32>;
    SUB_32_addsub_ext   "01001011001 mmmmm 011 iii nnnnn ddddd"  - next shift => sub::<M, Lsl, 32>;
    SUB_32_addsub_ext   "01001011001 mmmmm 1 oo iii nnnnn ddddd" - next extend => sub::<M, Signed, 32>;
    SUB_32_addsub_ext   "01001011001 mmmmm 111 iii nnnnn ddddd"  - next shift => sub::<M, Lsl, 32>;
    SUBS_32S_addsub_ext "01101011001 mmmmm 0 oo iii nnnnn ddddd" - next extend => subs::<M, Unsigned, 32>;
    SUBS_32S_addsub_ext "01101011001 mmmmm 011 iii nnnnn ddddd"  - next shift => subs::<M, Lsl, 32>;
    SUBS_32S_addsub_ext "01101011001 mmmmm 1 oo iii nnnnn ddddd" - next extend => subs::<M, Signed, 32>;
    SUBS_32S_addsub_ext "01101011001 mmmmm 111 iii nnnnn ddddd"  - next shift => subs::<M, Lsl, 32>;
    ADD_64_addsub_ext   "10001011001 mmmmm 0 oo iii nnnnn ddddd" - next extend => add::<M, Unsigned, 64>;
    ADD_64_addsub_ext   "10001011001 mmmmm 011 iii nnnnn ddddd"  - next shift => add::<M, Lsl, 64>;
    ADD_64_addsub_ext   "10001011001 mmmmm 1 oo iii nnnnn ddddd" - next extend => add::<M, Signed, 64>;
    ADD_64_addsub_ext   "10001011001 mmmmm 111 iii nnnnn ddddd"  - next shift => add::<M, Lsl, 64>;
    ADDS_64S_addsub_ext "10101011001 mmmmm 0 oo iii nnnnn ddddd" - next extend => adds::<M, Unsigned, 64>;
    ADDS_64S_addsub_ext "10101011001 mmmmm 011 iii nnnnn ddddd"  - next shift => adds::<M, Lsl, 64>;
    ADDS_64S_addsub_ext "10101011001 mmmmm 1 oo iii nnnnn ddddd" - next extend => adds::<M, Signed, 64>;
    ADDS_64S_addsub_ext "10101011001 mmmmm 111 iii nnnnn ddddd"  - next shift => adds::<M, Lsl, 64>;
    SUB_64_addsub_ext   "11001011001 mmmmm 0 oo iii nnnnn ddddd" - next extend => sub::<M, Unsigned, 64>;
    SUB_64_addsub_ext   "11001011001 mmmmm 011 iii nnnnn ddddd"  - next shift => sub::<M, Lsl, 64>;
    SUB_64_addsub_ext   "11001011001 mmmmm 1 oo iii nnnnn ddddd" - next extend => sub::<M, Signed, 64>;
    SUB_64_addsub_ext   "11001011001 mmmmm 111 iii nnnnn ddddd"  - next shift => sub::<M, Lsl, 64>;
    SUBS_64S_addsub_ext "11101011001 mmmmm 0 oo iii nnnnn ddddd" - next extend => subs::<M, Unsigned, 64>;
    SUBS_64S_addsub_ext "11101011001 mmmmm 011 iii nnnnn ddddd"  - next shift => subs::<M, Lsl, 64>;
    SUBS_64S_addsub_ext "11101011001 mmmmm 1 oo iii nnnnn ddddd" - next extend => subs::<M, Signed, 64>;
    SUBS_64S_addsub_ext "11101011001 mmmmm 111 iii nnnnn ddddd"  - next shift => subs::<M, Lsl, 64>;
}

/// imm3 at \[12:10\], a left shift of 0 to 4; more is reserved.
fn shift(word: u32) -> Option<u64> {
    let shift = word >> 10 & 7;
    (shift <= 4).then_some(u64::from(shift))
}

/// The field of 8, 16 or 32 bits that option\[1:0\] names is moved to the top, then down to where imm3 wants it.
fn extend(word: u32) -> Option<u64> {
    let length = 8 << (word >> 13 & 3);
    let up = 64 - length;
    shift(word).map(|shift| two_shifts(up, up - shift as u32))
}

fn add<M: Machine, O: Operand, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x_or_sp(i.rn()) + O::read::<M, BITS>(m, i);
    m.set_x_or_sp(i.rd(), result.zext(BITS));
    Ok(())
}

fn sub<M: Machine, O: Operand, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x_or_sp(i.rn()) - O::read::<M, BITS>(m, i);
    m.set_x_or_sp(i.rd(), result.zext(BITS));
    Ok(())
}

fn adds<M: Machine, O: Operand, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (a, b) = (m.x_or_sp(i.rn()), O::read::<M, BITS>(m, i));
    let (result, nzcv) = m.add_with_carry(BITS, a, b, M::Word::from(0));
    m.set_nzcv(nzcv);
    m.set_x(i.rd(), result);
    Ok(())
}

fn subs<M: Machine, O: Operand, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (a, b) = (m.x_or_sp(i.rn()), O::read::<M, BITS>(m, i));
    let (result, nzcv) = m.add_with_carry(BITS, a, !b, M::Word::from(1));
    m.set_nzcv(nzcv);
    m.set_x(i.rd(), result);
    Ok(())
}
