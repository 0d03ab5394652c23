//! Stage 2: from intermediate physical to physical addresses, under EL2's control. DDI 0487 D8.2 to D8.6.

use core::cell::RefCell;

use arch::{Ipa, Pa};

use crate::stage1::{AddressForm, VaRange};
use crate::{
    Access, AccessKind, Caching, Dirty, Fault, FaultKind, HwUpdate, MemAttr, MmuFeatures, NtPolicy, Privilege, Rights,
    Shareability, Stage, Stage2Cause, Stage2Tlb, Switch, TableFault, TableMemory,
};

/// Fields of stage 2 descriptors.
mod descriptor {
    pub const S2AP_READ: u64 = 1 << 6;
    pub const S2AP_WRITE: u64 = 1 << 7;
    pub const AF: u64 = 1 << 10;
    pub const NT: u64 = 1 << 16;
    pub const DBM: u64 = 1 << 51;
    pub const CONTIGUOUS: u64 = 1 << 52;
}
use descriptor as d;

/// The registers of stage 2, raw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage2Regs {
    /// `HCR_EL2`.
    pub hcr: u64,
    /// `VTCR_EL2`.
    pub vtcr: u64,
    /// `VTTBR_EL2`.
    pub vttbr: u64,
}

/// Stage 2, decoded from its registers.
#[derive(Clone, Copy, Debug)]
pub struct Stage2 {
    /// Is it in use (`HCR_EL2.VM` or DC)?
    pub enabled: Switch,
    /// The current VMID.
    pub vmid: u16,
    /// The bits of a VMID that count: 8 or 16 of them.
    pub vmid_mask: u16,
    range: VaRange,
    update: HwUpdate,
    nt: Option<NtPolicy>,
    /// `HCR_EL2.PTW`: a stage 1 table in Device memory is a Permission fault.
    protect_walks: Switch,
    /// `HCR_EL2.FWB`.
    forced_write_back: Switch,
    /// `HCR_EL2.CD`: data is Non-cacheable.
    cache_disabled: Switch,
    xnx: Switch,
}

/// What stage 2 grants at an address, for the two privileges that may execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stage2Rights {
    /// Read and write, and fetch at EL1.
    pub el1: Rights,
    /// Read and write, and fetch at EL0.
    pub el0: Rights,
}

impl Stage2Rights {
    /// Where stage 2 is not in use.
    pub const ALL: Self = Self { el1: Rights::ALL, el0: Rights::ALL };

    /// Those of `privilege`.
    #[inline(always)]
    #[must_use]
    pub const fn of(self, privilege: Privilege) -> Rights {
        match privilege {
            Privilege::El0 => self.el0,
            Privilege::El1 | Privilege::El2 => self.el1,
        }
    }
}

/// A stage 2 translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage2Entry {
    /// First address, a multiple of the size.
    pub ipa: Ipa,
    /// Output of the first address.
    pub pa: Pa,
    /// log2 of the size in bytes.
    pub size_log2: u8,
    /// Rights.
    pub rights: Stage2Rights,
    /// The memory attribute: MemAttr\[3:0\] of the descriptor.
    pub attr: u8,
    /// Shareability.
    pub sh: Shareability,
    /// Dirty state.
    pub dirty: Dirty,
    /// What may hold it.
    pub caching: Caching,
    /// Descriptors that the walk read.
    pub steps: u8,
}

impl Stage2Entry {
    /// The output address of `ipa`, which it must cover.
    #[must_use]
    pub const fn output(&self, ipa: Ipa) -> Pa {
        Pa(self.pa.0 | ipa.0 & ((1 << self.size_log2) - 1))
    }
}

const HCR_VM: u32 = 0;
const HCR_PTW: u32 = 2;
const HCR_DC: u32 = 12;
const HCR_CD: u32 = 32;
const HCR_FWB: u32 = 46;

impl Stage2 {
    /// Stage 2 that is not in use.
    #[must_use]
    pub fn off(features: &MmuFeatures) -> Self {
        Self::new(&Stage2Regs { hcr: 0, vtcr: 0, vttbr: 0 }, features)
    }

