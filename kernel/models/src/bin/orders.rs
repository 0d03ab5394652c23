//! Orders to all CPUs, static keys, and sessions that want PIDs in CONTEXTIDR.
// The kernel's files' own tests are not meant for a model, and need what is not here.
#![cfg(not(test))]

extern crate alloc;
extern crate model_core as core;
extern crate model_hal as hal;

use core::sync::atomic::{AtomicBool, Ordering};
use core::{Builder, explore};
use hal::patch::{Key, is_on};
use hal::{cpu, gic, percpu, run};
use loom::thread;

#[path = "../../../core/src/contextidr.rs"]
#[allow(dead_code)]
mod contextidr;
#[path = "../../../core/src/cross.rs"]
#[allow(dead_code)]
mod cross;
#[path = "../../../core/src/errno.rs"]
#[allow(dead_code)]
mod errno;
#[path = "../../../core/src/patch.rs"]
#[allow(dead_code)]
mod patch;

/// No options.
mod cmdline {
    pub fn value(_name: &str) -> Option<&'static str> {
        None
    }
}
/// All CPUs have all features.
mod feature {
    pub fn meets(_condition: u32) -> bool {
        true
    }
    pub fn condition_name(_condition: u32) -> alloc::string::String {
        "all".into()
    }
}
/// Nobody samples by the counters; the model looks itself.
mod sampler {
    use crate::contextidr::Token;
    use crate::errno::{Errno, Result};

    pub struct Counter;
    pub struct Sample;
    impl Sample {
        pub const SIZE: usize = 16;
        pub fn to_bytes(&self) -> [u8; Self::SIZE] {
            [0; Self::SIZE]
        }
    }
    #[derive(Debug)]
    pub struct Sampler;
    impl Sampler {
        pub fn start(_token: &Token, _counter: Counter, _period: u32) -> Result<Self> {
            Err(Errno::ENODEV)
        }
        pub fn take(&self, _most: usize) -> Vec<Sample> {
            Vec::new()
        }
    }
    pub fn parse(_words: &str) -> Result<(Counter, u32)> {
        Err(Errno::EINVAL)
    }
    pub fn switch() {}
    pub fn start_own() {}
    pub fn stop_own() {}
}
/// What files need.
mod vfs {
    use crate::errno::Result;

