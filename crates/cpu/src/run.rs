//! The block loop. Order at an instruction boundary: budget, pending asynchronous exceptions, fetch (alignment,
//! translation, permission), decode, execute.

use std::sync::atomic::{Ordering::Acquire, fence};

use arch::field::tcr_el1 as tcr;
use arch::{El, Va};
use bus::CpuLines;
use mmu::{AccessKind, Admission, Caching, Rights};
use sem::Privilege;

use crate::abort::AccessFault;
use crate::code::{Block, CodeCache, Op};
use crate::exception::Interrupt;
use crate::pe::Pe;
use crate::step::Step;
use crate::stop::{Exit, Stop};

/// What lay behind a line that was high.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// An interrupt, which was taken, or what peers sent.
    Interrupt,
    /// The PE's own wish to leave the loop.
    Attention,
}

/// What hears of the instructions that retire. The loop exists once for each, so that the one that does not listen costs
/// nothing.
trait Watcher {
    /// What is to be remembered from before a block.
    fn level(pe: &Pe) -> El;
    /// `ops` have retired at `level`.
    fn retired(pe: &mut Pe, level: El, ops: &[Op]);
}

/// Nobody.
struct Plain;

impl Watcher for Plain {
    #[inline(always)]
    fn level(_: &Pe) -> El {
        El::El0
    }
    #[inline(always)]
    fn retired(_: &mut Pe, _: El, _: &[Op]) {}
}

/// The PMU, where an event of single instructions is counted.
struct Each;

impl Watcher for Each {
    fn level(pe: &Pe) -> El {
        pe.pstate.el
    }
    fn retired(pe: &mut Pe, level: El, ops: &[Op]) {
        for op in ops {
            pe.pmu_retired(level, op.insn.word());
        }
    }
}

impl Pe {
    /// Executes until this PE's time reaches `until` ticks, or it has to ask the machine for something.
    pub fn run(&mut self, code: &mut CodeCache, until: u64) -> Exit {
        self.prepare_run(code);
        self.run_prepared(code, until)
    }

    /// Brings up to date what another turn, or the time that passed without instructions, may have changed.
    pub(crate) fn prepare_run(&mut self, code: &CodeCache) {
        self.update_timers();
        self.update_pmu();
        self.block_memory.follow(code);
        self.follow_code_marks();
    }

    /// [`Pe::run`], prepared.
    pub(crate) fn run_prepared(&mut self, code: &mut CodeCache, until: u64) -> Exit {
        if self.pmu_classifies() { self.run_until::<Each>(code, until) } else { self.run_until::<Plain>(code, until) }
    }

    fn run_until<W: Watcher>(&mut self, code: &mut CodeCache, until: u64) -> Exit {
        loop {
            let now = self.ticks();
            if now >= until {
                return Exit::Budget;
            }
            if self.lines.get() & self.unmasked != 0 {
                if self.take_interrupt() == Taken::Attention {
                    return Exit::Reschedule;
                }
                continue;
            }
            if code.has_stale() {
                code.drop_stale();
                self.block_memory.follow(code);
            }
            if let Err(exit) = self.run_block::<W>(code, until - now) {
                return exit;
            }
        }
    }

    /// Fetches and executes one block where no single instructions are counted.
    #[inline(never)]
    pub(crate) fn run_plain_block(&mut self, code: &mut CodeCache, budget: u64) -> Result<(), Exit> {
        self.run_block::<Plain>(code, budget)
    }

