//! Guests that go wrong: limits end them, and nothing panics.

mod common;

use arch::feature::Feature::FEAT_EL2;
use arch::preset::preset;
use common::{ENTRY, GIC_ON, MEMORY, machine, machine_of};
use vambrace_machine::{Limit, Machine, Outcome, Stuck};

fn steps(machine: &Machine) -> u64 {
    machine.board().cpus.iter().map(|cpu| cpu.pe.steps()).sum()
}

/// Interrupts are masked out of reset.
#[test]
fn an_endless_loop_ends_at_the_limit() {
    for limit in [1, 2, 63, 64, 65, 9_999, 10_000, 10_001, 123_457] {
        // b .
        let (mut machine, _) = machine("cortex-a57", 1, limit, &[(ENTRY, &[0x1400_0000])]);
        assert_eq!(machine.run(), Outcome::Limit(Limit::Instructions(limit)));
        assert_eq!((steps(&machine), machine.summary()[0].insns), (limit, limit));
    }
}

/// nop; nop; b: a block is left in its middle.
#[test]
fn the_limit_is_exact_within_a_block() {
    for limit in 1..20 {
        let program = [0xd503_201f, 0xd503_201f, 0x17ff_fffe];
        let (mut machine, _) = machine("neoverse-n1", 1, limit, &[(ENTRY, &program)]);
        assert_eq!(machine.run(), Outcome::Limit(Limit::Instructions(limit)));
        assert_eq!(steps(&machine), limit);
        assert_eq!(machine.board().cpus[0].pe.pc().0, ENTRY + 4 * (limit % 3));
    }
}

/// Every fetch faults, the vectors' too: time passes all the same.
#[test]
fn a_jump_to_nowhere_ends_at_the_limit() {
    for target in [0x10_0000_0000u64, 0x7, u64::MAX, 0xffff_0000_0000_0000, 0x4000_0000 + MEMORY] {
        // ldr x0, +16; br x0; b .; and the doubleword, aligned, since memory is Device memory with the MMU off
        let words = [0x5800_0080, 0xd61f_0000, 0x1400_0000, 0, target as u32, (target >> 32) as u32];
        let (mut machine, _) = machine("cortex-a57", 1, 100_000, &[(ENTRY, &words)]);
        assert_eq!(machine.run(), Outcome::Limit(Limit::Instructions(100_000)), "{target:#x}");
        assert_eq!(machine.summary()[0].insns, 2, "{target:#x}");
    }
}

#[test]
fn asleep_for_ever_is_said() {
    // wfi; b back
    let (mut machine, _) = machine("cortex-a57", 2, 1_000_000, &[(ENTRY, &[0xd503_207f, 0x17ff_ffff])]);
    assert_eq!(machine.run(), Outcome::Stuck(Stuck::Asleep));
}

/// WFI before, at and behind the end of a round, and a timer that is due before, at and behind it too.
#[test]
fn a_timer_wakes_at_whatever_tick_it_is_due() {
    const END: [u32; 3] = [0x52b0_8000, 0x1100_2000, 0xd400_0002]; // PSCI's SYSTEM_OFF
    let round = vambrace_machine::QUANTUM as u32;
    for due in round - 2..=round + 2 {
        for before in (round - 6..=round + 1).chain([40]) {
            let mut words = GIC_ON.to_vec();
            words.extend([
                0xd280_0002 | due << 5, // mov x2, #due
                0xd51b_e342,            // msr cntv_cval_el0, x2
                0xd51b_e320,            // msr cntv_ctl_el0, x0
                0xd503_3fdf,            // isb
            ]);
            words.extend((0..before - words.len() as u32).map(|_| 0xd503_201f)); // nop
            words.push(0xd503_207f); // wfi
            words.extend(END);
            let (mut machine, _) = machine("cortex-a57", 1, 1_000_000, &[(ENTRY, &words)]);
            assert_eq!(machine.run(), Outcome::PoweredOff, "due at {due}, WFI behind {before}");
        }
    }
}

#[test]
fn all_off_is_said() {
    // mov w0, #0x84000000; add w0, w0, #2; hvc #0: CPU_OFF
    let (mut machine, _) = machine("cortex-a57", 2, 1_000_000, &[(ENTRY, &[0x52b0_8000, 0x1100_0800, 0xd400_0002])]);
    assert_eq!(machine.run(), Outcome::Stuck(Stuck::Off));
}

/// Words from a seed, as code, with vectors amid it: whatever they do, the run ends at its limit or says what the tool
/// cannot do.
#[test]
fn junk_ends_without_a_panic() {
    let mut ends = [0; 4];
    for seed in 0..200u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            // xorshift64*
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            state.wrapping_mul(0x2545_f491_4f6c_dd1d)
        };
        let mut words: Vec<u32> = (0..0x4000).map(|_| (next() >> 32) as u32).collect();
        let preset = preset(["cortex-a57", "neoverse-n1", "max"][(seed % 3) as usize]).expect("a preset");
        // With EL2 and without; op1 of a register says whose it is.
        let (model, op1) = match seed / 3 % 2 {
            0 => (preset.without_dependents(FEAT_EL2), 0),
            _ => (preset, 4 << 16),
        };
        // VBAR there, so that it goes on after exceptions: adr x0, vectors; msr vbar_el1, x0.
        words[..2].copy_from_slice(&[0x1000_4000, 0xd518_c000 | op1]);
        // Half of the vectors step over what failed: mrs x0, elr_el1; add x0, x0, #4; msr elr_el1, x0; eret.
        for vector in (0x200..0x400).step_by(32).skip((seed % 2) as usize * 8) {
            words[vector..vector + 4].copy_from_slice(&[
                0xd538_4020 | op1,
                0x9100_1000,
                0xd518_4020 | op1,
                0xd69f_03e0,
            ]);
        }
        let cpus = 1 + (seed % 4) as usize;
        let (mut machine, _) = machine_of(model, cpus, 20_000, &[(ENTRY, &words)]);
        let outcome = machine.run();
        let kind = match outcome {
            Outcome::Limit(Limit::Instructions(20_000)) => 0,
            Outcome::Tool { .. } => 1,
            Outcome::Stuck(_) => 2,
            Outcome::PoweredOff | Outcome::Reset | Outcome::Exit(_) => 3,
            Outcome::Limit(_) | Outcome::Quit | Outcome::Paused | Outcome::NoThread { .. } => panic!("{outcome:?}"),
        };
        ends[kind] += 1;
    }
    assert!(ends[0] > 100, "most go on to the limit: {ends:?}");
}
