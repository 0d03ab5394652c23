//! Cases on our PE: at EL0, translated, with the control bits that Linux sets.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use arch::feature::Feature::*;
use arch::feature::FeatureSet;
use arch::model::CpuModel;
use arch::sysreg::{Enc, Reg};
use arch::{Pa, Va};
use bus::{Bus, CpuInterface, CpuLines, Level, Ram};
use cpu::{CodeCache, Conduit, Exit, Pe, PeConfig, Semihosting, ToolError};
use sem::eval::mix;
use sem::{Insn, Machine, Quad, System};

use crate::case::{CODE, CODE_SIZE, Case, DATA, DATA_SIZE, End, Outcome, PC, State, WORDS};

// Physical memory: tables of levels 1 to 3, the vectors, the data page, the code.
const RAM: u64 = 0x4000_0000;
const RAM_SIZE: u64 = 1 << 17;
const LEVEL1: u64 = 0;
const LEVEL2: u64 = 0x1000;
const LEVEL3: u64 = 0x2000;
pub(crate) const VECTORS: u64 = 0x3000;
const PAGE: u64 = 0x4000;
pub(crate) const TEXT: u64 = 0x1_0000;

/// The vectors' virtual address.
const VECTOR_BASE: u64 = CODE + 0x4_0000;
/// The exception from EL0, synchronous.
const FROM_EL0: u64 = VECTOR_BASE + 0x400;

const BRK: u32 = 0xd420_0000;
const HVC: u32 = 0xd400_0002;
pub(crate) const ERET: u32 = 0xd69f_03e0;

/// The most instructions of a case that ends.
const BUDGET: u64 = 200;

struct NoGic;

impl CpuInterface for NoGic {
    fn read(&self, _cpu: usize, _reg: Enc) -> Option<u64> {
        None
    }
    fn write(&self, _cpu: usize, _reg: Enc, _value: u64) -> Option<()> {
        None
    }
    fn set_ppi(&self, _cpu: usize, _intid: u32, _level: Level) {}
}

/// A PE for cases.
pub struct Ours {
    pub(crate) pe: Pe,
    pub(crate) code: CodeCache,
    pub(crate) ram: Arc<Ram>,
    /// What the data page holds before a case, and the seed of that.
    before: Vec<u64>,
    seed: Option<u64>,
    /// How many words of code are not breakpoints.
    dirty: usize,
}

/// Everything that is modelled.
pub fn max_with_el2() -> Result<CpuModel> {
    arch::preset::preset("max").context("no preset max")
}

/// The same without EL2 and what needs it.
pub fn max() -> Result<CpuModel> {
    Ok(max_with_el2()?.without_dependents(FEAT_EL2))
}

/// The model that cases run on: `max`, with the sizes that qemu-user's has, and without what the judge lacks.
pub fn model() -> Result<CpuModel> {
    let mut model = max()?;
    // 512 bytes.
    model.dczid_bs = 7;
    // The judge runs without them too: so PAuth's hints are NOPs, tags are not kept, ordered accesses must be aligned.
    Ok([FEAT_PAuth, FEAT_MTE2, FEAT_LSE2].into_iter().fold(model, |model, feature| model.without_dependents(feature)))
}

impl Ours {
    /// A PE of `model`.
    pub fn new(model: CpuModel) -> Result<Self> {
        let ram = Arc::new(Ram::new(RAM_SIZE)?);
        let features: FeatureSet = model.features;
        let pe = Pe::new(PeConfig {
            index: 0,
            mpidr: 0,
            model,
            bus: Arc::new(Bus::new(ram.clone(), Pa(RAM))),
            gic: Arc::new(NoGic),
            lines: Arc::new(CpuLines::default()),
            conduit: Conduit::Hvc,
            frequency: 1_000_000_000,
            seed: 1,
            semihosting: Semihosting::Off,
        });
        let code = CodeCache::new(ram.clone(), features);
        let mut ours = Self { pe, code, ram, before: Vec::new(), seed: None, dirty: 0 };
        ours.build().context("RAM is too small")?;
        ours.reset();
        Ok(ours)
    }

