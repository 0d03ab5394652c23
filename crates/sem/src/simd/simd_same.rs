//! Integers, three registers of the same type: vector, scalar, and FEAT_RDM's. DDI 0487 C4.1 "Advanced SIMD three
//! same", "Advanced SIMD scalar three same".

use crate::insn::Insn;
use crate::machine::{Done, FpEnv, Machine, Pure};
use crate::simd::lanes::{Int, Lane, Narrow, build_of_pairs};
use crate::simd::pures::{Forms, Sizes, count};
use crate::simd::reserved::{no_1d, no_d, only_b, only_h_s};
use crate::simd::saturate::saturate;
use crate::simd::{binary, constant, form, set_vd, size, ternary};
use crate::spec::plain;
use crate::word::Quad;

crate::encodings! {
    "ORR_*" => "n=m? mov {Vd.Bq}, {Vn.Bq} | * {Vd.Bq}, {Vn.Bq}, {Vm.Bq}";
    "AND_*" => "* {Vd.Bq}, {Vn.Bq}, {Vm.Bq}";
    "BIC_*" => "* {Vd.Bq}, {Vn.Bq}, {Vm.Bq}";
    "ORN_*" => "* {Vd.Bq}, {Vn.Bq}, {Vm.Bq}";
    "EOR_*" => "* {Vd.Bq}, {Vn.Bq}, {Vm.Bq}";
    "BSL_*" => "* {Vd.Bq}, {Vn.Bq}, {Vm.Bq}";
    "BIT_*" => "* {Vd.Bq}, {Vn.Bq}, {Vm.Bq}";
    "BIF_*" => "* {Vd.Bq}, {Vn.Bq}, {Vm.Bq}";
    "*_asimd*" => "* {Vd.T}, {Vn.T}, {Vm.T}";
    "*_asisd*" => "* {Zd}, {Zn}, {Zm}";
    SHADD_asimdsame_only     "0 Q 001110 zz 1 mmmmm 000001 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| binary(m, i, SHADD[size(i)]);
    SQADD_asimdsame_only     "0 Q 001110 zz 1 mmmmm 000011 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, SQADD[form(i)][size(i)]);
    SRHADD_asimdsame_only    "0 Q 001110 zz 1 mmmmm 000101 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| binary(m, i, SRHADD[size(i)]);
    SHSUB_asimdsame_only     "0 Q 001110 zz 1 mmmmm 001001 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| binary(m, i, SHSUB[size(i)]);
    SQSUB_asimdsame_only     "0 Q 001110 zz 1 mmmmm 001011 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, SQSUB[form(i)][size(i)]);
    CMGT_asimdsame_only      "0 Q 001110 zz 1 mmmmm 001101 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, CMGT[size(i)]);
    CMGE_asimdsame_only      "0 Q 001110 zz 1 mmmmm 001111 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, CMGE[size(i)]);
    SSHL_asimdsame_only      "0 Q 001110 zz 1 mmmmm 010001 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, SSHL[size(i)]);
    SQSHL_asimdsame_only     "0 Q 001110 zz 1 mmmmm 010011 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, SQSHL[form(i)][size(i)]);
    SRSHL_asimdsame_only     "0 Q 001110 zz 1 mmmmm 010101 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, SRSHL[size(i)]);
    SQRSHL_asimdsame_only    "0 Q 001110 zz 1 mmmmm 010111 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, SQRSHL[form(i)][size(i)]);
    SMAX_asimdsame_only      "0 Q 001110 zz 1 mmmmm 011001 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| binary(m, i, SMAX[size(i)]);
    SMIN_asimdsame_only      "0 Q 001110 zz 1 mmmmm 011011 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| binary(m, i, SMIN[size(i)]);
    SABD_asimdsame_only      "0 Q 001110 zz 1 mmmmm 011101 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| binary(m, i, SABD[size(i)]);
    SABA_asimdsame_only      "0 Q 001110 zz 1 mmmmm 011111 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| ternary(m, i, SABA[size(i)]);
    ADD_asimdsame_only       "0 Q 001110 zz 1 mmmmm 100001 nnnnn ddddd" FEAT_AdvSIMD next no_1d => add;
    CMTST_asimdsame_only     "0 Q 001110 zz 1 mmmmm 100011 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, CMTST[size(i)]);
    MLA_asimdsame_only       "0 Q 001110 zz 1 mmmmm 100101 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| ternary(m, i, MLA[size(i)]);
    MUL_asimdsame_only       "0 Q 001110 zz 1 mmmmm 100111 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| binary(m, i, MUL[size(i)]);
    SMAXP_asimdsame_only     "0 Q 001110 zz 1 mmmmm 101001 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| pairwise(m, i, &SMAXP);
    SMINP_asimdsame_only     "0 Q 001110 zz 1 mmmmm 101011 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| pairwise(m, i, &SMINP);
    SQDMULH_asimdsame_only   "0 Q 001110 zz 1 mmmmm 101101 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| binary(m, i, SQDMULH[form(i)][size(i) - 1]);
    ADDP_asimdsame_only      "0 Q 001110 zz 1 mmmmm 101111 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| pairwise(m, i, &ADDP);
    AND_asimdsame_only       "0 Q 001110001 mmmmm 000111 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| bitwise(m, i, |n, m, _| n & m);
    BIC_asimdsame_only       "0 Q 001110011 mmmmm 000111 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| bitwise(m, i, |n, m, _| n & !m);
    ORR_asimdsame_only       "0 Q 001110101 mmmmm 000111 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| bitwise(m, i, |n, m, _| n | m);
    ORN_asimdsame_only       "0 Q 001110111 mmmmm 000111 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| bitwise(m, i, |n, m, _| n | !m);
    UHADD_asimdsame_only     "0 Q 101110 zz 1 mmmmm 000001 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| binary(m, i, UHADD[size(i)]);
    UQADD_asimdsame_only     "0 Q 101110 zz 1 mmmmm 000011 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, UQADD[form(i)][size(i)]);
    URHADD_asimdsame_only    "0 Q 101110 zz 1 mmmmm 000101 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| binary(m, i, URHADD[size(i)]);
    UHSUB_asimdsame_only     "0 Q 101110 zz 1 mmmmm 001001 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| binary(m, i, UHSUB[size(i)]);
    UQSUB_asimdsame_only     "0 Q 101110 zz 1 mmmmm 001011 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, UQSUB[form(i)][size(i)]);
    CMHI_asimdsame_only      "0 Q 101110 zz 1 mmmmm 001101 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, CMHI[size(i)]);
    CMHS_asimdsame_only      "0 Q 101110 zz 1 mmmmm 001111 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, CMHS[size(i)]);
    USHL_asimdsame_only      "0 Q 101110 zz 1 mmmmm 010001 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, USHL[size(i)]);
    UQSHL_asimdsame_only     "0 Q 101110 zz 1 mmmmm 010011 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, UQSHL[form(i)][size(i)]);
    URSHL_asimdsame_only     "0 Q 101110 zz 1 mmmmm 010101 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, URSHL[size(i)]);
    UQRSHL_asimdsame_only    "0 Q 101110 zz 1 mmmmm 010111 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, UQRSHL[form(i)][size(i)]);
    UMAX_asimdsame_only      "0 Q 101110 zz 1 mmmmm 011001 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| binary(m, i, UMAX[size(i)]);
    UMIN_asimdsame_only      "0 Q 101110 zz 1 mmmmm 011011 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| binary(m, i, UMIN[size(i)]);
    UABD_asimdsame_only      "0 Q 101110 zz 1 mmmmm 011101 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| binary(m, i, UABD[size(i)]);
    UABA_asimdsame_only      "0 Q 101110 zz 1 mmmmm 011111 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| ternary(m, i, UABA[size(i)]);
    SUB_asimdsame_only       "0 Q 101110 zz 1 mmmmm 100001 nnnnn ddddd" FEAT_AdvSIMD next no_1d => sub;
    CMEQ_asimdsame_only      "0 Q 101110 zz 1 mmmmm 100011 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, CMEQ[size(i)]);
    MLS_asimdsame_only       "0 Q 101110 zz 1 mmmmm 100101 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| ternary(m, i, MLS[size(i)]);
    PMUL_asimdsame_only      "0 Q 101110 zz 1 mmmmm 100111 nnnnn ddddd" FEAT_AdvSIMD next only_b => |m, i| binary(m, i, PMUL);
    UMAXP_asimdsame_only     "0 Q 101110 zz 1 mmmmm 101001 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| pairwise(m, i, &UMAXP);
    UMINP_asimdsame_only     "0 Q 101110 zz 1 mmmmm 101011 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| pairwise(m, i, &UMINP);
    SQRDMULH_asimdsame_only  "0 Q 101110 zz 1 mmmmm 101101 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| binary(m, i, SQRDMULH[form(i)][size(i) - 1]);
    EOR_asimdsame_only       "0 Q 101110001 mmmmm 000111 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| bitwise(m, i, |n, m, _| n ^ m);
    BSL_asimdsame_only       "0 Q 101110011 mmmmm 000111 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| bitwise(m, i, |n, m, d| m ^ (m ^ n) & d);
    BIT_asimdsame_only       "0 Q 101110101 mmmmm 000111 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| bitwise(m, i, |n, m, d| d ^ (d ^ n) & m);
    BIF_asimdsame_only       "0 Q 101110111 mmmmm 000111 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| bitwise(m, i, |n, m, d| d ^ (d ^ n) & !m);
    SQADD_asisdsame_only     "01011110 zz 1 mmmmm 000011 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, SQADD[form(i)][size(i)]);
    SQSUB_asisdsame_only     "01011110 zz 1 mmmmm 001011 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, SQSUB[form(i)][size(i)]);
    CMGT_asisdsame_only      "01011110111 mmmmm 001101 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, CMGT[3]);
    CMGE_asisdsame_only      "01011110111 mmmmm 001111 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, CMGE[3]);
    SSHL_asisdsame_only      "01011110111 mmmmm 010001 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, SSHL[3]);
    SQSHL_asisdsame_only     "01011110 zz 1 mmmmm 010011 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, SQSHL[form(i)][size(i)]);
    SRSHL_asisdsame_only     "01011110111 mmmmm 010101 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, SRSHL[3]);
    SQRSHL_asisdsame_only    "01011110 zz 1 mmmmm 010111 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, SQRSHL[form(i)][size(i)]);
    ADD_asisdsame_only       "01011110111 mmmmm 100001 nnnnn ddddd" FEAT_AdvSIMD next plain => add;
    CMTST_asisdsame_only     "01011110111 mmmmm 100011 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, CMTST[3]);
    SQDMULH_asisdsame_only   "01011110 zz 1 mmmmm 101101 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| binary(m, i, SQDMULH[form(i)][size(i) - 1]);
    UQADD_asisdsame_only     "01111110 zz 1 mmmmm 000011 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, UQADD[form(i)][size(i)]);
    UQSUB_asisdsame_only     "01111110 zz 1 mmmmm 001011 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, UQSUB[form(i)][size(i)]);
    CMHI_asisdsame_only      "01111110111 mmmmm 001101 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, CMHI[3]);
    CMHS_asisdsame_only      "01111110111 mmmmm 001111 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, CMHS[3]);
    USHL_asisdsame_only      "01111110111 mmmmm 010001 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, USHL[3]);
    UQSHL_asisdsame_only     "01111110 zz 1 mmmmm 010011 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, UQSHL[form(i)][size(i)]);
    URSHL_asisdsame_only     "01111110111 mmmmm 010101 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, URSHL[3]);
    UQRSHL_asisdsame_only    "01111110 zz 1 mmmmm 010111 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, UQRSHL[form(i)][size(i)]);
    SUB_asisdsame_only       "01111110111 mmmmm 100001 nnnnn ddddd" FEAT_AdvSIMD next plain => sub;
    CMEQ_asisdsame_only      "01111110111 mmmmm 100011 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| binary(m, i, CMEQ[3]);
    SQRDMULH_asisdsame_only  "01111110 zz 1 mmmmm 101101 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| binary(m, i, SQRDMULH[form(i)][size(i) - 1]);
    SQRDMLAH_asimdsame2_only "0 Q 101110 zz 0 mmmmm 100001 nnnnn ddddd" FEAT_RDM next only_h_s => |m, i| ternary(m, i, SQRDMLAH[form(i)][size(i) - 1]);
    SQRDMLSH_asimdsame2_only "0 Q 101110 zz 0 mmmmm 100011 nnnnn ddddd" FEAT_RDM next only_h_s => |m, i| ternary(m, i, SQRDMLSH[form(i)][size(i) - 1]);
    SQRDMLAH_asisdsame2_only "01111110 zz 0 mmmmm 100001 nnnnn ddddd" FEAT_RDM next only_h_s => |m, i| ternary(m, i, SQRDMLAH[form(i)][size(i) - 1]);
    SQRDMLSH_asisdsame2_only "01111110 zz 0 mmmmm 100011 nnnnn ddddd" FEAT_RDM next only_h_s => |m, i| ternary(m, i, SQRDMLSH[form(i)][size(i) - 1]);
}

