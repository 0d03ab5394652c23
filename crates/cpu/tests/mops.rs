//! Memory copy and set (FEAT_MOPS), run as programs with translation on.

use std::sync::Arc;

use arch::esr::Ec;
use arch::sysreg::{Enc, Reg};
use arch::{Pa, Va};
use bus::{Bus, CpuInterface, CpuLines, Level, Ram};
use sem::testing::Rng;
use sem::{Insn, Machine, System, TagOp};
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

const RAM: u64 = 0x4000_0000;
const SIZE: u64 = 1 << 20;
/// Pages of 4 KiB from here on are mapped as they lie, but for [`HOLE`] and [`READ_ONLY`].
const CODE: u64 = RAM + 0x8_0000;
const DATA: u64 = RAM + 0x1_0000;
const DATA_SIZE: u64 = 0x8000;
const HOLE: u64 = DATA + DATA_SIZE;
const READ_ONLY: u64 = HOLE + 0x1000;
const SVC: u32 = 0xd400_0001;

struct Bench {
    pe: Pe,
    code: CodeCache,
    ram: Arc<Ram>,
}

/// X0 is the destination, X1 the source or the value, X2 the count.
const fn cpyf(stage: u32, options: u32) -> u32 {
    0x1901_0440 | stage << 22 | options << 12
}
const fn cpy(stage: u32) -> u32 {
    0x1d01_0440 | stage << 22
}
const fn set(stage: u32) -> u32 {
    0x19c1_0440 | stage << 14
}
const fn setg(stage: u32) -> u32 {
    0x1dc1_0440 | stage << 14
}

impl Bench {
    fn new(program: &[u32]) -> Self {
        let ram = Arc::new(Ram::new(SIZE).expect("RAM"));
        let model = at_el1("max");
        let code = CodeCache::new(ram.clone(), model.features);
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
        let mut bench = Self { pe, code, ram };
        bench.tables();
        for (n, word) in program.iter().chain([&SVC]).enumerate() {
            bench.ram.write_u32(CODE - RAM + 4 * n as u64, *word).expect("RAM");
        }
        bench.pe.start(Va(CODE), 0);
        bench.msr(Reg::VBAR_EL1, CODE + 0x800);
        bench.msr(Reg::MAIR_EL1, 0xff);
        bench.msr(Reg::TTBR0_EL1, RAM + 0x1000);
        bench.msr(Reg::TCR_EL1, 0x2_8099_3519);
        bench.msr(Reg::SCTLR_EL1, 0x30d0_0801);
        bench
    }

    /// Levels 1 and 2 have one table each, level 3 maps the RAM; the data are for EL0 as well.
    fn tables(&mut self) {
        let write = |at: u64, value: u64| self.ram.write_u64(at, value).expect("RAM");
        write(0x1000 + 8, RAM + 0x2000 + 3);
        write(0x2000, RAM + 0x3000 + 3);
        for page in (0..SIZE).step_by(0x1000) {
            let ap = match RAM + page {
                HOLE => continue,
                READ_ONLY => 2 << 6,
                DATA..HOLE => 1 << 6,
                _ => 0,
            };
            write(0x3000 + page / 0x1000 * 8, (RAM + page) | ap | 1 << 10 | 3 << 8 | 3);
        }
    }

    fn msr(&mut self, reg: Reg, value: u64) {
        // That it ends the block does not matter here.
        let _ = self.pe.system(Insn::new(0, 0, 0), System::Msr(reg.info().enc), value);
    }
    fn mrs(&mut self, reg: Reg) -> u64 {
        self.pe.system(Insn::new(0, 0, 0), System::Mrs(reg.info().enc), 0).expect("EL1 may read it")
    }

    /// Runs until the first exception; gives its class. It has to come within so many executed instructions.
    fn run(&mut self, x: [u64; 3], most: u64) -> Option<Ec> {
        for (n, value) in x.into_iter().enumerate() {
            self.pe.set_x_register(n, value);
        }
        for _ in 0..most {
            let end = self.pe.ticks() + 1;
            let _ = self.pe.run(&mut self.code, end);
            if self.pe.pc().0 >= CODE + 0x800 {
                return Ec::from_bits(self.mrs(Reg::ESR_EL1) >> 26);
            }
        }
        panic!("not done after {most}: {:x?}", self.x());
    }

