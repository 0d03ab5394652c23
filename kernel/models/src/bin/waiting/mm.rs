//! An address space: all words are there.

use crate::errno::Result;

pub const PAGE: u64 = 4096;
pub const USER_END: u64 = 1 << 48;
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code)]
pub enum Sharing {
    Shared,
    Private,
}
#[derive(Debug)]
pub struct Mm;
#[derive(Debug)]
pub struct Vma {
    pub sharing: Sharing,
}
impl Vma {
    #[allow(clippy::unused_self)]
    pub fn source_page(&self, _va: u64) -> Option<(&std::sync::Arc<Mm>, u64)> {
        None
    }
}
#[derive(Debug)]
pub struct Space(Vma);
impl Space {
    #[allow(clippy::unnecessary_wraps)]
    pub fn find(&self, _va: u64) -> Option<&Vma> {
        Some(&self.0)
    }
}
impl Mm {
    #[allow(clippy::unused_self)]
    pub fn lock(&self) -> Space {
        Space(Vma { sharing: Sharing::Private })
    }
    #[allow(clippy::unused_self, clippy::unnecessary_wraps)]
    pub fn fault(&self, _va: u64, _access: Access) -> Result<()> {
        Ok(())
    }
}
