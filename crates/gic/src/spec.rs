//! What the programmer's model looks like, as data: register offsets, widths and fields of the memory-mapped frames,
//! and the encodings of the CPU interface's system registers.
//!
//! Section numbers are those of the GIC architecture specification, Arm IHI 0069 (issue H).

use arch::sysreg::Enc;
use bus::Size;

/// INTIDs 0 to 15 are SGIs (§2.2).
pub const SGIS: u32 = 16;
/// INTIDs below this are private to a PE: SGIs and PPIs (§2.2).
pub const PRIVATE: u32 = 32;
/// INTIDs 1020 to 1023 are special; SPIs end below (§2.2).
pub const SPECIAL: u32 = 1020;
/// LPIs begin here (§2.2).
pub const FIRST_LPI: u32 = 8192;
/// Bits of an INTID where there are LPIs: 8192 to 65535.
pub const LPI_ID_BITS: u32 = 16;
/// "No pending interrupt of sufficient priority", as acknowledge registers give it (§2.2).
pub const SPURIOUS: u32 = 1023;
/// The most SPIs: INTIDs 32 to 1019.
pub const MAX_SPIS: u32 = SPECIAL - PRIVATE;
/// The most PEs that this model takes.
pub const MAX_PES: usize = 512;

/// Implemented bits of a priority value: the upper five, that is 32 levels (§4.8).
pub const PRIORITY_MASK: u8 = 0xf8;
/// Number of implemented priority bits.
pub const PRIORITY_BITS: u8 = 5;

/// How a register may be accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read and write.
    Rw,
    /// Reads only.
    Ro,
    /// Writes only.
    Wo,
}

/// Which access sizes a register supports (§12.1). Other sizes are UNPREDICTABLE; here they read as zero and
/// write nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 32-bit accesses only.
    Word,
    /// Bytes and 32-bit words.
    ByteWord,
    /// A 64-bit register, also as two 32-bit halves.
    WordDouble,
    /// 16 and 32 bits.
    HalfWord,
}

impl Width {
    /// Does a register of this width support an access of `size`?
    pub const fn admits(self, size: Size) -> bool {
        matches!(
            (self, size),
            (_, Size::Word)
                | (Self::ByteWord, Size::Byte)
                | (Self::WordDouble, Size::Double)
                | (Self::HalfWord, Size::Half)
        )
    }
}

/// A register, or a run of registers of one kind, in a frame.
#[derive(Clone, Copy, Debug)]
pub struct Block<R> {
    /// Offset of the first byte in the frame.
    pub offset: u64,
    /// Length of the run in bytes.
    pub bytes: u64,
    /// What lies there.
    pub reg: R,
    /// Direction.
    pub access: Access,
    /// Access sizes.
    pub width: Width,
}

/// A line of such a table.
pub const fn block<R>(offset: u64, bytes: u64, reg: R, access: Access, width: Width) -> Block<R> {
    Block { offset, bytes, reg, access, width }
}

/// The block of `table` (sorted by offset) that holds `offset`.
pub fn find<R>(table: &[Block<R>], offset: u64) -> Option<&Block<R>> {
    let at = table.partition_point(|b| b.offset <= offset).checked_sub(1)?;
    Some(&table[at]).filter(|b| offset - b.offset < b.bytes)
}

/// The block that a read of `size` at `offset` reads: one of that width that can be read.
pub fn readable<R>(table: &[Block<R>], offset: u64, size: Size) -> Option<&Block<R>> {
    find(table, offset).filter(|block| block.width.admits(size) && block.access != Access::Wo)
}

/// Likewise of a write.
pub fn writable<R>(table: &[Block<R>], offset: u64, size: Size) -> Option<&Block<R>> {
    find(table, offset).filter(|block| block.width.admits(size) && block.access != Access::Ro)
}

/// A 64-bit register that held `old`, after a write of `value` at byte `at` of a run of such registers: a half leaves the
/// other as it is.
pub const fn merge(old: u64, at: u64, size: Size, value: u64) -> u64 {
    let shift = 8 * (at & 4);
    let mask = size.mask() << shift;
    old & !mask | value << shift & mask
}

