//! Vector floating-point arithmetic and comparison, and the scalar forms of the Advanced SIMD group. DDI 0487 C4.1
//! "Advanced SIMD three same", "three same (FP16)", "vector x indexed element", "across lanes", and their scalar
//! forms, "scalar pairwise".

use crate::insn::Insn;
use crate::machine::{Done, Machine, Pure};
use crate::simd::fp_lanes::FpForms;
use crate::simd::fp_pures::{
    FABD, FACGE, FACGT, FADD, FADD_PAIR, FADDP, FCMEQ, FCMGE, FCMGT, FDIV, FMAX, FMAX_PAIR, FMAXNM, FMAXNM_PAIR,
    FMAXNMP, FMAXNMV, FMAXP, FMAXV, FMIN, FMIN_PAIR, FMINNM, FMINNM_PAIR, FMINNMP, FMINNMV, FMINP, FMINV, FMLA, FMLS,
    FMUL, FMULX, FRECPS, FRSQRTS, FSUB, HALF, SINGLE, sz,
};
use crate::simd::fp_reserved::{fp_by_element, fp_no_1d};
use crate::simd::simd_elem::indexed;
use crate::simd::{binary, constant, form, set_scalar, set_vd, ternary, unary};
use crate::spec::plain;
use crate::word::Quad;

