//! The device tree: the one that describes this board, and the user's own, completed.

use core::ops::Range;

use dtoolkit::ToPropertyValue;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};

use crate::config::{Controller, GicVersion, Presence};
use crate::entropy::Entropy;
use crate::map::{self, Window};
use crate::topology::Topology;

mod user;

#[cfg(test)]
mod tests;

pub use user::{Additions, DtbError, complete, dump};

/// Largest device tree that an arm64 kernel takes, in bytes (Linux's booting.rst).
pub const MAX_DTB: u64 = 2 << 20;

/// Frequency of the clock that feeds the serial port and the real-time clock, in Hz.
pub const APB_CLOCK_HZ: u32 = 24_000_000;

/// Is EL2 there? Firmware is then called by SMC, and the GIC has a maintenance interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hypervisor {
    /// EL1 is the highest level.
    Absent,
    /// EL2 is the highest level.
    Present,
}

/// Do the CPUs have performance monitors?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Monitors {
    /// Not all.
    Absent,
    /// All.
    Present,
}

/// Who starts the kernel?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Firmware {
    /// The machine: nothing of firmware is there but what it answers by PSCI.
    StoodInFor,
    /// Firmware in flash memory, with its configuration device.
    Started,
}

/// What a generated device tree says.
#[derive(Clone, Debug)]
pub struct Description<'a> {
    /// Preset of the CPUs, such as `cortex-a57`.
    pub preset: &'a str,
    /// Number of CPUs, 1 to [`map::MAX_CPUS`].
    pub cpus: usize,
    /// RAM in bytes, from [`map::RAM_BASE`].
    pub memory: u64,
    /// Which CPUs and what memory are near each other.
    pub topology: &'a Topology,
    /// Kernel command line.
    pub bootargs: &'a str,
    /// Where the initial RAM disk is, in physical addresses.
    pub initrd: Option<Range<u64>>,
    /// What there is above EL1.
    pub hypervisor: Hypervisor,
    /// Performance monitors.
    pub monitors: Monitors,
    /// Firmware.
    pub firmware: Firmware,
    /// The interrupt controller.
    pub controller: Controller,
    /// The machine's seed, from which `rng-seed` and `kaslr-seed` follow.
    pub seed: u64,
}

/// Interrupt specifiers of the GIC's bindings: type, number, flags.
const SPI: u32 = 0;
const PPI: u32 = 1;
const LEVEL_HIGH: u32 = 4;

/// Handles that nodes refer to each other by.
const PHANDLE_GIC: u32 = 1;
const PHANDLE_CLOCK: u32 = 2;
const PHANDLE_GPIO: u32 = 3;
const PHANDLE_ITS: u32 = 4;
/// That of CPU 0; the others follow.
const PHANDLE_CPUS: u32 = 0x100;

/// The property that says which NUMA node something is in.
const NODE_ID: &str = "numa-node-id";

/// What the power button is to Linux (input-event-codes.h).
const KEY_POWER: u32 = 116;

/// A node under construction.
struct Builder(DeviceTreeNode);

impl Builder {
    /// Names here are literals and addresses in hexadecimal; the tests parse them back with names checked.
    fn new(name: impl Into<String>) -> Self {
        Self(DeviceTreeNode::new_unchecked(name))
    }
    fn at(name: &str, window: Window) -> Self {
        Self::new(format!("{name}@{:x}", window.base)).set("reg", cells64(&[window.base, window.len]))
    }
    fn set(mut self, name: &str, value: impl ToPropertyValue) -> Self {
        self.0.add_property(DeviceTreeProperty::new_unchecked(name, value));
        self
    }
    fn flag(self, name: &str) -> Self {
        self.set(name, Vec::<u8>::new())
    }
    fn strings(self, name: &str, values: &[&str]) -> Self {
        self.set(name, values)
    }
    fn spi(self, number: u32) -> Self {
        self.set("interrupts", [SPI, number, LEVEL_HIGH])
    }
    fn child(mut self, child: Self) -> Self {
        self.0.add_child(child.0);
        self
    }
}

