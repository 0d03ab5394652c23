//! The host's arithmetic against the soft functions, and cases of the manual's rules.

use super::convert::{Exact, convert, round_int};
use super::fixed::{Signedness, from_fixed, to_fixed, to_fixed_js};
use super::*;
use crate::testing::Rng;

/// A number of a format with a chosen or random exponent and fraction.
fn number<F: Format>(rng: &mut Rng) -> u64 {
    let biased = match rng.below(8) {
        0 => rng.below(4),
        1 => F::MAX_BIASED - rng.below(5),
        2..5 => F::BIAS as u64 + rng.below(8) - 4,
        5 => F::BIAS as u64 + rng.below(2 * u64::from(F::FRACTION) + 6) - u64::from(F::FRACTION) - 3,
        _ => rng.below(F::MAX_BIASED + 1),
    } & F::MAX_BIASED;
    let fraction = match rng.below(6) {
        0 => 0,
        1 => 1,
        2 => F::FRACTION_MASK,
        3 => rng.random() << rng.below(u64::from(F::FRACTION)),
        _ => rng.random(),
    } & F::FRACTION_MASK;
    F::signed(rng.once_in(2), biased << F::FRACTION | fraction)
}

type Host = fn(&mut FpEnv, [u64; 3]) -> Option<u64>;
type Soft = fn(&mut FpEnv, [u64; 3]) -> u64;

fn host_equals_soft<F: Format>(name: &str, host: Host, soft: Soft) {
    let mut rng = Rng::new(1);
    let mut by_host = 0;
    for case in 0..60_000 {
        let operands = [number::<F>(&mut rng), number::<F>(&mut rng), number::<F>(&mut rng)];
        let env = FpEnv {
            fpcr: if case % 3 == 0 { FPCR_FZ | FPCR_DN } else { 0 },
            fpsr: if case % 2 == 0 { FPSR_IXC } else { 0 },
        };
        let (mut host_env, mut soft_env) = (env, env);
        if let Some(result) = host(&mut host_env, operands) {
            by_host += 1;
            let expected = soft(&mut soft_env, operands);
            assert_eq!((result, host_env), (expected, soft_env), "{name} {operands:#x?} {env:x?}");
        }
    }
    assert!(by_host > 5_000, "{name}: only {by_host}");
}

/// The functions of format `F` that the host may compute.
fn host_equals_soft_for<F: Format>() {
    host_equals_soft::<F>("add", |e, [a, b, _]| F::host_add(e, a, b), |e, [a, b, _]| arith::add_soft::<F>(e, a, b));
    host_equals_soft::<F>("mul", |e, [a, b, _]| F::host_mul(e, a, b), |e, [a, b, _]| arith::mul_soft::<F>(e, a, b));
    host_equals_soft::<F>("div", |e, [a, b, _]| F::host_div(e, a, b), |e, [a, b, _]| arith::div_soft::<F>(e, a, b));
    host_equals_soft::<F>("sqrt", |e, [a, ..]| F::host_sqrt(e, a), |e, [a, ..]| arith::sqrt_soft::<F>(e, a));
}

#[test]
fn host_equals_soft_in_single_precision() {
    host_equals_soft_for::<F32>();
    host_equals_soft::<F32>(
        "mul_add",
        |e, [a, b, c]| F32::host_mul_add(e, a, b, c),
        |e, [a, b, c]| arith::mul_add_soft::<F32>(e, a, b, c),
    );
}

#[test]
fn host_equals_soft_in_double_precision() {
    host_equals_soft_for::<F64>();
}

#[test]
fn host_is_not_asked_in_other_rounding_modes() {
    for mode in 1..4 {
        let mut env = FpEnv { fpcr: mode << 22, fpsr: FPSR_IXC };
        assert_eq!(F64::host_add(&mut env, F64::ONE, F64::TWO), None);
        assert_eq!(F32::host_mul_add(&mut env, F32::ONE, F32::TWO, F32::ONE), None);
    }
}

/// The result and the flags of FPSR of `f` with that FPCR.
fn with<T>(fpcr: u64, f: impl FnOnce(&mut FpEnv) -> T) -> (T, u64) {
    let mut env = FpEnv { fpcr, fpsr: 0 };
    let result = f(&mut env);
    (result, env.fpsr)
}

fn single(value: f32) -> u64 {
    u64::from(value.to_bits())
}

