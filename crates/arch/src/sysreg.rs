//! System registers as data: one line a register with its encoding, access and writable bits.
//! `Reg` is a dense index, so a PE keeps its registers in one array.

/// The encoding `op0:op1:CRn:CRm:op2` of a system register or system instruction, packed in 16 bits
/// exactly as in bits \[20:5\] of MRS and MSR, with op0's upper bit kept (op0 is 2 bits here).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Enc(pub u16);

impl Enc {
    /// Packs the five numbers: op0 0..=3, op1 0..=7, CRn 0..=15, CRm 0..=15, op2 0..=7.
    #[must_use]
    pub const fn new(op0: u16, op1: u16, crn: u16, crm: u16, op2: u16) -> Self {
        Self((op0 & 3) << 14 | (op1 & 7) << 11 | (crn & 15) << 7 | (crm & 15) << 3 | op2 & 7)
    }
    /// The encoding in an MRS, MSR (register), SYS or SYSL instruction word: bits \[20:5\].
    #[must_use]
    pub const fn of_word(word: u32) -> Self {
        Self((word >> 5 & 0xffff) as u16)
    }
    /// op0, 0 to 3.
    #[must_use]
    pub const fn op0(self) -> u16 {
        self.0 >> 14
    }
    /// op1, 0 to 7.
    #[must_use]
    pub const fn op1(self) -> u16 {
        self.0 >> 11 & 7
    }
    /// CRn, 0 to 15.
    #[must_use]
    pub const fn crn(self) -> u16 {
        self.0 >> 7 & 15
    }
    /// CRm, 0 to 15.
    #[must_use]
    pub const fn crm(self) -> u16 {
        self.0 >> 3 & 15
    }
    /// op2, 0 to 7.
    #[must_use]
    pub const fn op2(self) -> u16 {
        self.0 & 7
    }
}
