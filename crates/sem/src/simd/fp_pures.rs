//! Tables of floating-point functions that several encoding classes share, and how their results are written.

use core::cmp::Ordering;

use crate::fp::compare::{Invalid, compare, max, max_num, min, min_num};
use crate::fp::{Format, FpEnv, arith};
use crate::insn::Insn;
use crate::machine::Pure;
use crate::simd::fp_lanes::{FpForms, each2, each3, pair, pairs, reduce};

/// Positions of the formats in [`FpForms`].
pub(super) const HALF: usize = 0;
pub(super) const SINGLE: usize = 1;
pub(super) const DOUBLE: usize = 2;

/// The format by `sz`, bit \[22\].
pub(super) fn sz(i: Insn) -> usize {
    SINGLE + i.bit(22) as usize
}

pub(super) const FADD: FpForms = fp_forms!("FADD", each2, arith::add::<F>);
pub(super) const FSUB: FpForms = fp_forms!("FSUB", each2, arith::sub::<F>);
pub(super) const FMUL: FpForms = fp_forms!("FMUL", each2, arith::mul::<F>);
pub(super) const FNMUL: FpForms = fp_forms!("FNMUL", each2, |env, a, b| arith::mul::<F>(env, a, b) ^ F::SIGN);
pub(super) const FMULX: FpForms = fp_forms!("FMULX", each2, arith::mulx::<F>);
pub(super) const FDIV: FpForms = fp_forms!("FDIV", each2, arith::div::<F>);
pub(super) const FMAX: FpForms = fp_forms!("FMAX", each2, max::<F>);
pub(super) const FMIN: FpForms = fp_forms!("FMIN", each2, min::<F>);
pub(super) const FMAXNM: FpForms = fp_forms!("FMAXNM", each2, max_num::<F>);
pub(super) const FMINNM: FpForms = fp_forms!("FMINNM", each2, min_num::<F>);
pub(super) const FRECPS: FpForms = fp_forms!("FRECPS", each2, arith::recip_step::<F>);
pub(super) const FRSQRTS: FpForms = fp_forms!("FRSQRTS", each2, arith::rsqrt_step::<F>);
pub(super) const FABD: FpForms = fp_forms!("FABD", each2, |env, a, b| arith::sub::<F>(env, a, b) & !F::SIGN);
pub(super) const FCMEQ: FpForms = fp_forms!("FCMEQ", each2, equal::<F>);
pub(super) const FCMGE: FpForms = fp_forms!("FCMGE", each2, greater_or_equal::<F>);
pub(super) const FCMGT: FpForms = fp_forms!("FCMGT", each2, greater::<F>);
pub(super) const FACGE: FpForms =
    fp_forms!("FACGE", each2, |env, a, b| greater_or_equal::<F>(env, a & !F::SIGN, b & !F::SIGN));
pub(super) const FACGT: FpForms = fp_forms!("FACGT", each2, |env, a, b| greater::<F>(env, a & !F::SIGN, b & !F::SIGN));
pub(super) const FMLA: FpForms = fp_forms!("FMLA", each3, arith::mul_add::<F>);
pub(super) const FMLS: FpForms = fp_forms!("FMLS", each3, |env, c, a, b| arith::mul_add::<F>(env, c, a ^ F::SIGN, b));
pub(super) const FNMADD: FpForms =
    fp_forms!("FNMADD", each3, |env, c, a, b| arith::mul_add::<F>(env, c ^ F::SIGN, a ^ F::SIGN, b));
pub(super) const FNMSUB: FpForms =
    fp_forms!("FNMSUB", each3, |env, c, a, b| arith::mul_add::<F>(env, c ^ F::SIGN, a, b));
pub(super) const FADDP: FpForms = fp_forms!("FADDP", pairs, arith::add::<F>);
pub(super) const FMAXP: FpForms = fp_forms!("FMAXP", pairs, max::<F>);
pub(super) const FMINP: FpForms = fp_forms!("FMINP", pairs, min::<F>);
pub(super) const FMAXNMP: FpForms = fp_forms!("FMAXNMP", pairs, max_num::<F>);
pub(super) const FMINNMP: FpForms = fp_forms!("FMINNMP", pairs, min_num::<F>);
pub(super) const FMAXV: FpForms = fp_forms!("FMAXV", reduce, max::<F>);
pub(super) const FMINV: FpForms = fp_forms!("FMINV", reduce, min::<F>);
pub(super) const FMAXNMV: FpForms = fp_forms!("FMAXNMV", reduce, max_num::<F>);
pub(super) const FMINNMV: FpForms = fp_forms!("FMINNMV", reduce, min_num::<F>);
pub(super) const FADD_PAIR: [Pure; 3] = fp_formats!("FADDP.pair", pair, 0, arith::add::<F>);
pub(super) const FMAX_PAIR: [Pure; 3] = fp_formats!("FMAXP.pair", pair, 0, max::<F>);
pub(super) const FMIN_PAIR: [Pure; 3] = fp_formats!("FMINP.pair", pair, 0, min::<F>);
pub(super) const FMAXNM_PAIR: [Pure; 3] = fp_formats!("FMAXNMP.pair", pair, 0, max_num::<F>);
pub(super) const FMINNM_PAIR: [Pure; 3] = fp_formats!("FMINNMP.pair", pair, 0, min_num::<F>);

/// All ones where `holds`.
fn mask<F: Format>(holds: bool) -> u64 {
    if holds { F::MASK } else { 0 }
}

fn equal<F: Format>(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    mask::<F>(compare::<F>(env, a, b, Invalid::Signalling) == Some(Ordering::Equal))
}

fn greater_or_equal<F: Format>(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    mask::<F>(matches!(compare::<F>(env, a, b, Invalid::AnyNan), Some(Ordering::Equal | Ordering::Greater)))
}

fn greater<F: Format>(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    mask::<F>(compare::<F>(env, a, b, Invalid::AnyNan) == Some(Ordering::Greater))
}
