//! A straight-line block.

use crate::op::{Class, Op, Type, Value};

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The position of its operation.
    pub op: u32,
    /// Which of the operation's results it is, 0 or 1.
    pub result: u8,
}

/// Operations in order. Results are numbered through the block, so the text of a block is its operations alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block<S> {
    ops: Vec<Op<S>>,
    definitions: Vec<Definition>,
}

impl<S> Default for Block<S> {
    fn default() -> Self {
        Self { ops: Vec::new(), definitions: Vec::new() }
    }
}

impl<S> Block<S> {
    /// An empty block.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an operation; its results are that value and the following ones.
    pub fn push(&mut self, op: Op<S>) -> Value {
        let (first, at) = (self.definitions.len() as u32, self.ops.len() as u32);
        self.definitions.extend((0..op.results().len()).map(|result| Definition { op: at, result: result as u8 }));
        self.ops.push(op);
        Value(first)
    }

    /// The operations.
    #[must_use]
    pub fn ops(&self) -> &[Op<S>] {
        &self.ops
    }

    /// The operations, each with its first result's number (what the next result would get where it has none).
    pub fn numbered(&self) -> impl Iterator<Item = (Value, &Op<S>)> {
        let mut next = 0;
        self.ops.iter().map(move |op| {
            let first = next;
            next += op.results().len() as u32;
            (Value(first), op)
        })
    }

    /// How many values there are.
    #[must_use]
    pub fn values(&self) -> usize {
        self.definitions.len()
    }

    /// Where `value` comes from.
    #[must_use]
    pub fn definition(&self, value: Value) -> Option<Definition> {
        self.definitions.get(value.0 as usize).copied()
    }

    /// The operation that gives `value` as its only or first result.
    #[must_use]
    pub fn op_of(&self, value: Value) -> Option<&Op<S>> {
        let definition = self.definition(value).filter(|definition| definition.result == 0)?;
        self.ops.get(definition.op as usize)
    }

    /// The type of `value`.
    #[must_use]
    pub fn type_of(&self, value: Value) -> Option<Type> {
        let Definition { op, result } = self.definition(value)?;
        self.ops[op as usize].results().get(usize::from(result)).copied()
    }

    /// The block without operations that only give values which nobody uses.
    #[must_use]
    pub fn pruned(self) -> Self
    where
        S: Clone,
    {
        let mut used = vec![false; self.values()];
        let mut keep = vec![false; self.ops.len()];
        let mut next = self.values();
        for (at, op) in self.ops.iter().enumerate().rev() {
            next -= op.results().len();
            let only_values = matches!(op.class(), Class::Value | Class::Read);
            keep[at] = !only_values || used[next..next + op.results().len()].contains(&true);
            if keep[at] {
                op.operands(|value, _| used[value.0 as usize] = true);
            }
        }
        self.keeping(&keep)
    }

    /// The block without register writes that a later one replaces before anyone can see them: nothing between the
    /// two may stop, and no system operation, which might look at flags and SP. Values that only they used stay, for
    /// [`Block::pruned`].
    #[must_use]
    pub fn without_overwritten(self) -> Self
    where
        S: Clone,
    {
        let mut keep = vec![true; self.ops.len()];
        // The registers that are written below, going up.
        let (mut x, mut q, mut sp, mut nzcv) = ([false; 32], [false; 32], false, false);
        for (at, op) in self.ops.iter().enumerate().rev() {
            let written = match *op {
                Op::WriteX(n, _) => &mut x[usize::from(n & 31)],
                Op::WriteQ(n, _) => &mut q[usize::from(n & 31)],
                Op::WriteSp(_) => &mut sp,
                Op::WriteNzcv(_) => &mut nzcv,
                Op::ReadX(n) => {
                    x[usize::from(n & 31)] = false;
                    continue;
                }
                Op::ReadQ(n) => {
                    q[usize::from(n & 31)] = false;
                    continue;
                }
                Op::ReadSp => {
                    sp = false;
                    continue;
                }
                Op::ReadNzcv => {
                    nzcv = false;
                    continue;
                }
                _ => {
                    if matches!(op.class(), Class::MayStop | Class::Control) {
                        (x, q, sp, nzcv) = ([false; 32], [false; 32], false, false);
                    }
                    continue;
                }
            };
            keep[at] = !*written;
            *written = true;
        }
        self.keeping(&keep)
    }

    /// The block of the operations that `keep` names. None of the others gives a value that one of them uses.
    fn keeping(self, keep: &[bool]) -> Self {
        let (mut kept, mut new_number, mut old) = (Self::new(), vec![Value(0); self.values()], 0);
        for (mut op, &keep) in self.ops.into_iter().zip(keep) {
            let results = op.results().len();
            if keep {
                op.operands_mut(|value, _| *value = new_number[value.0 as usize]);
                let first = kept.push(op);
                for result in 0..results {
                    new_number[old + result] = Value(first.0 + result as u32);
                }
            }
            old += results;
        }
        kept
    }
}
