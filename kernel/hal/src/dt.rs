//! What the device tree says that the kernel needs, copied out and checked, without a heap.

use core::fmt;
use core::ops::Range;

use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::standard::NodeStandard;
use dtoolkit::{Node, Property};

use crate::percpu::MAX_CPUS;

/// Most ranges of RAM, and of reservations in it.
pub const MAX_RANGES: usize = 32;
/// Most bytes of the command line.
pub const MAX_BOOTARGS: usize = 2048;
/// Most regions of redistributors.
pub const MAX_GICR: usize = 8;

/// Values in a fixed place.
#[derive(Clone, Debug)]
pub struct Few<T, const N: usize> {
    values: [T; N],
    len: usize,
}

impl<T: Clone, const N: usize> Few<T, N> {
    /// Appends.
    pub fn push(&mut self, value: T) -> Result<(), DtError> {
        *self.values.get_mut(self.len).ok_or(DtError::TooMany)? = value;
        self.len += 1;
        Ok(())
    }
}
impl<T, const N: usize> core::ops::Deref for Few<T, N> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.values[..self.len]
    }
}

/// How firmware is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conduit {
    /// HVC #0
    Hvc,
    /// SMC #0
    Smc,
}

/// What the device tree says. Addresses are physical; ranges are of bytes.
#[derive(Clone, Debug)]
pub struct Board {
    /// RAM.
    pub memory: Few<Range<u64>, MAX_RANGES>,
    /// Parts of RAM that are not the kernel's to use.
    pub reserved: Few<Range<u64>, MAX_RANGES>,
    /// MPIDR affinities of the CPUs, in the tree's order.
    pub cpus: Few<u64, MAX_CPUS>,
    /// GIC distributor.
    pub gicd: Range<u64>,
    /// GIC redistributor regions.
    pub gicr: Few<Range<u64>, MAX_GICR>,
    /// INTIDs of the timers: secure, physical, virtual, hypervisor's.
    pub timers: [u32; 4],
    /// The PL011 of the console, and its INTID.
    pub uart: Option<(Range<u64>, u32)>,
    /// INTID of the PMU's overflow, a PPI.
    pub pmu: Option<u32>,
    /// Absent: no PSCI.
    pub psci: Option<Conduit>,
    /// The initramfs.
    pub initrd: Option<Range<u64>>,
    bootargs: [u8; MAX_BOOTARGS],
    bootargs_len: usize,
    /// Seed for random numbers; zeros where the loader gave none.
    pub seed: [u8; 32],
}

/// Why a device tree does not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DtError {
    /// It does not parse.
    Malformed,
    /// Something the kernel cannot do without is missing or has the wrong form.
    Missing(&'static str),
    /// More of something than there is room for.
    TooMany,
    /// Two of these have something in common: an address, a number.
    Overlap(&'static str, u64),
}

impl fmt::Display for DtError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("the device tree is malformed"),
            Self::Missing(what) => write!(f, "the device tree has no usable {what}"),
            Self::Overlap(what, at) => write!(f, "the device tree has two entries of {what} at {at:#x}"),
            Self::TooMany => f.write_str("the device tree has more entries than the kernel has room for"),
        }
    }
}

impl Board {
    /// The kernel's command line.
    pub fn bootargs(&self) -> &str {
        core::str::from_utf8(&self.bootargs[..self.bootargs_len]).unwrap_or("")
    }

    /// Of an empty tree.
    pub const EMPTY: Self = Self {
        memory: Few { values: [const { 0..0 }; MAX_RANGES], len: 0 },
        reserved: Few { values: [const { 0..0 }; MAX_RANGES], len: 0 },
        cpus: Few { values: [0; MAX_CPUS], len: 0 },
        gicd: 0..0,
        gicr: Few { values: [const { 0..0 }; MAX_GICR], len: 0 },
        timers: [29, 30, 27, 26],
        uart: None,
        pmu: None,
        psci: None,
        initrd: None,
        bootargs: [0; MAX_BOOTARGS],
        bootargs_len: 0,
        seed: [0; 32],
    };

