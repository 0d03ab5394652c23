//! The virtual CPU interface: list registers, what a guest does to them, maintenance interrupts.

use super::*;

const fn lr(n: u16) -> Enc {
    Enc::new(3, 4, 12, 12 + n / 8, n % 8)
}
const HCR: Enc = Enc::new(3, 4, 12, 11, 0);
const VTR: Enc = Enc::new(3, 4, 12, 11, 1);
const MISR: Enc = Enc::new(3, 4, 12, 11, 2);
const EISR: Enc = Enc::new(3, 4, 12, 11, 3);
const ELRSR: Enc = Enc::new(3, 4, 12, 11, 5);
const VMCR: Enc = Enc::new(3, 4, 12, 11, 7);
const AP0R0: Enc = Enc::new(3, 4, 12, 8, 0);
const AP1R0: Enc = Enc::new(3, 4, 12, 9, 0);

const PENDING: u64 = 1 << 62;
const ACTIVE: u64 = 2 << 62;
const HW: u64 = 1 << 61;
const GROUP1: u64 = 1 << 60;
const EOI: u64 = 1 << 41;
const VIRQ: u32 = CpuLines::VIRQ;
const VFIQ: u32 = CpuLines::VFIQ;
/// Both groups on, every priority passes, binary points 2 and 3.
const OPEN: u64 = 0xff << 24 | 2 << 21 | 3 << 18 | 3;
const SPLIT: u64 = 1 << 9;
/// EOIcount of one.
const ONE_END: u64 = 1 << 27;

const fn priority(priority: u64) -> u64 {
    priority << 48
}
/// A pending interrupt of group 1 with priority 0x80.
const fn irq(intid: u64) -> u64 {
    irq_at(0x80, intid)
}
/// A pending interrupt of group 1.
const fn irq_at(value: u64, intid: u64) -> u64 {
    PENDING | GROUP1 | priority(value) | intid
}

/// A board of one PE whose virtual interface is `properties`.
fn board(properties: &str, policy: Policy) -> Board {
    let mut interface = VirtualInterface::DEFAULT;
    if !properties.is_empty() {
        interface.apply(properties).unwrap();
    }
    Board::with_interfaces(vec![0], 224, Sleep::Awake, interface, policy)
}

/// Runs a script on a virtual interface that is on and open.
fn open(name: &str, properties: &str, script: &[Step]) {
    let mut board = board(properties, Policy::Benign);
    board.run(name, &[Ich(HCR, 1), Ich(VMCR, OPEN)]);
    board.run(name, script);
}

#[test]
fn life_of_a_virtual_interrupt() {
    open(
        "EOImode 0",
        "",
        &[
            Ich(lr(1), irq(40)),
            Wires(0, VIRQ),
            IcvIs(icc::HPPIR1, 40),
            IcvIs(icc::HPPIR0, 1023),
            IcvIs(icc::IAR0, 1023),
            IcvIs(icc::IAR1, 40),
            Wires(0, 0),
            IcvIs(icc::RPR, 0x80),
            IchIs(AP1R0, 1 << 16),
            IchIs(lr(1), irq(40) ^ PENDING | ACTIVE),
            Icv(icc::EOIR1, 40),
            IcvIs(icc::RPR, 0xff),
            IchIs(lr(1), irq(40) ^ PENDING),
            IchIs(HCR, 1),
        ],
    );
    open(
        "EOImode 1",
        "",
        &[
            Ich(VMCR, OPEN | SPLIT),
            Ich(lr(0), irq(40) ^ GROUP1),
            Wires(0, VFIQ),
            IcvIs(icc::IAR0, 40),
            Icv(icc::EOIR0, 40),
            IcvIs(icc::RPR, 0xff),
            IchIs(lr(0), irq(40) ^ GROUP1 ^ PENDING | ACTIVE),
            Icv(icc::DIR, 40),
            IchIs(lr(0), irq(40) ^ GROUP1 ^ PENDING),
            IchIs(HCR, 1),
        ],
    );
    open(
        "pending again while active",
        "",
        &[
            Ich(lr(0), irq(40) | ACTIVE),
            Wires(0, 0),
            Ich(AP1R0, 1 << 16),
            Icv(icc::EOIR1, 40),
            IchIs(lr(0), irq(40)),
            Wires(0, VIRQ),
        ],
    );
}

