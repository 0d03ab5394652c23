use std::sync::{Arc, Mutex};

use bus::ram::Stale;
use bus::{Device, MmioAccess, Size};

use super::spec::{feature, interrupt, reg, ring, status};
use super::testing::{AVAIL, BASE, DATA, DESC, Driver, LEN, USED};
use super::*;

const WRITE: u16 = ring::WRITE;
const NEXT: u16 = ring::NEXT;
const INDIRECT: u16 = ring::INDIRECT;

/// Copies each request's readable bytes to its writable ones, and keeps a log.
#[derive(Clone, Default)]
struct Echo(Arc<Mutex<Vec<String>>>);

impl Echo {
    fn log(&self, line: String) {
        self.0.lock().expect("log").push(line);
    }
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("log"))
    }
}

impl VirtioDevice for Echo {
    fn id(&self) -> u32 {
        42
    }
    fn features(&self) -> u64 {
        1 << 5
    }
    fn queue_sizes(&self) -> &[u16] {
        &[16, 4]
    }
    fn config(&self) -> &[u8] {
        &[1, 2, 3, 4, 5]
    }
    fn write_config(&mut self, offset: u64, bytes: &[u8]) {
        self.log(format!("config {offset} {bytes:?}"));
    }
    fn start(&mut self, features: u64) {
        self.log(format!("start {features:#x}"));
    }
    fn reset(&mut self) {
        self.log("reset".to_owned());
    }
    fn notify(&mut self, queue: usize, io: &mut QueueIo<'_>) -> Result<(), QueueError> {
        while let Some(chain) = io.pop()? {
            let n = total(&chain.readable).min(total(&chain.writable)).min(0x10000) as usize;
            self.log(format!("{queue}: {}+{}", chain.readable.len(), chain.writable.len()));
            let mut bytes = vec![0; n];
            chain.read(io.memory(), 0, &mut bytes).expect("long enough");
            chain.write(io.memory(), 0, &bytes).expect("long enough");
            io.push(chain.head, n as u32)?;
        }
        Ok(())
    }
    fn hash(&self, _: &mut dyn core::hash::Hasher) {}
    fn persist(&mut self, _: &mut snapshot::Codec<'_>) -> Result<(), snapshot::Invalid> {
        Ok(())
    }
}

fn driver(without: u64) -> (Driver, Echo) {
    let echo = Echo::default();
    (Driver::live(Box::new(echo.clone()), 8, without), echo)
}

#[test]
fn empty_slot() {
    let mut slot = VirtioMmio::empty("virtio");
    let mut word = |offset| slot.read(MmioAccess { offset, size: Size::Word, cpu: 0, now: 0 }).expect("answers");
    assert_eq!([word(0), word(4), word(8)], [0x7472_6976, 2, 0]);
    for offset in (0x10..0x200).step_by(4) {
        assert_eq!(word(offset), 0, "{offset:#x}");
    }
    slot.write(MmioAccess { offset: reg::STATUS, size: Size::Word, cpu: 0, now: 0 }, 1).expect("answers");
}

