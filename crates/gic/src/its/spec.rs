//! The ITS's frames, tables and commands as data (IHI 0069, §5.3 and §12.18).

use crate::spec::{Access, Block, Width, block};
use Access::{Ro, Rw, Wo};
use Width::{HalfWord, Word, WordDouble};

/// Size of the ITS's two frames in bytes: control and translation.
pub const LEN: u64 = 0x2_0000;

/// The ITS's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reg {
    /// `GITS_CTLR`.
    Ctlr,
    /// `GITS_IIDR`.
    Iidr,
    /// `GITS_TYPER`.
    Typer,
    /// `GITS_CBASER`.
    Cbaser,
    /// `GITS_CWRITER`.
    Cwriter,
    /// `GITS_CREADR`.
    Creadr,
    /// `GITS_BASER<n>`.
    Baser,
    /// Identification registers.
    Id,
    /// `GITS_TRANSLATER`, in the second frame.
    Translater,
}

/// Both frames.
pub const FRAMES: &[Block<Reg>] = &[
    block(0x0000, 4, Reg::Ctlr, Rw, Word),
    block(0x0004, 4, Reg::Iidr, Ro, Word),
    block(0x0008, 8, Reg::Typer, Ro, WordDouble),
    block(0x0080, 8, Reg::Cbaser, Rw, WordDouble),
    block(0x0088, 8, Reg::Cwriter, Rw, WordDouble),
    block(0x0090, 8, Reg::Creadr, Ro, WordDouble),
    block(0x0100, 0x40, Reg::Baser, Rw, WordDouble),
    block(0xffd0, 0x30, Reg::Id, Ro, Word),
    block(0x1_0040, 4, Reg::Translater, Wo, HalfWord),
];

/// PIDR0.
pub const PIDR0: u32 = 0x94;

/// `GITS_CTLR`.
pub mod ctlr {
    /// `Enabled`.
    pub const ENABLED: u64 = 1;
    /// `Quiescent`.
    pub const QUIESCENT: u64 = 1 << 31;
}

/// Bits of a DeviceID, of an EventID and of a collection's number.
pub const DEVICE_BITS: u32 = 16;
/// Likewise.
pub const EVENT_BITS: u32 = 16;
/// Likewise.
pub const COLLECTION_BITS: u32 = 16;

/// Size in bytes of an entry of any table: device, collection, translation.
pub const ENTRY: u64 = 8;

/// `GITS_TYPER`: physical LPIs; the sizes above; collections in memory, as many as `CIDbits` says (`CIL`); targets are
/// numbers of PEs (`PTA` is 0).
pub const TYPER: u64 = 1
    | (ENTRY - 1) << 4
    | (EVENT_BITS as u64 - 1) << 8
    | (DEVICE_BITS as u64 - 1) << 13
    | (COLLECTION_BITS as u64 - 1) << 32
    | 1 << 36;

/// `GITS_CBASER`.
pub mod cbaser {
    /// `Valid`.
    pub const VALID: u64 = 1 << 63;
    /// The address, bits \[51:12\].
    pub const ADDRESS: u64 = 0xf_ffff_ffff_f000;
    /// `Size`: pages of 4 KiB, less one.
    pub const SIZE: u64 = 0xff;
    /// All fields: with the attributes of memory, which mean nothing here.
    pub const FIELDS: u64 = VALID | 7 << 59 | 7 << 53 | ADDRESS | 3 << 10 | SIZE;
}

/// `GITS_CWRITER` and `GITS_CREADR`.
pub mod queue {
    /// `Offset`, bits \[19:5\].
    pub const OFFSET: u64 = 0xf_ffe0;
    /// `Retry` of the one, `Stalled` of the other.
    pub const RETRY: u64 = 1;
    /// Bytes of a command.
    pub const COMMAND: u64 = 32;
}

/// `GITS_BASER<n>`.
pub mod baser {
    /// `Valid`.
    pub const VALID: u64 = 1 << 63;
    /// `Indirect`: two levels.
    pub const INDIRECT: u64 = 1 << 62;
    /// The address, bits \[47:12\], as with pages of up to 16 KiB.
    pub const ADDRESS: u64 = 0xffff_ffff_f000;
    /// Position of `Page_Size`.
    pub const PAGE_SHIFT: u32 = 8;
    /// `Size`: pages, less one.
    pub const SIZE: u64 = 0xff;
    /// What software can write: with the attributes of memory, which mean nothing here.
    pub const WRITABLE: u64 = VALID | INDIRECT | 7 << 59 | 7 << 53 | ADDRESS | 3 << 10 | 3 << PAGE_SHIFT | SIZE;
    /// `Type` of `GITS_BASER0`, a device table, and `GITS_BASER1`, a collection table, with `Entry_Size`.
    pub const FIXED: [u64; 2] = [1 << 56 | (super::ENTRY - 1) << 48, 4 << 56 | (super::ENTRY - 1) << 48];
}

/// Numbers of the commands (§5.3).
pub mod command {
    /// Moves an event to another collection.
    pub const MOVI: u8 = 0x01;
    /// Makes an event's LPI pending.
    pub const INT: u8 = 0x03;
    /// Clears its pending state.
    pub const CLEAR: u8 = 0x04;
    /// Waits for a redistributor.
    pub const SYNC: u8 = 0x05;
    /// Maps a device to its translation table.
    pub const MAPD: u8 = 0x08;
    /// Maps a collection to a redistributor.
    pub const MAPC: u8 = 0x09;
    /// Maps an event to an LPI and a collection.
    pub const MAPTI: u8 = 0x0a;
    /// The same with the event's own number as the LPI's.
    pub const MAPI: u8 = 0x0b;
    /// An LPI's configuration has changed.
    pub const INV: u8 = 0x0c;
    /// The configuration of a collection's LPIs has changed.
    pub const INVALL: u8 = 0x0d;
    /// Moves what is pending at one redistributor to another.
    pub const MOVALL: u8 = 0x0e;
    /// Unmaps an event.
    pub const DISCARD: u8 = 0x0f;
}
