//! Comparison with independent implementations.

pub mod system;
pub mod user;
