//! Scripted scenarios against what the manual says, and junk.

mod its;
mod junk;
mod routing;
mod v2;
mod virtual_interface;

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::sync::Arc;

use bus::{CpuInterface, CpuLines, Device, IrqSink, Level, MmioAccess, Size};

use crate::spec::{REDIST_STRIDE, SGI_BASE, SPURIOUS, icc};
use crate::{Config, Distributor, Gic, GicError, Redistributors, Sleep};
use Step::*;
use arch::gic::VirtualInterface;
use arch::policy::Policy;
use arch::sysreg::Enc;

const HIGH: Level = Level::High;
const LOW: Level = Level::Low;
const IRQ: u32 = CpuLines::IRQ;
const FIQ: u32 = CpuLines::FIQ;

// Offsets in the distributor's frame and in an SGI frame.
const CTLR: u64 = 0;
const SETSPI: u64 = 0x40;
const CLRSPI: u64 = 0x48;
const IGROUPR: u64 = 0x80;
const ISENABLER: u64 = 0x100;
const ICENABLER: u64 = 0x180;
const ISPENDR: u64 = 0x200;
const ICPENDR: u64 = 0x280;
const ISACTIVER: u64 = 0x300;
const ICACTIVER: u64 = 0x380;
const IPRIORITYR: u64 = 0x400;
const ICFGR: u64 = 0xc00;
const IROUTER: u64 = 0x6000;
const SGI: u64 = SGI_BASE;

/// One step of a script; the first number of a PE's step is its index.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Write a word to the distributor.
    Dist(u64, u64),
    /// Write a byte to the distributor.
    DistByte(u64, u64),
    /// Write a doubleword to the distributor.
    DistDouble(u64, u64),
    /// A distributor word must read so.
    DistIs(u64, u64),
    /// Write a word to a PE's redistributor frames.
    Redist(usize, u64, u64),
    /// Write a byte to a PE's redistributor frames.
    RedistByte(usize, u64, u64),
    /// A redistributor word must read so.
    RedistIs(usize, u64, u64),
    /// Write a system register.
    Msr(usize, Enc, u64),
    /// A system register must read so.
    Mrs(usize, Enc, u64),
    /// Drive an SPI.
    Spi(u32, Level),
    /// Drive a PPI.
    Ppi(usize, u32, Level),
    /// Write an `ICH_*` register of PE 0.
    Ich(Enc, u64),
    /// An `ICH_*` register of PE 0 must read so.
    IchIs(Enc, u64),
    /// Write an `ICV_*` register of PE 0.
    Icv(Enc, u64),
    /// An `ICV_*` register of PE 0 must read so.
    IcvIs(Enc, u64),
    /// The PE's wires must be so.
    Wires(usize, u32),
}

struct Board {
    gic: Gic,
    distributor: Distributor,
    redistributors: Redistributors,
    wires: Vec<Arc<CpuLines>>,
}

const fn at(offset: u64, size: Size) -> MmioAccess {
    MmioAccess { offset, size, cpu: 0, now: 0 }
}

impl Board {
    /// Clusters of 16 by Aff1, as the `virt` board numbers its PEs.
    fn new(pes: usize, sleep: Sleep) -> Self {
        let affinities = (0..pes as u64).map(|n| ((n / 16) << 8) | (n % 16)).collect();
        Self::with(affinities, 224, sleep)
    }

    fn with(affinities: Vec<u64>, spis: u32, sleep: Sleep) -> Self {
        Self::with_interfaces(affinities, spis, sleep, VirtualInterface::DEFAULT, Policy::Benign)
    }

    fn with_interfaces(
        affinities: Vec<u64>,
        spis: u32,
        sleep: Sleep,
        interface: VirtualInterface,
        policy: Policy,
    ) -> Self {
        let wires: Vec<_> = affinities.iter().map(|_| Arc::new(CpuLines::default())).collect();
        let pes = affinities.len();
        let config = Config {
            affinities,
            spis,
            wires: wires.clone(),
            interfaces: vec![interface; pes],
            policy,
            sleep,
            memory: None,
        };
        let gic = Gic::new(config).expect("sound configuration");
        Self { distributor: gic.distributor(), redistributors: gic.redistributors(0..pes), gic, wires }
    }

