//! What operations on values give: the one place that says it, for evaluation and for constant folding.

use crate::op::{Binary, Op, Unary, Value, Width};

/// The number that a value holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datum {
    /// Of a word.
    Word(u64),
    /// Of a quad.
    Quad(u128),
}

impl Datum {
    /// The word, if it is one.
    #[must_use]
    pub const fn word(self) -> Option<u64> {
        match self {
            Self::Word(word) => Some(word),
            Self::Quad(_) => None,
        }
    }
    /// The quad, if it is one.
    #[must_use]
    pub const fn quad(self) -> Option<u128> {
        match self {
            Self::Quad(quad) => Some(quad),
            Self::Word(_) => None,
        }
    }
}

/// The results of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Results {
    /// One.
    One(Datum),
    /// Two words.
    Two(u64, u64),
}

/// The results of `op`, where it is of class [`crate::Class::Value`] and `known` knows the operands that decide them.
pub fn fold<S>(op: &Op<S>, known: impl Fn(Value) -> Option<Datum>) -> Option<Results> {
    let word = |value| known(value).and_then(Datum::word);
    let quad = |value| known(value).and_then(Datum::quad);
    let one = |result| Some(Results::One(Datum::Word(result)));
    match *op {
        Op::Const(number) => one(number),
        Op::ConstQuad(number) => Some(Results::One(Datum::Quad(number))),
        Op::Unary(op, a) => one(unary(op, word(a)?)),
        Op::Binary(op, a, b) => one(binary(op, word(a)?, word(b)?)),
        Op::Select { condition, then, other } => one(if word(condition)? != 0 { word(then)? } else { word(other)? }),
        Op::AddWithCarry { width, a, b, carry } => {
            let (result, flags) = add_with_carry(width, word(a)?, word(b)?, word(carry)?);
            Some(Results::Two(result, flags))
        }
        Op::LogicFlags { width, result } => one(logic_flags(width, word(result)?)),
        Op::Condition { cond: 14 | 15, .. } => one(1),
        Op::Condition { cond, nzcv } => one(condition(cond, word(nzcv)?)),
        Op::QuadFromHalves { lo, hi } => {
            Some(Results::One(Datum::Quad(u128::from(word(lo)?) | u128::from(word(hi)?) << 64)))
        }
        Op::Lo(a) => one(quad(a)? as u64),
        Op::Hi(a) => one((quad(a)? >> 64) as u64),
        _ => None,
    }
}

/// See [`Unary`].
#[must_use]
pub const fn unary(op: Unary, a: u64) -> u64 {
    match op {
        Unary::Not => !a,
        Unary::Clz => a.leading_zeros() as u64,
        Unary::Rbit => a.reverse_bits(),
        Unary::Rev => a.swap_bytes(),
        Unary::Popcount => a.count_ones() as u64,
        Unary::Zext(bits) => a << unused(bits) >> unused(bits),
        Unary::Sext(bits) => ((a << unused(bits)) as i64 >> unused(bits)) as u64,
    }
}

const fn unused(bits: u8) -> u32 {
    64u32.saturating_sub(bits as u32) & 63
}

/// See [`Binary`].
#[must_use]
pub const fn binary(op: Binary, a: u64, b: u64) -> u64 {
    match op {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Shl => a << (b & 63),
        Binary::Lshr => a >> (b & 63),
        Binary::Ashr => (a as i64 >> (b & 63)) as u64,
        Binary::Ror => a.rotate_right((b & 63) as u32),
        Binary::IsEq => (a == b) as u64,
        Binary::IsUlt => (a < b) as u64,
        Binary::IsSlt => ((a as i64) < b as i64) as u64,
        Binary::Umulh => ((a as u128 * b as u128) >> 64) as u64,
        Binary::Smulh => ((a as i64 as i128 * b as i64 as i128) >> 64) as u64,
        Binary::Udiv => match a.checked_div(b) {
            Some(quotient) => quotient,
            None => 0,
        },
        Binary::Sdiv => {
            if b == 0 {
                0
            } else {
                (a as i64).wrapping_div(b as i64) as u64
            }
        }
    }
}

/// See [`Op::AddWithCarry`].
#[must_use]
pub const fn add_with_carry(width: Width, a: u64, b: u64, carry: u64) -> (u64, u64) {
    // At 32 bits the operands move to the upper half, and the carry comes in through ones below them.
    let (a, b, carry) = match width {
        Width::W64 => (a, b, carry & 1),
        Width::W32 => (a << 32 | (u32::MAX as u64 * (carry & 1)), b << 32, carry & 1),
    };
    let (partial, c1) = a.overflowing_add(b);
    let (sum, c2) = partial.overflowing_add(carry);
    let overflow = (a ^ sum) & (b ^ sum);
    let result = match width {
        Width::W64 => sum,
        Width::W32 => sum >> 32,
    };
    let flags = (sum >> 63) << 31 | ((result == 0) as u64) << 30 | ((c1 | c2) as u64) << 29 | (overflow >> 63) << 28;
    (result, flags)
}

/// See [`Op::LogicFlags`].
#[must_use]
pub const fn logic_flags(width: Width, result: u64) -> u64 {
    let aligned = result << (64 - width.bits());
    (aligned >> 63) << 31 | ((aligned == 0) as u64) << 30
}

/// See [`Op::Condition`].
#[must_use]
pub const fn condition(cond: u8, nzcv: u64) -> u64 {
    let (n, z, c, v) = (nzcv >> 31 & 1, nzcv >> 30 & 1, nzcv >> 29 & 1, nzcv >> 28 & 1);
    let holds = match cond >> 1 & 7 {
        0 => z,
        1 => c,
        2 => n,
        3 => v,
        4 => c & (z ^ 1),
        5 => n ^ v ^ 1,
        6 => (n ^ v ^ 1) & (z ^ 1),
        _ => return 1,
    };
    holds ^ (cond as u64 & 1)
}
