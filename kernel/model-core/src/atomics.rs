use std::ops::{BitAnd, BitOr};
use std::sync::{Arc, Mutex};

use loom::sync::atomic as model;
use loom::sync::atomic::Ordering;

use crate::Fresh;
use crate::pool::Pool;
use crate::waiting::Waiting;

/// At the beginning of an execution, by its first thread.
pub(crate) fn fill() {
    model::AtomicU8::pool().fill(&[(0, 16), (2, 8)], model::AtomicU8::new);
    model::AtomicU32::pool().fill(&[(0, 48), (1, 8)], model::AtomicU32::new);
    let mut words = vec![(0, 24), (1, 4), (u64::MAX, 4)];
    words.extend(FURTHER.lock().unwrap().iter().map(|first| (*first, 2)));
    model::AtomicU64::pool().fill(&words, model::AtomicU64::new);
    model::AtomicUsize::pool().fill(&[(0, 16)], model::AtomicUsize::new);
    model::AtomicBool::pool().fill(&[(false, 24), (true, 4)], model::AtomicBool::new);
}

static FURTHER: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// The models from here on have atomics of 64 bits that begin with these values.
pub fn begin_with(values: impl IntoIterator<Item = u64>) {
    *FURTHER.lock().unwrap() = values.into_iter().filter(|value| *value > 1).collect();
}

trait Pooled: Sized + 'static {
    type Value;
    fn pool() -> &'static Pool<Self::Value, Self>;
}

macro_rules! atomic {
    ($name:ident, $value:ty) => {
        impl Pooled for model::$name {
            type Value = $value;
            fn pool() -> &'static Pool<$value, Self> {
                static POOL: Pool<$value, model::$name> = Pool::new();
                &POOL
            }
        }

        #[doc = concat!("`core::sync::atomic::", stringify!($name), "`.")]
        #[derive(Debug)]
        pub struct $name {
            first: $value,
            now: Fresh<model::$name>,
            waiting: Waiting<$value>,
        }

        impl $name {
            #[doc = "With that value at the beginning of each execution."]
            pub const fn new(first: $value) -> Self {
                Self { first, now: Fresh::new(), waiting: Waiting::new() }
            }
            fn now(&self) -> Arc<model::$name> {
                self.now.get(|| model::$name::pool().take(self.first))
            }
            #[doc = "As of `core`."]
            pub fn load(&self, order: Ordering) -> $value {
                self.now().load(order)
            }
            #[doc = "As of `core`."]
            pub fn store(&self, value: $value, order: Ordering) {
                if crate::fresh::are_stores_ordered() {
                    self.now().swap(value, order);
                } else {
                    self.now().store(value, order);
                }
                self.waiting.note(value);
            }
            #[doc = "As of `core`."]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                let before = self.now().swap(value, order);
                self.waiting.note(value);
                before
            }
            #[doc = "As of `core`."]
            pub fn compare_exchange(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let before = self.now().compare_exchange(old, new, success, failure)?;
                self.waiting.note(new);
                Ok(before)
            }
            #[doc = "As of `core`; never fails for no reason."]
            pub fn compare_exchange_weak(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(old, new, success, failure)
            }
            #[doc = "Waits until it is another value than this one: for spinning, which is without end for loom. Whoever"]
            #[doc = "waits has then seen all that the one did who wrote."]
            pub fn block_while(&self, value: $value) {
                self.waiting.while_it_is(value, self.first);
            }
        }
    };
}

macro_rules! integer {
    ($name:ident, $value:ty: $($operation:ident $result:ident),*) => {
        atomic!($name, $value);
        impl $name {
            $(
                #[doc = "As of `core`."]
                pub fn $operation(&self, value: $value, order: Ordering) -> $value {
                    let before = self.now().$operation(value, order);
                    self.waiting.note(before.$result(value));
                    before
                }
            )*
        }
        impl Default for $name {
            fn default() -> Self {
                Self::new(<$value>::default())
            }
        }
    };
}

integer!(AtomicU8, u8: fetch_add wrapping_add, fetch_sub wrapping_sub, fetch_or bitor, fetch_and bitand, fetch_max max);
integer!(AtomicU32, u32: fetch_add wrapping_add, fetch_sub wrapping_sub, fetch_or bitor, fetch_and bitand, fetch_max max);
integer!(AtomicU64, u64: fetch_add wrapping_add, fetch_sub wrapping_sub, fetch_or bitor, fetch_and bitand, fetch_max max);
integer!(AtomicUsize, usize: fetch_add wrapping_add, fetch_sub wrapping_sub, fetch_or bitor, fetch_and bitand, fetch_max max);
integer!(AtomicBool, bool: fetch_or bitor, fetch_and bitand);
