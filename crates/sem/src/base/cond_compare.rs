//! Conditional compare (register, immediate).

use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::word::Word;

crate::encodings! {
    "*_reg" => "* {Rn}, {Rm}, #{nzcv:x}, {cond}";
    "*_imm" => "* {Rn}, #{imm5:x}, #{nzcv:x}, {cond}";
    CCMN_32_condcmp_reg "00111010010 mmmmm cccc 00 nnnnn 0 ffff" - next flags => ccmn::<M, 32>;
    CCMP_32_condcmp_reg "01111010010 mmmmm cccc 00 nnnnn 0 ffff" - next flags => ccmp::<M, 32>;
    CCMN_64_condcmp_reg "10111010010 mmmmm cccc 00 nnnnn 0 ffff" - next flags => ccmn::<M, 64>;
    CCMP_64_condcmp_reg "11111010010 mmmmm cccc 00 nnnnn 0 ffff" - next flags => ccmp::<M, 64>;
    CCMN_32_condcmp_imm "00111010010 iiiii cccc 10 nnnnn 0 ffff" - next flags => ccmn_imm::<M, 32>;
    CCMP_32_condcmp_imm "01111010010 iiiii cccc 10 nnnnn 0 ffff" - next flags => ccmp_imm::<M, 32>;
    CCMN_64_condcmp_imm "10111010010 iiiii cccc 10 nnnnn 0 ffff" - next flags => ccmn_imm::<M, 64>;
    CCMP_64_condcmp_imm "11111010010 iiiii cccc 10 nnnnn 0 ffff" - next flags => ccmp_imm::<M, 64>;
}

/// The flags that are set where the condition fails: nzcv at \[3:0\], as [`Machine::nzcv`] gives flags.
fn flags(word: u32) -> Option<u64> {
    Some(u64::from(word & 15) << 28)
}

fn ccmp<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let b = !m.x(i.rm());
    compare::<M, BITS>(m, i, b, 1)
}

fn ccmn<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let b = m.x(i.rm());
    compare::<M, BITS>(m, i, b, 0)
}

fn ccmp_imm<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    compare::<M, BITS>(m, i, M::Word::from(!u64::from(i.bits(20, 16))), 1)
}

fn ccmn_imm<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    compare::<M, BITS>(m, i, M::Word::from(u64::from(i.bits(20, 16))), 0)
}

#[inline(always)]
fn compare<M: Machine, const BITS: u32>(m: &mut M, i: Insn, b: M::Word, carry: u64) -> Done<M> {
    let (holds, a) = (m.condition(i.bits(15, 12)), m.x(i.rn()));
    let (_, nzcv) = m.add_with_carry(BITS, a, b, M::Word::from(carry));
    m.set_nzcv(holds.select(nzcv, M::Word::from(i.imm)));
    Ok(())
}
