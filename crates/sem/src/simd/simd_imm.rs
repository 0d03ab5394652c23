//! Advanced SIMD modified immediate. DDI 0487 C4.1 "Advanced SIMD modified immediate", `AdvSIMDExpandImm`.

use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::simd::set_vd;
use crate::word::Quad;

crate::encodings! {
    "*_L_sl" => "* {Vd.Sq}, #{abcdefgh}{,lsl32}";
    "*_L_hl" => "* {Vd.Hq}, #{abcdefgh}{,lsl16}";
    "*_M_sm" => "* {Vd.Sq}, #{abcdefgh}, msl #{msl}";
    "*_N_b" => "* {Vd.Bq}, #{abcdefgh}";
    "FMOV_*_S_s" => "* {Vd.Sq}, #{vfimm}";
    "FMOV_*_H_h" => "* {Vd.Hq}, #{vfimm}";
    "FMOV_*_D2_d" => "* {Vd.2d}, #{vfimm}";
    "*_D_ds" => "* {Dd}, #{imm64}";
    "*_D2_d" => "* {Vd.2d}, #{imm64}";
    MOVI_asimdimm_L_sl "0 Q 00111100000 a b c 0 cc 001 d e f g h ddddd" FEAT_AdvSIMD next expand => move_immediate;
    ORR_asimdimm_L_sl  "0 Q 00111100000 a b c 0 cc 101 d e f g h ddddd" FEAT_AdvSIMD next expand => or_immediate;
    MOVI_asimdimm_L_hl "0 Q 00111100000 a b c 10 c 001 d e f g h ddddd" FEAT_AdvSIMD next expand => move_immediate;
    ORR_asimdimm_L_hl  "0 Q 00111100000 a b c 10 c 101 d e f g h ddddd" FEAT_AdvSIMD next expand => or_immediate;
    MOVI_asimdimm_M_sm "0 Q 00111100000 a b c 110 c 01 d e f g h ddddd" FEAT_AdvSIMD next expand => move_immediate;
    MOVI_asimdimm_N_b  "0 Q 00111100000 a b c 111001 d e f g h ddddd" FEAT_AdvSIMD next expand => move_immediate;
    FMOV_asimdimm_S_s  "0 Q 00111100000 a b c 111101 d e f g h ddddd" FEAT_AdvSIMD next expand => move_immediate;
    FMOV_asimdimm_H_h  "0 Q 00111100000 a b c 111111 d e f g h ddddd" FEAT_FP16 next fp16 => move_immediate;
    MVNI_asimdimm_L_sl "0 Q 10111100000 a b c 0 cc 001 d e f g h ddddd" FEAT_AdvSIMD next expand_not => move_immediate;
    BIC_asimdimm_L_sl  "0 Q 10111100000 a b c 0 cc 101 d e f g h ddddd" FEAT_AdvSIMD next expand_not => and_immediate;
    MVNI_asimdimm_L_hl "0 Q 10111100000 a b c 10 c 001 d e f g h ddddd" FEAT_AdvSIMD next expand_not => move_immediate;
    BIC_asimdimm_L_hl  "0 Q 10111100000 a b c 10 c 101 d e f g h ddddd" FEAT_AdvSIMD next expand_not => and_immediate;
    MVNI_asimdimm_M_sm "0 Q 10111100000 a b c 110 c 01 d e f g h ddddd" FEAT_AdvSIMD next expand_not => move_immediate;
    MOVI_asimdimm_D_ds "0010111100000 a b c 111001 d e f g h ddddd" FEAT_AdvSIMD next expand => move_immediate;
    MOVI_asimdimm_D2_d "0110111100000 a b c 111001 d e f g h ddddd" FEAT_AdvSIMD next expand => move_immediate;
    FMOV_asimdimm_D2_d "0110111100000 a b c 111101 d e f g h ddddd" FEAT_AdvSIMD next expand => move_immediate;
}

const fn imm8(word: u32) -> u64 {
    (word >> 11 & 0xe0 | word >> 5 & 0x1f) as u64
}

const fn twice(low: u64) -> u64 {
    low << 32 | low
}

/// The 64 bits that fill each half.
const fn expand(word: u32) -> Option<u64> {
    let (op, cmode, imm8) = (word >> 29 & 1, word >> 12 & 15, imm8(word));
    Some(match (cmode, op) {
        (0..8, _) => twice(imm8 << (cmode / 2 * 8)),
        (8..12, _) => {
            let low = imm8 << ((cmode - 8) / 2 * 8);
            twice(low << 16 | low)
        }
        (12, _) => twice(imm8 << 8 | 0xff),
        (13, _) => twice(imm8 << 16 | 0xffff),
        (14, 0) => imm8 * 0x0101_0101_0101_0101,
        (14, _) => {
            let (mut value, mut bit) = (0, 0);
            while bit < 8 {
                if imm8 >> bit & 1 == 1 {
                    value |= 0xff << (8 * bit);
                }
                bit += 1;
            }
            value
        }
        (_, 0) => twice(vfp_expand(32, imm8)),
        _ => vfp_expand(64, imm8),
    })
}

/// For MVNI and BIC.
const fn expand_not(word: u32) -> Option<u64> {
    match expand(word) {
        Some(value) => Some(!value),
        None => None,
    }
}

/// Half-precision FMOV.
const fn fp16(word: u32) -> Option<u64> {
    let low = vfp_expand(16, imm8(word));
    Some(twice(low << 16 | low))
}

/// `VFPExpandImm`: sign, exponent and 4 bits of fraction in 8 bits, as a number of `bits` bits.
pub(super) const fn vfp_expand(bits: u32, imm8: u64) -> u64 {
    let exponent_bits = match bits {
        16 => 5,
        32 => 8,
        _ => 11,
    };
    let fraction_bits = bits - exponent_bits - 1;
    let (sign, b) = (imm8 >> 7, imm8 >> 6 & 1);
    let repeated = if b == 1 { (1 << (exponent_bits - 3)) - 1 } else { 0 };
    let exponent = (b ^ 1) << (exponent_bits - 1) | repeated << 2 | imm8 >> 4 & 3;
    sign << (bits - 1) | exponent << fraction_bits | (imm8 & 15) << (fraction_bits - 4)
}

fn move_immediate<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let half = M::Word::from(i.imm);
    set_vd(m, i, M::Quad::from_halves(half, half));
    Ok(())
}

fn or_immediate<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let (old, imm) = (m.q(i.rd()), M::Word::from(i.imm));
    set_vd(m, i, M::Quad::from_halves(old.lo() | imm, old.hi() | imm));
    Ok(())
}

fn and_immediate<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let (old, imm) = (m.q(i.rd()), M::Word::from(i.imm));
    set_vd(m, i, M::Quad::from_halves(old.lo() & imm, old.hi() & imm));
    Ok(())
}
