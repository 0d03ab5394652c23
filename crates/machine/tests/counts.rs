//! A fixed program does exactly what was worked out by hand: instructions at each level, exceptions, walks, barriers,
//! TLB maintenance, failed exclusives, interrupts, sleep.

mod common;

use arch::El;
use common::{ENTRY, Events, machine};
use event::{BarrierKind, Event, WalkCause};
use vambrace_machine::Outcome;

/// At `ENTRY`: EL1, first with the MMU off.
const EL1_CODE: &[u32] = &[
    0x1000_4000, // adr x0, vectors
    0xd518_c000, // msr vbar_el1, x0
    0xd280_0c81, // mov x1, #100
    0x9100_0442, // 1: add x2, x2, #1
    0xf100_0421, // subs x1, x1, #1
    0x54ff_ffc1, // b.ne 1b
    0x1000_1f43, // adr x3, data
    0xd503_3f5f, // clrex
    0xc804_7c62, // stxr w4, x2, [x3]: fails
    0xc804_7c62, // stxr w4, x2, [x3]: fails
    0xc85f_7c65, // ldxr x5, [x3]
    0xc804_7c62, // stxr w4, x2, [x3]
    0xc804_7c62, // stxr w4, x2, [x3]: fails
    0xd503_3bbf, // dmb ish
    0xd503_39bf, // dmb ishld
    0xd503_3f9f, // dsb sy
    0xd503_3fdf, // isb
    0x5800_0866, // ldr x6, mair
    0xd518_a206, // msr mair_el1, x6
    0x5800_0866, // ldr x6, tcr
    0xd518_2046, // msr tcr_el1, x6
    0x5800_0866, // ldr x6, ttbr
    0xd518_2006, // msr ttbr0_el1, x6
    0xd503_3fdf, // isb
    0xd508_871f, // tlbi vmalle1
    0xd503_379f, // dsb nsh
    0xd503_3fdf, // isb
    0x5800_07e6, // ldr x6, sctlr
    0xd518_1006, // msr sctlr_el1, x6: MMU on
    0xd503_3fdf, // isb
    0xd2b0_0007, // mov x7, #0x80000000
    0xd518_4027, // msr elr_el1, x7
    0xd280_7808, // mov x8, #0x3c0: EL0t
    0xd518_4008, // msr spsr_el1, x8
    0x9140_04ed, // add x13, x7, #0x1000
    0x9140_08ee, // add x14, x7, #0x2000
    0xd69f_03e0, // eret
    // 0x94, finish
    0xd508_8368, // tlbi vaae1is, x8
    0xd508_8748, // tlbi aside1, x8
    0xd503_3b9f, // dsb ish
    0xd503_3fdf, // isb
    0xd2a1_0000, // mov x0, #0x08000000: GICD
    0x5280_0241, // mov w1, #0x12
    0xb900_0001, // str w1, [x0]: GICD_CTLR, affinity routing and Group 1
    0xd2a1_0140, // mov x0, #0x080a0000: GICR
    0xb900_141f, // str wzr, [x0, #0x14]: GICR_WAKER
    0x9140_4000, // add x0, x0, #0x10000
    0x1280_0001, // mov w1, #-1
    0xb900_8001, // str w1, [x0, #0x80]: GICR_IGROUPR0
    0x52a1_0001, // mov w1, #1 << 27: the virtual timer
    0xb901_0001, // str w1, [x0, #0x100]: GICR_ISENABLER0
    0xd280_1fe1, // mov x1, #0xff
    0xd518_4601, // msr icc_pmr_el1, x1
    0xd280_0021, // mov x1, #1
    0xd518_cce1, // msr icc_igrpen1_el1, x1
    0xd53b_e042, // mrs x2, cntvct_el0
    0xd2a0_0203, // mov x3, #0x100000
    0x8b03_0042, // add x2, x2, x3
    0xd51b_e342, // msr cntv_cval_el0, x2
    0xd51b_e321, // msr cntv_ctl_el0, x1
    0xd503_3fdf, // isb
    0xd503_207f, // wfi
    0xd503_42ff, // msr daifclr, #2: the IRQ is taken
    0xd503_201f, // nop
    0x52b0_8000, // mov w0, #0x84000000
    0x1100_2000, // add w0, w0, #8
    0xd400_0002, // hvc #0: PSCI SYSTEM_OFF
    0x1400_0000, // b .
    // 0x110, handler of synchronous exceptions from EL0
    0xd538_520a, // mrs x10, esr_el1
    0xd35a_fd4b, // lsr x11, x10, #26
    0xf100_557f, // cmp x11, #0x15
    0x5400_00a0, // b.eq is_svc
    0xd538_402c, // mrs x12, elr_el1
    0x9100_118c, // add x12, x12, #4
    0xd518_402c, // msr elr_el1, x12
    0xd69f_03e0, // eret
    // is_svc
    0x9240_3d4b, // and x11, x10, #0xffff
    0xf103_fd7f, // cmp x11, #0xff
    0x54ff_fae0, // b.eq finish
    0xd69f_03e0, // eret
    // 0x140, irq
    0xd538_cc09, // mrs x9, icc_iar1_el1
    0xd51b_e33f, // msr cntv_ctl_el0, xzr
    0xd518_cc29, // msr icc_eoir1_el1, x9
    0xd69f_03e0, // eret
    // 0x150: MAIR_EL1, TCR_EL1 (4 KiB, 39 bits, no upper half), TTBR0_EL1, SCTLR_EL1 (M, C, I)
    0x0000_00ff,
    0,
    0x0080_3519,
    0,
    TABLES as u32,
    0,
    0x30d0_1805,
    0,
];
/// At `ENTRY + 0x800`, the two vectors that are used.
const IRQ_VECTOR: (u64, &[u32]) = (ENTRY + 0xa80, &[0x17ff_fdb0]); // b irq
const SYNC_VECTOR: (u64, &[u32]) = (ENTRY + 0xc00, &[0x17ff_fd44]); // b handler

