//! Futexes: threads that wait for a word of user memory to change. `robust`: locks whose owner dies; `owned`: locks that are
//! handed on (FUTEX_LOCK_PI).

mod owned;
mod robust;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering as Compared;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hal::sync::SpinLock;
use hal::uaccess::Exchange;

use crate::errno::{Errno, Result};
use crate::mm::{Access, Mm, PAGE, Sharing, USER_END};
use crate::proc::Thread;
use crate::sched::wait::Ended;
use crate::sched::{self, CURRENT, State};

pub use owned::{lock, try_lock, unlock};
pub use robust::leave;

/// A lock's word (include/uapi/linux/futex.h): its owner's number, and
mod word {
    /// somebody waits for it;
    pub const WAITERS: u32 = 1 << 31;
    /// its owner died.
    pub const OWNER_DIED: u32 = 1 << 30;
    /// The number's bits.
    pub const OWNER: u32 = OWNER_DIED - 1;
}

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

/// The key of the word at `address`. EINVAL: not a multiple of four. EFAULT: not in EL0's half, or no shared word.
pub fn key(mm: &Arc<Mm>, address: u64, is_private: bool) -> Result<Key> {
    if address % 4 != 0 {
        return Err(Errno::EINVAL);
    }
    if address << 8 >> 8 >= USER_END {
        return Err(Errno::EFAULT);
    }
    let own = Key(Arc::as_ptr(mm) as u64, address);
    if is_private {
        return Ok(own);
    }
    // Private waiters are not for those who wake shared ones, even where both mean the same word. Addresses of words are
    // even.
    let own = Key(own.0, own.1 | 1);
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
    ended.map_err(|ended| match ended {
        Ended::ByTime => Errno::ETIMEDOUT,
        // With a time that was relative, a handler's program gets EINTR.
        Ended::BySignal if deadline.is_some() => Errno::ERESTART_RESTARTBLOCK,
        Ended::BySignal => Errno::ERESTARTSYS,
    })
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

/// Wakes those that wait at `key` with one of `bits`, up to `count`.
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

/// A thread's end: the word at `address` was cleared. Who waits for that waits for a shared word.
pub fn wake_one_at(address: u64) {
    let _ = wake(address, false, 1, u32::MAX);
}

/// FUTEX_WAKE_OP: does `operation` to the word at `second`, wakes up to `wake_first` threads at `first`, and, if the word
/// was as the operation says, up to `wake_second` at `second`; returns how many it was together.
pub fn wake_op(
    first: u64,
    second: u64,
    is_private: bool,
    wake_first: usize,
    wake_second: usize,
    operation: u32,
) -> Result<usize> {
    let mm = CURRENT.get().mm()?;
    let (first_key, second_key) = (key(&mm, first, is_private)?, key(&mm, second, is_private)?);
    let operation = WordOperation::decode(operation)?;
    let old = update(second, |old| Some(operation.apply(old)))?;
    let mut woken = wake_key(first_key, wake_first, u32::MAX);
    if operation.holds(old)? {
        woken += wake_key(second_key, wake_second, u32::MAX);
    }
    Ok(woken)
}

/// Changes a word of user memory at once; `None` leaves it. Returns what was there.
fn update(address: u64, mut change: impl FnMut(u32) -> Option<u32>) -> Result<u32> {
    let mut old = hal::uaccess::load32(address)?;
    loop {
        let Some(new) = change(old) else { return Ok(old) };
        match hal::uaccess::compare_exchange32(address, old, new)? {
            Exchange::Stored => return Ok(old),
            Exchange::Other(other) => old = other,
        }
    }
}

/// What FUTEX_WAKE_OP's last argument says (include/uapi/linux/futex.h).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct WordOperation {
    operation: u32,
    argument: u32,
    comparison: u32,
    compared: u32,
}

impl WordOperation {
    /// ENOSYS
    fn decode(word: u32) -> Result<Self> {
        /// The argument is a bit's number.
        const SHIFT: u32 = 8;
        let signed = |at: u32| ((word << (20 - at)) as i32 >> 20) as u32;
        let (operation, comparison) = (word >> 28, word >> 24 & 0xf);
        let argument = signed(12);
        let argument = if operation & SHIFT != 0 { 1 << (argument & 31) } else { argument };
        let operation = operation & !SHIFT;
        if operation > 4 {
            return Err(Errno::ENOSYS);
        }
        Ok(Self { operation, argument, comparison, compared: signed(0) })
    }

    fn apply(self, old: u32) -> u32 {
        match self.operation {
            0 => self.argument,
            1 => old.wrapping_add(self.argument),
            2 => old | self.argument,
            3 => old & !self.argument,
            _ => old ^ self.argument,
        }
    }

    /// ENOSYS: the word was changed nevertheless.
    fn holds(self, old: u32) -> Result<bool> {
        let (old, compared) = (old as i32, self.compared as i32);
        Ok(match self.comparison {
            0 => old == compared,
            1 => old != compared,
            2 => old < compared,
            3 => old <= compared,
            4 => old > compared,
            5 => old >= compared,
            _ => return Err(Errno::ENOSYS),
        })
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
        let meant: Vec<Arc<Waiter>> = list
            .iter()
            .filter(|waiter| waiter.bits != 0 && *waiter.key.lock() == from_key)
            .take(requeue)
            .cloned()
            .collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_on_words() {
        let decode = |operation: u32, comparison: u32, argument: u32, compared: u32| {
            WordOperation::decode(operation << 28 | comparison << 24 | (argument & 0xfff) << 12 | compared & 0xfff)
        };
        for (operation, argument, old, new) in
            [(0, 5, 9, 5), (1, 3, 4, 7), (1, u32::MAX, 4, 3), (2, 6, 1, 7), (3, 3, 7, 4), (4, 5, 6, 3), (9, 4, 1, 17)]
        {
            assert_eq!(decode(operation, 0, argument, 0).unwrap().apply(old), new, "{operation}");
        }
        for (comparison, expected) in
            [[false, true, false], [true, false, true], [true, false, false]].iter().enumerate()
        {
            let holds = |old: u32| decode(0, comparison as u32, 0, u32::MAX).unwrap().holds(old).unwrap();
            assert_eq!([holds(-2i32 as u32), holds(u32::MAX), holds(0)], *expected, "{comparison}");
        }
        assert_eq!(decode(5, 0, 0, 0), Err(Errno::ENOSYS));
        assert_eq!(decode(0, 6, 0, 0).unwrap().holds(0), Err(Errno::ENOSYS));
    }
}