    /// A board on which every PE has its group enables and PMR open, and INTIDs 0 to 95 are enabled, in Group 1 and
    /// of priority 0x80.
    fn open(pes: usize) -> Self {
        let mut board = Self::new(pes, Sleep::Awake);
        let mut open = vec![Dist(CTLR, 3)];
        for bank in 1..3 {
            open.extend([Dist(IGROUPR + 4 * bank, 0xffff_ffff), Dist(ISENABLER + 4 * bank, 0xffff_ffff)]);
            open.extend((0..8).map(|word| Dist(IPRIORITYR + 32 * bank + 4 * word, 0x8080_8080)));
        }
        for pe in 0..pes {
            open.extend([Redist(pe, SGI + IGROUPR, 0xffff_ffff), Redist(pe, SGI + ISENABLER, 0xffff_ffff)]);
            open.extend((0..8).map(|word| Redist(pe, SGI + IPRIORITYR + 4 * word, 0x8080_8080)));
            open.extend([Msr(pe, icc::PMR, 0xff), Msr(pe, icc::IGRPEN0, 1), Msr(pe, icc::IGRPEN1, 1)]);
        }
        board.run("open", &open);
        board
    }

    fn dist(&mut self, offset: u64, size: Size) -> u64 {
        self.distributor.read(at(offset, size)).expect("the distributor answers") & size.mask()
    }
    fn redist(&mut self, pe: usize, offset: u64, size: Size) -> u64 {
        let access = at(pe as u64 * REDIST_STRIDE + offset, size);
        self.redistributors.read(access).expect("the redistributor answers") & size.mask()
    }

    fn run(&mut self, name: &str, script: &[Step]) {
        for (index, step) in script.iter().enumerate() {
            let says = format!("{name}, step {index}: {step:x?}");
            match *step {
                Dist(o, v) => self.distributor.write(at(o, Size::Word), v).expect(&says),
                DistByte(o, v) => self.distributor.write(at(o, Size::Byte), v).expect(&says),
                DistDouble(o, v) => self.distributor.write(at(o, Size::Double), v).expect(&says),
                DistIs(o, v) => assert_eq!(format!("{:x}", self.dist(o, Size::Word)), format!("{v:x}"), "{says}"),
                Redist(pe, o, v) => {
                    self.redistributors.write(at(pe as u64 * REDIST_STRIDE + o, Size::Word), v).expect(&says);
                }
                RedistByte(pe, o, v) => {
                    self.redistributors.write(at(pe as u64 * REDIST_STRIDE + o, Size::Byte), v).expect(&says);
                }
                RedistIs(pe, o, v) => {
                    assert_eq!(format!("{:x}", self.redist(pe, o, Size::Word)), format!("{v:x}"), "{says}");
                }
                Msr(pe, reg, v) => self.gic.write(pe, reg, v).expect(&says),
                Mrs(pe, reg, v) => assert_eq!(self.gic.read(pe, reg), Some(v), "{says}"),
                Spi(intid, level) => self.gic.set_spi(intid, level),
                Ppi(pe, intid, level) => self.gic.set_ppi(pe, intid, level),
                Ich(reg, v) => self.gic.write_hypervisor(0, reg, v).expect(&says),
                IchIs(reg, v) => assert_eq!(self.gic.read_hypervisor(0, reg), Some(v), "{says}"),
                Icv(reg, v) => self.gic.write_virtual(0, reg, v).expect(&says),
                IcvIs(reg, v) => assert_eq!(self.gic.read_virtual(0, reg), Some(v), "{says}"),
                Wires(pe, lines) => assert_eq!(self.wires[pe].get(), lines, "{says}"),
            }
        }
    }

    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.distributor.hash(&mut hasher);
        self.redistributors.hash(&mut hasher);
        hasher.finish()
    }
}

/// Runs a script on an open board of `pes` PEs.
fn check(name: &str, pes: usize, script: &[Step]) {
    Board::open(pes).run(name, script);
}

const NONE: u64 = SPURIOUS as u64;

