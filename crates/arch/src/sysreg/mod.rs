//! System registers as data: one line a register with its encoding, access and writable bits.
//! `Reg` is a dense index, so a PE keeps its registers in one array.

mod bits;
mod table;
mod vhe;

pub use bits::writable;
pub use table::{REGS, Reg};
pub use vhe::REDIRECTED;

use crate::{El, feature::Feature};

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

/// Who keeps a register's value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Read-only, and constant for one CPU model.
    Id,
    /// Plain storage: a write keeps the writable bits, a read returns what is stored.
    Stored,
    /// The PE computes it, or reading or writing it has an effect.
    Special,
}

/// What is known of one register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegInfo {
    /// The manual's name.
    pub name: &'static str,
    /// Its encoding for MRS and MSR (register).
    pub enc: Enc,
    /// The lowest EL at which MRS is not UNDEFINED (trap and enable controls come on top); `None`: write-only.
    pub min_read: Option<El>,
    /// The lowest EL at which MSR is not UNDEFINED; `None`: read-only.
    pub min_write: Option<El>,
    /// The feature without which the encoding is UNDEFINED.
    pub feature: Option<Feature>,
    /// Bits that software can write wherever the register exists.
    pub mask: u64,
    /// The value after reset, RES1 bits included. Where the manual leaves it UNKNOWN, 0.
    pub reset: u64,
    /// Who keeps its value.
    pub kind: Kind,
}

impl Reg {
    /// What is known of this register.
    #[inline]
    #[must_use]
    pub fn info(self) -> &'static RegInfo {
        &REGS[self as usize]
    }
    /// The manual's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.info().name
    }
}

/// (encoding, register), sorted by encoding.
static BY_ENC: [(Enc, Reg); Reg::COUNT] = by_enc();

const fn by_enc() -> [(Enc, Reg); Reg::COUNT] {
    let mut sorted = [(Enc(0), Reg::MIDR_EL1); Reg::COUNT];
    let mut n = 0;
    while n < Reg::COUNT {
        // Insertion sort: the table is nearly in order, and this runs in the compiler.
        let enc = table::INFOS[n].enc;
        let mut at = n;
        while at > 0 && sorted[at - 1].0.0 > enc.0 {
            sorted[at] = sorted[at - 1];
            at -= 1;
        }
        sorted[at] = (enc, Reg::ALL[n]);
        n += 1;
    }
    sorted
}

/// The register that MRS and MSR (register) name by `enc`.
#[must_use]
pub fn lookup(enc: Enc) -> Option<Reg> {
    BY_ENC.binary_search_by_key(&enc, |&(key, _)| key).ok().map(|at| BY_ENC[at].1)
}

/// Whether MRS of `enc` at EL1 and above reads zero where no register is allocated: op0 3, op1 0, CRn 0, CRm 1 to 7.
/// (CRm 0 holds MIDR, MPIDR and REVIDR only; the rest of it is UNDEFINED.)
#[must_use]
pub const fn is_id_space(enc: Enc) -> bool {
    enc.op0() == 3 && enc.op1() == 0 && enc.crn() == 0 && enc.crm() >= 1 && enc.crm() <= 7
}

/// Whether FEAT_IDST reports a failing read of `enc` with EC 0x18: op0 3, op1 0, 1 or 3, CRn 0, CRm 0 to 7.
#[must_use]
pub const fn is_idst_space(enc: Enc) -> bool {
    enc.op0() == 3 && matches!(enc.op1(), 0 | 1 | 3) && enc.crn() == 0 && enc.crm() <= 7
}

