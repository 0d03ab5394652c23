//! Free frames that a CPU keeps for itself, so that most allocations take no lock.

use core::cell::UnsafeCell;

use crate::percpu::{self, MAX_CPUS};

/// Most frames that a CPU keeps.
pub(super) const CAPACITY: usize = 32;
/// How many it takes or gives back at once.
pub(super) const BATCH: usize = CAPACITY / 2;

/// Numbers of frames.
#[repr(align(64))]
pub(super) struct Cache {
    len: usize,
    frames: [u32; CAPACITY],
}

struct Caches([UnsafeCell<Cache>; MAX_CPUS]);
// SAFETY: each CPU touches its own alone, see `with`.
unsafe impl Sync for Caches {}

static CACHES: Caches = Caches([const { UnsafeCell::new(Cache { len: 0, frames: [0; CAPACITY] }) }; MAX_CPUS]);

#[cfg(not(target_os = "none"))]
static HOST: crate::sync::SpinLock<()> = crate::sync::SpinLock::new(());

/// This CPU's cache. `work` must not allocate or free frames.
#[inline]
pub(super) fn with<T>(work: impl FnOnce(&mut Cache) -> T) -> T {
    // The threads of a host's tests share one CPU.
    #[cfg(not(target_os = "none"))]
    let _guard = HOST.lock();
    // SAFETY: interrupts are masked and `work` does not come here again (it is one of the few lines in `frames`), so this
    // is the only reference to this CPU's cache.
    work(unsafe { &mut *CACHES.0[percpu::id()].get() })
}

impl Cache {
    /// One, if there is any.
    #[inline]
    pub fn pop(&mut self) -> Option<u32> {
        self.len = self.len.checked_sub(1)?;
        Some(self.frames[self.len])
    }
    /// Keeps one; false: it is full.
    #[inline]
    pub fn push(&mut self, frame: u32) -> bool {
        match self.frames.get_mut(self.len) {
            Some(place) => {
                *place = frame;
                self.len += 1;
                true
            }
            None => false,
        }
    }
}
