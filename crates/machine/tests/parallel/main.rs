//! CPUs at the same time, on threads of the host: what the architecture promises to programs on several CPUs. What could go
//! wrong only now and then is tried many times over; VAMBRACE_ROUNDS=N makes all programs N times as long.

#[path = "../common/mod.rs"]
mod common;
mod programs;

use std::panic::{AssertUnwindSafe, catch_unwind};

use arch::feature::Feature;
use common::{ENTRY, Kept, machine_of};
use event::{Event, Sink};
use programs::*;
use vambrace_machine::{Limit, Machine, Outcome, Stuck, Threads};

/// Where data are: what programs have in X20, as an offset in RAM.
const DATA: u64 = 0x30_0000;
/// Where they begin and count.
const BODY: u64 = ENTRY + 0x1000;
/// Enough for all programs; what never ends is found by it.
const STEPS: u64 = 20_000_000_000;

fn times() -> u64 {
    std::env::var("VAMBRACE_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// CPUs on threads, with these pieces of memory.
fn parallel(cpus: usize, steps: u64, pieces: &[(u64, &[u32])]) -> (Machine, Kept) {
    let model = arch::preset::preset("max").expect("a preset").without_dependents(Feature::FEAT_EL2);
    let (mut machine, console) = machine_of(model, cpus, steps, pieces);
    machine.set_threads(Threads::Parallel);
    (machine, console)
}

/// A program that has run.
struct Ran {
    machine: Machine,
    cpus: u64,
    rounds: u64,
}

impl Ran {
    /// Runs `pieces` of a body, by their offsets in it, for `rounds` rounds on `cpus` CPUs.
    fn pieces(cpus: u64, rounds: u64, pieces: &[(u64, &[u32])]) -> Self {
        let mut all = vec![(ENTRY, FRAME)];
        all.extend(pieces.iter().map(|(at, words)| (BODY + at, *words)));
        let (mut machine, _) = parallel(cpus as usize, STEPS, &all);
        for (at, value) in [(0, cpus), (8, rounds)] {
            machine.board().bus.ram().write_u64(DATA + at, value).expect("inside");
        }
        assert_eq!(machine.run(), Outcome::PoweredOff);
        Self { machine, cpus, rounds }
    }
    fn new(cpus: u64, rounds: u64, body: &[u32]) -> Self {
        Self::pieces(cpus, rounds * times(), &[(0, body)])
    }
    /// The doubleword at this offset from X20.
    fn at(&self, offset: u64) -> u64 {
        self.machine.board().bus.ram().read_u64(DATA + offset).expect("inside")
    }
    /// Where programs count what must not be.
    fn wrong(&self) -> u64 {
        self.at(512)
    }
}

#[test]
fn atomics_lose_nothing() {
    for cpus in [2, 4, 8] {
        let ran = Ran::new(cpus, 20_000, LSE_COUNTERS);
        let all = ran.cpus * ran.rounds;
        let small = ran.at(272);
        let found = [ran.at(256), ran.at(264), small & 0xffff_ffff, small >> 32];
        assert_eq!(found, [all, all & 0xff, all & 0xffff, all & 0xffff_ffff], "{cpus} CPUs");
    }
}

#[test]
fn exclusives_lose_nothing() {
    for cpus in [2, 4, 8] {
        let ran = Ran::new(cpus, 20_000, EXCLUSIVE_COUNTERS);
        let each = (0..cpus).fold(0, |bytes, cpu| bytes | (ran.rounds & 0xff) << (8 * cpu));
        assert_eq!([ran.at(256), ran.at(264)], [ran.cpus * ran.rounds, each], "{cpus} CPUs");
    }
}

#[test]
fn locks_exclude() {
    for (cpus, rounds, lock) in
        [(2, 20_000, SPIN_LOCK), (4, 5_000, SPIN_LOCK), (2, 5_000, TICKET_LOCK), (4, 500, TICKET_LOCK)]
    {
        let ran = Ran::new(cpus, rounds, lock);
        assert_eq!(ran.at(320), ran.cpus * ran.rounds, "{cpus} CPUs");
    }
}

#[test]
fn messages_come_behind_what_they_are_about() {
    for (name, body) in [("STLR and LDAR", MESSAGE_RELEASE), ("barriers", MESSAGE_BARRIER)] {
        for cpus in [2, 4] {
            assert_eq!(Ran::new(cpus, 200_000, body).wrong(), 0, "{name}, {cpus} CPUs");
        }
    }
}

#[test]
fn stores_come_before_later_loads_where_that_is_asked() {
    for (name, between) in [("DMB", BY_BARRIER), ("STLR and LDAR", BY_RELEASE)] {
        assert_eq!(Ran::new(2, 1_000, &buffering(between)).wrong(), 0, "{name}");
    }
    // What the above finds none of, if the host shows it.
    let unordered = Ran::new(2, 1_000, &buffering(BY_NOTHING));
    println!("without any order {} of {} were the other way round", unordered.wrong(), 2 * unordered.rounds);
}

#[test]
fn sixteen_bytes_are_one() {
    for cpus in [2, 4] {
        let ran = Ran::new(cpus, 20_000, PAIRS);
        let all = ran.cpus * ran.rounds;
        assert_eq!([ran.at(256), ran.at(264), ran.wrong()], [all, all.wrapping_neg(), 0], "{cpus} CPUs");
    }
}

#[test]
fn nobody_sees_an_old_page_behind_the_dsb() {
    // Where the host has fewer cores, each DSB takes until all others have had one.
    for (cpus, rounds) in [(2, 1_000), (4, 100)] {
        let ran = Ran::pieces(cpus, rounds * times(), &[(0, BROKEN_PAGE), (0xa00, RETURN)]);
        assert_eq!(ran.wrong(), 0, "{cpus} CPUs");
        assert!(ran.at(584) > 0, "the page was read");
    }
}

#[test]
fn code_that_another_cpu_wrote_is_executed() {
    for (name, change) in [("DC CVAU, IC IVAU", BY_ADDRESS), ("DSB", BY_DSB), ("IC IALLUIS", BY_ALL)] {
        let body = patched(change);
        for cpus in [2, 4].repeat(times() as usize) {
            // What it returns has 16 bits.
            let ran = Ran::pieces(cpus, 30_000, &[(0, &body), (0x1000, FUNCTION)]);
            assert_eq!(ran.wrong(), 0, "{name}, {cpus} CPUs");
        }
    }
}

#[test]
fn events_wake() {
    let ran = Ran::new(4, 500, EVENTS);
    assert_eq!(ran.at(256), ran.cpus * ran.rounds);
}

#[test]
fn a_run_ends() {
    // b .
    let spin: &[u32] = &[0x1400_0000];
    let (mut machine, _) = parallel(4, 1_000_000, &[(ENTRY, spin)]);
    assert_eq!(machine.run(), Outcome::Limit(Limit::Instructions(1_000_000)));
    let done = machine.steps_done();
    assert!((1_000_000..1_100_000).contains(&done), "{done} steps");

    let (mut machine, _) = parallel(2, u64::MAX, &[(ENTRY, spin)]);
    machine.quit_flag().store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(machine.run(), Outcome::Quit);

    // wfi; b .-4: nothing will come, but somebody may quit.
    let (mut machine, _) = parallel(2, u64::MAX, &[(ENTRY, &[0xd503_207f, 0x17ff_ffff])]);
    let quit = machine.quit_flag();
    let later = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        quit.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(machine.run(), Outcome::Quit);
    later.join().expect("no panic");

    // mov w0, #0x84000000; add w0, w0, #2; hvc #0: CPU_OFF.
    let off: &[u32] = &[0x52b0_8000, 0x1100_0800, 0xd400_0002];
    assert_eq!(parallel(2, u64::MAX, &[(ENTRY, off)]).0.run(), Outcome::Stuck(Stuck::Off));
}

/// Panics at the first event.
struct Broken;

impl Sink for Broken {
    fn event(&mut self, _: u64, _: &Event) {
        panic!("broken on purpose");
    }
}

#[test]
fn a_panic_of_one_thread_ends_the_run() {
    // CPU 0 switches CPU 1 on and spins: mov w0, #0xc4000000; add w0, w0, #3; mov x1, #1; adr x2, .+12; hvc #0; b .; b .
    let words: &[u32] = &[0x52b8_8000, 0x1100_0c00, 0xd280_0021, 0x1000_0062, 0xd400_0002, 0x1400_0000, 0x1400_0000];
    let (mut machine, _) = parallel(3, u64::MAX, &[(ENTRY, words)]);
    machine.set_sink(1, Box::new(Broken));
    let run = catch_unwind(AssertUnwindSafe(|| machine.run()));
    assert!(run.is_err(), "{run:?}");
}
