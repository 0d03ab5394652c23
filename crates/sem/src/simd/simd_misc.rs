//! Integers, two registers: vector and scalar. DDI 0487 C4.1 "Advanced SIMD two-register miscellaneous", "Advanced
//! SIMD scalar two-register miscellaneous".

use crate::insn::Insn;
use crate::machine::{Done, FpEnv, Machine, Pure};
use crate::simd::lanes::{Int, Lane, Narrow, build};
use crate::simd::pures::{Forms, Narrows, Sizes, count};
use crate::simd::reserved::{no_1d, no_d, only_b, only_b_h};
use crate::simd::saturate::{saturate, saturate_unsigned};
use crate::simd::simd_same::{CMEQ, CMGE, CMGT};
use crate::simd::{constant, form, is_scalar, part, set_narrow, set_vd, size, unary};
use crate::spec::plain;
use crate::word::Quad;

crate::encodings! {
    "NOT_*" => "mvn {Vd.Bq}, {Vn.Bq}";
    "RBIT_*" => "* {Vd.Bq}, {Vn.Bq}";
    "SHLL_*" => "*{2} {Vd.Ta}, {Vn.T}, #{esize}";
    "*_asimdmisc_N" => "*{2} {Vd.T}, {Vn.Ta}";
    "*_asimdmisc_P" => "* {Vd.P}, {Vn.T}";
    "*_asimdmisc_Z" => "* {Vd.T}, {Vn.T}, #0";
    "*_asimdmisc_R" => "* {Vd.T}, {Vn.T}";
    "*_asisdmisc_N" => "* {Zd}, {Zwn}";
    "*_asisdmisc_Z" => "* {Zd}, {Zn}, #0";
    "*_asisdmisc_R" => "* {Zd}, {Zn}";
    REV64_asimdmisc_R  "0 Q 001110 zz 100000000010 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| unary(m, i, REV64[size(i)]);
    REV16_asimdmisc_R  "0 Q 001110 zz 100000000110 nnnnn ddddd" FEAT_AdvSIMD next only_b => |m, i| unary(m, i, REV16);
    SADDLP_asimdmisc_P "0 Q 001110 zz 100000001010 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| unary(m, i, SADDLP[size(i)]);
    SUQADD_asimdmisc_R "0 Q 001110 zz 100000001110 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| update(m, i, SUQADD[form(i)][size(i)]);
    CLS_asimdmisc_R    "0 Q 001110 zz 100000010010 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| unary(m, i, CLS[size(i)]);
    CNT_asimdmisc_R    "0 Q 001110 zz 100000010110 nnnnn ddddd" FEAT_AdvSIMD next only_b => |m, i| unary(m, i, CNT);
    SADALP_asimdmisc_P "0 Q 001110 zz 100000011010 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| update(m, i, SADALP[size(i)]);
    SQABS_asimdmisc_R  "0 Q 001110 zz 100000011110 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| unary(m, i, SQABS[form(i)][size(i)]);
    CMGT_asimdmisc_Z   "0 Q 001110 zz 100000100010 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| with_zero(m, i, CMGT[size(i)]);
    CMEQ_asimdmisc_Z   "0 Q 001110 zz 100000100110 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| with_zero(m, i, CMEQ[size(i)]);
    CMLT_asimdmisc_Z   "0 Q 001110 zz 100000101010 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| zero_with(m, i, CMGT[size(i)]);
    ABS_asimdmisc_R    "0 Q 001110 zz 100000101110 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| unary(m, i, ABS[size(i)]);
    XTN_asimdmisc_N    "0 Q 001110 zz 100001001010 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| narrow(m, i, XTN[size(i)]);
    SQXTN_asimdmisc_N  "0 Q 001110 zz 100001010010 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| narrow(m, i, SQXTN[usize::from(!is_scalar(i))][size(i)]);
    REV32_asimdmisc_R  "0 Q 101110 zz 100000000010 nnnnn ddddd" FEAT_AdvSIMD next only_b_h => |m, i| unary(m, i, REV32[size(i)]);
    UADDLP_asimdmisc_P "0 Q 101110 zz 100000001010 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| unary(m, i, UADDLP[size(i)]);
    USQADD_asimdmisc_R "0 Q 101110 zz 100000001110 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| update(m, i, USQADD[form(i)][size(i)]);
    CLZ_asimdmisc_R    "0 Q 101110 zz 100000010010 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| unary(m, i, CLZ[size(i)]);
    UADALP_asimdmisc_P "0 Q 101110 zz 100000011010 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| update(m, i, UADALP[size(i)]);
    SQNEG_asimdmisc_R  "0 Q 101110 zz 100000011110 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| unary(m, i, SQNEG[form(i)][size(i)]);
    CMGE_asimdmisc_Z   "0 Q 101110 zz 100000100010 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| with_zero(m, i, CMGE[size(i)]);
    CMLE_asimdmisc_Z   "0 Q 101110 zz 100000100110 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| zero_with(m, i, CMGE[size(i)]);
    NEG_asimdmisc_R    "0 Q 101110 zz 100000101110 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| unary(m, i, NEG[size(i)]);
    SQXTUN_asimdmisc_N "0 Q 101110 zz 100001001010 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| narrow(m, i, SQXTUN[usize::from(!is_scalar(i))][size(i)]);
    SHLL_asimdmisc_S   "0 Q 101110 zz 100001001110 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| widen(m, i, SHLL[size(i)]);
    UQXTN_asimdmisc_N  "0 Q 101110 zz 100001010010 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| narrow(m, i, UQXTN[usize::from(!is_scalar(i))][size(i)]);
    NOT_asimdmisc_R    "0 Q 10111000100000010110 nnnnn ddddd" FEAT_AdvSIMD next plain => not;
    RBIT_asimdmisc_R   "0 Q 10111001100000010110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| unary(m, i, RBIT);
    SUQADD_asisdmisc_R "01011110 zz 100000001110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| update(m, i, SUQADD[form(i)][size(i)]);
    SQABS_asisdmisc_R  "01011110 zz 100000011110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| unary(m, i, SQABS[form(i)][size(i)]);
    CMGT_asisdmisc_Z   "0101111011100000100010 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| with_zero(m, i, CMGT[3]);
    CMEQ_asisdmisc_Z   "0101111011100000100110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| with_zero(m, i, CMEQ[3]);
    CMLT_asisdmisc_Z   "0101111011100000101010 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| zero_with(m, i, CMGT[3]);
    ABS_asisdmisc_R    "0101111011100000101110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| unary(m, i, ABS[3]);
    SQXTN_asisdmisc_N  "01011110 zz 100001010010 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| narrow(m, i, SQXTN[usize::from(!is_scalar(i))][size(i)]);
    USQADD_asisdmisc_R "01111110 zz 100000001110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| update(m, i, USQADD[form(i)][size(i)]);
    SQNEG_asisdmisc_R  "01111110 zz 100000011110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| unary(m, i, SQNEG[form(i)][size(i)]);
    CMGE_asisdmisc_Z   "0111111011100000100010 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| with_zero(m, i, CMGE[3]);
    CMLE_asisdmisc_Z   "0111111011100000100110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| zero_with(m, i, CMGE[3]);
    NEG_asisdmisc_R    "0111111011100000101110 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| unary(m, i, NEG[3]);
    SQXTUN_asisdmisc_N "01111110 zz 100001001010 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| narrow(m, i, SQXTUN[usize::from(!is_scalar(i))][size(i)]);
    UQXTN_asisdmisc_N  "01111110 zz 100001010010 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| narrow(m, i, UQXTN[usize::from(!is_scalar(i))][size(i)]);
}

