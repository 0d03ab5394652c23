//! The text of instructions: what a disassembler prints.
//!
//! The style is that of GNU objdump: lower case, aliases wherever the manual prefers them, immediates in hexadecimal but
//! shift amounts, offsets of addresses, bit and element numbers in decimal, targets of branches and PC-relative addresses
//! absolute. A word that is unallocated, or whose field values are reserved, is `.inst 0x........`.
//!
//! The notation of the texts in `encodings!` tables: alternatives, separated by ` | `. Each but the last starts with a
//! condition and `? `; a condition compares fields and numbers by `=`, `!=` or `<`, or names a test, and ` & ` joins
//! several. The first alternative whose condition holds is the text. In it
//! - `*` is the mnemonic of the leaf's name in lower case: `add` of `ADD_32_addsub_imm`;
//! - `{Wd}` is a register: its kind (W, X, B, H, S, D, Q; R is W or X as sf, bit 31, says; more in `vector`), then the
//!   field that numbers it, then `+1` for the one after it and `|sp` where 31 is the stack pointer;
//! - `{imm5}` is a field in decimal, `{imm5:x}` in hexadecimal, `{imm5:s}` signed in decimal; the field may be multiplied
//!   and added to: `{imm6*16:x}`, `{imms+1}`; a comma before it, `{,imm9:s}`, writes `, #` too, and nothing at all for 0;
//! - any other name in braces is an operand with a function of its own, in `operand` or `vector`;
//! - everything else stands for itself.

mod field;
mod operand;
mod sys;
mod vector;

use std::fmt::{Display, Formatter, Result, Write};
use std::sync::LazyLock;

use crate::decode::Decoder;
use crate::footprint::Footprint;
use operand::Operands;

/// An instruction that writes itself as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disassembly {
    word: u32,
    pc: u64,
}

/// The text of instruction `word` at address `pc`, whatever features the PE has: what a word would be without them is
/// seldom what is asked.
#[must_use]
pub const fn disassemble(word: u32, pc: u64) -> Disassembly {
    Disassembly { word, pc }
}

impl Display for Disassembly {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        static DECODER: LazyLock<Decoder<Footprint>> = LazyLock::new(Decoder::new);
        let Self { word, pc } = *self;
        match DECODER.decode(word) {
            Some((_, spec)) if (spec.prepare)(word).is_some() => write_text(f, spec.name, spec.text, word, pc),
            _ => write!(f, ".inst 0x{word:08x}"),
        }
    }
}

fn write_text(f: &mut Formatter<'_>, leaf: &str, text: &'static str, word: u32, pc: u64) -> Result {
    let mut rest = alternative(text, word);
    let mnemonic = leaf.split('_').next().unwrap_or_default();
    let operands = Operands { word, pc, mnemonic };
    while let Some(at) = rest.find(['*', '{']) {
        f.write_str(&rest[..at])?;
        if rest.as_bytes()[at] == b'*' {
            lower_case(f, mnemonic)?;
            rest = &rest[at + 1..];
            continue;
        }
        let Some((name, after)) = rest[at + 1..].split_once('}') else { break };
        operands.write(f, name)?;
        rest = after;
    }
    f.write_str(rest)
}

/// The alternative of a text that is for `word`.
fn alternative(text: &'static str, word: u32) -> &'static str {
    let mut last = "";
    for alternative in text.split(" | ") {
        match alternative.split_once("? ") {
            Some((condition, body)) if condition.split(" & ").all(|test| field::holds(test, word)) => return body,
            Some(_) => {}
            None => last = alternative,
        }
    }
    last
}

/// Writes a name of the manual in lower case.
fn lower_case(f: &mut Formatter<'_>, name: &str) -> Result {
    name.chars().try_for_each(|c| f.write_char(c.to_ascii_lowercase()))
}

/// The text of the first line of `texts` whose leaves take `leaf`, or the empty one. Runs in the compiler.
#[must_use]
pub const fn of_leaf(texts: &[(&str, &'static str)], leaf: &str) -> &'static str {
    let line = first_match(texts, leaf);
    if line < texts.len() { texts[line].1 } else { "" }
}

/// The number of the first line of `texts` whose leaves take `leaf`, or how many there are.
const fn first_match(texts: &[(&str, &'static str)], leaf: &str) -> usize {
    let mut line = 0;
    while line < texts.len() && !matches(texts[line].0.as_bytes(), 0, leaf.as_bytes(), 0) {
        line += 1;
    }
    line
}

/// Does each of `texts` serve one of `leaves`? It does not build otherwise. Runs in the compiler.
pub const fn assert_used(texts: &[(&str, &'static str)], leaves: &[&str]) {
    let mut line = 0;
    while line < texts.len() {
        let (mut leaf, mut used) = (0, false);
        while leaf < leaves.len() && !used {
            used = first_match(texts, leaves[leaf]) == line;
            leaf += 1;
        }
        assert!(used, "a text serves no leaf of its table");
        line += 1;
    }
}

/// Does `name` from place `n` on match `pattern` from place `p` on, where `*` stands for any characters?
const fn matches(pattern: &[u8], mut p: usize, name: &[u8], mut n: usize) -> bool {
    while p < pattern.len() {
        if pattern[p] == b'*' {
            // Tries each length.
            while n <= name.len() {
                if matches(pattern, p + 1, name, n) {
                    return true;
                }
                n += 1;
            }
            return false;
        }
        if n == name.len() || pattern[p] != name[n] {
            return false;
        }
        p += 1;
        n += 1;
    }
    n == name.len()
}

#[cfg(test)]
mod tests;
