//! Hand-made translation tables. Geometry and descriptor layout are written here again, from the manual, so that a
//! mistake in the walker meets a different one.
#![allow(dead_code)] // each test file uses its part

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use arch::{Pa, Va};
use vambrace_mmu::{
    Access, AccessKind, Fault, Granule, MmuFeatures, Origin, Privilege, Regime, Regs, Stage1, Switch, TableFault,
    TableMemory, TlbiSupport,
};

pub const AF: u64 = 1 << 10;
pub const NG: u64 = 1 << 11;
pub const AP1: u64 = 1 << 6;
pub const AP2: u64 = 1 << 7;
pub const DBM: u64 = 1 << 51;
pub const CONT: u64 = 1 << 52;
pub const PXN: u64 = 1 << 53;
pub const UXN: u64 = 1 << 54;
pub const NT: u64 = 1 << 16;

pub const READ: Access = Access::new(AccessKind::Read, Privilege::El1);
pub const WRITE: Access = Access::new(AccessKind::Write, Privilege::El1);
pub const FETCH: Access = Access::new(AccessKind::Fetch, Privilege::El1);
pub const READ0: Access = Access::new(AccessKind::Read, Privilege::El0);
pub const WRITE0: Access = Access::new(AccessKind::Write, Privilege::El0);

/// Where TLBIs come from: EL1, without a hypervisor.
pub const ORIGIN: Origin = Origin {
    regime: Regime::El10,
    vmid: 0,
    ttl: Switch::On,
    ds: Switch::Off,
    stage2_ds: Switch::Off,
    support: TlbiSupport::Range,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Plain,
    Lpa,
    Lpa2,
}

/// The shape of one table tree.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub granule: Granule,
    pub ia_bits: u32,
    pub form: Form,
}

pub const K4: Shape = Shape { granule: Granule::K4, ia_bits: 48, form: Form::Plain };
pub const K16: Shape = Shape { granule: Granule::K16, ia_bits: 48, form: Form::Plain };
pub const K64: Shape = Shape { granule: Granule::K64, ia_bits: 48, form: Form::Plain };

impl Shape {
    pub fn page_bits(self) -> u32 {
        match self.granule {
            Granule::K4 => 12,
            Granule::K16 => 14,
            Granule::K64 => 16,
        }
    }
    /// The address bits \[hi, lo\] that index the table at `level`, as the manual's tables list them.
    pub fn index_bits(self, level: i8) -> (u32, u32) {
        let (hi, lo) = match (self.granule, level) {
            (Granule::K4, -1) => (51, 48),
            (Granule::K4, 0) => (47, 39),
            (Granule::K4, 1) => (38, 30),
            (Granule::K4, 2) => (29, 21),
            (Granule::K4, 3) => (20, 12),
            (Granule::K16, 0) => (51, 47),
            (Granule::K16, 1) => (46, 36),
            (Granule::K16, 2) => (35, 25),
            (Granule::K16, 3) => (24, 14),
            (Granule::K64, 1) => (51, 42),
            (Granule::K64, 2) => (41, 29),
            (Granule::K64, 3) => (28, 16),
            other => panic!("no such level {other:?}"),
        };
        (hi.min(self.ia_bits - 1), lo)
    }
    pub fn start_level(self) -> i8 {
        (-1..=3)
            .find(|l| {
                let exists = !matches!((self.granule, *l), (Granule::K16, -1) | (Granule::K64, -1 | 0));
                exists && {
                    let lo = self.index_bits(*l).1;
                    self.ia_bits > lo
                }
            })
            .unwrap()
    }
    pub fn levels(self) -> u8 {
        (3 - self.start_level() + 1) as u8
    }
    /// Bytes that a descriptor at `level` maps, log2.
    pub fn leaf_log2(self, level: i8) -> u32 {
        self.index_bits(level).1
    }
    pub fn index(self, level: i8, va: u64) -> u64 {
        let (hi, lo) = self.index_bits(level);
        va >> lo & ((1 << (hi - lo + 1)) - 1)
    }
    /// The address field of a descriptor for `pa`.
    pub fn address(self, pa: u64) -> u64 {
        match self.form {
            Form::Plain => {
                assert_eq!(pa >> 48, 0);
                pa
            }
            Form::Lpa => pa & 0xffff_ffff_ffff | (pa >> 48) << 12,
            Form::Lpa2 => pa & 0x3_ffff_ffff_ffff | (pa >> 50) << 8,
        }
    }
    /// `TCR_EL1` for this shape in both halves; `ps` as in IPS.
    pub fn tcr(self, ps: u64) -> u64 {
        let tsz = u64::from(64 - self.ia_bits);
        let (tg0, tg1) = match self.granule {
            Granule::K4 => (0, 2),
            Granule::K16 => (2, 1),
            Granule::K64 => (1, 3),
        };
        let ds = u64::from(self.form == Form::Lpa2);
        tsz | tsz << 16 | tg0 << 14 | tg1 << 30 | ps << 32 | ds << 59
    }
}

