//! Threads.

use std::sync::Arc;

use core::sync::atomic::AtomicU64;

use crate::errno::Result;
use crate::mm::Mm;
use crate::sched::Sleeper;

#[derive(Debug)]
pub struct Thread {
    pub sleeper: Sleeper,
    pub mm: Arc<Mm>,
    pub tid: i32,
    pub robust_list: AtomicU64,
}
impl Thread {
    #[allow(clippy::unnecessary_wraps)]
    pub fn mm(&self) -> Result<Arc<Mm>> {
        Ok(Arc::clone(&self.mm))
    }
    #[allow(clippy::unused_self)]
    pub fn has_signal(&self) -> bool {
        false
    }
}

/// Every number is a thread's.
pub mod table {
    pub fn thread(tid: i32) -> Option<()> {
        (tid != 0).then_some(())
    }
}