/// Whether `enc` is reserved for IMPLEMENTATION DEFINED registers: op0 3, CRn 11 or 15.
#[must_use]
pub const fn is_implementation_defined(enc: Enc) -> bool {
    enc.op0() == 3 && matches!(enc.crn(), 11 | 15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn encodings_and_names_are_unique() {
        let encs: BTreeSet<_> = REGS.iter().map(|r| r.enc).collect();
        let names: BTreeSet<_> = REGS.iter().map(|r| r.name).collect();
        assert_eq!((encs.len(), names.len()), (Reg::COUNT, Reg::COUNT));
    }

    #[test]
    fn lookup_finds_each_register_and_nothing_else() {
        let mut found = 0;
        for bits in 0..=u16::MAX {
            if let Some(reg) = lookup(Enc(bits)) {
                assert_eq!(reg.info().enc, Enc(bits));
                found += 1;
            }
        }
        assert_eq!(found, Reg::COUNT);
        assert_eq!(lookup(Enc::new(3, 0, 1, 0, 0)), Some(Reg::SCTLR_EL1));
        assert_eq!(lookup(Enc::of_word(0xd53b_e040)), Some(Reg::CNTVCT_EL0)); // mrs x0, cntvct_el0
        for reg in Reg::ALL {
            assert_eq!(Reg::ALL[reg as usize], reg);
        }
    }

    /// `encodings_binutils.txt` is what GNU as 2.40 (-march=armv8.7-a and extensions) makes of each name it knows:
    /// name, op0, op1, CRn, CRm, op2. The names it does not know are newer than it.
    #[test]
    fn encodings_are_those_of_binutils() {
        let mut known = 0;
        for line in include_str!("encodings_binutils.txt").lines() {
            let mut words = line.split(' ');
            let name = words.next().unwrap();
            let numbers: std::vec::Vec<u16> = words.map(|w| w.parse().unwrap()).collect();
            let enc = Enc::new(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
            assert_eq!(lookup(enc).map(Reg::name), Some(name));
            known += 1;
        }
        assert_eq!((known, Reg::COUNT), (497, 529));
    }

    #[test]
    fn a_line_is_consistent_with_itself() {
        for r in &REGS {
            assert_eq!(r.mask & r.reset & !initial(r.name), 0, "{}: a RES1 bit is writable", r.name);
            assert!(r.min_read.is_some() || r.min_write.is_some(), "{}: no access", r.name);
            if r.kind == Kind::Id {
                assert_eq!((r.mask, r.reset, r.min_write), (0, 0, None), "{}", r.name);
            }
            if r.min_write.is_none() {
                assert_eq!(r.mask, 0, "{}: read-only with writable bits", r.name);
            }
            if let Some(Feature::FEAT_EL2 | Feature::FEAT_VHE) = r.feature {
                assert!(r.min_read >= Some(El::El2), "{}", r.name);
            }
        }
    }

    /// Writable bits that reset to one.
    fn initial(name: &str) -> u64 {
        match name {
            "SPSel" => 1,
            "DAIF" => 0x3c0,
            _ => 0,
        }
    }

    #[test]
    fn numbered_registers_follow_their_encoding_rule() {
        for (n, reg) in (0..16).map(|n| (n, Reg::DBGBVR0_EL1 as usize + n)) {
            assert_eq!(REGS[reg].enc, Enc::new(2, 0, 0, n as u16, 4));
            assert_eq!(REGS[reg].name, std::format!("DBGBVR{n}_EL1"));
        }
        for n in 0..31u16 {
            let reg = &REGS[Reg::PMEVTYPER0_EL0 as usize + n as usize];
            assert_eq!(reg.enc, Enc::new(3, 3, 14, 12 + n / 8, n % 8));
            assert_eq!(reg.name, std::format!("PMEVTYPER{n}_EL0"));
        }
    }

    #[test]
    fn spaces() {
        assert!(is_id_space(Enc::new(3, 0, 0, 4, 3)) && !is_id_space(Enc::new(3, 0, 0, 0, 1)));
        assert!(is_idst_space(Enc::new(3, 1, 0, 0, 2)) && !is_idst_space(Enc::new(3, 2, 0, 0, 0)));
        assert!(is_implementation_defined(Enc::new(3, 1, 15, 2, 0)));
    }
}