#[test]
fn a_nan_operand_is_returned_signalling_first_then_in_order() {
    let [quiet1, quiet2, signalling] = [0x7fc0_0001, 0xffc0_0002, 0x7f80_0003];
    let add = |a, b| with(0, |e| arith::add::<F32>(e, a, b));
    assert_eq!(add(quiet1, quiet2), (quiet1, 0));
    assert_eq!(add(quiet2, quiet1), (quiet2, 0));
    assert_eq!(add(quiet1, signalling), (0x7fc0_0003, FPSR_IOC));
    assert_eq!(with(FPCR_DN, |e| arith::add::<F32>(e, quiet2, 0)), (F32::DEFAULT_NAN, 0));
    // Of a fused multiply-add the addend comes first.
    assert_eq!(with(0, |e| arith::mul_add::<F32>(e, quiet2, quiet1, 0)), (quiet2, 0));
    let infinity = F32::INFINITY;
    assert_eq!(with(0, |e| arith::mul_add::<F32>(e, quiet2, infinity, 0)), (F32::DEFAULT_NAN, FPSR_IOC));
}

#[test]
fn tininess_is_detected_before_rounding() {
    // Just below the least normal number, rounded up to it: tiny and inexact.
    let (least_normal, below_one) = (1 << 23, single(1.0 - f32::EPSILON / 2.0));
    let mul = |fpcr| with(fpcr, |e| arith::mul::<F32>(e, least_normal | 1, below_one));
    assert_eq!(mul(0), (least_normal, FPSR_IXC));
    let just_below = |fpcr| with(fpcr, |e| arith::mul::<F32>(e, least_normal, below_one));
    assert_eq!(just_below(0), (least_normal, FPSR_UFC | FPSR_IXC));
    assert_eq!(just_below(FPCR_FZ), (0, FPSR_UFC));
    // An exact denormal result does not underflow, but is flushed.
    let half = |fpcr| with(fpcr, |e| arith::mul::<F32>(e, least_normal, single(0.5)));
    assert_eq!(half(0), (1 << 22, 0));
    assert_eq!(half(FPCR_FZ), (0, FPSR_UFC));
}

#[test]
fn denormal_operands_are_flushed_by_the_bit_of_their_format() {
    assert_eq!(with(FPCR_FZ, |e| arith::add::<F32>(e, 1, 0)), (0, FPSR_IDC));
    assert_eq!(with(FPCR_FZ, |e| arith::add::<F16>(e, 1, 0)), (1, 0));
    assert_eq!(with(FPCR_FZ16, |e| arith::add::<F16>(e, 1, 0)), (0, 0));
    assert_eq!(with(FPCR_FZ16, |e| convert::<F16, F32>(e, 1, Rounding::TieEven)), (single(5.960_464_5e-8), 0));
}

#[test]
fn overflow_goes_where_the_rounding_mode_says() {
    let double = |mode: u64| with(mode << 22, |e| arith::add::<F32>(e, F32::MAX_NORMAL, F32::MAX_NORMAL));
    let flags = FPSR_OFC | FPSR_IXC;
    assert_eq!(double(0), (F32::INFINITY, flags));
    assert_eq!(double(1), (F32::INFINITY, flags));
    assert_eq!(double(2), (F32::MAX_NORMAL, flags));
    assert_eq!(double(3), (F32::MAX_NORMAL, flags));
}

#[test]
fn zero_sums_and_invalid_operations() {
    let (one, minus_one) = (single(1.0), single(-1.0));
    assert_eq!(with(0, |e| arith::add::<F32>(e, one, minus_one)), (0, 0));
    assert_eq!(with(2 << 22, |e| arith::add::<F32>(e, one, minus_one)), (F32::SIGN, 0));
    assert_eq!(with(0, |e| arith::mul::<F32>(e, F32::INFINITY, F32::SIGN)), (F32::DEFAULT_NAN, FPSR_IOC));
    assert_eq!(with(0, |e| arith::mulx::<F32>(e, F32::INFINITY, F32::SIGN)), (F32::TWO | F32::SIGN, 0));
    assert_eq!(with(0, |e| arith::div::<F32>(e, one, F32::SIGN)), (F32::INFINITY | F32::SIGN, FPSR_DZC));
    assert_eq!(with(0, |e| arith::div::<F32>(e, 0, 0)), (F32::DEFAULT_NAN, FPSR_IOC));
    assert_eq!(with(0, |e| arith::sqrt::<F32>(e, minus_one)), (F32::DEFAULT_NAN, FPSR_IOC));
    assert_eq!(with(0, |e| arith::sqrt::<F32>(e, F32::SIGN)), (F32::SIGN, 0));
    assert_eq!(with(0, |e| compare::max_num::<F32>(e, 0x7fc0_0000, one)), (one, 0));
    assert_eq!(with(0, |e| compare::max::<F32>(e, F32::SIGN, 0)), (0, 0));
    assert_eq!(with(0, |e| compare::min::<F32>(e, 0, F32::SIGN)), (F32::SIGN, 0));
}

