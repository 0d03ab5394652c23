//! Scalar floating-point arithmetic and comparison. DDI 0487 C4.1 "Floating-point data-processing (2 source)",
//! "(3 source)", "Floating-point compare", "Floating-point conditional compare".

use crate::fp::compare::{Invalid, compare_flags};
use crate::insn::Insn;
use crate::machine::{Done, FpEnv, Machine, Pure};
use crate::simd::fp_lanes::get;
use crate::simd::fp_pures::{
    DOUBLE, FADD, FDIV, FMAX, FMAXNM, FMIN, FMINNM, FMLA, FMLS, FMUL, FNMADD, FNMSUB, FNMUL, FSUB, HALF, SINGLE,
};
use crate::simd::{binary, constant, set_scalar};
use crate::spec::plain;
use crate::word::Quad;

crate::encodings! {
    "*Z_floatcmp" => "* {Yn}, #0.0";
    "*_floatcmp" => "* {Yn}, {Ym}";
    "*_floatccmp" => "* {Yn}, {Ym}, #{nzcv:x}, {cond}";
    "*_floatdp2" => "* {Yd}, {Yn}, {Ym}";
    "*_floatdp3" => "* {Yd}, {Yn}, {Ym}, {Ya}";
    FMUL_S_floatdp2    "00011110001 mmmmm 000010 nnnnn ddddd" FEAT_FP next plain => |m, i| binary(m, i, FMUL[0][SINGLE]);
    FDIV_S_floatdp2    "00011110001 mmmmm 000110 nnnnn ddddd" FEAT_FP next plain => |m, i| binary(m, i, FDIV[0][SINGLE]);
    FADD_S_floatdp2    "00011110001 mmmmm 001010 nnnnn ddddd" FEAT_FP next plain => |m, i| binary(m, i, FADD[0][SINGLE]);
    FSUB_S_floatdp2    "00011110001 mmmmm 001110 nnnnn ddddd" FEAT_FP next plain => |m, i| binary(m, i, FSUB[0][SINGLE]);
    FMAX_S_floatdp2    "00011110001 mmmmm 010010 nnnnn ddddd" FEAT_FP next plain => |m, i| binary(m, i, FMAX[0][SINGLE]);
    FMIN_S_floatdp2    "00011110001 mmmmm 010110 nnnnn ddddd" FEAT_FP next plain => |m, i| binary(m, i, FMIN[0][SINGLE]);
    FMAXNM_S_floatdp2  "00011110001 mmmmm 011010 nnnnn ddddd" FEAT_FP next plain => |m, i| binary(m, i, FMAXNM[0][SINGLE]);
    FMINNM_S_floatdp2  "00011110001 mmmmm 011110 nnnnn ddddd" FEAT_FP next plain => |m, i| binary(m, i, FMINNM[0][SINGLE]);
    FNMUL_S_floatdp2   "00011110001 mmmmm 100010 nnnnn ddddd" FEAT_FP next plain => |m, i| binary(m, i, FNMUL[0][SINGLE]);
    FMUL_D_floatdp2    "00011110011 mmmmm 000010 nnnnn ddddd" FEAT_FP next plain => |m, i| binary(m, i, FMUL[0][DOUBLE]);
    FDIV_D_floatdp2    "00011110011 mmmmm 000110 nnnnn ddddd" FEAT_FP next plain => |m, i| binary(m, i, FDIV[0][DOUBLE]);
    FADD_D_floatdp2    "00011110011 mmmmm 001010 nnnnn ddddd" FEAT_FP next plain => |m, i| binary(m, i, FADD[0][DOUBLE]);
    FSUB_D_floatdp2    "00011110011 mmmmm 001110 nnnnn ddddd" FEAT_FP next plain => |m, i| binary(m, i, FSUB[0][DOUBLE]);
    FMAX_D_floatdp2    "00011110011 mmmmm 010010 nnnnn ddddd" FEAT_FP next plain => |m, i| binary(m, i, FMAX[0][DOUBLE]);
    FMIN_D_floatdp2    "00011110011 mmmmm 010110 nnnnn ddddd" FEAT_FP next plain => |m, i| binary(m, i, FMIN[0][DOUBLE]);
    FMAXNM_D_floatdp2  "00011110011 mmmmm 011010 nnnnn ddddd" FEAT_FP next plain => |m, i| binary(m, i, FMAXNM[0][DOUBLE]);
    FMINNM_D_floatdp2  "00011110011 mmmmm 011110 nnnnn ddddd" FEAT_FP next plain => |m, i| binary(m, i, FMINNM[0][DOUBLE]);
    FNMUL_D_floatdp2   "00011110011 mmmmm 100010 nnnnn ddddd" FEAT_FP next plain => |m, i| binary(m, i, FNMUL[0][DOUBLE]);
    FMUL_H_floatdp2    "00011110111 mmmmm 000010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FMUL[0][HALF]);
    FDIV_H_floatdp2    "00011110111 mmmmm 000110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FDIV[0][HALF]);
    FADD_H_floatdp2    "00011110111 mmmmm 001010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FADD[0][HALF]);
    FSUB_H_floatdp2    "00011110111 mmmmm 001110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FSUB[0][HALF]);
    FMAX_H_floatdp2    "00011110111 mmmmm 010010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FMAX[0][HALF]);
    FMIN_H_floatdp2    "00011110111 mmmmm 010110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FMIN[0][HALF]);
    FMAXNM_H_floatdp2  "00011110111 mmmmm 011010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FMAXNM[0][HALF]);
    FMINNM_H_floatdp2  "00011110111 mmmmm 011110 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FMINNM[0][HALF]);
    FNMUL_H_floatdp2   "00011110111 mmmmm 100010 nnnnn ddddd" FEAT_FP16 next plain => |m, i| binary(m, i, FNMUL[0][HALF]);
    FMADD_S_floatdp3   "00011111000 mmmmm 0 aaaaa nnnnn ddddd" FEAT_FP next plain => |m, i| fused(m, i, FMLA[0][SINGLE]);
    FMSUB_S_floatdp3   "00011111000 mmmmm 1 aaaaa nnnnn ddddd" FEAT_FP next plain => |m, i| fused(m, i, FMLS[0][SINGLE]);
    FNMADD_S_floatdp3  "00011111001 mmmmm 0 aaaaa nnnnn ddddd" FEAT_FP next plain => |m, i| fused(m, i, FNMADD[0][SINGLE]);
    FNMSUB_S_floatdp3  "00011111001 mmmmm 1 aaaaa nnnnn ddddd" FEAT_FP next plain => |m, i| fused(m, i, FNMSUB[0][SINGLE]);
    FMADD_D_floatdp3   "00011111010 mmmmm 0 aaaaa nnnnn ddddd" FEAT_FP next plain => |m, i| fused(m, i, FMLA[0][DOUBLE]);
    FMSUB_D_floatdp3   "00011111010 mmmmm 1 aaaaa nnnnn ddddd" FEAT_FP next plain => |m, i| fused(m, i, FMLS[0][DOUBLE]);
    FNMADD_D_floatdp3  "00011111011 mmmmm 0 aaaaa nnnnn ddddd" FEAT_FP next plain => |m, i| fused(m, i, FNMADD[0][DOUBLE]);
    FNMSUB_D_floatdp3  "00011111011 mmmmm 1 aaaaa nnnnn ddddd" FEAT_FP next plain => |m, i| fused(m, i, FNMSUB[0][DOUBLE]);
    FMADD_H_floatdp3   "00011111110 mmmmm 0 aaaaa nnnnn ddddd" FEAT_FP16 next plain => |m, i| fused(m, i, FMLA[0][HALF]);
    FMSUB_H_floatdp3   "00011111110 mmmmm 1 aaaaa nnnnn ddddd" FEAT_FP16 next plain => |m, i| fused(m, i, FMLS[0][HALF]);
    FNMADD_H_floatdp3  "00011111111 mmmmm 0 aaaaa nnnnn ddddd" FEAT_FP16 next plain => |m, i| fused(m, i, FNMADD[0][HALF]);
    FNMSUB_H_floatdp3  "00011111111 mmmmm 1 aaaaa nnnnn ddddd" FEAT_FP16 next plain => |m, i| fused(m, i, FNMSUB[0][HALF]);
    FCMP_S_floatcmp    "00011110001 mmmmm 001000 nnnnn 00000" FEAT_FP next plain => |m, i| compare(m, i, QUIET[SINGLE]);
    FCMP_SZ_floatcmp   "00011110001 sssss 001000 nnnnn 01000" FEAT_FP next plain => |m, i| compare_zero(m, i, QUIET[SINGLE]);
    FCMPE_S_floatcmp   "00011110001 mmmmm 001000 nnnnn 10000" FEAT_FP next plain => |m, i| compare(m, i, SIGNALLING[SINGLE]);
    FCMPE_SZ_floatcmp  "00011110001 sssss 001000 nnnnn 11000" FEAT_FP next plain => |m, i| compare_zero(m, i, SIGNALLING[SINGLE]);
    FCMP_D_floatcmp    "00011110011 mmmmm 001000 nnnnn 00000" FEAT_FP next plain => |m, i| compare(m, i, QUIET[DOUBLE]);
    FCMP_DZ_floatcmp   "00011110011 sssss 001000 nnnnn 01000" FEAT_FP next plain => |m, i| compare_zero(m, i, QUIET[DOUBLE]);
    FCMPE_D_floatcmp   "00011110011 mmmmm 001000 nnnnn 10000" FEAT_FP next plain => |m, i| compare(m, i, SIGNALLING[DOUBLE]);
    FCMPE_DZ_floatcmp  "00011110011 sssss 001000 nnnnn 11000" FEAT_FP next plain => |m, i| compare_zero(m, i, SIGNALLING[DOUBLE]);
    FCMP_H_floatcmp    "00011110111 mmmmm 001000 nnnnn 00000" FEAT_FP16 next plain => |m, i| compare(m, i, QUIET[HALF]);
    FCMP_HZ_floatcmp   "00011110111 sssss 001000 nnnnn 01000" FEAT_FP16 next plain => |m, i| compare_zero(m, i, QUIET[HALF]);
    FCMPE_H_floatcmp   "00011110111 mmmmm 001000 nnnnn 10000" FEAT_FP16 next plain => |m, i| compare(m, i, SIGNALLING[HALF]);
    FCMPE_HZ_floatcmp  "00011110111 sssss 001000 nnnnn 11000" FEAT_FP16 next plain => |m, i| compare_zero(m, i, SIGNALLING[HALF]);
    FCCMP_S_floatccmp  "00011110001 mmmmm cccc 01 nnnnn 0 nnnn" FEAT_FP next plain => |m, i| conditional(m, i, QUIET[SINGLE]);
    FCCMPE_S_floatccmp "00011110001 mmmmm cccc 01 nnnnn 1 nnnn" FEAT_FP next plain => |m, i| conditional(m, i, SIGNALLING[SINGLE]);
    FCCMP_D_floatccmp  "00011110011 mmmmm cccc 01 nnnnn 0 nnnn" FEAT_FP next plain => |m, i| conditional(m, i, QUIET[DOUBLE]);
    FCCMPE_D_floatccmp "00011110011 mmmmm cccc 01 nnnnn 1 nnnn" FEAT_FP next plain => |m, i| conditional(m, i, SIGNALLING[DOUBLE]);
    FCCMP_H_floatccmp  "00011110111 mmmmm cccc 01 nnnnn 0 nnnn" FEAT_FP16 next plain => |m, i| conditional(m, i, QUIET[HALF]);
    FCCMPE_H_floatccmp "00011110111 mmmmm cccc 01 nnnnn 1 nnnn" FEAT_FP16 next plain => |m, i| conditional(m, i, SIGNALLING[HALF]);
}

