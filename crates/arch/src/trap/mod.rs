//! What EL2 may trap of the lower levels, as data: which control, which registers or which instruction. DDI 0487, the
//! descriptions of HCR_EL2, HCRX_EL2, CPTR_EL2, MDCR_EL2, CNTHCTL_EL2 and of the fine-grained traps' registers.
//!
//! A control is a condition on one register. The GIC's controls (ICH_HCR_EL2, ICC_SRE_EL2) are the CPU interface's, and
//! those that trap no system register (WFI, HVC, floating point, pointer authentication, SVC, ERET) stand where the
//! instruction is executed.

mod coarse;
mod fine;
mod instruction;
mod nested;

use crate::feature::Feature;
use crate::field::{Field, hcr_el2};
use crate::sysreg::{Enc, Reg};

pub use coarse::COARSE;
pub use fine::FINE;
pub use instruction::INSTRUCTIONS;
pub use nested::{Nested, NestedMode, nested};

/// A direction of accesses, or both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum On {
    /// MRS.
    Read,
    /// MSR.
    Write,
    /// MRS, and MSR.
    Both,
}

/// Which value of a control traps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sense {
    /// The field set.
    Set,
    /// The field clear: it enables, and by the manual's custom a fine-grained one has a name that begins with n.
    Clear,
}

/// Where a control applies. Without more said: at EL1, and at EL0 but for a host's (`HCR_EL2.{E2H, TGE}` = {1, 1}).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// There.
    Guest,
    /// There, if `HCR_EL2.E2H` is 0: the field is of that layout.
    GuestNotE2h,
    /// There, if `HCR_EL2.E2H` is 1.
    GuestE2h,
    /// There, and at a host's EL0 as well.
    AndHostEl0,
}

/// System registers that one control covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Regs {
    /// These.
    Of(&'static [Reg]),
    /// All from the one to the other, in the order of the table of registers.
    Row(Reg, Reg),
    /// Such a row, and one more.
    RowAnd(Reg, Reg, Reg),
}

impl Regs {
    /// Whether `reg` is one of them.
    #[must_use]
    pub fn contain(self, reg: Reg) -> bool {
        match self {
            Self::Of(list) => list.contains(&reg),
            Self::Row(first, last) => (first..=last).contains(&reg),
            Self::RowAnd(first, last, other) => (first..=last).contains(&reg) || reg == other,
        }
    }
}

/// A control of accesses to system registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Control {
    /// The register with the control.
    pub register: Reg,
    /// The field of it.
    pub field: Field,
    /// The value of the field that traps.
    pub sense: Sense,
    /// Where it applies.
    pub scope: Scope,
    /// What accesses are trapped.
    pub on: On,
    /// To which registers.
    pub regs: Regs,
    /// The feature without which the control does not exist, beyond that of its register.
    pub feature: Option<Feature>,
}

/// A pair of registers of fine-grained traps and the place of a control in both: read accesses are trapped by the one and
/// writes by the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fine {
    /// What traps reads.
    pub read: Reg,
    /// What traps writes.
    pub write: Reg,
    /// The bit, the same in both.
    pub bit: u8,
    /// The value that traps.
    pub sense: Sense,
    /// Where the pair has the bit. [`On::Both`]: as far as the registers can be read and written at all.
    pub on: On,
    /// The registers covered.
    pub regs: Regs,
}

/// An instruction that EL2 may trap: cache maintenance, address translation, TLB invalidation of the EL1&0 regime.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// The manual's name.
    pub name: &'static str,
    /// SYS with this encoding.
    pub enc: Enc,
    /// Fields of HCR_EL2; any of them, set, traps.
    pub coarse: &'static [Field],
    /// The bit of HFGITR_EL2, which traps where it is set.
    pub fine: Option<u8>,
}

/// Bits of HFGITR_EL2 that trap what is no system instruction.
pub mod hfgitr {
    use crate::field::Field;

    /// ERET, ERETAA and ERETAB at EL1.
    pub const ERET: Field = Field::span(51, 51);
    /// SVC at EL0.
    pub const SVC_EL0: Field = Field::span(52, 52);
    /// SVC at EL1.
    pub const SVC_EL1: Field = Field::span(53, 53);
}

