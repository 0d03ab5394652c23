//! SM4.

use super::{from_words, inverse, words};

const POLYNOMIAL: u16 = 0x1f5;

/// The affine map of the S-box: a circulant matrix over bits, and a constant.
const fn affine(x: u8) -> u8 {
    let (mut result, mut i) = (0xd3, 0);
    while i < 8 {
        result ^= (((0xa7u8.rotate_left(i) & x).count_ones() & 1) << i) as u8;
        i += 1;
    }
    result
}

const fn sbox() -> [u8; 256] {
    let (mut table, mut x) = ([0; 256], 0);
    while x < 256 {
        table[x] = affine(inverse(affine(x as u8), POLYNOMIAL));
        x += 1;
    }
    table
}

static SBOX: [u8; 256] = sbox();

/// Four steps: `linear` follows the S-box.
fn steps(state: u128, keys: u128, linear: fn(u32) -> u32) -> u128 {
    let [mut a, mut b, mut c, mut d] = words(state);
    for key in words(keys) {
        let mixed = (b ^ c ^ d ^ key).to_le_bytes().map(|byte| SBOX[usize::from(byte)]);
        (a, b, c, d) = (b, c, d, a ^ linear(u32::from_le_bytes(mixed)));
    }
    from_words([a, b, c, d])
}

/// SM4E: four rounds with the keys of `n`.
#[must_use]
pub fn encrypt(d: u128, n: u128) -> u128 {
    steps(d, n, |x| x ^ x.rotate_left(2) ^ x.rotate_left(10) ^ x.rotate_left(18) ^ x.rotate_left(24))
}

/// SM4EKEY: four round keys, from the ones before and the constants of `m`.
#[must_use]
pub fn key(n: u128, m: u128) -> u128 {
    steps(n, m, |x| x ^ x.rotate_left(13) ^ x.rotate_left(23))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GB/T 32907, example 1: key and plain text are 0123456789abcdeffedcba9876543210.
    #[test]
    fn example_of_the_standard() {
        let text = from_words([0x0123_4567, 0x89ab_cdef, 0xfedc_ba98, 0x7654_3210]);
        let mut keys = text ^ from_words([0xa3b1_bac6, 0x56aa_3350, 0x677d_9197, 0xb270_22dc]);
        let mut state = text;
        for round in 0..8u32 {
            // CK: byte j of constant i is (4 i + j) * 7.
            let constants = core::array::from_fn(|i| {
                u32::from_be_bytes(core::array::from_fn(|j| ((16 * round + 4 * i as u32 + j as u32) * 7) as u8))
            });
            keys = key(keys, from_words(constants));
            state = encrypt(state, keys);
        }
        let mut result = words(state);
        result.reverse();
        assert_eq!(result, [0x681e_df34, 0xd206_965e, 0x86b3_e94f, 0x536e_4246]);
    }
}
