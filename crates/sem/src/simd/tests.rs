//! Cases of SIMD&FP instructions. Words are what the assembler gives for the text beside them.

use std::collections::BTreeMap;

use crate::eval::{Flat, Refuse, Stop};
use crate::lift::lift_block;
use crate::machine::{FpEnv, Machine, Pure};
use crate::spec::specs;
use crate::testing::Rng;
use crate::{Decoder, InsnId};

/// A machine whose memory counts up from 1 at address 0x1000, with X1 at 0x1000 and X2 at 0x2000.
fn counting() -> Flat {
    let mut m = Flat::default();
    (m.x[1], m.x[2]) = (0x1000, 0x2000);
    for n in 0..64 {
        m.memory.written.insert(0x1000 + n, n as u8 + 1);
    }
    m
}

fn run(m: &mut Flat, word: u32) {
    assert_eq!(m.step(word), Ok(()), "{word:08x}");
}

/// The bytes, the lowest first.
fn bytes(of: &[u8]) -> u128 {
    of.iter().rev().fold(0, |value, &byte| value << 8 | u128::from(byte))
}

#[test]
fn structures_of_three_bytes() {
    let mut m = counting();
    run(&mut m, 0x0cdf_4024); // ld3 {v4.8b-v6.8b}, [x1], #24
    assert_eq!(m.q[4], bytes(&[1, 4, 7, 10, 13, 16, 19, 22]));
    assert_eq!(m.q[5], bytes(&[2, 5, 8, 11, 14, 17, 20, 23]));
    assert_eq!(m.q[6], bytes(&[3, 6, 9, 12, 15, 18, 21, 24]));
    assert_eq!(m.x[1], 0x1018);
    run(&mut m, 0x0c00_4044); // st3 {v4.8b-v6.8b}, [x2]
    let stored: Vec<u8> = (0..25).map(|n| m.memory.byte(0x2000 + n)).collect();
    assert_eq!(stored, [(1..=24).collect(), vec![0]].concat());
    assert_eq!(m.x[2], 0x2000);
}

#[test]
fn structures_of_four_words_wrap_around_v31() {
    let mut m = counting();
    m.x[3] = 5;
    run(&mut m, 0x4cc3_083e); // ld4 {v30.4s, v31.4s, v0.4s, v1.4s}, [x1], x3
    assert_eq!(m.q[30], bytes(&[1, 2, 3, 4, 17, 18, 19, 20, 33, 34, 35, 36, 49, 50, 51, 52]));
    assert_eq!(m.q[1], bytes(&[13, 14, 15, 16, 29, 30, 31, 32, 45, 46, 47, 48, 61, 62, 63, 64]));
    assert_eq!(m.x[1], 0x1005);
    run(&mut m, 0x4c00_085e); // st4 {v30.4s, v31.4s, v0.4s, v1.4s}, [x2]
    assert!((0..64).all(|n| m.memory.byte(0x2000 + n) == n as u8 + 1));
}

#[test]
fn single_elements() {
    let mut m = counting();
    m.q[7] = u128::MAX;
    run(&mut m, 0x4ddf_4827); // ld1 {v7.h}[5], [x1], #2
    assert_eq!((m.q[7], m.x[1]), (!(0xffff << 80) | 0x0201 << 80, 0x1002));
    run(&mut m, 0x4d00_4847); // st1 {v7.h}[5], [x2]
    assert_eq!(m.memory.read(0x2000, 4), Ok(0x0201));
    run(&mut m, 0x0d40_c828); // ld1r {v8.2s}, [x1]
    assert_eq!(m.q[8], 0x0605_0403_0605_0403);
    run(&mut m, 0x4d40_e029); // ld3r {v9.16b-v11.16b}, [x1]
    assert_eq!([m.q[9], m.q[10], m.q[11]], [[3; 16], [4; 16], [5; 16]].map(u128::from_le_bytes));
}

#[test]
fn pairs_and_single_registers() {
    let mut m = counting();
    m.x[1] = 0x1010;
    run(&mut m, 0xadff_8420); // ldp q0, q1, [x1, #-16]!
    assert_eq!((m.q[0] as u8, m.q[1] as u8, m.x[1]), (1, 17, 0x1000));
    (m.q[2], m.q[3]) = (u128::MAX, 7);
    run(&mut m, 0x6c81_0c42); // stp d2, d3, [x2], #16
    assert_eq!((m.memory.read(0x2000, 16), m.x[2]), (Ok(7 << 64 | u128::from(u64::MAX)), 0x2010));
    m.x[5] = 0xdead_0000_0000_0003;
    m.q[4] = u128::MAX;
    run(&mut m, 0x3c65_c824); // ldr b4, [x1, w5, sxtw]
    assert_eq!(m.q[4], 4);
    m.x[5] = 2;
    run(&mut m, 0x3ca5_7844); // str q4, [x2, x5, lsl #4]
    assert_eq!(m.memory.byte(0x2030), 4);
    m.pc = 0x1000;
    run(&mut m, 0x5c00_0046); // ldr d6, . + 8
    assert_eq!(m.q[6], 0x100f_0e0d_0c0b_0a09);
}

