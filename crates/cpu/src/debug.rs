//! Breakpoints and watchpoints. DDI 0487 D2.8 to D2.10; the shared pseudocode AArch64.BreakpointMatch, WatchpointMatch and
//! StateMatch, in Non-secure state.
//!
//! While one is armed, no context of the fast caches is valid for what it looks at (fetches, or all accesses), so that
//! each comes to the checks here; else nothing is paid.

use arch::esr::{self, Watchpoint};
use arch::feature::Feature;
use arch::field::{dbgbcr_el1 as bcr, dbgwcr_el1 as wcr, mdscr_el1};
use arch::sysreg::Reg;
use arch::{El, Va};
use mmu::{AccessKind, Privilege as MmuPrivilege};
use sem::Privilege;

use crate::pe::Pe;
use crate::stop::Stop;

/// What the low half of `DBGBVRn_EL1`, or all of it, is compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compared {
    /// The address of the instruction.
    Address,
    /// The context ID of whoever runs: of a host at EL2, else of EL1.
    Context,
    /// CONTEXTIDR_EL1.
    Context1,
    /// Nothing.
    Nothing,
}

/// What the upper half is compared with, where the low one is no address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ComparedAbove {
    Vmid,
    /// CONTEXTIDR_EL2.
    Context2,
    Nothing,
}

/// What `DBGBCRn_EL1.BT` makes a breakpoint compare (AArch64.BreakpointValueMatch).
#[derive(Clone, Copy)]
struct Kind {
    low: Compared,
    above: ComparedAbove,
    /// An address that links, or a context that is linked to.
    linked: bool,
}

impl Kind {
    /// `None` for the reserved types, which act as disabled: mismatches, which AArch64 does not have, and what needs EL2 or
    /// FEAT_VHE (or FEAT_Debugv8p2) where they are not.
    fn of(bt: u64, el2: bool, contexts_of_el2: bool) -> Option<Self> {
        let (low, above) = match bt >> 1 {
            0b000 => (Compared::Address, ComparedAbove::Nothing),
            0b001 => (Compared::Context, ComparedAbove::Nothing),
            0b011 if contexts_of_el2 => (Compared::Context1, ComparedAbove::Nothing),
            0b100 if el2 => (Compared::Nothing, ComparedAbove::Vmid),
            0b101 if el2 => (Compared::Context1, ComparedAbove::Vmid),
            0b110 if el2 && contexts_of_el2 => (Compared::Nothing, ComparedAbove::Context2),
            0b111 if el2 && contexts_of_el2 => (Compared::Context1, ComparedAbove::Context2),
            _ => return None,
        };
        Some(Self { low, above, linked: bt & 1 == 1 })
    }
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
            match self.breakpoint_kind(n) {
                Some(kind) if kind.low == Compared::Address => {
                    here() && (!kind.linked || self.linked_context(bcr::LBN.get(control)))
                }
                // Linked ones act through what links to them.
                Some(kind) => !kind.linked && self.context_matches(n, kind),
                None => false,
            }
        })
    }

    fn breakpoint_kind(&self, n: u8) -> Option<Kind> {
        let contexts_of_el2 = self.model.has(Feature::FEAT_VHE) || self.model.has(Feature::FEAT_Debugv8p2);
        Kind::of(bcr::BT.get(self.reg(numbered(Reg::DBGBCR0_EL1, n))), self.has_el2(), contexts_of_el2)
    }

    /// How many instructions from `pc`, `limit` at most, may execute before the next breakpoint must be looked for.
    pub(crate) fn free_of_breakpoints(&self, pc: u64, limit: u32) -> u32 {
        (1..limit).find(|n| self.breakpoint_at(pc.wrapping_add(4 * u64::from(*n)))).unwrap_or(limit)
    }

    /// Does breakpoint `n`, which compares contexts and VMIDs, match now?
    fn context_matches(&self, n: u8, kind: Kind) -> bool {
        let aware = n < self.model.breakpoints && n >= self.model.breakpoints - self.model.context_breakpoints;
        let wanted = self.reg(numbered(Reg::DBGBVR0_EL1, n));
        let (el, host) = (self.pstate.el, self.is_host());
        let guest = el <= El::El1 && !host;
        let same = |context: Reg, wanted: u64| (self.reg(context) ^ wanted) as u32 == 0;
        let low = match kind.low {
            Compared::Context if host => same(Reg::CONTEXTIDR_EL2, wanted),
            Compared::Context | Compared::Context1 => guest && same(Reg::CONTEXTIDR_EL1, wanted),
            Compared::Address | Compared::Nothing => true,
        };
        let above = match kind.above {
            // Of 8 or 16 bits as VTCR_EL2.VS says.
            ComparedAbove::Vmid => {
                guest && (wanted >> 32 ^ u64::from(self.stage2.vmid)) & u64::from(self.stage2.vmid_mask) == 0
            }
            ComparedAbove::Context2 => same(Reg::CONTEXTIDR_EL2, wanted >> 32),
            ComparedAbove::Nothing => true,
        };
        aware && low && above
    }

    /// Does breakpoint `n`, to which another one links, match now?
    fn linked_context(&self, n: u64) -> bool {
        let n = n as u8;
        if n >= self.model.breakpoints {
            return false;
        }
        let kind = self.breakpoint_kind(n).filter(|kind| kind.linked && kind.low != Compared::Address);
        bcr::E.is_set(self.reg(numbered(Reg::DBGBCR0_EL1, n))) && kind.is_some_and(|kind| self.context_matches(n, kind))
    }

    /// Raises a Watchpoint exception where one of `bytes` at `va` is watched for what `kind` does. Comes behind what
    /// translation and alignment have to say.
    #[inline(always)]
    pub(crate) fn watch(&mut self, va: u64, bytes: u64, kind: AccessKind, privilege: Privilege) -> Result<(), Stop> {
        if self.debugger.is_some() {
            self.debugger_watch(va, bytes, kind)?;
        }
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
