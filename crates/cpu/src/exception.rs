//! Taking exceptions and returning from them. DDI 0487 D1.3 and D1.4; the shared pseudocode AArch64.TakeException.

use arch::esr::{self, Origin, SError, Syndrome};
use arch::field::sctlr_el1 as sctlr;
use arch::sysreg::Reg;
use arch::{El, Va};
use bus::CpuLines;
use event::Event;
use sem::Insn;

use crate::pe::Pe;
use crate::pstate::Pstate;
use crate::stop::{Stop, ToolError};

/// A synchronous exception that waits to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exception {
    pub syndrome: Syndrome,
    /// What goes to FAR_ELx, where the class writes it.
    pub far: Option<Va>,
}

/// The kinds of interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupt {
    Irq,
    Fiq,
    SError,
}

/// Vector offsets of the kinds of exception within their group of four.
#[derive(Clone, Copy)]
enum Vector {
    Synchronous = 0x000,
    Irq = 0x080,
    Fiq = 0x100,
    SError = 0x180,
}

impl Pe {
    /// Records a synchronous exception; the instruction does not complete.
    pub(crate) fn raise(&mut self, syndrome: Syndrome, far: Option<Va>) -> Stop {
        self.pending = Some(Exception { syndrome, far });
        Stop::Exception
    }

    /// The body of an encoding that is UNDEFINED.
    pub(crate) fn undefined(&mut self, _insn: Insn) -> Result<(), Stop> {
        Err(self.raise(Syndrome::UNKNOWN, None))
    }
    pub(crate) fn undefined_here<T>(&mut self) -> Result<T, Stop> {
        Err(self.raise(Syndrome::UNKNOWN, None))
    }

    /// CPACR_EL1.FPEN traps; ISS.COND is 0xe with CV set for AArch64.
    #[cold]
    pub(crate) fn fp_access_trap(&mut self) -> Result<(), Stop> {
        Err(self.raise(esr::FP_ACCESS, None))
    }
    #[cold]
    pub(crate) fn sp_alignment_fault(&mut self) -> Result<(), Stop> {
        Err(self.raise(Syndrome::SP_ALIGNMENT, None))
    }
    pub(crate) fn pc_alignment_fault(&mut self, pc: u64) -> Stop {
        self.raise(Syndrome::PC_ALIGNMENT, Some(Va(pc)))
    }
    pub(crate) fn illegal_state(&mut self) -> Stop {
        self.raise(Syndrome::ILLEGAL_STATE, None)
    }

    pub(crate) fn report_not_done(&mut self, insn: Insn) -> Result<(), Stop> {
        let pc = Va(self.pc.wrapping_add(u64::from(insn.offset())));
        let name = sem::Decoder::<Self>::new().decode(insn.word()).map_or("unknown", |(_, spec)| spec.name);
        Err(self.tool_error(ToolError::NotDone { word: insn.word(), name: name.to_owned(), pc }))
    }

    /// ESR_ELx of the synchronous exception that waits to be taken, as it is without a change of EL.
    #[must_use]
    pub fn pending_syndrome(&self) -> Option<u64> {
        self.pending.map(|exception| exception.syndrome.taken(Origin::Same))
    }

    /// Takes the pending synchronous exception with `pc` as the preferred return address.
    pub(crate) fn take_pending(&mut self, pc: u64) {
        let Some(Exception { syndrome, far }) = self.pending.take() else { return };
        let from = self.pstate.el;
        let to = El::El1;
        // Time passes even where nothing retires, so that a guest that only faults meets its limits.
        self.taken += 1;
        self.skipped += 1;
        let origin = if from == to { Origin::Same } else { Origin::Lower };
        let esr = syndrome.taken(origin);
        self.sys[Reg::ESR_EL1 as usize] = esr;
        if let Some(far) = far {
            self.sys[Reg::FAR_EL1 as usize] = far.0;
        }
        self.emit(Event::Exception { from, to, esr, pc: Va(pc) });
        self.enter(Vector::Synchronous, pc);
    }

    pub(crate) fn take_asynchronous(&mut self, interrupt: Interrupt) {
        let (from, to) = (self.pstate.el, El::El1);
        let vector = match interrupt {
            Interrupt::Irq => Vector::Irq,
            Interrupt::Fiq => Vector::Fiq,
            Interrupt::SError => {
                self.sys[Reg::ESR_EL1 as usize] = SError::Uncategorised.syndrome().taken(Origin::Same);
                Vector::SError
            }
        };
        self.emit(match interrupt {
            Interrupt::Irq => Event::Irq { from, to },
            Interrupt::Fiq => Event::Fiq { from, to },
            Interrupt::SError => Event::SError { from, to },
        });
        self.taken += 1;
        self.skipped += 1;
        self.enter(vector, self.pc);
    }

