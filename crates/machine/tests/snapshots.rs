//! A machine that is saved and restored goes on as if nothing had been; a file that is not what was saved is refused, or
//! makes a machine that runs into nothing worse than its limit.

mod common;
#[path = "../src/testing.rs"]
mod testing;

use std::path::Path;

use common::{ENTRY, Kept, options};
use snapshot::testing::{assemble, sections};
use snapshot::{Codec, Persist, Reader, SnapshotError, Writer};
use testing::elf;
use vambrace_machine::snapshots::maker;
use vambrace_machine::{Description, Machine, MachineConfig, Outcome, Semihosting, SetupError};

/// CPU 0 switches on the others, by HVC; each arms its timer (CNTV) 900 ticks ahead, adds to a word by exclusives and waits for an
/// interrupt that it leaves masked; CPU 0 writes what it finds to the UART.
const PROGRAM: &[u32] = &[
    0xd280_0033, // mov x19, #1
    0x52b8_8000, // 1: mov w0, #0xc4000000
    0x1100_0c00, // add w0, w0, #3: CPU_ON
    0xaa13_03e1, // mov x1, x19
    0x1000_00e2, // adr x2, work
    0xaa13_03e3, // mov x3, x19
    0xd400_0002, // hvc #0
    0x9100_0673, // add x19, x19, #1
    0xf100_0e7f, // cmp x19, #3
    0x54ff_ff01, // b.ne 1b
    0xd280_0000, // mov x0, #0
    0xaa00_03f4, // work: mov x20, x0
    0x1000_0343, // adr x3, counter
    0xd282_7104, // mov x4, #5000
    0xc85f_7c65, // 2: ldxr x5, [x3]
    0x9100_04a5, // add x5, x5, #1
    0xc806_7c65, // stxr w6, x5, [x3]
    0x35ff_ffa6, // cbnz w6, 2b
    0xd280_7087, // mov x7, #900
    0xd51b_e307, // msr cntv_tval_el0, x7
    0xd280_0027, // mov x7, #1
    0xd51b_e327, // msr cntv_ctl_el0, x7
    0xd503_205f, // wfe
    0xf100_0484, // subs x4, x4, #1
    0xb500_0094, // cbnz x20, 3f
    0xd2a1_2008, // mov x8, #0x09000000
    0x1200_18a9, // and w9, w5, #0x7f
    0xb900_0109, // str w9, [x8]
    0x54ff_fe41, // 3: b.ne 2b
    0xb400_00b4, // cbz x20, off
    0x52b0_8000, // mov w0, #0x84000000
    0x1100_0800, // add w0, w0, #2: CPU_OFF
    0xd400_0002, // hvc #0
    0x1400_0000, // b .
    0x52b0_8000, // off: mov w0, #0x84000000
    0x1100_2000, // add w0, w0, #8: SYSTEM_OFF
    0xd400_0002, // hvc #0
    0x1400_0000, // b .
    0,
    0, // counter
];

fn config(kernel: &Path, preset: &str, cpus: usize) -> MachineConfig {
    let mut config = MachineConfig {
        kernel: Some(kernel.into()),
        cpus,
        memory: 16 << 20,
        max_insns: Some(2_000_000),
        ..Default::default()
    };
    config.cpu.preset = preset.into();
    config.cpu.features.push("el2=off".parse().unwrap());
    config
}

/// Runs to `pause`; the snapshot, or how the run ended before.
fn save(config: &MachineConfig, pause: u64, console: &Kept) -> Result<Vec<u8>, Outcome> {
    let config = MachineConfig { pause: Some(pause), ..config.clone() };
    let mut machine = Machine::from_config(&config, options(console)).unwrap();
    match machine.run() {
        Outcome::Paused => {}
        outcome => return Err(outcome),
    }
    let before = machine.state_hash();
    let mut writer = Writer::new(Vec::new(), maker()).unwrap();
    Description { config, semihosting: Semihosting::Off }.save(&mut writer).unwrap();
    machine.save(&mut writer).unwrap();
    assert_eq!(machine.state_hash(), before, "saving changes nothing");
    Ok(writer.finish().unwrap())
}

fn restore(file: &[u8], max_insns: u64, console: &Kept) -> Result<Machine, SetupError> {
    let mut reader = Reader::new(file, maker())?;
    let saved = Description::load(&mut reader)?;
    let config = MachineConfig { max_insns: Some(max_insns), ..saved.config };
    config.validate(Some(1 << 30))?;
    let machine = Machine::from_snapshot(&config, options(console), &mut reader)?;
    reader.finish()?;
    Ok(machine)
}

fn whole(config: &MachineConfig) -> (Outcome, u64, Vec<u8>) {
    let console = Kept::default();
    let mut machine = Machine::from_config(config, options(&console)).unwrap();
    let outcome = machine.run();
    (outcome, machine.state_hash(), console.bytes())
}

#[test]
fn a_restored_machine_goes_on_as_it_would_have() {
    let directory = tempfile::tempdir().unwrap();
    let kernel = directory.path().join("kernel");
    std::fs::write(&kernel, elf(ENTRY, PROGRAM)).unwrap();
    let config = config(&kernel, "neoverse-n1", 3);
    let expected = whole(&config);
    assert_eq!(expected.0, Outcome::PoweredOff);
    assert!(expected.2.len() > 1000);
    let mut paused = 0;
    for pause in [1, 2, 10_001, 30_000, 50_000, 77_777, 100_000] {
        let console = Kept::default();
        let Ok(file) = save(&config, pause, &console) else { continue };
        let before = console.bytes().len();
        let mut machine = restore(&file, 2_000_000, &console).unwrap();
        // Saved again at once, it is the same file but for what bounds the run.
        assert!(machine.steps_done() >= pause);
        let outcome = machine.run();
        assert_eq!((outcome, machine.state_hash(), console.bytes()), expected, "at {pause}");
        assert!(before < expected.2.len());
        paused += 1;
    }
    assert!(paused >= 5, "{paused}");
}

