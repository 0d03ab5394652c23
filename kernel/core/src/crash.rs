//! Failures on request (`crash=...`), to see how the kernel ends.

use core::fmt;

use hal::sync::SpinLock;

/// Fails as `crash=` says, on the boot CPU once all are there.
pub fn on_boot_cpu() {
    match crate::cmdline::value("crash") {
        Some("panic") => panic!("as requested"),
        Some("twice") => panic!("{}", Fails),
        Some("stack") => {
            hal::log!("{}", too_deep(u64::MAX));
        }
        Some("lock") => {
            static LOCK: SpinLock<()> = SpinLock::new(());
            let _held = LOCK.lock();
            drop(LOCK.lock());
        }
        Some("memory") => {
            let mut held = alloc::vec::Vec::new();
            loop {
                held.push(alloc::boxed::Box::new([0u64; 200]));
            }
        }
        _ => {}
    }
}

/// The same on CPU 1, before it does anything else.
pub fn on_other_cpu() {
    if hal::percpu::id() != 1 {
        return;
    }
    match crate::cmdline::value("crash") {
        Some("other") => panic!("as requested"),
        Some("other-stack") => {
            hal::log!("{}", too_deep(u64::MAX));
        }
        _ => {}
    }
}

struct Fails;
impl fmt::Display for Fails {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("within a panic");
    }
}

#[inline(never)]
fn too_deep(depth: u64) -> u64 {
    let place = [depth; 32];
    if depth == 0 { 0 } else { core::hint::black_box(&place)[1] ^ too_deep(depth - 1) }
}
