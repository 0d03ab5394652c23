//! The register layout and constants of virtio over MMIO: OASIS Virtual I/O Device (VIRTIO) version 1.2, §4.2.2, and
//! of split virtqueues, §2.7.

/// `MagicValue`: "virt".
pub const MAGIC: u32 = 0x7472_6976;
/// `Version`: 2, the modern interface.
pub const VERSION: u32 = 2;
/// `VendorID`: "VAMB".
pub const VENDOR: u32 = 0x424d_4156;

/// Register offsets (§4.2.2). All are 32 bits wide; the configuration space follows.
pub mod reg {
    /// `MagicValue`.
    pub const MAGIC_VALUE: u64 = 0x000;
    /// `Version`.
    pub const VERSION: u64 = 0x004;
    /// `DeviceID`.
    pub const DEVICE_ID: u64 = 0x008;
    /// `VendorID`.
    pub const VENDOR_ID: u64 = 0x00c;
    /// `DeviceFeatures`.
    pub const DEVICE_FEATURES: u64 = 0x010;
    /// `DeviceFeaturesSel`.
    pub const DEVICE_FEATURES_SEL: u64 = 0x014;
    /// `DriverFeatures`.
    pub const DRIVER_FEATURES: u64 = 0x020;
    /// `DriverFeaturesSel`.
    pub const DRIVER_FEATURES_SEL: u64 = 0x024;
    /// `QueueSel`.
    pub const QUEUE_SEL: u64 = 0x030;
    /// `QueueNumMax`.
    pub const QUEUE_NUM_MAX: u64 = 0x034;
    /// `QueueNum`.
    pub const QUEUE_NUM: u64 = 0x038;
    /// `QueueReady`.
    pub const QUEUE_READY: u64 = 0x044;
    /// `QueueNotify`.
    pub const QUEUE_NOTIFY: u64 = 0x050;
    /// `InterruptStatus`.
    pub const INTERRUPT_STATUS: u64 = 0x060;
    /// `InterruptACK`.
    pub const INTERRUPT_ACK: u64 = 0x064;
    /// `Status`.
    pub const STATUS: u64 = 0x070;
    /// `QueueDescLow`; `QueueDescHigh` follows.
    pub const QUEUE_DESC: u64 = 0x080;
    /// `QueueDriverLow`; `QueueDriverHigh` follows.
    pub const QUEUE_DRIVER: u64 = 0x090;
    /// `QueueDeviceLow`; `QueueDeviceHigh` follows.
    pub const QUEUE_DEVICE: u64 = 0x0a0;
    /// `SHMLenLow` to `SHMBaseHigh`: there is no shared memory, which reads as all ones.
    pub const SHM: core::ops::RangeInclusive<u64> = 0x0b0..=0x0bc;
    /// `ConfigGeneration`.
    pub const CONFIG_GENERATION: u64 = 0x0fc;
    /// The device's configuration space.
    pub const CONFIG: u64 = 0x100;
}

/// Bits of the device status field (§2.1).
pub mod status {
    /// `DRIVER_OK`.
    pub const DRIVER_OK: u32 = 4;
    /// `FEATURES_OK`.
    pub const FEATURES_OK: u32 = 8;
    /// `DEVICE_NEEDS_RESET`.
    pub const NEEDS_RESET: u32 = 64;
    /// `FAILED`.
    pub const FAILED: u32 = 128;
}

/// Bits of `InterruptStatus`.
pub mod interrupt {
    /// A buffer was used.
    pub const USED: u32 = 1;
    /// The configuration changed; also how the device says that it needs a reset.
    pub const CONFIG: u32 = 2;
}

/// Reserved feature bits (§6).
pub mod feature {
    /// `VIRTIO_F_INDIRECT_DESC`.
    pub const INDIRECT_DESC: u64 = 1 << 28;
    /// `VIRTIO_F_VERSION_1`.
    pub const VERSION_1: u64 = 1 << 32;
}

/// Split virtqueues (§2.7).
pub mod ring {
    /// Size of a descriptor in bytes: address (8), length (4), flags (2), next (2).
    pub const DESC_SIZE: u64 = 16;
    /// Descriptor flag: the chain continues at `next`.
    pub const NEXT: u16 = 1;
    /// Descriptor flag: the device writes the buffer.
    pub const WRITE: u16 = 2;
    /// Descriptor flag: the buffer is a table of descriptors.
    pub const INDIRECT: u16 = 4;
    /// Flag of the available ring: the driver wants no interrupt.
    pub const NO_INTERRUPT: u16 = 1;
    /// The most descriptors of one chain that this device follows, over the ring and an indirect table together.
    pub const MAX_CHAIN: usize = 1024;
    /// The largest queue.
    pub const MAX_SIZE: u16 = 32768;
}
