//! What follows from a change of translation control or of the exception level: the MMU's set-up, the contexts of the
//! fast caches, the alignment and FP checks.

use arch::El;
use arch::feature::Feature;
use arch::field::tcr_el1 as tcr;
use arch::field::{hcr_el2 as hcr, sctlr_el1 as sctlr, vtcr_el2};
use arch::model::CpuModel;
use arch::sysreg::Reg;
use arch::trap::NestedMode;
use mmu::tlbi::TlbiSupport;
use mmu::{
    AccessKind, CtxPair, GranuleSupport, Half, HwUpdate, MmuFeatures, NtPolicy, Origin, PanState,
    Privilege as MmuPrivilege, Regime, Switch,
};
use sem::Privilege;

use crate::el2::FpTrap;
use crate::pe::Pe;

impl Pe {
    pub(crate) fn reg(&self, reg: Reg) -> u64 {
        self.sys[reg as usize]
    }

    /// A TTBR was written. What the TLB holds stays, as the architecture has it.
    pub(crate) fn table_base_changed(&mut self, reg: Reg) {
        let half = if matches!(reg, Reg::TTBR0_EL1 | Reg::TTBR0_EL2) { Half::Lower } else { Half::Upper };
        let value = self.reg(reg);
        let regimes: &[Regime] =
            if matches!(reg, Reg::TTBR0_EL1 | Reg::TTBR1_EL1) { &[Regime::El10] } else { &[Regime::El2, Regime::El20] };
        for regime in regimes {
            self.stage1_of[*regime as usize].set_ttbr(half, value);
        }
        let asid = self.stage1.asid;
        self.stage1 = self.stage1_of[self.regime() as usize];
        if self.stage1.asid != asid {
            self.contexts_changed();
        }
    }

    /// Sets stage 1 of `regime` up from all its registers.
    pub(crate) fn set_up_regime(&mut self, regime: Regime) {
        let from = |sctlr, tcr, ttbr0, ttbr1, mair| mmu::Regs {
            regime,
            sctlr: self.reg(sctlr),
            tcr: self.reg(tcr),
            ttbr0: self.reg(ttbr0),
            ttbr1: self.reg(ttbr1),
            mair: self.reg(mair),
            vmid: 0,
            stage2: Switch::Off,
            nv1: Switch::Off,
            default_attr: None,
        };
        let regs = match regime {
            Regime::El10 => {
                let el1 = from(Reg::SCTLR_EL1, Reg::TCR_EL1, Reg::TTBR0_EL1, Reg::TTBR1_EL1, Reg::MAIR_EL1);
                let vmid = if self.has_el2() { self.stage2.vmid } else { 0 };
                // HCR_EL2.DC turns stage 1 off as long as it is set, and so does TGE.
                let off = if self.hcr(hcr::DC) || self.hcr(hcr::TGE) { sctlr::M.mask() } else { 0 };
                let nv1 = switch(self.nested.is_some_and(NestedMode::nv1));
                let (stage2, default_attr) = (self.stage2_applies(), self.default_attr());
                mmu::Regs { vmid, stage2, sctlr: el1.sctlr & !off, nv1, default_attr, ..el1 }
            }
            Regime::El2 | Regime::El20 => {
                from(Reg::SCTLR_EL2, Reg::TCR_EL2, Reg::TTBR0_EL2, Reg::TTBR1_EL2, Reg::MAIR_EL2)
            }
        };
        self.stage1_of[regime as usize] = mmu::Stage1::new(&regs, &self.mmu_features);
        if self.regime() == regime {
            self.stage1 = self.stage1_of[regime as usize];
        }
    }

    /// The exception level or HCR_EL2 changed: takes the set-up of the regime that is current now.
    pub(crate) fn follow_regime(&mut self) {
        let regime = self.regime();
        if self.stage1.regime != regime {
            self.stage1 = self.stage1_of[regime as usize];
        }
    }

    /// SCTLR, TCR or MAIR changed, so that rights and attributes in the fast cache may be wrong. TLB entries were made under
    /// the old values, which software must invalidate; dropping them at once is permitted and the benign choice.
    pub(crate) fn translation_rules_changed(&mut self) {
        self.forget_stage1();
        for regime in [Regime::El10, Regime::El2, Regime::El20] {
            self.set_up_regime(regime);
        }
        self.context_changed();
    }

    fn forget_stage1(&mut self) {
        self.tlb.clear();
        self.fast.invalidate_all();
        self.block_memory.forget();
    }

