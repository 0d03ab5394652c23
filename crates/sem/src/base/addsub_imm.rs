//! Add/subtract (immediate). DDI 0487 C4.1.92.
//!
//! Rn, and Rd where the flags are not set, may be the stack pointer. Lines of their own take these words, so that the
//! usual ones hold no test.

use super::imm::imm12_shifted;
use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::word::Word;

crate::encodings! {
    "ADD_*" =>
        "imm12=0 & sh=0 & n=31? mov {Rd|sp}, {Rn|sp} | imm12=0 & sh=0 & d=31? mov {Rd|sp}, {Rn|sp} \
         | * {Rd|sp}, {Rn|sp}, #{imm12:x}{,lsl12}";
    "SUB_*" => "* {Rd|sp}, {Rn|sp}, #{imm12:x}{,lsl12}";
    "ADDS_*" => "d=31? cmn {Rn|sp}, #{imm12:x}{,lsl12} | * {Rd}, {Rn|sp}, #{imm12:x}{,lsl12}";
    "SUBS_*" => "d=31? cmp {Rn|sp}, #{imm12:x}{,lsl12} | * {Rd}, {Rn|sp}, #{imm12:x}{,lsl12}";
    ADD_32_addsub_imm   "000100010 s iiiiiiiiiiii nnnnn ddddd" - next imm12_shifted => add::<M, 32>;
    ADD_32_addsub_imm   "000100010 s iiiiiiiiiiii 11111 ddddd" - next imm12_shifted => add_sp::<M, 32>;
    ADD_32_addsub_imm   "000100010 s iiiiiiiiiiii nnnnn 11111" - next imm12_shifted => add_sp::<M, 32>;
    ADDS_32S_addsub_imm "001100010 s iiiiiiiiiiii nnnnn ddddd" - next imm12_shifted => adds::<M, 32>;
    ADDS_32S_addsub_imm "001100010 s iiiiiiiiiiii nnnnn 11111" - next imm12_shifted => cmn::<M, 32>;
    ADDS_32S_addsub_imm "001100010 s iiiiiiiiiiii 11111 ddddd" - next imm12_shifted => adds_sp::<M, 32>;
    ADDS_32S_addsub_imm "001100010 s iiiiiiiiiiii 11111 11111" - next imm12_shifted => adds_sp::<M, 32>;
    SUB_32_addsub_imm   "010100010 s iiiiiiiiiiii nnnnn ddddd" - next imm12_shifted => sub::<M, 32>;
    SUB_32_addsub_imm   "010100010 s iiiiiiiiiiii 11111 ddddd" - next imm12_shifted => sub_sp::<M, 32>;
    SUB_32_addsub_imm   "010100010 s iiiiiiiiiiii nnnnn 11111" - next imm12_shifted => sub_sp::<M, 32>;
    SUBS_32S_addsub_imm "011100010 s iiiiiiiiiiii nnnnn ddddd" - next imm12_shifted => subs::<M, 32>;
    SUBS_32S_addsub_imm "011100010 s iiiiiiiiiiii nnnnn 11111" - next imm12_shifted => cmp::<M, 32>;
    SUBS_32S_addsub_imm "011100010 s iiiiiiiiiiii 11111 ddddd" - next imm12_shifted => subs_sp::<M, 32>;
    SUBS_32S_addsub_imm "011100010 s iiiiiiiiiiii 11111 11111" - next imm12_shifted => subs_sp::<M, 32>;
    ADD_64_addsub_imm   "100100010 s iiiiiiiiiiii nnnnn ddddd" - next imm12_shifted => add::<M, 64>;
    ADD_64_addsub_imm   "100100010 s iiiiiiiiiiii 11111 ddddd" - next imm12_shifted => add_sp::<M, 64>;
    ADD_64_addsub_imm   "100100010 s iiiiiiiiiiii nnnnn 11111" - next imm12_shifted => add_sp::<M, 64>;
    ADDS_64S_addsub_imm "101100010 s iiiiiiiiiiii nnnnn ddddd" - next imm12_shifted => adds::<M, 64>;
    ADDS_64S_addsub_imm "101100010 s iiiiiiiiiiii nnnnn 11111" - next imm12_shifted => cmn::<M, 64>;
    ADDS_64S_addsub_imm "101100010 s iiiiiiiiiiii 11111 ddddd" - next imm12_shifted => adds_sp::<M, 64>;
    ADDS_64S_addsub_imm "101100010 s iiiiiiiiiiii 11111 11111" - next imm12_shifted => adds_sp::<M, 64>;
    SUB_64_addsub_imm   "110100010 s iiiiiiiiiiii nnnnn ddddd" - next imm12_shifted => sub::<M, 64>;
    SUB_64_addsub_imm   "110100010 s iiiiiiiiiiii 11111 ddddd" - next imm12_shifted => sub_sp::<M, 64>;
    SUB_64_addsub_imm   "110100010 s iiiiiiiiiiii nnnnn 11111" - next imm12_shifted => sub_sp::<M, 64>;
    SUBS_64S_addsub_imm "111100010 s iiiiiiiiiiii nnnnn ddddd" - next imm12_shifted => subs::<M, 64>;
    SUBS_64S_addsub_imm "111100010 s iiiiiiiiiiii nnnnn 11111" - next imm12_shifted => cmp::<M, 64>;
    SUBS_64S_addsub_imm "111100010 s iiiiiiiiiiii 11111 ddddd" - next imm12_shifted => subs_sp::<M, 64>;
    SUBS_64S_addsub_imm "111100010 s iiiiiiiiiiii 11111 11111" - next imm12_shifted => subs_sp::<M, 64>;
}

