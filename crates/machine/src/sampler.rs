//! Where instructions were executed: after every so many of a CPU's instructions it is looked at, and what it was about to
//! do stands for as many instructions from there on. With one, the counts are exact.
//!
//! Looking changes nothing: turns are cut where a look is due, as a debugger cuts them.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use arch::sysreg::Reg;
use arch::{El, Pa, Va};
use cpu::{CodeCache, Pe, Turn};
use symbols::{Location, Symbols};

use crate::diagnose::backtrace::{Frame, frames, is_caller, without_signature};
use crate::diagnose::{physical_symbols, vectors};
use crate::schedule::{Company, Cpu, CpuState, Request};

/// Instructions of one CPU in a row, and where the first of them was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The CPU.
    pub cpu: usize,
    /// Its time at the first instruction, in ticks.
    pub at: u64,
    /// How many there are.
    pub insns: u64,
    /// Their level.
    pub el: El,
    /// `TTBR0_ELx` of the level that the program is under.
    pub ttbr0: u64,
    /// `CONTEXTIDR_ELx` of that level.
    pub contextidr: u64,
    pc: Va,
    /// X30, where it may be the caller's.
    lr: Va,
    frames: Vec<Frame>,
    /// `VBAR_ELx` of who takes the CPU's exceptions, and of the other level.
    vectors: [Va; 2],
}

/// Takes samples.
pub type Listener = Box<dyn FnMut(&Sample) + Send>;

/// What is known of a CPU.
struct Pending {
    /// Instructions that it had retired then.
    since: u64,
    sample: Sample,
}

/// Looks at the CPUs.
pub(crate) struct Sampler {
    every: NonZeroU64,
    pending: Vec<Option<Pending>>,
    listener: Listener,
}

impl Sampler {
    pub fn new(every: NonZeroU64, listener: Listener) -> Self {
        Self { every, pending: Vec::new(), listener }
    }

    /// [`Cpu::turn`], with looks.
    pub fn turn(
        &mut self,
        cpu: &mut Cpu,
        code: &mut CodeCache,
        mut turn: Turn,
        end: u64,
        steps: u64,
        company: Company,
    ) -> Option<Request> {
        let last = cpu.pe.steps().saturating_add(steps);
        loop {
            let due = self.look(&cpu.pe);
            let left = last.saturating_sub(cpu.pe.steps());
            let request = cpu.turn(code, turn, end, left.min(due), company);
            let is_over = cpu.state != CpuState::Running || cpu.pe.ticks() >= end || cpu.pe.steps() >= last;
            if request.is_some() || is_over {
                return request;
            }
            // The rest of the turn goes on from what this part saw.
            turn.seen = cpu.pe.seen();
        }
    }

    /// Looks, if it is due or an exception has led elsewhere; gives after how many instructions to look again, at least 1.
    fn look(&mut self, pe: &Pe) -> u64 {
        let every = self.every.get();
        self.pending.resize_with(self.pending.len().max(pe.index() + 1), || None);
        let pending = &mut self.pending[pe.index()];
        let done = pe.instructions();
        if let Some(Pending { since, sample }) = pending {
            let insns = done.saturating_sub(*since);
            let is_elsewhere = insns == 0 && (sample.pc, sample.el) != (pe.pc(), pe.pstate().el);
            if insns < every && !is_elsewhere {
                return every - insns;
            }
            if insns > 0 {
                sample.insns = insns;
                (self.listener)(sample);
            }
        }
        *pending = Some(Pending { since: done, sample: Sample::of(pe) });
        every
    }

    /// Tells of the instructions since the last look.
    pub fn finish(&mut self, pe: &Pe) {
        let Some(Pending { since, mut sample }) = self.pending.get_mut(pe.index()).and_then(Option::take) else {
            return;
        };
        sample.insns = pe.instructions().saturating_sub(since);
        if sample.insns > 0 {
            (self.listener)(&sample);
        }
    }
}

impl Sample {
    /// What `pe` is about to do.
    fn of(pe: &Pe) -> Self {
        let (ttbr0, contextidr) = match pe.default_target() {
            El::El2 => (Reg::TTBR0_EL2, Reg::CONTEXTIDR_EL2),
            _ => (Reg::TTBR0_EL1, Reg::CONTEXTIDR_EL1),
        };
        Self {
            cpu: pe.index(),
            at: pe.ticks(),
            insns: 0,
            el: pe.pstate().el,
            ttbr0: pe.stored(ttbr0),
            contextidr: pe.stored(contextidr),
            pc: pe.pc(),
            lr: without_signature(Va(pe.x_register(30))),
            frames: frames(pe),
            vectors: vectors(pe),
        }
    }
}

/// Names of a kernel's functions, wherever it runs.
pub struct Names {
    /// At the addresses at which it was linked.
    linked: Symbols,
    /// At physical addresses.
    physical: Symbols,
    /// Where the kernel runs that has its vectors there.
    by_vectors: BTreeMap<u64, Option<Symbols>>,
}

impl Names {
    /// Of a kernel that was entered at `entry`.
    #[must_use]
    pub fn new(symbols: &Symbols, entry: Pa) -> Self {
        let physical = physical_symbols(symbols, entry).unwrap_or_default();
        Self { linked: symbols.with_slide(0), physical, by_vectors: BTreeMap::new() }
    }

    /// The functions of a sample, from the outermost on. What has no name is called by its page.
    #[must_use]
    pub fn functions(&mut self, sample: &Sample) -> Vec<String> {
        for vbar in sample.vectors {
            // Few values are ever there.
            self.by_vectors.entry(vbar.0).or_insert_with(|| self.linked.with_vectors_at(vbar));
        }
        let name = |va| self.lookup(sample, va).map_or_else(|| page(va), |location| location.name.to_owned());
        let mut functions = vec![name(sample.pc)];
        // As in a diagnosis: a return address is behind the call.
        let before = |va: Va| va.add(4u64.wrapping_neg());
        if sample.lr.0 != 0 && is_caller(sample.lr, self.lookup(sample, sample.pc), &sample.frames) {
            functions.push(name(before(sample.lr)));
        }
        functions.extend(sample.frames.iter().map(|frame| match frame {
            Frame::Return(va) => name(before(*va)),
            Frame::Exception(va) => name(*va),
        }));
        functions.reverse();
        functions
    }

    fn lookup(&self, sample: &Sample, va: Va) -> Option<Location<'_>> {
        let own = sample.vectors.iter().filter_map(|vbar| self.by_vectors.get(&vbar.0)?.as_ref());
        // While a CPU is at EL0 with KPTI its vectors are elsewhere than the kernel.
        let known = || self.by_vectors.values().flatten();
        let physical = (sample.el != El::El0).then_some(&self.physical);
        let mut views = own.chain([&self.linked]).chain(known()).chain(physical);
        views.find_map(|view| view.lookup(va))
    }
}

fn page(va: Va) -> String {
    format!("{:#018x}", va.align_down(4096).0)
}
