//! Where translation tables are read from.

use arch::Pa;

use bus::{Bus, Size, Target};

use crate::Fault;

/// A descriptor could not be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFault {
    /// The memory system gave no answer.
    External,
    /// Stage 2 faulted on the descriptor's address.
    Stage2(Fault),
}

/// Memory that holds translation tables, as the walker sees it. Values are little-endian; the walker swaps bytes
/// for big-endian tables.
pub trait TableMemory {
    /// Reads the descriptor at `at`, a multiple of 8.
    fn read(&self, at: Pa) -> Result<u64, TableFault>;

    /// Replaces the descriptor at `at` by `new` if it equals `old`, in one atomic step; the inner result is the value
    /// found either way, `Err` where it differed and nothing was written.
    fn compare_exchange(&self, at: Pa, old: u64, new: u64) -> Result<Result<u64, u64>, TableFault>;
}

/// Tables lie in RAM; anywhere else a walk is an external abort.
impl TableMemory for Bus {
    #[inline]
    fn read(&self, at: Pa) -> Result<u64, TableFault> {
        self.read_ram(at, Size::Double).ok_or(TableFault::External)
    }

    fn compare_exchange(&self, at: Pa, old: u64, new: u64) -> Result<Result<u64, u64>, TableFault> {
        let Target::Ram(offset) = self.target(at) else { return Err(TableFault::External) };
        let found = self.ram().compare_exchange_u64(offset, old, new).ok_or(TableFault::External)?;
        if found.is_ok() {
            self.ram().note_write(offset, 8);
        }
        Ok(found)
    }
}

/// Byte order of the tables: `SCTLR_ELx.EE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endian {
    /// EE = 0.
    Little,
    /// EE = 1.
    Big,
}

impl Endian {
    /// Turns a little-endian read into the table's order, or back.
    #[inline(always)]
    pub(crate) const fn convert(self, value: u64) -> u64 {
        match self {
            Self::Little => value,
            Self::Big => value.swap_bytes(),
        }
    }
}
