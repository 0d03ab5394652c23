//! CPUs by MIDR_EL1: implementer, part, and a range of revisions.

use arch::field::midr_el1::{Implementer, PartNum, Revision, Variant};

/// Implementations from one revision to another, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MidrRange {
    /// MIDR_EL1.Implementer.
    pub implementer: u8,
    /// MIDR_EL1.PartNum.
    pub part: u16,
    /// Variant and revision: `(r, p)`.
    pub first: (u8, u8),
    /// Likewise.
    pub last: (u8, u8),
}

impl MidrRange {
    /// All revisions of a part of Arm.
    pub const fn arm(part: u16) -> Self {
        Self { implementer: 0x41, part, first: (0, 0), last: (15, 15) }
    }
    /// All revisions of a part of someone else.
    pub const fn of(implementer: u8, part: u16) -> Self {
        Self { implementer, part, first: (0, 0), last: (15, 15) }
    }
    /// The same part, from this revision on.
    #[must_use]
    pub const fn from(self, r: u8, p: u8) -> Self {
        Self { first: (r, p), ..self }
    }
    /// The same part, up to this revision.
    #[must_use]
    pub const fn up_to(self, r: u8, p: u8) -> Self {
        Self { last: (r, p), ..self }
    }

    /// Is it one of them?
    pub fn has(&self, midr: u64) -> bool {
        let revision = (Variant.get(midr) as u8, Revision.get(midr) as u8);
        Implementer.get(midr) == u64::from(self.implementer)
            && PartNum.get(midr) == u64::from(self.part)
            && self.first <= revision
            && revision <= self.last
    }
}

/// Is the CPU in one of the ranges?
pub fn is_in(midr: u64, ranges: &[MidrRange]) -> bool {
    ranges.iter().any(|range| range.has(midr))
}

/// MIDR_EL1.PartNum of Arm's.
#[allow(missing_docs)]
pub mod part {
    pub const CORTEX_A53: u16 = 0xd03;
    pub const CORTEX_A57: u16 = 0xd07;
    pub const CORTEX_A76: u16 = 0xd0b;
    pub const NEOVERSE_N1: u16 = 0xd0c;
    pub const CORTEX_A77: u16 = 0xd0d;
    pub const NEOVERSE_V1: u16 = 0xd40;
    pub const CORTEX_A78: u16 = 0xd41;
    pub const CORTEX_X1: u16 = 0xd44;
    pub const CORTEX_A710: u16 = 0xd47;
    pub const CORTEX_X2: u16 = 0xd48;
    pub const NEOVERSE_N2: u16 = 0xd49;
    pub const CORTEX_A78C: u16 = 0xd4b;
    pub const CORTEX_X1C: u16 = 0xd4c;
    pub const CORTEX_A715: u16 = 0xd4d;
    pub const CORTEX_X3: u16 = 0xd4e;
    pub const NEOVERSE_V2: u16 = 0xd4f;
    pub const CORTEX_A720: u16 = 0xd81;
    pub const CORTEX_X4: u16 = 0xd82;
    pub const NEOVERSE_V3AE: u16 = 0xd83;
    pub const NEOVERSE_V3: u16 = 0xd84;
    pub const CORTEX_X925: u16 = 0xd85;
    pub const CORTEX_A725: u16 = 0xd87;
    pub const CORTEX_A720AE: u16 = 0xd89;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_range_are_in_it() {
        let range = MidrRange::arm(part::CORTEX_X4).from(0, 3).up_to(1, 1);
        let midr = |r: u64, p: u64| 0x410f_d820 | r << 20 | p;
        for (revision, inside) in [((0, 2), false), ((0, 3), true), ((0, 15), true), ((1, 1), true), ((1, 2), false)] {
            assert_eq!(range.has(midr(revision.0, revision.1)), inside, "{revision:?}");
        }
        assert!(!range.has(0x420f_d823) && !range.has(0x410f_d833));
    }
}
