//! Advanced SIMD copy: DUP, INS, SMOV, UMOV. DDI 0487 C4.1 "Advanced SIMD copy" and "Advanced SIMD scalar copy".

use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::simd::reserved::{dup, imm5_log2, smov, some_size, umov};
use crate::simd::{dup_element, element, replicate, set_scalar, set_vd, with_element};
use crate::spec::plain;
use crate::word::{Quad, Word};

crate::encodings! {
    "DUP_asimdins_DV_v" => "* {Vd.E}, {elem5n}";
    "DUP_asimdins_DR_r" => "* {Vd.E}, {Gn}";
    "SMOV_*_W_w" => "* {Wd}, {elem5n}";
    "SMOV_*_X_x" => "* {Xd}, {elem5n}";
    "UMOV_*_W_w" => "imm5low=4? mov {Wd}, {elem5n} | * {Wd}, {elem5n}";
    "UMOV_*_X_x" => "mov {Xd}, {elem5n}";
    "INS_*_IR_r" => "mov {elem5d}, {Gn}";
    "INS_*_IV_v" => "mov {elem5d}, {elem4n}";
    "DUP_asisdone_only" => "mov {Ed}, {elem5n}";
    DUP_asimdins_DV_v "0 Q 001110000 iiiii 000001 nnnnn ddddd" FEAT_AdvSIMD next dup => dup_vector;
    DUP_asimdins_DR_r "0 Q 001110000 iiiii 000011 nnnnn ddddd" FEAT_AdvSIMD next dup => dup_general;
    SMOV_asimdins_W_w "00001110000 iiiii 001011 nnnnn ddddd" FEAT_AdvSIMD next smov => move_signed::<M, 32>;
    UMOV_asimdins_W_w "00001110000 iiiii 001111 nnnnn ddddd" FEAT_AdvSIMD next umov => move_unsigned;
    INS_asimdins_IR_r "01001110000 iiiii 000111 nnnnn ddddd" FEAT_AdvSIMD next some_size => insert_general;
    SMOV_asimdins_X_x "01001110000 iiiii 001011 nnnnn ddddd" FEAT_AdvSIMD next smov => move_signed::<M, 64>;
    UMOV_asimdins_X_x "01001110000 i 1000001111 nnnnn ddddd" FEAT_AdvSIMD next plain => move_unsigned;
    INS_asimdins_IV_v "01101110000 iiiii 0 iiii 1 nnnnn ddddd" FEAT_AdvSIMD next some_size => insert_element;
    DUP_asisdone_only "01011110000 iiiii 000001 nnnnn ddddd" FEAT_AdvSIMD next some_size => dup_scalar;
}

/// The element's size, log2 of its bytes, and its index.
fn size_and_index(i: Insn) -> (u32, u32) {
    let log2 = imm5_log2(i.word());
    (log2, i.bits(20, 16) >> (log2 + 1))
}

fn dup_vector<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let (log2, index) = size_and_index(i);
    let n = m.q(i.rn());
    set_vd(m, i, dup_element(n, log2, index));
    Ok(())
}

fn dup_general<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let half = replicate(8 << imm5_log2(i.word()), m.x(i.rn()));
    set_vd(m, i, M::Quad::from_halves(half, half));
    Ok(())
}

fn dup_scalar<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let (log2, index) = size_and_index(i);
    let value = element(m.q(i.rn()), log2, index);
    set_scalar(m, i.rd(), 64, value);
    Ok(())
}

fn move_signed<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let (log2, index) = size_and_index(i);
    let value = element(m.q(i.rn()), log2, index).sext(8 << log2);
    m.set_x(i.rd(), value.zext(BITS));
    Ok(())
}

fn move_unsigned<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let (log2, index) = size_and_index(i);
    let value = element(m.q(i.rn()), log2, index);
    m.set_x(i.rd(), value);
    Ok(())
}

fn insert_general<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let (log2, index) = size_and_index(i);
    let (old, value) = (m.q(i.rd()), m.x(i.rn()));
    m.set_q(i.rd(), with_element(old, log2, index, value));
    Ok(())
}

fn insert_element<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let (log2, index) = size_and_index(i);
    let (old, n) = (m.q(i.rd()), m.q(i.rn()));
    let value = element(n, log2, i.bits(14, 11) >> log2);
    m.set_q(i.rd(), with_element(old, log2, index, value));
    Ok(())
}
