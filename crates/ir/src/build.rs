//! Builds blocks; folds constants, forwards register values and drops what changes nothing while it does.

use std::collections::BTreeMap;

use crate::block::Block;
use crate::fold::{Datum, Results, fold};
use crate::op::{Binary, Op, Type, Unary, Value, Width};
use crate::simplify::{Facts, Simpler};

/// A word operand while building: constants become operations only where one needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A number.
    Const(u64),
    /// A value of type word.
    Value(Value),
}

impl From<u64> for Operand {
    fn from(number: u64) -> Self {
        Self::Const(number)
    }
}

/// What a [`Builder`] makes of what it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Every operation as told. To compare with.
    Literal,
    /// Folds constants, forwards registers, drops operations that change nothing.
    Simplify,
}

/// The registers' values at the current place, where they are known.
struct Known {
    x: [Option<Operand>; 31],
    sp: Option<Operand>,
    nzcv: Option<Operand>,
    q: [Option<Value>; 32],
}

/// Builds one block.
pub struct Builder<S> {
    block: Block<S>,
    mode: Mode,
    consts: BTreeMap<u64, Value>,
    facts: Facts,
    known: Known,
}

impl<S> Builder<S> {
    /// Starts an empty block.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self {
            block: Block::new(),
            mode,
            consts: BTreeMap::new(),
            facts: Facts::default(),
            known: Known { x: [None; 31], sp: None, nzcv: None, q: [None; 32] },
        }
    }

    /// The block.
    #[must_use]
    pub fn finish(self) -> Block<S>
    where
        S: Clone,
    {
        match self.mode {
            Mode::Literal => self.block,
            Mode::Simplify => self.block.pruned(),
        }
    }

    /// Adds an operation as it is; its results are that value and the following ones. For operations without a
    /// function of their own here: those that reach outside the block's values.
    pub fn push(&mut self, op: Op<S>) -> Value {
        if let Op::System { .. } = op {
            (self.known.sp, self.known.nzcv) = (None, None);
        }
        self.facts.note(&op);
        self.block.push(op)
    }

    /// The value of an operand.
    pub fn value(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Value(value) => value,
            Operand::Const(number) => match self.consts.get(&number) {
                Some(&value) if self.mode == Mode::Simplify => value,
                _ => {
                    let value = self.push(Op::Const(number));
                    self.consts.insert(number, value);
                    value
                }
            },
        }
    }

    fn datum(&self, value: Value) -> Option<Datum> {
        match self.block.op_of(value)? {
            Op::Const(number) => Some(Datum::Word(*number)),
            Op::ConstQuad(number) => Some(Datum::Quad(*number)),
            _ => None,
        }
    }

    fn operand(&self, value: Value) -> Operand {
        match self.datum(value) {
            Some(Datum::Word(number)) => Operand::Const(number),
            _ => Operand::Value(value),
        }
    }

    /// Folds or pushes an operation of class value that gives one word.
    fn pure(&mut self, op: Op<S>) -> Operand {
        if self.mode == Mode::Simplify
            && let Some(Results::One(Datum::Word(number))) = fold(&op, |value| self.datum(value))
        {
            return Operand::Const(number);
        }
        Operand::Value(self.push(op))
    }

    /// One operand.
    pub fn unary(&mut self, op: Unary, a: Operand) -> Operand {
        let simpler = match self.mode {
            Mode::Literal => Simpler::Not,
            Mode::Simplify => self.facts.unary(&self.block, op, a),
        };
        match simpler {
            Simpler::Is(operand) => operand,
            Simpler::Unary(op, a) => self.unary(op, a),
            Simpler::Binary(op, a, b) => self.binary(op, a, b),
            Simpler::Not => {
                let a = self.value(a);
                self.pure(Op::Unary(op, a))
            }
        }
    }

    /// Two operands.
    pub fn binary(&mut self, op: Binary, a: Operand, b: Operand) -> Operand {
        let simpler = match self.mode {
            Mode::Literal => Simpler::Not,
            Mode::Simplify => self.facts.binary(&self.block, op, a, b),
        };
        match simpler {
            Simpler::Is(operand) => operand,
            Simpler::Unary(op, a) => self.unary(op, a),
            Simpler::Binary(op, a, b) => self.binary(op, a, b),
            Simpler::Not => {
                let (a, b) = (self.value(a), self.value(b));
                self.pure(Op::Binary(op, a, b))
            }
        }
    }

    /// [`Op::Select`].
    pub fn select(&mut self, condition: Operand, then: Operand, other: Operand) -> Operand {
        if self.mode == Mode::Simplify {
            match condition {
                Operand::Const(0) => return other,
                Operand::Const(_) => return then,
                Operand::Value(_) if then == other => return then,
                Operand::Value(_) => {}
            }
        }
        let (condition, then, other) = (self.value(condition), self.value(then), self.value(other));
        self.pure(Op::Select { condition, then, other })
    }

    /// [`Op::AddWithCarry`]: result and flags.
    pub fn add_with_carry(&mut self, width: Width, a: Operand, b: Operand, carry: Operand) -> (Operand, Operand) {
        let (a, b, carry) = (self.value(a), self.value(b), self.value(carry));
        let op = Op::AddWithCarry { width, a, b, carry };
        if self.mode == Mode::Simplify
            && let Some(Results::Two(result, flags)) = fold(&op, |value| self.datum(value))
        {
            return (Operand::Const(result), Operand::Const(flags));
        }
        self.two(op)
    }

    /// [`Op::LogicFlags`].
    pub fn logic_flags(&mut self, width: Width, result: Operand) -> Operand {
        let result = self.value(result);
        self.pure(Op::LogicFlags { width, result })
    }

    /// Does condition `cond` hold for the current flags?
    pub fn condition(&mut self, cond: u8) -> Operand {
        let nzcv = self.read_nzcv();
        let nzcv = self.value(nzcv);
        self.pure(Op::Condition { cond, nzcv })
    }

    /// [`Op::QuadFromHalves`].
    pub fn quad_from_halves(&mut self, lo: Operand, hi: Operand) -> Value {
        if self.mode == Mode::Simplify {
            if let (Operand::Const(lo), Operand::Const(hi)) = (lo, hi) {
                return self.push(Op::ConstQuad(u128::from(lo) | u128::from(hi) << 64));
            }
            if let (Operand::Value(lo), Operand::Value(hi)) = (lo, hi)
                && let (Some(Op::Lo(whole)), Some(Op::Hi(same))) = (self.block.op_of(lo), self.block.op_of(hi))
                && whole == same
            {
                return *whole;
            }
        }
        let (lo, hi) = (self.value(lo), self.value(hi));
        self.push(Op::QuadFromHalves { lo, hi })
    }

    /// [`Op::Lo`].
    pub fn lo(&mut self, quad: Value) -> Operand {
        match (self.mode, self.block.op_of(quad)) {
            (Mode::Simplify, Some(&Op::QuadFromHalves { lo, .. })) => self.operand(lo),
            _ => self.pure(Op::Lo(quad)),
        }
    }

    /// [`Op::Hi`].
    pub fn hi(&mut self, quad: Value) -> Operand {
        match (self.mode, self.block.op_of(quad)) {
            (Mode::Simplify, Some(&Op::QuadFromHalves { hi, .. })) => self.operand(hi),
            _ => self.pure(Op::Hi(quad)),
        }
    }

    fn forward(&self, known: Option<Operand>) -> Option<Operand> {
        known.filter(|_| self.mode == Mode::Simplify)
    }

    /// Xn; 31 is zero.
    pub fn read_x(&mut self, n: u8) -> Operand {
        let Some(&known) = self.known.x.get(usize::from(n)) else { return Operand::Const(0) };
        self.forward(known).unwrap_or_else(|| {
            let read = Operand::Value(self.push(Op::ReadX(n)));
            self.known.x[usize::from(n)] = Some(read);
            read
        })
    }

    /// Sets Xn; 31 discards.
    pub fn write_x(&mut self, n: u8, operand: Operand) {
        if n < 31 {
            self.known.x[usize::from(n)] = Some(operand);
            let value = self.value(operand);
            self.push(Op::WriteX(n, value));
        }
    }

    /// The stack pointer.
    pub fn read_sp(&mut self) -> Operand {
        self.forward(self.known.sp).unwrap_or_else(|| {
            let read = Operand::Value(self.push(Op::ReadSp));
            self.known.sp = Some(read);
            read
        })
    }

    /// Sets it.
    pub fn write_sp(&mut self, operand: Operand) {
        self.known.sp = Some(operand);
        let value = self.value(operand);
        self.push(Op::WriteSp(value));
    }

    /// The flags.
    pub fn read_nzcv(&mut self) -> Operand {
        self.forward(self.known.nzcv).unwrap_or_else(|| {
            let read = Operand::Value(self.push(Op::ReadNzcv));
            self.known.nzcv = Some(read);
            read
        })
    }

    /// Sets them.
    pub fn write_nzcv(&mut self, operand: Operand) {
        self.known.nzcv = Some(operand);
        let value = self.value(operand);
        self.push(Op::WriteNzcv(value));
    }

    /// Qn, n at most 31.
    pub fn read_q(&mut self, n: u8) -> Value {
        self.known.q[usize::from(n)].filter(|_| self.mode == Mode::Simplify).unwrap_or_else(|| {
            let read = self.push(Op::ReadQ(n));
            self.known.q[usize::from(n)] = Some(read);
            read
        })
    }

    /// Sets Qn, n at most 31.
    pub fn write_q(&mut self, n: u8, quad: Value) {
        self.known.q[usize::from(n)] = Some(quad);
        self.push(Op::WriteQ(n, quad));
    }

    /// An operation that gives one word.
    pub fn one(&mut self, op: Op<S>) -> Operand {
        debug_assert_eq!(op.results(), &[Type::Word]);
        Operand::Value(self.push(op))
    }

    /// An operation that gives two words.
    pub fn two(&mut self, op: Op<S>) -> (Operand, Operand) {
        debug_assert_eq!(op.results(), &[Type::Word, Type::Word]);
        let Value(first) = self.push(op);
        (Operand::Value(Value(first)), Operand::Value(Value(first + 1)))
    }
}
