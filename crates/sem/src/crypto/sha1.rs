//! SHA-1.

use super::{from_words, words};

/// SHA1C's function of three words.
#[must_use]
pub const fn choose(x: u32, y: u32, z: u32) -> u32 {
    (y ^ z) & x ^ z
}

/// SHA1P's.
#[must_use]
pub const fn parity(x: u32, y: u32, z: u32) -> u32 {
    x ^ y ^ z
}

/// SHA1M's.
#[must_use]
pub const fn majority(x: u32, y: u32, z: u32) -> u32 {
    x & y | (x | y) & z
}

/// SHA1C, SHA1P, SHA1M: four rounds with function `f`; `abcd` and `e` are the state, `schedule` the words added.
#[must_use]
pub fn hash(abcd: u128, e: u128, schedule: u128, f: fn(u32, u32, u32) -> u32) -> u128 {
    let ([mut a, mut b, mut c, mut d], mut e) = (words(abcd), e as u32);
    for w in words(schedule) {
        let sum = e.wrapping_add(a.rotate_left(5)).wrapping_add(f(b, c, d)).wrapping_add(w);
        (a, b, c, d, e) = (sum, a, b.rotate_left(30), c, d);
    }
    from_words([a, b, c, d])
}

/// SHA1SU0.
#[must_use]
pub fn schedule0(d: u128, n: u128, m: u128) -> u128 {
    (n << 64 | d >> 64) ^ d ^ m
}

/// SHA1SU1.
#[must_use]
pub fn schedule1(d: u128, n: u128) -> u128 {
    let t = words(d ^ n >> 32);
    let rotated = t.map(|word| word.rotate_left(1));
    from_words([rotated[0], rotated[1], rotated[2], rotated[3] ^ t[0].rotate_left(2)])
}
