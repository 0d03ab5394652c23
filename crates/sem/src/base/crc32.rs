//! CRC32 and CRC32C: pure functions of the accumulator and the data.

use crate::insn::Insn;
use crate::machine::{Done, FpEnv, Machine, Pure};
use crate::word::{Quad, Word};

/// Operands: the accumulator, the data, the data's bytes.
pub const CRC32: Pure = Pure { name: "crc32", run: crc32 };
/// Operands: the accumulator, the data, the data's bytes.
pub const CRC32C: Pure = Pure { name: "crc32c", run: crc32c };

fn crc32(_: &mut FpEnv, operands: [u128; 3]) -> u128 {
    const TABLE: [u32; 256] = table(0x04c1_1db7);
    update(&TABLE, operands)
}

fn crc32c(_: &mut FpEnv, operands: [u128; 3]) -> u128 {
    const TABLE: [u32; 256] = table(0x1edc_6f41);
    update(&TABLE, operands)
}

/// The effect of one byte, for the polynomial as the manual writes it; the registers hold bits reflected.
const fn table(polynomial: u32) -> [u32; 256] {
    let (reflected, mut table, mut byte) = (polynomial.reverse_bits(), [0; 256], 0);
    while byte < 256 {
        let (mut value, mut bit) = (byte as u32, 0);
        while bit < 8 {
            value = if value & 1 == 1 { value >> 1 ^ reflected } else { value >> 1 };
            bit += 1;
        }
        table[byte] = value;
        byte += 1;
    }
    table
}

fn update(table: &[u32; 256], [accumulator, data, bytes]: [u128; 3]) -> u128 {
    let data = data.to_le_bytes();
    let bytes = &data[..(bytes as usize).min(8)];
    u128::from(bytes.iter().fold(accumulator as u32, |acc, &byte| acc >> 8 ^ table[usize::from(acc as u8 ^ byte)]))
}

/// Rd := the function of Rn and the low `BITS` of Rm.
pub(super) fn crc<M: Machine, const BITS: u32>(m: &mut M, i: Insn, function: Pure) -> Done<M> {
    let (accumulator, data) = (m.x(i.rn()), m.x(i.rm()));
    let bytes = M::Word::from(u64::from(BITS / 8));
    let result = m.pure(function, [accumulator, data, bytes].map(M::Quad::from_lo));
    m.set_x(i.rd(), result.lo().low32());
    Ok(())
}
