//! `System.map` and `/proc/kallsyms`: lines of address, type, name.

use arch::Va;

use crate::{Symbol, Symbols, SymbolsError};

/// Does the file look like text of this kind?
pub(crate) fn is_map(bytes: &[u8]) -> bool {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    str::from_utf8(line).is_ok_and(|line| parse_line(line).is_some())
}

fn parse_line(line: &str) -> Option<Symbol> {
    let mut words = line.split_ascii_whitespace();
    let address = u64::from_str_radix(words.next()?, 16).ok()?;
    let [kind] = words.next()?.as_bytes() else { return None };
    let name = words.next()?.to_owned();
    Some(Symbol { address: Va(address), size: None, kind: *kind, name })
}

impl Symbols {
    /// Reads the text of a `System.map` or of `/proc/kallsyms`. Empty lines are skipped, and what follows the name (a module)
    /// is ignored.
    pub fn from_map(bytes: &[u8]) -> Result<Self, SymbolsError> {
        let mut symbols = Vec::new();
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let text = String::from_utf8_lossy(line);
            if text.trim().is_empty() {
                continue;
            }
            let Some(symbol) = parse_line(&text) else {
                return Err(SymbolsError::MapLine { line: index + 1, text: text.chars().take(80).collect() });
            };
            symbols.push(symbol);
        }
        if symbols.is_empty() { Err(SymbolsError::EmptyMap) } else { Ok(symbols.into_iter().collect()) }
    }
}
