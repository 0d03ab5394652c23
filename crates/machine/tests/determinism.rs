//! The same inputs give the same run: bytes, counts, final state.

mod common;

use common::{ENTRY, machine};
use vambrace_machine::Outcome;

/// CPU 0 switches on 1, 2 and 3; each adds 5000 to a word by exclusives; the others switch themselves off; CPU 0 writes the
/// word's low bits to the UART until it is 20000, then powers off. How far the others are at each byte depends on how CPUs
/// take turns.
const PROGRAM: &[u32] = &[
    0xd280_0033, // mov x19, #1
    0x52b8_8000, // 1: mov w0, #0xc4000000
    0x1100_0c00, // add w0, w0, #3: CPU_ON
    0xaa13_03e1, // mov x1, x19
    0x1000_00e2, // adr x2, work
    0xaa13_03e3, // mov x3, x19
    0xd400_0002, // hvc #0
    0x9100_0673, // add x19, x19, #1
    0xf100_127f, // cmp x19, #4
    0x54ff_ff01, // b.ne 1b
    0xd280_0000, // mov x0, #0
    0xaa00_03f4, // work: mov x20, x0
    0x1000_0303, // adr x3, counter
    0xd282_7104, // mov x4, #5000
    0xc85f_7c65, // 2: ldxr x5, [x3]
    0x9100_04a5, // add x5, x5, #1
    0xc806_7c65, // stxr w6, x5, [x3]
    0x35ff_ffa6, // cbnz w6, 2b
    0xf100_0484, // subs x4, x4, #1
    0x54ff_ff61, // b.ne 2b
    0xb400_00b4, // cbz x20, first
    0x52b0_8000, // mov w0, #0x84000000
    0x1100_0800, // add w0, w0, #2: CPU_OFF
    0xd400_0002, // hvc #0
    0x1400_0000, // b .
    0xd289_c407, // first: mov x7, #20000
    0xd2a1_2008, // mov x8, #0x09000000
    0xf940_0065, // 3: ldr x5, [x3]
    0x1200_18a9, // and w9, w5, #0x7f
    0xb900_0109, // str w9, [x8]
    0xeb07_00bf, // cmp x5, x7
    0x54ff_ff81, // b.ne 3b
    0x52b0_8000, // mov w0, #0x84000000
    0x1100_2000, // add w0, w0, #8: SYSTEM_OFF
    0xd400_0002, // hvc #0
    0x1400_0000, // b .
    0,
    0, // counter
];
const COUNTER: u64 = ENTRY + 0x90;

#[test]
fn two_runs_are_the_same() {
    let run = || {
        let (mut machine, console) = machine("neoverse-n1", 4, 10_000_000, &[(ENTRY, PROGRAM)]);
        assert_eq!(machine.run(), Outcome::PoweredOff);
        let counter = machine.board().bus.ram().read_u64(COUNTER - 0x4000_0000);
        assert_eq!(counter, Some(20_000));
        (console.bytes(), machine.summary(), machine.state_hash())
    };
    let (bytes, summary, hash) = run();
    assert!(bytes.len() > 1 && bytes.last() == Some(&32), "{} bytes", bytes.len());
    for cpu in &summary {
        // Six instructions for each addition at least.
        assert!(cpu.insns > 30_000, "{cpu:?}");
    }
    assert_eq!(run(), (bytes, summary, hash));
}

#[test]
fn the_hash_tells_states_apart() {
    let hash = |word: u32| {
        // movz x0, #n; b .
        let (mut machine, _) = machine("neoverse-n1", 1, 100, &[(ENTRY, &[word, 0x1400_0000])]);
        machine.run();
        machine.state_hash()
    };
    assert_eq!(hash(0xd280_0020), hash(0xd280_0020));
    assert_ne!(hash(0xd280_0020), hash(0xd280_0040));
}