#[test]
fn level_sensitive_lifecycle() {
    check(
        "a level-sensitive PPI follows its wire and re-pends after EOI",
        1,
        &[
            Ppi(0, 27, HIGH),
            Wires(0, IRQ),
            Mrs(0, icc::HPPIR1, 27),
            Mrs(0, icc::HPPIR0, NONE),
            Mrs(0, icc::IAR0, NONE),
            Mrs(0, icc::IAR1, 27),
            Wires(0, 0),
            Mrs(0, icc::RPR, 0x80),
            // The wire is still high: active and pending.
            RedistIs(0, SGI + ISACTIVER, 1 << 27),
            RedistIs(0, SGI + ISPENDR, 1 << 27),
            Mrs(0, icc::IAR1, NONE),
            Msr(0, icc::EOIR1, 27),
            Wires(0, IRQ),
            Mrs(0, icc::IAR1, 27),
            Ppi(0, 27, LOW),
            Msr(0, icc::EOIR1, 27),
            Wires(0, 0),
            Mrs(0, icc::RPR, 0xff),
            // Never acknowledged: it just goes away.
            Ppi(0, 27, HIGH),
            Wires(0, IRQ),
            Ppi(0, 27, LOW),
            Wires(0, 0),
            Mrs(0, icc::IAR1, NONE),
        ],
    );
    check(
        "ISPENDR latches a level-sensitive SPI until it is acknowledged; ICPENDR does not beat the wire",
        1,
        &[
            Dist(ISPENDR + 4, 1 << 3),
            Wires(0, IRQ),
            Mrs(0, icc::IAR1, 35),
            DistIs(ISPENDR + 4, 0),
            Msr(0, icc::EOIR1, 35),
            Wires(0, 0),
            Dist(ISPENDR + 4, 1 << 3),
            Dist(ICPENDR + 4, 1 << 3),
            Wires(0, 0),
            Spi(35, HIGH),
            Dist(ICPENDR + 4, 1 << 3),
            DistIs(ICPENDR + 4, 1 << 3),
            Wires(0, IRQ),
        ],
    );
}

#[test]
fn edge_triggered_lifecycle() {
    check(
        "an edge-triggered SPI pends once an edge, also while active",
        1,
        &[
            Dist(ICFGR + 8, 0b10 << 2),
            DistIs(ICFGR + 8, 0b10 << 2),
            Spi(33, HIGH),
            Spi(33, LOW),
            Wires(0, IRQ),
            Mrs(0, icc::IAR1, 33),
            DistIs(ISPENDR + 4, 0),
            Spi(33, HIGH),
            Spi(33, HIGH),
            DistIs(ISPENDR + 4, 2),
            Wires(0, 0),
            Msr(0, icc::EOIR1, 33),
            Wires(0, IRQ),
            Mrs(0, icc::IAR1, 33),
            Msr(0, icc::EOIR1, 33),
            Mrs(0, icc::IAR1, NONE),
            Spi(33, LOW),
            Spi(33, HIGH),
            Dist(ICPENDR + 4, 2),
            Wires(0, 0),
        ],
    );
    check(
        "SGIs stay edge-triggered, PPIs can be made so",
        1,
        &[
            RedistIs(0, SGI + ICFGR, 0xaaaa_aaaa),
            Redist(0, SGI + ICFGR, 0),
            RedistIs(0, SGI + ICFGR, 0xaaaa_aaaa),
            Redist(0, SGI + ICFGR + 4, 0xffff_ffff),
            RedistIs(0, SGI + ICFGR + 4, 0xaaaa_aaaa),
            Ppi(0, 16, HIGH),
            Ppi(0, 16, LOW),
            Mrs(0, icc::IAR1, 16),
        ],
    );
}

#[test]
fn message_based_spis() {
    check(
        "SETSPI and CLRSPI assert and deassert a level-sensitive SPI, pend and unpend an edge-triggered one",
        1,
        &[
            Dist(SETSPI, 40),
            Mrs(0, icc::IAR1, 40),
            DistIs(ISPENDR + 4, 1 << 8),
            Dist(CLRSPI, 40),
            DistIs(ISPENDR + 4, 0),
            Msr(0, icc::EOIR1, 40),
            Wires(0, 0),
            Dist(ICFGR + 8, 0b10 << 16),
            Dist(SETSPI, 40),
            Mrs(0, icc::IAR1, 40),
            DistIs(ISPENDR + 4, 0),
            Msr(0, icc::EOIR1, 40),
            Dist(SETSPI, 40),
            Dist(CLRSPI, 40),
            Wires(0, 0),
            // No such SPI: nothing happens.
            Dist(SETSPI, 8),
            Dist(SETSPI, 1019),
            Dist(SETSPI, 0x1fff),
            Wires(0, 0),
        ],
    );
}

