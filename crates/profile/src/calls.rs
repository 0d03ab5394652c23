//! `--profile`: instructions by function and call chain, for <https://profiler.firefox.com>. A tick is shown as a nanosecond,
//! an instruction as a sample; a CPU is a process, and what it worked for, by TTBR0 and CONTEXTIDR, a thread of it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::num::NonZeroU64;
use std::time::Duration;

use arch::El;
use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, CpuDelta, Frame, FrameFlags, FrameInfo, ProcessHandle, Profile, ReferenceTimestamp,
    SamplingInterval, ThreadHandle, Timestamp,
};

use crate::names;

/// Threads of a CPU that are told apart; what comes later is one together. The viewer has a row for each.
const THREADS: usize = 100;

/// What a thread works for: level, TTBR0 and CONTEXTIDR of it; `None` for the rest.
type Context = Option<(El, u64, u64)>;

/// Instructions that a CPU executed in a row, or so many that are taken to be where the first was.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    /// The CPU.
    pub cpu: usize,
    /// Its time in ticks.
    pub at: u64,
    /// Their number.
    pub insns: u64,
    /// Their level.
    pub el: El,
    /// `TTBR0_ELx` of whom they worked for.
    pub ttbr0: u64,
    /// `CONTEXTIDR_ELx` of that.
    pub contextidr: u64,
    /// The functions, from the outermost on.
    pub functions: &'a [String],
}

/// A profile that grows.
pub struct Calls {
    profile: Profile,
    cpus: BTreeMap<usize, CpuThreads>,
    /// By level.
    categories: [CategoryHandle; 4],
}

struct CpuThreads {
    process: ProcessHandle,
    threads: BTreeMap<Context, ThreadHandle>,
}

impl Calls {
    /// An empty one, of looks after `every` instructions.
    #[must_use]
    pub fn new(every: NonZeroU64) -> Self {
        // Guests have no date of their own.
        let epoch = ReferenceTimestamp::from_duration_since_unix_epoch(Duration::ZERO);
        let mut profile = Profile::new("Vambrace", epoch, SamplingInterval::from_nanos(every.get()));
        profile.set_symbolicated(true);
        let colors =
            [CategoryColor::Green, CategoryColor::Orange, CategoryColor::Purple, CategoryColor::Red].into_iter();
        let mut levels = [El::El0, El::El1, El::El2, El::El3].into_iter().zip(colors);
        let categories = std::array::from_fn(|_| {
            let (el, color) = levels.next().unwrap_or((El::El0, CategoryColor::Gray));
            profile.add_category(&names::level(el), color)
        });
        Self { profile, cpus: BTreeMap::new(), categories }
    }

    /// Adds instructions.
    pub fn add(&mut self, work: &Work<'_>) {
        let at = Timestamp::from_nanos_since_reference(work.at);
        let thread = self.thread(work, at);
        let category = self.categories[work.el as usize].into();
        let mut stack = None;
        for function in work.functions {
            let frame = Frame::Label(self.profile.intern_string(function));
            let frame = FrameInfo { frame, category_pair: category, flags: FrameFlags::empty() };
            let frame = self.profile.intern_frame(thread, frame);
            stack = Some(self.profile.intern_stack(thread, stack, frame));
        }
        // The format's weights are small.
        let mut left = work.insns;
        while left > 0 {
            let weight = i32::try_from(left).unwrap_or(i32::MAX);
            self.profile.add_sample(thread, at, stack, CpuDelta::from_nanos(weight as u64), weight);
            left -= weight as u64;
        }
    }

    fn thread(&mut self, work: &Work<'_>, at: Timestamp) -> ThreadHandle {
        let number = u32::try_from(work.cpu).unwrap_or(u32::MAX);
        let profile = &mut self.profile;
        let cpu = self.cpus.entry(work.cpu).or_insert_with(|| CpuThreads {
            process: profile.add_process(&format!("CPU {number}"), number, at),
            threads: BTreeMap::new(),
        });
        let context = Some((work.el.max(El::El1), work.ttbr0, work.contextidr));
        let is_known = cpu.threads.len() < THREADS || cpu.threads.contains_key(&context);
        let context = context.filter(|_| is_known);
        let count = cpu.threads.len();
        *cpu.threads.entry(context).or_insert_with(|| {
            let name = match context {
                Some((_, ttbr0, 0)) => format!("CPU {number}, TTBR0 {ttbr0:#x}"),
                Some((_, ttbr0, contextidr)) => format!("CPU {number}, TTBR0 {ttbr0:#x}, CONTEXTIDR {contextidr:#x}"),
                None => format!("CPU {number}, others"),
            };
            let id = number.saturating_mul(1000).saturating_add(count as u32);
            // The viewer would show a main thread by its process's name.
            let thread = profile.add_thread(cpu.process, id, at, false);
            profile.set_thread_name(thread, &name);
            thread
        })
    }

    /// Writes it as JSON.
    ///
    /// # Errors
    /// The writer's.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut out, &self.profile)?;
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn written(calls: &Calls) -> Value {
        let mut bytes = Vec::new();
        calls.write(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn threads_stacks_and_weights() {
        let mut calls = Calls::new(NonZeroU64::MIN);
        let [outer, inner] = ["outer", "inner"].map(str::to_owned);
        let stack = [outer, inner];
        let work = Work { cpu: 1, at: 5, insns: 7, el: El::El1, ttbr0: 0x4000, contextidr: 3, functions: &stack };
        calls.add(&work);
        calls.add(&Work { at: 12, insns: 1 << 32, functions: &stack[..1], ..work });
        calls.add(&Work { at: 20, contextidr: 4, ..work });
        let json = written(&calls);
        let threads = json["threads"].as_array().unwrap();
        assert_eq!(threads.len(), 2);
        assert_eq!(threads[0]["name"], "CPU 1, TTBR0 0x4000, CONTEXTIDR 0x3");
        let weights = |thread: &Value| {
            thread["samples"]["weight"].as_array().unwrap().iter().map(|w| w.as_i64().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(weights(&threads[0]), [7, i64::from(i32::MAX), i64::from(i32::MAX), 2]);
        assert_eq!(weights(&threads[1]), [7]);
        assert_eq!(threads[0]["stackTable"]["prefix"], serde_json::json!([null, 0]));
    }

    #[test]
    fn threads_are_bounded() {
        let mut calls = Calls::new(NonZeroU64::MIN);
        for ttbr0 in 0..1000 {
            calls.add(&Work { cpu: 0, at: ttbr0, insns: 1, el: El::El0, ttbr0, contextidr: 0, functions: &[] });
        }
        let json = written(&calls);
        let threads = json["threads"].as_array().unwrap();
        assert_eq!(threads.len(), THREADS + 1);
        assert_eq!(threads[THREADS]["name"], "CPU 0, others");
    }
}
