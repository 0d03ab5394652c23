//! Pointer authentication beyond what QEMU 7.2, which `oracle` asks, has: the later levels and the other algorithms.

use std::sync::Arc;

use arch::feature::Feature::{self, *};
use arch::model::CpuModel;
use arch::sysreg::{Enc, Reg};
use arch::{Pa, Va};
use bus::{Bus, CpuInterface, CpuLines, Level, Ram};
use sem::{Assist, Insn, Machine, PauthKey, System};
use vambrace_cpu::{Conduit, Pe, PeConfig, Semihosting, Stop};

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

const NONE: Insn = Insn::new(0, 0, 0);

fn system(pe: &mut Pe, op: System, argument: u64) -> u64 {
    pe.system(NONE, op, argument).unwrap_or(0)
}

fn write(pe: &mut Pe, reg: Reg, value: u64) {
    system(pe, System::Msr(reg.info().enc), value);
}

/// A PE of `max` with this algorithm, up to this level, with 48-bit addresses (TBI in the upper range) and keys.
fn pe(algorithm: Feature, level: Feature, const_field: bool) -> Pe {
    let mut model: CpuModel = at_el1("max");
    for feature in [FEAT_PACIMP, FEAT_PACQARMA5, FEAT_PACQARMA3, FEAT_FPACCOMBINE, FEAT_FPAC, FEAT_PAuth2] {
        model.features = model.features.without(feature);
    }
    model.features = model.features.without(FEAT_CONSTPACFIELD).with(algorithm).with_needs(level);
    if const_field {
        model.features = model.features.with_needs(FEAT_CONSTPACFIELD);
    }
    model.check().expect("consistent");
    let mut pe = Pe::new(PeConfig {
        index: 0,
        mpidr: 0,
        model,
        bus: Arc::new(Bus::new(Arc::new(Ram::new(1 << 16).expect("RAM")), Pa(0))),
        gic: Arc::new(NoGic),
        lines: Arc::new(CpuLines::default()),
        conduit: Conduit::Hvc,
        frequency: 1_000_000_000,
        seed: 1,
        semihosting: Semihosting::Off,
    });
    pe.start(Va(0), 0);
    let enable = 1 << 31 | 1 << 30 | 1 << 27 | 1 << 13;
    let sctlr = system(&mut pe, System::Mrs(Reg::SCTLR_EL1.info().enc), 0);
    write(&mut pe, Reg::SCTLR_EL1, sctlr | enable);
    write(&mut pe, Reg::TCR_EL1, 16 | 16 << 16 | 1 << 38);
    write(&mut pe, Reg::APIAKeyHi_EL1, 0x84be_85ce_9804_e94b);
    write(&mut pe, Reg::APIAKeyLo_EL1, 0xec28_02d4_e0a4_88e9);
    write(&mut pe, Reg::APDBKeyHi_EL1, 1);
    write(&mut pe, Reg::APGAKeyHi_EL1, 0x84be_85ce_9804_e94b);
    write(&mut pe, Reg::APGAKeyLo_EL1, 0xec28_02d4_e0a4_88e9);
    pe
}

fn ask(pe: &mut Pe, op: Assist, pointer: u64, modifier: u64) -> Result<u64, Stop> {
    pe.assist(NONE, op, [pointer, modifier, 0])
}

const LEVELS: [Feature; 5] = [FEAT_PAuth, FEAT_EPAC, FEAT_PAuth2, FEAT_FPAC, FEAT_FPACCOMBINE];
const ALGORITHMS: [Feature; 3] = [FEAT_PACQARMA5, FEAT_PACQARMA3, FEAT_PACIMP];
/// A lower and an upper address; the latter's top byte is a tag.
const POINTERS: [u64; 2] = [0x1234_5678_9abc, 0x5aff_8234_5678_9abc];
/// Where there may be a code.
const FIELD: [u64; 2] = [0xff7f << 48, 0x7f << 48];