/// The registers with one bit an interrupt, which the distributor and the redistributors have alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitReg {
    /// `IGROUPR`: 0 is Group 0, 1 is Group 1.
    Group,
    /// `ISENABLER`.
    SetEnable,
    /// `ICENABLER`.
    ClearEnable,
    /// `ISPENDR`.
    SetPending,
    /// `ICPENDR`.
    ClearPending,
    /// `ISACTIVER`.
    SetActive,
    /// `ICACTIVER`.
    ClearActive,
}

/// The registers that describe interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntReg {
    /// One bit an interrupt.
    Bits(BitReg),
    /// `IPRIORITYR`: one byte an interrupt.
    Priority,
    /// `ICFGR`: two bits an interrupt, the upper one set for edge-triggered.
    Config,
}

/// The distributor's registers (§12.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistReg {
    /// `GICD_CTLR`.
    Ctlr,
    /// `GICD_TYPER`.
    Typer,
    /// `GICD_IIDR`.
    Iidr,
    /// `GICD_TYPER2`.
    Typer2,
    /// `GICD_STATUSR`.
    Status,
    /// `GICD_SETSPI_NSR`.
    SetSpi,
    /// `GICD_CLRSPI_NSR`.
    ClearSpi,
    /// Of one kind an interrupt.
    Int(IntReg),
    /// RAZ/WI with `GICD_CTLR.DS` = 1 or with affinity routing: `SETSPI_SR`, `CLRSPI_SR`, `ITARGETSR`, `IGRPMODR`,
    /// `NSACR`.
    Raz,
    /// `GICD_IROUTER`.
    Router,
    /// Identification registers.
    Id,
}

use Access::{Ro, Rw, Wo};
use Width::{ByteWord, Word, WordDouble};

/// The distributor's frame, 64 KiB (§12.8).
pub const DISTRIBUTOR: &[Block<DistReg>] = &[
    block(0x0000, 4, DistReg::Ctlr, Rw, Word),
    block(0x0004, 4, DistReg::Typer, Ro, Word),
    block(0x0008, 4, DistReg::Iidr, Ro, Word),
    block(0x000c, 4, DistReg::Typer2, Ro, Word),
    block(0x0010, 4, DistReg::Status, Rw, Word),
    block(0x0040, 4, DistReg::SetSpi, Wo, Word),
    block(0x0048, 4, DistReg::ClearSpi, Wo, Word),
    block(0x0050, 4, DistReg::Raz, Wo, Word),
    block(0x0058, 4, DistReg::Raz, Wo, Word),
    block(0x0080, 0x80, DistReg::Int(IntReg::Bits(BitReg::Group)), Rw, Word),
    block(0x0100, 0x80, DistReg::Int(IntReg::Bits(BitReg::SetEnable)), Rw, Word),
    block(0x0180, 0x80, DistReg::Int(IntReg::Bits(BitReg::ClearEnable)), Rw, Word),
    block(0x0200, 0x80, DistReg::Int(IntReg::Bits(BitReg::SetPending)), Rw, Word),
    block(0x0280, 0x80, DistReg::Int(IntReg::Bits(BitReg::ClearPending)), Rw, Word),
    block(0x0300, 0x80, DistReg::Int(IntReg::Bits(BitReg::SetActive)), Rw, Word),
    block(0x0380, 0x80, DistReg::Int(IntReg::Bits(BitReg::ClearActive)), Rw, Word),
    block(0x0400, 0x400, DistReg::Int(IntReg::Priority), Rw, ByteWord),
    block(0x0800, 0x400, DistReg::Raz, Rw, ByteWord),
    block(0x0c00, 0x100, DistReg::Int(IntReg::Config), Rw, Word),
    block(0x0d00, 0x80, DistReg::Raz, Rw, Word),
    block(0x0e00, 0x100, DistReg::Raz, Rw, Word),
    block(0x6000, 0x2000, DistReg::Router, Rw, WordDouble),
    block(0xffd0, 0x30, DistReg::Id, Ro, Word),
];

/// The redistributor's registers, both frames of a PE (§12.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedistReg {
    /// `GICR_CTLR`.
    Ctlr,
    /// `GICR_IIDR`.
    Iidr,
    /// `GICR_TYPER`.
    Typer,
    /// `GICR_STATUSR`.
    Status,
    /// `GICR_WAKER`.
    Waker,
    /// `GICR_PROPBASER`.
    Propbaser,
    /// `GICR_PENDBASER`.
    Pendbaser,
    /// Identification registers.
    Id,
    /// Of one kind an interrupt, for SGIs and PPIs.
    Int(IntReg),
    /// RAZ/WI with `GICD_CTLR.DS` = 1: `IGRPMODR0`, `NSACR`.
    Raz,
}

