//! Switches between EL2 and the worlds below it, counted as they were worked out by hand: a hypervisor of a few
//! instructions at EL2 with E2H, its EL0, a guest under VMID 5, and a world without stage 2.

use std::io;

use arch::feature::modelled;
use arch::{El, Pa};
use cpu::Semihosting;
use event::World;
use machine::psci::Firmware;
use machine::{Board, BoardConfig, Controller, Devices, Limits, Machine, Outcome, Pace, Topology};
use vambrace_profile::{Counters, Counts, Exit, ExitKind, ExitSum, Place, Report, RunFacts, WorldCounts};

const ENTRY: u64 = 0x4020_0000;

/// At `ENTRY`: EL2.
const CODE: &[u32] = &[
    0x1000_4000, // adr x0, vectors
    0xd51c_c000, // msr vbar_el2, x0
    0x5800_0d80, // ldr x0, vtcr
    0xd51c_2140, // msr vtcr_el2, x0
    0x5800_0d80, // ldr x0, vttbr
    0xd51c_2100, // msr vttbr_el2, x0
    0x5800_0d80, // ldr x0, hcr_guest
    0xd51c_1100, // msr hcr_el2, x0
    0xd280_0020, // mov x0, #1
    0xd51c_cb00, // msr S3_4_C12_C11_0, x0 // ICH_HCR_EL2
    0xd2e8_0000, // mov x0, #1 << 62
    0xd51c_cc00, // msr S3_4_C12_C12_0, x0 // ICH_LR0_EL2
    0x1000_00a0, // adr x0, guest
    0xd51c_4020, // msr elr_el2, x0
    0xd280_78a0, // mov x0, #0x3c5
    0xd51c_4000, // msr spsr_el2, x0
    0xd69f_03e0, // eret
    // guest
    0xd400_0002, // hvc #0
    0xd400_0002, // hvc #0
    0xd538_0401, // mrs x1, id_aa64pfr0_el1
    0xd503_207f, // wfi
    0xd2b0_000a, // mov x10, #0x80000000
    0xf940_0142, // ldr x2, [x10]
    0xf940_0143, // ldr x3, [x10]
    0xf900_0142, // str x2, [x10]
    0xd50b_7e2a, // dc civac, x10
    0xd2a8_000b, // mov x11, #0x40000000
    0xf900_0162, // str x2, [x11]
    0x9160_016c, // add x12, x11, #0x800, lsl #12
    0xf940_0182, // ldr x2, [x12]
    0xd2c0_100d, // mov x13, #0x8000000000
    0xf940_01a2, // ldr x2, [x13]
    0xd63f_0140, // blr x10
    0xd508_871f, // tlbi vmalle1
    0xd518_200a, // msr ttbr0_el1, x10
    0xd280_032e, // mov x14, #25
    0xd518_204e, // msr tcr_el1, x14
    0xd538_100e, // mrs x14, sctlr_el1
    0xb240_01ce, // orr x14, x14, #1
    0xd518_100e, // msr sctlr_el1, x14
    0xd503_3fdf, // isb
    0xd400_0022, // hvc #1
    0xd400_0042, // hvc #2
    0xd503_42ff, // msr daifclr, #2
    0xd503_201f, // nop
    0xd400_0082, // hvc #4
    // other
    0xd503_201f, // nop
    0xd400_0062, // hvc #3
    // host_el0
    0xd503_201f, // nop
    0xd503_201f, // nop
    0xd400_0001, // svc #0
    // sync
    0xd53c_5214, // mrs x20, esr_el2
    0xd35a_fe95, // lsr x21, x20, #26
    0xf100_5abf, // cmp x21, #0x16
    0x5400_0200, // b.eq is_hvc
    0xf100_56bf, // cmp x21, #0x15
    0x5400_0440, // b.eq is_svc
    0xf100_82bf, // cmp x21, #0x20
    0x5400_00a0, // b.eq is_fetch
    0xd538_4036, // mrs x22, S3_0_C4_C0_1 // ELR_EL2 by its EL1 name
    0x9100_12d6, // add x22, x22, #4
    0xd51c_4036, // msr elr_el2, x22
    0xd69f_03e0, // eret
    // is_fetch
    0x3738_0074, // tbnz x20, #7, is_walk
    0xd51c_403e, // msr elr_el2, x30
    0xd69f_03e0, // eret
    // is_walk
    0xd53d_1015, // mrs x21, S3_5_C1_C0_0 // SCTLR_EL12
    0x927f_fab5, // bic x21, x21, #1
    0xd51d_1015, // msr S3_5_C1_C0_0, x21
    0xd69f_03e0, // eret
    // is_hvc
    0x9240_1e95, // and x21, x20, #0xff
    0xb500_0055, // cbnz x21, 1f
    0xd69f_03e0, // eret
    0xf100_06bf, // 1:  cmp x21, #1
    0x5400_0100, // b.eq to_host_el0
    0xf100_0abf, // cmp x21, #2
    0x5400_0260, // b.eq to_other
    0xf100_0ebf, // cmp x21, #3
    0x5400_0300, // b.eq back
    0x52b0_8000, // mov w0, #0x84000000
    0x1100_2000, // add w0, w0, #8
    0xd400_0003, // smc #0
    // to_host_el0
    0xd53c_4038, // mrs x24, elr_el2
    0xd53c_4019, // mrs x25, spsr_el2
    0x5800_0415, // ldr x21, hcr_host
    0xd51c_1115, // msr hcr_el2, x21
    0x10ff_fb55, // adr x21, host_el0
    0xd51c_4035, // msr elr_el2, x21
    0xd51c_401f, // msr spsr_el2, xzr
    0xd69f_03e0, // eret
    // is_svc
    0x5800_0315, // ldr x21, hcr_guest
    0xd51c_1115, // msr hcr_el2, x21
    0xd51c_4038, // msr elr_el2, x24
    0xd51c_4019, // msr spsr_el2, x25
    0xd69f_03e0, // eret
    // to_other
    0xd53c_4038, // mrs x24, elr_el2
    0xd51c_211f, // msr vttbr_el2, xzr
    0x5800_02b5, // ldr x21, hcr_other
    0xd51c_1115, // msr hcr_el2, x21
    0x10ff_f975, // adr x21, other
    0xd51c_4035, // msr elr_el2, x21
    0xd69f_03e0, // eret
    // back
    0x5800_0155, // ldr x21, vttbr
    0xd51c_2115, // msr vttbr_el2, x21
    0x5800_0215, // ldr x21, hcr_virq
    0xd51c_1115, // msr hcr_el2, x21
    0xd51c_4038, // msr elr_el2, x24
    0x1000_72b5, // adr x21, el1_vectors
    0xd51d_c015, // msr S3_5_C12_C0_0, x21 // VBAR_EL12
    0xd69f_03e0, // eret
    // vtcr:
    0x8002_0059, // 1 << 31 | 2 << 16 | 1 << 6 | 25
    0x0000_0000,
    // vttbr:
    0x4030_0000, // 5 << 48 | 0x40300000
    0x0005_0000,
    // hcr_guest:
    0x8204_2001, // 1 << 34 | 1 << 31 | 1 << 25 | 1 << 18 | 1 << 13 | 1
    0x0000_0004,
    // hcr_host:
    0x8800_0000, // 1 << 34 | 1 << 31 | 1 << 27
    0x0000_0004,
    // hcr_other:
    0x8000_0000, // 1 << 34 | 1 << 31
    0x0000_0004,
    // hcr_virq:
    0x8000_0091, // 1 << 34 | 1 << 31 | 1 << 7 | 1 << 4 | 1
    0x0000_0004,
];
/// The vectors: synchronous exceptions of lower levels to EL2, and IRQs of EL1.
const EL2_SYNC: (u64, &[u32]) = (ENTRY + 0xc00, &[0x17ff_fd33]); // b sync
const EL1_IRQ: (u64, &[u32]) = (
    ENTRY + 0x1280,
    &[
        0xd538_c109, // mrs x9, isr_el1
        0xb279_01ef, // orr x15, x15, #0x80
        0xd538_4010, // mrs x16, spsr_el1
        0xaa0f_0210, // orr x16, x16, x15
        0xd518_4010, // msr spsr_el1, x16
        0xd69f_03e0, // eret
    ],
);

