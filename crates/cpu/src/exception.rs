//! Taking exceptions and returning from them. DDI 0487 D1.3 and D1.4; the shared pseudocode AArch64.TakeException.

use arch::esr::{self, Origin, SError, Syndrome};
use arch::feature::Feature;
use arch::field::{hcr_el2, sctlr_el1 as sctlr};
use arch::pmu::PmuEvent;
use arch::sysreg::Reg;
use arch::{El, Va};
use event::Event;
use sem::Insn;

use crate::el2::{FpTrap, level_regs};
use crate::pe::Pe;
use crate::pstate::Pstate;
use crate::stop::{Stop, ToolError};

/// A synchronous exception that waits to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exception {
    pub syndrome: Syndrome,
    /// What goes to FAR_ELx, where the class writes it.
    pub far: Option<Va>,
    /// Who takes it.
    pub target: Target,
}

/// Who takes a synchronous exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Whoever takes those of the current level.
    Default,
    /// EL2, by one of its controls.
    El2,
    /// EL2, by a fault of an access through VNCR_EL2, which is reported as one of EL2's own.
    Nested,
    /// EL2, by a fault of stage 2; HPFAR_EL2 is written where this says so.
    Stage2 {
        /// The value of HPFAR_EL2.
        hpfar: Option<u64>,
    },
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
pub(crate) enum Vector {
    Synchronous = 0x000,
    Irq = 0x080,
    Fiq = 0x100,
    SError = 0x180,
}

impl Pe {
    /// Records a synchronous exception; the instruction does not complete.
    pub(crate) fn raise(&mut self, syndrome: Syndrome, far: Option<Va>) -> Stop {
        self.pending = Some(Exception { syndrome, far, target: Target::Default });
        Stop::Exception
    }
    /// The same for EL2.
    pub(crate) fn raise_to_el2(&mut self, syndrome: Syndrome) -> Stop {
        self.pending = Some(Exception { syndrome, far: None, target: Target::El2 });
        Stop::Exception
    }

    /// A debug exception, which EL2 takes from the lower levels where MDCR_EL2.TDE or HCR_EL2.TGE says so.
    pub(crate) fn raise_debug(&mut self, syndrome: Syndrome, far: Option<Va>) -> Stop {
        let target = if self.debug_target() == El::El2 { Target::El2 } else { Target::Default };
        self.pending = Some(Exception { syndrome, far, target });
        Stop::Exception
    }

    /// The body of an encoding that is UNDEFINED.
    pub(crate) fn undefined(&mut self, _insn: Insn) -> Result<(), Stop> {
        Err(self.raise(Syndrome::UNKNOWN, None))
    }
    pub(crate) fn undefined_here<T>(&mut self) -> Result<T, Stop> {
        Err(self.raise(Syndrome::UNKNOWN, None))
    }

    /// CPACR_EL1 or CPTR_EL2 traps; ISS.COND is 0xe with CV set for AArch64.
    #[cold]
    pub(crate) fn fp_access_trap(&mut self) -> Result<(), Stop> {
        match self.fp_trap() {
            FpTrap::None => Ok(()),
            // AArch64.AdvSIMDFPAccessTrap: what HCR_EL2.TGE sends to EL2 is reported there as an UNDEFINED instruction.
            FpTrap::Default if self.default_target() == El::El2 => self.undefined_here(),
            FpTrap::Default => Err(self.raise(esr::FP_ACCESS, None)),
            FpTrap::El2 => Err(self.raise_to_el2(esr::FP_ACCESS)),
        }
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
        let Some(Exception { syndrome, far, target }) = self.pending.take() else { return };
        let from = self.pstate.el;
        let to = match target {
            Target::Default => self.default_target(),
            Target::El2 | Target::Nested => El::El2,
            Target::Stage2 { hpfar } => {
                if let Some(hpfar) = hpfar {
                    self.sys[Reg::HPFAR_EL2 as usize] = hpfar;
                }
                El::El2
            }
        };
        let regs = level_regs(to);
        // Time passes even where nothing retires, so that a guest that only faults meets its limits.
        self.taken += 1;
        self.skipped += 1;
        self.pmu_event(PmuEvent::ExcTaken);
        let origin = if from == to || target == Target::Nested { Origin::Same } else { Origin::Lower };
        let esr = syndrome.taken(origin);
        self.sys[regs.esr as usize] = esr;
        if let Some(far) = far {
            self.sys[regs.far as usize] = far.0;
        }
        self.emit(Event::Exception { from, to, esr, pc: Va(pc) });
        self.enter(Vector::Synchronous, pc, to);
    }

    /// Takes a physical interrupt at the level it is routed to.
    pub(crate) fn take_physical(&mut self, interrupt: Interrupt) {
        let to = self.interrupt_target(interrupt);
        self.take_asynchronous(interrupt, SError::Uncategorised, to);
    }