#[test]
fn a_faulting_structure_load_changes_nothing() {
    let mut m = counting();
    m.memory.refuse = Refuse::Outside(0x1000..0x1010);
    let before = m.clone();
    // ld4 {v0.8b-v3.8b}, [x1]
    assert_eq!(m.step(0x0c40_0020), Err(Stop::Fault { address: 0x1010 }));
    assert_eq!(m, before);
}

#[test]
fn table_lookup_over_three_registers() {
    let mut m = Flat::default();
    (m.q[30], m.q[31], m.q[0]) = (bytes(&[10; 16]), bytes(&[20; 16]), bytes(&[30; 16]));
    m.q[1] = bytes(&[0, 15, 16, 31, 32, 47, 48, 255]);
    run(&mut m, 0x4e01_43c0); // tbl v0.16b, {v30.16b, v31.16b, v0.16b}, v1.16b
    assert_eq!(m.q[0], bytes(&[10, 10, 20, 20, 30, 30, 0, 0, 10, 10, 10, 10, 10, 10, 10, 10]));
    (m.q[2], m.q[3], m.q[4]) = (u128::MAX, bytes(&[5; 16]), bytes(&[0, 16, 15, 17, 1, 1, 1, 1]));
    run(&mut m, 0x0e04_1062); // tbx v2.8b, {v3.16b}, v4.8b
    assert_eq!(m.q[2], bytes(&[5, 255, 5, 255, 5, 5, 5, 5]));
}

/// Each line of the file; see there.
#[test]
fn judged_cases() {
    let mut wrong = Vec::new();
    for line in include_str!("judged_cases.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split(' ');
        fields.next();
        let values: Vec<u128> = fields.map(|field| u128::from_str_radix(field, 16).unwrap()).collect();
        let [word, fpcr, nzcv, xn, vn, vm, vd, va, vd_after, xd_after, nzcv_after, fpsr] = values[..] else {
            panic!("{line}")
        };
        let word = word as u32;
        let [d, n, m, a] = [0, 5, 16, 10].map(|at| word >> at & 31);
        let mut machine = Flat { nzcv: (nzcv as u64) << 28, ..Flat::default() };
        machine.fp.fpcr = fpcr as u64;
        machine.set_x(n, xn as u64);
        for (register, value) in [(a, va), (d, vd), (m, vm), (n, vn)] {
            machine.set_q(register, value);
        }
        if d != n && d < 31 {
            // An instruction that does not write Xd finds there what it leaves.
            machine.set_x(d, xd_after as u64);
        }
        let result = machine.step(word);
        let after =
            (machine.q(d), u128::from(machine.x(d)), u128::from(machine.nzcv >> 28), u128::from(machine.fp.fpsr));
        if result.is_err() || after != (vd_after, xd_after, nzcv_after, fpsr) {
            wrong.push(format!("{line}: {result:?} {after:x?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A back end may know pure functions by name, so a name is one function.
#[test]
fn names_of_pure_functions_are_unique() {
    let (decoder, mut rng) = (Decoder::<Flat>::new(), Rng::new(1));
    let mut seen: BTreeMap<&str, Pure> = BTreeMap::new();
    for line in 0..specs::<Flat>().len() as u16 {
        for _ in 0..12 {
            let Some(insn) = rng.insn(&decoder, InsnId(line), 0) else { break };
            let block = lift_block(ir::Mode::Literal, [(InsnId(line), insn)]);
            for op in block.ops() {
                let ir::Op::Call { function, .. } = *op else { continue };
                let first = *seen.entry(function.name).or_insert(function);
                for _ in 0..4 {
                    let operands = [rng.quad(), rng.quad(), rng.quad()];
                    let results = [first, function].map(|f| {
                        let mut env = FpEnv::default();
                        ((f.run)(&mut env, operands), env)
                    });
                    assert_eq!(results[0], results[1], "{}", function.name);
                }
            }
        }
    }
    assert!(seen.len() > 500, "{}", seen.len());
}