    /// Decodes `regs` for a PE with `features`.
    #[must_use]
    pub fn new(regs: &Stage2Regs, features: &MmuFeatures) -> Self {
        let vtcr = |n: u32| Switch::bit(regs.vtcr, n);
        let hcr = |n: u32| Switch::bit(regs.hcr, n);
        let update = match (vtcr(21), vtcr(22)) {
            (Switch::Off, _) => HwUpdate::None,
            (Switch::On, Switch::Off) => HwUpdate::AccessFlag.min(features.hafdbs),
            (Switch::On, Switch::On) => features.hafdbs,
        };
        // VTCR_EL2.VS selects 16-bit VMIDs where they exist.
        let vmid_mask = if vtcr(19).and(features.vmid16).is_on() { 0xffff } else { 0xff };
        let on = hcr(HCR_VM).is_on() || hcr(HCR_DC).is_on();
        Self {
            enabled: if on { Switch::On } else { Switch::Off },
            vmid: (regs.vttbr >> 48) as u16 & vmid_mask,
            vmid_mask,
            range: VaRange::stage2(regs.vtcr, regs.vttbr, features),
            update,
            nt: (1..=2).contains(&features.bbm).then_some(features.nt),
            protect_walks: hcr(HCR_PTW),
            forced_write_back: hcr(HCR_FWB).and(features.s2fwb),
            cache_disabled: hcr(HCR_CD),
            xnx: features.xnx,
        }
    }

    /// Translates `ipa` for `access`, which wants it as `cause` says.
    pub fn walk(
        &self,
        ipa: Ipa,
        access: Access,
        cause: Stage2Cause,
        mem: &impl TableMemory,
    ) -> Result<Stage2Entry, Fault> {
        let fault = |kind, level, steps| {
            // On a walk of stage 1 too it is that of the instruction, not of the walk (AArch64.CheckS2Permission).
            let direction = Fault::stage1(kind, level, access).direction;
            Fault { kind, level, stage: Stage::Two { ipa, cause }, direction, steps }
        };
        let range = &self.range;
        match range.state {
            crate::stage1::RangeState::Walk => {}
            crate::stage1::RangeState::BadBase => return Err(fault(FaultKind::AddressSize, 0, 0)),
            _ => return Err(fault(FaultKind::Translation, 0, 0)),
        }
        if ipa.0 >> range.ia_bits != 0 {
            return Err(fault(FaultKind::Translation, 0, 0));
        }
        let mut table = range.table;
        let mut level = range.start_level;
        let mut steps = 0;
        // At the start level concatenated tables make the index longer.
        let mut index_mask = (1u64 << (range.ia_bits - range.granule.shift(level))) - 1;
        loop {
            let at = Pa(table.0 + ((ipa.0 >> range.granule.shift(level) & index_mask) << 3));
            let external = |_| fault(FaultKind::ExternalOnWalk, level, steps);
            let mut raw = mem.read(at).map_err(external)?;
            steps += 1;
            let next = loop {
                match (raw & 3, level) {
                    (3, ..=2) => break raw,
                    (3, _) => {}
                    (1, ..=2) if range.block_at(level) => {}
                    _ => return Err(fault(FaultKind::Translation, level, steps)),
                }
                let (entry, updated) = self.leaf(ipa, level, raw, access).map_err(|kind| fault(kind, level, steps))?;
                let entry = Stage2Entry { steps, ..entry };
                if self.protects(&entry, cause) {
                    return Err(fault(FaultKind::Permission, level, steps));
                }
                if updated == raw {
                    return Ok(entry);
                }
                match mem
                    .compare_exchange(at, raw, updated)
                    .map_err(|_| fault(FaultKind::ExternalOnWalk, level, steps))?
                {
                    Ok(_) => return Ok(entry),
                    Err(found) => raw = found,
                }
            };
            table = Pa(range.address(next, range.granule.bits()));
            if table.0 >> range.out_bits != 0 {
                return Err(fault(FaultKind::AddressSize, level, steps));
            }
            level += 1;
            index_mask = (1 << range.granule.stride()) - 1;
        }
    }

    /// Does `HCR_EL2.PTW` protect Device memory from a walk of stage 1 that meets `entry`?
    fn protects(&self, entry: &Stage2Entry, cause: Stage2Cause) -> bool {
        cause == Stage2Cause::Stage1Walk && self.protect_walks.is_on() && entry.is_device(self)
    }

