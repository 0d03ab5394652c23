//! Instructions a second of an EL1 integer loop, without a board: the interpreter's own speed.

use std::sync::Arc;

use arch::sysreg::Enc;
use arch::{Pa, Va};
use bus::{Bus, CpuInterface, CpuLines, Level, Ram};
use vambrace_cpu::{CodeCache, Conduit, Pe, PeConfig, Semihosting};

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

/// `movz x0, #1000, lsl #16; movz x1, #0; l: add x1, x1, x0; eor x2, x1, x0, lsl #3; and x3, x2, #0xff;
/// ldr x4, [x5, x3, lsl #3]; add x4, x4, x2; str x4, [x5, x3, lsl #3]; lsr x6, x4, #7; subs x0, x0, #1; b.ne l; b .`
const CODE: [u32; 12] = [
    0xd2a0_7d00,
    0xd280_0001,
    0x8b00_0021,
    0xca00_0c22,
    0x9240_1c43,
    0xf863_78a4,
    0x8b02_0084,
    0xf823_78a4,
    0xd347_fc86,
    0xf100_0400,
    0x54ff_ff21,
    0x1400_0000,
];

#[allow(clippy::cast_precision_loss)]
fn main() {
    let ram = Arc::new(Ram::new(1 << 24).expect("16 MiB of RAM"));
    for (n, word) in CODE.iter().enumerate() {
        ram.write_u32(4 * n as u64, *word).expect("inside RAM");
    }
    let bus = Arc::new(Bus::new(ram.clone(), Pa(0x4000_0000)));
    let model = arch::preset::preset("cortex-a57").expect("a preset");
    let mut code = CodeCache::new(ram, model.features);
    let mut pe = Pe::new(PeConfig {
        index: 0,
        mpidr: 0,
        model,
        bus,
        gic: Arc::new(NoGic),
        lines: Arc::new(CpuLines::default()),
        conduit: Conduit::Hvc,
        frequency: 1_000_000_000,
        seed: 1,
        semihosting: Semihosting::Off,
    });
    pe.start(Va(0x4000_0000), 0);
    pe.set_x_register(5, 0x4010_0000);
    let start = std::time::Instant::now();
    let exit = pe.run(&mut code, 500_000_000);
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{exit:?} {} instructions, {:.0} million a second",
        pe.instructions(),
        pe.instructions() as f64 / seconds / 1e6
    );
    println!("pc {} x0 {:#x} x4 {:#x}", pe.pc(), pe.x_register(0), pe.x_register(4));
}
