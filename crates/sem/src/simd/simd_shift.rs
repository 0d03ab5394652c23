//! Shifts by immediate: vector and scalar. DDI 0487 C4.1 "Advanced SIMD shift by immediate", "Advanced SIMD scalar
//! shift by immediate". The distance is the prepared immediate.

use crate::insn::Insn;
use crate::machine::{Done, FpEnv, Machine, Pure};
use crate::simd::lanes::{Lane, Narrow};
use crate::simd::pures::{Forms, Narrows, Sizes, count};
use crate::simd::reserved::{immh_log2, shift_left, shift_left_long, shift_right, shift_right_narrow};
use crate::simd::saturate::{saturate, saturate_unsigned};
use crate::simd::{constant, form, is_scalar, part, set_narrow, set_vd};

crate::encodings! {
    "SSHLL_*" => "immb=0 & immhpow? sxtl{2} {Vd.Ia}, {Vn.I} | *{2} {Vd.Ia}, {Vn.I}, #{shl}";
    "USHLL_*" => "immb=0 & immhpow? uxtl{2} {Vd.Ia}, {Vn.I} | *{2} {Vd.Ia}, {Vn.I}, #{shl}";
    "*_asimdshf_N" => "*{2} {Vd.I}, {Vn.Ia}, #{shr}";
    "*SHL*_asimdshf_R" => "* {Vd.I}, {Vn.I}, #{shl}";
    "SLI_asimdshf_R" => "* {Vd.I}, {Vn.I}, #{shl}";
    "*_asimdshf_R" => "* {Vd.I}, {Vn.I}, #{shr}";
    "*_asisdshf_N" => "* {Id}, {Iwn}, #{shr}";
    "*SHL*_asisdshf_R" => "* {Id}, {In}, #{shl}";
    "SLI_asisdshf_R" => "* {Id}, {In}, #{shl}";
    "*_asisdshf_R" => "* {Id}, {In}, #{shr}";
    SSHR_asimdshf_R     "0 Q 0011110 iiiiiii 000001 nnnnn ddddd" FEAT_AdvSIMD next shift_right => |m, i| shift(m, i, SSHR[log2(i)]);
    SSRA_asimdshf_R     "0 Q 0011110 iiiiiii 000101 nnnnn ddddd" FEAT_AdvSIMD next shift_right => |m, i| shift(m, i, SSRA[log2(i)]);
    SRSHR_asimdshf_R    "0 Q 0011110 iiiiiii 001001 nnnnn ddddd" FEAT_AdvSIMD next shift_right => |m, i| shift(m, i, SRSHR[log2(i)]);
    SRSRA_asimdshf_R    "0 Q 0011110 iiiiiii 001101 nnnnn ddddd" FEAT_AdvSIMD next shift_right => |m, i| shift(m, i, SRSRA[log2(i)]);
    SHL_asimdshf_R      "0 Q 0011110 iiiiiii 010101 nnnnn ddddd" FEAT_AdvSIMD next shift_left => |m, i| shift(m, i, SHL[log2(i)]);
    SQSHL_asimdshf_R    "0 Q 0011110 iiiiiii 011101 nnnnn ddddd" FEAT_AdvSIMD next shift_left => |m, i| shift(m, i, SQSHL[form(i)][log2(i)]);
    SHRN_asimdshf_N     "0 Q 0011110 iiiiiii 100001 nnnnn ddddd" FEAT_AdvSIMD next shift_right_narrow => |m, i| narrow(m, i, SHRN[log2(i)]);
    RSHRN_asimdshf_N    "0 Q 0011110 iiiiiii 100011 nnnnn ddddd" FEAT_AdvSIMD next shift_right_narrow => |m, i| narrow(m, i, RSHRN[log2(i)]);
    SQSHRN_asimdshf_N   "0 Q 0011110 iiiiiii 100101 nnnnn ddddd" FEAT_AdvSIMD next shift_right_narrow => |m, i| narrow(m, i, SQSHRN[usize::from(!is_scalar(i))][log2(i)]);
    SQRSHRN_asimdshf_N  "0 Q 0011110 iiiiiii 100111 nnnnn ddddd" FEAT_AdvSIMD next shift_right_narrow => |m, i| narrow(m, i, SQRSHRN[usize::from(!is_scalar(i))][log2(i)]);
    SSHLL_asimdshf_L    "0 Q 0011110 iiiiiii 101001 nnnnn ddddd" FEAT_AdvSIMD next shift_left_long => |m, i| widen(m, i, SSHLL[log2(i)]);
    USHR_asimdshf_R     "0 Q 1011110 iiiiiii 000001 nnnnn ddddd" FEAT_AdvSIMD next shift_right => |m, i| shift(m, i, USHR[log2(i)]);
    USRA_asimdshf_R     "0 Q 1011110 iiiiiii 000101 nnnnn ddddd" FEAT_AdvSIMD next shift_right => |m, i| shift(m, i, USRA[log2(i)]);
    URSHR_asimdshf_R    "0 Q 1011110 iiiiiii 001001 nnnnn ddddd" FEAT_AdvSIMD next shift_right => |m, i| shift(m, i, URSHR[log2(i)]);
    URSRA_asimdshf_R    "0 Q 1011110 iiiiiii 001101 nnnnn ddddd" FEAT_AdvSIMD next shift_right => |m, i| shift(m, i, URSRA[log2(i)]);
    SRI_asimdshf_R      "0 Q 1011110 iiiiiii 010001 nnnnn ddddd" FEAT_AdvSIMD next shift_right => |m, i| shift(m, i, SRI[log2(i)]);
    SLI_asimdshf_R      "0 Q 1011110 iiiiiii 010101 nnnnn ddddd" FEAT_AdvSIMD next shift_left => |m, i| shift(m, i, SLI[log2(i)]);
    SQSHLU_asimdshf_R   "0 Q 1011110 iiiiiii 011001 nnnnn ddddd" FEAT_AdvSIMD next shift_left => |m, i| shift(m, i, SQSHLU[form(i)][log2(i)]);
    UQSHL_asimdshf_R    "0 Q 1011110 iiiiiii 011101 nnnnn ddddd" FEAT_AdvSIMD next shift_left => |m, i| shift(m, i, UQSHL[form(i)][log2(i)]);
    SQSHRUN_asimdshf_N  "0 Q 1011110 iiiiiii 100001 nnnnn ddddd" FEAT_AdvSIMD next shift_right_narrow => |m, i| narrow(m, i, SQSHRUN[usize::from(!is_scalar(i))][log2(i)]);
    SQRSHRUN_asimdshf_N "0 Q 1011110 iiiiiii 100011 nnnnn ddddd" FEAT_AdvSIMD next shift_right_narrow => |m, i| narrow(m, i, SQRSHRUN[usize::from(!is_scalar(i))][log2(i)]);
    UQSHRN_asimdshf_N   "0 Q 1011110 iiiiiii 100101 nnnnn ddddd" FEAT_AdvSIMD next shift_right_narrow => |m, i| narrow(m, i, UQSHRN[usize::from(!is_scalar(i))][log2(i)]);
    UQRSHRN_asimdshf_N  "0 Q 1011110 iiiiiii 100111 nnnnn ddddd" FEAT_AdvSIMD next shift_right_narrow => |m, i| narrow(m, i, UQRSHRN[usize::from(!is_scalar(i))][log2(i)]);
    USHLL_asimdshf_L    "0 Q 1011110 iiiiiii 101001 nnnnn ddddd" FEAT_AdvSIMD next shift_left_long => |m, i| widen(m, i, USHLL[log2(i)]);
    SSHR_asisdshf_R     "0101111101 iiiiii 000001 nnnnn ddddd" FEAT_AdvSIMD next shift_right => |m, i| shift(m, i, SSHR[log2(i)]);
    SSRA_asisdshf_R     "0101111101 iiiiii 000101 nnnnn ddddd" FEAT_AdvSIMD next shift_right => |m, i| shift(m, i, SSRA[log2(i)]);
    SRSHR_asisdshf_R    "0101111101 iiiiii 001001 nnnnn ddddd" FEAT_AdvSIMD next shift_right => |m, i| shift(m, i, SRSHR[log2(i)]);
    SRSRA_asisdshf_R    "0101111101 iiiiii 001101 nnnnn ddddd" FEAT_AdvSIMD next shift_right => |m, i| shift(m, i, SRSRA[log2(i)]);
    SHL_asisdshf_R      "0101111101 iiiiii 010101 nnnnn ddddd" FEAT_AdvSIMD next shift_left => |m, i| shift(m, i, SHL[log2(i)]);
    SQSHL_asisdshf_R    "010111110 iiiiiii 011101 nnnnn ddddd" FEAT_AdvSIMD next shift_left => |m, i| shift(m, i, SQSHL[form(i)][log2(i)]);
    SQSHRN_asisdshf_N   "010111110 iiiiiii 100101 nnnnn ddddd" FEAT_AdvSIMD next shift_right_narrow => |m, i| narrow(m, i, SQSHRN[usize::from(!is_scalar(i))][log2(i)]);
    SQRSHRN_asisdshf_N  "010111110 iiiiiii 100111 nnnnn ddddd" FEAT_AdvSIMD next shift_right_narrow => |m, i| narrow(m, i, SQRSHRN[usize::from(!is_scalar(i))][log2(i)]);
    USHR_asisdshf_R     "0111111101 iiiiii 000001 nnnnn ddddd" FEAT_AdvSIMD next shift_right => |m, i| shift(m, i, USHR[log2(i)]);
    USRA_asisdshf_R     "0111111101 iiiiii 000101 nnnnn ddddd" FEAT_AdvSIMD next shift_right => |m, i| shift(m, i, USRA[log2(i)]);
    URSHR_asisdshf_R    "0111111101 iiiiii 001001 nnnnn ddddd" FEAT_AdvSIMD next shift_right => |m, i| shift(m, i, URSHR[log2(i)]);
    URSRA_asisdshf_R    "0111111101 iiiiii 001101 nnnnn ddddd" FEAT_AdvSIMD next shift_right => |m, i| shift(m, i, URSRA[log2(i)]);
    SRI_asisdshf_R      "0111111101 iiiiii 010001 nnnnn ddddd" FEAT_AdvSIMD next shift_right => |m, i| shift(m, i, SRI[log2(i)]);
    SLI_asisdshf_R      "0111111101 iiiiii 010101 nnnnn ddddd" FEAT_AdvSIMD next shift_left => |m, i| shift(m, i, SLI[log2(i)]);
    SQSHLU_asisdshf_R   "011111110 iiiiiii 011001 nnnnn ddddd" FEAT_AdvSIMD next shift_left => |m, i| shift(m, i, SQSHLU[form(i)][log2(i)]);
    UQSHL_asisdshf_R    "011111110 iiiiiii 011101 nnnnn ddddd" FEAT_AdvSIMD next shift_left => |m, i| shift(m, i, UQSHL[form(i)][log2(i)]);
    SQSHRUN_asisdshf_N  "011111110 iiiiiii 100001 nnnnn ddddd" FEAT_AdvSIMD next shift_right_narrow => |m, i| narrow(m, i, SQSHRUN[usize::from(!is_scalar(i))][log2(i)]);
    SQRSHRUN_asisdshf_N "011111110 iiiiiii 100011 nnnnn ddddd" FEAT_AdvSIMD next shift_right_narrow => |m, i| narrow(m, i, SQRSHRUN[usize::from(!is_scalar(i))][log2(i)]);
    UQSHRN_asisdshf_N   "011111110 iiiiiii 100101 nnnnn ddddd" FEAT_AdvSIMD next shift_right_narrow => |m, i| narrow(m, i, UQSHRN[usize::from(!is_scalar(i))][log2(i)]);
    UQRSHRN_asisdshf_N  "011111110 iiiiiii 100111 nnnnn ddddd" FEAT_AdvSIMD next shift_right_narrow => |m, i| narrow(m, i, UQRSHRN[usize::from(!is_scalar(i))][log2(i)]);
}

