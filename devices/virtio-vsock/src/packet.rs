//! A packet's header.

use crate::spec::HEADER_LEN;

/// `struct virtio_vsock_hdr` (VIRTIO 1.2, §5.10.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Who sends: a context identifier.
    pub src_cid: u64,
    /// Who is to receive.
    pub dst_cid: u64,
    /// The sender's port.
    pub src_port: u32,
    /// The receiver's port.
    pub dst_port: u32,
    /// Bytes of data behind the header.
    pub len: u32,
    /// The type of socket.
    pub kind: u16,
    /// What the packet is for.
    pub op: u16,
    /// Depends on `op`.
    pub flags: u32,
    /// Bytes that the sender holds for data of this connection.
    pub buf_alloc: u32,
    /// Bytes of this connection that the sender has passed on so far, modulo 2^32.
    pub fwd_cnt: u32,
}

impl Header {
    /// Takes the fields from their bytes.
    #[must_use]
    pub fn parse(bytes: &[u8; HEADER_LEN]) -> Self {
        let field = |at: usize, n: usize| (0..n).rev().fold(0, |v, i| v << 8 | u64::from(bytes[at + i]));
        Self {
            src_cid: field(0, 8),
            dst_cid: field(8, 8),
            src_port: field(16, 4) as u32,
            dst_port: field(20, 4) as u32,
            len: field(24, 4) as u32,
            kind: field(28, 2) as u16,
            op: field(30, 2) as u16,
            flags: field(32, 4) as u32,
            buf_alloc: field(36, 4) as u32,
            fwd_cnt: field(40, 4) as u32,
        }
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> [u8; HEADER_LEN] {
        let Self { src_cid, dst_cid, src_port, dst_port, len, kind, op, flags, buf_alloc, fwd_cnt } = self;
        let mut bytes = [0; HEADER_LEN];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &src_cid.to_le_bytes());
        put(8, &dst_cid.to_le_bytes());
        put(16, &src_port.to_le_bytes());
        put(20, &dst_port.to_le_bytes());
        put(24, &len.to_le_bytes());
        put(28, &kind.to_le_bytes());
        put(30, &op.to_le_bytes());
        put(32, &flags.to_le_bytes());
        put(36, &buf_alloc.to_le_bytes());
        put(40, &fwd_cnt.to_le_bytes());
        bytes
    }
}
