//! Allocation tags (FEAT_MTE): checks of data accesses, and the instructions that read and write tags. DDI 0487 D10.
//!
//! A page whose accesses are checked never enters the fast cache: [`Pe::tag_rule`] keeps it out, and whether checks are
//! on at all is part of the cache's context. So only the slow path looks at tags.

use arch::feature::Feature;
use arch::field::{gcr_el1 as gcr, hcr_el2 as hcr, sctlr_el1 as sctlr, tcr_el1 as tcr, tcr_el2, tfsr};
use arch::sysreg::Reg;
use arch::{El, Va};
use bus::Target;
use ir::tags::{TAG_GRANULE, choose_tag, logical_tag, random_tag, tag_shift};
use mmu::{AccessKind, Half, MemAttr, Regime, TagChecks};
use sem::{Access, Privilege, TagCheck, TagOp};

use crate::abort::AccessFault;
use crate::memory::{PAGE, Place};
use crate::pe::Pe;
use crate::stop::Stop;

/// Bits of SCTLR_ELx that concern tags alone.
pub(crate) const TAG_CONTROLS: u64 =
    sctlr::ITFSB.mask() | sctlr::TCF0.mask() | sctlr::TCF.mask() | sctlr::ATA0.mask() | sctlr::ATA.mask();

/// What a mismatch does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagRule {
    /// Nothing: there is no check.
    Unchecked,
    /// A synchronous exception.
    Synchronous,
    /// A bit in TFSR_ELx.
    Asynchronous,
    /// The one for loads, the other for stores (FEAT_MTE3).
    Asymmetric,
}

impl Pe {
    /// The level whose controls apply: EL0 for LDTR and its kind.
    fn tag_level(&self, privilege: Privilege) -> El {
        let el = self.pstate.el;
        let host = el == El::El2 && self.is_host_el0();
        let unprivileged = privilege == Privilege::Unprivileged && self.pstate.uao == 0 && (el == El::El1 || host);
        if unprivileged { El::El0 } else { el }
    }

    /// SCTLR_ELx of the regime of `el`.
    fn tag_control(&self, el: El) -> u64 {
        self.reg(if self.regime_of(el) == Regime::El10 { Reg::SCTLR_EL1 } else { Reg::SCTLR_EL2 })
    }

    /// AllocationTagAccessIsEnabled. ATA and ATA0 are RES0 without FEAT_MTE2.
    fn tag_access_enabled(&self, privilege: Privilege) -> bool {
        let el = self.tag_level(privilege);
        if el < El::El2 && self.has_el2() && !self.hcr(hcr::ATA) && !self.is_host_el0() {
            return false;
        }
        let enabled = if el == El::El0 { sctlr::ATA0 } else { sctlr::ATA };
        enabled.is_set(self.tag_control(el))
    }

    /// What a mismatch does as PSTATE and SCTLR_ELx have it: the manual's EffectiveTCF, without the address's part.
    fn tag_mode(&self, privilege: Privilege) -> TagRule {
        if self.pstate.tco == 1 || !self.tag_access_enabled(privilege) {
            return TagRule::Unchecked;
        }
        let el = self.tag_level(privilege);
        let field = if el == El::El0 { sctlr::TCF0 } else { sctlr::TCF };
        let has = |feature| self.model.features.has(feature);
        match field.get(self.tag_control(el)) {
            1 => TagRule::Synchronous,
            2 if has(Feature::FEAT_MTE_ASYNC) => TagRule::Asynchronous,
            3 if has(Feature::FEAT_MTE3) => TagRule::Asymmetric,
            // Reserved values check nothing.
            _ => TagRule::Unchecked,
        }
    }

    /// For the fast cache's context.
    pub(crate) fn tag_checks(&self, privilege: Privilege) -> TagChecks {
        if self.tag_mode(privilege) == TagRule::Unchecked { TagChecks::Off } else { TagChecks::On }
    }

    /// What a mismatch at `va`, memory of `attr`, does: AccessIsTagChecked without the instruction's part.
    #[inline]
    pub(crate) fn tag_rule(&self, va: u64, attr: MemAttr, privilege: Privilege) -> TagRule {
        if !attr.is_tagged() {
            return TagRule::Unchecked;
        }
        let control = self.translation_control();
        let (ignored, unchecked) = match Half::of(Va(va)) {
            _ if !self.stage1.regime.has_el0() => (tcr_el2::TBI, tcr_el2::TCMA),
            Half::Lower => (tcr::TBI0, tcr::TCMA0),
            Half::Upper => (tcr::TBI1, tcr::TCMA1),
        };
        // TCMA: no checks where bits [59:55] are all alike.
        let plain = matches!(va >> 55 & 31, 0 | 31);
        if !ignored.is_set(control) || (plain && unchecked.is_set(control)) {
            return TagRule::Unchecked;
        }
        self.tag_mode(privilege)
    }

