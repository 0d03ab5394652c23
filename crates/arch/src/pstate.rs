//! PSTATE and its saved form, SPSR_ELx.

use crate::{El, field::fields};

fields! {
    /// SPSR_ELx for an exception from AArch64. `M` is EL\[3:2\], 0, SP; bit 4 (`M4`) set says AArch32.
    mod spsr {
        SP [0]; EL [3 2]; M4 [4]; F [6]; I [7]; A [8]; D [9]; BTYPE [11 10]; SSBS [12]; ALLINT [13]; IL [20]; SS [21];
        PAN [22]; UAO [23]; DIT [24]; TCO [25]; V [28]; C [29]; Z [30]; N [31]; PM [32]; PPEND [33]; EXLOCK [34];
        PACM [35]; UINJ [36];
    }
}

/// Which stack pointer `SP` names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StackPointer {
    /// SP_EL0 (`SPSel` = 0; "t" in the names of modes).
    El0,
    /// SP_ELx of the current EL (`SPSel` = 1; "h").
    Elx,
}

/// `SPSR_ELx.M[4:0]` for AArch64 state.
#[must_use]
pub const fn mode_bits(el: El, sp: StackPointer) -> u64 {
    (el as u64) << 2 | matches!(sp, StackPointer::Elx) as u64
}

/// The state that `SPSR_ELx.M[4:0]` names, or `None` where it names none in AArch64: bit 4 or bit 1 set, or EL0 with
/// SP_EL0 not selected. Whether that EL may be returned to is for the caller (`AArch64.ExceptionReturn`).
#[must_use]
pub const fn mode_of(spsr: u64) -> Option<(El, StackPointer)> {
    let el = El::from_bits(spsr >> 2);
    match (spsr & 0x12, spsr & 1, el) {
        (0, 0, _) => Some((el, StackPointer::El0)),
        (0, 1, El::El1 | El::El2 | El::El3) => Some((el, StackPointer::Elx)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes() {
        assert_eq!(mode_bits(El::El1, StackPointer::Elx), 0b00101);
        assert_eq!(mode_of(0xf000_03c4), Some((El::El1, StackPointer::El0)));
        for el in [El::El0, El::El1, El::El2, El::El3] {
            assert_eq!(mode_of(mode_bits(el, StackPointer::El0)), Some((el, StackPointer::El0)));
        }
        for junk in [0b00001, 0b00010, 0b10000, 0b10011, 0b00110, 0b11111] {
            assert_eq!(mode_of(junk), None, "{junk:#b}");
        }
    }
}
