//! Guest memory by physical address, as devices reach it: RAM only, every access checked.

use std::sync::Arc;

use crate::Ram;

/// Guest RAM at its physical address. `None` from any accessor means: not (wholly) in RAM.
#[derive(Clone)]
pub struct GuestMemory {
    ram: Arc<Ram>,
    base: u64,
}

impl GuestMemory {
    /// RAM that starts at physical address `base`.
    #[must_use]
    pub fn new(ram: Arc<Ram>, base: arch::Pa) -> Self {
        Self { ram, base: base.0 }
    }

    /// The offset of `addr` in RAM, where `len` bytes from there are RAM.
    fn offset(&self, addr: u64, len: u64) -> Option<u64> {
        let offset = addr.checked_sub(self.base)?;
        (offset.checked_add(len)? <= self.ram.len()).then_some(offset)
    }
    /// Are the `len` bytes at `addr` RAM?
    #[must_use]
    pub fn contains(&self, addr: u64, len: u64) -> bool {
        self.offset(addr, len).is_some()
    }
    /// Reads bytes.
    #[must_use]
    pub fn read(&self, addr: u64, into: &mut [u8]) -> Option<()> {
        self.ram.read_bytes(self.offset(addr, into.len() as u64)?, into)
    }
    /// Writes bytes; code there becomes stale.
    #[must_use]
    pub fn write(&self, addr: u64, from: &[u8]) -> Option<()> {
        self.ram.write_bytes(self.offset(addr, from.len() as u64)?, from)
    }
    /// Reads a byte.
    #[must_use]
    pub fn read_u8(&self, addr: u64) -> Option<u8> {
        self.ram.read_u8(self.offset(addr, 1)?)
    }
    /// Reads a 64-bit value, untorn where `addr` is a multiple of 8.
    #[must_use]
    pub fn read_u64(&self, addr: u64) -> Option<u64> {
        self.ram.read_u64(self.offset(addr, 8)?)
    }
    /// Reads a 16-bit value, untorn where `addr` is even.
    #[must_use]
    pub fn read_u16(&self, addr: u64) -> Option<u16> {
        self.ram.read_u16(self.offset(addr, 2)?)
    }
    /// Writes a 16-bit value, untorn where `addr` is even.
    #[must_use]
    pub fn write_u16(&self, addr: u64, value: u16) -> Option<()> {
        let offset = self.offset(addr, 2)?;
        self.ram.write_u16(offset, value)?;
        self.ram.note_write(offset, 2);
        Some(())
    }
}
