//! The frames that are at one address for all CPUs, where each reaches its own registers: of 32 bits, and part of the state
//! that the distributor saves.

use bus::{Device, DeviceFault, MmioAccess};
use snapshot::{Codec, Invalid};

use super::GicV2;
use super::state::State;

/// Such a frame as a device: a window of [`super::spec::WINDOW`] bytes.
pub struct Frame {
    gic: GicV2,
    registers: &'static Registers,
}

/// What is in a frame.
pub(super) struct Registers {
    pub(super) name: &'static str,
    /// What a CPU that there is reads.
    pub(super) read: fn(&mut State, MmioAccess) -> u32,
    /// What a CPU that there is writes.
    pub(super) write: fn(&mut State, MmioAccess, u32),
    /// Folds what no other frame does.
    pub(super) hash: fn(&State, &mut dyn core::hash::Hasher),
}

impl Frame {
    pub(super) fn new(gic: &GicV2, registers: &'static Registers) -> Self {
        Self { gic: gic.clone(), registers }
    }
}

impl Device for Frame {
    fn name(&self) -> &'static str {
        self.registers.name
    }
    fn read(&mut self, access: MmioAccess) -> Result<u64, DeviceFault> {
        Ok(self.gic.with_pe(access.cpu, |state| (self.registers.read)(state, access)).unwrap_or(0).into())
    }
    fn write(&mut self, access: MmioAccess, value: u64) -> Result<(), DeviceFault> {
        self.gic.with_pe(access.cpu, |state| (self.registers.write)(state, access, value as u32));
        Ok(())
    }
    fn hash(&self, hasher: &mut dyn core::hash::Hasher) {
        self.gic.with(|state| (self.registers.hash)(state, hasher));
    }
    /// It is part of the distributor's.
    fn persist(&mut self, _: &mut Codec<'_>) -> Result<(), Invalid> {
        Ok(())
    }
}
