//! Translation tables as arrays of atomic descriptors. What descriptors mean is `kcore`'s.

use core::sync::atomic::AtomicU64;

use arch::Pa;

use super::frames::{self, Frame, FrameKind};
use super::layout::linear;

/// One table: 512 descriptors.
pub type Table = [AtomicU64; 512];

/// The table in the frame at `pa`. Panics if no table is there: then tables are corrupt.
#[inline]
pub fn table_at(pa: Pa) -> &'static Table {
    assert!(frames::kind_of(pa) == FrameKind::Table, "no table at {:#x}", pa.0);
    // SAFETY: a Table frame is used for nothing but this, all accesses are atomic, and the linear map is permanent. A
    // table that is freed while a reference is kept would be reused under it: `kcore` frees one only when its address
    // space has gone.
    unsafe { &*linear(pa).cast::<Table>() }
}

/// A new table, empty.
pub fn new_table() -> Option<Frame> {
    Frame::zeroed(FrameKind::Table)
}

/// TTBR0_EL1 := table and ASID; what was there stays in the TLB under its own ASID.
#[cfg(target_os = "none")]
pub fn set_user_table(table: Pa, asid: u16) {
    let value = table.0 | u64::from(asid) << 48;
    // SAFETY: the kernel's own addresses are in TTBR1, and its accesses to EL0's go through `uaccess`.
    unsafe {
        crate::cpu::write_register!("ttbr0_el1", value);
    }
    crate::cpu::isb();
}

/// TTBR0_EL1 := a table without entries, with ASID 0.
#[cfg(target_os = "none")]
pub fn set_no_user_table() {
    set_user_table(crate::boot::empty_table(), 0);
}

#[cfg(not(target_os = "none"))]
pub use crate::fakes::tables::*;

/// Bits of an ASID: 8 or 16.
pub fn asid_bits() -> u32 {
    #[cfg(target_os = "none")]
    {
        if crate::cpu::id_registers().mmfr0 >> 4 & 0xf == 2 { 16 } else { 8 }
    }
    #[cfg(not(target_os = "none"))]
    8
}
