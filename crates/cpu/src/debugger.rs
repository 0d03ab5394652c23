//! What a debugger outside the machine asks of a PE, hidden from the guest: breakpoints and watchpoints that change nothing
//! in its memory and registers, and looks at its state.
//!
//! Blocks of a page with a breakpoint are not remembered, so that each comes to [`Pe::find_block`]; a page with a watched
//! byte stays out of the fast cache, so that each access comes to [`Pe::watch`]. Both only spare work, so the guest goes the
//! same way with and without.

use std::collections::BTreeSet;

use arch::{El, Pa, Va};
use bus::ram::CODE_PAGE;
use mmu::{AccessKind, Privilege};

use crate::eval::Q;
use crate::pe::Pe;
use crate::pstate::Pstate;
use crate::stop::{Exit, Stop};

/// Which accesses a watchpoint stops at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// Loads.
    Reads,
    /// Stores and atomics.
    Writes,
    /// Both.
    Both,
}

/// A watchpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DebuggerWatch {
    /// First address.
    pub va: u64,
    /// Bytes, at least 1.
    pub bytes: u64,
    /// What stops.
    pub watched: Watched,
}

/// Where a PE stops for a debugger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Debugger {
    /// Addresses of instructions, before they execute.
    pub breakpoints: BTreeSet<u64>,
    /// Watchpoints; the PE stops before the access.
    pub watchpoints: Vec<DebuggerWatch>,
}

/// Why a PE stopped for a debugger. The instruction at its PC has not executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebuggerStop {
    /// There is a breakpoint.
    Breakpoint,
    /// It accesses what is watched.
    Watchpoint {
        /// The first watched address.
        va: Va,
        /// What the watchpoint stops at.
        watched: Watched,
    },
}

impl Debugger {
    fn page(va: u64) -> std::ops::RangeInclusive<u64> {
        let first = va & !(CODE_PAGE - 1);
        first..=first | (CODE_PAGE - 1)
    }
}

impl Pe {
    /// Stops where `debugger` says; `None`: nowhere.
    pub fn set_debugger(&mut self, debugger: Option<Debugger>) {
        self.debugger = debugger.map(Box::new);
        self.block_memory.forget();
        self.fast.invalidate_all();
    }

    /// Is there a breakpoint at the PC? Then that is why the PE leaves.
    #[cold]
    pub(crate) fn debugger_stops(&mut self) -> bool {
        let stops = self.debugger.as_ref().is_some_and(|debugger| debugger.breakpoints.contains(&self.pc));
        if stops {
            self.exit = Some(Exit::Debugger(DebuggerStop::Breakpoint));
        }
        stops
    }

    /// How many instructions from `pc` on may execute before the next breakpoint; `None` where its page has none.
    pub(crate) fn debugger_limit(&self, pc: u64) -> Option<u32> {
        let breakpoints = &self.debugger.as_ref()?.breakpoints;
        breakpoints.range(Debugger::page(pc)).next()?;
        let next = breakpoints.range(pc.saturating_add(1)..).next().filter(|next| Debugger::page(pc).contains(next));
        Some(next.map_or(u32::MAX, |next| ((next - pc) / 4).max(1) as u32))
    }

    /// Must accesses to the page of `va` be looked at?
    pub(crate) fn debugger_watches_page(&self, va: u64) -> bool {
        let page = Debugger::page(va);
        self.debugger.as_ref().is_some_and(|debugger| {
            let touches = |w: &DebuggerWatch| w.va <= *page.end() && w.va.saturating_add(w.bytes - 1) >= *page.start();
            debugger.watchpoints.iter().any(touches)
        })
    }

    /// Leaves before an access that is watched.
    #[cold]
    pub(crate) fn debugger_watch(&mut self, va: u64, bytes: u64, kind: AccessKind) -> Result<(), Stop> {
        let write = kind != AccessKind::Read;
        let hits = |w: &&DebuggerWatch| {
            let overlaps = w.va <= va.saturating_add(bytes - 1) && w.va.saturating_add(w.bytes - 1) >= va;
            overlaps && w.watched != if write { Watched::Reads } else { Watched::Writes }
        };
        let Some(hit) = self.debugger.as_ref().and_then(|d| d.watchpoints.iter().find(hits)).copied() else {
            return Ok(());
        };
        let stop = DebuggerStop::Watchpoint { va: Va(hit.va.max(va)), watched: hit.watched };
        self.exit = Some(Exit::Debugger(stop));
        Err(Stop::Tool)
    }

    /// Where `va` lies, by a walk that leaves no trace; for whoever may do all.
    #[must_use]
    pub fn probe(&self, va: Va) -> Option<Pa> {
        let access = mmu::Access::new(AccessKind::AtRead, Privilege::El1);
        let entry = if self.stage1.stage2.is_on() {
            mmu::walk_two(&self.stage1, &self.stage2, va, access, &*self.bus).ok()?
        } else {
            mmu::walk(&self.stage1, va, access, &*self.bus).ok()?
        };
        Some(entry.output(va))
    }

    /// Vn.
    #[must_use]
    pub fn v_register(&self, n: usize) -> u128 {
        self.q[n & 31].0
    }
    /// Writes Vn.
    pub fn set_v_register(&mut self, n: usize, value: u128) {
        self.q[n & 31] = Q(value);
    }
    /// FPSR and FPCR.
    #[must_use]
    pub fn fp_status_and_control(&self) -> (u64, u64) {
        (self.fpsr, self.fpcr)
    }
    /// Writes the current stack pointer.
    pub fn set_sp(&mut self, value: u64) {
        self.sp = value;
    }
    /// Writes PSTATE, from an SPSR. `None`, and nothing changes, where it is at another level or of AArch32.
    pub fn set_pstate_bits(&mut self, spsr: u64) -> Option<()> {
        let to = self.legalise(Pstate::from_spsr(spsr));
        // M[4] and M[1] are clear in all states of AArch64, SP_EL0 is the only one at EL0.
        let exists = spsr & 0x12 == 0 && (to.el != El::El0 || spsr & 1 == 0);
        if !exists || to.el != self.pstate.el {
            return None;
        }
        self.nzcv = spsr & 0xf000_0000;
        self.set_pstate(to);
        // The mask of debug exceptions, and the step's state.
        self.context_changed();
        Some(())
    }
}
