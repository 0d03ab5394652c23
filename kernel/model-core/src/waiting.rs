//! Waiting for an atomic to change.

use std::sync::{Arc, Mutex};

use loom::sync::Notify;

use crate::Fresh;

/// What was written last, whoever may see it, and who waits for something else.
#[derive(Debug)]
pub(crate) struct Waiting<V>(Fresh<Mutex<State<V>>>);

#[derive(Debug)]
struct State<V> {
    last: Option<V>,
    waiting: Vec<Arc<Notify>>,
}

impl<V: Copy + PartialEq> Waiting<V> {
    pub const fn new() -> Self {
        Self(Fresh::new())
    }

    fn state(&self) -> Arc<Mutex<State<V>>> {
        self.0.get(|| Arc::new(Mutex::new(State { last: None, waiting: Vec::new() })))
    }

    /// This was written.
    pub fn note(&self, value: V) {
        let state = self.state();
        let waiting = {
            let mut state = state.lock().unwrap();
            state.last = Some(value);
            std::mem::take(&mut state.waiting)
        };
        for notify in &waiting {
            notify.notify();
        }
    }

    /// Sleeps while that was written last; `first`: where nothing was.
    pub fn while_it_is(&self, value: V, first: V) {
        let state = self.state();
        loop {
            let notify = Arc::new(Notify::new());
            {
                let mut state = state.lock().unwrap();
                if state.last.unwrap_or(first) != value {
                    break;
                }
                state.waiting.push(Arc::clone(&notify));
            }
            notify.wait();
        }
        // For loom, what was seen before is not seen again from here on.
        loom::thread::yield_now();
    }
}
