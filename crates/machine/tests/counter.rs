//! The system counter is one for all PEs (DDI 0487 D12.1.2): whatever one of them has seen of it, none sees less of it
//! afterwards, however they take turns.

mod common;

use arch::feature::Feature::FEAT_EL2;
use arch::preset::preset;
use common::{ENTRY, GIC_ON, machine, machine_of};
use vambrace_machine::{Outcome, QUANTUM};

/// CPUs 0 and 1 hand a lock to each other, and with it what the counter was. Less than that: SYSTEM_RESET.
const PASS: &[u32] = &[
    0xd280_0033, // mov x19, #0x1
    0x52b8_8000, // mov w0, #0xc4000000
    0x1100_0c00, // add w0, w0, #0x3
    0xd280_0021, // mov x1, #0x1
    0x1000_0082, // adr x2, 20
    0xd280_0023, // mov x3, #0x1
    0xd400_0002, // hvc #0x0
    0xd280_0000, // mov x0, #0x0
    0xaa00_03f5, // mov x21, x0
    0xd2a8_000a, // mov x10, #0x40000000
    0x914c_014a, // add x10, x10, #0x300, lsl #12
    0xd280_fa14, // mov x20, #0x7d0
    0xd37a_e413, // lsl x19, x0, #6
    0x9100_1a73, // add x19, x19, #0x6
    0xc85f_fd41, // ldaxr x1, [x10]
    0xb5ff_ffe1, // cbnz x1, 38
    0xd280_0022, // mov x2, #0x1
    0xc803_7d42, // stxr w3, x2, [x10]
    0x35ff_ff83, // cbnz w3, 38
    0xd503_3fdf, // isb
    0xd53b_e044, // mrs x4, cntvct_el0
    0xf940_0545, // ldr x5, [x10, #8]
    0xf900_0544, // str x4, [x10, #8]
    0xeb05_009f, // cmp x4, x5
    0x5400_01e3, // b.cc 9c
    0xc89f_fd5f, // stlr xzr, [x10]
    0xaa13_03e6, // mov x6, x19
    0xf100_04c6, // subs x6, x6, #0x1
    0x54ff_ffe1, // b.ne 6c
    0xf100_0694, // subs x20, x20, #0x1
    0x54ff_fe01, // b.ne 38
    0xb400_0075, // cbz x21, 88
    0xf900_0955, // str x21, [x10, #16]
    0x1400_0000, // b 84
    0xf940_0941, // ldr x1, [x10, #16]
    0xb4ff_ffe1, // cbz x1, 88
    0x52b0_8000, // mov w0, #0x84000000
    0x1100_2000, // add w0, w0, #0x8
    0xd400_0002, // hvc #0x0
    0x52b0_8000, // mov w0, #0x84000000
    0x1100_2400, // add w0, w0, #0x9
    0xd400_0002, // hvc #0x0
];

#[test]
fn what_one_cpu_saw_is_not_in_the_future_of_another() {
    let (mut machine, _) = machine("cortex-a57", 2, 10_000_000, &[(ENTRY, PASS)]);
    assert_eq!(machine.run(), Outcome::PoweredOff);
}

/// CPU 0 switches CPU 1 on and waits for a time, by some instructions, and then tells CPU 1 that it has come. CPU 1 looks at
/// its counter, and whether its own timer goes by the same count: SYSTEM_OFF if all is so, SYSTEM_RESET if not.
const TELL: &[u32] = &[
    0x52b8_8000, // mov w0, #0xc4000000
    0x1100_0c00, // add w0, w0, #0x3
    0xd280_0021, // mov x1, #0x1
    0x1000_01e2, // adr x2, 48
    0xd400_0002, // hvc #0x0
    0xd282_222b, // mov x11, #0x1111
    0xd2a8_000a, // mov x10, #0x40000000
    0x914c_014a, // add x10, x10, #0x300, lsl #12
    0xd53b_e041, // mrs x1, cntvct_el0
    0x8b0b_0021, // add x1, x1, x11
    0xd51b_e341, // msr cntv_cval_el0, x1
    0xd280_0022, // mov x2, #0x1
    0xd51b_e322, // msr cntv_ctl_el0, x2
    0xd503_3fdf, // isb
    0xd53b_e322, // mrs x2, cntv_ctl_el0
    0x3617_ffe2, // tbz w2, #2, 38
    0xf900_0141, // str x1, [x10]
    0x1400_0000, // b 44
    0xd2a8_000a, // mov x10, #0x40000000
    0x914c_014a, // add x10, x10, #0x300, lsl #12
    0xf940_0141, // ldr x1, [x10]
    0xb4ff_ffe1, // cbz x1, 50
    0xd503_3fdf, // isb
    0xd53b_e042, // mrs x2, cntvct_el0
    0x52b0_8000, // mov w0, #0x84000000
    0x1100_2000, // add w0, w0, #0x8
    0xeb01_005f, // cmp x2, x1
    0x5400_0163, // b.cc 98
    0xd51b_e342, // msr cntv_cval_el0, x2
    0xd280_0023, // mov x3, #0x1
    0xd51b_e323, // msr cntv_ctl_el0, x3
    0xd503_3fdf, // isb
    0xd53b_e323, // mrs x3, cntv_ctl_el0
    0x3610_00a3, // tbz w3, #2, 98
    0xd53b_e303, // mrs x3, cntv_tval_el0
    0x36f8_0043, // tbz w3, #31, 94
    0xd400_0002, // hvc #0x0
    0xb400_0043, // cbz x3, 9c
    0x1100_0400, // add w0, w0, #0x1
    0xd400_0002, // hvc #0x0
];
/// Where the delay is moved into a register, and where the waiting is.
const DELAY: usize = 5;
const WAIT: usize = 14;

/// Ways to wait for the virtual timer, whose compare value is in X1 as well.
const WAYS: [(&str, [u32; 2]); 3] = [
    ("ISTATUS", [TELL[WAIT], TELL[WAIT + 1]]),
    ("WFI", [0xd503_207f, 0xd503_201f]),
    ("WFIT", [0xd503_1021, 0xd503_201f]),
];

#[test]
fn a_time_that_has_come_has_come_everywhere() {
    let model = preset("max").unwrap().without_dependents(FEAT_EL2);
    for (name, way) in WAYS {
        for delay in [10, 1000, QUANTUM / 2, QUANTUM - 40, QUANTUM, 3 * QUANTUM / 2] {
            let mut words = GIC_ON.to_vec();
            words.extend(TELL);
            words[GIC_ON.len() + DELAY] = 0xd280_000b | (delay as u32) << 5; // mov x11, #delay
            words[GIC_ON.len() + WAIT..][..2].copy_from_slice(&way);
            let (mut machine, _) = machine_of(model.clone(), 2, 1_000_000, &[(ENTRY, &words)]);
            assert_eq!(machine.run(), Outcome::PoweredOff, "{name}, {delay} ticks");
        }
    }
}
