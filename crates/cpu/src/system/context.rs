//! What follows from a change of translation control or of the exception level: the MMU's set-up, the contexts of the
//! fast caches, the alignment and FP checks.

use arch::El;
use arch::feature::Feature;
use arch::field::tcr_el1 as tcr;
use arch::field::{cpacr_el1 as cpacr, sctlr_el1 as sctlr};
use arch::model::CpuModel;
use arch::sysreg::Reg;
use mmu::tlbi::TlbiSupport;
use mmu::{
    AccessKind, CtxPair, GranuleSupport, Half, HwUpdate, MmuFeatures, NtPolicy, Origin, PanState,
    Privilege as MmuPrivilege, Regime, Switch,
};
use sem::Privilege;

use crate::pe::Pe;

impl Pe {
    pub(crate) fn reg(&self, reg: Reg) -> u64 {
        self.sys[reg as usize]
    }

    /// TTBR0_EL1 or TTBR1_EL1 was written. What the TLB holds stays, as the architecture has it.
    pub(crate) fn table_base_changed(&mut self, half: Half) {
        let reg = if half == Half::Lower { Reg::TTBR0_EL1 } else { Reg::TTBR1_EL1 };
        let asid = self.stage1.asid;
        self.stage1.set_ttbr(half, self.reg(reg));
        if self.stage1.asid != asid {
            self.contexts_changed();
        }
    }

    /// Sets stage 1 up from all its registers.
    fn set_up_translation(&mut self) {
        let regs = mmu::Regs {
            regime: Regime::El10,
            sctlr: self.reg(Reg::SCTLR_EL1),
            tcr: self.reg(Reg::TCR_EL1),
            ttbr0: self.reg(Reg::TTBR0_EL1),
            ttbr1: self.reg(Reg::TTBR1_EL1),
            mair: self.reg(Reg::MAIR_EL1),
            vmid: 0,
            stage2: Switch::Off,
        };
        self.stage1 = mmu::Stage1::new(&regs, &self.mmu_features);
    }

    /// SCTLR, TCR or MAIR changed, so that rights and attributes in the fast cache may be wrong. TLB entries were made under
    /// the old values, which software must invalidate; dropping them at once is permitted and the benign choice.
    pub(crate) fn translation_rules_changed(&mut self) {
        self.tlb.clear();
        self.fast.invalidate_all();
        self.block_memory.forget();
        self.set_up_translation();
        self.context_changed();
    }

    /// The fast cache's contexts follow the exception level, PAN, UAO, the ASID, and whether tags are checked.
    pub(crate) fn contexts_changed(&mut self) {
        let p = self.pstate;
        let pan = if p.pan == 1 { PanState::On } else { PanState::Off };
        let privilege = if p.el == El::El0 { MmuPrivilege::El0 } else { MmuPrivilege::El1 };
        // UAO makes LDTR and STTR use the current level's permissions.
        let unprivileged = if p.uao == 1 { privilege } else { MmuPrivilege::El0 };
        loop {
            let tags = self.tag_checks(Privilege::Current);
            self.contexts = self.context_table.pair_with_tags(&mut self.fast, &self.stage1, privilege, pan, tags);
            let generation = self.context_table.generation();
            self.contexts_unprivileged = if unprivileged == privilege {
                self.contexts
            } else {
                let (off, tags) = (PanState::Off, self.tag_checks(Privilege::Unprivileged));
                self.context_table.pair_with_tags(&mut self.fast, &self.stage1, unprivileged, off, tags)
            };
            // Ids may have run out in between, which voids the first pair.
            if self.context_table.generation() == generation {
                break;
            }
        }
        if self.context_table.generation() != self.context_generation {
            self.context_generation = self.context_table.generation();
            self.block_memory.forget();
        }
        self.contexts_fetch = if p.il == 1 || p.btype != 0 { CtxPair::NEVER } else { self.contexts };
    }