#[test]
fn off_means_no_signals() {
    open(
        "En clear",
        "",
        &[
            Ich(lr(0), irq(40)),
            Ich(HCR, 2),
            Wires(0, 0),
            IcvIs(icc::IAR1, 1023),
            IcvIs(icc::HPPIR1, 40),
            // The register says why; the wire is not driven.
            IchIs(MISR, 2),
            RedistIs(0, SGI + ISPENDR, 0),
            Ich(HCR, 3),
            Wires(0, VIRQ),
            RedistIs(0, SGI + ISPENDR, 1 << 25),
        ],
    );
}

#[test]
fn preemption_by_group_priority() {
    open(
        "preemption",
        "",
        &[
            Ich(lr(0), irq(40)),
            IcvIs(icc::IAR1, 40),
            // The same group priority under a binary point of group 1 that leaves four bits.
            Icv(icc::BPR1, 4),
            Ich(lr(1), irq_at(0x88, 41)),
            Wires(0, 0),
            Ich(lr(1), irq_at(0x78, 41)),
            Wires(0, VIRQ),
            IcvIs(icc::IAR1, 41),
            IcvIs(icc::RPR, 0x70),
            // The mask is of the whole priority.
            Ich(lr(2), irq_at(0x40, 42) ^ GROUP1),
            Wires(0, VFIQ),
            Icv(icc::PMR, 0x40),
            Wires(0, 0),
            IcvIs(icc::IAR0, 1023),
            IcvIs(icc::HPPIR0, 42),
            Icv(icc::PMR, 0x48),
            IcvIs(icc::IAR0, 42),
            Icv(icc::EOIR0, 42),
            Icv(icc::EOIR1, 41),
            Icv(icc::EOIR1, 40),
            IcvIs(icc::RPR, 0xff),
            IchIs(ELRSR, 0xf),
        ],
    );
}

#[test]
fn binary_points() {
    open(
        "VCBPR",
        "",
        &[
            Icv(icc::BPR0, 0),
            Icv(icc::BPR1, 0),
            IcvIs(icc::BPR0, 2),
            IcvIs(icc::BPR1, 3),
            Icv(icc::BPR0, 5),
            Icv(icc::CTLR, 1),
            IcvIs(icc::BPR1, 6),
            Icv(icc::BPR1, 7),
            IchIs(VMCR, 0xf8 << 24 | 5 << 21 | 3 << 18 | 1 << 4 | 1 << 3 | 3),
            Icv(icc::BPR0, 7),
            IcvIs(icc::BPR1, 7),
        ],
    );
    open(
        "VMCR",
        "",
        &[Ich(VMCR, 0), IchIs(VMCR, 2 << 21 | 3 << 18 | 8), Ich(VMCR, 4), IchIs(VMCR, 2 << 21 | 3 << 18 | 8)],
    );
    open("seven bits", "priority-bits=8,preemption-bits=7", &[Ich(VMCR, 0), IchIs(VMCR, 1 << 18 | 8)]);
}

