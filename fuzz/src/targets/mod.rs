//! The targets, a file each.

use crate::Target;

mod decoder;
mod devicetree;
mod flags;
mod gdb;
mod guest;
mod kernel;
mod network;
mod queues;
mod registers;
mod share;
mod snapshots;
mod symbols;

/// All of them.
pub const TARGETS: &[Target] = &[
    kernel::TARGET,
    devicetree::TARGET,
    symbols::TARGET,
    flags::TARGET,
    decoder::TARGET,
    registers::TARGET,
    queues::TARGET,
    share::TARGET,
    network::TARGET,
    gdb::TARGET,
    snapshots::TARGET,
];
