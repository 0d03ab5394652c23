//! The GICv2: scenarios against what the manual says, snapshots, junk. `virtual_interface` has those of GICH and GICV.

mod virtual_interface;

use snapshot::Codec;

use super::*;
use crate::v2::spec::gicc_ctlr;
use crate::{DistributorV2, FrameV2, GicV2};

// Offsets in a CPU interface's frame.
const PMR: u64 = 4;
const BPR: u64 = 8;
const IAR: u64 = 0xc;
const EOIR: u64 = 0x10;
const RPR: u64 = 0x14;
const HPPIR: u64 = 0x18;
const ABPR: u64 = 0x1c;
const AIAR: u64 = 0x20;
const AEOIR: u64 = 0x24;
const AHPPIR: u64 = 0x28;
// And in the distributor's.
const TARGETS: u64 = 0x800;
const SGIR: u64 = 0xf00;
const SPENDSGIR: u64 = 0xf20;

struct Lab {
    gic: GicV2,
    distributor: DistributorV2,
    interfaces: FrameV2,
    control: FrameV2,
    guests: FrameV2,
    wires: Vec<Arc<CpuLines>>,
}

impl Lab {
    fn new(cpus: usize) -> Self {
        let wires: Vec<_> = (0..cpus).map(|_| Arc::new(CpuLines::default())).collect();
        let gic = GicV2::new(wires.clone(), 224).unwrap();
        let (distributor, interfaces) = (gic.distributor(), gic.cpu_interfaces());
        let (control, guests) = (gic.virtual_control(), gic.virtual_cpu_interfaces());
        Self { gic, distributor, interfaces, control, guests, wires }
    }

    /// All on, SPIs 32 to 63 enabled and to CPU 0, everything of priority 0x80.
    fn open(cpus: usize) -> Self {
        let mut lab = Self::new(cpus);
        lab.dist(0, ISENABLER + 4, 0xffff_ffff);
        for word in 0..8 {
            lab.dist(0, IPRIORITYR + 32 + 4 * word, 0x8080_8080);
            lab.dist(0, TARGETS + 32 + 4 * word, 0x0101_0101);
        }
        lab.dist(0, CTLR, 3);
        for cpu in 0..cpus {
            (0..8).for_each(|word| lab.dist(cpu, IPRIORITYR + 4 * word, 0x8080_8080));
            lab.icc(cpu, PMR, 0xff);
            lab.icc(cpu, CTLR, 3);
        }
        lab
    }

    fn dist(&mut self, cpu: usize, offset: u64, value: u64) {
        let access = MmioAccess { offset, size: Size::Word, cpu, now: 0 };
        self.distributor.write(access, value).unwrap();
    }
    fn dist_is(&mut self, cpu: usize, offset: u64) -> u64 {
        self.distributor.read(MmioAccess { offset, size: Size::Word, cpu, now: 0 }).unwrap()
    }
    fn icc(&mut self, cpu: usize, offset: u64, value: u64) {
        let access = MmioAccess { offset, size: Size::Word, cpu, now: 0 };
        self.interfaces.write(access, value).unwrap();
    }
    fn icc_is(&mut self, cpu: usize, offset: u64) -> u64 {
        self.interfaces.read(MmioAccess { offset, size: Size::Word, cpu, now: 0 }).unwrap()
    }
    fn ich(&mut self, cpu: usize, offset: u64, value: u64) {
        let access = MmioAccess { offset, size: Size::Word, cpu, now: 0 };
        self.control.write(access, value).unwrap();
    }
    fn ich_is(&mut self, cpu: usize, offset: u64) -> u64 {
        self.control.read(MmioAccess { offset, size: Size::Word, cpu, now: 0 }).unwrap()
    }
    fn icv(&mut self, cpu: usize, offset: u64, value: u64) {
        let access = MmioAccess { offset, size: Size::Word, cpu, now: 0 };
        self.guests.write(access, value).unwrap();
    }
    fn icv_is(&mut self, cpu: usize, offset: u64) -> u64 {
        self.guests.read(MmioAccess { offset, size: Size::Word, cpu, now: 0 }).unwrap()
    }
    fn lines(&self) -> Vec<u32> {
        self.wires.iter().map(|wires| wires.get()).collect()
    }
    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.distributor.hash(&mut hasher);
        self.interfaces.hash(&mut hasher);
        self.control.hash(&mut hasher);
        hasher.finish()
    }
    fn saved(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.distributor.persist(&mut Codec::save(&mut bytes)).unwrap();
        bytes
    }
}

