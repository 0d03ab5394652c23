//! All readings of the bodies agree: for every encoding, with random words and states, executing it on [`Flat`],
//! running its IR (as told and simplified), and what its footprint says.
//!
//! `SEM_SEED=N` and `SEM_CASES=N` (per line) choose other and more cases than CI's.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use ir::{Exit, Mode};

use crate::decode::{Decoder, InsnId};
use crate::eval::{Fill, Flat, FpAccess, Refuse, SpCheck, Stop};
use crate::footprint::{Footprint, Place, Places};
use crate::insn::Insn;
use crate::lift::{OnMachine, lift_block};
use crate::machine::{FpEnv, Pure};
use crate::spec::Flow;
use crate::testing::Rng;

static DECODER: LazyLock<Decoder<Flat>> = LazyLock::new(Decoder::new);

#[derive(Clone, Debug)]
struct Case {
    insns: Vec<(InsnId, Insn)>,
    state: Flat,
}

type Verdict = Result<(), String>;

/// Executes the bodies one by one.
fn execute(insns: &[(InsnId, Insn)], state: &mut Flat) -> Exit<Stop> {
    let mut exit = Exit { started: 0, offset: 0, stop: None };
    for &(id, insn) in insns {
        let spec = DECODER.spec(id);
        (exit.started, exit.offset) = (exit.started + 1, insn.offset());
        exit.stop = (spec.run)(state, insn).err();
        if exit.stop.is_some() || spec.flow == Flow::End {
            break;
        }
    }
    exit
}

fn ensure(holds: bool, why: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(why()) }
}

/// The fields in which two states differ.
fn difference(a: &Flat, b: &Flat) -> String {
    let mut text = String::new();
    for place in Places::all().filter(|&place| get(a, place) != get(b, place)) {
        let _ = write!(text, " {place:?}: {:#x} {:#x};", get(a, place), get(b, place));
    }
    if a.memory != b.memory {
        let _ = write!(text, " memory: {:x?} {:x?};", a.memory.written, b.memory.written);
        let _ = write!(text, " tags: {:x?} {:x?};", a.memory.tags, b.memory.tags);
    }
    if a.branched != b.branched {
        let _ = write!(text, " branch: {:x?} {:x?};", a.branched, b.branched);
    }
    if a.monitor != b.monitor {
        let _ = write!(text, " monitor: {:x?} {:x?};", a.monitor, b.monitor);
    }
    if a.tag_control != b.tag_control {
        let _ = write!(text, " {:x?} {:x?};", a.tag_control, b.tag_control);
    }
    if a.log != b.log {
        let _ = write!(text, " system: {:x?} {:x?};", a.log, b.log);
    }
    text
}

fn get(state: &Flat, place: Place) -> u128 {
    match place {
        Place::X(n) => u128::from(state.x[usize::from(n)]),
        Place::Sp => u128::from(state.sp),
        Place::Q(n) => state.q[usize::from(n)],
        Place::Nzcv => u128::from(state.nzcv),
        Place::Pc => u128::from(state.pc),
        Place::Fpcr => u128::from(state.fp.fpcr),
        Place::Fpsr => u128::from(state.fp.fpsr),
    }
}

fn set(state: &mut Flat, place: Place, value: u128) {
    match place {
        Place::X(n) => state.x[usize::from(n)] = value as u64,
        Place::Sp => state.sp = value as u64,
        Place::Q(n) => state.q[usize::from(n)] = value,
        Place::Nzcv => state.nzcv = value as u64,
        Place::Pc => state.pc = value as u64,
        Place::Fpcr => state.fp.fpcr = value as u64,
        Place::Fpsr => state.fp.fpsr = value as u64,
    }
}

/// IR, as told and simplified, does what the bodies do.
fn lifted(case: &Case) -> Verdict {
    let mut expected = case.state.clone();
    let exit = execute(&case.insns, &mut expected);
    let blocks = [Mode::Literal, Mode::Simplify].map(|mode| lift_block(mode, case.insns.iter().copied()));
    let [literal, simplified] = &blocks;
    ir::same_effects(literal, simplified).map_err(|differs| format!("{differs}:\n{literal}\n{simplified}"))?;
    let smallest = simplified.clone().without_overwritten().pruned();
    for block in [literal, simplified, &smallest] {
        ir::verify(block).map_err(|invalid| format!("{invalid} in\n{block}"))?;
        let mut state = case.state.clone();
        let lifted = ir::eval(block, &mut OnMachine(&mut state));
        ensure(lifted == exit, || format!("{exit:x?} but IR {lifted:x?}, of\n{block}"))?;
        ensure(state == expected, || format!("body and IR differ:{} of\n{block}", difference(&expected, &state)))?;
    }
    Ok(())
}

