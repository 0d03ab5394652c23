//! Checks blocks, and that a changed block still does the same things in the same order.

use crate::block::Block;
use crate::op::{Class, Op, Type, Unary, Value};

/// What is wrong with a block. Positions count its operations from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// An operand is not defined before its use.
    #[error("operation {at} uses v{}, which no earlier one gives", value.0)]
    Undefined {
        /// Position.
        at: usize,
        /// The operand.
        value: Value,
    },
    /// An operand has another type than it must.
    #[error("operation {at} uses v{} as {needs:?}", value.0)]
    Type {
        /// Position.
        at: usize,
        /// The operand.
        value: Value,
        /// The type that it must have.
        needs: Type,
    },
    /// A register number, a width, a condition or an access size is out of range.
    #[error("operation {at} has {number} out of range")]
    Range {
        /// Position.
        at: usize,
        /// The number.
        number: u32,
    },
    /// Something follows a control operation.
    #[error("operation {at} follows a control operation")]
    AfterControl {
        /// Position.
        at: usize,
    },
    /// No instruction began before the operation, or the next one does not begin after the last.
    #[error("operation {at} is not in its instruction's place")]
    Place {
        /// Position.
        at: usize,
    },
    /// An operation may stop although its instruction has already written a register: it could not run again.
    #[error("operation {at} may stop after its instruction wrote a register")]
    NotRestartable {
        /// Position.
        at: usize,
    },
}

/// Checks types, definitions before uses, ranges, that instructions begin in order and can run again where they stop,
/// and that control is last.
pub fn verify<S: Clone>(block: &Block<S>) -> Result<(), Invalid> {
    let (mut offset, mut wrote, mut ended) = (None, false, false);
    for (at, (first, op)) in block.numbered().enumerate() {
        if ended {
            return Err(Invalid::AfterControl { at });
        }
        if let Some(number) = out_of_range(op) {
            return Err(Invalid::Range { at, number });
        }
        let mut result = Ok(());
        op.operands(|value, needs| {
            if value >= first {
                result = result.and(Err(Invalid::Undefined { at, value }));
            } else if block.type_of(value) != Some(needs) {
                result = result.and(Err(Invalid::Type { at, value, needs }));
            }
        });
        result?;
        match op.class() {
            Class::Mark => {
                let Op::InsnStart { offset: this, .. } = *op else { continue };
                if this % 4 != 0 || offset.is_some_and(|last| last >= this) {
                    return Err(Invalid::Place { at });
                }
                (offset, wrote) = (Some(this), false);
            }
            Class::Read | Class::Write | Class::Call | Class::MayStop | Class::Control if offset.is_none() => {
                return Err(Invalid::Place { at });
            }
            Class::Write => wrote = true,
            Class::MayStop if wrote => return Err(Invalid::NotRestartable { at }),
            Class::Value | Class::Read | Class::Call | Class::MayStop => {}
            Class::Control => ended = true,
        }
    }
    Ok(())
}

fn out_of_range<S>(op: &Op<S>) -> Option<u32> {
    let (number, range) = match *op {
        Op::ReadX(n) | Op::WriteX(n, _) => (u32::from(n), 0..=30),
        Op::ReadQ(n) | Op::WriteQ(n, _) => (u32::from(n), 0..=31),
        Op::Unary(Unary::Zext(bits) | Unary::Sext(bits), _) => (u32::from(bits), 1..=64),
        Op::Condition { cond, .. } => (u32::from(cond), 0..=15),
        Op::Load { access, .. }
        | Op::Store { access, .. }
        | Op::LoadExclusive { access, .. }
        | Op::LoadExclusivePair { access, .. }
        | Op::StoreExclusive { access, .. }
        | Op::StoreExclusivePair { access, .. }
        | Op::Atomic { access, .. }
        | Op::CompareSwap { access, .. }
        | Op::CompareSwapPair { access, .. } => (access.log2, 0..=3),
        _ => return None,
    };
    (!range.contains(&number)).then_some(number)
}

/// Where two blocks first do different things: positions in the one and in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operation {before} of the one block and operation {after} of the other differ in effect")]
pub struct Differs {
    /// Position in the first block (its length where it ends there).
    pub before: usize,
    /// Position in the second block (its length where it ends there).
    pub after: usize,
}

/// Do both blocks have the same instruction starts, writes, calls, memory accesses, checks, system operations and
/// control operations in the same order? Which values they use does not matter.
pub fn same_effects<S: Clone + PartialEq>(before: &Block<S>, after: &Block<S>) -> Result<(), Differs> {
    let mut one = effects(before);
    let mut other = effects(after);
    loop {
        match (one.next(), other.next()) {
            (None, None) => return Ok(()),
            (Some((_, a)), Some((_, b))) if a == b => {}
            (a, b) => {
                return Err(Differs {
                    before: a.map_or(before.ops().len(), |(at, _)| at),
                    after: b.map_or(after.ops().len(), |(at, _)| at),
                });
            }
        }
    }
}

fn effects<S: Clone>(block: &Block<S>) -> impl Iterator<Item = (usize, Op<S>)> {
    block.ops().iter().enumerate().filter(|(_, op)| !matches!(op.class(), Class::Value | Class::Read)).map(
        |(at, op)| {
            let mut op = op.clone();
            op.operands_mut(|value, _| *value = Value(0));
            (at, op)
        },
    )
}
