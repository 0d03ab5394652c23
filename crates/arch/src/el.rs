//! Exception levels.

/// An exception level, ordered by privilege.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum El {
    /// Applications.
    El0 = 0,
    /// Operating system.
    El1 = 1,
    /// Hypervisor.
    El2 = 2,
    /// Secure monitor.
    El3 = 3,
}

impl El {
    /// The level that `PSTATE.EL` and `SPSR_ELx.M[3:2]` encode as `bits` (0 to 3; higher bits are ignored).
    #[inline(always)]
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        match bits & 3 {
            0 => Self::El0,
            1 => Self::El1,
            2 => Self::El2,
            _ => Self::El3,
        }
    }
}
