//! Threads.

use std::sync::Arc;

use crate::errno::Result;
use crate::mm::Mm;
use crate::sched::Sleeper;

#[derive(Debug)]
pub struct Thread {
    pub sleeper: Sleeper,
    pub mm: Arc<Mm>,
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
