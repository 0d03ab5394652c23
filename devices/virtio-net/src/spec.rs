//! The network device: VIRTIO 1.2, §5.1.

/// Device type (§5).
pub const DEVICE_ID: u32 = 1;
/// Number of the queue by which the guest receives.
pub const RECEIVE: usize = 0;
/// Number of the queue by which the guest transmits.
pub const TRANSMIT: usize = 1;
/// Largest size of each queue.
pub const QUEUE_SIZE: u16 = 256;
/// `VIRTIO_NET_F_MAC`: the configuration space has the card's address.
pub const MAC: u64 = 1 << 5;
/// Length of the header before each frame, with the number of buffers at its end (§5.1.6).
pub const HEADER_LEN: usize = 12;
/// The longest frame: an Ethernet header and 1500 bytes.
pub const MAX_FRAME: usize = 1514;
