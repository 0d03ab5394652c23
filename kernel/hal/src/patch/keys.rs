//! Code that is changed while other CPUs may run it.
//!
//! A site is one instruction: NOP while its key is on, a branch over the next one while it is off. Both are among those
//! that may replace each other while another PE executes them (Arm ARM, B2.2.5, concurrent modification and execution of
//! instructions): a PE executes either the old or the new one. Which of them it fetches is certain once the modifying PE
//! has cleaned and invalidated by address to the point of unification with DSBs, and the executing PE has then
//! synchronised its context: that is the caller's part, see [`set`].

/// A key's number.
pub type Key = u32;

#[cfg(target_os = "none")]
mod target {
    use super::Key;
    use crate::mem::layout;

    const NOP: u32 = 0xd503_201f;
    /// B to the instruction after the next.
    const SKIP: u32 = 0x1400_0002;

    /// Is the key on? No memory is read: the answer is in the code.
    #[inline(always)]
    pub fn is_on<const KEY: Key>() -> bool {
        let on: u32;
        // SAFETY: moves between registers, and a line in the table of sites.
        unsafe {
            core::arch::asm!(
                "mov {on:w}, #0", "771:", "b 772f", "mov {on:w}, #1", "772:",
                ".pushsection .patch_sites, \"a\"", ".balign 8", ".8byte 771b, {key}", ".popsection",
                on = out(reg) on, key = const KEY, options(nomem, nostack, preserves_flags));
        }
        on != 0
    }

    #[repr(C)]
    struct Site {
        at: u64,
        key: u64,
    }
    unsafe extern "C" {
        static __patch_sites_start: Site;
        static __patch_sites_end: Site;
    }

    fn sites() -> &'static [Site] {
        let (start, end) = (&raw const __patch_sites_start, &raw const __patch_sites_end);
        // SAFETY: the linker script lays the table between the two symbols.
        unsafe { core::slice::from_raw_parts(start, (end as usize - start as usize) / size_of::<Site>()) }
    }

    /// Switches all sites of a key; returns how many there are. Complete for this CPU. Another executes old or new until it
    /// next synchronises its context (an exception, or ISB): the caller sees to that. One caller at a time.
    pub fn set(key: Key, on: bool) -> usize {
        let word = if on { NOP } else { SKIP };
        let mut count = 0;
        for site in sites().iter().filter(|site| site.key == u64::from(key)) {
            // The image is mapped without a right to write; the linear map has the same memory.
            let alias = layout::linear(crate::boot::image_pa(site.at as *const u8)) as usize;
            // SAFETY: the word of a site, which is an instruction by construction; an aligned store is single-copy atomic.
            unsafe { (alias as *mut u32).write_volatile(word) };
            crate::cpu::sync_patched(alias, site.at as usize);
            count += 1;
        }
        count
    }
}
#[cfg(target_os = "none")]
pub use target::*;

#[cfg(not(target_os = "none"))]
pub use crate::fakes::patch::*;
