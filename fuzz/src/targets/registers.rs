//! Accesses of any kind to the registers of all devices, and to the interrupt controller's system registers, on a board with a
//! GICv3, an ITS, a GICv2, or firmware's devices. Afterwards the machine goes on, and a snapshot of it is one.

use std::path::Path;

use arch::Pa;
use arch::sysreg::Reg;
use bus::{Bus, CpuInterface, Level, MmioAccess, Size, Target as Place};

use machine::config::{Disk, DiskAccess, FirmwareConfig, Presence, Share};
use machine::{Description, Machine, MachineConfig, Semihosting, map, snapshots::maker};
use snapshot::{Reader, Writer};

use super::guest;
use crate::{Input, Target};

pub const TARGET: Target = Target { name: "registers", run, seeds };

const CPUS: usize = 2;
/// `b .`
const SPIN: u32 = 0x1400_0000;

/// What is special about the board.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    V3,
    Its,
    V2,
    /// Flash memory and the configuration device, which the CPUs start in.
    Firmware,
}

impl Kind {
    const ALL: [Self; 4] = [Self::V3, Self::Its, Self::V2, Self::Firmware];
}

/// The machine: with a disk, an entropy device and a share, all in `directory`.
fn config(kind: Kind, directory: &Path) -> MachineConfig {
    let (code, disk, share) = (directory.join("spin"), directory.join("disk"), directory.join("share"));
    let is_firmware = kind == Kind::Firmware;
    let spin = if is_firmware { SPIN.to_le_bytes().to_vec() } else { guest::elf(&[SPIN]) };
    std::fs::write(&code, spin).expect("a file");
    std::fs::write(&disk, [0x5a; 1 << 12]).expect("a file");
    std::fs::create_dir(&share).expect("a directory");
    let feature = match kind {
        Kind::Its => Some("its=on"),
        Kind::V2 => Some("gic=2"),
        Kind::V3 | Kind::Firmware => None,
    };
    let cpu = machine::config::CpuConfig {
        preset: "max".into(),
        features: feature.map(|text| text.parse().expect("a feature")).into_iter().collect(),
        ..Default::default()
    };
    MachineConfig {
        kernel: (!is_firmware).then(|| code.clone()),
        firmware: is_firmware.then_some(FirmwareConfig { code, variables: None }),
        cpus: CPUS,
        memory: guest::MEMORY,
        disks: vec![Disk { path: disk, access: DiskAccess::ReadOnly }],
        shares: vec![Share { path: share, access: DiskAccess::ReadOnly, tag: None }],
        rng: Presence::Present,
        max_insns: Some(25_000),
        cpu,
        ..MachineConfig::default()
    }
}

fn options() -> machine::Options {
    machine::Options { virtio_console: Some(Box::new(std::io::sink())), ..guest::options() }
}

/// Windows: base and length.
fn windows(kind: Kind) -> Vec<(u64, u64)> {
    let of = |window: map::Window| (window.base, window.len);
    // Of two banks of flash, two blocks.
    let flash = |n: usize| (map::FLASH[n].base, 2 * pflash::spec::BLOCK);
    let redistributors = (map::GICR_BASE, map::GICR_STRIDE * CPUS as u64);
    let mut windows = vec![
        of(map::GICD),
        if kind == Kind::V2 { of(map::GICC) } else { redistributors },
        of(map::UART),
        of(map::RTC),
        of(map::GPIO),
        of(map::virtio(0)),
    ];
    // The console, the entropy device, the share, and an empty slot.
    windows.extend((1..5).map(|n| of(map::virtio(map::VIRTIO_COUNT - n))));
    match kind {
        Kind::V3 => {}
        Kind::V2 => windows.extend([of(map::GICH), of(map::GICV)]),
        Kind::Its => windows.extend([of(map::ITS); 2]),
        Kind::Firmware => windows.extend([flash(0), flash(1), of(map::FW_CFG), of(map::FW_CFG)]),
    }
    windows
}

