//! SYS: cache maintenance, address translation and TLB instructions by encoding. DDI 0487 C5.3 to C5.5.

use arch::feature::Feature;
use arch::field::sctlr_el1 as sctlr;
use arch::sysreg::Enc;
use arch::{El, Va};
use mmu::AccessKind;
use sem::{Insn, Privilege, TagCheck};

use crate::abort::AccessFault;
use crate::pe::Pe;
use crate::stop::Stop;
use bus::Target;

/// What a SYS encoding with CRn 7 does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Maintenance {
    /// IC IALLU, IALLUIS, DC by set/way: privileged, no address.
    All,
    /// IC IVAU, DC CVAU, CVAC, CVAP, CVADP, CIVAC: clean by address, at EL0 with SCTLR_EL1.UCI.
    ByVa,
    /// Those of them that invalidate, IC IVAU, DC CIVAC and its kind: at EL0 with SCTLR_EL1.CMOW they want to be able to write.
    ByVaInvalidating,
    /// DC IVAC: privileged.
    Invalidate,
    /// DC ZVA, at EL0 with SCTLR_EL1.DZE.
    Zero,
    /// DC GVA, the same for tags.
    Tag,
    /// DC GZVA, the same for both.
    ZeroAndTag,
}

/// IC IALLUIS, IC IALLU.
const INSTRUCTION_CACHE: [Enc; 2] = [Enc::new(1, 0, 7, 1, 0), Enc::new(1, 0, 7, 5, 0)];

/// One line an instruction: encoding, what it is, the feature that it comes with.
const MAINTENANCE: [(Enc, Maintenance, Option<Feature>); 31] = [
    (Enc::new(1, 0, 7, 1, 0), Maintenance::All, None), // IC IALLUIS
    (Enc::new(1, 0, 7, 5, 0), Maintenance::All, None), // IC IALLU
    (Enc::new(1, 3, 7, 5, 1), Maintenance::ByVaInvalidating, None), // IC IVAU
    (Enc::new(1, 0, 7, 6, 1), Maintenance::Invalidate, None), // DC IVAC
    (Enc::new(1, 0, 7, 6, 2), Maintenance::All, None), // DC ISW
    (Enc::new(1, 0, 7, 10, 2), Maintenance::All, None), // DC CSW
    (Enc::new(1, 0, 7, 14, 2), Maintenance::All, None), // DC CISW
    (Enc::new(1, 3, 7, 4, 1), Maintenance::Zero, None), // DC ZVA
    (Enc::new(1, 3, 7, 10, 1), Maintenance::ByVa, None), // DC CVAC
    (Enc::new(1, 3, 7, 11, 1), Maintenance::ByVa, None), // DC CVAU
    (Enc::new(1, 3, 7, 12, 1), Maintenance::ByVa, Some(Feature::FEAT_DPB)), // DC CVAP
    (Enc::new(1, 3, 7, 13, 1), Maintenance::ByVa, Some(Feature::FEAT_DPB2)), // DC CVADP
    (Enc::new(1, 3, 7, 14, 1), Maintenance::ByVaInvalidating, None), // DC CIVAC
    (Enc::new(1, 0, 7, 6, 3), Maintenance::Invalidate, Some(Feature::FEAT_MTE2)), // DC IGVAC
    (Enc::new(1, 0, 7, 6, 4), Maintenance::All, Some(Feature::FEAT_MTE2)), // DC IGSW
    (Enc::new(1, 0, 7, 6, 5), Maintenance::Invalidate, Some(Feature::FEAT_MTE2)), // DC IGDVAC
    (Enc::new(1, 0, 7, 6, 6), Maintenance::All, Some(Feature::FEAT_MTE2)), // DC IGDSW
    (Enc::new(1, 0, 7, 10, 4), Maintenance::All, Some(Feature::FEAT_MTE2)), // DC CGSW
    (Enc::new(1, 0, 7, 10, 6), Maintenance::All, Some(Feature::FEAT_MTE2)), // DC CGDSW
    (Enc::new(1, 0, 7, 14, 4), Maintenance::All, Some(Feature::FEAT_MTE2)), // DC CIGSW
    (Enc::new(1, 0, 7, 14, 6), Maintenance::All, Some(Feature::FEAT_MTE2)), // DC CIGDSW
    (Enc::new(1, 3, 7, 4, 3), Maintenance::Tag, Some(Feature::FEAT_MTE)), // DC GVA
    (Enc::new(1, 3, 7, 4, 4), Maintenance::ZeroAndTag, Some(Feature::FEAT_MTE)), // DC GZVA
    (Enc::new(1, 3, 7, 10, 3), Maintenance::ByVa, Some(Feature::FEAT_MTE)), // DC CGVAC
    (Enc::new(1, 3, 7, 10, 5), Maintenance::ByVa, Some(Feature::FEAT_MTE)), // DC CGDVAC
    (Enc::new(1, 3, 7, 12, 3), Maintenance::ByVa, Some(Feature::FEAT_MTE)), // DC CGVAP
    (Enc::new(1, 3, 7, 12, 5), Maintenance::ByVa, Some(Feature::FEAT_MTE)), // DC CGDVAP
    (Enc::new(1, 3, 7, 13, 3), Maintenance::ByVa, Some(Feature::FEAT_MTE)), // DC CGVADP
    (Enc::new(1, 3, 7, 13, 5), Maintenance::ByVa, Some(Feature::FEAT_MTE)), // DC CGDVADP
    (Enc::new(1, 3, 7, 14, 3), Maintenance::ByVaInvalidating, Some(Feature::FEAT_MTE)), // DC CIGVAC
    (Enc::new(1, 3, 7, 14, 5), Maintenance::ByVaInvalidating, Some(Feature::FEAT_MTE)), // DC CIGDVAC
];

