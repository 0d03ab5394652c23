//! Physical memory: frames, their contents, the kernel's heap, translation tables and the TLB.

mod cache;
mod contents;
use contents::clear_page;
pub mod frames;
mod heap;
pub mod layout;
pub mod stacks;
mod tables;
pub mod tlb;

pub use frames::{Census, Frame, FrameKind, census, free_count, has_room, is_low, total_count};
pub use tables::*;

/// log2 of the granule.
pub const PAGE_SHIFT: u32 = 12;
/// Bytes of a page.
pub const PAGE_SIZE: usize = 1 << PAGE_SHIFT;
