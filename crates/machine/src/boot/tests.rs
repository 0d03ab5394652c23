use std::fs;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

const RAM: u64 = 64 << 20;
const RAM_END: u64 = RAM_BASE + RAM;

/// An Image of `len` bytes that takes `image_size`, with an EFI stub whose last section ends at `len`.
fn image(len: usize, text_offset: u64, image_size: u64) -> Vec<u8> {
    let mut file = vec![0xd5; len.max(512)];
    file[..512].fill(0);
    file[..2].copy_from_slice(b"MZ");
    file[8..16].copy_from_slice(&text_offset.to_le_bytes());
    file[16..24].copy_from_slice(&image_size.to_le_bytes());
    file[24..32].copy_from_slice(&0xau64.to_le_bytes());
    file[56..60].copy_from_slice(b"ARM\x64");
    file[60..64].copy_from_slice(&64u32.to_le_bytes());
    file[64..68].copy_from_slice(b"PE\0\0");
    file[68..70].copy_from_slice(&0xaa64u16.to_le_bytes());
    file[70..72].copy_from_slice(&1u16.to_le_bytes());
    // One section, behind 24 bytes of headers: SizeOfRawData, PointerToRawData.
    file[88 + 16..88 + 20].copy_from_slice(&(len as u32 - 256).to_le_bytes());
    file[88 + 20..88 + 24].copy_from_slice(&256u32.to_le_bytes());
    file.truncate(len);
    file
}

/// One PT_LOAD: vaddr, paddr, file bytes, memory bytes.
type Load<'a> = (u64, u64, &'a [u8], u64);

