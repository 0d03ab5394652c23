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

/// A section's header, but for its name.
#[derive(Default)]
struct Section {
    kind: u32,
    flags: u64,
    address: u64,
    /// Its place in the file; 0: behind the file's header.
    place: u64,
    size: u64,
    link: u32,
    info: u32,
    align: u64,
    /// Bytes of an entry.
    entry: u64,
}

impl Symbols {
    /// An ELF that holds the symbols at their run-time addresses and nothing else: for a debugger, where a kernel is all there
    /// is.
    #[must_use]
    pub fn to_elf(&self) -> Vec<u8> {
        const HEADER: u64 = 64;
        const SYMBOL: u64 = 24;
        const SECTION: u64 = 64;
        let mut strings = vec![0];
        let mut name_at = |name: &str| {
            let at = strings.len() as u32;
            strings.extend(name.bytes().chain([0]));
            at
        };
        let sections = ["", ".text", ".data", ".symtab", ".strtab"].map(&mut name_at);
        // Local symbols come first, as the section header's count of them asks for.
        let (locals, globals): (Vec<_>, Vec<_>) = self.iter().partition(|(_, kind, _)| kind.is_ascii_lowercase());
        let mut table = vec![0; SYMBOL as usize];
        let (mut low, mut high) = (u64::MAX, 0);
        let first_global = locals.len() as u32 + 1;
        for (name, kind, va) in locals.into_iter().chain(globals) {
            let is_code = matches!(kind.to_ascii_lowercase(), b't' | b'w');
            // STB_LOCAL or STB_GLOBAL; STT_FUNC or STT_OBJECT.
            let info = u8::from(kind.is_ascii_uppercase()) << 4 | if is_code { 2 } else { 1 };
            table.extend(name_at(name).to_le_bytes());
            table.extend([info, 0]);
            table.extend(if is_code { 1u16 } else { 2 }.to_le_bytes());
            table.extend(va.0.to_le_bytes());
            table.extend([0; 8]);
            if is_code {
                (low, high) = (low.min(va.0), high.max(va.0.saturating_add(4)));
            }
        }
        let code = low.min(high);
        let strings_at = HEADER + table.len() as u64;
        let sections_at = (strings_at + strings.len() as u64).next_multiple_of(8);
        let mut file = b"\x7fELF\x02\x01\x01".to_vec();
        file.resize(16, 0);
        // ET_EXEC, EM_AARCH64, EV_CURRENT.
        file.extend([2, 0, 183, 0, 1, 0, 0, 0]);
        file.extend([0; 16]);
        file.extend(sections_at.to_le_bytes());
        file.extend([0; 4]);
        for half in [HEADER as u16, 56, 0, SECTION as u16, sections.len() as u16, 4] {
            file.extend(half.to_le_bytes());
        }
        file.extend(&table);
        file.extend(&strings);
        file.resize(sections_at as usize, 0);
        // Nothing of the code is in the file (SHT_NOBITS): a debugger asks the machine.
        let rows = [
            Section::default(),
            Section { kind: 8, flags: 6, address: code, size: high - code, align: 4, ..Section::default() },
            Section { kind: 8, flags: 3, address: high, align: 8, ..Section::default() },
            Section {
                kind: 2,
                size: table.len() as u64,
                link: 4,
                info: first_global,
                align: 8,
                entry: SYMBOL,
                ..Section::default()
            },
            Section { kind: 3, place: strings_at, size: strings.len() as u64, align: 1, ..Section::default() },
        ];
        for (name, row) in sections.into_iter().zip(rows) {
            let place = if row.kind == 0 { 0 } else { row.place.max(HEADER) };
            file.extend(name.to_le_bytes());
            file.extend(row.kind.to_le_bytes());
            for value in [row.flags, row.address, place, row.size] {
                file.extend(value.to_le_bytes());
            }
            file.extend(row.link.to_le_bytes());
            file.extend(row.info.to_le_bytes());
            file.extend(row.align.to_le_bytes());
            file.extend(row.entry.to_le_bytes());
        }
        file
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