impl Pe {
    pub(super) fn sys_instruction(&mut self, insn: Insn, enc: Enc, xt: u64) -> Result<(), Stop> {
        if let Some((_, what, feature)) = MAINTENANCE.iter().find(|(e, ..)| *e == enc) {
            let present = feature.is_none_or(|f| self.model.features.has(f));
            return if present { self.maintenance(insn, *what, xt) } else { self.undefined_here() };
        }
        if self.pstate.el == El::El0 {
            return self.not_allocated(insn, enc);
        }
        if self.nested_instruction(enc, xt) {
            return Err(self.sysreg_trap_to_el2(insn));
        }
        match enc.crn() {
            7 => self.address_translation(insn, enc, xt),
            8 => self.tlbi(insn, enc, xt),
            _ => self.not_allocated(insn, enc),
        }
    }

    fn maintenance(&mut self, insn: Insn, what: Maintenance, xt: u64) -> Result<(), Stop> {
        let control = self.control();
        let enabled = match what {
            Maintenance::All | Maintenance::Invalidate => None,
            Maintenance::ByVa | Maintenance::ByVaInvalidating => Some(sctlr::UCI.get(control)),
            Maintenance::Zero | Maintenance::Tag | Maintenance::ZeroAndTag => Some(sctlr::DZE.get(control)),
        };
        if self.pstate.el == El::El0 {
            match enabled {
                None => return self.undefined_here(),
                Some(0) => return Err(self.sysreg_trap(insn)),
                Some(_) => {}
            }
        }
        if self.el2_traps_instruction(Enc::of_word(insn.word())) {
            return Err(self.sysreg_trap_to_el2(insn));
        }
        match what {
            // Memory is coherent and writes to code are noticed: there is nothing to do. Where PEs run at the same time, what
            // another one wrote just now may be noticed only at its next barrier.
            Maintenance::All => {
                if self.peers.is_some() && INSTRUCTION_CACHE.contains(&Enc::of_word(insn.word())) {
                    self.ram.note_all_stale();
                }
                Ok(())
            }
            Maintenance::ByVaInvalidating if self.pstate.el == El::El0 && sctlr::CMOW.is_set(control) => {
                self.touch(xt, AccessKind::CacheInvalidate)?;
                self.invalidate_code(xt);
                Ok(())
            }
            Maintenance::ByVaInvalidating => {
                self.touch(xt, AccessKind::CacheMaintenance)?;
                self.invalidate_code(xt);
                Ok(())
            }
            Maintenance::ByVa => self.touch(xt, AccessKind::CacheMaintenance),
            Maintenance::Invalidate => self.touch(xt, AccessKind::CacheInvalidate),
            Maintenance::Zero => self.zero_block(xt, TagCheck::Checked),
            Maintenance::Tag => self.tag_block_of(xt),
            Maintenance::ZeroAndTag => {
                self.zero_block(xt, TagCheck::Unchecked)?;
                self.tag_block_of(xt)
            }
        }
    }

    /// Translates for the faults alone.
    fn touch(&mut self, va: u64, kind: AccessKind) -> Result<(), Stop> {
        let known = self.fast.lookup_write(Va(va), self.contexts.of(Va(va)), 1).is_some();
        if known { Ok(()) } else { self.place(va, kind, Privilege::Current).map(|_| ()) }
    }

    /// Beside peers: decoded code at `va`, which was translated just now, is stale.
    fn invalidate_code(&mut self, va: u64) {
        if self.peers.is_none() {
            return;
        }
        let context = self.contexts.of(Va(va));
        let known = self.fast.lookup_write(Va(va), context, 1).or_else(|| self.fast.lookup_read(Va(va), context, 1));
        let offset = known.or_else(|| {
            let access = self.mmu_access(AccessKind::CacheMaintenance, Privilege::Current);
            let entry = self.translate(Va(va), access).ok()?;
            self.bus.contents(entry.output(Va(va)), 1)
        });
        match offset {
            Some(offset) => self.ram.note_write(offset, 1),
            None => self.ram.note_all_stale(),
        }
    }

    /// DC ZVA. A fault's FAR is the address given, an alignment fault meets Device memory.
    fn zero_block(&mut self, va: u64, tags: TagCheck) -> Result<(), Stop> {
        let bytes = 4u64 << self.model.dczid_bs;
        let offset = match self.fast.lookup_write(Va(va), self.contexts.of(Va(va)), 1) {
            Some(offset) if self.align_mask == 0 => offset,
            _ => {
                let place = self.place(va, AccessKind::Write, Privilege::Current)?;
                self.watch(va & !(bytes - 1), bytes, AccessKind::Write, Privilege::Current)?;
                if tags == TagCheck::Checked {
                    self.check_block_tags(va, bytes, place)?;
                }
                match place.target {
                    Target::Ram(offset) if !place.attr.is_device() => offset,
                    Target::Nothing => return Err(self.data_abort(va, AccessKind::Write, AccessFault::External)),
                    _ => return Err(self.data_abort(va, AccessKind::Write, AccessFault::Alignment)),
                }
            }
        };
        let start = offset & !(bytes - 1);
        self.report_access(event::AccessKind::Store, start, bytes);
        self.leave_block |= self.ram.is_code(start);
        match self.ram.zero(start, bytes) {
            Some(()) => Ok(()),
            None => Err(self.data_abort(va, AccessKind::Write, AccessFault::External)),
        }
    }
}
