//! Conversions between floating point and integers or fixed point: scalar to and from general-purpose registers, and
//! within vectors. DDI 0487 C4.1 "Conversion between floating-point and integer", "and fixed-point", "Advanced SIMD
//! two-register miscellaneous", "shift by immediate", and their scalar forms.

use crate::fp::fixed::{Signedness, from_fixed, to_fixed, to_fixed_js};
use crate::fp::{Format, FpEnv, Rounding};
use crate::insn::Insn;
use crate::machine::{Done, Machine, Pure};
use crate::simd::fp_lanes::{FpForms, each1_with, get};
use crate::simd::fp_pures::{DOUBLE, HALF, SINGLE, sz};
use crate::simd::fp_reserved::{fp_no_1d, fraction_bits, scale};
use crate::simd::reserved::immh_log2;
use crate::simd::{constant, form, set_vd};
use crate::spec::plain;
use crate::word::Quad;

crate::encodings! {
    "FCVT*_float2fix" => "* {Rd}, {Yn}, #{fbits}";
    "*_float2fix" => "* {Yd}, {Rn}, #{fbits}";
    "F*CVT*_float2int" => "* {Rd}, {Yn}";
    "*_float2int" => "* {Yd}, {Rn}";
    "*_asimdmisc_R" => "* {Vd.F}, {Vn.F}";
    "*_asimdmiscfp16_R" => "* {Vd.Hq}, {Vn.Hq}";
    "*_asimdshf_C" => "* {Vd.I}, {Vn.I}, #{shr}";
    "*_asisdmisc_R" => "* {Fd}, {Fn}";
    "*_asisdmiscfp16_R" => "* {Hd}, {Hn}";
    "*_asisdshf_C" => "* {Id}, {In}, #{shr}";
    FCVTNS_32S_float2int   "0001111000100000000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTNS_GENERAL[0][SINGLE]);
    FCVTNU_32S_float2int   "0001111000100001000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTNU_GENERAL[0][SINGLE]);
    SCVTF_S32_float2int    "0001111000100010000000 nnnnn ddddd" FEAT_FP next plain => |m, i| from_general(m, i, SCVTF_GENERAL[0][SINGLE]);
    UCVTF_S32_float2int    "0001111000100011000000 nnnnn ddddd" FEAT_FP next plain => |m, i| from_general(m, i, UCVTF_GENERAL[0][SINGLE]);
    FCVTAS_32S_float2int   "0001111000100100000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTAS_GENERAL[0][SINGLE]);
    FCVTAU_32S_float2int   "0001111000100101000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTAU_GENERAL[0][SINGLE]);
    FCVTPS_32S_float2int   "0001111000101000000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTPS_GENERAL[0][SINGLE]);
    FCVTPU_32S_float2int   "0001111000101001000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTPU_GENERAL[0][SINGLE]);
    FCVTMS_32S_float2int   "0001111000110000000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTMS_GENERAL[0][SINGLE]);
    FCVTMU_32S_float2int   "0001111000110001000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTMU_GENERAL[0][SINGLE]);
    FCVTZS_32S_float2int   "0001111000111000000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTZS_GENERAL[0][SINGLE]);
    FCVTZU_32S_float2int   "0001111000111001000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTZU_GENERAL[0][SINGLE]);
    FCVTNS_32D_float2int   "0001111001100000000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTNS_GENERAL[0][DOUBLE]);
    FCVTNU_32D_float2int   "0001111001100001000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTNU_GENERAL[0][DOUBLE]);
    SCVTF_D32_float2int    "0001111001100010000000 nnnnn ddddd" FEAT_FP next plain => |m, i| from_general(m, i, SCVTF_GENERAL[0][DOUBLE]);
    UCVTF_D32_float2int    "0001111001100011000000 nnnnn ddddd" FEAT_FP next plain => |m, i| from_general(m, i, UCVTF_GENERAL[0][DOUBLE]);
    FCVTAS_32D_float2int   "0001111001100100000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTAS_GENERAL[0][DOUBLE]);
    FCVTAU_32D_float2int   "0001111001100101000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTAU_GENERAL[0][DOUBLE]);
    FCVTPS_32D_float2int   "0001111001101000000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTPS_GENERAL[0][DOUBLE]);
    FCVTPU_32D_float2int   "0001111001101001000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTPU_GENERAL[0][DOUBLE]);
    FCVTMS_32D_float2int   "0001111001110000000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTMS_GENERAL[0][DOUBLE]);
    FCVTMU_32D_float2int   "0001111001110001000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTMU_GENERAL[0][DOUBLE]);
    FCVTZS_32D_float2int   "0001111001111000000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTZS_GENERAL[0][DOUBLE]);
    FCVTZU_32D_float2int   "0001111001111001000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTZU_GENERAL[0][DOUBLE]);
    FJCVTZS_32D_float2int  "0001111001111110000000 nnnnn ddddd" FEAT_JSCVT next plain => javascript;
    FCVTNS_32H_float2int   "0001111011100000000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTNS_GENERAL[0][HALF]);
    FCVTNU_32H_float2int   "0001111011100001000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTNU_GENERAL[0][HALF]);
    SCVTF_H32_float2int    "0001111011100010000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| from_general(m, i, SCVTF_GENERAL[0][HALF]);
    UCVTF_H32_float2int    "0001111011100011000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| from_general(m, i, UCVTF_GENERAL[0][HALF]);
    FCVTAS_32H_float2int   "0001111011100100000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTAS_GENERAL[0][HALF]);
    FCVTAU_32H_float2int   "0001111011100101000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTAU_GENERAL[0][HALF]);
    FCVTPS_32H_float2int   "0001111011101000000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTPS_GENERAL[0][HALF]);
    FCVTPU_32H_float2int   "0001111011101001000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTPU_GENERAL[0][HALF]);
    FCVTMS_32H_float2int   "0001111011110000000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTMS_GENERAL[0][HALF]);
    FCVTMU_32H_float2int   "0001111011110001000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTMU_GENERAL[0][HALF]);
    FCVTZS_32H_float2int   "0001111011111000000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTZS_GENERAL[0][HALF]);
    FCVTZU_32H_float2int   "0001111011111001000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTZU_GENERAL[0][HALF]);
    FCVTNS_64S_float2int   "1001111000100000000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTNS_GENERAL[1][SINGLE]);
    FCVTNU_64S_float2int   "1001111000100001000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTNU_GENERAL[1][SINGLE]);
    SCVTF_S64_float2int    "1001111000100010000000 nnnnn ddddd" FEAT_FP next plain => |m, i| from_general(m, i, SCVTF_GENERAL[1][SINGLE]);
    UCVTF_S64_float2int    "1001111000100011000000 nnnnn ddddd" FEAT_FP next plain => |m, i| from_general(m, i, UCVTF_GENERAL[1][SINGLE]);
    FCVTAS_64S_float2int   "1001111000100100000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTAS_GENERAL[1][SINGLE]);
    FCVTAU_64S_float2int   "1001111000100101000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTAU_GENERAL[1][SINGLE]);
    FCVTPS_64S_float2int   "1001111000101000000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTPS_GENERAL[1][SINGLE]);
    FCVTPU_64S_float2int   "1001111000101001000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTPU_GENERAL[1][SINGLE]);
    FCVTMS_64S_float2int   "1001111000110000000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTMS_GENERAL[1][SINGLE]);
    FCVTMU_64S_float2int   "1001111000110001000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTMU_GENERAL[1][SINGLE]);
    FCVTZS_64S_float2int   "1001111000111000000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTZS_GENERAL[1][SINGLE]);
    FCVTZU_64S_float2int   "1001111000111001000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTZU_GENERAL[1][SINGLE]);
    FCVTNS_64D_float2int   "1001111001100000000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTNS_GENERAL[1][DOUBLE]);
    FCVTNU_64D_float2int   "1001111001100001000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTNU_GENERAL[1][DOUBLE]);
    SCVTF_D64_float2int    "1001111001100010000000 nnnnn ddddd" FEAT_FP next plain => |m, i| from_general(m, i, SCVTF_GENERAL[1][DOUBLE]);
    UCVTF_D64_float2int    "1001111001100011000000 nnnnn ddddd" FEAT_FP next plain => |m, i| from_general(m, i, UCVTF_GENERAL[1][DOUBLE]);
    FCVTAS_64D_float2int   "1001111001100100000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTAS_GENERAL[1][DOUBLE]);
    FCVTAU_64D_float2int   "1001111001100101000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTAU_GENERAL[1][DOUBLE]);
    FCVTPS_64D_float2int   "1001111001101000000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTPS_GENERAL[1][DOUBLE]);
    FCVTPU_64D_float2int   "1001111001101001000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTPU_GENERAL[1][DOUBLE]);
    FCVTMS_64D_float2int   "1001111001110000000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTMS_GENERAL[1][DOUBLE]);
    FCVTMU_64D_float2int   "1001111001110001000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTMU_GENERAL[1][DOUBLE]);
    FCVTZS_64D_float2int   "1001111001111000000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTZS_GENERAL[1][DOUBLE]);
    FCVTZU_64D_float2int   "1001111001111001000000 nnnnn ddddd" FEAT_FP next plain => |m, i| to_general(m, i, FCVTZU_GENERAL[1][DOUBLE]);
    FCVTNS_64H_float2int   "1001111011100000000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTNS_GENERAL[1][HALF]);
    FCVTNU_64H_float2int   "1001111011100001000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTNU_GENERAL[1][HALF]);
    SCVTF_H64_float2int    "1001111011100010000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| from_general(m, i, SCVTF_GENERAL[1][HALF]);
    UCVTF_H64_float2int    "1001111011100011000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| from_general(m, i, UCVTF_GENERAL[1][HALF]);
    FCVTAS_64H_float2int   "1001111011100100000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTAS_GENERAL[1][HALF]);
    FCVTAU_64H_float2int   "1001111011100101000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTAU_GENERAL[1][HALF]);
    FCVTPS_64H_float2int   "1001111011101000000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTPS_GENERAL[1][HALF]);
    FCVTPU_64H_float2int   "1001111011101001000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTPU_GENERAL[1][HALF]);
    FCVTMS_64H_float2int   "1001111011110000000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTMS_GENERAL[1][HALF]);
    FCVTMU_64H_float2int   "1001111011110001000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTMU_GENERAL[1][HALF]);
    FCVTZS_64H_float2int   "1001111011111000000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTZS_GENERAL[1][HALF]);
    FCVTZU_64H_float2int   "1001111011111001000000 nnnnn ddddd" FEAT_FP16 next plain => |m, i| to_general(m, i, FCVTZU_GENERAL[1][HALF]);
    SCVTF_S32_float2fix    "0001111000000010 ssssss nnnnn ddddd" FEAT_FP next scale => |m, i| from_general(m, i, SCVTF_GENERAL[0][SINGLE]);
    UCVTF_S32_float2fix    "0001111000000011 ssssss nnnnn ddddd" FEAT_FP next scale => |m, i| from_general(m, i, UCVTF_GENERAL[0][SINGLE]);
    FCVTZS_32S_float2fix   "0001111000011000 ssssss nnnnn ddddd" FEAT_FP next scale => |m, i| to_general(m, i, FCVTZS_GENERAL[0][SINGLE]);
    FCVTZU_32S_float2fix   "0001111000011001 ssssss nnnnn ddddd" FEAT_FP next scale => |m, i| to_general(m, i, FCVTZU_GENERAL[0][SINGLE]);
    SCVTF_D32_float2fix    "0001111001000010 ssssss nnnnn ddddd" FEAT_FP next scale => |m, i| from_general(m, i, SCVTF_GENERAL[0][DOUBLE]);
    UCVTF_D32_float2fix    "0001111001000011 ssssss nnnnn ddddd" FEAT_FP next scale => |m, i| from_general(m, i, UCVTF_GENERAL[0][DOUBLE]);
    FCVTZS_32D_float2fix   "0001111001011000 ssssss nnnnn ddddd" FEAT_FP next scale => |m, i| to_general(m, i, FCVTZS_GENERAL[0][DOUBLE]);
    FCVTZU_32D_float2fix   "0001111001011001 ssssss nnnnn ddddd" FEAT_FP next scale => |m, i| to_general(m, i, FCVTZU_GENERAL[0][DOUBLE]);
    SCVTF_H32_float2fix    "0001111011000010 ssssss nnnnn ddddd" FEAT_FP16 next scale => |m, i| from_general(m, i, SCVTF_GENERAL[0][HALF]);
    UCVTF_H32_float2fix    "0001111011000011 ssssss nnnnn ddddd" FEAT_FP16 next scale => |m, i| from_general(m, i, UCVTF_GENERAL[0][HALF]);
    FCVTZS_32H_float2fix   "0001111011011000 ssssss nnnnn ddddd" FEAT_FP16 next scale => |m, i| to_general(m, i, FCVTZS_GENERAL[0][HALF]);
    FCVTZU_32H_float2fix   "0001111011011001 ssssss nnnnn ddddd" FEAT_FP16 next scale => |m, i| to_general(m, i, FCVTZU_GENERAL[0][HALF]);
    SCVTF_S64_float2fix    "1001111000000010 ssssss nnnnn ddddd" FEAT_FP next scale => |m, i| from_general(m, i, SCVTF_GENERAL[1][SINGLE]);
    UCVTF_S64_float2fix    "1001111000000011 ssssss nnnnn ddddd" FEAT_FP next scale => |m, i| from_general(m, i, UCVTF_GENERAL[1][SINGLE]);
    FCVTZS_64S_float2fix   "1001111000011000 ssssss nnnnn ddddd" FEAT_FP next scale => |m, i| to_general(m, i, FCVTZS_GENERAL[1][SINGLE]);
    FCVTZU_64S_float2fix   "1001111000011001 ssssss nnnnn ddddd" FEAT_FP next scale => |m, i| to_general(m, i, FCVTZU_GENERAL[1][SINGLE]);
    SCVTF_D64_float2fix    "1001111001000010 ssssss nnnnn ddddd" FEAT_FP next scale => |m, i| from_general(m, i, SCVTF_GENERAL[1][DOUBLE]);
    UCVTF_D64_float2fix    "1001111001000011 ssssss nnnnn ddddd" FEAT_FP next scale => |m, i| from_general(m, i, UCVTF_GENERAL[1][DOUBLE]);
    FCVTZS_64D_float2fix   "1001111001011000 ssssss nnnnn ddddd" FEAT_FP next scale => |m, i| to_general(m, i, FCVTZS_GENERAL[1][DOUBLE]);
    FCVTZU_64D_float2fix   "1001111001011001 ssssss nnnnn ddddd" FEAT_FP next scale => |m, i| to_general(m, i, FCVTZU_GENERAL[1][DOUBLE]);
    SCVTF_H64_float2fix    "1001111011000010 ssssss nnnnn ddddd" FEAT_FP16 next scale => |m, i| from_general(m, i, SCVTF_GENERAL[1][HALF]);
    UCVTF_H64_float2fix    "1001111011000011 ssssss nnnnn ddddd" FEAT_FP16 next scale => |m, i| from_general(m, i, UCVTF_GENERAL[1][HALF]);
    FCVTZS_64H_float2fix   "1001111011011000 ssssss nnnnn ddddd" FEAT_FP16 next scale => |m, i| to_general(m, i, FCVTZS_GENERAL[1][HALF]);
    FCVTZU_64H_float2fix   "1001111011011001 ssssss nnnnn ddddd" FEAT_FP16 next scale => |m, i| to_general(m, i, FCVTZU_GENERAL[1][HALF]);
    FCVTNS_asimdmisc_R     "0 Q 0011100 s 100001101010 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| lanes(m, i, FCVTNS[form(i)][sz(i)]);
    FCVTMS_asimdmisc_R     "0 Q 0011100 s 100001101110 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| lanes(m, i, FCVTMS[form(i)][sz(i)]);
    FCVTAS_asimdmisc_R     "0 Q 0011100 s 100001110010 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| lanes(m, i, FCVTAS[form(i)][sz(i)]);
    SCVTF_asimdmisc_R      "0 Q 0011100 s 100001110110 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| lanes(m, i, SCVTF[form(i)][sz(i)]);
    FCVTPS_asimdmisc_R     "0 Q 0011101 s 100001101010 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| lanes(m, i, FCVTPS[form(i)][sz(i)]);
    FCVTZS_asimdmisc_R     "0 Q 0011101 s 100001101110 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| lanes(m, i, FCVTZS[form(i)][sz(i)]);
    FCVTNU_asimdmisc_R     "0 Q 1011100 s 100001101010 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| lanes(m, i, FCVTNU[form(i)][sz(i)]);
    FCVTMU_asimdmisc_R     "0 Q 1011100 s 100001101110 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| lanes(m, i, FCVTMU[form(i)][sz(i)]);
    FCVTAU_asimdmisc_R     "0 Q 1011100 s 100001110010 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| lanes(m, i, FCVTAU[form(i)][sz(i)]);
    UCVTF_asimdmisc_R      "0 Q 1011100 s 100001110110 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| lanes(m, i, UCVTF[form(i)][sz(i)]);
    FCVTPU_asimdmisc_R     "0 Q 1011101 s 100001101010 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| lanes(m, i, FCVTPU[form(i)][sz(i)]);
    FCVTZU_asimdmisc_R     "0 Q 1011101 s 100001101110 nnnnn ddddd" FEAT_AdvSIMD next fp_no_1d => |m, i| lanes(m, i, FCVTZU[form(i)][sz(i)]);
    FCVTNS_asisdmisc_R     "010111100 s 100001101010 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| lanes(m, i, FCVTNS[form(i)][sz(i)]);
    FCVTMS_asisdmisc_R     "010111100 s 100001101110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| lanes(m, i, FCVTMS[form(i)][sz(i)]);
    FCVTAS_asisdmisc_R     "010111100 s 100001110010 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| lanes(m, i, FCVTAS[form(i)][sz(i)]);
    SCVTF_asisdmisc_R      "010111100 s 100001110110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| lanes(m, i, SCVTF[form(i)][sz(i)]);
    FCVTPS_asisdmisc_R     "010111101 s 100001101010 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| lanes(m, i, FCVTPS[form(i)][sz(i)]);
    FCVTZS_asisdmisc_R     "010111101 s 100001101110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| lanes(m, i, FCVTZS[form(i)][sz(i)]);
    FCVTNU_asisdmisc_R     "011111100 s 100001101010 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| lanes(m, i, FCVTNU[form(i)][sz(i)]);
    FCVTMU_asisdmisc_R     "011111100 s 100001101110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| lanes(m, i, FCVTMU[form(i)][sz(i)]);
    FCVTAU_asisdmisc_R     "011111100 s 100001110010 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| lanes(m, i, FCVTAU[form(i)][sz(i)]);
    UCVTF_asisdmisc_R      "011111100 s 100001110110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| lanes(m, i, UCVTF[form(i)][sz(i)]);
    FCVTPU_asisdmisc_R     "011111101 s 100001101010 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| lanes(m, i, FCVTPU[form(i)][sz(i)]);
    FCVTZU_asisdmisc_R     "011111101 s 100001101110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| lanes(m, i, FCVTZU[form(i)][sz(i)]);
    FCVTNS_asimdmiscfp16_R "0 Q 00111001111001101010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTNS[form(i)][HALF]);
    FCVTMS_asimdmiscfp16_R "0 Q 00111001111001101110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTMS[form(i)][HALF]);
    FCVTAS_asimdmiscfp16_R "0 Q 00111001111001110010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTAS[form(i)][HALF]);
    SCVTF_asimdmiscfp16_R  "0 Q 00111001111001110110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, SCVTF[form(i)][HALF]);
    FCVTPS_asimdmiscfp16_R "0 Q 00111011111001101010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTPS[form(i)][HALF]);
    FCVTZS_asimdmiscfp16_R "0 Q 00111011111001101110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTZS[form(i)][HALF]);
    FCVTNU_asimdmiscfp16_R "0 Q 10111001111001101010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTNU[form(i)][HALF]);
    FCVTMU_asimdmiscfp16_R "0 Q 10111001111001101110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTMU[form(i)][HALF]);
    FCVTAU_asimdmiscfp16_R "0 Q 10111001111001110010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTAU[form(i)][HALF]);
    UCVTF_asimdmiscfp16_R  "0 Q 10111001111001110110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, UCVTF[form(i)][HALF]);
    FCVTPU_asimdmiscfp16_R "0 Q 10111011111001101010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTPU[form(i)][HALF]);
    FCVTZU_asimdmiscfp16_R "0 Q 10111011111001101110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTZU[form(i)][HALF]);
    FCVTNS_asisdmiscfp16_R "0101111001111001101010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTNS[form(i)][HALF]);
    FCVTMS_asisdmiscfp16_R "0101111001111001101110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTMS[form(i)][HALF]);
    FCVTAS_asisdmiscfp16_R "0101111001111001110010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTAS[form(i)][HALF]);
    SCVTF_asisdmiscfp16_R  "0101111001111001110110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, SCVTF[form(i)][HALF]);
    FCVTPS_asisdmiscfp16_R "0101111011111001101010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTPS[form(i)][HALF]);
    FCVTZS_asisdmiscfp16_R "0101111011111001101110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTZS[form(i)][HALF]);
    FCVTNU_asisdmiscfp16_R "0111111001111001101010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTNU[form(i)][HALF]);
    FCVTMU_asisdmiscfp16_R "0111111001111001101110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTMU[form(i)][HALF]);
    FCVTAU_asisdmiscfp16_R "0111111001111001110010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTAU[form(i)][HALF]);
    UCVTF_asisdmiscfp16_R  "0111111001111001110110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, UCVTF[form(i)][HALF]);
    FCVTPU_asisdmiscfp16_R "0111111011111001101010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTPU[form(i)][HALF]);
    FCVTZU_asisdmiscfp16_R "0111111011111001101110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| lanes(m, i, FCVTZU[form(i)][HALF]);
    SCVTF_asimdshf_C       "0 Q 0011110 iiiiiii 111001 nnnnn ddddd" FEAT_AdvSIMD next fraction_bits => |m, i| lanes(m, i, SCVTF[form(i)][format(i)]);
    FCVTZS_asimdshf_C      "0 Q 0011110 iiiiiii 111111 nnnnn ddddd" FEAT_AdvSIMD next fraction_bits => |m, i| lanes(m, i, FCVTZS[form(i)][format(i)]);
    UCVTF_asimdshf_C       "0 Q 1011110 iiiiiii 111001 nnnnn ddddd" FEAT_AdvSIMD next fraction_bits => |m, i| lanes(m, i, UCVTF[form(i)][format(i)]);
    FCVTZU_asimdshf_C      "0 Q 1011110 iiiiiii 111111 nnnnn ddddd" FEAT_AdvSIMD next fraction_bits => |m, i| lanes(m, i, FCVTZU[form(i)][format(i)]);
    SCVTF_asisdshf_C       "010111110 iiiiiii 111001 nnnnn ddddd" FEAT_AdvSIMD next fraction_bits => |m, i| lanes(m, i, SCVTF[form(i)][format(i)]);
    FCVTZS_asisdshf_C      "010111110 iiiiiii 111111 nnnnn ddddd" FEAT_AdvSIMD next fraction_bits => |m, i| lanes(m, i, FCVTZS[form(i)][format(i)]);
    UCVTF_asisdshf_C       "011111110 iiiiiii 111001 nnnnn ddddd" FEAT_AdvSIMD next fraction_bits => |m, i| lanes(m, i, UCVTF[form(i)][format(i)]);
    FCVTZU_asisdshf_C      "011111110 iiiiiii 111111 nnnnn ddddd" FEAT_AdvSIMD next fraction_bits => |m, i| lanes(m, i, FCVTZU[form(i)][format(i)]);
    SCVTF_asimdshf_C       "0 Q 0011110001 iiii 111001 nnnnn ddddd" FEAT_FP16 next fraction_bits => |m, i| lanes(m, i, SCVTF[form(i)][HALF]);
    SCVTF_asisdshf_C       "010111110001 iiii 111001 nnnnn ddddd" FEAT_FP16 next fraction_bits => |m, i| lanes(m, i, SCVTF[form(i)][HALF]);
    FCVTZS_asimdshf_C      "0 Q 0011110001 iiii 111111 nnnnn ddddd" FEAT_FP16 next fraction_bits => |m, i| lanes(m, i, FCVTZS[form(i)][HALF]);
    FCVTZS_asisdshf_C      "010111110001 iiii 111111 nnnnn ddddd" FEAT_FP16 next fraction_bits => |m, i| lanes(m, i, FCVTZS[form(i)][HALF]);
    UCVTF_asimdshf_C       "0 Q 1011110001 iiii 111001 nnnnn ddddd" FEAT_FP16 next fraction_bits => |m, i| lanes(m, i, UCVTF[form(i)][HALF]);
    UCVTF_asisdshf_C       "011111110001 iiii 111001 nnnnn ddddd" FEAT_FP16 next fraction_bits => |m, i| lanes(m, i, UCVTF[form(i)][HALF]);
    FCVTZU_asimdshf_C      "0 Q 1011110001 iiii 111111 nnnnn ddddd" FEAT_FP16 next fraction_bits => |m, i| lanes(m, i, FCVTZU[form(i)][HALF]);
    FCVTZU_asisdshf_C      "011111110001 iiii 111111 nnnnn ddddd" FEAT_FP16 next fraction_bits => |m, i| lanes(m, i, FCVTZU[form(i)][HALF]);
}