#[test]
fn what_is_signed_authenticates_and_nothing_else() {
    for algorithm in ALGORITHMS {
        for level in LEVELS {
            let mut pe = pe(algorithm, level, false);
            for (pointer, field) in POINTERS.into_iter().zip(FIELD) {
                for key in [PauthKey::IA, PauthKey::DB] {
                    let context = format!("{algorithm} {level} {pointer:#x} {key:?}");
                    let signed = ask(&mut pe, Assist::Sign(key), pointer, 7).unwrap();
                    assert_ne!(signed, pointer, "{context}");
                    assert_eq!((signed ^ pointer) & !field, 0, "{context}");
                    for op in [Assist::Authenticate(key), Assist::AuthenticateCombined(key)] {
                        assert_eq!(ask(&mut pe, op, signed, 7), Ok(pointer), "{context}");
                        let fails =
                            level == FEAT_FPACCOMBINE || level == FEAT_FPAC && matches!(op, Assist::Authenticate(_));
                        for (bad, modifier) in [(signed ^ 1 << 50, 7), (signed, 8), (pointer, 7)] {
                            let result = ask(&mut pe, op, bad, modifier);
                            if fails {
                                assert_eq!(result, Err(Stop::Exception), "{context}");
                            } else {
                                // Not canonical, and no other bits than the code's differ.
                                let result = result.unwrap();
                                assert_ne!(result, pointer, "{context}");
                                assert_eq!((result ^ pointer) & !field, 0, "{context}");
                            }
                        }
                    }
                    let strip = if key == PauthKey::IA { Assist::StripInstruction } else { Assist::StripData };
                    assert_eq!(ask(&mut pe, strip, signed, 0), Ok(pointer), "{context}");
                }
            }
        }
    }
}

/// What signing makes of a pointer that is signed already: no way to make one that authenticates but with FEAT_PAuth2,
/// where it undoes itself only with the same modifier.
#[test]
fn a_pointer_that_is_not_canonical() {
    let twice = |level| {
        let mut pe = pe(FEAT_PACQARMA5, level, false);
        let once = ask(&mut pe, Assist::Sign(PauthKey::IA), POINTERS[0], 7).unwrap();
        (once, ask(&mut pe, Assist::Sign(PauthKey::IA), once, 7).unwrap())
    };
    let (once, again) = twice(FEAT_PAuth);
    assert_eq!(again, once ^ 1 << 62);
    assert_eq!(twice(FEAT_EPAC).1, POINTERS[0]);
    assert_eq!(twice(FEAT_PAuth2).1, POINTERS[0]);
}

/// The failure's syndrome: class 0x1c, the key in the lowest bits.
#[test]
fn the_exception_names_the_key() {
    let mut pe = pe(FEAT_PACIMP, FEAT_FPAC, false);
    for (n, key) in [PauthKey::IA, PauthKey::IB, PauthKey::DA, PauthKey::DB].into_iter().enumerate() {
        assert_eq!(ask(&mut pe, Assist::Authenticate(key), 1 << 50, 0), Err(Stop::Exception));
        assert_eq!(pe.pending_syndrome(), Some(0x1c << 26 | 1 << 25 | n as u64));
    }
}

/// FEAT_CONSTPACFIELD: bit 55 is kept, where else bit 63 takes its place in the lower range, which has no tag.
#[test]
fn the_constant_field() {
    let sign = |const_field| {
        let mut pe = pe(FEAT_PACIMP, FEAT_PAuth2, const_field);
        write(&mut pe, Reg::TCR_EL1, 16 | 16 << 16);
        ask(&mut pe, Assist::Sign(PauthKey::IA), 1 << 63, 0).unwrap() >> 55 & 1
    };
    assert_eq!((sign(false), sign(true)), (1, 0));
}

/// PACGA gives the cipher's upper half; the values are published for QARMA5's cipher.
#[test]
fn the_generic_code() {
    let mut pe = pe(FEAT_PACQARMA5, FEAT_PAuth, false);
    let code = ask(&mut pe, Assist::SignGeneric, 0xfb62_3599_da6e_8127, 0x477d_469d_ec0b_8762);
    assert_eq!(code, Ok(0xc003_b939_0000_0000));
}

/// Every bit of pointer, modifier and key changes about half of the fast code's bits.
#[test]
fn the_fast_hash_mixes() {
    let mut pe = pe(FEAT_PACIMP, FEAT_PAuth, false);
    let mut code = |pointer: u64, modifier: u64, hi: u64, lo: u64| {
        write(&mut pe, Reg::APGAKeyHi_EL1, hi);
        write(&mut pe, Reg::APGAKeyLo_EL1, lo);
        ask(&mut pe, Assist::SignGeneric, pointer, modifier).unwrap()
    };
    let base = [0xffff_8000_1234_5678, 0xffff_8000_8000_3f00, 0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210];
    let first = code(base[0], base[1], base[2], base[3]);
    for operand in 0..4 {
        let mut changed = 0;
        for bit in 0..64 {
            let mut other = base;
            other[operand] ^= 1 << bit;
            let flipped = (first ^ code(other[0], other[1], other[2], other[3])).count_ones();
            assert!(flipped >= 4, "bit {bit} of operand {operand}: {flipped}");
            changed += flipped;
        }
        assert!((13 * 64..19 * 64).contains(&changed), "operand {operand}: {changed}");
    }
}
