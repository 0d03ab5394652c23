//! Pages of two bytes.

use std::sync::{Arc, Mutex};

/// Bytes of a page.
pub const PAGE_SIZE: usize = 2;

/// What a frame is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameKind {
    /// Contents of programs.
    User,
}

/// A share of a page.
#[derive(Clone, Debug)]
pub struct Frame(Arc<Mutex<[u8; PAGE_SIZE]>>);

impl Frame {
    /// A new one.
    pub fn new(_kind: FrameKind) -> Option<Self> {
        Some(Self(Arc::new(Mutex::new([0; PAGE_SIZE]))))
    }
    /// Reads from it.
    pub fn read(&self, offset: usize, to: &mut [u8]) {
        to.copy_from_slice(&self.0.lock().unwrap()[offset..offset + to.len()]);
    }
    /// Writes to it.
    pub fn write(&self, offset: usize, from: &[u8]) {
        self.0.lock().unwrap()[offset..offset + from.len()].copy_from_slice(from);
    }
    /// There are no programs.
    pub fn copy_to_user(&self, _offset: usize, _to: u64, _len: usize) -> usize {
        0
    }
    /// There are no programs.
    pub fn fill_from_user(&self, _offset: usize, _from: u64, _len: usize) -> usize {
        0
    }
}