/// Memory that nothing else is in, for tables and queues: in steps of 2 KiB.
fn place(input: &mut Input<'_>) -> u64 {
    PLACE + u64::from(input.u8()) * 0x800
}

const PLACE: u64 = 0x4030_0000;

/// Where an access goes, at some time.
struct Accesses<'a> {
    bus: &'a Bus,
    cpu: usize,
    now: u64,
}

impl Accesses<'_> {
    fn at(&self, pa: u64, size: Size) -> Option<(usize, MmioAccess)> {
        match self.bus.target(Pa(pa)) {
            Place::Device(index, offset) => Some((index, MmioAccess { offset, size, cpu: self.cpu, now: self.now })),
            _ => None,
        }
    }
    /// A fault is an answer too.
    fn write(&self, pa: u64, size: Size, value: u64) {
        if let Some((index, access)) = self.at(pa, size) {
            let _ = self.bus.write_device(index, access, value & size.mask());
        }
    }
    fn read(&self, pa: u64, size: Size) -> u64 {
        let Some((index, access)) = self.at(pa, size) else { return 0 };
        self.bus.read_device(index, access).unwrap_or(0)
    }
    fn fill(&self, pa: u64, bytes: &[u8]) {
        // What is not RAM is not written.
        if let Some(offset) = pa.checked_sub(map::RAM_BASE) {
            let _ = self.bus.ram().write_bytes(offset, bytes);
        }
    }

    /// What only this kind of board has, as a driver would use it.
    fn special(&self, kind: Kind, input: &mut Input<'_>) {
        match kind {
            Kind::V3 => self.fill(place(input), &input.value().to_le_bytes()),
            Kind::Its => self.command(input),
            Kind::V2 => self.interface(input),
            Kind::Firmware if input.u8() & 1 == 0 => self.transfer(input),
            Kind::Firmware => self.flash(input),
        }
    }

    /// A command behind the last one in the ITS's queue.
    fn command(&self, input: &mut Input<'_>) {
        const CBASER: u64 = map::ITS.base + 0x80;
        const CWRITER: u64 = map::ITS.base + 0x88;
        let first = u64::from(input.u8()) | u64::from(input.u8()) << 32;
        let second = u64::from(input.u8()) | u64::from(input.u16()) << 32;
        let third = match input.u8() {
            0 => input.value(),
            1 => place(input) | 1 << 63,
            n => u64::from(n & 1) << 16 | u64::from(n >> 1 & 3) | u64::from(n) >> 7 << 63,
        };
        let (base, at) = (self.read(CBASER, Size::Double), self.read(CWRITER, Size::Double) & 0xf_ffe0);
        let words = [first, second, third, 0];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.fill((base & 0xf_ffff_ffff_f000) + at, &bytes);
        let len = ((base & 0xff) + 1) * 0x1000;
        self.write(CWRITER, Size::Double, (at + 32) % len);
    }

    /// A register of a GICv2's CPU interface, with a number that an interrupt can have.
    fn interface(&self, input: &mut Input<'_>) {
        let offset = input.of(&[0x0c, 0x10, 0x1000, 0x00, 0x04, 0x08, 0x14, 0x18, 0x1c, 0x20, 0x24, 0x28, 0xd0, 0xe0]);
        if input.u8() & 1 == 0 {
            self.read(map::GICC.base + offset, Size::Word);
        } else {
            let value = u64::from(input.u8()) | u64::from(input.u8() & 3) << 10;
            self.write(map::GICC.base + offset, Size::Word, value);
        }
    }

    /// A transfer of the configuration device's.
    fn transfer(&self, input: &mut Input<'_>) {
        let control = u32::from(input.u16()) << 16 | u32::from(input.u8());
        let (length, descriptor) = (input.value() as u32, place(input));
        let address = if input.u8() & 1 == 0 { place(input) } else { input.value() };
        self.fill(descriptor, &[&control.to_be_bytes()[..], &length.to_be_bytes(), &address.to_be_bytes()].concat());
        self.write(map::FW_CFG.base + fw_cfg::spec::DMA, Size::Double, descriptor.swap_bytes());
    }

    /// A command of the flash's, for both chips, and what may follow it.
    fn flash(&self, input: &mut Input<'_>) {
        use pflash::spec::{BLOCK, command};
        let base = map::FLASH[input.below(2)].base + u64::from(input.u16()) * 4 % (2 * BLOCK);
        let command = input.of(&[
            command::BUFFERED_PROGRAM,
            command::ERASE,
            command::PROGRAM,
            command::LOCK_SETUP,
            command::READ_STATUS,
            command::READ_ID,
            command::QUERY,
            command::CLEAR_STATUS,
            command::READ_ARRAY,
            command::PROGRAM_ALTERNATE,
        ]);
        let both = |value: u64| value & 0xffff | (value & 0xffff) << 16;
        self.write(base, Size::Word, both(command.into()));
        for _ in 0..input.below(8) {
            let value = match input.u8() {
                0 => both(command::CONFIRM.into()),
                1 => both(u64::from(input.u8()) % 5),
                _ => input.value(),
            };
            self.write(base + u64::from(input.u8() % 16) * 4, Size::Word, value);
        }
        self.read(base, Size::Word);
    }
}

fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let directory = guest::directory();
    let first = input.u8();
    let kind = Kind::ALL[usize::from(first) >> 2 & 3];
    // It takes as long as all the rest, and with flash much longer.
    let is_saved = first & if kind == Kind::Firmware { 0x33 } else { 3 } == 0;
    let config = config(kind, directory.path());
    let mut machine = Machine::from_config(&config, options()).expect("a machine");
    let (bus, gic) = (machine.board().bus.clone(), machine.board().gic.clone());
    let windows = windows(kind);
    let mut now = 0u64;
    while !input.is_empty() {
        let cpu = input.below(CPUS);
        let accesses = Accesses { bus: &bus, cpu, now };
        match input.below(10) {
            0..=4 => {
                let (base, len) = windows[input.below(windows.len())];
                let size = input.of(&[Size::Word, Size::Byte, Size::Half, Size::Double]);
                let pa = base + u64::from(input.u32()) % len / size.bytes() * size.bytes();
                let what = input.u8();
                if what & 1 == 0 {
                    // Many registers hold an address.
                    let address = if what & 2 == 0 { 0 } else { place(&mut input) };
                    accesses.write(pa, size, address | input.value());
                } else {
                    accesses.read(pa, size);
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
            7 => {
                now = now.saturating_add(input.value() & 0x3_ffff_ffff);
                machine.board().input.push(input.bytes(4));
            }
            8 => {
                let (at, len) = (place(&mut input), input.u8());
                accesses.fill(at, input.bytes(len.into()));
            }
            _ => accesses.special(kind, &mut input),
        }
    }
    machine.run();
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

/// The windows' numbers in [`windows`].
mod window {
    pub const GICD: u8 = 0;
    pub const GICR_OR_GICC: u8 = 1;
    pub const UART: u8 = 2;
    pub const RTC: u8 = 3;
    pub const GPIO: u8 = 4;
    pub const DISK: u8 = 5;
    pub const ITS: u8 = 10;
    pub const FLASH_1: u8 = 11;
    pub const FW_CFG: u8 = 12;
}

/// A write. CPU, kind, window, size, offset (4), what it is, value.
fn write_as(size: u8, window: u8, offset: u32, value: u64) -> Vec<u8> {
    let mut bytes = vec![0, 0, window, size];
    bytes.extend(offset.to_le_bytes());
    bytes.extend([0, 2]);
    bytes.extend(value.to_le_bytes());
    bytes
}

fn write(window: u8, offset: u32, value: u64) -> Vec<u8> {
    write_as(0, window, offset, value)
}

fn write_double(window: u8, offset: u32, value: u64) -> Vec<u8> {
    write_as(3, window, offset, value)
}

/// CPU, kind, register (2), value, what.
fn system(reg: Reg, value: u64, what: u8) -> Vec<u8> {
    let mut bytes = vec![0, 5];
    bytes.extend((reg as u16).to_le_bytes());
    bytes.push(2);
    bytes.extend(value.to_le_bytes());
    bytes.push(what);
    bytes
}

/// What only this kind of board has.
fn special(bytes: &[u8]) -> Vec<u8> {
    [&[0, 9], bytes].concat()
}

/// An ITS with tables and a queue, LPIs 8192 and 8193, and commands of each kind.
fn its_seed() -> Vec<u8> {
    const VALID: u64 = 1 << 63;
    let page = |n: u64| PLACE + 0x1_0000 * n;
    let mut all = vec![
        write(window::GICD, 0, 3),
        system(Reg::ICC_PMR_EL1, 0xff, 1),
        system(Reg::ICC_IGRPEN1_EL1, 1, 1),
        // Memory: LPIs of priority 0x80, enabled, at page 3.
        [&[0, 8, 0x60, 4], [0x81; 4].as_slice()].concat(),
        write_double(window::ITS, 0x100, page(0) | VALID),
        write_double(window::ITS, 0x108, page(1) | VALID),
        write_double(window::ITS, 0x80, page(2) | VALID | 15),
    ];
    for cpu in 0..CPUS as u32 {
        let frame = cpu * map::GICR_STRIDE as u32;
        all.push(write_double(window::GICR_OR_GICC, frame + 0x70, page(3) | 15));
        all.push(write_double(window::GICR_OR_GICC, frame + 0x78, page(4 + u64::from(cpu))));
        all.push(write(window::GICR_OR_GICC, frame, 1));
    }
    all.push(write(window::ITS, 0, 1));
    // Number, device, event, INTID (2), and the third word: a collection (valid, at a PE, its number), or memory.
    let command = |number: u8, event: u8, intid: u16, third: &[u8]| {
        special(&[&[number, 1, event], intid.to_le_bytes().as_slice(), third].concat())
    };
    all.extend([
        command(0x09, 0, 0, &[0x80]),
        command(0x09, 0, 0, &[0x83]),
        command(0x08, 3, 0, &[1, 0xc0]),
        command(0x0a, 0, 8192, &[2]),
        command(0x0a, 1, 8193, &[2]),
        command(0x03, 0, 0, &[2]),
    ]);
    all.extend([0x01u8, 0x04, 0x05, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x77].map(|number| command(number, 1, 8193, &[3])));
    all.push(write(window::ITS, 0x1_0040, 0));
    all.push(system(Reg::ICC_IAR1_EL1, 0, 0));
    all.push(system(Reg::ICC_EOIR1_EL1, 8192, 1));
    all.concat()
}

/// A GICv2 that takes an SGI and an SPI.
fn v2_seed() -> Vec<u8> {
    // Register, write, value (2).
    let interface = |register: u8, value: u8| special(&[register, 1, value, 0]);
    let all = [
        write(window::GICD, 0, 3),
        interface(3, 0xf),
        interface(4, 0xff),
        write(window::GICD, 0x104, u64::MAX),
        write(window::GICD, 0x820, 0x0101_0101),
        write(window::GICD, 0x204, 4),
        write(window::GICD, 0xf00, 1 << 16 | 3),
        write(window::GICD, 0xf00, 2 << 24 | 5),
        special(&[0, 0]),
        interface(1, 3),
        special(&[0, 0]),
        interface(1, 5),
        special(&[0, 0]),
        interface(1, 34),
        interface(2, 34),
        special(&[7, 0]),
        special(&[6, 0]),
        write(window::GICR_OR_GICC, 0xd0, 1),
        write(window::GICD, 0xf10, 0x0101_0101),
        write(window::GICD, 0xf20, 0x0303_0303),
    ];
    all.concat()
}

/// Flash that is programmed, erased and locked, and transfers of the configuration device's.
fn firmware_seed() -> Vec<u8> {
    // Flash, bank, word (2), command, how many follow, each with where it goes.
    let flash = |bank: u8, command: u8, then: &[u8]| special(&[&[1, bank, 0, 0, command], then].concat());
    // Transfer, item (2), control, length (value), descriptor, memory, where.
    let transfer = |item: u16, control: u8, length: u8| {
        special(&[&[0], item.to_le_bytes().as_slice(), &[control, 69 + length, 4, 0, 8]].concat())
    };
    let all = [
        flash(1, 1, &[1, 0, 0]),
        flash(1, 2, &[1, 2, 100, 0]),
        flash(1, 0, &[4, 1, 1, 0, 2, 100, 0, 2, 101, 1, 0, 0]),
        flash(1, 3, &[1, 1, 1, 0]),
        flash(1, 1, &[1, 0, 0]),
        flash(0, 6, &[0]),
        flash(0, 5, &[0]),
        flash(0, 8, &[0]),
        write(window::FLASH_1, 0x100, 0x98),
        transfer(0x19, 8 | 2, 64),
        transfer(0, 2, 4),
        transfer(5, 8 | 4, 1),
        transfer(5, 8 | 16, 1),
        write_as(2, window::FW_CFG, 8, 0x1900),
        [0, 0, window::FW_CFG, 1, 0, 0, 0, 0, 1].to_vec(),
        write(window::FW_CFG, 0x10, 0),
        write(window::FW_CFG, 0x14, PLACE.swap_bytes() >> 32),
    ];
    all.concat()
}

fn seeds() -> Vec<Vec<u8>> {
    let virtio: Vec<u8> = [(0x70, 0), (0x70, 1), (0x70, 3), (0x24, 1), (0x20, 1), (0x70, 0xb), (0x30, 0), (0x38, 8)]
        .into_iter()
        .chain([(0x80, 0x4000_1000), (0x90, 0x4000_2000), (0xa0, 0x4000_3000), (0x44, 1), (0x70, 0xf), (0x50, 0)])
        .flat_map(|(offset, value)| write(window::DISK, offset, value))
        .collect();
    let gic = [
        write(window::GICD, 0, 0x13),
        write(window::GICD, 0x84, u64::MAX),
        write(window::GICD, 0x104, u64::MAX),
        write(window::GICR_OR_GICC, 0x14, 0),
        system(Reg::ICC_PMR_EL1, 0xff, 1),
        system(Reg::ICC_IGRPEN1_EL1, 1, 1),
        write(window::GICD, 0x204, 4),
        system(Reg::ICC_IAR1_EL1, 0, 0),
        system(Reg::ICC_EOIR1_EL1, 34, 1),
        system(Reg::ICH_HCR_EL2, 1, 5),
        system(Reg::ICH_LR0_EL2, 0x5000_0000_0000_0030, 5),
        system(Reg::ICC_IAR1_EL1, 0, 2),
    ];
    let small = [
        write(window::UART, 0x30, 0x301),
        write(window::UART, 0, 65),
        write(window::UART, 0x38, 0x7ff),
        write(window::RTC, 4, 1),
        write(window::RTC, 0x10, 1),
        write(window::GPIO, 0x410, 8),
    ];
    let on = |kind: Kind, accesses: &[u8]| [&[(kind as u8) << 2], accesses].concat();
    vec![
        on(Kind::V3, &virtio),
        on(Kind::V3, &gic.concat()),
        on(Kind::V3, &small.concat()),
        on(Kind::Its, &its_seed()),
        on(Kind::V2, &v2_seed()),
        on(Kind::Firmware, &firmware_seed()),
    ]
}