#[test]
fn active_priorities_by_preemption_bits() {
    for (bits, count) in [(5, 1), (6, 2), (7, 4)] {
        let mut board = board(&format!("priority-bits=8,preemption-bits={bits}"), Policy::Benign);
        for n in 0..4 {
            for group in [0, 1] {
                let there = (n < count).then_some(0);
                let (ich, icv) = (Enc::new(3, 4, 12, 8 + group, n), Enc::new(3, 0, 12, 8 + group, 4 - 4 * group + n));
                assert_eq!(board.gic.read_hypervisor(0, ich), there, "ICH_AP{group}R{n}, {bits} bits");
                assert_eq!(board.gic.read_virtual(0, icv), there, "ICV_AP{group}R{n}, {bits} bits");
                assert_eq!(board.gic.write_hypervisor(0, ich, 0).is_some(), n < count);
            }
        }
        // The finest priorities are told apart as far as the bits go.
        board.run("finest", &[Ich(HCR, 1), Ich(VMCR, OPEN), Icv(icc::BPR1, 0), Ich(lr(0), irq_at(0xfd, 40))]);
        assert_eq!(board.gic.read_virtual(0, icc::IAR1), Some(40));
        let last = Enc::new(3, 4, 12, 9, count - 1);
        assert_eq!(board.gic.read_hypervisor(0, last), Some(1 << (if bits == 7 { 30 } else { 31 })), "{bits} bits");
    }
}

#[test]
fn ends_without_a_list_register() {
    let active = |intid| irq(intid) ^ PENDING | ACTIVE;
    open(
        "EOImode 0",
        "",
        &[
            // No active priority: nothing that must happen.
            Icv(icc::EOIR1, 50),
            IchIs(HCR, 1),
            Ich(AP1R0, 1 << 16 | 1 << 20),
            Icv(icc::EOIR1, 50),
            IchIs(HCR, 1 | ONE_END),
            IchIs(AP1R0, 1 << 20),
            // LPIs do not count; special INTIDs do nothing at all.
            Icv(icc::EOIR1, 1023),
            IchIs(AP1R0, 1 << 20),
            Icv(icc::EOIR1, 8200),
            IchIs(HCR, 1 | ONE_END),
            IchIs(AP1R0, 0),
            // DIR is ignored.
            Icv(icc::DIR, 50),
            IchIs(HCR, 1 | ONE_END),
        ],
    );
    open(
        "EOImode 1",
        "",
        &[
            Ich(VMCR, OPEN | SPLIT),
            Ich(AP1R0, 1 << 16),
            Icv(icc::EOIR1, 50),
            IchIs(HCR, 1),
            Icv(icc::DIR, 50),
            IchIs(HCR, 1 | ONE_END),
            Icv(icc::DIR, 8200),
            Icv(icc::DIR, 1021),
            Icv(icc::DIR, 5000),
            IchIs(HCR, 1 | ONE_END),
            Ich(HCR, 1 | 4),
            IchIs(MISR, 0),
            Icv(icc::DIR, 51),
            IchIs(MISR, 4),
            Ich(HCR, 1 | 31 << 27),
            Icv(icc::DIR, 51),
            IchIs(HCR, 1),
            // DIR asks neither for group nor for priority.
            Ich(lr(3), active(60)),
            Icv(icc::DIR, 60),
            IchIs(lr(3), active(60) ^ ACTIVE),
        ],
    );
    open(
        "what does not fit is not deactivated",
        "",
        &[
            Ich(lr(0), active(60)),
            Ich(AP1R0, 1 << 3),
            Icv(icc::EOIR1, 60),
            IchIs(lr(0), active(60)),
            IchIs(AP1R0, 0),
            IchIs(HCR, 1),
            Ich(AP0R0, 1 << 16),
            Icv(icc::EOIR0, 60),
            IchIs(AP0R0, 0),
            IchIs(lr(0), active(60)),
        ],
    );
}

#[test]
fn lpis_and_special_intids_in_list_registers() {
    open(
        "LPI",
        "",
        &[
            Ich(VMCR, OPEN | SPLIT),
            Ich(lr(0), irq(8192)),
            IcvIs(icc::IAR1, 8192),
            IchIs(lr(0), irq(8192) ^ PENDING | ACTIVE),
            IcvIs(icc::RPR, 0x80),
            // DIR does not concern it, and EOIR ends it whatever EOImode is.
            Icv(icc::DIR, 8192),
            IchIs(lr(0), irq(8192) ^ PENDING | ACTIVE),
            Icv(icc::EOIR1, 8192),
            IchIs(lr(0), irq(8192) ^ PENDING),
            IcvIs(icc::RPR, 0xff),
            IchIs(HCR, 1),
            Ich(lr(0), irq(8192) | ACTIVE),
            Ich(AP1R0, 1 << 16),
            Icv(icc::EOIR1, 8192),
            IchIs(lr(0), irq(8192)),
        ],
    );
    open(
        "special",
        "",
        &[Ich(lr(0), irq(1021)), IcvIs(icc::IAR1, 1021), IchIs(lr(0), irq(1021) ^ PENDING), IcvIs(icc::RPR, 0xff)],
    );
}

