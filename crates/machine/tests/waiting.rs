//! CPUs that wait for each other: what is not executed but counted is as if it had been executed.

mod common;

use common::{ENTRY, GIC_ON, machine};
use event::{Detail, Event, Sink};
use vambrace_machine::{CpuSummary, Limit, Machine, Outcome};

/// CPU 0 switches CPU 1 on, counts for some rounds, writes a word, and ends the machine when CPU 1 has answered.
const FRAME: &[u32] = &[
    0x52b8_8000, // mov w0, #0xc4000000
    0x1100_0c00, // add w0, w0, #0x3
    0xd280_0021, // mov x1, #0x1
    0x1000_01c2, // adr x2, second
    0xd400_0002, // hvc #0x0
    0xd2a8_000a, // mov x10, #0x40000000
    0x914c_014a, // add x10, x10, #0x300, lsl #12
    0xd290_46a9, // mov x9, #0x8235
    0xf100_0529, // subs x9, x9, #0x1
    0x54ff_ffe1, // b.ne second-0x24
    0xd280_0021, // mov x1, #0x1
    0xf900_0141, // str x1, [x10]
    0xf940_0541, // ldr x1, [x10, #8]
    0xb4ff_ffe1, // cbz x1, second-0x14
    0x52b0_8000, // mov w0, #0x84000000
    0x1100_2000, // add w0, w0, #0x8
    0xd400_0002, // hvc #0x0
    0xd2a8_000a, // mov x10, #0x40000000
    0x914c_014a, // add x10, x10, #0x300, lsl #12
    0xd2a1_200b, // mov x11, #0x9000000
];
/// CPU 1, behind its loop.
const END: &[u32] = &[
    0xd280_0021, // mov x1, #0x1
    0xf900_0541, // str x1, [x10, #8]
    0xd503_207f, // wfi
    0x17ff_fffd, // b end
];
/// How CPU 1 waits for the word.
const WAYS: &[(&str, &[u32])] = &[
    // ldr x1, [x10]; cbz x1, 1b
    ("loads", &[0xf940_0141, 0xb4ff_ffe1]),
    // isb; ldar x1, [x10]; cbz x1, 1b
    ("ISB and a load-acquire", &[0xd503_3fdf, 0xc8df_fd41, 0xb4ff_ffc1]),
    // dmb ish; ldaxr x1, [x10]; mov x3, x1; cbz x3, 1b
    ("a barrier and a load-exclusive", &[0xd503_3bbf, 0xc85f_fd41, 0xaa01_03e3, 0xb4ff_ffa3]),
    // add x4, x4, #0x1; ldr x1, [x10]; cbz x1, 1b
    ("a loop that counts", &[0x9100_0484, 0xf940_0141, 0xb4ff_ffc1]),
    // ldr x1, [x10]; cbnz x1, way5; b 1b
    ("two blocks", &[0xf940_0141, 0xb500_0041, 0x17ff_fffe]),
    // bl 1b+0xc; cbz x1, 1b; b way6; ldr x1, [x10]; ret
    ("a call", &[0x9400_0003, 0xb4ff_ffe1, 0x1400_0003, 0xf940_0141, 0xd65f_03c0]),
    // mrs x4, cntvct_el0; ldr x1, [x10]; cbz x1, 1b
    ("a loop that reads the time", &[0xd53b_e044, 0xf940_0141, 0xb4ff_ffc1]),
    // ldr w4, [x11, #24]; ldr x1, [x10]; cbz x1, 1b
    ("a loop that reads a device", &[0xb940_1964, 0xf940_0141, 0xb4ff_ffc1]),
    // str x4, [x10, #32]; ldr x1, [x10]; cbz x1, 1b
    ("a loop that stores", &[0xf900_1144, 0xf940_0141, 0xb4ff_ffc1]),
    // eor x4, x4, #0x1; ldr x1, [x10]; cbz x1, 1b
    ("a loop that changes a register to and fro", &[0xd240_0084, 0xf940_0141, 0xb4ff_ffc1]),
    // wfe; ldxr x1, [x10]; cbz x1, 1b
    ("WFE", &[0xd503_205f, 0xc85f_7d41, 0xb4ff_ffc1]),
    // yield; ldr x1, [x10]; cbz x1, 1b
    ("YIELD", &[0xd503_203f, 0xf940_0141, 0xb4ff_ffc1]),
    // ldxr x1, [x10]; stxr w3, x1, [x10]; cbz x1, 1b
    ("a loop of exclusives", &[0xc85f_7d41, 0xc803_7d41, 0xb4ff_ffc1]),
];