#[test]
fn priorities_and_preemption() {
    check(
        "the highest priority first, of equals the lowest INTID, private or shared",
        1,
        &[
            DistByte(IPRIORITYR + 50, 0x40),
            Spi(45, HIGH),
            Spi(50, HIGH),
            Ppi(0, 30, HIGH),
            Spi(44, HIGH),
            Mrs(0, icc::HPPIR1, 50),
            Spi(50, LOW),
            Mrs(0, icc::HPPIR1, 30),
            Ppi(0, 30, LOW),
            Mrs(0, icc::HPPIR1, 44),
        ],
    );
    check(
        "a higher group priority preempts and priority drops unwind in order",
        1,
        &[
            DistByte(IPRIORITYR + 50, 0x40),
            DistByte(IPRIORITYR + 51, 0x78),
            Spi(45, HIGH),
            Mrs(0, icc::IAR1, 45),
            Spi(46, HIGH),
            // Equal priority does not preempt.
            Wires(0, 0),
            Mrs(0, icc::HPPIR1, 46),
            Mrs(0, icc::IAR1, NONE),
            Spi(51, HIGH),
            Wires(0, IRQ),
            Mrs(0, icc::IAR1, 51),
            Mrs(0, icc::RPR, 0x78),
            Spi(50, HIGH),
            Mrs(0, icc::IAR1, 50),
            Mrs(0, icc::RPR, 0x40),
            Mrs(0, icc::AP1R0, 1 << 16 | 1 << 15 | 1 << 8),
            Mrs(0, icc::AP0R0, 0),
            Spi(50, LOW),
            Spi(51, LOW),
            Spi(45, LOW),
            Msr(0, icc::EOIR1, 50),
            Mrs(0, icc::RPR, 0x78),
            Wires(0, 0),
            Msr(0, icc::EOIR1, 51),
            Msr(0, icc::EOIR1, 45),
            Mrs(0, icc::RPR, 0xff),
            Wires(0, IRQ),
            Mrs(0, icc::IAR1, 46),
        ],
    );
    check(
        "binary points: subpriority orders but does not preempt",
        1,
        &[
            DistByte(IPRIORITYR + 50, 0x90),
            DistByte(IPRIORITYR + 51, 0x88),
            // Non-secure BPR1 = 6: group priority is bits [7:6].
            Msr(0, icc::BPR1, 6),
            Spi(50, HIGH),
            Mrs(0, icc::IAR1, 50),
            Mrs(0, icc::RPR, 0x80),
            Spi(51, HIGH),
            Wires(0, 0),
            Mrs(0, icc::HPPIR1, 51),
            // With the least binary point it would have.
            Msr(0, icc::BPR1, 0),
            Mrs(0, icc::BPR1, 3),
            Msr(0, icc::AP1R0, 1 << (0x90 >> 3)),
            Wires(0, IRQ),
            Mrs(0, icc::IAR1, 51),
        ],
    );
    check(
        "CBPR: BPR0 holds for Group 1, BPR1 reads as BPR0 + 1 and ignores writes",
        1,
        &[
            Msr(0, icc::BPR0, 1),
            Mrs(0, icc::BPR0, 2),
            Msr(0, icc::BPR0, 5),
            Msr(0, icc::CTLR, 1),
            Mrs(0, icc::BPR1, 6),
            Msr(0, icc::BPR1, 3),
            Mrs(0, icc::BPR1, 6),
            DistByte(IPRIORITYR + 50, 0xb8),
            Spi(50, HIGH),
            Mrs(0, icc::IAR1, 50),
            Mrs(0, icc::RPR, 0x80),
            Msr(0, icc::BPR0, 7),
            Mrs(0, icc::BPR1, 7),
            Msr(0, icc::CTLR, 0),
            Mrs(0, icc::BPR1, 3),
        ],
    );
    check(
        "PMR masks its own priority and lower ones; five bits are implemented",
        1,
        &[
            Msr(0, icc::PMR, 0x87),
            Mrs(0, icc::PMR, 0x80),
            Spi(45, HIGH),
            Wires(0, 0),
            Mrs(0, icc::HPPIR1, 45),
            Mrs(0, icc::IAR1, NONE),
            Msr(0, icc::PMR, 0x88),
            Wires(0, IRQ),
            DistByte(IPRIORITYR + 45, 0xff),
            DistIs(IPRIORITYR + 44, 0x8080_f880),
            Msr(0, icc::PMR, 0xff),
            Wires(0, 0),
            DistByte(IPRIORITYR + 45, 0xf0),
            Wires(0, IRQ),
        ],
    );
}