    /// Tables, vectors and breakpoints.
    pub(crate) fn build(&mut self) -> Option<()> {
        const TABLE: u64 = 0b11;
        // Access flag, inner shareable, accessible from EL0, a page.
        const USER: u64 = 1 << 10 | 3 << 8 | 1 << 6 | 0b11;
        const KERNEL: u64 = 1 << 10 | 3 << 8 | 0b11;
        const PXN: u64 = 1 << 53;
        const UXN: u64 = 1 << 54;
        let ram = &self.ram;
        let index = |address: u64, level: u64| ((address >> (39 - 9 * level)) & 511) * 8;
        ram.write_u64(LEVEL1 + index(CODE, 1), (RAM + LEVEL2) | TABLE)?;
        ram.write_u64(LEVEL2 + index(CODE, 2), (RAM + LEVEL3) | TABLE)?;
        for offset in (0..CODE_SIZE).step_by(4096) {
            ram.write_u64(LEVEL3 + index(CODE + offset, 3), (RAM + TEXT + offset) | USER | PXN)?;
        }
        ram.write_u64(LEVEL3 + index(DATA, 3), (RAM + PAGE) | USER | PXN | UXN)?;
        ram.write_u64(LEVEL3 + index(VECTOR_BASE, 3), (RAM + VECTORS) | KERNEL | UXN)?;
        for offset in (0..4096).step_by(0x80) {
            ram.write_u32(VECTORS + offset, HVC)?;
            ram.write_u32(VECTORS + offset + 4, ERET)?;
        }
        for offset in (0..CODE_SIZE).step_by(4) {
            ram.write_u32(TEXT + offset, BRK)?;
        }
        Some(())
    }

    /// Makes the tables and the code what they were at first.
    pub fn restore(&mut self) {
        self.build().expect("inside RAM");
        self.ram.note_write(0, self.ram.len());
        self.dirty = 0;
        self.reset();
    }

    /// A system operation at EL1; its result, 0 where it has none.
    fn system(&mut self, op: System, argument: u64) -> u64 {
        self.pe.system(Insn::new(0, 0, 0), op, argument).unwrap_or(0)
    }
    fn set(&mut self, reg: Reg, value: u64) {
        self.system(System::Msr(reg.info().enc), value);
    }
    fn get(&mut self, reg: Reg) -> u64 {
        self.system(System::Mrs(reg.info().enc), 0)
    }

    /// To EL1, translation on.
    pub(crate) fn reset(&mut self) {
        // EL1, RES1 bits, and as Linux has it: M, C, SA, SA0, I, DZE, UCT, nTWI, nTWE, SPAN, UCI.
        const SCTLR: u64 = 0x30d0_0980
            | 1 << 0
            | 1 << 2
            | 1 << 3
            | 1 << 4
            | 1 << 12
            | 1 << 14
            | 1 << 15
            | 1 << 16
            | 1 << 18
            | 1 << 23
            | 1 << 26;
        // 39-bit addresses, 4 KiB, write-back, inner shareable, no TTBR1, top byte ignored.
        const TCR: u64 = 0x19 | 1 << 8 | 1 << 10 | 3 << 12 | 0x19 << 16 | 1 << 23 | 2 << 32 | 1 << 37;
        self.pe.start(Va(FROM_EL0), 0);
        self.set(Reg::MAIR_EL1, 0xff);
        self.set(Reg::TTBR0_EL1, RAM + LEVEL1);
        self.set(Reg::TCR_EL1, TCR);
        self.set(Reg::VBAR_EL1, VECTOR_BASE);
        self.set(Reg::CPACR_EL1, 3 << 20);
        self.set(Reg::SCTLR_EL1, SCTLR);
    }

    fn write_code(&mut self, words: &[u32]) {
        let at = TEXT + (PC - CODE);
        let length = words.len().max(self.dirty);
        for n in 0..length {
            let word = words.get(n).copied().unwrap_or(BRK);
            self.ram.write_u32(at + 4 * n as u64, word).expect("inside RAM");
        }
        self.ram.note_write(at, 4 * length as u64);
        self.dirty = words.len();
    }

