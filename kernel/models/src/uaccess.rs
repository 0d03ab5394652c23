//! Memory of programs: four words, with the order of plain loads.

use core::sync::atomic::{AtomicU32, Ordering};

/// No such word.
#[derive(Clone, Copy, Debug)]
pub struct Fault;

static WORDS: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];

/// The word at an address from 0 on.
pub fn word(address: u64) -> &'static AtomicU32 {
    &WORDS[address as usize / 4]
}

/// Reads a word.
pub fn load32(address: u64) -> Result<u32, Fault> {
    Ok(WORDS.get(address as usize / 4).ok_or(Fault)?.load(Ordering::Relaxed))
}
/// What an attempt to store conditionally gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// Stored.
    Stored,
    /// Another value was there.
    Other(u32),
}
/// Stores `new` if `expected` is there.
pub fn compare_exchange32(address: u64, expected: u32, new: u32) -> Result<Exchange, Fault> {
    let word = WORDS.get(address as usize / 4).ok_or(Fault)?;
    Ok(match word.compare_exchange(expected, new, Ordering::AcqRel, Ordering::Relaxed) {
        Ok(_) => Exchange::Stored,
        Err(other) => Exchange::Other(other),
    })
}
/// Nothing.
pub fn read(_to: &mut [u8], _from: u64) -> Result<(), Fault> {
    Err(Fault)
}
/// Nothing.
pub fn write_some(_to: u64, _bytes: &[u8]) -> usize {
    0
}
/// Nothing.
pub fn read_some(_to: &mut [u8], _from: u64) -> usize {
    0
}
/// Nothing.
pub fn clear(_to: u64, _len: usize) -> Result<(), Fault> {
    Err(Fault)
}
/// Nothing.
pub fn write(_to: u64, _bytes: &[u8]) -> Result<(), Fault> {
    Err(Fault)
}