    /// Reads the blob, whose length must be the one in its header.
    pub fn parse(blob: &[u8]) -> Result<Self, DtError> {
        let mut board = Self::EMPTY;
        board.read(blob)?;
        Ok(board)
    }

    /// The same into an empty one. With an error it holds what was read before that.
    pub fn read(&mut self, blob: &[u8]) -> Result<(), DtError> {
        let fdt = Fdt::new(blob).map_err(|_| DtError::Malformed)?;
        let root = fdt.root();
        let board = self;
        // First what messages and power-off need.
        for node in root.children().filter(|node| node.is_compatible("arm,pl011") || Self::is_psci(node)) {
            board.read_device(&node)?;
        }
        for node in root.children() {
            let kind = node.property("device_type").and_then(|property| property.value_as::<&str>().ok());
            match (node.name_without_address(), kind) {
                (_, Some("memory")) => {
                    for range in regs(&node, "reg of memory")? {
                        board.memory.push(range?)?;
                    }
                }
                ("cpus", _) => board.read_cpus(&node)?,
                ("chosen", _) => board.read_chosen(&node)?,
                ("reserved-memory", _) => {
                    for child in node.children().filter(|child| child.property("reg").is_some()) {
                        for range in regs(&child, "reg of reserved memory")? {
                            board.reserved.push(range?)?;
                        }
                    }
                }
                _ => board.read_device(&node)?,
            }
        }
        for reservation in fdt.memory_reservations() {
            board.reserved.push(range_of(reservation.address(), reservation.size())?)?;
        }
        if board.memory.is_empty() {
            return Err(DtError::Missing("memory"));
        }
        if board.cpus.is_empty() {
            return Err(DtError::Missing("cpus"));
        }
        if board.gicd.is_empty() || board.gicr.is_empty() {
            return Err(DtError::Missing("GICv3"));
        }
        board.check()
    }

    fn is_psci(node: &FdtNode) -> bool {
        node.is_compatible("arm,psci-0.2") || node.is_compatible("arm,psci-1.0")
    }

    /// What is there must make sense.
    fn check(&mut self) -> Result<(), DtError> {
        let memory = &mut self.memory;
        memory.values[..memory.len].sort_unstable_by_key(|range| range.start);
        for n in 1..memory.len {
            let before = memory.values[n - 1].clone();
            if memory.values[n].start < before.end {
                return Err(DtError::Overlap("memory", memory.values[n].start));
            }
        }
        for n in 0..self.cpus.len {
            if self.cpus[..n].contains(&self.cpus[n]) {
                return Err(DtError::Overlap("cpu", self.cpus[n]));
            }
        }
        Ok(())
    }

    fn read_cpus(&mut self, node: &FdtNode) -> Result<(), DtError> {
        for child in node.children() {
            let is_cpu = child.property("device_type").and_then(|p| p.value_as::<&str>().ok()) == Some("cpu");
            if !is_cpu {
                continue;
            }
            let reg = child.property("reg").ok_or(DtError::Missing("reg of a cpu"))?;
            let affinity = match *cells(reg.value()) {
                [a] => u64::from(u32::from_be_bytes(a)),
                [a, b] => u64::from(u32::from_be_bytes(a)) << 32 | u64::from(u32::from_be_bytes(b)),
                _ => return Err(DtError::Missing("reg of a cpu")),
            };
            self.cpus.push(affinity)?;
        }
        Ok(())
    }

    fn read_chosen(&mut self, node: &FdtNode) -> Result<(), DtError> {
        if let Some(args) = node.property("bootargs") {
            let text = args.value_as::<&str>().map_err(|_| DtError::Missing("bootargs (no text)"))?;
            let place = self.bootargs.get_mut(..text.len()).ok_or(DtError::TooMany)?;
            place.copy_from_slice(text.as_bytes());
            self.bootargs_len = text.len();
        }
        let number = |name| match *cells(node.property(name)?.value()) {
            [a] => Some(u64::from(u32::from_be_bytes(a))),
            [a, b] => Some(u64::from(u32::from_be_bytes(a)) << 32 | u64::from(u32::from_be_bytes(b))),
            _ => None,
        };
        if let (Some(start), Some(end)) = (number("linux,initrd-start"), number("linux,initrd-end")) {
            if start > end {
                return Err(DtError::Missing("initrd (it ends before it starts)"));
            }
            self.initrd = Some(start..end);
        }
        if let Some(seed) = node.property("rng-seed") {
            for (place, byte) in self.seed.iter_mut().zip(seed.value()) {
                *place = *byte;
            }
        }
        Ok(())
    }