/// A body changes only what its footprint says that it writes, depends only on what it says that it reads, and
/// leaves all registers alone where it stops.
fn footprint(case: &Case) -> Verdict {
    let [(id, insn)] = case.insns[..] else { return Ok(()) };
    let footprint = Footprint::of(id, insn);
    let mut after = case.state.clone();
    let exit = execute(&case.insns, &mut after);

    let stopped = exit.stop.is_some();
    for place in Places::all() {
        let changed = get(&case.state, place) != get(&after, place);
        ensure(!changed || footprint.writes.has(place), || format!("writes {place:?}, {footprint:x?} does not"))?;
        ensure(!changed || !stopped, || format!("{:x?} after it wrote {place:?}", exit.stop))?;
    }
    ensure(!stopped || footprint.may_stop(), || format!("{:x?}, {footprint:x?} says it cannot", exit.stop))?;
    ensure(after.memory == case.state.memory || footprint.writes_memory(), || format!("{footprint:x?}: no store"))?;

    // The same with all other registers, and without reads all other memory, changed.
    let mut other = case.state.clone();
    let mut rng = Rng::new(u64::from(insn.word()));
    for place in Places::all().filter(|&place| !footprint.reads.has(place)) {
        let value = match place {
            Place::Nzcv => u128::from(rng.below(16) << 28),
            Place::Pc => u128::from(rng.random() & !3),
            Place::Fpcr | Place::Fpsr => get(&other, place) ^ 1 << 7,
            Place::X(_) | Place::Sp | Place::Q(_) => rng.quad(),
        };
        set(&mut other, place, value);
    }
    if !footprint.reads_memory() {
        other.memory.fill = Fill::Hash(rng.random());
        other.memory.tag_fill = Fill::Hash(rng.random());
    }
    if !footprint.fp_check {
        other.fp_access = FpAccess::Trapped;
    }
    if !footprint.sp_check {
        other.sp_check = SpCheck::On;
    }
    let before = other.clone();
    let same = execute(&case.insns, &mut other);
    ensure(same == exit, || format!("{exit:x?} and {same:x?} when unread registers change; {footprint:x?}"))?;
    for place in Places::all() {
        let written = footprint.writes.has(place) && !stopped;
        let expected = if written { get(&after, place) } else { get(&before, place) };
        ensure(get(&other, place) == expected, || {
            format!(
                "{place:?} is {:#x}, not {expected:#x}, when unread registers change; {footprint:x?}",
                get(&other, place)
            )
        })?;
    }
    let rest = |state: &Flat| {
        let Flat { memory, branched, log, monitor, tag_control, .. } = state.clone();
        (memory.written, memory.tags, branched, log, monitor, tag_control)
    };
    ensure(rest(&after) == rest(&other), || {
        format!("{:x?}\n{:x?} when unread registers change; {footprint:x?}", rest(&after), rest(&other))
    })
}

fn judge(case: &Case) -> Verdict {
    catch_unwind(AssertUnwindSafe(|| lifted(case).and_then(|()| footprint(case)))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(format!("panic: {}", text.unwrap_or("?")))
    })
}

/// Simpler cases, each simpler in one thing.
fn simpler(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    if case.insns.len() > 1 {
        for at in 0..case.insns.len() {
            let mut simple = case.clone();
            simple.insns.remove(at);
            all.push(simple);
        }
    }
    for (at, &(id, insn)) in case.insns.iter().enumerate() {
        let free = insn.word() & !DECODER.spec(id).pattern.mask;
        for bit in (0..32).filter(|bit| free >> bit & 1 != 0) {
            let word = insn.word() & !(1 << bit);
            if let Some((found, spec)) = DECODER.decode(word)
                && found == id
                && let Some(imm) = (spec.prepare)(word)
            {
                let mut simple = case.clone();
                simple.insns[at].1 = Insn::new(word, insn.offset(), imm);
                all.push(simple);
            }
        }
    }
    let state = &case.state;
    let mut with = |change: &dyn Fn(&mut Flat)| {
        let mut simple = case.clone();
        change(&mut simple.state);
        if simple.state != *state {
            all.push(simple);
        }
    };
    for place in Places::all() {
        with(&|state| set(state, place, 0));
        if get(state, place) > 1 {
            with(&|state| set(state, place, 1));
        }
    }
    with(&|state| state.memory.fill = Fill::Zeros);
    with(&|state| state.memory.refuse = Refuse::Nothing);
    with(&|state| state.monitor = None);
    with(&|state| state.fp_access = FpAccess::Allowed);
    with(&|state| state.sp_check = SpCheck::Off);
    all
}

