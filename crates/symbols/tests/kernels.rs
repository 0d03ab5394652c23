//! The kernels of `cargo xtask guests`, as many as are there. `cargo xtask test` and `cargo xtask boots` run these
//! tests, after they have fetched what they need.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Instant;

use arch::Va;
use vambrace_symbols::Symbols;

/// Directory of guests: as in xtask.
fn guests() -> PathBuf {
    std::env::var_os("VAMBRACE_GUESTS")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.vambrace/guests")), PathBuf::from)
}

fn images() -> Vec<(String, Vec<u8>)> {
    let directory = guests();
    let entries = std::fs::read_dir(&directory)
        .unwrap_or_else(|error| panic!("{}: {error}; run `cargo xtask guests`", directory.display()));
    let images: Vec<_> = entries
        .filter_map(|entry| {
            let entry = entry.expect("a directory entry");
            let image = std::fs::read(entry.path().join("Image")).ok()?;
            Some((entry.file_name().to_string_lossy().into_owned(), image))
        })
        .collect();
    assert!(!images.is_empty(), "no Image below {}; run `cargo xtask guests`", directory.display());
    images
}

#[test]
#[ignore = "needs the kernels of `cargo xtask guests`"]
fn symbols_of_debian_kernels() {
    for (kernel, image) in images() {
        let started = Instant::now();
        let symbols = Symbols::from_file(&image).unwrap_or_else(|error| panic!("{kernel}: {error}"));
        let elapsed = started.elapsed();
        assert!((30_000..1_000_000).contains(&symbols.len()), "{kernel}: {} symbols", symbols.len());

        let address = |name: &str| symbols.address(name);
        let known = |name: &str| address(name).unwrap_or_else(|| panic!("{kernel}: no {name}"));
        // Without CONFIG_KALLSYMS_ALL (5.10, 6.1) the table begins at _stext, 64 KiB from the start.
        let start = address("_text").unwrap_or_else(|| Va(known("_stext").0 - 0x10000));
        assert!(start.0 >= 0xffff_8000_0000_0000 && start.0.is_multiple_of(0x20_0000), "{kernel}: starts at {start}");
        for name in ["start_kernel", "schedule", "panic", "do_el0_svc"] {
            assert!(known(name).0 - start.0 < image.len() as u64, "{kernel}: {name} at {}", known(name));
        }
        assert!(address("emulate_mrs").or(address("try_emulate_mrs")).is_some(), "{kernel}: no emulate_mrs");
        let vectors = known("vectors");
        assert!(vectors.0.is_multiple_of(0x800), "{kernel}: vectors at {vectors}");

        // The first instruction of the vectors' current-EL-with-SP_ELx entry is no NOP and no zero: the place is code.
        let word = |va: Va| {
            let at = (va.0 - start.0) as usize;
            u32::from_le_bytes(image[at..at + 4].try_into().expect("four bytes"))
        };
        // SUB SP, SP, #size of pt_regs (whose low bits grew over time).
        assert_eq!(word(vectors.add(0x200)) & 0xffc0_03ff, 0xd100_03ff, "{kernel}");

        let mut times: HashMap<&str, u32> = HashMap::new();
        for (name, kind, _) in symbols.iter() {
            assert!(kind.is_ascii_alphabetic(), "{kernel}: {name} is of kind {kind}");
            assert!(!name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic()), "{kernel}: {name:?}");
            if kind.eq_ignore_ascii_case(&b't') {
                *times.entry(name).or_default() += 1;
            }
        }
        // Static functions share names, but most names are there once.
        let once = times.values().filter(|times| **times == 1).count();
        assert!(once * 10 > times.len() * 9, "{kernel}: {once} of {} functions' names are unique", times.len());

        let location = symbols.lookup(known("start_kernel").add(8)).expect("inside");
        assert_eq!((location.name, location.offset), ("start_kernel", 8), "{kernel}");

        println!("{kernel}: {} symbols, {} functions, linked at {start}, {elapsed:?}", symbols.len(), times.len());

        // As KASLR would have it.
        let slide = 0x2a_5560_0000;
        let moved = symbols.with_vectors_at(vectors.add(slide)).expect("vectors match");
        assert_eq!(moved.slide(), slide, "{kernel}");
        assert_eq!(moved.address("start_kernel"), Some(known("start_kernel").add(slide)));
        assert_eq!(moved.lookup(known("panic")).map(|l| l.name), None, "{kernel}: nothing is at the link address now");
    }
}

#[test]
#[ignore = "needs the kernels of `cargo xtask guests`"]
fn truncated_kernels_end_in_an_error() {
    for (kernel, image) in images() {
        let started = Instant::now();
        for part in [image.len() / 4, image.len() / 3] {
            assert!(Symbols::from_file(&image[..part]).is_err(), "{kernel}: {part} bytes");
        }
        assert!(started.elapsed().as_secs() < 20, "{kernel}: {:?}", started.elapsed());
    }
}
