//! Where instructions were executed, of programs whose counts are known.

mod common;

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex};

use arch::Va;
use common::ENTRY;
use symbols::{Symbol, Symbols};
use vambrace_machine::{Names, Outcome};

/// `start` calls `outer` 3 times, which has a frame of its own and calls `inner`, which loops 100 times; then it powers off.
const PROGRAM: [u32; 22] = [
    0xd2a8_0000, // mov x0, #0x40000000
    0x9142_001f, // add sp, x0, #0x80, lsl #12
    0xd280_001d, // mov x29, #0
    0xd280_0073, // mov x19, #3
    0x9400_0006, // 1: bl outer
    0xf100_0673, // subs x19, x19, #1
    0x54ff_ffc1, // b.ne 1b
    0xd2b0_8000, // mov x0, #0x84000000
    0xf280_0100, // movk x0, #8: SYSTEM_OFF
    0xd400_0002, // hvc #0
    // outer, at 0x28
    0xa9bf_7bfd, // stp x29, x30, [sp, #-16]!
    0x9100_03fd, // mov x29, sp
    0x9400_0004, // bl inner
    0xd503_201f, // nop
    0xa8c1_7bfd, // ldp x29, x30, [sp], #16
    0xd65f_03c0, // ret
    // inner, at 0x40
    0xd503_201f, // nop
    0xd503_201f, // nop
    0xd280_0c82, // mov x2, #100
    0xf100_0442, // 1: subs x2, x2, #1
    0x54ff_ffe1, // b.ne 1b
    0xd65f_03c0, // ret
];

fn symbols() -> Symbols {
    let symbol = |(offset, name): (u64, &str)| Symbol {
        address: Va(ENTRY + offset),
        size: None,
        kind: b'T',
        name: name.to_owned(),
    };
    [(0, "start"), (0x28, "outer"), (0x40, "inner")].map(symbol).into_iter().collect()
}

/// Instructions by call chain, and those that the CPUs counted; the final state.
fn profile(every: u64, cpus: usize) -> (BTreeMap<String, u64>, u64, u64) {
    let (mut machine, _) = common::machine("cortex-a57", cpus, 100_000, &[(ENTRY, &PROGRAM)]);
    let chains = Arc::new(Mutex::new(BTreeMap::new()));
    let mut names = Names::new(&symbols(), machine.entry());
    let heard = chains.clone();
    let listener = move |sample: &vambrace_machine::Sample| {
        *heard.lock().unwrap().entry(names.functions(sample).join(";")).or_insert(0) += sample.insns;
    };
    machine.set_sampler(NonZeroU64::new(every).unwrap(), Box::new(listener));
    assert_eq!(machine.run(), Outcome::PoweredOff);
    machine.finish_samples();
    let insns = machine.summary().iter().map(|cpu| cpu.insns).sum();
    let chains = chains.lock().unwrap().clone();
    (chains, insns, machine.state_hash())
}

#[test]
fn every_instruction_is_counted_where_it_is() {
    let (chains, insns, hash) = profile(1, 1);
    let expected = [
        // Four before the loop, three in each turn, three after it.
        ("start", 4 + 3 * 3 + 3),
        ("start;outer", 3 * 5),
        // Without its record a function's caller is not known, but for its first three instructions by X30.
        ("outer", 3),
        ("start;outer;inner", 3 * 3),
        ("start;inner", 3 * (200 + 1)),
    ];
    assert_eq!(chains, expected.map(|(name, count)| (name.to_owned(), count)).into());
    assert_eq!(chains.values().sum::<u64>(), insns);
    let (mut plain, _) = common::machine("cortex-a57", 1, 100_000, &[(ENTRY, &PROGRAM)]);
    assert_eq!(plain.run(), Outcome::PoweredOff);
    assert_eq!(plain.state_hash(), hash, "looking changed the run");
}

#[test]
fn samples_stand_for_all() {
    for every in [2, 7, 97, 1 << 30] {
        let (chains, insns, hash) = profile(every, 2);
        assert_eq!(chains.values().sum::<u64>(), insns, "{every}");
        assert_eq!((chains, insns, hash), profile(every, 2), "{every}: the same each time");
    }
    let (chains, ..) = profile(7, 1);
    let hottest = chains.iter().max_by_key(|(_, insns)| **insns).unwrap();
    assert_eq!(hottest.0, "start;inner");
}
