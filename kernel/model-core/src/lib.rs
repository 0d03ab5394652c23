//! The library `core` with loom's atomics in the place of the real ones. A crate that says
//! `extern crate model_core as core;` can take the kernel's own files in, as they are, and have loom go through all the
//! orders in which their loads and stores may be seen.
//!
//! Loom's atomics live for one execution of a model. Those here may stand in statics: each execution finds them with their
//! first value.

pub use ::core::*;

mod atomics;
mod fresh;
mod pool;
mod waiting;

pub use atomics::begin_with;
pub use fresh::{Builder, Fresh, Stores, explore};

/// `core::sync`.
pub mod sync {
    pub use ::core::sync::*;
    /// `core::sync::atomic`.
    pub mod atomic {
        pub use crate::atomics::*;
        pub use loom::sync::atomic::{Ordering, fence};
    }
}

/// `core::hint`.
pub mod hint {
    pub use ::core::hint::*;

    /// Another thread has to get on.
    pub fn spin_loop() {
        loom::thread::yield_now();
    }
}
