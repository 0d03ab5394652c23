//! The order in which a session begins, on a model of two CPUs whose memory is as weak as Rust's: one asks, the other
//! switches threads meanwhile and takes orders between switches, as interrupts do.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use loom::thread;

use crate::cross::Order;
use crate::patch::begin;

#[derive(Default)]
struct Model {
    /// The site of the key, as the other CPU fetches it.
    key: AtomicBool,
    /// The order, one more than its number; 0: none. Then how many it has carried out.
    order: AtomicU32,
    done: AtomicU32,
    is_over: AtomicBool,
}

/// What one step of the other CPU finds.
struct Other {
    model: Arc<Model>,
    taken: u32,
    context: u32,
    running: u32,
    samples: bool,
}

impl Other {
    fn take_order(&mut self) {
        let order = self.model.order.load(Ordering::Acquire);
        if order == 0 || self.taken == order >> 8 {
            return;
        }
        self.taken = order >> 8;
        match order & 0xff {
            n if n == Order::WritePid as u32 => self.context = self.running,
            n if n == Order::StartSampling as u32 => self.samples = true,
            n => assert_eq!(n, Order::Synchronise as u32),
        }
        self.model.done.store(self.taken, Ordering::Release);
    }

    fn switch(&mut self) {
        self.running += 1;
        if self.model.key.load(Ordering::Relaxed) {
            self.context = self.running;
        }
    }

    /// The counter overflows: the sample must have the number of the thread that runs.
    fn overflow(&self) {
        assert!(!self.samples || self.context == self.running, "a sample with an old number");
    }
}

/// Makes a session begin with what it is given: to set the key, and to order.
type Start = fn(&dyn Fn() -> usize, &dyn Fn(Order));

fn check(start: Start) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(move || {
        let model = Arc::new(Model::default());
        let other = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                let mut cpu = Other { model, taken: 0, context: 0, running: 7, samples: false };
                for _ in 0..2 {
                    cpu.take_order();
                    cpu.overflow();
                    cpu.switch();
                    cpu.overflow();
                }
                while !cpu.model.is_over.load(Ordering::Acquire) {
                    cpu.take_order();
                    cpu.overflow();
                    thread::yield_now();
                }
            })
        };
        let numbered = core::cell::Cell::new(0u32);
        let set = || {
            model.key.store(true, Ordering::Relaxed);
            1
        };
        let all = |order: Order| {
            numbered.set(numbered.get() + 1);
            model.order.store(numbered.get() << 8 | order as u32, Ordering::Release);
            while model.done.load(Ordering::Acquire) != numbered.get() {
                thread::yield_now();
            }
        };
        start(&set, &all);
        all(Order::StartSampling);
        model.is_over.store(true, Ordering::Release);
        other.join().unwrap();
    });
}

#[test]
fn samples_come_only_when_every_cpu_has_written() {
    check(|set, all| begin(set, all, || all(Order::WritePid)));
}

/// That the model shows it when a part is left out, or in another order.
#[test]
fn each_part_is_needed() {
    let wrong: [Start; 3] = [
        |set, all| begin(set, all, || {}),
        |_, all| all(Order::WritePid),
        |set, all| {
            all(Order::WritePid);
            set();
            all(Order::Synchronise);
        },
    ];
    for (n, start) in wrong.into_iter().enumerate() {
        assert!(std::panic::catch_unwind(move || check(start)).is_err(), "{n}");
    }
}
