//! LPIs and the ITS: what commands do, which `guest/bare/its.c` compares with QEMU; here what that cannot show: command
//! errors that stall, bounded work, snapshots, junk.

use bus::{GuestMemory, Ram};
use snapshot::Codec;

use super::*;
use crate::its::{ItsFrames, spec::command};
use crate::lpi::Work;

const RAM: u64 = 0x4000_0000;
const RAM_BYTES: u64 = 1 << 20;
const QUEUE: u64 = RAM;
const DEVICES: u64 = RAM + 0x1_0000;
const COLLECTIONS: u64 = RAM + 0x1_1000;
const ITTS: u64 = RAM + 0x1_2000;
const PROPERTIES: u64 = RAM + 0x2_0000;
const PENDING: u64 = RAM + 0x3_0000;

const GITS_CTLR: u64 = 0;
const CBASER: u64 = 0x80;
const CWRITER: u64 = 0x88;
const CREADR: u64 = 0x90;
const BASER: u64 = 0x100;
const TRANSLATER: u64 = 0x1_0040;
const VALID: u64 = 1 << 63;

struct Lab {
    board: Board,
    its: ItsFrames,
    ram: Arc<Ram>,
    now: u64,
}

impl Lab {
    /// Two PEs, with LPIs off and the tables in memory, each collection n at PE n.
    fn empty(policy: Policy) -> Self {
        let ram = Arc::new(Ram::new(RAM_BYTES).unwrap());
        let wires: Vec<_> = (0..2).map(|_| Arc::new(CpuLines::default())).collect();
        let config = Config {
            affinities: vec![0, 1],
            spis: 224,
            wires: wires.clone(),
            interfaces: vec![VirtualInterface::DEFAULT; 2],
            policy,
            sleep: Sleep::Awake,
            memory: Some(GuestMemory::new(ram.clone(), arch::Pa(RAM))),
        };
        let gic = Gic::new(config).unwrap();
        let its = gic.its();
        let board = Board { distributor: gic.distributor(), redistributors: gic.redistributors(0..2), gic, wires };
        Self { board, its, ram, now: 0 }
    }

    /// The same, on, with LPIs 8192 to 8207 of priority 0x80 enabled.
    fn new(policy: Policy) -> Self {
        let mut lab = Self::empty(policy);
        lab.board.run("open", &[Dist(CTLR, 3)]);
        for pe in 0..2 {
            lab.board.run("open", &[Msr(pe, icc::PMR, 0xff), Msr(pe, icc::IGRPEN1, 1)]);
        }
        (0..16).for_each(|n| lab.ram.write_bytes(PROPERTIES + n - RAM, &[0x81]).unwrap());
        for (n, table) in [(0, DEVICES), (1, COLLECTIONS)] {
            lab.write(BASER + 8 * n, table | VALID);
        }
        lab.write(CBASER, QUEUE | VALID | 15);
        lab.tables();
        lab.write(GITS_CTLR, 1);
        lab.command([u64::from(command::MAPC), 0, VALID, 0]);
        lab.command([u64::from(command::MAPC), 0, VALID | 1 << 16 | 1, 0]);
        lab.command([u64::from(command::MAPD) | 1 << 32, 3, ITTS | VALID, 0]);
        lab
    }

    /// Where the tables of LPIs are; then LPIs on.
    fn tables(&mut self) {
        for pe in 0..2u64 {
            for (offset, value) in [(0x70, PROPERTIES | 15), (0x78, PENDING + 0x1_0000 * pe)] {
                let offset = pe * REDIST_STRIDE + offset;
                let access = MmioAccess { offset, size: Size::Double, cpu: 0, now: self.now };
                self.board.redistributors.write(access, value).unwrap();
            }
            self.lpis(pe as usize, 1);
        }
    }
    fn lpis(&mut self, pe: usize, value: u64) {
        let access = MmioAccess { offset: pe as u64 * REDIST_STRIDE, size: Size::Word, cpu: 0, now: self.now };
        self.board.redistributors.write(access, value).unwrap();
    }
    fn access(&self, offset: u64) -> MmioAccess {
        MmioAccess { offset, size: Size::Double, cpu: 0, now: self.now }
    }
    fn read(&mut self, offset: u64) -> u64 {
        self.its.read(self.access(offset)).unwrap()
    }
    fn write(&mut self, offset: u64, value: u64) {
        let size = if matches!(offset, GITS_CTLR | TRANSLATER) { Size::Word } else { Size::Double };
        self.its.write(MmioAccess { size, ..self.access(offset) }, value).unwrap();
    }
    /// Puts a command behind the last one, without telling the ITS; gives where the next will be.
    fn put(&mut self, offset: u64, words: [u64; 4]) -> u64 {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.ram.write_bytes(QUEUE - RAM + offset, &bytes).unwrap();
        (offset + 32) % 0x1_0000
    }
    fn command(&mut self, words: [u64; 4]) {
        let at = self.read(CWRITER);
        let next = self.put(at, words);
        self.write(CWRITER, next);
    }
    fn map(&mut self, event: u64, collection: u64) {
        self.command([u64::from(command::MAPTI) | 1 << 32, event | (8192 + event) << 32, collection, 0]);
    }
    fn int(&mut self, event: u64) {
        self.command([u64::from(command::INT) | 1 << 32, event, 0, 0]);
    }
    /// Is the LPI's bit set in the table in memory?
    fn in_table(&self, pe: u64, intid: u64) -> bool {
        self.ram.read_u8(PENDING - RAM + 0x1_0000 * pe + intid / 8).unwrap() >> (intid % 8) & 1 == 1
    }
    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.board.distributor.hash(&mut hasher);
        self.its.hash(&mut hasher);
        self.board.redistributors.hash(&mut hasher);
        hasher.finish()
    }
    fn saved(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.board.distributor.persist(&mut Codec::save(&mut bytes)).unwrap();
        bytes
    }
}

