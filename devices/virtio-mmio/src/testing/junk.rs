//! A hostile driver: junk in every register, rings with circles, huge indexes, descriptors outside RAM and in devices'
//! windows. It asks only that the device comes back, every time.

use std::time::{Duration, Instant};

use bus::{Device, MmioAccess, Size};

use super::{AVAIL, BASE, DATA, DESC, Driver, LEN, QUEUES, STRIDE};
use crate::VirtioDevice;
use crate::spec::{reg, ring};

/// Names a number by which all runs of junk are multiplied.
pub const VARIABLE: &str = "VAMBRACE_JUNK";

/// No step takes longer on any host that is fit for tests.
const PATIENCE: Duration = Duration::from_secs(30);

/// Xorshift64*, for tests that repeat.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed | 1)
    }
    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.word() % limit
    }
    /// One of `choices`.
    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// A run of junk.
pub struct Junk<'a> {
    /// Makes the device.
    pub device: &'a dyn Fn() -> Box<dyn VirtioDevice>,
    /// Writes something like a request of this device into a buffer.
    pub request: &'a dyn Fn(&mut Random, &mut Vec<u8>),
    /// Where the numbers come from.
    pub seed: u64,
    /// How many steps, times what [`VARIABLE`] says.
    pub steps: u64,
}

impl Junk<'_> {
    /// Runs it; gives how many requests the device answered.
    ///
    /// # Panics
    /// Where the device does, or takes too long.
    pub fn run(&self) -> u64 {
        let times = std::env::var(VARIABLE).ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(1);
        println!("seed {:#x}, {} steps, times {times}", self.seed, self.steps);
        let mut answered = 0;
        for n in 0..times {
            answered += self.pass(self.seed.wrapping_add(n << 32));
        }
        answered
    }

    fn pass(&self, seed: u64) -> u64 {
        let mut random = Random::new(seed);
        let mut driver = Driver::live((self.device)(), 8, 0);
        let mut answered = 0;
        for step in 0..self.steps {
            let started = Instant::now();
            match random.below(16) {
                0 => junk_register(&mut driver, &mut random),
                1 => driver.set_up(random.of(&[0, 0, 0, u64::from(random.0 as u32)])),
                2..=4 => junk_ring(&mut driver, &mut random, self.request),
                5 => driver.mmio.poll(0),
                _ => self.honest(&mut driver, &mut random),
            }
            driver.queue = 0;
            for queue in 0..QUEUES {
                driver.queue = queue;
                let index = driver.memory.read_u16(super::USED + STRIDE * queue as u64 + 2).unwrap_or(0);
                // The rings themselves may hold junk.
                if index.wrapping_sub(driver.seen[queue]) <= driver.size {
                    answered += driver.used().len() as u64;
                }
                driver.seen[queue] = index;
            }
            if driver.mmio.broken().is_some() || driver.read(reg::STATUS) != 0xf {
                driver.set_up(0);
            }
            assert!(started.elapsed() < PATIENCE, "seed {seed:#x}, step {step} takes {:?}", started.elapsed());
        }
        answered
    }

    /// Rings as they should be, with a request in them that the device may like or not.
    fn honest(&self, driver: &mut Driver, random: &mut Random) {
        let mut request = Vec::new();
        (self.request)(random, &mut request);
        request.truncate(0x4000);
        driver.memory.write(DATA, &request).expect("in RAM");
        driver.queue = random.below(QUEUES as u64) as usize;
        let room = random.of(&[0u32, 1, 7, 64, 512, 4096, 0x1_0000]);
        let cut = random.below(request.len() as u64 + 1) as u32;
        let readable = [(DATA, cut, 0), (DATA + u64::from(cut), request.len() as u32 - cut, 0)];
        let writable = [(DATA + 0x8000, room / 2, ring::WRITE), (DATA + 0x2_0000, room - room / 2, ring::WRITE)];
        let all = [readable.as_slice(), &writable].concat();
        let from = random.of(&[0usize, 0, 0, 2]);
        let to = random.of(&[4usize, 4, 3, 2]);
        if from < to {
            driver.chain(0, &all[from..to]);
        }
        driver.write(reg::QUEUE_NOTIFY, driver.queue as u32);
    }
}

fn junk_register(driver: &mut Driver, random: &mut Random) {
    let size = random.of(&[Size::Byte, Size::Half, Size::Word, Size::Word, Size::Double]);
    let offset = random.below(0x200) / size.bytes() * size.bytes();
    let access = MmioAccess { offset, size, cpu: 0, now: 0 };
    let value = random.of(&[0, 1, 2, 0xf, 16, u64::MAX, random.0]) & size.mask();
    driver.mmio.write(access, value).expect("answers");
    driver.mmio.read(access).expect("answers");
}

/// Descriptors, rings and indexes that no driver would write.
fn junk_ring(driver: &mut Driver, random: &mut Random, request: &dyn Fn(&mut Random, &mut Vec<u8>)) {
    let mut bytes = Vec::new();
    request(random, &mut bytes);
    bytes.truncate(0x1000);
    driver.memory.write(DATA, &bytes).expect("in RAM");
    driver.queue = random.below(QUEUES as u64) as usize;
    let base = driver.base();
    for n in 0..driver.size {
        let addr = random.of(&[
            DATA,
            DATA + 0x1000,
            DESC + base,
            AVAIL + base,
            BASE + LEN - 8,
            BASE + LEN,
            0x0a00_0000,
            0x0900_0000,
            0,
            u64::MAX - 7,
            random.0,
        ]);
        let len = random.of(&[0, 1, 16, 32, 256, 4096, 0x8_0000, u32::MAX, random.0 as u32]);
        let flags = random.of(&[0, 1, 1, 2, 3, 3, 4, 5, random.0 as u16]);
        let next = random.of(&[n.wrapping_add(1), n.wrapping_add(1), 0, n, u16::MAX, random.0 as u16]);
        driver.desc(base + DESC, n, (addr, len, flags, next));
    }
    // A table of indirect descriptors where the buffers are.
    for n in 0..16 {
        driver.desc(DATA + 0x1000, n, (DATA, 64, random.of(&[1, 3, 2, 4]), random.of(&[n + 1, 0, 15])));
    }
    for n in 0..random.below(4) {
        driver.offer(random.of(&[n as u16, 0, 15, u16::MAX]));
    }
    if random.below(4) == 0 {
        let index = random.of(&[0, 1, u16::MAX, random.0 as u16]);
        driver.memory.write_u16(AVAIL + base + 2, index).expect("in RAM");
    }
    driver.write(reg::QUEUE_NOTIFY, driver.queue as u32);
    driver.mmio.poll(0);
}
