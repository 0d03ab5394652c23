//! The virtual interface of a GICv2 (IHI 0048, chapter 5).

use super::*;

// Offsets in the frame of the control registers.
pub const HCR: u64 = 0;
const VTR: u64 = 4;
const VMCR: u64 = 8;
const MISR: u64 = 0x10;
const EISR: u64 = 0x20;
const ELRSR: u64 = 0x30;
const APR: u64 = 0xf0;
pub const LIST: u64 = 0x100;
// And in a guest's.
const DIR: u64 = 0x1000;
const GUEST_APR: u64 = 0xd0;

const VIRQ: u32 = CpuLines::VIRQ;
const VFIQ: u32 = CpuLines::VFIQ;
const PENDING: u64 = 1 << 28;
const ACTIVE: u64 = 2 << 28;
const GROUP1: u64 = 1 << 30;
const HW: u64 = 1 << 31;
const EOI_REQUEST: u64 = 1 << 19;
const MAINTENANCE: u64 = 1 << 25;
/// All priorities, both groups, no grouping, group 1 acknowledged by the plain register.
const OPEN: u64 = 0x1f << 27 | 2 << 21 | 3 << 18 | 7;

/// A list register with a pending interrupt of group 1; `interrupt` has what is in the fields of numbers.
pub fn irq(priority: u64, interrupt: u64) -> u64 {
    PENDING | GROUP1 | priority >> 3 << 23 | interrupt
}

pub fn open(lab: &mut Lab, cpu: usize) {
    lab.ich(cpu, VMCR, OPEN);
    lab.ich(cpu, HCR, 1);
}

fn opened() -> Lab {
    let mut lab = Lab::open(2);
    open(&mut lab, 0);
    lab
}

#[test]
fn fields() {
    let mut lab = Lab::new(2);
    assert_eq!(lab.ich_is(0, VTR), 0x9000_0003, "four list registers, five bits of priority and preemption");
    for (offset, fields) in [(HCR, 0xf800_00ff), (VMCR, 0xf8fc_021f), (APR, 0xffff_ffff), (LIST + 12, 0xff8f_ffff)] {
        lab.ich(0, offset, 0xffff_ffff);
        assert_eq!((lab.ich_is(0, offset), lab.ich_is(1, offset) & !0xfc_0000), (fields, 0), "{offset:#x}");
        lab.ich(0, offset, 0);
    }
    // The least binary points.
    assert_eq!(lab.ich_is(0, VMCR), 2 << 21 | 3 << 18);
    lab.ich(0, LIST + 16, 0xffff_ffff);
    assert_eq!((lab.ich_is(0, LIST + 16), lab.ich_is(0, ELRSR), lab.ich_is(0, ELRSR + 4)), (0, 0xf, 0));
    // What the guest sees and sets of it.
    lab.icv(0, CTLR, 0xffff_ffff);
    lab.icv(0, PMR, 0xa7);
    lab.icv(0, BPR, 4);
    lab.icv(0, ABPR, 0);
    assert_eq!(lab.ich_is(0, VMCR), 0xa0 << 24 | 4 << 21 | 3 << 18 | 0x21f);
    assert_eq!([CTLR, PMR, BPR, ABPR].map(|offset| lab.icv_is(0, offset)), [0x21f, 0xa0, 4, 3]);
    lab.icv(0, GUEST_APR, 0x10);
    assert_eq!((lab.ich_is(0, APR), lab.icv_is(0, RPR), lab.icv_is(0, 0xe0)), (0x10, 0x20, 0));
}

