//! How loads and stores form their address. Types, so that a table's line picks one and the body holds no test.

use core::marker::PhantomData;

use crate::insn::{Insn, Reg};
use crate::machine::{Machine, TagCheck};
use crate::word::Word;

/// The base register's kind.
pub trait Base {
    /// The base.
    fn read<M: Machine>(m: &mut M, n: Reg) -> Result<M::Word, M::Stop>;
    /// Are accesses at an immediate offset from it checked against allocation tags (SetTagCheckedInstruction)?
    fn tags(n: Reg) -> TagCheck;
    /// Writes the base back.
    fn write<M: Machine>(m: &mut M, n: Reg, value: M::Word);
}

/// A general-purpose register: Rn is not 31.
pub struct Xn;
/// The stack pointer, whose alignment is checked first: Rn is 31.
pub struct Sp;
/// Either, as Rn says.
pub struct XnOrSp;

impl Base for Xn {
    #[inline(always)]
    fn tags(_: Reg) -> TagCheck {
        TagCheck::Checked
    }
    #[inline(always)]
    fn read<M: Machine>(m: &mut M, n: Reg) -> Result<M::Word, M::Stop> {
        Ok(m.x(n))
    }
    #[inline(always)]
    fn write<M: Machine>(m: &mut M, n: Reg, value: M::Word) {
        m.set_x(n, value);
    }
}

impl Base for Sp {
    #[inline(always)]
    fn tags(_: Reg) -> TagCheck {
        TagCheck::Unchecked
    }
    #[inline(always)]
    fn read<M: Machine>(m: &mut M, _: Reg) -> Result<M::Word, M::Stop> {
        m.check_sp_alignment()?;
        Ok(m.sp())
    }
    #[inline(always)]
    fn write<M: Machine>(m: &mut M, _: Reg, value: M::Word) {
        m.set_sp(value);
    }
}

impl Base for XnOrSp {
    #[inline(always)]
    fn tags(n: Reg) -> TagCheck {
        if n == 31 { TagCheck::Unchecked } else { TagCheck::Checked }
    }
    #[inline(always)]
    fn read<M: Machine>(m: &mut M, n: Reg) -> Result<M::Word, M::Stop> {
        if n == 31 { Sp::read(m, n) } else { Xn::read(m, n) }
    }
    #[inline(always)]
    fn write<M: Machine>(m: &mut M, n: Reg, value: M::Word) {
        m.set_x_or_sp(n, value);
    }
}

/// An addressing mode.
pub trait Addressing {
    /// The address of the access, and the base's new value (arbitrary where the mode writes none).
    fn address<M: Machine>(m: &mut M, i: Insn) -> Result<(M::Word, M::Word), M::Stop>;
    /// Is the access checked against allocation tags? It is where the address depends on more than SP or PC and an
    /// immediate, and where the base is written back.
    #[inline(always)]
    fn tags(_: Insn) -> TagCheck {
        TagCheck::Checked
    }
    /// Writes the base's new value where the mode does so. After the access, for a fault leaves the base as it was.
    #[inline(always)]
    fn write_back<M: Machine>(_: &mut M, _: Insn, _: M::Word) {}
}

/// Base plus immediate.
pub struct Offset<B>(PhantomData<B>);
/// Base plus immediate, and the base becomes that.
pub struct PreIndex<B>(PhantomData<B>);
/// The base alone, and the base becomes base plus immediate.
pub struct PostIndex<B>(PhantomData<B>);
/// PC plus immediate.
pub struct Literal;
/// Xn plus Xm, LSL by the immediate.
pub struct Indexed;
/// Xn plus Wm, UXTW, LSL by the immediate.
pub struct IndexedUxtw;
/// Xn plus Wm, SXTW, LSL by the immediate.
pub struct IndexedSxtw;
/// Any base plus Rm, extended as option says, LSL by the immediate.
pub struct IndexedAny;

impl<B: Base> Addressing for Offset<B> {
    #[inline(always)]
    fn tags(i: Insn) -> TagCheck {
        B::tags(i.rn())
    }
    #[inline(always)]
    fn address<M: Machine>(m: &mut M, i: Insn) -> Result<(M::Word, M::Word), M::Stop> {
        let base = B::read(m, i.rn())?;
        Ok((base + M::Word::from(i.imm), base))
    }
}

impl<B: Base> Addressing for PreIndex<B> {
    #[inline(always)]
    fn address<M: Machine>(m: &mut M, i: Insn) -> Result<(M::Word, M::Word), M::Stop> {
        let address = B::read(m, i.rn())? + M::Word::from(i.imm);
        Ok((address, address))
    }
    #[inline(always)]
    fn write_back<M: Machine>(m: &mut M, i: Insn, base: M::Word) {
        B::write(m, i.rn(), base);
    }
}

impl<B: Base> Addressing for PostIndex<B> {
    #[inline(always)]
    fn address<M: Machine>(m: &mut M, i: Insn) -> Result<(M::Word, M::Word), M::Stop> {
        let base = B::read(m, i.rn())?;
        Ok((base, base + M::Word::from(i.imm)))
    }
    #[inline(always)]
    fn write_back<M: Machine>(m: &mut M, i: Insn, base: M::Word) {
        B::write(m, i.rn(), base);
    }
}

impl Addressing for Literal {
    #[inline(always)]
    fn tags(_: Insn) -> TagCheck {
        TagCheck::Unchecked
    }
    #[inline(always)]
    fn address<M: Machine>(m: &mut M, i: Insn) -> Result<(M::Word, M::Word), M::Stop> {
        let address = m.pc(i) + M::Word::from(i.imm);
        Ok((address, address))
    }
}

impl Addressing for Indexed {
    #[inline(always)]
    fn address<M: Machine>(m: &mut M, i: Insn) -> Result<(M::Word, M::Word), M::Stop> {
        let (base, index) = (m.x(i.rn()), m.x(i.rm()));
        Ok((base + index.shl(M::Word::from(i.imm)), base))
    }
}

impl Addressing for IndexedUxtw {
    #[inline(always)]
    fn address<M: Machine>(m: &mut M, i: Insn) -> Result<(M::Word, M::Word), M::Stop> {
        let (base, index) = (m.x(i.rn()), m.x(i.rm()).zext(32));
        Ok((base + index.shl(M::Word::from(i.imm)), base))
    }
}

impl Addressing for IndexedSxtw {
    #[inline(always)]
    fn address<M: Machine>(m: &mut M, i: Insn) -> Result<(M::Word, M::Word), M::Stop> {
        let (base, index) = (m.x(i.rn()), m.x(i.rm()).sext(32));
        Ok((base + index.shl(M::Word::from(i.imm)), base))
    }
}

impl Addressing for IndexedAny {
    #[inline(always)]
    fn address<M: Machine>(m: &mut M, i: Insn) -> Result<(M::Word, M::Word), M::Stop> {
        let base = XnOrSp::read(m, i.rn())?;
        let index = match i.bits(15, 13) {
            0b010 => m.x(i.rm()).zext(32),
            0b110 => m.x(i.rm()).sext(32),
            _ => m.x(i.rm()),
        };
        Ok((base + index.shl(M::Word::from(i.imm)), base))
    }
}

/// For register offsets: the shift, log2 of the size where S (bit 12) is set.
#[must_use]
pub fn index_shift<const LOG2: u32>(word: u32) -> Option<u64> {
    Some(u64::from((word >> 12 & 1) * LOG2))
}
