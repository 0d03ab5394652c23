//! GICv3: distributor, this CPU's redistributor, system-register interface. All interrupts are Group 1.

#[cfg(target_os = "none")]
use core::sync::atomic::{AtomicUsize, Ordering};

/// Why the GIC does not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GicError {
    /// No redistributor has this CPU's affinity.
    NoRedistributor,
    /// The system registers cannot be enabled.
    NoSystemRegisters,
}

/// INTIDs from here on mean that nothing is pending.
pub const SPECIAL: u32 = 1020;

#[cfg(target_os = "none")]
mod target {
    use super::*;
    use crate::cpu::{read_register, write_register};
    use crate::mem::layout::DEVICES;
    use crate::mmio::{read32 as read, read64, write32 as write, write64};
    use crate::percpu::{self, PerCpu};

    const GICD_CTLR: usize = 0x0;
    const GICD_TYPER: usize = 0x4;
    const GICD_IGROUPR: usize = 0x80;
    const GICD_ISENABLER: usize = 0x100;
    const GICD_ICENABLER: usize = 0x180;
    const GICD_IPRIORITYR: usize = 0x400;
    const GICD_IROUTER: usize = 0x6000;
    const GICR_TYPER: usize = 0x8;
    const GICR_WAKER: usize = 0x14;
    const SGI_BASE: usize = 0x1_0000;
    const RWP: u32 = 1 << 31;
    const PRIORITY: u32 = 0xa0a0_a0a0;

    static GICD: AtomicUsize = AtomicUsize::new(0);

    /// The distributor at that physical address: everything off, Group 1, affinity routing.
    pub(crate) fn init(gicd: u64) {
        let base = DEVICES + gicd as usize;
        GICD.store(base, Ordering::Relaxed);
        write(base + GICD_CTLR, 0);
        while read(base + GICD_CTLR) & RWP != 0 {}
        let lines = (read(base + GICD_TYPER) & 0x1f) as usize + 1;
        for n in 1..lines {
            write(base + GICD_ICENABLER + 4 * n, u32::MAX);
            write(base + GICD_IGROUPR + 4 * n, u32::MAX);
            for m in 0..8 {
                write(base + GICD_IPRIORITYR + 32 * n + 4 * m, PRIORITY);
            }
        }
        while read(base + GICD_CTLR) & RWP != 0 {}
        write(base + GICD_CTLR, 1 << 4 | 1 << 1 | 1); // ARE_NS, EnableGrp1(A), EnableGrp0/1
    }

    /// Finds and wakes this CPU's redistributor, and opens the CPU interface.
    pub(crate) fn init_cpu(this: &PerCpu, regions: &[core::ops::Range<u64>]) -> Result<(), GicError> {
        let rd = find(this.affinity.load(Ordering::Relaxed), regions).ok_or(GicError::NoRedistributor)?;
        this.redistributor.store(rd as u64, Ordering::Relaxed);
        write(rd + GICR_WAKER, read(rd + GICR_WAKER) & !2); // ProcessorSleep
        while read(rd + GICR_WAKER) & 4 != 0 {} // ChildrenAsleep
        let sgi = rd + SGI_BASE;
        write(sgi + GICD_ICENABLER, u32::MAX);
        write(sgi + GICD_IGROUPR, u32::MAX);
        for m in 0..8 {
            write(sgi + GICD_IPRIORITYR + 4 * m, PRIORITY);
        }
        while read(rd) & 1 << 3 != 0 {} // GICR_CTLR.RWP
        // ICC_SRE_EL1, PMR, BPR1, CTLR, IGRPEN1
        // SAFETY: the CPU interface's registers; interrupts are masked.
        unsafe {
            write_register!("S3_0_C12_C12_5", read_register!("S3_0_C12_C12_5") | 1);
            crate::cpu::isb();
            if read_register!("S3_0_C12_C12_5") & 1 == 0 {
                return Err(GicError::NoSystemRegisters);
            }
            write_register!("S3_0_C4_C6_0", 0xf0u64);
            write_register!("S3_0_C12_C12_3", 0u64);
            write_register!("S3_0_C12_C12_4", 0u64);
            write_register!("S3_0_C12_C12_7", 1u64);
        }
        crate::cpu::isb();
        write(sgi + GICD_ISENABLER, 0xffff); // SGIs
        Ok(())
    }

    fn find(affinity: u64, regions: &[core::ops::Range<u64>]) -> Option<usize> {
        // GICR_TYPER.Affinity_Value has Aff3 beside Aff2.
        let wanted = affinity & 0xff_ffff | (affinity >> 32 & 0xff) << 24;
        for region in regions {
            let mut at = region.start;
            while at + 0x2_0000 <= region.end {
                let rd = DEVICES + at as usize;
                let typer = read64(rd + GICR_TYPER);
                if typer >> 32 == wanted {
                    return Some(rd);
                }
                if typer & 1 << 4 != 0 {
                    break; // Last
                }
                // VLPIS: two more frames.
                at += if typer & 2 != 0 { 0x4_0000 } else { 0x2_0000 };
            }
        }
        None
    }

    /// Enables an interrupt: a PPI of this CPU, or an SPI, which is routed to this CPU.
    pub fn enable(intid: u32) {
        let (n, bit) = (intid as usize / 32, 1 << (intid % 32));
        if n == 0 {
            let rd = percpu::this().redistributor.load(Ordering::Relaxed) as usize;
            write(rd + SGI_BASE + GICD_ISENABLER, bit);
        } else {
            let base = GICD.load(Ordering::Relaxed);
            let affinity = percpu::this().affinity.load(Ordering::Relaxed);
            write64(base + GICD_IROUTER + 8 * intid as usize, affinity);
            write(base + GICD_ISENABLER + 4 * n, bit);
        }
    }

    /// Acknowledges: the INTID to be served, or one from [`SPECIAL`] on.
    #[inline]
    pub fn acknowledge() -> u32 {
        let intid = read_register!("S3_0_C12_C12_0") as u32; // ICC_IAR1_EL1
        // SAFETY: a barrier: the acknowledge is before what the handler does.
        unsafe { core::arch::asm!("dsb sy", options(nostack, preserves_flags)) };
        intid
    }

    /// Served.
    #[inline]
    pub fn end(intid: u32) {
        // SAFETY: ICC_EOIR1_EL1 of an INTID that was acknowledged.
        unsafe { write_register!("S3_0_C12_C12_1", u64::from(intid)) };
        crate::cpu::isb();
    }

    /// Sends SGI `sgi` (0 to 15) to the CPU of that number.
    pub fn send(sgi: u32, cpu: usize) {
        let Some(target) = percpu::of(cpu) else { return };
        let affinity = target.affinity.load(Ordering::Relaxed);
        let aff = |n: u32| affinity >> n & 0xff;
        // ICC_SGI1R_EL1: Aff3 55:48, RS 47:44, Aff2 39:32, INTID 27:24, Aff1 23:16, TargetList 15:0
        let value = aff(32) << 48
            | (aff(0) >> 4) << 44
            | aff(16) << 32
            | u64::from(sgi) << 24
            | aff(8) << 16
            | 1 << (aff(0) & 15);
        // SAFETY: earlier stores are visible before the interrupt is.
        unsafe {
            core::arch::asm!("dsb ishst", options(nostack, preserves_flags));
            write_register!("S3_0_C12_C11_5", value);
        }
        crate::cpu::isb();
    }
}
#[cfg(target_os = "none")]
pub use target::*;

#[cfg(not(target_os = "none"))]
pub use crate::fakes::gic::*;