#[test]
fn physical_interrupts_end_with_virtual_ones() {
    for (name, mode, last) in [("EOImode 0", 0, Icv(icc::EOIR1, 40)), ("EOImode 1", SPLIT, Icv(icc::DIR, 40))] {
        open(
            name,
            "",
            &[
                Ich(VMCR, OPEN | mode),
                Redist(0, SGI + ISACTIVER, 1 << 27),
                Dist(ISACTIVER + 4 * 2, 1 << 6),
                Ich(lr(0), irq(40) | HW | 27 << 32),
                Ich(lr(1), irq(41) | HW | 70 << 32),
                IcvIs(icc::IAR1, 40),
                Icv(icc::EOIR1, 40),
                last,
                RedistIs(0, SGI + ISACTIVER, 0),
                DistIs(ISACTIVER + 4 * 2, 1 << 6),
                IcvIs(icc::IAR1, 41),
                Icv(icc::EOIR1, 41),
                Icv(icc::DIR, 41),
                DistIs(ISACTIVER + 4 * 2, 0),
                IchIs(ELRSR, 0xf),
                IchIs(EISR, 0),
            ],
        );
    }
}

#[test]
fn maintenance_interrupts() {
    let raised = |on: u64| RedistIs(0, SGI + ISPENDR, on << 25);
    open(
        "EOI",
        "",
        &[
            Ich(lr(2), irq(40) | EOI),
            IchIs(EISR, 0),
            IchIs(ELRSR, 0b1011),
            IcvIs(icc::IAR1, 40),
            raised(0),
            Icv(icc::EOIR1, 40),
            IchIs(EISR, 0b100),
            IchIs(ELRSR, 0b1011),
            IchIs(MISR, 1),
            raised(1),
            Ich(lr(2), 0),
            IchIs(MISR, 0),
            raised(0),
        ],
    );
    open(
        "U and NP",
        "",
        &[
            Ich(HCR, 1 | 2 | 8),
            IchIs(MISR, 0b1010),
            raised(1),
            Ich(lr(0), irq(40)),
            IchIs(MISR, 0b0010),
            Ich(lr(1), irq(41)),
            IchIs(MISR, 0),
            raised(0),
            IcvIs(icc::IAR1, 40),
            IchIs(MISR, 0),
            Icv(icc::EOIR1, 40),
            IchIs(MISR, 0b0010),
            IcvIs(icc::IAR1, 41),
            IchIs(MISR, 0b1010),
            // Pending and active is not the pending state.
            Ich(lr(1), irq(41) | ACTIVE),
            IchIs(MISR, 0b1010),
            Ich(lr(1), irq(41)),
            IchIs(MISR, 0b0010),
        ],
    );
    open(
        "groups",
        "",
        &[
            Ich(HCR, 1 | 0xf0),
            IchIs(MISR, 0x50),
            Icv(icc::IGRPEN0, 0),
            IchIs(MISR, 0x60),
            Icv(icc::IGRPEN1, 0),
            IchIs(MISR, 0xa0),
            Ich(HCR, 1 | 0x50),
            IchIs(MISR, 0),
            raised(0),
        ],
    );
}