/// Tables of stage 2, from level 1: at 1 GiB a table, whose 2 MiB blocks are read-only, read-write (the code), and at
/// 8 MiB without access flag; at 2 GiB a table of nothing.
const TABLES: &[(u64, &[u32])] = &[
    (0x4030_0000, &[0, 0, 0x4030_1003, 0, 0x4030_2003, 0]),
    (0x4030_1000, &[0x4000_077d, 0, 0x4020_07fd, 0, 0, 0, 0, 0, 0x4080_03fd, 0]),
];

const GUEST: Place = Place::Below(World { vmid: 5, stage2: true });
const OTHER: Place = Place::Below(World { vmid: 0, stage2: false });

/// Runs the program; gives what was counted, and the instructions at each level.
fn run() -> (Counts, [u64; 4]) {
    let model = arch::preset::hardware("neoverse-n1").unwrap().limited_to(&modelled());
    let board = Board::new(BoardConfig {
        models: vec![model],
        memory: 16 << 20,
        topology: Topology::default(),
        devices: Devices::default(),
        firmware: None,
        console: Box::new(io::sink()),
        policy: arch::policy::Policy::Benign,
        seed: 0,
        semihosting: Semihosting::Off,
        epoch: 0,
        controller: Controller::default(),
    })
    .unwrap();
    for (address, words) in [(ENTRY, CODE), EL2_SYNC, EL1_IRQ].iter().chain(TABLES) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        board.bus.ram().write_bytes(address - 0x4000_0000, &bytes).unwrap();
    }
    let limits = Limits { steps: Some(10_000), pause: None, timeout: None };
    let mut machine = Machine::new(board, Pa(ENTRY), 0, Pace::Instructions, limits, Firmware::new(0));
    let counters = Counters::new();
    machine.set_sink(0, counters.sink());
    assert_eq!(machine.run(), Outcome::PoweredOff);
    let insns = machine.summary()[0].insns_by_el;
    (counters.counts().settled(insns), insns)
}

