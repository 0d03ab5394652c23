//! The operations, in one list.

use crate::access::{Access, Assist, AtomicOp, BranchKind, Pure};
use crate::tags::TagOp;

/// A value: its number, counted over all results of the block's operations in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub u32);

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// 64 bits.
    Word,
    /// 128 bits.
    Quad,
}

/// A width at which flags are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// 32 bits.
    W32,
    /// 64 bits.
    W64,
}

impl Width {
    /// 32 for 32, 64 for every other number.
    #[must_use]
    pub const fn of(bits: u32) -> Self {
        if bits == 32 { Self::W32 } else { Self::W64 }
    }
    /// The number of bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::W32 => 32,
            Self::W64 => 64,
        }
    }
}

/// Operations on one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// All bits inverted.
    Not,
    /// Leading zeros, 64 for 0.
    Clz,
    /// The bits reversed.
    Rbit,
    /// The bytes reversed.
    Rev,
    /// Number of set bits.
    Popcount,
    /// The low bits, that many (1 to 64), zero-extended.
    Zext(u8),
    /// The low bits, that many (1 to 64), sign-extended.
    Sext(u8),
}

/// Operations on two words. Arithmetic wraps; comparisons give 0 or 1; shift amounts are taken modulo 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shift left.
    Shl,
    /// Shift right, filling with zeros.
    Lshr,
    /// Shift right, filling with the sign.
    Ashr,
    /// Rotate right.
    Ror,
    /// Equal?
    IsEq,
    /// Less, unsigned?
    IsUlt,
    /// Less, signed?
    IsSlt,
    /// Upper 64 bits of the unsigned product.
    Umulh,
    /// Upper 64 bits of the signed product.
    Smulh,
    /// Unsigned quotient, 0 for a zero divisor.
    Udiv,
    /// Signed quotient towards zero, 0 for a zero divisor, wrapping.
    Sdiv,
}

