//! SM3.

use super::{from_words, words};

/// SM3SS1.
#[must_use]
pub fn ss1(n: u128, m: u128, a: u128) -> u128 {
    let [n, m, a] = [n, m, a].map(|value| words(value)[3]);
    let sum = n.rotate_left(12).wrapping_add(m).wrapping_add(a);
    from_words([0, 0, 0, sum.rotate_left(7)])
}

/// SM3TT1A and SM3TT1B: a step of the first half of the state with function `f`; `n` holds SS1, `w` is the schedule's
/// word.
#[must_use]
pub fn tt1(d: u128, n: u128, w: u32, f: fn(u32, u32, u32) -> u32) -> u128 {
    let ([low, b, c, a], ss1) = (words(d), words(n)[3]);
    let ss2 = ss1 ^ a.rotate_left(12);
    let sum = f(a, c, b).wrapping_add(low).wrapping_add(ss2).wrapping_add(w);
    from_words([b, c.rotate_left(9), a, sum])
}

/// SM3TT2A and SM3TT2B: a step of the second half.
#[must_use]
pub fn tt2(d: u128, n: u128, w: u32, f: fn(u32, u32, u32) -> u32) -> u128 {
    let ([low, b, c, a], ss1) = (words(d), words(n)[3]);
    let sum = f(a, c, b).wrapping_add(low).wrapping_add(ss1).wrapping_add(w);
    from_words([b, c.rotate_left(19), a, sum ^ sum.rotate_left(9) ^ sum.rotate_left(17)])
}

fn permute(x: u32) -> u32 {
    x ^ x.rotate_left(15) ^ x.rotate_left(23)
}

/// SM3PARTW1.
#[must_use]
pub fn part_w1(d: u128, n: u128, m: u128) -> u128 {
    let (x, m) = (words(d ^ n), words(m));
    let mut result = [0; 4];
    for i in 0..4 {
        let next = if i < 3 { m[i + 1] } else { result[0] };
        result[i] = permute(x[i] ^ next.rotate_left(15));
    }
    from_words(result)
}

/// SM3PARTW2.
#[must_use]
pub fn part_w2(d: u128, n: u128, m: u128) -> u128 {
    let (mut result, n, m) = (words(d), words(n), words(m));
    let x: [u32; 4] = core::array::from_fn(|i| n[i] ^ m[i].rotate_left(7));
    for i in 0..4 {
        result[i] ^= x[i];
    }
    result[3] ^= permute(x[0].rotate_left(15));
    from_words(result)
}
