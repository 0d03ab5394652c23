//! MRS and MSR (register): the gate through which every system register is read and written.

use arch::El;
use arch::feature::Feature;
use arch::field::{hcr_el2, sctlr_el1 as sctlr};
use arch::pmu::PmuEvent;
use arch::sysreg::{self, Enc, Kind, Reg};
use arch::trap::Nested;
use event::Event;
use mmu::Regime;
use sem::Insn;

use crate::el2::Way;
use crate::exception::{Interrupt, stack};
use crate::pe::Pe;
use crate::pmu::is_pmu;
use crate::pstate::Pstate;
use crate::stop::{Exit, Stop, ToolError};
use crate::tags::TAG_CONTROLS;

/// `FPCR` bits that exist without further features: AHP, DN, FZ, RMode.
const FPCR_BASE: u64 = 0x07c0_0000;
/// FZ16, with FEAT_FP16.
const FPCR_FZ16: u64 = 1 << 19;
/// `FPSR`: QC, IDC, IXC, UFC, OFC, DZC, IOC. NZCV of AArch32 is RES0.
const FPSR_MASK: u64 = 0x0800_009f;
/// No instruction of a block: between two blocks.
const NOWHERE: Insn = Insn::new(0, 0, 0);

impl Pe {
    pub(super) fn mrs(&mut self, insn: Insn, enc: Enc) -> Result<u64, Stop> {
        let el = self.pstate.el;
        let Some(reg) = register_of(insn, enc) else {
            return match sysreg::is_id_space(enc) && el != El::El0 {
                true if self.el2_traps_unallocated_id() => Err(self.sysreg_trap_to_el2(insn)),
                true => Ok(0),
                false => self.no_access(insn, enc),
            };
        };
        let info = reg.info();
        if !self.facts[reg as usize].present || info.min_read.is_none_or(|min| el < min && !self.nests(min)) {
            return self.no_access(insn, enc);
        }
        if self.el0_traps(reg, Way::Read) {
            return Err(self.sysreg_trap(insn));
        }
        if self.el2_traps(reg, Way::Read) {
            return Err(self.sysreg_trap_to_el2(insn));
        }
        let reg = match self.nested_access(reg) {
            Nested::Unchanged => reg,
            Nested::Trap => return Err(self.sysreg_trap_to_el2(insn)),
            Nested::Memory(offset) => return self.nested_load(offset),
            Nested::Instead(reg) => reg,
        };
        let Some(reg) = self.redirected(reg) else { return self.undefined_here() };
        let info = reg.info();
        match info.kind {
            // DZP says whether DC ZVA is prohibited where the register is read.
            Kind::Id if reg == Reg::DCZID_EL0 => {
                let prohibited = el == El::El0 && sctlr::DZE.get(self.control()) == 0;
                Ok(self.reg(reg) | u64::from(prohibited) << 4)
            }
            Kind::Id | Kind::Stored => Ok(self.reg(reg)),
            Kind::Special => self.read_special(insn, reg),
        }
    }

    pub(super) fn msr(&mut self, insn: Insn, enc: Enc, value: u64) -> Result<(), Stop> {
        let el = self.pstate.el;
        let Some(reg) = register_of(insn, enc) else { return self.not_allocated(insn, enc) };
        let info = reg.info();
        if !self.facts[reg as usize].present || info.min_write.is_none_or(|min| el < min && !self.nests(min)) {
            return self.undefined_here();
        }
        if self.el0_traps(reg, Way::Write) {
            return Err(self.sysreg_trap(insn));
        }
        if self.el2_traps(reg, Way::Write) {
            return Err(self.sysreg_trap_to_el2(insn));
        }
        let nested = self.nested_access(reg);
        if nested == Nested::Trap {
            return Err(self.sysreg_trap_to_el2(insn));
        }
        // By the name that was written, wherever it leads.
        match reg {
            Reg::CONTEXTIDR_EL1 => self.pmu_event(PmuEvent::CidWriteRetired),
            Reg::TTBR0_EL1 | Reg::TTBR1_EL1 => self.pmu_event(PmuEvent::TtbrWriteRetired),
            _ => {}
        }
        let reg = match nested {
            Nested::Unchanged | Nested::Trap => reg,
            Nested::Memory(offset) => return self.nested_store(offset, value),
            Nested::Instead(reg) => reg,
        };
        let Some(reg) = self.redirected(reg) else { return self.undefined_here() };
        match reg.info().kind {
            Kind::Id => self.undefined_here(),
            Kind::Stored => {
                self.store_masked(reg, value);
                Ok(())
            }
            Kind::Special => {
                self.write_special(insn, reg, value)?;
                self.tell_context(insn, reg);
                Ok(())
            }
        }
    }

