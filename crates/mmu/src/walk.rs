//! The walk of the translation tables.

use arch::{Pa, Va};

use crate::stage1::{AddressForm, RangeState, VaRange};
use crate::{
    Access, AccessKind, Caching, Contiguous, Dirty, Entry, Fault, FaultKind, Guarded, HwUpdate, Input, MemAttr,
    NtPolicy, Outcome, Perms, Scope, Shareability, Stage1, Stage2Rights, TableFault, TableMemory, permissions,
};

/// Fields of stage 1 descriptors.
mod descriptor {
    pub const AP1: u64 = 1 << 6;
    pub const AP2: u64 = 1 << 7;
    pub const AF: u64 = 1 << 10;
    pub const NG: u64 = 1 << 11;
    pub const NT: u64 = 1 << 16;
    pub const GP: u64 = 1 << 50;
    pub const DBM: u64 = 1 << 51;
    pub const CONTIGUOUS: u64 = 1 << 52;
    pub const PXN: u64 = 1 << 53;
    pub const UXN: u64 = 1 << 54;
    pub const PXN_TABLE: u64 = 1 << 59;
    pub const UXN_TABLE: u64 = 1 << 60;
    /// No access from EL0.
    pub const AP_TABLE0: u64 = 1 << 61;
    /// No writes.
    pub const AP_TABLE1: u64 = 1 << 62;
}
use descriptor as d;

/// The limits that table descriptors put on what lies below them: the OR of their upper bits.
#[derive(Clone, Copy, Default)]
struct Hierarchy(u64);

/// A leaf descriptor, understood, and what hardware must write back for it.
struct Leaf {
    entry: Entry,
    updated: u64,
}

/// Translates `va` for `access` from the tables alone: range checks, descriptors, permissions, and the hardware
/// updates of Access flag and dirty state. With translation off, the identity.
pub fn walk(stage1: &Stage1, va: Va, access: Access, mem: &impl TableMemory) -> Result<Entry, Fault> {
    let input = stage1.input(va, access)?;
    walk_input(stage1, input, access, mem)
}

/// [`walk`] after the range checks.
pub(crate) fn walk_input(
    stage1: &Stage1,
    input: Input,
    access: Access,
    mem: &impl TableMemory,
) -> Result<Entry, Fault> {
    if !stage1.enabled.is_on() {
        return Ok(identity(stage1, input, access));
    }
    let range = &stage1.ranges[input.half as usize];
    let fault = |kind, level| Fault::stage1(kind, level, access);
    match range.state {
        RangeState::Walk => {}
        RangeState::BadSize | RangeState::Disabled => return Err(fault(FaultKind::Translation, 0)),
        RangeState::BadBase => return Err(fault(FaultKind::AddressSize, 0)),
    }
    let ia = input.va.0 & ((1 << range.ia_bits) - 1);
    let stride_mask = (1 << range.granule.stride()) - 1;
    let mut table = range.table;
    let mut level = range.start_level;
    let mut hierarchy = Hierarchy::default();
    let mut steps = 0;
    loop {
        let shift = range.granule.shift(level);
        let at = Pa(table.0 | (ia >> shift & stride_mask) << 3);
        let table_fault = |reason, steps| match reason {
            TableFault::External => fault(FaultKind::ExternalOnWalk, level).after(steps),
            TableFault::Stage2(fault) => fault,
        };
        let mut raw = mem.read(at).map_err(|reason| table_fault(reason, steps))?;
        steps += 1;
        let next = loop {
            let descriptor = stage1.endian.convert(raw);
            match (descriptor & 3, level) {
                (3, ..=2) => break descriptor,
                (3, _) => {}
                (1, ..=2) if range.block_at(level) => {}
                // Invalid, reserved at level 3, or a block where none may stand.
                _ => return Err(fault(FaultKind::Translation, level).after(steps)),
            }
            let leaf = leaf(stage1, range, input, level, descriptor, hierarchy, access).map_err(|f| f.after(steps))?;
            let entry = Entry { steps, ..leaf.entry };
            if leaf.updated == descriptor {
                return Ok(entry);
            }
            let new = stage1.endian.convert(leaf.updated);
            match mem.compare_exchange(at, raw, new).map_err(|reason| table_fault(reason, steps))? {
                Ok(_) => return Ok(entry),
                // Another PE changed the descriptor: judge the new one.
                Err(found) => raw = found,
            }
        };
        table = Pa(range.address(next, range.granule.bits()));
        if table.0 >> range.out_bits != 0 {
            return Err(fault(FaultKind::AddressSize, level).after(steps));
        }
        if !range.hpd.is_on() {
            hierarchy.0 |= next;
        }
        level += 1;
    }
}

