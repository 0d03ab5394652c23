//! Names for a guest kernel's addresses.
//!
//! A table of symbols comes from an ELF ([`Symbols::from_elf`]), from the `kallsyms` tables inside a plain arm64
//! Linux Image or guest RAM ([`Symbols::from_kallsyms`]), or from a `System.map` ([`Symbols::from_map`]). It holds
//! the addresses that the kernel was linked at. Where the kernel runs elsewhere (KASLR; the MMU still off), a copy
//! with a [slide](Symbols::with_slide) answers for run-time addresses; [`Symbols::with_vectors_at`] finds the slide
//! from `VBAR_EL1`.
//!
//! Every reader takes any bytes: junk gives an error in bounded time.

mod elf;
mod kallsyms;
mod map;
mod table;
#[cfg(test)]
mod tests;

pub use table::{Location, Symbol, Symbols};

use thiserror::Error;

/// No symbols could be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SymbolsError {
    /// An ELF that does not parse.
    #[error("malformed ELF: {0}")]
    Elf(String),
    /// An ELF without a symbol table (stripped), or one without a single usable symbol.
    #[error("the ELF has no symbols; it is stripped")]
    Stripped,
    /// No `kallsyms` in the bytes: not a kernel, a compressed one, or one built without CONFIG_KALLSYMS.
    #[error("no symbols: neither an ELF nor a System.map, and without the tables of a kernel with CONFIG_KALLSYMS")]
    NoKallsyms,
    /// A line that is not `address type name`.
    #[error("line {line} is not `address type name` as in System.map: {text:?}")]
    MapLine {
        /// The line, from 1.
        line: usize,
        /// What is there, at most 80 characters.
        text: String,
    },
    /// A `System.map` without lines.
    #[error("no symbols in the file")]
    EmptyMap,
}

impl Symbols {
    /// Reads a file of any of the three kinds: an ELF (without a symbol table: its `kallsyms`), text as in
    /// `System.map`, or an arm64 Linux Image.
    pub fn from_file(bytes: &[u8]) -> Result<Self, SymbolsError> {
        if elf::is_elf(bytes) {
            return match Self::from_elf(bytes) {
                Err(SymbolsError::Stripped) => Self::from_kallsyms(bytes).map_err(|_| SymbolsError::Stripped),
                other => other,
            };
        }
        if map::is_map(bytes) { Self::from_map(bytes) } else { Self::from_kallsyms(bytes) }
    }
}
