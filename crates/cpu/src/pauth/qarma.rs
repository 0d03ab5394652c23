//! The block cipher QARMA-64 (Avanzi, 2016), as pointer authentication uses it: QARMA5 has five rounds and S-box σ2,
//! QARMA3 three and σ1. The shared pseudocode is ComputePACQARMA.
//!
//! A word holds 16 cells of 4 bits; the paper's cell 0 is the most significant.

/// Which of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Qarma {
    /// Forward rounds, 1 to 7.
    rounds: usize,
    sub: &'static [u8; 256],
    inverse_sub: &'static [u8; 256],
}

const ROUND_CONSTANTS: [u64; 7] = [
    0,
    0x1319_8a2e_0370_7344,
    0xa409_3822_299f_31d0,
    0x082e_fa98_ec4e_6c89,
    0x4528_21e6_38d0_1377,
    0xbe54_66cf_34e9_0c6c,
    0x3f84_d5b5_b547_0917,
];
const ALPHA: u64 = 0xc0ac_29b7_c97c_50dd;

const SIGMA_1: [u8; 16] = [10, 13, 14, 6, 15, 7, 3, 5, 9, 8, 0, 12, 11, 1, 2, 4];
const SIGMA_2: [u8; 16] = [11, 6, 8, 15, 12, 0, 9, 14, 3, 7, 4, 5, 13, 2, 1, 10];
/// The cell that goes to each place.
const TAU: [u8; 16] = [0, 11, 6, 13, 10, 1, 12, 7, 5, 14, 3, 8, 15, 4, 9, 2];
const TWEAK: [u8; 16] = [6, 5, 14, 15, 0, 1, 2, 3, 7, 12, 13, 4, 8, 9, 10, 11];
/// The cells of the tweak that step their shift register, as a mask.
const STEPPED: u64 = 0xff0f_f000_f00f_0f00;

const TAU_INVERSE: [u8; 16] = inverse(TAU);
const TWEAK_INVERSE: [u8; 16] = inverse(TWEAK);
static SUB_1: [u8; 256] = both_cells(SIGMA_1);
static SUB_2: [u8; 256] = both_cells(SIGMA_2);
static INVERSE_SUB_2: [u8; 256] = both_cells(inverse(SIGMA_2));

const fn inverse(table: [u8; 16]) -> [u8; 16] {
    let (mut result, mut n) = ([0; 16], 0);
    while n < 16 {
        result[table[n] as usize] = n as u8;
        n += 1;
    }
    result
}

const fn both_cells(sigma: [u8; 16]) -> [u8; 256] {
    let (mut table, mut n) = ([0; 256], 0);
    while n < 256 {
        table[n] = sigma[n >> 4] << 4 | sigma[n & 15];
        n += 1;
    }
    table
}

#[inline(always)]
fn substitute(word: u64, table: &[u8; 256]) -> u64 {
    u64::from_le_bytes(word.to_le_bytes().map(|byte| table[usize::from(byte)]))
}

#[inline(always)]
fn permute(word: u64, from: [u8; 16]) -> u64 {
    from.into_iter().fold(0, |result, cell| result << 4 | word >> (60 - 4 * cell) & 15)
}

/// Each cell rotated left by 1.
#[inline(always)]
const fn rotate_cells(word: u64) -> u64 {
    (word & 0x7777_7777_7777_7777) << 1 | word >> 3 & 0x1111_1111_1111_1111
}

/// The matrix circ(0, ρ, ρ², ρ) over the columns; a row is 16 bits. It is its own inverse.
#[inline(always)]
const fn mix(word: u64) -> u64 {
    let once = rotate_cells(word);
    once.rotate_left(16) ^ rotate_cells(once).rotate_left(32) ^ once.rotate_left(48)
}

/// (b3, b2, b1, b0) becomes (b0 ^ b1, b3, b2, b1) in the stepped cells.
#[inline(always)]
fn tweak_forward(tweak: u64) -> u64 {
    let moved = permute(tweak, TWEAK);
    let top = (moved ^ moved >> 1) & 0x1111_1111_1111_1111;
    let stepped = moved >> 1 & 0x7777_7777_7777_7777 | top << 3;
    moved & !STEPPED | stepped & STEPPED
}