    fn x(&self) -> [u64; 3] {
        core::array::from_fn(|n| self.pe.x_register(n))
    }
    fn fill(&self) -> Vec<u8> {
        let bytes: Vec<u8> = (0..DATA_SIZE).map(|at| (at * 7 + at / 256) as u8).collect();
        self.ram.write_bytes(DATA - RAM, &bytes).expect("RAM");
        bytes
    }
    fn data(&self) -> Vec<u8> {
        let mut bytes = vec![0; DATA_SIZE as usize];
        self.ram.read_bytes(DATA - RAM, &mut bytes).expect("RAM");
        bytes
    }
}

const CPYF: [u32; 3] = [cpyf(0, 0), cpyf(1, 0), cpyf(2, 0)];
const CPY: [u32; 3] = [cpy(0), cpy(1), cpy(2)];
const SET: [u32; 3] = [set(0), set(1), set(2)];

#[test]
fn copies_are_memmove() {
    let mut rng = Rng::new(5);
    for n in 0..300 {
        let size = [rng.below(40), rng.below(4000), rng.below(0x3000)][n % 3];
        let from = rng.below(DATA_SIZE - size);
        let to =
            if rng.once_in(2) { rng.below(DATA_SIZE - size) } else { (from + rng.below(20)).min(DATA_SIZE - size) };
        let mut bench = Bench::new(&CPY);
        let mut expected = bench.fill();
        expected.copy_within(from as usize..(from + size) as usize, to as usize);
        assert_eq!(bench.run([DATA + to, DATA + from, size], 40), Some(Ec::Svc));
        assert!(bench.data() == expected, "{size} bytes from {from:#x} to {to:#x}");
        let down = from < to && to < from + size;
        let end = if down { 0 } else { size };
        assert_eq!(bench.x(), [DATA + to + end, DATA + from + end, 0]);
        assert_eq!(bench.pe.nzcv(), 0);
    }
}

#[test]
fn forward_copies_and_sets() {
    let mut bench = Bench::new(&CPYF);
    let mut expected = bench.fill();
    expected.copy_within(0x123..0x2345, 0x4321);
    assert_eq!(bench.run([DATA + 0x4321, DATA + 0x123, 0x2222], 40), Some(Ec::Svc));
    assert!(bench.data() == expected);
    assert_eq!(bench.x(), [DATA + 0x4321 + 0x2222, DATA + 0x2345, 0]);

    let mut bench = Bench::new(&SET);
    let mut expected = bench.fill();
    expected[0x777..0x6000].fill(0xa5);
    assert_eq!(bench.run([DATA + 0x777, 0x1_23a5, 0x6000 - 0x777], 40), Some(Ec::Svc));
    assert!(bench.data() == expected);
    assert_eq!(bench.x(), [DATA + 0x6000, 0x1_23a5, 0]);
}

/// The prologue limits the count, moves nothing, and clears the flags.
#[test]
fn prologues() {
    for (word, x, after) in [
        (cpyf(0, 0), [DATA, DATA + 8, 5], [DATA + 5, DATA + 13, (-5_i64) as u64]),
        (cpyf(0, 0), [0, 8, u64::MAX], [i64::MAX as u64, 8 + i64::MAX as u64, (-i64::MAX) as u64]),
        (cpy(0), [DATA + 2, DATA, 5], [DATA + 2, DATA, 5]),
        (cpy(0), [DATA + 5, DATA, 5], [DATA + 10, DATA + 5, (-5_i64) as u64]),
        (cpy(0), [DATA, DATA + 1, 5], [DATA + 5, DATA + 6, (-5_i64) as u64]),
        // Tags in the top byte do not count, and 2^55 - 1 bytes are the most.
        (cpy(0), [(1 << 56) | (DATA + 2), (2 << 56) | DATA, 5], [(1 << 56) | (DATA + 2), (2 << 56) | DATA, 5]),
        (cpy(0), [DATA + 2, DATA, u64::MAX], [DATA + 2, DATA, (1 << 55) - 1]),
        (set(0), [DATA, 9, 5], [DATA + 5, 9, (-5_i64) as u64]),
        (set(0), [DATA, 9, 0], [DATA, 9, 0]),
        (setg(0), [0, 9, u64::MAX], [i64::MAX as u64 & !15, 9, (i64::MAX as u64 & !15).wrapping_neg()]),
    ] {
        let mut bench = Bench::new(&[word]);
        let before = bench.fill();
        bench.pe.set_nzcv(0xf000_0000);
        assert_eq!(bench.run(x, 3), Some(Ec::Svc), "{word:#x}");
        assert_eq!(bench.x(), after, "{word:#x} {x:x?}");
        assert_eq!((bench.pe.nzcv(), bench.data() == before), (0, true), "{word:#x}");
    }
}