#[test]
fn registers() {
    let echo = Echo::default();
    let mut d = Driver::new(Box::new(echo.clone()), 8);
    assert_eq!([d.read(0), d.read(4), d.read(8)], [0x7472_6976, 2, 42]);
    assert_eq!(d.offered(), 1 << 5 | feature::VERSION_1 | feature::INDIRECT_DESC);
    d.write(reg::DEVICE_FEATURES_SEL, 2);
    assert_eq!(d.read(reg::DEVICE_FEATURES), 0);
    for (queue, max) in [(0, 16), (1, 4), (2, 0), (u32::MAX, 0)] {
        d.write(reg::QUEUE_SEL, queue);
        assert_eq!((d.read(reg::QUEUE_NUM_MAX), d.read(reg::QUEUE_READY)), (max, 0), "queue {queue}");
        d.write(reg::QUEUE_NOTIFY, queue);
    }
    assert_eq!(d.read(0x0b0), u32::MAX, "no shared memory");
    // The configuration space takes any size; the registers only words.
    let read =
        |d: &mut Driver, offset, size| d.mmio.read(MmioAccess { offset, size, cpu: 0, now: 0 }).expect("answers");
    assert_eq!(read(&mut d, 0x100, Size::Double), 0x05_0403_0201);
    assert_eq!(read(&mut d, 0x102, Size::Half), 0x0403);
    assert_eq!(read(&mut d, 0x104, Size::Byte), 5);
    assert_eq!(read(&mut d, 0x1f8, Size::Double), 0);
    assert_eq!(read(&mut d, 0, Size::Half), 0);
    d.mmio.write(MmioAccess { offset: 0x102, size: Size::Half, cpu: 0, now: 0 }, 0x0a0b).expect("answers");
    assert_eq!(echo.take(), ["config 2 [11, 10]"]);
}

#[test]
fn feature_negotiation() {
    for (features, accepted) in [
        (feature::VERSION_1, true),
        (feature::VERSION_1 | 1 << 5 | feature::INDIRECT_DESC, true),
        (0, false),
        (1 << 5, false),
        (feature::VERSION_1 | 1 << 6, false),
        (feature::VERSION_1 | 1 << 63, false),
    ] {
        let echo = Echo::default();
        let mut d = Driver::new(Box::new(echo.clone()), 8);
        d.write(reg::STATUS, 3);
        d.accept(features);
        d.write(reg::STATUS, 0xb);
        assert_eq!(d.read(reg::STATUS) & status::FEATURES_OK != 0, accepted, "{features:#x}");
        assert_eq!(echo.take().len(), usize::from(accepted));
        // Too late to change anything.
        d.accept(0);
        d.write(reg::STATUS, 0xf);
        assert_eq!(d.read(reg::STATUS) & status::FEATURES_OK != 0, accepted, "{features:#x}");
    }
}

#[test]
fn requests_in_every_shape() {
    let (mut d, echo) = driver(0);
    d.memory.write(DATA, b"0123456789").expect("RAM");
    echo.take();
    assert_eq!(
        d.request(&[(DATA, 4, 0), (DATA + 4, 0, 0), (DATA + 4, 6, 0), (DATA + 64, 3, WRITE), (DATA + 128, 9, WRITE)]),
        [(0, 10)]
    );
    assert_eq!(echo.take(), ["0: 3+2"]);
    assert_eq!((d.bytes(DATA + 64, 4), d.bytes(DATA + 128, 8)), (b"012\0".to_vec(), b"3456789\0".to_vec()));
    assert_eq!((d.irq(), d.read(reg::INTERRUPT_STATUS)), (true, interrupt::USED));
    d.write(reg::INTERRUPT_ACK, interrupt::USED);
    assert!(!d.irq());
    // An indirect table, after a direct descriptor.
    d.desc(DATA + 0x1000, 0, (DATA + 4, 2, NEXT, 1));
    d.desc(DATA + 0x1000, 1, (DATA + 256, 8, WRITE, 0));
    assert_eq!(d.request(&[(DATA, 2, 0), (DATA + 0x1000, 32, INDIRECT)]), [(0, 4)]);
    assert_eq!(d.bytes(DATA + 256, 5), b"0145\0");
    d.write(reg::INTERRUPT_ACK, interrupt::USED);
    // The driver wants no interrupt. Several requests, in any order of heads, around the ring's end and the index's.
    d.memory.write_u16(AVAIL, ring::NO_INTERRUPT).expect("RAM");
    for round in 0..9000 {
        for head in [5, 3] {
            d.desc(DESC, head, (DATA, 1, NEXT, head + 1));
            d.desc(DESC, head + 1, (DATA + 512, 1, WRITE, 0));
            d.offer(head);
        }
        d.write(reg::QUEUE_NOTIFY, 0);
        assert_eq!(d.used(), [(5, 1), (3, 1)], "round {round}");
    }
    assert!(!d.irq());
    assert_eq!(d.mmio.broken(), None);
    // Nothing available: nothing happens.
    d.write(reg::QUEUE_NOTIFY, 0);
    assert_eq!(d.used(), []);
}