/// Vd = f(Vn, Vm, Vd), bit by bit.
fn bitwise<M: Machine>(m: &mut M, i: Insn, f: impl Fn(M::Word, M::Word, M::Word) -> M::Word) -> Done<M> {
    m.check_fp()?;
    let (a, b, d) = (m.q(i.rn()), m.q(i.rm()), m.q(i.rd()));
    set_vd(m, i, M::Quad::from_halves(f(a.lo(), b.lo(), d.lo()), f(a.hi(), b.hi(), d.hi())));
    Ok(())
}

fn add<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    if size(i) == 3 { bitwise(m, i, |n, m, _| n + m) } else { binary(m, i, ADD[size(i)]) }
}

fn sub<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    if size(i) == 3 { bitwise(m, i, |n, m, _| n - m) } else { binary(m, i, SUB[size(i)]) }
}

/// Pairs of Vn, then pairs of Vm. For 64-bit vectors both lie in one register together.
fn pairwise<M: Machine>(m: &mut M, i: Insn, table: &Sizes) -> Done<M> {
    m.check_fp()?;
    let (a, b, zero) = (m.q(i.rn()), m.q(i.rm()), constant::<M>(0));
    let (a, b) = if i.bit(30) == 1 { (a, b) } else { (M::Quad::from_halves(a.lo(), b.lo()), zero) };
    let result = m.pure(table[size(i)], [a, b, zero]);
    set_vd(m, i, result);
    Ok(())
}