/// A fault leaves registers that say what is to go, and FAR names the first byte that could not be accessed.
#[test]
fn faults_on_the_way() {
    let reg = |bench: &mut Bench| (bench.mrs(Reg::ESR_EL1) & 0x7f, bench.mrs(Reg::FAR_EL1), bench.mrs(Reg::ELR_EL1));
    // A set that runs into the hole: a translation fault on a write, in the main part.
    let mut bench = Bench::new(&SET);
    let mut expected = bench.fill();
    expected[0x5001..].fill(1);
    assert_eq!(bench.run([DATA + 0x5001, 1, 0x4000], 40), Some(Ec::DataAbort));
    assert_eq!(reg(&mut bench), (0x47, HOLE, CODE + 4));
    assert_eq!(bench.x(), [DATA + 0x9001, 1, (-0x1001_i64) as u64]);
    assert!(bench.data() == expected);
    // Once the page is there it goes on where it was.
    bench.ram.write_u64(0x3000 + (HOLE - RAM) / 0x1000 * 8, HOLE | 1 << 10 | 3 << 8 | 3).expect("RAM");
    bench.ram.write_u64(0x3000 + (READ_ONLY - RAM) / 0x1000 * 8, READ_ONLY | 1 << 10 | 3 << 8 | 3).expect("RAM");
    bench.pe.set_pc(Va(CODE + 4));
    let x = bench.x();
    assert_eq!(bench.run(x, 40), Some(Ec::Svc));
    assert_eq!(bench.x(), [DATA + 0x9001, 1, 0]);

    // A copy that reads past the end, and one that writes to a read-only page.
    let mut bench = Bench::new(&CPYF);
    bench.fill();
    assert_eq!(bench.run([DATA, HOLE - 5, 10], 40), Some(Ec::DataAbort));
    assert_eq!(reg(&mut bench), (0x07, HOLE, CODE + 4));
    assert_eq!(bench.x(), [DATA + 10, HOLE + 5, (-5_i64) as u64]);
    let mut bench = Bench::new(&CPYF);
    assert_eq!(bench.run([READ_ONLY, DATA, 10], 40), Some(Ec::DataAbort));
    assert_eq!(reg(&mut bench), (0x4f, READ_ONLY, CODE + 4));
    assert_eq!(bench.x(), [READ_ONLY + 10, DATA + 10, (-10_i64) as u64]);

    // Downwards: from READ_ONLY - 3 the bytes below are missing.
    let mut bench = Bench::new(&CPY);
    bench.fill();
    bench.ram.write_bytes(READ_ONLY - RAM, &[7; 16]).expect("RAM");
    assert_eq!(bench.run([DATA + 0x100, DATA + 0xff, 0x100], 40), Some(Ec::Svc));
    let mut bench = Bench::new(&[cpy(1)]);
    assert_eq!(bench.run([DATA, HOLE + 0xff8, 20], 40), Some(Ec::DataAbort));
    assert_eq!(reg(&mut bench), (0x07, HOLE + 0xfff, CODE));
    assert_eq!(bench.x(), [DATA, HOLE + 0xff8, 8]);
}

#[test]
fn the_other_option_is_an_exception() {
    for (word, iss) in [
        (cpyf(1, 0), 1 << 17 | 1 << 16 | 1 << 5 | 2),
        (cpyf(2, 0b1011), 0b1011 << 19 | 1 << 18 | 1 << 17 | 1 << 16 | 1 << 5 | 2),
        (set(1) | 1 << 12, 1 << 24 | 1 << 19 | 1 << 17 | 1 << 16 | 1 << 5 | 2),
        (setg(2), 1 << 24 | 1 << 23 | 1 << 18 | 1 << 17 | 1 << 16 | 1 << 5 | 2),
    ] {
        let mut bench = Bench::new(&[word]);
        bench.pe.set_nzcv(1 << 29);
        assert_eq!(bench.run([DATA, DATA, 16], 3), Some(Ec::Mops), "{word:#x}");
        assert_eq!(bench.mrs(Reg::ESR_EL1), 0x27 << 26 | 1 << 25 | iss, "{word:#x}");
        assert_eq!(bench.x(), [DATA, DATA, 16]);
        // With nothing to go it does not matter.
        let mut bench = Bench::new(&[word]);
        bench.pe.set_nzcv(1 << 29);
        assert_eq!(bench.run([DATA, DATA, 0], 3), Some(Ec::Svc), "{word:#x}");
    }
}

