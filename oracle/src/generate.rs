//! Random cases: one word of a given line, a sequence of instructions, or any word.

use std::sync::LazyLock;

use arch::feature::FeatureSet;
use sem::eval::{Fill, Flat, Memory};
use sem::testing::Rng;
use sem::{Decoder, InsnId, Spec};

use crate::case::{Case, DATA, DATA_SIZE, PC, State};
use crate::{class, differ};

/// One line of the tables, with what generating needs.
pub struct Line {
    /// Its position.
    pub id: InsnId,
    /// The line.
    pub spec: &'static Spec<Flat>,
    /// Arm's class.
    pub class: &'static str,
    /// Does it access memory?
    pub memory: bool,
}

/// What cases are made of: the lines that the features have.
pub struct Source {
    /// The decoder that names words.
    pub decoder: Decoder<Flat>,
    /// Lines whose cases are compared.
    pub lines: Vec<Line>,
    /// The features that the model has.
    pub features: FeatureSet,
    /// In `lines`: those that sequences are made of.
    sequence: Vec<usize>,
    /// In `lines`: load-exclusives.
    exclusive: Vec<usize>,
}

/// Registers of sequences that address memory, and no instruction of a sequence writes them but by write-back; X19 holds a
/// small index, X27 the address after the last instruction.
const BASES: [u32; 6] = [20, 21, 22, 23, 24, 31];
const INDEX: u32 = 19;
const AFTER: u32 = 27;

/// Words that no case may hold: SVC, HVC and SMC, which would reach the judge's host; and HLT #0xf000, with which QEMU's
/// user mode offers semihosting.
#[must_use]
pub fn forbidden(word: u32) -> bool {
    word & 0xffe0_001c == 0xd400_0000 && word & 3 != 0 || word == 0xd45e_0000
}

impl Source {
    /// The lines that `features` has and the judge knows.
    #[must_use]
    pub fn new(features: FeatureSet) -> Self {
        let decoder = Decoder::<Flat>::new();
        let ids = (0..decoder.len()).map(|n| InsnId(n as u16));
        let lines: Vec<Line> = ids
            .filter_map(|id| {
                let spec = decoder.spec(id);
                let class = class::of(spec.name)?;
                let there = spec.feature.is_none_or(|feature| features.has(feature));
                let calls = matches!(spec.name, "SVC_EX_exception" | "HVC_EX_exception" | "SMC_EX_exception");
                let memory = spec.pattern.value >> 25 & 0b101 == 0b100 && spec.pattern.mask >> 25 & 0b101 == 0b101;
                (there && !calls && differ::not_judged(spec).is_none()).then_some(Line { id, spec, class, memory })
            })
            .collect();
        let numbers = |wanted: fn(&Line) -> bool| -> Vec<usize> {
            lines.iter().enumerate().filter(|(_, line)| wanted(line)).map(|(n, _)| n).collect()
        };
        let sequence = numbers(|line| {
            !matches!(line.class, "exception" | "perm_undef" | "systeminstrs" | "pstate" | "ldstexclr" | "ldstexclp")
                && !line.spec.name.starts_with("ERET")
                && !line.spec.name.starts_with("DRPS")
        });
        let exclusive =
            numbers(|line| matches!(line.class, "ldstexclr" | "ldstexclp") && line.spec.name.starts_with("LD"));
        Self { decoder, lines, features, sequence, exclusive }
    }