/// The format by `immh`, which is at least 2.
fn format(i: Insn) -> usize {
    immh_log2(i.word()) as usize - 1
}

/// Xd = f(Vn, the prepared number of fraction bits).
fn to_general<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let n = m.q(i.rn());
    let result = m.pure(f, [n, constant::<M>(i.imm), constant::<M>(0)]);
    m.set_x(i.rd(), result.lo());
    Ok(())
}

/// Vd = f(Xn, the prepared number of fraction bits).
fn from_general<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let n = M::Quad::from_lo(m.x(i.rn()));
    let result = m.pure(f, [n, constant::<M>(i.imm), constant::<M>(0)]);
    m.set_q(i.rd(), result);
    Ok(())
}

/// Vd = f(Vn, the prepared number of fraction bits).
fn lanes<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let n = m.q(i.rn());
    let result = m.pure(f, [n, constant::<M>(i.imm), constant::<M>(0)]);
    set_vd(m, i, result);
    Ok(())
}

/// FJCVTZS: Z says that the conversion was exact, N, C and V are 0.
fn javascript<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let n = m.q(i.rn());
    let result = m.pure(FJCVTZS, [n, constant::<M>(0), constant::<M>(0)]);
    m.set_x(i.rd(), result.lo());
    m.set_nzcv(result.hi());
    Ok(())
}

