//! Floating-point moves and selections, which look at no value: FMOV between registers, from general-purpose ones and
//! back, immediate; FABS, FNEG, FCSEL. DDI 0487 C4.1 "Conversion between floating-point and integer", "Floating-point
//! data-processing (1 source)", "Floating-point immediate", "Floating-point conditional select".

use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::simd::set_scalar;
use crate::simd::simd_imm::vfp_expand;
use crate::spec::plain;
use crate::word::{Quad, Word};

crate::encodings! {
    "FMOV_64VX_*" => "* {Xd}, {Vn.d}[1]";
    "FMOV_V64I_*" => "* {Vd.d}[1], {Xn}";
    "FMOV_32*_float2int" => "* {Rd}, {Yn}";
    "FMOV_64*_float2int" => "* {Rd}, {Yn}";
    "*_float2int" => "* {Yd}, {Rn}";
    "*_floatdp1" => "* {Yd}, {Yn}";
    "*_floatimm" => "* {Yd}, #{fimm}";
    "*_floatsel" => "* {Yd}, {Yn}, {Ym}, {cond}";
    FMOV_32S_float2int  "0001111000100110000000 nnnnn ddddd" FEAT_FP next plain => to_general::<M, 32>;
    FMOV_S32_float2int  "0001111000100111000000 nnnnn ddddd" FEAT_FP next plain => from_general::<M, 32>;
    FMOV_32H_float2int  "0001111011100110000000 nnnnn ddddd" FEAT_FP16 next plain => to_general::<M, 16>;
    FMOV_H32_float2int  "0001111011100111000000 nnnnn ddddd" FEAT_FP16 next plain => from_general::<M, 16>;
    FMOV_64D_float2int  "1001111001100110000000 nnnnn ddddd" FEAT_FP next plain => to_general::<M, 64>;
    FMOV_D64_float2int  "1001111001100111000000 nnnnn ddddd" FEAT_FP next plain => from_general::<M, 64>;
    FMOV_64VX_float2int "1001111010101110000000 nnnnn ddddd" FEAT_FP next plain => from_upper;
    FMOV_V64I_float2int "1001111010101111000000 nnnnn ddddd" FEAT_FP next plain => to_upper;
    FMOV_64H_float2int  "1001111011100110000000 nnnnn ddddd" FEAT_FP16 next plain => to_general::<M, 16>;
    FMOV_H64_float2int  "1001111011100111000000 nnnnn ddddd" FEAT_FP16 next plain => from_general::<M, 16>;
    FMOV_S_floatdp1     "0001111000100000010000 nnnnn ddddd" FEAT_FP next plain => copy::<M, 32>;
    FABS_S_floatdp1     "0001111000100000110000 nnnnn ddddd" FEAT_FP next plain => abs::<M, 32>;
    FNEG_S_floatdp1     "0001111000100001010000 nnnnn ddddd" FEAT_FP next plain => neg::<M, 32>;
    FMOV_D_floatdp1     "0001111001100000010000 nnnnn ddddd" FEAT_FP next plain => copy::<M, 64>;
    FABS_D_floatdp1     "0001111001100000110000 nnnnn ddddd" FEAT_FP next plain => abs::<M, 64>;
    FNEG_D_floatdp1     "0001111001100001010000 nnnnn ddddd" FEAT_FP next plain => neg::<M, 64>;
    FMOV_H_floatdp1     "0001111011100000010000 nnnnn ddddd" FEAT_FP16 next plain => copy::<M, 16>;
    FABS_H_floatdp1     "0001111011100000110000 nnnnn ddddd" FEAT_FP16 next plain => abs::<M, 16>;
    FNEG_H_floatdp1     "0001111011100001010000 nnnnn ddddd" FEAT_FP16 next plain => neg::<M, 16>;
    FMOV_S_floatimm     "00011110001 iiiiiiii 10000000 ddddd" FEAT_FP next expand::<32> => immediate;
    FMOV_D_floatimm     "00011110011 iiiiiiii 10000000 ddddd" FEAT_FP next expand::<64> => immediate;
    FMOV_H_floatimm     "00011110111 iiiiiiii 10000000 ddddd" FEAT_FP16 next expand::<16> => immediate;
    FCSEL_S_floatsel    "00011110001 mmmmm cccc 11 nnnnn ddddd" FEAT_FP next plain => select::<M, 32>;
    FCSEL_D_floatsel    "00011110011 mmmmm cccc 11 nnnnn ddddd" FEAT_FP next plain => select::<M, 64>;
    FCSEL_H_floatsel    "00011110111 mmmmm cccc 11 nnnnn ddddd" FEAT_FP16 next plain => select::<M, 16>;
}

fn from_upper<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let value = m.q(i.rn()).hi();
    m.set_x(i.rd(), value);
    Ok(())
}

fn to_upper<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let (low, value) = (m.q(i.rd()).lo(), m.x(i.rn()));
    m.set_q(i.rd(), M::Quad::from_halves(low, value));
    Ok(())
}

fn to_general<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let value = m.q(i.rn()).lo().zext(BITS);
    m.set_x(i.rd(), value);
    Ok(())
}

fn from_general<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let value = m.x(i.rn());
    set_scalar(m, i.rd(), BITS, value);
    Ok(())
}

fn copy<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let value = m.q(i.rn()).lo();
    set_scalar(m, i.rd(), BITS, value);
    Ok(())
}

/// The sign is cleared, of NaNs too (FPCR.AH, of FEAT_AFP, which would spare them, is absent).
fn abs<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let value = m.q(i.rn()).lo().zext(BITS - 1);
    set_scalar(m, i.rd(), BITS, value);
    Ok(())
}

/// The sign is inverted, of NaNs too.
fn neg<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let value = m.q(i.rn()).lo() ^ M::Word::from(1 << (BITS - 1));
    set_scalar(m, i.rd(), BITS, value);
    Ok(())
}

fn expand<const BITS: u32>(word: u32) -> Option<u64> {
    Some(vfp_expand(BITS, u64::from(word >> 13 & 255)))
}

fn immediate<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    set_scalar(m, i.rd(), 64, M::Word::from(i.imm));
    Ok(())
}

fn select<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let (then, other) = (m.q(i.rn()).lo(), m.q(i.rm()).lo());
    let value = m.condition(i.bits(15, 12)).select(then, other);
    set_scalar(m, i.rd(), BITS, value);
    Ok(())
}