    /// Fetches and executes one block, at most `budget` instructions of it.
    #[inline(always)]
    fn run_block<W: Watcher>(&mut self, code: &mut CodeCache, budget: u64) -> Result<(), Exit> {
        let start = self.pc;
        let block = match self.block_memory.find(start, self.contexts_fetch.of(Va(start))) {
            Some(block) => block,
            None => match self.find_block(code) {
                Some(block) => block,
                None => return self.exit.take().map_or(Ok(()), Err),
            },
        };
        let ops = code.ops(block);
        let count = (ops.len() as u64).min(if self.single { 1 } else { budget }) as usize;
        let ops = &ops[..count];
        self.next_pc = start.wrapping_add(4 * count as u64);
        // Where it ends earlier, the instruction's offset says how many are done: the loop counts nothing.
        let mut done = count;
        let mut stop = None;
        let level = W::level(self);
        for op in ops {
            if let Err(reason) = (op.run)(self, op.insn) {
                stop = Some(reason);
                done = op.insn.offset() as usize / 4;
                break;
            }
            if self.leave_block {
                self.leave_block = false;
                done = op.insn.offset() as usize / 4 + 1;
                if done < count {
                    self.next_pc = start.wrapping_add(4 * done as u64);
                }
                break;
            }
        }
        match stop {
            None => {
                self.insns += done as u64;
                self.pc = self.next_pc;
                W::retired(self, level, &ops[..done]);
                if self.single {
                    let word = ops.first().map_or(0, |op| op.insn.word());
                    self.stepped(word);
                }
                Ok(())
            }
            Some(reason) => {
                W::retired(self, level, &ops[..done + usize::from(reason.completes())]);
                if reason == Stop::Exception {
                    // In bounds: instruction `done` is the one that stopped.
                    let word = ops.get(done).map_or(0, |op| op.insn.word());
                    self.complete_syndrome(word);
                }
                self.stopped(reason, start, done, count)
            }
        }
    }

    /// Gives up writing unseen to pages that have become code, on this PE or another, since the last call.
    #[inline(always)]
    pub(crate) fn follow_code_marks(&mut self) {
        let marks = self.ram.code_marks();
        if self.code_marks != marks {
            self.code_marks = marks;
            let (ram, beside_peers) = (&self.ram, self.peers.is_some());
            self.fast.drop_writes_to(|offset| {
                let is_code = ram.is_code(offset);
                if is_code && beside_peers {
                    // It may have written there since another PE decoded it.
                    ram.note_write(offset, 1);
                }
                is_code
            });
        }
    }

    /// Finds the block at the PC by translation, decoding it if it is new; `None` where the fetch faults, which is taken.
    #[inline(never)]
    fn find_block(&mut self, code: &mut CodeCache) -> Option<Block> {
        if self.debugger.is_some() && self.debugger_stops() {
            return None;
        }
        if self.step_on && self.step() == Step::Taken {
            return None;
        }
        if self.pstate.btype != 0 {
            return self.land(code);
        }
        let block = self.fetch_block(code);
        if block.is_err() {
            self.take_pending(self.pc);
        }
        block.ok()
    }

    /// The same, with the exception left to be taken.
    pub(crate) fn fetch_block(&mut self, code: &mut CodeCache) -> Result<Block, Stop> {
        let pc = self.pc;
        // A misaligned PC meets the alignment check in `fetch`.
        let simple = pc & 3 == 0 && self.pstate.il == 0 && !self.breakpoints_on;
        let fetched = if simple { self.fast.lookup_fetch(Va(pc), self.contexts.of(Va(pc)), 4) } else { None };
        let offset = match fetched {
            Some(offset) => offset,
            None => self.fetch(pc)?,
        };
        let block = code.block(offset);
        self.block_memory.follow(code);
        self.follow_code_marks();
        if let Some(limit) = self.debugger_limit(pc) {
            let limit = limit.min(block.len());
            return Ok(block.first(if self.breakpoints_on { self.free_of_breakpoints(pc, limit) } else { limit }));
        }
        if self.breakpoints_on {
            return Ok(block.first(self.free_of_breakpoints(pc, block.len())));
        }
        // A fetch under illegal execution state never gets here. A step must be looked at each time; while each
        // access must be, there is no context to remember under.
        if !self.step_on && !self.looks_at_accesses() {
            self.block_memory.remember(pc, self.contexts.of(Va(pc)), block);
        }
        Ok(block)
    }

    /// Instruction number `done` of the block at `start` stopped.
    fn stopped(&mut self, reason: Stop, start: u64, done: usize, count: usize) -> Result<(), Exit> {
        self.leave_block = false;
        let here = start.wrapping_add(4 * done as u64);
        let complete = reason.completes();
        self.insns += done as u64 + u64::from(complete);
        let next = if done + 1 < count { here.wrapping_add(4) } else { self.next_pc };
        self.pc = if complete { next } else { here };
        if self.single && complete {
            // Load-exclusives do not stop after they are complete.
            self.stepped(0);
        }
        self.single = false;
        match reason {
            Stop::EndBlock => Ok(()),
            Stop::Exception | Stop::ExceptionAfter => {
                self.take_pending(self.pc);
                Ok(())
            }
            Stop::Leave | Stop::Tool => Err(self.exit.take().unwrap_or(Exit::Yield)),
        }
    }

