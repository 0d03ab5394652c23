//! What the bus asks of a device.

use snapshot::{Codec, Invalid};

/// The size of one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Size {
    /// 1 byte.
    Byte = 0,
    /// 2 bytes.
    Half = 1,
    /// 4 bytes.
    Word = 2,
    /// 8 bytes.
    Double = 3,
}

impl Size {
    /// In bytes: 1, 2, 4 or 8.
    #[inline(always)]
    #[must_use]
    pub const fn bytes(self) -> u64 {
        1 << self as u8
    }
    /// A mask of the bits that an access of this size carries.
    #[inline(always)]
    #[must_use]
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - 8 * self.bytes())
    }
}

/// One aligned access to a device, as the device sees it.
#[derive(Clone, Copy, Debug)]
pub struct MmioAccess {
    /// Byte offset from the start of the device's window.
    pub offset: u64,
    /// Size; `offset` is a multiple of it.
    pub size: Size,
    /// Index of the PE that makes the access.
    pub cpu: usize,
    /// The machine's time in nanoseconds since power-on, as of the start of the present round: the same for every access
    /// of a CPU's turn, however the turn is cut.
    pub now: u64,
}

/// A device answered an access with a bus error: the PE sees a synchronous external abort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceFault;

/// A memory-mapped device. It is called with its own lock held and the map unlocked.
/// Whatever a guest writes, a device neither panics nor loops without bound.
pub trait Device: Send {
    /// A short name for messages, such as `pl011@9000000`.
    fn name(&self) -> &str;
    /// Reads; bits above the access size are ignored by the bus.
    fn read(&mut self, access: MmioAccess) -> Result<u64, DeviceFault>;
    /// Writes `value`, which has no bits above the access size.
    fn write(&mut self, access: MmioAccess, value: u64) -> Result<(), DeviceFault>;
    /// Folds the whole guest-visible state into `state`, in a fixed order, for the end-of-run hash.
    fn hash(&self, state: &mut dyn core::hash::Hasher);
    /// Saves the whole state, or takes it from a snapshot: all that is not the same in every device that the same
    /// configuration makes. Take `self` apart without `..`, so that no field is forgotten. What a file says is not to be
    /// believed. Wires are not driven: the interrupt controller has their levels in its own state.
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid>;
}