    /// Checks `bytes` at `va`, which lie within one page at `place`, against their tags.
    #[inline]
    pub(crate) fn check_tags(
        &mut self,
        va: u64,
        bytes: u64,
        place: Place,
        kind: AccessKind,
        access: Access,
    ) -> Result<(), Stop> {
        if !place.attr.is_tagged() || access.tags == TagCheck::Unchecked {
            return Ok(());
        }
        self.check_tagged(va, bytes, place, kind, access.privilege)
    }

    fn check_tagged(
        &mut self,
        va: u64,
        bytes: u64,
        place: Place,
        kind: AccessKind,
        privilege: Privilege,
    ) -> Result<(), Stop> {
        let rule = self.tag_rule(va, place.attr, privilege);
        // A tagged address that is not RAM has no tags.
        let Target::Ram(offset) = place.target else { return Ok(()) };
        if rule == TagRule::Unchecked {
            return Ok(());
        }
        let into = va % TAG_GRANULE;
        let mismatch = (0..into + bytes).step_by(TAG_GRANULE as usize).find(|at| {
            let granule = (offset - into).wrapping_add(*at);
            self.ram.tag(granule) != logical_tag(va)
        });
        match mismatch {
            None => Ok(()),
            Some(0) => self.tag_check_fault(va, rule, kind, privilege),
            Some(at) => self.tag_check_fault(va - into + at, rule, kind, privilege),
        }
    }

    /// AArch64.TagCheckFault.
    #[cold]
    fn tag_check_fault(&mut self, va: u64, rule: TagRule, kind: AccessKind, privilege: Privilege) -> Result<(), Stop> {
        let synchronous = match rule {
            TagRule::Asynchronous | TagRule::Unchecked => false,
            TagRule::Synchronous => true,
            TagRule::Asymmetric => kind == AccessKind::Read,
        };
        if synchronous {
            return Err(self.data_abort(va, kind, AccessFault::TagCheck));
        }
        let status = match self.tag_level(privilege) {
            El::El0 => Reg::TFSRE0_EL1,
            El::El1 => Reg::TFSR_EL1,
            El::El2 | El::El3 => Reg::TFSR_EL2,
        };
        let bit = if Half::of(Va(va)) == Half::Upper { tfsr::TF1 } else { tfsr::TF0 };
        self.sys[status as usize] |= bit.mask();
        Ok(())
    }

    /// Checks the block that DC ZVA sets to zero; a mismatch is reported for the lowest granule that has one.
    pub(crate) fn check_block_tags(&mut self, va: u64, bytes: u64, place: Place) -> Result<(), Stop> {
        let (block, into) = (va & !(bytes - 1), va & (bytes - 1));
        let target = match place.target {
            Target::Ram(offset) => Target::Ram(offset - into),
            other => other,
        };
        let access = Access::plain(0);
        self.check_tags(block, bytes, Place { target, ..place }, AccessKind::Write, access)
    }

    /// What an instruction asks of tags.
    pub(crate) fn tag_operation(&mut self, op: TagOp, address: u64, value: u64) -> Result<u64, Stop> {
        let enabled = self.tag_access_enabled(Privilege::Current);
        match op {
            TagOp::Choose if enabled => {
                let exclude = gcr::Exclude.get(self.reg(Reg::GCR_EL1)) as u16;
                Ok(choose_tag(logical_tag(address), value as u8, exclude).into())
            }
            TagOp::Random if enabled => Ok(self.random_tag(value as u16).into()),
            TagOp::Choose | TagOp::Random => Ok(0),
            TagOp::Load => {
                let tag = self.granule(address, AccessKind::Read)?.map_or(0, |offset| self.ram.tag(offset));
                Ok(tag.into())
            }
            TagOp::Store | TagOp::StorePair | TagOp::StoreZero | TagOp::StoreZeroPair => {
                self.store_tags(op, address, logical_tag(value))?;
                Ok(0)
            }
            TagOp::LoadMultiple | TagOp::StoreMultiple | TagOp::StoreZeroMultiple if self.pstate.el == El::El0 => {
                self.undefined_here()
            }
            TagOp::LoadMultiple => self.load_tag_block(address),
            TagOp::StoreMultiple => self.store_tag_block(address, value),
            TagOp::StoreZeroMultiple => {
                let bytes = 4u64 << self.model.dczid_bs;
                let block = address & !(bytes - 1);
                self.place(block, AccessKind::Write, Privilege::Current)?;
                self.fill_tags(block, bytes, value as u8 & 15)?;
                self.zero_data(block, bytes)?;
                Ok(0)
            }
        }
    }

