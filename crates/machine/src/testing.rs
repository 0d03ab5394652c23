//! Kernels for tests.

/// An ELF of `words`, which are loaded and entered at `entry`.
#[must_use]
pub fn elf(entry: u64, words: &[u32]) -> Vec<u8> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut file = vec![0; 120];
    let mut put = |at: usize, value: &[u8]| file[at..at + value.len()].copy_from_slice(value);
    put(0, b"\x7fELF\x02\x01\x01");
    put(16, &[2, 0, 183, 0, 1]);
    put(24, &entry.to_le_bytes());
    put(32, &64u64.to_le_bytes());
    put(52, &[64, 0, 56, 0, 1]);
    put(64, &1u32.to_le_bytes());
    for (n, value) in [120, entry, entry, bytes.len() as u64, bytes.len() as u64].into_iter().enumerate() {
        put(72 + 8 * n, &value.to_le_bytes());
    }
    file.extend(bytes);
    file
}