/// Vd = f(Vn, Vm, Va).
fn fused<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let operands = [m.q(i.rn()), m.q(i.rm()), m.q(i.ra())];
    let result = m.pure(f, operands);
    set_scalar(m, i.rd(), 64, result.lo());
    Ok(())
}

/// FCMP's and FCCMP's: quiet NaNs are fine.
const QUIET: [Pure; 3] = fp_formats!("FCMP", flags, 0, |env, a, b| compare_flags::<F>(env, a, b, Invalid::Signalling));
/// FCMPE's and FCCMPE's.
const SIGNALLING: [Pure; 3] =
    fp_formats!("FCMPE", flags, 0, |env, a, b| compare_flags::<F>(env, a, b, Invalid::AnyNan));

/// The flags of the comparison; or, where the third operand's upper half is not 0, its lower half, without comparing,
/// so that a conditional comparison whose condition fails touches no flag of FPSR.
fn flags<F: crate::fp::Format>(
    env: &mut FpEnv,
    _form: usize,
    [a, b, instead]: [u128; 3],
    f: impl Fn(&mut FpEnv, u64, u64) -> u64,
) -> u128 {
    if instead >> 64 != 0 {
        return u128::from(instead as u64);
    }
    u128::from(f(env, get::<F>(a, 0), get::<F>(b, 0)))
}

fn compare<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let operands = [m.q(i.rn()), m.q(i.rm()), constant::<M>(0)];
    let result = m.pure(f, operands);
    m.set_nzcv(result.lo());
    Ok(())
}

fn compare_zero<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let n = m.q(i.rn());
    let result = m.pure(f, [n, constant::<M>(0), constant::<M>(0)]);
    m.set_nzcv(result.lo());
    Ok(())
}

fn conditional<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let fails = m.condition(i.bits(15, 12)) ^ M::Word::from(1);
    let instead = M::Quad::from_halves(M::Word::from(u64::from(i.bits(3, 0)) << 28), fails);
    let operands = [m.q(i.rn()), m.q(i.rm()), instead];
    let result = m.pure(f, operands);
    m.set_nzcv(result.lo());
    Ok(())
}
