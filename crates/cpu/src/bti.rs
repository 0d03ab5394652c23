//! Branch target identification (FEAT_BTI). DDI 0487 D8.4.
//!
//! PSTATE.BTYPE is not 0 only between an indirect branch and the instruction it leads to. While it is set no fetch
//! context is valid, so that the block loop comes to [`Pe::land`], and pays nothing otherwise.

use arch::esr::bti;
use arch::field::sctlr_el1 as sctlr;
use arch::{El, Va};
use mmu::{AccessKind, CtxPair, Guarded};
use sem::{BranchKind, Privilege};

use crate::code::{Block, CodeCache};
use crate::pe::Pe;

const PACIASP: u32 = 0xd503_233f;
const PACIBSP: u32 = 0xd503_237f;
const BTI_C: u32 = 0xd503_245f;
const BTI_J: u32 = 0xd503_249f;
const BTI_JC: u32 = 0xd503_24df;

/// BRK.
const fn is_breakpoint(word: u32) -> bool {
    word & 0xffe0_001f == 0xd420_0000
}

/// HLT.
const fn is_halt(word: u32) -> bool {
    word & 0xffe0_001f == 0xd440_0000
}

impl Pe {
    /// An indirect branch of the running block sets PSTATE.BTYPE.
    #[inline(never)]
    pub(crate) fn set_branch_type(&mut self, kind: BranchKind) {
        self.pstate.btype = match kind {
            BranchKind::IndirectCall => 2,
            // A block does not leave its page: its start is as guarded as the branch.
            BranchKind::Indirect if self.is_guarded(self.pc) => 3,
            BranchKind::Indirect | BranchKind::IndirectVeneer => 1,
            BranchKind::Direct | BranchKind::Call | BranchKind::Return => return,
        };
        self.contexts_fetch = CtxPair::NEVER;
    }

    /// Is the code at `pc` in a guarded page? Where it does not translate, no.
    fn is_guarded(&mut self, pc: u64) -> bool {
        let access = self.mmu_access(AccessKind::Fetch, Privilege::Current);
        self.translate(Va(pc), access).is_ok_and(|entry| entry.guarded == Guarded::Yes)
    }

    /// Finds the block that an indirect branch led to; `None` where that is an exception, which is taken.
    pub(crate) fn land(&mut self, code: &mut CodeCache) -> Option<Block> {
        let (pc, btype) = (self.pc, std::mem::take(&mut self.pstate.btype));
        if self.pstate.il == 0 && !self.step_on && !self.breakpoints_on && !self.looks_at_accesses() {
            self.contexts_fetch = self.contexts;
        }
        if let Some(block) = self.block_memory.find_landing(pc, self.contexts_fetch.of(Va(pc)), btype) {
            return Some(block);
        }
        let Ok(block) = self.fetch_block(code) else {
            return self.do_not_land(btype);
        };
        let word = code.ops(block).first().map_or(0, |op| op.insn.word());
        if self.is_guarded(pc) && !self.accepts_branch(word, btype) {
            self.raise(bti(btype), None);
            return self.do_not_land(btype);
        }
        if is_breakpoint(word) {
            // Of the exceptions that an instruction raises itself, BRK alone has BTYPE in its SPSR (AArch64.TakeException).
            self.pstate.btype = btype;
        } else {
            self.block_memory.remember_landing(pc, self.contexts.of(Va(pc)), btype);
        }
        Some(block)
    }

    /// Takes the pending exception with PSTATE.BTYPE as the branch set it.
    fn do_not_land(&mut self, btype: u8) -> Option<Block> {
        self.pstate.btype = btype;
        self.take_pending(self.pc);
        None
    }

    /// May a branch of that type lead to instruction `word` in a guarded page (BTypeCompatible)?
    fn accepts_branch(&self, word: u32, btype: u8) -> bool {
        match word {
            BTI_JC => true,
            BTI_C => btype != 3,
            BTI_J => btype != 2,
            PACIASP | PACIBSP => {
                let strict = if self.pstate.el == El::El0 { sctlr::BT0 } else { sctlr::BT1 };
                btype != 3 || !strict.is_set(self.control())
            }
            _ => is_breakpoint(word) || is_halt(word),
        }
    }
}
