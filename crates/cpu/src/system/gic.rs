//! The GIC's system registers: which interface an access reaches, and what EL2 traps of it. IHI 0069 8.2 and 8.4.

use arch::El;
use arch::feature::Switch;
use arch::field::{hcr_el2 as hcr, ich_hcr_el2 as ich_hcr};
use arch::sysreg::Reg;
use bus::{CpuLines, Level};
use sem::Insn;

use crate::pe::Pe;
use crate::stop::Stop;

/// The groups of `ICC_*_EL1` registers, by what makes them virtual or traps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    /// Of interrupt group 0: ICH_HCR_EL2.TALL0, virtual with HCR_EL2.FMO.
    Zero,
    /// Of interrupt group 1: TALL1, virtual with IMO.
    One,
    /// Of both: TC, virtual with either.
    Common,
    /// ICC_DIR_EL1: common, and TDIR traps it alone.
    Deactivate,
    /// The registers that send SGIs: TC, and trapped with IMO or FMO, as there is no virtual one.
    Sgi,
    /// ICC_SRE_EL1: under ICC_SRE_EL2.Enable.
    SystemRegisterEnable,
    /// EL2's own: ICC_SRE_EL2 and ICH_*.
    Hypervisor,
}

fn group(reg: Reg) -> Group {
    match reg {
        Reg::ICC_IAR0_EL1
        | Reg::ICC_EOIR0_EL1
        | Reg::ICC_HPPIR0_EL1
        | Reg::ICC_BPR0_EL1
        | Reg::ICC_AP0R0_EL1
        | Reg::ICC_AP0R1_EL1
        | Reg::ICC_AP0R2_EL1
        | Reg::ICC_AP0R3_EL1
        | Reg::ICC_IGRPEN0_EL1 => Group::Zero,
        Reg::ICC_IAR1_EL1
        | Reg::ICC_EOIR1_EL1
        | Reg::ICC_HPPIR1_EL1
        | Reg::ICC_BPR1_EL1
        | Reg::ICC_AP1R0_EL1
        | Reg::ICC_AP1R1_EL1
        | Reg::ICC_AP1R2_EL1
        | Reg::ICC_AP1R3_EL1
        | Reg::ICC_IGRPEN1_EL1 => Group::One,
        Reg::ICC_DIR_EL1 => Group::Deactivate,
        Reg::ICC_SGI1R_EL1 | Reg::ICC_ASGI1R_EL1 | Reg::ICC_SGI0R_EL1 => Group::Sgi,
        Reg::ICC_SRE_EL1 => Group::SystemRegisterEnable,
        _ if reg.info().enc.op1() == 4 => Group::Hypervisor,
        _ => Group::Common,
    }
}

/// Which interface serves an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interface {
    Physical,
    Virtual,
    Hypervisor,
}

impl Pe {
    /// The interface that an access to `reg` reaches, or the trap that it takes.
    fn interface(&mut self, insn: Insn, reg: Reg) -> Result<Interface, Stop> {
        let group = group(reg);
        if self.traps_gic(group) { Err(self.sysreg_trap_to_el2(insn)) } else { Ok(self.interface_of(group)) }
    }

    fn is_below_hypervisor(&self) -> bool {
        self.pstate.el < El::El2 && self.has_el2()
    }

    /// Does EL2 trap accesses to this group?
    fn traps_gic(&self, group: Group) -> bool {
        let control = self.reg(Reg::ICH_HCR_EL2);
        let traps = || match group {
            Group::Zero => ich_hcr::TALL0.is_set(control),
            Group::One => ich_hcr::TALL1.is_set(control),
            Group::Common => ich_hcr::TC.is_set(control),
            Group::Deactivate => ich_hcr::TC.is_set(control) || self.traps_dir(control),
            Group::Sgi => ich_hcr::TC.is_set(control) || self.hcr(hcr::IMO) || self.hcr(hcr::FMO),
            // ICC_SRE_EL2.Enable is bit 3.
            Group::SystemRegisterEnable => self.reg(Reg::ICC_SRE_EL2) & 8 == 0,
            Group::Hypervisor => false,
        };
        self.is_below_hypervisor() && traps()
    }

