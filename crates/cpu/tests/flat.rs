//! The PE does what `sem`'s plainest machine does: every encoding without system operations, on random registers,
//! with the MMU off and the same bytes in memory. `Flat` in turn stands beside other implementations in `oracle`.

use std::collections::BTreeSet;
use std::sync::Arc;

use arch::sysreg::Enc;
use arch::{Pa, Va};
use bus::{Bus, CpuInterface, CpuLines, Level, Ram};
use sem::eval::{Fill, Flat, FpAccess, Memory, Refuse, SpCheck};
use sem::footprint::{Footprint, Monitor};
use sem::testing::{Rng, check_values};
use sem::{Access, Decoder, Insn, InsnId, Machine, Quad, System};
use vambrace_cpu::{Conduit, Pe, PeConfig, Semihosting};

/// The preset without EL2, so that it starts at EL1.
fn at_el1(preset: &str) -> arch::CpuModel {
    arch::preset::preset(preset).expect("a preset").without_dependents(arch::feature::Feature::FEAT_EL2)
}

const BASE: u64 = 0x4000_0000;
const SIZE: u64 = 1 << 24;
const FILL: u64 = 99;

const CPACR_EL1: Enc = Enc::new(3, 0, 1, 0, 2);
const FPCR: Enc = Enc::new(3, 3, 4, 4, 0);
const FPSR: Enc = Enc::new(3, 3, 4, 4, 1);

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

fn pe(ram: Arc<Ram>) -> Pe {
    let mut pe = Pe::new(PeConfig {
        index: 0,
        mpidr: 0,
        model: at_el1("neoverse-n1"),
        bus: Arc::new(Bus::new(ram, Pa(BASE))),
        gic: Arc::new(NoGic),
        lines: Arc::new(CpuLines::default()),
        conduit: Conduit::Hvc,
        frequency: 1_000_000_000,
        seed: 1,
        semihosting: Semihosting::Off,
    });
    pe.start(Va(BASE), 0);
    system(&mut pe, System::Msr(CPACR_EL1), 3 << 20);
    pe
}

/// A system operation's result; that it ends the block does not matter here.
fn system(pe: &mut Pe, op: System, argument: u64) -> u64 {
    pe.system(Insn::new(0, 0, 0), op, argument).unwrap_or(0)
}

fn memory() -> Memory {
    Memory { fill: Fill::Hash(FILL), refuse: Refuse::Outside(BASE..BASE + SIZE), ..Memory::default() }
}

/// A random state in which `insn` has a chance to access RAM.
fn state(rng: &mut Rng, insn: Insn, footprint: &Footprint) -> Flat {
    let mut state = rng.state();
    state.memory = memory();
    (state.fp_access, state.sp_check) = (FpAccess::Allowed, SpCheck::Off);
    state.pc = BASE + SIZE / 2;
    if let Some(touch) = footprint.memory.first() {
        state.set_x(insn.rm(), 16 * rng.below(64));
        if rng.once_in(2) {
            // So that a compare and swap may find what it expects.
            let base = BASE + SIZE / 4;
            let bytes = touch.bytes.min(8);
            let value = state.memory.read(base, bytes).expect("inside RAM") as u64;
            state.set_x(insn.rs(), value);
            state.set_x_or_sp(insn.rn(), base);
        } else {
            state.set_x_or_sp(insn.rn(), BASE + SIZE / 4 + 64 * rng.below(1000));
        }
    }
    state
}

fn copy(pe: &mut Pe, state: &mut Flat) {
    for n in 0..32 {
        let value = state.x(n);
        pe.set_x(n, value);
        let quad = state.q(n);
        pe.set_q(n, Quad::from_halves(quad.lo(), quad.hi()));
    }
    pe.set_sp(state.sp);
    pe.set_nzcv(state.nzcv);
    pe.set_pc(Va(state.pc));
    pe.clear_monitor();
    system(pe, System::Msr(FPSR), state.fp.fpsr);
    system(pe, System::Msr(FPCR), state.fp.fpcr);
    // The model may not have all bits.
    state.fp.fpcr = system(pe, System::Mrs(FPCR), 0);
    state.fp.fpsr = system(pe, System::Mrs(FPSR), 0);
}