    fn tell_context(&mut self, insn: Insn, reg: Reg) {
        let (level, ttbr0, contextidr) = match reg {
            Reg::TTBR0_EL1 | Reg::CONTEXTIDR_EL1 => (El::El1, Reg::TTBR0_EL1, Reg::CONTEXTIDR_EL1),
            Reg::TTBR0_EL2 | Reg::CONTEXTIDR_EL2 => (El::El2, Reg::TTBR0_EL2, Reg::CONTEXTIDR_EL2),
            _ => return,
        };
        self.emit_at(insn, Event::Context { level, ttbr0: self.reg(ttbr0), contextidr: self.reg(contextidr) });
    }

    /// The register that a name reaches where FEAT_VHE redirects it; `None` for an `_EL12` or `_EL02` name without E2H.
    fn redirected(&self, reg: Reg) -> Option<Reg> {
        let facts = &self.facts[reg as usize];
        let e2h = self.hcr(hcr_el2::E2H);
        if facts.el12.is_some() {
            return facts.el12.filter(|_| e2h);
        }
        // A host's EL0 has EL2's timers under EL1's names.
        let host_timer = self.pstate.el == El::El0 && self.is_host_el0() && is_timer(reg);
        let at_el2 = self.pstate.el >= El::El2 && e2h;
        Some(if at_el2 || host_timer { facts.with_e2h } else { reg })
    }

    /// A system register or instruction that is not there: UNDEFINED, but with FEAT_TIDCP1 SCTLR_EL1.TIDCP traps what EL0 does in
    /// the IMPLEMENTATION DEFINED spaces, CRn 11 and 15.
    pub(super) fn not_allocated<T>(&mut self, insn: Insn, enc: Enc) -> Result<T, Stop> {
        if self.el2_traps_implementation_space(enc) {
            return Err(self.sysreg_trap_to_el2(insn));
        }
        let implementation_space = matches!(enc.op0(), 1 | 3) && matches!(enc.crn(), 11 | 15);
        let trapped = self.pstate.el == El::El0 && sctlr::TIDCP.is_set(self.control());
        if implementation_space && trapped { Err(self.sysreg_trap(insn)) } else { self.undefined_here() }
    }

    /// A read that finds no register: UNDEFINED, which FEAT_IDST reports as a trapped access within the ID space
    /// (ID_AA64MMFR2_EL1.IDS).
    fn no_access(&mut self, insn: Insn, enc: Enc) -> Result<u64, Stop> {
        let idst = self.model.features.has(Feature::FEAT_IDST) && sysreg::is_idst_space(enc);
        if idst { Err(self.sysreg_trap(insn)) } else { self.not_allocated(insn, enc) }
    }

    /// Writes the bits that software can write on this model; gives what changed.
    pub(crate) fn store_masked(&mut self, reg: Reg, value: u64) -> u64 {
        let mask = self.facts[reg as usize].writable;
        let old = self.reg(reg);
        let new = old & !mask | value & mask;
        self.sys[reg as usize] = new;
        old ^ new
    }