    /// AArch64.TakeException to EL1.
    fn enter(&mut self, vector: Vector, return_address: u64) {
        self.account_el(self.insns);
        let from = self.pstate;
        let base = self.sys[Reg::VBAR_EL1 as usize];
        let group = match (from.el, from.sp_sel) {
            (El::El0, _) => 0x400,
            (_, 0) => 0x000,
            _ => 0x200,
        };
        self.sys[Reg::SPSR_EL1 as usize] = from.to_spsr() | self.nzcv;
        self.sys[Reg::ELR_EL1 as usize] = return_address;
        let sctlr_el1 = self.sys[Reg::SCTLR_EL1 as usize];
        let has = |f| self.model.features.has(f);
        let mut to = Pstate { el: El::El1, sp_sel: 1, daif: 15, ss: 0, il: 0, uao: 0, btype: 0, ..from };
        if has(arch::feature::Feature::FEAT_PAN) && sctlr::SPAN.get(sctlr_el1) == 0 {
            to.pan = 1;
        }
        if has(arch::feature::Feature::FEAT_SSBS) {
            to.ssbs = sctlr::DSSBS.get(sctlr_el1) as u8;
        }
        if has(arch::feature::Feature::FEAT_MTE2) {
            to.tco = 1;
        }
        self.set_pstate(to);
        self.pc = base.wrapping_add(group + vector as u64);
    }

    /// ERET: to the state in SPSR_EL1, at `target`. An illegal return keeps the level and sets PSTATE.IL.
    pub(crate) fn exception_return(&mut self, retired: u64, target: u64) {
        let spsr = self.sys[Reg::SPSR_EL1 as usize];
        let from = self.pstate.el;
        self.account_el(retired);
        self.monitor = None;
        self.event_register = true;
        // DebugExceptionReturnSS: SS is set only where software step is enabled, which is not modelled.
        let mut to = Pstate { ss: 0, ..self.legalise(Pstate::from_spsr(spsr)) };
        // M[4] AArch32, M[1], a level above the current one, SP_EL0 mode bit at EL0 (DDI 0487 D1.4.5).
        let illegal = spsr & 0x12 != 0 || to.el > from || (to.el == El::El0 && spsr & 1 != 0);
        if illegal {
            to = Pstate { el: from, sp_sel: self.pstate.sp_sel, il: 1, ..to };
        }
        self.nzcv = spsr & 0xf000_0000;
        self.set_pstate(to);
        // The tag rule is that of the level returned to, whose regime is the same here.
        self.next_pc = self.branch_address(target);
        self.emit(Event::ExceptionReturn { from, to: to.el });
    }

    /// Clears what the model's features do not have, so that it reads as 0.
    fn legalise(&self, mut p: Pstate) -> Pstate {
        use arch::feature::Feature as F;
        for (feature, field) in [
            (F::FEAT_PAN, &mut p.pan),
            (F::FEAT_UAO, &mut p.uao),
            (F::FEAT_DIT, &mut p.dit),
            (F::FEAT_SSBS, &mut p.ssbs),
            (F::FEAT_MTE, &mut p.tco),
            (F::FEAT_BTI, &mut p.btype),
        ] {
            if !self.model.features.has(feature) {
                *field = 0;
            }
        }
        p
    }

    /// Changes PSTATE: the stack pointer in use, the masks, the permissions that follow.
    pub(crate) fn set_pstate(&mut self, to: Pstate) {
        let from = self.pstate;
        self.sp_bank[stack(from)] = self.sp;
        self.pstate = to;
        self.sp = self.sp_bank[stack(to)];
        self.masks_changed();
        let context = |p: Pstate| (p.el, p.pan, p.uao, p.il, p.tco, p.btype);
        if context(from) != context(to) {
            self.context_changed();
        }
    }

    /// Recomputes which interrupt lines are looked at.
    pub(crate) fn masks_changed(&mut self) {
        let daif = self.pstate.daif;
        let line = |mask: u8, line: u32| if daif & mask == 0 { line } else { 0 };
        self.unmasked = line(4, CpuLines::SERROR) | line(2, CpuLines::IRQ) | line(1, CpuLines::FIQ);
    }
}

/// Which stack pointer a state uses.
pub(crate) fn stack(p: Pstate) -> usize {
    if p.sp_sel == 0 { 0 } else { p.el as usize }
}