    fn read_device(&mut self, node: &FdtNode) -> Result<(), DtError> {
        if node.is_compatible("arm,gic-v3") {
            for (n, range) in regs(node, "reg of the GIC")?.enumerate() {
                // The distributor; the redistributors; then the CPU interface in memory (GICC, GICH, GICV), not wanted.
                let regions =
                    node.property("#redistributor-regions").and_then(|p| p.value_as::<u32>().ok()).unwrap_or(1);
                if n == 0 {
                    self.gicd = range?;
                } else if n <= regions as usize {
                    self.gicr.push(range?)?;
                }
            }
        } else if node.is_compatible("arm,armv8-timer") {
            let property = node.property("interrupts").ok_or(DtError::Missing("interrupts of the timer"))?;
            let value = property.value();
            let specifiers = cells(value).chunks_exact(3);
            for (timer, specifier) in self.timers.iter_mut().zip(specifiers) {
                *timer = 16 + u32::from_be_bytes(specifier[1]);
            }
        } else if node.is_compatible("arm,pl011") && self.uart.is_none() {
            let registers = regs(node, "reg of the PL011")?.next().ok_or(DtError::Missing("reg of the PL011"))??;
            let spi = node.property("interrupts").and_then(|p| Some(u32::from_be_bytes(*cells(p.value()).get(1)?)));
            self.uart = Some((registers, 32 + spi.unwrap_or(0)));
        } else if node.is_compatible("arm,armv8-pmuv3") {
            // Kind (1: PPI), number, trigger.
            let property = node.property("interrupts");
            self.pmu = property.and_then(|property| match *cells(property.value()) {
                [[0, 0, 0, 1], number, ..] => Some(16 + (u32::from_be_bytes(number) & 15)),
                _ => None,
            });
        } else if Self::is_psci(node) {
            self.psci = match node.property("method").and_then(|p| p.value_as::<&str>().ok()) {
                Some("hvc") => Some(Conduit::Hvc),
                Some("smc") => Some(Conduit::Smc),
                _ => return Err(DtError::Missing("method of PSCI")),
            };
        }
        Ok(())
    }
}

/// The 32-bit big-endian cells; what is left over at the end is not one.
fn cells(bytes: &[u8]) -> &[[u8; 4]] {
    // SAFETY: an array of four bytes has no alignment, and the division rounds down. (`as_chunks` is later than the
    // oldest toolchain that has to do.)
    unsafe { core::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / 4) }
}

fn range_of(start: u64, len: u64) -> Result<Range<u64>, DtError> {
    Ok(start..start.checked_add(len).ok_or(DtError::Missing("range (it wraps)"))?)
}

