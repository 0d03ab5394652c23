//! The engine's side: libFuzzer has the function `main`. VAMBRACE_FUZZ names the target; VAMBRACE_FUZZ_SEEDS a directory
//! into which its seeds are written first.
#![no_main]
#![allow(unsafe_code)]

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use vambrace_fuzz::{TARGETS, Target, target};

static CHOSEN: OnceLock<&'static Target> = OnceLock::new();

fn choose() {
    let name = std::env::var("VAMBRACE_FUZZ").unwrap_or_default();
    let Some(target) = target(&name) else {
        let known: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("VAMBRACE_FUZZ={name}: no such target; there are {}", known.join(", "));
        std::process::exit(2);
    };
    if let Some(directory) = std::env::var_os("VAMBRACE_FUZZ_SEEDS") {
        for (n, seed) in (target.seeds)().into_iter().enumerate() {
            let path = std::path::Path::new(&directory).join(format!("seed-{n}"));
            if let Err(error) = std::fs::write(&path, seed) {
                eprintln!("{}: {error}", path.display());
                std::process::exit(2);
            }
        }
    }
    CHOSEN.get_or_init(|| target);
}

/// Nothing that a target opens stays open. Looked at now and then: it costs more than many a target.
fn count_files() {
    const MOST: usize = 200;
    static RUNS: AtomicU32 = AtomicU32::new(0);
    if RUNS.fetch_add(1, Relaxed).is_multiple_of(512) {
        let open = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        assert!(open < MOST, "{open} files are open");
    }
}

libfuzzer_sys::fuzz_target!(init: choose(), |bytes: &[u8]| {
    let target = CHOSEN.get().expect("chosen at the start");
    (target.run)(bytes);
    count_files();
});