#[test]
fn groups() {
    check(
        "Group 0 is FIQ, each group has its own registers, and a group's EOIR drops only its own priority",
        1,
        &[
            Dist(IGROUPR + 4, !(1 << 10)),
            DistByte(IPRIORITYR + 42, 0x40),
            Spi(43, HIGH),
            Mrs(0, icc::IAR1, 43),
            Spi(42, HIGH),
            Wires(0, FIQ),
            Mrs(0, icc::HPPIR0, 42),
            Mrs(0, icc::HPPIR1, NONE),
            Mrs(0, icc::IAR1, NONE),
            Mrs(0, icc::IAR0, 42),
            Mrs(0, icc::AP0R0, 1 << 8),
            Mrs(0, icc::AP1R0, 1 << 16),
            Msr(0, icc::EOIR1, 43),
            Mrs(0, icc::RPR, 0x40),
            Spi(42, LOW),
            Msr(0, icc::EOIR0, 42),
            Mrs(0, icc::RPR, 0x80),
            Spi(43, LOW),
            Msr(0, icc::EOIR1, 43),
            Mrs(0, icc::RPR, 0xff),
            DistIs(ISACTIVER + 4, 0),
        ],
    );
    check(
        "a group disabled at the interface or at the distributor hides its interrupts, not the other group's",
        1,
        &[
            Dist(IGROUPR + 4, !(1 << 10)),
            DistByte(IPRIORITYR + 42, 0x40),
            Spi(42, HIGH),
            Spi(43, HIGH),
            Wires(0, FIQ),
            Msr(0, icc::IGRPEN0, 0),
            Wires(0, IRQ),
            Mrs(0, icc::HPPIR0, NONE),
            Mrs(0, icc::HPPIR1, 43),
            Msr(0, icc::IGRPEN0, 1),
            Wires(0, FIQ),
            Dist(CTLR, 2),
            DistIs(CTLR, 0x52),
            Wires(0, IRQ),
            Dist(CTLR, 1),
            Wires(0, FIQ),
            Dist(CTLR, 0),
            Wires(0, 0),
        ],
    );
    check(
        "disabling an interrupt or making it active by hand withdraws it",
        1,
        &[
            Spi(43, HIGH),
            Dist(ICENABLER + 4, 1 << 11),
            Wires(0, 0),
            DistIs(ISPENDR + 4, 1 << 11),
            Dist(ISENABLER + 4, 1 << 11),
            Wires(0, IRQ),
            Dist(ISACTIVER + 4, 1 << 11),
            Wires(0, 0),
            Dist(ICACTIVER + 4, 1 << 11),
            Wires(0, IRQ),
        ],
    );
}

#[test]
fn eoi_mode_1_splits_drop_and_deactivation() {
    check(
        "EOImode 1",
        2,
        &[
            Msr(0, icc::CTLR, 2),
            Msr(1, icc::CTLR, 2),
            Spi(43, HIGH),
            Mrs(0, icc::IAR1, 43),
            Mrs(0, icc::RPR, 0x80),
            Msr(0, icc::EOIR1, 43),
            Mrs(0, icc::RPR, 0xff),
            // Priority dropped, still active: others come, this one does not.
            DistIs(ISACTIVER + 4, 1 << 11),
            Wires(0, 0),
            Spi(44, HIGH),
            Mrs(0, icc::IAR1, 44),
            Msr(0, icc::EOIR1, 44),
            // Deactivation by another PE than the one that acknowledged.
            Msr(1, icc::DIR, 43),
            DistIs(ISACTIVER + 4, 1 << 12),
            Wires(0, IRQ),
            Mrs(0, icc::IAR1, 43),
            // DIR of an INTID that does not exist.
            Msr(0, icc::DIR, 0xff_ffff),
            Msr(0, icc::DIR, 1023),
            DistIs(ISACTIVER + 4, 3 << 11),
        ],
    );
    check(
        "EOImode 0 ignores DIR, and EOIR ignores special and unknown INTIDs",
        1,
        &[
            Spi(43, HIGH),
            Mrs(0, icc::IAR1, 43),
            Msr(0, icc::DIR, 43),
            DistIs(ISACTIVER + 4, 1 << 11),
            Msr(0, icc::EOIR1, 1023),
            Mrs(0, icc::RPR, 0x80),
            Msr(0, icc::EOIR1, 43),
            DistIs(ISACTIVER + 4, 0),
        ],
    );
}

