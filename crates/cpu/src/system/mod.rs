//! System instructions: what [`sem::System`] operations do to the PE.

mod access;
mod cache;
mod context;
mod gic;
mod hint;
mod register;
mod translate;

use arch::El;
use arch::esr::{self, EretKind, Syndrome};
use arch::feature::Feature;
use arch::field::hcr_el2 as hcr;
use event::Event;
use sem::{Assist, ExceptionCall, Insn, PauthKey, PstateField, System};

pub(crate) use context::{NO_TRANSLATION, mmu_features};

use crate::el2::level_regs;
use crate::pauth::{Combined, Purpose};
use crate::pe::{Conduit, Pe};
use crate::pstate::Pstate;
use crate::spin::barrier_kind;
use crate::stop::{Exit, Stop};

/// HLT #0xf000 in A64 is a semihosting call.
const SEMIHOSTING: u16 = 0xf000;

impl Pe {
    pub(crate) fn system_operation(&mut self, insn: Insn, op: System, argument: u64) -> Result<u64, Stop> {
        match op {
            System::Mrs(enc) => self.mrs(insn, enc),
            System::Msr(enc) => self.msr(insn, enc, argument).map(|()| 0),
            System::Sys(enc) => self.sys_instruction(insn, enc, argument).map(|()| 0),
            // No SYSL is allocated in what is modelled.
            System::Sysl(enc) => self.not_allocated(insn, enc),
            System::Drps => self.undefined_here(),
            System::MsrImmediate(field, value) => self.msr_immediate(insn, field, value).map(|()| 0),
            System::Exception(call, immediate) => Err(self.exception_call(insn, call, immediate)),
            System::Eret | System::EretAuthenticated(_) => {
                if self.pstate.el == El::El0 {
                    return self.undefined_here();
                }
                if self.traps_exception_return() {
                    return Err(self.raise_to_el2(esr::eret(match op {
                        System::EretAuthenticated(PauthKey::IB) => EretKind::Eretab,
                        System::EretAuthenticated(_) => EretKind::Eretaa,
                        _ => EretKind::Eret,
                    })));
                }
                let mut target = self.reg(level_regs(self.pstate.el).elr);
                if let System::EretAuthenticated(key) = op {
                    target = self.authenticate_pointer(key, target, argument, Combined::Yes)?;
                }
                let retired = self.insns + u64::from(insn.offset() / 4) + 1;
                self.exception_return(retired, target);
                Err(Stop::EndBlock)
            }
            System::Clrex => {
                self.clear_monitor();
                Ok(0)
            }
            System::Barrier(barrier, _) => {
                self.emit(Event::Barrier(barrier_kind(barrier)));
                if self.peers.is_some() {
                    self.barrier_among_peers(barrier);
                }
                Ok(0)
            }
            System::Hint(hint) => self.hint(insn, hint, argument).map(|()| 0),
        }
    }

    pub(crate) fn assist_with(&mut self, insn: Insn, op: Assist, operands: [u64; 3]) -> Result<u64, Stop> {
        let [pointer, modifier, _] = operands;
        match op {
            Assist::Sign(key) => self.sign_pointer(key, pointer, modifier),
            Assist::Authenticate(key) => self.authenticate_pointer(key, pointer, modifier, Combined::No),
            Assist::AuthenticateCombined(key) => self.authenticate_pointer(key, pointer, modifier, Combined::Yes),
            Assist::StripInstruction => Ok(self.strip_pointer(Purpose::Instruction, pointer)),
            Assist::StripData => Ok(self.strip_pointer(Purpose::Data, pointer)),
            Assist::SignGeneric => self.generic_code(pointer, modifier),
            Assist::CheckMops => self.check_mops(insn, operands[0], operands[1]),
            Assist::SetMemory(privilege) => self.set_memory(operands[0], operands[1], operands[2], privilege),
            Assist::SetMemoryAndTags(privilege) => self.set_tagged(operands[0], operands[1], operands[2], privilege),
            Assist::CopyMemory { read, write, order } => self.copy_memory(operands, read, write, order),
        }
    }

