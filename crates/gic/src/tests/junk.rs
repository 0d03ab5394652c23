//! Random accesses: nothing panics, and the wires stay what the registers say.

use bus::{CpuInterface, Device, IrqSink, Level, MmioAccess, Size};

use super::Step::{Dist, DistByte, DistDouble, Msr, Redist};
use super::*;

/// A small generator with a printed seed (xorshift64*).
pub struct Random(pub u64);
impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// What the wires of a PE must be, worked out from the registers alone: a full scan, with none of the bookkeeping.
fn expected_wires(board: &mut Board, pe: usize) -> u32 {
    if board.redist(pe, 0x14, Size::Word) != 0 {
        return 0;
    }
    let gic = board.gic.clone();
    let icc = |pe: usize, reg| gic.read(pe, reg).expect("readable");
    let takes = |board: &mut Board, group: u64| {
        (0..board.wires.len()).find(|n| {
            let enable = if group == 0 { icc::IGRPEN0 } else { icc::IGRPEN1 };
            icc(*n, enable) == 1
                && board.redist(*n, 0x14, Size::Word) == 0
                && board.redist(*n, CTLR, Size::Word) >> (24 + group) & 1 == 0
        })
    };
    let takers = [takes(board, 0), takes(board, 1)];
    let enables = board.dist(CTLR, Size::Word) & (icc(pe, icc::IGRPEN0) | icc(pe, icc::IGRPEN1) << 1);
    let affinity = board.redist(pe, 12, Size::Word);
    let mut best = None;
    for intid in 0..96u64 {
        let word = |board: &mut Board, run: u64| {
            let offset = run + intid / 32 * 4;
            let value =
                if intid < 32 { board.redist(pe, SGI + offset, Size::Word) } else { board.dist(offset, Size::Word) };
            value >> (intid % 32) & 1
        };
        if word(board, ISPENDR) & word(board, ISENABLER) & !word(board, ISACTIVER) & 1 == 0 {
            continue;
        }
        let group = word(board, IGROUPR);
        if intid >= 32 {
            let route = board.dist(IROUTER + 8 * intid, Size::Double);
            let here = if route >> 31 & 1 == 1 { takers[group as usize] == Some(pe) } else { route == affinity };
            if !here {
                continue;
            }
        }
        let offset = IPRIORITYR + intid;
        let priority =
            if intid < 32 { board.redist(pe, SGI + offset, Size::Byte) } else { board.dist(offset, Size::Byte) };
        if enables >> group & 1 == 1 && best.is_none_or(|(p, _)| priority < p) {
            best = Some((priority, group));
        }
    }
    let Some((priority, group)) = best else { return 0 };
    let point = if group == 1 && icc(pe, icc::CTLR) & 1 == 0 { icc(pe, icc::BPR1) - 1 } else { icc(pe, icc::BPR0) };
    let running = icc(pe, icc::RPR);
    let mask = 0xff << (point + 1);
    let preempts = running == 0xff || priority & mask < running & mask;
    if priority < icc(pe, icc::PMR) && preempts { [FIQ, IRQ][group as usize] } else { 0 }
}

