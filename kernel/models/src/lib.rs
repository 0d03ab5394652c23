//! What stands for `hal` in models of the kernel's lock-free parts. The models (`src/bin`) take the kernel's own files in,
//! as they are, with `core`'s atomics replaced by loom's (`model_core`), and say what must hold in every order.
//!
//! A CPU is one of loom's threads. What real CPUs do late, these do as late as they may: an instruction that was changed
//! is seen at the next context synchronisation, an interrupt that is masked comes when it is opened.

extern crate alloc;
extern crate model_core as core;

pub mod cpu;
pub mod gic;
pub mod mem;
pub mod patch;
pub mod percpu;
pub mod run;
pub mod sync;
pub mod thread;
pub mod timer;
pub mod uaccess;

/// No model's run is over before it ends.
pub mod power {
    /// It never is.
    pub fn stop_if_over() {}
}

/// Nobody reads it.
#[macro_export]
macro_rules! log {
    ($($part:tt)*) => {
        let _ = format!($($part)*);
    };
}
