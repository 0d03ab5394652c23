//! Futexes: threads that wait for a word of user memory to change.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering as Compared;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hal::sync::SpinLock;

use crate::errno::{Errno, Result};
use crate::mm::{Access, Mm, PAGE, Sharing};
use crate::proc::Thread;
use crate::sched::wait::Ended;
use crate::sched::{self, CURRENT, State};

const BUCKETS: usize = 256;

/// Which word is meant: private ones by address space and address, shared ones by what is mapped there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key(u64, u64);

#[derive(Debug)]
struct Waiter {
    key: SpinLock<Key>,
    thread: Arc<Thread>,
    bits: u32,
    woken: AtomicBool,
    /// The bucket that holds it; changed by requeue under both buckets' locks.
    bucket: AtomicU64,
}

static TABLE: [SpinLock<Vec<Arc<Waiter>>>; BUCKETS] = [const { SpinLock::new(Vec::new()) }; BUCKETS];

fn bucket_of(key: Key) -> usize {
    let mixed = (key.0 ^ key.1 >> 2).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as usize
}

/// The key of the word at `address`.
pub fn key(mm: &Arc<Mm>, address: u64, is_private: bool) -> Result<Key> {
    if address % 4 != 0 {
        return Err(Errno::EINVAL);
    }
    let own = Key(Arc::as_ptr(mm) as u64, address);
    if is_private {
        return Ok(own);
    }
    let space = mm.lock();
    let vma = space.find(address).ok_or(Errno::EFAULT)?;
    match vma.source_page(address & !(PAGE - 1)) {
        Some((source, index)) if vma.sharing == Sharing::Shared => {
            Ok(Key(Arc::as_ptr(source).cast::<()>() as u64, index * PAGE + address % PAGE))
        }
        _ => Ok(own),
    }
}

/// Sleeps while the word at `address` is `expected`. Ok: woken. EAGAIN: it is another value. ETIMEDOUT. ERESTARTSYS.
pub fn wait(address: u64, is_private: bool, expected: u32, bits: u32, deadline: Option<u64>) -> Result<()> {
    if bits == 0 {
        return Err(Errno::EINVAL);
    }
    let current = CURRENT.share();
    let mm = current.mm()?;
    let key = key(&mm, address, is_private)?;
    let bucket = bucket_of(key);
    let waiter = Arc::new(Waiter {
        key: SpinLock::new(key),
        thread: Arc::clone(&current),
        bits,
        woken: AtomicBool::new(false),
        bucket: AtomicU64::new(bucket as u64),
    });
    // In the list before the word is looked at: a waker that changed it before finds this thread, or this thread the change.
    TABLE[bucket].lock().push(Arc::clone(&waiter));
    core::sync::atomic::fence(Ordering::SeqCst);
    let result = match hal::uaccess::load32(address) {
        Err(fault) => Err(fault.into()),
        Ok(value) if value != expected => Err(Errno::EAGAIN),
        Ok(_) => sleep(&waiter, deadline),
    };
    if result.is_err() && !remove(&waiter) {
        // Someone woke it meanwhile, and counts on that.
        return Ok(());
    }
    result
}

fn sleep(waiter: &Arc<Waiter>, deadline: Option<u64>) -> Result<()> {
    let timer = deadline.map(|deadline| sched::TimerId::wake_at(deadline, Arc::clone(&waiter.thread)));
    let ended = loop {
        sched::prepare_to_sleep(State::Interruptible);
        let verdict = if waiter.woken.load(Ordering::Acquire) {
            Some(Ok(()))
        } else if deadline.is_some_and(|deadline| hal::timer::now() >= deadline) {
            Some(Err(Ended::ByTime))
        } else if waiter.thread.has_signal() {
            Some(Err(Ended::BySignal))
        } else {
            None
        };
        if let Some(verdict) = verdict {
            sched::stay_awake();
            break verdict;
        }
        sched::schedule();
    };
    if let Some(timer) = timer {
        timer.cancel();
    }
    ended.map_err(|ended| if ended == Ended::ByTime { Errno::ETIMEDOUT } else { Errno::ERESTARTSYS })
}