/// The element's size by `immh`.
fn log2(i: Insn) -> usize {
    immh_log2(i.word()) as usize
}

/// Vd = f(Vn, distance, Vd).
fn shift<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let operands = [m.q(i.rn()), constant::<M>(i.imm), m.q(i.rd())];
    let result = m.pure(f, operands);
    set_vd(m, i, result);
    Ok(())
}

/// Half of Vd = f(Vn, distance).
fn narrow<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let n = m.q(i.rn());
    let result = m.pure(f, [n, constant::<M>(i.imm), constant::<M>(0)]);
    set_narrow(m, i, result);
    Ok(())
}

/// Vd = f(half of Vn, distance).
fn widen<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let n = part(m, i, i.rn());
    let result = m.pure(f, [n, constant::<M>(i.imm), constant::<M>(0)]);
    m.set_q(i.rd(), result);
    Ok(())
}

const SSHR: Sizes = sizes!("SSHR", shr; i8 i16 i32 i64);
const USHR: Sizes = sizes!("USHR", shr; u8 u16 u32 u64);
const SSRA: Sizes = sizes!("SSRA", sra; i8 i16 i32 i64);
const USRA: Sizes = sizes!("USRA", sra; u8 u16 u32 u64);
const SRSHR: Sizes = sizes!("SRSHR", rshr; i8 i16 i32 i64);
const URSHR: Sizes = sizes!("URSHR", rshr; u8 u16 u32 u64);
const SRSRA: Sizes = sizes!("SRSRA", rsra; i8 i16 i32 i64);
const URSRA: Sizes = sizes!("URSRA", rsra; u8 u16 u32 u64);
const SRI: Sizes = sizes!("SRI", sri; u8 u16 u32 u64);
const SHL: Sizes = sizes!("SHL", shl; u8 u16 u32 u64);
const SLI: Sizes = sizes!("SLI", sli; u8 u16 u32 u64);
const SQSHL: Forms<4> = forms!("SQSHL.imm", qshl; i8 i16 i32 i64);
const UQSHL: Forms<4> = forms!("UQSHL.imm", qshl; u8 u16 u32 u64);
const SQSHLU: Forms<4> = forms!("SQSHLU", qshlu; i8 i16 i32 i64);
const SHRN: Narrows = narrows!("SHRN", shrn; u8 u16 u32);
const RSHRN: Narrows = narrows!("RSHRN", rshrn; u8 u16 u32);
const SSHLL: Narrows = narrows!("SSHLL", shll; i8 i16 i32);
const USHLL: Narrows = narrows!("USHLL", shll; u8 u16 u32);
const SQSHRN: [Narrows; 2] =
    [narrows!("SQSHRN.1", qshrn, 1, false; i8 i16 i32), narrows!("SQSHRN", qshrn, 8, false; i8 i16 i32)];