/// 32-bit values as cells.
fn cells32(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

/// 64-bit values as pairs of cells.
fn cells64(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

/// The device tree of the board, as a blob.
pub fn generate(description: &Description) -> Vec<u8> {
    let mut root = Builder::new("")
        .set("interrupt-parent", PHANDLE_GIC)
        .set("#address-cells", 2u32)
        .set("#size-cells", 2u32)
        .set("compatible", "linux,dummy-virt")
        .set("model", "linux,dummy-virt")
        .flag("dma-coherent")
        .child(chosen(description))
        .child(Builder::new("aliases").set("serial0", serial_path()))
        .child(cpus(description))
        .child(
            Builder::new("psci")
                .strings("compatible", &["arm,psci-1.0", "arm,psci-0.2", "arm,psci"])
                .set("method", if description.hypervisor == Hypervisor::Present { "smc" } else { "hvc" }),
        )
        .child(gic(description))
        .child(timer(description))
        .child(
            Builder::new("apb-pclk")
                .set("compatible", "fixed-clock")
                .set("#clock-cells", 0u32)
                .set("clock-frequency", APB_CLOCK_HZ)
                .set("clock-output-names", "clk24mhz")
                .set("phandle", PHANDLE_CLOCK),
        )
        .child(
            Builder::at("pl011", map::UART)
                .strings("compatible", &["arm,pl011", "arm,primecell"])
                .spi(map::UART_SPI)
                .set("clocks", [PHANDLE_CLOCK, PHANDLE_CLOCK])
                .strings("clock-names", &["uartclk", "apb_pclk"]),
        )
        .child(
            Builder::at("pl031", map::RTC)
                .strings("compatible", &["arm,pl031", "arm,primecell"])
                .spi(map::RTC_SPI)
                .set("clocks", PHANDLE_CLOCK)
                .set("clock-names", "apb_pclk"),
        );
    for node in memory(description) {
        root = root.child(node);
    }
    root = root.child(gpio()).child(
        Builder::new("gpio-keys").set("compatible", "gpio-keys").child(
            Builder::new("poweroff")
                .set("label", "GPIO Key Poweroff")
                .set("linux,code", KEY_POWER)
                .set("gpios", [PHANDLE_GPIO, map::POWER_BUTTON_LINE.into(), 0]),
        ),
    );
    if description.monitors == Monitors::Present {
        let overflow = [PPI, map::PMU_PPI, ppi_flags(description)];
        root = root.child(Builder::new("pmu").set("compatible", "arm,armv8-pmuv3").set("interrupts", overflow));
    }
    for n in 0..map::VIRTIO_COUNT {
        root = root.child(
            Builder::at("virtio_mmio", map::virtio(n))
                .set("compatible", "virtio,mmio")
                .spi(map::VIRTIO_SPI + n as u32)
                .flag("dma-coherent"),
        );
    }
    if description.firmware == Firmware::Started {
        root = root
            .child(flash())
            .child(Builder::at("fw-cfg", map::FW_CFG).set("compatible", "qemu,fw-cfg-mmio").flag("dma-coherent"));
    }
    let mut tree = DeviceTree::new();
    tree.root = root.0;
    tree.to_dtb()
}

fn serial_path() -> String {
    format!("/pl011@{:x}", map::UART.base)
}

fn chosen(description: &Description) -> Builder {
    let mut node = Builder::new("chosen")
        .set("stdout-path", serial_path())
        .set("rng-seed", Entropy::new(description.seed, "rng-seed").bytes::<32>())
        .set("kaslr-seed", Entropy::new(description.seed, "kaslr-seed").next_u64());
    if !description.bootargs.is_empty() {
        node = node.set("bootargs", description.bootargs);
    }
    if let Some(initrd) = &description.initrd {
        node = node.set("linux,initrd-start", initrd.start).set("linux,initrd-end", initrd.end);
    }
    node
}

fn cpus(description: &Description) -> Builder {
    // Bindings exist for the names of Arm's own cores; for the rest there is the generic one.
    let own = ["cortex-", "neoverse-"].iter().any(|family| description.preset.starts_with(family));
    let compatible = if own { format!("arm,{}", description.preset) } else { "arm,armv8".to_owned() };
    let mut cpus = Builder::new("cpus").set("#address-cells", 1u32).set("#size-cells", 0u32);
    for index in 0..description.cpus {
        // One cell is enough: affinity does not go beyond Aff2.
        let affinity = description.topology.affinity(index, description.cpus) as u32;
        let mut cpu = Builder::new(format!("cpu@{affinity:x}"))
            .set("device_type", "cpu")
            .set("compatible", compatible.as_str())
            .set("reg", affinity);
        // A board with one CPU has PSCI too, for power-off; the binding asks for the method wherever PSCI starts CPUs.
        cpu = cpu.set("enable-method", "psci");
        if let Some(node) = description.topology.node_of(index) {
            cpu = cpu.set(NODE_ID, node as u32);
        }
        if description.topology.shape.is_some() {
            cpu = cpu.set("phandle", PHANDLE_CPUS + index as u32);
        }
        cpus = cpus.child(cpu);
    }
    if description.topology.shape.is_some() { cpus.child(cpu_map(description)) } else { cpus }
}

/// Sockets, clusters and cores (the binding cpu-topology). CPUs come in the order of their places.
fn cpu_map(description: &Description) -> Builder {
    let mut map = Builder::new("cpu-map");
    let (mut socket, mut cluster) = (Builder::new("socket0"), Builder::new("cluster0"));
    let mut at = (0, 0);
    for index in 0..description.cpus {
        let Some((s, c, core)) = description.topology.place(index, description.cpus) else { continue };
        if (s, c) != at {
            socket = socket.child(std::mem::replace(&mut cluster, Builder::new(format!("cluster{c}"))));
        }
        if s != at.0 {
            map = map.child(std::mem::replace(&mut socket, Builder::new(format!("socket{s}"))));
        }
        at = (s, c);
        cluster = cluster.child(Builder::new(format!("core{core}")).set("cpu", PHANDLE_CPUS + index as u32));
    }
    map.child(socket.child(cluster))
}

/// The memory, node by node, and how far the nodes are from each other (the binding numa).
fn memory(description: &Description) -> Vec<Builder> {
    let nodes = &description.topology.nodes;
    let part = |base, len| Builder::at("memory", Window { base, len }).set("device_type", "memory");
    if nodes.is_empty() {
        return vec![part(map::RAM_BASE, description.memory)];
    }
    let mut base = map::RAM_BASE;
    let mut all = Vec::new();
    for (id, node) in nodes.iter().enumerate() {
        all.push(part(base, node.memory).set(NODE_ID, id as u32));
        base += node.memory;
    }
    let mut matrix = Vec::new();
    for a in 0..nodes.len() {
        for b in 0..nodes.len() {
            matrix.extend([a as u32, b as u32, description.topology.distance(a, b).into()]);
        }
    }
    let distances = Builder::new("distance-map").set("compatible", "numa-distance-map-v1");
    all.push(distances.set("distance-matrix", cells32(&matrix)));
    all
}

/// The flags of a PPI. A GICv2's have the CPUs that have it, as a mask.
fn ppi_flags(description: &Description) -> u32 {
    match description.controller.version {
        GicVersion::V2 => LEVEL_HIGH | ((1u32 << description.cpus) - 1) << 8,
        GicVersion::V3 => LEVEL_HIGH,
    }
}

fn gic(description: &Description) -> Builder {
    let intc = match description.controller.version {
        GicVersion::V2 => gic_v2(description),
        GicVersion::V3 => gic_v3(description),
    };
    intc.set("#interrupt-cells", 3u32)
        .flag("interrupt-controller")
        .set("#address-cells", 2u32)
        .set("#size-cells", 2u32)
        .flag("ranges")
        .set("phandle", PHANDLE_GIC)
}

fn gic_v2(description: &Description) -> Builder {
    let intc = Builder::new(format!("intc@{:x}", map::GICD.base)).set("compatible", "arm,cortex-a15-gic");
    let windows = [map::GICD, map::GICC, map::GICH, map::GICV].map(|window| [window.base, window.len]);
    match description.hypervisor {
        Hypervisor::Present => intc
            .set("reg", cells64(windows.as_flattened()))
            .set("interrupts", [PPI, map::MAINTENANCE_PPI, ppi_flags(description)]),
        Hypervisor::Absent => intc.set("reg", cells64(windows[..2].as_flattened())),
    }
}

fn gic_v3(description: &Description) -> Builder {
    let regions = map::gicr_regions(description.cpus, description.memory);
    let mut reg = vec![map::GICD.base, map::GICD.len];
    reg.extend(regions.iter().flat_map(|region| [region.window.base, region.window.len]));
    let intc = Builder::new(format!("intc@{:x}", map::GICD.base));
    let intc = match description.hypervisor {
        Hypervisor::Present => intc.set("interrupts", [PPI, map::MAINTENANCE_PPI, LEVEL_HIGH]),
        Hypervisor::Absent => intc,
    };
    let intc = match description.controller.its {
        Presence::Present => intc.child(its()),
        Presence::Absent => intc,
    };
    intc.set("compatible", "arm,gic-v3").set("reg", cells64(&reg)).set("#redistributor-regions", regions.len() as u32)
}

fn its() -> Builder {
    Builder::at("its", map::ITS)
        .set("compatible", "arm,gic-v3-its")
        .flag("msi-controller")
        .set("#msi-cells", 1u32)
        .set("phandle", PHANDLE_ITS)
}

/// Both banks as one device; a bank's word has 4 bytes.
fn flash() -> Builder {
    let banks: Vec<u64> = map::FLASH.iter().flat_map(|bank| [bank.base, bank.len]).collect();
    Builder::new(format!("flash@{:x}", map::FLASH[0].base))
        .set("compatible", "cfi-flash")
        .set("reg", cells64(&banks))
        .set("bank-width", pflash::spec::WORD as u32)
}

fn gpio() -> Builder {
    Builder::at("pl061", map::GPIO)
        .strings("compatible", &["arm,pl061", "arm,primecell"])
        .spi(map::GPIO_SPI)
        .set("clocks", PHANDLE_CLOCK)
        .set("clock-names", "apb_pclk")
        .flag("gpio-controller")
        .set("#gpio-cells", 2u32)
        .flag("interrupt-controller")
        .set("#interrupt-cells", 2u32)
        .set("phandle", PHANDLE_GPIO)
}

fn timer(description: &Description) -> Builder {
    let mut timers = vec![map::SECURE_TIMER_PPI, map::PHYSICAL_TIMER_PPI, map::VIRTUAL_TIMER_PPI, map::HYP_TIMER_PPI];
    if description.hypervisor == Hypervisor::Present {
        timers.push(map::HYP_VIRTUAL_TIMER_PPI);
    }
    let interrupts: Vec<u32> = timers.iter().flat_map(|ppi| [PPI, *ppi, ppi_flags(description)]).collect();
    Builder::new("timer")
        .strings("compatible", &["arm,armv8-timer", "arm,armv7-timer"])
        .flag("always-on")
        .set("interrupts", interrupts)
}
