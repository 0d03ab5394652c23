//! What `--kernel` and `--initrd` name: Images, ELFs and all that people take for one. What is loaded runs a little.

use machine::boot::Kernel;
use machine::{Machine, MachineConfig};

use super::guest::{self, ENTRY, MEMORY};
use crate::{Input, Target};

pub const TARGET: Target = Target { name: "kernel", run, seeds };

/// Sizes of RAM: what fits into one need not fit into the other.
const SIZES: [u64; 3] = [MEMORY, MEMORY + (64 << 10), 64 << 20];

fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let memory = input.of(&SIZES);
    let initrd = input.of(&[None, Some(1), Some(64 << 10), Some(12 << 20)]);
    let file = input.rest();
    let ram = 0x4000_0000..0x4000_0000 + memory;
    match Kernel::parse(file, memory) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(kernel) => {
            assert!(ram.contains(&kernel.start()) && kernel.end() <= ram.end, "a kernel outside RAM");
            for segment in &kernel.segments {
                assert!(segment.pa >= ram.start && segment.pa + segment.bytes.len() as u64 <= ram.end);
            }
            load(file, memory, initrd);
        }
    }
}

/// The whole way, by files.
fn load(file: &[u8], memory: u64, initrd: Option<u64>) {
    let directory = guest::directory();
    let kernel = directory.path().join("kernel");
    std::fs::write(&kernel, file).expect("a file");
    let initrd = initrd.map(|len| {
        let path = directory.path().join("initrd");
        std::fs::File::create(&path).and_then(|file| file.set_len(len)).expect("a file");
        path
    });
    let config =
        MachineConfig { kernel: Some(kernel), initrd, memory, max_insns: Some(500), ..MachineConfig::default() };
    if let Ok(mut machine) = Machine::from_config(&config, guest::options()) {
        machine.run();
        let symbols = symbols::Symbols::from_file(file).unwrap_or_default();
        for cpu in machine.diagnose(&symbols) {
            assert!(!cpu.to_string().is_empty());
        }
    }
}

/// An Image of a few words behind its header.
fn image(text_offset: u64, image_size: u64, flags: u64) -> Vec<u8> {
    let mut file = vec![0; 128];
    file[..4].copy_from_slice(&0x1400_0010u32.to_le_bytes());
    for (at, value) in [(8, text_offset), (16, image_size), (24, flags)] {
        file[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
    file[56..60].copy_from_slice(b"ARM\x64");
    file[64..68].copy_from_slice(&0x1400_0000u32.to_le_bytes());
    file
}

fn seeds() -> Vec<Vec<u8>> {
    let mut with_pe = image(0, 0x1000, 10);
    with_pe[..2].copy_from_slice(b"MZ");
    with_pe[60] = 64;
    with_pe[64..68].copy_from_slice(b"PE\0\0");
    with_pe[70] = 1;
    with_pe[84] = 4;
    let mut vmlinux = guest::elf(&[0x1400_0000; 32]);
    // Linux's own addresses, and an Image's header where its first bytes are.
    for at in [24, 80, 88] {
        vmlinux[at..at + 8].copy_from_slice(&0xffff_8000_8000_0000u64.to_le_bytes());
    }
    vmlinux[120..].copy_from_slice(&image(0, 0x1000, 10));
    let mut zboot = b"MZ\0\0zimg".to_vec();
    zboot.extend([0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    zboot.extend(b"gzip\0");
    zboot.resize(256, 0);
    let files = [
        guest::elf(&[0xd2b0_8000, 0xf280_0100, 0xd400_0003]),
        image(0x8_0000, 0, 0),
        image(0, 0x10_0000, 10),
        with_pe,
        vmlinux,
        zboot,
        b"\x1f\x8b\x08\0".to_vec(),
    ];
    assert_eq!(ENTRY, 0x4020_0000);
    files
        .into_iter()
        .flat_map(|file| [[&[0, 0], file.as_slice()].concat(), [&[2, 2], file.as_slice()].concat()])
        .collect()
}
