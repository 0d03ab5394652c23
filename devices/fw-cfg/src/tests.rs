use std::sync::Arc;

use arch::Pa;
use bus::Ram;
use virtio_mmio::testing::Random;

use super::*;

const BASE: u64 = 0x4000_0000;
const RAM: u64 = 1 << 20;
const DESCRIPTOR: u64 = BASE + 0x100;

struct Guest {
    device: FwCfg,
    memory: GuestMemory,
}

fn guest() -> Guest {
    // With flash behind RAM, which no transfer may reach.
    let ram = Arc::new(Ram::with_flash(RAM, 1 << 16).unwrap());
    let memory = GuestMemory::new(ram, Pa(BASE));
    let mut items = Items::new(4);
    items.set_kernel(b"kernel".as_slice(), Some(b"initrd!".as_slice().into()), "a=b");
    items.set_files(&[("etc/one", vec![1]), ("opt/two", vec![2; 300])]);
    Guest { device: FwCfg::new("fw-cfg", memory.clone(), items), memory }
}

impl Guest {
    fn load(&mut self, offset: u64, size: Size) -> u64 {
        self.device.read(MmioAccess { offset, size, cpu: 0, now: 0 }).unwrap()
    }
    fn store(&mut self, offset: u64, size: Size, value: u64) {
        self.device.write(MmioAccess { offset, size, cpu: 0, now: 0 }, value & size.mask()).unwrap();
    }
    fn select(&mut self, number: u16) {
        self.store(spec::SELECTOR, Size::Half, number.swap_bytes().into());
    }
    fn bytes(&mut self, number: u16, count: usize) -> Vec<u8> {
        self.select(number);
        (0..count).map(|_| self.load(spec::DATA, Size::Byte) as u8).collect()
    }
    /// Runs a transfer; gives its control word afterwards.
    fn transfer(&mut self, control: u32, length: u32, address: u64) -> u32 {
        let descriptor = [&control.to_be_bytes()[..], &length.to_be_bytes(), &address.to_be_bytes()].concat();
        self.memory.write(DESCRIPTOR, &descriptor).unwrap();
        self.store(spec::DMA, Size::Double, DESCRIPTOR.swap_bytes());
        let mut answer = [0; 4];
        self.memory.read(DESCRIPTOR, &mut answer).unwrap();
        u32::from_be_bytes(answer)
    }
    fn memory(&self, at: u64, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.memory.read(at, &mut bytes).unwrap();
        bytes
    }
}

#[test]
fn items_by_the_register() {
    let mut g = guest();
    assert_eq!(g.bytes(item::SIGNATURE, 6), b"QEMU\0\0");
    assert_eq!(g.bytes(item::ID, 4), [3, 0, 0, 0]);
    assert_eq!(g.bytes(item::CPUS, 2), [4, 0]);
    assert_eq!(g.bytes(item::KERNEL_SIZE, 4), [6, 0, 0, 0]);
    g.select(item::KERNEL);
    assert_eq!(g.load(spec::DATA, Size::Word).to_le_bytes()[..4], *b"kern");
    assert_eq!(g.load(spec::DATA, Size::Double).to_le_bytes(), *b"el\0\0\0\0\0\0");
    assert_eq!(g.bytes(item::INITRD, 7), b"initrd!");
    assert_eq!((g.bytes(item::COMMAND_LINE_SIZE, 1), g.bytes(item::COMMAND_LINE, 5)), (vec![4], b"a=b\0\0".to_vec()));
    assert_eq!(g.bytes(0x7777, 3), [0; 3], "no such item");
    assert_eq!(g.load(spec::DMA, Size::Double).to_le_bytes(), spec::DMA_SIGNATURE);
    assert_eq!(g.load(spec::DMA_LOW, Size::Word).to_le_bytes()[..4], *b" CFG");
}

#[test]
fn the_directory() {
    let mut g = guest();
    let directory = g.bytes(item::DIRECTORY, 4 + 2 * 64);
    assert_eq!(directory[..4], [0, 0, 0, 2]);
    let second = &directory[4 + 64..];
    assert_eq!(second[..8], [0, 0, 1, 44, 0, 0x21, 0, 0]);
    assert_eq!(second[8..16], *b"opt/two\0");
    assert_eq!(g.bytes(0x21, 1), [2]);
    assert_eq!(Items::new(1), Items::new(1));
    let mut guest = Guest { device: FwCfg::new("", g.memory.clone(), Items::new(1)), memory: g.memory.clone() };
    assert_eq!(guest.bytes(item::DIRECTORY, 5), [0; 5]);
}