    fn exception_call(&mut self, _insn: Insn, call: ExceptionCall, immediate: u16) -> Stop {
        match call {
            // HFGITR_EL2 traps the instruction: it is to be executed again (AArch64.CheckForSVCTrap).
            ExceptionCall::Svc if self.traps_supervisor_call() => self.raise_to_el2(esr::svc(immediate.into())),
            ExceptionCall::Svc => {
                self.raise(esr::svc(immediate.into()), None);
                Stop::ExceptionAfter
            }
            ExceptionCall::Hvc => self.hypervisor_call(immediate),
            ExceptionCall::Smc => self.monitor_call(immediate),
            ExceptionCall::Brk => self.raise_debug(esr::brk(immediate.into()), None),
            ExceptionCall::Hlt if immediate == SEMIHOSTING && self.semihosting => self.leave(Exit::Semihosting),
            // Halting debug is not implemented, so HLT and DCPS are UNDEFINED.
            ExceptionCall::Hlt | ExceptionCall::Udf | ExceptionCall::Dcps(_) => self.raise(Syndrome::UNKNOWN, None),
        }
    }

    /// HVC: to EL2, from EL1 unless HCR_EL2.HCD forbids; without EL2 UNDEFINED, but for the board's firmware.
    fn hypervisor_call(&mut self, immediate: u16) -> Stop {
        if self.pstate.el == El::El0 {
            return self.raise(Syndrome::UNKNOWN, None);
        }
        if !self.has_el2() {
            return self.firmware_call(Conduit::Hvc, immediate);
        }
        if self.hcr(hcr::HCD) {
            return self.raise(Syndrome::UNKNOWN, None);
        }
        self.raise_to_el2(esr::hvc(immediate.into()));
        Stop::ExceptionAfter
    }

    /// SMC: HCR_EL2.TSC traps EL1's; EL3 is absent, so it is UNDEFINED but for the board's firmware.
    fn monitor_call(&mut self, immediate: u16) -> Stop {
        if self.pstate.el == El::El1 && self.has_el2() && self.hcr(hcr::TSC) {
            return self.raise_to_el2(esr::smc(immediate.into()));
        }
        self.firmware_call(Conduit::Smc, immediate)
    }

    fn firmware_call(&mut self, conduit: Conduit, immediate: u16) -> Stop {
        if self.pstate.el != El::El0 && self.conduit == conduit && immediate == 0 {
            return self.leave(Exit::FirmwareCall);
        }
        self.raise(Syndrome::UNKNOWN, None)
    }

    fn msr_immediate(&mut self, insn: Insn, field: PstateField, value: u8) -> Result<(), Stop> {
        let bit = value & 1;
        let el0 = self.pstate.el == El::El0;
        let has = |f| self.model.features.has(f);
        let to = match field {
            PstateField::DaifSet | PstateField::DaifClr => {
                if el0 && self.el0_trap_daif() {
                    return Err(self.sysreg_trap(insn));
                }
                let daif = self.pstate.daif;
                let set = field == PstateField::DaifSet;
                self.pstate.daif = if set { daif | value & 15 } else { daif & !value & 15 };
                self.masks_changed();
                return Ok(());
            }
            PstateField::SpSel if !el0 => Pstate { sp_sel: bit, ..self.pstate },
            PstateField::Uao if !el0 && has(Feature::FEAT_UAO) => Pstate { uao: bit, ..self.pstate },
            PstateField::Pan if !el0 && has(Feature::FEAT_PAN) => Pstate { pan: bit, ..self.pstate },
            PstateField::Dit if has(Feature::FEAT_DIT) => Pstate { dit: bit, ..self.pstate },
            PstateField::Ssbs if has(Feature::FEAT_SSBS2) => Pstate { ssbs: bit, ..self.pstate },
            PstateField::Tco if has(Feature::FEAT_MTE) => Pstate { tco: bit, ..self.pstate },
            PstateField::Cfinv if has(Feature::FEAT_FlagM) => {
                self.nzcv ^= 1 << 29;
                return Ok(());
            }
            PstateField::Xaflag if has(Feature::FEAT_FlagM2) => {
                self.nzcv = xaflag(self.nzcv);
                return Ok(());
            }
            PstateField::Axflag if has(Feature::FEAT_FlagM2) => {
                self.nzcv = axflag(self.nzcv);
                return Ok(());
            }
            _ => return self.undefined_here(),
        };
        self.set_pstate(to);
        Ok(())
    }
}

/// XAFLAG: from the external flag format to Arm's.
fn xaflag(nzcv: u64) -> u64 {
    let (z, c) = (nzcv >> 30 & 1, nzcv >> 29 & 1);
    let (n, zz, cc, v) = ((1 - c) & (1 - z), z & c, c | z, (1 - c) & z);
    n << 31 | zz << 30 | cc << 29 | v << 28
}

/// AXFLAG: from Arm's flag format to the external one.
fn axflag(nzcv: u64) -> u64 {
    let (z, c, v) = (nzcv >> 30 & 1, nzcv >> 29 & 1, nzcv >> 28 & 1);
    (z | v) << 30 | (c & (1 - v)) << 29
}