    /// The line that a word decodes to on the model.
    #[must_use]
    pub fn decode(&self, word: u32) -> Option<&'static Spec<Flat>> {
        let (_, spec) = self.decoder.decode(word)?;
        (spec.feature.is_none_or(|feature| self.features.has(feature)) && (spec.prepare)(word).is_some())
            .then_some(spec)
    }

    /// A word of `line` that is not of a more specific one; 8 tries.
    fn word(&self, rng: &mut Rng, line: &Line) -> Option<u32> {
        let pattern = line.spec.pattern;
        (0..8).find_map(|_| {
            let mut fill = rng.random() as u32;
            if line.memory && rng.once_in(2) {
                // Small offsets: the immediates' upper bits as their sign, or zero.
                fill &= !0x003f_0000;
            } else if rng.once_in(4) {
                // Registers that meet.
                let register = rng.random() as u32 & 31;
                for field in [0, 5, 16] {
                    if rng.once_in(2) {
                        fill = fill & !(31 << field) | register << field;
                    }
                }
            }
            let mut word = pattern.value | fill & !pattern.mask;
            match line.class {
                "loadlit" => word = word & !0x00ff_ffe0 | literal(rng, 0),
                "systemmove" => word = system_register(rng, word),
                "systeminstrs" => word = system_instruction(rng, word),
                _ => {}
            }
            let same = self.decoder.decode(word).is_some_and(|(id, _)| id == line.id);
            (same && !forbidden(word) && !differ::not_compared(word)).then_some(word)
        })
    }

    /// A case of one instruction.
    #[must_use]
    pub fn single(&self, rng: &mut Rng, line: &Line, seed: u64) -> Option<Case> {
        let word = self.word(rng, line)?;
        let mut state = random_state(rng);
        if line.memory || line.class == "systeminstrs" {
            let (base, index) = (word >> 5 & 31, word >> 16 & 31);
            if let Some(x) = state.x.get_mut(index as usize) {
                *x = rng.below(64).wrapping_sub(32);
            }
            let base = if line.class == "systeminstrs" { word & 31 } else { base };
            if let Some(x) = state.x.get_mut(base as usize) {
                *x = address(rng);
            }
        }
        let mut case = Case { words: vec![word], state, seed };
        if matches!(line.class, "comswap" | "comswappr") && rng.once_in(2) {
            expect_memory(&mut case, word >> 16 & 31);
        }
        Some(case)
    }

    /// A case of any word, decoded or not.
    #[must_use]
    pub fn any_word(&self, rng: &mut Rng, seed: u64) -> Case {
        let word = loop {
            let word = match rng.below(3) {
                0 => rng.random() as u32,
                // A neighbour of a line.
                1 => {
                    let pattern = self.lines[rng.below(self.lines.len() as u64) as usize].spec.pattern;
                    (pattern.value | rng.random() as u32 & !pattern.mask) ^ 1 << rng.below(32)
                }
                // Data processing of SIMD&FP, the densest part.
                _ => rng.random() as u32 & !0x0e00_0000 | 0x0e00_0000,
            };
            // What the judge has and the model lacks, or the other way around, is not its matter here.
            let known = self.decoder.decode(word).map(|(_, spec)| spec);
            let judged = known.is_none_or(|spec| {
                spec.feature.is_none_or(|feature| self.features.has(feature)) && differ::not_judged(spec).is_none()
            });
            if judged && !forbidden(word) && !differ::not_compared(word) {
                break word;
            }
        };
        let mut state = random_state(rng);
        if let Some(x) = state.x.get_mut((word >> 5 & 31) as usize) {
            *x = address(rng);
        }
        Case { words: vec![word], state, seed }
    }

    /// A case of 2 to 12 instructions: data processing, accesses to the page, forward branches, exclusive pairs.
    #[must_use]
    pub fn sequence(&self, rng: &mut Rng, seed: u64) -> Case {
        let count = 2 + rng.below(11) as usize;
        let mut words = Vec::with_capacity(count);
        while words.len() < count {
            if rng.once_in(16) && words.len() + 2 <= count {
                let pair = self.exclusive_pair(rng);
                words.extend(pair);
                continue;
            }
            let line = &self.lines[self.sequence[rng.below(self.sequence.len() as u64) as usize]];
            if let Some(word) = self.word(rng, line) {
                let word = tamed(rng, line, word, words.len(), count);
                // The registers changed: it may be reserved, or another line's, or open now.
                let same = self.decoder.decode(word).is_some_and(|(id, _)| id == line.id);
                // MRS of FPCR or FPSR would show bits that QEMU keeps of an MSR.
                let kept = word & 0xffff_ffc0 == 0xd53b_4400 && words.iter().any(|w| w & 0xffff_ffc0 == 0xd51b_4400);
                if same && !kept && differ::open(word, line.spec).is_none() && !differ::not_compared(word) {
                    words.push(word);
                }
            }
        }
        let mut state = random_state(rng);
        for base in BASES {
            match state.x.get_mut(base as usize) {
                Some(x) => *x = address(rng) & !15,
                None => state.sp = address(rng) & !15,
            }
        }
        state.x[INDEX as usize] = rng.below(64).wrapping_sub(32) & !7;
        state.x[AFTER as usize] = PC + 4 * count as u64;
        Case { words, state, seed }
    }

    /// A load-exclusive and the store-exclusive of its kind.
    fn exclusive_pair(&self, rng: &mut Rng) -> [u32; 2] {
        let line = &self.lines[self.exclusive[rng.below(self.exclusive.len() as u64) as usize]];
        let base = rng.pick(&BASES);
        let pattern = line.spec.pattern;
        let (rt, rt2, rs, old) = (rng.below(4) as u32, 4 + rng.below(2) as u32, 6 + rng.below(2) as u32, 8);
        let load = pattern.value | (31 << 16 | rt2 << 10 | base << 5 | old) & !pattern.mask;
        // Bit 22 is L, bit 15 acquire or release. A pair's registers differ, or the load would be open.
        let store = load & !(1 << 22 | 0x1f << 16 | 0x1f) | rs << 16 | rt;
        [load, store]
    }
}

