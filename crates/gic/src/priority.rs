//! Priorities: groups, priority grouping and the running priority (IHI 0069, §4.8).

use snapshot::{Codec, Invalid};

use crate::spec::PRIORITY_BITS;

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

/// The active-priorities registers of a CPU interface: one bit for each group priority, by group.
#[derive(Clone, Copy, Debug)]
pub struct ActivePriorities {
    bits: [u128; 2],
    /// Bits of a group priority, 5 to 7.
    preemption_bits: u8,
}

impl ActivePriorities {
    /// None active, of `preemption_bits` (5 to 7) bits each.
    pub const fn new(preemption_bits: u8) -> Self {
        Self { bits: [0; 2], preemption_bits }
    }
    /// The running priority: the highest active group priority, or [`IDLE`].
    pub const fn running(self) -> u8 {
        let all = self.bits[0] | self.bits[1];
        if all == 0 { IDLE } else { (all.trailing_zeros() as u8) << (8 - self.preemption_bits) }
    }
    /// The group of the highest active priority; group 0 where both have it.
    pub const fn running_group(self) -> Option<Group> {
        if self.bits[0] | self.bits[1] == 0 {
            None
        } else if self.bits[0].trailing_zeros() <= self.bits[1].trailing_zeros() {
            Some(Group::Zero)
        } else {
            Some(Group::One)
        }
    }
    /// An interrupt of this group and group priority became active.
    pub const fn raise(&mut self, group: Group, group_priority: u8) {
        self.bits[group.index()] |= 1 << (group_priority >> (8 - self.preemption_bits));
    }
    /// Priority drop: the highest active priority of `group` ends.
    pub const fn drop_highest(&mut self, group: Group) {
        let bits = &mut self.bits[group.index()];
        *bits &= bits.wrapping_sub(1);
    }
    /// Register `n` of `group`, where there is one: 1, 2 or 4 of 32 bits.
    pub const fn register(self, group: Group, n: usize) -> Option<u32> {
        if n < self.registers() { Some((self.bits[group.index()] >> (32 * n)) as u32) } else { None }
    }
    /// Sets register `n` of `group`, where there is one.
    pub const fn set_register(&mut self, group: Group, n: usize, value: u32) -> Option<()> {
        if n >= self.registers() {
            return None;
        }
        let bits = &mut self.bits[group.index()];
        *bits = *bits & !((u32::MAX as u128) << (32 * n)) | (value as u128) << (32 * n);
        Some(())
    }
    const fn registers(self) -> usize {
        1 << (self.preemption_bits - 5)
    }
    /// Saves or loads it.
    pub fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { bits, preemption_bits } = self;
        codec.value(bits)?;
        let places = 1u32 << *preemption_bits;
        if places < 128 && (bits[0] | bits[1]) >> places != 0 {
            return Err(Invalid::new("an active priority that cannot be"));
        }
        Ok(())
    }
    /// Folds the state.
    pub fn hash(self, state: &mut dyn core::hash::Hasher) {
        self.bits.into_iter().for_each(|bits| state.write_u128(bits));
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
        let mut active = ActivePriorities::new(5);
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
    #[test]
    fn registers_by_preemption_bits() {
        for (bits, count) in [(5, 1), (6, 2), (7, 4)] {
            let mut active = ActivePriorities::new(bits);
            assert_eq!((0..5).filter(|n| active.register(Group::One, *n).is_some()).count(), count);
            assert_eq!(active.set_register(Group::One, count, 1), None);
            // The lowest group priority is the last bit of the last register.
            active.raise(Group::One, 0xff << (8 - bits));
            assert_eq!(active.register(Group::One, count - 1), Some(1 << 31), "{bits} bits");
            assert_eq!(active.running(), 0xff << (8 - bits));
            assert_eq!(active.set_register(Group::Zero, 0, 2), Some(()));
            assert_eq!((active.running(), active.running_group()), (1 << (8 - bits), Some(Group::Zero)));
        }
    }
}
