//! Encodings that are later than the judge (QEMU 7.2): FEAT_LRCPC3's and FEAT_HBC's do what older ones do, which the judge
//! knows; FEAT_CSSC's results are computed here.

use sem::eval::Flat;
use sem::testing::Rng;
use vambrace_oracle::case::{Case, DATA, PC, State};
use vambrace_oracle::class;
use vambrace_oracle::ours::{Ours, max};

fn state(rng: &mut Rng, base: u32) -> State {
    let mut state = State { pc: PC, sp: DATA + 0x400, nzcv: rng.below(16) << 28, ..State::default() };
    state.x.fill_with(|| rng.word());
    state.q.fill_with(|| rng.quad());
    if let Some(x) = state.x.get_mut(base as usize) {
        *x = DATA + 0x400 + 16 * rng.below(64);
    }
    state
}

/// The older instruction that does the same, but for its order; `None` where the architecture leaves the outcome open.
fn equivalent(name: &str, word: u32) -> Option<u32> {
    let (rt, rn, rt2) = (word & 31, word >> 5 & 31, word >> 16 & 31);
    let registers = rn << 5 | rt;
    // Of 32-bit or 64-bit general-purpose registers: bit 30 here, bit 31 of LDP and STP.
    let wide = word >> 30 & 1;
    let load = name.starts_with("LD");
    let written_back = rn != 31 && (rt == rn || name.contains("ldiappstilp") && rt2 == rn);
    match class::of(name)? {
        "condbranch" => Some(word & !0x10),
        // LDUR and STUR.
        "ldapstl_simd" => Some(word & 0xc0ff_f3ff | 0x3c00_0000),
        // LD1 and ST1 of one doubleword.
        "asisdlso" => Some(0x0d00_8400 | word & 1 << 30 | u32::from(load) << 22 | registers),
        _ if written_back || load && rt == rt2 => None,
        // LDR with post-index, STR with pre-index.
        "ldapstl_writeback" if load => Some(0xb840_0400 | wide << 30 | (4 << wide) << 12 | registers),
        "ldapstl_writeback" => Some(0xb800_0c00 | wide << 30 | ((0x200 - (4 << wide)) & 0x1ff) << 12 | registers),
        "ldiappstilp" => {
            let indexed = word >> 12 & 1 == 0 && word >> 10 & 3 == 2 && word >> 13 & 7 == 0;
            let (form, imm) = match (indexed, load) {
                (true, true) => (0x28c0_0000, 2),
                (true, false) => (0x2980_0000, 0x7e),
                (false, true) => (0x2940_0000, 0),
                (false, false) => (0x2900_0000, 0),
            };
            Some(form | wide << 31 | imm << 15 | rt2 << 10 | registers)
        }
        _ => None,
    }
}

#[test]
fn ordered_and_hinted() {
    let mut ours = Ours::new(max().unwrap()).unwrap();
    let (mut rng, mut compared) = (Rng::new(1), 0);
    for line in sem::specs::<Flat>() {
        let later = line.feature.is_some_and(|f| ["FEAT_LRCPC3", "FEAT_HBC"].contains(&f.name()));
        for _ in 0..if later { 200 } else { 0 } {
            let mut word = line.pattern.value | rng.random() as u32 & !line.pattern.mask;
            if line.name.contains("ldapstl_simd") {
                // Aligned, and near.
                word &= !(0x1f << 12 | 1 << 20);
            }
            let Some(old) = equivalent(line.name, word) else { continue };
            let case = Case { words: vec![word], state: state(&mut rng, word >> 5 & 31), seed: 5 };
            let older = Case { words: vec![old], ..case.clone() };
            let (after, expected) = (ours.run(&case), ours.run(&older));
            assert_eq!(after, expected, "{} {word:#010x} and {old:#010x}, {case}", line.name);
            compared += 1;
        }
    }
    assert!(compared > 4000, "{compared}");
}

fn cssc(name: &str, bits: u32, a: u64, b: u64) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    let (a, b) = (a & mask, b & mask);
    let signed = |value: u64| i128::from((value << (64 - bits)) as i64 >> (64 - bits));
    let result = match name {
        "ABS" => signed(a).unsigned_abs() as u64,
        "CNT" => (0..bits).filter(|n| a >> n & 1 == 1).count() as u64,
        "CTZ" => (0..bits).take_while(|n| a >> n & 1 == 0).count() as u64,
        "SMAX" => {
            if signed(a) > signed(b) {
                a
            } else {
                b
            }
        }
        "SMIN" => {
            if signed(a) < signed(b) {
                a
            } else {
                b
            }
        }
        "UMAX" => {
            if a > b {
                a
            } else {
                b
            }
        }
        "UMIN" => {
            if a < b {
                a
            } else {
                b
            }
        }
        _ => panic!("{name}"),
    };
    result & mask
}

#[test]
fn common_short_sequences() {
    let mut ours = Ours::new(max().unwrap()).unwrap();
    let (mut rng, mut encodings) = (Rng::new(2), 0);
    for line in sem::specs::<Flat>().iter().filter(|l| l.feature.is_some_and(|f| f.name() == "FEAT_CSSC")) {
        encodings += 1;
        let (name, bits) = (line.name.split('_').next().unwrap(), if line.name.contains("_32") { 32 } else { 64 });
        for _ in 0..200 {
            let word = line.pattern.value | rng.random() as u32 & !line.pattern.mask;
            let mut case = Case { words: vec![word], state: state(&mut rng, 32), seed: 5 };
            let (rd, rn, rm) = (word & 31, word >> 5 & 31, word >> 16 & 31);
            if rng.once_in(3) && rm < 31 && rn < 31 {
                // Equal, or nearly.
                case.state.x[rm as usize] = case.state.x[rn as usize] ^ rng.below(2);
            }
            let x = |n: u32| case.state.x.get(n as usize).copied().unwrap_or(0);
            let imm = u64::from(word >> 10 & 0xff);
            let b = match (line.name.contains("imm"), name.starts_with('S')) {
                (true, true) => imm as i8 as i64 as u64,
                (true, false) => imm,
                (false, _) => x(rm),
            };
            let expected = cssc(name, bits, x(rn), b);
            let mut after = case.state.clone();
            after.pc += 4;
            if rd < 31 {
                after.x[rd as usize] = expected;
            }
            assert_eq!(ours.run(&case).state, after, "{} {word:#010x}, {case}", line.name);
        }
    }
    assert_eq!(encodings, 22);
}
