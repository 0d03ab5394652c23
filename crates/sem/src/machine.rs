//! What an instruction may ask of a machine.

pub use ir::access::{Access, Assist, AtomicOp, BranchKind, CopyOrder, FpEnv, Order, PauthKey, Privilege, Pure};
pub use ir::tags::{TagCheck, TagOp};

use crate::insn::{Insn, Reg};
use crate::system::System;
use crate::word::{Quad, Word};

/// What a body returns: done, or the machine's reason to leave the block.
pub type Done<M> = Result<(), <M as Machine>::Stop>;

/// The state and abilities that instruction bodies use; see the crate's docs.
///
/// Memory accesses, system operations and `check_fp` may stop the instruction (a fault, or the end of the block).
/// A body does them before it writes registers, so that a stopped instruction can run again.
pub trait Machine: Sized + 'static {
    /// 64-bit values.
    type Word: Word;
    /// 128-bit values.
    type Quad: Quad<Word = Self::Word>;
    /// Why an instruction stops.
    type Stop;

    /// Xn, or zero for 31.
    fn x(&mut self, n: Reg) -> Self::Word;
    /// Writes Xn; 31 discards.
    fn set_x(&mut self, n: Reg, value: Self::Word);
    /// The current stack pointer.
    fn sp(&mut self) -> Self::Word;
    /// Writes the current stack pointer.
    fn set_sp(&mut self, value: Self::Word);
    /// Xn, or the stack pointer for 31.
    #[inline(always)]
    fn x_or_sp(&mut self, n: Reg) -> Self::Word {
        if n == 31 { self.sp() } else { self.x(n) }
    }
    /// Writes Xn, or the stack pointer for 31.
    #[inline(always)]
    fn set_x_or_sp(&mut self, n: Reg, value: Self::Word) {
        if n == 31 { self.set_sp(value) } else { self.set_x(n, value) }
    }
    /// The address of this instruction.
    fn pc(&mut self, insn: Insn) -> Self::Word;
    /// The flags: N, Z, C, V in bits \[31:28\], other bits 0.
    fn nzcv(&mut self) -> Self::Word;
    /// Writes the flags from bits \[31:28\]; the other bits of `value` are 0.
    fn set_nzcv(&mut self, value: Self::Word);
    /// 1 where the condition holds (bits as in B.cond; 14 and 15 always hold).
    fn condition(&mut self, cond: u32) -> Self::Word;

    /// `a + b + carry` in `bits`, 32 or 64 (operands' upper bits are ignored for 32; carry is 0 or 1): the result, zero-extended,
    /// and the flags as [`Machine::nzcv`] gives them.
    fn add_with_carry(
        &mut self,
        bits: u32,
        a: Self::Word,
        b: Self::Word,
        carry: Self::Word,
    ) -> (Self::Word, Self::Word);
    /// N and Z of the low `bits`, 32 or 64, of `result`, C and V zero, as [`Machine::nzcv`] gives them.
    fn logic_flags(&mut self, bits: u32, result: Self::Word) -> Self::Word;

    /// Qn.
    fn q(&mut self, n: Reg) -> Self::Quad;
    /// Writes Qn.
    fn set_q(&mut self, n: Reg, value: Self::Quad);
    /// Must come first in every SIMD&FP body: traps by CPACR_EL1.FPEN and the EL2 and EL3 controls.
    fn check_fp(&mut self) -> Done<Self>;
    /// Calls a pure function with the current FPCR, adding to FPSR.
    fn pure(&mut self, function: Pure, operands: [Self::Quad; 3]) -> Self::Quad;

    /// Loads, zero-extended.
    fn load(&mut self, address: Self::Word, access: Access) -> Result<Self::Word, Self::Stop>;
    /// Stores the low bytes of `value`.
    fn store(&mut self, address: Self::Word, value: Self::Word, access: Access) -> Done<Self>;
    /// Loads 16 bytes (one access where FEAT_LSE2 makes it one).
    fn load_quad(&mut self, address: Self::Word, access: Access) -> Result<Self::Quad, Self::Stop>;
    /// Stores 16 bytes.
    fn store_quad(&mut self, address: Self::Word, value: Self::Quad, access: Access) -> Done<Self>;
    /// Load-exclusive of one element, zero-extended.
    fn load_exclusive(&mut self, address: Self::Word, access: Access) -> Result<Self::Word, Self::Stop>;
    /// Load-exclusive of a pair of elements of `access`'s size: first, second, each zero-extended.
    fn load_exclusive_pair(
        &mut self,
        address: Self::Word,
        access: Access,
    ) -> Result<(Self::Word, Self::Word), Self::Stop>;
    /// Store-exclusive: 0 where it stored, 1 where not.
    fn store_exclusive(
        &mut self,
        address: Self::Word,
        value: Self::Word,
        access: Access,
    ) -> Result<Self::Word, Self::Stop>;
    /// Store-exclusive of a pair: 0 where it stored, 1 where not.
    fn store_exclusive_pair(
        &mut self,
        address: Self::Word,
        values: (Self::Word, Self::Word),
        access: Access,
    ) -> Result<Self::Word, Self::Stop>;
    /// Atomic read-modify-write: gives the old value, zero-extended.
    fn atomic(
        &mut self,
        op: AtomicOp,
        address: Self::Word,
        operand: Self::Word,
        access: Access,
    ) -> Result<Self::Word, Self::Stop>;
    /// Compare and swap: gives the old value, zero-extended. Upper bits of the operands are ignored.
    fn compare_swap(
        &mut self,
        address: Self::Word,
        expected: Self::Word,
        new: Self::Word,
        access: Access,
    ) -> Result<Self::Word, Self::Stop>;
    /// Compare and swap of a pair of elements of `access`'s size: gives the old values, each zero-extended.
    fn compare_swap_pair(
        &mut self,
        address: Self::Word,
        expected: (Self::Word, Self::Word),
        new: (Self::Word, Self::Word),
        access: Access,
    ) -> Result<(Self::Word, Self::Word), Self::Stop>;

    /// An operation on allocation tags, as [`TagOp`] says; gives its result, 0 where it has none.
    fn tags(&mut self, op: TagOp, address: Self::Word, value: Self::Word) -> Result<Self::Word, Self::Stop>;

    /// Where SP is the base register of an access: checks its alignment as SCTLR_ELx.SA asks.
    fn check_sp_alignment(&mut self) -> Done<Self>;

    /// Goes on at `target`. The last thing a body does, and its line says `end`.
    fn branch(&mut self, kind: BranchKind, target: Self::Word) -> Done<Self>;
    /// Goes on at `target` where `condition` is not 0. The last thing a body does, and its line says `end`.
    fn branch_if(&mut self, condition: Self::Word, target: Self::Word) -> Done<Self>;
    /// This encoding is known but not done yet: a tool error that names it.
    fn not_done(&mut self, insn: Insn) -> Done<Self>;
    /// Work of the PE on up to three words (0 where it has fewer).
    fn assist(&mut self, insn: Insn, op: Assist, operands: [Self::Word; 3]) -> Result<Self::Word, Self::Stop>;
    /// A system operation; gives its result, 0 where it has none.
    fn system(&mut self, insn: Insn, op: System, argument: Self::Word) -> Result<Self::Word, Self::Stop>;
}
