//! What uname(2) tells. Programs that look for Linux's features by version find those of 6.1.

/// sysname
pub const SYSNAME: &str = "Linux";
/// nodename
pub const NODENAME: &str = "vambrace";
/// release
pub const RELEASE: &str = "6.1.0-vambrace";
/// version
pub const VERSION: &str = "#1 SMP";
/// machine
pub const MACHINE: &str = "aarch64";
