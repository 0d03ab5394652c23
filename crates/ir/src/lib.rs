//! IR: straight-line blocks of typed operations.
//!
//! What `sem`'s instruction bodies become when lifted, and what the JIT compiles. A [`Block`] is a list of [`Op`]s
//! whose results are numbered [`Value`]s, each a [`Type::Word`] or a [`Type::Quad`]. [`Builder`] makes blocks and
//! simplifies them, [`verify()`] checks them, [`eval()`] runs them on a [`State`], and `Display` prints them:
//!
//! ```text
//! insn +0x0 91000420
//!   v0 = x1
//!   v1 = 0x1
//!   v2 = add v0, v1
//!   x0 = v2
//! ```
//!
//! Operations happen in order. One that may stop leaves the block before it has any effect, and its instruction, the
//! last that an [`Op::InsnStart`] began, can run again: that is what makes exceptions exact.

pub mod access;
pub mod block;
pub mod build;
pub mod eval;
pub mod fold;
pub mod op;
pub mod print;
mod simplify;
pub mod tags;
pub mod verify;

pub use access::{Access, Assist, AtomicOp, BranchKind, CopyOrder, FpEnv, Order, PauthKey, Privilege, Pure};
pub use block::{Block, Definition};
pub use build::{Builder, Mode, Operand};
pub use eval::{Exit, State, eval};
pub use fold::{Datum, Results, fold};
pub use op::{Binary, Class, Op, Type, Unary, Value, Width};
pub use tags::{TagCheck, TagOp};
pub use verify::{Differs, Invalid, same_effects, verify};
