//! Floating point of one operand within a format: square root, rounding to integral, estimates, comparison with zero,
//! absolute value, negation; scalar and vector. DDI 0487 C4.1 "Floating-point data-processing (1 source)", "Advanced SIMD
//! two-register miscellaneous", "(FP16)", and their scalar forms.

use crate::fp::convert::{Exact, round_int, round_int_n};
use crate::fp::{Format, FpEnv, Rounding, arith, estimate};
use crate::insn::Insn;
use crate::machine::{Done, Machine, Pure};
use crate::simd::fp_lanes::{FpForms, each1};
use crate::simd::fp_pures::{DOUBLE, FCMEQ, FCMGE, FCMGT, HALF, SINGLE, sz};
use crate::simd::fp_reserved::{fp_no_1d, fp_only_s};
use crate::simd::lanes::Lane;
use crate::simd::{constant, form, replicate, set_vd, unary};
use crate::spec::plain;
use crate::word::Quad;

crate::encodings! {
    "*_floatdp1" => "* {Yd}, {Yn}";
    "*_asimdmisc_FZ" => "* {Vd.F}, {Vn.F}, #0.0";
    "*_asimdmisc_R" => "* {Vd.F}, {Vn.F}";
    "*_asimdmiscfp16_FZ" => "* {Vd.Hq}, {Vn.Hq}, #0.0";
    "*_asimdmiscfp16_R" => "* {Vd.Hq}, {Vn.Hq}";
    "*_asisdmisc_FZ" => "* {Fd}, {Fn}, #0.0";
    "*_asisdmisc_R" => "* {Fd}, {Fn}";
    "*_asisdmiscfp16_FZ" => "* {Hd}, {Hn}, #0.0";
    "*_asisdmiscfp16_R" => "* {Hd}, {Hn}";
    FSQRT_S_floatdp1        "0001111000100001110000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FSQRT[0][SINGLE]);
    FRINTN_S_floatdp1       "0001111000100100010000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FRINTN[0][SINGLE]);
    FRINTP_S_floatdp1       "0001111000100100110000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FRINTP[0][SINGLE]);
    FRINTM_S_floatdp1       "0001111000100101010000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FRINTM[0][SINGLE]);
    FRINTZ_S_floatdp1       "0001111000100101110000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FRINTZ[0][SINGLE]);
    FRINTA_S_floatdp1       "0001111000100110010000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FRINTA[0][SINGLE]);
    FRINTX_S_floatdp1       "0001111000100111010000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FRINTX[0][SINGLE]);
    FRINTI_S_floatdp1       "0001111000100111110000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FRINTI[0][SINGLE]);
    FRINT32Z_S_floatdp1     "0001111000101000010000 nnnnn ddddd" FEAT_FRINTTS next plain => |m, i| unary(m, i, FRINT32Z[0][SINGLE]);
    FRINT32X_S_floatdp1     "0001111000101000110000 nnnnn ddddd" FEAT_FRINTTS next plain => |m, i| unary(m, i, FRINT32X[0][SINGLE]);
    FRINT64Z_S_floatdp1     "0001111000101001010000 nnnnn ddddd" FEAT_FRINTTS next plain => |m, i| unary(m, i, FRINT64Z[0][SINGLE]);
    FRINT64X_S_floatdp1     "0001111000101001110000 nnnnn ddddd" FEAT_FRINTTS next plain => |m, i| unary(m, i, FRINT64X[0][SINGLE]);
    FSQRT_D_floatdp1        "0001111001100001110000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FSQRT[0][DOUBLE]);
    FRINTN_D_floatdp1       "0001111001100100010000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FRINTN[0][DOUBLE]);
    FRINTP_D_floatdp1       "0001111001100100110000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FRINTP[0][DOUBLE]);
    FRINTM_D_floatdp1       "0001111001100101010000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FRINTM[0][DOUBLE]);
    FRINTZ_D_floatdp1       "0001111001100101110000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FRINTZ[0][DOUBLE]);
    FRINTA_D_floatdp1       "0001111001100110010000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FRINTA[0][DOUBLE]);
    FRINTX_D_floatdp1       "0001111001100111010000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FRINTX[0][DOUBLE]);
    FRINTI_D_floatdp1       "0001111001100111110000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FRINTI[0][DOUBLE]);
    FRINT32Z_D_floatdp1     "0001111001101000010000 nnnnn ddddd" FEAT_FRINTTS next plain => |m, i| unary(m, i, FRINT32Z[0][DOUBLE]);
    FRINT32X_D_floatdp1     "0001111001101000110000 nnnnn ddddd" FEAT_FRINTTS next plain => |m, i| unary(m, i, FRINT32X[0][DOUBLE]);
    FRINT64Z_D_floatdp1     "0001111001101001010000 nnnnn ddddd" FEAT_FRINTTS next plain => |m, i| unary(m, i, FRINT64Z[0][DOUBLE]);
    FRINT64X_D_floatdp1     "0001111001101001110000 nnnnn ddddd" FEAT_FRINTTS next plain => |m, i| unary(m, i, FRINT64X[0][DOUBLE]);
    FSQRT_H_floatdp1        "0001111011100001110000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FSQRT[0][HALF]);
    FRINTN_H_floatdp1       "0001111011100100010000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FRINTN[0][HALF]);
    FRINTP_H_floatdp1       "0001111011100100110000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FRINTP[0][HALF]);
    FRINTM_H_floatdp1       "0001111011100101010000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FRINTM[0][HALF]);
    FRINTZ_H_floatdp1       "0001111011100101110000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FRINTZ[0][HALF]);
    FRINTA_H_floatdp1       "0001111011100110010000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FRINTA[0][HALF]);
    FRINTX_H_floatdp1       "0001111011100111010000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FRINTX[0][HALF]);
    FRINTI_H_floatdp1       "0001111011100111110000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FRINTI[0][HALF]);
    FRINTN_asimdmisc_R      "0 Q 0011100 s 100001100010 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| unary(m, i, FRINTN[form(i)][sz(i)]);
    FRINTM_asimdmisc_R      "0 Q 0011100 s 100001100110 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| unary(m, i, FRINTM[form(i)][sz(i)]);
    FRINT32Z_asimdmisc_R    "0 Q 0011100 s 100001111010 nnnnn ddddd" FEAT_FRINTTS next fp_no_1d => |m, i| unary(m, i, FRINT32Z[form(i)][sz(i)]);
    FRINT64Z_asimdmisc_R    "0 Q 0011100 s 100001111110 nnnnn ddddd" FEAT_FRINTTS next fp_no_1d => |m, i| unary(m, i, FRINT64Z[form(i)][sz(i)]);
    FCMGT_asimdmisc_FZ      "0 Q 0011101 s 100000110010 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| unary(m, i, FCMGT[form(i)][sz(i)]);
    FCMEQ_asimdmisc_FZ      "0 Q 0011101 s 100000110110 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| unary(m, i, FCMEQ[form(i)][sz(i)]);
    FCMLT_asimdmisc_FZ      "0 Q 0011101 s 100000111010 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| zero_with(m, i, FCMGT[form(i)][sz(i)]);
    FABS_asimdmisc_R        "0 Q 0011101 s 100000111110 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| signs(m, i, 32 << i.bit(22), |value, signs| value & !signs);
    FRINTP_asimdmisc_R      "0 Q 0011101 s 100001100010 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| unary(m, i, FRINTP[form(i)][sz(i)]);
    FRINTZ_asimdmisc_R      "0 Q 0011101 s 100001100110 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| unary(m, i, FRINTZ[form(i)][sz(i)]);
    URECPE_asimdmisc_R      "0 Q 0011101 s 100001110010 nnnnn ddddd" FEAT_AdvSIMD next fp_only_s => |m, i| unary(m, i, URECPE);
    FRECPE_asimdmisc_R      "0 Q 0011101 s 100001110110 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| unary(m, i, FRECPE[form(i)][sz(i)]);
    FRINTA_asimdmisc_R      "0 Q 1011100 s 100001100010 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| unary(m, i, FRINTA[form(i)][sz(i)]);
    FRINTX_asimdmisc_R      "0 Q 1011100 s 100001100110 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| unary(m, i, FRINTX[form(i)][sz(i)]);
    FRINT32X_asimdmisc_R    "0 Q 1011100 s 100001111010 nnnnn ddddd" FEAT_FRINTTS next fp_no_1d => |m, i| unary(m, i, FRINT32X[form(i)][sz(i)]);
    FRINT64X_asimdmisc_R    "0 Q 1011100 s 100001111110 nnnnn ddddd" FEAT_FRINTTS next fp_no_1d => |m, i| unary(m, i, FRINT64X[form(i)][sz(i)]);
    FCMGE_asimdmisc_FZ      "0 Q 1011101 s 100000110010 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| unary(m, i, FCMGE[form(i)][sz(i)]);
    FCMLE_asimdmisc_FZ      "0 Q 1011101 s 100000110110 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| zero_with(m, i, FCMGE[form(i)][sz(i)]);
    FNEG_asimdmisc_R        "0 Q 1011101 s 100000111110 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| signs(m, i, 32 << i.bit(22), |value, signs| value ^ signs);
    FRINTI_asimdmisc_R      "0 Q 1011101 s 100001100110 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| unary(m, i, FRINTI[form(i)][sz(i)]);
    URSQRTE_asimdmisc_R     "0 Q 1011101 s 100001110010 nnnnn ddddd" FEAT_AdvSIMD next fp_only_s => |m, i| unary(m, i, URSQRTE);
    FRSQRTE_asimdmisc_R     "0 Q 1011101 s 100001110110 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| unary(m, i, FRSQRTE[form(i)][sz(i)]);
    FSQRT_asimdmisc_R       "0 Q 1011101 s 100001111110 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| unary(m, i, FSQRT[form(i)][sz(i)]);
    FRINTN_asimdmiscfp16_R  "0 Q 00111001111001100010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FRINTN[form(i)][HALF]);
    FRINTM_asimdmiscfp16_R  "0 Q 00111001111001100110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FRINTM[form(i)][HALF]);
    FCMGT_asimdmiscfp16_FZ  "0 Q 00111011111000110010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FCMGT[form(i)][HALF]);
    FCMEQ_asimdmiscfp16_FZ  "0 Q 00111011111000110110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FCMEQ[form(i)][HALF]);
    FCMLT_asimdmiscfp16_FZ  "0 Q 00111011111000111010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| zero_with(m, i, FCMGT[form(i)][HALF]);
    FABS_asimdmiscfp16_R    "0 Q 00111011111000111110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| signs(m, i, 16, |value, signs| value & !signs);
    FRINTP_asimdmiscfp16_R  "0 Q 00111011111001100010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FRINTP[form(i)][HALF]);
    FRINTZ_asimdmiscfp16_R  "0 Q 00111011111001100110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FRINTZ[form(i)][HALF]);
    FRECPE_asimdmiscfp16_R  "0 Q 00111011111001110110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FRECPE[form(i)][HALF]);
    FRINTA_asimdmiscfp16_R  "0 Q 10111001111001100010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FRINTA[form(i)][HALF]);
    FRINTX_asimdmiscfp16_R  "0 Q 10111001111001100110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FRINTX[form(i)][HALF]);
    FCMGE_asimdmiscfp16_FZ  "0 Q 10111011111000110010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FCMGE[form(i)][HALF]);
    FCMLE_asimdmiscfp16_FZ  "0 Q 10111011111000110110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| zero_with(m, i, FCMGE[form(i)][HALF]);
    FNEG_asimdmiscfp16_R    "0 Q 10111011111000111110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| signs(m, i, 16, |value, signs| value ^ signs);
    FRINTI_asimdmiscfp16_R  "0 Q 10111011111001100110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FRINTI[form(i)][HALF]);
    FRSQRTE_asimdmiscfp16_R "0 Q 10111011111001110110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FRSQRTE[form(i)][HALF]);
    FSQRT_asimdmiscfp16_R   "0 Q 10111011111001111110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FSQRT[form(i)][HALF]);
    FCMGT_asisdmisc_FZ      "010111101 s 100000110010 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| unary(m, i, FCMGT[form(i)][sz(i)]);
    FCMEQ_asisdmisc_FZ      "010111101 s 100000110110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| unary(m, i, FCMEQ[form(i)][sz(i)]);
    FCMLT_asisdmisc_FZ      "010111101 s 100000111010 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| zero_with(m, i, FCMGT[form(i)][sz(i)]);
    FRECPE_asisdmisc_R      "010111101 s 100001110110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| unary(m, i, FRECPE[0][sz(i)]);
    FRECPX_asisdmisc_R      "010111101 s 100001111110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| unary(m, i, FRECPX[0][sz(i)]);
    FCMGE_asisdmisc_FZ      "011111101 s 100000110010 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| unary(m, i, FCMGE[form(i)][sz(i)]);
    FCMLE_asisdmisc_FZ      "011111101 s 100000110110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| zero_with(m, i, FCMGE[form(i)][sz(i)]);
    FRSQRTE_asisdmisc_R     "011111101 s 100001110110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| unary(m, i, FRSQRTE[0][sz(i)]);
    FCMGT_asisdmiscfp16_FZ  "0101111011111000110010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FCMGT[form(i)][HALF]);
    FCMEQ_asisdmiscfp16_FZ  "0101111011111000110110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FCMEQ[form(i)][HALF]);
    FCMLT_asisdmiscfp16_FZ  "0101111011111000111010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| zero_with(m, i, FCMGT[form(i)][HALF]);
    FRECPE_asisdmiscfp16_R  "0101111011111001110110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FRECPE[form(i)][HALF]);
    FRECPX_asisdmiscfp16_R  "0101111011111001111110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FRECPX[form(i)][HALF]);
    FCMGE_asisdmiscfp16_FZ  "0111111011111000110010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FCMGE[form(i)][HALF]);
    FCMLE_asisdmiscfp16_FZ  "0111111011111000110110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| zero_with(m, i, FCMGE[form(i)][HALF]);
    FRSQRTE_asisdmiscfp16_R "0111111011111001110110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FRSQRTE[form(i)][HALF]);
}

