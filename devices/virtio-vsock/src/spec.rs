//! The socket device: VIRTIO 1.2, §5.10.

/// Device type (§5).
pub const DEVICE_ID: u32 = 19;
/// Number of the queue by which the guest receives.
pub const RECEIVE: usize = 0;
/// Number of the queue by which the guest transmits.
pub const TRANSMIT: usize = 1;
/// How many queues there are; the last one is for events.
pub const QUEUES: usize = 3;
/// Largest size of each queue.
pub const QUEUE_SIZE: u16 = 256;
/// `VIRTIO_VSOCK_F_STREAM`: there are stream sockets. A driver need not accept it to have them (§5.10.3).
pub const STREAM: u64 = 1 << 0;

/// The host's context identifier (§5.10.4).
pub const HOST_CID: u64 = 2;
/// The least context identifier of a guest: 0 to 2 are reserved.
pub const MIN_CID: u32 = 3;
/// The largest: that of all ones is reserved.
pub const MAX_CID: u32 = u32::MAX - 1;

/// Length of the header before each packet's data, in bytes (§5.10.6).
pub const HEADER_LEN: usize = 44;

/// `VIRTIO_VSOCK_TYPE_STREAM`, the one type of socket that is served.
pub const TYPE_STREAM: u16 = 1;

/// What a packet is for (§5.10.6).
pub mod op {
    /// A connection is asked for.
    pub const REQUEST: u16 = 1;
    /// It is taken.
    pub const RESPONSE: u16 = 2;
    /// There is no connection, or none any more.
    pub const RST: u16 = 3;
    /// The sender will not receive, or not send, any more.
    pub const SHUTDOWN: u16 = 4;
    /// Data.
    pub const RW: u16 = 5;
    /// The fields for flow control are what the receiver should see.
    pub const CREDIT_UPDATE: u16 = 6;
    /// The sender wants to know the receiver's fields for flow control.
    pub const CREDIT_REQUEST: u16 = 7;
}

/// Flags of [`op::SHUTDOWN`] (§5.10.6.5): once set for a connection, they stay set.
pub mod shutdown {
    /// The sender of the packet receives no more data.
    pub const RECEIVE: u32 = 1 << 0;
    /// It sends no more data.
    pub const SEND: u32 = 1 << 1;
    /// Both: the connection is to end, which [`super::op::RST`] answers.
    pub const BOTH: u32 = RECEIVE | SEND;
}
