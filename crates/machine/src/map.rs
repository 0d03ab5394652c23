//! Where things are on the board: addresses, interrupts, affinities. They are those of the `virt` board that existing
//! images know. The device tree ([`crate::fdt`]) says the same to the guest.

use core::ops::Range;

/// Most CPUs of a board.
pub const MAX_CPUS: usize = 512;

/// First byte of RAM.
pub const RAM_BASE: u64 = 0x4000_0000;

/// Ticks of the machine's clock a second (`CNTFRQ_EL0`): 1 GHz, as the architecture fixes it from Armv8.6. With one
/// instruction a tick the machine is one of 1000 MIPS.
pub const FREQUENCY: u64 = 1_000_000_000;

/// A window of the address map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// First address.
    pub base: u64,
    /// Length in bytes.
    pub len: u64,
}

impl Window {
    const fn new(base: u64, len: u64) -> Self {
        Self { base, len }
    }
    /// The first address behind it.
    pub const fn end(self) -> u64 {
        self.base + self.len
    }
}

/// Flash memory: one bank of firmware and one for its variables, each of [`pflash::Flash::LEN`] bytes. Only boards that start
/// firmware have them.
pub const FLASH: [Window; 2] = [Window::new(0, pflash::Flash::LEN), Window::new(0x0400_0000, pflash::Flash::LEN)];
/// The GIC's distributor.
pub const GICD: Window = Window::new(0x0800_0000, 0x1_0000);
/// A GICv2's CPU interfaces.
pub const GICC: Window = Window::new(0x0801_0000, 0x1_0000);
/// A GICv2's virtual interface control registers, `GICH_*`. Only boards whose CPUs have EL2 have them, and the next.
pub const GICH: Window = Window::new(0x0803_0000, 0x1_0000);
/// A GICv2's virtual CPU interfaces, `GICV_*`.
pub const GICV: Window = Window::new(0x0804_0000, 0x1_0000);
/// The GIC's ITS: its control and its translation frame.
pub const ITS: Window = Window::new(0x0808_0000, 0x2_0000);
/// Bytes of one redistributor: its RD and its SGI frame.
pub const GICR_STRIDE: u64 = 0x2_0000;
/// Start of the first region of redistributors.
pub const GICR_BASE: u64 = 0x080a_0000;
/// How many redistributors fit between [`GICR_BASE`] and [`UART`].
pub const GICR_FIRST_REGION: usize = 123;
/// Serial port, a PL011.
pub const UART: Window = Window::new(0x0900_0000, 0x1000);
/// Real-time clock, a PL031.
pub const RTC: Window = Window::new(0x0901_0000, 0x1000);
/// The firmware configuration device. Only boards that start firmware have it.
pub const FW_CFG: Window = Window::new(0x0902_0000, fw_cfg::FwCfg::LEN);
/// General purpose inputs, a PL061. The power button is at line [`POWER_BUTTON_LINE`].
pub const GPIO: Window = Window::new(0x0903_0000, 0x1000);
/// The line of [`GPIO`] that is high while the power button is pressed.
pub const POWER_BUTTON_LINE: u8 = 3;
/// How many virtio-mmio transports there are.
pub const VIRTIO_COUNT: usize = 32;
const VIRTIO_BASE: u64 = 0x0a00_0000;
const VIRTIO_STRIDE: u64 = 0x200;

/// The window of virtio-mmio transport `n`, less than [`VIRTIO_COUNT`].
pub const fn virtio(n: usize) -> Window {
    Window::new(VIRTIO_BASE + n as u64 * VIRTIO_STRIDE, VIRTIO_STRIDE)
}

/// INTID of the first shared peripheral interrupt. The numbers below count from it, as the device tree does.
pub const SPI_BASE: u32 = 32;
/// The serial port's SPI.
pub const UART_SPI: u32 = 1;
/// The real-time clock's SPI.
pub const RTC_SPI: u32 = 2;
/// The general purpose inputs' SPI.
pub const GPIO_SPI: u32 = 7;
/// The SPI of the first virtio-mmio transport; the others follow.
pub const VIRTIO_SPI: u32 = 16;

/// INTID of the first private peripheral interrupt. The numbers below count from it, as the device tree does.
pub const PPI_BASE: u32 = 16;
/// The secure physical timer's PPI.
pub const SECURE_TIMER_PPI: u32 = 13;
/// The non-secure EL1 physical timer's PPI.
pub const PHYSICAL_TIMER_PPI: u32 = 14;
/// The virtual timer's PPI.
pub const VIRTUAL_TIMER_PPI: u32 = 11;
/// The EL2 virtual timer's PPI.
pub const HYP_VIRTUAL_TIMER_PPI: u32 = 12;
/// The GIC's maintenance interrupt's PPI.
pub const MAINTENANCE_PPI: u32 = 9;
/// The non-secure EL2 physical timer's PPI.
pub const HYP_TIMER_PPI: u32 = 10;
/// The performance monitors' overflow interrupt.
pub const PMU_PPI: u32 = 7;

/// One contiguous region of redistributors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GicrRegion {
    /// Its window.
    pub window: Window,
    /// The CPUs whose redistributors it holds.
    pub cpus: Range<usize>,
}

/// The regions of redistributors of a board with `cpus` CPUs (1 to [`MAX_CPUS`]) and `memory` bytes of RAM. The second
/// lies above RAM, at 256 GiB or higher.
pub fn gicr_regions(cpus: usize, memory: u64) -> Vec<GicrRegion> {
    let region =
        |base, cpus: Range<usize>| GicrRegion { window: Window::new(base, cpus.len() as u64 * GICR_STRIDE), cpus };
    let mut regions = vec![region(GICR_BASE, 0..cpus.min(GICR_FIRST_REGION))];
    if cpus > GICR_FIRST_REGION {
        const ALIGNMENT: u64 = 64 << 20;
        let above_ram = RAM_BASE.saturating_add(memory).max(256 << 30).next_multiple_of(ALIGNMENT);
        regions.push(region(above_ram, GICR_FIRST_REGION..cpus));
    }
    regions
}

/// The affinity of CPU `index`: Aff0 counts 16 CPUs, because an SGI's target list (ICC_SGI1R_EL1.TargetList) has 16
/// bits; Aff1 counts the clusters of 16.
pub const fn affinity(index: usize) -> u64 {
    ((index as u64 / 16) << 8) | (index as u64 % 16)
}

/// `MPIDR_EL1` of a CPU with this affinity: bit 31 is RES1.
pub const fn mpidr(affinity: u64) -> u64 {
    1 << 31 | affinity
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affinities() {
        assert_eq!([0, 15, 16, 511].map(affinity), [0, 0xf, 0x100, 0x1f0f]);
        assert_eq!(mpidr(affinity(17)), 0x8000_0101);
    }

    #[test]
    fn redistributors_end_before_the_next_device() {
        let regions = gicr_regions(MAX_CPUS, 1 << 30);
        assert!(regions[0].window.end() <= UART.base);
        assert_eq!(regions[1].window, Window::new(256 << 30, 389 * GICR_STRIDE));
        assert_eq!(regions[1].cpus, 123..512);
        assert_eq!(gicr_regions(123, 1 << 30).len(), 1);
    }

    #[test]
    fn the_second_region_lies_above_any_ram() {
        let memory = 512 << 30;
        assert!(gicr_regions(200, memory)[1].window.base >= RAM_BASE + memory);
    }
}