crate::encodings! {
    "*_asimdall_only_H" => "* {Hd}, {Vn.Hq}";
    "*_asimdall_only_SD" => "* {Sd}, {Vn.4s}";
    "*_asimdelem_RH_H" => "* {Vd.Hq}, {Vn.Hq}, {elemh}";
    "*_asimdelem_R_SD" => "* {Vd.F}, {Vn.F}, {elemf}";
    "*_asimdsame_only" => "* {Vd.F}, {Vn.F}, {Vm.F}";
    "*_asimdsamefp16_only" => "* {Vd.Hq}, {Vn.Hq}, {Vm.Hq}";
    "*_asisdelem_RH_H" => "* {Hd}, {Hn}, {elemh}";
    "*_asisdelem_R_SD" => "* {Fd}, {Fn}, {elemf}";
    "*_asisdpair_only_H" => "* {Hd}, {Vn.2h}";
    "*_asisdpair_only_SD" => "sz=0? * {Sd}, {Vn.2s} | * {Dd}, {Vn.2d}";
    "*_asisdsame_only" => "* {Fd}, {Fn}, {Fm}";
    "*_asisdsamefp16_only" => "* {Hd}, {Hn}, {Hm}";
    FMAXNM_asimdsame_only      "0 Q 0011100 s 1 mmmmm 110001 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| binary(m, i, FMAXNM[form(i)][sz(i)]);
    FMLA_asimdsame_only        "0 Q 0011100 s 1 mmmmm 110011 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| ternary(m, i, FMLA[form(i)][sz(i)]);
    FADD_asimdsame_only        "0 Q 0011100 s 1 mmmmm 110101 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| binary(m, i, FADD[form(i)][sz(i)]);
    FMULX_asimdsame_only       "0 Q 0011100 s 1 mmmmm 110111 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| binary(m, i, FMULX[form(i)][sz(i)]);
    FCMEQ_asimdsame_only       "0 Q 0011100 s 1 mmmmm 111001 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| binary(m, i, FCMEQ[form(i)][sz(i)]);
    FMAX_asimdsame_only        "0 Q 0011100 s 1 mmmmm 111101 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| binary(m, i, FMAX[form(i)][sz(i)]);
    FRECPS_asimdsame_only      "0 Q 0011100 s 1 mmmmm 111111 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| binary(m, i, FRECPS[form(i)][sz(i)]);
    FMINNM_asimdsame_only      "0 Q 0011101 s 1 mmmmm 110001 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| binary(m, i, FMINNM[form(i)][sz(i)]);
    FMLS_asimdsame_only        "0 Q 0011101 s 1 mmmmm 110011 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| ternary(m, i, FMLS[form(i)][sz(i)]);
    FSUB_asimdsame_only        "0 Q 0011101 s 1 mmmmm 110101 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| binary(m, i, FSUB[form(i)][sz(i)]);
    FMIN_asimdsame_only        "0 Q 0011101 s 1 mmmmm 111101 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| binary(m, i, FMIN[form(i)][sz(i)]);
    FRSQRTS_asimdsame_only     "0 Q 0011101 s 1 mmmmm 111111 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| binary(m, i, FRSQRTS[form(i)][sz(i)]);
    FMAXNMP_asimdsame_only     "0 Q 1011100 s 1 mmmmm 110001 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| pairwise(m, i, &FMAXNMP, sz(i));
    FADDP_asimdsame_only       "0 Q 1011100 s 1 mmmmm 110101 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| pairwise(m, i, &FADDP, sz(i));
    FMUL_asimdsame_only        "0 Q 1011100 s 1 mmmmm 110111 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| binary(m, i, FMUL[form(i)][sz(i)]);
    FCMGE_asimdsame_only       "0 Q 1011100 s 1 mmmmm 111001 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| binary(m, i, FCMGE[form(i)][sz(i)]);
    FACGE_asimdsame_only       "0 Q 1011100 s 1 mmmmm 111011 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| binary(m, i, FACGE[form(i)][sz(i)]);
    FMAXP_asimdsame_only       "0 Q 1011100 s 1 mmmmm 111101 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| pairwise(m, i, &FMAXP, sz(i));
    FDIV_asimdsame_only        "0 Q 1011100 s 1 mmmmm 111111 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| binary(m, i, FDIV[form(i)][sz(i)]);
    FMINNMP_asimdsame_only     "0 Q 1011101 s 1 mmmmm 110001 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| pairwise(m, i, &FMINNMP, sz(i));
    FABD_asimdsame_only        "0 Q 1011101 s 1 mmmmm 110101 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| binary(m, i, FABD[form(i)][sz(i)]);
    FCMGT_asimdsame_only       "0 Q 1011101 s 1 mmmmm 111001 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| binary(m, i, FCMGT[form(i)][sz(i)]);
    FACGT_asimdsame_only       "0 Q 1011101 s 1 mmmmm 111011 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| binary(m, i, FACGT[form(i)][sz(i)]);
    FMINP_asimdsame_only       "0 Q 1011101 s 1 mmmmm 111101 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| pairwise(m, i, &FMINP, sz(i));
    FMULX_asisdsame_only       "010111100 s 1 mmmmm 110111 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, FMULX[form(i)][sz(i)]);
    FCMEQ_asisdsame_only       "010111100 s 1 mmmmm 111001 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, FCMEQ[form(i)][sz(i)]);
    FRECPS_asisdsame_only      "010111100 s 1 mmmmm 111111 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, FRECPS[form(i)][sz(i)]);
    FRSQRTS_asisdsame_only     "010111101 s 1 mmmmm 111111 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, FRSQRTS[form(i)][sz(i)]);
    FCMGE_asisdsame_only       "011111100 s 1 mmmmm 111001 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, FCMGE[form(i)][sz(i)]);
    FACGE_asisdsame_only       "011111100 s 1 mmmmm 111011 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, FACGE[form(i)][sz(i)]);
    FABD_asisdsame_only        "011111101 s 1 mmmmm 110101 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, FABD[form(i)][sz(i)]);
    FCMGT_asisdsame_only       "011111101 s 1 mmmmm 111001 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, FCMGT[form(i)][sz(i)]);
    FACGT_asisdsame_only       "011111101 s 1 mmmmm 111011 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, FACGT[form(i)][sz(i)]);
    FMAXNM_asimdsamefp16_only  "0 Q 001110010 mmmmm 000001 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FMAXNM[form(i)][HALF]);
    FMLA_asimdsamefp16_only    "0 Q 001110010 mmmmm 000011 nnnnn ddddd" FEAT_FP16 next plain => |m, i| ternary(m, i, FMLA[form(i)][HALF]);
    FADD_asimdsamefp16_only    "0 Q 001110010 mmmmm 000101 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FADD[form(i)][HALF]);
    FMULX_asimdsamefp16_only   "0 Q 001110010 mmmmm 000111 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FMULX[form(i)][HALF]);
    FCMEQ_asimdsamefp16_only   "0 Q 001110010 mmmmm 001001 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FCMEQ[form(i)][HALF]);
    FMAX_asimdsamefp16_only    "0 Q 001110010 mmmmm 001101 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FMAX[form(i)][HALF]);
    FRECPS_asimdsamefp16_only  "0 Q 001110010 mmmmm 001111 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FRECPS[form(i)][HALF]);
    FMINNM_asimdsamefp16_only  "0 Q 001110110 mmmmm 000001 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FMINNM[form(i)][HALF]);
    FMLS_asimdsamefp16_only    "0 Q 001110110 mmmmm 000011 nnnnn ddddd" FEAT_FP16 next plain => |m, i| ternary(m, i, FMLS[form(i)][HALF]);
    FSUB_asimdsamefp16_only    "0 Q 001110110 mmmmm 000101 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FSUB[form(i)][HALF]);
    FMIN_asimdsamefp16_only    "0 Q 001110110 mmmmm 001101 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FMIN[form(i)][HALF]);
    FRSQRTS_asimdsamefp16_only "0 Q 001110110 mmmmm 001111 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FRSQRTS[form(i)][HALF]);
    FMAXNMP_asimdsamefp16_only "0 Q 101110010 mmmmm 000001 nnnnn ddddd" FEAT_FP16 next plain => |m, i| pairwise(m, i, &FMAXNMP, HALF);
    FADDP_asimdsamefp16_only   "0 Q 101110010 mmmmm 000101 nnnnn ddddd" FEAT_FP16 next plain => |m, i| pairwise(m, i, &FADDP, HALF);
    FMUL_asimdsamefp16_only    "0 Q 101110010 mmmmm 000111 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FMUL[form(i)][HALF]);
    FCMGE_asimdsamefp16_only   "0 Q 101110010 mmmmm 001001 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FCMGE[form(i)][HALF]);
    FACGE_asimdsamefp16_only   "0 Q 101110010 mmmmm 001011 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FACGE[form(i)][HALF]);
    FMAXP_asimdsamefp16_only   "0 Q 101110010 mmmmm 001101 nnnnn ddddd" FEAT_FP16 next plain => |m, i| pairwise(m, i, &FMAXP, HALF);
    FDIV_asimdsamefp16_only    "0 Q 101110010 mmmmm 001111 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FDIV[form(i)][HALF]);
    FMINNMP_asimdsamefp16_only "0 Q 101110110 mmmmm 000001 nnnnn ddddd" FEAT_FP16 next plain => |m, i| pairwise(m, i, &FMINNMP, HALF);
    FABD_asimdsamefp16_only    "0 Q 101110110 mmmmm 000101 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FABD[form(i)][HALF]);
    FCMGT_asimdsamefp16_only   "0 Q 101110110 mmmmm 001001 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FCMGT[form(i)][HALF]);
    FACGT_asimdsamefp16_only   "0 Q 101110110 mmmmm 001011 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FACGT[form(i)][HALF]);
    FMINP_asimdsamefp16_only   "0 Q 101110110 mmmmm 001101 nnnnn ddddd" FEAT_FP16 next plain => |m, i| pairwise(m, i, &FMINP, HALF);
    FMULX_asisdsamefp16_only   "01011110010 mmmmm 000111 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FMULX[form(i)][HALF]);
    FCMEQ_asisdsamefp16_only   "01011110010 mmmmm 001001 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FCMEQ[form(i)][HALF]);
    FRECPS_asisdsamefp16_only  "01011110010 mmmmm 001111 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FRECPS[form(i)][HALF]);
    FRSQRTS_asisdsamefp16_only "01011110110 mmmmm 001111 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FRSQRTS[form(i)][HALF]);
    FCMGE_asisdsamefp16_only   "01111110010 mmmmm 001001 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FCMGE[form(i)][HALF]);
    FACGE_asisdsamefp16_only   "01111110010 mmmmm 001011 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FACGE[form(i)][HALF]);
    FABD_asisdsamefp16_only    "01111110110 mmmmm 000101 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FABD[form(i)][HALF]);
    FCMGT_asisdsamefp16_only   "01111110110 mmmmm 001001 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FCMGT[form(i)][HALF]);
    FACGT_asisdsamefp16_only   "01111110110 mmmmm 001011 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FACGT[form(i)][HALF]);
    FMLA_asimdelem_RH_H        "0 Q 00111100 L M mmmm 0001 H 0 nnnnn ddddd" FEAT_FP16 next plain => |m, i| by_element(m, i, FMLA[form(i)][HALF], 1);
    FMLS_asimdelem_RH_H        "0 Q 00111100 L M mmmm 0101 H 0 nnnnn ddddd" FEAT_FP16 next plain => |m, i| by_element(m, i, FMLS[form(i)][HALF], 1);
    FMUL_asimdelem_RH_H        "0 Q 00111100 L M mmmm 1001 H 0 nnnnn ddddd" FEAT_FP16 next plain => |m, i| by_element(m, i, FMUL[form(i)][HALF], 1);
    FMLA_asimdelem_R_SD        "0 Q 0011111 s L M mmmm 0001 H 0 nnnnn ddddd" FEAT_AdvSIMD next fp_by_element => |m, i| by_element(m, i, FMLA[form(i)][sz(i)], 2 + i.bit(22));
    FMLS_asimdelem_R_SD        "0 Q 0011111 s L M mmmm 0101 H 0 nnnnn ddddd" FEAT_AdvSIMD next fp_by_element => |m, i| by_element(m, i, FMLS[form(i)][sz(i)], 2 + i.bit(22));
    FMUL_asimdelem_R_SD        "0 Q 0011111 s L M mmmm 1001 H 0 nnnnn ddddd" FEAT_AdvSIMD next fp_by_element => |m, i| by_element(m, i, FMUL[form(i)][sz(i)], 2 + i.bit(22));
    FMULX_asimdelem_RH_H       "0 Q 10111100 L M mmmm 1001 H 0 nnnnn ddddd" FEAT_FP16 next plain => |m, i| by_element(m, i, FMULX[form(i)][HALF], 1);
    FMULX_asimdelem_R_SD       "0 Q 1011111 s L M mmmm 1001 H 0 nnnnn ddddd" FEAT_AdvSIMD next fp_by_element => |m, i| by_element(m, i, FMULX[form(i)][sz(i)], 2 + i.bit(22));
    FMLA_asisdelem_RH_H        "0101111100 L M mmmm 0001 H 0 nnnnn ddddd" FEAT_FP16 next plain => |m, i| by_element(m, i, FMLA[form(i)][HALF], 1);
    FMLS_asisdelem_RH_H        "0101111100 L M mmmm 0101 H 0 nnnnn ddddd" FEAT_FP16 next plain => |m, i| by_element(m, i, FMLS[form(i)][HALF], 1);
    FMUL_asisdelem_RH_H        "0101111100 L M mmmm 1001 H 0 nnnnn ddddd" FEAT_FP16 next plain => |m, i| by_element(m, i, FMUL[form(i)][HALF], 1);
    FMLA_asisdelem_R_SD        "010111111 s L M mmmm 0001 H 0 nnnnn ddddd" FEAT_AdvSIMD next fp_by_element => |m, i| by_element(m, i, FMLA[form(i)][sz(i)], 2 + i.bit(22));
    FMLS_asisdelem_R_SD        "010111111 s L M mmmm 0101 H 0 nnnnn ddddd" FEAT_AdvSIMD next fp_by_element => |m, i| by_element(m, i, FMLS[form(i)][sz(i)], 2 + i.bit(22));
    FMUL_asisdelem_R_SD        "010111111 s L M mmmm 1001 H 0 nnnnn ddddd" FEAT_AdvSIMD next fp_by_element => |m, i| by_element(m, i, FMUL[form(i)][sz(i)], 2 + i.bit(22));
    FMULX_asisdelem_RH_H       "0111111100 L M mmmm 1001 H 0 nnnnn ddddd" FEAT_FP16 next plain => |m, i| by_element(m, i, FMULX[form(i)][HALF], 1);
    FMULX_asisdelem_R_SD       "011111111 s L M mmmm 1001 H 0 nnnnn ddddd" FEAT_AdvSIMD next fp_by_element => |m, i| by_element(m, i, FMULX[form(i)][sz(i)], 2 + i.bit(22));
    FMAXNMV_asimdall_only_H    "0 Q 00111000110000110010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| across(m, i, FMAXNMV[form(i)][HALF]);
    FMAXV_asimdall_only_H      "0 Q 00111000110000111110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| across(m, i, FMAXV[form(i)][HALF]);
    FMINNMV_asimdall_only_H    "0 Q 00111010110000110010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| across(m, i, FMINNMV[form(i)][HALF]);
    FMINV_asimdall_only_H      "0 Q 00111010110000111110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| across(m, i, FMINV[form(i)][HALF]);
    FMAXNMV_asimdall_only_SD   "0110111000110000110010 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| across(m, i, FMAXNMV[form(i)][SINGLE]);
    FMAXV_asimdall_only_SD     "0110111000110000111110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| across(m, i, FMAXV[form(i)][SINGLE]);
    FMINNMV_asimdall_only_SD   "0110111010110000110010 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| across(m, i, FMINNMV[form(i)][SINGLE]);
    FMINV_asimdall_only_SD     "0110111010110000111110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| across(m, i, FMINV[form(i)][SINGLE]);
    FMAXNMP_asisdpair_only_H   "0101111000110000110010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FMAXNM_PAIR[HALF]);
    FADDP_asisdpair_only_H     "0101111000110000110110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FADD_PAIR[HALF]);
    FMAXP_asisdpair_only_H     "0101111000110000111110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FMAX_PAIR[HALF]);
    FMINNMP_asisdpair_only_H   "0101111010110000110010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FMINNM_PAIR[HALF]);
    FMINP_asisdpair_only_H     "0101111010110000111110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| unary(m, i, FMIN_PAIR[HALF]);
    FMAXNMP_asisdpair_only_SD  "011111100 s 110000110010 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| unary(m, i, FMAXNM_PAIR[sz(i)]);
    FADDP_asisdpair_only_SD    "011111100 s 110000110110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| unary(m, i, FADD_PAIR[sz(i)]);
    FMAXP_asisdpair_only_SD    "011111100 s 110000111110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| unary(m, i, FMAX_PAIR[sz(i)]);
    FMINNMP_asisdpair_only_SD  "011111101 s 110000110010 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| unary(m, i, FMINNM_PAIR[sz(i)]);
    FMINP_asisdpair_only_SD    "011111101 s 110000111110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| unary(m, i, FMIN_PAIR[sz(i)]);
}

