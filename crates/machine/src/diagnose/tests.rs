use std::fs;

use cpu::Semihosting;
use symbols::Symbol;

use super::*;
use crate::config::{CpuConfig, MachineConfig};
use crate::map::RAM_BASE;
use crate::setup::{Options, Sleep};
use crate::testing::elf;
use crate::{Input, Limit, Outcome};

/// ADR Xrd, .+offset.
const fn adr(rd: u32, offset: u32) -> u32 {
    0x1000_0000 | (offset & 3) << 29 | (offset >> 2 & 0x7_ffff) << 5 | rd
}
const NOP: u32 = 0xd503_201f;
const SPIN: u32 = 0x1400_0000;
const WFI: u32 = 0xd503_207f;
/// MSR VBAR_EL1, X0.
const MSR_VBAR_X0: u32 = 0xd518_c000;

/// A bare program at the start of RAM: words at byte offsets, run for a while.
fn run(words: &[(usize, u32)], data: &[(usize, u64)]) -> Machine {
    run_with("el2=off", words, data)
}

/// The same with a feature asked for.
fn run_with(feature: &str, words: &[(usize, u32)], data: &[(usize, u64)]) -> Machine {
    let mut content = vec![0; 0x400];
    for (at, word) in words {
        content[*at / 4] = *word;
    }
    for (at, value) in data {
        content[*at / 4..][..2].copy_from_slice(&[*value as u32, (value >> 32) as u32]);
    }
    let directory = tempfile::tempdir().unwrap();
    let kernel = directory.path().join("kernel");
    fs::write(&kernel, elf(RAM_BASE, &content)).unwrap();
    let config = MachineConfig {
        kernel: Some(kernel),
        memory: 64 << 20,
        cpus: 2,
        max_insns: Some(100),
        cpu: CpuConfig { features: vec![feature.parse().unwrap()], ..CpuConfig::default() },
        ..MachineConfig::default()
    };
    let options = Options {
        console: Box::new(std::io::sink()),
        virtio_console: None,
        input: Input::Uart,
        sleep: Sleep::Skipped,
        semihosting: Semihosting::Off,
    };
    let mut machine = Machine::from_config(&config, options).unwrap();
    let outcome = machine.run();
    assert!(matches!(outcome, Outcome::Limit(Limit::Instructions(100)) | Outcome::Stuck(_)), "{outcome:?}");
    machine
}

fn symbols(base: u64, all: &[(u64, &str)]) -> Symbols {
    let symbol = |(offset, name): &(u64, &str)| Symbol {
        address: Va(base.wrapping_add(*offset)),
        size: None,
        kind: b'T',
        name: (*name).to_owned(),
    };
    all.iter().map(symbol).collect()
}

const NAMES: [(u64, &str); 5] = [(0, "start"), (8, "spin"), (0x20, "caller"), (0x30, "interrupted"), (0x38, "main")];

/// X29 points to a chain of three records: a plain one, one of an exception, one that points to itself.
fn with_a_stack() -> Machine {
    let at = |offset: u64| RAM_BASE + offset;
    run(
        &[(0, adr(29, 0x80)), (4, adr(30, 0x24 - 4)), (8, NOP), (12, NOP), (16, NOP), (20, SPIN)],
        &[
            (0x80, at(0x200)),
            (0x88, at(0x28)),
            // At 0x200: two zeros and the kind; below it the X29 and PC of where the exception came from.
            (0x210, 2),
            (0x200 - 0x40, at(0x300)),
            (0x200 - 0x28, at(0x30)),
            (0x300, at(0x300)),
            // A signed address of RAM: user's half, so the upper bits go.
            (0x308, 0x0012_0000_0000_0000 | at(0x3c)),
        ],
    )
}

#[test]
fn a_cpu_by_its_names() {
    let machine = with_a_stack();
    let found = machine.diagnose(&symbols(RAM_BASE, &NAMES));
    let [cpu] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((cpu.cpu, cpu.el, cpu.state), (0, El::El1, CpuState::Running));
    assert_eq!(cpu.instruction, Some((SPIN, "b 0x40000014".to_owned())));
    assert_eq!(cpu.x[29], RAM_BASE + 0x80);
    assert_eq!(cpu.lr.to_string(), "0x0000000040000024 caller+0x4/0x10");
    let frames: Vec<_> = cpu.backtrace.iter().map(Place::to_string).collect();
    assert_eq!(
        frames,
        [
            "0x0000000040000028 caller+0x8/0x10",
            "0x0000000040000030 interrupted+0x0/0x8",
            "0x000000004000003c main+0x4/0x1000",
        ]
    );
    assert_eq!(cpu.line(), "CPU 0 in EL1: 0x0000000040000014 spin+0xc/0x18 < caller < interrupted < main");
    let text = cpu.to_string();
    for part in [
        "CPU 0 in EL1 at 0x0000000040000014 spin+0xc/0x18\n",
        "\n  instruction 14000000: b 0x40000014\n",
        " x29 0000000040000080\n",
        "\n  x30 0000000040000024 ",
        " VBAR_EL1 0000000000000000",
        "\n  x30 is in caller+0x4/0x10\n  called from\n    0x0000000040000028 caller+0x8/0x10\n",
    ] {
        assert!(text.contains(part), "{part:?} in\n{text}");
    }
}

