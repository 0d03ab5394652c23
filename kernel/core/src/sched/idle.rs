//! CPUs without work.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicU64, Ordering, fence};

use hal::percpu::{self, MAX_CPUS};

use super::{CPUS, schedule};
use crate::proc::Thread;

/// A bit for each CPU that sleeps for want of work, and that nobody has claimed.
static IDLE: [AtomicU64; MAX_CPUS / 64] = [const { AtomicU64::new(0) }; MAX_CPUS / 64];

fn set(cpu: usize) {
    IDLE[cpu / 64].fetch_or(1 << (cpu % 64), Ordering::AcqRel);
}

/// True if it was set.
fn clear(cpu: usize) -> bool {
    IDLE[cpu / 64].fetch_and(!(1 << (cpu % 64)), Ordering::AcqRel) & 1 << (cpu % 64) != 0
}

/// A CPU for a thread that wakes and ran last on `last`: that one if it is idle, another idle one, else `last`.
pub fn claim(last: usize) -> usize {
    if IDLE[last / 64].load(Ordering::Relaxed) & 1 << (last % 64) != 0 && clear(last) {
        return last;
    }
    for (n, word) in IDLE.iter().enumerate() {
        let mut bits = word.load(Ordering::Relaxed);
        while bits != 0 {
            let cpu = n * 64 + bits.trailing_zeros() as usize;
            if clear(cpu) {
                return cpu;
            }
            bits &= bits - 1;
        }
    }
    last
}

/// Number of idle CPUs.
pub fn count() -> usize {
    IDLE.iter().map(|word| word.load(Ordering::Relaxed).count_ones() as usize).sum()
}

/// A thread from the longest queue of the other CPUs, for `cpu`.
pub fn steal(cpu: usize) -> Option<Arc<Thread>> {
    let others = (0..percpu::count()).filter(|other| *other != cpu);
    let longest = others.map(|other| (CPUS[other].queue.try_lock().map_or(0, |queue| queue.len()), other)).max()?;
    if longest.0 == 0 {
        return None;
    }
    let mut queue = CPUS[longest.1].queue.try_lock()?;
    let thread = queue.pop_movable()?;
    // Under that queue's lock: a waker that reads the old CPU looks again.
    thread.schedule.cpu.store(cpu as u32, Ordering::Relaxed);
    Some(thread)
}

/// The idle thread: never returns.
pub fn run() -> ! {
    let cpu = percpu::id();
    loop {
        set(cpu);
        fence(Ordering::SeqCst);
        if CPUS[cpu].queue.lock().is_empty() {
            if let Some(thread) = steal(cpu) {
                CPUS[cpu].queue.lock().push(thread);
            } else {
                hal::cpu::idle();
            }
        }
        clear(cpu);
        schedule();
    }
}