#[test]
fn an_interrupt_from_the_list_to_its_end() {
    let mut lab = opened();
    lab.ich(0, LIST + 4, irq(0x80, 40));
    assert_eq!((lab.lines(), lab.ich_is(0, ELRSR)), (vec![VIRQ, 0], 0xd));
    assert_eq!((lab.icv_is(1, IAR), lab.icv_is(0, HPPIR), lab.icv_is(0, IAR)), (1023, 40, 40));
    assert_eq!((lab.lines(), lab.ich_is(0, APR), lab.icv_is(0, RPR)), (vec![0, 0], 1 << 16, 0x80));
    assert_eq!(lab.ich_is(0, LIST + 4), irq(0x80, 40) & !PENDING | ACTIVE);
    // It waits for what does not preempt it.
    lab.ich(0, LIST, irq(0x80, 41));
    assert_eq!((lab.lines(), lab.icv_is(0, IAR)), (vec![0, 0], 1023));
    lab.ich(0, LIST + 8, irq(0x78, 42));
    assert_eq!((lab.lines(), lab.icv_is(0, IAR), lab.icv_is(0, RPR)), (vec![VIRQ, 0], 42, 0x78));
    lab.icv(0, EOIR, 42);
    assert_eq!((lab.ich_is(0, LIST + 8), lab.icv_is(0, RPR)), (irq(0x78, 42) & !PENDING, 0x80));
    lab.icv(0, EOIR, 40);
    assert_eq!((lab.ich_is(0, ELRSR), lab.ich_is(0, APR), lab.lines()), (0xe, 0, vec![VIRQ, 0]));
    // Off, masked, of a group that is off.
    for (offset, value) in [(HCR, 0), (VMCR, OPEN & !0xf800_0000 | 0x80 << 24), (VMCR, OPEN & !2)] {
        lab.ich(0, offset, value);
        assert_eq!((lab.lines(), lab.icv_is(0, IAR)), (vec![0, 0], 1023), "{offset:#x} {value:#x}");
        open(&mut lab, 0);
    }
    assert_eq!(lab.lines(), [VIRQ, 0]);
}

/// One that is active and pending is signalled again when it has ended.
#[test]
fn pending_again() {
    let mut lab = opened();
    lab.ich(0, LIST, irq(0x80, 40) | ACTIVE);
    assert_eq!((lab.lines(), lab.icv_is(0, IAR)), (vec![0, 0], 1023));
    lab.ich(0, APR, 1 << 16);
    lab.icv(0, EOIR, 40);
    assert_eq!((lab.lines(), lab.icv_is(0, IAR)), (vec![VIRQ, 0], 40));
}

#[test]
fn groups_and_aliases() {
    let mut lab = opened();
    lab.ich(0, LIST, irq(0x80, 40));
    lab.ich(0, VMCR, OPEN & !4);
    assert_eq!([HPPIR, AHPPIR, IAR].map(|offset| lab.icv_is(0, offset)), [1022, 40, 1022]);
    assert_eq!(lab.icv_is(0, AIAR), 40);
    lab.icv(0, AEOIR, 40);
    assert_eq!(lab.ich_is(0, ELRSR), 0xf);
    lab.ich(0, LIST, irq(0x80, 40) & !GROUP1);
    assert_eq!(lab.lines(), [VIRQ, 0], "group 0 as an IRQ");
    lab.ich(0, VMCR, OPEN | 8);
    assert_eq!(lab.lines(), [VFIQ, 0]);
    assert_eq!([AHPPIR, AIAR, HPPIR, IAR].map(|offset| lab.icv_is(0, offset)), [1023, 1023, 40, 40]);
    lab.icv(0, AEOIR, 40);
    assert_eq!(lab.ich_is(0, APR), 1 << 16, "of group 0");
    lab.icv(0, EOIR, 40);
    assert_eq!((lab.ich_is(0, APR), lab.ich_is(0, ELRSR)), (0, 0xf));
}

/// An SGI from two CPUs lies in two list registers; the sender is in what is read and written.
#[test]
fn sgis_have_senders() {
    let mut lab = opened();
    lab.ich(0, LIST, irq(0x80, 3 | 1 << 10));
    lab.ich(0, LIST + 4, irq(0x80, 3 | 6 << 10 | EOI_REQUEST));
    assert_eq!(lab.icv_is(0, IAR), 3 | 1 << 10);
    lab.icv(0, EOIR, 3 | 1 << 10);
    assert_eq!(lab.icv_is(0, IAR), 3 | 6 << 10);
    // Another sender's is not there, which is counted; the priority is dropped.
    lab.icv(0, EOIR, 3 | 2 << 10);
    assert_eq!((lab.ich_is(0, HCR), lab.icv_is(0, RPR)), (1 | 1 << 27, 0xff));
    lab.ich(0, APR, 1 << 16);
    lab.icv(0, EOIR, 3 | 6 << 10);
    assert_eq!((lab.ich_is(0, EISR), lab.ich_is(0, MISR), lab.ich_is(0, ELRSR)), (2, 1, 0xd));
    // No sender of what is no SGI.
    lab.ich(0, LIST, irq(0x80, 0x28 | 5 << 10));
    assert_eq!(lab.icv_is(0, IAR), 40);
}

