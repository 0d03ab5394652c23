//! Software step: EL1 steps EL0, instruction by instruction.

use std::sync::Arc;

use arch::sysreg::Enc;
use arch::{Pa, Va};
use bus::{Bus, CpuInterface, CpuLines, Level, Ram};
use vambrace_cpu::{CodeCache, Conduit, Pe, PeConfig, Semihosting};

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

/// By GNU as: sets VBAR, clears the OS Lock, sets MDSCR.SS, and returns to EL0 with SPSR.SS at
/// `user: add x1, x1, #1; ldxr x3, [x4]; svc #5; add x1, x1, #1; b user`.
const MAIN: [u32; 16] = [
    0xd281_0000,
    0xf2a8_0000,
    0xd518_c000,
    0xd510_109f,
    0xd280_0020,
    0xd510_0240,
    0x1000_00a0,
    0xd518_4020,
    0xd2a0_0400,
    0xd518_4000,
    0xd69f_03e0,
    0x9100_0421,
    0xc85f_7c83,
    0xd400_00a1,
    0x9100_0421,
    0x17ff_fffc,
];

/// The vector for a lower level: keeps ESR and ELR of the first three exceptions in X20 to X25, SPSR of the third in X26,
/// and steps on.
const VECTOR: [u32; 20] = [
    0xd538_520a,
    0xd538_402b,
    0xd538_400c,
    0xf100_029f,
    0x5400_0081,
    0xaa0a_03f4,
    0xaa0b_03f5,
    0x1400_000a,
    0xf100_02df,
    0x5400_0081,
    0xaa0a_03f6,
    0xaa0b_03f7,
    0x1400_0005,
    0xaa0a_03f8,
    0xaa0b_03f9,
    0xaa0c_03fa,
    0x1400_0000,
    0xb26b_018c,
    0xd518_400c,
    0xd69f_03e0,
];

#[test]
fn a_debugger_steps_a_program() {
    let ram = Arc::new(Ram::new(1 << 20).unwrap());
    for (at, words) in [(0, &MAIN[..]), (0xc00, &VECTOR[..])] {
        for (n, word) in words.iter().enumerate() {
            ram.write_u32(at + 4 * n as u64, *word).unwrap();
        }
    }
    let model = at_el1("cortex-a57");
    let mut code = CodeCache::new(ram.clone(), model.features);
    let mut pe = Pe::new(PeConfig {
        index: 0,
        mpidr: 0,
        model,
        bus: Arc::new(Bus::new(ram, Pa(0x4000_0000))),
        gic: Arc::new(NoGic),
        lines: Arc::new(CpuLines::default()),
        conduit: Conduit::Hvc,
        frequency: 1_000_000_000,
        seed: 1,
        semihosting: Semihosting::Off,
    });
    pe.start(Va(0x4000_0000), 0);
    pe.set_x_register(4, 0x4000_f000);
    pe.run(&mut code, 10_000);
    let user = 0x4000_002c;
    let x = |n| pe.x_register(n);
    // EC 0x32, IL, ISV, DFSC 0x22; EX for the load-exclusive.
    assert_eq!((x(20), x(21)), (0xcb00_0022, user + 4));
    assert_eq!((x(22), x(23)), (0xcb00_0062, user + 8));
    // SVC is an exception of its own, after which the step is over.
    assert_eq!((x(24), x(25), x(26) >> 21 & 1), (0x5600_0005, user + 12, 0));
    assert_eq!(x(1), 1);
}
