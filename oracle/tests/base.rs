//! The base instructions against qemu-aarch64, on random words and states.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use arch::feature::Feature::{self, *};
use sem::Decoder;
use sem::eval::{Fill, Flat, Memory, Refuse, Stop, mix};
use vambrace_oracle::user::{CODE, CODE_SIZE, Case, DATA, DATA_SIZE, End, Judge, Outcome, PC, State};

/// A seeded source of numbers.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 += 1;
        mix(self.0)
    }
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
    /// A number: often one at an edge.
    fn number(&mut self) -> u64 {
        match self.below(8) {
            0 => self.below(4),
            1 => u64::MAX - self.below(4),
            2 => (1 << 63) - self.below(3) + 1,
            3 => (1 << 31) - self.below(3) + 1,
            4 => (1 << 32) - self.below(3) + 1,
            5 => self.next() >> self.below(64),
            _ => self.next(),
        }
    }
    /// An address in the page, mostly aligned and mostly near its middle.
    fn address(&mut self) -> u64 {
        let offset = match self.below(8) {
            0 => self.below(DATA_SIZE),
            1 => DATA_SIZE - self.below(32),
            _ => 0x800 + 16 * self.below(16),
        };
        DATA + offset
    }
}

/// A random state; `base` and `index` are registers that address memory.
fn state(rng: &mut Rng, base: usize, index: usize) -> State {
    let mut state = State { pc: PC, sp: rng.address() & !15, nzcv: rng.below(16) << 28, ..State::default() };
    for x in &mut state.x {
        *x = rng.number();
    }
    for q in &mut state.q {
        *q = u128::from(rng.number()) << 64 | u128::from(rng.number());
    }
    if let Some(x) = state.x.get_mut(index) {
        *x = rng.below(64).wrapping_sub(32);
    }
    if let Some(x) = state.x.get_mut(base) {
        *x = rng.address();
    }
    state
}

/// Sets Rs, and Rs + 1 for a pair, to what memory holds at Rn, so that CAS and CASP store.
fn expect_memory(case: &mut Case, rs: usize) {
    let (rn, pair) = ((case.word >> 5 & 31) as usize, case.word >> 23 & 1 == 0);
    let address = case.state.x.get(rn).copied().unwrap_or(case.state.sp);
    let step = if pair && case.word >> 30 & 1 == 0 { 4 } else { 8 };
    let memory = Memory { fill: Fill::Hash(case.seed), ..Memory::default() };
    for (n, register) in (rs..=rs + usize::from(pair)).enumerate() {
        if let Some(x) = case.state.x.get_mut(register).filter(|_| register != rn) {
            *x = memory.read(address + step * n as u64, 8).map_or(0, |value| value as u64);
        }
    }
}

fn flat(case: &Case) -> Flat {
    let state = &case.state;
    Flat {
        x: state.x,
        sp: state.sp,
        pc: PC,
        nzcv: state.nzcv,
        q: state.q,
        memory: Memory {
            fill: Fill::Hash(case.seed),
            refuse: Refuse::Outside(DATA..DATA + DATA_SIZE),
            ..Memory::default()
        },
        ..Flat::default()
    }
}