    /// Translates a fetch: the offset of the instruction at `pc` in RAM, or in flash behind it.
    #[inline(never)]
    fn fetch(&mut self, pc: u64) -> Result<u64, Stop> {
        if pc & 3 != 0 {
            return Err(self.pc_alignment_fault(pc));
        }
        let access = self.mmu_access(AccessKind::Fetch, Privilege::Current);
        let entry = match self.translate(Va(pc), access) {
            Ok(entry) => entry,
            Err(fault) => return Err(self.instruction_abort(pc, AccessFault::Mmu(fault))),
        };
        if self.breakpoints_on && self.breakpoint_at(pc) {
            return Err(self.breakpoint());
        }
        // Of lower priority than what the fetch itself meets (DDI 0487 D1.3.5.5). The context for fetches is never valid in
        // this state, so every fetch comes here.
        if self.pstate.il != 0 {
            return Err(self.illegal_state());
        }
        match self.bus.contents(entry.output(Va(pc)), 4) {
            Some(offset) => {
                if entry.caching != Caching::Never {
                    if self.context_table.admit(&mut self.fast, &entry) == Admission::Renewed {
                        self.context_changed();
                    }
                    self.fast.fill(Va(pc), self.contexts.of(Va(pc)), offset, Rights::FETCH);
                }
                Ok(offset)
            }
            None => Err(self.instruction_abort(pc, AccessFault::External)),
        }
    }

    /// Takes the highest-priority unmasked interrupt. The order among them is the implementation's choice:
    /// SError, FIQ, IRQ, and physical ones before virtual ones.
    #[inline(never)]
    fn take_interrupt(&mut self) -> Taken {
        let lines = self.lines.get() & self.unmasked;
        if lines & CpuLines::MAIL != 0 {
            self.serve_mail();
            return Taken::Interrupt;
        }
        if self.peers.is_some() {
            // What the sender of the interrupt did before is seen behind it.
            fence(Acquire);
        }
        if lines & CpuLines::SERROR != 0 {
            self.lines.drive(CpuLines::SERROR, bus::Level::Low);
            self.take_physical(Interrupt::SError);
        } else if lines & CpuLines::SEI_TO_EL2 != 0 {
            self.lines.drive(CpuLines::SEI_TO_EL2, bus::Level::Low);
            self.take_system_error(El::El2);
        } else if lines & CpuLines::FIQ != 0 {
            self.take_physical(Interrupt::Fiq);
        } else if lines & CpuLines::IRQ != 0 {
            self.take_physical(Interrupt::Irq);
        } else if lines & CpuLines::HCR_VSE != 0 {
            self.lines.drive(CpuLines::HCR_VSE, bus::Level::Low);
            self.take_virtual(Interrupt::SError);
        } else if lines & CpuLines::SEI_VIRTUAL != 0 {
            self.lines.drive(CpuLines::SEI_VIRTUAL, bus::Level::Low);
            self.take_system_error(El::El1);
        } else if lines & (CpuLines::VFIQ | CpuLines::HCR_VF) != 0 {
            self.take_virtual(Interrupt::Fiq);
        } else if lines & (CpuLines::VIRQ | CpuLines::HCR_VI) != 0 {
            self.take_virtual(Interrupt::Irq);
        } else {
            self.unmasked &= !CpuLines::ATTENTION;
            return Taken::Attention;
        }
        Taken::Interrupt
    }

    /// Where a branch to `target` goes: with TBI (and without TBID) the tag is not part of the address
    /// (AArch64.BranchAddr, DDI 0487 J1.1).
    #[cold]
    pub(crate) fn branch_address(&self, target: u64) -> u64 {
        let control = self.translation_control();
        let upper = target >> 55 & 1 == 1;
        let (tbi, tbid) = if upper { (tcr::TBI1, tcr::TBID1) } else { (tcr::TBI0, tcr::TBID0) };
        if !tbi.is_set(control) || tbid.is_set(control) { target } else { ((target << 8) as i64 >> 8) as u64 }
    }
}
