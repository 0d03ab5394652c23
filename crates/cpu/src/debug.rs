//! Breakpoints and watchpoints. DDI 0487 D2.8 to D2.10; the shared pseudocode AArch64.BreakpointMatch, WatchpointMatch and
//! StateMatch, in Non-secure state.
//!
//! While one is armed, no context of the fast caches is valid for what it looks at (fetches, or all accesses), so that
//! each comes to the checks here; else nothing is paid.

use arch::esr::{self, Watchpoint};
use arch::field::{dbgbcr_el1 as bcr, dbgwcr_el1 as wcr, mdscr_el1};
use arch::sysreg::Reg;
use arch::{El, Va};
use mmu::{AccessKind, Privilege as MmuPrivilege};
use sem::Privilege;

use crate::pe::Pe;
use crate::stop::Stop;

/// `DBGBCRn_EL1.BT`.
mod breakpoint_type {
    pub const ADDRESS: u64 = 0;
    pub const LINKED_ADDRESS: u64 = 1;
    pub const CONTEXT_ID: u64 = 2;
    pub const LINKED_CONTEXT_ID: u64 = 3;
}

/// Bits of an address that are compared: a tag is none of them.
const ADDRESS: u64 = 0x00ff_ffff_ffff_ffff;

/// Which levels a breakpoint or a watchpoint is for: fields that both control registers have.
#[derive(Clone, Copy)]
struct Levels {
    /// PMC or PAC.
    privilege: u64,
    hmc: u64,
    ssc: u64,
}

impl Levels {
    /// AArch64.StateMatch without EL3, for Non-secure state. Reserved combinations match as the pseudocode computes.
    fn contain(self, el: El) -> bool {
        const SECURE_ONLY: u64 = 2;
        let el2 = (self.hmc == 1 && !(self.ssc == SECURE_ONLY && self.privilege == 0)) || self.ssc == 3;
        let level = match el {
            El::El0 => self.privilege & 2 != 0,
            El::El1 => self.privilege & 1 != 0,
            El::El2 => el2,
            El::El3 => false,
        };
        level && self.ssc != SECURE_ONLY
    }
}

/// The register `n` places after `first`.
fn numbered(first: Reg, n: u8) -> Reg {
    Reg::ALL[first as usize + usize::from(n)]
}

impl Pe {
    /// Is a breakpoint, is a watchpoint armed in the current state?
    pub(crate) fn armed(&self) -> (bool, bool) {
        let p = self.pstate;
        let monitor = mdscr_el1::MDE.is_set(self.reg(Reg::MDSCR_EL1)) && self.debug_enabled(p.el, p.daif >> 3);
        let any = |first, count| (0..count).any(|n| self.reg(numbered(first, n)) & 1 == 1);
        if !monitor {
            return (false, false);
        }
        (any(Reg::DBGBCR0_EL1, self.model.breakpoints), any(Reg::DBGWCR0_EL1, self.model.watchpoints))
    }

    /// Does a breakpoint match the instruction at `pc`?
    pub(crate) fn breakpoint_at(&self, pc: u64) -> bool {
        (0..self.model.breakpoints).any(|n| {
            let control = self.reg(numbered(Reg::DBGBCR0_EL1, n));
            let levels =
                Levels { privilege: bcr::PMC.get(control), hmc: bcr::HMC.get(control), ssc: bcr::SSC.get(control) };
            if !bcr::E.is_set(control) || !levels.contain(self.pstate.el) {
                return false;
            }
            let here = || (pc ^ self.reg(numbered(Reg::DBGBVR0_EL1, n))) & ADDRESS & !3 == 0;
            match bcr::BT.get(control) {
                breakpoint_type::ADDRESS => here(),
                breakpoint_type::LINKED_ADDRESS => here() && self.linked_context(bcr::LBN.get(control)),
                breakpoint_type::CONTEXT_ID => self.context_matches(n),
                // Linked ones act through what links to them; mismatches are for AArch32; VMIDs are not compared.
                _ => false,
            }
        })
    }