const UQSHRN: [Narrows; 2] =
    [narrows!("UQSHRN.1", qshrn, 1, false; u8 u16 u32), narrows!("UQSHRN", qshrn, 8, false; u8 u16 u32)];
const SQRSHRN: [Narrows; 2] =
    [narrows!("SQRSHRN.1", qshrn, 1, true; i8 i16 i32), narrows!("SQRSHRN", qshrn, 8, true; i8 i16 i32)];
const UQRSHRN: [Narrows; 2] =
    [narrows!("UQRSHRN.1", qshrn, 1, true; u8 u16 u32), narrows!("UQRSHRN", qshrn, 8, true; u8 u16 u32)];
const SQSHRUN: [Narrows; 2] =
    [narrows!("SQSHRUN.1", qshrun, 1, false; i8 i16 i32), narrows!("SQSHRUN", qshrun, 8, false; i8 i16 i32)];
const SQRSHRUN: [Narrows; 2] =
    [narrows!("SQRSHRUN.1", qshrun, 1, true; i8 i16 i32), narrows!("SQRSHRUN", qshrun, 8, true; i8 i16 i32)];

/// `x >> by`, 1 to the element's size.
#[inline(always)]
fn right<E: Lane>(x: E, by: u32) -> E {
    // In two steps, for a shift by the whole size.
    (x >> (by - 1)) >> 1
}

