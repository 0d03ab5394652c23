//! Loom's atomics, made before they are wanted. For loom, to make one is a store of the thread that does, and another thread
//! that comes without having heard of it is at fault. Here one is made when it is first used, by whoever comes first: so the
//! first thread makes them for all.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

/// Atomics by the value that they begin with.
pub(crate) struct Pool<V, T>(Mutex<BTreeMap<V, Vec<Arc<T>>>>);

impl<V: Ord + Copy + Debug, T> Pool<V, T> {
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Makes so many of each of these values.
    pub fn fill(&self, stock: &[(V, usize)], make: impl Fn(V) -> T) {
        let mut stocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (first, count) in stock {
            stocks.insert(*first, (0..*count).map(|_| Arc::new(make(*first))).collect());
        }
    }

    /// One that begins with that value.
    pub fn take(&self, first: V) -> Arc<T> {
        let mut stocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = stocks.get_mut(&first).and_then(Vec::pop);
        drop(stocks);
        taken.unwrap_or_else(|| panic!("`atomics::fill` makes too few that begin with {first:?}"))
    }
}