/// Sparse memory with tables in it. What was never written reads as zero.
pub struct Tables {
    pub words: RefCell<BTreeMap<u64, u64>>,
    pub next: Cell<u64>,
    pub reads: Cell<u32>,
    pub abort_at: Cell<Option<u64>>,
    /// Before the next compare-exchange, someone stores this value there.
    pub race: Cell<Option<u64>>,
}

impl Tables {
    pub fn new() -> Self {
        Self {
            words: RefCell::default(),
            next: Cell::new(0x10_0000),
            reads: Cell::new(0),
            abort_at: Cell::new(None),
            race: Cell::new(None),
        }
    }
    /// A fresh table, 64 KiB-aligned so that it fits every granule.
    pub fn alloc(&self) -> u64 {
        let at = self.next.get();
        self.next.set(at + 0x1_0000);
        at
    }
    pub fn get(&self, at: u64) -> u64 {
        self.words.borrow().get(&at).copied().unwrap_or(0)
    }
    pub fn set(&self, at: u64, value: u64) {
        self.words.borrow_mut().insert(at, value);
    }
    /// Where the descriptor for `va` at `level` lies, with tables made on the way.
    pub fn slot(&self, shape: Shape, root: u64, va: u64, level: i8) -> u64 {
        let mut table = root;
        let mut at = shape.start_level();
        loop {
            let slot = table + 8 * shape.index(at, va);
            if at == level {
                return slot;
            }
            if self.get(slot) & 3 != 3 {
                let new = self.alloc();
                self.set(slot, shape.address(new) | 3);
            }
            // All tables here lie below 4 GiB.
            table = self.get(slot) & 0xffff_0000;
            at += 1;
        }
    }
    /// Maps `va` to `pa` by a leaf at `level` with the other bits `bits`; gives the descriptor's address.
    pub fn map(&self, shape: Shape, root: u64, va: u64, pa: u64, level: i8, bits: u64) -> u64 {
        let slot = self.slot(shape, root, va, level);
        self.set(slot, shape.address(pa) | bits | if level == 3 { 3 } else { 1 });
        slot
    }
}

impl TableMemory for Tables {
    fn read(&self, at: Pa) -> Result<u64, TableFault> {
        self.reads.set(self.reads.get() + 1);
        assert_eq!(at.0 & 7, 0);
        if self.abort_at.get() == Some(at.0) { Err(TableFault::External) } else { Ok(self.get(at.0)) }
    }
    fn compare_exchange(&self, at: Pa, old: u64, new: u64) -> Result<Result<u64, u64>, TableFault> {
        if let Some(value) = self.race.take() {
            self.set(at.0, value);
        }
        let found = self.get(at.0);
        if found != old {
            return Ok(Err(found));
        }
        self.set(at.0, new);
        Ok(Ok(found))
    }
}

/// Registers for a shape: translation on, both roots, 48-bit physical addresses (52 in the wide forms).
pub fn regs(shape: Shape, ttbr0: u64, ttbr1: u64) -> Regs {
    let ps = if shape.form == Form::Plain { 5 } else { 6 };
    Regs {
        regime: Regime::El10,
        sctlr: 1,
        tcr: shape.tcr(ps),
        ttbr0,
        ttbr1,
        mair: 0x0000_0000_0044_04ff,
        vmid: 0,
        stage2: Switch::Off,
        nv1: Switch::Off,
        default_attr: None,
    }
}

/// Features for a shape: all, with the 52-bit ones only where the shape asks for them.
pub fn features(shape: Shape) -> MmuFeatures {
    match shape.form {
        Form::Plain => MmuFeatures { pa_bits: 48, ..MmuFeatures::ALL },
        _ => MmuFeatures::ALL,
    }
}

pub fn stage1(shape: Shape, root: u64) -> Stage1 {
    Stage1::new(&regs(shape, root, root), &features(shape))
}

pub fn va(value: u64) -> Va {
    Va(value)
}

/// Kind and level.
pub fn what(fault: Fault) -> (vambrace_mmu::FaultKind, i8) {
    (fault.kind, fault.level)
}
