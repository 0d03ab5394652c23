//! A device tree from outside: checked, then completed with what the command line says.

use core::ops::Range;

use dtoolkit::fdt::Fdt;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::{Node, Property, ToPropertyValue};
use thiserror::Error;

use super::MAX_DTB;
use crate::map;

/// Nodes nested deeper than this are refused: no tree of hardware is, and everything that walks a tree recurses.
const MAX_DEPTH: usize = 64;

/// A blob is no device tree that can be handed to a guest.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum DtbError {
    /// It does not start as one.
    #[error("not a device tree blob: it starts with {0:#010x}, not 0xd00dfeed; compile sources with dtc -O dtb")]
    Magic(u32),
    /// Shorter than its header.
    #[error("truncated: {0} bytes are less than a device tree's header (40 bytes)")]
    NoHeader(usize),
    /// Shorter than it says.
    #[error("truncated: its header says {totalsize} bytes, there are {actual}")]
    Truncated {
        /// `totalsize` of the header.
        totalsize: u32,
        /// Bytes there are.
        actual: usize,
    },
    /// Larger than a kernel takes.
    #[error("{0} bytes; a kernel takes a device tree of at most {MAX_DTB} bytes (2 MiB)")]
    TooLarge(u64),
    /// Nodes in nodes in nodes.
    #[error("nodes are nested more than {MAX_DEPTH} deep")]
    TooDeep,
    /// Numbers that no address or size has.
    #[error("{name} of the root is {found}; 1 to 4 cells make an address or a size")]
    Cells {
        /// `#address-cells` or `#size-cells`.
        name: &'static str,
        /// What it is.
        found: String,
    },
    /// Memory that is not told by whole addresses and sizes.
    #[error(
        "reg of {node} has {bytes} bytes, which is not a multiple of {entry}, an address and a size by the root's cells"
    )]
    MemoryReg {
        /// The node.
        node: String,
        /// Bytes of its property.
        bytes: usize,
        /// Bytes of an address and a size.
        entry: usize,
    },
    /// Memory that is not there.
    #[error(
        "{node} has {len:#x} bytes at {start:#x}, but RAM is {base:#x} to {end:#x}; change it, or give --memory",
        base = map::RAM_BASE
    )]
    MemoryOutsideRam {
        /// The node.
        node: String,
        /// Where it says memory begins.
        start: u128,
        /// How long it says that it is.
        len: u128,
        /// Where RAM ends.
        end: u64,
    },
    /// Anything else.
    #[error("malformed device tree: {0}")]
    Malformed(String),
}

/// What the command line says about a boot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Additions<'a> {
    /// Kernel command line; `None` leaves the tree's own.
    pub bootargs: Option<&'a str>,
    /// Where the initial RAM disk is, in physical addresses; `None` leaves what the tree says.
    pub initrd: Option<Range<u64>>,
    /// RAM in bytes, for a tree that says nothing of memory.
    pub memory: u64,
}

/// Checks `blob` and parses it.
fn parse(blob: &[u8]) -> Result<DeviceTree, DtbError> {
    let blob = checked(blob)?;
    let fdt = Fdt::new(blob).map_err(|error| DtbError::Malformed(error.to_string()))?;
    if depth(blob) > MAX_DEPTH {
        return Err(DtbError::TooDeep);
    }
    Ok(DeviceTree::from_fdt(&fdt))
}

/// `blob` without what follows the tree, if its header may be believed.
fn checked(blob: &[u8]) -> Result<&[u8], DtbError> {
    let word = |at: usize| Some(u32::from_be_bytes(blob.get(at..at + 4)?.try_into().ok()?));
    let (Some(magic), Some(totalsize)) = (word(0), word(4)) else { return Err(DtbError::NoHeader(blob.len())) };
    if magic != 0xd00d_feed {
        return Err(DtbError::Magic(magic));
    }
    if blob.len() < 40 {
        return Err(DtbError::NoHeader(blob.len()));
    }
    if u64::from(totalsize) > MAX_DTB {
        return Err(DtbError::TooLarge(totalsize.into()));
    }
    blob.get(..totalsize as usize).ok_or(DtbError::Truncated { totalsize, actual: blob.len() })
}

/// The depth of the deepest node of a tree that the parser has accepted.
fn depth(blob: &[u8]) -> usize {
    let word = |at: usize| Some(u32::from_be_bytes(blob.get(at..at.checked_add(4)?)?.try_into().ok()?));
    let (mut at, mut here, mut deepest) = (word(8).unwrap_or(0) as usize, 0usize, 0);
    while let Some(token) = word(at) {
        at += 4;
        match token {
            // FDT_BEGIN_NODE: a name follows, ended by zero and padded.
            1 => {
                here += 1;
                deepest = deepest.max(here);
                let name = blob[at..].iter().position(|b| *b == 0).unwrap_or(0);
                at = (at + name + 1).next_multiple_of(4);
            }
            // FDT_END_NODE.
            2 => here = here.saturating_sub(1),
            // FDT_PROP: length, name, value, padded.
            3 => at = (at + 8 + word(at).unwrap_or(0) as usize).next_multiple_of(4),
            // FDT_NOP.
            4 => {}
            _ => break,
        }
    }
    deepest
}

