//! Static keys: conditions that are in the code, for what is almost never on, or almost never changes. And the moment when
//! alternatives are chosen, code for what the CPUs have.

use alloc::string::String;
use core::cell::Cell;
use core::fmt::Write;

use crate::cross::{Order, on_all, while_others_stand};
use crate::feature;
use crate::sched::wait::{Mutex, mutex};

/// Keys, by number.
pub mod key {
    use hal::patch::Key;

    /// Switches write the PID into CONTEXTIDR.
    pub const CONTEXT_ID: Key = 0;
    /// Switches look for an overflow of the sampler's counter.
    pub const SAMPLER: Key = 1;
}

/// Replaces code by what suits the CPUs, on all CPUs that run; those that come later find it so.
pub fn choose_alternatives() {
    const CONDITIONS: usize = 128;
    let counts: [Cell<u32>; CONDITIONS] = [const { Cell::new(0) }; CONDITIONS];
    // Nothing is allocated or logged while others stand still.
    let all = while_others_stand(|| {
        hal::patch::apply_alternatives(|condition| {
            let is_met = feature::meets(condition);
            let count = &counts[condition as usize % CONDITIONS];
            count.set(count.get() + u32::from(is_met));
            is_met
        })
    });
    let mut text = String::new();
    for (condition, count) in counts.iter().enumerate().filter(|(_, count)| count.get() > 0) {
        let separator = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{separator}{} {}", feature::condition_name(condition as u32), count.get());
    }
    hal::log!("vambrace-kernel: alternatives for {text} (of {all})");
}

/// A key that is on while anyone wants it.
#[derive(Debug)]
pub struct Counted {
    key: hal::patch::Key,
    users: Mutex<u32>,
}

impl Counted {
    /// Off. One for each key.
    pub const fn new(key: hal::patch::Key) -> Self {
        Self { key, users: mutex(0) }
    }

    /// One more wants it. The first switches it on, and then has `first` done; all return when that is done. Sleeps.
    pub fn get(&self, first: impl FnOnce()) {
        let mut users = self.users.lock();
        if *users == 0 {
            begin(&|| hal::patch::set(self.key, true), &on_all, first);
        }
        *users += 1;
    }

    /// One less. The last switches it off, and then has `last` done. Sleeps. Panics if nobody wants it.
    pub fn put(&self, last: impl FnOnce()) {
        let mut users = self.users.lock();
        *users = users.checked_sub(1).expect("somebody wants the key");
        if *users == 0 {
            begin(&|| hal::patch::set(self.key, false), &on_all, last);
        }
    }
}

/// Writes the code; then no CPU executes the old instruction any more; and only then whatever relies on that. The parts are
/// given, so that a model can have its own.
pub(crate) fn begin(set: &dyn Fn() -> usize, all: &dyn Fn(Order), first: impl FnOnce()) {
    if set() > 0 {
        all(Order::Synchronise);
    }
    first();
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;
    use hal::patch::is_on;
    use proptest::prelude::*;

    const TESTED: hal::patch::Key = 40;

    proptest! {
        /// However it is wanted and not: on exactly while the count is above zero, with one action at each edge.
        #[test]
        fn on_while_wanted(wants in proptest::collection::vec(any::<bool>(), 0..40)) {
            let counted = Counted::new(TESTED);
            let (mut users, edges) = (0, Cell::new((0, 0)));
            let mut expected = (0, 0);
            for want in wants {
                let (firsts, lasts) = edges.get();
                if want {
                    counted.get(|| edges.set((firsts + 1, lasts)));
                    expected.0 += u32::from(users == 0);
                    users += 1;
                } else if users > 0 {
                    counted.put(|| edges.set((firsts, lasts + 1)));
                    users -= 1;
                    expected.1 += u32::from(users == 0);
                }
                prop_assert_eq!(is_on::<TESTED>(), users > 0);
                prop_assert_eq!(edges.get(), expected);
            }
            (0..users).for_each(|_| counted.put(|| {}));
        }
    }
}
