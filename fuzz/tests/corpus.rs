//! What fuzzing found, and inputs that reach far: each target takes them all, on every run of the tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use vambrace_fuzz::{TARGETS, Target, target};

fn corpus(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name)
}

/// Runs a target's corpus and its seeds.
fn replay(name: &str) {
    let target = target(name).unwrap_or_else(|| panic!("no target {name}"));
    let mut files: Vec<_> =
        fs::read_dir(corpus(target)).expect("a corpus").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    for path in files {
        // The last line that is printed names the one that fails.
        println!("{}", path.display());
        (target.run)(&fs::read(&path).expect("an input"));
    }
    for (n, seed) in (target.seeds)().iter().enumerate() {
        println!("seed {n}");
        (target.run)(seed);
    }
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                replay(stringify!($name));
            }
        )*

        #[test]
        fn every_target_is_here_and_has_a_corpus() {
            let named: BTreeSet<&str> = [$(stringify!($name)),*].into();
            let known: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(named, known);
            let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")).expect("corpora");
            let kept: BTreeSet<String> =
                entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect();
            assert_eq!(kept, known.iter().map(|name| (*name).to_owned()).collect());
        }
    };
}

targets! { kernel devicetree symbols flags decoder registers queues share network gdb snapshots }