    /// Invalidates all that is held of translations.
    pub(crate) fn forget_translations(&mut self) {
        self.stage2_tlb.clear();
        self.forget_stage1();
    }

    /// The fast cache's contexts follow the exception level, PAN, UAO, the ASID, and whether tags are checked.
    pub(crate) fn contexts_changed(&mut self) {
        let p = self.pstate;
        let nv1 = self.acts_as_el2();
        let pan = if p.pan == 1 && !nv1 { PanState::On } else { PanState::Off };
        let privilege = privilege_of(p.el);
        // UAO makes LDTR and STTR use the current level's permissions, and so does HCR_EL2.NV1.
        let unprivileged = if p.uao == 1 || nv1 { privilege } else { MmuPrivilege::El0 };
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
        self.step_on = self.steps_at(p.el, p.daif);
        (self.breakpoints_on, self.watchpoints_on) = self.armed();
        if self.looks_at_accesses() {
            (self.contexts, self.contexts_unprivileged) = (CtxPair::NEVER, CtxPair::NEVER);
        }
        let look = p.il == 1 || p.btype != 0 || self.step_on || self.breakpoints_on;
        self.contexts_fetch = if look { CtxPair::NEVER } else { self.contexts };
    }

    /// The exception level, PAN, UAO, IL, TCO, SCTLR or CPACR changed.
    pub(crate) fn context_changed(&mut self) {
        self.contexts_changed();
        let p = self.pstate;
        let control = self.control();
        let mmu_off = sctlr::M.get(control) == 0;
        self.align_mask = if sctlr::A.get(control) == 1 || mmu_off { !0 } else { 0 };
        let sp_check = if p.el == El::El0 { sctlr::SA0 } else { sctlr::SA };
        self.sp_align_mask = if sp_check.get(control) == 1 { 15 } else { 0 };
        self.fp_enabled = self.fp_trap() == FpTrap::None;
    }

    pub(crate) fn mmu_access(&self, kind: AccessKind, privilege: Privilege) -> mmu::Access {
        let nv1 = self.acts_as_el2();
        let unprivileged = privilege == Privilege::Unprivileged && self.pstate.uao == 0 && !nv1;
        let el0 = self.pstate.el == El::El0 || unprivileged;
        let pan = if self.pstate.pan == 1 && !el0 && !nv1 { PanState::On } else { PanState::Off };
        mmu::Access { kind, privilege: privilege_of(if el0 { El::El0 } else { self.pstate.el }), pan }
    }
}

/// Stage 1 out of reset: off.
pub(crate) const NO_TRANSLATION: mmu::Regs = mmu::Regs {
    regime: Regime::El10,
    sctlr: 0,
    tcr: 0,
    ttbr0: 0,
    ttbr1: 0,
    mair: 0,
    vmid: 0,
    stage2: Switch::Off,
    nv1: Switch::Off,
    default_attr: None,
};

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
    pub(crate) fn tlbi_origin(&self) -> Origin {
        let has = |f| self.model.features.has(f);
        let support = match (has(Feature::FEAT_TLBIRANGE), has(Feature::FEAT_TLBIOS)) {
            (true, _) => TlbiSupport::Range,
            (false, true) => TlbiSupport::OuterShareable,
            _ => TlbiSupport::Base,
        };
        // At EL2 with E2H and TGE the EL1 forms act on the host's own regime.
        let host = self.pstate.el == El::El2 && self.is_host_el0();
        let (regime, control) = if host { (Regime::El20, Reg::TCR_EL2) } else { (Regime::El10, Reg::TCR_EL1) };
        let ds = switch(has(Feature::FEAT_LPA2) && tcr::DS.is_set(self.reg(control)));
        let vmid = if self.has_el2() && !host { self.stage2.vmid } else { 0 };
        let stage2_ds = switch(has(Feature::FEAT_LPA2) && vtcr_el2::DS.is_set(self.reg(Reg::VTCR_EL2)));
        Origin { regime, vmid, ttl: switch(has(Feature::FEAT_TTL)), ds, stage2_ds, support }
    }
}

fn switch(on: bool) -> Switch {
    Switch::bit(u64::from(on), 0)
}

/// With whose rights `el` makes its accesses.
fn privilege_of(el: El) -> MmuPrivilege {
    match el {
        El::El0 => MmuPrivilege::El0,
        El::El1 => MmuPrivilege::El1,
        El::El2 | El::El3 => MmuPrivilege::El2,
    }
}
