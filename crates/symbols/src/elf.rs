//! Symbols of an ELF.

use arch::Va;
use object::read::elf::ElfFile64;
use object::{LittleEndian, Object, ObjectSymbol, SymbolKind, SymbolScope};

use crate::{Symbol, Symbols, SymbolsError};

pub(crate) fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF")
}

impl Symbols {
    /// Reads the symbol table of a 64-bit little-endian ELF, which may be `vmlinux` or any other program.
    pub fn from_elf(bytes: &[u8]) -> Result<Self, SymbolsError> {
        let file = ElfFile64::<LittleEndian>::parse(bytes).map_err(|error| SymbolsError::Elf(error.to_string()))?;
        let symbols: Symbols = file.symbols().filter_map(|symbol| convert(&symbol)).collect();
        if symbols.is_empty() { Err(SymbolsError::Stripped) } else { Ok(symbols) }
    }
}

fn convert<'a>(symbol: &impl ObjectSymbol<'a>) -> Option<Symbol> {
    let name = symbol.name().ok()?;
    // `$x` and `$d` mark code and data for tools (AAELF64 5.5.4); absolute symbols are numbers, not places.
    if name.is_empty() || name.starts_with('$') || symbol.is_undefined() || symbol.section_index().is_none() {
        return None;
    }
    let kind = match symbol.kind() {
        SymbolKind::Text => b't',
        SymbolKind::Data => b'd',
        SymbolKind::Unknown | SymbolKind::Label => b'n',
        _ => return None,
    };
    let kind = if symbol.scope() == SymbolScope::Compilation { kind } else { kind.to_ascii_uppercase() };
    let size = Some(symbol.size()).filter(|size| *size > 0);
    Some(Symbol { address: Va(symbol.address()), size, kind, name: name.to_owned() })
}
