//! Advanced SIMD and floating-point encodings. DDI 0487 C4.1, "Data Processing -- Scalar Floating-Point and Advanced
//! SIMD", and the loads and stores of SIMD&FP registers.
//!
//! Moves and bitwise work are [`crate::Word`] operations on the halves of a register; all other work on elements is
//! a [`Pure`] function, chosen from a small table by the fields of the word.
//!
//! Encodings up to Armv8.6 and those of FEAT_LRCPC3 are here. Words of later features (8-bit floating point, FAMAX,
//! LUTI, FPRCVT and so on), which `arch` does not list, are UNDEFINED, as on a PE without them.

use crate::insn::{Insn, Reg};
use crate::machine::{Done, Machine, Pure};
use crate::spec::Spec;
use crate::word::{Quad, Word};

pub(crate) mod lanes;
#[macro_use]
pub(crate) mod pures;
#[macro_use]
mod fp_lanes;

mod crypto_classes;
mod fp_convert;
mod fp_extensions;
mod fp_integer;
mod fp_misc;
mod fp_move;
mod fp_pures;
mod fp_reserved;
mod fp_scalar;
mod fp_vector;
mod ldst_multiple;
mod ldst_pair;
mod ldst_reg;
mod ldst_single;
mod reserved;
mod saturate;
mod simd_across;
mod simd_diff;
mod simd_dot;
mod simd_elem;
mod simd_imm;
mod simd_ins;
mod simd_misc;
mod simd_perm;
mod simd_same;
mod simd_shift;

#[cfg(test)]
mod tests;

/// The tables of this group's classes.
#[must_use]
pub fn classes<M: Machine>() -> Vec<&'static [Spec<M>]> {
    vec![
        crypto_classes::specs::<M>(),
        fp_convert::specs::<M>(),
        fp_extensions::specs::<M>(),
        fp_integer::specs::<M>(),
        fp_misc::specs::<M>(),
        fp_move::specs::<M>(),
        fp_scalar::specs::<M>(),
        fp_vector::specs::<M>(),
        ldst_multiple::specs::<M>(),
        ldst_pair::specs::<M>(),
        ldst_reg::specs::<M>(),
        ldst_single::specs::<M>(),
        simd_across::specs::<M>(),
        simd_diff::specs::<M>(),
        simd_dot::specs::<M>(),
        simd_elem::specs::<M>(),
        simd_imm::specs::<M>(),
        simd_ins::specs::<M>(),
        simd_misc::specs::<M>(),
        simd_perm::specs::<M>(),
        simd_same::specs::<M>(),
        simd_shift::specs::<M>(),
    ]
}

/// A constant in the low half.
#[inline(always)]
fn constant<M: Machine>(value: u64) -> M::Quad {
    M::Quad::from_lo(M::Word::from(value))
}

/// Is it a scalar instruction of the Advanced SIMD group (bit 28)? It works on one element and zeroes the rest.
#[inline(always)]
fn is_scalar(i: Insn) -> bool {
    i.bit(28) == 1
}

/// Which of a table's forms: 0 scalar, 1 for 64 bits, 2 for 128 bits.
#[inline(always)]
fn form(i: Insn) -> usize {
    if is_scalar(i) { 0 } else { 1 + i.bit(30) as usize }
}

/// The field `size`, bits \[23:22\].
#[inline(always)]
fn size(i: Insn) -> usize {
    i.bits(23, 22) as usize
}

/// Writes Vd as the instruction's form asks: the upper half is zeroed for 64-bit and scalar forms.
#[inline(always)]
fn set_vd<M: Machine>(m: &mut M, i: Insn, value: M::Quad) {
    let whole = i.bit(30) == 1 && !is_scalar(i);
    m.set_q(i.rd(), if whole { value } else { M::Quad::from_lo(value.lo()) });
}

/// Writes the low `bits` of `value`, zeroing the rest of the register.
#[inline(always)]
fn set_scalar<M: Machine>(m: &mut M, n: Reg, bits: u32, value: M::Word) {
    m.set_q(n, M::Quad::from_lo(value.zext(bits)));
}

/// Writes one half of Vd with the low half of `value`: the lower, zeroing the upper; or, for the "2" form (Q is 1),
/// the upper, keeping the lower.
#[inline(always)]
fn set_narrow<M: Machine>(m: &mut M, i: Insn, value: M::Quad) {
    let result = if i.bit(30) == 1 && !is_scalar(i) {
        let low = m.q(i.rd()).lo();
        M::Quad::from_halves(low, value.lo())
    } else {
        M::Quad::from_lo(value.lo())
    };
    m.set_q(i.rd(), result);
}

/// The half of Vn that a widening instruction reads, as the low half: the upper one for the "2" form.
#[inline(always)]
fn part<M: Machine>(m: &mut M, i: Insn, n: Reg) -> M::Quad {
    let value = m.q(n);
    if i.bit(30) == 1 && !is_scalar(i) { M::Quad::from_lo(value.hi()) } else { value }
}

/// A word whose every element of `bits` equals the low element of `value`.
#[inline(always)]
fn replicate<W: Word>(bits: u32, value: W) -> W {
    let ones: u64 = match bits {
        8 => 0x0101_0101_0101_0101,
        16 => 0x0001_0001_0001_0001,
        32 => 0x0000_0001_0000_0001,
        _ => return value,
    };
    value.zext(bits) * W::from(ones)
}

/// Element `index` of 1 << `log2` bytes, zero-extended.
#[inline(always)]
fn element<Q: Quad>(vector: Q, log2: u32, index: u32) -> Q::Word {
    let at = index << log2;
    let half = if at < 8 { vector.lo() } else { vector.hi() };
    half.lshr(Q::Word::from(u64::from(at % 8 * 8))).zext(8 << log2)
}

/// `vector` with element `index` of 1 << `log2` bytes replaced by the low bits of `value`.
#[inline(always)]
fn with_element<Q: Quad>(vector: Q, log2: u32, index: u32, value: Q::Word) -> Q {
    let at = index << log2;
    let put = |half: Q::Word| {
        let (bits, shift) = (8 << log2, at % 8 * 8);
        let mask = (u64::MAX >> (64 - bits)) << shift;
        half & Q::Word::from(!mask) | value.zext(bits).shl(Q::Word::from(u64::from(shift)))
    };
    if at < 8 { Q::from_halves(put(vector.lo()), vector.hi()) } else { Q::from_halves(vector.lo(), put(vector.hi())) }
}

/// Every element equals element `index` of `vector`.
#[inline(always)]
fn dup_element<Q: Quad>(vector: Q, log2: u32, index: u32) -> Q {
    let half = replicate(8 << log2, element(vector, log2, index));
    Q::from_halves(half, half)
}

/// Vd = f(Vn).
fn unary<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let n = m.q(i.rn());
    let result = m.pure(f, [n, constant::<M>(0), constant::<M>(0)]);
    set_vd(m, i, result);
    Ok(())
}

/// Vd = f(Vn, Vm).
fn binary<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let (a, b) = (m.q(i.rn()), m.q(i.rm()));
    let result = m.pure(f, [a, b, constant::<M>(0)]);
    set_vd(m, i, result);
    Ok(())
}

/// Vd = f(Vn, Vm, Vd).
fn ternary<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let operands = [m.q(i.rn()), m.q(i.rm()), m.q(i.rd())];
    let result = m.pure(f, operands);
    set_vd(m, i, result);
    Ok(())
}
