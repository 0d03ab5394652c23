//! What is promised of the scheduler: a thread that is woken after it said that it sleeps does not sleep. The order of what
//! is waited for and of a thread's state is the fences', as there; model-scheduler has the scheduler's own.

use std::sync::{Arc, Mutex as HostMutex};

use core::Fresh;
use core::sync::atomic::{AtomicU8, Ordering, fence};
use loom::sync::Notify;

use crate::mm::Mm;
use crate::proc::Thread;

#[path = "../../../../core/src/sched/wait.rs"]
#[allow(dead_code, unused_imports)]
pub mod wait;

pub mod timers {
    use super::{Arc, Thread};
    #[derive(Clone, Copy, Debug)]
    pub struct TimerId;
    impl TimerId {
        pub fn wake_at(_deadline: u64, _thread: Arc<Thread>) -> Self {
            unreachable!("nothing here has a deadline")
        }
        pub fn cancel(self) {}
    }
}
pub use timers::TimerId;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum State {
    Ready = 0,
    Interruptible = 1,
    Uninterruptible = 2,
}

#[derive(Debug)]
pub struct Sleeper {
    state: AtomicU8,
    bed: Fresh<Notify>,
}
impl Sleeper {
    pub fn new() -> Self {
        Self { state: AtomicU8::new(0), bed: Fresh::new() }
    }
    fn bed(&self) -> Arc<Notify> {
        self.bed.get(|| Arc::new(Notify::new()))
    }
}

loom::thread_local! {
    static OWN: HostMutex<Option<Arc<Thread>>> = HostMutex::new(None);
}
pub struct Current;
pub static CURRENT: Current = Current;
impl Current {
    pub fn share(&self) -> Arc<Thread> {
        OWN.with(|own| own.lock().unwrap().clone().expect("a thread runs"))
    }
    pub fn get(&self) -> Arc<Thread> {
        self.share()
    }
}
/// The calling thread begins.
pub fn begin(mm: &Arc<Mm>, tid: i32) {
    let thread = Arc::new(Thread {
        sleeper: Sleeper::new(),
        mm: Arc::clone(mm),
        tid,
        robust_list: core::sync::atomic::AtomicU64::new(0),
    });
    OWN.with(|own| *own.lock().unwrap() = Some(thread));
}

pub fn prepare_to_sleep(state: State) {
    CURRENT.get().sleeper.state.store(state as u8, Ordering::Relaxed);
    fence(Ordering::SeqCst);
}
pub fn stay_awake() {
    CURRENT.get().sleeper.state.store(State::Ready as u8, Ordering::Relaxed);
}
pub fn schedule() {
    let current = CURRENT.get();
    while current.sleeper.state.load(Ordering::Relaxed) != State::Ready as u8 {
        current.sleeper.bed().wait();
    }
}
pub fn wake(thread: &Arc<Thread>) -> bool {
    fence(Ordering::SeqCst);
    if thread.sleeper.state.load(Ordering::Acquire) == State::Ready as u8 {
        return false;
    }
    if thread.sleeper.state.swap(State::Ready as u8, Ordering::AcqRel) == State::Ready as u8 {
        return false;
    }
    thread.sleeper.bed().notify();
    true
}