#[test]
fn sizes() {
    for cpus in [0, 9] {
        assert_eq!(GicV2::new(vec![Arc::default(); cpus], 224).err(), Some(GicError::PesOfV2(cpus)));
    }
    assert_eq!(GicV2::new(vec![Arc::default(); 8], 989).err(), Some(GicError::Spis(989)));
    assert_eq!(Lab::new(8).dist_is(0, 4), 7 | 7 << 5);
    // The last SPIs there can be end before the special INTIDs.
    let wires = vec![Arc::default(); 2];
    let gic = GicV2::new(wires, 988).unwrap();
    let mut distributor = gic.distributor();
    let access = |offset| MmioAccess { offset, size: Size::Word, cpu: 0, now: 0 };
    distributor.write(access(TARGETS + 1016), 0x0303_0303).unwrap();
    distributor.write(access(TARGETS + 1020), 0x0303_0303).unwrap();
    assert_eq!(distributor.read(access(TARGETS + 1016)), Ok(0x0303_0303));
    assert_eq!(distributor.read(access(TARGETS + 1020)), Ok(0));
}

/// The registers for group 1.
#[test]
fn aliases() {
    let mut lab = Lab::open(1);
    lab.dist(0, IGROUPR, 4);
    lab.dist(0, SGIR, 2 << 24 | 2);
    assert_eq!((lab.icc_is(0, HPPIR), lab.icc_is(0, AHPPIR), lab.icc_is(0, IAR)), (1022, 2, 1022));
    assert_eq!(lab.icc_is(0, AIAR), 2);
    lab.icc(0, AEOIR, 2);
    assert_eq!(lab.icc_is(0, RPR), 0xff);
    lab.dist(0, SGIR, 2 << 24 | 1);
    assert_eq!((lab.icc_is(0, HPPIR), lab.icc_is(0, AHPPIR), lab.icc_is(0, AIAR)), (1, 1023, 1023));
    assert_eq!(lab.icc_is(0, IAR), 1);
    lab.icc(0, AEOIR, 1);
    assert_eq!(lab.icc_is(0, RPR), 0x80, "of group 0");
    lab.icc(0, EOIR, 1);
    assert_eq!(lab.icc_is(0, RPR), 0xff);
    // Group 0 as FIQ, group 1 as IRQ in any case.
    lab.icc(0, CTLR, u64::from(3 | gicc_ctlr::FIQ_EN));
    lab.dist(0, SGIR, 2 << 24 | 1);
    assert_eq!(lab.lines(), [FIQ]);
    lab.dist(0, IPRIORITYR, 0x8040_8080);
    lab.dist(0, SGIR, 2 << 24 | 2);
    assert_eq!(lab.lines(), [IRQ]);
}

/// One SPI for many: all see it, and who acknowledges first has it. One SGI from many: each CPU takes each once.
#[test]
fn many_cpus() {
    let mut lab = Lab::open(8);
    lab.dist(0, TARGETS + 40, 0xff);
    lab.gic.set_spi(40, HIGH);
    assert_eq!(lab.lines(), [IRQ; 8]);
    assert_eq!((lab.icc_is(5, IAR), lab.icc_is(2, IAR)), (40, 1023));
    assert_eq!(lab.lines(), [0; 8]);
    lab.gic.set_spi(40, LOW);
    lab.icc(5, EOIR, 40);
    for from in 0..8 {
        lab.dist(from, SGIR, 1 << 24 | 3);
    }
    for cpu in 0..8 {
        let mut taken = Vec::new();
        while let Some(value) = Some(lab.icc_is(cpu, IAR)).filter(|value| *value != 1023) {
            lab.icc(cpu, EOIR, value);
            taken.push(value);
        }
        let others: Vec<u64> = (0..8).filter(|n| *n != cpu as u64).map(|n| 3 | n << 10).collect();
        assert_eq!(taken, others);
    }
}

#[test]
fn snapshots_have_all_of_it() {
    let mut lab = Lab::open(3);
    lab.dist(1, SGIR, 5 << 16 | 7);
    lab.dist(0, TARGETS + 44, 6);
    lab.gic.set_spi(44, HIGH);
    assert_eq!(lab.icc_is(2, IAR), 7 | 1 << 10);
    lab.icc(1, CTLR, 0x20f);
    lab.icc(1, ABPR, 5);
    virtual_interface::open(&mut lab, 1);
    lab.ich(1, virtual_interface::LIST, virtual_interface::irq(0x40, 3 | 5 << 10));
    lab.ich(1, virtual_interface::HCR, 9);
    let (bytes, hash) = (lab.saved(), lab.hash());
    let mut other = Lab::new(3);
    assert_ne!(other.hash(), hash);
    other.distributor.persist(&mut Codec::load(&bytes)).unwrap();
    assert_eq!((other.saved(), other.hash(), other.lines()), (bytes.clone(), hash, lab.lines()));
    assert_eq!((other.icc_is(0, IAR), other.icc_is(1, IAR), other.icc_is(2, RPR)), (7 | 1 << 10, 44, 0x80));
    assert!(Lab::new(2).distributor.persist(&mut Codec::load(&bytes)).is_err());
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x40;
        let mut lab = Lab::new(3);
        if lab.distributor.persist(&mut Codec::load(&changed)).is_ok() {
            assert_eq!(lab.saved(), changed);
        }
    }
}