/// The end of a virtual interrupt with HW ends the physical one.
#[test]
fn hardware_interrupts() {
    for (split, register) in [(0, EOIR), (1 << 9, DIR)] {
        let mut lab = opened();
        lab.icc(0, CTLR, 3 | u64::from(gicc_ctlr::EOI_MODE));
        lab.gic.set_spi(50, HIGH);
        assert_eq!(lab.icc_is(0, IAR), 50);
        lab.icc(0, EOIR, 50);
        lab.gic.set_spi(50, LOW);
        lab.ich(0, VMCR, OPEN | split);
        lab.ich(0, LIST, irq(0x80, 0x1b | 0x32 << 10) | HW);
        assert_eq!(lab.icv_is(0, IAR), 27);
        if split != 0 {
            lab.icv(0, EOIR, 27);
            assert_eq!((lab.icv_is(0, RPR), lab.ich_is(0, ELRSR)), (0xff, 0xe));
        }
        assert_eq!(lab.dist_is(0, ISACTIVER + 4), 1 << 18);
        lab.icv(0, register, 27);
        assert_eq!((lab.dist_is(0, ISACTIVER + 4), lab.ich_is(0, ELRSR)), (0, 0xf));
    }
    // Without EOImode DIR does nothing; what is in no list register is counted with it.
    let mut lab = opened();
    lab.icv(0, DIR, 40);
    assert_eq!(lab.ich_is(0, HCR), 1);
    lab.ich(0, VMCR, OPEN | 1 << 9);
    lab.icv(0, DIR, 40);
    lab.icv(0, DIR, 1023);
    assert_eq!(lab.ich_is(0, HCR), 1 | 1 << 27);
    // Nothing is active: nothing ends.
    lab.ich(0, VMCR, OPEN);
    lab.icv(0, EOIR, 40);
    assert_eq!(lab.ich_is(0, HCR), 1 | 1 << 27);
}

/// Each reason of a maintenance interrupt, which is the CPU's own PPI.
#[test]
fn maintenance() {
    let cases: [(u64, u64, u64, &[u64]); 9] = [
        // HCR, VMCR, MISR, list registers
        (1, OPEN, 1, &[EOI_REQUEST]),
        (1 | 2, OPEN, 2, &[irq(0x80, 40)]),
        (1 | 2, OPEN, 0, &[irq(0x80, 40), irq(0x80, 41)]),
        (1 | 4 | 1 << 27, OPEN, 4, &[]),
        (1 | 8, OPEN, 8, &[irq(0x80, 40) | ACTIVE]),
        (1 | 8, OPEN, 0, &[irq(0x80, 40)]),
        (1 | 0xf0, OPEN, 0x50, &[]),
        (1 | 0xf0, OPEN & !3, 0xa0, &[]),
        // Off: it is shown and not signalled.
        (8, OPEN, 8, &[]),
    ];
    for (hcr, vmcr, misr, list) in cases {
        let mut lab = opened();
        lab.dist(0, ISENABLER, MAINTENANCE);
        lab.dist(1, ISENABLER, MAINTENANCE);
        lab.ich(0, VMCR, vmcr);
        (0..).zip(list).for_each(|(n, value)| lab.ich(0, LIST + 4 * n, *value));
        lab.ich(0, HCR, hcr);
        let pending = lab.dist_is(0, ISPENDR) & MAINTENANCE != 0;
        assert_eq!((lab.ich_is(0, MISR), pending), (misr, misr != 0 && hcr & 1 != 0), "{hcr:#x}");
        assert_eq!(lab.lines()[0] & IRQ != 0, pending);
        assert_eq!(lab.dist_is(1, ISPENDR), 0);
        // A level: it goes with its reason.
        lab.ich(0, HCR, 0);
        assert_eq!(lab.dist_is(0, ISPENDR), 0);
    }
}