const ADD: Sizes = sizes!("ADD", add_lanes; u8 u16 u32 u64);
const SUB: Sizes = sizes!("SUB", sub_lanes; u8 u16 u32 u64);
pub(super) const MUL: Sizes = sizes!("MUL", mul; u8 u16 u32 u64);
pub(super) const MLA: Sizes = sizes!("MLA", mla; u8 u16 u32 u64);
pub(super) const MLS: Sizes = sizes!("MLS", mls; u8 u16 u32 u64);
const SHADD: Sizes = sizes!("SHADD", hadd; i8 i16 i32 i64);
const UHADD: Sizes = sizes!("UHADD", hadd; u8 u16 u32 u64);
const SRHADD: Sizes = sizes!("SRHADD", rhadd; i8 i16 i32 i64);
const URHADD: Sizes = sizes!("URHADD", rhadd; u8 u16 u32 u64);
const SHSUB: Sizes = sizes!("SHSUB", hsub; i8 i16 i32 i64);
const UHSUB: Sizes = sizes!("UHSUB", hsub; u8 u16 u32 u64);
const SMAX: Sizes = sizes!("SMAX", max; i8 i16 i32 i64);
const UMAX: Sizes = sizes!("UMAX", max; u8 u16 u32 u64);
const SMIN: Sizes = sizes!("SMIN", min; i8 i16 i32 i64);
const UMIN: Sizes = sizes!("UMIN", min; u8 u16 u32 u64);
const SABD: Sizes = sizes!("SABD", abd; i8 i16 i32 i64);
const UABD: Sizes = sizes!("UABD", abd; u8 u16 u32 u64);
const SABA: Sizes = sizes!("SABA", aba; i8 i16 i32 i64);
const UABA: Sizes = sizes!("UABA", aba; u8 u16 u32 u64);
const SMAXP: Sizes = sizes!("SMAXP", maxp; i8 i16 i32 i64);
const UMAXP: Sizes = sizes!("UMAXP", maxp; u8 u16 u32 u64);
const SMINP: Sizes = sizes!("SMINP", minp; i8 i16 i32 i64);
const UMINP: Sizes = sizes!("UMINP", minp; u8 u16 u32 u64);
const ADDP: Sizes = sizes!("ADDP", addp; u8 u16 u32 u64);
pub(super) const CMGT: Sizes = sizes!("CMGT", gt; i8 i16 i32 i64);
pub(super) const CMGE: Sizes = sizes!("CMGE", ge; i8 i16 i32 i64);
const CMHI: Sizes = sizes!("CMHI", gt; u8 u16 u32 u64);
const CMHS: Sizes = sizes!("CMHS", ge; u8 u16 u32 u64);
pub(super) const CMEQ: Sizes = sizes!("CMEQ", eq; u8 u16 u32 u64);
const CMTST: Sizes = sizes!("CMTST", tst; u8 u16 u32 u64);
const SSHL: Sizes = sizes!("SSHL", shl; i8 i16 i32 i64);
const USHL: Sizes = sizes!("USHL", shl; u8 u16 u32 u64);
const SRSHL: Sizes = sizes!("SRSHL", rshl; i8 i16 i32 i64);
const URSHL: Sizes = sizes!("URSHL", rshl; u8 u16 u32 u64);
const SQADD: Forms<4> = forms!("SQADD", qadd; i8 i16 i32 i64);
const UQADD: Forms<4> = forms!("UQADD", qadd; u8 u16 u32 u64);
const SQSUB: Forms<4> = forms!("SQSUB", qsub; i8 i16 i32 i64);
const UQSUB: Forms<4> = forms!("UQSUB", qsub_unsigned; u8 u16 u32 u64);
const SQSHL: Forms<4> = forms!("SQSHL", qshl; i8 i16 i32 i64);
const UQSHL: Forms<4> = forms!("UQSHL", qshl; u8 u16 u32 u64);
const SQRSHL: Forms<4> = forms!("SQRSHL", qrshl; i8 i16 i32 i64);
const UQRSHL: Forms<4> = forms!("UQRSHL", qrshl; u8 u16 u32 u64);
const PMUL: Pure = Pure { name: "PMUL.B", run: pmul };