/// What a CPU's wires must be, from the registers alone.
fn expected(lab: &mut Lab, cpu: usize) -> u32 {
    let ctlr = lab.icc_is(cpu, CTLR);
    let enables = lab.dist_is(0, CTLR) & ctlr;
    let mut best = None;
    for intid in 0..96 {
        let word = |lab: &mut Lab, run: u64| lab.dist_is(cpu, run + intid / 32 * 4) >> (intid % 32) & 1;
        let byte = |lab: &mut Lab, run: u64| lab.dist_is(cpu, run + intid / 4 * 4) >> (intid % 4 * 8) & 0xff;
        if word(lab, ISPENDR) & word(lab, ISENABLER) & !word(lab, ISACTIVER) & 1 == 0
            || byte(lab, TARGETS) >> cpu & 1 == 0
        {
            continue;
        }
        let (group, priority) = (word(lab, IGROUPR), byte(lab, IPRIORITYR));
        if enables >> group & 1 == 1 && best.is_none_or(|(p, _)| priority < p) {
            best = Some((priority, group));
        }
    }
    let Some((priority, group)) = best else { return 0 };
    let point = if group == 1 && ctlr & 0x10 == 0 { lab.icc_is(cpu, ABPR) - 1 } else { lab.icc_is(cpu, BPR) };
    let (running, mask) = (lab.icc_is(cpu, RPR), 0xff << (point + 1));
    let preempts = running == 0xff || priority & mask < running & mask;
    match priority < lab.icc_is(cpu, PMR) && preempts {
        true if group == 0 && ctlr & 8 != 0 => FIQ,
        true => IRQ,
        false => 0,
    }
}

#[test]
fn junk() {
    let seed = 0x5eed_0004_u64;
    println!("seed {seed:#x}");
    let mut random = super::junk::Random(seed);
    let mut lab = Lab::open(3);
    let mut signalled = 0;
    for step in 0..60_000u64 {
        let (r, v) = (random.next(), random.next());
        let cpu = (r >> 32) as usize % 3;
        let value = match r >> 60 & 3 {
            0 => v,
            1 => v & random.next() & random.next(),
            2 => v % 100,
            _ => 1 << (v % 64),
        } & 0xffff_ffff;
        let size = [Size::Byte, Size::Half, Size::Word, Size::Double][(r >> 8) as usize % 4];
        let access = |offset: u64| MmioAccess { offset: offset & !(size.bytes() - 1), size, cpu, now: 0 };
        match r % 16 {
            0 => lab.distributor.write(access(v & 0xffff), value & size.mask()).unwrap(),
            1 => lab.interfaces.write(access(v & 0xffff), value & size.mask()).unwrap(),
            2 => drop(lab.distributor.read(access(v & 0xffff)).unwrap()),
            3 => drop(lab.interfaces.read(access(v & 0xffff)).unwrap()),
            4..=6 => {
                let runs = [IGROUPR, ISENABLER, ICENABLER, ISPENDR, ICPENDR, ISACTIVER, ICACTIVER, ICFGR];
                lab.dist(cpu, runs[(r >> 8) as usize % 8] + 4 * (r >> 16 & 1), value);
            }
            7 => lab.dist(cpu, [IPRIORITYR, TARGETS][(r >> 8) as usize % 2] + 4 * (r >> 16 & 15), value),
            8 => lab.dist(cpu, SGIR, value & 0x0fff_ffff),
            9 => lab.dist(cpu, [0xf10, SPENDSGIR][(r >> 8) as usize % 2] + 4 * (r >> 16 & 3), value),
            10 => lab.gic.set_spi(32 + (v % 40) as u32, Level::from_bit(r >> 9 & 1 == 1)),
            11 => lab.gic.set_ppi(cpu, (v % 40) as u32, Level::from_bit(r >> 9 & 1 == 1)),
            12 | 13 => {
                let offset = [CTLR, PMR, BPR, ABPR, EOIR, AEOIR, 0xd0, 0xe0, 0x1000][(r >> 8) as usize % 9];
                lab.icc(cpu, offset, value);
            }
            14 => drop(lab.icc_is(cpu, [IAR, AIAR][(r >> 8) as usize % 2])),
            _ => {
                lab.dist(0, CTLR, 3);
                for (offset, value) in [(CTLR, 7), (PMR, 0xff), (0xd0, 0), (0xe0, 0)] {
                    lab.icc(cpu, offset, value);
                }
            }
        }
        if step % 16 == 0 {
            // SPIs 96 and above are out of the model's reach: keep them off.
            (3..8).for_each(|bank| lab.dist(0, ICENABLER + 4 * bank, 0xffff_ffff));
            for cpu in 0..3 {
                let expected = expected(&mut lab, cpu);
                assert_eq!(lab.wires[cpu].get(), expected, "seed {seed:#x}, step {step}, CPU {cpu}");
                signalled += u32::from(expected != 0);
            }
        }
    }
    println!("{signalled} of 11250");
    assert!(signalled > 2000, "only {signalled} wires were high");
}
