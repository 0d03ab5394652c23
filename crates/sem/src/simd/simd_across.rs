//! Integers across lanes, and the scalar ADDP. DDI 0487 C4.1 "Advanced SIMD across lanes", "Advanced SIMD scalar
//! pairwise".

use crate::insn::Insn;
use crate::machine::{Done, FpEnv, Machine};
use crate::simd::lanes::Lane;
use crate::simd::pures::{Forms, count};
use crate::simd::reserved::four_lanes;
use crate::simd::{constant, form, set_scalar, size};
use crate::spec::plain;
use crate::word::Quad;

crate::encodings! {
    "*ADDLV_*" => "* {Zwd}, {Vn.T}";
    "*_asimdall_only" => "* {Zd}, {Vn.T}";
    "ADDP_*" => "* {Dd}, {Vn.2d}";
    SADDLV_asimdall_only "0 Q 001110 zz 110000001110 nnnnn ddddd" FEAT_AdvSIMD next four_lanes => |m, i| across(m, i, &SADDLV);
    SMAXV_asimdall_only  "0 Q 001110 zz 110000101010 nnnnn ddddd" FEAT_AdvSIMD next four_lanes => |m, i| across(m, i, &SMAXV);
    SMINV_asimdall_only  "0 Q 001110 zz 110001101010 nnnnn ddddd" FEAT_AdvSIMD next four_lanes => |m, i| across(m, i, &SMINV);
    ADDV_asimdall_only   "0 Q 001110 zz 110001101110 nnnnn ddddd" FEAT_AdvSIMD next four_lanes => |m, i| across(m, i, &ADDV);
    UADDLV_asimdall_only "0 Q 101110 zz 110000001110 nnnnn ddddd" FEAT_AdvSIMD next four_lanes => |m, i| across(m, i, &UADDLV);
    UMAXV_asimdall_only  "0 Q 101110 zz 110000101010 nnnnn ddddd" FEAT_AdvSIMD next four_lanes => |m, i| across(m, i, &UMAXV);
    UMINV_asimdall_only  "0 Q 101110 zz 110001101010 nnnnn ddddd" FEAT_AdvSIMD next four_lanes => |m, i| across(m, i, &UMINV);
    ADDP_asisdpair_only  "0101111011110001101110 nnnnn ddddd" FEAT_AdvSIMD next plain => add_pair;
}

fn across<M: Machine>(m: &mut M, i: Insn, table: &Forms<4>) -> Done<M> {
    m.check_fp()?;
    let n = m.q(i.rn());
    let result = m.pure(table[form(i)][size(i)], [n, constant::<M>(0), constant::<M>(0)]);
    set_scalar(m, i.rd(), 64, result.lo());
    Ok(())
}

fn add_pair<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let n = m.q(i.rn());
    set_scalar(m, i.rd(), 64, n.lo() + n.hi());
    Ok(())
}

const SADDLV: Forms<4> = forms!("SADDLV", addlv; i8 i16 i32 i64);
const UADDLV: Forms<4> = forms!("UADDLV", addlv; u8 u16 u32 u64);
const ADDV: Forms<4> = forms!("ADDV", addv; u8 u16 u32 u64);
const SMAXV: Forms<4> = forms!("SMAXV", maxv; i8 i16 i32 i64);
const UMAXV: Forms<4> = forms!("UMAXV", maxv; u8 u16 u32 u64);
const SMINV: Forms<4> = forms!("SMINV", minv; i8 i16 i32 i64);
const UMINV: Forms<4> = forms!("UMINV", minv; u8 u16 u32 u64);

/// The first lane, and the others of a form.
fn lanes<E: Lane, const FORM: usize>(a: u128) -> (E, impl Iterator<Item = E>) {
    let bytes = a.to_le_bytes();
    (E::read(&bytes, 0), (1..count(FORM, E::BITS)).map(move |i| E::read(&bytes, i)))
}

/// `f` over a form's lanes, from the first one.
fn reduce<E: Lane, const FORM: usize>(a: u128, f: impl Fn(E, E) -> E) -> u64 {
    let (first, others) = lanes::<E, FORM>(a);
    others.fold(first, f).bits()
}

/// The sum in twice the element's size.
fn addlv<E: Lane, const FORM: usize>(_: &mut FpEnv, [a, ..]: [u128; 3]) -> u128 {
    // Sign- or zero-extended to 64 bits, summed there, cut to twice the element's size.
    let extend = |x: E| if x < E::ZERO { x.bits() | (u64::MAX << (E::BITS - 1)) } else { x.bits() };
    let (first, others) = lanes::<E, FORM>(a);
    let sum = others.fold(extend(first), |sum, x| sum.wrapping_add(extend(x)));
    u128::from(if E::BITS < 32 { sum & ((1 << (2 * E::BITS)) - 1) } else { sum })
}

fn addv<E: Lane, const FORM: usize>(_: &mut FpEnv, [a, ..]: [u128; 3]) -> u128 {
    u128::from(reduce::<E, FORM>(a, E::plus))
}

fn maxv<E: Lane, const FORM: usize>(_: &mut FpEnv, [a, ..]: [u128; 3]) -> u128 {
    u128::from(reduce::<E, FORM>(a, E::max))
}

fn minv<E: Lane, const FORM: usize>(_: &mut FpEnv, [a, ..]: [u128; 3]) -> u128 {
    u128::from(reduce::<E, FORM>(a, E::min))
}
