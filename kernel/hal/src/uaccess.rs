//! Memory of EL0. Every function may meet a page fault, which may sleep never but takes the address space's lock: so no
//! spin lock that the fault path takes may be held. A fault that cannot be served gives [`Fault`].

use crate::mem::Frame;
use crate::thread::flags;

/// EL0's memory is not there, or not to be accessed so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault;

/// What an attempt to store conditionally gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// Stored.
    Stored,
    /// Another value was there.
    Other(u32),
}

#[cfg(target_os = "none")]
mod target {
    use crate::patch::capability;

    core::arch::global_asm!(
        ".set CAP_PAN, {pan}",
        ".set CAP_LSE, {lse}",
        ".set CAP_MTE, {mte}",
        include_str!("patch/begin.S"),
        include_str!("mem/uaccess.S"),
        include_str!("patch/end.S"),
        pan = const capability::PAN,
        lse = const capability::LSE,
        mte = const capability::MTE,
    );

    unsafe extern "C" {
        pub fn user_read(to: *mut u8, from: u64, len: usize) -> usize;
        pub fn user_write(to: u64, from: *const u8, len: usize) -> usize;
        pub fn user_clear(to: u64, len: usize) -> usize;
        pub fn user_load32(at: u64) -> Pair;
        pub fn user_cas32(at: u64, expected: u32, new: u32) -> Pair;
    }

    #[repr(C)]
    pub struct Pair {
        pub value: u64,
        pub status: u64,
    }
}
#[cfg(target_os = "none")]
use target::*;

#[cfg(not(target_os = "none"))]
use crate::fakes::user::*;

/// May the current thread name its memory by that address? One with a tag is refused, as Linux does, unless it was allowed
/// to pass such (PR_TAGGED_ADDR_ENABLE). Addresses of the kernel fault by themselves.
#[inline]
fn is_named(at: u64) -> bool {
    at >> 56 == 0 || crate::thread::current_flags() & flags::TAGGED_ADDRESSES != 0
}

/// Reads `to.len()` bytes; returns how many could be.
pub fn read_some(to: &mut [u8], from: u64) -> usize {
    if !is_named(from) {
        return 0;
    }
    // SAFETY: the destination is the slice; the source is accessed as EL0 would.
    to.len() - unsafe { user_read(to.as_mut_ptr(), from, to.len()) }
}

/// Reads all of `to`.
pub fn read(to: &mut [u8], from: u64) -> Result<(), Fault> {
    if read_some(to, from) == to.len() { Ok(()) } else { Err(Fault) }
}

/// Writes `from`; returns how many bytes could be.
pub fn write_some(to: u64, from: &[u8]) -> usize {
    if !is_named(to) {
        return 0;
    }
    // SAFETY: the source is the slice; the destination is accessed as EL0 would.
    from.len() - unsafe { user_write(to, from.as_ptr(), from.len()) }
}

/// Writes all of `from`.
pub fn write(to: u64, from: &[u8]) -> Result<(), Fault> {
    if write_some(to, from) == from.len() { Ok(()) } else { Err(Fault) }
}

/// Zeroes `len` bytes.
pub fn clear(to: u64, len: usize) -> Result<(), Fault> {
    // SAFETY: accessed as EL0 would.
    if is_named(to) && unsafe { user_clear(to, len) } == 0 { Ok(()) } else { Err(Fault) }
}

/// Reads a word, at once.
pub fn load32(at: u64) -> Result<u32, Fault> {
    if !is_named(at) {
        return Err(Fault);
    }
    // SAFETY: accessed as EL0 would.
    let pair = unsafe { user_load32(at) };
    if pair.status == 0 { Ok(pair.value as u32) } else { Err(Fault) }
}

/// Stores `new` if `expected` is there, at once. The address must be a multiple of four.
pub fn compare_exchange32(at: u64, expected: u32, new: u32) -> Result<Exchange, Fault> {
    // This one access has the kernel's rights: only EL0's half may be reached. A tag may be in the top byte.
    if at & 3 != 0 || !is_named(at) || at << 8 >> 8 >= crate::mem::layout::USER_END {
        return Err(Fault);
    }
    loop {
        // SAFETY: EL0's half of the address space, with a fixup. A page that EL0 may only read is read-only to the
        // kernel as well.
        let pair = unsafe { user_cas32(at, expected, new) };
        match pair.status {
            0 => return Ok(Exchange::Stored),
            2 => return Ok(Exchange::Other(pair.value as u32)),
            3 => {}
            _ => return Err(Fault),
        }
    }
}

impl Frame {
    /// Fills `len` bytes at `offset` from EL0's memory; returns how many could be. Panics beyond the page's end.
    pub fn fill_from_user(&self, offset: usize, from: u64, len: usize) -> usize {
        assert!(offset <= crate::mem::PAGE_SIZE && len <= crate::mem::PAGE_SIZE - offset);
        if !is_named(from) {
            return 0;
        }
        // SAFETY: within the frame, whose contents nobody refers to.
        len - unsafe { user_read(self.contents().add(offset), from, len) }
    }

    /// Copies `len` bytes at `offset` to EL0's memory; returns how many could be. Panics beyond the page's end.
    pub fn copy_to_user(&self, offset: usize, to: u64, len: usize) -> usize {
        assert!(offset <= crate::mem::PAGE_SIZE && len <= crate::mem::PAGE_SIZE - offset);
        if !is_named(to) {
            return 0;
        }
        // SAFETY: as above.
        len - unsafe { user_write(to, self.contents().add(offset), len) }
    }
}
