//! The thread's number in CONTEXTIDR, for profilers that record it with each sample. `contextidr=key` (default): while a
//! session of profiling is open; `on`: always; `off`: never, and no session can be had.
//!
//! What is written is the number in the root namespace of PIDs, which is the only one here.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use hal::percpu::{self, MAX_CPUS};

use crate::cmdline;
use crate::cross::{Order, on_all};
use crate::errno::{Errno, Result};
use crate::patch::{Counted, key};
use crate::sampler::{self, Sample, Sampler};
use crate::sched::CURRENT;
use crate::sched::wait::{Mutex, mutex};
use crate::vfs::{File, FileOps, Sink, Source};

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
    crate::sampler::switch();
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

/// An open `/dev/profile`: a session. Reading gives CONTEXTIDR of each CPU, as an interrupt finds it; or, once a program
/// has written `cycles N` or `instructions N`, samples: see [`crate::sampler`].
#[derive(Debug)]
pub struct Session {
    // Dropped in this order: the sampler stops before numbers go.
    sampler: Mutex<Option<Sampler>>,
    token: Token,
}

impl Session {
    /// Begins it.
    pub fn open() -> Result<Self> {
        Ok(Self { sampler: mutex(None), token: Token::take()? })
    }
}

impl FileOps for Session {
    fn read(&self, _file: &File, to: &mut Sink<'_>, offset: u64) -> Result<usize> {
        if let Some(sampler) = &*self.sampler.lock() {
            let samples = sampler.take(to.left() / Sample::SIZE);
            let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_bytes()).collect();
            return to.put(&bytes);
        }
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

    fn write(&self, _file: &File, from: &mut Source<'_>, _offset: u64) -> Result<usize> {
        let mut line = [0; 64];
        let len = from.take(&mut line)?;
        let words = core::str::from_utf8(&line[..len]).map_err(|_| Errno::EINVAL)?;
        let mut sampler = self.sampler.lock();
        if words.trim() == "stop" {
            *sampler = None;
            return Ok(len);
        }
        let (counter, period) = sampler::parse(words)?;
        // The old one gives its place up first.
        *sampler = None;
        *sampler = Some(Sampler::start(&self.token, counter, period)?);
        Ok(len)
    }
}

#[cfg(test)]
#[path = "contextidr_tests.rs"]
mod tests;