    /// A leaf descriptor, and what hardware must write back for the access.
    fn leaf(&self, ipa: Ipa, level: i8, descriptor: u64, access: Access) -> Result<(Stage2Entry, u64), FaultKind> {
        let range = &self.range;
        let has = |bit: u64| descriptor & bit != 0;
        let mut caching = Caching::Tlb;
        if level < 3 && has(d::NT) {
            match self.nt {
                None => {}
                Some(NtPolicy::Uncached) => caching = Caching::Never,
                Some(NtPolicy::Faults) => return Err(FaultKind::Translation),
            }
        }
        let mut size_log2 = range.granule.shift(level);
        let mut pa = range.address(descriptor, size_log2);
        if pa >> range.out_bits != 0 {
            return Err(FaultKind::AddressSize);
        }
        let mut updated = descriptor;
        if !has(d::AF) {
            match self.update {
                HwUpdate::None => return Err(FaultKind::AccessFlag),
                _ if access.updates_tables() => updated |= d::AF,
                _ => caching = Caching::Never,
            }
        }
        let tracked = self.update == HwUpdate::Dirty && has(d::DBM);
        let mut dirty = match (tracked, has(d::S2AP_WRITE)) {
            (false, _) => Dirty::NotTracked,
            (true, true) => Dirty::Marked,
            (true, false) => Dirty::Clean,
        };
        let rights = self.rights(descriptor, tracked);
        if !rights.of(access.privilege).contains(access.needs()) {
            return Err(FaultKind::Permission);
        }
        if access.stores() && dirty == Dirty::Clean {
            updated |= d::S2AP_WRITE;
            dirty = Dirty::Marked;
        }
        let run = range.granule.contiguous_log2(level);
        if has(d::CONTIGUOUS) && run != 0 && size_log2 + run <= range.ia_bits {
            let whole = 1u64 << (size_log2 + run);
            if (pa ^ ipa.0) & (whole - 1) & !((1 << size_log2) - 1) == 0 {
                pa &= !(whole - 1);
                size_log2 += run;
            }
        }
        let sh = match range.form {
            AddressForm::Lpa2(sh) => sh,
            _ => Shareability::from_bits(descriptor >> 8),
        };
        let entry = Stage2Entry {
            ipa: ipa.align_down(1 << size_log2),
            pa: Pa(pa),
            size_log2,
            rights,
            attr: (descriptor >> 2 & 15) as u8,
            sh,
            dirty,
            caching,
            steps: 0,
        };
        Ok((entry, updated))
    }

    /// S2AP and XN\[1:0\] (DDI 0487 D8.4.5): without FEAT_XNX bit 53 is RES0 and bit 54 denies both.
    fn rights(&self, descriptor: u64, tracked: bool) -> Stage2Rights {
        let mut data = Rights::NONE;
        if descriptor & d::S2AP_READ != 0 {
            data = data.union(Rights::READ);
        }
        if descriptor & d::S2AP_WRITE != 0 || tracked {
            data = data.union(Rights::WRITE);
        }
        let (el1, el0) = match (self.xnx, descriptor >> 53 & 3) {
            (Switch::On, 0b00) | (Switch::Off, 0b00 | 0b01) => (true, true),
            (Switch::On, 0b01) => (false, true),
            (Switch::On, 0b11) => (true, false),
            _ => (false, false),
        };
        let with = |fetch: bool| if fetch { data.union(Rights::FETCH) } else { data };
        Stage2Rights { el1: with(el1), el0: with(el0) }
    }

    /// The attribute of both stages together (S2CombineS1MemAttrs, S2ApplyFWBMemAttrs): the weaker cacheability, Device over
    /// Normal, or what FEAT_S2FWB forces. Allocation hints are stage 1's.
    #[must_use]
    pub fn combine(&self, stage1: MemAttr, entry: &Stage2Entry) -> MemAttr {
        let second = entry.attr;
        if entry.is_device(self) {
            let second = device(second);
            return if stage1.is_device() { MemAttr(stage1.0.min(second.0)) } else { second };
        }
        if self.forced_write_back.is_on() {
            // MemAttr[3] is RES0.
            return match second & 3 {
                // As stage 1 says.
                0b11 => stage1,
                0b10 if stage1.is_tagged() => stage1,
                0b10 if stage1.is_device() => MemAttr::NORMAL_WB,
                0b10 => MemAttr(write_back(stage1.0 >> 4) << 4 | write_back(stage1.0 & 15)),
                _ if stage1.is_device() => stage1,
                _ => MemAttr::NORMAL_NC,
            };
        }
        if stage1.is_device() {
            return stage1;
        }
        if stage1.is_tagged() && second == 0b1111 && !self.cache_disabled.is_on() {
            return stage1;
        }
        let nibble = |first: u8, second: u8| match (first, second) {
            _ if self.cache_disabled.is_on() => NON_CACHEABLE,
            (NON_CACHEABLE, _) | (_, 1) => NON_CACHEABLE,
            // Write-through, as transient as before.
            (first, 2) => first & !WRITE_BACK,
            (first, _) => first,
        };
        let first = if stage1.is_tagged() { MemAttr::NORMAL_WB.0 } else { stage1.0 };
        MemAttr(nibble(first >> 4, second >> 2) << 4 | nibble(first & 15, second & 3))
    }
}

