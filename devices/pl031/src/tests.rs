use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use bus::{IrqSink, Size};

use super::spec::*;
use super::*;

#[derive(Default)]
struct Wire(AtomicU32);
impl IrqSink for Wire {
    fn set_spi(&self, _: u32, level: Level) {
        self.0.store(u32::from(level == Level::High), Relaxed);
    }
}

const EPOCH: u32 = 1_700_000_000;

fn clock() -> (Pl031, Arc<Wire>) {
    let wire = Arc::new(Wire::default());
    (Pl031::new("pl031", IrqLine::new(Arc::clone(&wire) as Arc<dyn IrqSink>, 34), EPOCH.into()), wire)
}
fn read(clock: &mut Pl031, offset: u64, now: u64) -> u32 {
    clock.read(MmioAccess { offset, size: Size::Word, cpu: 0, now }).expect("answers") as u32
}
fn write(clock: &mut Pl031, offset: u64, now: u64, value: u32) {
    clock.write(MmioAccess { offset, size: Size::Word, cpu: 0, now }, value.into()).expect("answers");
}

#[test]
fn counts_machine_seconds_from_the_epoch() {
    let (mut c, _) = clock();
    for (now, expected) in [(0, EPOCH), (SECOND - 1, EPOCH), (SECOND, EPOCH + 1), (3600 * SECOND, EPOCH + 3600)] {
        assert_eq!(read(&mut c, DR, now), expected, "at {now} ns");
    }
    write(&mut c, LR, 5 * SECOND + 7, 100);
    assert_eq!((read(&mut c, DR, 5 * SECOND + 8), read(&mut c, LR, 5 * SECOND + 8)), (100, 100));
    assert_eq!(read(&mut c, DR, 6 * SECOND), 101);
    assert_eq!(read(&mut c, CR, 0), 1);
    let ids: Vec<u32> = (0..8).map(|n| read(&mut c, ID + 4 * n, 0)).collect();
    assert_eq!(ids, [0x31, 0x10, 0x14, 0x00, 0x0d, 0xf0, 0x05, 0xb1]);
    write(&mut c, LR, 0, u32::MAX);
    assert_eq!(read(&mut c, DR, 2 * SECOND), 1, "the counter wraps");
}

#[test]
fn alarm() {
    let (mut c, wire) = clock();
    let irq = || wire.0.load(Relaxed) == 1;
    write(&mut c, MR, SECOND / 2, EPOCH + 10);
    assert_eq!(c.next_event(), None, "masked");
    write(&mut c, IMSC, SECOND / 2, 1);
    assert_eq!(c.next_event(), Some(10 * SECOND));
    c.tick(10 * SECOND - 1);
    assert!(!irq());
    c.tick(10 * SECOND);
    assert!(irq());
    assert_eq!((read(&mut c, RIS, 10 * SECOND), read(&mut c, MIS, 10 * SECOND), c.next_event()), (1, 1, None));
    write(&mut c, ICR, 10 * SECOND + 1, 1);
    assert!(!irq());
    assert_eq!(c.next_event(), Some((10 + (1 << 32)) * SECOND), "not again in the same second");
    // A masked alarm still shows in the raw status, without a tick.
    write(&mut c, IMSC, 11 * SECOND, 0);
    write(&mut c, MR, 11 * SECOND, EPOCH + 20);
    assert_eq!((read(&mut c, RIS, 20 * SECOND), read(&mut c, MIS, 20 * SECOND), irq()), (1, 0, false));
    write(&mut c, IMSC, 21 * SECOND, 1);
    assert!(irq());
    write(&mut c, ICR, 21 * SECOND, 1);
    // A match that is now is due now; a load moves the alarm.
    write(&mut c, MR, 30 * SECOND + 5, EPOCH + 30);
    assert!(irq());
    write(&mut c, ICR, 30 * SECOND + 6, 1);
    write(&mut c, LR, 31 * SECOND, EPOCH + 27);
    assert_eq!(c.next_event(), Some(34 * SECOND));
}

#[test]
fn junk() {
    let seed = 0x5eed_0031_u64;
    println!("seed {seed:#x}");
    let (mut c, wire) = clock();
    let (mut x, mut now) = (seed, 0u64);
    for step in 0..100_000 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        now = if step == 90_000 {
            u64::MAX - 500_000
        } else {
            now.saturating_add(x % (3 * SECOND) * (1 - step / 90_000))
        };
        let size = [Size::Byte, Size::Half, Size::Word, Size::Double][(x >> 40 & 3) as usize];
        let range = if x >> 42 & 1 == 0 { 0x20 } else { 0x1000 };
        let offset = ((x >> 8) % range) & !(size.bytes() - 1);
        let access = MmioAccess { offset, size, cpu: 0, now };
        match x & 3 {
            0 => drop(c.read(access).expect("answers")),
            1 => c.write(access, x >> 3 & size.mask()).expect("answers"),
            2 => {
                let soon = u64::from(read(&mut c, DR, now)) + (x >> 50 & 3);
                c.write(access, soon & size.mask()).expect("answers");
            }
            _ => c.tick(now),
        }
        let mis = read(&mut c, MIS, now);
        assert_eq!(wire.0.load(Relaxed), mis, "seed {seed:#x}, step {step}");
        assert!(c.next_event().is_none_or(|at| at > now), "an overdue event, seed {seed:#x}, step {step}");
    }
}

#[test]
fn hash_sees_the_state() {
    let hash = |c: &Pl031| {
        let mut hasher = std::collections::hash_map::DefaultHasher::new();
        c.hash(&mut hasher);
        core::hash::Hasher::finish(&hasher)
    };
    let (mut c, _) = clock();
    let mut seen = vec![hash(&c)];
    for (offset, value) in [(MR, 5), (LR, 9), (IMSC, 1)] {
        write(&mut c, offset, 0, value);
        assert!(!seen.contains(&hash(&c)));
        seen.push(hash(&c));
    }
}