/// The bits of `control`, a register of fine-grained traps, that are there on a model whose registers `present` tells.
/// Fields of what is not there are RES0. `None` where `control` is another register.
#[must_use]
pub fn fine_bits(control: Reg, present: &dyn Fn(Reg) -> bool) -> Option<u64> {
    match control {
        Reg::HFGITR_EL2 => {
            let instructions = INSTRUCTIONS.iter().filter_map(|i| i.fine).fold(0, |bits, n| bits | 1 << n);
            return Some(instructions | hfgitr::ERET.mask() | hfgitr::SVC_EL0.mask() | hfgitr::SVC_EL1.mask());
        }
        // What they cover belongs to features that have no registers here.
        Reg::HAFGRTR_EL2
        | Reg::HFGITR2_EL2
        | Reg::HFGRTR2_EL2
        | Reg::HFGWTR2_EL2
        | Reg::HDFGRTR2_EL2
        | Reg::HDFGWTR2_EL2 => return Some(0),
        _ => {}
    }
    let mine = || FINE.iter().filter(move |f| f.read == control || f.write == control);
    mine().next()?;
    let accessible = |f: &Fine, reg: Reg| {
        let on = if f.read == control { On::Read } else { On::Write };
        covers(f.on, on, reg)
    };
    let there = |f: &&Fine| Reg::ALL.into_iter().any(|r| f.regs.contain(r) && present(r) && accessible(f, r));
    Some(mine().filter(there).fold(0, |bits, f| bits | 1 << f.bit))
}

/// Whether a control of `on` covers accesses of direction `way` to `reg`, which must be possible at all.
#[must_use]
pub fn covers(on: On, way: On, reg: Reg) -> bool {
    let possible = match way {
        On::Read => reg.info().min_read.is_some(),
        On::Write => reg.info().min_write.is_some(),
        On::Both => true,
    };
    possible && (on == On::Both || on == way)
}

/// All conditions of HCR_EL2 that a control's scope stands for, as a mask and the value under it.
#[must_use]
pub const fn scope_condition(scope: Scope) -> (u64, u64) {
    let e2h = hcr_el2::E2H.mask();
    match scope {
        Scope::Guest | Scope::AndHostEl0 => (0, 0),
        Scope::GuestNotE2h => (e2h, 0),
        Scope::GuestE2h => (e2h, e2h),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_fine_bit_is_listed_once_and_covers_something() {
        let mut seen = BTreeSet::new();
        for f in FINE {
            assert!(seen.insert((f.read, f.bit)), "{} bit {}", f.read.name(), f.bit);
            let covered = |way| Reg::ALL.into_iter().any(|r| f.regs.contain(r) && covers(f.on, way, r));
            assert!(covered(On::Read) || covered(On::Write), "{} bit {}", f.read.name(), f.bit);
        }
    }

    #[test]
    fn a_register_has_one_fine_control_in_each_direction() {
        for reg in Reg::ALL {
            for way in [On::Read, On::Write] {
                let n = FINE.iter().filter(|f| f.regs.contain(reg) && covers(f.on, way, reg)).count();
                assert!(n <= 1, "{}", reg.name());
            }
        }
    }

    /// RES0 bits of the descriptions in DDI 0487 L.a, of what is covered by registers that the table has.
    #[test]
    fn what_reads_has_no_bit_for_writes() {
        let bits = |reg| fine_bits(reg, &|_| true).unwrap();
        let read_only = [2, 9, 10, 14, 15, 18, 21, 25, 26, 28, 40, 42, 46];
        let without = read_only.into_iter().fold(bits(Reg::HFGRTR_EL2), |all, n| all & !(1u64 << n));
        assert_eq!(bits(Reg::HFGWTR_EL2), without);
        let debug = (bits(Reg::HDFGRTR_EL2), bits(Reg::HDFGWTR_EL2));
        // PMCEIDn, PMSIDR, PMBIDR, PMMIR, OSLSR and DBGAUTHSTATUS are read; PMCR, PMSWINC, OSLAR and TRFCR written.
        let (reads, writes) = ([63, 58, 30, 22, 9, 6], [49, 21, 20, 8]);
        assert_eq!(debug.0 & !debug.1, reads.into_iter().fold(0, |all, n| all | 1u64 << n));
        assert_eq!(debug.1 & !debug.0, writes.into_iter().fold(0, |all, n| all | 1u64 << n));
    }

    #[test]
    fn instructions_are_sorted_and_their_bits_unique() {
        assert!(INSTRUCTIONS.windows(2).all(|w| w[0].enc < w[1].enc));
        let names: BTreeSet<_> = INSTRUCTIONS.iter().map(|i| i.name).collect();
        assert_eq!(names.len(), INSTRUCTIONS.len());
    }
}
