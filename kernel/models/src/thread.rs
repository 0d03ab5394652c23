//! Threads on CPUs. A thread that is switched to begins at its beginning again: whoever waits looks again at what it waits
//! for anyway. So no stacks have to be kept.

use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};

use core::sync::atomic::{AtomicU32, Ordering};

use crate::percpu::{self, MAX_CPUS};

/// A thread's flags.
pub mod flags {
    /// Another thread should run.
    pub const RESCHEDULE: u32 = 1 << 0;
    /// A signal may be there.
    pub const SIGNAL: u32 = 1 << 1;
}

/// What the CPU has of a thread.
#[derive(Debug, Default)]
pub struct Context {
    flags: AtomicU32,
    on_cpu: AtomicU32,
}

impl Context {
    /// Its flags.
    pub fn flags(&self) -> u32 {
        self.flags.load(Ordering::Acquire)
    }
    /// Sets flags.
    pub fn set_flags(&self, flags: u32) -> u32 {
        self.flags.fetch_or(flags, Ordering::AcqRel)
    }
    /// Clears flags.
    pub fn clear_flags(&self, flags: u32) -> u32 {
        self.flags.fetch_and(!flags, Ordering::AcqRel)
    }
    /// Is it on a CPU, or on its way off one?
    pub fn is_on_cpu(&self) -> bool {
        self.on_cpu.load(Ordering::Acquire) != 0
    }
}

/// A thread type.
pub trait Thread: Send + Sync + 'static {
    /// Its context.
    fn context(&self) -> &Context;
    /// What it does; it may switch away, and then begins again.
    fn body(&self);
}

/// Which thread each CPU runs, and which one ran before.
#[derive(Debug)]
pub struct Current<T> {
    running: [Mutex<Option<Arc<T>>>; MAX_CPUS],
    previous: [Mutex<Option<Arc<T>>>; MAX_CPUS],
}

/// The thread that runs this code.
#[derive(Debug)]
pub struct CurrentRef<T>(Arc<T>);
impl<T> Deref for CurrentRef<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

/// A thread was switched to.
struct Switched;

impl<T: Thread> Current<T> {
    /// Nothing runs.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self { running: [const { Mutex::new(None) }; MAX_CPUS], previous: [const { Mutex::new(None) }; MAX_CPUS] }
    }
    /// The current thread.
    pub fn get(&self) -> CurrentRef<T> {
        CurrentRef(self.share())
    }
    /// The current thread, if there is one.
    pub fn try_get(&self) -> Option<CurrentRef<T>> {
        self.running[percpu::id()].lock().unwrap().clone().map(CurrentRef)
    }
    /// The current thread.
    pub fn share(&self) -> Arc<T> {
        self.running[percpu::id()].lock().unwrap().clone().expect("a thread runs")
    }
    /// Says what a CPU begins with.
    pub fn install(&self, cpu: usize, thread: Arc<T>) {
        thread.context().on_cpu.store(1, Ordering::Relaxed);
        *self.running[cpu].lock().unwrap() = Some(thread);
    }
    /// Switches; the caller's body begins again when it is switched to. As in `hal`, it waits until whoever runs the next
    /// thread has let go of it.
    pub fn switch_to(&self, next: Arc<T>) -> Arc<T> {
        while next.context().on_cpu.swap(1, Ordering::Acquire) != 0 {
            core::hint::spin_loop();
        }
        let cpu = percpu::id();
        let old = self.running[cpu].lock().unwrap().replace(next);
        *self.previous[cpu].lock().unwrap() = old;
        resume_unwind(Box::new(Switched));
    }
    /// What follows a switch.
    pub fn switched(&self) -> Arc<T> {
        let previous = self.previous[percpu::id()].lock().unwrap().take().expect("a switch went before");
        previous.context().on_cpu.store(0, Ordering::Release);
        previous
    }
    /// The calling CPU runs its threads until the model ends.
    pub fn run(&self) {
        crate::run::idle_is_for_ever();
        // The end is looked for where a CPU would sleep, not before: loom has to see what the CPU could have done earlier.
        loop {
            let thread = self.share();
            match catch_unwind(AssertUnwindSafe(|| thread.body())) {
                Ok(()) => {}
                Err(reason) if reason.is::<Switched>() => drop(self.switched()),
                Err(reason) if reason.is::<crate::run::Ended>() => return,
                Err(reason) => resume_unwind(reason),
            }
        }
    }
}
