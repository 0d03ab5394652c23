//! Contents of pages that EL0 may map: copied in and out, never referred to.

use arch::Pa;

use super::PAGE_SIZE;
use super::frames::{self, Frame, FrameKind};
use super::layout::linear;

#[cfg(target_os = "none")]
unsafe extern "C" {
    fn page_clear(at: *mut u8);
    fn page_copy(to: *mut u8, from: *const u8);
}

/// Zeroes the frame at `pa`.
pub(crate) fn clear_page(pa: Pa) {
    // SAFETY: a frame is mapped in the linear map, and nobody refers to its contents (crate rule).
    #[cfg(target_os = "none")]
    unsafe {
        page_clear(linear(pa));
    }
    // SAFETY: as above.
    #[cfg(not(target_os = "none"))]
    unsafe {
        linear(pa).write_bytes(0, PAGE_SIZE);
    }
}

impl Frame {
    /// Fills it with what `from` holds.
    pub fn copy_from(&self, from: &Self) {
        self.assert_user();
        // SAFETY: both are frames of the linear map; a racing store of EL0 gives some mixture, which is EL0's to have.
        #[cfg(target_os = "none")]
        unsafe {
            page_copy(linear(self.pa()), linear(from.pa()));
        }
        // SAFETY: as above.
        #[cfg(not(target_os = "none"))]
        unsafe {
            core::ptr::copy(linear(from.pa()), linear(self.pa()), PAGE_SIZE);
        }
    }

    /// Reads `to.len()` bytes at `offset`. Panics beyond the page's end.
    pub fn read(&self, offset: usize, to: &mut [u8]) {
        self.assert_user();
        assert!(offset <= PAGE_SIZE && to.len() <= PAGE_SIZE - offset);
        // SAFETY: within the frame (checked), and the copy is by the compiler's memcpy, which reads each byte once.
        unsafe { core::ptr::copy_nonoverlapping(linear(self.pa()).add(offset), to.as_mut_ptr(), to.len()) };
    }

    /// Writes `from` at `offset`. Panics beyond the page's end.
    pub fn write(&self, offset: usize, from: &[u8]) {
        self.assert_user();
        assert!(offset <= PAGE_SIZE && from.len() <= PAGE_SIZE - offset);
        // SAFETY: as in `read`.
        unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), linear(self.pa()).add(offset), from.len()) };
    }

    /// Zeroes `len` bytes at `offset`. Panics beyond the page's end.
    pub fn clear(&self, offset: usize, len: usize) {
        self.assert_user();
        assert!(offset <= PAGE_SIZE && len <= PAGE_SIZE - offset);
        // SAFETY: as in `read`.
        unsafe { linear(self.pa()).add(offset).write_bytes(0, len) };
    }

    /// Makes its contents visible to instruction fetches, before it is mapped executable.
    pub fn sync_instructions(&self) {
        crate::cpu::sync_instructions(linear(self.pa()) as usize, PAGE_SIZE);
    }

    /// The address of its contents in the kernel, for [`crate::uaccess`].
    pub(crate) fn contents(&self) -> *mut u8 {
        self.assert_user();
        linear(self.pa())
    }

    fn assert_user(&self) {
        assert!(frames::kind_of(self.pa()) == FrameKind::User, "only EL0's pages are accessed this way");
    }
}
