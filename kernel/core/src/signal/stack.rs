//! The alternate stack (sigaltstack).

use crate::errno::{Errno, Result};

/// SS_ONSTACK: handlers use it now.
const ONSTACK: u32 = 1;
/// SS_DISABLE: there is none.
const DISABLE: u32 = 2;
/// SS_AUTODISARM: there is none any more once a handler uses it, until that returns.
const AUTODISARM: u32 = 1 << 31;

/// MINSIGSTKSZ of arm64: no smaller one is accepted.
pub const MIN_ALT_STACK: u64 = 5120;

/// A thread's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AltStack {
    /// Its lowest address.
    pub start: u64,
    /// Bytes; 0: there is none.
    pub size: u64,
    /// SS_* as they were given.
    pub flags: u32,
}

impl AltStack {
    /// None, after there may have been one.
    pub const NONE: Self = Self { start: 0, size: 0, flags: DISABLE };

    /// What exec leaves.
    #[must_use]
    pub fn for_exec(self) -> Self {
        Self { start: 0, size: 0, ..self }
    }

    /// Does SP lie on it?
    pub fn has(&self, sp: u64) -> bool {
        self.flags & AUTODISARM == 0 && sp > self.start && sp - self.start <= self.size
    }

    /// SS_* as sigaltstack tells them, with this SP.
    pub fn flags_at(&self, sp: u64) -> u32 {
        let state = match self.size {
            0 => DISABLE,
            _ if self.has(sp) => ONSTACK,
            _ => 0,
        };
        state | self.flags & AUTODISARM
    }

    /// Goes with the first frame on it?
    pub fn is_disarmed_by_use(&self) -> bool {
        self.flags & AUTODISARM != 0
    }

    /// The stack that a program asks for, at this SP.
    pub fn replaced(&self, start: u64, flags: u32, size: u64, sp: u64) -> Result<Self> {
        if self.has(sp) {
            return Err(Errno::EPERM);
        }
        match flags & !AUTODISARM {
            DISABLE => Ok(Self { start: 0, size: 0, flags }),
            0 | ONSTACK if size < MIN_ALT_STACK => Err(Errno::ENOMEM),
            0 | ONSTACK => Ok(Self { start, size, flags }),
            _ => Err(Errno::EINVAL),
        }
    }
}

impl Default for AltStack {
    fn default() -> Self {
        Self::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STACK: AltStack = AltStack { start: 0x1000, size: 0x2000, flags: 0 };

    #[test]
    fn it_is_recognised() {
        for (sp, flags) in [(0x1000, 0), (0x1001, ONSTACK), (0x3000, ONSTACK), (0x3001, 0)] {
            assert_eq!(STACK.flags_at(sp), flags, "{sp:#x}");
        }
        assert_eq!(AltStack::default().flags_at(0x1000), DISABLE);
        assert_eq!(AltStack { flags: AUTODISARM, ..STACK }.flags_at(0x2000), AUTODISARM);
    }

    #[test]
    fn only_fitting_ones_are_taken() {
        assert_eq!(STACK.replaced(0, 0, 1 << 20, 0x2000), Err(Errno::EPERM));
        assert_eq!(STACK.replaced(0, 0, MIN_ALT_STACK - 1, 0), Err(Errno::ENOMEM));
        assert_eq!(STACK.replaced(0, 4, 1 << 20, 0), Err(Errno::EINVAL));
        assert_eq!(STACK.replaced(7, DISABLE, 7, 0), Ok(AltStack::NONE));
        let new = AltStack { start: 16, size: MIN_ALT_STACK, flags: ONSTACK };
        assert_eq!(STACK.replaced(16, ONSTACK, MIN_ALT_STACK, 0), Ok(new));
    }
}
