//! epoll: files that are waited for together.
//!
//! An [`Item`] watches its file's wait queues. When they are woken for what it is interested in, it goes to the list of
//! those that may be ready, once; who collects takes them from there and asks the files. One that stays interesting
//! (level-triggered) goes to the list's end again. So a call costs what happened, not what is watched.
//!
//! Locks: `items` (sleeping) · `ready` · those of the queues.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use hal::sync::SpinLock;

use super::{File, FileOps, Metadata, Poll, open_flags};
use crate::errno::{Errno, Result};
use crate::sched::wait::{Mutex, Sleep, WaitQueue, Watcher, mutex};

/// EPOLL*'s bits that say how, not what.
pub mod how {
    /// EPOLLEXCLUSIVE
    pub const EXCLUSIVE: u32 = 1 << 28;
    /// EPOLLWAKEUP
    pub const WAKE_UP: u32 = 1 << 29;
    /// EPOLLONESHOT
    pub const ONE_SHOT: u32 = 1 << 30;
    /// EPOLLET
    pub const EDGE: u32 = 1 << 31;
    /// All of them.
    pub const ALL: u32 = EXCLUSIVE | WAKE_UP | ONE_SHOT | EDGE;
}

/// Most epoll files one above the other: each watches the next.
const MAX_DEPTH: usize = 5;

/// Held while an epoll file comes under another, so that two of them cannot close a circle.
static NESTING: Mutex<()> = mutex(());

/// What is told always.
const ALWAYS: u32 = Poll::ERROR.0 | Poll::HANG_UP.0;

/// The file, by its address, and its number when it was added.
type Key = (usize, i32);

/// What a call reports: struct epoll_event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Event {
    /// EPOLL*
    pub events: u32,
    /// The program's own.
    pub data: u64,
}

#[derive(Debug)]
struct Item {
    own: Weak<Self>,
    epoll: Weak<Epoll>,
    file: Weak<File>,
    /// What it is interested in, with [`how`]. 0 of the former: a one-shot that has fired.
    events: AtomicU32,
    data: AtomicU64,
    /// It is in the list.
    is_listed: AtomicBool,
    is_removed: AtomicBool,
}

/// An epoll file.
#[derive(Debug)]
pub struct Epoll {
    own: Weak<Self>,
    items: Mutex<BTreeMap<Key, Arc<Item>>>,
    ready: SpinLock<VecDeque<Arc<Item>>>,
    waiting: WaitQueue,
    /// Epoll files that watch this one.
    above: SpinLock<Vec<Weak<Self>>>,
}

/// One change of what is watched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// EPOLL_CTL_ADD
    Add(Event),
    /// EPOLL_CTL_DEL
    Remove,
    /// EPOLL_CTL_MOD
    Modify(Event),
}

impl Item {
    /// Puts it into the list, unless it is there.
    fn list(&self, epoll: &Epoll) {
        let Some(own) = self.own.upgrade() else { return };
        let mut ready = epoll.ready.lock();
        if !self.is_listed.swap(true, Ordering::AcqRel) {
            ready.push_back(own);
        }
    }

    /// What there is of what it is interested in.
    fn look(&self) -> u32 {
        let events = self.events.load(Ordering::Acquire) & !how::ALL;
        if events == 0 || self.is_removed.load(Ordering::Acquire) {
            return 0;
        }
        self.file.upgrade().map_or(0, |file| file.ops.poll(&file).0 & events)
    }
}

impl Watcher for Item {
    fn woken(&self, events: Poll) {
        if events.0 & self.events.load(Ordering::Acquire) & !how::ALL == 0 {
            return;
        }
        let Some(epoll) = self.epoll.upgrade() else { return };
        self.list(&epoll);
        epoll.waiting.wake_for(Poll::IN);
    }
}

/// epoll_create1(2)
pub fn new() -> Arc<File> {
    let epoll = Arc::new_cyclic(|own| Epoll {
        own: Weak::clone(own),
        items: mutex(BTreeMap::new()),
        ready: SpinLock::new(VecDeque::new()),
        waiting: WaitQueue::new(),
        above: SpinLock::new(Vec::new()),
    });
    Arc::new(File::new(None, epoll, open_flags::RDWR))
}

/// The epoll file that an open file is.
pub fn of(file: &File) -> Option<&Epoll> {
    file.ops.as_any().and_then(|any| any.downcast_ref())
}