fn mark<M: Machine<Word = u64>>(m: &mut M, address: u64, bytes: u32) {
    let marked = match bytes {
        16 => m.load_exclusive_pair(address, Access::plain(3)).is_ok(),
        _ => m.load_exclusive(address, Access::plain(bytes.trailing_zeros())).is_ok(),
    };
    assert!(marked, "{address:#x}");
}

fn compare(pe: &mut Pe, flat: &mut Flat, ram: &Ram, context: &str) {
    for n in 0..32 {
        assert_eq!(pe.x(n), flat.x(n), "X{n} {context}");
        let (theirs, ours) = (pe.q(n), flat.q(n));
        assert_eq!((theirs.lo(), theirs.hi()), (ours.lo(), ours.hi()), "Q{n} {context}");
    }
    assert_eq!((pe.sp(), pe.nzcv()), (flat.sp, flat.nzcv), "SP, NZCV {context}");
    assert_eq!(system(pe, System::Mrs(FPSR), 0), flat.fp.fpsr, "FPSR {context}");
    for (address, byte) in std::mem::take(&mut flat.memory.written) {
        assert_eq!(ram.read_u8(address - BASE), Some(byte), "[{address:#x}] {context}");
        ram.write_u8(address - BASE, flat.memory.byte(address)).expect("inside RAM");
    }
}

#[test]
fn values() {
    check_values(&mut pe(Arc::new(Ram::new(1 << 16).expect("RAM"))), 5);
}

#[test]
fn every_encoding() {
    let ram = Arc::new(Ram::new(SIZE).expect("RAM"));
    let fill = memory();
    for address in (BASE..BASE + SIZE).step_by(8) {
        let word = fill.read(address, 8).expect("inside RAM") as u64;
        ram.write_u64(address - BASE, word).expect("inside RAM");
    }
    let mut pe = pe(ram.clone());
    let (bodies, flat_bodies) = (Decoder::<Pe>::new(), Decoder::<Flat>::new());
    let (mut rng, mut never) = (Rng::new(11), BTreeSet::new());
    for line in (0..bodies.len()).map(|line| InsnId(line as u16)) {
        let (spec, mut compared) = (bodies.spec(line), 0);
        for _ in 0..60 {
            let Some(insn) = rng.insn(&flat_bodies, line, 0) else { continue };
            let footprint = Footprint::of(line, insn);
            // Tags need tagged memory, and so translation: `guest/bare/tags.c` has them.
            // Flat has a stand-in for pointer authentication.
            if !footprint.system.is_empty() || !footprint.tags.is_empty() || !footprint.assists.is_empty() {
                compared += 1;
                break;
            }
            let mut flat = state(&mut rng, insn, &footprint);
            copy(&mut pe, &mut flat);
            if let Some(touch) = footprint.memory.first()
                && touch.monitor == Monitor::Used
                && rng.once_in(2)
            {
                let address = flat.x_or_sp(insn.rn());
                mark(&mut pe, address, touch.bytes);
                mark(&mut flat, address, touch.bytes);
            }
            let context = format!("after {} {:#010x}", spec.name, insn.word());
            let ours = (flat_bodies.spec(line).run)(&mut flat, insn);
            let theirs = (spec.run)(&mut pe, insn);
            if ours.is_err() || theirs.is_err() {
                // With the MMU off, memory is Device: misaligned accesses fault.
                let explained = ours.is_err() || !footprint.memory.is_empty();
                assert!(explained, "{theirs:?} {context}");
                for (address, _) in std::mem::take(&mut flat.memory.written) {
                    ram.write_u8(address - BASE, fill.byte(address)).expect("inside RAM");
                }
                continue;
            }
            compare(&mut pe, &mut flat, &ram, &context);
            compared += 1;
        }
        let not_done = rng
            .insn(&flat_bodies, line, 0)
            .is_some_and(|insn| Footprint::of(line, insn).control == sem::footprint::Control::NotDone);
        if compared == 0 && !not_done {
            never.insert(spec.name);
        }
    }
    assert!(never.is_empty(), "never ran on both: {never:?}");
}