/// The immediate of a literal load at instruction `n` that reads the page.
fn literal(rng: &mut Rng, n: usize) -> u32 {
    ((DATA - PC - 4 * n as u64 + rng.below(DATA_SIZE)) as u32 / 4) << 5 & 0x00ff_ffe0
}

/// Replaces register fields so that a sequence's instructions depend on each other, and branches so that they end.
fn tamed(rng: &mut Rng, line: &Line, mut word: u32, n: usize, count: usize) -> u32 {
    let free = !line.spec.pattern.mask;
    let put = |word: u32, field: u32, register: u32| {
        word & !(31 << field) | register << field & free | word & (31 << field) & !free
    };
    let forward = 1 + rng.below((count - n) as u64) as u32;
    match line.class {
        "condbranch" | "compbranch" => word = word & !0x00ff_ffe0 | forward << 5,
        "testbranch" => word = word & !0x0007_ffe0 | forward << 5,
        "branch_imm" => word = word & !0x03ff_ffff | forward,
        "branch_reg" => return put(word, 5, AFTER),
        "loadlit" => word = word & !0x00ff_ffe0 | literal(rng, n),
        _ => {}
    }
    let any = |rng: &mut Rng| if rng.once_in(10) { 31 } else { rng.below(9) as u32 };
    match line.class {
        "condbranch" | "branch_imm" | "hints" | "barriers" => word,
        "compbranch" | "testbranch" | "loadlit" | "systemmove" | "pcreladdr" | "movewide" => put(word, 0, any(rng)),
        _ if line.memory => {
            word = put(word, 5, rng.pick(&BASES));
            word = put(word, 0, rng.below(9) as u32);
            if matches!(line.class, "asisdlsep" | "asisdlsop" | "ldst_regoff") {
                return put(word, 16, INDEX);
            }
            if matches!(line.class, "memop" | "comswap" | "comswappr" | "ldstord") {
                word = put(word, 16, rng.below(5) as u32 * 2);
            }
            if line.class == "comswappr" {
                word &= !1;
            }
            if line.class.starts_with("ldstpair") || line.class.starts_with("ldstnapair") {
                word = put(word, 10, 9 + rng.below(3) as u32);
            }
            word
        }
        _ => {
            let mut destination = any(rng);
            if matches!(line.class, "addsub_imm" | "log_imm" | "addsub_ext") && destination == 31 {
                // SP keeps its address.
                destination = 0;
            }
            word = put(word, 0, destination);
            word = put(word, 5, any(rng));
            // Where these bits are registers at all; else they are random as they were.
            let three = matches!(line.class, "dp_3src" | "floatdp3" | "crypto4");
            let two = three
                || !matches!(
                    line.class,
                    "addsub_imm"
                        | "log_imm"
                        | "bitfield"
                        | "asimdimm"
                        | "asimdshf"
                        | "asisdshf"
                        | "asimdins"
                        | "condcmp_imm"
                        | "float2fix"
                        | "setf"
                        | "rmif"
                        | "floatimm"
                        | "addsub_immtags"
                        | "minmax_imm"
                );
            if two {
                word = put(word, 16, any(rng));
            }
            if three {
                word = put(word, 10, any(rng));
            }
            word
        }
    }
}

/// An MRS or MSR: often of a register that EL0 has, and whose value is not the implementation's choice.
fn system_register(rng: &mut Rng, word: u32) -> u32 {
    // NZCV, FPCR, FPSR, TPIDR_EL0, DAIF, SCTLR_EL1, TPIDR_EL1, CPACR_EL1.
    const REGISTERS: [u32; 8] = [0xda10, 0xda20, 0xda21, 0xde82, 0xda11, 0xc080, 0xc684, 0xc082];
    if rng.once_in(8) {
        return word;
    }
    let register = if rng.once_in(8) { rng.pick(&REGISTERS) } else { rng.pick(&REGISTERS[..4]) };
    word & !0x000f_ffe0 | register << 5 & 0x000f_ffe0
}

/// A SYS: often one that EL0 has.
fn system_instruction(rng: &mut Rng, word: u32) -> u32 {
    // op1:CRn:CRm:op2 of DC ZVA, CVAC, CVAU, CIVAC, CVAP, CVADP, IC IVAU.
    const INSTRUCTIONS: [u32; 7] = [0x1ba1, 0x1bd1, 0x1bd9, 0x1bf1, 0x1be1, 0x1be9, 0x1ba9];
    if rng.once_in(4) {
        return word;
    }
    word & !0x0007_ffe0 | rng.pick(&INSTRUCTIONS) << 5
}