impl Epoll {
    /// epoll_ctl(2) for `file`, which the program knows as `fd`. EEXIST, ENOENT, ELOOP.
    pub fn change(&self, file: &Arc<File>, fd: i32, change: Change) -> Result<()> {
        let nested = of(file);
        let nesting = nested.map(|_| NESTING.lock());
        if let (Some(nested), Change::Add(_)) = (nested, change) {
            if nested.holds(self) || self.height(0) + nested.depth(0) > MAX_DEPTH {
                return Err(Errno::ELOOP);
            }
        }
        let key = (Arc::as_ptr(file).cast::<()>() as usize, fd);
        let mut items = self.items.lock();
        // Addresses may come back: files that are closed have gone from here by themselves.
        items.retain(|_, item| item.file.strong_count() > 0);
        match change {
            Change::Add(event) => {
                if items.contains_key(&key) {
                    return Err(Errno::EEXIST);
                }
                let item = Arc::new_cyclic(|own| Item {
                    own: Weak::clone(own),
                    epoll: Weak::clone(&self.own),
                    file: Arc::downgrade(file),
                    events: AtomicU32::new(event.events | ALWAYS),
                    data: AtomicU64::new(event.data),
                    is_listed: AtomicBool::new(false),
                    is_removed: AtomicBool::new(false),
                });
                let weak: Weak<Item> = Arc::downgrade(&item);
                file.ops.wait_queues(&mut |queue| queue.watch(weak.clone()));
                if let Some(nested) = nested {
                    nested.above.lock().push(Weak::clone(&self.own));
                }
                items.insert(key, Arc::clone(&item));
                self.check(&item);
            }
            Change::Remove => {
                let item = items.remove(&key).ok_or(Errno::ENOENT)?;
                item.is_removed.store(true, Ordering::Release);
                file.ops.wait_queues(&mut |queue| queue.unwatch(&*item));
                if let Some(nested) = nested {
                    let mut above = nested.above.lock();
                    let at = above.iter().position(|other| other.ptr_eq(&self.own));
                    at.map(|at| above.swap_remove(at));
                }
            }
            Change::Modify(event) => {
                let item = items.get(&key).ok_or(Errno::ENOENT)?;
                item.data.store(event.data, Ordering::Relaxed);
                item.events.store(event.events | ALWAYS, Ordering::Release);
                self.check(item);
            }
        }
        drop(items);
        drop(nesting);
        Ok(())
    }

    /// Lists an item whose file is ready already.
    fn check(&self, item: &Item) {
        core::sync::atomic::fence(Ordering::SeqCst);
        if item.look() != 0 {
            item.list(self);
            self.waiting.wake_for(Poll::IN);
        }
    }

    /// Does it watch `other`, itself or by those that it watches? Or is it that?
    fn holds(&self, other: &Self) -> bool {
        core::ptr::eq(self, other) || self.below().iter().filter_map(|file| of(file)).any(|below| below.holds(other))
    }

    /// The longest way down, with itself. Circles there are none.
    fn depth(&self, from: usize) -> usize {
        if from > MAX_DEPTH {
            return from;
        }
        let below = self.below();
        below.iter().filter_map(|file| of(file)).map(|below| below.depth(from + 1)).max().unwrap_or(from + 1)
    }

    /// The longest way up, with itself.
    fn height(&self, from: usize) -> usize {
        if from > MAX_DEPTH {
            return from;
        }
        let above: Vec<Arc<Self>> = self.above.lock().iter().filter_map(Weak::upgrade).collect();
        above.iter().map(|above| above.height(from + 1)).max().unwrap_or(from + 1)
    }

    /// Epoll files that it watches.
    fn below(&self) -> Vec<Arc<File>> {
        let items = self.items.lock();
        items.values().filter_map(|item| item.file.upgrade()).filter(|file| of(file).is_some()).collect()
    }

    /// What is ready, up to `most`, without waiting.
    fn collect(&self, most: usize) -> Vec<Event> {
        let _items = self.items.lock();
        let mut events = Vec::new();
        let mut listed = core::mem::take(&mut *self.ready.lock());
        while events.len() < most {
            let Some(item) = listed.pop_front() else { break };
            // First this: what comes after the look lists it again.
            item.is_listed.store(false, Ordering::SeqCst);
            core::sync::atomic::fence(Ordering::SeqCst);
            let found = item.look();
            if found == 0 {
                continue;
            }
            events.push(Event { events: found, data: item.data.load(Ordering::Relaxed) });
            let mode = item.events.load(Ordering::Acquire) & how::ALL;
            if mode & how::ONE_SHOT != 0 {
                item.events.store(mode, Ordering::Release);
            } else if mode & how::EDGE == 0 {
                item.list(self);
            }
        }
        if !listed.is_empty() {
            let mut ready = self.ready.lock();
            while let Some(item) = listed.pop_back() {
                ready.push_front(item);
            }
        }
        events
    }

    /// epoll_wait(2): what is ready, at least one unless the time is up. EINTR.
    pub fn wait(&self, most: usize, deadline: Option<u64>) -> Result<Vec<Event>> {
        loop {
            let events = self.collect(most);
            let is_late = deadline.is_some_and(|deadline| hal::timer::now() >= deadline);
            if !events.is_empty() || is_late {
                return Ok(events);
            }
            let look = || (!self.ready.lock().is_empty()).then_some(());
            match self.waiting.wait_until(Sleep::Interruptible, deadline, look) {
                Ok(()) => {}
                Err(crate::sched::wait::Ended::ByTime) => return Ok(Vec::new()),
                Err(crate::sched::wait::Ended::BySignal) => return Err(Errno::EINTR),
            }
        }
    }
}

impl FileOps for Epoll {
    fn poll(&self, _file: &File) -> Poll {
        // No sleeping lock: who asks may be about to sleep.
        let listed: Vec<Arc<Item>> = self.ready.lock().iter().cloned().collect();
        if listed.iter().any(|item| item.look() != 0) { Poll::IN } else { Poll::default() }
    }

    fn wait_queues<'a>(&'a self, each: &mut dyn FnMut(&'a WaitQueue)) {
        each(&self.waiting);
    }

    fn metadata(&self) -> Option<Metadata> {
        Some(Metadata::anonymous())
    }

    fn describe(&self) -> Option<String> {
        Some("anon_inode:[eventpoll]".into())
    }

    fn as_any(&self) -> Option<&dyn core::any::Any> {
        Some(self)
    }
}

#[cfg(test)]
#[path = "epoll_tests.rs"]
mod tests;
