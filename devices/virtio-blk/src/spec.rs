//! The block device: VIRTIO 1.2, §5.2.

/// Device type (§5).
pub const DEVICE_ID: u32 = 2;
/// Bytes in a sector, the unit of all positions.
pub const SECTOR: u64 = 512;
/// Largest size of the request queue.
pub const QUEUE_SIZE: u16 = 256;
/// Most data segments of a request, as announced.
pub const SEG_MAX: u32 = 254;
/// Most segments of a discard or write-zeroes request.
pub const MAX_RANGES: u32 = 32;
/// Most sectors of one discard or write-zeroes segment: 128 MiB.
pub const MAX_RANGE_SECTORS: u32 = 1 << 18;
/// Length of the answer to `GET_ID`.
pub const ID_LEN: usize = 20;
/// Length of the request header: type (4), reserved (4), sector (8).
pub const HEADER_LEN: usize = 16;
/// Length of a discard or write-zeroes segment: sector (8), sectors (4), flags (4).
pub const RANGE_LEN: usize = 16;

/// Feature bits (§5.2.3).
pub mod feature {
    /// `VIRTIO_BLK_F_SEG_MAX`.
    pub const SEG_MAX: u64 = 1 << 2;
    /// `VIRTIO_BLK_F_RO`.
    pub const RO: u64 = 1 << 5;
    /// `VIRTIO_BLK_F_BLK_SIZE`.
    pub const BLK_SIZE: u64 = 1 << 6;
    /// `VIRTIO_BLK_F_FLUSH`.
    pub const FLUSH: u64 = 1 << 9;
    /// `VIRTIO_BLK_F_DISCARD`.
    pub const DISCARD: u64 = 1 << 13;
    /// `VIRTIO_BLK_F_WRITE_ZEROES`.
    pub const WRITE_ZEROES: u64 = 1 << 14;
}

/// Request types (§5.2.6).
pub mod request {
    /// `VIRTIO_BLK_T_IN`.
    pub const IN: u32 = 0;
    /// `VIRTIO_BLK_T_OUT`.
    pub const OUT: u32 = 1;
    /// `VIRTIO_BLK_T_FLUSH`.
    pub const FLUSH: u32 = 4;
    /// `VIRTIO_BLK_T_GET_ID`.
    pub const GET_ID: u32 = 8;
    /// `VIRTIO_BLK_T_DISCARD`.
    pub const DISCARD: u32 = 11;
    /// `VIRTIO_BLK_T_WRITE_ZEROES`.
    pub const WRITE_ZEROES: u32 = 13;
}

/// Flag of a write-zeroes segment: the device may deallocate.
pub const FLAG_UNMAP: u32 = 1;

/// The answer to a request (§5.2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// `VIRTIO_BLK_S_OK`.
    Ok = 0,
    /// `VIRTIO_BLK_S_IOERR`.
    IoErr = 1,
    /// `VIRTIO_BLK_S_UNSUPP`.
    Unsupp = 2,
}

/// Length of the configuration space.
pub const CONFIG_LEN: usize = 60;

/// The configuration space (§5.2.4) of a disk of `sectors`.
#[must_use]
pub fn config(sectors: u64) -> [u8; CONFIG_LEN] {
    let mut config = [0; CONFIG_LEN];
    let fields: [(usize, u64, usize); 9] = [
        (0, sectors, 8),
        (12, SEG_MAX.into(), 4),
        (20, SECTOR, 4),
        (34, 1, 2), // num_queues
        (36, MAX_RANGE_SECTORS.into(), 4),
        (40, MAX_RANGES.into(), 4),
        (44, 1, 4), // discard_sector_alignment
        (48, MAX_RANGE_SECTORS.into(), 4),
        (52, MAX_RANGES.into(), 4),
    ];
    for (at, value, len) in fields {
        config[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
    }
    // write_zeroes_may_unmap
    config[56] = 1;
    config
}