    fn read_special(&mut self, insn: Insn, reg: Reg) -> Result<u64, Stop> {
        match reg {
            Reg::SP_EL0 if self.pstate.sp_sel == 0 => return self.undefined_here(),
            Reg::FPCR | Reg::FPSR if !self.fp_enabled => self.fp_access_trap()?,
            Reg::RNDR | Reg::RNDRRS => return Ok(self.random_number()),
            Reg::CNTPCT_EL0 | Reg::CNTPCTSS_EL0 | Reg::CNTVCT_EL0 | Reg::CNTVCTSS_EL0 => self.see_counter(insn),
            _ if is_timer(reg) => self.see_counter(insn),
            _ if is_icc(reg) || is_pmu(reg) => {
                let lines = self.lines.get();
                let value = if is_icc(reg) { self.read_gic(insn, reg)? } else { self.read_pmu(insn, reg)? };
                // What the read changed is seen before the next instruction, wherever the block ends.
                self.leave_block |= self.lines.get() != lines;
                return Ok(value);
            }
            _ => {}
        }
        self.computed(insn, reg).ok_or_else(|| self.no_register(insn, reg))
    }

    /// The value of a register that is computed where it is read and which reading does not change, as the current level
    /// reads it; `None` where the tool does not have it.
    #[inline]
    fn computed(&self, insn: Insn, reg: Reg) -> Option<u64> {
        let p = self.pstate;
        Some(match reg {
            // A guest hypervisor believes itself at EL2.
            Reg::CurrentEL if p.el == El::El1 && self.nested.is_some() => (El::El2 as u64) << 2,
            Reg::CurrentEL => (p.el as u64) << 2,
            Reg::SPSel => u64::from(p.sp_sel),
            Reg::DAIF => u64::from(p.daif) << 6,
            Reg::NZCV => self.nzcv,
            Reg::PAN => u64::from(p.pan) << 22,
            Reg::UAO => u64::from(p.uao) << 23,
            Reg::DIT => u64::from(p.dit) << 24,
            Reg::TCO => u64::from(p.tco) << 25,
            Reg::SSBS => u64::from(p.ssbs) << 12,
            Reg::SP_EL0 => self.sp_bank[0],
            Reg::FPCR => self.fpcr,
            Reg::FPSR => self.fpsr,
            Reg::CNTPCT_EL0 | Reg::CNTPCTSS_EL0 => self.physical_counter_at(insn),
            Reg::CNTVCT_EL0 | Reg::CNTVCTSS_EL0 => self.virtual_counter_at(insn),
            Reg::CNTFRQ_EL0 => self.reg(reg),
            _ if is_timer(reg) => self.read_timer(insn, reg).unwrap_or(0),
            // EL1 reads what the hypervisor says.
            Reg::MIDR_EL1 if p.el < El::El2 && self.has_el2() => self.reg(Reg::VPIDR_EL2),
            Reg::MPIDR_EL1 if p.el < El::El2 && self.has_el2() => self.reg(Reg::VMPIDR_EL2),
            Reg::SP_EL1 => self.sp_bank[1],
            Reg::ISR_EL1 => self.interrupt_status(),
            Reg::CCSIDR_EL1 => self.model.ccsidr(self.reg(Reg::CSSELR_EL1)),
            // For AArch32, which has no room for the number of sets elsewhere: without it, UNKNOWN.
            Reg::CCSIDR2_EL1 => 0,
            _ if is_error_record(reg) => 0,
            // OSLM says that the OS Lock is implemented; OSLK follows OSLAR.
            Reg::OSLSR_EL1 => 8 | self.reg(Reg::OSLSR_EL1) & 2,
            // Claim tags read as all implemented.
            Reg::DBGCLAIMSET_EL1 => 0xff,
            _ if is_plain(reg) => self.reg(reg),
            // The debug communications channel: nothing is ever received.
            Reg::MDCCSR_EL0 | Reg::DBGDTR_EL0 | Reg::DBGDTRRX_EL0 => 0,
            _ => return None,
        })
    }

