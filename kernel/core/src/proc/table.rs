//! Processes and threads by number.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use hal::sync::SpinLock;

use super::{Process, Thread};

/// Numbers begin anew behind this (Linux: kernel.pid_max).
const LAST: i32 = 4_194_304 - 1;

#[derive(Debug)]
struct Table {
    next: i32,
    threads: BTreeMap<i32, Arc<Thread>>,
    processes: BTreeMap<i32, Arc<Process>>,
}

static TABLE: SpinLock<Table> = SpinLock::new(Table { next: 1, threads: BTreeMap::new(), processes: BTreeMap::new() });

/// A number that no thread, process or group has.
pub fn new_id() -> i32 {
    let mut table = TABLE.lock();
    loop {
        let id = table.next;
        table.next = if id == LAST { 300 } else { id + 1 };
        let is_used = table.threads.contains_key(&id) || table.processes.contains_key(&id);
        if !is_used {
            return id;
        }
    }
}

/// Enters a thread, and its process if it is the first. False, and nothing happens, if `is_too_late` says so: it is asked when
/// no signal to all or to a group is under way.
pub fn insert_unless(thread: &Arc<Thread>, is_too_late: impl FnOnce() -> bool) -> bool {
    let mut table = TABLE.lock();
    if is_too_late() {
        return false;
    }
    table.insert(thread);
    true
}

/// Enters a thread, and its process if it is the first.
pub fn insert(thread: &Arc<Thread>) {
    TABLE.lock().insert(thread);
}

impl Table {
    fn insert(&mut self, thread: &Arc<Thread>) {
        self.threads.insert(thread.tid, Arc::clone(thread));
        self.processes.entry(thread.process.pid).or_insert_with(|| Arc::clone(&thread.process));
    }
}

/// A thread has ended.
pub fn remove_thread(tid: i32) {
    let removed = TABLE.lock().threads.remove(&tid);
    drop(removed);
}

/// A process was waited for.
pub fn remove_process(pid: i32) {
    let removed = TABLE.lock().processes.remove(&pid);
    drop(removed);
}

/// The thread of that number.
pub fn thread(tid: i32) -> Option<Arc<Thread>> {
    TABLE.lock().threads.get(&tid).cloned()
}

/// The process of that number, zombies included.
pub fn process(pid: i32) -> Option<Arc<Process>> {
    TABLE.lock().processes.get(&pid).cloned()
}

/// Calls `each` with all processes; none is made meanwhile.
pub fn for_each_process(mut each: impl FnMut(&Arc<Process>)) {
    TABLE.lock().processes.values().for_each(&mut each);
}

/// All processes, by number.
pub fn processes() -> Vec<Arc<Process>> {
    TABLE.lock().processes.values().cloned().collect()
}

/// How many there may be: their stacks take at most an eighth of memory, as under Linux.
pub fn most_threads() -> usize {
    let by_memory = hal::mem::total_count() / (8 * hal::thread::STACK_SIZE / hal::mem::PAGE_SIZE);
    // Two of each CPU, and those of threads that have just ended, have places of their own.
    by_memory.min(hal::mem::stacks::MOST - 4 * hal::percpu::MAX_CPUS)
}

/// How many threads there are.
pub fn thread_count() -> usize {
    TABLE.lock().threads.len()
}

/// The last number that was given.
pub fn last_id() -> i32 {
    TABLE.lock().next - 1
}
