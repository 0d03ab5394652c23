//! The entropy device: VIRTIO 1.2, §5.4.

/// Device type (§5).
pub const DEVICE_ID: u32 = 4;
/// Largest size of the request queue.
pub const QUEUE_SIZE: u16 = 8;
