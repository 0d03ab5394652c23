//! Translation as the PE uses it, AT and TLBI.

use arch::feature::Feature;
use arch::field::hcr_el2 as hcr;
use arch::sysreg::{Enc, Reg};
use arch::{El, Va};
use event::{Event, WalkCause};
use mmu::{
    AccessKind, Entry, FastCache, Fault, FaultKind, PanState, Perms, Privilege, Regime, SecondStage, Source, Stage,
    TlbiOp,
};
use sem::Insn;

use crate::abort::AccessFault;
use crate::code::BlockMemory;
use crate::pe::{Broadcast, Pe};
use crate::stop::Stop;

/// An AT instruction.
struct At {
    kind: AccessKind,
    privilege: Privilege,
    pan: PanState,
    stages: Stages,
}

/// What an AT instruction translates by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stages {
    /// Stage 1 of the EL1&0 regime (of EL2&0 for a host).
    One,
    /// Both stages of the EL1&0 regime.
    Both,
    /// EL2's own.
    Hypervisor,
}

impl Pe {
    /// Translates through the TLB, or by a walk that fills it.
    pub(crate) fn translate(&mut self, va: Va, access: mmu::Access) -> Result<Entry, Fault> {
        self.translate_by(None, va, access)
    }

    /// The same in `regime`, which need not be the current one.
    pub(crate) fn translate_in(&mut self, regime: Regime, va: Va, access: mmu::Access) -> Result<Entry, Fault> {
        self.translate_by(Some(regime), va, access)
    }

    fn translate_by(&mut self, regime: Option<Regime>, va: Va, access: mmu::Access) -> Result<Entry, Fault> {
        self.translations = self.translations.wrapping_add(1);
        let stage1 = regime.map_or(&self.stage1, |regime| &self.stage1_of[regime as usize]);
        let (fast, blocks) = (&mut self.fast, &mut self.block_memory);
        let dropped = |entry: &Entry| forget(entry, fast, blocks);
        let held = &mut self.stage2_tlb;
        let second = stage1.stage2.is_on().then_some(SecondStage { stage2: &self.stage2, held });
        let result = mmu::translate_through(stage1, second, &mut self.tlb, va, access, &*self.bus, dropped);
        let (steps, filled) = match &result {
            Ok(t) if t.source == Source::Walk => (t.entry.steps, true),
            Ok(_) => (0, false),
            Err(fault) => (fault.steps, false),
        };
        if steps > 0 {
            self.pmu_walk(access.kind);
        }
        if self.is_heard() && steps > 0 {
            let cause = match access.kind {
                AccessKind::Fetch => WalkCause::Fetch,
                AccessKind::Write | AccessKind::ReadWrite => WalkCause::Write,
                AccessKind::AtRead | AccessKind::AtWrite => WalkCause::Probe,
                _ => WalkCause::Read,
            };
            self.emit(Event::Walk { steps, cause });
            if filled {
                self.emit(Event::TlbFill);
            }
        }
        result.map(|t| t.entry)
    }

    /// AT: the result goes to PAR_EL1. An external abort on the walk is taken as an exception instead (DDI 0487 D8.16.1),
    /// and so is a fault of stage 2 on a walk that EL1 asked for.
    pub(super) fn address_translation(&mut self, insn: Insn, enc: Enc, va: u64) -> Result<(), Stop> {
        let Some(At { kind, privilege, pan, stages }) = self.decode_at(enc) else { return self.undefined_here() };
        if self.el2_traps_instruction(enc) {
            return Err(self.sysreg_trap_to_el2(insn));
        }
        let (va, access) = (Va(va), mmu::Access { kind, privilege, pan });
        let host = self.is_host_el0() && self.pstate.el == El::El2;
        let regime = match stages {
            Stages::Hypervisor => self.regime_of(El::El2),
            Stages::One if host => Regime::El20,
            Stages::One | Stages::Both => Regime::El10,
        };
        let stage1 = &self.stage1_of[regime as usize];
        let two = regime == Regime::El10 && stage1.stage2.is_on();
        let result = match (two, stages) {
            (true, Stages::Both) => mmu::walk_two(stage1, &self.stage2, va, access, &*self.bus),
            (true, _) => mmu::walk_stage1(stage1, &self.stage2, va, access, &*self.bus),
            (false, _) => mmu::walk(stage1, va, access, &*self.bus),
        };
        let steps = result.as_ref().map_or_else(|fault| fault.steps, |entry| entry.steps);
        if steps > 0 {
            self.emit(Event::Walk { steps, cause: WalkCause::Probe });
        }
        if let Err(fault) = result {
            let stage2_of_el1 = self.pstate.el == El::El1 && matches!(fault.stage, Stage::Two { .. });
            if fault.kind == FaultKind::ExternalOnWalk || stage2_of_el1 {
                return Err(self.data_abort(va.0, kind, AccessFault::Mmu(fault)));
            }
        }
        self.sys[Reg::PAR_EL1 as usize] = mmu::par_value(va, &result);
        Ok(())
    }

