//! A driver's side, for the tests of devices: it builds rings in guest RAM and works the registers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use arch::Pa;
use bus::{Device, IrqLine, IrqSink, Level, MmioAccess, Ram, Size};

use crate::spec::{feature, reg, ring};
use crate::{GuestMemory, VirtioDevice, VirtioMmio};

mod junk;

pub use junk::{Junk, Random};

/// Where the driver's RAM starts.
pub const BASE: u64 = 0x4000_0000;
/// How much there is.
pub const LEN: u64 = 0x10_0000;
/// The descriptor table of queue 0; those of the others follow by [`STRIDE`].
pub const DESC: u64 = BASE + 0x1000;
/// The available ring of queue 0.
pub const AVAIL: u64 = BASE + 0x3000;
/// The used ring of queue 0.
pub const USED: u64 = BASE + 0x4000;
/// From a queue's rings to the next queue's.
pub const STRIDE: u64 = 0x4000;
/// The most queues of a device.
pub const QUEUES: usize = 3;
/// Free for buffers.
pub const DATA: u64 = BASE + 0x1_0000;

#[derive(Default)]
struct Wire(AtomicU32);
impl IrqSink for Wire {
    fn set_spi(&self, _: u32, level: Level) {
        self.0.store(u32::from(level == Level::High), Relaxed);
    }
}

/// A driver of one device.
pub struct Driver {
    /// The transport.
    pub mmio: VirtioMmio,
    /// Guest RAM.
    pub memory: GuestMemory,
    wire: Arc<Wire>,
    /// The queues' size.
    pub size: u16,
    /// The queue that is worked on.
    pub queue: usize,
    avail: [u16; QUEUES],
    seen: [u16; QUEUES],
}

impl Driver {
    /// A driver that has done nothing yet.
    pub fn new(device: Box<dyn VirtioDevice>, size: u16) -> Self {
        let memory = GuestMemory::new(Arc::new(Ram::new(LEN).expect("RAM")), Pa(BASE));
        let wire = Arc::new(Wire::default());
        let line = IrqLine::new(Arc::clone(&wire) as Arc<dyn IrqSink>, 48);
        let mmio = VirtioMmio::new("virtio", line, memory.clone(), device);
        Self { mmio, memory, wire, size, queue: 0, avail: [0; QUEUES], seen: [0; QUEUES] }
    }

    /// A driver that has set up its device with all offered features but those in `without`.
    pub fn live(device: Box<dyn VirtioDevice>, size: u16, without: u64) -> Self {
        let mut driver = Self::new(device, size);
        driver.set_up(without);
        driver
    }

    /// Resets and sets up the device (VIRTIO 1.2, §3.1.1).
    pub fn set_up(&mut self, without: u64) {
        self.write(reg::STATUS, 0);
        self.write(reg::STATUS, 1);
        self.write(reg::STATUS, 3);
        let offered = self.offered();
        assert_ne!(offered & feature::VERSION_1, 0);
        self.accept(offered & !without);
        self.write(reg::STATUS, 0xb);
        assert_eq!(self.read(reg::STATUS), 0xb);
        (self.avail, self.seen) = ([0; QUEUES], [0; QUEUES]);
        for queue in 0..QUEUES as u64 {
            self.write(reg::QUEUE_SEL, queue as u32);
            // One that is smaller than asked for is not used by this driver.
            if self.read(reg::QUEUE_NUM_MAX) < self.size.into() && queue > 0 {
                continue;
            }
            let base = STRIDE * queue;
            self.memory.write(base + AVAIL, &[0; 0x2000]).expect("rings in RAM");
            self.write(reg::QUEUE_NUM, self.size.into());
            for (register, addr) in [(reg::QUEUE_DESC, DESC), (reg::QUEUE_DRIVER, AVAIL), (reg::QUEUE_DEVICE, USED)] {
                self.write(register, (base + addr) as u32);
                self.write(register + 4, ((base + addr) >> 32) as u32);
            }
            self.write(reg::QUEUE_READY, 1);
        }
        self.write(reg::QUEUE_SEL, 0);
        self.write(reg::STATUS, 0xf);
    }

