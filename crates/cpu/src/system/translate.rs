//! Translation as the PE uses it, AT and TLBI.

use arch::feature::Feature;
use arch::sysreg::{Enc, Reg};
use arch::{El, Va};
use event::{Event, WalkCause};
use mmu::{AccessKind, Entry, FastCache, Fault, FaultKind, PanState, Perms, Privilege, Source, TlbiOp};

use crate::abort::AccessFault;
use crate::code::BlockMemory;
use crate::pe::{Broadcast, Pe};
use crate::stop::Stop;

impl Pe {
    /// Translates through the TLB, or by a walk that fills it.
    pub(crate) fn translate(&mut self, va: Va, access: mmu::Access) -> Result<Entry, Fault> {
        let (fast, blocks) = (&mut self.fast, &mut self.block_memory);
        let dropped = |entry: &Entry| forget(entry, fast, blocks);
        let result = mmu::translate(&self.stage1, &mut self.tlb, va, access, &*self.bus, dropped);
        let (steps, filled) = match &result {
            Ok(t) if t.source == Source::Walk => (t.entry.steps, true),
            Ok(_) => (0, false),
            Err(fault) => (fault.steps, false),
        };
        if self.sink.is_some() && steps > 0 {
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

    /// AT S1E1R, S1E1W, S1E0R, S1E0W, S1E1RP, S1E1WP: the result goes to PAR_EL1. An external abort on the walk is taken as
    /// an exception instead (DDI 0487 D8.16.1).
    pub(super) fn address_translation(&mut self, enc: Enc, va: u64) -> Result<(), Stop> {
        let pan2 = self.model.features.has(Feature::FEAT_PAN2);
        let pan = if self.pstate.pan == 1 { PanState::On } else { PanState::Off };
        let (kind, privilege, pan) = match (enc.op1(), enc.crm(), enc.op2()) {
            (0, 8, 0) => (AccessKind::AtRead, Privilege::El1, PanState::Off),
            (0, 8, 1) => (AccessKind::AtWrite, Privilege::El1, PanState::Off),
            (0, 8, 2) => (AccessKind::AtRead, Privilege::El0, PanState::Off),
            (0, 8, 3) => (AccessKind::AtWrite, Privilege::El0, PanState::Off),
            (0, 9, 0) if pan2 => (AccessKind::AtRead, Privilege::El1, pan),
            (0, 9, 1) if pan2 => (AccessKind::AtWrite, Privilege::El1, pan),
            _ => return self.undefined_here(),
        };
        let result = self.translate(Va(va), mmu::Access { kind, privilege, pan });
        if let Err(fault) = result
            && fault.kind == FaultKind::ExternalOnWalk
        {
            return Err(self.data_abort(va, kind, AccessFault::Mmu(fault)));
        }
        self.sys[Reg::PAR_EL1 as usize] = mmu::par_value(Va(va), &result);
        Ok(())
    }

    /// Reads the doubleword at `va` as the current exception level sees it, without any effect; `None` where it does not
    /// translate to RAM.
    #[must_use]
    pub fn peek(&self, va: Va) -> Option<u64> {
        let privilege = if self.pstate.el == El::El0 { Privilege::El0 } else { Privilege::El1 };
        let access = mmu::Access::new(AccessKind::AtRead, privilege);
        let entry = mmu::walk(&self.stage1, va, access, &*self.bus).ok()?;
        self.bus.read_ram(entry.output(va), bus::Size::Double)
    }

    pub(super) fn tlbi(&mut self, enc: Enc, xt: u64) -> Result<(), Stop> {
        let Some(op) = TlbiOp::decode(enc, xt, self.tlbi_origin()) else { return self.undefined_here() };
        let removed = self.invalidate_tlb(&op);
        self.emit(Event::TlbInvalidate { enc: enc.0, removed });
        if op.broadcast != mmu::Broadcast::Local {
            self.outbox.push(Broadcast::Tlbi(op));
        }
        Ok(())
    }

    /// Removes what `op` names from this PE's TLB and from the fast cache; gives the number of TLB entries.
    pub(crate) fn invalidate_tlb(&mut self, op: &TlbiOp) -> u32 {
        let (fast, blocks) = (&mut self.fast, &mut self.block_memory);
        self.tlb.invalidate(op, |entry| forget(entry, fast, blocks))
    }
}

/// A translation has left the TLB: what was derived from it goes as well.
fn forget(entry: &Entry, fast: &mut FastCache, blocks: &mut BlockMemory) {
    fast.invalidate_range(entry.va, entry.size());
    if !(entry.perms.has(Perms::UXN) && entry.perms.has(Perms::PXN)) {
        blocks.forget();
    }
}
