//! AES rounds. The state's byte `4 * column + row` is byte number `4 * column + row` of the value.

use super::{inverse, multiply};

const POLYNOMIAL: u16 = 0x11b;

const fn sbox() -> [u8; 256] {
    let (mut table, mut x) = ([0; 256], 0);
    while x < 256 {
        let b = inverse(x as u8, POLYNOMIAL);
        table[x] = b ^ b.rotate_left(1) ^ b.rotate_left(2) ^ b.rotate_left(3) ^ b.rotate_left(4) ^ 0x63;
        x += 1;
    }
    table
}

const fn inverse_table(of: &[u8; 256]) -> [u8; 256] {
    let (mut table, mut x) = ([0; 256], 0);
    while x < 256 {
        table[of[x] as usize] = x as u8;
        x += 1;
    }
    table
}

/// Products of every byte with a constant.
const fn products(factor: u8) -> [u8; 256] {
    let (mut table, mut x) = ([0; 256], 0);
    while x < 256 {
        table[x] = multiply(x as u8, factor, POLYNOMIAL);
        x += 1;
    }
    table
}

static SBOX: [u8; 256] = sbox();
static INVERSE_SBOX: [u8; 256] = inverse_table(&sbox());
static TIMES_2: [u8; 256] = products(2);
static TIMES_9: [u8; 256] = products(9);
static TIMES_11: [u8; 256] = products(11);
static TIMES_13: [u8; 256] = products(13);
static TIMES_14: [u8; 256] = products(14);

/// AESE: AddRoundKey, ShiftRows, SubBytes.
#[must_use]
pub fn encrypt(state: u128, key: u128) -> u128 {
    let old = (state ^ key).to_le_bytes();
    u128::from_le_bytes(core::array::from_fn(|i| SBOX[usize::from(old[(i + 4 * (i % 4)) % 16])]))
}

/// AESD: AddRoundKey, InvShiftRows, InvSubBytes.
#[must_use]
pub fn decrypt(state: u128, key: u128) -> u128 {
    let old = (state ^ key).to_le_bytes();
    u128::from_le_bytes(core::array::from_fn(|i| INVERSE_SBOX[usize::from(old[(i + 12 * (i % 4)) % 16])]))
}

/// The column that byte `i` belongs to, from the byte on downwards, wrapping round.
fn column(state: &[u8; 16], i: usize) -> [usize; 4] {
    core::array::from_fn(|n| usize::from(state[i / 4 * 4 + (i + n) % 4]))
}

/// AESMC: MixColumns.
#[must_use]
pub fn mix_columns(state: u128) -> u128 {
    let old = state.to_le_bytes();
    u128::from_le_bytes(core::array::from_fn(|i| {
        let [a, b, c, d] = column(&old, i);
        TIMES_2[a] ^ TIMES_2[b] ^ (b ^ c ^ d) as u8
    }))
}

/// AESIMC: InvMixColumns.
#[must_use]
pub fn inverse_mix_columns(state: u128) -> u128 {
    let old = state.to_le_bytes();
    u128::from_le_bytes(core::array::from_fn(|i| {
        let [a, b, c, d] = column(&old, i);
        TIMES_14[a] ^ TIMES_11[b] ^ TIMES_13[c] ^ TIMES_9[d]
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS-197 appendix B, round 1.
    #[test]
    fn first_round_of_the_standard() {
        let bytes = |text: &str| u128::from_str_radix(text, 16).unwrap().swap_bytes();
        let state = bytes("3243f6a8885a308d313198a2e0370734");
        let key = bytes("2b7e151628aed2a6abf7158809cf4f3c");
        let shifted = encrypt(state, key);
        assert_eq!(shifted, bytes("d4bf5d30e0b452aeb84111f11e2798e5"));
        let mixed = mix_columns(shifted);
        assert_eq!(mixed, bytes("046681e5e0cb199a48f8d37a2806264c"));
        assert_eq!(inverse_mix_columns(mixed), shifted);
        assert_eq!(decrypt(shifted, 0), state ^ key);
    }
}
