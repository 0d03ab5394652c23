//! The second operand of data processing (register): Rm as it is, shifted or extended. Types, so that a table's line
//! picks one and the body holds no test.

use super::imm::{first, second};
use crate::insn::Insn;
use crate::machine::Machine;
use crate::word::Word;

/// A form of the second operand. In 32 bits the upper half of what it gives is arbitrary.
pub trait Operand {
    /// The operand's value in `BITS`, 32 or 64.
    fn read<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> M::Word;
}

/// Rm.
pub struct Register;
/// Rm, LSL #imm.
pub struct Lsl;
/// Rm, LSR #imm.
pub struct Lsr;
/// Rm, ASR #imm.
pub struct Asr;
/// Rm, ROR #imm.
pub struct Ror;
/// The low 8, 16 or 32 bits of Rm, zero-extended, then shifted left: the immediate holds two shifts.
pub struct Unsigned;
/// The low 8, 16 or 32 bits of Rm, sign-extended, then shifted left: the immediate holds two shifts.
pub struct Signed;

impl Operand for Register {
    #[inline(always)]
    fn read<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> M::Word {
        m.x(i.rm())
    }
}

impl Operand for Lsl {
    #[inline(always)]
    fn read<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> M::Word {
        m.x(i.rm()).shl(M::Word::from(i.imm))
    }
}

impl Operand for Lsr {
    #[inline(always)]
    fn read<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> M::Word {
        m.x(i.rm()).zext(BITS).lshr(M::Word::from(i.imm))
    }
}

impl Operand for Asr {
    #[inline(always)]
    fn read<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> M::Word {
        m.x(i.rm()).sext(BITS).ashr(M::Word::from(i.imm))
    }
}

impl Operand for Ror {
    #[inline(always)]
    fn read<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> M::Word {
        let value = m.x(i.rm());
        rotate::<M, BITS>(value, M::Word::from(i.imm))
    }
}

impl Operand for Unsigned {
    #[inline(always)]
    fn read<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> M::Word {
        m.x(i.rm()).shl(M::Word::from(first(i))).lshr(M::Word::from(second(i)))
    }
}

impl Operand for Signed {
    #[inline(always)]
    fn read<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> M::Word {
        m.x(i.rm()).shl(M::Word::from(first(i))).ashr(M::Word::from(second(i)))
    }
}

/// Rotates the low `BITS`, 32 or 64, right by `n` (less than `BITS`); in 32 bits the result's upper half is arbitrary.
#[inline(always)]
pub(super) fn rotate<M: Machine, const BITS: u32>(value: M::Word, n: M::Word) -> M::Word {
    if BITS == 64 {
        value.ror(n)
    } else {
        let low = value.low32();
        (low | low.shl(M::Word::from(32))).lshr(n)
    }
}