#[test]
fn a_device_that_is_not_live_does_nothing() {
    for (name, spoil) in [
        ("reset", &(|d: &mut Driver| d.write(reg::STATUS, 0)) as &dyn Fn(&mut Driver)),
        ("failed", &|d| d.write(reg::STATUS, status::FAILED)),
        ("queue not ready", &|d| d.write(reg::QUEUE_READY, 0)),
        ("other queue", &|d| d.write(reg::QUEUE_NOTIFY, 1)),
    ] {
        let (mut d, echo) = driver(0);
        echo.take();
        spoil(&mut d);
        d.desc(DESC, 0, (DATA, 1, 0, 0));
        d.offer(0);
        if name != "other queue" {
            d.write(reg::QUEUE_NOTIFY, 0);
        }
        assert_eq!(d.used(), [], "{name}");
        assert!(!echo.take().iter().any(|l| l.starts_with("0:")), "{name}");
    }
}

#[test]
fn a_live_queue_cannot_be_moved() {
    let (mut d, _) = driver(0);
    d.write(reg::QUEUE_DESC, 0);
    d.write(reg::QUEUE_DRIVER + 4, 7);
    d.write(reg::QUEUE_NUM, 3);
    assert_eq!(d.request(&[(DATA, 1, 0), (DATA + 1, 1, WRITE)]), [(0, 1)]);
}

