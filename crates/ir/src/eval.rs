//! Evaluates blocks.

use crate::access::{Access, Assist, AtomicOp, BranchKind, Pure};
use crate::block::Block;
use crate::fold::{Datum, Results, fold};
use crate::op::{Op, Value};
use crate::tags::TagOp;

/// Guest state as [`eval`] uses it, one function for each operation that reaches it; [`Op`] says what they do.
#[allow(missing_docs)]
pub trait State<S> {
    /// Why an operation stops.
    type Stop;

    fn read_x(&mut self, n: u8) -> u64;
    fn write_x(&mut self, n: u8, value: u64);
    fn read_sp(&mut self) -> u64;
    fn write_sp(&mut self, value: u64);
    fn pc(&mut self, offset: u32) -> u64;
    fn read_nzcv(&mut self) -> u64;
    fn write_nzcv(&mut self, value: u64);
    fn read_q(&mut self, n: u8) -> u128;
    fn write_q(&mut self, n: u8, value: u128);

    fn load(&mut self, address: u64, access: Access) -> Result<u64, Self::Stop>;
    fn store(&mut self, address: u64, value: u64, access: Access) -> Result<(), Self::Stop>;
    fn load_quad(&mut self, address: u64, access: Access) -> Result<u128, Self::Stop>;
    fn store_quad(&mut self, address: u64, value: u128, access: Access) -> Result<(), Self::Stop>;
    fn load_exclusive(&mut self, address: u64, access: Access) -> Result<u64, Self::Stop>;
    fn load_exclusive_pair(&mut self, address: u64, access: Access) -> Result<(u64, u64), Self::Stop>;
    fn store_exclusive(&mut self, address: u64, value: u64, access: Access) -> Result<u64, Self::Stop>;
    fn store_exclusive_pair(&mut self, address: u64, values: [u64; 2], access: Access) -> Result<u64, Self::Stop>;
    fn atomic(&mut self, op: AtomicOp, address: u64, operand: u64, access: Access) -> Result<u64, Self::Stop>;
    fn compare_swap(&mut self, address: u64, expected: u64, new: u64, access: Access) -> Result<u64, Self::Stop>;
    fn compare_swap_pair(
        &mut self,
        address: u64,
        expected: [u64; 2],
        new: [u64; 2],
        access: Access,
    ) -> Result<(u64, u64), Self::Stop>;
    fn tags(&mut self, op: TagOp, address: u64, value: u64) -> Result<u64, Self::Stop>;

    fn check_sp_alignment(&mut self) -> Result<(), Self::Stop>;
    fn check_fp(&mut self) -> Result<(), Self::Stop>;
    fn call(&mut self, function: Pure, operands: [u128; 3]) -> u128;
    /// `offset` and `word` are those of the instruction's start.
    fn assist(&mut self, offset: u32, word: u32, op: Assist, operands: [u64; 3]) -> Result<u64, Self::Stop>;
    fn system(&mut self, call: &S, argument: u64) -> Result<u64, Self::Stop>;

    fn branch(&mut self, kind: BranchKind, target: u64) -> Result<(), Self::Stop>;
    fn branch_if(&mut self, condition: u64, target: u64) -> Result<(), Self::Stop>;
    /// `offset` and `word` are those of the instruction's start.
    fn not_done(&mut self, offset: u32, word: u32) -> Result<(), Self::Stop>;
}

/// How a block was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit<Stop> {
    /// How many instructions began.
    pub started: u32,
    /// Offset in bytes of the last one that began, 0 where none did.
    pub offset: u32,
    /// Why the last one stopped, where it did.
    pub stop: Option<Stop>,
}

/// Runs `block` on `state`.
///
/// # Panics
/// Where [`crate::verify()`] would refuse the block's use of values.
pub fn eval<S, T: State<S>>(block: &Block<S>, state: &mut T) -> Exit<T::Stop> {
    let mut run = Run { values: Vec::with_capacity(block.values()), started: 0, offset: 0, word: 0 };
    let stop = block.ops().iter().find_map(|op| run.op(op, state).err());
    Exit { started: run.started, offset: run.offset, stop }
}

struct Run {
    values: Vec<Datum>,
    started: u32,
    offset: u32,
    word: u32,
}

