//! Locks that the kernel hands on (FUTEX_LOCK_PI and its like): the word has the owner's number, and who unlocks gives the
//! lock to the one that waits longest. Threads have no priorities here, so there is none to be inherited.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hal::sync::SpinLock;
use hal::uaccess::{Exchange, compare_exchange32, load32};

use super::word::{OWNER, OWNER_DIED, WAITERS};
use super::{Key, TABLE, Waiter, bucket_of, key, remove, sleep, update};
use crate::errno::{Errno, Result};
use crate::proc::table;
use crate::sched::{self, CURRENT};

/// Bits of such waiters: no call for other futexes has just this.
const OWNED: u32 = 0;

/// What an attempt at the word gave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Attempt {
    /// The lock is the thread's.
    Taken,
    /// Another has it, and the word says that somebody waits.
    Waits,
}

/// Takes the lock if it is free, else marks that somebody waits. EDEADLK: it is the thread's own. ESRCH: no thread has the
/// number that is there.
fn attempt(address: u64, tid: u32) -> Result<Attempt> {
    let old = update(address, |old| match old & OWNER {
        0 => Some(tid | old & (OWNER_DIED | WAITERS)),
        owner if owner == tid || old & WAITERS != 0 => None,
        _ => Some(old | WAITERS),
    })?;
    match old & OWNER {
        0 => Ok(Attempt::Taken),
        owner if owner == tid => Err(Errno::EDEADLK),
        owner if table::thread(owner as i32).is_none() => Err(Errno::ESRCH),
        _ => Ok(Attempt::Waits),
    }
}

/// FUTEX_TRYLOCK_PI
pub fn try_lock(address: u64) -> Result<()> {
    if address % 4 != 0 {
        return Err(Errno::EINVAL);
    }
    let tid = CURRENT.get().tid as u32;
    let old = update(address, |old| (old & OWNER == 0).then_some(tid | old & (OWNER_DIED | WAITERS)))?;
    match old & OWNER {
        0 => Ok(()),
        owner if owner == tid => Err(Errno::EDEADLK),
        _ => Err(Errno::EAGAIN),
    }
}

/// FUTEX_LOCK_PI: takes the lock, or sleeps until it is handed on to the thread. ETIMEDOUT.
pub fn lock(address: u64, is_private: bool, deadline: Option<u64>) -> Result<()> {
    let current = CURRENT.share();
    let key = key(&current.mm()?, address, is_private)?;
    let tid = current.tid as u32;
    loop {
        if attempt(address, tid)? == Attempt::Taken {
            return Ok(());
        }
        let bucket = bucket_of(key);
        let waiter = Arc::new(Waiter {
            key: SpinLock::new(key),
            thread: Arc::clone(&current),
            bits: OWNED,
            woken: AtomicBool::new(false),
            bucket: AtomicU64::new(bucket as u64),
        });
        TABLE[bucket].lock().push(Arc::clone(&waiter));
        core::sync::atomic::fence(Ordering::SeqCst);
        // The owner may have gone before it could see this waiter in the list: then the lock is free, and this thread
        // tries again.
        let word = load32(address);
        let result = match word {
            Err(fault) => Err(fault.into()),
            Ok(word) if word & OWNER == 0 || word & WAITERS == 0 => Err(Errno::EAGAIN),
            Ok(_) => sleep(&waiter, deadline),
        };
        let error = match result {
            Ok(()) => None,
            Err(error) if remove(&waiter) => Some(error),
            Err(_) => {
                // It is being handed on right now.
                while !waiter.woken.load(Ordering::Acquire) {
                    core::hint::spin_loop();
                }
                None
            }
        };
        match error {
            // If the program wrote to the word meanwhile, the lock is still another's.
            None if load32(address)? & OWNER == tid => return Ok(()),
            None | Some(Errno::EAGAIN) => {}
            Some(error @ (Errno::ETIMEDOUT | Errno::EFAULT)) => return Err(error),
            Some(_) => return Err(Errno::ERESTARTNOINTR),
        }
    }
}

/// Takes out the one that waits longest.
fn first_waiter(key: Key) -> Option<Arc<Waiter>> {
    let mut list = TABLE[bucket_of(key)].lock();
    let at = list.iter().position(|waiter| waiter.bits == OWNED && *waiter.key.lock() == key)?;
    Some(list.remove(at))
}

/// The lock goes from the owner `tid` to the first that waits, with `marks` in its word; to nobody, if nobody does. False:
/// `tid` does not have it.
fn hand_on(key: Key, address: u64, tid: u32, marks: u32) -> Result<bool> {
    let mut waiter = None;
    let mut old = load32(address)?;
    while old & OWNER == tid {
        waiter = waiter.or_else(|| first_waiter(key));
        let new = waiter.as_ref().map_or(marks, |waiter: &Arc<Waiter>| waiter.thread.tid as u32 | WAITERS | marks);
        match compare_exchange32(address, old, new) {
            Ok(Exchange::Stored) => {
                // One that came into the list after the look at it may have found the owner there still, and sleeps: the
                // lock is free now, and it tries again.
                core::sync::atomic::fence(Ordering::SeqCst);
                release(waiter.or_else(|| first_waiter(key)));
                return Ok(true);
            }
            Ok(Exchange::Other(other)) => old = other,
            Err(fault) => {
                release(waiter);
                return Err(fault.into());
            }
        }
    }
    release(waiter);
    Ok(false)
}

/// Lets one that waited go on: it looks whether the lock is its own.
fn release(waiter: Option<Arc<Waiter>>) {
    if let Some(waiter) = waiter {
        waiter.woken.store(true, Ordering::Release);
        sched::wake(&waiter.thread);
    }
}

/// FUTEX_UNLOCK_PI. EPERM: it is not the thread's.
pub fn unlock(address: u64, is_private: bool) -> Result<()> {
    let current = CURRENT.share();
    let key = key(&current.mm()?, address, is_private)?;
    if hand_on(key, address, current.tid as u32, 0)? { Ok(()) } else { Err(Errno::EPERM) }
}

/// The owner died: the lock goes on, marked.
pub(super) fn inherit(address: u64, tid: u32) -> Result<()> {
    let mm = CURRENT.get().mm()?;
    // Waiters of one kind or the other.
    let shared = key(&mm, address, false)?;
    let private = key(&mm, address, true)?;
    let has_private = TABLE[bucket_of(private)].lock().iter().any(|waiter| *waiter.key.lock() == private);
    hand_on(if has_private { private } else { shared }, address, tid, OWNER_DIED).map(|_| ())
}
