//! Tables made by hand, and junk.

mod elf;
mod kallsyms;

use arch::Va;

use crate::{Symbol, Symbols, SymbolsError};

fn symbol(address: u64, size: Option<u64>, kind: u8, name: &str) -> Symbol {
    Symbol { address: Va(address), size, kind, name: name.to_owned() }
}

const BASE: u64 = 0xffff_8000_0800_0000;

fn linux() -> Symbols {
    [
        symbol(BASE, None, b'T', "_text"),
        symbol(BASE + 0x10000, None, b'T', "_stext"),
        symbol(BASE + 0x10000, None, b't', "do_irq"),
        symbol(BASE + 0x10000, None, b'T', "__irqentry_text_start"),
        symbol(BASE + 0x11800, None, b'T', "vectors"),
        symbol(BASE + 0x13000, None, b'T', "__bp_harden_el1_vectors"),
        symbol(BASE + 0x20000, Some(0x10), b'T', "sized"),
        symbol(BASE + 0x30000, None, b'D', "_end"),
    ]
    .into_iter()
    .collect()
}

fn at(symbols: &Symbols, address: u64) -> Option<String> {
    symbols.lookup(Va(address)).map(|location| location.to_string())
}

#[test]
fn lookup_names_what_covers_an_address() {
    let symbols = linux();
    assert_eq!(at(&symbols, BASE - 1), None);
    assert_eq!(at(&symbols, 0), None);
    assert_eq!(at(&symbols, BASE + 4).as_deref(), Some("_text+0x4/0x10000"));
    assert_eq!(at(&symbols, BASE + 0x10008).as_deref(), Some("do_irq+0x8/0x1800"), "no label of a section");
    assert_eq!(at(&symbols, BASE + 0x2000f).as_deref(), Some("sized+0xf/0x10"));
    assert_eq!(at(&symbols, BASE + 0x20010), None, "behind a symbol of known size");
    assert_eq!(at(&symbols, BASE + 0x30000).as_deref(), Some("_end+0x0/0x1000"));
    assert_eq!(at(&symbols, BASE + 0x31000), None);
    assert_eq!(at(&symbols, u64::MAX), None);
    assert_eq!(at(&Symbols::default(), BASE), None);
}

#[test]
fn a_slide_moves_everything() {
    // Down, as with the MMU still off.
    let slide = 0x4020_0000u64.wrapping_sub(BASE);
    let moved = linux().with_slide(slide);
    assert_eq!(at(&moved, 0x4020_0004).as_deref(), Some("_text+0x4/0x10000"));
    assert_eq!(at(&moved, BASE), None);
    assert_eq!(moved.address("vectors"), Some(Va(0x4021_1800)));
    assert_eq!(moved.iter().next(), Some(("_text", b'T', Va(0x4020_0000))));
    assert_eq!(moved.with_slide(0).address("_text"), Some(Va(BASE)));
}

#[test]
fn vectors_tell_the_slide() {
    let symbols = linux();
    let slide = |vbar: u64| symbols.with_vectors_at(Va(vbar)).map(|moved| moved.slide());
    assert_eq!(slide(BASE + 0x11800), Some(0));
    assert_eq!(slide(BASE + 0x11800 + 0x1234_0000), Some(0x1234_0000));
    // The third copy of the vectors that mitigate Spectre-BHB.
    assert_eq!(slide(BASE + 0x14000 + 0x1234_0000), Some(0x1234_0000));
    assert_eq!(slide(BASE + 0x14800), None, "there are three");
    assert_eq!(slide(0), None);
    // The trampoline's alias in the fixmap, at an offset that would fit.
    assert_eq!(slide(0xffff_fbff_fdf0_1800), None);
    assert_eq!(Symbols::default().with_vectors_at(Va(BASE)).map(|moved| moved.slide()), None);

    // A kernel with 39-bit addresses lies where that fixmap would be, and has its own higher up.
    let android: Symbols = [symbol(0xffff_ffc0_0801_1800, None, b'T', "vectors")].into_iter().collect();
    let slide = |vbar: u64| android.with_vectors_at(Va(vbar)).map(|moved| moved.slide());
    assert_eq!(slide(0xffff_ffd0_0801_1800), Some(0x10_0000_0000));
    assert_eq!(slide(0xffff_fffd_fdf0_1800), None);
}

#[test]
fn maps() {
    let text = b"ffff800008000000 T _text\n\nffff800008010000 t do_irq\t[module]\r\n";
    let symbols = Symbols::from_file(text).expect("a map");
    let all: Vec<_> = symbols.iter().collect();
    assert_eq!(all, [("_text", b'T', Va(BASE)), ("do_irq", b't', Va(BASE + 0x10000))]);

    let broken = Symbols::from_map(b"ffff800008000000 T _text\nffff8000080 hello\n").unwrap_err();
    assert_eq!(broken, SymbolsError::MapLine { line: 2, text: "ffff8000080 hello".into() });
    assert_eq!(Symbols::from_map(b"\n \n").unwrap_err(), SymbolsError::EmptyMap);
    assert_eq!(Symbols::from_map(b"").unwrap_err(), SymbolsError::EmptyMap);
    assert_eq!(Symbols::from_file(b"").unwrap_err(), SymbolsError::NoKallsyms);
}
