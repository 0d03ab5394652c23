//! The console device: VIRTIO 1.2, §5.3.

/// Device type (§5).
pub const DEVICE_ID: u32 = 3;
/// Number of the queue by which the guest receives.
pub const RECEIVE: usize = 0;
/// Number of the queue by which the guest transmits.
pub const TRANSMIT: usize = 1;
/// Largest size of each queue.
pub const QUEUE_SIZE: u16 = 64;

/// Feature bits (§5.3.3).
pub mod feature {
    /// `VIRTIO_CONSOLE_F_EMERG_WRITE`.
    pub const EMERG_WRITE: u64 = 1 << 2;
}

/// Length of the configuration space: columns (2), rows (2), ports (4), emergency write (4).
pub const CONFIG_LEN: usize = 12;
/// Where `emerg_wr` is in it.
pub const EMERG_WR: u64 = 8;
