//! The performance monitors count exactly what was worked out by hand.

mod common;

use arch::CpuModel;
use arch::feature::{Feature, modelled};
use common::{ENTRY, machine_of};
use vambrace_machine::Outcome;

const BY_WORD: &[u32] = &[
    0x1000_4000, // adr x0, .+0x800
    0xd518_c000, // msr vbar_el1, x0
    0x9140_040a, // add x10, x0, #0x1000
    0x5280_00c0, // mov w0, #0x6
    0xd51b_ec00, // msr pmevtyper0_el0, x0
    0x5280_00e0, // mov w0, #0x7
    0xd51b_ec20, // msr pmevtyper1_el0, x0
    0x5280_0420, // mov w0, #0x21
    0xd51b_ec40, // msr pmevtyper2_el0, x0
    0x5280_01a0, // mov w0, #0xd
    0xd51b_ec60, // msr pmevtyper3_el0, x0
    0x5280_01c0, // mov w0, #0xe
    0xd51b_ec80, // msr pmevtyper4_el0, x0
    0x5280_0120, // mov w0, #0x9
    0xd51b_eca0, // msr pmevtyper5_el0, x0
    0x5280_07e0, // mov w0, #0x3f
    0xd51b_9c20, // msr pmcntenset_el0, x0
    0x5280_0020, // mov w0, #1
    0xd51b_9c00, // msr pmcr_el0, x0
    0xd280_0149, // mov x9, #10
    0xf940_0141, // 1:  ldr x1, [x10]
    0xf900_0141, // str x1, [x10]
    0xa940_0d42, // ldp x2, x3, [x10]
    0xf821_0144, // ldadd x1, x4, [x10]
    0xf980_0140, // prfm pldl1keep, [x10]
    0xf100_0529, // subs x9, x9, #1
    0x54ff_ff41, // b.ne 1b
    0x9400_000f, // bl function
    0xb400_003f, // cbz xzr, 2f
    0x1000_0041, // 2:  adr x1, 3f
    0xd61f_0020, // br x1
    0xd400_0001, // 3:  svc #0
    0xd51b_9c1f, // msr pmcr_el0, xzr
    0xd53b_e814, // mrs x20, pmevcntr0_el0
    0xd53b_e835, // mrs x21, pmevcntr1_el0
    0xd53b_e856, // mrs x22, pmevcntr2_el0
    0xd53b_e877, // mrs x23, pmevcntr3_el0
    0xd53b_e898, // mrs x24, pmevcntr4_el0
    0xd53b_e8b9, // mrs x25, pmevcntr5_el0
    0x52b0_8000, // mov w0, #0x84000000
    0x1100_2000, // add w0, w0, #8
    0xd400_0002, // hvc #0
    // function
    0xd65f_03c0, // ret
];
const BY_PLACE: &[u32] = &[
    0x1000_4000, // adr x0, .+0x800
    0xd518_c000, // msr vbar_el1, x0
    0x5280_0140, // mov w0, #0xa
    0xd51b_ec00, // msr pmevtyper0_el0, x0
    0x5280_0160, // mov w0, #0xb
    0xd51b_ec20, // msr pmevtyper1_el0, x0
    0x5280_0380, // mov w0, #0x1c
    0xd51b_ec40, // msr pmevtyper2_el0, x0
    0x5280_0100, // mov w0, #0x8
    0xd51b_ec60, // msr pmevtyper3_el0, x0
    0x5280_0220, // mov w0, #0x11
    0xd51b_ec80, // msr pmevtyper4_el0, x0
    0x5280_0120, // mov w0, #0x9
    0xd51b_eca0, // msr pmevtyper5_el0, x0
    0x5280_07e0, // mov w0, #0x3f
    0xd51b_9c20, // msr pmcntenset_el0, x0
    0x5280_0020, // mov w0, #1
    0xd51b_9c00, // msr pmcr_el0, x0
    0xd400_0001, // svc #0
    0xd400_0001, // svc #0
    0xd518_d020, // msr contextidr_el1, x0
    0xd518_201f, // msr ttbr0_el1, xzr
    0xd518_203f, // msr ttbr1_el1, xzr
    0xd538_2001, // mrs x1, ttbr0_el1
    0xd518_d020, // msr contextidr_el1, x0
    0xd518_d020, // msr contextidr_el1, x0
    0xd51b_9c1f, // msr pmcr_el0, xzr
    0xd53b_e814, // mrs x20, pmevcntr0_el0
    0xd53b_e835, // mrs x21, pmevcntr1_el0
    0xd53b_e856, // mrs x22, pmevcntr2_el0
    0xd53b_e877, // mrs x23, pmevcntr3_el0
    0xd53b_e898, // mrs x24, pmevcntr4_el0
    0xd53b_e8b9, // mrs x25, pmevcntr5_el0
    0x52b0_8000, // mov w0, #0x84000000
    0x1100_2000, // add w0, w0, #8
    0xd400_0002, // hvc #0
];
const CHAINED: &[u32] = &[
    0x5280_0100, // mov w0, #0x8
    0xd51b_ec00, // msr pmevtyper0_el0, x0
    0x5280_03c0, // mov w0, #0x1e
    0xd51b_ec20, // msr pmevtyper1_el0, x0
    0xb240_7fe0, // mov x0, #0xffffffff
    0xd101_8c00, // sub x0, x0, #99
    0xd51b_e800, // msr pmevcntr0_el0, x0
    0xd280_7d09, // mov x9, #1000
    0x5280_07e0, // mov w0, #0x3f
    0xd51b_9c20, // msr pmcntenset_el0, x0
    0x5280_0020, // mov w0, #1
    0xd51b_9c00, // msr pmcr_el0, x0
    0xf100_0529, // 1:  subs x9, x9, #1
    0x54ff_ffe1, // b.ne 1b
    0xd51b_9c1f, // msr pmcr_el0, xzr
    0xd53b_e814, // mrs x20, pmevcntr0_el0
    0xd53b_e835, // mrs x21, pmevcntr1_el0
    0xd53b_9e76, // mrs x22, pmovsset_el0
    0x52b0_8000, // mov w0, #0x84000000
    0x1100_2000, // add w0, w0, #8
    0xd400_0002, // hvc #0
];
const INTERRUPTED: &[u32] = &[
    0x1000_4000, // adr x0, .+0x800
    0xd518_c000, // msr vbar_el1, x0
    0xd2a1_0000, // mov x0, #0x08000000: GICD
    0x5280_0241, // mov w1, #0x12
    0xb900_0001, // str w1, [x0]: GICD_CTLR: affinity routing, Group 1
    0xd2a1_0140, // mov x0, #0x080a0000: GICR
    0xb900_141f, // str wzr, [x0, #0x14]: GICR_WAKER
    0x9140_4000, // add x0, x0, #0x10, lsl #12
    0x1280_0001, // mov w1, #-1
    0xb900_8001, // str w1, [x0, #0x80]: GICR_IGROUPR0
    0x52a0_1001, // mov w1, #1 << 23
    0xb901_0001, // str w1, [x0, #0x100]: GICR_ISENABLER0
    0xd280_1fe1, // mov x1, #0xff
    0xd518_4601, // msr icc_pmr_el1, x1
    0xd280_0021, // mov x1, #1
    0xd518_cce1, // msr icc_igrpen1_el1, x1
    0x5280_0100, // mov w0, #8
    0xd51b_ec00, // msr pmevtyper0_el0, x0
    0x1280_7ce0, // mov w0, #-1000
    0xd51b_e800, // msr pmevcntr0_el0, x0
    0x5280_0020, // mov w0, #1
    0xd518_9e20, // msr pmintenset_el1, x0
    0xd51b_9c20, // msr pmcntenset_el0, x0
    0xd503_42ff, // msr daifclr, #2
    0x5280_0013, // mov w19, #0
    0xd51b_9c00, // msr pmcr_el0, x0
    0x1100_0673, // 1:  add w19, w19, #1
    0x17ff_ffff, // b 1b
];
const TWO_RANGES: &[u32] = &[
    0xd2b0_0000, // mov x0, #0x80000000
    0xd51c_1100, // msr hcr_el2, x0
    0x5280_1040, // mov w0, #2 | 1 << 7
    0x72a0_0000, // movk w0, #0, lsl #16: HPMD comes here
    0xd51c_1120, // msr mdcr_el2, x0
    0x52a1_0000, // mov w0, #0x08000000
    0x1100_2000, // add w0, w0, #8
    0xd51b_ec00, // msr pmevtyper0_el0, x0
    0xd51b_ec40, // msr pmevtyper2_el0, x0
    0x5280_0100, // mov w0, #8
    0xd51b_ec60, // msr pmevtyper3_el0, x0
    0x5280_01e0, // mov w0, #0xf
    0xd51b_9c20, // msr pmcntenset_el0, x0
    0xd53b_9c14, // mrs x20, pmcr_el0
    0x1000_0100, // adr x0, lower
    0xd51c_4020, // msr elr_el2, x0
    0x5280_78a0, // mov w0, #0x3c5
    0xd51c_4000, // msr spsr_el2, x0
    0x1000_3dc0, // adr x0, .+0x7b8
    0xd51c_c000, // msr vbar_el2, x0
    0xd518_c000, // msr vbar_el1, x0
    0xd69f_03e0, // eret
    // lower
    0xd53b_9c15, // mrs x21, pmcr_el0
    0xd53b_9c36, // mrs x22, pmcntenset_el0
    0x5280_0020, // mov w0, #1
    0xd51b_9c00, // msr pmcr_el0, x0
    0xd51b_9c41, // msr pmcntenclr_el0, x1
    0x5280_0060, // mov w0, #3
    0xd51b_9c00, // msr pmcr_el0, x0
    0xd280_0017, // mov x23, #0
    0xd53b_e840, // mrs x0, pmevcntr2_el0: UNDEFINED
    0xd503_201f, // nop
    0xd400_0002, // hvc #0
];
const SKIP: &[u32] = &[
    0xd538_4021, // mrs x1, elr_el1
    0x9100_1021, // add x1, x1, #4
    0xd518_4021, // msr elr_el1, x1
    0xd280_0037, // mov x23, #1
    0xd69f_03e0, // eret
];
const TO_EL2: &[u32] = &[
    0xd503_201f, // nop
    0xd53b_e818, // mrs x24, pmevcntr0_el0
    0xd53b_e859, // mrs x25, pmevcntr2_el0
    0xd53b_e87a, // mrs x26, pmevcntr3_el0
    0x52b0_8000, // mov w0, #0x84000000
    0x1100_2000, // add w0, w0, #8
    0xd400_0003, // smc #0
];
const ON_IRQ: &[u32] = &[
    0xd538_4034, // mrs x20, elr_el1
    0x2a13_03f5, // mov w21, w19
    0xd53b_e816, // mrs x22, pmevcntr0_el0
    0xd538_cc17, // mrs x23, icc_iar1_el1
    0x52b0_8000, // mov w0, #0x84000000
    0x1100_2000, // add w0, w0, #8
    0xd400_0002, // hvc #0
];
const FROZEN: &[u32] = &[
    0x5280_0100, // mov w0, #0x8
    0xd51b_ec00, // msr pmevtyper0_el0, x0
    0x5280_0100, // mov w0, #0x8
    0xd51b_ec20, // msr pmevtyper1_el0, x0
    0x5280_00c0, // mov w0, #0x6
    0xd51b_ec40, // msr pmevtyper2_el0, x0
    0x1280_0120, // mov w0, #-10
    0xd51b_e800, // msr pmevcntr0_el0, x0
    0x5280_00e0, // mov w0, #7
    0x72b0_0000, // movk w0, #0x8000, lsl #16
    0xd51b_9c20, // msr pmcntenset_el0, x0
    0x5280_4020, // mov w0, #0x201: E, FZO
    0x5280_0c89, // mov w9, #100
    0xd51b_9c00, // msr pmcr_el0, x0
    0xf100_0529, // 1:  subs x9, x9, #1
    0x54ff_ffe1, // b.ne 1b
    0xd53b_e814, // mrs x20, pmevcntr0_el0
    0xd53b_e835, // mrs x21, pmevcntr1_el0
    0xd53b_9d16, // mrs x22, pmccntr_el0
    0xd53b_9c77, // mrs x23, pmovsclr_el0
    0x5280_4420, // mov w0, #0x221: DP as well
    0xd51b_9c00, // msr pmcr_el0, x0
    0xd503_3fdf, // isb
    0xd53b_9d18, // mrs x24, pmccntr_el0
    0xd503_201f, // nop
    0xd53b_9d19, // mrs x25, pmccntr_el0
    0x5280_0020, // mov w0, #1
    0xd51b_9c60, // msr pmovsclr_el0, x0
    0xd503_201f, // nop
    0xd503_201f, // nop
    0xd53b_e83a, // mrs x26, pmevcntr1_el0
    0x52b0_8000, // mov w0, #0x84000000
    0x1100_2000, // add w0, w0, #8
    0xd400_0002, // hvc #0
];