/// Hostile queues: each breaks the device, and a reset repairs it.
#[test]
fn hostile_descriptors() {
    type Setup = Box<dyn Fn(&mut Driver)>;
    let end = BASE + LEN;
    let table = DATA + 0x2000;
    let one = |d: &mut Driver, desc| {
        d.desc(DESC, 0, desc);
        d.offer(0);
    };
    let outside = |addr, len| QueueError::OutsideRam { addr, len };
    let cases: Vec<(&str, Setup, QueueError)> = vec![
        ("a chain in a circle", Box::new(move |d| one(d, (DATA, 1, NEXT, 0))), QueueError::Chain(0)),
        (
            "a longer circle",
            Box::new(|d: &mut Driver| {
                (0..8).for_each(|n| d.desc(DESC, n, (DATA, 1, NEXT, (n + 1) % 8)));
                d.offer(3);
            }),
            QueueError::Chain(3),
        ),
        (
            "next beyond the table",
            Box::new(move |d| one(d, (DATA, 1, NEXT, 8))),
            QueueError::Descriptor { index: 8, len: 8 },
        ),
        (
            "head beyond the table",
            Box::new(|d: &mut Driver| d.offer(0xffff)),
            QueueError::Descriptor { index: 0xffff, len: 8 },
        ),
        (
            "an index far ahead",
            Box::new(|d: &mut Driver| d.memory.write_u16(AVAIL + 2, 9).expect("RAM")),
            QueueError::Index { index: 9, next: 0 },
        ),
        (
            "an index that goes back",
            Box::new(|d: &mut Driver| d.memory.write_u16(AVAIL + 2, 0xffff).expect("RAM")),
            QueueError::Index { index: 0xffff, next: 0 },
        ),
        ("a buffer at 0", Box::new(move |d| one(d, (0, 1, 0, 0))), outside(0, 1)),
        ("a buffer over the end", Box::new(move |d| one(d, (end - 4, 5, WRITE, 0))), outside(end - 4, 5)),
        (
            "a buffer that wraps",
            Box::new(move |d| one(d, (u64::MAX, u32::MAX, 0, 0))),
            outside(u64::MAX, u32::MAX.into()),
        ),
        ("a huge buffer", Box::new(move |d| one(d, (BASE, u32::MAX, WRITE, 0))), outside(BASE, u32::MAX.into())),
        (
            "readable after writable",
            Box::new(|d: &mut Driver| {
                d.desc(DESC, 0, (DATA, 1, WRITE | NEXT, 1));
                d.desc(DESC, 1, (DATA, 1, 0, 0));
                d.offer(0);
            }),
            QueueError::Order,
        ),
        (
            "an indirect table in an indirect table",
            Box::new(move |d: &mut Driver| {
                d.desc(table, 0, (table, 16, INDIRECT, 0));
                one(d, (table, 16, INDIRECT, 0));
            }),
            QueueError::Indirect("in an indirect table"),
        ),
        (
            "indirect with next",
            Box::new(move |d| one(d, (table, 16, INDIRECT | NEXT, 1))),
            QueueError::Indirect("with a next one"),
        ),
        (
            "an indirect table of no length",
            Box::new(move |d| one(d, (table, 0, INDIRECT, 0))),
            QueueError::Indirect("whose length is not a number of descriptors"),
        ),
        (
            "an indirect table and a half",
            Box::new(move |d| one(d, (table, 24, INDIRECT, 0))),
            QueueError::Indirect("whose length is not a number of descriptors"),
        ),
        ("an indirect table outside RAM", Box::new(move |d| one(d, (end, 16, INDIRECT, 0))), outside(end, 16)),
        (
            "an indirect table at the end of the world",
            Box::new(move |d| one(d, (u64::MAX - 3, 16, INDIRECT, 0))),
            outside(u64::MAX - 3, 16),
        ),
        (
            "a circle in an indirect table",
            Box::new(move |d: &mut Driver| {
                d.desc(table, 0, (DATA, 0, NEXT, 1));
                d.desc(table, 1, (DATA, 0, NEXT, 0));
                one(d, (table, 32, INDIRECT, 0));
            }),
            QueueError::Chain(0),
        ),
    ];
    for (name, setup, error) in cases {
        let (mut d, _) = driver(0);
        setup(&mut d);
        d.write(reg::QUEUE_NOTIFY, 0);
        assert_eq!(d.mmio.broken(), Some(&error), "{name}");
        assert_eq!(d.read(reg::STATUS), 0xf | status::NEEDS_RESET, "{name}");
        assert_eq!((d.read(reg::INTERRUPT_STATUS), d.irq()), (interrupt::CONFIG, true), "{name}");
        assert_eq!(d.used(), [], "{name}");
        // It stays broken, and a driver cannot talk it out of that.
        d.write(reg::STATUS, 0xf);
        assert_eq!(d.request(&[(DATA, 1, 0)]), [], "{name}");
        d.set_up(0);
        assert_eq!((d.mmio.broken(), d.irq()), (None, false), "{name}");
        assert_eq!(d.request(&[(DATA, 1, 0), (DATA + 1, 1, WRITE)]), [(0, 1)], "{name}");
    }
}

