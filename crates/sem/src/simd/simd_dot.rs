//! Integer dot products and matrix multiplication: FEAT_DotProd, FEAT_I8MM.

use crate::insn::Insn;
use crate::machine::{Done, FpEnv, Machine, Pure};
use crate::simd::lanes::{Lane, build};
use crate::simd::reserved::only_s;
use crate::simd::simd_elem::indexed;
use crate::simd::{set_vd, ternary};
use crate::spec::plain;

crate::encodings! {
    "*_asimdsame2_D" => "* {Vd.Sq}, {Vn.Bq}, {Vm.Bq}";
    "*_asimdsame2_G" => "* {Vd.4s}, {Vn.16b}, {Vm.16b}";
    "*_asimdelem_D" => "* {Vd.Sq}, {Vn.Bq}, {elem4b}";
    SDOT_asimdsame2_D   "0 Q 001110 zz 0 mmmmm 100101 nnnnn ddddd" FEAT_DotProd next only_s => |m, i| ternary(m, i, SDOT);
    USDOT_asimdsame2_D  "0 Q 001110100 mmmmm 100111 nnnnn ddddd" FEAT_I8MM next plain => |m, i| ternary(m, i, USDOT);
    UDOT_asimdsame2_D   "0 Q 101110 zz 0 mmmmm 100101 nnnnn ddddd" FEAT_DotProd next only_s => |m, i| ternary(m, i, UDOT);
    SMMLA_asimdsame2_G  "01001110100 mmmmm 101001 nnnnn ddddd" FEAT_I8MM next plain => |m, i| ternary(m, i, SMMLA);
    USMMLA_asimdsame2_G "01001110100 mmmmm 101011 nnnnn ddddd" FEAT_I8MM next plain => |m, i| ternary(m, i, USMMLA);
    UMMLA_asimdsame2_G  "01101110100 mmmmm 101001 nnnnn ddddd" FEAT_I8MM next plain => |m, i| ternary(m, i, UMMLA);
    SDOT_asimdelem_D    "0 Q 001111 zz L M mmmm 1110 H 0 nnnnn ddddd" FEAT_DotProd next only_s => |m, i| by_element(m, i, SDOT);
    SUDOT_asimdelem_D   "0 Q 00111100 L M mmmm 1111 H 0 nnnnn ddddd" FEAT_I8MM next plain => |m, i| by_element(m, i, SUDOT);
    USDOT_asimdelem_D   "0 Q 00111110 L M mmmm 1111 H 0 nnnnn ddddd" FEAT_I8MM next plain => |m, i| by_element(m, i, USDOT);
    UDOT_asimdelem_D    "0 Q 101111 zz L M mmmm 1110 H 0 nnnnn ddddd" FEAT_DotProd next only_s => |m, i| by_element(m, i, UDOT);
}

/// Vd = f(Vn, element of 32 bits, Vd).
fn by_element<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let operands = [m.q(i.rn()), indexed(m, i, 2), m.q(i.rd())];
    let result = m.pure(f, operands);
    set_vd(m, i, result);
    Ok(())
}

const SDOT: Pure = Pure { name: "SDOT", run: dot::<true, true> };
const UDOT: Pure = Pure { name: "UDOT", run: dot::<false, false> };
const USDOT: Pure = Pure { name: "USDOT", run: dot::<false, true> };
const SUDOT: Pure = Pure { name: "SUDOT", run: dot::<true, false> };
const SMMLA: Pure = Pure { name: "SMMLA", run: mmla::<true, true> };
const UMMLA: Pure = Pure { name: "UMMLA", run: mmla::<false, false> };
const USMMLA: Pure = Pure { name: "USMMLA", run: mmla::<false, true> };

fn extend<const SIGNED: bool>(byte: u8) -> i32 {
    if SIGNED { i32::from(byte as i8) } else { i32::from(byte) }
}

/// The sum of the products of `COUNT` bytes.
fn products<const A_SIGNED: bool, const B_SIGNED: bool>(a: &[u8], b: &[u8]) -> i32 {
    a.iter().zip(b).map(|(&x, &y)| extend::<A_SIGNED>(x) * extend::<B_SIGNED>(y)).sum()
}

fn dot<const A_SIGNED: bool, const B_SIGNED: bool>(_: &mut FpEnv, operands: [u128; 3]) -> u128 {
    build(4, operands, |[a, b, d], i| {
        let at = 4 * i..4 * i + 4;
        i32::read(d, i).wrapping_add(products::<A_SIGNED, B_SIGNED>(&a[at.clone()], &b[at]))
    })
}

/// Vd is a 2 by 2 matrix; Vn's rows are multiplied with Vm's, 8 bytes each.
fn mmla<const A_SIGNED: bool, const B_SIGNED: bool>(_: &mut FpEnv, operands: [u128; 3]) -> u128 {
    build(4, operands, |[a, b, d], i| {
        let (row, column) = (i / 2 * 8, i % 2 * 8);
        i32::read(d, i).wrapping_add(products::<A_SIGNED, B_SIGNED>(&a[row..row + 8], &b[column..column + 8]))
    })
}
