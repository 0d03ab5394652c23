//! The thread's number in CONTEXTIDR, for profilers that record it with each sample. `contextidr=key` (default): while a
//! session of profiling is open; `on`: always; `off`: never, and no session can be had.
//!
//! What is written is the number in the root namespace of PIDs, which is the only one here.

use alloc::format;
use alloc::string::String;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use hal::percpu::{self, MAX_CPUS};

use crate::cmdline;
use crate::cross::{Order, on_all};
use crate::errno::{Errno, Result};
use crate::patch::{Counted, key};
use crate::sched::CURRENT;
use crate::sched::wait::{Mutex, mutex};
use crate::vfs::{File, FileOps, Sink};

static KEY: Counted = Counted::new(key::CONTEXT_ID);

const BY_KEY: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;
static MODE: AtomicU8 = AtomicU8::new(BY_KEY);

/// Reads the boot option.
pub fn init() {
    let mode = match cmdline::value("contextidr") {
        Some("off") => OFF,
        Some("on") => ON,
        _ => BY_KEY,
    };
    MODE.store(mode, Ordering::Relaxed);
    if mode == ON {
        // For ever: this user never leaves.
        KEY.get(|| on_all(Order::WritePid));
    }
}

/// A switch to the thread of that number. The register takes effect with the next context synchronisation: that of the
/// new translation table, or the return to EL0 at the latest.
#[inline]
pub fn switch(tid: i32) {
    if hal::patch::is_on::<{ key::CONTEXT_ID }>() {
        hal::cpu::set_context_id(tid as u32);
    }
}

/// This CPU's part of a first session's beginning.
pub fn write_own() {
    if let Some(current) = CURRENT.try_get() {
        hal::cpu::set_context_id(current.tid as u32);
    }
}

/// While it lives, CONTEXTIDR of every CPU has the number of the thread that runs there. That holds from the moment on
/// when there is a token: so whatever starts sampling asks for one, and no sample has an old number.
#[derive(Debug)]
pub struct Token(());

impl Token {
    /// Sleeps until every CPU has written. ENXIO with `contextidr=off`.
    pub fn take() -> Result<Self> {
        if MODE.load(Ordering::Relaxed) == OFF {
            return Err(Errno::ENXIO);
        }
        KEY.get(|| on_all(Order::WritePid));
        Ok(Self(()))
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        KEY.put(|| on_all(Order::ClearPid));
    }
}

/// What each CPU found, for one who asks at a time.
static REPORTS: [AtomicU32; MAX_CPUS] = [const { AtomicU32::new(0) }; MAX_CPUS];
static ASKING: Mutex<()> = mutex(());

/// This CPU's part of a report.
pub fn report_own() {
    REPORTS[percpu::id()].store(hal::cpu::context_id(), Ordering::Relaxed);
}

/// An open `/dev/profile`: a session. Reading gives CONTEXTIDR of each CPU, as an interrupt finds it.
#[derive(Debug)]
pub struct Session(#[allow(dead_code)] Token);

impl Session {
    /// Begins it.
    pub fn open() -> Result<Self> {
        Ok(Self(Token::take()?))
    }
}

impl FileOps for Session {
    fn read(&self, _file: &File, to: &mut Sink<'_>, offset: u64) -> Result<usize> {
        if offset > 0 {
            return Ok(0);
        }
        let text: String = {
            let _asking = ASKING.lock();
            on_all(Order::ReportPid);
            let line = |cpu: usize| format!("cpu{cpu} {}\n", REPORTS[cpu].load(Ordering::Relaxed));
            (0..percpu::count()).map(line).collect()
        };
        to.put(text.as_bytes())
    }
}
