//! The machine: the board, how it is configured, what it boots, the firmware that it stands in for.

pub mod boot;
pub mod config;
pub mod entropy;
pub mod fdt;
pub mod map;
pub mod psci;

pub use config::{ConfigError, MachineConfig};