#[test]
fn an_lpi_lives_in_the_table() {
    let mut lab = Lab::new(Policy::Benign);
    lab.map(3, 0);
    lab.int(3);
    assert!(lab.in_table(0, 8195));
    lab.board.run("taken", &[Wires(0, IRQ), Mrs(0, icc::HPPIR1, 8195), Mrs(0, icc::IAR1, 8195), Wires(0, 0)]);
    assert!(!lab.in_table(0, 8195));
    lab.board.run("ended", &[Mrs(0, icc::RPR, 0x80), Msr(0, icc::EOIR1, 8195), Mrs(0, icc::RPR, 0xff)]);
    // Off: what is pending stays in the table alone, and what comes is lost.
    lab.int(3);
    lab.lpis(0, 0);
    lab.board.run("off", &[Wires(0, 0), Mrs(0, icc::HPPIR1, 1023)]);
    assert!(lab.in_table(0, 8195));
    lab.ram.write_bytes(PENDING - RAM + 8195 / 8, &[0x10]).unwrap();
    lab.lpis(0, 1);
    lab.board.run("what software left", &[Mrs(0, icc::IAR1, 8196), Mrs(0, icc::IAR1, 1023)]);
}

#[test]
fn without_memory_there_is_nothing() {
    let mut board = Board::open(1);
    let mut its = board.gic.its();
    let access = |offset| MmioAccess { offset, size: Size::Word, cpu: 0, now: 0 };
    for offset in [GITS_CTLR, CBASER, TRANSLATER] {
        its.write(access(offset), 1).unwrap();
        assert_eq!(its.read(access(offset)), Ok(0));
    }
    board.run("no LPIs", &[Redist(0, CTLR, 1), RedistIs(0, CTLR, 0), Redist(0, 0x70, 0xff), RedistIs(0, 0x70, 0)]);
    board.run("an LPI's end", &[Mrs(0, icc::RPR, 0xff), Msr(0, icc::EOIR1, 8192), RedistIs(0, 8, 0x30)]);
}

/// A command error: the benign machine goes on, the adversarial one waits for Retry.
#[test]
fn command_errors() {
    let bad = [0xfe, 0, 0, 0];
    let mut lab = Lab::new(Policy::Benign);
    lab.map(0, 0);
    lab.command(bad);
    assert_eq!(lab.read(CREADR), lab.read(CWRITER));
    lab.int(0);
    lab.board.run("it goes on", &[Mrs(0, icc::IAR1, 8192)]);

    let mut lab = Lab::new(Policy::Adversarial { seed: 1 });
    lab.map(0, 0);
    let at = lab.read(CREADR);
    lab.command(bad);
    lab.int(0);
    assert_eq!(lab.read(CREADR), at | 1);
    lab.board.run("stalled", &[Wires(0, 0)]);
    let end = lab.read(CWRITER);
    lab.write(CWRITER, end | 1);
    assert_eq!(lab.read(CREADR), at | 1, "the command is as bad as before");
    lab.put(at, [u64::from(command::SYNC), 0, 0, 0]);
    lab.write(CWRITER, end | 1);
    assert_eq!(lab.read(CREADR), end);
    lab.board.run("mended", &[Mrs(0, icc::IAR1, 8192)]);
}

