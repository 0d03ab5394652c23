//! Floating-point extensions: widening multiply-add of half precision (FEAT_FHM), complex numbers (FEAT_FCMA),
//! BFloat16 products (FEAT_BF16).

use crate::fp::{F16, F32, F64, Format, FpEnv, arith, bf16};
use crate::insn::Insn;
use crate::machine::{Done, Machine, Pure};
use crate::simd::fp_lanes::{FpForms, collect, get, lanes};
use crate::simd::fp_reserved::{complex, complex_by_element};
use crate::simd::simd_elem::indexed;
use crate::simd::{dup_element, form, set_vd, size, ternary};
use crate::spec::plain;

crate::encodings! {
    "FCMLA_advsimd_elt" => "* {Vd.T}, {Vn.T}, {elemc}, #{rot13}";
    "BFDOT_asimdelem_E" => "* {Vd.Sq}, {Vn.Hq}, {elem2h}";
    "BFMLAL_asimdelem_F" => "*{bt} {Vd.4s}, {Vn.8h}, {elemh}";
    "*_asimdelem_LH" => "* {Vd.Sq}, {Vn.Hh}, {elemh}";
    "FCMLA_*" => "* {Vd.T}, {Vn.T}, {Vm.T}, #{rot12}";
    "FCADD_*" => "* {Vd.T}, {Vn.T}, {Vm.T}, #{rotadd}";
    "BFDOT_*" => "* {Vd.Sq}, {Vn.Hq}, {Vm.Hq}";
    "BFMMLA_*" => "* {Vd.4s}, {Vn.8h}, {Vm.8h}";
    "BFMLAL_*" => "*{bt} {Vd.4s}, {Vn.8h}, {Vm.8h}";
    "*_asimdsame_F" => "* {Vd.Sq}, {Vn.Hh}, {Vm.Hh}";
    FMLAL_asimdsame_F    "0 Q 001110001 mmmmm 111011 nnnnn ddddd" FEAT_FHM next plain => |m, i| ternary(m, i, FMLAL[i.bit(30) as usize]);
    FMLSL_asimdsame_F    "0 Q 001110101 mmmmm 111011 nnnnn ddddd" FEAT_FHM next plain => |m, i| ternary(m, i, FMLSL[i.bit(30) as usize]);
    FMLAL2_asimdsame_F   "0 Q 101110001 mmmmm 110011 nnnnn ddddd" FEAT_FHM next plain => |m, i| ternary(m, i, FMLAL2[i.bit(30) as usize]);
    FMLSL2_asimdsame_F   "0 Q 101110101 mmmmm 110011 nnnnn ddddd" FEAT_FHM next plain => |m, i| ternary(m, i, FMLSL2[i.bit(30) as usize]);
    FCMLA_asimdsame2_C   "0 Q 101110 zz 0 mmmmm 110 rr 1 nnnnn ddddd" FEAT_FCMA next complex => |m, i| ternary(m, i, FCMLA[i.bits(12, 11) as usize][form(i)][size(i) - 1]);
    FCADD_asimdsame2_C   "0 Q 101110 zz 0 mmmmm 111 r 01 nnnnn ddddd" FEAT_FCMA next complex => |m, i| ternary(m, i, FCADD[i.bit(12) as usize][form(i)][size(i) - 1]);
    BFDOT_asimdsame2_D   "0 Q 101110010 mmmmm 111111 nnnnn ddddd" FEAT_BF16 next plain => |m, i| ternary(m, i, BFDOT);
    BFMLAL_asimdsame2_F_ "0 Q 101110110 mmmmm 111111 nnnnn ddddd" FEAT_BF16 next plain => |m, i| long_bfloat(m, i, 0);
    BFMMLA_asimdsame2_E  "01101110010 mmmmm 111011 nnnnn ddddd" FEAT_BF16 next plain => |m, i| ternary(m, i, BFMMLA);
    BFDOT_asimdelem_E    "0 Q 00111101 L M mmmm 1111 H 0 nnnnn ddddd" FEAT_BF16 next plain => |m, i| by_element(m, i, BFDOT, 2);
    FMLAL_asimdelem_LH   "0 Q 00111110 L M mmmm 0000 H 0 nnnnn ddddd" FEAT_FHM next plain => |m, i| by_element(m, i, FMLAL[i.bit(30) as usize], 1);
    FMLSL_asimdelem_LH   "0 Q 00111110 L M mmmm 0100 H 0 nnnnn ddddd" FEAT_FHM next plain => |m, i| by_element(m, i, FMLSL[i.bit(30) as usize], 1);
    BFMLAL_asimdelem_F   "0 Q 00111111 L M mmmm 1111 H 0 nnnnn ddddd" FEAT_BF16 next plain => |m, i| long_bfloat(m, i, 1);
    FCMLA_advsimd_elt    "0 Q 101111 zz L M mmmm 0 rr 1 H 0 nnnnn ddddd" FEAT_FCMA next complex_by_element => complex_element;
    FMLAL2_asimdelem_LH  "0 Q 10111110 L M mmmm 1000 H 0 nnnnn ddddd" FEAT_FHM next plain => |m, i| by_element(m, i, FMLAL2[i.bit(30) as usize], 1);
    FMLSL2_asimdelem_LH  "0 Q 10111110 L M mmmm 1100 H 0 nnnnn ddddd" FEAT_FHM next plain => |m, i| by_element(m, i, FMLSL2[i.bit(30) as usize], 1);
}