fn regs<'a>(
    node: &FdtNode<'a>,
    what: &'static str,
) -> Result<impl Iterator<Item = Result<Range<u64>, DtError>> + use<'a>, DtError> {
    let regs = node.reg().map_err(|_| DtError::Missing(what))?.ok_or(DtError::Missing(what))?;
    Ok(regs.map(move |reg| {
        let start = reg.address::<u64>().map_err(|_| DtError::Missing(what))?;
        let len = reg.size::<u64>().map_err(|_| DtError::Missing(what))?;
        range_of(start, len)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn junk_is_refused() {
        assert_eq!(Board::parse(&[]).unwrap_err(), DtError::Malformed);
        assert_eq!(Board::parse(&[0xd0, 0x0d, 0xfe, 0xed, 0, 0, 0, 4]).unwrap_err(), DtError::Malformed);
    }

    /// A tree of a board, small but whole: structure and strings of the Devicetree Specification.
    fn sample() -> std::vec::Vec<u8> {
        let mut structure = std::vec::Vec::new();
        let mut strings = std::vec::Vec::new();
        let begin = |structure: &mut std::vec::Vec<u8>, name: &str| {
            structure.extend(1u32.to_be_bytes());
            structure.extend(name.bytes());
            structure.push(0);
            structure.resize(structure.len().next_multiple_of(4), 0);
        };
        let mut property = |structure: &mut std::vec::Vec<u8>, name: &str, value: &[u8]| {
            for word in [3, value.len() as u32, strings.len() as u32] {
                structure.extend(word.to_be_bytes());
            }
            strings.extend(name.bytes());
            strings.push(0);
            structure.extend(value);
            structure.resize(structure.len().next_multiple_of(4), 0);
        };
        let cells = |cells: &[u32]| cells.iter().flat_map(|cell| cell.to_be_bytes()).collect::<std::vec::Vec<u8>>();
        let end = |structure: &mut std::vec::Vec<u8>| structure.extend(2u32.to_be_bytes());
        let s = &mut structure;
        begin(s, "");
        property(s, "#address-cells", &cells(&[2]));
        property(s, "#size-cells", &cells(&[2]));
        begin(s, "memory@40000000");
        property(s, "device_type", b"memory\0");
        property(s, "reg", &cells(&[0, 0x4000_0000, 0, 0x1000_0000]));
        end(s);
        begin(s, "cpus");
        property(s, "#address-cells", &cells(&[1]));
        property(s, "#size-cells", &cells(&[0]));
        begin(s, "cpu@0");
        property(s, "device_type", b"cpu\0");
        property(s, "reg", &cells(&[0]));
        end(s);
        end(s);
        begin(s, "intc");
        property(s, "compatible", b"arm,gic-v3\0");
        property(s, "reg", &cells(&[0, 0x800_0000, 0, 0x1_0000, 0, 0x80a_0000, 0, 0x2_0000]));
        end(s);
        begin(s, "psci");
        property(s, "compatible", b"arm,psci-1.0\0");
        property(s, "method", b"hvc\0");
        end(s);
        begin(s, "chosen");
        property(s, "bootargs", b"a=b c -- d\0");
        end(s);
        end(s);
        s.extend(9u32.to_be_bytes());
        let structure_at = 56;
        let strings_at = structure_at + structure.len();
        let total = strings_at + strings.len();
        let header = [0xd00d_feed, total, structure_at, strings_at, 40, 17, 16, 0, strings.len(), structure.len()];
        let mut blob: std::vec::Vec<u8> = header.iter().flat_map(|word| (*word as u32).to_be_bytes()).collect();
        blob.extend([0; 16]);
        blob.extend(structure);
        blob.extend(strings);
        blob
    }

    #[test]
    fn a_board_is_read() {
        let board = Board::parse(&sample()).unwrap();
        assert_eq!((board.memory.len(), board.memory[0].clone()), (1, 0x4000_0000..0x5000_0000));
        assert_eq!((&board.cpus[..], board.psci, board.bootargs()), (&[0][..], Some(Conduit::Hvc), "a=b c -- d"));
    }

    /// Whatever a few bytes of it are: no panic, no endless loop, and memory that is in order.
    #[test]
    fn changed_trees_are_read_or_refused() {
        let right = sample();
        let mut state = 1u64;
        let mut next = |limit: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % limit
        };
        let (mut read, mut refused) = (0, 0);
        for _ in 0..20_000 {
            let mut blob = right.clone();
            for _ in 0..=next(4) {
                let at = next(blob.len());
                blob[at] = if next(2) == 0 { next(256) as u8 } else { blob[at] ^ 1 << next(8) };
            }
            if next(8) == 0 {
                blob.truncate(next(blob.len()));
            }
            match Board::parse(&blob) {
                Ok(board) => {
                    read += 1;
                    assert!(board.memory.windows(2).all(|pair| pair[0].end <= pair[1].start));
                    assert!(board.memory.iter().all(|range| range.start <= range.end));
                }
                Err(_) => refused += 1,
            }
        }
        assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
    }
}