/// The forms of a function of elements of 16 and 32 bits.
macro_rules! forms_h_s {
    ($name:literal, $f:ident) => {
        [
            [
                Pure { name: concat!($name, ".1.H"), run: $f::<i16, 0> },
                Pure { name: concat!($name, ".1.S"), run: $f::<i32, 0> },
            ],
            [
                Pure { name: concat!($name, ".64.H"), run: $f::<i16, 1> },
                Pure { name: concat!($name, ".64.S"), run: $f::<i32, 1> },
            ],
            [
                Pure { name: concat!($name, ".128.H"), run: $f::<i16, 2> },
                Pure { name: concat!($name, ".128.S"), run: $f::<i32, 2> },
            ],
        ]
    };
}
pub(super) const SQDMULH: Forms<2> = forms_h_s!("SQDMULH", qdmulh);
pub(super) const SQRDMULH: Forms<2> = forms_h_s!("SQRDMULH", qrdmulh);
pub(super) const SQRDMLAH: Forms<2> = forms_h_s!("SQRDMLAH", qrdmlah);
pub(super) const SQRDMLSH: Forms<2> = forms_h_s!("SQRDMLSH", qrdmlsh);

fn add_lanes<E: Lane>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::map2(a, b, E::plus)
}

fn sub_lanes<E: Lane>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::map2(a, b, E::minus)
}

