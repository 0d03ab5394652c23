//! Comparison with independent implementations.

pub mod case;
pub mod class;
pub mod differ;
pub mod engine;
pub mod generate;
pub mod ours;
pub mod sweep;
pub mod system;
pub mod table;
pub mod user;