/// At 0x8000_0000 for EL0.
const EL0_CODE: &[u32] = &[
    0xd400_0021, // svc #1
    0xd400_0041, // svc #2
    0xd400_0061, // svc #3
    0x0000_0000, // udf #0
    0x0000_0000, // udf #0
    0xd53b_0020, // mrs x0, ctr_el0: SCTLR_EL1.UCT is clear
    0xd53b_0020, // mrs x0, ctr_el0
    0xd420_00e0, // brk #7
    0xf940_01a1, // ldr x1, [x13]
    0xf900_01a1, // str x1, [x13]
    0xf940_01c1, // ldr x1, [x14]: not mapped
    0xd503_207f, // wfi: SCTLR_EL1.nTWI is clear
    0xd400_1fe1, // svc #0xff
];
const EL0_START: u64 = 0x8000_0000;

const TABLES: u64 = 0x4030_0000;
const EL0_DATA: u64 = 0x4030_3000;

/// A doubleword as two words.
const fn words(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

const AF: u64 = 1 << 10;
const XN: u64 = 3 << 53;
const UXN: u64 = 1 << 54;
const DEVICE: u64 = 1 << 2;
const TABLE: u64 = 3;
const PAGE: u64 = 3;
const BLOCK: u64 = 1;
const EL0_READ_WRITE: u64 = 1 << 6;
const EL0_READ_ONLY: u64 = 3 << 6;

/// Runs the program; gives what happened on its only CPU, and the instructions at EL0 and EL1.
fn run() -> (Vec<Event>, [u64; 2]) {
    // Level 1: devices, RAM, and a table for EL0; level 2; level 3: code, data, nothing.
    let devices = words(BLOCK | DEVICE | AF | XN);
    let ram = words(0x4000_0000 | BLOCK | AF | UXN);
    let level2 = words((TABLES + 0x1000) | TABLE);
    let level3 = words((TABLES + 0x2000) | TABLE);
    let code = words((ENTRY + 0x1000) | PAGE | AF | EL0_READ_ONLY);
    let data = words(EL0_DATA | PAGE | AF | EL0_READ_WRITE | XN);
    let (mut machine, _) = machine(
        "cortex-a57",
        1,
        1_000_000,
        &[
            (ENTRY, EL1_CODE),
            IRQ_VECTOR,
            SYNC_VECTOR,
            (ENTRY + 0x1000, EL0_CODE),
            (TABLES, &[devices, ram, level2].concat()),
            (TABLES + 0x1000, &level3),
            (TABLES + 0x2000, &[code, data].concat()),
        ],
    );
    let events = Events::default();
    machine.set_sink(0, Box::new(events.clone()));
    assert_eq!(machine.run(), Outcome::PoweredOff);
    let summary = machine.summary()[0];
    assert_eq!(summary.insns, summary.insns_by_el.iter().sum::<u64>());
    assert_eq!(summary.insns_by_el[2..], [0, 0]);
    // Slept from about the WFI to the deadline 0x100000 ticks after CNTVCT was read, 6 instructions before.
    assert!((0x10_0000 - 20..=0x10_0000).contains(&summary.idle_ticks), "{summary:?}");
    (events.all(), [summary.insns_by_el[0], summary.insns_by_el[1]])
}

fn count(events: &[Event], which: impl Fn(&Event) -> bool) -> usize {
    events.iter().filter(|event| which(event)).count()
}

#[test]
fn instructions_by_level() {
    let (_, [el0, el1]) = run();
    // SVC retires, and so do LDR and STR; what traps or faults does not.
    assert_eq!(el0, 4 + 2);
    let start = 37 + 99 * 3;
    // The vector's branch, 4 up to the decision, 4 that skip the instruction or look at the immediate.
    let skipped = 7 * (1 + 4 + 4);
    let svc = 3 * (1 + 4 + 4);
    let last_svc = 1 + 4 + 3;
    let finish = 30;
    let irq = 1 + 4;
    assert_eq!(el1, start + skipped + svc + last_svc + finish + irq);
}

#[test]
fn exceptions_with_their_syndromes() {
    let (events, _) = run();
    let taken: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Exception { from, to, esr, pc } => Some((*from, *to, *esr, pc.0 - EL0_START)),
            _ => None,
        })
        .collect();
    let expected: Vec<_> = [
        (0x5600_0001, 1), // SVC: the next instruction's address
        (0x5600_0002, 2),
        (0x5600_0003, 3),
        (0x0200_0000, 3), // unknown
        (0x0200_0000, 4),
        (0x6232_c001, 5), // MRS X0, CTR_EL0
        (0x6232_c001, 6),
        (0xf200_0007, 7),  // BRK
        (0x9200_0007, 10), // Data Abort: read, translation, level 3
        (0x07e0_0000, 11), // WFI
        (0x5600_00ff, 13),
    ]
    .map(|(esr, word)| (El::El0, El::El1, esr, 4 * word))
    .to_vec();
    assert_eq!(taken, expected);
    assert_eq!(count(&events, |e| matches!(e, Event::Irq { from: El::El1, to: El::El1 })), 1);
    assert_eq!(count(&events, |e| matches!(e, Event::Fiq { .. } | Event::SError { .. })), 0);
    // Into EL0 once, after each exception but the last, after the IRQ.
    assert_eq!(count(&events, |e| matches!(e, Event::ExceptionReturn { to: El::El0, .. })), 1 + 10);
    assert_eq!(count(&events, |e| matches!(e, Event::ExceptionReturn { to: El::El1, .. })), 1);
    assert_eq!(count(&events, |e| matches!(e, Event::Sleep)), 1);
}