fn leaf(
    stage1: &Stage1,
    range: &VaRange,
    input: Input,
    level: i8,
    descriptor: u64,
    hierarchy: Hierarchy,
    access: Access,
) -> Result<Leaf, Fault> {
    let fault = |kind| Fault::stage1(kind, level, access);
    let has = |bit: u64| descriptor & bit != 0;
    let limited = |bit: u64| hierarchy.0 & bit != 0;
    let mut caching = Caching::Tlb;
    if level < 3 && has(d::NT) {
        match stage1.nt {
            None => {}
            Some(NtPolicy::Uncached) => caching = Caching::Never,
            Some(NtPolicy::Faults) => return Err(fault(FaultKind::Translation)),
        }
    }
    let mut size_log2 = range.granule.shift(level);
    let mut pa = range.address(descriptor, size_log2);
    if pa >> range.out_bits != 0 {
        return Err(fault(FaultKind::AddressSize));
    }
    let mut updated = descriptor;
    if !has(d::AF) {
        match stage1.update {
            HwUpdate::None => return Err(fault(FaultKind::AccessFlag)),
            _ if access.updates_tables() => updated |= d::AF,
            _ => caching = Caching::Never,
        }
    }

    let tracked = stage1.update == HwUpdate::Dirty && has(d::DBM);
    let read_only = limited(d::AP_TABLE1) || (has(d::AP2) && !tracked);
    let mut dirty = match (tracked, has(d::AP2)) {
        (false, _) => Dirty::NotTracked,
        (true, false) => Dirty::Marked,
        (true, true) => Dirty::Clean,
    };
    // With HCR_EL2.NV1, as for EL2: bit 54 is PXN and bit 60 PXNTable, AP[1] and APTable[0] count as 0 and nothing is UXN.
    let (el0, uxn, pxn) = if stage1.nv1.is_on() {
        (false, false, has(d::UXN) || limited(d::UXN_TABLE))
    } else {
        (
            has(d::AP1) && !limited(d::AP_TABLE0),
            has(d::UXN) || limited(d::UXN_TABLE),
            has(d::PXN) || limited(d::PXN_TABLE),
        )
    };
    let bits = u8::from(el0) | u8::from(read_only) << 1 | u8::from(uxn) << 2 | u8::from(pxn) << 3;

    let mut contiguous = Contiguous::Single;
    let run = range.granule.contiguous_log2(level);
    if has(d::CONTIGUOUS) && run != 0 && size_log2 + run <= range.ia_bits {
        // A run whose output address is not aligned with its input is misprogrammed: the descriptor counts alone.
        let whole = 1u64 << (size_log2 + run);
        if (pa ^ input.va.0) & (whole - 1) & !((1 << size_log2) - 1) == 0 {
            contiguous = Contiguous::Run;
            pa &= !(whole - 1);
            size_log2 += run;
        }
    }

    let attr = MemAttr((stage1.mair >> ((descriptor >> 2 & 7) * 8)) as u8);
    let sh = match range.form {
        AddressForm::Lpa2(sh) => sh,
        _ => Shareability::from_bits(descriptor >> 8),
    };
    let entry = Entry {
        va: input.va.align_down(1 << size_log2),
        pa: Pa(pa),
        size_log2,
        level,
        granule: range.granule,
        contiguous,
        perms: Perms::from_bits(bits),
        attr,
        sh: sh.effective(attr),
        scope: if has(d::NG) && stage1.regime.has_el0() { Scope::Asid(stage1.asid) } else { Scope::Global },
        regime: stage1.regime,
        vmid: stage1.vmid,
        stage2: Stage2Rights::ALL,
        guarded: if has(d::GP) { Guarded::Yes } else { Guarded::No },
        dirty,
        caching,
        steps: 0,
    };
    match permissions::check(stage1, &entry, access) {
        Outcome::Allowed => {}
        Outcome::Rewalk => {
            updated &= !d::AP2;
            dirty = Dirty::Marked;
        }
        Outcome::Denied(fault) => return Err(fault),
    }
    Ok(Leaf { entry: Entry { dirty, ..entry }, updated })
}

/// Translation off: output equals input; data is Device-nGnRnE, fetches are Normal.
fn identity(stage1: &Stage1, input: Input, access: Access) -> Entry {
    let page = input.va.align_down(4096);
    Entry {
        va: page,
        pa: Pa(page.0),
        size_log2: 12,
        level: 0,
        granule: crate::Granule::K4,
        contiguous: Contiguous::Single,
        perms: Perms::default(),
        attr: if access.kind == AccessKind::Fetch { stage1.off.fetch } else { stage1.off.data },
        sh: stage1.off.sh,
        scope: Scope::Global,
        regime: stage1.regime,
        vmid: stage1.vmid,
        stage2: Stage2Rights::ALL,
        guarded: Guarded::No,
        dirty: Dirty::NotTracked,
        caching: Caching::Identity,
        steps: 0,
    }
}