#[test]
fn sleep_holds_interrupts_back_and_asks_for_wake_up() {
    let mut board = Board::new(1, Sleep::Asleep);
    board.run(
        "asleep from reset",
        &[
            RedistIs(0, 0x14, 6),
            Dist(CTLR, 3),
            Redist(0, SGI + ISENABLER, 1 << 27),
            Msr(0, icc::PMR, 0xff),
            Msr(0, icc::IGRPEN0, 1),
        ],
    );
    assert!(!board.gic.wake_request(0));
    board.run("interrupt", &[Ppi(0, 27, HIGH), Wires(0, 0), Mrs(0, icc::IAR0, NONE)]);
    assert!(board.gic.wake_request(0));
    board.run("wake", &[Redist(0, 0x14, 0), RedistIs(0, 0x14, 0), Wires(0, FIQ)]);
    assert!(!board.gic.wake_request(0));
    board.run("taken", &[Mrs(0, icc::IAR0, 27)]);
    board.gic.reset_interface(0);
    board.run(
        "a warm reset of the PE keeps the redistributor",
        &[Mrs(0, icc::RPR, 0xff), Mrs(0, icc::PMR, 0), Mrs(0, icc::IGRPEN0, 0), RedistIs(0, SGI + ISACTIVER, 1 << 27)],
    );
}

#[test]
fn identification() {
    let mut board = Board::new(3, Sleep::Asleep);
    board.run(
        "fixed values",
        &[
            DistIs(CTLR, 0x50),
            DistIs(4, 7 | 1 << 16 | 9 << 19 | 1 << 24 | 1 << 26),
            DistIs(8, 0x43b),
            DistIs(0xffd0, 0x44),
            DistIs(0xffe0, 0x92),
            DistIs(0xffe4, 0xb4),
            DistIs(0xffe8, 0x3b),
            DistIs(0xfff0, 0x0d),
            DistIs(0xfff4, 0xf0),
            DistIs(0xfff8, 0x05),
            DistIs(0xfffc, 0xb1),
            RedistIs(0, 4, 0x43b),
            RedistIs(0, 0xffe0, 0x93),
            RedistIs(0, 0xffe8, 0x3b),
            RedistIs(1, 8, 1 << 8 | 1 << 5),
            RedistIs(2, 8, 2 << 8 | 1 << 5 | 1 << 4),
            RedistIs(2, 12, 2),
            Mrs(0, icc::CTLR, 4 << 8 | 1 << 15 | 1 << 18),
            Mrs(0, icc::SRE, 7),
            Msr(0, icc::SRE, 0),
            Mrs(0, icc::SRE, 7),
            Mrs(0, icc::BPR0, 2),
            Mrs(0, icc::BPR1, 3),
        ],
    );
    assert_eq!(board.redist(2, 8, Size::Double), 2 << 32 | 2 << 8 | 1 << 5 | 1 << 4);
    // Registers of one direction, and those that five priority bits leave out.
    for n in 1..4 {
        assert_eq!(board.gic.read(0, Enc::new(3, 0, 12, 8, 4 + n)), None);
        assert_eq!(board.gic.write(0, Enc::new(3, 0, 12, 9, n), 0), None);
    }
    assert_eq!(board.gic.read(0, icc::DIR), None);
    assert_eq!(board.gic.write(0, icc::IAR1, 0), None);
    assert_eq!(board.gic.read(3, icc::PMR), None, "no such PE");
}

