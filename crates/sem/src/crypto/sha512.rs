//! SHA-512. Values hold two 64-bit words.

fn halves(value: u128) -> (u64, u64) {
    (value as u64, (value >> 64) as u64)
}

fn join(low: u64, high: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// SHA512H.
#[must_use]
pub fn hash(d: u128, n: u128, m: u128) -> u128 {
    let sigma = |x: u64| x.rotate_right(14) ^ x.rotate_right(18) ^ x.rotate_right(41);
    let ((w0, w1), (x0, x1), (y0, y1)) = (halves(d), halves(n), halves(m));
    let high = (y1 & x0 ^ !y1 & x1).wrapping_add(sigma(y1)).wrapping_add(w1);
    let e = high.wrapping_add(y0);
    let low = (e & y1 ^ !e & x0).wrapping_add(sigma(e)).wrapping_add(w0);
    join(low, high)
}

/// SHA512H2.
#[must_use]
pub fn hash2(d: u128, n: u128, m: u128) -> u128 {
    let sigma = |x: u64| x.rotate_right(28) ^ x.rotate_right(34) ^ x.rotate_right(39);
    let majority = |x: u64, y: u64, z: u64| x & y ^ x & z ^ y & z;
    let ((w0, w1), (x0, _), (y0, y1)) = (halves(d), halves(n), halves(m));
    let high = majority(x0, y1, y0).wrapping_add(sigma(y0)).wrapping_add(w1);
    let low = majority(high, y0, y1).wrapping_add(sigma(high)).wrapping_add(w0);
    join(low, high)
}

/// SHA512SU0.
#[must_use]
pub fn schedule0(d: u128, n: u128) -> u128 {
    let sigma = |x: u64| x.rotate_right(1) ^ x.rotate_right(8) ^ x >> 7;
    let ((w0, w1), (x0, _)) = (halves(d), halves(n));
    join(w0.wrapping_add(sigma(w1)), w1.wrapping_add(sigma(x0)))
}

/// SHA512SU1.
#[must_use]
pub fn schedule1(d: u128, n: u128, m: u128) -> u128 {
    let sigma = |x: u64| x.rotate_right(19) ^ x.rotate_right(61) ^ x >> 6;
    let ((w0, w1), (x0, x1), (y0, y1)) = (halves(d), halves(n), halves(m));
    join(w0.wrapping_add(sigma(x0)).wrapping_add(y0), w1.wrapping_add(sigma(x1)).wrapping_add(y1))
}
