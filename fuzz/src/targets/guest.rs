//! Machines and programs for targets.

use std::path::PathBuf;

use machine::setup::Sleep;
use machine::{Input, Options, Semihosting};
use tempfile::TempDir;

/// Where programs start.
pub const ENTRY: u64 = 0x4020_0000;
/// Bytes of RAM: the least there can be.
pub const MEMORY: u64 = 16 << 20;

/// An ELF that is loaded and entered at [`ENTRY`].
pub fn elf(words: &[u32]) -> Vec<u8> {
    machine::testing::elf(ENTRY, words)
}

/// What surrounds a machine that nobody sees.
pub fn options() -> Options {
    Options {
        console: Box::new(std::io::sink()),
        virtio_console: None,
        input: Input::Uart,
        sleep: Sleep::Skipped,
        semihosting: Semihosting::Off,
    }
}

/// A directory in memory, where the host has such a place, that goes when it is dropped.
pub fn directory() -> TempDir {
    let fast = PathBuf::from("/dev/shm");
    let place = if fast.is_dir() { fast } else { std::env::temp_dir() };
    TempDir::with_prefix_in("vambrace-fuzz", place).expect("a place for files")
}