const REV64: Sizes = sizes!("REV64", rev, 64; u8 u16 u32 u64);
const REV32: Sizes = sizes!("REV32", rev, 32; u8 u16 u32 u64);
const REV16: Pure = Pure { name: "REV16.B", run: rev::<u8, 16> };
const CLS: Sizes = sizes!("CLS", cls; i8 i16 i32 i64);
const CLZ: Sizes = sizes!("CLZ", clz; u8 u16 u32 u64);
const CNT: Pure = Pure { name: "CNT.B", run: cnt };
const RBIT: Pure = Pure { name: "RBIT.B", run: rbit };
const ABS: Sizes = sizes!("ABS", abs; i8 i16 i32 i64);
const NEG: Sizes = sizes!("NEG", neg; i8 i16 i32 i64);
const SADDLP: Narrows = narrows!("SADDLP", addlp; i8 i16 i32);
const UADDLP: Narrows = narrows!("UADDLP", addlp; u8 u16 u32);
const SADALP: Narrows = narrows!("SADALP", adalp; i8 i16 i32);
const UADALP: Narrows = narrows!("UADALP", adalp; u8 u16 u32);
const SUQADD: Forms<4> = forms!("SUQADD", suqadd; i8 i16 i32 i64);
const USQADD: Forms<4> = forms!("USQADD", usqadd; i8 i16 i32 i64);
const SQABS: Forms<4> = forms!("SQABS", qabs; i8 i16 i32 i64);
const SQNEG: Forms<4> = forms!("SQNEG", qneg; i8 i16 i32 i64);
const XTN: Narrows = narrows!("XTN", xtn; u8 u16 u32);
const SQXTN: [Narrows; 2] = [narrows!("SQXTN.1", qxtn, 1; i8 i16 i32), narrows!("SQXTN", qxtn, 8; i8 i16 i32)];
const UQXTN: [Narrows; 2] = [narrows!("UQXTN.1", qxtn, 1; u8 u16 u32), narrows!("UQXTN", qxtn, 8; u8 u16 u32)];
const SQXTUN: [Narrows; 2] = [narrows!("SQXTUN.1", qxtun, 1; i8 i16 i32), narrows!("SQXTUN", qxtun, 8; i8 i16 i32)];
const SHLL: Narrows = narrows!("SHLL", shll; u8 u16 u32);

