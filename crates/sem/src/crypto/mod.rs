//! The cryptographic functions of the manual's shared pseudocode ("shared/functions/crypto"), as plain functions of
//! 128-bit values. S-boxes are computed from their definitions.

pub mod aes;
pub mod sha1;
pub mod sha256;
pub mod sha512;
pub mod sm3;
pub mod sm4;

/// The four 32-bit words, the lowest first.
pub(crate) fn words(value: u128) -> [u32; 4] {
    core::array::from_fn(|i| (value >> (32 * i)) as u32)
}

/// From four 32-bit words, the lowest first.
pub(crate) fn from_words(words: [u32; 4]) -> u128 {
    words.iter().rev().fold(0, |value, &word| value << 32 | u128::from(word))
}

/// A product in GF(2^8) modulo `polynomial` (with its x^8).
const fn multiply(a: u8, b: u8, polynomial: u16) -> u8 {
    let (mut sum, mut a, mut b) = (0, a as u16, b);
    while b != 0 {
        if b & 1 == 1 {
            sum ^= a;
        }
        a <<= 1;
        if a & 0x100 != 0 {
            a ^= polynomial;
        }
        b >>= 1;
    }
    sum as u8
}

/// The inverse in GF(2^8) modulo `polynomial`, x^254; 0 for 0.
const fn inverse(x: u8, polynomial: u16) -> u8 {
    let (mut power, mut square, mut exponent) = (1, x, 254);
    while exponent != 0 {
        if exponent & 1 == 1 {
            power = multiply(power, square, polynomial);
        }
        square = multiply(square, square, polynomial);
        exponent >>= 1;
    }
    power
}