#[test]
fn walks_and_tlb_maintenance() {
    let (events, _) = run();
    let walks: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Walk { steps, cause } => Some((*steps, *cause)),
            _ => None,
        })
        .collect();
    // RAM's block, once for fetches and data of EL1; EL0's page of code; its data; what is not mapped; the devices.
    let expected = [
        (1, WalkCause::Fetch),
        (3, WalkCause::Fetch),
        (3, WalkCause::Read),
        (3, WalkCause::Read),
        (1, WalkCause::Write),
    ];
    assert_eq!(walks, expected);
    assert_eq!(count(&events, |e| matches!(e, Event::TlbFill)), 4);
    // With the MMU off the TLB is empty; later ones name an address and an ASID of which nothing is held.
    let invalidations = count(&events, |e| matches!(e, Event::TlbInvalidate { removed: 0, .. }));
    assert_eq!((invalidations, count(&events, |e| matches!(e, Event::TlbInvalidate { .. }))), (3, 3));
}

#[test]
fn barriers_and_exclusives() {
    let (events, _) = run();
    let barriers = |kind| count(&events, |e| *e == Event::Barrier(kind));
    assert_eq!([BarrierKind::Dmb, BarrierKind::Dsb, BarrierKind::Isb, BarrierKind::Sb].map(barriers), [2, 3, 6, 0]);
    let failed = Event::ExclusiveFailed { pa: arch::Pa(ENTRY + 0x400) };
    assert_eq!(count(&events, |e| *e == failed), 3);
    assert_eq!(count(&events, |e| matches!(e, Event::ExclusiveFailed { .. })), 3);
}