/// Length of one PE's two frames, `RD_base` and `SGI_base`, in bytes (§12.10).
pub const REDIST_STRIDE: u64 = 0x2_0000;
/// Offset of `SGI_base` in a PE's frames.
pub const SGI_BASE: u64 = 0x1_0000;

/// One PE's redistributor frames (§12.10).
pub const REDISTRIBUTOR: &[Block<RedistReg>] = &[
    block(0x0000, 4, RedistReg::Ctlr, Rw, Word),
    block(0x0004, 4, RedistReg::Iidr, Ro, Word),
    block(0x0008, 8, RedistReg::Typer, Ro, WordDouble),
    block(0x0010, 4, RedistReg::Status, Rw, Word),
    block(0x0014, 4, RedistReg::Waker, Rw, Word),
    block(0x0070, 8, RedistReg::Propbaser, Rw, WordDouble),
    block(0x0078, 8, RedistReg::Pendbaser, Rw, WordDouble),
    block(0xffd0, 0x30, RedistReg::Id, Ro, Word),
    block(SGI_BASE + 0x0080, 4, RedistReg::Int(IntReg::Bits(BitReg::Group)), Rw, Word),
    block(SGI_BASE + 0x0100, 4, RedistReg::Int(IntReg::Bits(BitReg::SetEnable)), Rw, Word),
    block(SGI_BASE + 0x0180, 4, RedistReg::Int(IntReg::Bits(BitReg::ClearEnable)), Rw, Word),
    block(SGI_BASE + 0x0200, 4, RedistReg::Int(IntReg::Bits(BitReg::SetPending)), Rw, Word),
    block(SGI_BASE + 0x0280, 4, RedistReg::Int(IntReg::Bits(BitReg::ClearPending)), Rw, Word),
    block(SGI_BASE + 0x0300, 4, RedistReg::Int(IntReg::Bits(BitReg::SetActive)), Rw, Word),
    block(SGI_BASE + 0x0380, 4, RedistReg::Int(IntReg::Bits(BitReg::ClearActive)), Rw, Word),
    block(SGI_BASE + 0x0400, 0x20, RedistReg::Int(IntReg::Priority), Rw, ByteWord),
    block(SGI_BASE + 0x0c00, 8, RedistReg::Int(IntReg::Config), Rw, Word),
    block(SGI_BASE + 0x0d00, 4, RedistReg::Raz, Rw, Word),
    block(SGI_BASE + 0x0e00, 4, RedistReg::Raz, Rw, Word),
];

/// `GICD_IIDR` and `GICR_IIDR`: implementer Arm (0x43b), product, variant and revision 0.
pub const IIDR: u32 = 0x43b;

/// The value of the identification register at `offset` (0xffd0 to 0xffff) of a frame: PIDR4 to 7, PIDR0 to 3, CIDR0
/// to 3 (§12.1). `pidr0` is the low part number: 0x92 for the distributor, 0x93 for a redistributor.
/// PIDR2.ArchRev is 3: GICv3.
pub const fn id_register(offset: u64, pidr0: u32) -> u32 {
    const IDS: [u32; 12] = [0x44, 0, 0, 0, 0, 0xb4, 0x3b, 0, 0x0d, 0xf0, 0x05, 0xb1];
    let index = ((offset & 0x3f) - 0x10) / 4;
    if index == 4 { pidr0 } else { IDS[index as usize] }
}
/// PIDR0 of the distributor.
pub const DIST_PIDR0: u32 = 0x92;
/// PIDR0 of a redistributor.
pub const REDIST_PIDR0: u32 = 0x93;

/// Fields of `GICD_CTLR` in a GIC with one security state (§12.9).
pub mod gicd_ctlr {
    /// `EnableGrp0` and `EnableGrp1`.
    pub const ENABLES: u32 = 0b11;
    /// `ARE`, RAO/WI here: affinity routing is always on.
    pub const ARE: u32 = 1 << 4;
    /// `DS`, RAO/WI here: one security state.
    pub const DS: u32 = 1 << 6;
}