fn elf(machine: u16, entry: u64, loads: &[Load]) -> Vec<u8> {
    let mut file = vec![0; 64 + 56 * loads.len()];
    file[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    put(16, &2u16.to_le_bytes());
    put(18, &machine.to_le_bytes());
    put(20, &1u32.to_le_bytes());
    put(24, &entry.to_le_bytes());
    put(32, &64u64.to_le_bytes());
    put(52, &64u16.to_le_bytes());
    put(54, &56u16.to_le_bytes());
    put(56, &(loads.len() as u16).to_le_bytes());
    let mut content = Vec::new();
    for (n, (vaddr, paddr, bytes, len)) in loads.iter().enumerate() {
        let at = 64 + 56 * n;
        let offset = (64 + 56 * loads.len() + content.len()) as u64;
        put(at, &1u32.to_le_bytes());
        for (field, value) in [offset, *vaddr, *paddr, bytes.len() as u64, *len].into_iter().enumerate() {
            put(at + 8 + 8 * field, &value.to_le_bytes());
        }
        content.extend_from_slice(bytes);
    }
    file.extend(content);
    file
}

/// Files of a test.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

fn config(files: &Files, kernel: &[u8]) -> MachineConfig {
    MachineConfig { kernel: Some(files.put("kernel", kernel)), memory: RAM, ..MachineConfig::default() }
}

fn bytes(ram: &Ram, pa: u64, len: usize) -> Vec<u8> {
    let mut out = vec![0; len];
    ram.read_bytes(pa - RAM_BASE, &mut out).unwrap();
    out
}

fn word(ram: &Ram, pa: u64) -> u32 {
    u32::from_be_bytes(bytes(ram, pa, 4).try_into().unwrap())
}

fn initrd_of(ram: &Ram, dtb: u64) -> (u64, u64) {
    use dtoolkit::{Node, Property};
    let blob = bytes(ram, dtb, word(ram, dtb + 4) as usize);
    let fdt = dtoolkit::fdt::Fdt::new(&blob).unwrap();
    let chosen = fdt.find_node("/chosen").unwrap();
    let get = |name| chosen.property(name).unwrap().value_as::<u64>().unwrap();
    (get("linux,initrd-start"), get("linux,initrd-end"))
}

#[test]
fn an_image() {
    let files = Files::new();
    let kernel = image(5000, 0x8_0000, 3 << 20);
    let initrd = files.put("initrd", b"initrd content");
    let ram = Ram::new(RAM).unwrap();
    let entry = load(&MachineConfig { initrd: Some(initrd), ..config(&files, &kernel) }, &ram).unwrap();
    assert_eq!(entry, Entry { pc: Pa(0x4008_0000), dtb: Pa(0x4040_0000), kind: Kind::Image });
    assert_eq!(bytes(&ram, 0x4008_0000, 5000), kernel);
    assert_eq!(word(&ram, entry.dtb.0), 0xd00d_feed);
    let (start, end) = initrd_of(&ram, entry.dtb.0);
    assert_eq!((start, end - start), (0x4060_0000, 14));
    assert_eq!(bytes(&ram, start, 14), b"initrd content");
}

#[test]
fn an_image_from_before_image_size() {
    let kernel = image(5000, 0x1234, 0);
    let kernel = Kernel::parse(&kernel, RAM).unwrap();
    assert_eq!((kernel.entry, kernel.end()), (0x4008_0000, 0x4008_0000 + 10000));
}

#[test]
fn an_elf() {
    let files = Files::new();
    let kernel = elf(183, 0x8_1004, &[(0x8_1000, 0x4008_1000, b"code and data", 0x1000), (0, 0x4010_0000, b"x", 1)]);
    let ram = Ram::new(RAM).unwrap();
    let entry = load(&config(&files, &kernel), &ram).unwrap();
    // The device tree is where bare-metal programs of the board look for it.
    assert_eq!(entry, Entry { pc: Pa(0x4008_1004), dtb: Pa(RAM_BASE), kind: Kind::Elf });
    assert_eq!(bytes(&ram, 0x4008_1000, 14), b"code and data\0");
    assert_eq!(word(&ram, RAM_BASE), 0xd00d_feed);
}

#[test]
fn an_elf_at_the_start_of_ram() {
    let files = Files::new();
    let kernel = elf(183, RAM_BASE, &[(RAM_BASE, RAM_BASE, b"code", 4)]);
    let ram = Ram::new(RAM).unwrap();
    assert_eq!(load(&config(&files, &kernel), &ram).unwrap().dtb, Pa(RAM_BASE + MIB_2));
}

#[test]
fn linux_as_an_elf() {
    let text = 0xffff_8000_0800_0000;
    let head = image(4096, 0, 1 << 20);
    let kernel = elf(183, text + 64, &[(text, text, &head, 4096), (text + 0x1_0000, text + 0x1_0000, b"data", 8192)]);
    let kernel = Kernel::parse(&kernel, RAM).unwrap();
    assert_eq!((kernel.kind, kernel.entry), (Kind::Vmlinux, RAM_BASE + 64));
    assert_eq!(kernel.segments[1].pa, RAM_BASE + 0x1_0000);
    assert_eq!(kernel.end(), RAM_BASE + 0x1_2000);
}

#[test]
fn a_users_device_tree() {
    let files = Files::new();
    let user = fdt::generate(&Description {
        preset: "other",
        cpus: 2,
        memory: 32 << 20,
        topology: &crate::Topology::default(),
        bootargs: "mine",
        initrd: None,
        firmware: Firmware::StoodInFor,
        seed: 0,
        hypervisor: fdt::Hypervisor::Absent,
        monitors: fdt::Monitors::Absent,
        controller: crate::Controller::default(),
    });
    let dtb = Some(files.put("dtb", &user));
    let initrd = Some(files.put("initrd", b"i"));
    let ram = Ram::new(RAM).unwrap();
    let kernel = image(4096, 0, 4096);
    let entry = load(&MachineConfig { initrd, dtb, ..config(&files, &kernel) }, &ram).unwrap();
    let blob = bytes(&ram, entry.dtb.0, word(&ram, entry.dtb.0 + 4) as usize);
    let text = fdt::dump(&blob).unwrap();
    assert!(text.contains("bootargs = \"mine\"") && text.contains("arm,armv8\""), "{text}");
    assert_eq!(initrd_of(&ram, entry.dtb.0).0, RAM_BASE + 2 * MIB_2);
}

/// A file that is no kernel, and what its message must say.
#[test]
fn foreign_kernels() {
    let at = |place: usize, magic: &[u8]| {
        let mut file = vec![0; 1024];
        file[place..place + magic.len()].copy_from_slice(magic);
        file
    };
    let mut zboot = at(0, b"MZ\0\0zimg\x00\x10\0\0\x00\x20\0\0");
    zboot[24..28].copy_from_slice(b"gzip");
    let mut x86 = at(0x202, b"HdrS");
    x86[..2].copy_from_slice(b"MZ");
    let mut pe = at(64, b"PE\0\0\x64\x86");
    pe[..2].copy_from_slice(b"MZ");
    pe[60] = 64;
    let code: &[Load] = &[(RAM_BASE, RAM_BASE, b"code", 4)];
    let elf_with = |place: usize, value: u8| {
        let mut file = elf(183, RAM_BASE, code);
        file[place] = value;
        file
    };
    let mut big_endian = image(4096, 0, 4096);
    big_endian[24] |= 1;
    let whole = image(4096, 0, 8192);
    let elf_load = |load: Load| elf(183, load.0, &[load]);
    let cases: Vec<(Vec<u8>, &[&str])> = vec![
        (x86, &["x86", "bzImage"]),
        (at(0, b"\x1f\x8b\x08"), &["gzip", "gunzip"]),
        (at(0, b"\xfd7zXZ\0"), &["xz"]),
        (at(0, b"\x28\xb5\x2f\xfd"), &["zstd"]),
        (zboot, &["zboot", "tail -c +4097 FILE | head -c 8192 | gunzip"]),
        (pe, &["PE", "x86-64"]),
        (at(0x24, b"\x18\x28\x6f\x01"), &["32-bit Arm"]),
        (at(56, b"RSC\x05"), &["RISC-V"]),
        (at(0, b"\x27\x05\x19\x56"), &["U-Boot"]),
        (at(0, b"\xd0\x0d\xfe\xed"), &["device tree", "--dtb"]),
        (at(0, b"070701"), &["cpio", "--initrd"]),
        (b"#!/bin/sh\n".to_vec(), &["script"]),
        (b"hello".to_vec(), &["neither an arm64 Linux Image nor an AArch64 ELF", "68, 65"]),
        (vec![0], &["neither"]),
        (elf(62, RAM_BASE, code), &["ELF for x86-64, not for AArch64"]),
        (elf(40, RAM_BASE, code), &["32-bit Arm"]),
        (elf_with(4, 1), &["AArch64, 32-bit"]),
        (elf_with(5, 2), &["big-endian"]),
        (elf_with(16, 1), &["relocatable object"]),
        (elf_with(16, 4), &["core dump"]),
        (elf_with(16, 9), &["type 0x9"]),
        (elf_with(56, 0), &["without anything to load"]),
        (elf_with(56, 99), &["truncated ELF"]),
        (b"\x7fELF\x02\x01".to_vec(), &["truncated ELF"]),
        (b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xb7\0".to_vec(), &["malformed ELF"]),
        (elf(183, RAM_BASE, code)[..121].to_vec(), &["truncated ELF", "byte 124", "has 121"]),
        (elf_load((RAM_BASE, RAM_BASE, b"code", 2)), &["malformed ELF", "2 bytes has 4"]),
        (elf_load((0, 0, b"code", 4)), &["0x0 is not within RAM", "0x40000000 to 0x44000000"]),
        (elf_load((RAM_BASE, RAM_BASE, b"code", RAM + 1)), &["67108865 bytes", "--memory"]),
        (elf_load((RAM_END - 2, RAM_END - 2, b"code", 4)), &["0x43fffffe"]),
        (elf_load((1, RAM_BASE, b"code", u64::MAX)), &["not within RAM"]),
        (elf_load((!0 << 20, !0 << 20, b"code", 4)), &["virtual addresses", "0xfffffffffff00000"]),
        (elf(183, RAM_BASE + 4, code), &["entry point 0x40000004"]),
        (big_endian, &["big-endian"]),
        (whole[..60].to_vec(), &["truncated", "64 bytes", "has 60"]),
        (whole[..80].to_vec(), &["truncated", "has 80"]),
        (whole[..4095].to_vec(), &["truncated", "needs 4096 bytes", "has 4095"]),
        (image(4096, 0, RAM + 1), &["67108865 bytes", "RAM has 67108864", "--memory"]),
        (image(4096, u64::MAX, 4096), &["18446744073709551615 bytes", "--memory"]),
    ];
    for (file, parts) in cases {
        let message = Kernel::parse(&file, RAM).unwrap_err().to_string();
        for part in parts {
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
    }
}

/// What is wrong with a file that a flag names, and what the message must say.
#[test]
fn files() {
    let files = Files::new();
    let ram = Ram::new(RAM).unwrap();
    let good = config(&files, &image(4096, 0, 4096));
    let full = config(&files, &image(4096, 0, 4096));
    let full = MachineConfig { kernel: Some(files.put("full", &image(4096, 0, RAM))), ..full };
    let empty = Some(files.put("empty", b""));
    let missing = Some(files.0.path().join("missing"));
    let directory = Some(files.0.path().to_owned());
    let device = Some(PathBuf::from("/dev/zero"));
    let large = Some(files.put("large", &vec![1; (RAM - 2 * MIB_2) as usize + 1]));
    let larger = Some(files.put("larger", &vec![1; RAM as usize + 1]));
    let text = Some(files.put("text", b"/dts-v1/;"));
    let good = |change: &dyn Fn(&mut MachineConfig)| {
        let mut config = good.clone();
        change(&mut config);
        config
    };
    let cases: Vec<(MachineConfig, &[&str])> = vec![
        (good(&|c| c.kernel = None), &["--kernel FILE"]),
        (good(&|c| c.kernel = missing.clone()), &["--kernel", "missing", "No such file"]),
        (good(&|c| c.kernel = directory.clone()), &["--kernel", "directory"]),
        (good(&|c| c.kernel = device.clone()), &["--kernel /dev/zero", "not a file"]),
        (good(&|c| c.kernel = empty.clone()), &["--kernel", "empty: the file is empty"]),
        (good(&|c| c.kernel = text.clone()), &["--kernel", "text", "neither"]),
        (good(&|c| c.initrd = missing.clone()), &["--initrd", "No such file"]),
        (good(&|c| c.initrd = empty.clone()), &["--initrd", "the file is empty"]),
        (good(&|c| c.initrd = large.clone()), &["--initrd", "62914561 bytes", "only 62914560", "--memory"]),
        (good(&|c| c.initrd = larger.clone()), &["--initrd", "larger than 67108864 bytes"]),
        (good(&|c| c.dtb = missing.clone()), &["--dtb", "No such file"]),
        (good(&|c| c.dtb = text.clone()), &["--dtb", "not a device tree", "dtc -O dtb"]),
        (good(&|c| c.dtb = c.kernel.clone()), &["--dtb", "not a device tree", "0x4d5a0000"]),
        (good(&|c| c.dtb = large.clone()), &["--dtb", "larger than 2097152"]),
        (full, &["no room for the device tree", "--memory"]),
    ];
    for (config, parts) in cases {
        let message = load(&config, &ram).unwrap_err().to_string();
        for part in parts {
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever a file holds, it is laid out within RAM or refused.
    #[test]
    fn any_file(base in 0usize..4, cut in any::<prop::sample::Index>(), noise in prop::collection::vec(any::<u8>(), 0..600),
                edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6)) {
        let text = 0xffff_8000_0800_0000;
        let mut file = match base {
            0 => image(1024, 0x8_0000, 2048),
            1 => elf(183, RAM_BASE, &[(RAM_BASE, RAM_BASE, &noise, 600), (0, RAM_BASE + 4096, b"x", 9)]),
            2 => elf(183, text, &[(text, text, &image(512, 0, 512), 1024)]),
            _ => noise,
        };
        let headers = file.len().min(176);
        if headers > 0 {
            for (index, byte) in edits {
                file[index.index(headers)] = byte;
            }
        }
        if cut.index(3) == 0 && !file.is_empty() {
            file.truncate(cut.index(file.len()));
        }
        if let Ok(kernel) = Kernel::parse(&file, RAM) {
            prop_assert!(kernel.start() >= RAM_BASE && kernel.end() <= RAM_END);
            prop_assert!((RAM_BASE..RAM_END).contains(&kernel.entry));
            for segment in &kernel.segments {
                prop_assert!(segment.bytes.len() as u64 <= segment.len);
            }
        }
    }
}
