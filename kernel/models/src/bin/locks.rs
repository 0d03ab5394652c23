//! Once, the ticket lock, the queued lock, and the mutex that sleeps.
// The kernel's files' own tests are not meant for a model, and need what is not here.
#![cfg(not(test))]

extern crate model_core as core;
extern crate model_hal as hal;

use std::sync::Arc;

use core::sync::atomic::{AtomicU32, Ordering};
use core::{Builder, explore};
use hal::percpu;
use hal::sync::{Mutex, Once, QueuedLock, Waiting, ticket};
use loom::thread;

fn main() {
    let limit = Builder::with;
    println!("once: {} orders", explore(Builder::all(), once));
    println!("queued lock, 2 CPUs: {} orders", explore(Builder::all(), || queued(2)));
    println!("queued lock, 3 CPUs: {} orders", explore(limit(1), || queued(3)));
    println!("ticket lock, 2 CPUs: {} orders", explore(Builder::all(), || tickets(2)));
    println!("ticket lock, 3 CPUs: {} orders", explore(limit(1), || tickets(3)));
    println!("mutex, 2 threads: {} orders", explore(Builder::all(), || mutex(2)));
    println!("mutex, 3 threads: {} orders", explore(limit(1), || mutex(3)));
}

/// Runs `work` on so many CPUs, of which the caller is the last.
fn on_cpus(cpus: usize, work: impl Fn() + Send + Sync + 'static) {
    percpu::set_count(cpus);
    let work = Arc::new(work);
    let others: Vec<_> = (0..cpus - 1)
        .map(|cpu| {
            let work = Arc::clone(&work);
            thread::spawn(move || {
                percpu::become_cpu(cpu);
                work();
            })
        })
        .collect();
    percpu::become_cpu(cpus - 1);
    work();
    others.into_iter().for_each(|other| other.join().unwrap());
}

/// Who sees the value sees what was written before it was set; and all see the same one.
fn once() {
    let shared = Arc::new((Once::new(), AtomicU32::new(0)));
    let made = |value: u32| {
        let cell = Arc::new(AtomicU32::new(0));
        cell.store(value, Ordering::Relaxed);
        cell
    };
    let maker = |value| {
        let shared = Arc::clone(&shared);
        move || {
            let seen = shared.0.get_or_init(|| made(value)).load(Ordering::Relaxed);
            assert_ne!(seen, 0, "a value that is not whole");
            let before = shared.1.swap(seen, Ordering::Relaxed);
            assert!(before == 0 || before == seen, "two values");
        }
    };
    let (first, second) = (thread::spawn(maker(1)), thread::spawn(maker(2)));
    if let Some(value) = shared.0.get() {
        assert_ne!(value.load(Ordering::Relaxed), 0, "a value that is not whole");
    }
    first.join().unwrap();
    second.join().unwrap();
}

/// One more, in two steps that only a lock makes one.
fn increment(counter: &AtomicU32) {
    let value = counter.load(Ordering::Relaxed);
    counter.store(value + 1, Ordering::Relaxed);
}

fn tickets(cpus: usize) {
    let lock = Arc::new(ticket::SpinLock::new(AtomicU32::new(0)));
    let shared = Arc::clone(&lock);
    on_cpus(cpus, move || increment(&shared.lock()));
    assert_eq!(lock.lock().load(Ordering::Relaxed), cpus as u32);
    assert!(lock.try_lock().is_some());
}

fn queued(cpus: usize) {
    let lock = Arc::new(QueuedLock::new(AtomicU32::new(0)));
    let shared = Arc::clone(&lock);
    on_cpus(cpus, move || increment(&shared.lock()));
    assert_eq!(lock.lock().load(Ordering::Relaxed), cpus as u32);
}

/// Sleepers, woken in some order.
#[derive(Default)]
struct Sleepers {
    asleep: loom::sync::Mutex<u32>,
    woken: loom::sync::Condvar,
}

impl Waiting for Sleepers {
    fn wait_until(&self, ready: &mut dyn FnMut() -> bool) {
        let mut asleep = self.asleep.lock().unwrap();
        while !ready() {
            *asleep += 1;
            asleep = self.woken.wait(asleep).unwrap();
            *asleep -= 1;
        }
    }
    fn wake_one(&self) {
        if *self.asleep.lock().unwrap() > 0 {
            self.woken.notify_one();
        }
    }
}

fn mutex(threads: usize) {
    let lock = Arc::new(Mutex::with(AtomicU32::new(0), Sleepers::default()));
    let shared = Arc::clone(&lock);
    on_cpus(threads, move || increment(&shared.lock()));
    assert_eq!(lock.lock().load(Ordering::Relaxed), threads as u32);
}