/// Fields of `GICD_TYPER` (§12.9).
pub mod gicd_typer {
    /// `MBIS`: SPIs by message.
    pub const MBIS: u32 = 1 << 16;
    /// `LPIS`: there are LPIs.
    pub const LPIS: u32 = 1 << 17;
    /// `IDbits` = 9: INTIDs of 10 bits, where there are no LPIs.
    pub const IDBITS: u32 = 9 << 19;
    /// `IDbits` where there are LPIs.
    pub const IDBITS_LPIS: u32 = (super::LPI_ID_BITS - 1) << 19;
    /// `A3V`: Aff3 may be other than 0.
    pub const A3V: u32 = 1 << 24;
    /// `RSS`: SGIs reach Aff0 up to 255.
    pub const RSS: u32 = 1 << 26;
}

/// `GICD_IROUTER` (§12.9).
pub mod irouter {
    /// `Interrupt_Routing_Mode`: any participating PE.
    pub const IRM: u64 = 1 << 31;
    /// All fields: IRM and Aff3 to Aff0.
    pub const FIELDS: u64 = 0xff_80ff_ffff;
}

/// `GICD_STATUSR` and `GICR_STATUSR` (§12.9).
pub mod statusr {
    /// `RRD`: a reserved location was read.
    pub const RRD: u32 = 1;
    /// `WRD`: a reserved location was written.
    pub const WRD: u32 = 2;
    /// `RWOD`: a write-only location was read.
    pub const RWOD: u32 = 4;
    /// `WROD`: a read-only location was written.
    pub const WROD: u32 = 8;
}

/// `GICR_CTLR` (§12.11).
pub mod gicr_ctlr {
    /// `EnableLPIs`, RES0 where there are none.
    pub const ENABLE_LPIS: u32 = 1;
    /// `CES`: `EnableLPIs` can be cleared. Read-only.
    pub const CES: u32 = 1 << 1;
    /// `RWP`: what was written has yet to take effect. Read-only.
    pub const RWP: u32 = 1 << 3;
    /// `DPG0`: the PE takes no 1-of-N interrupts of Group 0.
    pub const DPG0: u32 = 1 << 24;
    /// `DPG1NS`: the PE takes no 1-of-N interrupts of (Non-secure) Group 1.
    pub const DPG1NS: u32 = 1 << 25;
    /// The bits that are kept as they are written. `DPG1S` is RAZ/WI with one security state.
    pub const WRITABLE: u32 = DPG0 | DPG1NS;
}

/// `GICR_PROPBASER` (§12.11).
pub mod gicr_propbaser {
    /// `IDbits`: bits of an INTID, less one.
    pub const ID_BITS: u64 = 0x1f;
    /// The configuration table's address, bits \[51:12\].
    pub const ADDRESS: u64 = 0xf_ffff_ffff_f000;
    /// What software can write: with the attributes of memory, which mean nothing here.
    pub const WRITABLE: u64 = 7 << 56 | ADDRESS | 3 << 10 | 7 << 7 | ID_BITS;
}

/// `GICR_PENDBASER` (§12.11).
pub mod gicr_pendbaser {
    /// The pending table's address, bits \[51:16\].
    pub const ADDRESS: u64 = 0xf_ffff_ffff_0000;
    /// What software can write and read back. `PTZ`, which says that the table is all zeros, reads as zero; what the table
    /// holds is looked at in any case.
    pub const WRITABLE: u64 = 7 << 56 | ADDRESS | 3 << 10 | 7 << 7;
}

/// `GICR_TYPER` (§12.11).
pub mod gicr_typer {
    /// `PLPIS`: there are LPIs. `CommonLPIAff` is 0: all PEs share their configuration.
    pub const PLPIS: u64 = 1;
    /// `Last`: the last redistributor of a contiguous region.
    pub const LAST: u64 = 1 << 4;
    /// `DPGS`: `GICR_CTLR.DPG*` work.
    pub const DPGS: u64 = 1 << 5;
    /// Position of `Processor_Number`.
    pub const NUMBER_SHIFT: u32 = 8;
    /// Position of `Affinity_Value`.
    pub const AFFINITY_SHIFT: u32 = 32;
}

/// `GICR_WAKER` (§12.11).
pub mod waker {
    /// `ProcessorSleep`.
    pub const PROCESSOR_SLEEP: u32 = 1 << 1;
    /// `ChildrenAsleep`.
    pub const CHILDREN_ASLEEP: u32 = 1 << 2;
}