fn mul<E: Lane>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::map2(a, b, E::times)
}

fn mla<E: Lane>(_: &mut FpEnv, [a, b, d]: [u128; 3]) -> u128 {
    E::map3(a, b, d, |x, y, d| d.plus(x.times(y)))
}

fn mls<E: Lane>(_: &mut FpEnv, [a, b, d]: [u128; 3]) -> u128 {
    E::map3(a, b, d, |x, y, d| d.minus(x.times(y)))
}

fn hadd<E: Lane>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::map2(a, b, |x, y| E::low((x.wide() + y.wide()) >> 1))
}

fn rhadd<E: Lane>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::map2(a, b, |x, y| E::low((x.wide() + y.wide() + E::Wide::ONE) >> 1))
}

fn hsub<E: Lane>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::map2(a, b, |x, y| E::low(x.wide().minus(y.wide()) >> 1))
}

fn max<E: Lane>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::map2(a, b, E::max)
}

fn min<E: Lane>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::map2(a, b, E::min)
}

/// |x - y|, which fits in the element's bits taken as unsigned.
fn distance<E: Lane>(x: E, y: E) -> E {
    if x > y { x.minus(y) } else { y.minus(x) }
}

fn abd<E: Lane>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::map2(a, b, distance)
}

fn aba<E: Lane>(_: &mut FpEnv, [a, b, d]: [u128; 3]) -> u128 {
    E::map3(a, b, d, |x, y, d| d.plus(distance(x, y)))
}