/// Nibbles of [`MemAttr`] for Normal memory: 0b0100, or transient, write-back, and the allocation hints.
const NON_CACHEABLE: u8 = 0b0100;
const WRITE_BACK: u8 = 0b0100;

/// A nibble made write-back: with its hints, or allocating where it had none.
const fn write_back(nibble: u8) -> u8 {
    if nibble == NON_CACHEABLE { 0b1111 } else { nibble | WRITE_BACK }
}

impl Stage2Entry {
    /// Does it permit `access` as it is, so that the tables need not be looked at?
    fn serves(&self, access: Access) -> bool {
        let permitted = self.rights.of(access.privilege).contains(access.needs());
        permitted && !(access.stores() && self.dirty == Dirty::Clean)
    }

    fn is_device(&self, stage2: &Stage2) -> bool {
        if stage2.forced_write_back.is_on() { self.attr & 4 == 0 } else { self.attr >> 2 == 0 }
    }
}

/// Device memory by MemAttr\[1:0\].
const fn device(attr: u8) -> MemAttr {
    MemAttr((attr & 3) << 2)
}

/// Memory as a walk of stage 1 sees it where stage 2 is in use: table addresses are intermediate.
pub(crate) struct ThroughStage2<'a, M> {
    pub stage2: &'a Stage2,
    pub mem: &'a M,
    /// What the walk is for: a fault is reported with its direction.
    pub access: Access,
    /// What is held of stage 2, for walks that may use and fill it.
    pub held: Option<RefCell<&'a mut Stage2Tlb>>,
}

impl<M: TableMemory> ThroughStage2<'_, M> {
    /// Translates `ipa`: from what is held where that permits the access, else from the tables.
    pub fn translate(&self, ipa: Ipa, access: Access, cause: Stage2Cause) -> Result<Stage2Entry, Fault> {
        let Some(held) = &self.held else { return self.stage2.walk(ipa, access, cause, self.mem) };
        let vmid = self.stage2.vmid;
        let found = held.borrow().lookup(vmid, ipa);
        if let Some(entry) = found {
            if entry.serves(access) && !self.stage2.protects(&entry, cause) {
                return Ok(entry);
            }
            // As in the TLB of both stages, the tables decide where an entry does not permit the access.
            held.borrow_mut().remove(vmid, ipa);
        }
        let entry = self.stage2.walk(ipa, access, cause, self.mem)?;
        if entry.caching == Caching::Tlb {
            held.borrow_mut().insert(vmid, Stage2Entry { steps: 0, ..entry });
        }
        Ok(entry)
    }

    /// Where the descriptor at `at` lies, for a walk that needs `kind` of access to it.
    fn place(&self, at: Pa, kind: AccessKind) -> Result<Pa, TableFault> {
        let kind = if self.access.updates_tables() { kind } else { AccessKind::AtRead };
        let ipa = Ipa(at.0);
        let walk = Access::new(kind, Privilege::El1);
        let entry = self.translate(ipa, walk, Stage2Cause::Stage1Walk).map_err(|fault| {
            let direction = Fault::stage1(fault.kind, fault.level, self.access).direction;
            TableFault::Stage2(Fault { direction, ..fault })
        })?;
        Ok(entry.output(ipa))
    }
}

impl<M: TableMemory> TableMemory for ThroughStage2<'_, M> {
    fn read(&self, at: Pa) -> Result<u64, TableFault> {
        self.mem.read(self.place(at, AccessKind::Read)?)
    }
    fn compare_exchange(&self, at: Pa, old: u64, new: u64) -> Result<Result<u64, u64>, TableFault> {
        self.mem.compare_exchange(self.place(at, AccessKind::Write)?, old, new)
    }
}
