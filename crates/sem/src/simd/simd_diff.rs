//! Integers, three registers of different types: widening and narrowing; and the saturating widening ones also as
//! scalars. DDI 0487 C4.1 "Advanced SIMD three different", "Advanced SIMD scalar three different".

use crate::insn::Insn;
use crate::machine::{Done, FpEnv, Machine, Pure};
use crate::simd::lanes::{Int, Lane, Narrow, build};
use crate::simd::pures::Narrows;
use crate::simd::reserved::{no_d, only_b, only_h_s};
use crate::simd::saturate::saturate;
use crate::simd::{constant, is_scalar, part, set_narrow, size};
use crate::spec::plain;

crate::encodings! {
    "PMULL_*" =>
        "size=3 & Q=0? * {Vd.1q}, {Vn.1d}, {Vm.1d} | size=3? *2 {Vd.1q}, {Vn.2d}, {Vm.2d} \
         | *{2} {Vd.Ta}, {Vn.T}, {Vm.T}";
    "*_asimddiff_L" => "*{2} {Vd.Ta}, {Vn.T}, {Vm.T}";
    "*_asimddiff_W" => "*{2} {Vd.Ta}, {Vn.Ta}, {Vm.T}";
    "*_asimddiff_N" => "*{2} {Vd.T}, {Vn.Ta}, {Vm.Ta}";
    "*_asisddiff_only" => "* {Zwd}, {Zn}, {Zm}";
    SADDL_asimddiff_L      "0 Q 001110 zz 1 mmmmm 000000 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| long(m, i, SADDL[size(i)]);
    SADDW_asimddiff_W      "0 Q 001110 zz 1 mmmmm 000100 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| wide(m, i, SADDW[size(i)]);
    SSUBL_asimddiff_L      "0 Q 001110 zz 1 mmmmm 001000 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| long(m, i, SSUBL[size(i)]);
    SSUBW_asimddiff_W      "0 Q 001110 zz 1 mmmmm 001100 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| wide(m, i, SSUBW[size(i)]);
    ADDHN_asimddiff_N      "0 Q 001110 zz 1 mmmmm 010000 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| high_narrow(m, i, ADDHN[size(i)]);
    SABAL_asimddiff_L      "0 Q 001110 zz 1 mmmmm 010100 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| long(m, i, SABAL[size(i)]);
    SUBHN_asimddiff_N      "0 Q 001110 zz 1 mmmmm 011000 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| high_narrow(m, i, SUBHN[size(i)]);
    SABDL_asimddiff_L      "0 Q 001110 zz 1 mmmmm 011100 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| long(m, i, SABDL[size(i)]);
    SMLAL_asimddiff_L      "0 Q 001110 zz 1 mmmmm 100000 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| long(m, i, SMLAL[size(i)]);
    SQDMLAL_asimddiff_L    "0 Q 001110 zz 1 mmmmm 100100 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| long(m, i, SQDMLAL[usize::from(!is_scalar(i))][size(i) - 1]);
    SMLSL_asimddiff_L      "0 Q 001110 zz 1 mmmmm 101000 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| long(m, i, SMLSL[size(i)]);
    SQDMLSL_asimddiff_L    "0 Q 001110 zz 1 mmmmm 101100 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| long(m, i, SQDMLSL[usize::from(!is_scalar(i))][size(i) - 1]);
    SMULL_asimddiff_L      "0 Q 001110 zz 1 mmmmm 110000 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| long(m, i, SMULL[size(i)]);
    SQDMULL_asimddiff_L    "0 Q 001110 zz 1 mmmmm 110100 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| long(m, i, SQDMULL[usize::from(!is_scalar(i))][size(i) - 1]);
    PMULL_asimddiff_L      "0 Q 001110 zz 1 mmmmm 111000 nnnnn ddddd" FEAT_AdvSIMD next only_b => |m, i| long(m, i, PMULL);
    UADDL_asimddiff_L      "0 Q 101110 zz 1 mmmmm 000000 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| long(m, i, UADDL[size(i)]);
    UADDW_asimddiff_W      "0 Q 101110 zz 1 mmmmm 000100 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| wide(m, i, UADDW[size(i)]);
    USUBL_asimddiff_L      "0 Q 101110 zz 1 mmmmm 001000 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| long(m, i, USUBL[size(i)]);
    USUBW_asimddiff_W      "0 Q 101110 zz 1 mmmmm 001100 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| wide(m, i, USUBW[size(i)]);
    RADDHN_asimddiff_N     "0 Q 101110 zz 1 mmmmm 010000 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| high_narrow(m, i, RADDHN[size(i)]);
    UABAL_asimddiff_L      "0 Q 101110 zz 1 mmmmm 010100 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| long(m, i, UABAL[size(i)]);
    RSUBHN_asimddiff_N     "0 Q 101110 zz 1 mmmmm 011000 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| high_narrow(m, i, RSUBHN[size(i)]);
    UABDL_asimddiff_L      "0 Q 101110 zz 1 mmmmm 011100 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| long(m, i, UABDL[size(i)]);
    UMLAL_asimddiff_L      "0 Q 101110 zz 1 mmmmm 100000 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| long(m, i, UMLAL[size(i)]);
    UMLSL_asimddiff_L      "0 Q 101110 zz 1 mmmmm 101000 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| long(m, i, UMLSL[size(i)]);
    UMULL_asimddiff_L      "0 Q 101110 zz 1 mmmmm 110000 nnnnn ddddd" FEAT_AdvSIMD next no_d => |m, i| long(m, i, UMULL[size(i)]);
    SQDMLAL_asisddiff_only "01011110 zz 1 mmmmm 100100 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| long(m, i, SQDMLAL[usize::from(!is_scalar(i))][size(i) - 1]);
    SQDMLSL_asisddiff_only "01011110 zz 1 mmmmm 101100 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| long(m, i, SQDMLSL[usize::from(!is_scalar(i))][size(i) - 1]);
    SQDMULL_asisddiff_only "01011110 zz 1 mmmmm 110100 nnnnn ddddd" FEAT_AdvSIMD next only_h_s => |m, i| long(m, i, SQDMULL[usize::from(!is_scalar(i))][size(i) - 1]);
    PMULL_asimddiff_L      "0 Q 001110111 mmmmm 111000 nnnnn ddddd" FEAT_PMULL next plain => |m, i| long(m, i, PMULL_1Q);
}