/// Takes a waiter out of its list. False: it was not there, since it was woken.
fn remove(waiter: &Arc<Waiter>) -> bool {
    loop {
        let bucket = waiter.bucket.load(Ordering::Acquire) as usize;
        let mut list = TABLE[bucket].lock();
        if waiter.bucket.load(Ordering::Acquire) as usize != bucket {
            continue;
        }
        let at = list.iter().position(|other| Arc::ptr_eq(other, waiter));
        let removed = at.map(|at| list.remove(at));
        return removed.is_some();
    }
}

fn wake_key(key: Key, count: usize, bits: u32) -> usize {
    let mut woken = Vec::new();
    {
        let mut list = TABLE[bucket_of(key)].lock();
        list.retain(|waiter| {
            let is_meant = woken.len() < count && *waiter.key.lock() == key && waiter.bits & bits != 0;
            if is_meant {
                waiter.woken.store(true, Ordering::Release);
                woken.push(Arc::clone(waiter));
            }
            !is_meant
        });
    }
    for waiter in &woken {
        sched::wake(&waiter.thread);
    }
    woken.len()
}

/// Wakes up to `count` threads that wait at `address` with one of `bits`; returns how many.
pub fn wake(address: u64, is_private: bool, count: usize, bits: u32) -> Result<usize> {
    if bits == 0 {
        return Err(Errno::EINVAL);
    }
    let key = key(&CURRENT.get().mm()?, address, is_private)?;
    core::sync::atomic::fence(Ordering::SeqCst);
    Ok(wake_key(key, count, bits))
}

/// A thread's end: the word at `address` was cleared.
pub fn wake_one_at(address: u64) {
    // glibc waits privately on some versions and shared on others.
    for is_private in [true, false] {
        if let Ok(key) = CURRENT.get().mm().and_then(|mm| key(&mm, address, is_private)) {
            wake_key(key, 1, u32::MAX);
        }
    }
}

/// Wakes up to `wake` threads at `from` and lets up to `requeue` others wait at `to`; returns how many it was together.
/// With `expected`: EAGAIN if another value is at `from`.
pub fn requeue(
    from: u64,
    to: u64,
    is_private: bool,
    wake: usize,
    requeue: usize,
    expected: Option<u32>,
) -> Result<usize> {
    let mm = CURRENT.get().mm()?;
    let (from_key, to_key) = (key(&mm, from, is_private)?, key(&mm, to, is_private)?);
    // A fault is served here, not under the lock.
    if let Some(expected) = expected {
        mm.fault(from, Access::Read)?;
        if hal::uaccess::load32(from)? != expected {
            return Err(Errno::EAGAIN);
        }
    }
    let woken = wake_key(from_key, wake, u32::MAX);
    let (a, b) = (bucket_of(from_key), bucket_of(to_key));
    let mut moved = 0;
    let mut move_between = |list: &mut Vec<Arc<Waiter>>, other: Option<&mut Vec<Arc<Waiter>>>| {
        let meant: Vec<Arc<Waiter>> =
            list.iter().filter(|waiter| *waiter.key.lock() == from_key).take(requeue).cloned().collect();
        moved = meant.len();
        list.retain(|waiter| !meant.iter().any(|other| Arc::ptr_eq(other, waiter)));
        for waiter in &meant {
            *waiter.key.lock() = to_key;
            waiter.bucket.store(b as u64, Ordering::Release);
        }
        match other {
            Some(other) => other.extend(meant),
            None => list.extend(meant),
        }
    };
    // Two lists are locked in the order of their numbers.
    match a.cmp(&b) {
        Compared::Equal => move_between(&mut TABLE[a].lock(), None),
        Compared::Less => {
            let mut from_list = TABLE[a].lock();
            move_between(&mut from_list, Some(&mut TABLE[b].lock()));
        }
        Compared::Greater => {
            let mut to_list = TABLE[b].lock();
            move_between(&mut TABLE[a].lock(), Some(&mut to_list));
        }
    }
    Ok(woken + moved)
}
