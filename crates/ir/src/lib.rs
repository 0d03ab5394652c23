//! IR: straight-line blocks of typed operations, what [`Machine`](../sem/trait.Machine.html) bodies become when lifted.

pub mod access;

pub use access::{Access, AtomicOp, BranchKind, FpEnv, Order, Privilege, Pure};