fn add<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) + M::Word::from(i.imm);
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

fn sub<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) - M::Word::from(i.imm);
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

fn add_sp<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x_or_sp(i.rn()) + M::Word::from(i.imm);
    m.set_x_or_sp(i.rd(), result.zext(BITS));
    Ok(())
}

fn sub_sp<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x_or_sp(i.rn()) - M::Word::from(i.imm);
    m.set_x_or_sp(i.rd(), result.zext(BITS));
    Ok(())
}

fn adds<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let a = m.x(i.rn());
    add_setting_flags::<M, BITS>(m, i, a)
}

fn subs<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let a = m.x(i.rn());
    sub_setting_flags::<M, BITS>(m, i, a)
}

fn adds_sp<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let a = m.sp();
    add_setting_flags::<M, BITS>(m, i, a)
}

fn subs_sp<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let a = m.sp();
    sub_setting_flags::<M, BITS>(m, i, a)
}

/// ADDS to XZR.
fn cmn<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let a = m.x(i.rn());
    let (_, nzcv) = m.add_with_carry(BITS, a, M::Word::from(i.imm), M::Word::from(0));
    m.set_nzcv(nzcv);
    Ok(())
}

/// SUBS to XZR.
fn cmp<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let a = m.x(i.rn());
    let (_, nzcv) = m.add_with_carry(BITS, a, M::Word::from(!i.imm), M::Word::from(1));
    m.set_nzcv(nzcv);
    Ok(())
}

#[inline(always)]
fn add_setting_flags<M: Machine, const BITS: u32>(m: &mut M, i: Insn, a: M::Word) -> Done<M> {
    let (result, nzcv) = m.add_with_carry(BITS, a, M::Word::from(i.imm), M::Word::from(0));
    m.set_nzcv(nzcv);
    m.set_x(i.rd(), result);
    Ok(())
}

#[inline(always)]
fn sub_setting_flags<M: Machine, const BITS: u32>(m: &mut M, i: Insn, a: M::Word) -> Done<M> {
    let (result, nzcv) = m.add_with_carry(BITS, a, M::Word::from(!i.imm), M::Word::from(1));
    m.set_nzcv(nzcv);
    m.set_x(i.rd(), result);
    Ok(())
}