/// `ICC_CTLR_EL1` (§12.2).
pub mod icc_ctlr {
    /// `CBPR`: `ICC_BPR0_EL1` holds for both groups.
    pub const CBPR: u64 = 1;
    /// `EOImode`: 1 separates priority drop from deactivation.
    pub const EOI_MODE: u64 = 2;
    /// The writable bits; `PMHE` is RAZ/WI.
    pub const WRITABLE: u64 = CBPR | EOI_MODE;
    /// Read-only fields: `PRIbits` = 4 (five bits), `IDbits` = 0 (16 bits), `A3V`, `RSS`; `SEIS` is the PE's.
    pub const FIXED: u64 = 4 << 8 | 1 << 15 | 1 << 18;
    /// `SEIS`.
    pub const SEIS: u64 = 1 << 14;
}

/// `ICC_SRE_EL1`: `DIB`, `DFB` and `SRE`, all RAO/WI: there is no legacy interface to fall back to (§12.2).
pub const ICC_SRE: u64 = 0b111;

/// `ICC_SGI1R_EL1`, `ICC_ASGI1R_EL1` and `ICC_SGI0R_EL1` (§12.2).
pub mod sgir {
    /// `IRM`: all PEs but this one.
    pub const IRM: u64 = 1 << 40;
    /// Position of `INTID`.
    pub const INTID_SHIFT: u32 = 24;
    /// Position of `RS`, the range of 16 Aff0 values that the target list names.
    pub const RS_SHIFT: u32 = 44;
}

/// Encodings of the CPU interface's system registers (§12.2).
pub mod icc {
    use super::Enc;

    /// `ICC_PMR_EL1`.
    pub const PMR: Enc = Enc::new(3, 0, 4, 6, 0);
    /// `ICC_IAR0_EL1`.
    pub const IAR0: Enc = Enc::new(3, 0, 12, 8, 0);
    /// `ICC_EOIR0_EL1`.
    pub const EOIR0: Enc = Enc::new(3, 0, 12, 8, 1);
    /// `ICC_HPPIR0_EL1`.
    pub const HPPIR0: Enc = Enc::new(3, 0, 12, 8, 2);
    /// `ICC_BPR0_EL1`.
    pub const BPR0: Enc = Enc::new(3, 0, 12, 8, 3);
    /// `ICC_AP0R0_EL1`. With five bits of preemption `ICC_AP0R1_EL1` to 3 do not exist.
    pub const AP0R0: Enc = Enc::new(3, 0, 12, 8, 4);
    /// `ICC_AP1R0_EL1`. With five bits of preemption `ICC_AP1R1_EL1` to 3 do not exist.
    pub const AP1R0: Enc = Enc::new(3, 0, 12, 9, 0);
    /// `ICC_DIR_EL1`.
    pub const DIR: Enc = Enc::new(3, 0, 12, 11, 1);
    /// `ICC_RPR_EL1`.
    pub const RPR: Enc = Enc::new(3, 0, 12, 11, 3);
    /// `ICC_SGI1R_EL1`.
    pub const SGI1R: Enc = Enc::new(3, 0, 12, 11, 5);
    /// `ICC_ASGI1R_EL1`.
    pub const ASGI1R: Enc = Enc::new(3, 0, 12, 11, 6);
    /// `ICC_SGI0R_EL1`.
    pub const SGI0R: Enc = Enc::new(3, 0, 12, 11, 7);
    /// `ICC_IAR1_EL1`.
    pub const IAR1: Enc = Enc::new(3, 0, 12, 12, 0);
    /// `ICC_EOIR1_EL1`.
    pub const EOIR1: Enc = Enc::new(3, 0, 12, 12, 1);
    /// `ICC_HPPIR1_EL1`.
    pub const HPPIR1: Enc = Enc::new(3, 0, 12, 12, 2);
    /// `ICC_BPR1_EL1`.
    pub const BPR1: Enc = Enc::new(3, 0, 12, 12, 3);
    /// `ICC_CTLR_EL1`.
    pub const CTLR: Enc = Enc::new(3, 0, 12, 12, 4);
    /// `ICC_SRE_EL1`.
    pub const SRE: Enc = Enc::new(3, 0, 12, 12, 5);
    /// `ICC_IGRPEN0_EL1`.
    pub const IGRPEN0: Enc = Enc::new(3, 0, 12, 12, 6);
    /// `ICC_IGRPEN1_EL1`.
    pub const IGRPEN1: Enc = Enc::new(3, 0, 12, 12, 7);
}