fn not<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let n = m.q(i.rn());
    set_vd(m, i, M::Quad::from_halves(!n.lo(), !n.hi()));
    Ok(())
}

/// Vd = f(Vn, Vd).
fn update<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let (n, d) = (m.q(i.rn()), m.q(i.rd()));
    let result = m.pure(f, [n, d, constant::<M>(0)]);
    set_vd(m, i, result);
    Ok(())
}

/// Vd = f(Vn, 0).
fn with_zero<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    unary(m, i, f)
}

/// Vd = f(0, Vn).
fn zero_with<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let (n, zero) = (m.q(i.rn()), constant::<M>(0));
    let result = m.pure(f, [zero, n, zero]);
    set_vd(m, i, result);
    Ok(())
}

/// Half of Vd = f(Vn).
pub(super) fn narrow<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let n = m.q(i.rn());
    let result = m.pure(f, [n, constant::<M>(0), constant::<M>(0)]);
    set_narrow(m, i, result);
    Ok(())
}

/// Vd = f(half of Vn).
pub(super) fn widen<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let n = part(m, i, i.rn());
    let result = m.pure(f, [n, constant::<M>(0), constant::<M>(0)]);
    m.set_q(i.rd(), result);
    Ok(())
}

/// Elements reversed within groups of `GROUP` bits.
fn rev<E: Lane, const GROUP: usize>(_: &mut FpEnv, operands: [u128; 3]) -> u128 {
    // Tables have entries that no encoding uses, where an element is as long as its group or longer.
    let flip = (GROUP / E::BITS as usize).saturating_sub(1);
    build(E::COUNT, operands, |[a, ..], i| E::read(a, i ^ flip))
}

fn cls<E: Lane>(_: &mut FpEnv, [a, ..]: [u128; 3]) -> u128 {
    E::map(a, |x| E::of(u64::from((x ^ x >> (E::BITS - 1)).clz() - 1)))
}

fn clz<E: Lane>(_: &mut FpEnv, [a, ..]: [u128; 3]) -> u128 {
    E::map(a, |x| E::of(u64::from(x.clz())))
}

