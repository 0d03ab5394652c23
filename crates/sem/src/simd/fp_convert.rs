//! Conversions between floating-point formats: FCVT, FCVTL, FCVTN, FCVTXN, BFCVT, BFCVTN. DDI 0487 C4.1 "Floating-point
//! data-processing (1 source)", "Advanced SIMD two-register miscellaneous", "scalar two-register miscellaneous".

use crate::fp::convert::convert;
use crate::fp::{BF16, F16, F32, F64, Format, FpEnv, Rounding};
use crate::machine::Pure;
use crate::simd::fp_lanes::{collect, get};
use crate::simd::simd_misc::{narrow, widen};
use crate::simd::unary;
use crate::spec::plain;

crate::encodings! {
    "FCVT_DS_*" => "* {Dd}, {Sn}";
    "FCVT_HS_*" => "* {Hd}, {Sn}";
    "FCVT_SD_*" => "* {Sd}, {Dn}";
    "FCVT_HD_*" => "* {Hd}, {Dn}";
    "FCVT_SH_*" => "* {Sd}, {Hn}";
    "FCVT_DH_*" => "* {Dd}, {Hn}";
    "BFCVT_*" => "* {Hd}, {Sn}";
    "BFCVTN_*" => "*{2} {Vd.Hq}, {Vn.4s}";
    "FCVTL_*" => "*{2} {Vd.Fw}, {Vn.Fn}";
    "*_asimdmisc_N" => "*{2} {Vd.Fn}, {Vn.Fw}";
    "*_asisdmisc_N" => "* {Sd}, {Dn}";
    FCVT_DS_floatdp1    "0001111000100010110000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FCVT_DS);
    FCVT_HS_floatdp1    "0001111000100011110000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FCVT_HS);
    FCVT_SD_floatdp1    "0001111001100010010000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FCVT_SD);
    BFCVT_BS_floatdp1   "0001111001100011010000 nnnnn ddddd" FEAT_BF16 next plain => |m, i| unary(m, i, BFCVT);
    FCVT_HD_floatdp1    "0001111001100011110000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FCVT_HD);
    FCVT_SH_floatdp1    "0001111011100010010000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FCVT_SH);
    FCVT_DH_floatdp1    "0001111011100010110000 nnnnn ddddd" FEAT_FP next plain => |m, i| unary(m, i, FCVT_DH);
    FCVTN_asimdmisc_N   "0 Q 0011100 s 100001011010 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| narrow(m, i, FCVTN[i.bit(22) as usize]);
    FCVTL_asimdmisc_L   "0 Q 0011100 s 100001011110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| widen(m, i, FCVTL[i.bit(22) as usize]);
    BFCVTN_asimdmisc_4S "0 Q 00111010100001011010 nnnnn ddddd" FEAT_BF16 next plain => |m, i| narrow(m, i, BFCVTN);
    FCVTXN_asimdmisc_N  "0 Q 10111001100001011010 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| narrow(m, i, FCVTXN);
    FCVTXN_asisdmisc_N  "0111111001100001011010 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| unary(m, i, FCVTXN_SCALAR);
}

/// The first `COUNT` lanes converted by FPCR's rounding mode.
fn by_fpcr<From: Format, To: Format, const COUNT: usize>(env: &mut FpEnv, [a, ..]: [u128; 3]) -> u128 {
    let mode = Rounding::of(env.fpcr);
    collect::<To>(COUNT, |i| convert::<From, To>(env, get::<From>(a, i), mode))
}

/// The first `COUNT` doubles as singles, rounded to odd.
fn to_odd<const COUNT: usize>(env: &mut FpEnv, [a, ..]: [u128; 3]) -> u128 {
    collect::<F32>(COUNT, |i| convert::<F64, F32>(env, get::<F64>(a, i), Rounding::Odd))
}

const FCVT_DS: Pure = Pure { name: "FCVT.DS", run: by_fpcr::<F32, F64, 1> };
const FCVT_HS: Pure = Pure { name: "FCVT.HS", run: by_fpcr::<F32, F16, 1> };
const FCVT_SD: Pure = Pure { name: "FCVT.SD", run: by_fpcr::<F64, F32, 1> };
const FCVT_HD: Pure = Pure { name: "FCVT.HD", run: by_fpcr::<F64, F16, 1> };
const FCVT_SH: Pure = Pure { name: "FCVT.SH", run: by_fpcr::<F16, F32, 1> };
const FCVT_DH: Pure = Pure { name: "FCVT.DH", run: by_fpcr::<F16, F64, 1> };
const BFCVT: Pure = Pure { name: "BFCVT", run: by_fpcr::<F32, BF16, 1> };
const BFCVTN: Pure = Pure { name: "BFCVTN", run: by_fpcr::<F32, BF16, 4> };
const FCVTL: [Pure; 2] =
    [Pure { name: "FCVTL.S", run: by_fpcr::<F16, F32, 4> }, Pure { name: "FCVTL.D", run: by_fpcr::<F32, F64, 2> }];
const FCVTN: [Pure; 2] =
    [Pure { name: "FCVTN.H", run: by_fpcr::<F32, F16, 4> }, Pure { name: "FCVTN.S", run: by_fpcr::<F64, F32, 2> }];
const FCVTXN: Pure = Pure { name: "FCVTXN", run: to_odd::<2> };
const FCVTXN_SCALAR: Pure = Pure { name: "FCVTXN.1", run: to_odd::<1> };