/// `x >> by`, rounded: the last bit that falls out is added.
#[inline(always)]
fn right_rounded<E: Lane>(x: E, by: u32) -> E {
    right(x, by).plus(x >> (by - 1) & E::ONE)
}

fn shr<E: Lane>(_: &mut FpEnv, [a, by, _]: [u128; 3]) -> u128 {
    E::map(a, |x| right(x, by as u32))
}

fn sra<E: Lane>(_: &mut FpEnv, [a, by, d]: [u128; 3]) -> u128 {
    E::map2(a, d, |x, d| d.plus(right(x, by as u32)))
}

fn rshr<E: Lane>(_: &mut FpEnv, [a, by, _]: [u128; 3]) -> u128 {
    E::map(a, |x| right_rounded(x, by as u32))
}

fn rsra<E: Lane>(_: &mut FpEnv, [a, by, d]: [u128; 3]) -> u128 {
    E::map2(a, d, |x, d| d.plus(right_rounded(x, by as u32)))
}

fn sri<E: Lane>(_: &mut FpEnv, [a, by, d]: [u128; 3]) -> u128 {
    let inserted = right(E::MAX, by as u32);
    E::map2(a, d, |x, d| d & !inserted | right(x, by as u32))
}

fn shl<E: Lane>(_: &mut FpEnv, [a, by, _]: [u128; 3]) -> u128 {
    E::map(a, |x| x << by as u32)
}

