//! An instruction or register of a feature is there on a CPU that has the feature, and UNDEFINED on the same CPU without.

use std::sync::Arc;

use arch::esr::Ec;
use arch::feature::Feature::{self, *};
use arch::model::CpuModel;
use arch::sysreg::{Enc, Reg};
use arch::{Pa, Va};
use bus::{Bus, CpuInterface, CpuLines, Level, Ram};
use sem::{Insn, Machine, System};
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

const CODE: u64 = 0x4000_0000;
const SVC: u32 = 0xd400_0001;

fn pe(model: CpuModel) -> (Pe, CodeCache, Arc<Ram>) {
    let ram = Arc::new(Ram::new(1 << 20).expect("RAM"));
    let features = model.features;
    let pe = Pe::new(PeConfig {
        index: 0,
        mpidr: 0,
        model,
        bus: Arc::new(Bus::new(ram.clone(), Pa(CODE))),
        gic: Arc::new(NoGic),
        lines: Arc::new(CpuLines::default()),
        conduit: Conduit::Hvc,
        frequency: 1_000_000_000,
        seed: 1,
        semihosting: Semihosting::Off,
    });
    (pe, CodeCache::new(ram.clone(), features), ram)
}

fn mrs(pe: &mut Pe, reg: Reg) -> u64 {
    pe.system(Insn::new(0, 0, 0), System::Mrs(reg.info().enc), 0).expect("EL1 may read it")
}

fn msr(pe: &mut Pe, reg: Reg, value: u64) {
    // That it ends the block does not matter here.
    let _ = pe.system(Insn::new(0, 0, 0), System::Msr(reg.info().enc), value);
}

/// Runs `word` and then SVC at EL1 with X1 and X2 at some RAM; the class of the exception that came first.
fn ends_with(model: CpuModel, word: u32) -> (Option<Ec>, Pe) {
    let (mut pe, mut code, ram) = pe(model);
    ram.write_u32(0, word).expect("RAM");
    ram.write_u32(4, SVC).expect("RAM");
    pe.start(Va(CODE), 0);
    msr(&mut pe, Reg::VBAR_EL1, CODE + 0x800);
    msr(&mut pe, Reg::CPACR_EL1, 3 << 20);
    for (register, value) in [(1, CODE + 0x1000), (2, CODE + 0x2000), (3, 0x40)] {
        pe.set_x_register(register, value);
    }
    let end = pe.ticks() + 3;
    let _ = pe.run(&mut code, end);
    let esr = mrs(&mut pe, Reg::ESR_EL1);
    (Ec::from_bits(esr >> 26), pe)
}

const CASES: &[(Feature, u32, &str)] = &[
    (FEAT_PAuth, 0xdac1_0020, "pacia x0, x1"),
    (FEAT_PAuth, 0x9ac2_3020, "pacga x0, x1, x2"),
    (FEAT_FlagM, 0xd500_401f, "cfinv"),
    (FEAT_FlagM, 0xba00_0420, "rmif x1, #0, #0"),
    (FEAT_FlagM, 0x3a00_082d, "setf8 w1"),
    (FEAT_FlagM2, 0xd500_403f, "xaflag"),
    (FEAT_FlagM2, 0xd500_405f, "axflag"),
    (FEAT_RNG, 0xd53b_2400, "mrs x0, rndr"),
    (FEAT_RNG, 0xd53b_2420, "mrs x0, rndrrs"),
    (FEAT_DPB, 0xd50b_7c21, "dc cvap, x1"),
    (FEAT_DPB2, 0xd50b_7d21, "dc cvadp, x1"),
    (FEAT_LRCPC, 0xf8bf_c020, "ldapr x0, [x1]"),
    (FEAT_LRCPC2, 0xd940_8020, "ldapur x0, [x1, #8]"),
    (FEAT_LRCPC2, 0x1900_0020, "stlurb w0, [x1]"),
    (FEAT_LRCPC3, 0xd9c0_0820, "ldapr x0, [x1], #8"),
    (FEAT_SB, 0xd503_30ff, "sb"),
    (FEAT_WFxT, 0xd503_101f, "wfet xzr"),
    (FEAT_WFxT, 0xd503_103f, "wfit xzr"),
    (FEAT_MOPS, 0x1901_0440, "cpyfp [x0]!, [x1]!, x2!"),
    (FEAT_HBC, 0x5400_0030, "bc.eq .+4"),
    (FEAT_CSSC, 0xdac0_1820, "ctz x0, x1"),
    (FEAT_CSSC, 0x5ac0_2020, "abs w0, w1"),
    (FEAT_CSSC, 0x91c0_0420, "smax x0, x1, #1"),
    (FEAT_CSSC, 0x9ac2_6420, "umax x0, x1, x2"),
    (FEAT_FRINTTS, 0x1e68_4020, "frint32z d0, d1"),
    (FEAT_DIT, 0xd503_415f, "msr dit, #1"),
    (FEAT_DIT, 0xd53b_42a0, "mrs x0, dit"),
    (FEAT_SSBS, 0xd53b_42c0, "mrs x0, ssbs"),
    (FEAT_ECV, 0xd53b_e0a0, "mrs x0, cntpctss_el0"),
    (FEAT_ECV, 0xd53b_e0c0, "mrs x0, cntvctss_el0"),
    (FEAT_RASv1p1, 0xd538_54a0, "mrs x0, erxpfgctl_el1"),
    (FEAT_PAN, 0xd500_419f, "msr pan, #1"),
    (FEAT_UAO, 0xd500_417f, "msr uao, #1"),
];

#[test]
fn instructions_come_and_go_with_their_feature() {
    let max = at_el1("max");
    for &(feature, word, text) in CASES {
        assert!(max.has(feature), "max has {feature}");
        assert_eq!(ends_with(max.clone(), word).0, Some(Ec::Svc), "{text} with {feature}");
        let without = max.without_dependents(feature);
        assert!(!without.has(feature));
        assert_eq!(ends_with(without, word).0, Some(Ec::Unknown), "{text} without {feature}");
        let a57 = at_el1("cortex-a57");
        assert_eq!(ends_with(a57, word).0, Some(Ec::Unknown), "{text} on cortex-a57");
    }
}

#[test]
fn hints_are_there_everywhere() {
    for word in [0xd503_20df, 0xd503_22df, 0xd503_233f, 0xd503_245f, 0xd503_20ff] {
        for name in ["max", "cortex-a57"] {
            let model = at_el1(name);
            assert_eq!(ends_with(model, word).0, Some(Ec::Svc), "{word:#x} on {name}");
        }
    }
}

/// A number comes with NZCV 0, and another one next time.
#[test]
fn random_numbers() {
    let max = at_el1("max");
    let (_, mut pe) = ends_with(max, 0xd53b_2400);
    assert_eq!((pe.nzcv(), pe.x_register(0) == 0), (0, false));
    let first = pe.x_register(0);
    pe.set_nzcv(0xf000_0000);
    assert_ne!(mrs(&mut pe, Reg::RNDR), first);
    assert_eq!(pe.nzcv(), 0);
}
