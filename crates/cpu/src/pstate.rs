//! PSTATE, without NZCV, which the PE keeps apart for speed.

use arch::El;

/// The process state. DAIF is kept as in `SPSR_ELx[9:6]`: D, A, I, F from bit 3 to bit 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pstate {
    /// Exception level.
    pub el: El,
    /// SPSel: 0 selects SP_EL0, 1 SP_ELx.
    pub sp_sel: u8,
    /// D, A, I, F masks, bits 3 to 0.
    pub daif: u8,
    /// Software step.
    pub ss: u8,
    /// Illegal execution state.
    pub il: u8,
    /// Privileged access never.
    pub pan: u8,
    /// User access override.
    pub uao: u8,
    /// Data-independent timing.
    pub dit: u8,
    /// Speculative store bypass safe.
    pub ssbs: u8,
    /// Tag check override.
    pub tco: u8,
    /// Branch type, 0 to 3.
    pub btype: u8,
}

impl Pstate {
    /// The state out of reset into `el`: all interrupts masked, SP_ELx.
    #[must_use]
    pub fn reset(el: El) -> Self {
        Self { el, sp_sel: 1, daif: 15, ss: 0, il: 0, pan: 0, uao: 0, dit: 0, ssbs: 0, tco: 0, btype: 0 }
    }

    /// As an SPSR for an exception taken from AArch64 (DDI 0487 C5.2.18), NZCV left 0.
    #[must_use]
    pub fn to_spsr(self) -> u64 {
        let bit = |v: u8, n: u32| u64::from(v) << n;
        let mode = (self.el as u64) << 2 | if self.el == El::El0 { 0 } else { u64::from(self.sp_sel) };
        mode | bit(self.daif, 6)
            | bit(self.btype, 10)
            | bit(self.ssbs, 12)
            | bit(self.il, 20)
            | bit(self.ss, 21)
            | bit(self.pan, 22)
            | bit(self.uao, 23)
            | bit(self.dit, 24)
            | bit(self.tco, 25)
    }

    /// From an SPSR that names an AArch64 state. Legality of the level is the caller's.
    #[must_use]
    pub fn from_spsr(spsr: u64) -> Self {
        let bit = |n: u32| (spsr >> n & 1) as u8;
        Self {
            el: El::from_bits(spsr >> 2),
            sp_sel: bit(0),
            daif: (spsr >> 6 & 15) as u8,
            btype: (spsr >> 10 & 3) as u8,
            ssbs: bit(12),
            il: bit(20),
            ss: bit(21),
            pan: bit(22),
            uao: bit(23),
            dit: bit(24),
            tco: bit(25),
        }
    }
}