    /// How many instructions from `pc`, `limit` at most, may execute before the next breakpoint must be looked for.
    pub(crate) fn free_of_breakpoints(&self, pc: u64, limit: u32) -> u32 {
        (1..limit).find(|n| self.breakpoint_at(pc.wrapping_add(4 * u64::from(*n)))).unwrap_or(limit)
    }

    /// Does breakpoint `n`, which compares the context ID, match now?
    fn context_matches(&self, n: u8) -> bool {
        let aware = n < self.model.breakpoints && n >= self.model.breakpoints - self.model.context_breakpoints;
        let wanted = self.reg(numbered(Reg::DBGBVR0_EL1, n));
        aware && self.pstate.el <= El::El1 && (self.reg(Reg::CONTEXTIDR_EL1) ^ wanted) as u32 == 0
    }

    /// Does breakpoint `n`, to which another one links, match now?
    fn linked_context(&self, n: u64) -> bool {
        let n = n as u8;
        if n >= self.model.breakpoints {
            return false;
        }
        let control = self.reg(numbered(Reg::DBGBCR0_EL1, n));
        bcr::E.is_set(control) && bcr::BT.get(control) == breakpoint_type::LINKED_CONTEXT_ID && self.context_matches(n)
    }

    /// Raises a Watchpoint exception where one of `bytes` at `va` is watched for what `kind` does. Comes behind what
    /// translation and alignment have to say.
    #[inline(always)]
    pub(crate) fn watch(&mut self, va: u64, bytes: u64, kind: AccessKind, privilege: Privilege) -> Result<(), Stop> {
        if self.watchpoints_on { self.watch_armed(va, bytes, kind, privilege) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn watch_armed(&mut self, va: u64, bytes: u64, kind: AccessKind, privilege: Privilege) -> Result<(), Stop> {
        let write = kind == AccessKind::Write;
        let el0 = self.mmu_access(kind, privilege).privilege == MmuPrivilege::El0;
        let el = if el0 { El::El0 } else { self.pstate.el };
        for at in (0..bytes).map(|n| va.wrapping_add(n)) {
            if (0..self.model.watchpoints).any(|n| self.watchpoint_at(n, at, write, el)) {
                let watchpoint = Watchpoint { write, cache_maintenance: false, number: None };
                return Err(self.raise_debug(watchpoint.syndrome(), Some(Va(at))));
            }
        }
        Ok(())
    }

    /// Does watchpoint `n` watch the byte at `va`?
    fn watchpoint_at(&self, n: u8, va: u64, write: bool, el: El) -> bool {
        let control = self.reg(numbered(Reg::DBGWCR0_EL1, n));
        let value = self.reg(numbered(Reg::DBGWVR0_EL1, n));
        let levels =
            Levels { privilege: wcr::PAC.get(control), hmc: wcr::HMC.get(control), ssc: wcr::SSC.get(control) };
        let direction = wcr::LSC.get(control) & if write { 2 } else { 1 } != 0;
        // A word-aligned address watches four bytes by BAS[3:0].
        let unit = if value & 4 != 0 { 3 } else { 7 };
        let selected = wcr::BAS.get(control) >> (va & unit) & 1 == 1;
        // MASK 1 and 2 are reserved.
        let mask = wcr::MASK.get(control);
        let ignored = if mask > 2 { (1 << mask) - 1 } else { unit };
        wcr::E.is_set(control)
            && levels.contain(el)
            && direction
            && selected
            && (va ^ value) & ADDRESS & !ignored == 0
            && (!wcr::WT.is_set(control) || self.linked_context(wcr::LBN.get(control)))
    }

    /// The Breakpoint exception.
    pub(crate) fn breakpoint(&mut self) -> Stop {
        self.raise_debug(esr::BREAKPOINT, None)
    }
}