/// Vd = f(Vn, element of 1 << `log2` bytes, Vd).
fn by_element<M: Machine>(m: &mut M, i: Insn, f: Pure, log2: u32) -> Done<M> {
    m.check_fp()?;
    let operands = [m.q(i.rn()), indexed(m, i, log2), m.q(i.rd())];
    let result = m.pure(f, operands);
    set_vd(m, i, result);
    Ok(())
}

/// FCMLA by a complex element of two halves (index H:L) or singles (index H).
fn complex_element<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let index = if size(i) == 1 { i.bit(11) << 1 | i.bit(21) } else { i.bit(11) };
    let element = dup_element(m.q(i.rm()), size(i) as u32 + 1, index);
    let operands = [m.q(i.rn()), element, m.q(i.rd())];
    let result = m.pure(FCMLA[i.bits(14, 13) as usize][form(i)][size(i) - 1], operands);
    set_vd(m, i, result);
    Ok(())
}

/// BFMLALB and BFMLALT: Q picks the even or the odd elements, and all of Vd is written.
fn long_bfloat<M: Machine>(m: &mut M, i: Insn, element_log2: u32) -> Done<M> {
    m.check_fp()?;
    let multiplier = if element_log2 == 0 { m.q(i.rm()) } else { indexed(m, i, element_log2) };
    let operands = [m.q(i.rn()), multiplier, m.q(i.rd())];
    let result = m.pure(BFMLAL[i.bit(30) as usize], operands);
    m.set_q(i.rd(), result);
    Ok(())
}

/// For 64 and for 128 bits.
const FMLAL: [Pure; 2] =
    [Pure { name: "FMLAL.64", run: mul_add_long::<1, 0, 0> }, Pure { name: "FMLAL.128", run: mul_add_long::<2, 0, 0> }];
const FMLSL: [Pure; 2] =
    [Pure { name: "FMLSL.64", run: mul_add_long::<1, 0, 1> }, Pure { name: "FMLSL.128", run: mul_add_long::<2, 0, 1> }];
const FMLAL2: [Pure; 2] = [
    Pure { name: "FMLAL2.64", run: mul_add_long::<1, 1, 0> },
    Pure { name: "FMLAL2.128", run: mul_add_long::<2, 1, 0> },
];
const FMLSL2: [Pure; 2] = [
    Pure { name: "FMLSL2.64", run: mul_add_long::<1, 1, 1> },
    Pure { name: "FMLSL2.128", run: mul_add_long::<2, 1, 1> },
];

/// Singles plus products of the halves in part `PART` (0 lower, 1 upper) of a form; `NEGATE` is 1 to subtract.
fn mul_add_long<const FORM: usize, const PART: usize, const NEGATE: u64>(
    env: &mut FpEnv,
    [a, b, d]: [u128; 3],
) -> u128 {
    let count = lanes::<F32>(FORM);
    collect::<F32>(count, |i| {
        let at = PART * count + i;
        arith::mul_add_half(env, get::<F32>(d, i), get::<F16>(a, at) ^ (F16::SIGN * NEGATE), get::<F16>(b, at))
    })
}

/// A function of format, form and rotation as a table by form and format.
macro_rules! complex_forms {
    ($name:expr, $f:ident, $rotation:literal) => {
        [
            complex_formats!(concat!($name, ".1"), $f, 0, $rotation),
            complex_formats!(concat!($name, ".64"), $f, 1, $rotation),
            complex_formats!(concat!($name, ".128"), $f, 2, $rotation),
        ]
    };
}