    /// The exception level, PAN, UAO, IL, TCO, SCTLR or CPACR changed.
    pub(crate) fn context_changed(&mut self) {
        self.contexts_changed();
        let p = self.pstate;
        let control = self.reg(Reg::SCTLR_EL1);
        let mmu_off = sctlr::M.get(control) == 0;
        self.align_mask = if sctlr::A.get(control) == 1 || mmu_off { !0 } else { 0 };
        let sp_check = if p.el == El::El0 { sctlr::SA0 } else { sctlr::SA };
        self.sp_align_mask = if sp_check.get(control) == 1 { 15 } else { 0 };
        // CPACR_EL1.FPEN: 01 traps EL0 only, 11 traps nothing, 00 and 10 trap both.
        self.fp_enabled = match cpacr::FPEN.get(self.reg(Reg::CPACR_EL1)) {
            3 => true,
            1 => p.el != El::El0,
            _ => false,
        };
    }

    pub(crate) fn mmu_access(&self, kind: AccessKind, privilege: Privilege) -> mmu::Access {
        let unprivileged = privilege == Privilege::Unprivileged && self.pstate.uao == 0;
        let el0 = self.pstate.el == El::El0 || unprivileged;
        let pan = if self.pstate.pan == 1 && !el0 { PanState::On } else { PanState::Off };
        mmu::Access { kind, privilege: if el0 { MmuPrivilege::El0 } else { MmuPrivilege::El1 }, pan }
    }
}

/// Stage 1 out of reset: off.
pub(crate) const NO_TRANSLATION: mmu::Regs =
    mmu::Regs { regime: Regime::El10, sctlr: 0, tcr: 0, ttbr0: 0, ttbr1: 0, mair: 0, vmid: 0, stage2: Switch::Off };

/// The MMU that a model has.
pub(crate) fn mmu_features(model: &CpuModel) -> MmuFeatures {
    let on = |feature| switch(model.has(feature));
    let granule = |present: bool| match (present, model.has(Feature::FEAT_LPA2)) {
        (false, _) => GranuleSupport::Absent,
        (true, false) => GranuleSupport::Present,
        (true, true) => GranuleSupport::Lpa2,
    };
    let hafdbs = match (model.has(Feature::FEAT_HAFDBS), model.has(Feature::FEAT_HAFDBS_DBM)) {
        (_, true) => HwUpdate::Dirty,
        (true, false) => HwUpdate::AccessFlag,
        (false, false) => HwUpdate::None,
    };
    let bbm = match (model.has(Feature::FEAT_BBML1), model.has(Feature::FEAT_BBML2)) {
        (_, true) => 2,
        (true, false) => 1,
        (false, false) => 0,
    };
    MmuFeatures {
        pa_bits: model.pa_bits,
        lva: on(Feature::FEAT_LVA),
        granule_4k: granule(model.granules.k4),
        granule_16k: granule(model.granules.k16),
        granule_64k: if model.granules.k64 { GranuleSupport::Present } else { GranuleSupport::Absent },
        hafdbs,
        hpds: on(Feature::FEAT_HPDS),
        epan: on(Feature::FEAT_PAN3),
        asid16: switch(model.asid_bits == 16),
        e0pd: on(Feature::FEAT_E0PD),
        ttst: on(Feature::FEAT_TTST),
        tbid: on(Feature::FEAT_PAuth),
        bbm,
        nt: NtPolicy::Uncached,
        xnx: on(Feature::FEAT_XNX),
        s2fwb: on(Feature::FEAT_S2FWB),
        vmid16: on(Feature::FEAT_VMID16),
    }
}

impl Pe {
    /// What a TLBI of this PE acts on.
    pub(super) fn tlbi_origin(&self) -> Origin {
        let has = |f| self.model.features.has(f);
        let support = match (has(Feature::FEAT_TLBIRANGE), has(Feature::FEAT_TLBIOS)) {
            (true, _) => TlbiSupport::Range,
            (false, true) => TlbiSupport::OuterShareable,
            _ => TlbiSupport::Base,
        };
        let ds = switch(has(Feature::FEAT_LPA2) && tcr::DS.is_set(self.reg(Reg::TCR_EL1)));
        Origin { regime: Regime::El10, vmid: 0, ttl: switch(has(Feature::FEAT_TTL)), ds, support }
    }
}

fn switch(on: bool) -> Switch {
    Switch::bit(u64::from(on), 0)
}
