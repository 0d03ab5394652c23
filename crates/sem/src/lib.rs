//! A64: decoder and semantics.
//!
//! Each encoding of Arm's list is one line in a `encodings!` table of its class's file, and below the table stand
//! the plain functions that say what the instructions do. A function is generic over [`Machine`], so one meaning has
//! several readings: the PE executes it, `Lift` turns it into IR, `Footprint` says what it touches.
// A body's type is the same for all, whether or not it can stop.
#![allow(clippy::unnecessary_wraps)]

pub mod base;
pub mod crypto;
pub mod decode;
#[cfg(any(test, feature = "testing"))]
pub mod eval;
pub mod footprint;
pub mod fp;
pub mod insn;
pub mod lift;
pub mod machine;
pub mod pattern;
mod simd;
pub mod spec;
pub mod system;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod text;
pub mod word;

#[cfg(test)]
mod readings;

pub use decode::{Decoder, InsnId};
pub use insn::{Insn, Reg};
pub use machine::{
    Access, Assist, AtomicOp, BranchKind, CopyOrder, Done, FpEnv, Machine, Order, PauthKey, Privilege, Pure, TagCheck,
    TagOp,
};
pub use spec::{Spec, specs};
pub use system::{BarrierOp, Domain, ExceptionCall, Hint, PstateField, System};
pub use word::{Quad, Word};
