//! The scheduler's queues: whoever is woken runs, on one CPU at a time, whatever the CPUs are about.
// The kernel's files' own tests are not meant for a model, and need what is not here.
#![cfg(not(test))]

extern crate alloc;
extern crate model_core as core;
extern crate model_hal as hal;

use std::sync::Arc;

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use core::{Builder, explore};
use hal::{gic, percpu, run};
use loom::thread;

#[path = "../../../core/src/sched/mod.rs"]
#[allow(dead_code, unused_imports, missing_docs)]
mod sched;

/// Nobody wants PIDs.
mod contextidr {
    pub fn switch(_tid: i32) {}
}
/// Nobody has tags.
mod mte {
    pub fn switch(_old: &crate::proc::Thread, _new: &crate::proc::Thread) {}
}
/// Nobody has keys.
mod pauth {
    pub fn switch(_new: &crate::proc::Thread) {}
}
/// What is waited for.
mod vfs {
    #[derive(Clone, Copy, Debug)]
    #[allow(dead_code)]
    pub struct Poll(u32);
    #[allow(dead_code)]
    impl Poll {
        pub const ANY: Self = Self(u32::MAX);
    }
}
/// Threads.
mod proc {
    use hal::thread::{Context, flags};

    use crate::sched::Schedule;

    #[derive(Debug, Default)]
    pub struct Thread {
        pub context: Context,
        pub schedule: Schedule,
        pub tid: i32,
        pub is_idle: bool,
        pub body: Option<fn(&Thread)>,
    }
    impl Thread {
        pub fn is_idle(&self) -> bool {
            self.is_idle
        }
        pub fn has_signal(&self) -> bool {
            self.context.flags() & flags::SIGNAL != 0
        }
        pub fn activate_memory(&self, _previous: &Self) {}
        pub fn take_start(&self) -> Option<Box<dyn FnOnce() + Send>> {
            None
        }
    }
    impl hal::thread::Thread for Thread {
        fn context(&self) -> &Context {
            &self.context
        }
        fn body(&self) {
            match self.body {
                Some(body) => body(self),
                None => crate::sched::idle(),
            }
        }
    }
}

use proc::Thread;
use sched::{CURRENT, State};

fn main() {
    gic::set_handler(|sgi| {
        if sgi == sched::SGI_KICK {
            sched::on_kick();
        }
    });
    let some = |preemptions| Builder::with(preemptions).ordered();
    println!("a remote wake, 2 CPUs: {} orders", explore(some(3), || wake(2)));
    println!("a wake that another CPU takes, 3 CPUs: {} orders", explore(some(1), || wake(3)));
    println!("a remote wake by a thread that stays: {} orders", explore(some(2), || wake(0)));
    println!("two ready threads, 2 CPUs: {} orders", explore(some(2), two_ready));
}

/// Each CPU with its idle thread; it begins with the thread given, if there is one.
fn on_cpus(first: Vec<Option<Arc<Thread>>>) {
    let cpus = first.len();
    percpu::set_count(cpus);
    for (cpu, first) in first.iter().enumerate() {
        let idle = Arc::new(Thread { is_idle: true, ..Thread::default() });
        sched::set_idle(cpu, Arc::clone(&idle));
        match first {
            Some(thread) => {
                percpu::become_cpu(cpu);
                CURRENT.install(cpu, Arc::clone(thread));
                sched::stay_awake();
            }
            None => CURRENT.install(cpu, idle),
        }
    }
    let others: Vec<_> = (1..cpus)
        .map(|cpu| {
            thread::spawn(move || {
                percpu::become_cpu(cpu);
                CURRENT.run();
            })
        })
        .collect();
    percpu::become_cpu(0);
    CURRENT.run();
    others.into_iter().for_each(|other| other.join().unwrap());
}

/// What the sleeper waits for.
static IS_THERE: AtomicBool = AtomicBool::new(false);
/// Runs of a thread at a time.
static RUNNING: AtomicU32 = AtomicU32::new(0);

fn end() -> ! {
    sched::prepare_to_sleep(State::Dead);
    run::done();
    sched::schedule();
    unreachable!("a dead thread is not switched to");
}

/// A thread on CPU 1 sleeps until one on CPU 0 has what it waits for; further CPUs have nothing to do. With 0: there are
/// two, and the other thread does not leave its CPU, so that nobody steals the sleeper.
fn wake(cpus: usize) {
    run::expect(if cpus == 0 { 1 } else { 2 });
    STAYS.store(cpus == 0, std::sync::atomic::Ordering::SeqCst);
    percpu::become_cpu(1);
    let sleeper = Arc::new(Thread {
        tid: 2,
        body: Some(|_| {
            assert_eq!(RUNNING.fetch_add(1, Ordering::Relaxed), 0, "it runs once at a time");
            sched::prepare_to_sleep(State::Interruptible);
            let is_there = IS_THERE.load(Ordering::Relaxed);
            if is_there {
                sched::stay_awake();
                end();
            }
            RUNNING.fetch_sub(1, Ordering::Relaxed);
            sched::schedule();
            // It was woken before it had gone.
        }),
        ..Thread::default()
    });
    *SLEEPER.lock().unwrap() = Some(Arc::clone(&sleeper));
    percpu::become_cpu(0);
    let waker = Arc::new(Thread {
        tid: 1,
        body: Some(|_| {
            let sleeper = SLEEPER.lock().unwrap().clone().expect("there is one");
            IS_THERE.store(true, Ordering::Relaxed);
            sched::wake(&sleeper);
            while STAYS.load(std::sync::atomic::Ordering::SeqCst) {
                hal::cpu::idle();
            }
            end();
        }),
        ..Thread::default()
    });
    let mut first = vec![Some(waker), Some(sleeper)];
    first.resize(cpus.max(2), None);
    on_cpus(first);
}
static STAYS: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
static SLEEPER: std::sync::Mutex<Option<Arc<Thread>>> = std::sync::Mutex::new(None);

/// CPU 0's thread makes two others ready; CPU 1 has nothing to do. All run, once each.
fn two_ready() {
    run::expect(3);
    let new = |tid| Arc::new(Thread { tid, body: Some(|_| end()), ..Thread::default() });
    *PAIR.lock().unwrap() = vec![new(2), new(3)];
    let maker = Arc::new(Thread {
        tid: 1,
        body: Some(|_| {
            let pair = PAIR.lock().unwrap().clone();
            pair.iter().for_each(sched::start);
            end();
        }),
        ..Thread::default()
    });
    on_cpus(vec![Some(maker), None]);
}
static PAIR: std::sync::Mutex<Vec<Arc<Thread>>> = std::sync::Mutex::new(Vec::new());