    /// IRG. With GCR_EL1.RRND set the generator is IMPLEMENTATION DEFINED: the same one, which then needs no seed.
    fn random_tag(&mut self, exclude: u16) -> u8 {
        let control = self.reg(Reg::GCR_EL1);
        let mut rgsr = self.reg(Reg::RGSR_EL1);
        if gcr::RRND.is_set(control) && rgsr >> 8 & 0xffff == 0 {
            rgsr |= ((self.random ^ self.random >> 32) & 0xffff | 1) << 8;
        }
        let (rgsr, offset) = random_tag(rgsr);
        let exclude = exclude | gcr::Exclude.get(control) as u16;
        let tag = choose_tag((rgsr & 15) as u8, offset, exclude);
        self.sys[Reg::RGSR_EL1 as usize] = rgsr & !15 | u64::from(tag);
        tag
    }

    /// Translates for a tag access; gives the offset in RAM where there is a tag to access.
    fn granule(&mut self, va: u64, kind: AccessKind) -> Result<Option<u64>, Stop> {
        let place = self.place(va, kind, Privilege::Current)?;
        let enabled = self.tag_access_enabled(Privilege::Current) && place.attr.is_tagged();
        Ok(match place.target {
            Target::Ram(offset) if enabled => Some(offset),
            _ => None,
        })
    }

    /// STG and its kind. All granules are translated before the first is written.
    fn store_tags(&mut self, op: TagOp, va: u64, tag: u8) -> Result<(), Stop> {
        if !va.is_multiple_of(TAG_GRANULE) {
            return Err(self.data_abort(va, AccessKind::Write, AccessFault::Alignment));
        }
        let bytes = op.granules() * TAG_GRANULE;
        self.place(va, AccessKind::Write, Privilege::Current)?;
        if bytes > TAG_GRANULE {
            self.place(va.wrapping_add(TAG_GRANULE), AccessKind::Write, Privilege::Current)?;
        }
        self.fill_tags(va, bytes, tag)?;
        if op.zeroes() { self.zero_data(va, bytes) } else { Ok(()) }
    }

    /// Sets the tags of `bytes` at `va`.
    fn fill_tags(&mut self, va: u64, bytes: u64, tag: u8) -> Result<(), Stop> {
        let mut at = 0;
        while at < bytes {
            let from = va.wrapping_add(at);
            let run = (PAGE - from % PAGE).min(bytes - at);
            if let Some(offset) = self.granule(from, AccessKind::Write)? {
                (offset..offset + run).step_by(TAG_GRANULE as usize).for_each(|granule| self.ram.set_tag(granule, tag));
            }
            at += run;
        }
        Ok(())
    }

    /// Sets `bytes` at `va`, a multiple of 8, to zero.
    fn zero_data(&mut self, va: u64, bytes: u64) -> Result<(), Stop> {
        let access = Access::plain(3).tagged(TagCheck::Unchecked);
        (0..bytes).step_by(8).try_for_each(|at| self.store_word(va.wrapping_add(at), 0, access))
    }

    /// Bytes that LDGM and STGM cover.
    fn tag_block(&self) -> u64 {
        4 << (self.reg(Reg::GMID_EL1) & 15)
    }

    fn load_tag_block(&mut self, va: u64) -> Result<u64, Stop> {
        let bytes = self.tag_block();
        let block = va & !(bytes - 1);
        let Some(offset) = self.granule(block, AccessKind::Read)? else { return Ok(0) };
        Ok((0..bytes)
            .step_by(16)
            .fold(0, |tags, at| tags | u64::from(self.ram.tag(offset + at)) << tag_shift(block + at)))
    }

    fn store_tag_block(&mut self, va: u64, tags: u64) -> Result<u64, Stop> {
        let bytes = self.tag_block();
        let block = va & !(bytes - 1);
        if let Some(offset) = self.granule(block, AccessKind::Write)? {
            for at in (0..bytes).step_by(16) {
                self.ram.set_tag(offset + at, (tags >> tag_shift(block + at)) as u8 & 15);
            }
        }
        Ok(0)
    }

    /// DC GVA and DC GZVA: sets the tags of the block of DCZID_EL0 to the address's.
    pub(crate) fn tag_block_of(&mut self, va: u64) -> Result<(), Stop> {
        let bytes = 4u64 << self.model.dczid_bs;
        // A fault's FAR is the address given.
        let place = self.place(va, AccessKind::Write, Privilege::Current)?;
        if place.attr.is_device() {
            return Err(self.data_abort(va, AccessKind::Write, AccessFault::Alignment));
        }
        self.fill_tags(va & !(bytes - 1), bytes, logical_tag(va))
    }
}