    /// The features on offer.
    pub fn offered(&mut self) -> u64 {
        self.write(reg::DEVICE_FEATURES_SEL, 1);
        let high = u64::from(self.read(reg::DEVICE_FEATURES));
        self.write(reg::DEVICE_FEATURES_SEL, 0);
        high << 32 | u64::from(self.read(reg::DEVICE_FEATURES))
    }
    /// Writes the driver's features.
    pub fn accept(&mut self, features: u64) {
        for half in 0..2 {
            self.write(reg::DRIVER_FEATURES_SEL, half);
            self.write(reg::DRIVER_FEATURES, (features >> (32 * half)) as u32);
        }
    }

    /// Reads a register.
    pub fn read(&mut self, offset: u64) -> u32 {
        self.mmio.read(MmioAccess { offset, size: Size::Word, cpu: 0, now: 0 }).expect("answers") as u32
    }
    /// Writes a register.
    pub fn write(&mut self, offset: u64, value: u32) {
        self.mmio.write(MmioAccess { offset, size: Size::Word, cpu: 0, now: 0 }, value.into()).expect("answers");
    }
    /// Is the interrupt line high?
    pub fn irq(&self) -> bool {
        self.wire.0.load(Relaxed) == 1
    }

    /// Writes descriptor `index` of the table at `table`.
    pub fn desc(&self, table: u64, index: u16, (addr, len, flags, next): (u64, u32, u16, u16)) {
        let mut raw = addr.to_le_bytes().to_vec();
        raw.extend(len.to_le_bytes());
        raw.extend(flags.to_le_bytes());
        raw.extend(next.to_le_bytes());
        self.memory.write(table + ring::DESC_SIZE * u64::from(index), &raw).expect("a table in RAM");
    }

    fn base(&self) -> u64 {
        STRIDE * self.queue as u64
    }

    /// Makes the chain from `head` available.
    pub fn offer(&mut self, head: u16) {
        let (base, avail) = (self.base() + AVAIL, &mut self.avail[self.queue]);
        self.memory.write_u16(base + 4 + 2 * u64::from(*avail % self.size), head).expect("the available ring in RAM");
        *avail = avail.wrapping_add(1);
        self.memory.write_u16(base + 2, *avail).expect("the available ring in RAM");
    }

    /// What the device used since the last call: head and length.
    pub fn used(&mut self) -> Vec<(u32, u32)> {
        let (base, seen) = (self.base() + USED, &mut self.seen[self.queue]);
        let index = self.memory.read_u16(base + 2).expect("the used ring in RAM");
        let mut used = vec![];
        while *seen != index {
            let mut raw = [0; 8];
            self.memory.read(base + 4 + 8 * u64::from(*seen % self.size), &mut raw).expect("the used ring in RAM");
            let word = |at: usize| (0..4).rev().fold(0, |v, n| v << 8 | u32::from(raw[at + n]));
            used.push((word(0), word(4)));
            *seen = seen.wrapping_add(1);
        }
        used
    }

    /// Makes a chain of `buffers` (address, length, flags without NEXT) from descriptor `first` on and offers it.
    pub fn chain(&mut self, first: u16, buffers: &[(u64, u32, u16)]) {
        for (n, (addr, len, flags)) in buffers.iter().enumerate() {
            let next = if n + 1 < buffers.len() { ring::NEXT } else { 0 };
            let index = first + n as u16;
            self.desc(self.base() + DESC, index, (*addr, *len, flags | next, index + 1));
        }
        self.offer(first);
    }

    /// Makes a chain of `buffers` (address, length, flags without NEXT) from descriptor 0 on, offers it, notifies, and
    /// gives what was used.
    pub fn request(&mut self, buffers: &[(u64, u32, u16)]) -> Vec<(u32, u32)> {
        self.chain(0, buffers);
        self.write(reg::QUEUE_NOTIFY, self.queue as u32);
        self.used()
    }

    /// Bytes of guest memory.
    pub fn bytes(&self, addr: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.memory.read(addr, &mut bytes).expect("bytes in RAM");
        bytes
    }
}
