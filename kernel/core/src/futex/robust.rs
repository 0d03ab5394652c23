//! Robust futexes: a thread's list, in its own memory, of the locks that it holds. At its end they are marked, and who waits
//! is woken (Documentation/locking/robust-futex-ABI.rst of Linux). Nothing in the list can be trusted.

use core::sync::atomic::Ordering;

use super::word::{OWNER, OWNER_DIED, WAITERS};
use super::{owned, update, wake};
use crate::errno::Result;
use crate::proc::Thread;

/// Most entries that are looked at: a list may go round in circles.
const LIMIT: usize = 2048;

/// An entry's address; bit 0: its lock is one of those that are handed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry(u64);

impl Entry {
    fn address(self) -> u64 {
        self.0 & !1
    }
    fn is_owned(self) -> bool {
        self.0 & 1 != 0
    }
}

fn number(address: u64) -> Result<u64> {
    let mut bytes = [0; 8];
    hal::uaccess::read(&mut bytes, address)?;
    Ok(u64::from_le_bytes(bytes))
}

/// The current thread leaves its memory, by exit or exec.
pub fn leave(current: &Thread) {
    let head = current.robust_list.swap(0, Ordering::Relaxed);
    if head != 0 {
        // What cannot be read ends the walk: then the program loses its locks.
        let _ = walk(head, current.tid as u32);
    }
}

fn walk(head: u64, tid: u32) -> Result<()> {
    let first = Entry(number(head)?);
    let offset = number(head.wrapping_add(8))?;
    let pending = Entry(number(head.wrapping_add(16))?);
    let word_of = |entry: Entry| entry.address().wrapping_add(offset);
    let mut entry = first;
    for _ in 0..LIMIT {
        if entry.address() == head {
            break;
        }
        let next = number(entry.address()).map(Entry);
        // A lock that is being taken or given back is looked at last.
        if entry.address() != pending.address() {
            bury(word_of(entry), entry.is_owned(), false, tid)?;
        }
        entry = next?;
    }
    if pending.address() != 0 {
        bury(word_of(pending), pending.is_owned(), true, tid)?;
    }
    Ok(())
}

/// Marks the lock at `address`, if the thread held it.
fn bury(address: u64, is_owned: bool, is_pending: bool, tid: u32) -> Result<()> {
    if address % 4 != 0 {
        return Err(crate::errno::Errno::EFAULT);
    }
    if is_owned {
        return owned::inherit(address, tid);
    }
    let old = update(address, |old| (old & OWNER == tid).then_some(old & WAITERS | OWNER_DIED))?;
    let was_given_back = is_pending && old & OWNER == 0;
    if was_given_back || old & OWNER == tid && old & WAITERS != 0 {
        wake(address, false, 1, u32::MAX)?;
    }
    Ok(())
}
