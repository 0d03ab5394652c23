//! The text of instructions against what GNU objdump and llvm-objdump print.
//!
//! A word passes where each tool that knows it prints what we print. Where one does not, a line of `differences` must
//! say why. `VAMBRACE_ORACLE_CASES` sets how many random words a line of the tables gives, `VAMBRACE_ORACLE_SEED` the
//! seed.

#[path = "text/differences.rs"]
mod differences;
#[path = "text/normal.rs"]
mod normal;
#[path = "text/tools.rs"]
mod tools;

use std::collections::BTreeMap;

use sem::Decoder;
use sem::eval::{Flat, mix};
use sem::spec::specs;
use sem::text::disassemble;

use differences::{DIFFERENCES, Difference};
use normal::{joined, tokens};
use tools::{Maker, Tool, tools};

/// A number from the environment.
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

/// Words of the line with these fixed bits: random ones, and ones in which a run of free bits is at an edge.
fn words(mask: u32, value: u32, cases: u64, seed: u64) -> Vec<u32> {
    let mut n = mix(seed ^ u64::from(value) << 16);
    let mut random = || {
        n += 1;
        mix(n) as u32
    };
    let mut words = vec![value, value | !mask];
    let mut low = 0;
    while low < 32 {
        let width = (!mask >> low).trailing_ones();
        if width > 0 {
            let field = (u32::MAX >> (32 - width)) << low;
            for edge in [0, field, 1 << low, 1 << (low + width - 1), field & !(1 << low)] {
                words.extend((0..2).map(|_| value | random() & !mask & !field | edge));
            }
        }
        // Register 31 as well, where the place of one is free.
        if [0, 5, 10, 16].contains(&low) && mask >> low & 31 == 0 {
            words.extend((0..4).map(|_| value | random() & !mask | 31 << low));
        }
        low += width.max(1);
    }
    words.extend((0..cases).map(|_| value | random() & !mask));
    words
}

/// SYS, SYSL and SYSP of every operation with CRn 7 to 9, MRS and MSR of every register.
fn system_words() -> impl Iterator<Item = u32> {
    let operations = (0..1 << 14).filter(|place| (7..=9).contains(&(place >> 7 & 15)));
    let operations = operations.flat_map(|place| {
        [0xd508_001f, 0xd508_0003, 0xd528_001f, 0xd528_0005, 0xd548_001f, 0xd548_0006].map(|op| op | place << 5)
    });
    let registers = (0..1 << 15).flat_map(|place| [0xd510_0004, 0xd530_0004].map(|op| op | place << 5));
    operations.chain(registers)
}

/// What a comparison found.
#[derive(Default)]
struct Findings {
    /// Words on which a tool and we agree, by tool.
    agreed: BTreeMap<&'static str, u32>,
    /// How often each line of the list of differences took a word.
    explained: BTreeMap<usize, u32>,
    /// Words for which no line of the list stands.
    unexplained: Vec<String>,
}

impl Findings {
    /// Finds the difference that explains this one.
    fn differs(&mut self, maker: Option<Maker>, leaf: &str, word: u32, ours: &str, theirs: &str) {
        match DIFFERENCES.iter().position(|difference| difference.explains(maker, leaf, ours, theirs)) {
            Some(line) => *self.explained.entry(line).or_default() += 1,
            None => self.unexplained.push(format!("{word:08x} {leaf}: {ours} -- {maker:?}: {theirs}")),
        }
    }

    fn print(&self, total: usize) {
        println!("{total} words; agreed: {:?}", self.agreed);
        for (&line, count) in &self.explained {
            let Difference { leaf, ours, theirs, reason, .. } = &DIFFERENCES[line];
            println!("{count:>7} {leaf}: `{ours}`, `{theirs}`: {reason}");
        }
    }
}

fn compare(words: &[u32], tools: &[Tool]) -> Findings {
    let decoder = Decoder::<Flat>::new();
    let mut findings = Findings::default();
    let texts: Vec<_> = tools.iter().map(|tool| tool.disassemble(words)).collect();
    for (n, &word) in words.iter().enumerate() {
        let ours = disassemble(word, 4 * n as u64).to_string();
        let leaf = decoder.decode(word).map_or("", |(_, spec)| spec.name);
        let mut known = false;
        for (tool, texts) in tools.iter().zip(&texts) {
            let Some(theirs) = &texts[n] else { continue };
            known = true;
            if tokens(&ours) == tokens(theirs) {
                *findings.agreed.entry(tool.name).or_default() += 1;
            } else {
                findings.differs(Some(tool.maker), leaf, word, &joined(&ours), &joined(theirs));
            }
        }
        if !known && !ours.starts_with(".inst") {
            findings.differs(None, leaf, word, &joined(&ours), "");
        }
    }
    findings
}

/// Prints what was found, and fails where something is not explained.
fn judge(findings: &Findings, total: usize) {
    findings.print(total);
    // A few of each leaf.
    let mut of_leaf: BTreeMap<&str, u32> = BTreeMap::new();
    let few = findings.unexplained.iter().filter(|text| {
        // Where there is no leaf, of each of the tool's mnemonics.
        let leaf = text.split(' ').nth(1).filter(|&leaf| leaf != ":");
        let leaf = leaf.or_else(|| text.split("): ").nth(1)?.split(' ').next());
        let count = of_leaf.entry(leaf.unwrap_or_default()).or_default();
        *count += 1;
        *count <= 2
    });
    let some: Vec<_> = few.take(200).collect();
    assert!(some.is_empty(), "{} differences are not in the list, among them {some:#?}", findings.unexplained.len());
}

#[test]
fn text_of_every_line_is_the_tools() {
    let tools = match tools() {
        Ok(tools) => tools,
        Err(missing) => {
            // CI has it: `cargo xtask test` installs what is missing before it starts.
            println!("skipped: this needs {missing}");
            return;
        }
    };
    let (cases, seed) = (setting("VAMBRACE_ORACLE_CASES", 200), setting("VAMBRACE_ORACLE_SEED", 1));
    println!("seed {seed}, {cases} random words a line, {:?}", tools.iter().map(|tool| tool.name).collect::<Vec<_>>());
    let mut all: Vec<u32> = system_words().collect();
    for spec in specs::<Flat>() {
        all.extend(words(spec.pattern.mask, spec.pattern.value, cases, seed));
    }
    all.sort_unstable();
    all.dedup();
    let findings = compare(&all, &tools);
    judge(&findings, all.len());
}

/// Words of any kind but SVE's and SME's: what a tool knows and we do not is in the list of differences too.
#[test]
fn text_of_any_word_is_the_tools() {
    let tools = match tools() {
        Ok(tools) => tools,
        Err(missing) => {
            // CI has it: `cargo xtask test` installs what is missing before it starts.
            println!("skipped: this needs {missing}");
            return;
        }
    };
    let (cases, seed) = (setting("VAMBRACE_ORACLE_CASES", 200), setting("VAMBRACE_ORACLE_SEED", 1));
    println!("seed {seed}, {} random words", cases * 1000);
    let scalable = |word: u32| word >> 25 & 15 == 2 || word >> 25 & 15 == 0 && word >> 31 == 1;
    let random = (0..cases * 1000).map(|n| mix(mix(seed) ^ n) as u32);
    let words: Vec<u32> = random.filter(|&word| !scalable(word)).collect();
    judge(&compare(&words, &tools), words.len());
}
