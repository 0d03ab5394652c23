//! Priorities: groups, priority grouping and the running priority (IHI 0069, §4.8).

use crate::spec::{PRIORITY_BITS, PRIORITY_MASK};

/// An interrupt group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Group 0, signalled as FIQ.
    Zero,
    /// Group 1, signalled as IRQ.
    One,
}

impl Group {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Zero, Self::One];
    /// 0 or 1.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// The running priority of a PE that handles nothing (§4.8).
pub const IDLE: u8 = 0xff;

/// The least value of `ICC_BPR0_EL1` with five bits of preemption (§4.8).
pub const MIN_BPR0: u8 = 7 - PRIORITY_BITS;
/// The least value of `ICC_BPR1_EL1` in its Non-secure reading, one above that of Group 0 (§4.8).
pub const MIN_BPR1: u8 = MIN_BPR0 + 1;

/// The group priority field of `priority` for a binary point on Group 0's scale (0 to 7): bits \[7:point+1\].
pub const fn group_priority(priority: u8, point: u8) -> u8 {
    priority & (0xffu16 << (point + 1)) as u8
}

/// The active-priorities registers of a CPU interface: one bit for each of the 32 group priorities, by group.
#[derive(Clone, Copy, Default, Debug)]
pub struct ActivePriorities(pub [u32; 2]);

impl ActivePriorities {
    /// The running priority: the highest active group priority, or [`IDLE`].
    pub const fn running(self) -> u8 {
        let all = self.0[0] | self.0[1];
        if all == 0 { IDLE } else { (all.trailing_zeros() as u8) << (8 - PRIORITY_BITS) }
    }
    /// The group of the highest active priority.
    pub const fn running_group(self) -> Option<Group> {
        if self.0[0] | self.0[1] == 0 {
            None
        } else if self.0[0].trailing_zeros() <= self.0[1].trailing_zeros() {
            Some(Group::Zero)
        } else {
            Some(Group::One)
        }
    }
    /// An interrupt of this group and group priority became active.
    pub fn raise(&mut self, group: Group, group_priority: u8) {
        self.0[group.index()] |= 1 << ((group_priority & PRIORITY_MASK) >> (8 - PRIORITY_BITS));
    }
    /// Priority drop: the highest active priority of `group` ends.
    pub fn drop_highest(&mut self, group: Group) {
        let bits = &mut self.0[group.index()];
        *bits &= bits.wrapping_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_priority_by_binary_point() {
        // §4.8, priority grouping: the binary point splits group priority from subpriority.
        for (point, mask) in [(2, 0xf8), (3, 0xf0), (4, 0xe0), (5, 0xc0), (6, 0x80), (7, 0x00)] {
            assert_eq!(group_priority(0xf8, point), mask, "binary point {point}");
        }
    }

    #[test]
    fn running_priority_is_the_highest_active() {
        let mut active = ActivePriorities::default();
        assert_eq!((active.running(), active.running_group()), (IDLE, None));
        active.raise(Group::One, 0xa0);
        active.raise(Group::Zero, 0x40);
        active.raise(Group::One, 0x38);
        assert_eq!((active.running(), active.running_group()), (0x38, Some(Group::One)));
        active.drop_highest(Group::One);
        assert_eq!((active.running(), active.running_group()), (0x40, Some(Group::Zero)));
        active.drop_highest(Group::Zero);
        assert_eq!((active.running(), active.running_group()), (0xa0, Some(Group::One)));
        active.drop_highest(Group::One);
        active.drop_highest(Group::One);
        assert_eq!(active.running(), IDLE);
    }
}
