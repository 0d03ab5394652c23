//! Alternatives: sequences of instructions that are replaced once, at boot, where the CPUs have a capability (or lack it).
//!
//! Any instruction may be replaced by any other only while no PE executes it (Arm ARM, B2.2.5): so the other CPUs stand
//! still in [`stand_still`], whose code has no alternatives, until all is written and visible to fetches; then each
//! synchronises its context. A CPU that starts later finds the new code in memory, and begins with IC IALLU.
//!
//! A site is a line in the section `.alternatives`: where it is, what replaces it, the condition's number, and both lengths.
//! In assembly files it is made by a macro; in Rust by [`has`].

/// Numbers of capabilities and errata that this crate has alternatives for. `kcore::feature` has them all.
pub mod capability {
    /// FEAT_PAN.
    pub const PAN: u32 = 0;
    /// FEAT_LSE.
    pub const LSE: u32 = 3;
    /// FEAT_MTE2.
    pub const MTE: u32 = 5;
    /// FEAT_PAuth.
    pub const PAUTH: u32 = 9;
    /// FEAT_BTI.
    pub const BTI: u32 = 10;
    /// From here on: errata of any CPU, in the order of `kcore::feature::errata::Erratum`.
    pub const ERRATA: u32 = 64;
    /// Cortex-A57 832075.
    pub const DEVICE_LOAD_ACQUIRE: u32 = ERRATA + 3;
}

/// Condition of an alternative: a capability's number, or with this bit set its absence.
pub const UNLESS: u32 = 1 << 31;

#[cfg(target_os = "none")]
mod target {
    use super::super::relocate::relocate;
    use super::UNLESS;
    use crate::mem::layout;
    use crate::percpu;
    use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    const NOP: u32 = 0xd503_201f;

    /// Has every CPU the capability of that number? False until [`apply_alternatives`]. No memory is read: the answer is in
    /// the code.
    #[inline(always)]
    pub fn has<const CAPABILITY: u32>() -> bool {
        let answer: u32;
        // SAFETY: moves between registers, and a line in the table of alternatives.
        unsafe {
            core::arch::asm!(
                "661:", "mov {answer:w}, #0", "662:",
                ".pushsection .alternative_code, \"a\"", "663:", "mov {answer:w}, #1", "664:", ".popsection",
                ".pushsection .alternatives, \"a\"", ".balign 8", ".8byte 661b, 663b", ".4byte {capability}",
                ".2byte 662b - 661b, 664b - 663b", ".popsection",
                answer = out(reg) answer, capability = const CAPABILITY,
                options(nomem, nostack, preserves_flags));
        }
        answer != 0
    }

    #[repr(C)]
    struct Site {
        at: u64,
        code: u64,
        condition: u32,
        len: u16,
        code_len: u16,
    }
    unsafe extern "C" {
        static __alternatives_start: Site;
        static __alternatives_end: Site;
    }

    fn sites() -> &'static [Site] {
        let (start, end) = (&raw const __alternatives_start, &raw const __alternatives_end);
        // SAFETY: the linker script lays the table between the two symbols.
        unsafe { core::slice::from_raw_parts(start, (end as usize - start as usize) / size_of::<Site>()) }
    }

    static STANDING: AtomicUsize = AtomicUsize::new(0);
    static IS_DONE: AtomicBool = AtomicBool::new(false);

    /// What the other CPUs execute until [`apply_alternatives`] has ended.
    pub fn stand_still() {
        STANDING.fetch_add(1, Ordering::AcqRel);
        while !IS_DONE.load(Ordering::Acquire) {
            core::hint::spin_loop();
        }
        // What was fetched before is not executed any more.
        crate::cpu::isb();
    }

    /// How many CPUs are in [`stand_still`], or were.
    pub fn standing() -> usize {
        STANDING.load(Ordering::Acquire)
    }

    /// Replaces the sites whose condition `is_met` says is met; once. Returns how many sites there are. Panics unless all
    /// other CPUs stand still, and for a site that is no sound one.
    pub fn apply_alternatives(is_met: impl Fn(u32) -> bool) -> usize {
        assert_eq!(standing() + 1, percpu::count(), "all CPUs but one stand still");
        assert!(!IS_DONE.load(Ordering::Relaxed), "alternatives are chosen once");
        for site in sites() {
            if is_met(site.condition & !UNLESS) == (site.condition & UNLESS == 0) {
                replace(site);
            }
        }
        crate::cpu::isb();
        IS_DONE.store(true, Ordering::Release);
        sites().len()
    }

    fn replace(site: &Site) {
        let (len, code_len) = (u64::from(site.len), u64::from(site.code_len));
        let is_sound = len % 4 == 0 && code_len % 4 == 0 && code_len <= len && site.at % 4 == 0;
        assert!(is_sound, "the alternative at {:#x} has {code_len} bytes for {len}", site.at);
        for offset in (0..len).step_by(4) {
            let word = if offset < code_len {
                let from = site.code + offset;
                // SAFETY: a word of the section of replacements, which is read-only data.
                let word = unsafe { (from as *const u32).read() };
                relocate(word, from, site.at + offset, site.code, code_len)
                    .unwrap_or_else(|why| panic!("the alternative at {:#x}: {why:?}", site.at))
            } else {
                NOP
            };
            let at = site.at + offset;
            // The image is mapped without a right to write; the linear map has the same memory.
            let alias = layout::linear(crate::boot::image_pa(at as *const u8)) as usize;
            // SAFETY: a word of a site, which nobody executes: the other CPUs stand still, and this code has no sites.
            unsafe { (alias as *mut u32).write_volatile(word) };
            crate::cpu::sync_patched(alias, at as usize);
            // SAFETY: a word of the image's code, by the address that it is executed at.
            assert_eq!(unsafe { (at as *const u32).read_volatile() }, word, "the alternative at {at:#x} is not there");
        }
    }
}
#[cfg(target_os = "none")]
pub use target::*;

#[cfg(not(target_os = "none"))]
pub use crate::fakes::alternative::*;
