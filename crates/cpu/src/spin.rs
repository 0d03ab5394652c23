//! Loops that only wait: loads, arithmetic, branches and barriers that lead back to where they began, with the same
//! registers. Within a PE's turn nobody else writes to memory or drives a line, and devices' registers are not among what
//! such a loop reads, so each further pass is the same. It is counted and not executed: registers, times and counts are
//! those of a PE that executed it, so no guest can tell, and a run with other turns, or from a snapshot, is the same.

use event::{BarrierKind, Detail, Event};
use sem::footprint::{AccessKind, Control};
use sem::{BarrierOp, BranchKind, System};

use crate::code::CodeCache;
use crate::footprint::footprint;
use crate::pe::Pe;
use crate::stop::Exit;

/// What an instruction is to a loop that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// It reads memory and registers, and writes registers of `Registers` or branches.
    Plain,
    /// An event counts it.
    Barrier(BarrierKind),
    /// No loop with it is looked at.
    Foreign,
}

impl Part {
    /// That of `word`.
    pub(crate) fn of(word: u32) -> Self {
        let Some(footprint) = footprint(word) else { return Self::Foreign };
        let branches = match footprint.control {
            Control::Next | Control::BranchIf => true,
            // The others may set PSTATE.BTYPE.
            Control::Branch(kind) => matches!(kind, BranchKind::Direct | BranchKind::Call | BranchKind::Return),
            Control::NotDone => false,
        };
        let loads = footprint.memory.iter().all(|touch| touch.kind == AccessKind::Read);
        let others = footprint.fp_check
            || !footprint.tags.is_empty()
            || !footprint.assists.is_empty()
            || !footprint.calls.is_empty();
        if !branches || !loads || others {
            return Self::Foreign;
        }
        match footprint.system[..] {
            [] => Self::Plain,
            [System::Barrier(op, _)] => Self::Barrier(barrier_kind(op)),
            _ => Self::Foreign,
        }
    }
}

pub(crate) fn barrier_kind(op: BarrierOp) -> BarrierKind {
    match op {
        BarrierOp::Dmb | BarrierOp::DmbLd | BarrierOp::DmbSt => BarrierKind::Dmb,
        BarrierOp::Dsb => BarrierKind::Dsb,
        BarrierOp::Isb => BarrierKind::Isb,
        BarrierOp::Sb => BarrierKind::Sb,
    }
}

/// All that an instruction of a loop that waits may write, beside the PC. A load-exclusive's mark is not read in it.
#[derive(PartialEq, Eq)]
struct Registers {
    x: [u64; 32],
    sp: u64,
    nzcv: u64,
}

impl Registers {
    fn of(pe: &Pe) -> Self {
        Self { x: pe.x, sp: pe.sp, nzcv: pe.nzcv }
    }
}

impl Pe {
    /// As [`Pe::run`], but passes over a loop that only waits. Worth it where a turn begins: a PE that waits then does so
    /// in its whole turn.
    pub fn run_waiting(&mut self, code: &mut CodeCache, until: u64) -> Exit {
        self.prepare_run(code);
        if self.may_pass_over()
            && let Err(exit) = self.pass_over(code, until)
        {
            return exit;
        }
        self.run_prepared(code, until)
    }

    /// Is nothing to be noticed at each instruction?
    fn may_pass_over(&self) -> bool {
        !self.pmu_classifies()
            && !self.step_on
            && !self.breakpoints_on
            && !self.looks_at_accesses()
            && self.detail == Detail::Plain
    }

    fn pass_over(&mut self, code: &mut CodeCache, until: u64) -> Result<(), Exit> {
        /// The longest loop that is noticed, in blocks.
        const BLOCKS: usize = 6;
        /// The first pass brings registers to where they stay and fills caches of translations.
        const PASSES: usize = 3;
        // From where the last turn ended inside a block to the begin of one. It may be anywhere in the loop.
        if !self.one_block(code, until)? {
            return Ok(());
        }
        let begin = self.pc;
        for _ in 0..PASSES {
            let mut barriers = Vec::new();
            let mut registers = None;
            let (insns, translations, time) = (self.insns, self.translations, self.ticks());
            for _ in 0..BLOCKS {
                let context = self.contexts_fetch.of(arch::Va(self.pc));
                let Some(block) = self.block_memory.find(self.pc, context) else { return Ok(()) };
                if !code.only_waits(block, &mut barriers) {
                    return Ok(());
                }
                let registers = registers.get_or_insert_with(|| Registers::of(self));
                if !self.one_block(code, until)? {
                    return Ok(());
                }
                if self.pc != begin {
                    continue;
                }
                let pass = self.insns - insns;
                // A tick without an instruction would be an exception; a translation may count in an event, or be a device's.
                let is_steady = self.translations == translations && self.ticks() - time == pass;
                if is_steady && *registers == Registers::of(self) {
                    self.count_passes(until.saturating_sub(self.ticks()) / pass, pass, &barriers);
                    return Ok(());
                }
                break;
            }
            if self.pc != begin {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Executes one block, if there is time and nothing comes before it.
    fn one_block(&mut self, code: &mut CodeCache, until: u64) -> Result<bool, Exit> {
        let now = self.ticks();
        if now >= until || self.lines.get() & self.unmasked != 0 || code.has_stale() {
            return Ok(false);
        }
        self.run_plain_block(code, until - now)?;
        Ok(true)
    }

    /// `passes` times `pass` instructions, with `barriers` among each.
    fn count_passes(&mut self, passes: u64, pass: u64, barriers: &[BarrierKind]) {
        for kind in barriers {
            self.emit(Event::Barriers { kind: *kind, times: passes });
        }
        self.insns += passes * pass;
    }
}
