//! Who sleeps is woken: wait queues, futexes, pipes. A thread is one of loom's; it sleeps until its state is changed.
// The kernel's files' own tests are not meant for a model, and need what is not here.
#![cfg(not(test))]

extern crate alloc;
extern crate model_core as core;
extern crate model_hal as hal;

use std::sync::{Arc, LazyLock};

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use core::{Builder, explore};
use hal::uaccess::word;
use loom::thread;

#[path = "../../../../core/src/errno.rs"]
#[allow(dead_code)]
mod errno;
#[path = "../../../../core/src/futex/mod.rs"]
#[allow(dead_code, unused_imports)]
mod futex;

mod mm;
mod proc;
/// No signals come.
mod signal {
    use crate::proc::Thread;
    pub struct Info;
    impl Info {
        pub fn of_user() -> Self {
            Self
        }
    }
    pub const SIGPIPE: i32 = 13;
    pub fn send_to_thread(_thread: &std::sync::Arc<Thread>, _signal: i32, _info: Info) {}
}
/// No time passes.
mod time {
    pub fn realtime() -> u64 {
        0
    }
}
mod sched;
mod vfs;

use errno::Errno;
use sched::wait::WaitQueue;

fn main() {
    let some = |preemptions| Builder::with(preemptions).ordered();
    println!("a wait queue, one waits: {} orders", explore(some(3), || queue(1)));
    println!("a wait queue, two wait: {} orders", explore(some(2), || queue(2)));
    println!("a sleeping mutex: {} orders", explore(some(3), mutex));
    // A waiter begins with the number of its list.
    core::begin_with(0..256);
    println!("a futex: {} orders", explore(some(3), || futex(1)));
    println!("a futex, two wait: {} orders", explore(some(2), || futex(2)));
    println!("a requeued waiter: {} orders", explore(some(3), requeue));
    println!("a lock that is handed on: {} orders", explore(some(3), handed_on));
    core::begin_with([]);
    println!("a pipe, its reader waits: {} orders", explore(some(3), pipe_to_reader));
    println!("a pipe, its writer waits: {} orders", explore(some(3), pipe_full));
    println!("a pipe's last writer goes: {} orders", explore(some(3), pipe_end));
}

/// The address space. It is one for all executions, since its address says which list a futex is in.
static MM: LazyLock<Arc<mm::Mm>> = LazyLock::new(|| Arc::new(mm::Mm));

/// Runs the works as threads of one process; the first is the caller.
fn threads(first: impl FnOnce(), others: Vec<Box<dyn FnOnce() + Send>>) {
    hal::percpu::set_count(2);
    let mm = &*MM;
    let running: Vec<_> = others
        .into_iter()
        .zip(2..)
        .map(|(work, tid)| {
            thread::spawn(move || {
                sched::begin(mm, tid);
                work();
            })
        })
        .collect();
    sched::begin(mm, 1);
    first();
    running.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Whoever waits for a flag goes on once it is set.
fn queue(waiters: usize) {
    let shared = Arc::new((WaitQueue::new(), AtomicBool::new(false)));
    let waiter = || -> Box<dyn FnOnce() + Send> {
        let shared = Arc::clone(&shared);
        Box::new(move || {
            shared.0.wait(|| shared.1.load(Ordering::Relaxed).then_some(())).expect("nothing else ends it");
        })
    };
    let others = (0..waiters).map(|_| waiter()).collect();
    threads(
        || {
            shared.1.store(true, Ordering::Relaxed);
            shared.0.wake_all();
        },
        others,
    );
}

/// One holder at a time, and nobody sleeps for ever.
fn mutex() {
    let shared = Arc::new(sched::wait::mutex(AtomicU32::new(0)));
    let work = {
        let shared = Arc::clone(&shared);
        move || {
            let counter = shared.lock();
            let value = counter.load(Ordering::Relaxed);
            counter.store(value + 1, Ordering::Relaxed);
        }
    };
    threads(work.clone(), vec![Box::new(work)]);
    sched::begin(&MM, 1);
    assert_eq!(shared.lock().load(Ordering::Relaxed), 2);
}

/// A thread that waits while a word is 0 goes on when it is changed and woken.
fn futex(waiters: usize) {
    let waiter = || -> Box<dyn FnOnce() + Send> {
        Box::new(|| match futex::wait(0, true, 0, u32::MAX, None) {
            Ok(()) | Err(Errno::EAGAIN) => {}
            Err(error) => panic!("{error:?}"),
        })
    };
    let others = (0..waiters).map(|_| waiter()).collect();
    threads(
        || {
            word(0).store(1, Ordering::Relaxed);
            assert!(futex::wake(0, true, usize::MAX, u32::MAX).expect("an address") <= waiters);
        },
        others,
    );
}

/// Whoever is moved to another word is woken there.
fn requeue() {
    threads(
        || {
            word(0).store(1, Ordering::Relaxed);
            futex::requeue(0, 4, true, 0, usize::MAX, None).expect("addresses");
            futex::wake(4, true, usize::MAX, u32::MAX).expect("an address");
        },
        vec![Box::new(|| match futex::wait(0, true, 0, u32::MAX, None) {
            Ok(()) | Err(Errno::EAGAIN) => {}
            Err(error) => panic!("{error:?}"),
        })],
    );
}

/// One owner at a time, and nobody sleeps for ever.
fn handed_on() {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let work = || {
        futex::lock(0, true, None).expect("nothing else ends it");
        let value = COUNTER.load(Ordering::Relaxed);
        COUNTER.store(value + 1, Ordering::Relaxed);
        futex::unlock(0, true).expect("it is the thread's");
    };
    threads(work, vec![Box::new(work)]);
    assert_eq!(COUNTER.load(Ordering::Relaxed), 2);
}

/// Bytes arrive, whether the reader waits or not.
fn pipe_to_reader() {
    let (read, write) = vfs::pipe::pair(0);
    // It stays open, so that its end wakes nobody.
    let writer = Arc::clone(&write);
    threads(
        move || assert_eq!(writer.write(&[7]), Ok(1)),
        vec![Box::new(move || {
            let mut bytes = [0];
            assert_eq!(read.read(&mut bytes), Ok(1));
            assert_eq!(bytes, [7]);
        })],
    );
}

/// A writer that finds no room goes on when there is some.
fn pipe_full() {
    const ROOM: usize = 16 * hal::mem::PAGE_SIZE;
    let (read, write) = vfs::pipe::pair(0);
    sched::begin(&MM, 1);
    assert_eq!(write.write(&[1; ROOM]), Ok(ROOM));
    threads(
        move || {
            let mut bytes = [0; ROOM];
            assert_eq!(read.read(&mut bytes), Ok(ROOM));
            assert_eq!(read.read(&mut bytes), Ok(1));
        },
        vec![Box::new(move || assert_eq!(write.write(&[2]), Ok(1)))],
    );
}

/// The last writer's end is an end for the reader too, behind all bytes.
fn pipe_end() {
    let (read, write) = vfs::pipe::pair(0);
    threads(
        move || {
            assert_eq!(write.write(&[7]), Ok(1));
            drop(write);
        },
        vec![Box::new(move || {
            let mut bytes = [0];
            assert_eq!(read.read(&mut bytes), Ok(1));
            assert_eq!(read.read(&mut bytes), Ok(0));
        })],
    );
}
