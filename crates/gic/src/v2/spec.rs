//! The registers of a GICv2 as data. Section numbers are those of the architecture specification, Arm IHI 0048 (issue B.b).

use arch::field::{ich_hcr_el2 as hcr, ich_lr_el2 as lr, ich_vmcr_el2 as vmcr, ich_vtr_el2 as vtr};

use crate::spec::Access::{Ro, Rw, Wo};
use crate::spec::Width::{ByteWord, Word};
use crate::spec::{BitReg, Block, IntReg, block};

/// PEs at most: a target list has 8 bits.
pub const MAX_PES: usize = 8;
/// Size of either window in bytes, as the `virt` board has them.
pub const WINDOW: u64 = 0x1_0000;
/// INTIDs have 10 bits; behind them is the number of the CPU that sent an SGI.
pub const INTID: u32 = 0x3ff;
/// Position of that number in acknowledge and end registers.
pub const SOURCE_SHIFT: u32 = 10;
/// What `GICC_IAR` gives where the pending interrupt is one of group 1, and `AckCtl` is 0 (§3.2).
pub const OTHER_GROUP: u32 = 1022;

/// The distributor's registers (§4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistReg {
    /// `GICD_CTLR`.
    Ctlr,
    /// `GICD_TYPER`.
    Typer,
    /// `GICD_IIDR`.
    Iidr,
    /// Of one kind an interrupt.
    Int(IntReg),
    /// `GICD_ITARGETSR`.
    Targets,
    /// `GICD_SGIR`.
    Sgi,
    /// `GICD_CPENDSGIR`.
    ClearSgi,
    /// `GICD_SPENDSGIR`.
    SetSgi,
    /// Identification registers.
    Id,
}

const fn bits(offset: u64, reg: BitReg) -> Block<DistReg> {
    block(offset, 0x80, DistReg::Int(IntReg::Bits(reg)), Rw, Word)
}

/// The distributor's frame. `GICD_NSACR` is RAZ/WI without the Security Extensions.
pub const DISTRIBUTOR: &[Block<DistReg>] = &[
    block(0x000, 4, DistReg::Ctlr, Rw, Word),
    block(0x004, 4, DistReg::Typer, Ro, Word),
    block(0x008, 4, DistReg::Iidr, Ro, Word),
    bits(0x080, BitReg::Group),
    bits(0x100, BitReg::SetEnable),
    bits(0x180, BitReg::ClearEnable),
    bits(0x200, BitReg::SetPending),
    bits(0x280, BitReg::ClearPending),
    bits(0x300, BitReg::SetActive),
    bits(0x380, BitReg::ClearActive),
    block(0x400, 0x400, DistReg::Int(IntReg::Priority), Rw, ByteWord),
    block(0x800, 0x400, DistReg::Targets, Rw, ByteWord),
    block(0xc00, 0x100, DistReg::Int(IntReg::Config), Rw, Word),
    block(0xf00, 4, DistReg::Sgi, Wo, Word),
    block(0xf10, 16, DistReg::ClearSgi, Rw, ByteWord),
    block(0xf20, 16, DistReg::SetSgi, Rw, ByteWord),
    block(0xfd0, 0x30, DistReg::Id, Ro, Word),
];

/// `GICD_CTLR.EnableGrp0` and `EnableGrp1`.
pub const GICD_ENABLES: u32 = 3;

/// The value of the identification register at `offset` (0xfd0 to 0xfff): those of a GIC-400.
pub const fn id_register(offset: u64) -> u32 {
    const IDS: [u32; 12] = [0x04, 0, 0, 0, 0x90, 0xb4, 0x2b, 0, 0x0d, 0xf0, 0x05, 0xb1];
    IDS[((offset & 0x3f) - 0x10) as usize / 4]
}
/// `GICD_IIDR`: implementer Arm.
pub const GICD_IIDR: u32 = 0x43b;
/// `GICC_IIDR`: implementer Arm, architecture version 2.
pub const GICC_IIDR: u32 = 2 << 16 | 0x43b;

/// A CPU interface's registers (§4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuReg {
    /// `GICC_CTLR`.
    Ctlr,
    /// `GICC_PMR`.
    Pmr,
    /// `GICC_BPR`.
    Bpr,
    /// `GICC_IAR`.
    Iar,
    /// `GICC_EOIR`.
    Eoir,
    /// `GICC_RPR`.
    Rpr,
    /// `GICC_HPPIR`.
    Hppir,
    /// `GICC_ABPR`.
    Abpr,
    /// `GICC_AIAR`.
    Aiar,
    /// `GICC_AEOIR`.
    Aeoir,
    /// `GICC_AHPPIR`.
    Ahppir,
    /// `GICC_APR0`, group 0's. With 32 levels of preemption there is one.
    Apr,
    /// `GICC_NSAPR0`, group 1's.
    Nsapr,
    /// `GICC_IIDR`.
    Iidr,
    /// `GICC_DIR`.
    Dir,
}