/// What a CPU's virtual wires must be, from the registers alone.
fn expected(lab: &mut Lab, cpu: usize) -> u32 {
    let (hcr, vmcr, apr) = (lab.ich_is(cpu, HCR), lab.ich_is(cpu, VMCR), lab.ich_is(cpu, APR));
    let mut best: Option<(u64, u64)> = None;
    for n in 0..4 {
        let list = lab.ich_is(cpu, LIST + 4 * n);
        let (group, priority) = (list >> 30 & 1, (list >> 23 & 31) << 3);
        let counts = list >> 28 & 3 == 1 && vmcr >> group & 1 != 0;
        if counts && best.is_none_or(|(p, _)| priority < p) {
            best = Some((priority, group));
        }
    }
    let Some((priority, group)) = best else { return 0 };
    let point = if group == 1 && vmcr & 0x10 == 0 { (vmcr >> 18 & 7) - 1 } else { vmcr >> 21 & 7 };
    let mask = 0xff << (point + 1);
    let preempts = apr == 0 || priority & mask < u64::from(apr.trailing_zeros() * 8) & mask;
    match hcr & 1 != 0 && priority < vmcr >> 24 && preempts {
        true if group == 0 && vmcr & 8 != 0 => VFIQ,
        true => VIRQ,
        false => 0,
    }
}

#[test]
fn junk() {
    let seed = 0x5eed_0005_u64;
    println!("seed {seed:#x}");
    let mut random = crate::tests::junk::Random(seed);
    let mut lab = Lab::open(2);
    let mut signalled = 0;
    for step in 0..60_000u64 {
        let (r, v) = (random.next(), random.next() & 0xffff_ffff);
        let cpu = (r >> 32) as usize % 2;
        let size = [Size::Byte, Size::Half, Size::Word, Size::Double][(r >> 8) as usize % 4];
        let access = |offset: u64| MmioAccess { offset: offset & 0xffff & !(size.bytes() - 1), size, cpu, now: 0 };
        match r % 16 {
            0 => lab.control.write(access(random.next()), v & size.mask()).unwrap(),
            1 => lab.guests.write(access(random.next()), v & size.mask()).unwrap(),
            2 => drop(lab.control.read(access(v)).unwrap()),
            3 => drop(lab.guests.read(access(v)).unwrap()),
            4 => lab.ich(cpu, [HCR, VMCR, APR][(r >> 8) as usize % 3], v),
            5..=8 => lab.ich(cpu, LIST + 4 * (r >> 8 & 3), v & !0x3f0 & !((r >> 16 & 1) << 31)),
            9 => drop(lab.icv_is(cpu, [IAR, AIAR][(r >> 8) as usize % 2])),
            10 => lab.icv(cpu, [EOIR, AEOIR, DIR][(r >> 8) as usize % 3], v & 0x1c0f),
            11 => lab.icv(cpu, [CTLR, PMR, BPR, ABPR, GUEST_APR][(r >> 8) as usize % 5], v),
            12 => lab.ich(cpu, APR, 0),
            _ => open(&mut lab, cpu),
        }
        for cpu in 0..2 {
            let expected = expected(&mut lab, cpu);
            assert_eq!(lab.wires[cpu].get() & (VIRQ | VFIQ), expected, "seed {seed:#x}, step {step}, CPU {cpu}");
            signalled += u32::from(expected != 0);
            let maintenance = lab.ich_is(cpu, HCR) & 1 != 0 && lab.ich_is(cpu, MISR) != 0;
            assert_eq!(lab.dist_is(cpu, ISPENDR) & MAINTENANCE != 0, maintenance, "seed {seed:#x}, step {step}");
        }
    }
    println!("{signalled} of 120000");
    assert!(signalled > 20_000, "only {signalled} wires were high");
}