/// Tables and a queue that are not in RAM: nothing is read or written, and the ITS goes on.
#[test]
fn tables_outside_ram() {
    for far in [0, RAM - 0x1_0000, RAM + RAM_BYTES, 0xf_ffff_ffff_0000] {
        let mut lab = Lab::empty(Policy::Benign);
        for (offset, value) in [(BASER, far | VALID), (BASER + 8, far | VALID | 1 << 62), (CBASER, far | VALID)] {
            lab.write(offset, value);
        }
        lab.write(GITS_CTLR, 1);
        lab.write(CWRITER, 0xfe0);
        assert_eq!(lab.read(CREADR), 0xfe0, "{far:#x}");
        lab.write(TRANSLATER, 0);
        for pe in 0..2 {
            lab.board
                .run("far", &[Redist(pe, 0x70, far | 15), Redist(pe, 0x74, far >> 32), Redist(pe, 0x7c, far >> 32)]);
            lab.lpis(pe, 1);
        }
        assert!((0..RAM_BYTES / 8).all(|n| lab.ram.read_u64(8 * n) == Some(0)));
    }
}

/// However much a guest asks for, a round of the machine has its measure; the rest comes in later rounds, unasked.
#[test]
fn work_is_bounded() {
    let mut lab = Lab::new(Policy::Benign);
    lab.lpis(0, 0);
    lab.ram.write_bytes(PENDING - RAM, &[0xff; 8192]).unwrap();
    lab.lpis(0, 1);
    let start = lab.read(CREADR);
    let mut at = start;
    for _ in 0..1000 {
        at = lab.put(at, [u64::from(command::INVALL), 0, 0, 0]);
    }
    lab.write(CWRITER, at);
    // The table that was read, 57344 LPIs, was more than a round's.
    for _ in 0..100 {
        assert_eq!(lab.read(CREADR), start, "this round is used up");
        lab.lpis(1, 0);
        lab.lpis(1, 1);
        assert_eq!(lab.board.redist(1, CTLR, Size::Word) & 8, 8, "RWP: the table waits");
    }
    assert!(lab.board.gic.has_work());
    // Each INVALL looks at 57344.
    let rounds = 1001 * 57_344 / Work::UNITS as u64;
    let mut done = 0;
    while lab.board.gic.has_work() {
        lab.now += 10_000;
        lab.board.gic.work(lab.now);
        done += 1;
        assert!(done < rounds + rounds / 10, "it goes on for ever");
    }
    assert!(done > rounds - rounds / 10, "{done} rounds");
    assert_eq!(lab.read(CREADR), lab.read(CWRITER));
    assert_eq!(lab.board.redist(1, CTLR, Size::Word) & 8, 0);
}

#[test]
fn snapshots_have_all_of_it() {
    let mut lab = Lab::new(Policy::Adversarial { seed: 0 });
    for event in 0..6 {
        lab.map(event, event & 1);
        lab.int(event);
    }
    lab.command([0xff, 0, 0, 0]);
    lab.int(7);
    let bytes = lab.saved();
    let hash = lab.hash();
    let mut other = Lab::empty(Policy::Adversarial { seed: 0 });
    other.board.distributor.persist(&mut Codec::load(&bytes)).unwrap();
    assert_eq!((other.saved(), other.hash()), (bytes.clone(), hash));
    other.board.run("goes on", &[Wires(0, IRQ), Wires(1, IRQ), Mrs(0, icc::IAR1, 8192), Mrs(1, icc::IAR1, 8193)]);
    assert_eq!(other.read(CREADR) & 1, 1);
    assert_ne!(other.hash(), hash);
    // A board without an ITS does not take it.
    let error = Board::new(2, Sleep::Awake).distributor.persist(&mut Codec::load(&bytes)).unwrap_err();
    assert_eq!(error.to_string(), "whether there is an ITS is another");
    // Whatever else is in a file is refused or can be, and is then the same when it is saved again.
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x80;
        let mut lab = Lab::empty(Policy::Benign);
        if lab.board.distributor.persist(&mut Codec::load(&changed)).is_ok() {
            lab.now = 1;
            lab.board.gic.work(1);
        }
    }
}

