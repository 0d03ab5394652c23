//! Integers, vector and scalar by indexed element: the element is copied into every lane of the operand, and the
//! work is that of the instruction without index. DDI 0487 C4.1 "Advanced SIMD vector x indexed element", "Advanced
//! SIMD scalar x indexed element".

use crate::insn::Insn;
use crate::machine::{Done, Machine, Pure};
use crate::simd::reserved::only_h_s;
use crate::simd::simd_diff::{SMLAL, SMLSL, SMULL, SQDMLAL, SQDMLSL, SQDMULL, UMLAL, UMLSL, UMULL};
use crate::simd::simd_same::{MLA, MLS, MUL, SQDMULH, SQRDMLAH, SQRDMLSH, SQRDMULH};
use crate::simd::{dup_element, form, is_scalar, part, set_vd, size};

crate::encodings! {
    "*_asimdelem_L" => "*{2} {Vd.Ta}, {Vn.T}, {elem}";
    "*_asimdelem_R" => "* {Vd.T}, {Vn.T}, {elem}";
    "*_asisdelem_L" => "* {Zwd}, {Zn}, {elem}";
    "*_asisdelem_R" => "* {Zd}, {Zn}, {elem}";
    SMLAL_asimdelem_L    "0 Q 001111 zz L M mmmm 0010 H 0 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| long(m, i, SMLAL[size(i)]);
    SQDMLAL_asimdelem_L  "0 Q 001111 zz L M mmmm 0011 H 0 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| long(m, i, SQDMLAL[usize::from(!is_scalar(i))][size(i) - 1]);
    SMLSL_asimdelem_L    "0 Q 001111 zz L M mmmm 0110 H 0 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| long(m, i, SMLSL[size(i)]);
    SQDMLSL_asimdelem_L  "0 Q 001111 zz L M mmmm 0111 H 0 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| long(m, i, SQDMLSL[usize::from(!is_scalar(i))][size(i) - 1]);
    MUL_asimdelem_R      "0 Q 001111 zz L M mmmm 1000 H 0 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| same(m, i, MUL[size(i)]);
    SMULL_asimdelem_L    "0 Q 001111 zz L M mmmm 1010 H 0 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| long(m, i, SMULL[size(i)]);
    SQDMULL_asimdelem_L  "0 Q 001111 zz L M mmmm 1011 H 0 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| long(m, i, SQDMULL[usize::from(!is_scalar(i))][size(i) - 1]);
    SQDMULH_asimdelem_R  "0 Q 001111 zz L M mmmm 1100 H 0 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| same(m, i, SQDMULH[form(i)][size(i) - 1]);
    SQRDMULH_asimdelem_R "0 Q 001111 zz L M mmmm 1101 H 0 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| same(m, i, SQRDMULH[form(i)][size(i) - 1]);
    MLA_asimdelem_R      "0 Q 101111 zz L M mmmm 0000 H 0 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| same(m, i, MLA[size(i)]);
    UMLAL_asimdelem_L    "0 Q 101111 zz L M mmmm 0010 H 0 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| long(m, i, UMLAL[size(i)]);
    MLS_asimdelem_R      "0 Q 101111 zz L M mmmm 0100 H 0 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| same(m, i, MLS[size(i)]);
    UMLSL_asimdelem_L    "0 Q 101111 zz L M mmmm 0110 H 0 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| long(m, i, UMLSL[size(i)]);
    UMULL_asimdelem_L    "0 Q 101111 zz L M mmmm 1010 H 0 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| long(m, i, UMULL[size(i)]);
    SQRDMLAH_asimdelem_R "0 Q 101111 zz L M mmmm 1101 H 0 nnnnn ddddd" FEAT_RDM next only_h_s => |m, i| same(m, i, SQRDMLAH[form(i)][size(i) - 1]);
    SQRDMLSH_asimdelem_R "0 Q 101111 zz L M mmmm 1111 H 0 nnnnn ddddd" FEAT_RDM next only_h_s => |m, i| same(m, i, SQRDMLSH[form(i)][size(i) - 1]);
    SQDMLAL_asisdelem_L  "01011111 zz L M mmmm 0011 H 0 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| long(m, i, SQDMLAL[usize::from(!is_scalar(i))][size(i) - 1]);
    SQDMLSL_asisdelem_L  "01011111 zz L M mmmm 0111 H 0 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| long(m, i, SQDMLSL[usize::from(!is_scalar(i))][size(i) - 1]);
    SQDMULL_asisdelem_L  "01011111 zz L M mmmm 1011 H 0 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| long(m, i, SQDMULL[usize::from(!is_scalar(i))][size(i) - 1]);
    SQDMULH_asisdelem_R  "01011111 zz L M mmmm 1100 H 0 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| same(m, i, SQDMULH[form(i)][size(i) - 1]);
    SQRDMULH_asisdelem_R "01011111 zz L M mmmm 1101 H 0 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| same(m, i, SQRDMULH[form(i)][size(i) - 1]);
    SQRDMLAH_asisdelem_R "01111111 zz L M mmmm 1101 H 0 nnnnn ddddd" FEAT_RDM next only_h_s => |m, i| same(m, i, SQRDMLAH[form(i)][size(i) - 1]);
    SQRDMLSH_asisdelem_R "01111111 zz L M mmmm 1111 H 0 nnnnn ddddd" FEAT_RDM next only_h_s => |m, i| same(m, i, SQRDMLSH[form(i)][size(i) - 1]);
}

/// The indexed element of Vm in every lane: of 16 bits by H:L:M and a register below 16, else of 32 bits by H:L, else
/// of 64 bits by H.
pub(super) fn indexed<M: Machine>(m: &mut M, i: Insn, log2: u32) -> M::Quad {
    let (h, l, high_m) = (i.bit(11), i.bit(21), i.bit(20));
    let (index, register) = match log2 {
        1 => (h << 2 | l << 1 | high_m, i.bits(19, 16)),
        2 => (h << 1 | l, i.rm()),
        _ => (h, i.rm()),
    };
    let source = m.q(register);
    dup_element(source, log2, index)
}

/// Vd = f(Vn, element, Vd).
fn same<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let operands = [m.q(i.rn()), indexed(m, i, size(i) as u32), m.q(i.rd())];
    let result = m.pure(f, operands);
    set_vd(m, i, result);
    Ok(())
}

/// Vd = f(half of Vn, element, Vd).
fn long<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let operands = [part(m, i, i.rn()), indexed(m, i, size(i) as u32), m.q(i.rd())];
    let result = m.pure(f, operands);
    m.set_q(i.rd(), result);
    Ok(())
}
