//! Floating-point functions over the lanes of a vector.

use crate::fp::{Format, FpEnv};
use crate::machine::Pure;

/// By form (scalar, 64 bits, 128 bits), then by format: half, single, double.
pub(super) type FpForms = [[Pure; 3]; 3];

/// A table of pure functions named `NAME.FORM.FORMAT`. `$each` says which operands there are; the expression may use
/// `F`, the format.
macro_rules! fp_forms {
    ($name:expr, $each:ident, $f:expr) => {
        [
            fp_formats!(concat!($name, ".1"), $each, 0, $f),
            fp_formats!(concat!($name, ".64"), $each, 1, $f),
            fp_formats!(concat!($name, ".128"), $each, 2, $f),
        ]
    };
}

/// The three formats of one form.
macro_rules! fp_formats {
    ($name:expr, $each:ident, $form:literal, $f:expr) => {
        [
            Pure {
                name: concat!($name, ".H"),
                run: {
                    type F = crate::fp::F16;
                    |env, operands| $each::<F>(env, $form, operands, $f)
                },
            },
            Pure {
                name: concat!($name, ".S"),
                run: {
                    type F = crate::fp::F32;
                    |env, operands| $each::<F>(env, $form, operands, $f)
                },
            },
            Pure {
                name: concat!($name, ".D"),
                run: {
                    type F = crate::fp::F64;
                    |env, operands| $each::<F>(env, $form, operands, $f)
                },
            },
        ]
    };
}

/// How many lanes of a format a form has.
#[inline(always)]
pub(super) const fn lanes<F: Format>(form: usize) -> usize {
    super::pures::count(form, F::BITS)
}

/// Lane `i`.
#[inline(always)]
pub(super) const fn get<F: Format>(vector: u128, i: usize) -> u64 {
    (vector >> (i as u32 * F::BITS)) as u64 & F::MASK
}

/// A vector with `f(i)` in each of the first `count` lanes.
#[inline(always)]
pub(super) fn collect<F: Format>(count: usize, mut f: impl FnMut(usize) -> u64) -> u128 {
    (0..count).fold(0, |vector, i| vector | u128::from(f(i)) << (i as u32 * F::BITS))
}

#[inline(always)]
pub(super) fn each1<F: Format>(
    env: &mut FpEnv,
    form: usize,
    [a, ..]: [u128; 3],
    f: impl Fn(&mut FpEnv, u64) -> u64,
) -> u128 {
    collect::<F>(lanes::<F>(form), |i| f(env, get::<F>(a, i)))
}

#[inline(always)]
pub(super) fn each2<F: Format>(
    env: &mut FpEnv,
    form: usize,
    [a, b, _]: [u128; 3],
    f: impl Fn(&mut FpEnv, u64, u64) -> u64,
) -> u128 {
    collect::<F>(lanes::<F>(form), |i| f(env, get::<F>(a, i), get::<F>(b, i)))
}

/// The function's first argument is the lane of the third operand: Vd or Va, the addend.
#[inline(always)]
pub(super) fn each3<F: Format>(
    env: &mut FpEnv,
    form: usize,
    [a, b, c]: [u128; 3],
    f: impl Fn(&mut FpEnv, u64, u64, u64) -> u64,
) -> u128 {
    collect::<F>(lanes::<F>(form), |i| f(env, get::<F>(c, i), get::<F>(a, i), get::<F>(b, i)))
}

/// The second operand is one number for all lanes.
#[inline(always)]
pub(super) fn each1_with<F: Format>(
    env: &mut FpEnv,
    form: usize,
    [a, number, _]: [u128; 3],
    f: impl Fn(&mut FpEnv, u64, u32) -> u64,
) -> u128 {
    collect::<F>(lanes::<F>(form), |i| f(env, get::<F>(a, i), number as u32))
}

/// Neighbours of the first operand, then of the second. Always 128 bits.
#[inline(always)]
pub(super) fn pairs<F: Format>(
    env: &mut FpEnv,
    form: usize,
    [a, b, _]: [u128; 3],
    f: impl Fn(&mut FpEnv, u64, u64) -> u64,
) -> u128 {
    let half = lanes::<F>(form) / 2;
    collect::<F>(2 * half, |i| {
        let (source, at) = if i < half { (a, 2 * i) } else { (b, 2 * (i - half)) };
        f(env, get::<F>(source, at), get::<F>(source, at + 1))
    })
}

/// The two lowest lanes.
#[inline(always)]
pub(super) fn pair<F: Format>(
    env: &mut FpEnv,
    _form: usize,
    [a, ..]: [u128; 3],
    f: impl Fn(&mut FpEnv, u64, u64) -> u64,
) -> u128 {
    u128::from(f(env, get::<F>(a, 0), get::<F>(a, 1)))
}

/// `Reduce`: all lanes, by halves: the lower half's result with the upper half's.
#[inline(always)]
pub(super) fn reduce<F: Format>(
    env: &mut FpEnv,
    form: usize,
    [a, ..]: [u128; 3],
    f: impl Fn(&mut FpEnv, u64, u64) -> u64,
) -> u128 {
    // Halving from above, neighbours meet first.
    let mut values: [u64; 8] = core::array::from_fn(|i| get::<F>(a, i % (128 / F::BITS as usize)));
    let mut count = lanes::<F>(form);
    while count > 1 {
        count /= 2;
        for i in 0..count {
            values[i] = f(env, values[2 * i], values[2 * i + 1]);
        }
    }
    u128::from(values[0])
}