#[test]
fn junk_keeps_wires_consistent_with_registers() {
    let seed = 0x5eed_0001_u64;
    println!("seed {seed:#x}");
    let mut random = Random(seed);
    let mut board = Board::open(3);
    board.run("few SPIs", &(0..32).map(|n| DistDouble(IROUTER + 8 * (32 + n), n % 3)).collect::<Vec<_>>());
    let registers = [
        icc::PMR,
        icc::IAR0,
        icc::EOIR0,
        icc::HPPIR0,
        icc::BPR0,
        icc::AP0R0,
        icc::AP1R0,
        icc::DIR,
        icc::RPR,
        icc::SGI1R,
        icc::ASGI1R,
        icc::SGI0R,
        icc::IAR1,
        icc::EOIR1,
        icc::HPPIR1,
        icc::BPR1,
        icc::CTLR,
        icc::SRE,
        icc::IGRPEN0,
        icc::IGRPEN1,
    ];
    let runs = [IGROUPR, ISENABLER, ICENABLER, ISPENDR, ICPENDR, ISACTIVER, ICACTIVER];
    let mut signalled = 0;
    for step in 0..100_000 {
        let (r, value, pe) = (random.next(), random.next(), random.next() as usize % 3);
        // Values with few bits set, whole random ones, and small ones.
        let value = match r >> 60 & 3 {
            0 => value,
            1 => value & random.next() & random.next(),
            2 => value % 100,
            _ => 1 << (value % 64),
        };
        let size = [Size::Byte, Size::Half, Size::Word, Size::Double][(r >> 50 & 3) as usize];
        let access = |offset: u64| MmioAccess { offset: offset & !(size.bytes() - 1), size, cpu: pe, now: 0 };
        match r % 16 {
            0 => drop(board.distributor.write(access(value & 0xffff), r >> 8 & size.mask())),
            1 => drop(board.redistributors.write(access(value & 0x5_ffff), r >> 8 & size.mask())),
            2 => drop(board.distributor.read(access(r >> 8 & 0xffff))),
            3 => drop(board.redistributors.read(access(r >> 8 & 0xf_ffff))),
            4 | 5 => board.run("junk", &[Dist(runs[(r >> 8) as usize % 7] + 4 + (r >> 16 & 4), value)]),
            6 => board.run("junk", &[Redist(pe, SGI + runs[(r >> 8) as usize % 7], value)]),
            7 => board.run("junk", &[DistByte(IPRIORITYR + 32 + (r >> 8) % 64, value & 0xff)]),
            8 => board.run("junk", &[DistDouble(IROUTER + 8 * (32 + (r >> 8) % 64), value & 0x8000_0003)]),
            9 | 10 => board.gic.set_spi((r >> 8) as u32 % 100, Level::from_bit(r >> 40 & 1 == 1)),
            11 => board.gic.set_ppi(pe, (r >> 8) as u32 % 40, Level::from_bit(r >> 40 & 1 == 1)),
            12 => board.run(
                "open",
                &[
                    Dist(CTLR, 3),
                    Redist(pe, 0x14, 0),
                    Msr(pe, icc::PMR, 0xff),
                    Msr(pe, icc::AP0R0, 0),
                    Msr(pe, icc::AP1R0, 0),
                    Msr(pe, icc::IGRPEN1, 1),
                ],
            ),
            13 | 14 => drop(board.gic.read(pe, registers[(r >> 8) as usize % 20])),
            _ => drop(board.gic.write(pe, registers[(r >> 8) as usize % 20], value)),
        }
        if step % 16 == 0 {
            // SPIs 96 and above are out of the model's reach: keep them off.
            for bank in 3..8 {
                board.run("off", &[Dist(ICENABLER + 4 * bank, 0xffff_ffff)]);
            }
            for pe in 0..3 {
                let expected = expected_wires(&mut board, pe);
                assert_eq!(board.wires[pe].get(), expected, "seed {seed:#x}, step {step}, PE {pe}");
                signalled += u32::from(expected != 0);
            }
        }
    }
    // The junk must not have put everything to rest.
    println!("{signalled} of 18750");
    assert!(signalled > 3000, "only {signalled} wires were high");
}

/// What the virtual wires of PE 0 must be, from the `ICH_*` registers alone.
fn expected_virtual_wires(gic: &Gic, list_registers: u16, preemption_bits: u64) -> u32 {
    let ich = |crm: u16, op2: u16| gic.read_hypervisor(0, Enc::new(3, 4, 12, crm, op2)).expect("readable");
    let (hcr, vmcr) = (ich(11, 0), ich(11, 7));
    let (priority_mask, enabled) = (vmcr >> 24, [vmcr & 1, vmcr >> 1 & 1]);
    let mut best: Option<(u64, u64)> = None;
    for n in 0..list_registers {
        let lr = ich(12 + n / 8, n % 8);
        let (group, priority) = (lr >> 60 & 1, lr >> 48 & 0xff);
        let candidate = lr >> 62 == 1 && enabled[group as usize] == 1;
        if candidate && best.is_none_or(|(p, _)| priority < p) {
            best = Some((priority, group));
        }
    }
    let words = 1 << (preemption_bits - 5);
    let running = (0..words)
        .flat_map(|n| (0..32).map(move |bit| (n, bit)))
        .find(|(n, bit)| (ich(8, *n) | ich(9, *n)) >> bit & 1 == 1)
        .map_or(0xff, |(n, bit)| (u64::from(n) * 32 + bit) << (8 - preemption_bits));
    let Some((priority, group)) = best else { return 0 };
    let point = if group == 1 && vmcr >> 4 & 1 == 0 { (vmcr >> 18 & 7) - 1 } else { vmcr >> 21 & 7 };
    let mask = 0xff << (point + 1);
    let preempts = running == 0xff || priority & mask < running & mask;
    let signalled = hcr & 1 == 1 && priority < priority_mask && preempts;
    if signalled { [CpuLines::VFIQ, CpuLines::VIRQ][group as usize] } else { 0 }
}