/// Vd = f(half of Vn, half of Vm, Vd).
fn long<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let operands = [part(m, i, i.rn()), part(m, i, i.rm()), m.q(i.rd())];
    let result = m.pure(f, operands);
    m.set_q(i.rd(), result);
    Ok(())
}

/// Vd = f(Vn, half of Vm).
fn wide<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let operands = [m.q(i.rn()), part(m, i, i.rm()), constant::<M>(0)];
    let result = m.pure(f, operands);
    m.set_q(i.rd(), result);
    Ok(())
}

/// Half of Vd = f(Vn, Vm).
fn high_narrow<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let operands = [m.q(i.rn()), m.q(i.rm()), constant::<M>(0)];
    let result = m.pure(f, operands);
    set_narrow(m, i, result);
    Ok(())
}

const SADDL: Narrows = narrows!("SADDL", addl; i8 i16 i32);
const UADDL: Narrows = narrows!("UADDL", addl; u8 u16 u32);
const SSUBL: Narrows = narrows!("SSUBL", subl; i8 i16 i32);
const USUBL: Narrows = narrows!("USUBL", subl; u8 u16 u32);
const SADDW: Narrows = narrows!("SADDW", addw; i8 i16 i32);
const UADDW: Narrows = narrows!("UADDW", addw; u8 u16 u32);
const SSUBW: Narrows = narrows!("SSUBW", subw; i8 i16 i32);
const USUBW: Narrows = narrows!("USUBW", subw; u8 u16 u32);
const SABDL: Narrows = narrows!("SABDL", abdl; i8 i16 i32);
const UABDL: Narrows = narrows!("UABDL", abdl; u8 u16 u32);
const SABAL: Narrows = narrows!("SABAL", abal; i8 i16 i32);
const UABAL: Narrows = narrows!("UABAL", abal; u8 u16 u32);
pub(super) const SMULL: Narrows = narrows!("SMULL", mull; i8 i16 i32);
pub(super) const UMULL: Narrows = narrows!("UMULL", mull; u8 u16 u32);
pub(super) const SMLAL: Narrows = narrows!("SMLAL", mlal; i8 i16 i32);
pub(super) const UMLAL: Narrows = narrows!("UMLAL", mlal; u8 u16 u32);
pub(super) const SMLSL: Narrows = narrows!("SMLSL", mlsl; i8 i16 i32);
pub(super) const UMLSL: Narrows = narrows!("UMLSL", mlsl; u8 u16 u32);
const ADDHN: Narrows = narrows!("ADDHN", addhn, false; u8 u16 u32);
const RADDHN: Narrows = narrows!("RADDHN", addhn, true; u8 u16 u32);
const SUBHN: Narrows = narrows!("SUBHN", subhn, false; u8 u16 u32);
const RSUBHN: Narrows = narrows!("RSUBHN", subhn, true; u8 u16 u32);
const PMULL: Pure = Pure { name: "PMULL.B", run: pmull };
const PMULL_1Q: Pure = Pure { name: "PMULL.D", run: pmull_1q };

/// For elements of 16 and 32 bits: scalar, vector.
macro_rules! saturating {
    ($name:literal, $f:ident) => {
        [
            [
                Pure { name: concat!($name, ".1.H"), run: $f::<i16, 1> },
                Pure { name: concat!($name, ".1.S"), run: $f::<i32, 1> },
            ],
            [
                Pure { name: concat!($name, ".H"), run: $f::<i16, 8> },
                Pure { name: concat!($name, ".S"), run: $f::<i32, 8> },
            ],
        ]
    };
}
pub(super) const SQDMULL: [[Pure; 2]; 2] = saturating!("SQDMULL", qdmull);
pub(super) const SQDMLAL: [[Pure; 2]; 2] = saturating!("SQDMLAL", qdmlal);
pub(super) const SQDMLSL: [[Pure; 2]; 2] = saturating!("SQDMLSL", qdmlsl);