/// A return from an exception.
const ERET: &[u32] = &[0xd69f_03e0];
/// Offsets of vectors from the entry: of synchronous exceptions and IRQs of the same level, and of synchronous ones from
/// below.
const SYNC: u64 = 0x800 + 0x200;
const IRQ: u64 = 0x800 + 0x280;
const LOWER_SYNC: u64 = 0x800 + 0x400;

fn model(name: &str) -> CpuModel {
    arch::preset::hardware(name).expect("a preset").limited_to(&modelled())
}

/// Runs `code` on one CPU of `model`, with `more` at offsets from it; gives X19 to X26 at the end.
fn run(model: CpuModel, code: &[u32], more: &[(u64, &[u32])]) -> [u64; 8] {
    let mut pieces = vec![(ENTRY, code)];
    pieces.extend(more.iter().map(|(offset, words)| (ENTRY + offset, *words)));
    let (mut machine, _) = machine_of(model, 1, 100_000, &pieces);
    assert_eq!(machine.run(), Outcome::PoweredOff);
    std::array::from_fn(|n| machine.board().cpus[0].pe.x_register(19 + n))
}

/// `name` without EL2, so that the program is at EL1.
fn el1(name: &str) -> CpuModel {
    model(name).without_dependents(Feature::FEAT_EL2)
}