/// What differs between our outcome and the judge's.
fn difference(case: &Case, ours: Result<(), Stop>, m: &Flat, judge: &Outcome) -> Option<String> {
    match (ours, judge.end) {
        (Ok(()), End::Done) => {}
        // Flat has no alignment checks.
        (Err(Stop::Undefined { .. }), End::Undefined) | (Ok(()) | Err(Stop::Fault { .. }), End::Alignment) => {
            return None;
        }
        // The page holds our accesses only in part where a pair crosses its end; the address may be of either.
        (Err(Stop::Fault { .. }), End::Fault(_)) => {
            return (m.x != judge.state.x || m.sp != judge.state.sp).then(|| "registers after a fault".to_owned());
        }
        // Flat does not hold the breakpoints.
        (Err(Stop::Fault { address }), _) if (CODE..CODE + CODE_SIZE).contains(&address) => return None,
        (ours, judge) => return Some(format!("ended {ours:?}, judge {judge:?}")),
    }
    let (theirs, mut text) = (&judge.state, String::new());
    for (n, (ours, theirs)) in m.x.iter().zip(&theirs.x).enumerate() {
        if ours != theirs {
            let _ = write!(text, " x{n}={ours:#x}, judge {theirs:#x};");
        }
    }
    // A branch ignores the tag of a low target, as TBI0 asks in Linux's EL0: the PE's work, not the body's.
    let tagged = m.branched.is_some() && m.pc >> 55 & 1 == 0;
    let pc = if tagged { m.pc << 8 >> 8 } else { m.pc };
    for (name, ours, theirs) in [("sp", m.sp, theirs.sp), ("pc", pc, theirs.pc), ("nzcv", m.nzcv, theirs.nzcv)] {
        if ours != theirs {
            let _ = write!(text, " {name}={ours:#x}, judge {theirs:#x};");
        }
    }
    for (n, (ours, theirs)) in m.q.iter().zip(&theirs.q).enumerate() {
        if ours != theirs {
            let _ = write!(text, " q{n}={ours:#x}, judge {theirs:#x};");
        }
    }
    let changed: BTreeMap<u64, u8> = judge
        .changed
        .iter()
        .flat_map(|(offset, bytes)| bytes.iter().enumerate().map(move |(i, &byte)| (DATA + (offset + i) as u64, byte)))
        .collect();
    // Writes of what was there already do not show in the judge's bytes, nor do gaps in ours.
    let before = Memory { fill: Fill::Hash(case.seed), ..Memory::default() };
    for (&address, &byte) in &changed {
        if m.memory.byte(address) != byte {
            let _ = write!(text, " [{address:#x}]={:#x}, judge {byte:#x};", m.memory.byte(address));
        }
    }
    for (&address, &byte) in &m.memory.written {
        if !changed.contains_key(&address) && before.byte(address) != byte {
            let _ = write!(text, " [{address:#x}]={byte:#x}, judge unchanged;");
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Runs the cases here and there; panics with the differences.
fn compare(cases: Vec<Case>) {
    let decoder = Decoder::<Flat>::new();
    let judge = Judge::build(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let (mut kept, mut ours) = (Vec::new(), Vec::new());
    for case in cases {
        let mut m = flat(&case);
        let end = m.step(case.word);
        // A branch to itself would not end there; system calls would reach the judge's host.
        if (end == Ok(()) && m.pc == PC) || matches!(end, Err(Stop::Leaves(_) | Stop::NotDone { .. })) {
            continue;
        }
        kept.push(case);
        ours.push((end, m));
    }
    let outcomes = judge.run(&kept).unwrap();
    let mut wrong: BTreeMap<&str, (u32, String)> = BTreeMap::new();
    for ((case, (end, m)), outcome) in kept.iter().zip(&ours).zip(&outcomes) {
        if let Some(text) = difference(case, *end, m, outcome) {
            let name = decoder.decode(case.word).map_or("(no line)", |(_, line)| line.name);
            let entry = wrong.entry(name).or_insert_with(|| (0, format!("{:#010x}:{text}", case.word)));
            entry.0 += 1;
        }
    }
    let list = wrong
        .iter()
        .fold(String::new(), |list, (name, (n, first))| list + &format!("\n{name} {n} times, first {first}"));
    assert!(wrong.is_empty(), "of {} cases:{list}", kept.len());
    assert!(!kept.is_empty());
}

/// Features that the judge lacks or that its user mode shows otherwise.
const NOT_JUDGED: [Feature; 12] = [
    FEAT_LRCPC3,
    FEAT_CSSC,
    FEAT_HBC,
    FEAT_MOPS,
    FEAT_LS64,
    FEAT_LS64_V,
    FEAT_LS64_ACCDATA,
    FEAT_WFxT,
    FEAT_XS,
    FEAT_NMI,
    FEAT_PAuth,
    FEAT_MTE2,
];

/// Words whose outcome the architecture leaves open (CONSTRAINED UNPREDICTABLE), where the judge chose otherwise.
fn open(name: &str, word: u32) -> bool {
    let (rt, rn, rt2) = (word & 31, word >> 5 & 31, word >> 10 & 31);
    let pair = name.contains("pair_") && name.starts_with("LD");
    let writes_back = name.contains("_post") || name.contains("_pre") || name.contains("_immp");
    let base_loaded = rn != 31 && (rt == rn || pair && rt2 == rn);
    pair && rt == rt2 || name.starts_with("LD") && writes_back && base_loaded
}

/// Leaves whose work is the system's.
const SYSTEM: [&str; 10] = [
    "_hints",
    "_exception",
    "_barriers",
    "_pstate",
    "_systeminstrs",
    "_systemmove",
    "_perm_undef",
    "ERET",
    "DRPS",
    "_systeminstrswithreg",
];

#[test]
fn lines_on_random_states() {
    let mut rng = Rng(1);
    let mut cases = Vec::new();
    for line in sem::specs::<Flat>() {
        let simd = line.name.contains("asimd") || line.pattern.value >> 25 & 7 == 7 && line.pattern.mask >> 25 & 7 == 7;
        let system = SYSTEM.iter().any(|part| line.name.ends_with(part) || line.name.starts_with(part));
        if system || simd || line.feature.is_some_and(|feature| NOT_JUDGED.contains(&feature)) {
            continue;
        }
        for _ in 0..60 {
            let mut fill = rng.next() as u32;
            let memory = line.pattern.value >> 25 & 0b101 == 0b100;
            if memory && rng.below(2) == 0 {
                // Small offsets: the immediates' upper bits as their sign, or zero.
                fill &= !0x003f_0000;
            }
            let mut word = line.pattern.value | fill & !line.pattern.mask;
            if line.name.ends_with("_loadlit") {
                let words = (DATA - PC + rng.below(DATA_SIZE)) as u32 / 4;
                word = word & !0x00ff_ffe0 | words << 5;
            }
            if open(line.name, word) {
                continue;
            }
            let (base, index) = ((word >> 5 & 31) as usize, (word >> 16 & 31) as usize);
            let state = if memory { state(&mut rng, base, index) } else { state(&mut rng, 32, 32) };
            let mut case = Case { word, state, seed: rng.next() };
            if line.name.starts_with("CAS") && rng.below(2) == 0 {
                expect_memory(&mut case, index);
            }
            cases.push(case);
        }
    }
    compare(cases);
}

/// Words that no line has must be UNDEFINED for the judge too, and such as a line has must not be.
#[test]
fn random_words() {
    let (mut rng, decoder) = (Rng(2), Decoder::<Flat>::new());
    let mut cases = Vec::new();
    while cases.len() < 60_000 {
        let word = rng.next() as u32;
        // Data processing (immediate and register), loads and stores of general-purpose registers, branches.
        let base = matches!(word >> 25 & 15, 4 | 5 | 8..=13);
        if !base {
            continue;
        }
        if let Some((_, line)) = decoder.decode(word) {
            let system = SYSTEM.iter().any(|part| line.name.ends_with(part) || line.name.starts_with(part));
            if system || open(line.name, word) || line.feature.is_some_and(|feature| NOT_JUDGED.contains(&feature)) {
                continue;
            }
        }
        let state = state(&mut rng, (word >> 5 & 31) as usize, (word >> 16 & 31) as usize);
        cases.push(Case { word, state, seed: rng.next() });
    }
    compare(cases);
}