/// A CPU interface's frame, 8 KiB.
pub const CPU_INTERFACE: &[Block<CpuReg>] = &[
    block(0x00, 4, CpuReg::Ctlr, Rw, Word),
    block(0x04, 4, CpuReg::Pmr, Rw, Word),
    block(0x08, 4, CpuReg::Bpr, Rw, Word),
    block(0x0c, 4, CpuReg::Iar, Ro, Word),
    block(0x10, 4, CpuReg::Eoir, Wo, Word),
    block(0x14, 4, CpuReg::Rpr, Ro, Word),
    block(0x18, 4, CpuReg::Hppir, Ro, Word),
    block(0x1c, 4, CpuReg::Abpr, Rw, Word),
    block(0x20, 4, CpuReg::Aiar, Ro, Word),
    block(0x24, 4, CpuReg::Aeoir, Wo, Word),
    block(0x28, 4, CpuReg::Ahppir, Ro, Word),
    block(0xd0, 4, CpuReg::Apr, Rw, Word),
    block(0xe0, 4, CpuReg::Nsapr, Rw, Word),
    block(0xfc, 4, CpuReg::Iidr, Ro, Word),
    block(0x1000, 4, CpuReg::Dir, Wo, Word),
];

/// `GICC_CTLR`, without the Security Extensions (§4.4.1).
pub mod gicc_ctlr {
    /// `EnableGrp0` and `EnableGrp1`.
    pub const ENABLES: u32 = 3;
    /// `AckCtl`: `GICC_IAR` acknowledges interrupts of group 1 too.
    pub const ACK_CTL: u32 = 1 << 2;
    /// `FIQEn`: group 0 is signalled as FIQ.
    pub const FIQ_EN: u32 = 1 << 3;
    /// `CBPR`: `GICC_BPR` holds for both groups.
    pub const CBPR: u32 = 1 << 4;
    /// `EOImode`: priority drop and deactivation are apart.
    pub const EOI_MODE: u32 = 1 << 9;
    /// What software can write: the bits that switch a bypass off mean nothing here, as there is none.
    pub const WRITABLE: u32 = 0x3ff;
}

/// `GICD_SGIR` (§4.3.15).
pub mod sgir {
    /// Position of `TargetListFilter`: 0 the list, 1 all others, 2 the CPU itself.
    pub const FILTER_SHIFT: u32 = 24;
    /// Position of `CPUTargetList`.
    pub const LIST_SHIFT: u32 = 16;
}

/// The virtual interface control registers (§5.3). Most have the fields of the GICv3's system register that is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlReg {
    /// `GICH_HCR`: `ICH_HCR_EL2`.
    Hcr,
    /// `GICH_VTR`: `ICH_VTR_EL2`.
    Vtr,
    /// `GICH_VMCR`: `ICH_VMCR_EL2`.
    Vmcr,
    /// `GICH_MISR`: `ICH_MISR_EL2`.
    Misr,
    /// `GICH_EISR0` and 1.
    Eisr,
    /// `GICH_ELRSR0` and 1.
    Elrsr,
    /// `GICH_APR`, of both groups.
    Apr,
    /// `GICH_LR0` to 63.
    List,
}

/// The frame of the virtual interface control registers.
pub const VIRTUAL_CONTROL: &[Block<ControlReg>] = &[
    block(0x00, 4, ControlReg::Hcr, Rw, Word),
    block(0x04, 4, ControlReg::Vtr, Ro, Word),
    block(0x08, 4, ControlReg::Vmcr, Rw, Word),
    block(0x10, 4, ControlReg::Misr, Ro, Word),
    block(0x20, 8, ControlReg::Eisr, Ro, Word),
    block(0x30, 8, ControlReg::Elrsr, Ro, Word),
    block(0xf0, 4, ControlReg::Apr, Rw, Word),
    block(0x100, 0x100, ControlReg::List, Rw, Word),
];

/// The fields of `GICH_HCR`: those of `ICH_HCR_EL2` that trap nothing.
pub const GICH_HCR: u64 = 0xff | hcr::EOIcount.mask();
/// The fields of `GICH_VTR`.
pub const GICH_VTR: u64 = vtr::ListRegs.mask() | vtr::PREbits.mask() | vtr::PRIbits.mask();
/// The fields of `GICV_CTLR`, which are at the same places in `GICH_VMCR`.
pub const GICV_CTLR: u64 = vmcr::VENG0.mask()
    | vmcr::VENG1.mask()
    | vmcr::VAckCtl.mask()
    | vmcr::VFIQEn.mask()
    | vmcr::VCBPR.mask()
    | vmcr::VEOIM.mask();

/// Positions in `GICH_LR<n>` (§5.3.10): `PhysicalID`, which holds the EOI request and the CPU that sent an SGI where it names
/// no physical interrupt; `Priority`, of the five bits that there are; `State`, `Grp1`, `HW`.
mod list {
    pub const PHYSICAL: u32 = 10;
    pub const PRIORITY: u32 = 23;
    pub const STATE: u32 = 28;
    pub const GROUP: u32 = 30;
    pub const HW: u32 = 31;
}

/// `GICH_LR<n>` in the form of `ICH_LR<n>_EL2`. The EOI request is the same bit of the physical INTID.
pub const fn widen(value: u32) -> u64 {
    let value = value as u64;
    lr::vINTID.of(value & INTID as u64)
        | lr::pINTID.of(value >> list::PHYSICAL & INTID as u64)
        | lr::Priority.of((value >> list::PRIORITY & 0x1f) << 3)
        | lr::State.of(value >> list::STATE & 3)
        | lr::Group.of(value >> list::GROUP & 1)
        | lr::HW.of(value >> list::HW)
}

/// The other way.
pub const fn narrow(value: u64) -> u32 {
    (lr::vINTID.get(value) as u32 & INTID)
        | (lr::pINTID.get(value) as u32 & INTID) << list::PHYSICAL
        | (lr::Priority.get(value) as u32 >> 3) << list::PRIORITY
        | (lr::State.get(value) as u32) << list::STATE
        | (lr::Group.get(value) as u32) << list::GROUP
        | (lr::HW.get(value) as u32) << list::HW
}