#[test]
fn events_of_single_instructions() {
    let [_, loads, stores, branches, immediate, returns, exceptions, _] =
        run(el1("neoverse-n1"), BY_WORD, &[(SYNC, ERET)]);
    assert_eq!((loads, stores), (10 * 3, 10 * 2));
    // B.NE ten times, BL, RET, CBZ, BR, ERET.
    assert_eq!((branches, immediate, returns), (10 + 5, 10 + 2, 1));
    assert_eq!(exceptions, 1);
}

#[test]
fn events_counted_where_they_happen() {
    let [_, returns, context_ids, tables, instructions, cycles, exceptions, _] =
        run(el1("cortex-a57"), BY_PLACE, &[(SYNC, ERET)]);
    assert_eq!((returns, exceptions), (2, 2));
    assert_eq!((context_ids, tables), (3, 2));
    // SVC and ERET twice, six, and the write that ends it; an exception is a cycle as well.
    assert_eq!((instructions, cycles), (4 + 6 + 1, 4 + 6 + 1 + 2));
}

#[test]
fn a_counter_chains_to_the_next() {
    let [_, low, high, overflowed, ..] = run(el1("cortex-a57"), CHAINED, &[]);
    assert_eq!((high << 32 | low, overflowed), ((1 << 32) - 100 + 2001, 1));
}