#[test]
fn transfers() {
    let mut g = guest();
    let to = BASE + 0x2000;
    let select = |number: u16| u32::from(number) << 16 | dma::SELECT;
    g.memory.write(to, &[9; 16]).unwrap();
    assert_eq!(g.transfer(select(item::INITRD) | dma::READ, 9, to), 0);
    assert_eq!(g.memory(to, 10), b"initrd!\0\0\x09");
    assert_eq!(g.transfer(select(item::KERNEL) | dma::SKIP, 3, 0), 0);
    assert_eq!(g.transfer(dma::READ, 3, to), 0);
    assert_eq!(g.memory(to, 4), b"nelt");
    assert_eq!(g.transfer(select(item::SIGNATURE), 0, 0), 0, "a selection alone");
    assert_eq!(g.transfer(dma::READ, 0, to), 0, "nothing at all");
    // The address by halves.
    let descriptor =
        [&(select(item::KERNEL) | dma::READ).to_be_bytes()[..], &1u32.to_be_bytes(), &to.to_be_bytes()].concat();
    g.memory.write(DESCRIPTOR, &descriptor).unwrap();
    g.store(spec::DMA, Size::Word, 0);
    g.store(spec::DMA_LOW, Size::Word, u64::from((DESCRIPTOR as u32).swap_bytes()));
    assert_eq!(g.memory(DESCRIPTOR, 4), [0; 4]);
    // Not in RAM, not wholly, round the end of addresses; writing.
    for (address, length) in [(0, 4), (BASE + RAM - 3, 4), (BASE + RAM, 1), (u64::MAX - 1, 4), (BASE, u32::MAX)] {
        assert_eq!(
            g.transfer(select(item::KERNEL) | dma::READ, length, address),
            dma::ERROR,
            "{length} at {address:#x}"
        );
    }
    assert_eq!(g.transfer(select(item::KERNEL) | dma::WRITE, 4, to), dma::ERROR);
    assert_eq!(g.bytes(item::KERNEL, 6), b"kernel");
    assert_eq!(g.memory(BASE + RAM - 3, 3), [0; 3]);
    // A descriptor that is not in RAM: nothing happens.
    for at in [0, BASE + RAM - 15, u64::MAX] {
        g.store(spec::DMA, Size::Double, at.swap_bytes());
    }
}

#[test]
fn snapshots_hold_the_items() {
    let mut first = guest();
    first.bytes(item::KERNEL, 2);
    first.store(spec::DMA, Size::Word, 0x1234);
    let mut bytes = Vec::new();
    first.device.persist(&mut Codec::save(&mut bytes)).unwrap();
    let mut second =
        Guest { device: FwCfg::new("fw-cfg", first.memory.clone(), Items::new(1)), memory: first.memory.clone() };
    let mut codec = Codec::load(&bytes);
    second.device.persist(&mut codec).unwrap();
    codec.finish().unwrap();
    assert_eq!(second.device.items, first.device.items);
    assert_eq!((second.load(spec::DATA, Size::Byte), second.device.high), (b'r'.into(), first.device.high));
    for cut in 0..bytes.len() {
        let mut device = FwCfg::new("fw-cfg", first.memory.clone(), Items::new(1));
        assert!(device.persist(&mut Codec::load(&bytes[..cut])).is_err());
    }
}

#[test]
fn junk() {
    let seed = 0x5eed_fcf6_u64;
    println!("seed {seed:#x}");
    let mut g = guest();
    let mut random = Random::new(seed);
    let mut answers = [0; 2];
    for _ in 0..20_000 {
        let size = random.of(&[Size::Byte, Size::Half, Size::Word, Size::Double]);
        let offset = random.below(spec::LEN);
        match random.below(4) {
            0 => drop(g.load(offset, size)),
            1 => g.store(offset, size, random.clone().word()),
            _ => {
                let number = random.of(&[item::KERNEL, item::DIRECTORY, 0x21, 0xffff, item::ID]);
                let control = u32::from(number) << 16 | random.below(32) as u32;
                let length = random.of(&[0, 1, 17, 4096, RAM as u32, u32::MAX]);
                let (inside, any) = (random.below(RAM), random.word());
                let address = random.of(&[BASE, BASE + inside, BASE + RAM - 1, 0, any]);
                answers[g.transfer(control, length, address) as usize & 1] += 1;
            }
        }
    }
    assert!(answers.iter().all(|n| *n > 500), "{answers:?}");
}
