//! The physical address map: guest RAM, devices, interrupt lines.
//! Guest RAM is the one place below the JIT that uses unsafe code.

pub mod device;
pub mod entropy;
pub mod irq;
pub mod map;
mod memory;
pub mod ram;
mod snapshots;
mod tags;

pub use device::{Device, DeviceFault, MmioAccess, Size};
pub use entropy::Entropy;
pub use irq::{CpuInterface, CpuLines, IrqLine, IrqSink, Level};
pub use map::{Bus, DevicePart, MapError, Target};
pub use memory::GuestMemory;
pub use ram::{Ram, RamError};
