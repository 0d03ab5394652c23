//! The plain evaluator beside qemu-aarch64: a sample. `cargo xtask oracle` compares the PE itself, with more cases.

use std::collections::BTreeMap;
use std::path::Path;

use sem::eval::{Fill, Flat, Memory, Refuse};
use sem::testing::Rng;
use vambrace_oracle::case::{Case, DATA, DATA_SIZE, End, Outcome, PC};
use vambrace_oracle::differ;
use vambrace_oracle::generate::Source;
use vambrace_oracle::ours::model;
use vambrace_oracle::user::Judge;

fn memory(seed: u64) -> Memory {
    Memory { fill: Fill::Hash(seed), refuse: Refuse::Outside(DATA..DATA + DATA_SIZE), ..Memory::default() }
}

/// What `Flat` makes of a case of one word; `None` where it stops, for it has no exceptions.
fn flat(case: &Case) -> Option<Outcome> {
    let mut m = Flat {
        x: case.state.x,
        sp: case.state.sp,
        pc: PC,
        nzcv: case.state.nzcv,
        q: case.state.q,
        memory: memory(case.seed),
        ..Flat::default()
    };
    (m.fp.fpcr, m.fp.fpsr) = (case.state.fpcr.into(), case.state.fpsr.into());
    m.step(case.words[0]).ok()?;
    let mut state = case.state.clone();
    (state.x, state.sp, state.pc, state.nzcv, state.q) = (m.x, m.sp, m.pc, m.nzcv, m.q);
    (state.fpcr, state.fpsr) = (m.fp.fpcr as u32, m.fp.fpsr as u32);
    // A branch ignores the tag of a low target, as TBI0 asks in Linux's EL0: the PE's work, not the body's.
    if m.branched.is_some() && m.pc >> 55 & 1 == 0 {
        state.pc = m.pc << 8 >> 8;
    }
    let before = memory(case.seed);
    let words = m.memory.written.keys().map(|address| address & !7);
    let word = |memory: &Memory, address| memory.read(address, 8).map_or(0, |value| value as u64);
    let memory: BTreeMap<u64, u64> =
        words.map(|a| (a, word(&m.memory, a))).filter(|(a, now)| *now != word(&before, *a)).collect();
    Some(Outcome { state, end: End::Done, memory })
}

#[test]
fn lines_on_random_states() {
    let source = Source::new(model().unwrap().features);
    let judge = Judge::build(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let mut rng = Rng::new(1);
    let (mut cases, mut ours) = (Vec::new(), Vec::new());
    for line in &source.lines {
        // Their work is the system's.
        if source.lines.is_empty() || ["systemmove", "systeminstrs", "exception", "hints"].contains(&line.class) {
            continue;
        }
        for _ in 0..25 {
            let Some(case) = source.single(&mut rng, line, 1) else { continue };
            let open = differ::open(case.words[0], line.spec).is_some();
            // A branch to itself would not end there; `Flat` does not know of tags and of the words at the PC.
            let outcome = flat(&case).filter(|outcome| !open && outcome.state.pc != PC);
            ours.extend(outcome.map(|outcome| (line.spec.name, outcome)));
            cases.extend((ours.len() > cases.len()).then_some(case));
        }
    }
    let theirs = judge.run(&cases).unwrap();
    let mut wrong: BTreeMap<&str, String> = BTreeMap::new();
    let mut compared = 0;
    for ((case, (name, mut ours)), theirs) in cases.iter().zip(ours).zip(theirs) {
        // `Flat` checks no alignment; a fetch that faults is the next instruction's.
        let fetch = theirs.state.pc != PC;
        if theirs.end != End::Done && !fetch {
            continue;
        }
        compared += 1;
        ours.end = theirs.end;
        if !ours.differences(&theirs).is_empty() {
            wrong.entry(name).or_insert_with(|| format!("{case} => {}, ours {}", theirs.text(case), ours.text(case)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(compared > 20_000, "{compared}");
}