/// The exits by name.
fn exits(world: &WorldCounts) -> Vec<(String, ExitSum)> {
    world.exits.iter().map(|(kind, sum)| (vambrace_profile::exit_name(*kind), *sum)).collect()
}

/// All of them with as many instructions.
fn sum(times: u64, el2: u64) -> ExitSum {
    ExitSum { times, el2, most_el2: el2 / times, host_el0: 0, through_el0: 0 }
}

#[test]
fn instructions_of_each_world() {
    let (counts, insns) = run();
    let of = |place: Place| counts.worlds.by_place[&place].insns;
    // What traps or faults does not retire; HVC does, and SVC.
    let irq = 6;
    assert_eq!(of(GUEST), [0, 19 + irq, 0, 0]);
    assert_eq!(of(OTHER), [0, 2, 0, 0]);
    let start = 17;
    assert_eq!(of(Place::Own), [3, 0, start + 10 * 13 + 12 + 14 + (16 + 29 + 18 + 16) + 21, 0]);
    // Nothing is left out and nothing counted twice.
    let total = |el: usize| counts.worlds.by_place.values().map(|world| world.insns[el]).sum::<u64>();
    assert_eq!([0, 1, 2, 3].map(total), insns);
}

#[test]
fn exits_with_what_they_cost() {
    let (counts, _) = run();
    let guest = &counts.worlds.by_place[&GUEST];
    // The vector's branch, 8 to find what it is, 4 to skip the instruction.
    let skip = 1 + 8 + 4;
    // Two that return at once; one by the host's EL0 and its SVC; one that goes to the other world; one that never returns.
    let hvc = ExitSum { times: 5, el2: 2 * 8 + (17 + 12) + 18 + 16, most_el2: 17 + 12, host_el0: 3, through_el0: 1 };
    let mut expected = vec![
        ("Hvc", hvc),
        ("ID_AA64PFR0_EL1 read", sum(1, skip)),
        ("TLBI VMALLE1", sum(1, skip)),
        ("WFI", sum(1, skip)),
        ("stage 2 access flag level 2, read", sum(1, skip)),
        ("stage 2 permission level 2, write", sum(1, skip)),
        ("stage 2 translation level 0, read", sum(1, skip)),
        ("stage 2 translation level 2, fetch", sum(1, 1 + 8 + 3)),
        ("stage 2 translation level 2, maintenance", sum(1, skip)),
        ("stage 2 translation level 2, read", sum(2, 2 * skip)),
        ("stage 2 translation level 2, walk", sum(1, 1 + 8 + 5)),
        ("stage 2 translation level 2, write", sum(1, skip)),
    ];
    expected.sort_by_key(|(name, _)| *name);
    let mut found = exits(guest);
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let expected: Vec<_> = expected.into_iter().map(|(name, sum)| (name.to_owned(), sum)).collect();
    assert_eq!(found, expected);
    assert_eq!(exits(&counts.worlds.by_place[&OTHER]), [("Hvc".to_owned(), sum(1, 21))]);
}