#[test]
fn the_interrupt_comes_after_the_instruction_that_overflows() {
    let [_, elr, rounds, count, intid, ..] = run(el1("cortex-a57"), INTERRUPTED, &[(IRQ, ON_IRQ)]);
    // A thousand instructions are 500 rounds of the loop of two, which is the program's last.
    assert_eq!((rounds, elr), (500, ENTRY + 4 * (INTERRUPTED.len() as u64 - 2)));
    // The counter goes on: two instructions of the handler.
    assert_eq!((count, intid), (2, 23));
}

#[test]
fn overflow_freezes_the_others() {
    let mut frozen = FROZEN.to_vec();
    let [_, first, second, cycles, overflowed, stopped, later, again] = run(el1("max"), &frozen, &[]);
    assert_eq!((first, second, overflowed), (1 << 32, 10, 1));
    // Cycles go on without DP, and not with it.
    assert_eq!((cycles, stopped, later), (200 + 2, 200 + 6, 200 + 6));
    // Once the overflow is cleared the counter goes on.
    assert_eq!(again, 10 + 2);
    // Without FZO nothing stops.
    for word in &mut frozen {
        match *word {
            0x5280_4020 => *word = 0x5280_0020,
            0x5280_4420 => *word = 0x5280_0420,
            _ => {}
        }
    }
    let [_, first, second, cycles, ..] = run(el1("max"), &frozen, &[]);
    assert_eq!((first, second, cycles), ((1 << 32) + 190, 201, 202));
}