/// Pairs of Vn, then pairs of Vm. For 64-bit vectors both lie in one register together.
fn pairwise<M: Machine>(m: &mut M, i: Insn, table: &FpForms, format: usize) -> Done<M> {
    m.check_fp()?;
    let (a, b, zero) = (m.q(i.rn()), m.q(i.rm()), constant::<M>(0));
    let (a, b) = if i.bit(30) == 1 { (a, b) } else { (M::Quad::from_halves(a.lo(), b.lo()), zero) };
    // The unused pairs of a 64-bit form are of zeros, which set no flag.
    let result = m.pure(table[2][format], [a, b, zero]);
    set_vd(m, i, result);
    Ok(())
}

/// Vd = f(Vn, element, Vd).
fn by_element<M: Machine>(m: &mut M, i: Insn, f: Pure, log2: u32) -> Done<M> {
    m.check_fp()?;
    let operands = [m.q(i.rn()), indexed(m, i, log2), m.q(i.rd())];
    let result = m.pure(f, operands);
    set_vd(m, i, result);
    Ok(())
}

fn across<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let n = m.q(i.rn());
    let result = m.pure(f, [n, constant::<M>(0), constant::<M>(0)]);
    set_scalar(m, i.rd(), 64, result.lo());
    Ok(())
}