    fn fill(&mut self, seed: u64) {
        if self.seed == Some(seed) {
            return;
        }
        self.seed = Some(seed);
        self.before = (0..DATA_SIZE / 8).map(|n| mix(seed ^ ((DATA + 8 * n) >> 3))).collect();
        for (n, word) in (0..).zip(&self.before) {
            self.ram.write_u64(PAGE + 8 * n, *word).expect("inside RAM");
        }
    }

    /// Runs one case.
    pub fn run(&mut self, case: &Case) -> Outcome {
        self.fill(case.seed);
        self.write_code(&case.words[..case.words.len().min(WORDS)]);
        let state = &case.state;
        self.set(Reg::FPCR, u64::from(state.fpcr));
        self.set(Reg::FPSR, u64::from(state.fpsr));
        self.set(Reg::TPIDR_EL0, 0);
        self.set(Reg::SP_EL0, state.sp);
        self.set(Reg::ELR_EL1, PC);
        // To EL0, nothing masked: no one interrupts.
        self.set(Reg::SPSR_EL1, state.nzcv);
        for (n, value) in state.x.iter().enumerate() {
            self.pe.set_x_register(n, *value);
        }
        for (n, value) in (0..).zip(state.q) {
            self.pe.set_q(n, Quad::from_halves(value as u64, (value >> 64) as u64));
        }
        // The ERET in the vector.
        self.pe.set_pc(Va(FROM_EL0 + 4));
        let until = self.pe.ticks() + BUDGET;
        let exit = loop {
            match self.pe.run(&mut self.code, until) {
                Exit::WaitForInterrupt | Exit::WaitForEvent | Exit::Reschedule | Exit::Yield => {}
                exit => break exit,
            }
        };
        let end = match exit {
            Exit::FirmwareCall => self.end(),
            Exit::Tool(ToolError::NotDone { .. }) => End::NotDone,
            Exit::Budget => End::Endless,
            _ => End::Leaves,
        };
        let state = if exit == Exit::FirmwareCall {
            self.state()
        } else {
            self.reset();
            State::default()
        };
        Outcome { state, end, memory: self.changes() }
    }

    /// How a case ended that took an exception. DDI 0487 D19, ESR_EL1.EC.
    fn end(&mut self) -> End {
        let esr = self.get(Reg::ESR_EL1);
        let far = self.get(Reg::FAR_EL1) & 0x00ff_ffff_ffff_ffff;
        match (esr >> 26 & 0x3f, esr & 0x3f) {
            // A breakpoint.
            (0x3c, _) => End::Done,
            // UNDEFINED, and trapped system registers, for which Linux sends the same; a failed authentication; a branch to
            // where BTI does not allow it.
            (0x00 | 0x18 | 0x1c | 0x0d, _) => End::Undefined,
            // Alignment, of data or of the PC and SP.
            (0x24, 0x21) | (0x22 | 0x26, _) => End::Alignment,
            (0x20 | 0x24, _) => End::Fault(far),
            _ => End::Leaves,
        }
    }

    fn state(&mut self) -> State {
        State {
            x: core::array::from_fn(|n| self.pe.x_register(n)),
            sp: self.get(Reg::SP_EL0),
            pc: self.get(Reg::ELR_EL1),
            nzcv: self.get(Reg::SPSR_EL1) & 0xf000_0000,
            q: core::array::from_fn(|n| {
                let q = self.pe.q(n as u32);
                u128::from(q.lo()) | u128::from(q.hi()) << 64
            }),
            fpsr: self.get(Reg::FPSR) as u32,
            fpcr: self.get(Reg::FPCR) as u32,
        }
    }

    /// What changed in the page, which is as before afterwards.
    fn changes(&mut self) -> BTreeMap<u64, u64> {
        let mut changes = BTreeMap::new();
        for (n, &before) in (0..).zip(&self.before) {
            let now = self.ram.read_u64(PAGE + 8 * n).expect("inside RAM");
            if now != before {
                changes.insert(DATA + 8 * n, now);
                self.ram.write_u64(PAGE + 8 * n, before).expect("inside RAM");
            }
        }
        changes
    }
}