    fn decode_at(&self, enc: Enc) -> Option<At> {
        let el2 = self.pstate.el == El::El2;
        let pan2 = self.model.has(Feature::FEAT_PAN2);
        let now = if self.pstate.pan == 1 { PanState::On } else { PanState::Off };
        let kind = if enc.op2() & 1 == 0 { AccessKind::AtRead } else { AccessKind::AtWrite };
        let el0 = enc.op2() & 2 != 0;
        let privilege = if el0 { Privilege::El0 } else { Privilege::El1 };
        let at = |privilege, pan, stages| Some(At { kind, privilege, pan, stages });
        match (enc.op1(), enc.crm(), enc.op2()) {
            (0, 8, 0..=3) => at(privilege, PanState::Off, Stages::One),
            (0, 9, 0 | 1) if pan2 => at(Privilege::El1, now, Stages::One),
            (4, 8, 0 | 1) if el2 => at(Privilege::El2, PanState::Off, Stages::Hypervisor),
            (4, 8, 4..=7) if el2 => at(privilege, PanState::Off, Stages::Both),
            _ => None,
        }
    }

    /// Reads the doubleword at `va` as the current exception level sees it, without any effect; `None` where it does not
    /// translate to RAM.
    #[must_use]
    pub fn peek(&self, va: Va) -> Option<u64> {
        let privilege = if self.pstate.el == El::El0 { Privilege::El0 } else { Privilege::El1 };
        let access = mmu::Access::new(AccessKind::AtRead, privilege);
        let entry = if self.stage1.stage2.is_on() {
            mmu::walk_two(&self.stage1, &self.stage2, va, access, &*self.bus).ok()?
        } else {
            mmu::walk(&self.stage1, va, access, &*self.bus).ok()?
        };
        self.bus.read_ram(entry.output(va), bus::Size::Double)
    }

    pub(super) fn tlbi(&mut self, insn: Insn, enc: Enc, xt: u64) -> Result<(), Stop> {
        let origin = self.tlbi_origin();
        let decoded = match enc.op1() {
            4 if self.pstate.el == El::El2 => TlbiOp::decode_el2(enc, xt, origin, self.regime_of(El::El2)),
            _ => TlbiOp::decode(enc, xt, origin),
        };
        let Some(mut op) = decoded else { return self.undefined_here() };
        if self.el2_traps_instruction(enc) {
            return Err(self.sysreg_trap_to_el2(insn));
        }
        // HCR_EL2.FB makes EL1's local forms act on the whole Inner Shareable domain.
        if self.pstate.el == El::El1 && self.hcr(hcr::FB) && op.broadcast == mmu::Broadcast::Local {
            op.broadcast = mmu::Broadcast::Inner;
        }
        let removed = self.invalidate_tlb(&op);
        self.emit(Event::TlbInvalidate { enc: enc.0, removed });
        if op.broadcast != mmu::Broadcast::Local {
            self.outbox.push(Broadcast::Tlbi(op));
        }
        Ok(())
    }

    /// Removes what `op` names from this PE's TLBs and from the fast cache; gives the number of TLB entries.
    pub(crate) fn invalidate_tlb(&mut self, op: &TlbiOp) -> u32 {
        let (fast, blocks) = (&mut self.fast, &mut self.block_memory);
        self.tlb.invalidate(op, |entry| forget(entry, fast, blocks)) + self.stage2_tlb.invalidate(op)
    }
}

/// A translation has left the TLB: what was derived from it goes as well.
fn forget(entry: &Entry, fast: &mut FastCache, blocks: &mut BlockMemory) {
    fast.invalidate_range(entry.va, entry.size());
    if !(entry.perms.has(Perms::UXN) && entry.perms.has(Perms::PXN)) {
        blocks.forget();
    }
}
