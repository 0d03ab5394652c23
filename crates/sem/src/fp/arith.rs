//! Arithmetic.

use super::nan::{invalid, process_all};
use super::round::{round, round_big};
use super::unpack::{Big, Class, Unpacked, unpack};
use super::{F16, F32, FPSR_DZC, Format, FpEnv, Rounding};

/// `FPAdd`.
#[inline]
pub fn add<F: Format>(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    match F::host_add(env, a, b) {
        Some(sum) => sum,
        None => add_soft::<F>(env, a, b),
    }
}

/// `FPSub`.
#[inline]
pub fn sub<F: Format>(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    match F::host_add(env, a, b ^ F::SIGN) {
        Some(difference) => difference,
        None => sub_soft::<F>(env, a, b),
    }
}

/// `FPMul`.
#[inline]
pub fn mul<F: Format>(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    match F::host_mul(env, a, b) {
        Some(product) => product,
        None => mul_soft::<F>(env, a, b),
    }
}

/// `FPDiv`.
#[inline]
pub fn div<F: Format>(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    match F::host_div(env, a, b) {
        Some(quotient) => quotient,
        None => div_soft::<F>(env, a, b),
    }
}

/// `FPSqrt`.
#[inline]
pub fn sqrt<F: Format>(env: &mut FpEnv, a: u64) -> u64 {
    match F::host_sqrt(env, a) {
        Some(root) => root,
        None => sqrt_soft::<F>(env, a),
    }
}

/// `FPMulAdd`: `addend + a * b`, rounded once.
#[inline]
pub fn mul_add<F: Format>(env: &mut FpEnv, addend: u64, a: u64, b: u64) -> u64 {
    match F::host_mul_add(env, addend, a, b) {
        Some(sum) => sum,
        None => mul_add_soft::<F>(env, addend, a, b),
    }
}

#[inline(never)]
pub(super) fn add_soft<F: Format>(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    let (x, y) = (unpack::<F>(env, a), unpack::<F>(env, b));
    let mode = Rounding::of(env.fpcr);
    add_unpacked::<F>(env, (x, a), (y, b), y.sign, mode)
}

#[inline(never)]
pub(super) fn sub_soft<F: Format>(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    let (x, y) = (unpack::<F>(env, a), unpack::<F>(env, b));
    let mode = Rounding::of(env.fpcr);
    add_unpacked::<F>(env, (x, a), (y, b), !y.sign, mode)
}

/// The sum, where the second operand's sign is `y_sign`. A NaN keeps its own.
fn add_unpacked<F: Format>(
    env: &mut FpEnv,
    x: (Unpacked, u64),
    y: (Unpacked, u64),
    y_sign: bool,
    mode: Rounding,
) -> u64 {
    if let Some(nan) = process_all::<F, 2>(env, [x, y]) {
        return nan;
    }
    let (x, y) = (x.0, Unpacked { sign: y_sign, ..y.0 });
    let sum = match (x.class, y.class) {
        (Class::Infinity, Class::Infinity) if x.sign != y.sign => return invalid::<F>(env),
        (Class::Infinity, _) => return F::signed(x.sign, F::INFINITY),
        (_, Class::Infinity) => return F::signed(y.sign, F::INFINITY),
        (Class::Zero, Class::Zero) if x.sign == y.sign => return F::signed(x.sign, 0),
        _ => add_bigs(x.big(), y.big()),
    };
    match sum {
        Some(sum) => round_big::<F>(env, sum, mode),
        None => F::signed(mode.zero_is_negative(), 0),
    }
}

fn add_bigs(a: Option<Big>, b: Option<Big>) -> Option<Big> {
    match (a, b) {
        (Some(a), Some(b)) => Big::sum(a, b),
        (Some(one), None) | (None, Some(one)) => Some(one),
        (None, None) => None,
    }
}

#[inline(never)]
pub(super) fn mul_soft<F: Format>(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    let mode = Rounding::of(env.fpcr);
    mul_or::<F>(env, a, b, mode, |env, _| invalid::<F>(env))
}