/// Vd = f(0, Vn).
fn zero_with<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let (n, zero) = (m.q(i.rn()), constant::<M>(0));
    let result = m.pure(f, [zero, n, zero]);
    set_vd(m, i, result);
    Ok(())
}

/// Each half of Vd = f(half of Vn, the signs of elements of `bits` bits).
fn signs<M: Machine>(m: &mut M, i: Insn, bits: u32, f: impl Fn(M::Word, M::Word) -> M::Word) -> Done<M> {
    m.check_fp()?;
    let (n, signs) = (m.q(i.rn()), replicate(bits, M::Word::from(1 << (bits - 1))));
    set_vd(m, i, M::Quad::from_halves(f(n.lo(), signs), f(n.hi(), signs)));
    Ok(())
}

/// Rounding to integral by that mode.
fn integral<F: Format>(env: &mut FpEnv, value: u64, mode: Rounding) -> u64 {
    round_int::<F>(env, value, mode, Exact::Silent)
}

const FSQRT: FpForms = fp_forms!("FSQRT", each1, arith::sqrt::<F>);
const FRINTN: FpForms = fp_forms!("FRINTN", each1, |env, x| integral::<F>(env, x, Rounding::TieEven));
const FRINTP: FpForms = fp_forms!("FRINTP", each1, |env, x| integral::<F>(env, x, Rounding::PlusInfinity));
const FRINTM: FpForms = fp_forms!("FRINTM", each1, |env, x| integral::<F>(env, x, Rounding::MinusInfinity));
const FRINTZ: FpForms = fp_forms!("FRINTZ", each1, |env, x| integral::<F>(env, x, Rounding::Zero));
const FRINTA: FpForms = fp_forms!("FRINTA", each1, |env, x| integral::<F>(env, x, Rounding::TieAway));
const FRINTI: FpForms = fp_forms!("FRINTI", each1, |env, x| integral::<F>(env, x, Rounding::of(env.fpcr)));
const FRINTX: FpForms =
    fp_forms!("FRINTX", each1, |env, x| round_int::<F>(env, x, Rounding::of(env.fpcr), Exact::Flagged));
