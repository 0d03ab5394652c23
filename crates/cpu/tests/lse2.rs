//! FEAT_LSE2: which unaligned accesses are allowed, with translation on. AArch64.UnalignedAccessFaults.

use std::sync::Arc;

use arch::feature::Feature::FEAT_LSE2;
use arch::sysreg::{Enc, Reg};
use arch::{Pa, Va};
use bus::{Bus, CpuInterface, CpuLines, Level, Ram};
use sem::{Access, AtomicOp, Insn, Machine, Order, System};
use vambrace_cpu::{Conduit, Pe, PeConfig, Semihosting};

/// The preset without EL2, so that it starts at EL1.
fn at_el1(preset: &str) -> arch::CpuModel {
    arch::preset::preset(preset).expect("a preset").without_dependents(arch::feature::Feature::FEAT_EL2)
}

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

const RAM: u64 = 0x4000_0000;
const NON_CACHEABLE: u64 = 0x2_0000_0000;
const DATA: u64 = 0x8000;
const A: u64 = 1 << 1;
const NAA: u64 = 1 << 6;

fn msr(pe: &mut Pe, reg: Reg, value: u64) {
    // That it ends the block does not matter here.
    let _ = pe.system(Insn::new(0, 0, 0), System::Msr(reg.info().enc), value);
}

/// RAM mapped as it lies, write-back; its first GiB again at `NON_CACHEABLE`.
fn pe(lse2: bool, sctlr: u64) -> Pe {
    let ram = Arc::new(Ram::new(1 << 20).expect("RAM"));
    for at in 0..64 {
        ram.write_u8(DATA + at, at as u8).expect("RAM");
    }
    let block = RAM | 1 << 10 | 3 << 8 | 1;
    ram.write_u64(0x1000 + 8 * (RAM >> 30), block).expect("RAM");
    ram.write_u64(0x1000 + 8 * (NON_CACHEABLE >> 30), block | 1 << 2).expect("RAM");
    let mut model = at_el1("max");
    if !lse2 {
        model = model.without_dependents(FEAT_LSE2);
    }
    let mut pe = Pe::new(PeConfig {
        index: 0,
        mpidr: 0,
        model,
        bus: Arc::new(Bus::new(ram, Pa(RAM))),
        gic: Arc::new(NoGic),
        lines: Arc::new(CpuLines::default()),
        conduit: Conduit::Hvc,
        frequency: 1_000_000_000,
        seed: 1,
        semihosting: Semihosting::Off,
    });
    pe.start(Va(RAM), 0);
    msr(&mut pe, Reg::MAIR_EL1, 0x44ff);
    msr(&mut pe, Reg::TTBR0_EL1, RAM + 0x1000);
    msr(&mut pe, Reg::TCR_EL1, 0x2_8099_3519);
    msr(&mut pe, Reg::SCTLR_EL1, 0x30d0_0800 | 1 | sctlr);
    pe
}

/// An alignment fault at EL1.
fn is_alignment_fault(pe: &Pe) -> bool {
    pe.pending_syndrome().is_some_and(|esr| esr >> 26 == 0x25 && esr & 0x3f == 0x21)
}

/// What a plain load, a load-acquire, a load-exclusive and an atomic of 4 bytes give; `None` for an alignment fault.
fn outcomes(pe: &mut Pe, va: u64) -> [Option<u64>; 4] {
    let mut outcome = |access: &mut dyn FnMut(&mut Pe) -> Result<u64, vambrace_cpu::Stop>| {
        let value = access(pe).ok();
        assert!(value.is_some() || is_alignment_fault(pe), "{va:#x}");
        value
    };
    [
        outcome(&mut |pe| pe.load(va, Access::plain(2))),
        outcome(&mut |pe| pe.load(va, Access::ordered(2, Order::Acquire))),
        outcome(&mut |pe| pe.load_exclusive(va, Access::plain(2))),
        outcome(&mut |pe| pe.atomic(AtomicOp::Add, va, 0, Access::ordered(2, Order::AcquireRelease))),
    ]
}

/// What the four bytes from `at` hold.
fn bytes(at: u64) -> u64 {
    (0..4).fold(0, |value, n| value | (at + n) << (8 * n))
}

#[test]
fn unaligned_accesses() {
    let data = RAM + DATA;
    for (lse2, sctlr, at, allowed) in [
        (true, 0, 4, [true; 4]),
        (true, 0, 1, [true; 4]),
        (true, 0, 12, [true; 4]),
        (true, 0, 13, [true, false, false, false]),
        (true, NAA, 13, [true, true, false, false]),
        (true, NAA, 3, [true; 4]),
        (true, A, 1, [false; 4]),
        (true, A | NAA, 1, [false; 4]),
        (true, A, 8, [true; 4]),
        (false, 0, 1, [true, false, false, false]),
        (false, 0, 13, [true, false, false, false]),
        (false, 0, 8, [true; 4]),
    ] {
        let expected = allowed.map(|allowed| allowed.then(|| bytes(at)));
        let mut pe = pe(lse2, sctlr);
        assert_eq!(outcomes(&mut pe, data + at), expected, "LSE2 {lse2}, SCTLR {sctlr:#x}, at {at}");
    }
}

/// An unaligned exclusive pair: the store finds the monitor, and an unaligned store changes those bytes alone.
#[test]
fn unaligned_stores() {
    let mut pe = pe(true, 0);
    let data = RAM + DATA;
    assert_eq!(pe.load_exclusive(data + 5, Access::plain(3)), Ok(0x0c0b_0a09_0807_0605));
    assert_eq!(pe.store_exclusive(data + 5, u64::MAX, Access::plain(3)), Ok(0));
    assert_eq!(pe.load(data, Access::plain(3)), Ok(0xffff_ff04_0302_0100));
    assert_eq!(pe.load(data + 8, Access::plain(3)), Ok(0x0f0e_0dff_ffff_ffff));
    assert_eq!(pe.store(data + 6, 0, Access::ordered(1, Order::Release)), Ok(()));
    assert_eq!(pe.load(data, Access::plain(3)), Ok(0x0000_ff04_0302_0100));
    let swapped = pe.compare_swap(data + 17, 0x1817_1615_1413_1211, 0, Access::plain(3));
    assert_eq!(swapped, Ok(0x1817_1615_1413_1211));
    assert_eq!(pe.load(data + 16, Access::plain(3)), Ok(0x10));
    assert_eq!(pe.load(data + 24, Access::plain(0)), Ok(0));
}

#[test]
fn atomics_want_write_back_memory() {
    let mut pe = pe(true, 0);
    let data = NON_CACHEABLE + DATA;
    let [plain, acquire, exclusive, atomic] = outcomes(&mut pe, data + 1);
    assert_eq!((plain, acquire), (Some(bytes(1)), Some(bytes(1))));
    assert_eq!((exclusive, atomic), (None, None));
}
