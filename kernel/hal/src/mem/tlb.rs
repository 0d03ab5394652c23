//! TLB invalidations, broadcast to the inner shareable domain and complete on return. Under FEAT_VHE with TGE the EL1
//! names act on the EL2&0 regime.

/// VA bits [55:12] of an operand, with the ASID above.
#[cfg(target_os = "none")]
fn operand(asid: u16, va: u64) -> u64 {
    u64::from(asid) << 48 | va >> 12 & 0xfff_ffff_ffff
}

/// Everything that EL0's part of `asid` has: TLBI ASIDE1IS.
pub fn asid(asid: u16) {
    #[cfg(target_os = "none")]
    // SAFETY: an invalidation.
    unsafe {
        core::arch::asm!("dsb ishst", "tlbi aside1is, {}", "dsb ish", in(reg) u64::from(asid) << 48, options(nostack));
    }
    #[cfg(not(target_os = "none"))]
    crate::fakes::tlb(asid);
}

/// The page at `va`, last level only: TLBI VALE1IS.
pub fn page(asid: u16, va: u64) {
    #[cfg(target_os = "none")]
    // SAFETY: an invalidation.
    unsafe {
        core::arch::asm!("dsb ishst", "tlbi vale1is, {}", "dsb ish", in(reg) operand(asid, va), options(nostack));
    }
    #[cfg(not(target_os = "none"))]
    crate::fakes::tlb_page(asid, va);
}

/// The page at `va` on this CPU alone, for a fault that may be stale: TLBI VALE1.
pub fn page_local(asid: u16, va: u64) {
    #[cfg(target_os = "none")]
    // SAFETY: an invalidation.
    unsafe {
        core::arch::asm!("dsb nshst", "tlbi vale1, {}", "dsb nsh", in(reg) operand(asid, va), options(nostack));
    }
    #[cfg(not(target_os = "none"))]
    crate::fakes::tlb_page(asid, va);
}

/// What an invalidation took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// TLBI instructions.
    pub tlbis: u64,
    /// DSB instructions.
    pub dsbs: u64,
}

/// `pages` pages from `va`, last level only; beyond a bound the whole ASID.
pub fn range(asid: u16, va: u64, pages: usize) -> Cost {
    const BOUND: usize = 64;
    if pages > BOUND {
        self::asid(asid);
        return Cost { tlbis: 1, dsbs: 2 };
    }
    #[cfg(target_os = "none")]
    // SAFETY: invalidations between their barriers.
    unsafe {
        core::arch::asm!("dsb ishst", options(nostack));
        for page in 0..pages as u64 {
            core::arch::asm!("tlbi vale1is, {}", in(reg) operand(asid, va + (page << 12)), options(nostack));
        }
        core::arch::asm!("dsb ish", options(nostack));
    }
    #[cfg(not(target_os = "none"))]
    for page in 0..pages as u64 {
        crate::fakes::tlb_page(asid, va + (page << 12));
    }
    Cost { tlbis: pages as u64, dsbs: 2 }
}

/// Pages of the kernel's half, last level only: TLBI VAALE1IS.
#[cfg(target_os = "none")]
pub(crate) fn kernel_pages(va: usize, pages: usize) {
    // SAFETY: invalidations between their barriers.
    unsafe {
        core::arch::asm!("dsb ishst", options(nostack));
        for page in 0..pages {
            core::arch::asm!("tlbi vaale1is, {}", in(reg) operand(0, (va + (page << 12)) as u64), options(nostack));
        }
        core::arch::asm!("dsb ish", "isb", options(nostack));
    }
}

/// All of this CPU's entries of the regime: TLBI VMALLE1.
pub fn all_local() {
    #[cfg(target_os = "none")]
    // SAFETY: an invalidation.
    unsafe {
        core::arch::asm!("dsb nshst", "tlbi vmalle1", "dsb nsh", "isb", options(nostack));
    }
}

/// All entries of the regime on all CPUs: TLBI VMALLE1IS.
pub fn all() {
    #[cfg(target_os = "none")]
    // SAFETY: an invalidation.
    unsafe {
        core::arch::asm!("dsb ishst", "tlbi vmalle1is", "dsb ish", "isb", options(nostack));
    }
}
