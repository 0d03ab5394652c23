use std::io;

use virtio_mmio::spec::{reg, ring};
use virtio_mmio::testing::{DATA, Driver, Junk};

use super::*;

const W: u16 = ring::WRITE;

#[derive(Clone, Default)]
struct Sheet(Arc<Mutex<Vec<u8>>>);

impl Sheet {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().expect("sheet"))
    }
}

impl Write for Sheet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("sheet").extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn console() -> (Driver, ConsoleQueue, Sheet) {
    let sheet = Sheet::default();
    let device = VirtioConsole::new(Box::new(sheet.clone()));
    let input = device.input();
    (Driver::live(Box::new(device), 16, 0), input, sheet)
}

#[test]
fn what_the_guest_sends_is_printed_in_order() {
    let (mut driver, _, sheet) = console();
    assert_eq!(driver.read(reg::DEVICE_ID), 3);
    let text: Vec<u8> = (0..10_000u32).map(|n| (n % 251) as u8).collect();
    driver.memory.write(DATA, &text).expect("RAM");
    driver.queue = spec::TRANSMIT;
    assert_eq!(driver.request(&[(DATA, 1, 0), (DATA + 1, 9999, 0)]), [(0, 0)]);
    assert_eq!(sheet.take(), text);
    driver.write(reg::CONFIG + spec::EMERG_WR, u32::from(b'!'));
    assert_eq!(sheet.take(), b"!");
    // More than one notification may move: the rest is dropped, and the queue goes on.
    let len = 0x8_0000;
    let most = (MAX_BYTES / u64::from(len)) as usize;
    let table = DATA + 0x4000;
    for n in 0..=most as u16 {
        driver.desc(table, n, (DATA + 0x8000, len, if usize::from(n) == most { 0 } else { ring::NEXT }, n + 1));
    }
    let base = virtio_mmio::testing::DESC + virtio_mmio::testing::STRIDE;
    driver.desc(base, 0, (table, 16 * (most as u32 + 1), ring::INDIRECT, 0));
    driver.offer(0);
    driver.write(reg::QUEUE_NOTIFY, 1);
    assert_eq!(driver.used(), [(0, 0)]);
    assert_eq!(sheet.take().len() as u64, MAX_BYTES);
    assert_eq!(driver.mmio.broken(), None);
}

#[test]
fn input_waits_for_buffers_and_buffers_for_input() {
    let (mut driver, input, _) = console();
    input.push(b"ab");
    driver.mmio.poll(0);
    assert!(!driver.irq());
    assert_eq!(driver.request(&[(DATA, 1, W)]), [], "nobody has printed");
    driver.queue = spec::TRANSMIT;
    assert_eq!(driver.request(&[(DATA, 1, 0)]), [(0, 0)]);
    driver.queue = spec::RECEIVE;
    driver.write(reg::INTERRUPT_ACK, 3);
    driver.mmio.poll(0);
    assert_eq!(driver.used(), [(0, 1)]);
    assert!(driver.irq());
    assert_eq!((driver.bytes(DATA, 1), input.waiting()), (b"a".to_vec(), 1));
    driver.write(reg::INTERRUPT_ACK, 3);
    assert_eq!(driver.request(&[(DATA, 2, W), (DATA + 0x100, 7, W)]), [(0, 1)]);
    assert_eq!(driver.request(&[(DATA, 2, W), (DATA + 0x100, 7, W)]), []);
    driver.write(reg::INTERRUPT_ACK, 3);
    assert!(!driver.irq());
    input.push(b"cdef");
    driver.mmio.poll(0);
    assert!(driver.irq());
    assert_eq!(driver.used(), [(0, 4)]);
    assert_eq!((driver.bytes(DATA, 2), driver.bytes(DATA + 0x100, 2)), (b"cd".to_vec(), b"ef".to_vec()));
}

#[test]
fn nothing_comes_before_the_driver_is_live() {
    let sheet = Sheet::default();
    let device = VirtioConsole::new(Box::new(sheet));
    let input = device.input();
    let mut driver = Driver::new(Box::new(device), 16);
    input.push(b"x");
    driver.mmio.poll(0);
    driver.set_up(0);
    assert_eq!(input.waiting(), 1);
    driver.queue = spec::TRANSMIT;
    driver.request(&[(DATA, 1, 0)]);
    driver.queue = spec::RECEIVE;
    assert_eq!(driver.request(&[(DATA, 0, W)]), []);
    assert!(matches!(driver.mmio.broken(), Some(QueueError::Request(_))));
}

#[test]
fn junk() {
    let device = || -> Box<dyn VirtioDevice> {
        let device = VirtioConsole::new(Box::new(io::sink()));
        device.input().push(&vec![7; 100_000]);
        Box::new(device)
    };
    let junk = Junk { device: &device, request: &|_, _| (), seed: 0x0003_0003, steps: 20_000 };
    let answered = junk.run();
    assert!(answered > 500, "{answered}");
}