#[test]
fn at_its_start_a_function_has_its_caller_in_x30() {
    let at = |offset: u64| RAM_BASE + offset;
    for (caller, line) in [
        (0x24, "CPU 0 in EL1: 0x0000000040000008 spin+0x0/0x18 < caller < main"),
        // The record is there already, and X30 still is what is in it.
        (0x3c, "CPU 0 in EL1: 0x0000000040000008 spin+0x0/0x18 < main"),
    ] {
        let words = [(0, adr(29, 0x80)), (4, adr(30, caller - 4)), (8, SPIN)];
        let machine = run(&words, &[(0x80, 0), (0x88, at(0x3c))]);
        assert_eq!(machine.diagnose(&symbols(RAM_BASE, &NAMES))[0].line(), line);
    }
}

#[test]
fn without_symbols_addresses_are_left() {
    let machine = with_a_stack();
    assert_eq!(machine.diagnose(&Symbols::default())[0].line(), "CPU 0 in EL1: 0x0000000040000014");
    // A kernel elsewhere, that is not loaded at the start of its 2 MiB either.
    let machine = machine.diagnose(&symbols(RAM_BASE + 0x10_0000, &NAMES));
    assert_eq!(machine[0].pc.symbol, None);
}

#[test]
fn a_kernel_is_found_while_the_mmu_is_off() {
    let linked = 0xffff_8000_0800_0000;
    let found = with_a_stack().diagnose(&symbols(linked, &NAMES));
    assert_eq!(found[0].line(), "CPU 0 in EL1: 0x0000000040000014 spin+0xc/0x18 < caller < interrupted < main");
}

#[test]
fn vectors_tell_where_a_kernel_is() {
    // Linked 64 KiB and something in front of where it is, with the vectors at 0x800 of it.
    let machine = run(&[(0, adr(0, 0x800)), (4, MSR_VBAR_X0), (8, WFI), (12, SPIN)], &[]);
    let mut names = NAMES.to_vec();
    names.push((0x800, "vectors"));
    let found = machine.diagnose(&symbols(0xffff_8000_0801_0000, &names));
    assert_eq!(found[0].line(), "CPU 0 in EL1, asleep: 0x000000004000000c spin+0x4/0x18");
}

#[test]
fn a_kernel_at_el2_has_its_vectors_there() {
    // MSR VBAR_EL2, X0.
    let machine = run_with("el2=on", &[(0, adr(0, 0x800)), (4, MSR_VBAR_X0 | 4 << 16), (8, WFI), (12, SPIN)], &[]);
    let mut names = NAMES.to_vec();
    names.push((0x800, "vectors"));
    let found = machine.diagnose(&symbols(0xffff_8000_0801_0000, &names));
    assert_eq!(found[0].line(), "CPU 0 in EL2, asleep: 0x000000004000000c spin+0x4/0x18");
    assert!(found[0].to_string().contains(" VBAR_EL2 0000000040000800"), "{}", found[0]);
}

#[test]
fn hostile_chains_end() {
    let at = |offset: u64| RAM_BASE + offset;
    // Two records that point to each other; a record that is not there; one that is not aligned; the end of the address
    // space; a device.
    for (chain, frames) in [
        (vec![(0x80, at(0x100)), (0x88, 4), (0x100, at(0x80)), (0x108, 4)], backtrace::MAX_FRAMES),
        (vec![(0x80, 0x10), (0x88, 4)], 1),
        (vec![(0x80, at(0x101)), (0x88, 4)], 1),
        (vec![(0x80, u64::MAX - 7), (0x88, 4)], 1),
        (vec![(0x80, 0x0900_0000), (0x88, u64::MAX)], 1),
        // The registers around the record of an exception are zeros here.
        (vec![(0x90, 2)], 1),
    ] {
        let machine = run(&[(0, adr(29, 0x80)), (4, SPIN)], &chain);
        let found = machine.diagnose(&Symbols::default());
        assert_eq!(found[0].backtrace.len(), frames, "{chain:x?}");
    }
}
