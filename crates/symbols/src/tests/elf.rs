//! ELFs made by hand.

use arch::Va;
use proptest::prelude::*;

use crate::{Symbols, SymbolsError};

const TEXT: u16 = 1;

/// `st_info`, `st_shndx`, value, size, name.
type ElfSymbol = (u8, u16, u64, u64, &'static str);

/// STB_GLOBAL or STB_LOCAL with STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_SECTION.
const GLOBAL_FUNC: u8 = 0x12;
const LOCAL_FUNC: u8 = 0x02;
const LOCAL_NOTYPE: u8 = 0x00;
const GLOBAL_NOTYPE: u8 = 0x10;
const LOCAL_OBJECT: u8 = 0x01;
const SECTION: u8 = 0x03;
const SHN_ABS: u16 = 0xfff1;
const SHN_UNDEF: u16 = 0;

const SYMBOLS: [ElfSymbol; 9] = [
    (GLOBAL_FUNC, TEXT, 0x1000, 0x20, "start"),
    (LOCAL_FUNC, TEXT, 0x1020, 0, "helper"),
    (LOCAL_NOTYPE, TEXT, 0x1030, 0, "label"),
    (GLOBAL_NOTYPE, TEXT, 0x1040, 0, "vectors"),
    (LOCAL_OBJECT, TEXT, 0x1050, 8, "data"),
    (LOCAL_NOTYPE, TEXT, 0x1000, 0, "$x.5"),
    (SECTION, TEXT, 0x1000, 0, ""),
    (GLOBAL_NOTYPE, SHN_ABS, 0x1010, 0, "number"),
    (GLOBAL_NOTYPE, SHN_UNDEF, 0, 0, "elsewhere"),
];

/// An executable with a .text (empty), and `symbols` in its symbol table.
fn elf(symbols: &[ElfSymbol]) -> Vec<u8> {
    let mut strings = vec![0];
    let mut table = vec![0u8; 24];
    for (info, section, value, size, name) in symbols {
        table.extend((strings.len() as u32).to_le_bytes());
        table.extend([*info, 0]);
        table.extend(section.to_le_bytes());
        table.extend(value.to_le_bytes());
        table.extend(size.to_le_bytes());
        strings.extend(name.bytes());
        strings.push(0);
    }
    // ELF header, .symtab, .strtab, section headers.
    let table_at = 64u64;
    let strings_at = table_at + table.len() as u64;
    let headers_at = (strings_at + strings.len() as u64).next_multiple_of(8);
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    file.extend([2, 0, 183, 0, 1, 0, 0, 0]); // ET_EXEC, EM_AARCH64
    file.extend([0; 16]);
    file.extend(headers_at.to_le_bytes());
    file.extend([0; 4]);
    for half in [64u16, 56, 0, 64, 4, 3] {
        file.extend(half.to_le_bytes());
    }
    file.extend(&table);
    file.extend(&strings);
    file.resize(headers_at as usize, 0);
    let mut section = |kind: u32, offset: u64, size: usize, link: u32, entry: u64| {
        file.extend([0; 4]);
        file.extend(kind.to_le_bytes());
        file.extend([0; 16]);
        file.extend(offset.to_le_bytes());
        file.extend((size as u64).to_le_bytes());
        file.extend(link.to_le_bytes());
        file.extend([0; 12]);
        file.extend(entry.to_le_bytes());
    };
    section(0, 0, 0, 0, 0);
    section(1, 64, 0, 0, 0);
    section(2, table_at, table.len(), 3, 24);
    section(3, strings_at, strings.len(), 0, 0);
    file
}

#[test]
fn symbols_of_an_elf() {
    let symbols = Symbols::from_file(&elf(&SYMBOLS)).expect("symbols");
    let all: Vec<_> = symbols.iter().map(|(name, kind, va)| (name, kind as char, va.0)).collect();
    assert_eq!(
        all,
        [
            ("start", 'T', 0x1000),
            ("helper", 't', 0x1020),
            ("label", 'n', 0x1030),
            ("vectors", 'N', 0x1040),
            ("data", 'd', 0x1050),
        ]
    );
    assert_eq!(symbols.lookup(Va(0x1010)).map(|l| l.size), Some(0x20));
    assert_eq!(symbols.lookup(Va(0x1024)).map(|l| l.size), Some(0x10));
}

#[test]
fn a_stripped_elf_says_so() {
    assert_eq!(Symbols::from_file(&elf(&[])).unwrap_err(), SymbolsError::Stripped);
}

proptest! {
    #[test]
    fn broken_elfs_end_in_an_error_or_symbols(at in 0usize..600, value: u8, len in 0usize..700) {
        let mut file = elf(&SYMBOLS);
        let len = len.min(file.len());
        let at = at % file.len();
        file[at] = value;
        // Whatever is read lies in the file's tables.
        for file in [&file[..], &file[..len]] {
            if let Ok(symbols) = Symbols::from_file(file) {
                prop_assert!(symbols.len() <= file.len() / 24);
            }
        }
    }
}

#[test]
fn an_elf_of_symbols_has_them_all() {
    let symbols = Symbols::from_map(b"ffff800008000000 T _text\nffff800008000040 t local\nffff800009000000 D state\n");
    let symbols = symbols.expect("symbols").with_slide(0x10000);
    let back = Symbols::from_elf(&symbols.to_elf()).expect("an ELF");
    let all = |symbols: &Symbols| symbols.iter().map(|(n, k, a)| (n.to_owned(), k, a)).collect::<Vec<_>>();
    assert_eq!(all(&back), all(&symbols));
    assert_eq!(all(&back)[1], ("local".to_owned(), b't', Va(0xffff_8000_0801_0040)));
    assert!(matches!(Symbols::from_elf(&Symbols::default().to_elf()), Err(SymbolsError::Stripped)));
}