/// `FPMulX`: infinity times zero is 2.
pub fn mulx<F: Format>(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    if let Some(product) = F::host_mul(env, a, b) {
        return product;
    }
    let mode = Rounding::of(env.fpcr);
    mul_or::<F>(env, a, b, mode, |_, sign| F::signed(sign, F::TWO))
}

/// The product; `infinity_by_zero` says what that is, by its sign.
fn mul_or<F: Format>(
    env: &mut FpEnv,
    a: u64,
    b: u64,
    mode: Rounding,
    infinity_by_zero: fn(&mut FpEnv, bool) -> u64,
) -> u64 {
    let (x, y) = (unpack::<F>(env, a), unpack::<F>(env, b));
    if let Some(nan) = process_all::<F, 2>(env, [(x, a), (y, b)]) {
        return nan;
    }
    let sign = x.sign != y.sign;
    match (x.class, y.class) {
        (Class::Infinity, Class::Zero) | (Class::Zero, Class::Infinity) => infinity_by_zero(env, sign),
        (Class::Infinity, _) | (_, Class::Infinity) => F::signed(sign, F::INFINITY),
        (Class::Zero, _) | (_, Class::Zero) => F::signed(sign, 0),
        _ => {
            let product = u128::from(x.significand) * u128::from(y.significand);
            round::<F>(env, sign, x.exponent + y.exponent, product, mode)
        }
    }
}

/// The single-precision sum, rounded as `BFRound` does.
pub(super) fn add_to_odd(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    let (x, y) = (unpack::<F32>(env, a), unpack::<F32>(env, b));
    add_unpacked::<F32>(env, (x, a), (y, b), y.sign, Rounding::OddOrInfinity)
}

/// The single-precision product, rounded as `BFRound` does.
pub(super) fn mul_to_odd(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    mul_or::<F32>(env, a, b, Rounding::OddOrInfinity, |env, _| invalid::<F32>(env))
}

#[inline(never)]
pub(super) fn div_soft<F: Format>(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    let (x, y) = (unpack::<F>(env, a), unpack::<F>(env, b));
    if let Some(nan) = process_all::<F, 2>(env, [(x, a), (y, b)]) {
        return nan;
    }
    let sign = x.sign != y.sign;
    match (x.class, y.class) {
        (Class::Infinity, Class::Infinity) | (Class::Zero, Class::Zero) => invalid::<F>(env),
        (Class::Infinity, _) => F::signed(sign, F::INFINITY),
        (_, Class::Zero) => {
            env.fpsr |= FPSR_DZC;
            F::signed(sign, F::INFINITY)
        }
        (Class::Zero, _) | (_, Class::Infinity) => F::signed(sign, 0),
        _ => {
            // A dividend of 126 bits and a divisor of at most 53 leave at least 73 bits of quotient.
            let dividend = Big::new(false, x.exponent, u128::from(x.significand));
            let divisor = u128::from(y.significand);
            let quotient = dividend.significand / divisor;
            let inexact = quotient * divisor != dividend.significand;
            let mode = Rounding::of(env.fpcr);
            round::<F>(env, sign, dividend.exponent - y.exponent, quotient | u128::from(inexact), mode)
        }
    }
}

#[inline(never)]
pub(super) fn sqrt_soft<F: Format>(env: &mut FpEnv, a: u64) -> u64 {
    let x = unpack::<F>(env, a);
    if let Some(nan) = process_all::<F, 1>(env, [(x, a)]) {
        return nan;
    }
    match x.class {
        Class::Zero => F::signed(x.sign, 0),
        _ if x.sign => invalid::<F>(env),
        Class::Infinity => F::INFINITY,
        _ => {
            let Big { exponent, significand, .. } = Big::new(false, x.exponent, u128::from(x.significand));
            // An even exponent, without losing bits: the lowest ones are 0.
            let (exponent, significand) =
                if exponent % 2 == 0 { (exponent, significand) } else { (exponent + 1, significand >> 1) };
            let root = significand.isqrt();
            let inexact = root * root != significand;
            let mode = Rounding::of(env.fpcr);
            round::<F>(env, false, exponent / 2 - 1, root << 1 | u128::from(inexact), mode)
        }
    }
}

