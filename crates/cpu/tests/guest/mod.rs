//! A PE with EL2 that runs one instruction at a level below, or at EL2, and says who took which exception.
#![allow(dead_code)]

use std::sync::Arc;

use arch::model::CpuModel;
use arch::sysreg::{Enc, Reg};
use arch::{El, Pa, Va};
use bus::{Bus, CpuInterface, CpuLines, Level, Ram};
use sem::{Insn, Machine, System};
use vambrace_cpu::{CodeCache, Conduit, Pe, PeConfig, Semihosting};

/// A CPU interface whose registers all read as zero.
struct ZeroGic;

impl CpuInterface for ZeroGic {
    fn read(&self, _cpu: usize, _reg: Enc) -> Option<u64> {
        Some(0)
    }
    fn write(&self, _cpu: usize, _reg: Enc, _value: u64) -> Option<()> {
        Some(())
    }
    fn set_ppi(&self, _cpu: usize, _intid: u32, _level: Level) {}
}

/// The start of RAM.
const CODE: u64 = 0x4000_0000;
/// RAM that nothing uses.
pub const DATA: u64 = CODE + 0x1_0000;
/// Each instruction that runs has a place of its own, from here on: what the test writes does not reach decoded code.
const FIRST: u64 = CODE + 0x2_0000;
/// Where EL2 runs ERET.
const ERET_AT: u64 = CODE + 0x8000;
const ERET: u32 = 0xd69f_03e0;
/// Where EL1 calls EL2.
const HVC_AT: u64 = CODE + 0x8008;
const HVC: u32 = 0xd400_0002;
/// B to itself, at every vector.
const LOOP: u32 = 0x1400_0000;
/// SVC #0x7777: the instruction did nothing else.
const END: u32 = 0xd40e_eee1;
const VECTORS_EL1: u64 = CODE + 0x2000;
const VECTORS_EL2: u64 = CODE + 0x4000;

/// SPSR_EL2 for what runs below: EL1 with SP_EL1, EL0; DAIF set.
pub const EL1H: u64 = 0x3c5;
pub const EL0T: u64 = 0x3c0;

/// MRS Xt, register.
pub fn mrs(enc: Enc, rt: u32) -> u32 {
    0xd520_0000 | u32::from(enc.0) << 5 | rt
}

/// MSR register, Xt.
pub fn msr(enc: Enc, rt: u32) -> u32 {
    0xd500_0000 | u32::from(enc.0) << 5 | rt
}

/// Which way a trapped access goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Read,
    Write,
}

/// ISS of a trapped access: the manual's fields in their places.
pub fn iss(enc: Enc, rt: u64, way: Way) -> u64 {
    let n = |value: u16, at: u32| u64::from(value) << at;
    n(enc.op0(), 20)
        | n(enc.op2(), 17)
        | n(enc.op1(), 14)
        | n(enc.crn(), 10)
        | rt << 5
        | n(enc.crm(), 1)
        | u64::from(way == Way::Read)
}

/// The level that took the exception, with EC and ISS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    El1(u64, u64),
    El2(u64, u64),
}

/// The PE and its memory.
pub struct Guest {
    pe: Pe,
    code: CodeCache,
    ram: Arc<Ram>,
    place: u64,
}

impl Guest {
    pub fn new(model: CpuModel) -> Self {
        let ram = Arc::new(Ram::new(1 << 20).expect("RAM"));
        let features = model.features;
        let mut pe = Pe::new(PeConfig {
            index: 0,
            mpidr: 0,
            model,
            bus: Arc::new(Bus::new(ram.clone(), Pa(CODE))),
            gic: Arc::new(ZeroGic),
            lines: Arc::new(CpuLines::default()),
            conduit: Conduit::Smc,
            frequency: 1_000_000_000,
            seed: 1,
            semihosting: Semihosting::Off,
        });
        pe.start(Va(ERET_AT), 0);
        let mut guest = Self { pe, code: CodeCache::new(ram.clone(), features), ram, place: FIRST };
        guest.set(Reg::VBAR_EL1, VECTORS_EL1);
        guest.set(Reg::VBAR_EL2, VECTORS_EL2);
        guest.set(Reg::CPACR_EL1, 3 << 20);
        for vector in 0..16 {
            guest.ram.write_u32(VECTORS_EL1 - CODE + vector * 0x80, LOOP).expect("RAM");
            guest.ram.write_u32(VECTORS_EL2 - CODE + vector * 0x80, LOOP).expect("RAM");
        }
        guest.ram.write_u32(ERET_AT - CODE, ERET).expect("RAM");
        guest.ram.write_u32(HVC_AT - CODE, HVC).expect("RAM");
        guest
    }

    /// Writes `reg` as EL2.
    pub fn set(&mut self, reg: Reg, value: u64) {
        // That it ends the block does not matter here.
        let _ = self.pe.system(Insn::new(0, 0, 0), System::Msr(reg.info().enc), value);
    }

    pub fn get(&self, reg: Reg) -> u64 {
        self.pe.stored(reg)
    }

    pub fn has(&self, reg: Reg) -> bool {
        self.pe.model().has_register(reg)
    }

    pub fn writable(&self, reg: Reg) -> u64 {
        self.pe.model().writable(reg)
    }

    pub fn x(&self, n: usize) -> u64 {
        self.pe.x_register(n)
    }

    /// Where the last instruction was.
    pub fn place(&self) -> u64 {
        self.place
    }

    pub fn set_x(&mut self, n: usize, value: u64) {
        self.pe.set_x_register(n, value);
    }

    pub fn store(&self, pa: u64, value: u64) {
        self.ram.write_u32(pa - CODE, value as u32).expect("RAM");
        self.ram.write_u32(pa - CODE + 4, (value >> 32) as u32).expect("RAM");
    }

    pub fn load(&self, pa: u64) -> u64 {
        self.pe.peek(Va(pa)).expect("RAM")
    }

    /// Runs `word` in the state of `spsr`, and SVC behind it. The PE comes back to EL2.
    pub fn run(&mut self, word: u32, spsr: u64) -> At {
        self.place += 64;
        self.ram.write_u32(self.place - CODE, word).expect("RAM");
        self.ram.write_u32(self.place - CODE + 4, END).expect("RAM");
        self.set(Reg::ELR_EL2, self.place);
        self.set(Reg::SPSR_EL2, spsr);
        self.go(ERET_AT);
        let pc = self.pe.pc().0;
        let (level, esr) = if pc < VECTORS_EL2 { (El::El1, Reg::ESR_EL1) } else { (El::El2, Reg::ESR_EL2) };
        assert!(
            (VECTORS_EL1..VECTORS_EL1 + 0x800).contains(&pc) || (VECTORS_EL2..VECTORS_EL2 + 0x800).contains(&pc),
            "{pc:#x}"
        );
        assert_eq!(self.pe.pstate().el, level, "{pc:#x}");
        let esr = self.get(esr);
        let (ec, iss) = (esr >> 26 & 63, esr & 0x1ff_ffff);
        if level == El::El2 {
            return At::El2(ec, iss);
        }
        let elr = self.get(Reg::ELR_EL2);
        self.go(HVC_AT);
        assert_eq!(self.pe.pstate().el, El::El2);
        self.set(Reg::ELR_EL2, elr);
        At::El1(ec, iss)
    }

    /// Runs from `pc` until a vector's endless loop is reached.
    fn go(&mut self, pc: u64) {
        self.pe.set_pc(Va(pc));
        let end = self.pe.ticks() + 12;
        while self.pe.ticks() < end {
            let _ = self.pe.run(&mut self.code, end);
        }
    }
}
