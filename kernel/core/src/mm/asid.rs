//! ASIDs with rollover. An address space has a generation and an ASID in one word; when the ASIDs of a generation are used
//! up, the next generation begins, every CPU keeps the one that it runs with, and each CPU invalidates its TLB before it
//! takes another one.

use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};

use hal::percpu::{self, MAX_CPUS};
use hal::sync::SpinLock;

use super::Mm;

/// Generations count in the bits above the ASID.
const GENERATION: u64 = 1 << 16;

/// What the CPUs run with; 0 right after a rollover.
static ACTIVE: [AtomicU64; MAX_CPUS] = [const { AtomicU64::new(0) }; MAX_CPUS];
static CURRENT: AtomicU64 = AtomicU64::new(GENERATION);
static ALLOCATOR: SpinLock<Option<Allocator>> = SpinLock::new(None);

/// Who has which ASID in this generation.
#[derive(Debug)]
struct Allocator {
    generation: u64,
    used: Vec<u64>,
    next: usize,
    count: usize,
    /// What each CPU ran with when the generation began.
    reserved: Vec<u64>,
    /// Each CPU has yet to invalidate its TLB.
    stale: Vec<bool>,
}

impl Allocator {
    fn new(bits: u32, cpus: usize) -> Self {
        let count = 1 << bits;
        let mut used = vec![0; count / 64];
        used[0] = 1; // ASID 0 is for CPUs without an address space
        Self { generation: GENERATION, used, next: 1, count, reserved: vec![0; cpus], stale: vec![false; cpus] }
    }

    fn set(&mut self, asid: usize) -> bool {
        let (word, bit) = (asid / 64, 1 << (asid % 64));
        let was_set = self.used[word] & bit != 0;
        self.used[word] |= bit;
        was_set
    }

    fn find(&mut self) -> Option<usize> {
        let found = (self.next..self.count).find(|n| self.used[n / 64] & 1 << (n % 64) == 0)?;
        self.next = found + 1;
        Some(found)
    }

    /// A new generation. `active` takes what a CPU runs with, and leaves 0.
    fn roll_over(&mut self, mut active: impl FnMut(usize) -> u64) {
        self.generation += GENERATION;
        self.used.fill(0);
        self.used[0] = 1;
        self.next = 1;
        for cpu in 0..self.reserved.len() {
            let id = active(cpu);
            // 0: it has not switched since the last rollover, so what was reserved then still runs.
            if id != 0 {
                self.reserved[cpu] = id;
            }
            let asid = (self.reserved[cpu] % GENERATION) as usize;
            self.set(asid);
            self.stale[cpu] = true;
        }
    }

    /// A word of this generation for an address space that has `old`.
    fn renew(&mut self, old: u64, active: impl FnMut(usize) -> u64) -> u64 {
        if old != 0 {
            let asid = old % GENERATION;
            let new = self.generation | asid;
            // A CPU runs with it across the rollover: it must keep its ASID, on all of them.
            let mut is_reserved = false;
            for reserved in &mut self.reserved {
                if *reserved == old {
                    *reserved = new;
                    is_reserved = true;
                }
            }
            if is_reserved || !self.set(asid as usize) {
                return new;
            }
        }
        let asid = if let Some(asid) = self.find() {
            asid
        } else {
            self.roll_over(active);
            self.find().expect("there are more ASIDs than CPUs")
        };
        self.set(asid);
        self.generation | asid as u64
    }
}

/// The ASID with which this CPU is about to run `mm`.
pub fn take(mm: &Mm) -> u16 {
    let cpu = percpu::id();
    let id = mm.id.load(Ordering::Acquire);
    let active = ACTIVE[cpu].load(Ordering::Relaxed);
    // The exchange fails against a rollover, which is under the lock.
    if active != 0
        && id / GENERATION == CURRENT.load(Ordering::Acquire) / GENERATION
        && ACTIVE[cpu].compare_exchange(active, id, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    {
        return id as u16;
    }
    take_slowly(mm, cpu)
}

fn take_slowly(mm: &Mm, cpu: usize) -> u16 {
    let mut guard = ALLOCATOR.lock();
    let allocator = guard.get_or_insert_with(|| Allocator::new(hal::mem::asid_bits(), MAX_CPUS.min(percpu::count())));
    let mut id = mm.id.load(Ordering::Relaxed);
    if id / GENERATION != allocator.generation / GENERATION {
        id = allocator.renew(id, |cpu| ACTIVE[cpu].swap(0, Ordering::AcqRel));
        CURRENT.store(allocator.generation, Ordering::Release);
        mm.id.store(id, Ordering::Release);
    }
    if core::mem::take(&mut allocator.stale[cpu]) {
        hal::mem::tlb::all_local();
    }
    ACTIVE[cpu].store(id, Ordering::Release);
    id as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_running_spaces_share_an_asid_across_rollovers() {
        let mut allocator = Allocator::new(8, 4);
        let mut active = [0u64; 4];
        let mut spaces = vec![0u64; 600];
        // Which space each CPU's TLB may have entries of, by ASID.
        let mut tlbs = vec![[None; 256]; 4];
        // What each CPU runs, and with which ASID.
        let mut ran: [Option<(usize, u64)>; 4] = [None; 4];
        let mut state = 7usize;
        for step in 0..20000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let space = (state >> 33) % spaces.len();
            // The last one seldom switches: generations go by meanwhile.
            let cpu = if step % 900 == 0 { 3 } else { (state >> 60) % 3 };
            if spaces[space] / GENERATION != allocator.generation / GENERATION {
                spaces[space] = allocator.renew(spaces[space], |cpu| core::mem::take(&mut active[cpu]));
            }
            active[cpu] = spaces[space];
            ran[cpu] = Some((space, spaces[space] % GENERATION));
            for other in ran.iter().flatten() {
                let is_apart = other.1 != spaces[space] % GENERATION;
                assert!(other.0 == space || is_apart, "{space} runs beside {} with its ASID", other.0);
            }
            // As `take_slowly` does.
            if core::mem::take(&mut allocator.stale[cpu]) {
                tlbs[cpu].fill(None);
            }
            let before = tlbs[cpu][(spaces[space] % GENERATION) as usize].replace(space);
            assert!(before.is_none_or(|other| other == space), "CPU {cpu} has entries of {before:?} for {space}");
            let running: Vec<u64> =
                (0..4).map(|cpu| if active[cpu] == 0 { allocator.reserved[cpu] } else { active[cpu] }).collect();
            for a in 0..4 {
                for b in 0..a {
                    let (x, y) = (running[a], running[b]);
                    let same_space = spaces.iter().any(|id| id % GENERATION == x % GENERATION && *id == x && *id == y);
                    assert!(
                        x == 0 || y == 0 || same_space || x % GENERATION != y % GENERATION || x == y,
                        "{x:#x} {y:#x}"
                    );
                }
            }
            assert_ne!(spaces[space] % GENERATION, 0);
        }
        assert!(allocator.generation > 2 * GENERATION);
    }
}
