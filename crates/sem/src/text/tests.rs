use super::*;
use crate::spec::specs;

/// A fixed sequence of words (xorshift), the same in every run.
fn words() -> impl Iterator<Item = u32> {
    let mut state = 0x9e37_79b9_u32;
    core::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        Some(state)
    })
}

/// Each leaf's text holds only operands, tests and fields that there are.
#[test]
fn texts_are_in_the_notation() {
    let mut words = words();
    let mut bad = Vec::new();
    for spec in specs::<Footprint>() {
        let mut word = || spec.pattern.value | words.next().unwrap() & !spec.pattern.mask;
        for alternative in spec.text.split(" | ") {
            let tests = alternative.split_once("? ").map_or("", |(condition, _)| condition);
            for test in tests.split(" & ").filter(|test| !test.is_empty()) {
                if field::evaluate(test, word()).is_none() {
                    bad.push((spec.name, test));
                }
            }
            let operands = Operands { word: word(), pc: 0, mnemonic: spec.name };
            for operand in alternative.split('{').skip(1) {
                let name = operand.split_once('}').expect("a closing brace").0;
                if Shown(operands, name).to_string().contains('?') {
                    bad.push((spec.name, name));
                }
            }
        }
    }
    assert!(bad.is_empty(), "{bad:?}");
}

/// An operand alone.
struct Shown<'a>(Operands<'a>, &'a str);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.0.write(f, self.1)
    }
}

/// Each encoding has a text.
#[test]
fn every_leaf_has_a_text() {
    let lines = specs::<Footprint>();
    let without: Vec<_> = lines.iter().filter(|spec| spec.text.is_empty()).map(|spec| spec.name).collect();
    assert!(without.is_empty(), "{without:?}");
}

/// No word makes the disassembler panic or write an operand that it does not know.
#[test]
fn every_word_has_a_text() {
    for word in words().take(500_000) {
        let text = disassemble(word, !u64::from(word)).to_string();
        assert!(!text.is_empty() && !text.contains(['?', '*']), "{word:08x}: {text}");
    }
}

#[test]
fn leaves_match_with_stars() {
    const TEXTS: &[(&str, &str)] = &[("ADD_*_imm", "one"), ("*_64_*", "two"), ("A*", "three")];
    assert_eq!(of_leaf(TEXTS, "ADD_32_addsub_imm"), "one");
    assert_eq!(of_leaf(TEXTS, "SUB_64_addsub_imm"), "two");
    assert_eq!(of_leaf(TEXTS, "ADDS_32_addsub"), "three");
    assert_eq!(of_leaf(TEXTS, "SUB_32_addsub"), "");
}

#[test]
fn texts_of_words() {
    let text = |word| disassemble(word, 0x8000_0000).to_string();
    assert_eq!(text(0x9100_0420), "add x0, x1, #0x1");
    assert_eq!(text(0x9100_03e1), "mov x1, sp");
    assert_eq!(text(0xeb01_001f), "cmp x0, x1");
    assert_eq!(text(0xd65f_03c0), "ret");
    assert_eq!(text(0x1400_0001), "b 0x80000004");
    assert_eq!(text(0x1280_0000), "mov w0, #0xffffffff");
    assert_eq!(text(0xd538_4241), "mrs x1, currentel");
    assert_eq!(text(0xd508_831f), "tlbi vmalle1is");
    assert_eq!(text(0x1e22_1000), "fmov s0, #4.0");
    assert_eq!(text(0x4f03_f610), "fmov v16.4s, #1.0");
    assert_eq!(text(0x4c40_2c1e), "ld1 {v30.2d, v31.2d, v0.2d, v1.2d}, [x0]");
    assert_eq!(text(0x4f08_a420), "sxtl2 v0.8h, v1.16b");
    // Unallocated, and a reserved bitmask.
    assert_eq!(text(0xffff_ffff), ".inst 0xffffffff");
    assert_eq!(text(0x1200_fc00), ".inst 0x1200fc00");
}
