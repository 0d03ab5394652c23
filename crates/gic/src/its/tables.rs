//! The ITS's tables in guest memory. Their entries are this implementation's own, 8 bytes each; software only makes room for
//! them and zeroes it (IHI 0069, §5.2). Whatever is in them is checked as it is read.

use bus::GuestMemory;

use super::spec::{ENTRY, EVENT_BITS, baser};

/// Bit 63 of each entry.
const VALID: u64 = 1 << 63;

/// A device's translation table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Where it is; a multiple of 256.
    pub table: u64,
    /// Bits of its EventIDs.
    pub bits: u32,
}

impl Device {
    const SIZE_SHIFT: u32 = 44;

    /// As an entry.
    pub const fn entry(self) -> u64 {
        VALID | (self.bits as u64 - 1) << Self::SIZE_SHIFT | self.table >> 8
    }
    /// From an entry.
    pub fn of(entry: u64) -> Option<Self> {
        let bits = (entry >> Self::SIZE_SHIFT & 0x1f) as u32 + 1;
        let table = (entry & ((1 << Self::SIZE_SHIFT) - 1)) << 8;
        (entry & VALID != 0 && bits <= EVENT_BITS).then_some(Self { table, bits })
    }
    /// Where the entry of `event` is.
    pub fn slot(self, event: u32) -> Option<u64> {
        (u64::from(event) < 1 << self.bits).then(|| self.table + ENTRY * u64::from(event))
    }
}

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its LPI.
    pub intid: u32,
    /// Its collection.
    pub collection: u16,
}

impl Event {
    /// As an entry.
    pub const fn entry(self) -> u64 {
        VALID | (self.collection as u64) << 32 | self.intid as u64
    }
    /// From an entry.
    pub fn of(entry: u64) -> Option<Self> {
        (entry & VALID != 0).then_some(Self { intid: entry as u32, collection: (entry >> 32) as u16 })
    }
}

/// The entry of a collection at PE `pe`.
pub const fn collection(pe: u16) -> u64 {
    VALID | pe as u64
}

/// The PE of a collection, of `pes` there are.
pub fn target(entry: u64, pes: usize) -> Option<usize> {
    let pe = (entry & 0xffff) as usize;
    (entry & VALID != 0 && pe < pes).then_some(pe)
}

/// Where entry `id` of the table that `GITS_BASER<n>` describes is; `None` where the table has no such entry.
pub fn slot(memory: &GuestMemory, baser: u64, id: u32) -> Option<u64> {
    if baser & baser::VALID == 0 {
        return None;
    }
    // Page_Size 3 is reserved, and treated as 2 (§12.19).
    let page: u64 = match baser >> baser::PAGE_SHIFT & 3 {
        0 => 4 << 10,
        1 => 16 << 10,
        _ => 64 << 10,
    };
    let mut address = baser & baser::ADDRESS & !(page - 1);
    if page == 64 << 10 {
        // Bits [15:12] of the register are bits [51:48] of the address.
        address |= (baser >> 12 & 0xf) << 48;
    }
    let (id, bytes) = (u64::from(id), page * ((baser & baser::SIZE) + 1));
    if baser & baser::INDIRECT == 0 {
        return (id < bytes / ENTRY).then(|| address + id * ENTRY);
    }
    let (of_page, in_page) = (id / (page / ENTRY), id % (page / ENTRY));
    if of_page >= bytes / ENTRY {
        return None;
    }
    let first = memory.read_u64(address + of_page * ENTRY)?;
    let table = first & 0xf_ffff_ffff_f000 & !(page - 1);
    (first & VALID != 0).then_some(table + in_page * ENTRY)
}