/// Junk in registers, queue and tables: nothing panics, and the wires and the pending tables in memory are as the registers
/// say.
#[test]
fn junk() {
    let seed = 0x5eed_0003_u64;
    println!("seed {seed:#x}");
    let mut random = super::junk::Random(seed);
    let mut taken = 0;
    for policy in [Policy::Benign, Policy::Adversarial { seed }] {
        let mut lab = Lab::new(policy);
        for step in 0..60_000u64 {
            let (r, v) = (random.next(), random.next());
            let small = v % 20;
            let number = [1, 3, 3, 3, 4, 5, 8, 9, 10, 10, 10, 11, 12, 13, 14, 15][(r >> 8) as usize % 16];
            match r % 32 {
                // Commands that are nearly right.
                0..=17 => {
                    let device = if v >> 20 & 7 == 0 { v >> 32 } else { 1 };
                    let pe = v >> 24 & 3;
                    let third = match number {
                        8 => (ITTS + (v >> 8 & 0xf00)) | VALID,
                        9 => small | pe << 16 | (v >> 30 & 3) << 62,
                        _ => (v >> 28 & 1) | pe << 16,
                    };
                    let second = match number {
                        8 => small,
                        _ => small | (8192 + (v >> 40 & 0xf)) << 32,
                    };
                    lab.command([number | device << 32, second, third, (v >> 50 & 3) << 16]);
                }
                18 => lab.command([v, random.next(), random.next(), random.next()]),
                19 => {
                    let offset = [0, 8, 0x80, 0x88, 0x90, 0x100, 0x108, 0x110, 0xffd0][(r >> 8) as usize % 9];
                    lab.write(offset, if r >> 16 & 1 == 0 { v } else { 1 << (v % 64) });
                }
                20 => {
                    let size = [Size::Byte, Size::Half, Size::Word, Size::Double][(r >> 8) as usize % 4];
                    let offset = (v & 0x1_ffff) & !(size.bytes() - 1);
                    let access = MmioAccess { offset, size, cpu: 0, now: lab.now };
                    lab.its.write(access, r >> 16 & size.mask()).unwrap();
                    lab.its.read(access).unwrap();
                }
                // Tables.
                21 => lab.ram.write_bytes((v % RAM_BYTES) & !7, &random.next().to_le_bytes()).unwrap_or(()),
                22 => lab.ram.write_bytes(PROPERTIES - RAM + small % 16, &[(r >> 8) as u8]).unwrap(),
                23 => lab.lpis((v & 1) as usize, r >> 8 & 1),
                24 => {
                    let offset = (v & 1) * REDIST_STRIDE + 0x70 + (v >> 1 & 1) * 8;
                    let access = MmioAccess { offset, size: Size::Double, cpu: 0, now: lab.now };
                    lab.board.redistributors.write(access, random.next()).unwrap();
                }
                25 => lab.write(TRANSLATER, small),
                26 | 27 => {
                    let pe = (v & 1) as usize;
                    if let Some(intid @ 8192..) = lab.board.gic.read(pe, icc::IAR1) {
                        taken += 1;
                        lab.board.gic.write(pe, icc::EOIR1, intid).unwrap();
                    }
                }
                28 => lab.now += 10_000,
                // All as it should be again.
                29 if r >> 8 & 7 == 0 => {
                    lab.write(GITS_CTLR, 0);
                    (0..2).for_each(|pe| lab.lpis(pe, 0));
                    lab.now += 10_000;
                    lab.tables();
                    for (n, table) in [(0, DEVICES), (1, COLLECTIONS)] {
                        lab.write(BASER + 8 * n, table | VALID);
                    }
                    lab.write(CBASER, QUEUE | VALID | 15);
                    lab.write(CWRITER, 0);
                    lab.write(GITS_CTLR, 1);
                    lab.command([u64::from(command::MAPC), 0, VALID, 0]);
                    lab.command([u64::from(command::MAPC), 0, VALID | 1 << 16 | 1, 0]);
                    lab.command([u64::from(command::MAPD) | 1 << 32, 3, ITTS | VALID, 0]);
                    (0..8).for_each(|event| lab.map(event, event & 1));
                }
                _ => {}
            }
            if step % 64 == 0 {
                check(&mut lab, &format!("seed {seed:#x}, {policy:?}, step {step}"));
            }
        }
    }
    println!("{taken} taken");
    assert!(taken > 300, "only {taken} LPIs were taken");
}

/// The wires by what is pending, enabled and highest, from a scan of everything.
fn check(lab: &mut Lab, says: &str) {
    for pe in 0..2 {
        let expected = lab.board.gic.with(|state| {
            let lpis = state.has_lpis_on(pe);
            let best = (8192..65_536u32).filter(|intid| state.is_lpi_ready(pe, *intid).is_some());
            let best = best.filter_map(|intid| state.is_lpi_ready(pe, intid).map(|p| (p, intid))).min();
            assert!(lpis || best.is_none(), "{says}: pending while off");
            best
        });
        let hppi = lab.board.gic.read(pe, icc::HPPIR1).unwrap();
        let enabled = lab.board.dist(CTLR, Size::Word) & 2 != 0 && lab.board.gic.read(pe, icc::IGRPEN1) == Some(1);
        let expected = expected.filter(|_| enabled).map_or(1023, |(_, intid)| u64::from(intid));
        assert_eq!(hppi, expected, "{says}, PE {pe}");
    }
}