    /// A system register's value for a debugger, without the effects of reading it, as the current level reads it; `None`
    /// where this CPU does not have it, where reading it is an action (ICC_IAR1_EL1, RNDR), and for the second names of
    /// others (`_EL12`).
    #[must_use]
    pub fn inspect(&self, reg: Reg) -> Option<u64> {
        let (info, facts) = (reg.info(), &self.facts[reg as usize]);
        if !facts.present || info.min_read.is_none() || facts.el12.is_some() {
            return None;
        }
        match reg {
            Reg::RNDR | Reg::RNDRRS => None,
            Reg::SP_EL0 | Reg::SP_EL1 if self.uses_stack_of(reg) => Some(self.sp),
            _ if info.kind != Kind::Special => Some(self.reg(reg)),
            _ if is_icc(reg) => self.inspect_gic(reg),
            _ if is_pmu(reg) => Some(self.inspect_pmu(self.insns, reg)),
            _ => self.computed(NOWHERE, reg),
        }
    }

    /// Writes a system register for a debugger: what MSR does at the current level, without what may trap it or lead it to
    /// another register. `None`, and nothing changes, where the register is not one of [`Self::inspect`] or cannot be written.
    pub fn set_system_register(&mut self, reg: Reg, value: u64) -> Option<()> {
        let info = reg.info();
        self.inspect(reg)?;
        info.min_write?;
        match (info.kind, reg) {
            (Kind::Id, _) => return None,
            (Kind::Stored, _) => {
                self.store_masked(reg, value);
            }
            (_, Reg::SP_EL0 | Reg::SP_EL1) if self.uses_stack_of(reg) => self.sp = value,
            (_, Reg::FPCR | Reg::FPSR) => self.set_fp_register(reg, value),
            (_, Reg::MDCR_EL2) => {
                self.set_debug_control(self.insns, value);
            }
            _ if is_icc(reg) => self.set_gic(reg, value)?,
            _ if is_pmu(reg) => self.set_pmu(self.insns, reg, value),
            _ => {
                // It stops only to have the deadline computed anew, which is done before the PE runs anyway.
                let _ = self.write_special(NOWHERE, reg, value);
            }
        }
        self.exit = None;
        Some(())
    }

    /// Is it SP that holds this `SP_ELx`?
    fn uses_stack_of(&self, reg: Reg) -> bool {
        let current = stack(self.pstate);
        current == 0 && reg == Reg::SP_EL0 || current == 1 && reg == Reg::SP_EL1
    }

