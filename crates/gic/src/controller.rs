//! A controller of either version, as a board has it.

use arch::sysreg::Enc;
use bus::{CpuInterface, IrqSink, Level};

use crate::{Gic, GicV2};

/// An interrupt controller of either version; clones are the same controller.
#[derive(Clone)]
pub enum Controller {
    /// A GICv2.
    V2(GicV2),
    /// A GICv3.
    V3(Gic),
}

impl Controller {
    /// See [`Gic::reset_interface`]. A GICv2's interfaces are no part of the CPUs, and keep their state.
    pub fn reset_interface(&self, cpu: usize) {
        match self {
            Self::V2(_) => {}
            Self::V3(gic) => gic.reset_interface(cpu),
        }
    }
    /// See [`Gic::wake_request`]. A GICv2's wires are driven always.
    pub fn wake_request(&self, cpu: usize) -> bool {
        match self {
            Self::V2(_) => false,
            Self::V3(gic) => gic.wake_request(cpu),
        }
    }
    /// See [`Gic::work`].
    pub fn work(&self, now: u64) {
        match self {
            Self::V2(_) => {}
            Self::V3(gic) => gic.work(now),
        }
    }
    /// See [`Gic::has_work`].
    pub fn has_work(&self) -> bool {
        match self {
            Self::V2(_) => false,
            Self::V3(gic) => gic.has_work(),
        }
    }
    fn interface(&self) -> &dyn CpuInterface {
        match self {
            Self::V2(gic) => gic,
            Self::V3(gic) => gic,
        }
    }
}

impl IrqSink for Controller {
    fn set_spi(&self, intid: u32, level: Level) {
        match self {
            Self::V2(gic) => gic.set_spi(intid, level),
            Self::V3(gic) => gic.set_spi(intid, level),
        }
    }
}

impl CpuInterface for Controller {
    fn read(&self, cpu: usize, reg: Enc) -> Option<u64> {
        self.interface().read(cpu, reg)
    }
    fn write(&self, cpu: usize, reg: Enc, value: u64) -> Option<()> {
        self.interface().write(cpu, reg, value)
    }
    fn read_virtual(&self, cpu: usize, reg: Enc) -> Option<u64> {
        self.interface().read_virtual(cpu, reg)
    }
    fn write_virtual(&self, cpu: usize, reg: Enc, value: u64) -> Option<()> {
        self.interface().write_virtual(cpu, reg, value)
    }
    fn read_hypervisor(&self, cpu: usize, reg: Enc) -> Option<u64> {
        self.interface().read_hypervisor(cpu, reg)
    }
    fn write_hypervisor(&self, cpu: usize, reg: Enc, value: u64) -> Option<()> {
        self.interface().write_hypervisor(cpu, reg, value)
    }
    fn list_registers_in_use(&self, cpu: usize) -> u8 {
        self.interface().list_registers_in_use(cpu)
    }
    fn set_ppi(&self, cpu: usize, intid: u32, level: Level) {
        self.interface().set_ppi(cpu, intid, level);
    }
}