#[test]
fn hostile_queues() {
    // Rings that are not in RAM.
    for (register, addr) in [
        (reg::QUEUE_DESC, BASE + LEN - 8),
        (reg::QUEUE_DESC, u64::MAX),
        (reg::QUEUE_DRIVER, BASE + LEN - 2),
        (reg::QUEUE_DRIVER, u64::MAX - 1),
        (reg::QUEUE_DRIVER, 0),
        (reg::QUEUE_DEVICE, BASE + LEN - 4),
        (reg::QUEUE_DEVICE, u64::MAX - 3),
        (reg::QUEUE_DEVICE, 0),
    ] {
        let (mut d, _) = driver(0);
        d.write(reg::QUEUE_READY, 0);
        d.write(register, addr as u32);
        d.write(register + 4, (addr >> 32) as u32);
        d.write(reg::QUEUE_READY, 1);
        d.request(&[(DATA, 1, 0), (DATA + 1, 1, WRITE)]);
        assert!(matches!(d.mmio.broken(), Some(QueueError::OutsideRam { .. })), "{register:#x} at {addr:#x}");
        assert_ne!(d.read(reg::STATUS) & status::NEEDS_RESET, 0);
    }
    for size in [0, 3, 6, 32, 0x1_0000, u32::MAX] {
        let (mut d, _) = driver(0);
        d.write(reg::QUEUE_READY, 0);
        d.write(reg::QUEUE_NUM, size);
        d.write(reg::QUEUE_READY, 1);
        assert_eq!(d.mmio.broken(), Some(&QueueError::Size(size)));
        assert_eq!(d.read(reg::QUEUE_READY), 0);
    }
    let (mut d, _) = driver(feature::INDIRECT_DESC);
    d.request(&[(DATA, 16, INDIRECT)]);
    assert_eq!(d.mmio.broken(), Some(&QueueError::Indirect("without VIRTIO_F_INDIRECT_DESC")));
    // Requests before the broken one are answered and announced.
    let (mut d, _) = driver(0);
    d.desc(DESC, 0, (DATA, 1, 0, 0));
    d.offer(0);
    d.offer(99);
    d.write(reg::QUEUE_NOTIFY, 0);
    assert_eq!(d.used(), [(0, 0)]);
    assert_eq!(d.read(reg::INTERRUPT_STATUS), interrupt::USED | interrupt::CONFIG);
}

#[test]
fn device_writes_make_code_stale() {
    let (mut d, _) = driver(0);
    let ram = Arc::new(bus::Ram::new(0x2000).expect("RAM"));
    d.memory = GuestMemory::new(Arc::clone(&ram), arch::Pa(BASE));
    ram.mark_code(0x1000);
    d.memory.write_u16(BASE + 0x1ffe, 7).expect("RAM");
    assert_eq!(ram.stale_since(&mut 0), Stale::Pages(vec![1]));
    assert_eq!((d.memory.write_u16(BASE + 0x1fff, 7), d.memory.read_u16(BASE - 1)), (None, None));
}

#[test]
fn junk() {
    let seed = 0x5eed_0042_u64;
    println!("seed {seed:#x}");
    let (mut d, echo) = driver(0);
    let mut x = seed;
    let mut served = 0;
    for step in 0..100_000u64 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        if step % 64 == 0 {
            d.set_up(0);
        }
        let place = DATA + (x >> 20) % 0x2000;
        let addr = if x >> 60 == 0 { x } else { place };
        match x % 8 {
            0 => d.write(((x >> 8) % 0x100) & !3, (x >> 16) as u32),
            1 => drop(d.read(((x >> 8) % 0x200) & !3)),
            2 => {
                let size = [Size::Byte, Size::Half, Size::Word, Size::Double][(x >> 40 & 3) as usize];
                let offset = ((x >> 8) % 0x200) & !(size.bytes() - 1);
                let access = MmioAccess { offset, size, cpu: 0, now: step };
                d.mmio.write(access, x >> 11 & size.mask()).expect("answers");
            }
            3 | 4 => d.desc(
                DESC,
                (x >> 8) as u16 % 8,
                (addr, (x >> 30) as u32 % 0x1000, (x >> 50) as u16 & 7, (x >> 53) as u16 % 9),
            ),
            5 => d.memory.write(USED - 0x2f00 + (x >> 8) % 0x3000, &x.to_le_bytes()).expect("RAM"),
            _ => {
                d.offer((x >> 8) as u16 % 8);
                d.write(reg::QUEUE_NOTIFY, 0);
            }
        }
        served += echo.take().iter().filter(|l| l.starts_with("0:")).count();
        assert_eq!(d.irq(), d.read(reg::INTERRUPT_STATUS) != 0, "seed {seed:#x}, step {step}");
    }
    assert!(served > 100, "only {served} requests got through");
}
