//! What is made anew for each execution of a model.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

static EXECUTION: AtomicU64 = AtomicU64::new(0);

/// How far a model goes.
#[derive(Debug, Clone, Copy)]
pub struct Builder {
    /// How often a thread that could go on is stopped for another one; `None`: as often as can be.
    pub preemptions: Option<usize>,
    /// How a store stands to another thread's atomic updates of the same place.
    pub stores: Stores,
}

/// Loom does not hold that nothing comes between the value that an update reads and the one that it writes: a thread whose
/// store came behind the update may still read the update's value afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stores {
    /// As loom has it: for places that are only stored to, or only updated.
    Loom,
    /// A store is an update whose old value nobody looks at, so that all of a place's are in one order. It may then be read
    /// with what an earlier release published, which a mere store ends.
    Ordered,
}

static ARE_STORES_ORDERED: AtomicBool = AtomicBool::new(false);

pub(crate) fn are_stores_ordered() -> bool {
    ARE_STORES_ORDERED.load(Ordering::Relaxed)
}

impl Builder {
    /// With so many preemptions, and stores as they are for loom.
    pub const fn with(preemptions: usize) -> Self {
        Self { preemptions: Some(preemptions), stores: Stores::Loom }
    }
    /// In all orders.
    pub const fn all() -> Self {
        Self { preemptions: None, stores: Stores::Loom }
    }
    /// With stores in one order with updates.
    #[must_use]
    pub const fn ordered(self) -> Self {
        Self { stores: Stores::Ordered, ..self }
    }
}

/// Runs `model` in all orders; returns how many there were. Panics where the model does, and where all threads wait.
pub fn explore(builder: Builder, model: impl Fn() + Send + Sync + 'static) -> u64 {
    let mut loom = loom::model::Builder::new();
    loom.preemption_bound = builder.preemptions;
    loom.max_branches = 20_000;
    ARE_STORES_ORDERED.store(builder.stores == Stores::Ordered, Ordering::Relaxed);
    let before = EXECUTION.load(Ordering::Relaxed);
    loom.check(move || {
        EXECUTION.fetch_add(1, Ordering::Relaxed);
        crate::atomics::fill();
        model();
    });
    EXECUTION.load(Ordering::Relaxed) - before
}

/// A value of this execution.
#[derive(Debug)]
pub struct Fresh<T>(Mutex<Option<(u64, Arc<T>)>>);

impl<T> Fresh<T> {
    /// Not made yet.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The value; `make` makes it at its first use.
    pub fn get(&self, make: impl FnOnce() -> Arc<T>) -> Arc<T> {
        let now = EXECUTION.load(Ordering::Relaxed);
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*slot {
            Some((execution, value)) if *execution == now => Arc::clone(value),
            _ => {
                let value = make();
                *slot = Some((now, Arc::clone(&value)));
                value
            }
        }
    }
}

impl<T> Default for Fresh<T> {
    fn default() -> Self {
        Self::new()
    }
}