#[inline(always)]
fn tweak_backward(tweak: u64) -> u64 {
    let low = (tweak ^ tweak >> 3) & 0x1111_1111_1111_1111;
    let stepped = (tweak & 0x7777_7777_7777_7777) << 1 | low;
    permute(tweak & !STEPPED | stepped & STEPPED, TWEAK_INVERSE)
}

impl Qarma {
    pub(super) const FIVE: Self = Self { rounds: 5, sub: &SUB_2, inverse_sub: &INVERSE_SUB_2 };
    /// σ1 is its own inverse.
    pub(super) const THREE: Self = Self { rounds: 3, sub: &SUB_1, inverse_sub: &SUB_1 };

    /// Encrypts; the key is w0 and k0.
    pub(super) fn encrypt(self, text: u64, mut tweak: u64, [w0, k0]: [u64; 2]) -> u64 {
        let w1 = w0.rotate_right(1) ^ w0 >> 63;
        let constants = &ROUND_CONSTANTS[..self.rounds];
        let mut word = text ^ w0;
        for (round, constant) in constants.iter().enumerate() {
            word ^= k0 ^ tweak ^ constant;
            if round > 0 {
                word = mix(permute(word, TAU));
            }
            word = substitute(word, self.sub);
            tweak = tweak_forward(tweak);
        }
        // A full round keyed by w1, the reflector, and its inverse keyed by w0.
        word = substitute(mix(permute(word ^ w1 ^ tweak, TAU)), self.sub);
        word = permute(mix(permute(word, TAU)) ^ k0, TAU_INVERSE);
        word = permute(mix(substitute(word, self.inverse_sub)), TAU_INVERSE) ^ w0 ^ tweak;
        for (round, constant) in constants.iter().enumerate().rev() {
            word = substitute(word, self.inverse_sub);
            if round > 0 {
                word = permute(mix(word), TAU_INVERSE);
            }
            tweak = tweak_backward(tweak);
            word ^= k0 ^ tweak ^ constant ^ ALPHA;
        }
        word ^ w1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's vectors for σ1 and σ2 with 5, 6 and 7 rounds: the cipher that Arm calls QARMA5 is among them, and
    /// QARMA3 differs from others in the number of rounds alone.
    #[test]
    fn published_vectors() {
        let key = [0x84be_85ce_9804_e94b, 0xec28_02d4_e0a4_88e9];
        let encrypt =
            |qarma: Qarma, rounds| Qarma { rounds, ..qarma }.encrypt(0xfb62_3599_da6e_8127, 0x477d_469d_ec0b_8762, key);
        assert_eq!(Qarma::FIVE.encrypt(0xfb62_3599_da6e_8127, 0x477d_469d_ec0b_8762, key), 0xc003_b939_99b3_3765);
        assert_eq!(encrypt(Qarma::FIVE, 6), 0x270a_7872_75c4_8d10);
        assert_eq!(encrypt(Qarma::FIVE, 7), 0x5c06_a750_1b63_b2fd);
        assert_eq!(encrypt(Qarma::THREE, 5), 0x544b_0ab9_5bda_7c3a);
        assert_eq!(encrypt(Qarma::THREE, 6), 0xa512_dd1e_4e3e_c582);
        assert_eq!(encrypt(Qarma::THREE, 7), 0xedf6_7ff3_70a4_83f2);
    }

    #[test]
    fn layers_invert() {
        let word = 0x0123_4567_89ab_cdef_u64;
        assert_eq!(mix(mix(word)), word);
        assert_eq!(permute(permute(word, TAU), TAU_INVERSE), word);
        assert_eq!(tweak_backward(tweak_forward(word)), word);
        assert_eq!(substitute(substitute(word, &SUB_2), &INVERSE_SUB_2), word);
        assert_eq!(substitute(substitute(word, &SUB_1), &SUB_1), word);
    }
}