macro_rules! complex_formats {
    ($name:expr, $f:ident, $form:literal, $rotation:literal) => {
        [
            Pure { name: concat!($name, ".H"), run: $f::<F16, $form, $rotation> },
            Pure { name: concat!($name, ".S"), run: $f::<F32, $form, $rotation> },
            Pure { name: concat!($name, ".D"), run: $f::<F64, $form, $rotation> },
        ]
    };
}

/// By rotation, form, format.
const FCMLA: [FpForms; 4] = [
    complex_forms!("FCMLA.0", complex_mul_add, 0),
    complex_forms!("FCMLA.90", complex_mul_add, 1),
    complex_forms!("FCMLA.180", complex_mul_add, 2),
    complex_forms!("FCMLA.270", complex_mul_add, 3),
];
const FCADD: [FpForms; 2] = [complex_forms!("FCADD.90", complex_add, 1), complex_forms!("FCADD.270", complex_add, 3)];

/// The complex number with lanes 2 `i` and 2 `i` + 1.
fn pair<F: Format>(vector: u128, i: usize) -> (u64, u64) {
    (get::<F>(vector, i & !1), get::<F>(vector, i | 1))
}

/// A half of a complex multiplication: `ROTATION` is in quarter turns.
fn complex_mul_add<F: Format, const FORM: usize, const ROTATION: usize>(env: &mut FpEnv, [a, b, d]: [u128; 3]) -> u128 {
    collect::<F>(lanes::<F>(FORM), |i| {
        let ((a_real, a_imaginary), (b_real, b_imaginary)) = (pair::<F>(a, i), pair::<F>(b, i));
        let factor = if ROTATION & 1 == 0 { a_real } else { a_imaginary };
        let other = if (ROTATION + i) & 1 == 0 { b_real } else { b_imaginary };
        // Negative for quarter turns 1 and 2 in real parts, 2 and 3 in imaginary ones.
        let sign = if (1..3).contains(&ROTATION.wrapping_sub(i & 1)) { F::SIGN } else { 0 };
        arith::mul_add::<F>(env, get::<F>(d, i), factor, other ^ sign)
    })
}

/// Complex addition with the second operand turned by `ROTATION` quarters, 1 or 3.
fn complex_add<F: Format, const FORM: usize, const ROTATION: usize>(env: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    collect::<F>(lanes::<F>(FORM), |i| {
        let (real, imaginary) = pair::<F>(b, i);
        let turned = match (ROTATION, i % 2) {
            (1, 0) => imaginary ^ F::SIGN,
            (1, _) => real,
            (_, 0) => imaginary,
            _ => real ^ F::SIGN,
        };
        arith::add::<F>(env, get::<F>(a, i), turned)
    })
}

const BFDOT: Pure = Pure { name: "BFDOT", run: bf_dot };
const BFMMLA: Pure = Pure { name: "BFMMLA", run: bf_mmla };
const BFMLAL: [Pure; 2] =
    [Pure { name: "BFMLALB", run: bf_mul_add_long::<0> }, Pure { name: "BFMLALT", run: bf_mul_add_long::<1> }];

fn bf_dot(_: &mut FpEnv, [a, b, d]: [u128; 3]) -> u128 {
    let lane = |vector: u128, i: usize| get::<F32>(vector, i) as u32;
    collect::<F32>(4, |i| u64::from(bf16::dot_add(lane(d, i), lane(a, i), lane(b, i))))
}

/// Vd is a 2 by 2 matrix; Vn's rows are multiplied with Vm's, four elements each.
fn bf_mmla(_: &mut FpEnv, [a, b, d]: [u128; 3]) -> u128 {
    let lane = |vector: u128, i: usize| get::<F32>(vector, i) as u32;
    collect::<F32>(4, |i| {
        let (row, column) = (i / 2 * 2, i % 2 * 2);
        let first = bf16::dot_add(lane(d, i), lane(a, row), lane(b, column));
        u64::from(bf16::dot_add(first, lane(a, row + 1), lane(b, column + 1)))
    })
}

/// Singles plus products of the elements with even (`ODD` is 0) or odd numbers.
fn bf_mul_add_long<const ODD: usize>(env: &mut FpEnv, [a, b, d]: [u128; 3]) -> u128 {
    let wide = |vector: u128, i: usize| get::<F16>(vector, 2 * i + ODD) << 16;
    collect::<F32>(4, |i| arith::mul_add::<F32>(env, get::<F32>(d, i), wide(a, i), wide(b, i)))
}
