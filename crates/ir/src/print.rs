//! Blocks as text.

use core::fmt::{Debug, Display, Formatter, Result};

use crate::access::{Access, Order, Privilege};
use crate::block::Block;
use crate::op::{Op, Unary, Value};
use crate::tags::TagCheck;

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "v{}", self.0)
    }
}

/// `size[.order][.unprivileged][.unchecked]`, the size in bytes.
struct Shown(Access);

impl Display for Shown {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}", 1u32 << self.0.log2.min(4))?;
        f.write_str(match self.0.order {
            Order::Plain => "",
            Order::Acquire => ".acquire",
            Order::AcquirePc => ".acquire_pc",
            Order::Release => ".release",
            Order::AcquireRelease => ".acquire_release",
            Order::LimitedOrder => ".limited_order",
        })?;
        f.write_str(match self.0.privilege {
            Privilege::Current => "",
            Privilege::Unprivileged => ".unprivileged",
        })?;
        f.write_str(match self.0.tags {
            TagCheck::Checked => "",
            TagCheck::Unchecked => ".unchecked",
        })
    }
}

/// A debug name in lower case, words apart by `_`.
fn lower(name: &impl Debug) -> String {
    let mut text = String::new();
    for c in format!("{name:?}").chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

impl<S: Debug> Display for Op<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Op::InsnStart { offset, word } => write!(f, "insn +{offset:#x} {word:08x}"),
            Op::Const(number) => write!(f, "{number:#x}"),
            Op::ConstQuad(number) => write!(f, "quad {number:#x}"),
            Op::Unary(Unary::Zext(bits), a) => write!(f, "zext.{bits} {a}"),
            Op::Unary(Unary::Sext(bits), a) => write!(f, "sext.{bits} {a}"),
            Op::Unary(op, a) => write!(f, "{} {a}", lower(op)),
            Op::Binary(op, a, b) => write!(f, "{} {a}, {b}", lower(op)),
            Op::Select { condition, then, other } => write!(f, "select {condition}, {then}, {other}"),
            Op::AddWithCarry { width, a, b, carry } => {
                write!(f, "add_with_carry.{} {a}, {b}, {carry}", width.bits())
            }
            Op::LogicFlags { width, result } => write!(f, "logic_flags.{} {result}", width.bits()),
            Op::Condition { cond, nzcv } => write!(f, "condition.{} {nzcv}", condition_name(*cond)),
            Op::QuadFromHalves { lo, hi } => write!(f, "quad {lo}, {hi}"),
            Op::Lo(a) => write!(f, "lo {a}"),
            Op::Hi(a) => write!(f, "hi {a}"),

            Op::ReadX(n) => write!(f, "x{n}"),
            Op::WriteX(n, value) => write!(f, "x{n} = {value}"),
            Op::ReadSp => f.write_str("sp"),
            Op::WriteSp(value) => write!(f, "sp = {value}"),
            Op::Pc { offset } => write!(f, "pc +{offset:#x}"),
            Op::ReadNzcv => f.write_str("nzcv"),
            Op::WriteNzcv(value) => write!(f, "nzcv = {value}"),
            Op::ReadQ(n) => write!(f, "q{n}"),
            Op::WriteQ(n, value) => write!(f, "q{n} = {value}"),

            Op::Load { address, access } => write!(f, "load.{} [{address}]", Shown(*access)),
            Op::Store { address, value, access } => write!(f, "store.{} [{address}], {value}", Shown(*access)),
            Op::LoadQuad { address, access } => write!(f, "load_quad.{} [{address}]", quad(*access)),
            Op::StoreQuad { address, value, access } => write!(f, "store_quad.{} [{address}], {value}", quad(*access)),
            Op::LoadExclusive { address, access } => write!(f, "load_exclusive.{} [{address}]", Shown(*access)),
            Op::LoadExclusivePair { address, access } => {
                write!(f, "load_exclusive_pair.{} [{address}]", Shown(*access))
            }
            Op::StoreExclusive { address, value, access } => {
                write!(f, "store_exclusive.{} [{address}], {value}", Shown(*access))
            }
            Op::StoreExclusivePair { address, values: [a, b], access } => {
                write!(f, "store_exclusive_pair.{} [{address}], {a}, {b}", Shown(*access))
            }
            Op::Atomic { op, address, operand, access } => {
                write!(f, "atomic_{}.{} [{address}], {operand}", lower(op), Shown(*access))
            }
            Op::CompareSwap { address, expected, new, access } => {
                write!(f, "compare_swap.{} [{address}], {expected}, {new}", Shown(*access))
            }
            Op::CompareSwapPair { address, expected: [a, b], new: [c, d], access } => {
                write!(f, "compare_swap_pair.{} [{address}], {a}, {b}, {c}, {d}", Shown(*access))
            }
            Op::Tags { op, address, value } => write!(f, "tags_{} [{address}], {value}", lower(op)),

            Op::CheckSpAlignment => f.write_str("check_sp_alignment"),
            Op::CheckFp => f.write_str("check_fp"),
            Op::Call { function, operands: [a, b, c] } => write!(f, "call {function:?} {a}, {b}, {c}"),
            Op::Assist { op, operands: [a, b, c] } => write!(f, "assist {op:?} {a}, {b}, {c}"),
            Op::System { call, argument } => write!(f, "system {call:?} {argument}"),

            Op::Branch { kind, target } => write!(f, "branch.{} {target}", lower(kind)),
            Op::BranchIf { condition, target } => write!(f, "branch_if {condition}, {target}"),
            Op::NotDone => f.write_str("not_done"),
        }
    }
}

fn quad(access: Access) -> Shown {
    Shown(Access { log2: 4, ..access })
}

fn condition_name(cond: u8) -> &'static str {
    const NAMES: [&str; 16] =
        ["eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al", "nv"];
    NAMES.get(usize::from(cond)).copied().unwrap_or("?")
}

/// One operation a line, results before `=`, those of an instruction under its start.
impl<S: Debug> Display for Block<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (first, op) in self.numbered() {
            if !matches!(op, Op::InsnStart { .. }) {
                f.write_str("  ")?;
            }
            match op.results().len() {
                0 => writeln!(f, "{op}")?,
                1 => writeln!(f, "{first} = {op}")?,
                _ => writeln!(f, "{first}, {} = {op}", Value(first.0 + 1))?,
            }
        }
        Ok(())
    }
}
