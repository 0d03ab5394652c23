//! Comparison with independent implementations.

pub mod user;