#[test]
fn entries_and_what_happened_within() {
    let (counts, _) = run();
    let (guest, other) = (&counts.worlds.by_place[&GUEST], &counts.worlds.by_place[&OTHER]);
    // Every exit but the last is followed by an entry; the first entry follows none.
    let times = guest.exits.values().map(|sum| sum.times).sum::<u64>();
    assert_eq!((times, guest.entries, other.entries), (17, 17, 1));
    assert_eq!(guest.next, [(World { vmid: 5, stage2: true }, 15), (World { vmid: 0, stage2: false }, 1)].into());
    assert_eq!(other.next, [(World { vmid: 5, stage2: true }, 1)].into());
    assert_eq!((&guest.list_registers, &other.list_registers), (&[(1, 17)].into(), &[(1, 1)].into()));
    let of_kind = |kind: &ExitKind| matches!(kind, ExitKind::Stage2(_));
    let faults: u64 = guest.exits.iter().filter(|(kind, _)| of_kind(kind)).map(|(_, sum)| sum.times).sum();
    assert_eq!((faults, guest.stage2_faults.values().sum::<u64>()), (9, 9));
    // The virtual IRQ is the guest's own; the SVC of the host's EL0 is no world's.
    assert_eq!(guest.exceptions.levels, [((El::El1, El::El1), 1), ((El::El1, El::El2), 17)].into());
    assert_eq!((guest.exceptions.irqs, counts.exceptions.levels[&(El::El0, El::El2)]), (1, 1));
}

#[test]
fn the_report_has_it() {
    let (counts, insns_by_el) = run();
    let facts = RunFacts { insns: insns_by_el.iter().sum(), insns_by_el, ticks: 0, idle_ticks: 0 };
    let report = Report::new(&[(facts, counts)], Exit { reason: "powered off".into(), status: 0 }, 0, 1.0);
    let value: serde_json::Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
    let worlds = &value["worlds"];
    assert_eq!(worlds["VMID 5"]["below"]["exits"]["Hvc"]["mean_el2_insns"], 15.8);
    assert_eq!(worlds["VMID 5"]["below"]["exits"]["Hvc"]["most_el2_insns"], 29);
    assert_eq!(worlds["VMID 5"]["below"]["stage2_faults"]["translation level 2, walk"], 1);
    assert_eq!(worlds["VMID 5"]["below"]["list_registers_in_use"]["01"], 17);
    assert_eq!(worlds["VMID 0, stage 2 off"]["below"]["next_world"]["VMID 5"], 1);
    assert_eq!(worlds["EL2"]["insns_by_el"]["EL0"], 3);
    assert!(worlds["EL2"]["below"].is_null() && value["cpus"][0]["worlds"] == *worlds);
    let text = report.summary();
    for part in [
        "25 instructions (EL1 25), 17 entries",
        "17, with 235 instructions at EL2: Hvc 5 x 15.8;",
        "in use at entry: 1 17",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}
