//! Which events an instruction is by its word alone.

use arch::pmu::PmuEvent;
use sem::footprint::Control;
use sem::{BranchKind, System};

use crate::eval::condition_holds;
use crate::footprint::{ByWord, footprint};

/// Events as bits, and [`CONDITIONAL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Class(u8);

/// A branch that may be taken or not.
const CONDITIONAL: u8 = 1 << 7;
/// The bit of BR_RETIRED.
const BRANCH: u8 = 1 << 2;

/// The events in the order of their bits.
const EVENTS: [PmuEvent; 5] = [
    PmuEvent::LdRetired,
    PmuEvent::StRetired,
    PmuEvent::BrRetired,
    PmuEvent::BrImmedRetired,
    PmuEvent::BrReturnRetired,
];

impl Class {
    /// That of `word`, by what the instruction can touch.
    fn new(word: u32) -> Self {
        let Some(footprint) = footprint(word) else { return Self::default() };
        let exception_return = |op: &System| matches!(op, System::Eret | System::EretAuthenticated(_));
        let (branch, immediate, procedure_return) = match footprint.control {
            Control::BranchIf | Control::Branch(BranchKind::Direct | BranchKind::Call) => (true, true, false),
            Control::Branch(kind) => (true, false, kind == BranchKind::Return),
            Control::Next | Control::NotDone => (footprint.system.iter().any(exception_return), false, false),
        };
        let bits = [footprint.reads_memory(), footprint.writes_memory(), branch, immediate, procedure_return];
        let conditional = if footprint.control == Control::BranchIf { CONDITIONAL } else { 0 };
        Self(bits.into_iter().enumerate().fold(conditional, |class, (n, set)| class | u8::from(set) << n))
    }

    /// Is it a branch, and was it taken? A conditional branch changes nothing that it looked at: B.cond the flags, CBZ, CBNZ,
    /// TBZ and TBNZ a register.
    pub(super) fn is_taken(self, word: u32, nzcv: u64, x: &[u64; 32]) -> bool {
        if self.0 & BRANCH == 0 {
            return false;
        }
        if self.0 & CONDITIONAL == 0 {
            return true;
        }
        let inverted = word >> 24 & 1 != 0;
        let value = x[word as usize & 31];
        match word >> 25 & 0x3f {
            // B.cond and BC.cond.
            0b10_1010 => condition_holds(word & 15, nzcv),
            // CBZ and CBNZ.
            0b01_1010 => {
                let value = if word >> 31 == 0 { value & 0xffff_ffff } else { value };
                (value == 0) != inverted
            }
            // TBZ and TBNZ.
            _ => (value >> (word >> 26 & 32 | word >> 19 & 31) & 1 == 0) != inverted,
        }
    }

    /// The events.
    pub(super) fn events(self) -> impl Iterator<Item = PmuEvent> {
        EVENTS.into_iter().enumerate().filter(move |(n, _)| self.0 >> n & 1 != 0).map(|(_, event)| event)
    }
}

/// The classes of words that were met lately.
#[derive(Debug, Default)]
pub(super) struct Classes(ByWord<Class>);

impl Classes {
    pub(super) fn of(&mut self, word: u32) -> Class {
        self.0.of(word, Class::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PmuEvent::{BrImmedRetired, BrRetired, BrReturnRetired, LdRetired, StRetired};

    #[test]
    fn instructions() {
        // Words by GNU as.
        let cases: &[(u32, &[PmuEvent])] = &[
            (0xd503_201f, &[]),                           // nop
            (0xf940_0041, &[LdRetired]),                  // ldr x1, [x2]
            (0xa9bf_7bfd, &[StRetired]),                  // stp x29, x30, [sp, #-16]!
            (0xf821_0043, &[LdRetired, StRetired]),       // ldadd x1, x3, [x2]
            (0x4c40_7000, &[LdRetired]),                  // ld1 {v0.16b}, [x0]
            (0xf980_0000, &[]),                           // prfm pldl1keep, [x0]
            (0xd50b_7420, &[]),                           // dc zva, x0
            (0x1400_0000, &[BrRetired, BrImmedRetired]),  // b .
            (0x9400_0000, &[BrRetired, BrImmedRetired]),  // bl .
            (0x5400_0000, &[BrRetired, BrImmedRetired]),  // b.eq .
            (0xb400_0000, &[BrRetired, BrImmedRetired]),  // cbz x0, .
            (0x3600_0000, &[BrRetired, BrImmedRetired]),  // tbz w0, #0, .
            (0xd61f_0000, &[BrRetired]),                  // br x0
            (0xd63f_0000, &[BrRetired]),                  // blr x0
            (0xd65f_03c0, &[BrRetired, BrReturnRetired]), // ret
            (0xd65f_0bff, &[BrRetired, BrReturnRetired]), // retaa
            (0xd69f_03e0, &[BrRetired]),                  // eret
            (0xd400_0001, &[]),                           // svc #0
            (0xd503_3fdf, &[]),                           // isb
            (0x0000_0000, &[]),                           // udf #0
        ];
        let mut classes = Classes::default();
        for _ in 0..2 {
            for (word, events) in cases {
                assert!(classes.of(*word).events().eq(events.iter().copied()), "{word:#x}");
            }
        }
    }

    #[test]
    fn branches_that_are_taken() {
        let mut x = [0; 32];
        x[1] = 1 << 40;
        x[2] = 1 << 31;
        let taken = |word, nzcv| Classes::default().of(word).is_taken(word, nzcv, &x);
        // Words by GNU as, with flags in the order N, Z, C, V.
        for (word, nzcv, expected) in [
            (0xd503_201f, 0, false),      // nop
            (0x1400_0000, 0, true),       // b .
            (0xd69f_03e0, 0, true),       // eret
            (0x5400_0000, 0b0100, true),  // b.eq .
            (0x5400_0000, 0b1011, false), // b.eq .
            (0x5400_0001, 0b0100, false), // b.ne .
            (0x5400_0008, 0b0010, true),  // b.hi .
            (0x5400_0009, 0b0110, true),  // b.ls .
            (0x5400_000b, 0b1000, true),  // b.lt .
            (0x5400_000c, 0b1001, true),  // b.gt .
            (0x5400_000d, 0b1001, false), // b.le .
            (0x5400_000e, 0, true),       // b.al .
            (0xb400_0001, 0, false),      // cbz x1, .
            (0x3400_0001, 0, true),       // cbz w1, .
            (0xb500_0001, 0, true),       // cbnz x1, .
            (0xb400_001f, 0, true),       // cbz xzr, .
            (0xb740_0001, 0, true),       // tbnz x1, #40, .
            (0xb640_0001, 0, false),      // tbz x1, #40, .
            (0x37f8_0002, 0, true),       // tbnz w2, #31, .
            (0x3600_0002, 0, true),       // tbz w2, #0, .
        ] {
            assert_eq!(taken(word, nzcv << 28), expected, "{word:#x} {nzcv:#06b}");
        }
    }
}
