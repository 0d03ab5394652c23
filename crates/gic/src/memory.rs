//! Guest memory, as the redistributors and the ITS reach it: their tables are there.

use std::sync::Arc;

use arch::Pa;
use bus::Ram;

/// Guest RAM and where it starts. An access that is not in RAM as a whole does nothing.
#[derive(Clone)]
pub struct Memory {
    ram: Arc<Ram>,
    base: Pa,
}

impl Memory {
    /// `ram` at `base`.
    #[must_use]
    pub fn new(ram: Arc<Ram>, base: Pa) -> Self {
        Self { ram, base }
    }

    /// Where `bytes` bytes at `address` are in RAM. Behind RAM there may be flash memory, where no table is.
    fn offset(&self, address: u64, bytes: usize) -> Option<u64> {
        let offset = address.checked_sub(self.base.0)?;
        (offset.checked_add(bytes as u64)? <= self.ram.len()).then_some(offset)
    }

    pub(crate) fn read_u64(&self, address: u64) -> Option<u64> {
        self.ram.read_u64(self.offset(address, 8)?)
    }
    pub(crate) fn write_u64(&self, address: u64, value: u64) -> Option<()> {
        self.ram.write_bytes(self.offset(address, 8)?, &value.to_le_bytes())
    }
    pub(crate) fn read_u8(&self, address: u64) -> Option<u8> {
        self.ram.read_u8(self.offset(address, 1)?)
    }
    pub(crate) fn write_u8(&self, address: u64, value: u8) -> Option<()> {
        self.ram.write_bytes(self.offset(address, 1)?, &[value])
    }
    pub(crate) fn read_bytes(&self, address: u64, into: &mut [u8]) -> Option<()> {
        self.ram.read_bytes(self.offset(address, into.len())?, into)
    }
}
