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
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut file = vec![0; 120];
    let mut put = |at: usize, value: &[u8]| file[at..at + value.len()].copy_from_slice(value);
    put(0, b"\x7fELF\x02\x01\x01");
    put(16, &[2, 0, 183, 0, 1]);
    put(24, &ENTRY.to_le_bytes());
    put(32, &64u64.to_le_bytes());
    put(52, &[64, 0, 56, 0, 1]);
    put(64, &1u32.to_le_bytes());
    for (n, value) in [120, ENTRY, ENTRY, bytes.len() as u64, bytes.len() as u64].into_iter().enumerate() {
        put(72 + 8 * n, &value.to_le_bytes());
    }
    file.extend(bytes);
    file
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
