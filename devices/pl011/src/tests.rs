use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use bus::{IrqSink, Size};

use super::spec::*;
use super::*;

#[derive(Default)]
struct Wire(AtomicU32);
impl IrqSink for Wire {
    fn set_spi(&self, intid: u32, level: Level) {
        assert_eq!(intid, 33);
        self.0.store(u32::from(level == Level::High), Relaxed);
    }
}

#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);
impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("screen").extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

struct Bench {
    uart: Pl011,
    input: Pl011Input,
    wire: Arc<Wire>,
    screen: Screen,
}

impl Bench {
    fn new() -> Self {
        let (wire, screen) = (Arc::new(Wire::default()), Screen::default());
        let line = IrqLine::new(Arc::clone(&wire) as Arc<dyn IrqSink>, 33);
        let uart = Pl011::new("pl011", line, Box::new(screen.clone()));
        Self { input: uart.input(), uart, wire, screen }
    }
    /// As a driver sets it up: FIFOs on, enabled, receive interrupts unmasked.
    fn driver() -> Self {
        let mut bench = Self::new();
        bench.write(LCR_H, 0x70);
        bench.write(CR, 0x301);
        bench.write(IMSC, int::RX | int::RT);
        bench
    }
    fn read(&mut self, offset: u64) -> u32 {
        self.uart.read(MmioAccess { offset, size: Size::Word, cpu: 0, now: 0 }).expect("answers") as u32
    }
    fn write(&mut self, offset: u64, value: u32) {
        self.uart.write(MmioAccess { offset, size: Size::Word, cpu: 0, now: 0 }, value.into()).expect("answers");
    }
    fn irq(&self) -> bool {
        self.wire.0.load(Relaxed) == 1
    }
    /// As a driver's interrupt handler: reads until the FIFO says that it is empty.
    fn drain(&mut self) -> Vec<u8> {
        let mut bytes = vec![];
        while self.read(FR) & fr::RXFE == 0 {
            bytes.push(self.read(DR) as u8);
        }
        bytes
    }
}

#[test]
fn reset_values_and_fields() {
    let mut bench = Bench::new();
    for (offset, reset, all_ones) in [
        (RSR, 0, 0),
        (ILPR, 0, 0xff),
        (IBRD, 0, 0xffff),
        (FBRD, 0, 0x3f),
        (LCR_H, 0, 0xff),
        (CR, 0x300, 0xffff),
        (IFLS, 0x12, 0x3f),
        (IMSC, 0, 0x7ff),
        (RIS, 0, 0),
        (DMACR, 0, 7),
        (0x1c, 0, 0),
    ] {
        assert_eq!(bench.read(offset), reset, "reset of {offset:#x}");
        bench.write(offset, u32::MAX);
        assert_eq!(bench.read(offset), all_ones, "fields of {offset:#x}");
    }
    let ids: Vec<u32> = (0..8).map(|n| bench.read(ID + 4 * n)).collect();
    assert_eq!(ids, [0x11, 0x10, 0x14, 0x00, 0x0d, 0xf0, 0x05, 0xb1]);
    assert_eq!(Bench::new().read(FR), 0x97);
}

#[test]
fn transmit_is_immediate_and_raises_its_interrupt() {
    let mut bench = Bench::new();
    for byte in b"hello" {
        bench.write(DR, (*byte).into());
    }
    assert_eq!(*bench.screen.0.lock().expect("screen"), b"hello");
    assert_eq!((bench.read(RIS), bench.read(MIS), bench.irq()), (int::TX, 0, false));
    bench.write(IMSC, int::TX);
    assert_eq!((bench.read(MIS), bench.irq()), (int::TX, true));
    bench.write(ICR, int::TX);
    assert_eq!((bench.read(RIS), bench.irq()), (0, false));
}

#[test]
fn receive_by_interrupt_loses_nothing() {
    let mut bench = Bench::driver();
    let text: Vec<u8> = (0..1000u32).map(|n| n as u8).collect();
    bench.input.push(&text);
    assert!(bench.irq());
    assert_eq!(bench.read(MIS), int::RX | int::RT);
    assert_ne!(bench.read(FR) & fr::RXFF, 0);
    assert_eq!(bench.input.waiting(), 1000);
    assert_eq!(bench.drain(), text);
    assert!(!bench.irq());
    assert_eq!(bench.read(RIS), 0);
    assert_eq!(bench.read(DR), 0, "an empty FIFO reads as 0");
}

#[test]
fn levels_of_the_receive_interrupt() {
    for (ifls, level) in [(0, 2), (1, 4), (2, 8), (3, 12), (4, 14), (7, 14)] {
        let mut bench = Bench::driver();
        bench.write(IFLS, ifls << 3);
        for n in 1..=16 {
            bench.input.push(b"x");
            assert_eq!(bench.read(RIS) & int::RX != 0, n >= level, "IFLS {ifls}, {n} characters");
            assert_ne!(bench.read(RIS) & int::RT, 0);
        }
        for n in (0..16).rev() {
            bench.read(DR);
            assert_eq!(bench.read(RIS) & int::RX != 0, n >= level, "IFLS {ifls}, {n} characters left");
        }
        assert_eq!(bench.read(RIS), 0);
    }
    // Without FIFOs the depth is one.
    let mut bench = Bench::driver();
    bench.write(LCR_H, 0x60);
    bench.input.push(b"ab");
    assert_eq!(bench.read(RIS), int::RX | int::RT);
    assert_ne!(bench.read(FR) & fr::RXFF, 0);
    assert_eq!(bench.read(DR), u32::from(b'a'));
    assert_eq!(bench.drain(), b"b");
}