fn maxp<E: Lane>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    build_of_pairs(a, b, E::max)
}

fn minp<E: Lane>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    build_of_pairs(a, b, E::min)
}

fn addp<E: Lane>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    build_of_pairs(a, b, E::plus)
}

/// All ones where `holds`.
fn mask<E: Lane>(holds: bool) -> E {
    if holds { !E::ZERO } else { E::ZERO }
}

fn gt<E: Lane>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::map2(a, b, |x, y| mask(x > y))
}

fn ge<E: Lane>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::map2(a, b, |x, y| mask(x >= y))
}

fn eq<E: Lane>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::map2(a, b, |x, y| mask(x == y))
}

fn tst<E: Lane>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::map2(a, b, |x, y| mask(x & y != E::ZERO))
}

/// `x` shifted left by `by`, or right where it is negative, rounded if `ROUND`.
fn shift<E: Lane, const ROUND: bool>(x: E, by: i8) -> E {
    let distance = u32::from(by.unsigned_abs());
    if by >= 0 {
        return if distance < E::BITS { x << distance } else { E::ZERO };
    }
    if distance > E::BITS {
        return if ROUND || x >= E::ZERO { E::ZERO } else { !E::ZERO };
    }
    let round = if ROUND { E::Wide::ONE << (distance - 1) } else { E::Wide::ZERO };
    E::low((x.wide() + round) >> distance)
}