/// ICH_MISR_EL2 from the other registers.
fn expected_misr(gic: &Gic, list_registers: u16) -> u64 {
    let ich = |crm: u16, op2: u16| gic.read_hypervisor(0, Enc::new(3, 4, 12, crm, op2)).expect("readable");
    let (hcr, vmcr, eisr) = (ich(11, 0), ich(11, 7), ich(11, 3));
    let states: Vec<u64> = (0..list_registers).map(|n| ich(12 + n / 8, n % 8) >> 62).collect();
    let few = states.iter().filter(|state| **state != 0).count() < 2;
    let none_pending = states.iter().all(|state| *state != 1);
    let conditions =
        u64::from(few) << 1 | u64::from(hcr >> 27 != 0) << 2 | u64::from(none_pending) << 3 | (vmcr & 1) << 4;
    let conditions = conditions | (!vmcr & 1) << 5 | (vmcr >> 1 & 1) << 6 | (!vmcr >> 1 & 1) << 7;
    hcr & conditions & 0xfe | u64::from(eisr != 0)
}

#[test]
fn junk_keeps_the_virtual_interface_consistent() {
    let seed = 0x5eed_0002_u64;
    println!("seed {seed:#x}");
    let mut random = Random(seed);
    let mut signalled = 0;
    for (count, bits, properties) in [
        (4, 5, "seis=off"),
        (1, 5, "list-registers=1,seis=on,tds=off,id-bits=24"),
        (16, 7, "list-registers=16,priority-bits=8,preemption-bits=7,seis=broken,nv4=off,dvim=on"),
        (7, 6, "list-registers=7,priority-bits=7,preemption-bits=6"),
    ] {
        let mut interface = VirtualInterface::DEFAULT;
        interface.apply(properties).unwrap();
        let policy = Policy::Adversarial { seed };
        let mut board = Board::with_interfaces(vec![0], 224, Sleep::Awake, interface, policy);
        board.run("maintenance", &[Redist(0, SGI + ISENABLER, u64::from(u32::MAX))]);
        for step in 0..40_000 {
            let (r, value) = (random.next(), random.next());
            let value = match r >> 60 & 3 {
                0 => value,
                1 => value & random.next() & random.next(),
                2 => value % 100,
                _ => 1 << (value % 64),
            };
            // Every encoding of the two spaces, whether or not there is a register.
            let (crm, op2) = (8 + (r >> 8) as u16 % 6, (r >> 16) as u16 % 8);
            let (ich, icv) = (Enc::new(3, 4, 12, crm, op2), Enc::new(3, 0, 12, crm, op2));
            match r % 8 {
                0 | 1 => drop(board.gic.write_hypervisor(0, ich, value)),
                2 => drop(board.gic.write_virtual(0, icv, value)),
                3 => drop(board.gic.write_virtual(0, icc::PMR, value)),
                4 => drop(board.gic.read_virtual(0, icv)),
                5 => drop(board.gic.read_virtual(0, [icc::IAR0, icc::IAR1][op2 as usize % 2])),
                6 => {
                    let n = (r >> 24) as u16 % count;
                    let pending = 1 << 62 | (r >> 32 & 0xf8) << 48 | (r >> 20 & 1) << 60 | value & 0xffff;
                    let _ = board.gic.write_hypervisor(0, Enc::new(3, 4, 12, 12 + n / 8, n % 8), pending);
                }
                _ => {
                    let _ =
                        board.gic.write_hypervisor(0, Enc::new(3, 4, 12, 11, 7), 0xff00_0000 | value & 0xff_ffff | 3);
                    let _ = board.gic.write_hypervisor(0, Enc::new(3, 4, 12, 11, 0), value | 1);
                    for n in 0..4 {
                        let _ = board.gic.write_hypervisor(0, Enc::new(3, 4, 12, 8 + (n & 1), n >> 1), 0);
                    }
                }
            }
            let wires = board.wires[0].get() & (CpuLines::VIRQ | CpuLines::VFIQ);
            let says = || format!("seed {seed:#x}, {properties}, step {step}");
            assert_eq!(wires, expected_virtual_wires(&board.gic, count, bits), "{}", says());
            let gic = board.gic.clone();
            let ich = |op2| gic.read_hypervisor(0, Enc::new(3, 4, 12, 11, op2)).expect("readable");
            let misr = expected_misr(&board.gic, count);
            assert_eq!(ich(2), misr, "{}", says());
            // The maintenance interrupt follows; no list register is ended and free at once.
            let wanted = ich(0) & 1 == 1 && misr != 0;
            let pending = board.redist(0, SGI + ISPENDR, Size::Word) >> 25 & 1 == 1;
            assert_eq!(pending, wanted, "{}", says());
            assert_eq!(ich(3) & ich(5), 0, "{}", says());
            assert_eq!(ich(0) & !interface.hcr_mask(), 0);
            signalled += u32::from(wires != 0);
        }
    }
    println!("{signalled} of 160000");
    assert!(signalled > 20_000, "only {signalled} wires were high");
}
