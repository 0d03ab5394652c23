//! The kernel's logic: safe Rust on top of `hal`, tested on the host.
//!
//! | module | holds |
//! |---|---|
//! | `boot` | from `hal`'s boot to the first program, and power-off |
//! | `trap` | exceptions and interrupts, dispatched |
//! | `syscall` | the table of system calls, and their functions by subject |
//! | `sched` | threads on CPUs, sleeping, timers |
//! | `proc` | processes and threads: clone, exec, exit, wait |
//! | `mm` | address spaces: areas, faults, tables, ASIDs |
//! | `mte`, `pauth` | tags of memory: modes, failures, pages; keys of pointer authentication |
//! | `vfs` | files: tmpfs, /proc, devices, pipes |
//! | `socket` | pairs of local sockets |
//! | `signal`, `futex`, `time`, `timer`, `tty`, `random` | what their names say |
//! | `feature` | what the CPUs can do: ID registers of all, capabilities, errata, boot options, AT_HWCAP |
//! | `patch`, `cross` | static keys: code patched on all CPUs; orders to all CPUs |
//! | `contextidr`, `sampler`, `spe` | PIDs for profilers; samples by the PMU; the decoder of SPE's records |
//! | `crash` | failures on request |
//! | `memory` | what programs make the kernel need, refused when there is too little |
//! | `emulate` | MRS of the ID space at EL0 |
//!
//! Locks, from outer to inner: sleeping mutexes (file offset, pipe) · tables of threads and processes · a process's
//! `children`, `state`, `job`, `threads` · `Mm` · page caches · ends of sockets · epoll's list of what is ready · wait queues · run queues · timers · frames and heap. A spin lock's
//! holder does not sleep, touch user memory or open interrupts.
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod boot;
pub mod cmdline;
pub mod contextidr;
pub mod crash;
pub mod cross;
pub mod emulate;
pub mod errno;
pub mod feature;
pub mod futex;
pub mod memory;
pub mod mm;
pub mod mte;
pub mod panic;
pub mod patch;
pub mod pauth;
pub mod proc;
pub mod random;
pub mod sampler;
pub mod sched;
pub mod signal;
pub mod socket;
pub mod spe;
pub mod syscall;
pub mod time;
pub mod timer;
pub mod trap;
pub mod tty;
pub mod utsname;
pub mod vfs;
