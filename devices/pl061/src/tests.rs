use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use bus::{IrqSink, Size};

use super::*;

#[derive(Default)]
struct Wire(AtomicBool);
impl IrqSink for Wire {
    fn set_spi(&self, intid: u32, level: Level) {
        assert_eq!(intid, 39);
        self.0.store(level == Level::High, Relaxed);
    }
}

fn gpio() -> (Pl061, Arc<Wire>) {
    let wire = Arc::new(Wire::default());
    (Pl061::new("pl061", IrqLine::new(wire.clone(), 39)), wire)
}

fn access(offset: u64) -> MmioAccess {
    MmioAccess { offset, size: Size::Word, cpu: 0, now: 0 }
}

fn read(gpio: &mut Pl061, offset: u64) -> u64 {
    gpio.read(access(offset)).expect("answers")
}

fn write(gpio: &mut Pl061, offset: u64, value: u64) {
    gpio.write(access(offset), value).expect("answers");
}

#[test]
fn data_goes_by_the_address_and_the_direction() {
    let (mut gpio, _) = gpio();
    gpio.drive(3, Level::High);
    gpio.drive(0, Level::High);
    assert_eq!([0x3fc, 8 << 2, 1 << 2, 2 << 2, 0].map(|offset| read(&mut gpio, offset)), [9, 8, 1, 0, 0]);
    write(&mut gpio, spec::DIR, 0xf0);
    write(&mut gpio, 0x3fc, 0xa5);
    assert_eq!(read(&mut gpio, 0x3fc), 0xa9, "outputs above, inputs below");
    write(&mut gpio, 0x80 << 2, 0);
    assert_eq!(read(&mut gpio, 0x3fc), 0x29, "only the line that the address names");
    let ids: Vec<u64> = (0..8).map(|n| read(&mut gpio, spec::ID + 4 * n)).collect();
    assert_eq!(ids, [0x61, 0x10, 4, 0, 0x0d, 0xf0, 5, 0xb1]);
}

#[test]
fn interrupts_by_edge_and_level() {
    let (mut gpio, wire) = gpio();
    let irq = || wire.0.load(Relaxed);
    write(&mut gpio, spec::IBE, 8);
    write(&mut gpio, spec::IE, 8);
    for level in [Level::High, Level::Low] {
        gpio.drive(3, level);
        assert!(irq());
        assert_eq!((read(&mut gpio, spec::RIS), read(&mut gpio, spec::MIS)), (8, 8));
        write(&mut gpio, spec::IC, 8);
        assert!(!irq());
        gpio.drive(3, level);
        assert!(!irq(), "no edge");
    }
    // One edge: the rising one.
    write(&mut gpio, spec::IBE, 0);
    write(&mut gpio, spec::IEV, 8);
    gpio.drive(3, Level::High);
    assert!(irq());
    write(&mut gpio, spec::IC, 8);
    gpio.drive(3, Level::Low);
    assert!(!irq());
    // By level: as long as it is there, and no clearing helps.
    write(&mut gpio, spec::IS, 8);
    gpio.drive(3, Level::High);
    write(&mut gpio, spec::IC, 8);
    assert!(irq());
    write(&mut gpio, spec::IEV, 0);
    assert!(!irq(), "low is asked for");
    gpio.drive(3, Level::Low);
    assert!(irq());
    write(&mut gpio, spec::IE, 0);
    assert!(!irq());
    assert_eq!(read(&mut gpio, spec::RIS) & 8, 8);
}

#[test]
fn junk() {
    let (mut gpio, _) = gpio();
    let mut x = 0x0061_0061_u64;
    println!("seed {x:#x}");
    for _ in 0..100_000 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        let size = [Size::Byte, Size::Half, Size::Word, Size::Double][x as usize % 4];
        let offset = (x >> 8) % 0x1000 / size.bytes() * size.bytes();
        let access = MmioAccess { offset, size, cpu: 0, now: x };
        gpio.write(access, x >> 20 & size.mask()).expect("answers");
        gpio.read(access).expect("answers");
        gpio.drive(x as u8, Level::from_bit(x >> 60 != 0));
    }
}
