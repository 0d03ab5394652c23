//! Who goes when there is no memory left for a page that a program touches: the process that has most, the first one
//! aside. Whoever met the fault tries again when it is gone.

use alloc::sync::Arc;

use hal::sync::SpinLock;

use crate::proc::{Process, ProcessState, table};
use crate::sched::CURRENT;
use crate::signal::{self, Info, SIGKILL};
use crate::{sched, time};

/// Nanoseconds after which a victim that is still there is not waited for any more.
const PATIENCE: u64 = 200_000_000;

/// The last victim, and until when it is waited for.
#[derive(Debug)]
struct Victim {
    pid: i32,
    until: u64,
}

static VICTIM: SpinLock<Option<Victim>> = SpinLock::new(None);

/// Makes memory free, or tells the current process to end. May sleep.
pub fn relieve() {
    if signal::is_told_to_end(&CURRENT.get()) {
        // Its own end gives memory back, and must not cost another its life.
        return;
    }
    if !is_waited_for() {
        let current = Arc::clone(&CURRENT.get().process);
        let (victim, pages) = largest().unwrap_or_else(|| (Arc::clone(&current), 0));
        let until = sched::after_nanoseconds(PATIENCE);
        *VICTIM.lock() = Some(Victim { pid: victim.pid, until });
        let name = victim.any_thread().map_or_else(alloc::string::String::new, |thread| thread.name_text());
        hal::log!("out of memory: killing {name}[{}], which has {pages} pages", victim.pid);
        if Arc::ptr_eq(&victim, &current) {
            signal::force(SIGKILL, Info::of_kernel());
            return;
        }
        signal::send_to_process(&victim, SIGKILL, Info::of_kernel());
    }
    time::sleep_uninterruptibly(1_000_000);
}

/// Is there a victim that has not given its memory back yet?
fn is_waited_for() -> bool {
    let victim = VICTIM.lock();
    let Some(Victim { pid, until }) = *victim else { return false };
    drop(victim);
    let own = CURRENT.get().process.pid;
    let is_there = |process: Arc<Process>| !matches!(*process.state.lock(), ProcessState::Zombie(_));
    pid != own && hal::timer::now() < until && table::process(pid).is_some_and(is_there)
}

/// The process that has most pages, and how many.
fn largest() -> Option<(Arc<Process>, u64)> {
    let candidates = table::processes().into_iter().filter(|process| process.pid != 1 && !process.is_ending());
    let sized = candidates.filter_map(|process| {
        let mm = process.any_thread()?.mm().ok()?;
        let pages = mm.lock().sizes().1;
        Some((process, pages))
    });
    sized.max_by_key(|(_, pages)| *pages)
}