/// The result in the low half, the flags in the high half.
const FJCVTZS: Pure = Pure {
    name: "FJCVTZS",
    run: |env, [a, ..]| {
        let (result, exact) = to_fixed_js(env, a as u64);
        u128::from(exact) << (64 + 30) | u128::from(result)
    },
};

/// From a scalar to an integer of 32 or 64 bits.
macro_rules! to_general {
    ($name:literal, $signedness:ident, $mode:ident) => {
        [
            fp_formats!(concat!($name, ".W"), general, 0, |env, x, fraction| {
                to_fixed::<F>(env, get::<F>(x, 0), 32, fraction, Signedness::$signedness, Rounding::$mode)
            }),
            fp_formats!(concat!($name, ".X"), general, 0, |env, x, fraction| {
                to_fixed::<F>(env, get::<F>(x, 0), 64, fraction, Signedness::$signedness, Rounding::$mode)
            }),
        ]
    };
}

/// From an integer of 32 or 64 bits to a scalar.
macro_rules! from_general {
    ($name:literal, $signedness:ident) => {
        [
            fp_formats!(concat!($name, ".W"), general, 0, |env, x, fraction| {
                let mode = Rounding::of(env.fpcr);
                from_fixed::<F>(env, x as u64, 32, fraction, Signedness::$signedness, mode)
            }),
            fp_formats!(concat!($name, ".X"), general, 0, |env, x, fraction| {
                let mode = Rounding::of(env.fpcr);
                from_fixed::<F>(env, x as u64, 64, fraction, Signedness::$signedness, mode)
            }),
        ]
    };
}

