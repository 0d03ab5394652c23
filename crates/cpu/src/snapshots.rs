//! A PE in snapshots: its registers, timers, counters, monitor and TLBs.
//!
//! What follows from the registers is computed anew, and checked by a digest. Decoded code and the caches of translations
//! to host memory are not kept: they hold nothing that TLB and memory do not give again. For that to be invisible, what a
//! guest sees must not depend on where blocks begin: an instruction that may raise an interrupt line ends its block, and
//! devices see the time of the round ([`Pe::begin_turn`]).

use snapshot::{Codec, Digest, Invalid, Persist, persist_fields};

use crate::eval::Q;
use crate::memory::Monitor;
use crate::pe::Pe;
use crate::pstate::Pstate;
use crate::timer::Timer;

/// Counts of instructions and ticks are below this, so that sums of them do not overflow.
const MAX_COUNT: u64 = 1 << 60;

persist_fields!(Pstate { el, sp_sel, daif, ss, il, pan, uao, dit, ssbs, tco, btype });
persist_fields!(Timer { ctl, cval });
persist_fields!(Monitor { offset, bytes });

impl Persist for Q {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        codec.value(&mut self.0)
    }
}

impl Persist for Pe {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        // Between two turns there is nothing that an instruction left half done.
        if self.exit.is_some() || self.pending.is_some() || !self.outbox.is_empty() {
            return Err(Invalid::new("a CPU in the middle of something"));
        }
        let mut lines = self.lines.get();
        let Self {
            x,
            sp,
            nzcv,
            pc,
            q,
            fpcr,
            fpsr,
            insns,
            taken,
            skipped,
            device_time,
            insns_at_el,
            el_since,
            pstate,
            sp_bank,
            sys,
            timers,
            timer_outputs,
            pmu,
            monitor,
            event_register,
            wait_until,
            random,
            leave_block,
            single,
            stepped,
            unmasked,
            // Below.
            tlb: _,
            stage2_tlb: _,
            // Between two rounds it says nothing.
            seen: _,
            // Written by each block before it is read.
            next_pc: _,
            // Looked at above.
            pending: _,
            exit: _,
            outbox: _,
            // Only while PEs run at the same time.
            peers: _,
            monitor_value: _,
            // Follows from the registers.
            fp_enabled: _,
            align_mask: _,
            sp_align_mask: _,
            breakpoints_on: _,
            watchpoints_on: _,
            step_on: _,
            stage1: _,
            stage1_of: _,
            stage2: _,
            nested: _,
            // Caches of what memory, TLB and registers say.
            contexts: _,
            contexts_unprivileged: _,
            contexts_fetch: _,
            context_table: _,
            context_generation: _,
            fast: _,
            translations: _,
            code_marks: _,
            block_memory: _,
            known_codes: _,
            // Of the configuration.
            ram: _,
            bus: _,
            gic: _,
            lines: _,
            sink: _,
            debugger: _,
            detail: _,
            index: _,
            model: _,
            facts: _,
            traps: _,
            pauth: _,
            mmu_features: _,
            semihosting: _,
            conduit: _,
            frequency: _,
        } = self;
        codec.each([x, sp, nzcv, pc, q, fpcr, fpsr])?;
        codec.each([insns, taken, skipped, device_time, insns_at_el, el_since])?;
        codec.each([pstate, sp_bank, sys, timers, timer_outputs])?;
        pmu.persist(codec)?;
        codec.each([monitor, event_register, wait_until, random, leave_block, single, stepped])?;
        let mut wanted = *unmasked;
        codec.each([&mut wanted, &mut lines])?;
        if codec.is_loading() {
            self.check()?;
            self.derive();
            self.unmasked = wanted;
            self.lines.restore(lines);
        }
        codec.same(&self.derived(), "what follows from the registers")?;
        // What the registers imply drops what the TLBs hold, so they come last.
        codec.each([&mut self.tlb, &mut self.stage2_tlb])
    }
}

impl Pe {
    /// Values that are indices, or of which sums are made.
    fn check(&self) -> Result<(), Invalid> {
        let p = self.pstate;
        let bits = [p.sp_sel, p.ss, p.il, p.pan, p.uao, p.dit, p.ssbs, p.tco];
        let state = bits.iter().all(|bit| *bit < 2) && p.daif < 16 && p.btype < 4 && p.el <= self.highest_level();
        let counts = [self.insns, self.taken, self.skipped, self.device_time];
        let counted = self.taken <= self.skipped
            && self.el_since <= self.insns
            && counts.iter().chain(&self.insns_at_el).all(|count| *count < MAX_COUNT);
        let zero = self.x[31] == 0 && self.random != 0;
        if state && counted && zero { Ok(()) } else { Err(Invalid::new("registers that cannot be")) }
    }

    /// Computes what follows from the registers.
    pub(crate) fn derive(&mut self) {
        self.hypervisor_control_changed();
        self.translation_rules_changed();
        self.stage2_tlb.clear();
        self.follow_regime();
        self.masks_changed();
        self.context_changed();
    }

    /// A digest of what follows from the registers: if it differs where a snapshot is loaded, this version of the tool
    /// makes something else of them.
    fn derived(&self) -> u64 {
        let text = format!(
            "{:?} {:?} {:?} {:?} {:?}",
            self.stage1,
            self.stage1_of,
            self.stage2,
            self.nested,
            (
                self.fp_enabled,
                self.align_mask,
                self.sp_align_mask,
                self.breakpoints_on,
                self.watchpoints_on,
                self.step_on,
                self.unmasked
            ),
        );
        Digest::of(text.as_bytes())
    }
}