#[test]
fn input_waits_for_a_listener() {
    let mut bench = Bench::new();
    bench.input.push(b"early input");
    // An early console: writes, and looks at the flags between.
    for _ in 0..100 {
        bench.write(DR, u32::from(b'.'));
        assert_ne!(bench.read(FR) & fr::RXFE, 0);
        assert_ne!(bench.read(FR) & fr::RXFE, 0);
    }
    // A driver's start-up, with its drain of the FIFO.
    bench.write(LCR_H, 0x70);
    bench.write(CR, 0x301);
    bench.write(ICR, int::RX | int::RT);
    assert_eq!(bench.drain(), b"");
    bench.write(IMSC, int::RX | int::RT);
    assert!(bench.irq());
    // Shut down with the FIFO full: nothing is lost.
    bench.write(IMSC, 0);
    bench.write(CR, 0);
    bench.write(LCR_H, 0);
    assert_eq!((bench.read(RIS) & (int::RX | int::RT), bench.input.waiting()), (0, 11));
    // Polling, without any set-up.
    bench.write(DR, 0);
    let polls = (0..100).take_while(|_| bench.read(FR) & fr::RXFE != 0).count();
    assert_eq!(polls as u32, POLLS);
    let mut bytes = vec![];
    for _ in 0..200 {
        if bench.read(FR) & fr::RXFE == 0 {
            bytes.push(bench.read(DR) as u8);
        }
    }
    assert_eq!(bytes, b"early input");
}

#[test]
fn loopback() {
    let mut bench = Bench::driver();
    bench.write(CR, 0x381);
    bench.input.push(b"from outside");
    for n in 0..17 {
        bench.write(DR, n);
    }
    assert_ne!(bench.read(RIS) & int::OE, 0);
    assert_eq!(bench.read(RSR), RSR_OE);
    bench.write(RSR, 0);
    assert_eq!(bench.read(RSR), 0);
    assert_eq!(bench.drain(), (0..16).collect::<Vec<u8>>());
    assert!(bench.screen.0.lock().expect("screen").is_empty());
    bench.write(CR, 0x301);
    assert_eq!(bench.drain(), b"from outside");
}

#[test]
fn errors_of_the_host_are_kept_from_the_guest() {
    struct Broken;
    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut bench = Bench::new();
    let line = IrqLine::new(Arc::new(Wire::default()), 33);
    bench.uart = Pl011::new("pl011", line, Box::new(Broken));
    let input = bench.uart.input();
    assert!(input.take_output_error().is_none());
    bench.write(DR, 1);
    bench.write(DR, 2);
    assert_eq!(bench.read(RIS), int::TX);
    assert_eq!(input.take_output_error().map(|e| e.kind()), Some(std::io::ErrorKind::BrokenPipe));
    assert!(input.take_output_error().is_none());
}

#[test]
fn junk() {
    let seed = 0x5eed_0011_u64;
    println!("seed {seed:#x}");
    let mut bench = Bench::new();
    let mut x = seed;
    for step in 0..100_000 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        let size = [Size::Byte, Size::Half, Size::Word, Size::Double][(x >> 40 & 3) as usize];
        let range = if x >> 42 & 1 == 0 { 0x50 } else { 0x1000 };
        let offset = ((x >> 8) % range) & !(size.bytes() - 1);
        let access = MmioAccess { offset, size, cpu: 0, now: step };
        match x & 7 {
            0..=2 => drop(bench.uart.read(access).expect("answers")),
            3..=6 => bench.uart.write(access, x >> 3 & size.mask()).expect("answers"),
            _ => bench.input.push(&x.to_le_bytes()),
        }
        let (ris, mis) = (bench.read(RIS), bench.read(MIS));
        assert_eq!(bench.irq(), mis != 0, "seed {seed:#x}, step {step}");
        assert_eq!(mis & !ris, 0);
        assert!(bench.uart.uart.lock().expect("uart").fifo.len() <= DEPTH);
    }
}

#[test]
fn hash_sees_registers_and_fifo_but_not_the_queue() {
    let hash = |bench: &Bench| {
        let mut hasher = std::collections::hash_map::DefaultHasher::new();
        bench.uart.hash(&mut hasher);
        core::hash::Hasher::finish(&hasher)
    };
    let mut bench = Bench::new();
    let reset = hash(&bench);
    bench.input.push(b"a");
    assert_eq!(hash(&bench), reset);
    bench.write(IBRD, 1);
    let changed = hash(&bench);
    assert_ne!(changed, reset);
    bench.write(CR, 0x301);
    bench.write(IMSC, int::RT);
    let listening = hash(&bench);
    bench.input.push(b"a");
    assert_eq!(hash(&bench), listening, "depth 1 and already full");
    bench.read(DR);
    bench.read(DR);
    assert_ne!(hash(&bench), listening);
}