    fn interface_of(&self, group: Group) -> Interface {
        let (irq, fiq) = (self.hcr(hcr::IMO), self.hcr(hcr::FMO));
        let is_virtual = match group {
            Group::Hypervisor => return Interface::Hypervisor,
            Group::Zero => fiq,
            Group::One => irq,
            Group::Common | Group::Deactivate => irq || fiq,
            Group::Sgi | Group::SystemRegisterEnable => false,
        };
        if is_virtual && self.is_below_hypervisor() { Interface::Virtual } else { Interface::Physical }
    }

    pub(super) fn read_gic(&mut self, insn: Insn, reg: Reg) -> Result<u64, Stop> {
        let interface = self.interface(insn, reg)?;
        match self.read_interface(interface, reg) {
            Some(value) => Ok(value),
            None => self.undefined_here(),
        }
    }

    fn read_interface(&self, interface: Interface, reg: Reg) -> Option<u64> {
        let enc = reg.info().enc;
        match interface {
            Interface::Physical => self.gic.read(self.index, enc),
            Interface::Virtual => self.gic.read_virtual(self.index, enc),
            // SRE, DFB and DIB are fixed at 1, as system registers are the only interface.
            Interface::Hypervisor if reg == Reg::ICC_SRE_EL2 => Some(7 | self.reg(reg) & 8),
            Interface::Hypervisor => self.gic.read_hypervisor(self.index, enc),
        }
    }

    /// What a debugger sees, of the registers whose reading acknowledges nothing.
    pub(super) fn inspect_gic(&self, reg: Reg) -> Option<u64> {
        if matches!(reg, Reg::ICC_IAR0_EL1 | Reg::ICC_IAR1_EL1 | Reg::ICC_NMIAR1_EL1) {
            return None;
        }
        self.read_interface(self.interface_of(group(reg)), reg)
    }

    /// A debugger's write to one of them.
    pub(super) fn set_gic(&mut self, reg: Reg, value: u64) -> Option<()> {
        self.write_interface(self.interface_of(group(reg)), reg, value)
    }

    /// ICH_HCR_EL2.TDIR. Whether it works while the virtual interface is off differs between implementations.
    fn traps_dir(&self, control: u64) -> bool {
        let works = ich_hcr::En.is_set(control) || self.model.gic.tdir_needs_en == Switch::Off;
        ich_hcr::TDIR.is_set(control) && works
    }

    /// The virtual interface reports a misuse: where ICH_HCR_EL2.TSEI is set, by an SError interrupt to EL2; else by a virtual
    /// one, if HCR_EL2.AMO makes those; else by a physical one (IHI 0069, ICH_HCR_EL2.TSEI and the text on SEIs).
    fn route_system_error(&self) {
        let line = if ich_hcr::TSEI.is_set(self.reg(Reg::ICH_HCR_EL2)) {
            CpuLines::SEI_TO_EL2
        } else if self.hcr(hcr::AMO) {
            CpuLines::SEI_VIRTUAL
        } else {
            CpuLines::SERROR
        };
        self.lines.drive(CpuLines::SEI, Level::Low);
        self.lines.drive(line, Level::High);
    }

    pub(super) fn write_gic(&mut self, insn: Insn, reg: Reg, value: u64) -> Result<(), Stop> {
        let interface = self.interface(insn, reg)?;
        match self.write_interface(interface, reg, value) {
            Some(()) => Ok(()),
            None => self.undefined_here(),
        }
    }

    fn write_interface(&mut self, interface: Interface, reg: Reg, value: u64) -> Option<()> {
        let enc = reg.info().enc;
        let done = match interface {
            Interface::Physical => self.gic.write(self.index, enc, value),
            Interface::Virtual => self.gic.write_virtual(self.index, enc, value),
            Interface::Hypervisor if reg == Reg::ICC_SRE_EL2 => {
                self.store_masked(reg, value);
                Some(())
            }
            Interface::Hypervisor => {
                // The trap bits of ICH_HCR_EL2 are looked at here.
                if reg == Reg::ICH_HCR_EL2 {
                    self.store_masked(reg, value);
                }
                self.gic.write_hypervisor(self.index, enc, value)
            }
        };
        if self.lines.get() & CpuLines::SEI != 0 {
            self.route_system_error();
        }
        done
    }
}