/// The bits of each byte, counted in pairs, fours, eights, all bytes at once.
fn cnt(_: &mut FpEnv, [a, ..]: [u128; 3]) -> u128 {
    let bytes = |byte: u8| u128::from_le_bytes([byte; 16]);
    let pairs = a - (a >> 1 & bytes(0x55));
    let fours = (pairs & bytes(0x33)) + (pairs >> 2 & bytes(0x33));
    (fours + (fours >> 4)) & bytes(0x0f)
}

fn rbit(_: &mut FpEnv, [a, ..]: [u128; 3]) -> u128 {
    u8::map(a, u8::reverse_bits)
}

fn abs<E: Lane>(_: &mut FpEnv, [a, ..]: [u128; 3]) -> u128 {
    E::map(a, |x| if x < E::ZERO { E::ZERO.minus(x) } else { x })
}

fn neg<E: Lane>(_: &mut FpEnv, [a, ..]: [u128; 3]) -> u128 {
    E::map(a, |x| E::ZERO.minus(x))
}

/// The sum of neighbours number `i`.
fn pair_sum<E: Narrow>(a: &[u8; 16], i: usize) -> E::Double {
    E::read(a, 2 * i).wide() + E::read(a, 2 * i + 1).wide()
}

fn addlp<E: Narrow>(_: &mut FpEnv, operands: [u128; 3]) -> u128 {
    build(E::Double::COUNT, operands, |[a, ..], i| pair_sum::<E>(a, i))
}

fn adalp<E: Narrow>(_: &mut FpEnv, operands: [u128; 3]) -> u128 {
    build(E::Double::COUNT, operands, |[a, d, _], i| E::Double::read(d, i).plus(pair_sum::<E>(a, i)))
}

/// A signed element's bits taken as unsigned.
fn unsigned<E: Lane>(x: E) -> E::Wide {
    if x < E::ZERO { x.wide() + (E::Wide::ONE << E::BITS) } else { x.wide() }
}

fn suqadd<E: Lane, const FORM: usize>(env: &mut FpEnv, [a, d, _]: [u128; 3]) -> u128 {
    E::some2(count(FORM, E::BITS), a, d, |x, d| saturate(env, unsigned(x) + d.wide()))
}

fn usqadd<E: Lane, const FORM: usize>(env: &mut FpEnv, [a, d, _]: [u128; 3]) -> u128 {
    E::some2(count(FORM, E::BITS), a, d, |x, d| saturate_unsigned(env, x.wide() + unsigned(d)))
}

fn qabs<E: Lane, const FORM: usize>(env: &mut FpEnv, [a, ..]: [u128; 3]) -> u128 {
    E::some2(count(FORM, E::BITS), a, 0, |x, _| {
        saturate(env, if x < E::ZERO { E::Wide::ZERO - x.wide() } else { x.wide() })
    })
}

fn qneg<E: Lane, const FORM: usize>(env: &mut FpEnv, [a, ..]: [u128; 3]) -> u128 {
    E::some2(count(FORM, E::BITS), a, 0, |x, _| saturate(env, E::Wide::ZERO - x.wide()))
}

fn xtn<E: Narrow>(_: &mut FpEnv, [a, ..]: [u128; 3]) -> u128 {
    E::narrow2(8, a, 0, |x, _| E::low(x))
}

/// The first `COUNT` wide lanes (at most all), narrowed.
fn qxtn<E: Narrow, const COUNT: usize>(env: &mut FpEnv, [a, ..]: [u128; 3]) -> u128 {
    E::narrow2(COUNT, a, 0, |x, _| saturate(env, x))
}

fn qxtun<E: Narrow, const COUNT: usize>(env: &mut FpEnv, [a, ..]: [u128; 3]) -> u128 {
    E::narrow2(COUNT, a, 0, |x, _| saturate_unsigned(env, x))
}

fn shll<E: Narrow>(_: &mut FpEnv, [a, ..]: [u128; 3]) -> u128 {
    E::widen2(a, 0, |x, _| x << E::BITS)
}