/// MDCR_EL2.HPMN is 2: counters 0 and 1 are EL1's, the others EL2's.
#[test]
fn el2_keeps_counters_for_itself() {
    let more: &[(u64, &[u32])] = &[(SYNC, SKIP), (LOWER_SYNC, TO_EL2)];
    let [_, control, lower_control, enabled, undefined, first, second, el1_only] =
        run(model("neoverse-n1"), TWO_RANGES, more);
    assert_eq!((control >> 11 & 31, lower_control >> 11 & 31), (6, 2));
    assert_eq!((enabled, undefined), (3, 1));
    let (el2_before, at_el1, skip) = (9, 10, 5);
    // EL1's reset did not reach the second range, which MDCR_EL2.HPME enables.
    assert_eq!((second, el1_only), (el2_before + at_el1 + skip + 2, at_el1 + skip));
    // The reset came before the last three; then a NOP at EL2.
    assert_eq!(first, 3 + skip + 1);

    let mut prohibited = TWO_RANGES.to_vec();
    assert_eq!(prohibited[3], 0x72a0_0000);
    // MOVK W0, #2, LSL #16: HPMD.
    prohibited[3] |= 2 << 5;
    let [.., first, second, _] = run(model("neoverse-n1"), &prohibited, more);
    assert_eq!((first, second), (3 + skip, el2_before + at_el1 + skip + 2));
}

/// A program that never asks sees the same time and the same counts as one that a counter watches.
#[test]
fn watching_changes_nothing() {
    let mut unwatched = INTERRUPTED.to_vec();
    let limit = 5_000;
    let run = |code: &[u32]| {
        let (mut machine, _) = machine_of(el1("cortex-a57"), 1, limit, &[(ENTRY, code)]);
        let _ = machine.run();
        machine.summary()
    };
    // MSR DAIFCLR becomes a NOP: the interrupt is never taken.
    let place = unwatched.iter().position(|word| *word == 0xd503_42ff).expect("it is there");
    unwatched[place] = 0xd503_201f;
    let watched = run(&unwatched);
    // And no interrupt is asked for.
    let place = unwatched.iter().position(|word| *word == 0xd518_9e20).expect("it is there");
    unwatched[place] = 0xd503_201f;
    assert_eq!(watched, run(&unwatched));
}