const FRINT32Z: FpForms = fp_forms!("FRINT32Z", each1, |env, x| round_int_n::<F>(env, x, Rounding::Zero, 32));
const FRINT64Z: FpForms = fp_forms!("FRINT64Z", each1, |env, x| round_int_n::<F>(env, x, Rounding::Zero, 64));
const FRINT32X: FpForms = fp_forms!("FRINT32X", each1, |env, x| round_int_n::<F>(env, x, Rounding::of(env.fpcr), 32));
const FRINT64X: FpForms = fp_forms!("FRINT64X", each1, |env, x| round_int_n::<F>(env, x, Rounding::of(env.fpcr), 64));
const FRECPE: FpForms = fp_forms!("FRECPE", each1, estimate::recip_estimate::<F>);
const FRSQRTE: FpForms = fp_forms!("FRSQRTE", each1, estimate::rsqrt_estimate::<F>);
const FRECPX: FpForms = fp_forms!("FRECPX", each1, estimate::recip_exponent::<F>);
const URECPE: Pure = Pure { name: "URECPE", run: |_, [a, ..]| u32::map(a, estimate::unsigned_recip) };
const URSQRTE: Pure = Pure { name: "URSQRTE", run: |_, [a, ..]| u32::map(a, estimate::unsigned_rsqrt) };
