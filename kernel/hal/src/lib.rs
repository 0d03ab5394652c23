//! The kernel's hardware: all of its `unsafe`, behind interfaces that the safe `kcore` cannot misuse.
//!
//! On the target (`target_os = "none"`, AArch64) this drives the CPU and the board. On a host it is a fake that is good
//! enough for tests of `kcore`: RAM is an arena, there is one CPU, barriers and invalidations do nothing.
//!
//! Rules that hold everywhere:
//! - The kernel runs with interrupts masked, except in [`cpu::idle`] and [`cpu::window`]. So a spin lock needs no
//!   interrupt saving, and whoever holds one must not call these two, sleep, or touch user memory that may fault.
//! - No reference to page contents exists: pages that EL0 can map are read and written by the functions of [`mem`].
#![no_std]
#![cfg_attr(not(target_os = "none"), allow(dead_code))]

extern crate alloc;
#[cfg(not(target_os = "none"))]
extern crate std;

pub mod boot;
pub mod console;
pub mod cpu;
pub mod dt;
pub mod fp;
pub mod gic;
pub mod ident;
pub mod mem;
#[cfg(target_os = "none")]
mod mmio;
pub mod mte;
pub mod patch;
pub mod pauth;
pub mod percpu;
pub mod pmu;
pub mod power;
pub mod psci;
pub mod smp;
pub mod sync;
pub mod thread;
pub mod timer;
pub mod trap;
pub mod uaccess;

#[cfg(not(target_os = "none"))]
mod fakes;

/// Sets up the fake RAM, once; for tests.
#[cfg(not(target_os = "none"))]
pub fn fakes_init() {
    fakes::init();
}