fn set(node: &mut DeviceTreeNode, name: &str, value: impl ToPropertyValue) {
    match node.property_mut(name) {
        Some(property) => property.set_value(value),
        None => node.add_property(DeviceTreeProperty::new_unchecked(name, value)),
    }
}

/// Checks the user's device tree `blob` and puts `additions` into it. All else stays as the user wrote it.
pub fn complete(blob: &[u8], additions: &Additions) -> Result<Vec<u8>, DtbError> {
    let mut tree = parse(blob)?;
    let cells = Cells::of(&tree.root)?;
    if !check_memory(&tree.root, cells, map::RAM_BASE + additions.memory)? {
        add_memory(&mut tree, cells, additions.memory);
    }
    if tree.root.child_mut("chosen").is_none() {
        tree.root.add_child(DeviceTreeNode::new_unchecked("chosen"));
    }
    if let Some(chosen) = tree.root.child_mut("chosen") {
        if let Some(bootargs) = additions.bootargs {
            set(chosen, "bootargs", bootargs);
        }
        if let Some(initrd) = &additions.initrd {
            set(chosen, "linux,initrd-start", initrd.start);
            set(chosen, "linux,initrd-end", initrd.end);
        }
    }
    let blob = tree.to_dtb();
    if blob.len() as u64 > MAX_DTB {
        return Err(DtbError::TooLarge(blob.len() as u64));
    }
    Ok(blob)
}

/// How many words of 32 bits the root's children have for an address and for a size.
#[derive(Clone, Copy)]
struct Cells {
    address: usize,
    size: usize,
}

impl Cells {
    /// With the Devicetree Specification's defaults.
    fn of(root: &DeviceTreeNode) -> Result<Self, DtbError> {
        let cells = |name: &'static str, default| {
            let Some(property) = root.property(name) else { return Ok(default) };
            match property.value_as::<u32>() {
                Ok(count @ 1..=4) => Ok(count as usize),
                Ok(other) => Err(DtbError::Cells { name, found: other.to_string() }),
                Err(_) => Err(DtbError::Cells { name, found: format!("{} bytes long", property.value().len()) }),
            }
        };
        Ok(Self { address: cells("#address-cells", 2)?, size: cells("#size-cells", 1)? })
    }
}

/// Does a child of the root describe memory (that is one with `device_type = "memory"`)? What it describes must be in RAM,
/// which ends at `end`: a kernel dies of it before it can say so.
fn check_memory(root: &DeviceTreeNode, cells: Cells, end: u64) -> Result<bool, DtbError> {
    let text = |node: &DeviceTreeNode, name, text: &[u8]| node.property(name).is_some_and(|p| p.value() == text);
    let mut found = false;
    for node in root.children().filter(|node| text(node, "device_type", b"memory\0")) {
        found = true;
        // Such as memory of the Secure state.
        let is_off =
            node.property("status").is_some() && !text(node, "status", b"okay\0") && !text(node, "status", b"ok\0");
        let Some(reg) = node.property("reg").filter(|_| !is_off) else { continue };
        let (reg, entry) = (reg.value(), 4 * (cells.address + cells.size));
        let name = || node.name().to_owned();
        if !reg.len().is_multiple_of(entry) {
            return Err(DtbError::MemoryReg { node: name(), bytes: reg.len(), entry });
        }
        for entry in reg.chunks(entry) {
            let number = |bytes: &[u8]| bytes.iter().fold(0, |value, byte| value << 8 | u128::from(*byte));
            let (address, size) = entry.split_at(4 * cells.address);
            let (start, len) = (number(address), number(size));
            let is_there = start >= map::RAM_BASE.into() && start.saturating_add(len) <= end.into();
            if len != 0 && !is_there {
                return Err(DtbError::MemoryOutsideRam { node: name(), start, len, end });
            }
        }
    }
    Ok(found)
}

fn add_memory(tree: &mut DeviceTree, cells: Cells, memory: u64) {
    let mut reg = encode(map::RAM_BASE, cells.address);
    reg.extend(encode(memory, cells.size));
    let mut node = DeviceTreeNode::new_unchecked(format!("memory@{:x}", map::RAM_BASE));
    node.add_property(DeviceTreeProperty::new_unchecked("device_type", "memory"));
    node.add_property(DeviceTreeProperty::new_unchecked("reg", reg));
    tree.root.add_child(node);
}

/// `value` in `cells` cells; in one, as much as it can say.
fn encode(value: u64, cells: usize) -> Vec<u8> {
    if cells == 1 {
        return u32::try_from(value).unwrap_or(!0xffff).to_be_bytes().to_vec();
    }
    let mut bytes = vec![0; cells * 4 - 8];
    bytes.extend(value.to_be_bytes());
    bytes
}

/// The source text of a device tree blob.
pub fn dump(blob: &[u8]) -> Result<String, DtbError> {
    let blob = checked(blob)?;
    let fdt = Fdt::new(blob).map_err(|error| DtbError::Malformed(error.to_string()))?;
    if depth(blob) > MAX_DEPTH {
        return Err(DtbError::TooDeep);
    }
    Ok(fdt.to_string())
}
