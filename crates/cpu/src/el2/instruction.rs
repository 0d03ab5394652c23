//! What a stage 2 data abort tells EL2 of the instruction, so that it can emulate the access: ISS.ISV and the fields that
//! come with it (DDI 0487, ISS encoding for an exception from a Data Abort). Valid for loads and stores of one
//! general-purpose register without writeback.

use arch::esr::{AccessSize, Register};

/// What instruction `word` transfers, where ISV is to be set.
pub(crate) fn transfer_of(word: u32) -> Option<Register> {
    let bits = |hi: u32, lo: u32| word >> lo & (u32::MAX >> (31 - (hi - lo)));
    let size = match bits(31, 30) {
        0 => AccessSize::Byte,
        1 => AccessSize::Halfword,
        2 => AccessSize::Word,
        _ => AccessSize::Doubleword,
    };
    let srt = bits(4, 0) as u8;
    // Load/store register: unsigned offset, unscaled and unprivileged (not pre- and post-indexed), register offset.
    let single = bits(29, 27) == 0b111
        && bits(26, 26) == 0
        && (bits(25, 24) == 0b01
            || (bits(25, 24) == 0 && bits(21, 21) == 0 && matches!(bits(11, 10), 0b00 | 0b10))
            || (bits(25, 24) == 0 && bits(21, 21) == 1 && bits(11, 10) == 0b10));
    // LDAPUR, STLUR and their sign-extending forms (FEAT_LRCPC2) have the fields of the unscaled ones.
    let ordered = bits(29, 24) == 0b01_1001 && bits(21, 21) == 0 && bits(11, 10) == 0;
    if single || ordered {
        let opc = bits(23, 22);
        // PRFM does not fault; the ordered forms have nothing there.
        if opc >= 2 && size == AccessSize::Doubleword {
            return None;
        }
        let sign_extend = opc >= 2;
        let sixty_four = match opc {
            2 => true,
            3 => false,
            _ => size == AccessSize::Doubleword,
        };
        return Some(Register { srt, size, sign_extend, sixty_four, acquire_release: ordered });
    }
    // Load-acquire and store-release (ordered, not exclusive): bits 29:24 001000, o2 = 1, o1 = 0.
    if bits(29, 24) == 0b00_1000 && bits(23, 23) == 1 && bits(21, 21) == 0 {
        let sixty_four = size == AccessSize::Doubleword;
        return Some(Register { srt, size, sign_extend: false, sixty_four, acquire_release: true });
    }
    // LDAPR.
    if bits(29, 21) == 0b1_1100_0101 && bits(15, 10) == 0b11_0000 {
        let sixty_four = size == AccessSize::Doubleword;
        return Some(Register { srt, size, sign_extend: false, sixty_four, acquire_release: true });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(word: u32) -> Option<(u8, AccessSize, bool, bool, bool)> {
        transfer_of(word).map(|r| (r.srt, r.size, r.sign_extend, r.sixty_four, r.acquire_release))
    }

    #[test]
    fn what_a_hypervisor_can_emulate() {
        use AccessSize::{Byte, Doubleword, Halfword, Word};
        // Words by GNU as.
        assert_eq!(of(0xf940_0041), Some((1, Doubleword, false, true, false))); // ldr x1, [x2]
        assert_eq!(of(0xb900_0443), Some((3, Word, false, false, false))); // str w3, [x2, #4]
        assert_eq!(of(0x3880_0041), Some((1, Byte, true, true, false))); // ldursb x1, [x2]
        assert_eq!(of(0x78e3_6841), Some((1, Halfword, true, false, false))); // ldrsh w1, [x2, x3]
        assert_eq!(of(0xb980_0041), Some((1, Word, true, true, false))); // ldrsw x1, [x2]
        assert_eq!(of(0x88df_fc41), Some((1, Word, false, false, true))); // ldar w1, [x2]
        assert_eq!(of(0xd940_0041), Some((1, Doubleword, false, true, true))); // ldapur x1, [x2]
        assert_eq!(of(0x9900_4041), Some((1, Word, false, false, true))); // stlur w1, [x2, #4]
        assert_eq!(of(0x19c0_0041), Some((1, Byte, true, false, true))); // ldapursb w1, [x2]
        assert_eq!(of(0xd9c0_0841), None); // ldapr x1, [x2], #8
        assert_eq!(of(0xf840_8441), None); // ldr x1, [x2], #8
        assert_eq!(of(0xa940_0c41), None); // ldp x1, x3, [x2]
        assert_eq!(of(0xc85f_7c41), None); // ldxr x1, [x2]
        assert_eq!(of(0xf821_0043), None); // ldadd x1, x3, [x2]
        assert_eq!(of(0xfd40_0041), None); // ldr d1, [x2]
    }
}