    /// Takes a virtual interrupt at EL1.
    pub(crate) fn take_virtual(&mut self, interrupt: Interrupt) {
        let mut serror = SError::Uncategorised;
        if interrupt == Interrupt::SError {
            // A virtual SError is taken once.
            self.sys[Reg::HCR_EL2 as usize] &= !hcr_el2::VSE.mask();
            // With FEAT_RAS the hypervisor says what it is (AArch64.TakeVirtualSErrorException).
            if self.model.has(Feature::FEAT_RAS) {
                serror = SError::Given(self.reg(Reg::VSESR_EL2) as u32);
            }
        }
        self.take_asynchronous(interrupt, serror, El::El1);
    }

    /// Takes an SError interrupt that the GIC's CPU interface generated to the level that it was routed to. What it says is
    /// IMPLEMENTATION DEFINED: uncategorised, with IDS and AET 0.
    pub(crate) fn take_system_error(&mut self, to: El) {
        self.take_asynchronous(Interrupt::SError, SError::Uncategorised, to);
    }

    /// `serror` is what an SError interrupt is; the others have no syndrome.
    fn take_asynchronous(&mut self, interrupt: Interrupt, serror: SError, to: El) {
        let from = self.pstate.el;
        let vector = match interrupt {
            Interrupt::Irq => Vector::Irq,
            Interrupt::Fiq => Vector::Fiq,
            Interrupt::SError => {
                self.sys[level_regs(to).esr as usize] = serror.syndrome().taken(Origin::Same);
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
        self.pmu_event(PmuEvent::ExcTaken);
        self.enter(vector, self.pc, to);
    }

    /// AArch64.TakeException to EL1 or EL2.
    fn enter(&mut self, vector: Vector, return_address: u64, el: El) {
        self.account_el(self.insns);
        self.report_retired();
        self.stepped = None;
        let from = self.pstate;
        let regs = level_regs(el);
        let base = self.reg(regs.vbar);
        let group = match (from.el == el, from.sp_sel) {
            (false, _) => 0x400,
            (true, 0) => 0x000,
            (true, _) => 0x200,
        };
        self.sys[regs.spsr as usize] = self.nested_spsr(from.to_spsr(), from.el, el) | self.nzcv;
        self.sys[regs.elr as usize] = return_address;
        let control = self.reg(regs.sctlr);
        let has = |f| self.model.features.has(f);
        let mut to = Pstate { el, sp_sel: 1, daif: 15, ss: 0, il: 0, uao: 0, btype: 0, ..from };
        if self.sets_pan(el) {
            to.pan = 1;
        }
        if has(arch::feature::Feature::FEAT_SSBS) {
            to.ssbs = sctlr::DSSBS.get(control) as u8;
        }
        if has(arch::feature::Feature::FEAT_MTE2) {
            to.tco = 1;
        }
        if el == El::El2 {
            self.report_world_exit(from.el, vector);
        }
        self.set_pstate(to);
        self.pc = base.wrapping_add(group + vector as u64);
    }

    /// ERET: to the state in SPSR_ELx, at `target`. An illegal return keeps the level and sets PSTATE.IL.
    pub(crate) fn exception_return(&mut self, retired: u64, target: u64) {
        let from = self.pstate.el;
        let regs = level_regs(from);
        let spsr = self.reg(regs.spsr);
        self.account_el(retired);
        self.pmu_event(PmuEvent::ExcReturn);
        self.monitor = None;
        self.event_register = true;
        let mut to = self.legalise(Pstate::from_spsr(spsr));
        to.ss = self.step_after_return(to.ss, to.el, to.daif);
        // What SPSR says of a step is for the next instruction.
        self.single = false;
        // M[4] AArch32, M[1], a level above the current one, SP_EL0 mode bit at EL0, EL1 under HCR_EL2.TGE
        // (DDI 0487 D1.4.5).
        let illegal = spsr & 0x12 != 0
            || to.el > from
            || (to.el == El::El0 && spsr & 1 != 0)
            || (to.el == El::El1 && self.hcr(hcr_el2::TGE));
        if illegal {
            // TCO becomes UNKNOWN (SetPSTATEFromSPSR): it stays.
            to = Pstate { el: from, sp_sel: self.pstate.sp_sel, il: 1, tco: self.pstate.tco, ..to };
        }
        self.nzcv = spsr & 0xf000_0000;
        self.set_pstate(to);
        // The tag rule is that of the level returned to.
        self.next_pc = self.branch_address(target);
        self.emit(Event::ExceptionReturn { from, to: to.el });
        self.report_retired();
        if from == El::El2 {
            self.report_world_entry();
        }
    }

    /// Clears what the model's features do not have, so that it reads as 0.
    pub(crate) fn legalise(&self, mut p: Pstate) -> Pstate {
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
        if from.el != to.el {
            self.pmu_level_changed();
            self.follow_regime();
        }
        let context = |p: Pstate| (p.el, p.pan, p.uao, p.il, p.tco, p.btype);
        if context(from) != context(to) {
            self.context_changed();
        }
    }
}

/// Which stack pointer a state uses.
pub(crate) fn stack(p: Pstate) -> usize {
    if p.sp_sel == 0 { 0 } else { p.el as usize }
}
