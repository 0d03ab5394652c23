//! `--profile`: who hears of samples, and the file.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use machine::{Machine, Names};
use profile::{Calls, Work};
use symbols::Symbols;

use crate::files;

/// A profile that is being made.
pub struct Profiling {
    calls: Arc<Mutex<Calls>>,
    file: File,
}

impl Profiling {
    /// Looks at each CPU of `machine` after every so many instructions, for `file`.
    pub fn start(machine: &mut Machine, every: NonZeroU64, symbols: &Symbols, file: File) -> Self {
        let calls = Arc::new(Mutex::new(Calls::new(every)));
        let mut names = Names::new(symbols, machine.entry());
        let heard = calls.clone();
        let listener = move |sample: &machine::Sample| {
            let functions = names.functions(sample);
            heard.lock().unwrap_or_else(PoisonError::into_inner).add(&Work {
                cpu: sample.cpu,
                at: sample.at,
                insns: sample.insns,
                el: sample.el,
                ttbr0: sample.ttbr0,
                contextidr: sample.contextidr,
                functions: &functions,
            });
        };
        machine.set_sampler(every, Box::new(listener));
        Self { calls, file }
    }

    /// Writes the file, which `path` names.
    pub fn finish(self, machine: &mut Machine, path: &Path) -> io::Result<()> {
        machine.finish_samples();
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.write(files::anew(self.file, path)?)
    }
}
