//! The cases in `oracle/cases` on the PE, with the outcomes that qemu-aarch64 gave when they were recorded.
//!
//! A line is `CASE => OUTCOME`, as `cargo xtask oracle` prints it for a case that differs; lines that begin with `#` say
//! what follows. Where the judge is wrong, the outcome is what the manual's rule gives, and the line above says so.

use std::path::Path;

use vambrace_oracle::case::{Case, Outcome};
use vambrace_oracle::ours::{Ours, model};

#[test]
fn recorded_cases() {
    let mut ours = Ours::new(model().unwrap()).unwrap();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (case, outcome) = line.split_once(" => ").unwrap_or_else(|| panic!("{line}"));
            let case: Case = case.parse().unwrap_or_else(|error| panic!("{case}: {error:#}"));
            let theirs = Outcome::from_text(outcome, &case).unwrap_or_else(|error| panic!("{outcome}: {error:#}"));
            count += 1;
            let found = ours.run(&case);
            if found != theirs {
                wrong.push(format!("{line}\n  ours: {}", found.text(&case)));
            }
        }
    }
    assert!(wrong.is_empty(), "of {count}:\n{}", wrong.join("\n"));
    assert!(count > 0);
}
