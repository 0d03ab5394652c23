//! Accesses of any kind to the registers of all devices, and to the interrupt controller's system registers. Afterwards the
//! machine goes on, and a snapshot of it is one.

use std::path::Path;

use arch::Pa;
use arch::sysreg::Reg;
use bus::{CpuInterface, Level, MmioAccess, Size, Target as Place};

use machine::config::{Disk, DiskAccess, Presence, Share};
use machine::{Description, Machine, MachineConfig, Semihosting, map, snapshots::maker};
use snapshot::{Reader, Writer};

use super::guest;
use crate::{Input, Target};

pub const TARGET: Target = Target { name: "registers", run, seeds };

const CPUS: usize = 2;
/// `b .`
const SPIN: u32 = 0x1400_0000;

/// The machine: with a disk, an entropy device and a share, all in `directory`.
fn config(directory: &Path) -> MachineConfig {
    let (kernel, disk, share) = (directory.join("spin"), directory.join("disk"), directory.join("share"));
    std::fs::write(&kernel, guest::elf(&[SPIN])).expect("a file");
    std::fs::write(&disk, [0x5a; 1 << 12]).expect("a file");
    std::fs::create_dir(&share).expect("a directory");
    MachineConfig {
        kernel: Some(kernel),
        cpus: CPUS,
        memory: guest::MEMORY,
        disks: vec![Disk { path: disk, access: DiskAccess::ReadOnly }],
        shares: vec![Share { path: share, access: DiskAccess::ReadOnly, tag: None }],
        rng: Presence::Present,
        max_insns: Some(25_000),
        cpu: machine::config::CpuConfig { preset: "max".into(), ..Default::default() },
        ..MachineConfig::default()
    }
}

fn options() -> machine::Options {
    machine::Options { virtio_console: Some(Box::new(std::io::sink())), ..guest::options() }
}

/// Windows: base and length.
fn window(input: &mut Input<'_>) -> (u64, u64) {
    let of = |window: map::Window| (window.base, window.len);
    match input.below(12) {
        0 | 1 => of(map::GICD),
        2 | 3 => (map::GICR_BASE, map::GICR_STRIDE * CPUS as u64),
        4 => of(map::UART),
        5 => of(map::RTC),
        6 => of(map::GPIO),
        7 => of(map::virtio(0)),
        // The console, the entropy device, the share, and an empty slot.
        _ => of(map::virtio(map::VIRTIO_COUNT - 1 - input.below(4))),
    }
}

fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let directory = guest::directory();
    let config = config(directory.path());
    let mut machine = Machine::from_config(&config, options()).expect("a machine");
    let (bus, gic) = (machine.board().bus.clone(), machine.board().gic.clone());
    let is_saved = input.u8() & 3 == 0;
    let mut now = 0u64;
    while !input.is_empty() {
        let cpu = input.below(CPUS);
        match input.below(8) {
            0..=4 => {
                let (base, len) = window(&mut input);
                let size = input.of(&[Size::Word, Size::Byte, Size::Half, Size::Double]);
                let offset = u64::from(input.u32()) % len / size.bytes() * size.bytes();
                let Place::Device(index, offset) = bus.target(Pa(base + offset)) else { continue };
                let access = MmioAccess { offset, size, cpu, now };
                // A fault is an answer too.
                if input.u8() & 1 == 0 {
                    let _ = bus.write_device(index, access, input.value());
                } else {
                    let _ = bus.read_device(index, access);
                }
            }
            5 | 6 => {
                let reg = Reg::ALL[usize::from(input.u16()) % Reg::ALL.len()].info().enc;
                let value = input.value();
                match input.below(7) {
                    0 => drop(gic.read(cpu, reg)),
                    1 => drop(gic.write(cpu, reg, value)),
                    2 => drop(gic.read_virtual(cpu, reg)),
                    3 => drop(gic.write_virtual(cpu, reg, value)),
                    4 => drop(gic.read_hypervisor(cpu, reg)),
                    5 => drop(gic.write_hypervisor(cpu, reg, value)),
                    _ => gic.set_ppi(cpu, 16 + u32::from(input.u8()) % 16, Level::from_bit(value & 1 != 0)),
                }
                assert!(gic.list_registers_in_use(cpu) <= 16);
            }
            _ => {
                now = now.saturating_add(input.value() & 0x3_ffff_ffff);
                machine.board().input.push(input.bytes(4));
            }
        }
    }
    machine.run();
    // It takes as long as all the rest.
    if is_saved {
        let file = save(&mut machine, &config);
        let mut reader = Reader::new(file.as_slice(), maker()).expect("a snapshot");
        Description::load(&mut reader).expect("a description");
        let again = Machine::from_snapshot(&config, options(), &mut reader);
        let again = save(&mut again.expect("what was saved can be restored"), &config);
        assert!(file == again, "a restored machine is another one");
    }
}

fn save(machine: &mut Machine, config: &MachineConfig) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), maker()).expect("a snapshot");
    let description = Description { config: config.clone(), semihosting: Semihosting::Off };
    description.save(&mut writer).expect("a description");
    machine.save(&mut writer).expect("what any guest makes of devices can be saved");
    writer.finish().expect("a snapshot")
}

fn seeds() -> Vec<Vec<u8>> {
    // CPU, kind, window, size, offset (4), write, value.
    let access = |window: u8, offset: u16, value: u64| {
        let mut bytes = vec![0, 0, window, 0];
        bytes.extend(u32::from(offset).to_le_bytes());
        bytes.extend([0, 2]);
        bytes.extend(value.to_le_bytes());
        bytes
    };
    // CPU, kind, register (2), value, what.
    let system = |reg: Reg, value: u64, what: u8| {
        let mut bytes = vec![0, 5];
        bytes.extend((reg as u16).to_le_bytes());
        bytes.push(2);
        bytes.extend(value.to_le_bytes());
        bytes.push(what);
        bytes
    };
    let virtio: Vec<u8> = [(0x70, 0), (0x70, 1), (0x70, 3), (0x24, 1), (0x20, 1), (0x70, 0xb), (0x30, 0), (0x38, 8)]
        .into_iter()
        .chain([(0x80, 0x4000_1000), (0x90, 0x4000_2000), (0xa0, 0x4000_3000), (0x44, 1), (0x70, 0xf), (0x50, 0)])
        .flat_map(|(offset, value)| access(7, offset, value))
        .collect();
    let gic = [
        access(0, 0, 0x13),
        access(0, 0x104, u64::MAX),
        access(2, 0x14, 0),
        system(Reg::ICC_PMR_EL1, 0xff, 1),
        system(Reg::ICC_IGRPEN1_EL1, 1, 1),
        access(0, 0x204, 4),
        system(Reg::ICC_IAR1_EL1, 0, 0),
        system(Reg::ICC_EOIR1_EL1, 34, 1),
        system(Reg::ICH_HCR_EL2, 1, 5),
        system(Reg::ICH_LR0_EL2, 0x5000_0000_0000_0030, 5),
        system(Reg::ICC_IAR1_EL1, 0, 2),
    ];
    let small = [
        access(4, 0x30, 0x301),
        access(4, 0, 65),
        access(4, 0x38, 0x7ff),
        access(5, 4, 1),
        access(5, 0x10, 1),
        access(6, 0x410, 8),
    ];
    [virtio, gic.concat(), small.concat()].into_iter().map(|accesses| [vec![0], accesses].concat()).collect()
}
