//! Targets for fuzzing: what a guest, a file or a client can hand to the machine, as bytes that anything may be in.
//!
//! A target takes bytes, does with them what the machine would do, and comes back: it panics where something is wrong.
//! `cargo xtask fuzz` runs it under LLVM's libFuzzer, with bytes that reach new code kept and changed further. What was
//! found, and a few inputs that reach far, lie in `corpus/TARGET`; `tests/corpus.rs` runs them each time, and names those
//! that were finds.

mod input;
mod targets;

pub use input::Input;
pub use targets::TARGETS;

/// One thing to be fuzzed.
pub struct Target {
    /// Its name: of the directory of its corpus too.
    pub name: &'static str,
    /// What takes the bytes.
    pub run: fn(&[u8]),
    /// Inputs to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// The target of that name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