/// An address in the page, mostly aligned and mostly near its middle; sometimes with a tag.
fn address(rng: &mut Rng) -> u64 {
    let offset = match rng.below(8) {
        0 => rng.below(DATA_SIZE),
        1 => DATA_SIZE - rng.below(32),
        _ => 0x800 + 16 * rng.below(16),
    };
    let tag = if rng.once_in(16) { rng.random() << 56 } else { 0 };
    (DATA + offset) | tag
}

fn random_state(rng: &mut Rng) -> State {
    // QC, IDC, IXC, UFC, OFC, DZC, IOC: bits 27, 7, 4 to 0.
    const FPSR: u64 = 1 << 27 | 0x9f;
    // AHP, DN, FZ, RMode: bits 26 to 22; FZ16: bit 19.
    const FPCR: u64 = 0x1f << 22 | 1 << 19;
    let mut state =
        State { pc: PC, sp: address(rng) & 0x00ff_ffff_ffff_fff0, nzcv: rng.below(16) << 28, ..State::default() };
    state.x.fill_with(|| rng.word());
    state.q.fill_with(|| quad(rng));
    state.fpcr = match rng.below(4) {
        0 => 0,
        1 => (rng.below(4) << 22) as u32,
        _ => (rng.random() & FPCR) as u32,
    };
    state.fpsr = if rng.once_in(2) { 0 } else { (rng.random() & FPSR) as u32 };
    state
}

/// As [`Rng::quad`], or numbers as [`element`] gives them.
fn quad(rng: &mut Rng) -> u128 {
    if rng.once_in(2) {
        return rng.quad();
    }
    let bits = rng.pick(&[16, 32, 64]);
    (0..128 / bits).fold(0, |quad, lane| quad | u128::from(element(rng, bits)) << (bits * lane))
}

/// A floating-point number of `bits` (16, 32 or 64), or its special values, of which results come near the edges:
/// exponents near each other, near the least, the largest, and the widths of integers; fractions of few bits or all ones.
pub fn element(rng: &mut Rng, bits: u64) -> u64 {
    let exponent_bits = match bits {
        16 => 5,
        32 => 8,
        _ => 11,
    };
    let fraction_bits = bits - 1 - exponent_bits;
    let bias = (1u64 << (exponent_bits - 1)) - 1;
    let exponent = match rng.below(10) {
        0 => rng.below(fraction_bits + 3),
        1 => 2 * bias + 1 - rng.below(4),
        2 => bias + rng.pick(&[7, 8, 15, 16, 31, 32, 63, 64]) - rng.below(2),
        3 => bias.wrapping_sub(rng.below(fraction_bits + 3)),
        4 => bias / 2 + rng.below(fraction_bits),
        5 => bias + rng.below(fraction_bits),
        6 => rng.random(),
        7 => rng.pick(&[0, 2 * bias + 1]),
        _ => bias - 2 + rng.below(5),
    } & ((1 << exponent_bits) - 1);
    let mask = (1u64 << fraction_bits) - 1;
    let fraction = match rng.below(6) {
        0 => 0,
        1 => mask,
        2 => 1 << rng.below(fraction_bits),
        3 => mask << rng.below(fraction_bits),
        _ => rng.random(),
    } & mask;
    rng.below(2) << (bits - 1) | exponent << fraction_bits | fraction
}

/// Sets Rs, and Rs + 1 for a pair, to what memory holds at Rn, so that CAS and CASP store.
fn expect_memory(case: &mut Case, rs: u32) {
    let word = case.words[0];
    let (rn, pair) = (word >> 5 & 31, word >> 23 & 1 == 0);
    let address = case.state.x.get(rn as usize).copied().unwrap_or(case.state.sp) & 0x00ff_ffff_ffff_ffff;
    let step = if pair && word >> 30 & 1 == 0 { 4 } else { 8 };
    let memory = Memory { fill: Fill::Hash(case.seed), ..Memory::default() };
    for (n, register) in (rs..=rs + u32::from(pair)).enumerate() {
        if let Some(x) = case.state.x.get_mut(register as usize).filter(|_| register != rn) {
            *x = memory.read(address + step * n as u64, 8).map_or(0, |value| value as u64);
        }
    }
}

/// The decoder that names words in texts.
pub static NAMES: LazyLock<Decoder<Flat>> = LazyLock::new(Decoder::new);
