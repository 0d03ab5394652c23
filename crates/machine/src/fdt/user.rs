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
    if !has_memory(&tree) {
        add_memory(&mut tree, additions.memory);
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

/// Does a child of the root describe memory? That is one with `device_type = "memory"`.
fn has_memory(tree: &DeviceTree) -> bool {
    let root = &tree.root;
    root.children().any(|child| child.property("device_type").is_some_and(|p| p.value() == b"memory\0"))
}

fn add_memory(tree: &mut DeviceTree, memory: u64) {
    let root = &mut tree.root;
    let cells = |root: &DeviceTreeNode, name: &str, default: u32| {
        root.property(name).and_then(|p| p.value_as::<u32>().ok()).filter(|n| (1..=4).contains(n)).unwrap_or(default)
    };
    // The Devicetree Specification's defaults.
    let address_cells = cells(root, "#address-cells", 2);
    let size_cells = cells(root, "#size-cells", 1);
    let mut reg = encode(map::RAM_BASE, address_cells);
    reg.extend(encode(memory, size_cells));
    let mut node = DeviceTreeNode::new_unchecked(format!("memory@{:x}", map::RAM_BASE));
    node.add_property(DeviceTreeProperty::new_unchecked("device_type", "memory"));
    node.add_property(DeviceTreeProperty::new_unchecked("reg", reg));
    root.add_child(node);
}

/// `value` in `cells` cells; in one, as much as it can say.
fn encode(value: u64, cells: u32) -> Vec<u8> {
    if cells == 1 {
        return u32::try_from(value).unwrap_or(!0xffff).to_be_bytes().to_vec();
    }
    let mut bytes = vec![0; cells as usize * 4 - 8];
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