/// One value, of the format or an integer, and the number of fraction bits.
#[allow(clippy::extra_unused_type_parameters)] // as `fp_formats!` names its functions
fn general<F: Format>(
    env: &mut FpEnv,
    _form: usize,
    [a, fraction, _]: [u128; 3],
    f: impl Fn(&mut FpEnv, u128, u32) -> u64,
) -> u128 {
    u128::from(f(env, a, fraction as u32))
}

const FCVTNS_GENERAL: [[Pure; 3]; 2] = to_general!("FCVTNS", Signed, TieEven);
const FCVTNU_GENERAL: [[Pure; 3]; 2] = to_general!("FCVTNU", Unsigned, TieEven);
const FCVTPS_GENERAL: [[Pure; 3]; 2] = to_general!("FCVTPS", Signed, PlusInfinity);
const FCVTPU_GENERAL: [[Pure; 3]; 2] = to_general!("FCVTPU", Unsigned, PlusInfinity);
const FCVTMS_GENERAL: [[Pure; 3]; 2] = to_general!("FCVTMS", Signed, MinusInfinity);
const FCVTMU_GENERAL: [[Pure; 3]; 2] = to_general!("FCVTMU", Unsigned, MinusInfinity);
const FCVTZS_GENERAL: [[Pure; 3]; 2] = to_general!("FCVTZS", Signed, Zero);
const FCVTZU_GENERAL: [[Pure; 3]; 2] = to_general!("FCVTZU", Unsigned, Zero);
const FCVTAS_GENERAL: [[Pure; 3]; 2] = to_general!("FCVTAS", Signed, TieAway);
const FCVTAU_GENERAL: [[Pure; 3]; 2] = to_general!("FCVTAU", Unsigned, TieAway);
const SCVTF_GENERAL: [[Pure; 3]; 2] = from_general!("SCVTF", Signed);
const UCVTF_GENERAL: [[Pure; 3]; 2] = from_general!("UCVTF", Unsigned);

