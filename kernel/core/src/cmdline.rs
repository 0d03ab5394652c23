//! The kernel's command line: words, some with values.

use hal::sync::Once;

static LINE: Once<&'static str> = Once::new();

/// Keeps it.
pub fn set(line: &'static str) {
    let _ = LINE.set(line);
}

/// All words.
pub fn words() -> impl Iterator<Item = &'static str> {
    LINE.get().copied().unwrap_or("").split_ascii_whitespace()
}

/// Is the word there?
pub fn has(word: &str) -> bool {
    words().any(|other| other == word)
}

/// The value of the last `name=value`.
pub fn value(name: &str) -> Option<&'static str> {
    words().filter_map(|word| word.strip_prefix(name)?.strip_prefix('=')).last()
}

/// Words behind `--`, which are the first program's.
pub fn init_arguments() -> impl Iterator<Item = &'static str> {
    words().skip_while(|word| *word != "--").skip(1)
}
