//! prctl's word for tagged addresses (PR_SET_TAGGED_ADDR_CTRL), and what it means for the CPU.

use hal::mte::{Check, Mte};

use crate::errno::{Errno, Result};

/// PR_TAGGED_ADDR_ENABLE
const ENABLE: u64 = 1;
/// PR_MTE_TCF_SYNC
const SYNC: u64 = 2;
/// PR_MTE_TCF_ASYNC
const ASYNC: u64 = 4;
/// PR_MTE_TAG_MASK: the tags that IRG may give.
const TAGS: u64 = 0xffff << 3;

/// Which mode is taken when a program allows synchronous and asynchronous checks (`mte_tcf_preferred`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Preferred {
    /// As Linux without more.
    Async = 0,
    /// Synchronous.
    Sync = 1,
    /// Asymmetric.
    Asymmetric = 2,
}

/// The word, as set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Control(u64);

impl Control {
    /// From prctl's argument. EINVAL: bits that mean nothing, or nothing here.
    pub fn new(word: u64, mte: Option<Mte>) -> Result<Self> {
        let valid = if mte.is_some() { ENABLE | SYNC | ASYNC | TAGS } else { ENABLE };
        if word & !valid != 0 { Err(Errno::EINVAL) } else { Ok(Self(word)) }
    }

    /// For a thread's word of memory.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// What `bits` gave.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// How accesses are checked.
    pub fn check(self, preferred: Preferred) -> Check {
        match (self.0 & SYNC != 0, self.0 & ASYNC != 0) {
            (false, false) => Check::None,
            (true, false) => Check::Sync,
            (false, true) => Check::Async,
            (true, true) => match preferred {
                Preferred::Async => Check::Async,
                Preferred::Sync => Check::Sync,
                Preferred::Asymmetric => Check::Asymmetric,
            },
        }
    }

    /// May system calls be given addresses with tags?
    pub fn allows_tags(self) -> bool {
        self.0 & ENABLE != 0
    }

    /// Tags that IRG does not give.
    pub fn excluded(self) -> u16 {
        !((self.0 & TAGS) >> 3) as u16
    }
}

/// Do failures come without an exception, in TFSRE0_EL1?
pub fn is_asynchronous(check: Check) -> bool {
    matches!(check, Check::Async | Check::Asymmetric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_what_is_asked_for_and_then_what_is_preferred() {
        for preferred in [Preferred::Async, Preferred::Sync, Preferred::Asymmetric] {
            assert_eq!(Control(ENABLE).check(preferred), Check::None);
            assert_eq!(Control(ENABLE | SYNC).check(preferred), Check::Sync);
            assert_eq!(Control(ENABLE | ASYNC).check(preferred), Check::Async);
        }
        let both = Control(ENABLE | SYNC | ASYNC);
        assert_eq!(both.check(Preferred::Async), Check::Async);
        assert_eq!(both.check(Preferred::Sync), Check::Sync);
        assert_eq!(both.check(Preferred::Asymmetric), Check::Asymmetric);
        assert!(!is_asynchronous(Check::Sync) && !is_asynchronous(Check::None) && is_asynchronous(Check::Asymmetric));
    }

    #[test]
    fn the_mask_includes_and_the_register_excludes() {
        assert_eq!(Control::default().excluded(), 0xffff);
        assert_eq!(Control(ENABLE | 0xfffe << 3).excluded(), 1);
    }

    #[test]
    fn without_the_feature_only_the_address_bit_is_valid() {
        assert_eq!(Control::new(ENABLE, None), Ok(Control(ENABLE)));
        for bit in 1..64 {
            assert_eq!(Control::new(1 << bit, None), Err(Errno::EINVAL));
        }
    }
}