fn addl<E: Narrow>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::widen2(a, b, |x, y| x + y)
}

fn subl<E: Narrow>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::widen2(a, b, E::Double::minus)
}

fn addw<E: Narrow>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::widen3(a, b, 0, |x, y, _| x.plus(y))
}

fn subw<E: Narrow>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::widen3(a, b, 0, |x, y, _| x.minus(y))
}

fn distance<E: Lane>(x: E, y: E) -> E {
    if x > y { x - y } else { y - x }
}

fn abdl<E: Narrow>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::widen2(a, b, distance)
}

fn abal<E: Narrow>(_: &mut FpEnv, [a, b, d]: [u128; 3]) -> u128 {
    E::widen3(d, a, b, |d, x, y| d.plus(distance(x, y)))
}

fn mull<E: Narrow>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::widen2(a, b, |x, y| x * y)
}

fn mlal<E: Narrow>(_: &mut FpEnv, [a, b, d]: [u128; 3]) -> u128 {
    E::widen3(d, a, b, |d, x, y| d.plus(x * y))
}

fn mlsl<E: Narrow>(_: &mut FpEnv, [a, b, d]: [u128; 3]) -> u128 {
    E::widen3(d, a, b, |d, x, y| d.minus(x * y))
}

/// The high half of a sum, rounded if `ROUND`.
fn high<E: Narrow, const ROUND: bool>(sum: E::Double) -> E {
    let round = if ROUND { E::Double::ONE << (E::BITS - 1) } else { E::Double::ZERO };
    E::low(sum.plus(round) >> E::BITS)
}

fn addhn<E: Narrow, const ROUND: bool>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::narrow2(8, a, b, |x, y| high::<E, ROUND>(x.plus(y)))
}

fn subhn<E: Narrow, const ROUND: bool>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    E::narrow2(8, a, b, |x, y| high::<E, ROUND>(x.minus(y)))
}

/// The doubled product, saturated.
fn doubled<E: Narrow>(env: &mut FpEnv, x: E, y: E) -> E::Double {
    let product = x.wide() * y.wide();
    saturate(env, product.wide() + product.wide())
}

/// `f` of the first `COUNT` lanes (at most the low half's): wide d, x, y.
fn wide_lanes<E: Narrow, const COUNT: usize>(
    operands: [u128; 3],
    mut f: impl FnMut(E::Double, E, E) -> E::Double,
) -> u128 {
    build(COUNT.min(E::Double::COUNT), operands, |[a, b, d], i| f(E::Double::read(d, i), E::read(a, i), E::read(b, i)))
}

fn qdmull<E: Narrow, const COUNT: usize>(env: &mut FpEnv, operands: [u128; 3]) -> u128 {
    wide_lanes::<E, COUNT>(operands, |_, x, y| doubled(env, x, y))
}

fn qdmlal<E: Narrow, const COUNT: usize>(env: &mut FpEnv, operands: [u128; 3]) -> u128 {
    wide_lanes::<E, COUNT>(operands, |d, x, y| {
        let product = doubled(env, x, y);
        saturate(env, d.wide() + product.wide())
    })
}

fn qdmlsl<E: Narrow, const COUNT: usize>(env: &mut FpEnv, operands: [u128; 3]) -> u128 {
    wide_lanes::<E, COUNT>(operands, |d, x, y| {
        let product = doubled(env, x, y);
        saturate(env, d.wide() - product.wide())
    })
}

/// Polynomial multiplication over {0, 1}.
fn pmull(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    u8::widen2(a, b, |x, y| (0..8).fold(0, |sum, bit| if y >> bit & 1 == 1 { sum ^ x << bit } else { sum }))
}

fn pmull_1q(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    let (x, y) = (a as u64, b as u64);
    // The upper half is the lower half of the reversed numbers' product, reversed, and one place short.
    let high = polynomial_low(x.reverse_bits(), y.reverse_bits()).reverse_bits() >> 1;
    u128::from(high) << 64 | u128::from(polynomial_low(x, y))
}

/// The low half of a polynomial product, by integer products of every fourth bit: the sum of at most 15 ones in a
/// place stays within the three places above it, which are masked off (16 ones meet only in the top place).
fn polynomial_low(x: u64, y: u64) -> u64 {
    let mask = |i: usize| 0x1111_1111_1111_1111u64 << i;
    (0..4).fold(0, |sum, place| {
        let products = (0..4).fold(0, |part, i| {
            let j = (4 + place - i) % 4;
            part ^ (x & mask(i)).wrapping_mul(y & mask(j))
        });
        sum | products & mask(place)
    })
}
