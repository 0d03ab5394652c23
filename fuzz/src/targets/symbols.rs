//! What `--vmlinux` names, and the kernel's own tables in an Image or in RAM.

use arch::Va;
use symbols::Symbols;

use crate::Target;

pub const TARGET: Target = Target { name: "symbols", run, seeds };

fn run(bytes: &[u8]) {
    let all =
        [Symbols::from_file(bytes), Symbols::from_map(bytes), Symbols::from_elf(bytes), Symbols::from_kallsyms(bytes)];
    for symbols in all {
        match symbols {
            Err(error) => assert!(!error.to_string().is_empty()),
            Ok(symbols) => ask(&symbols),
        }
    }
}

/// What the tool asks of a table.
fn ask(symbols: &Symbols) {
    let names: Vec<_> = symbols.iter().take(16).map(|(name, _, va)| (name.to_owned(), va)).collect();
    for (name, va) in &names {
        let _ = symbols.address(name);
        for near in [va.0, va.0.wrapping_sub(1), va.0.wrapping_add(1)] {
            let _ = symbols.lookup(Va(near)).map(|place| place.to_string());
        }
        let moved = symbols.with_slide(va.0).with_vectors_at(*va);
        let _ = moved.map(|moved| moved.lookup(*va).map(|place| place.to_string()));
    }
    let _ = symbols.lookup(Va(u64::MAX));
    let _ = symbols.lookup(Va(0));
}

fn seeds() -> Vec<Vec<u8>> {
    let map = b"ffff800080000000 T _text\nffff800080000800 t vectors\nffff800080001000 D data\n".to_vec();
    let mut elf = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xb7\0\x01\0\0\0".to_vec();
    elf.resize(64, 0);
    elf[40] = 64;
    elf[52..64].copy_from_slice(&[64, 0, 56, 0, 0, 0, 64, 0, 3, 0, 0, 0]);
    // Sections: none, symbols, their names.
    let section = |kind: u32, at: u64, len: u64, link: u32, entry: u64| {
        let mut bytes = vec![0; 64];
        bytes[4..8].copy_from_slice(&kind.to_le_bytes());
        bytes[24..32].copy_from_slice(&at.to_le_bytes());
        bytes[32..40].copy_from_slice(&len.to_le_bytes());
        bytes[40..44].copy_from_slice(&link.to_le_bytes());
        bytes[56..64].copy_from_slice(&entry.to_le_bytes());
        bytes
    };
    elf.extend(section(0, 0, 0, 0, 0));
    elf.extend(section(2, 256, 48, 2, 24));
    elf.extend(section(3, 304, 6, 0, 0));
    elf.resize(256 + 24, 0);
    elf.extend(1u32.to_le_bytes());
    elf.extend([0x12, 0, 1, 0]);
    elf.extend(0xffff_8000_8000_0000u64.to_le_bytes());
    elf.extend(64u64.to_le_bytes());
    elf.extend(b"\0text\0");
    vec![map, elf]
}
