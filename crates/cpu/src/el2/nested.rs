//! A guest hypervisor at EL1: FEAT_NV and FEAT_NV2. DDI 0487 D8.11 and the descriptions of HCR_EL2.{NV, NV1, NV2, AT} and
//! VNCR_EL2; which register becomes what is in `arch::trap`.

use arch::esr::DataAbort;
use arch::field::cnthctl_el2;
use arch::sysreg::{Enc, Reg};
use arch::trap::{Nested, NestedMode, nested};
use arch::{El, Va};
use mmu::{AccessKind, Privilege, TlbiOp};

use crate::abort::AccessFault;
use crate::exception::{Exception, Target};
use crate::memory::Place;
use crate::pe::Pe;
use crate::stop::Stop;

/// A doubleword.
const LOG2: u32 = 3;

impl Pe {
    /// Is an access to a register of `min` and above, made at EL1, a matter of nested virtualization?
    pub(crate) fn nests(&self, min: El) -> bool {
        self.pstate.el == El::El1 && min == El::El2 && self.nested.is_some()
    }

    /// HCR_EL2.{NV, NV1} at EL1, where data accesses are as EL2's own: PSTATE.PAN does nothing, and LDTR and STTR are LDR and
    /// STR.
    pub(crate) fn acts_as_el2(&self) -> bool {
        self.pstate.el == El::El1 && self.nested.is_some_and(NestedMode::nv1)
    }

    /// What an access at the current level to `reg` becomes.
    #[inline]
    pub(crate) fn nested_access(&self, reg: Reg) -> Nested {
        match self.nested {
            Some(mode) if self.pstate.el == El::El1 => self.nested_access_at_el1(reg, mode),
            _ => Nested::Unchanged,
        }
    }

    fn nested_access_at_el1(&self, reg: Reg, mode: NestedMode) -> Nested {
        let control = self.reg(Reg::CNTHCTL_EL2);
        let trapped = match reg {
            Reg::CNTP_CTL_EL02 | Reg::CNTP_CVAL_EL02 => cnthctl_el2::EL1NVPCT.is_set(control),
            Reg::CNTV_CTL_EL02 | Reg::CNTV_CVAL_EL02 => cnthctl_el2::EL1NVVCT.is_set(control),
            _ => false,
        };
        if trapped { Nested::Trap } else { nested(reg, mode) }
    }

    /// Is `enc` an AT or TLBI of EL2's that EL1 executes, and HCR_EL2.NV traps? Without it they are UNDEFINED at EL1.
    pub(crate) fn nested_instruction(&self, enc: Enc, xt: u64) -> bool {
        if self.pstate.el != El::El1 || self.nested.is_none() || enc.op1() != 4 {
            return false;
        }
        match (enc.crn(), enc.crm(), enc.op2()) {
            (7, 8, 0 | 1 | 4..=7) => true,
            (8, ..) => TlbiOp::decode_el2(enc, xt, self.tlbi_origin(), self.regime_of(El::El2)).is_some(),
            _ => false,
        }
    }

    /// SPSR_ELx of an exception from `from` to `to`: what EL1 takes from itself looks to a guest hypervisor like an exception
    /// from EL2 (AArch64.TakeException, where `HCR_EL2.{NV2, NV1, NV}` is x01 or 111).
    pub(crate) fn nested_spsr(&self, spsr: u64, from: El, to: El) -> u64 {
        let as_el2 = match self.nested {
            Some(NestedMode::Trapping { nv1 }) => !nv1,
            Some(NestedMode::InMemory { .. }) => true,
            None => false,
        };
        if as_el2 && from == El::El1 && to == El::El1 { spsr & !0xc | 0x8 } else { spsr }
    }

    /// The place of register number `offset` / 8 behind VNCR_EL2, in EL2's own translation regime.
    fn nested_place(&mut self, offset: u16, kind: AccessKind) -> Result<(u64, Place), Stop> {
        let va = self.reg(Reg::VNCR_EL2).wrapping_add(u64::from(offset));
        let access = mmu::Access::new(kind, Privilege::El2);
        match self.translate_in(self.regime_of(El::El2), Va(va), access) {
            Ok(entry) => Ok((va, Place { target: self.bus.target(entry.output(Va(va))), attr: entry.attr })),
            Err(fault) => Err(self.nested_abort(va, kind, AccessFault::Mmu(fault))),
        }
    }

    /// A data abort that EL2 takes as its own, with ISS.VNCR.
    fn nested_abort(&mut self, va: u64, kind: AccessKind, fault: AccessFault) -> Stop {
        let write = kind == AccessKind::Write;
        let abort = DataAbort { write, vncr: true, ..DataAbort::new(fault.status()) };
        self.pending = Some(Exception { syndrome: abort.syndrome(), far: Some(Va(va)), target: Target::Nested });
        Stop::Exception
    }

    pub(crate) fn nested_load(&mut self, offset: u16) -> Result<u64, Stop> {
        let (va, place) = self.nested_place(offset, AccessKind::Read)?;
        let value = self.read_place(va, place, LOG2);
        value.map_err(|_| self.nested_abort(va, AccessKind::Read, AccessFault::External))
    }

    pub(crate) fn nested_store(&mut self, offset: u16, value: u64) -> Result<(), Stop> {
        let (va, place) = self.nested_place(offset, AccessKind::Write)?;
        let done = self.write_place(va, place, value, LOG2);
        done.map_err(|_| self.nested_abort(va, AccessKind::Write, AccessFault::External))
    }
}