impl Run {
    fn datum(&self, value: Value) -> Option<Datum> {
        self.values.get(value.0 as usize).copied()
    }
    fn w(&self, value: Value) -> u64 {
        self.datum(value).and_then(Datum::word).expect("the block verifies")
    }
    fn q(&self, value: Value) -> u128 {
        self.datum(value).and_then(Datum::quad).expect("the block verifies")
    }
    fn give(&mut self, word: u64) {
        self.values.push(Datum::Word(word));
    }
    fn give_two(&mut self, (first, second): (u64, u64)) {
        self.give(first);
        self.give(second);
    }

    fn op<S, T: State<S>>(&mut self, op: &Op<S>, state: &mut T) -> Result<(), T::Stop> {
        match *op {
            Op::InsnStart { offset, word } => {
                self.started += 1;
                (self.offset, self.word) = (offset, word);
            }
            Op::ReadX(n) => self.give(state.read_x(n)),
            Op::WriteX(n, value) => state.write_x(n, self.w(value)),
            Op::ReadSp => self.give(state.read_sp()),
            Op::WriteSp(value) => state.write_sp(self.w(value)),
            Op::Pc { offset } => self.give(state.pc(offset)),
            Op::ReadNzcv => self.give(state.read_nzcv()),
            Op::WriteNzcv(value) => state.write_nzcv(self.w(value)),
            Op::ReadQ(n) => self.values.push(Datum::Quad(state.read_q(n))),
            Op::WriteQ(n, value) => state.write_q(n, self.q(value)),

            Op::Load { address, access } => self.give(state.load(self.w(address), access)?),
            Op::Store { address, value, access } => state.store(self.w(address), self.w(value), access)?,
            Op::LoadQuad { address, access } => {
                self.values.push(Datum::Quad(state.load_quad(self.w(address), access)?));
            }
            Op::StoreQuad { address, value, access } => state.store_quad(self.w(address), self.q(value), access)?,
            Op::LoadExclusive { address, access } => self.give(state.load_exclusive(self.w(address), access)?),
            Op::LoadExclusivePair { address, access } => {
                self.give_two(state.load_exclusive_pair(self.w(address), access)?);
            }
            Op::StoreExclusive { address, value, access } => {
                self.give(state.store_exclusive(self.w(address), self.w(value), access)?);
            }
            Op::StoreExclusivePair { address, values, access } => {
                self.give(state.store_exclusive_pair(self.w(address), values.map(|v| self.w(v)), access)?);
            }
            Op::Atomic { op, address, operand, access } => {
                self.give(state.atomic(op, self.w(address), self.w(operand), access)?);
            }
            Op::CompareSwap { address, expected, new, access } => {
                self.give(state.compare_swap(self.w(address), self.w(expected), self.w(new), access)?);
            }
            Op::CompareSwapPair { address, expected, new, access } => {
                let (expected, new) = (expected.map(|v| self.w(v)), new.map(|v| self.w(v)));
                self.give_two(state.compare_swap_pair(self.w(address), expected, new, access)?);
            }
            Op::Tags { op, address, value } => {
                self.give(state.tags(op, self.w(address), self.w(value))?);
            }

            Op::CheckSpAlignment => state.check_sp_alignment()?,
            Op::CheckFp => state.check_fp()?,
            Op::Call { function, operands } => {
                self.values.push(Datum::Quad(state.call(function, operands.map(|v| self.q(v)))));
            }
            Op::Assist { op, operands } => {
                self.give(state.assist(self.offset, self.word, op, operands.map(|v| self.w(v)))?);
            }
            Op::System { ref call, argument } => self.give(state.system(call, self.w(argument))?),

            Op::Branch { kind, target } => state.branch(kind, self.w(target))?,
            Op::BranchIf { condition, target } => state.branch_if(self.w(condition), self.w(target))?,
            Op::NotDone => state.not_done(self.offset, self.word)?,

            Op::Const(_)
            | Op::ConstQuad(_)
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Select { .. }
            | Op::AddWithCarry { .. }
            | Op::LogicFlags { .. }
            | Op::Condition { .. }
            | Op::QuadFromHalves { .. }
            | Op::Lo(_)
            | Op::Hi(_) => match fold(op, |value| self.datum(value)).expect("the block verifies") {
                Results::One(datum) => self.values.push(datum),
                Results::Two(first, second) => self.give_two((first, second)),
            },
        }
        Ok(())
    }
}