/// One operation. `S` is the payload of system calls, defined by the layer above.
///
/// Operations fall into classes ([`Op::class`]). Those that may stop do so before they have any effect on guest
/// state; the block is then left, and the instruction that the last [`Op::InsnStart`] began can run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op<S> {
    /// The instruction `word` at the block's PC plus `offset` bytes begins.
    InsnStart {
        /// Bytes from the block's start.
        offset: u32,
        /// The instruction word.
        word: u32,
    },

    /// A word. -> Word
    Const(u64),
    /// A quad. -> Quad
    ConstQuad(u128),
    /// One operand. -> Word
    Unary(Unary, Value),
    /// Two operands. -> Word
    Binary(Binary, Value, Value),
    /// `then` where `condition` is not 0, else `other`. -> Word
    Select {
        /// Decides.
        condition: Value,
        /// Where not 0.
        then: Value,
        /// Where 0.
        other: Value,
    },
    /// `a + b + carry` at the width, zero-extended, and its N, Z, C, V in bits \[31:28\]. At 32 bits the operands'
    /// upper bits do not count. `carry` is 0 or 1. -> Word, Word
    AddWithCarry {
        /// Width.
        width: Width,
        /// First addend.
        a: Value,
        /// Second addend.
        b: Value,
        /// Carry in.
        carry: Value,
    },
    /// N and Z of the low bits of `result` in bits \[31:30\]; C and V are 0. -> Word
    LogicFlags {
        /// Width.
        width: Width,
        /// The result that the flags describe.
        result: Value,
    },
    /// 1 where flags `nzcv` satisfy condition `cond` (0 to 15, as in B.cond), else 0. -> Word
    Condition {
        /// The condition.
        cond: u8,
        /// Flags in bits \[31:28\].
        nzcv: Value,
    },
    /// A quad from halves. -> Quad
    QuadFromHalves {
        /// Bits \[63:0\].
        lo: Value,
        /// Bits \[127:64\].
        hi: Value,
    },
    /// Bits \[63:0\] of a quad. -> Word
    Lo(Value),
    /// Bits \[127:64\] of a quad. -> Word
    Hi(Value),

    /// Xn, n at most 30. -> Word
    ReadX(u8),
    /// Sets Xn, n at most 30.
    WriteX(u8, Value),
    /// The current stack pointer. -> Word
    ReadSp,
    /// Sets it.
    WriteSp(Value),
    /// The block's PC plus `offset`. -> Word
    Pc {
        /// Bytes from the block's start.
        offset: u32,
    },
    /// The flags in bits \[31:28\], other bits 0. -> Word
    ReadNzcv,
    /// Sets them; other bits of the value are 0.
    WriteNzcv(Value),
    /// Qn, n at most 31. -> Quad
    ReadQ(u8),
    /// Sets Qn, n at most 31.
    WriteQ(u8, Value),

    /// Loads 1 to 8 bytes, zero-extended. May stop. -> Word
    Load {
        /// Where.
        address: Value,
        /// How.
        access: Access,
    },
    /// Stores the low 1 to 8 bytes of a word. May stop.
    Store {
        /// Where.
        address: Value,
        /// What.
        value: Value,
        /// How.
        access: Access,
    },
    /// Loads 16 bytes. May stop. -> Quad
    LoadQuad {
        /// Where.
        address: Value,
        /// How; the size in it does not count.
        access: Access,
    },
    /// Stores 16 bytes. May stop.
    StoreQuad {
        /// Where.
        address: Value,
        /// What: a quad.
        value: Value,
        /// How; the size in it does not count.
        access: Access,
    },
    /// Load-exclusive, zero-extended. May stop. -> Word
    LoadExclusive {
        /// Where.
        address: Value,
        /// How.
        access: Access,
    },
    /// Load-exclusive of two elements, each zero-extended. May stop. -> Word, Word
    LoadExclusivePair {
        /// Where.
        address: Value,
        /// How, with the size of one element.
        access: Access,
    },
    /// Store-exclusive: 0 where it stored, else 1. May stop. -> Word
    StoreExclusive {
        /// Where.
        address: Value,
        /// What.
        value: Value,
        /// How.
        access: Access,
    },
    /// Store-exclusive of two elements: 0 where it stored, else 1. May stop. -> Word
    StoreExclusivePair {
        /// Where.
        address: Value,
        /// What: the first goes to the lower address.
        values: [Value; 2],
        /// How, with the size of one element.
        access: Access,
    },
    /// Atomic read-modify-write; gives the old contents, zero-extended. May stop. -> Word
    Atomic {
        /// Computes the new contents.
        op: AtomicOp,
        /// Where.
        address: Value,
        /// Its operand.
        operand: Value,
        /// How.
        access: Access,
    },
    /// Compare and swap; gives the old contents, zero-extended. Upper bits of the operands do not count. May stop.
    /// -> Word
    CompareSwap {
        /// Where.
        address: Value,
        /// Compared with.
        expected: Value,
        /// Stored where equal.
        new: Value,
        /// How.
        access: Access,
    },
    /// Compare and swap of two elements; gives the old contents, each zero-extended. May stop. -> Word, Word
    CompareSwapPair {
        /// Where.
        address: Value,
        /// Compared with.
        expected: [Value; 2],
        /// Stored where both are equal.
        new: [Value; 2],
        /// How, with the size of one element.
        access: Access,
    },
    /// An operation on allocation tags; gives its result, 0 where it has none. May stop. -> Word
    Tags {
        /// Which.
        op: TagOp,
        /// Where.
        address: Value,
        /// Its operand.
        value: Value,
    },

    /// The alignment check of SP as a base register. May stop.
    CheckSpAlignment,
    /// The traps of SIMD&FP instructions. May stop.
    CheckFp,
    /// A pure function of three quads and FPCR, which may set bits in FPSR. -> Quad
    Call {
        /// The function.
        function: Pure,
        /// Its operands, quads.
        operands: [Value; 3],
    },
    /// Work of the PE on words, for the instruction that the last [`Op::InsnStart`] began. May stop. -> Word
    Assist {
        /// Which.
        op: Assist,
        /// Its operands; 0 where it has fewer.
        operands: [Value; 3],
    },
    /// A system operation; gives its result, 0 where it has none. May stop, before or after its effect, as the
    /// state's stop says; then nothing of its instruction follows. May read and write any guest state but X0 to X30
    /// and Q0 to Q31. -> Word
    System {
        /// Which.
        call: S,
        /// Its argument.
        argument: Value,
    },

    /// The block goes on at `target`.
    Branch {
        /// How.
        kind: BranchKind,
        /// Where.
        target: Value,
    },
    /// The block goes on at `target` where `condition` is not 0, else after its last instruction.
    BranchIf {
        /// Decides.
        condition: Value,
        /// Where.
        target: Value,
    },
    /// The instruction is known but not done: a tool error.
    NotDone,
}

/// What an operation can do beside giving its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A mark, [`Op::InsnStart`].
    Mark,
    /// Nothing: its results depend on its operands only.
    Value,
    /// Reads guest registers.
    Read,
    /// Writes guest registers.
    Write,
    /// [`Op::Call`]: reads FPCR and sets bits of FPSR, again the same ones where the instruction runs again.
    Call,
    /// May stop: memory, checks, system operations.
    MayStop,
    /// Says where the block goes on. The last operation of its block.
    Control,
}

impl<S> Op<S> {
    /// Its class.
    #[must_use]
    pub const fn class(&self) -> Class {
        match self {
            Self::InsnStart { .. } => Class::Mark,
            Self::Const(_)
            | Self::ConstQuad(_)
            | Self::Unary(..)
            | Self::Binary(..)
            | Self::Select { .. }
            | Self::AddWithCarry { .. }
            | Self::LogicFlags { .. }
            | Self::Condition { .. }
            | Self::QuadFromHalves { .. }
            | Self::Lo(_)
            | Self::Hi(_) => Class::Value,
            Self::ReadX(_) | Self::ReadSp | Self::Pc { .. } | Self::ReadNzcv | Self::ReadQ(_) => Class::Read,
            Self::WriteX(..) | Self::WriteSp(_) | Self::WriteNzcv(_) | Self::WriteQ(..) => Class::Write,
            Self::Call { .. } => Class::Call,
            Self::Load { .. }
            | Self::Store { .. }
            | Self::LoadQuad { .. }
            | Self::StoreQuad { .. }
            | Self::LoadExclusive { .. }
            | Self::LoadExclusivePair { .. }
            | Self::StoreExclusive { .. }
            | Self::StoreExclusivePair { .. }
            | Self::Atomic { .. }
            | Self::CompareSwap { .. }
            | Self::CompareSwapPair { .. }
            | Self::Tags { .. }
            | Self::CheckSpAlignment
            | Self::CheckFp
            | Self::Assist { .. }
            | Self::System { .. } => Class::MayStop,
            Self::Branch { .. } | Self::BranchIf { .. } | Self::NotDone => Class::Control,
        }
    }

