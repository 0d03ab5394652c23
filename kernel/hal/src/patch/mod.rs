//! Code that is changed while it is in use.
//!
//! `keys`: static keys, single instructions that other CPUs may execute meanwhile · `alternative`: sequences for what the
//! CPUs have, chosen once while the other CPUs stand still · `relocate`: instructions at another address.

mod alternative;
mod keys;
mod relocate;

pub use alternative::*;
pub use keys::*;
