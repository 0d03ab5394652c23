//! SHA-256.

use super::sha1::{choose, majority};
use super::{from_words, words};

/// Four rounds on the state `abcd`, `efgh`: the new `abcd` and `efgh`.
#[must_use]
pub fn hash(abcd: u128, efgh: u128, schedule: u128) -> (u128, u128) {
    let ([mut a, mut b, mut c, mut d], [mut e, mut f, mut g, mut h]) = (words(abcd), words(efgh));
    for w in words(schedule) {
        let sigma1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let sigma0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let t1 = h.wrapping_add(sigma1).wrapping_add(choose(e, f, g)).wrapping_add(w);
        let t2 = sigma0.wrapping_add(majority(a, b, c));
        (h, g, f, e) = (g, f, e, d.wrapping_add(t1));
        (d, c, b, a) = (c, b, a, t1.wrapping_add(t2));
    }
    (from_words([a, b, c, d]), from_words([e, f, g, h]))
}

/// SHA256SU0.
#[must_use]
pub fn schedule0(d: u128, n: u128) -> u128 {
    let (old, next) = (words(d), words(n << 96 | d >> 32));
    from_words(core::array::from_fn(|i| {
        let x = next[i];
        (x.rotate_right(7) ^ x.rotate_right(18) ^ x >> 3).wrapping_add(old[i])
    }))
}

/// SHA256SU1.
#[must_use]
pub fn schedule1(d: u128, n: u128, m: u128) -> u128 {
    let (old, added, late) = (words(d), words(m << 96 | n >> 32), words(m));
    let mut result = [0u32; 4];
    for i in 0..4 {
        let x = if i < 2 { late[i + 2] } else { result[i - 2] };
        let sigma = x.rotate_right(17) ^ x.rotate_right(19) ^ x >> 10;
        result[i] = sigma.wrapping_add(old[i]).wrapping_add(added[i]);
    }
    from_words(result)
}
