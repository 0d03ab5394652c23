//! An instruction that was assembled at one address and is executed at another.

/// Where an instruction keeps an offset from its own address: lowest bit, width, and what the offset is a multiple of.
struct Offset {
    lsb: u32,
    width: u32,
    shift: u32,
}

/// Why an instruction cannot be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotMovable {
    /// Its target is too far from the new address.
    Far,
    /// It forms an address from its own (ADR, ADRP, literal loads).
    Address,
}

/// `word`, which was assembled at `from` among `len` bytes that are moved together, for address `to`. `start`: where these
/// bytes begin, as assembled; branches among them keep their offsets.
pub fn relocate(word: u32, from: u64, to: u64, start: u64, len: u64) -> Result<u32, NotMovable> {
    let field = match word {
        _ if word & 0x7c00_0000 == 0x1400_0000 => Offset { lsb: 0, width: 26, shift: 2 }, // B, BL
        _ if word & 0xff00_0010 == 0x5400_0000 => Offset { lsb: 5, width: 19, shift: 2 }, // B.cond
        _ if word & 0x7e00_0000 == 0x3400_0000 => Offset { lsb: 5, width: 19, shift: 2 }, // CBZ, CBNZ
        _ if word & 0x7e00_0000 == 0x3600_0000 => Offset { lsb: 5, width: 14, shift: 2 }, // TBZ, TBNZ
        _ if word & 0x1f00_0000 == 0x1000_0000 => return Err(NotMovable::Address),        // ADR, ADRP
        _ if word & 0x3b00_0000 == 0x1800_0000 => return Err(NotMovable::Address),        // LDR, PRFM of a literal
        _ => return Ok(word),
    };
    let mask = (1u32 << field.width) - 1;
    let raw = word >> field.lsb & mask;
    let unused = 32 - field.width;
    let offset = i64::from((raw << unused) as i32 >> unused) << field.shift;
    let target = from.wrapping_add_signed(offset);
    if target.wrapping_sub(start) < len {
        return Ok(word);
    }
    let moved = target.wrapping_sub(to) as i64;
    let limit = 1i64 << (field.width + field.shift - 1);
    if !(-limit..limit).contains(&moved) {
        return Err(NotMovable::Far);
    }
    Ok(word & !(mask << field.lsb) | ((moved >> field.shift) as u32 & mask) << field.lsb)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 0xffff_8000_8000_1000;

    /// Words by GNU as, for `target = . + offset`.
    #[test]
    fn branches_keep_their_targets() {
        // (at +0x40, what it is at +0): B, BL, B.NE, CBZ X3, CBNZ W3, TBZ X3 #33, TBNZ W3 #1, all to AT.
        let cases: [(u32, u32); 7] = [
            (0x17ff_fff0, 0x1400_0000),
            (0x97ff_fff0, 0x9400_0000),
            (0x54ff_fe01, 0x5400_0001),
            (0xb4ff_fe03, 0xb400_0003),
            (0x35ff_fe03, 0x3500_0003),
            (0xb60f_fe03, 0xb608_0003),
            (0x370f_fe03, 0x3708_0003),
        ];
        for (far, near) in cases {
            assert_eq!(relocate(far, AT + 0x40, AT, AT + 0x40, 4), Ok(near), "{far:#x}");
            assert_eq!(relocate(near, AT, AT + 0x40, AT + 0x80, 4), Ok(far), "{near:#x}");
        }
    }

    #[test]
    fn branches_among_what_is_moved_stay() {
        // B.NE over two instructions, the second of four.
        let word = 0x5400_0061;
        assert_eq!(relocate(word, AT + 4, AT + 0x1000, AT, 16 + 4), Ok(word));
        assert_ne!(relocate(word, AT + 4, AT + 0x1000, AT, 16), Ok(word));
    }

    #[test]
    fn what_cannot_be_reached_or_moved_is_refused() {
        let tbz = 0x3600_0003;
        assert_eq!(relocate(tbz, AT, AT - 0x8000, AT + 64, 4), Err(NotMovable::Far));
        assert_eq!(relocate(tbz, AT, AT + 0x8000, AT + 64, 4), Ok(0x3604_0003));
        for word in [0x1000_0000, 0x9000_0000, 0x5800_0000, 0x1800_0000, 0xd800_0000, 0x1c00_0000] {
            assert_eq!(relocate(word, AT, AT + 4, AT, 4), Err(NotMovable::Address), "{word:#x}");
        }
        // NOP, MSR PAN #0, LDAXR, STP, MOV: no address of their own.
        for word in [0xd503_201f, 0xd500_409f, 0x885f_fc04, 0xa900_0be1, 0x5280_0020] {
            assert_eq!(relocate(word, AT, AT + 0x10_0000, AT, 4), Ok(word), "{word:#x}");
        }
    }
}