    #[derive(Debug)]
    pub struct File;
    #[derive(Debug)]
    pub struct Sink<'a>(pub &'a mut Vec<u8>);
    impl Sink<'_> {
        pub fn left(&self) -> usize {
            usize::MAX - self.0.len()
        }
        pub fn put(&mut self, bytes: &[u8]) -> Result<usize> {
            self.0.extend(bytes);
            Ok(bytes.len())
        }
    }
    #[derive(Debug)]
    pub struct Source<'a>(&'a [u8]);
    impl Source<'_> {
        pub fn take(&mut self, to: &mut [u8]) -> Result<usize> {
            to.copy_from_slice(&self.0[..to.len()]);
            Ok(to.len())
        }
    }
    #[allow(dead_code)]
    pub trait FileOps {
        fn read(&self, file: &File, to: &mut Sink<'_>, offset: u64) -> Result<usize>;
        fn write(&self, file: &File, from: &mut Source<'_>, offset: u64) -> Result<usize>;
    }
}
/// Each CPU's thread, and mutexes that sleep.
mod sched {
    use hal::percpu::{self, MAX_CPUS};
    use std::sync::Mutex;

    pub struct Current(Mutex<[i32; MAX_CPUS]>);
    pub struct Thread {
        pub tid: i32,
    }
    pub static CURRENT: Current = Current(Mutex::new([0; MAX_CPUS]));
    impl Current {
        pub fn try_get(&self) -> Option<Thread> {
            let tid = self.0.lock().unwrap()[percpu::id()];
            (tid != 0).then_some(Thread { tid })
        }
        pub fn set(&self, tid: i32) {
            self.0.lock().unwrap()[percpu::id()] = tid;
        }
    }
    pub mod wait {
        pub use hal::sync::SpinLock as Mutex;
        pub const fn mutex<T>(value: T) -> Mutex<T> {
            Mutex::new(value)
        }
    }
}

fn main() {
    gic::set_handler(|sgi| {
        if sgi == cross::SGI {
            cross::on_interrupt();
            // Who waits for this CPU looks again.
            (0..percpu::count()).filter(|cpu| *cpu != percpu::id()).for_each(|cpu| gic::send(run::NUDGE, cpu));
        }
    });
    let some = Builder::with;
    println!("a key, 2 CPUs: {} orders", explore(some(1), || key(2)));
    println!("alternatives, 2 CPUs: {} orders", explore(some(2), || alternatives(2)));
    println!("a session, 2 CPUs: {} orders", explore(some(1), || session(2)));
    println!("a switch in a session: {} orders", explore(some(1), switch_in_session));
    println!("a report, 2 CPUs: {} orders", explore(some(1), report));
    println!("two sessions: {} orders", explore(some(1), two_sessions));
}

const KEY: Key = patch::key::CONTEXT_ID;
/// What the first CPU has promised to the others.
static PROMISED: AtomicBool = AtomicBool::new(false);

/// CPU 0 does `first`, the others do `other` with interrupts open before and after, until CPU 0 is done.
fn on_cpus(cpus: usize, first: impl FnOnce(), other: fn()) {
    percpu::set_count(cpus);
    cpu::reset();
    run::expect(1);
    let others: Vec<_> = (1..cpus)
        .map(|cpu| {
            thread::spawn(move || {
                percpu::become_cpu(cpu);
                other();
                while !run::has_ended() {
                    cpu::idle();
                }
            })
        })
        .collect();
    percpu::become_cpu(0);
    first();
    run::done();
    others.into_iter().for_each(|other| other.join().unwrap());
}

/// When `get` returns, no CPU executes the instruction of before; nor when `put` does.
fn key(cpus: usize) {
    static COUNTED: patch::Counted = patch::Counted::new(KEY);
    static IS_BACK: AtomicBool = AtomicBool::new(false);
    let first = || {
        COUNTED.get(|| assert!(is_on::<KEY>()));
        PROMISED.store(true, Ordering::Release);
        stop_sampling();
        COUNTED.put(|| assert!(!is_on::<KEY>()));
        IS_BACK.store(true, Ordering::Release);
    };
    on_cpus(cpus, first, || {
        for _ in 0..2 {
            if PROMISED.load(Ordering::Acquire) {
                assert!(is_on::<KEY>(), "the key is on");
            }
            if IS_BACK.load(Ordering::Acquire) {
                assert!(!is_on::<KEY>(), "the key was off");
            }
            cpu::open();
        }
    });
}

/// While the code is replaced all others stand still, and afterwards all have it.
fn alternatives(cpus: usize) {
    on_cpus(
        cpus,
        || {
            patch::choose_alternatives();
            PROMISED.store(true, Ordering::Release);
        },
        || {
            cpu::open();
            if PROMISED.load(Ordering::Acquire) {
                assert!(hal::patch::ALTERNATIVE.load(Ordering::Relaxed), "the code is the new one");
            }
        },
    );
}

/// A switch to another thread: interrupts are masked.
fn switch(tid: i32) {
    contextidr::switch(tid);
    sched::CURRENT.set(tid);
}

/// A sample in a program: what an interrupt of a performance monitor would record.
fn sample(tid: u32) {
    if PROMISED.load(Ordering::Acquire) {
        assert_eq!(cpu::context_id(), tid, "a sample with an old number");
    }
}

/// No CPU samples any more when this returns.
fn stop_sampling() {
    PROMISED.store(false, Ordering::Release);
    cross::on_all(cross::Order::Synchronise);
}

/// While there is a token, whatever runs is in CONTEXTIDR; and afterwards nothing is.
fn session(cpus: usize) {
    let first = || {
        switch(100);
        let token = contextidr::Token::take().expect("no option forbids it");
        assert_eq!(cpu::context_id(), 100);
        PROMISED.store(true, Ordering::Release);
        stop_sampling();
        drop(token);
        assert_eq!(cpu::context_id(), 0, "no number is left");
    };
    on_cpus(cpus, first, || {
        let own = 10 * percpu::id() as u32;
        for tid in [own + 1, own + 2, own + 3] {
            switch(tid as i32);
            sample(tid);
            cpu::open();
            sample(tid);
        }
    });
}

/// Once there is a token, a switch writes.
fn switch_in_session() {
    let first = || {
        switch(100);
        let token = contextidr::Token::take().expect("no option forbids it");
        PROMISED.store(true, Ordering::Release);
        stop_sampling();
        drop(token);
    };
    on_cpus(2, first, || {
        switch(11);
        // The two orders of its beginning.
        cpu::idle();
        cpu::idle();
        for tid in [12, 13] {
            switch(tid);
            sample(tid as u32);
            cpu::open();
        }
    });
}

/// What each CPU found is what is read.
fn report() {
    use vfs::FileOps;
    let first = || {
        switch(100);
        let session = contextidr::Session::open().expect("no option forbids it");
        let mut text = Vec::new();
        session.read(&vfs::File, &mut vfs::Sink(&mut text), 0).expect("there is room");
        assert_eq!(String::from_utf8(text).expect("text"), "cpu0 100\ncpu1 11\n");
        drop(session);
    };
    on_cpus(2, first, || switch(11));
}

/// The second has what it asks for at once; the first's end takes nothing from it.
fn two_sessions() {
    let first = || {
        switch(100);
        let one = contextidr::Token::take().expect("no option forbids it");
        let two = contextidr::Token::take().expect("no option forbids it");
        drop(one);
        assert_eq!(cpu::context_id(), 100);
        PROMISED.store(true, Ordering::Release);
        stop_sampling();
        drop(two);
    };
    on_cpus(2, first, || {
        switch(11);
        cpu::open();
        sample(11);
        switch(12);
        sample(12);
    });
}
