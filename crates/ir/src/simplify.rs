//! What operations on values can be said more simply. Numbers are never computed here but for masks and amounts:
//! that is [`crate::fold()`]'s part.

use crate::block::Block;
use crate::build::Operand;
use crate::fold::{binary, unary};
use crate::op::{Binary, Op, Type, Unary, Value};

/// The simpler thing that an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Simpler {
    /// This operand.
    Is(Operand),
    /// This operation.
    Unary(Unary, Operand),
    /// This operation.
    Binary(Binary, Operand, Operand),
    /// Nothing simpler.
    Not,
}

/// What is known of each value: how many low bits may be set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    bits: Vec<u8>,
}

impl Facts {
    /// The bits above this many are 0.
    fn bits(&self, value: Value) -> u8 {
        self.bits.get(value.0 as usize).copied().unwrap_or(64)
    }

    fn bits_of(&self, operand: Operand) -> u8 {
        match operand {
            Operand::Const(number) => significant(number),
            Operand::Value(value) => self.bits(value),
        }
    }

    /// Takes note of the next operation of the block.
    pub fn note<S>(&mut self, op: &Op<S>) {
        let of = |value: Value| self.bits(value);
        let element = |log2: u32| 8u8 << log2.min(3);
        let (first, second) = match *op {
            Op::Const(number) => (significant(number), 64),
            Op::Unary(Unary::Zext(bits), a) => (of(a).min(bits), 64),
            Op::Unary(Unary::Clz | Unary::Popcount, _) => (7, 64),
            Op::Binary(op, a, b) => (self.binary_bits(op, a, b), 64),
            Op::Select { then, other, .. } => (of(then).max(of(other)), 64),
            Op::AddWithCarry { width, .. } => (width.bits() as u8, 32),
            Op::LogicFlags { .. } | Op::ReadNzcv => (32, 64),
            Op::Condition { .. } | Op::StoreExclusive { .. } | Op::StoreExclusivePair { .. } => (1, 64),
            Op::Load { access, .. }
            | Op::LoadExclusive { access, .. }
            | Op::Atomic { access, .. }
            | Op::CompareSwap { access, .. } => (element(access.log2), 64),
            Op::LoadExclusivePair { access, .. } | Op::CompareSwapPair { access, .. } => {
                (element(access.log2), element(access.log2))
            }
            _ => (64, 64),
        };
        for (result, kind) in op.results().iter().enumerate() {
            self.bits.push(match (kind, result) {
                (Type::Quad, _) => 64,
                (Type::Word, 0) => first,
                (Type::Word, _) => second,
            });
        }
    }

    fn binary_bits(&self, op: Binary, a: Value, b: Value) -> u8 {
        let (a, b) = (self.bits(a), self.bits(b));
        match op {
            Binary::Add => (a.max(b) + 1).min(64),
            Binary::Mul => (a + b).min(64),
            Binary::And => a.min(b),
            Binary::Or | Binary::Xor => a.max(b),
            Binary::Lshr | Binary::Udiv => a,
            Binary::IsEq | Binary::IsUlt | Binary::IsSlt => 1,
            Binary::Sub | Binary::Shl | Binary::Ashr | Binary::Ror | Binary::Umulh | Binary::Smulh | Binary::Sdiv => 64,
        }
    }

    /// Of one operand.
    pub fn unary<S>(&self, block: &Block<S>, op: Unary, a: Operand) -> Simpler {
        let inner = match a {
            Operand::Const(number) => return Simpler::Is(Operand::Const(unary(op, number))),
            Operand::Value(value) => block.op_of(value),
        };
        match (op, inner) {
            (Unary::Zext(bits), _) if self.bits_of(a) <= bits => Simpler::Is(a),
            (Unary::Sext(bits), _) if self.bits_of(a) < bits || bits == 64 => Simpler::Is(a),
            (Unary::Zext(outer), Some(Op::Unary(Unary::Zext(inner) | Unary::Sext(inner), b))) if outer <= *inner => {
                Simpler::Unary(Unary::Zext(outer), Operand::Value(*b))
            }
            (Unary::Sext(outer), Some(Op::Unary(Unary::Zext(inner) | Unary::Sext(inner), b))) if outer <= *inner => {
                Simpler::Unary(Unary::Sext(outer), Operand::Value(*b))
            }
            (Unary::Sext(outer), Some(Op::Unary(Unary::Sext(inner), _))) if outer > *inner => Simpler::Is(a),
            (Unary::Not, Some(Op::Unary(Unary::Not, b)))
            | (Unary::Rev, Some(Op::Unary(Unary::Rev, b)))
            | (Unary::Rbit, Some(Op::Unary(Unary::Rbit, b))) => Simpler::Is(Operand::Value(*b)),
            _ => Simpler::Not,
        }
    }

    /// Of two operands.
    pub fn binary<S>(&self, block: &Block<S>, op: Binary, a: Operand, b: Operand) -> Simpler {
        use Operand::{Const, Value};
        match (a, b) {
            (Const(a), Const(b)) => Simpler::Is(Const(binary(op, a, b))),
            (Const(_), Value(_)) if commutes(op) => Simpler::Binary(op, b, a),
            (Value(value), Const(number)) => self.with_number(block, op, value, number),
            (Value(x), Value(y)) if x == y => match op {
                Binary::Sub | Binary::Xor | Binary::IsUlt | Binary::IsSlt => Simpler::Is(Const(0)),
                Binary::And | Binary::Or => Simpler::Is(a),
                Binary::IsEq => Simpler::Is(Const(1)),
                _ => Simpler::Not,
            },
            (Const(_) | Value(_), Value(_)) => Simpler::Not,
        }
    }

    fn with_number<S>(&self, block: &Block<S>, op: Binary, value: Value, number: u64) -> Simpler {
        let (is_value, is) = (Simpler::Is(Operand::Value(value)), |number| Simpler::Is(Operand::Const(number)));
        match (op, number) {
            (Binary::Add | Binary::Sub | Binary::Or | Binary::Xor, 0) | (Binary::Mul, 1) => is_value,
            (Binary::Shl | Binary::Lshr | Binary::Ashr | Binary::Ror, n) if n & 63 == 0 => is_value,
            (
                Binary::Mul | Binary::And | Binary::IsUlt | Binary::Umulh | Binary::Smulh | Binary::Udiv | Binary::Sdiv,
                0,
            ) => is(0),
            (Binary::Or, u64::MAX) => is(u64::MAX),
            (Binary::And, mask) if low_ones(mask) >= u32::from(self.bits(value)) => is_value,
            (Binary::Lshr, n) if n & 63 >= u64::from(self.bits(value)) => is(0),
            (Binary::Sub, _) => {
                Simpler::Binary(Binary::Add, Operand::Value(value), Operand::Const(number.wrapping_neg()))
            }
            (Binary::Add, _) => match block.op_of(value) {
                Some(&Op::Binary(Binary::Add, x, c)) if let Some(&Op::Const(c)) = block.op_of(c) => {
                    Simpler::Binary(Binary::Add, Operand::Value(x), Operand::Const(c.wrapping_add(number)))
                }
                _ => Simpler::Not,
            },
            _ => Simpler::Not,
        }
    }
}

fn commutes(op: Binary) -> bool {
    matches!(
        op,
        Binary::Add
            | Binary::Mul
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::IsEq
            | Binary::Umulh
            | Binary::Smulh
    )
}

fn significant(number: u64) -> u8 {
    (64 - number.leading_zeros()) as u8
}

/// How many low bits are all ones.
fn low_ones(mask: u64) -> u32 {
    mask.trailing_ones()
}