fn sli<E: Lane>(_: &mut FpEnv, [a, by, d]: [u128; 3]) -> u128 {
    let inserted = E::MAX << by as u32;
    E::map2(a, d, |x, d| d & !inserted | x << by as u32)
}

fn qshl<E: Lane, const FORM: usize>(env: &mut FpEnv, [a, by, _]: [u128; 3]) -> u128 {
    E::some2(count(FORM, E::BITS), a, 0, |x, _| saturate(env, x.wide() << by as u32))
}

fn qshlu<E: Lane, const FORM: usize>(env: &mut FpEnv, [a, by, _]: [u128; 3]) -> u128 {
    E::some2(count(FORM, E::BITS), a, 0, |x, _| saturate_unsigned(env, x.wide() << by as u32))
}

fn shrn<E: Narrow>(_: &mut FpEnv, [a, by, _]: [u128; 3]) -> u128 {
    E::narrow2(8, a, 0, |x, _| E::low(right(x, by as u32)))
}

fn rshrn<E: Narrow>(_: &mut FpEnv, [a, by, _]: [u128; 3]) -> u128 {
    E::narrow2(8, a, 0, |x, _| E::low(right_rounded(x, by as u32)))
}

/// The first `COUNT` wide lanes (at most all), shifted right, rounded if `ROUND`.
fn shifted<E: Narrow, const COUNT: usize, const ROUND: bool>(
    a: u128,
    by: u32,
    mut finish: impl FnMut(E::Double) -> E,
) -> u128 {
    // The rounding cannot overflow: a shift by one or more has made room.
    E::narrow2(COUNT, a, 0, |x, _| finish(if ROUND { right_rounded(x, by) } else { right(x, by) }))
}

fn qshrn<E: Narrow, const COUNT: usize, const ROUND: bool>(env: &mut FpEnv, [a, by, _]: [u128; 3]) -> u128 {
    shifted::<E, COUNT, ROUND>(a, by as u32, |x| saturate(env, x))
}

fn qshrun<E: Narrow, const COUNT: usize, const ROUND: bool>(env: &mut FpEnv, [a, by, _]: [u128; 3]) -> u128 {
    shifted::<E, COUNT, ROUND>(a, by as u32, |x| saturate_unsigned(env, x))
}

fn shll<E: Narrow>(_: &mut FpEnv, [a, by, _]: [u128; 3]) -> u128 {
    E::widen2(a, 0, |x, _| x << by as u32)
}
