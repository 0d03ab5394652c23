//! Snapshots of a small machine: as they are with bytes changed, and made on purpose, with checksums that are right. One
//! that is accepted runs.

use std::sync::OnceLock;

use machine::snapshots::maker;
use machine::{Description, Machine, MachineConfig, Outcome, Semihosting, SetupError};
use snapshot::testing::{Section, assemble, sections};
use snapshot::{Reader, Writer};

use super::guest;
use crate::{Input, Target};

pub const TARGET: Target = Target { name: "snapshots", run, seeds };

/// Switches on the other CPU; both arm their timers and count by exclusives.
const PROGRAM: &[u32] = &[
    0x52b8_8000, // mov w0, #0xc4000000
    0x1100_0c00, // add w0, w0, #3: CPU_ON
    0xd280_0021, // mov x1, #1
    0x1000_0062, // adr x2, 1f
    0xd400_0003, // smc #0
    0xd503_201f, // nop
    0x1000_0143, // 1: adr x3, counter
    0xd280_7087, // mov x7, #900
    0xd51b_e307, // msr cntv_tval_el0, x7
    0xd280_0027, // mov x7, #1
    0xd51b_e327, // msr cntv_ctl_el0, x7
    0xc85f_7c65, // 2: ldxr x5, [x3]
    0x9100_04a5, // add x5, x5, #1
    0xc806_7c65, // stxr w6, x5, [x3]
    0xd503_205f, // wfe
    0x17ff_fffc, // b 2b
    0,
    0, // counter
];

/// Instructions until the snapshot, and until what was restored ends.
const PAUSE: u64 = 20_000;
const LIMIT: u64 = 60_000;

struct Base {
    file: Vec<u8>,
    head: Vec<u8>,
    sections: Vec<Section>,
}

fn base() -> &'static Base {
    static BASE: OnceLock<Base> = OnceLock::new();
    BASE.get_or_init(|| {
        let directory = guest::directory();
        let kernel = directory.path().join("program");
        std::fs::write(&kernel, guest::elf(PROGRAM)).expect("a file");
        let config = MachineConfig {
            kernel: Some(kernel),
            cpus: 2,
            memory: guest::MEMORY,
            rng: machine::config::Presence::Present,
            pause: Some(PAUSE),
            ..MachineConfig::default()
        };
        let mut machine = Machine::from_config(&config, guest::options()).expect("a machine");
        assert_eq!(machine.run(), Outcome::Paused);
        let mut writer = Writer::new(Vec::new(), maker()).expect("a snapshot");
        let description = Description { config, semihosting: Semihosting::Off };
        description.save(&mut writer).and_then(|()| machine.save(&mut writer)).expect("a snapshot");
        let file = writer.finish().expect("a snapshot");
        let (head, sections) = sections(&file);
        Base { file, head, sections }
    })
}

fn restore(file: &[u8], max_insns: u64) -> Result<Machine, SetupError> {
    let mut reader = Reader::new(file, maker())?;
    let saved = Description::load(&mut reader)?;
    let config = MachineConfig { max_insns: Some(max_insns), pause: None, ..saved.config };
    // A host that is small; what names files and sockets of the host is not tried here.
    config.validate(Some(64 << 20))?;
    if config.cpus > 8 || !config.disks.is_empty() || !config.shares.is_empty() || config.connects_to_host().is_some() {
        return Err(SetupError::Snapshot(snapshot::SnapshotError::Foreign));
    }
    let machine = Machine::from_snapshot(&config, guest::options(), &mut reader)?;
    reader.finish()?;
    Ok(machine)
}

fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let base = base();
    let file = if input.u8() & 3 == 0 { raw(&mut input, base) } else { purposely(&mut input, base) };
    match restore(&file, LIMIT) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(mut machine) => {
            machine.run();
            for cpu in machine.diagnose(&symbols::Symbols::default()) {
                assert!(!cpu.to_string().is_empty());
            }
        }
    }
}

/// The file with bytes changed: refused, unless they are what was there.
fn raw(input: &mut Input<'_>, base: &Base) -> Vec<u8> {
    let mut file = base.file.clone();
    while !input.is_empty() {
        let at = (input.u16() as usize) % file.len();
        match input.below(3) {
            0 => file[at] ^= input.u8(),
            1 => file.truncate(at.max(1)),
            _ => drop(file.splice(at..at, input.bytes(4).iter().copied())),
        }
    }
    assert!(file == base.file || restore(&file, 1).is_err(), "a changed snapshot is accepted");
    file
}

/// Sections with values changed, more or fewer of them.
fn purposely(input: &mut Input<'_>, base: &Base) -> Vec<u8> {
    let mut sections = base.sections.clone();
    while !input.is_empty() && !sections.is_empty() {
        let n = input.below(sections.len());
        let contents = &mut sections[n].1;
        let len = contents.len();
        let at = if len == 0 { 0 } else { usize::from(input.u16()) % len };
        match input.below(10) {
            0 | 1 => contents.iter_mut().skip(at).take(1).for_each(|byte| *byte = input.u8()),
            2 | 3 => {
                let value = input.value().to_le_bytes();
                contents.iter_mut().skip(at).zip(value).for_each(|(byte, value)| *byte = value);
            }
            4 => contents.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << input.below(8)),
            5 => contents.truncate(at),
            6 => drop(contents.splice(at..at, input.bytes(8).iter().copied())),
            7 => {
                let copy = sections[n].clone();
                sections.insert(n, copy);
            }
            8 => drop(sections.remove(n)),
            _ => {
                let other = input.below(sections.len());
                sections.swap(n, other);
            }
        }
        if sections.len() > 256 {
            break;
        }
    }
    assemble(&base.head, &sections)
}

fn seeds() -> Vec<Vec<u8>> {
    // Made on purpose: section, place (2), what, value.
    let count = base().sections.len() as u8;
    let mut all = vec![vec![0], vec![1], vec![0, 9, 0, 0, 1]];
    for n in 0..count {
        all.push(vec![1, n, 8, 0, 2, 1]);
        all.push(vec![1, n, 64, 0, 4, 0]);
    }
    all
}
