//! Random numbers: a keystream from the boot loader's seed. Not for secrets: the seed is all the entropy there is, and with
//! the same seed a run is the same, which is what a laboratory wants.

use hal::sync::SpinLock;

static STATE: SpinLock<[u64; 4]> =
    SpinLock::new([0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 1]);

/// Takes the seed.
pub fn seed(seed: &[u8; 32]) {
    let mut state = STATE.lock();
    for (word, bytes) in state.iter_mut().zip(seed.chunks_exact(8)) {
        let mut array = [0; 8];
        array.copy_from_slice(bytes);
        *word ^= u64::from_le_bytes(array);
    }
}

/// xoshiro256** (Blackman and Vigna).
fn next(state: &mut [u64; 4]) -> u64 {
    let result = state[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
    let shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = state[3].rotate_left(45);
    result
}

/// Fills `bytes`.
pub fn fill(bytes: &mut [u8]) {
    let mut state = STATE.lock();
    for chunk in bytes.chunks_mut(8) {
        let word = next(&mut state).to_le_bytes();
        chunk.copy_from_slice(&word[..chunk.len()]);
    }
}