/// The simplest case found that still fails, as text.
fn shrink(mut case: Case, mut why: String) -> String {
    while let Some((simple, reason)) =
        simpler(&case).into_iter().find_map(|simple| judge(&simple).err().map(|reason| (simple, reason)))
    {
        (case, why) = (simple, reason);
    }
    let mut text = String::new();
    for &(id, insn) in &case.insns {
        let _ = writeln!(text, "{} {insn:x?}", DECODER.spec(id).name);
    }
    for place in Places::all().filter(|&place| get(&case.state, place) != 0) {
        let _ = write!(text, "{place:?} = {:#x}, ", get(&case.state, place));
    }
    let Flat { memory, monitor, fp_access, sp_check, .. } = &case.state;
    let _ = writeln!(text, "{memory:x?}, {monitor:x?}, FP {fp_access:?}, SP {sp_check:?}");
    text + &why
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Cases from `make` for each line, each judged; on as many threads as there are processors. Panics with all lines
/// that fail, each with its simplest case.
fn for_every_line(cases: u64, make: impl Fn(&mut Rng, InsnId) -> Option<Case> + Sync) {
    let (seed, cases) = (number("SEM_SEED", 0x5eed), number("SEM_CASES", cases));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let failures = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|worker| {
                let make = &make;
                scope.spawn(move || {
                    let mut failures = Vec::new();
                    for line in (worker..DECODER.len()).step_by(threads) {
                        let mut rng = Rng::new(seed ^ (line as u64) << 32);
                        for _ in 0..cases {
                            let Some(case) = make(&mut rng, InsnId(line as u16)) else { continue };
                            if let Err(why) = judge(&case) {
                                failures.push(shrink(case, why));
                                break;
                            }
                        }
                    }
                    failures
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker only judges")).collect::<Vec<_>>()
    });
    assert!(failures.is_empty(), "SEM_SEED={seed}: {} lines fail\n\n{}", failures.len(), failures.join("\n\n"));
}

fn single(rng: &mut Rng, line: InsnId) -> Option<Case> {
    let insn = rng.insn(&DECODER, line, 4 * rng.clone().below(64) as u32)?;
    let mut state = rng.state();
    rng.monitor(&mut state, insn.word());
    Some(Case { insns: vec![(line, insn)], state })
}

#[test]
fn every_line_has_words() {
    let mut rng = Rng::new(1);
    for line in (0..DECODER.len()).map(|line| InsnId(line as u16)) {
        assert!(rng.insn(&DECODER, line, 0).is_some(), "no word found for {}", DECODER.spec(line).name);
    }
}

#[test]
fn readings_agree_on_every_line() {
    for_every_line(250, single);
}

#[test]
fn readings_agree_on_blocks() {
    for_every_line(25, |rng, line| {
        let mut case = single(rng, line)?;
        let length = 2 + rng.below(5);
        case.insns.clear();
        for at in 0..length {
            let other = InsnId(rng.below(DECODER.len() as u64) as u16);
            let id = if at == length / 2 { line } else { other };
            case.insns.push((id, rng.insn(&DECODER, id, 4 * at as u32)?));
        }
        Some(case)
    });
}

/// A pure function is one by its name, depends on its operands and FPCR only, and only sets bits of FPSR.
#[test]
fn pure_functions_are_pure_and_named_apart() {
    let mut rng = Rng::new(3);
    let mut known: BTreeMap<&str, Pure> = BTreeMap::new();
    for line in (0..DECODER.len()).map(|line| InsnId(line as u16)) {
        for _ in 0..20 {
            let Some(insn) = rng.insn(&DECODER, line, 0) else { continue };
            for function in Footprint::of(line, insn).calls {
                let namesake = *known.entry(function.name).or_insert(function);
                let FpEnv { fpcr, .. } = rng.state().fp;
                let operands = [rng.quad(), rng.quad(), rng.quad()];
                let run = |function: Pure, fpsr| {
                    let mut fp = FpEnv { fpcr, fpsr };
                    let result = (function.run)(&mut fp, operands);
                    (result, fp)
                };
                let (result, FpEnv { fpsr: set, .. }) = run(function, 0);
                let context = || format!("{function:?} {operands:x?} FPCR {fpcr:#x}");
                assert_eq!(run(namesake, 0), (result, FpEnv { fpcr, fpsr: set }), "{}", context());
                assert_eq!(
                    run(function, 1 << 27 | 0x9f),
                    (result, FpEnv { fpcr, fpsr: set | 1 << 27 | 0x9f }),
                    "{}",
                    context()
                );
            }
        }
    }
}