/// EL0 needs SCTLR_EL1.MSCEn, and *T forms at EL1 have EL0's permissions.
#[test]
fn privilege() {
    for (mscen, expected) in [(0, Ec::Unknown), (1 << 33, Ec::Svc)] {
        // To EL0 by ERET; the code is for EL0 too, then.
        let mut bench = Bench::new(&[0xd69f_03e0, set(0), set(1), set(2)]);
        let code = 0x3000 + (CODE - RAM) / 0x1000 * 8;
        bench.ram.write_u64(code, CODE | 3 << 6 | 1 << 10 | 3 << 8 | 3).expect("RAM");
        bench.msr(Reg::SCTLR_EL1, 0x30d0_0801 | mscen);
        bench.msr(Reg::ELR_EL1, CODE + 4);
        bench.msr(Reg::SPSR_EL1, 0x3c0);
        assert_eq!(bench.run([DATA, 1, 100], 20), Some(expected));
    }
    let kernel = RAM + 0x3_0000;
    for (options, to, from, ends) in [
        (0b0000, kernel, kernel + 0x1000, Ec::Svc),
        (0b0001, DATA, kernel, Ec::Svc),
        (0b0001, kernel, DATA, Ec::DataAbort),
        (0b0010, kernel, DATA, Ec::Svc),
        (0b0010, DATA, kernel, Ec::DataAbort),
        (0b1111, DATA, DATA + 64, Ec::Svc),
        (0b0011, DATA, kernel, Ec::DataAbort),
    ] {
        let mut bench = Bench::new(&[0, 1, 2].map(|stage| cpyf(stage, options)));
        assert_eq!(bench.run([to, from, 32], 20), Some(ends), "{options:b} {to:x} {from:x}");
    }
}

/// A set of granules: data, tags and alignment.
#[test]
fn granules() {
    let mut bench = Bench::new(&[0, 1, 2].map(setg));
    let mut expected = bench.fill();
    expected[0x1000..0x1200].fill(0x5a);
    assert_eq!(bench.run([DATA + 0x1000, 0x5a, 0x200], 40), Some(Ec::Svc));
    assert!(bench.data() == expected);
    for (to, size) in [(DATA + 8, 16), (DATA, 24)] {
        let mut bench = Bench::new(&[0, 1, 2].map(setg));
        assert_eq!(bench.run([to, 0, size], 40), Some(Ec::DataAbort));
        assert_eq!(bench.mrs(Reg::ESR_EL1) & 0x3f, 0x21);
    }
}

/// Its tags are those of the address, in tagged memory.
#[test]
fn granules_have_tags() {
    let mut bench = Bench::new(&[0, 1, 2].map(setg));
    bench.fill();
    bench.msr(Reg::MAIR_EL1, 0xf0);
    bench.msr(Reg::TCR_EL1, 0x2_8099_3519 | 1 << 37);
    bench.msr(Reg::SCTLR_EL1, 0x30d0_0801 | 1 << 43);
    let to = DATA + 0x1000;
    assert_eq!(bench.run([to | 5 << 56, 1, 0x130], 40), Some(Ec::Svc));
    let tags = [to - 16, to, to + 0x120, to + 0x130].map(|at| bench.pe.tags(TagOp::Load, at, 0));
    assert_eq!(tags, [Ok(0), Ok(5), Ok(5), Ok(0)]);
    assert_eq!(bench.x(), [(to + 0x130) | 5 << 56, 1, 0]);
}

/// One execution is bounded, however much there is to do: a gigabyte leaves after a page.
#[test]
fn one_execution_is_bounded() {
    let mut bench = Bench::new(&[set(1)]);
    bench.pe.set_x_register(0, DATA + (1 << 30));
    bench.pe.set_x_register(2, (1_u64 << 30).wrapping_neg());
    let end = bench.pe.ticks() + 1;
    let _ = bench.pe.run(&mut bench.code, end);
    let done = bench.pe.x_register(2).wrapping_add(1 << 30);
    assert!((1..=4096).contains(&done), "{done}");
    assert_eq!(bench.pe.pc(), Va(CODE));
}