#[test]
fn switches() {
    for (properties, vtr) in [("list-registers=1", 0), ("list-registers=16,tds=off", 15)] {
        let board = board(properties, Policy::Benign);
        let read = board.gic.read_hypervisor(0, VTR);
        assert_eq!(read.map(|v| v & 0x1f), Some(vtr), "{properties}");
        assert_eq!(board.gic.read_hypervisor(0, lr(vtr as u16)), Some(0));
        assert!(vtr == 15 || board.gic.read_hypervisor(0, lr(vtr as u16 + 1)).is_none());
        assert!(vtr == 15 || board.gic.write_hypervisor(0, lr(vtr as u16 + 1), 0).is_none());
        assert_eq!(board.gic.list_registers_in_use(0), 0);
        board.gic.write_hypervisor(0, lr(0), irq(40));
        assert_eq!(board.gic.list_registers_in_use(0), 1);
    }
    open(
        "CTLR",
        "seis=on,a3v=off,id-bits=24,priority-bits=6",
        &[IcvIs(icc::CTLR, 1 << 18 | 1 << 14 | 1 << 11 | 5 << 8)],
    );
    open("HCR", "tds=off", &[Ich(HCR, 0xffff_ffff), IchIs(HCR, 0xf800_1cff)]);
    open("LR", "", &[Ich(lr(0), u64::MAX), IchIs(lr(0), 0xf0f8_1fff_0000_ffff)]);
}

#[test]
fn misuse_is_reported_by_an_adversary_alone() {
    const SEI: u32 = CpuLines::SEI;
    let adversary = Policy::Adversarial { seed: 3 };
    let cases: [(&str, &[Step], bool); 9] = [
        ("EOIR, nothing active", &[Icv(icc::EOIR1, 40)], true),
        ("EOIR, another group", &[Ich(AP0R0, 1 << 16), Icv(icc::EOIR1, 40)], true),
        ("EOIR, another priority", &[Ich(lr(0), irq(40) ^ (3 << 62)), Ich(AP1R0, 1), Icv(icc::EOIR1, 40)], true),
        ("EOIR, too large", &[Ich(AP1R0, 1), Icv(icc::EOIR1, 1 << 20)], true),
        ("DIR with EOImode 0", &[Icv(icc::DIR, 40)], true),
        ("EOIR, kept elsewhere", &[Ich(AP1R0, 1), Icv(icc::EOIR1, 40)], false),
        ("EOIR, special", &[Icv(icc::EOIR1, 1023)], false),
        ("DIR with EOImode 1", &[Ich(VMCR, OPEN | SPLIT), Icv(icc::DIR, 40)], false),
        ("in order", &[Ich(lr(0), irq(40)), IcvIs(icc::IAR1, 40), Icv(icc::EOIR1, 40)], false),
    ];
    for (name, script, misuse) in cases {
        for (properties, policy, may) in
            [("seis=on", adversary, true), ("seis=on", Policy::Benign, false), ("seis=off", adversary, false)]
        {
            let mut board = board(properties, policy);
            board.run(name, &[Ich(HCR, 1), Ich(VMCR, OPEN)]);
            board.run(name, script);
            assert_eq!(
                board.wires[0].get() & (SEI | CpuLines::SERROR),
                if misuse && may { SEI } else { 0 },
                "{name}, {properties}"
            );
        }
    }
    // A broken one reports some to the host, the same ones each time.
    let run = || {
        let board = board("seis=broken", adversary);
        (0..32).fold(0u32, |physical, _| {
            board.gic.write_virtual(0, icc::DIR, 40);
            let lines = board.wires[0].get();
            board.wires[0].drive(lines, LOW);
            assert_eq!((lines & (SEI | CpuLines::SERROR)).count_ones(), 1);
            physical << 1 | u32::from(lines & CpuLines::SERROR != 0)
        })
    };
    assert!((8..24).contains(&run().count_ones()) && run() == run());
    // The physical interface.
    for (reg, value, misuse) in
        [(icc::EOIR1, 40, true), (icc::DIR, 40, true), (icc::EOIR1, 1023, false), (icc::PMR, 0xff, false)]
    {
        let board = board("seis=on", adversary);
        board.gic.write(0, reg, value);
        assert_eq!(board.wires[0].get() & CpuLines::SERROR != 0, misuse, "{value}");
    }
}