#[test]
fn access_sizes_reserved_places_and_status() {
    let mut board = Board::open(1);
    assert_eq!(board.dist(IPRIORITYR + 33, Size::Byte), 0x80);
    assert_eq!(board.dist(IPRIORITYR + 32, Size::Half), 0, "halfwords are not supported");
    assert_eq!(board.dist(CTLR, Size::Double), 0);
    assert_eq!(board.dist(ISENABLER, Size::Word), 0, "private interrupts belong to the redistributor");
    board.run(
        "status bits collect and clear by writing ones",
        &[
            DistIs(0x10, 0),
            DistIs(0x3000, 0),
            Dist(0x3000, 1),
            DistIs(SETSPI, 0),
            Dist(4, 1),
            DistIs(0x10, 0xf),
            Dist(0x10, 5),
            DistIs(0x10, 0xa),
            RedistIs(0, 0x10, 0),
            RedistIs(0, 0x5000, 0),
            RedistByte(0, SGI + IPRIORITYR + 1, 0x27),
            RedistIs(0, SGI + IPRIORITYR, 0x8080_2080),
            Redist(0, 8, 0),
            RedistIs(0, 0x10, 9),
        ],
    );
    // The last bank has no INTIDs 1020 to 1023.
    let mut full = Board::with(vec![0], 988, Sleep::Awake);
    full.run("988 SPIs", &[Dist(ISENABLER + 4 * 31, 0xffff_ffff), DistIs(ISENABLER + 4 * 31, 0x0fff_ffff)]);
    full.run("the last", &[Dist(ISENABLER + 4 * 32, 0xffff_ffff), DistIs(ISENABLER + 4 * 31, 0x0fff_ffff)]);
    assert_eq!(full.dist(4, Size::Word) & 31, 31);
}

#[test]
fn regions_of_redistributors() {
    let board = Board::new(130, Sleep::Awake);
    let mut low = board.gic.redistributors(0..123);
    let mut high = board.gic.redistributors(123..usize::MAX);
    assert_eq!((low.window(), high.window()), (123 * 0x2_0000, 7 * 0x2_0000));
    let typer =
        |region: &mut Redistributors, n: u64| region.read(at(n * REDIST_STRIDE + 8, Size::Word)).expect("PE") as u32;
    assert_eq!(typer(&mut low, 121), 121 << 8 | 0x20);
    assert_eq!(typer(&mut low, 122), 122 << 8 | 0x30);
    assert_eq!(typer(&mut high, 0), 123 << 8 | 0x20);
    assert_eq!(typer(&mut high, 6), 129 << 8 | 0x30);
    assert!(high.read(at(7 * REDIST_STRIDE, Size::Word)).is_err(), "beyond the region");
}

#[test]
fn impossible_configurations() {
    let make = |affinities: Vec<u64>, spis, wires| {
        let wires = (0..wires).map(|_| Arc::default()).collect();
        let interfaces = vec![VirtualInterface::DEFAULT; affinities.len()];
        let policy = Policy::Benign;
        Gic::new(Config { affinities, spis, wires, interfaces, policy, sleep: Sleep::Asleep, memory: None }).map(|_| ())
    };
    assert_eq!(make(vec![], 32, 0), Err(GicError::Pes(0)));
    assert_eq!(make((0..513).collect(), 32, 513), Err(GicError::Pes(513)));
    assert_eq!(make(vec![0, 1], 32, 1), Err(GicError::Wires { pes: 2, wires: 1 }));
    assert_eq!(make(vec![0], 989, 1), Err(GicError::Spis(989)));
    assert_eq!(make(vec![1 << 32, 0, 1 << 32], 32, 3), Err(GicError::Affinity(1 << 32)));
    // RES1 and other bits of MPIDR outside the affinity do not count.
    assert_eq!(make(vec![0x8000_0000, 0x8000_0001], 0, 2), Ok(()));
}

#[test]
fn hash_sees_state_and_repeats() {
    let mut board = Board::open(2);
    let start = board.hash();
    assert_eq!(start, Board::open(2).hash());
    let mut seen = vec![start];
    for step in [
        Dist(CTLR, 1),
        Dist(ISENABLER + 12, 1),
        Spi(99, HIGH),
        DistDouble(IROUTER + 8 * 99, 1),
        Redist(1, 0x14, 2),
        Redist(1, CTLR, 1 << 24),
        Msr(1, icc::PMR, 0x10),
        Msr(1, icc::CTLR, 2),
        Msr(0, icc::IGRPEN1, 0),
        Ppi(0, 27, HIGH),
    ] {
        board.run("hash", &[step]);
        let hash = board.hash();
        assert!(!seen.contains(&hash), "{step:x?} is not in the hash");
        seen.push(hash);
    }
}
