//! Fields of a word by name, numbers made of them, and conditions on them.

use crate::base::bitmask64;

/// A field's lowest bit and its width.
const FIELDS: &[(&str, u32, u32)] = &[
    ("d", 0, 5),
    ("t", 0, 5),
    ("n", 5, 5),
    ("a", 10, 5),
    ("m", 16, 5),
    ("s", 16, 5),
    ("nzcv", 0, 4),
    ("hint", 5, 7),
    ("imm16", 5, 16),
    ("imm16low", 0, 16),
    ("op2", 5, 3),
    ("imm4ext", 11, 4),
    ("imm2", 12, 2),
    ("immb", 16, 3),
    ("imm5low", 16, 3),
    ("sz", 22, 1),
    ("size", 22, 2),
    ("crm", 8, 4),
    ("crmlow", 8, 2),
    ("imm4", 10, 4),
    ("imms", 10, 6),
    ("imm8", 10, 8),
    ("imm12", 10, 12),
    ("cond", 12, 4),
    ("crn", 12, 4),
    ("imm9", 12, 9),
    ("rmif", 15, 6),
    ("immr", 16, 6),
    ("imm6", 16, 6),
    ("imm5", 16, 5),
    ("op1", 16, 3),
    ("shift", 22, 2),
    ("sh", 22, 1),
    ("A", 23, 1),
    ("Q", 30, 1),
    ("sf", 31, 1),
];

/// The value of a number (decimal) or a field of `word`, and its width.
fn value(name: &str, word: u32) -> Option<(u64, u32)> {
    if let Ok(number) = name.parse() {
        return Some((number, 64));
    }
    if name == "top" {
        return Some((u64::from(31 | (word >> 31) << 5), 64));
    }
    let &(_, low, width) = FIELDS.iter().find(|field| field.0 == name)?;
    Some((u64::from(word >> low & ((1 << width) - 1)), width))
}

/// A register number, or another plain field.
pub fn plain(name: &str, word: u32) -> Option<u32> {
    value(name, word).map(|(value, _)| value as u32)
}

/// The value of `field`, `field*number`, `field+number`; the field signed where `signed`.
pub fn expression(text: &str, word: u32, sign: Sign) -> Option<i64> {
    let (left, operator, right) = match text.find(['*', '+']) {
        Some(at) => (&text[..at], text.as_bytes()[at], &text[at + 1..]),
        None => (text, b'+', "0"),
    };
    let (left, width) = value(left, word)?;
    let left = match sign {
        Sign::Unsigned => left as i64,
        Sign::Signed => (left << (64 - width)) as i64 >> (64 - width),
    };
    let right = value(right, word)?.0 as i64;
    Some(if operator == b'*' { left * right } else { left + right })
}

/// How a field's highest bit counts.
#[derive(Clone, Copy)]
pub enum Sign {
    /// As the others.
    Unsigned,
    /// As a sign.
    Signed,
}

/// Does `word` pass the test? An unknown one fails; a test of the tables finds it.
pub fn holds(test: &str, word: u32) -> bool {
    evaluate(test, word).unwrap_or(false)
}

/// As [`holds`], `None` for a test that is not known.
pub fn evaluate(test: &str, word: u32) -> Option<bool> {
    let side = |text| expression(text, word, Sign::Unsigned);
    if let Some((left, right)) = test.split_once("!=") {
        return Some(side(left)? != side(right)?);
    }
    if let Some((left, right)) = test.split_once('=') {
        return Some(side(left)? == side(right)?);
    }
    if let Some((left, right)) = test.split_once('<') {
        return Some(side(left)? < side(right)?);
    }
    let sf = word >> 31;
    Some(match test {
        "movz" => mov_wide(word),
        // immh has one bit set, so that with immb 0 the shift is by 0.
        "immhpow" => (word >> 19 & 15).is_power_of_two(),
        "movn" => mov_wide(word) && (sf == 1 || word >> 5 & 0xffff != 0xffff),
        "mov" => !bitmask64(word).is_some_and(|imm| move_wide_preferred(imm, 32 << sf)),
        _ => return None,
    })
}

/// Is MOV the alias of MOVZ and MOVN: is the immediate not a shifted zero?
const fn mov_wide(word: u32) -> bool {
    word >> 5 & 0xffff != 0 || word >> 21 & 3 == 0
}

/// MoveWidePreferred of the manual: could MOVZ or MOVN make the bitmask immediate?
const fn move_wide_preferred(imm: u64, bits: u32) -> bool {
    let ones = u64::MAX >> (64 - bits);
    let (imm, inverted) = (imm & ones, !imm & ones);
    let mut shift = 0;
    while shift < bits {
        if imm & !(0xffff << shift) == 0 || inverted & !(0xffff << shift) == 0 {
            return true;
        }
        shift += 16;
    }
    false
}