    /// The types of its results, none to two.
    #[must_use]
    pub const fn results(&self) -> &'static [Type] {
        use Type::{Quad, Word};
        match self {
            Self::Const(_)
            | Self::Unary(..)
            | Self::Binary(..)
            | Self::Select { .. }
            | Self::LogicFlags { .. }
            | Self::Condition { .. }
            | Self::Lo(_)
            | Self::Hi(_)
            | Self::ReadX(_)
            | Self::ReadSp
            | Self::Pc { .. }
            | Self::ReadNzcv
            | Self::Load { .. }
            | Self::LoadExclusive { .. }
            | Self::StoreExclusive { .. }
            | Self::StoreExclusivePair { .. }
            | Self::Atomic { .. }
            | Self::CompareSwap { .. }
            | Self::Tags { .. }
            | Self::Assist { .. }
            | Self::System { .. } => &[Word],
            Self::AddWithCarry { .. } | Self::LoadExclusivePair { .. } | Self::CompareSwapPair { .. } => &[Word, Word],
            Self::ConstQuad(_)
            | Self::QuadFromHalves { .. }
            | Self::ReadQ(_)
            | Self::LoadQuad { .. }
            | Self::Call { .. } => &[Quad],
            Self::InsnStart { .. }
            | Self::WriteX(..)
            | Self::WriteSp(_)
            | Self::WriteNzcv(_)
            | Self::WriteQ(..)
            | Self::Store { .. }
            | Self::StoreQuad { .. }
            | Self::CheckSpAlignment
            | Self::CheckFp
            | Self::Branch { .. }
            | Self::BranchIf { .. }
            | Self::NotDone => &[],
        }
    }

    /// Calls `each` with every operand, in the order of the fields, and the type that it must have.
    pub fn operands_mut(&mut self, mut each: impl FnMut(&mut Value, Type)) {
        use Type::{Quad, Word};
        match self {
            Self::InsnStart { .. }
            | Self::Const(_)
            | Self::ConstQuad(_)
            | Self::ReadX(_)
            | Self::ReadSp
            | Self::Pc { .. }
            | Self::ReadNzcv
            | Self::ReadQ(_)
            | Self::CheckSpAlignment
            | Self::CheckFp
            | Self::NotDone => {}
            Self::Unary(_, a)
            | Self::WriteX(_, a)
            | Self::WriteSp(a)
            | Self::WriteNzcv(a)
            | Self::LogicFlags { result: a, .. }
            | Self::Condition { nzcv: a, .. }
            | Self::Load { address: a, .. }
            | Self::LoadQuad { address: a, .. }
            | Self::LoadExclusive { address: a, .. }
            | Self::LoadExclusivePair { address: a, .. }
            | Self::System { argument: a, .. }
            | Self::Branch { target: a, .. } => each(a, Word),
            Self::Binary(_, a, b)
            | Self::QuadFromHalves { lo: a, hi: b }
            | Self::Store { address: a, value: b, .. }
            | Self::StoreExclusive { address: a, value: b, .. }
            | Self::Atomic { address: a, operand: b, .. }
            | Self::Tags { address: a, value: b, .. }
            | Self::BranchIf { condition: a, target: b } => {
                each(a, Word);
                each(b, Word);
            }
            Self::Select { condition: a, then: b, other: c }
            | Self::AddWithCarry { a, b, carry: c, .. }
            | Self::StoreExclusivePair { address: a, values: [b, c], .. }
            | Self::CompareSwap { address: a, expected: b, new: c, .. }
            | Self::Assist { operands: [a, b, c], .. } => {
                each(a, Word);
                each(b, Word);
                each(c, Word);
            }
            Self::CompareSwapPair { address, expected, new, .. } => {
                each(address, Word);
                expected.iter_mut().chain(new).for_each(|value| each(value, Word));
            }
            Self::Lo(a) | Self::Hi(a) | Self::WriteQ(_, a) => each(a, Quad),
            Self::StoreQuad { address, value, .. } => {
                each(address, Word);
                each(value, Quad);
            }
            Self::Call { operands, .. } => operands.iter_mut().for_each(|value| each(value, Quad)),
        }
    }

    /// Calls `each` with every operand, in the order of the fields, and the type that it must have.
    pub fn operands(&self, mut each: impl FnMut(Value, Type))
    where
        S: Clone,
    {
        self.clone().operands_mut(|value, kind| each(*value, kind));
    }
}