#[inline(never)]
pub(super) fn mul_add_soft<F: Format>(env: &mut FpEnv, addend: u64, a: u64, b: u64) -> u64 {
    let (x, y) = (unpack::<F>(env, a), unpack::<F>(env, b));
    mul_add_unpacked::<F, F>(env, addend, (x, a), (y, b))
}

/// `FPMulAddH`: half-precision factors, single-precision addend and result.
pub fn mul_add_half(env: &mut FpEnv, addend: u64, a: u64, b: u64) -> u64 {
    let (x, y) = (unpack::<F16>(env, a), unpack::<F16>(env, b));
    mul_add_unpacked::<F32, F16>(env, addend, (x, a), (y, b))
}

/// Factors are of format `P`, addend and result of format `F`.
fn mul_add_unpacked<F: Format, P: Format>(
    env: &mut FpEnv,
    addend: u64,
    (x, a): (Unpacked, u64),
    (y, b): (Unpacked, u64),
) -> u64 {
    let c = unpack::<F>(env, addend);
    let invalid_product = matches!((x.class, y.class), (Class::Infinity, Class::Zero) | (Class::Zero, Class::Infinity));
    let wide = |bits: u64| super::convert::widen_nan::<P, F>(bits);
    let nan = process_all::<F, 3>(env, [(c, addend), (x, wide(a)), (y, wide(b))]);
    if c.class == Class::QuietNan && invalid_product {
        return invalid::<F>(env);
    }
    if let Some(nan) = nan {
        return nan;
    }
    let product_sign = x.sign != y.sign;
    let product_infinite = x.class == Class::Infinity || y.class == Class::Infinity;
    let infinite = c.class == Class::Infinity;
    if invalid_product || infinite && product_infinite && c.sign != product_sign {
        return invalid::<F>(env);
    }
    if infinite {
        return F::signed(c.sign, F::INFINITY);
    }
    if product_infinite {
        return F::signed(product_sign, F::INFINITY);
    }
    let product = Big::product(x, y);
    if c.class == Class::Zero && product.is_none() && c.sign == product_sign {
        return F::signed(c.sign, 0);
    }
    let mode = Rounding::of(env.fpcr);
    match add_bigs(c.big(), product) {
        Some(sum) => round_big::<F>(env, sum, mode),
        None => F::signed(mode.zero_is_negative(), 0),
    }
}

/// `FPRecipStepFused`: 2 - a * b.
pub fn recip_step<F: Format>(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    step::<F>(env, a, b, F::TWO, 0)
}

/// `FPRSqrtStepFused`: (3 - a * b) / 2.
pub fn rsqrt_step<F: Format>(env: &mut FpEnv, a: u64, b: u64) -> u64 {
    step::<F>(env, a, b, F::ONE_AND_HALF, 1)
}

/// (`constant` * 2^`halvings` - a * b) / 2^`halvings`.
fn step<F: Format>(env: &mut FpEnv, a: u64, b: u64, constant: u64, halvings: i32) -> u64 {
    // The negated operand's NaN is negated too.
    let a = a ^ F::SIGN;
    let (x, y) = (unpack::<F>(env, a), unpack::<F>(env, b));
    if let Some(nan) = process_all::<F, 2>(env, [(x, a), (y, b)]) {
        return nan;
    }
    match (x.class, y.class) {
        (Class::Infinity, Class::Zero) | (Class::Zero, Class::Infinity) => return constant,
        (Class::Infinity, _) | (_, Class::Infinity) => return F::signed(x.sign != y.sign, F::INFINITY),
        _ => {}
    }
    let product = Big::product(x, y).map(|p| Big { exponent: p.exponent - halvings, ..p });
    let mode = Rounding::of(env.fpcr);
    match add_bigs(unpack::<F>(env, constant).big(), product) {
        Some(sum) => round_big::<F>(env, sum, mode),
        None => F::signed(mode.zero_is_negative(), 0),
    }
}
