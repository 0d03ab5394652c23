//! Samples of what programs do: a PMU counter overflows after each period, and its interrupt records CONTEXTIDR beside the
//! PC. A session of profiling (`contextidr`) starts it, and only with its token: so CONTEXTIDR of every CPU has the number
//! of the thread that runs there before the first counter counts.
//!
//! EL0 alone is counted. So an overflow belongs to the thread that the CPU was in last at EL0: that of the interrupt, or, if
//! that comes late because the very last instruction was a system call, the one that a switch leaves.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use hal::percpu::{self, MAX_CPUS};
use hal::pmu::{self, Counter, LONGEST};
use hal::sync::SpinLock;

use crate::contextidr::Token;
use crate::cross::{Order, on_all};
use crate::errno::{Errno, Result};
use crate::feature;
use crate::patch::{Counted, key};
use crate::sched::CURRENT;
use crate::sched::wait::{Mutex, mutex};

/// Samples that a CPU keeps until somebody reads them; more are counted as lost.
const KEPT: usize = 8192;
/// The shortest period: a sample must not bring about the next one.
const SHORTEST: u32 = 500;

/// One sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// CONTEXTIDR: the thread's number.
    pub context: u32,
    /// The CPU.
    pub cpu: u32,
    /// Where EL0 was.
    pub pc: u64,
}

impl Sample {
    /// Bytes of one, for a program: number, CPU, PC.
    pub const SIZE: usize = 16;

    /// Little-endian.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..4].copy_from_slice(&self.context.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.cpu.to_le_bytes());
        bytes[8..].copy_from_slice(&self.pc.to_le_bytes());
        bytes
    }
}

static INTID: AtomicU32 = AtomicU32::new(0);
static COUNTER: AtomicU8 = AtomicU8::new(0);
static PERIOD: AtomicU32 = AtomicU32::new(0);
static LOST: AtomicU64 = AtomicU64::new(0);
static SAMPLES: [SpinLock<Vec<Sample>>; MAX_CPUS] = [const { SpinLock::new(Vec::new()) }; MAX_CPUS];

static KEY: Counted = Counted::new(key::SAMPLER);
static IS_TAKEN: Mutex<bool> = mutex(false);

/// The interrupt, as the device tree has it; 0: there is none.
pub fn init(intid: Option<u32>) {
    INTID.store(intid.unwrap_or(0), Ordering::Relaxed);
}

/// Is that the PMU's interrupt?
pub fn is_interrupt(intid: u32) -> bool {
    intid != 0 && INTID.load(Ordering::Relaxed) == intid
}

fn settings() -> (Counter, u32) {
    let counter = if COUNTER.load(Ordering::Relaxed) == 0 { Counter::Cycles } else { Counter::Instructions };
    (counter, PERIOD.load(Ordering::Relaxed))
}

/// This CPU's part of a start.
pub fn start_own() {
    let (counter, period) = settings();
    hal::gic::enable(INTID.load(Ordering::Relaxed));
    pmu::start(counter, period);
}

/// This CPU's part of the end.
pub fn stop_own() {
    pmu::stop();
}

/// An overflow, or the PMU's interrupt for none: what CONTEXTIDR and the current thread's frame say is a sample.
pub fn on_interrupt() {
    let (counter, period) = settings();
    if !pmu::take_overflow(counter, period) {
        return;
    }
    let sample =
        Sample { context: hal::cpu::context_id(), cpu: percpu::id() as u32, pc: CURRENT.get().context.frame().pc() };
    let mut samples = SAMPLES[percpu::id()].lock();
    if samples.len() < samples.capacity() {
        samples.push(sample);
    } else {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
}

/// In a switch, while the old thread is current and CONTEXTIDR has its number.
#[inline]
pub fn switch() {
    if hal::patch::is_on::<{ key::SAMPLER }>() {
        on_interrupt();
    }
}

/// While it lives, samples come. There is one at a time.
#[derive(Debug)]
pub struct Sampler(());

impl Sampler {
    /// Starts counting on all CPUs. ENODEV: there is no PMU, or nobody knows its interrupt. EINVAL: the period is too short
    /// or too long. EBUSY: another session has the counters.
    pub fn start(_every_cpu_has_written: &Token, counter: Counter, period: u32) -> Result<Self> {
        let is_here = feature::has_monitors() && pmu::is_here();
        if INTID.load(Ordering::Relaxed) == 0 || !is_here {
            return Err(Errno::ENODEV);
        }
        if !(SHORTEST..=LONGEST).contains(&period) {
            return Err(Errno::EINVAL);
        }
        let mut is_taken = IS_TAKEN.lock();
        if *is_taken {
            return Err(Errno::EBUSY);
        }
        for samples in &SAMPLES[..percpu::count()] {
            // Interrupts do not allocate.
            let room = Vec::with_capacity(KEPT);
            drop(core::mem::replace(&mut *samples.lock(), room));
        }
        LOST.store(0, Ordering::Relaxed);
        COUNTER.store(counter as u8, Ordering::Relaxed);
        PERIOD.store(period, Ordering::Relaxed);
        KEY.get(|| on_all(Order::StartSampling));
        *is_taken = true;
        Ok(Self(()))
    }

    /// Takes up to `most` samples out. If some were lost since the last time, the first says how many: its number and CPU
    /// are all ones.
    pub fn take(&self, most: usize) -> Vec<Sample> {
        let mut taken = Vec::with_capacity(most.min(KEPT));
        if most > 0 {
            let lost = LOST.swap(0, Ordering::Relaxed);
            taken.extend((lost > 0).then_some(Sample { context: u32::MAX, cpu: u32::MAX, pc: lost }));
        }
        for samples in &SAMPLES[..percpu::count()] {
            let room = taken.capacity() - taken.len();
            let mut samples = samples.lock();
            let count = samples.len().min(room);
            // The oldest first.
            taken.extend(samples.drain(..count));
        }
        taken
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        let mut is_taken = IS_TAKEN.lock();
        KEY.put(|| on_all(Order::StopSampling));
        for samples in &SAMPLES[..percpu::count()] {
            drop(core::mem::take(&mut *samples.lock()));
        }
        *is_taken = false;
    }
}

/// What a program writes to begin: `cycles 10000`, `instructions 10000`. EINVAL: nothing of the kind.
pub fn parse(words: &str) -> Result<(Counter, u32)> {
    let mut words = words.split_ascii_whitespace();
    let counter = match words.next() {
        Some("cycles") => Counter::Cycles,
        Some("instructions") => Counter::Instructions,
        _ => return Err(Errno::EINVAL),
    };
    let period = words.next().and_then(|word| word.parse().ok()).ok_or(Errno::EINVAL)?;
    if words.next().is_some() { Err(Errno::EINVAL) } else { Ok((counter, period)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_a_counter_and_a_period() {
        assert_eq!(parse("cycles 10000\n"), Ok((Counter::Cycles, 10000)));
        assert_eq!(parse(" instructions\t7 "), Ok((Counter::Instructions, 7)));
        for wrong in ["", "cycles", "cycles -1", "cycles 4294967296", "cycles 1 2", "branches 5", "5 cycles"] {
            assert_eq!(parse(wrong), Err(Errno::EINVAL), "{wrong}");
        }
    }

    #[test]
    fn samples_are_sixteen_bytes() {
        let bytes = Sample { context: 0x0102_0304, cpu: 5, pc: 0x1122_3344_5566_7788 }.to_bytes();
        assert_eq!(bytes, [4, 3, 2, 1, 5, 0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]);
    }
}