    fn write_special(&mut self, insn: Insn, reg: Reg, value: u64) -> Result<(), Stop> {
        let p = self.pstate;
        let bit = |n: u32| (value >> n & 1) as u8;
        match reg {
            Reg::SPSel => self.set_pstate(Pstate { sp_sel: bit(0), ..p }),
            Reg::DAIF => self.set_pstate(Pstate { daif: (value >> 6 & 15) as u8, ..p }),
            Reg::NZCV => self.nzcv = value & 0xf000_0000,
            Reg::PAN => self.set_pstate(Pstate { pan: bit(22), ..p }),
            Reg::UAO => self.set_pstate(Pstate { uao: bit(23), ..p }),
            Reg::DIT => self.set_pstate(Pstate { dit: bit(24), ..p }),
            Reg::TCO => self.set_pstate(Pstate { tco: bit(25), ..p }),
            Reg::SSBS => self.set_pstate(Pstate { ssbs: bit(12), ..p }),
            Reg::SP_EL0 if p.sp_sel == 0 => return self.undefined_here(),
            Reg::SP_EL0 => self.sp_bank[0] = value,
            Reg::FPCR | Reg::FPSR => {
                if !self.fp_enabled {
                    return self.fp_access_trap();
                }
                self.set_fp_register(reg, value);
            }
            // A hypervisor that changes EL1's registers switches worlds: what the TLB holds is tagged by VMID and stays.
            Reg::SCTLR_EL1 | Reg::TCR_EL1 | Reg::MAIR_EL1 if p.el >= El::El2 => {
                if self.store_masked(reg, value) != 0 {
                    self.set_up_regime(Regime::El10);
                }
            }
            Reg::SCTLR_EL1
            | Reg::TCR_EL1
            | Reg::MAIR_EL1
            | Reg::TCR2_EL1
            | Reg::SCTLR_EL2
            | Reg::TCR_EL2
            | Reg::MAIR_EL2 => {
                let changed = self.store_masked(reg, value);
                if matches!(reg, Reg::SCTLR_EL1 | Reg::SCTLR_EL2) && changed & !TAG_CONTROLS == 0 {
                    // Kernels write these on a switch of processes.
                    self.context_changed();
                } else if changed != 0 {
                    self.translation_rules_changed();
                }
            }
            Reg::TTBR0_EL1 | Reg::TTBR1_EL1 | Reg::TTBR0_EL2 | Reg::TTBR1_EL2 => {
                if self.store_masked(reg, value) != 0 {
                    self.table_base_changed(reg);
                }
            }
            Reg::HCR_EL2 | Reg::VTCR_EL2 | Reg::VTTBR_EL2 => {
                if self.store_masked(reg, value) != 0 {
                    self.hypervisor_control_changed();
                }
            }
            Reg::SP_EL1 => self.sp_bank[1] = value,
            Reg::CPACR_EL1 | Reg::CPTR_EL2 => {
                self.store_masked(reg, value);
                self.context_changed();
            }
            _ if is_timer(reg) => {
                self.write_timer(insn, reg, value);
            }
            Reg::CNTVOFF_EL2 | Reg::CNTPOFF_EL2 | Reg::CNTHCTL_EL2 => {
                self.store_masked(reg, value);
            }
            Reg::OSLAR_EL1 => {
                self.sys[Reg::OSLSR_EL1 as usize] = (value & 1) << 1;
                self.context_changed();
            }
            Reg::MDCR_EL2 => return self.write_debug_control(insn, value),
            Reg::MDSCR_EL1 => {
                self.store_masked(reg, value);
                self.context_changed();
            }
            _ if is_icc(reg) => self.write_gic(insn, reg, value)?,
            _ if is_pmu(reg) => return self.write_pmu(insn, reg, value),
            _ if is_error_record(reg) => {}
            Reg::DBGCLAIMSET_EL1 => {
                self.sys[Reg::DBGCLAIMCLR_EL1 as usize] |= value & 0xff;
            }
            Reg::DBGCLAIMCLR_EL1 => {
                self.sys[Reg::DBGCLAIMCLR_EL1 as usize] &= !value;
            }
            _ if is_plain(reg) => {
                self.store_masked(reg, value);
                if (Reg::DBGBCR0_EL1..=Reg::DBGBCR15_EL1).contains(&reg)
                    || (Reg::DBGWCR0_EL1..=Reg::DBGWCR15_EL1).contains(&reg)
                {
                    self.contexts_changed();
                }
            }
            Reg::DBGDTR_EL0 | Reg::DBGDTRRX_EL0 | Reg::OSDTRTX_EL1 | Reg::OSDTRRX_EL1 => {}
            _ => return Err(self.no_register(insn, reg)),
        }
        // HCR_EL2.{E2H, TGE} turn CNTPOFF_EL2 off.
        let offset_toggled = reg == Reg::HCR_EL2 && self.reg(Reg::CNTPOFF_EL2) != 0;
        if is_timer(reg) || offset_toggled || matches!(reg, Reg::CNTVOFF_EL2 | Reg::CNTPOFF_EL2 | Reg::CNTHCTL_EL2) {
            // The deadline may have moved closer than the machine believes.
            self.update_timers();
            return Err(self.leave(Exit::Reschedule));
        }
        Ok(())
    }

    /// Writes FPCR or FPSR.
    fn set_fp_register(&mut self, reg: Reg, value: u64) {
        if reg == Reg::FPCR {
            let fz16 = if self.model.features.has(Feature::FEAT_FP16) { FPCR_FZ16 } else { 0 };
            self.fpcr = value & (FPCR_BASE | fz16);
        } else {
            self.fpsr = value & FPSR_MASK;
        }
    }