/// As [`shift`], saturating to the left.
fn saturating_shift<E: Lane, const ROUND: bool>(env: &mut FpEnv, x: E, by: i8) -> E {
    if by < 0 || x == E::ZERO {
        return shift::<E, ROUND>(x, by);
    }
    let distance = u32::from(by.unsigned_abs()).min(E::BITS);
    if distance == E::BITS {
        // Out of range whatever the bits: let the sign alone decide.
        return saturate(env, if x > E::ZERO { E::MAX.wide() + E::Wide::ONE } else { E::MIN.wide() - E::Wide::ONE });
    }
    saturate(env, x.wide() << distance)
}

fn shl<E: Lane>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::map2(a, b, |x, y| shift::<E, false>(x, y.bits() as i8))
}

fn rshl<E: Lane>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::map2(a, b, |x, y| shift::<E, true>(x, y.bits() as i8))
}

fn qshl<E: Lane, const FORM: usize>(env: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::some2(count(FORM, E::BITS), a, b, |x, y| saturating_shift::<E, false>(env, x, y.bits() as i8))
}

fn qrshl<E: Lane, const FORM: usize>(env: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::some2(count(FORM, E::BITS), a, b, |x, y| saturating_shift::<E, true>(env, x, y.bits() as i8))
}

fn qadd<E: Lane, const FORM: usize>(env: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::some2(count(FORM, E::BITS), a, b, |x, y| saturate(env, x.wide() + y.wide()))
}

fn qsub<E: Lane, const FORM: usize>(env: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::some2(count(FORM, E::BITS), a, b, |x, y| saturate(env, x.wide() - y.wide()))
}

/// Unsigned: below zero is 0.
fn qsub_unsigned<E: Lane, const FORM: usize>(env: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::some2(count(FORM, E::BITS), a, b, |x, y| {
        if y > x {
            env.fpsr |= crate::fp::FPSR_QC;
        }
        x - y.min(x)
    })
}

fn qdmulh<E: Lane, const FORM: usize>(env: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::some2(count(FORM, E::BITS), a, b, |x, y| saturate(env, (x.wide() * y.wide()) >> (E::BITS - 1)))
}

fn qrdmulh<E: Lane, const FORM: usize>(env: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    let round = E::Wide::ONE << (E::BITS - 2);
    E::some2(count(FORM, E::BITS), a, b, |x, y| saturate(env, (x.wide() * y.wide() + round) >> (E::BITS - 1)))
}

/// `d` and the doubled product of `x` and `y`, rounded, high half, in arithmetic that holds every carry.
fn rounding_accumulate<E: Narrow>(env: &mut FpEnv, d: E, product: E::Double) -> E {
    type Carry<E> = <<E as Narrow>::Double as Lane>::Wide;
    let sum = (d.wide().wide() << (E::BITS - 1)) + product.wide() + (Carry::<E>::ONE << (E::BITS - 2));
    let high = sum >> (E::BITS - 1);
    let limited = high.clamp(E::MIN.wide().wide(), E::MAX.wide().wide());
    if limited != high {
        env.fpsr |= crate::fp::FPSR_QC;
    }
    E::low(<E::Double as Lane>::low(limited))
}

fn qrdmlah<E: Narrow, const FORM: usize>(env: &mut FpEnv, [a, b, d]: [u128; 3]) -> u128 {
    E::some3(count(FORM, E::BITS), a, b, d, |x, y, d| rounding_accumulate(env, d, x.wide() * y.wide()))
}

fn qrdmlsh<E: Narrow, const FORM: usize>(env: &mut FpEnv, [a, b, d]: [u128; 3]) -> u128 {
    let minus = |p: E::Double| E::Double::ZERO - p;
    E::some3(count(FORM, E::BITS), a, b, d, |x, y, d| rounding_accumulate(env, d, minus(x.wide() * y.wide())))
}

/// Polynomial multiplication over {0, 1}, low 8 bits.
fn pmul(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    u8::map2(a, b, |x, y| (0..8).fold(0, |sum, bit| if y >> bit & 1 == 1 { sum ^ x << bit } else { sum }))
}