/// A small generator (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

/// Random words at EL1, whose vectors step over what failed.
#[test]
fn random_programs_go_on_as_they_would_have() {
    let directory = tempfile::tempdir().unwrap();
    let kernel = directory.path().join("kernel");
    let mut random = Random(number("VAMBRACE_SEED", 1) | 1);
    let mut compared = 0;
    for case in 0..number("VAMBRACE_CASES", 60) {
        let mut words: Vec<u32> = (0..4096).map(|_| random.next() as u32).collect();
        // adr x0, .+0x800; msr vbar_el1, x0
        words[..2].copy_from_slice(&[0x1000_4000, 0xd518_c000]);
        for vector in (0x200..0x400).step_by(32) {
            words[vector..vector + 4].copy_from_slice(&[0xd538_4020, 0x9100_1000, 0xd518_4020, 0xd69f_03e0]);
        }
        std::fs::write(&kernel, elf(ENTRY, &words)).unwrap();
        let preset = ["max", "cortex-a57", "neoverse-n1"][case as usize % 3];
        let config = MachineConfig { max_insns: Some(60_000), ..config(&kernel, preset, 1 + random.below(3)) };
        let expected = whole(&config);
        let console = Kept::default();
        let Ok(file) = save(&config, 1 + random.next() % 60_000, &console) else { continue };
        let mut machine = restore(&file, 60_000, &console).unwrap();
        let outcome = machine.run();
        assert_eq!((outcome, machine.state_hash(), console.bytes()), expected, "case {case}");
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
}

fn small_snapshot() -> (tempfile::TempDir, Vec<u8>) {
    let directory = tempfile::tempdir().unwrap();
    let kernel = directory.path().join("kernel");
    std::fs::write(&kernel, elf(ENTRY, PROGRAM)).unwrap();
    let file = save(&config(&kernel, "cortex-a57", 2), 20_000, &Kept::default()).unwrap();
    (directory, file)
}

#[test]
fn every_flipped_byte_is_noticed() {
    let (_directory, file) = small_snapshot();
    let mut random = Random(number("VAMBRACE_SEED", 1) | 1);
    // All of the first, the rest by samples: one byte is 25 ms of work.
    let stride = number("VAMBRACE_STRIDE", 400) as usize;
    for at in (0..64.min(file.len())).chain((64..file.len()).step_by(stride)) {
        let mut flipped = file.clone();
        flipped[at] ^= 1 << random.below(8);
        assert!(restore(&flipped, 1, &Kept::default()).is_err(), "byte {at} of {}", file.len());
    }
    for cut in (0..file.len()).step_by(stride) {
        let result = restore(&file[..cut], 1, &Kept::default());
        let expected = matches!(&result, Err(SetupError::Snapshot(SnapshotError::Foreign | SnapshotError::Truncated)));
        assert!(expected, "{cut}: {:?}", result.err());
    }
}

/// Whoever makes a file on purpose gets its checksums right. Nothing panics, and no more memory is taken than the limit
/// of a section.
#[test]
fn a_file_made_on_purpose_does_no_harm() {
    let (_directory, file) = small_snapshot();
    let (head, whole) = sections(&file);
    assert!(restore(&assemble(&head, &whole), 1, &Kept::default()).is_ok(), "sections as they are");
    let mut random = Random(number("VAMBRACE_SEED", 7) | 1);
    let mut ends = [0; 2];
    for _ in 0..number("VAMBRACE_CASES", 250) {
        let mut changed = whole.clone();
        let count = changed.len();
        // Memory is anything a guest likes.
        let section = loop {
            let n = random.below(count);
            if !changed[n].1.is_empty() && !changed[n].0.starts_with(b"ram") {
                break n;
            }
        };
        let contents = &mut changed[section].1;
        for _ in 0..=random.below(3) {
            let at = random.below(contents.len());
            match random.below(4) {
                0 => contents[at] ^= 1 << random.below(8),
                1 => contents[at] = 0xff,
                2 => contents[at] = random.next() as u8,
                _ => contents.iter_mut().skip(at).take(8).for_each(|byte| *byte = random.next() as u8),
            }
        }
        if random.below(16) == 0 {
            contents.truncate(random.below(contents.len()));
        }
        match restore(&assemble(&head, &changed), u64::MAX, &Kept::default()) {
            Err(_) => ends[0] += 1,
            Ok(machine) => {
                let steps = machine.steps_done();
                let file = assemble(&head, &changed);
                let mut machine = restore(&file, steps + 5000, &Kept::default()).unwrap();
                machine.run();
                let _ = machine.state_hash();
                ends[1] += 1;
            }
        }
    }
    assert!(ends[0] > 10 && ends[1] > 10, "{ends:?}");
}

#[test]
fn another_machines_state_is_refused() {
    let (_directory, file) = small_snapshot();
    let (head, whole) = sections(&file);
    let mut fewer = whole.clone();
    let cpu = fewer.iter().position(|(name, _)| name.starts_with(b"cpu")).unwrap();
    fewer.remove(cpu);
    let error = restore(&assemble(&head, &fewer), 1, &Kept::default()).err().unwrap().to_string();
    assert!(error.contains("where cpu should be"), "{error}");
    let mut config = MachineConfig::default();
    config.persist(&mut Codec::load(&whole[0].1[..whole[0].1.len() - 1])).unwrap();
    assert_eq!(config.cpus, 2);
}