const FCVTNS: FpForms = fp_forms!("FCVTNS", each1_with, |env, x, fraction| {
    to_fixed::<F>(env, x, F::BITS, fraction, Signedness::Signed, Rounding::TieEven)
});
const FCVTNU: FpForms = fp_forms!("FCVTNU", each1_with, |env, x, fraction| {
    to_fixed::<F>(env, x, F::BITS, fraction, Signedness::Unsigned, Rounding::TieEven)
});
const FCVTPS: FpForms = fp_forms!("FCVTPS", each1_with, |env, x, fraction| {
    to_fixed::<F>(env, x, F::BITS, fraction, Signedness::Signed, Rounding::PlusInfinity)
});
const FCVTPU: FpForms = fp_forms!("FCVTPU", each1_with, |env, x, fraction| {
    to_fixed::<F>(env, x, F::BITS, fraction, Signedness::Unsigned, Rounding::PlusInfinity)
});
const FCVTMS: FpForms = fp_forms!("FCVTMS", each1_with, |env, x, fraction| {
    to_fixed::<F>(env, x, F::BITS, fraction, Signedness::Signed, Rounding::MinusInfinity)
});
const FCVTMU: FpForms = fp_forms!("FCVTMU", each1_with, |env, x, fraction| {
    to_fixed::<F>(env, x, F::BITS, fraction, Signedness::Unsigned, Rounding::MinusInfinity)
});
const FCVTZS: FpForms = fp_forms!("FCVTZS", each1_with, |env, x, fraction| {
    to_fixed::<F>(env, x, F::BITS, fraction, Signedness::Signed, Rounding::Zero)
});
const FCVTZU: FpForms = fp_forms!("FCVTZU", each1_with, |env, x, fraction| {
    to_fixed::<F>(env, x, F::BITS, fraction, Signedness::Unsigned, Rounding::Zero)
});
const FCVTAS: FpForms = fp_forms!("FCVTAS", each1_with, |env, x, fraction| {
    to_fixed::<F>(env, x, F::BITS, fraction, Signedness::Signed, Rounding::TieAway)
});
const FCVTAU: FpForms = fp_forms!("FCVTAU", each1_with, |env, x, fraction| {
    to_fixed::<F>(env, x, F::BITS, fraction, Signedness::Unsigned, Rounding::TieAway)
});
const SCVTF: FpForms = fp_forms!("SCVTF", each1_with, |env, x, fraction| {
    let mode = Rounding::of(env.fpcr);
    from_fixed::<F>(env, x, F::BITS, fraction, Signedness::Signed, mode)
});
const UCVTF: FpForms = fp_forms!("UCVTF", each1_with, |env, x, fraction| {
    let mode = Rounding::of(env.fpcr);
    from_fixed::<F>(env, x, F::BITS, fraction, Signedness::Unsigned, mode)
});