    /// ISR_EL1: at EL1 the virtual interrupts, where HCR_EL2 makes those.
    fn interrupt_status(&self) -> u64 {
        let lines = self.lines.get();
        use bus::CpuLines as L;
        [
            (Interrupt::SError, L::SERROR | L::SEI_TO_EL2, L::HCR_VSE | L::SEI_VIRTUAL, 8),
            (Interrupt::Irq, L::IRQ, L::VIRQ | L::HCR_VI, 7),
            (Interrupt::Fiq, L::FIQ, L::VFIQ | L::HCR_VF, 6),
        ]
        .into_iter()
        .fold(0, |status, (interrupt, physical, virtual_lines, bit)| {
            let seen = if self.virtual_enabled(interrupt) { virtual_lines } else { physical };
            status | u64::from(lines & seen != 0) << bit
        })
    }

    /// RNDR: from a generator seeded by the machine; flags say success (NZCV = 0).
    fn random_number(&mut self) -> u64 {
        // xorshift64*, any full-period generator would do: only determinism matters here.
        let mut s = self.random;
        s ^= s >> 12;
        s ^= s << 25;
        s ^= s >> 27;
        self.random = s;
        self.nzcv = 0;
        s.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn no_register(&mut self, insn: Insn, reg: Reg) -> Stop {
        let pc = arch::Va(self.pc.wrapping_add(u64::from(insn.offset())));
        self.tool_error(ToolError::NoRegister { name: reg.name().to_owned(), pc })
    }
}

/// The register that an MRS or MSR names. Its line prepared the index; where nothing did, the encoding decides.
#[inline]
fn register_of(insn: Insn, enc: Enc) -> Option<Reg> {
    match insn.imm.checked_sub(1) {
        Some(index) => Reg::ALL.get(index as usize).copied(),
        None => sysreg::lookup(enc),
    }
}

/// The GIC's CPU interface: `ICC_*` (CRn 12 but for VBAR, RVBAR, RMR and DISR; PMR; CRn 12 at EL2) and `ICH_*`.
fn is_icc(reg: Reg) -> bool {
    reg.info().feature == Some(Feature::FEAT_GICv3)
}

/// `ERX*`: with no error record (`ERRIDR_EL1.NUM` = 0) they are RAZ/WI.
fn is_error_record(reg: Reg) -> bool {
    let enc = reg.info().enc;
    (enc.op0(), enc.op1(), enc.crn()) == (3, 0, 5) && matches!(enc.crm(), 3..=5)
}

fn is_timer(reg: Reg) -> bool {
    let enc = reg.info().enc;
    enc.op0() == 3 && matches!(enc.op1(), 3 | 4) && enc.crn() == 14 && matches!(enc.crm(), 2 | 3)
}

/// Registers that are storage as long as what reads them (debug, event stream, PAuth) is not modelled or reads them itself.
fn is_plain(reg: Reg) -> bool {
    let enc = reg.info().enc;
    let debug = enc.op0() == 2 && enc.op1() == 0;
    // EL2's own, whose effect is where they are looked at.
    let el2 = enc.op0() == 3 && enc.op1() == 4;
    debug
        || el2
        || matches!(
            reg,
            Reg::SCTLR_EL1
                | Reg::TCR_EL1
                | Reg::TCR2_EL1
                | Reg::TTBR0_EL1
                | Reg::TTBR1_EL1
                | Reg::MAIR_EL1
                | Reg::CPACR_EL1
                | Reg::CNTKCTL_EL1
                | Reg::CNTFRQ_EL0
                | Reg::CONTEXTIDR_EL1
                | Reg::DISR_EL1
                | Reg::RVBAR_EL1
                | Reg::MIDR_EL1
                | Reg::MPIDR_EL1
                | Reg::ERRSELR_EL1
                | Reg::SCXTNUM_EL0
                | Reg::TFSR_EL1
                | Reg::TFSRE0_EL1
                | Reg::APIAKeyLo_EL1
                | Reg::APIAKeyHi_EL1
                | Reg::APIBKeyLo_EL1
                | Reg::APIBKeyHi_EL1
                | Reg::APDAKeyLo_EL1
                | Reg::APDAKeyHi_EL1
                | Reg::APDBKeyLo_EL1
                | Reg::APDBKeyHi_EL1
                | Reg::APGAKeyLo_EL1
                | Reg::APGAKeyHi_EL1
        )
}