#[test]
fn alternative_half_precision_has_no_infinity() {
    let to_half = |fpcr, value| with(fpcr, |e| convert::<F32, F16>(e, value, Rounding::TieEven));
    assert_eq!(to_half(0, single(65536.0)), (F16::INFINITY, FPSR_OFC | FPSR_IXC));
    assert_eq!(to_half(FPCR_AHP, single(65536.0)), (0x7c00, 0));
    assert_eq!(to_half(FPCR_AHP, single(-262_144.0)), (0xffff, FPSR_IOC));
    assert_eq!(to_half(FPCR_AHP, F32::DEFAULT_NAN), (0, FPSR_IOC));
    assert_eq!(with(FPCR_AHP, |e| convert::<F16, F32>(e, 0x7c00, Rounding::TieEven)), (single(65536.0), 0));
}

#[test]
fn integers_saturate_and_round() {
    let to_i32 = |value: f64, mode| with(0, |e| to_fixed::<F64>(e, value.to_bits(), 32, 0, Signedness::Signed, mode));
    assert_eq!(to_i32(2.5, Rounding::TieEven), (2, FPSR_IXC));
    assert_eq!(to_i32(2.5, Rounding::TieAway), (3, FPSR_IXC));
    assert_eq!(to_i32(-2.5, Rounding::TieAway), (0xffff_fffd, FPSR_IXC));
    assert_eq!(to_i32(-0.1, Rounding::MinusInfinity), (0xffff_ffff, FPSR_IXC));
    assert_eq!(to_i32(3e9, Rounding::Zero), (0x7fff_ffff, FPSR_IOC));
    assert_eq!(to_i32(f64::NAN, Rounding::Zero), (0, FPSR_IOC));
    assert_eq!(to_i32(f64::NEG_INFINITY, Rounding::Zero), (0x8000_0000, FPSR_IOC));
    let to_u64 =
        |value: f64, f| with(0, |e| to_fixed::<F64>(e, value.to_bits(), 64, f, Signedness::Unsigned, Rounding::Zero));
    assert_eq!(to_u64(-0.5, 0), (0, FPSR_IXC));
    assert_eq!(to_u64(-1.0, 0), (0, FPSR_IOC));
    assert_eq!(to_u64(1.5, 1), (3, 0));
    assert_eq!(to_u64(1e300, 64), (u64::MAX, FPSR_IOC));
    let from = |value, f| with(0, |e| from_fixed::<F32>(e, value, 64, f, Signedness::Signed, Rounding::TieEven));
    assert_eq!(from(u64::MAX, 0), (single(-1.0), 0));
    assert_eq!(from(3, 1), (single(1.5), 0));
    assert_eq!(from(0x0100_0001, 0), (single(16_777_216.0), FPSR_IXC));
}

#[test]
fn integral_values_and_javascript() {
    let round = |value, exact| with(0, |e| round_int::<F32>(e, single(value), Rounding::TieEven, exact));
    assert_eq!(round(-0.4, Exact::Flagged), (F32::SIGN, FPSR_IXC));
    assert_eq!(round(2.5, Exact::Silent), (single(2.0), 0));
    let js = |value: f64| with(0, |e| to_fixed_js(e, value.to_bits()));
    assert_eq!(js(-3.0), ((0xffff_fffd, true), 0));
    assert_eq!(js(-0.0), ((0, false), 0));
    assert_eq!(js(4_294_967_296.0 * 5.0 + 7.5), ((7, false), FPSR_IOC));
    assert_eq!(js(1.5), ((1, false), FPSR_IXC));
}

#[test]
fn estimates_at_the_edges() {
    let recip = |value| with(0, |e| estimate::recip_estimate::<F32>(e, value));
    assert_eq!(recip(single(1.0)), (0x3f7f_8000, 0));
    assert_eq!(recip(F32::SIGN), (F32::INFINITY | F32::SIGN, FPSR_DZC));
    assert_eq!(recip(1), (F32::INFINITY, FPSR_OFC | FPSR_IXC));
    assert_eq!(with(FPCR_FZ, |e| estimate::recip_estimate::<F32>(e, F32::MAX_NORMAL)), (0, FPSR_UFC));
    assert_eq!(with(0, |e| estimate::rsqrt_estimate::<F32>(e, single(4.0))), (0x3eff_8000, 0));
    assert_eq!(with(0, |e| estimate::rsqrt_estimate::<F32>(e, single(-4.0))), (F32::DEFAULT_NAN, FPSR_IOC));
    assert_eq!(estimate::unsigned_recip(0x8000_0000), 0xff80_0000);
    assert_eq!(estimate::unsigned_rsqrt(0x3fff_ffff), 0xffff_ffff);
}