/// For it each instruction is executed.
struct Listener;

impl Sink for Listener {
    fn detail(&self) -> Detail {
        Detail::Instructions
    }
    fn event(&mut self, _: u64, _: &Event) {}
}

fn outcome(mut machine: Machine) -> (Outcome, Vec<CpuSummary>, u64) {
    (machine.run(), machine.summary(), machine.state_hash())
}

/// What two CPUs with these pieces of memory come to, with loops that wait passed over, and executed.
fn both_ways(pieces: &[(u64, &[u32])]) -> [(Outcome, Vec<CpuSummary>, u64); 2] {
    [false, true].map(|listens| {
        let (mut machine, _) = machine("cortex-a57", 2, 10_000_000, pieces);
        if listens {
            (0..2).for_each(|cpu| machine.set_sink(cpu, Box::new(Listener)));
        }
        outcome(machine)
    })
}

#[test]
fn nothing_differs_where_a_loop_is_passed_over() {
    for (name, way) in WAYS {
        let [passed, executed] = both_ways(&[(ENTRY, &[FRAME, way, END].concat())]);
        assert_eq!(passed.0, Outcome::PoweredOff, "{name}");
        assert_eq!(passed, executed, "{name}");
    }
}

/// CPU 0 waits for a word that the handler of its timer's interrupt writes; CPU 1 is busy.
const INTERRUPTED: &[u32] = &[
    0x1000_4001, // adr x1, vectors
    0xd518_c001, // msr vbar_el1, x1
    0xd2a8_000a, // mov x10, #0x40000000
    0x914c_014a, // add x10, x10, #0x300, lsl #12
    0x52b8_8000, // mov w0, #0xc4000000
    0x1100_0c00, // add w0, w0, #0x3
    0xd280_0021, // mov x1, #0x1
    0x1000_0182, // adr x2, busy
    0xd400_0002, // hvc #0x0
    0xd286_0725, // mov x5, #0x3039
    0xd51b_e305, // msr cntv_tval_el0, x5
    0xd280_0025, // mov x5, #0x1
    0xd51b_e325, // msr cntv_ctl_el0, x5
    0xd503_42ff, // msr daifclr, #0x2
    0xf940_0141, // ldr x1, [x10]
    0xb4ff_ffe1, // cbz x1, busy-0x14
    0x52b0_8000, // mov w0, #0x84000000
    0x1100_2000, // add w0, w0, #0x8
    0xd400_0002, // hvc #0x0
    0x9100_0400, // add x0, x0, #0x1
    0x17ff_ffff, // b busy
];
/// The handler.
const HANDLER: &[u32] = &[
    0xd280_0046, // mov x6, #0x2
    0xd51b_e326, // msr cntv_ctl_el0, x6
    0xf900_0146, // str x6, [x10]
    0xd69f_03e0, // eret
];

#[test]
fn an_interrupt_comes_in_time() {
    let mut words = GIC_ON.to_vec();
    words.extend(INTERRUPTED);
    // ADR takes the place of the vectors as it is in INTERRUPTED alone, 2 KiB behind its begin.
    words.resize(GIC_ON.len() + (2048 + 0x280) / 4, 0);
    words.extend(HANDLER);
    let start = ENTRY + 2048 - 4 * GIC_ON.len() as u64;
    let jump = 0x1400_0000 + (start - ENTRY) as u32 / 4; // b start
    let [passed, executed] = both_ways(&[(ENTRY, &[jump]), (start, &words)]);
    assert_eq!(passed.0, Outcome::PoweredOff);
    assert_eq!(passed, executed);
}

/// 10^10 instructions would take minutes.
#[test]
fn a_loop_that_waits_takes_no_time() {
    let limit = 10_000_000_000;
    let (mut machine, _) = machine("cortex-a57", 1, limit, &[(ENTRY, &[0x1400_0000])]);
    assert_eq!(machine.run(), Outcome::Limit(Limit::Instructions(limit)));
    assert_eq!(machine.summary()[0].insns, limit);
}
