//! `--run bad-input`: device trees, initramfs archives, programs and failures of the kernel that make no sense. Each ends with
//! one message and one exit status, and nothing goes on behind it.

mod fdt;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};

use super::program;
use crate::boot::{self, Boot, Echo, Level, Machine};
use crate::guests::{File, kernel_initramfs};
use fdt::Tree;

/// Its name on the command line.
pub const NAME: &str = "bad-input";

/// What the kernel ends with where it cannot boot or start the first program.
const CANNOT: i32 = 1;
/// What a panic ends with, and one within a panic.
const PANIC: i32 = 101;
const PANIC_TWICE: i32 = 102;

/// What is given to the kernel, and how it ends.
struct Case {
    name: String,
    given: Given,
    /// A part of a line of the console.
    message: String,
    status: i32,
}

enum Given {
    /// In place of the machine's; `None`: nothing, X0 is 0.
    DeviceTree(Option<Vec<u8>>),
    Initramfs(Vec<u8>),
    Words(String),
}

/// Runs it; a line about how it went.
pub fn check(image: &Path, echo: Echo) -> Result<String> {
    let mut facts = Vec::new();
    let mut table = Vec::new();
    for (machine, level) in [
        (Machine::Vambrace, Level::El1),
        (Machine::Vambrace, Level::El2),
        (Machine::Qemu, Level::El1),
        (Machine::Qemu, Level::El2),
    ] {
        // On the board HVC reaches the machine's firmware from EL1, SMC from EL2.
        let psci = if level == Level::El1 { "hvc" } else { "smc" };
        let cases = [device_trees(psci), archives()?, programs()?, failures()].concat_cases();
        let failed: Vec<String> = cases
            .iter()
            .filter_map(|case| {
                let error = run(image, case, machine, level, echo).err()?;
                Some(format!("{} on {} {level:?}: {error:#}", case.name, machine.name()))
            })
            .collect();
        ensure!(failed.is_empty(), "{}", failed.join("\n"));
        if table.is_empty() {
            for case in &cases {
                table.push(format!("  {:<44} => {} ({})", case.name, case.message, case.status));
            }
        }
        facts.push(format!("{} {level:?} {}", machine.name(), cases.len()));
    }
    println!("{}", table.join("\n"));
    Ok(format!("{NAME}: cases that end as they should: {}", facts.join(", ")))
}

/// All of them, one behind the other.
trait ConcatCases {
    fn concat_cases(self) -> Vec<Case>;
}
impl<const N: usize> ConcatCases for [Vec<Case>; N] {
    fn concat_cases(self) -> Vec<Case> {
        self.into_iter().flatten().collect()
    }
}

fn case(name: &str, given: Given, message: &str, status: i32) -> Case {
    Case { name: name.to_owned(), given, message: message.to_owned(), status }
}

fn device_trees(psci: &'static str) -> Vec<Case> {
    let right = || Tree::right(psci);
    let tree = |name: &str, change: &dyn Fn(&mut Tree), message: &str| {
        let mut tree = right();
        change(&mut tree);
        case(&format!("tree: {name}"), Given::DeviceTree(Some(tree.blob())), message, CANNOT)
    };
    let blob = |name: &str, change: &dyn Fn(&mut Vec<u8>), message: &str| {
        let mut blob = right().blob();
        change(&mut blob);
        case(&format!("tree: {name}"), Given::DeviceTree(Some(blob)), message, CANNOT)
    };
    let put = |blob: &mut Vec<u8>, at: usize, word: u32| blob[at..at + 4].copy_from_slice(&word.to_be_bytes());
    let malformed = "cannot boot: the device tree is malformed";
    let mut right_one = tree("right", &|_| {}, "no initramfs, so there is nothing to run");
    right_one.status = 0;
    vec![
        right_one,
        case("tree: none", Given::DeviceTree(None), malformed, CANNOT),
        blob("cut in the middle", &|blob| blob.truncate(300), malformed),
        blob("size of 8 bytes", &|blob| put(blob, 4, 8), malformed),
        blob("size of 4 GiB", &|blob| put(blob, 4, u32::MAX), malformed),
        blob("structure behind the end", &|blob| put(blob, 8, 0x10_0000), malformed),
        blob("no magic", &|blob| put(blob, 0, 0x1234_5678), malformed),
        blob("zeros behind the header", &|blob| blob[56..].fill(0), "cannot boot: the device tree"),
        tree("no memory", &|tree| tree.memory.clear(), "the device tree has no usable memory"),
        tree("memory of no size", &|tree| tree.memory[0].1 = 0, "cannot boot: "),
        tree("memory that wraps", &|tree| tree.memory[0].1 = u64::MAX, "no usable range (it wraps)"),
        tree(
            "memory twice",
            &|tree| tree.memory.push((0x4800_0000, 0x800_0000)),
            "two entries of memory at 0x48000000",
        ),
        tree("all memory reserved", &|tree| tree.reserved.push((0, 1 << 40)), "cannot boot: too little RAM"),
        tree("too many ranges", &|tree| tree.reserved = vec![(0, 16); 99], "more entries than the kernel has room for"),
        tree("no CPU", &|tree| tree.cpus.clear(), "the device tree has no usable cpus"),
        tree("a CPU twice", &|tree| tree.cpus = vec![0, 1, 1], "two entries of cpu at 0x1"),
        tree("no GIC", &|tree| tree.gic = None, "the device tree has no usable GICv3"),
        tree("GIC of no size", &|tree| tree.gic = Some([(0x800_0000, 0), (0x80a_0000, 0)]), "no usable GICv3"),
        tree(
            "redistributors nowhere",
            &|tree| tree.gic = Some([(0x800_0000, 0x1_0000), (1 << 60, 0x2_0000)]),
            "are nowhere",
        ),
        tree("PSCI by magic", &|tree| tree.psci = Some("magic"), "no usable method of PSCI"),
        tree("initramfs behind RAM", &|tree| tree.initrd = Some((1 << 40, (1 << 40) + 4096)), "is not in RAM"),
        tree(
            "initramfs of less than nothing",
            &|tree| tree.initrd = Some((0x4900_0000, 0x4800_0000)),
            "it ends before it starts",
        ),
        tree("no console, no memory", &|tree| (tree.has_uart, tree.memory) = (false, Vec::new()), "no usable memory"),
    ]
}

/// An entry of a "newc" archive.
fn entry(name: &[u8], mode: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = b"070701".to_vec();
    for field in [1, mode, 0, 0, 1, 0, body.len() as u32, 0, 0, 5, 1, name.len() as u32 + 1, 0] {
        bytes.extend(format!("{field:08x}").bytes());
    }
    bytes.extend(name);
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes.extend(body);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn archives() -> Result<Vec<Case>> {
    const DIRECTORY: u32 = 0o040_755;
    const PROGRAM: u32 = 0o100_755;
    let hello = fs::read(program::build("hello")?)?;
    let end = || entry(b"TRAILER!!!", 0, b"");
    let archive = |name: &str, bytes: Vec<u8>, message: &str| {
        case(&format!("archive: {name}"), Given::Initramfs(bytes), message, CANNOT)
    };
    let with = |entries: &[Vec<u8>]| [entries.concat(), end()].concat();
    let whole = with(&[entry(b"init", PROGRAM, &hello)]);
    let no_use = "the initramfs is no use: ";
    Ok(vec![
        archive("cut", whole[..whole.len() / 2].to_vec(), &format!("{no_use}it ends within an entry")),
        archive("nonsense", b"nonsense".repeat(1000), &format!("{no_use}no newc header at offset 0")),
        archive("gzip", [&[0x1f, 0x8b, 8][..], &[0; 997]].concat(), "it is compressed"),
        archive("xz", [&b"\xfd7zXZ\0"[..], &[0; 994]].concat(), "it is compressed"),
        archive("empty", vec![0; 512], "the first program cannot start: ENOENT|/init cannot be run: ENOENT"),
        archive("a long name", with(&[entry(&[b'n'; 5000], PROGRAM, b"")]), &format!("{no_use}the entry at offset 0")),
        archive("a name with ..", with(&[entry(b"../init", PROGRAM, &hello)]), "cannot be made (EINVAL)"),
        archive("a file as a directory", with(&[entry(b"a", PROGRAM, b""), entry(b"a/b", PROGRAM, b"")]), "ENOTDIR"),
        archive("a name in no directory", with(&[entry(b"no/where", PROGRAM, b"")]), "cannot be made (ENOENT)"),
        archive("no /init", with(&[entry(b"dev", DIRECTORY, b"")]), "/init cannot be run: ENOENT"),
        archive("/init is a directory", with(&[entry(b"init", DIRECTORY, b"")]), "/init cannot be run: EACCES"),
        archive("/init is a device", with(&[entry(b"init", 0o020_755, b"")]), "/init cannot be run: EACCES"),
        archive("/init is not executable", with(&[entry(b"init", 0o100_644, &hello)]), "/init cannot be run: EACCES"),
        archive("/init is a link to itself", with(&[entry(b"init", 0o120_777, b"init")]), "/init cannot be run: ELOOP"),
    ])
}

fn programs() -> Result<Vec<Case>> {
    let hello = fs::read(program::build("hello")?)?;
    let init = |name: &str, contents: Vec<u8>, message: &str, status: i32| {
        let file = File::executable("init", contents);
        case(&format!("program: {name}"), Given::Initramfs(kernel_initramfs(None, &[file])), message, status)
    };
    // Places in the header and the first program header (System V ABI, chapters 4 and 5).
    let changed = |name: &str, at: usize, value: &[u8], message: &str, status: i32| {
        let mut bytes = hello.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        init(name, bytes, message, status)
    };
    let headers = u64::from_le_bytes(hello[32..40].try_into()?) as usize;
    let no_program = "/init cannot be run: ENOEXEC";
    Ok(vec![
        init("empty", Vec::new(), no_program, CANNOT),
        init("cut in the header", hello[..40].to_vec(), no_program, CANNOT),
        init("cut in the program headers", hello[..headers + 30].to_vec(), no_program, CANNOT),
        changed("of another machine", 18, &[62], no_program, CANNOT),
        changed("of 32 bits", 4, &[1], no_program, CANNOT),
        changed("entry in no segment", 24, &0x7777_7777_7000u64.to_le_bytes(), "killed by signal 11", 139),
        changed("entry in the kernel", 24, &0xffff_0000_0000_0000u64.to_le_bytes(), "killed by signal 11", 139),
        changed("program headers nowhere", 32, &u64::MAX.to_le_bytes(), no_program, CANNOT),
        changed("65535 program headers", 56, &[0xff, 0xff], no_program, CANNOT),
        changed("segment of 2^63 bytes", headers + 40, &(1u64 << 63).to_le_bytes(), no_program, CANNOT),
        changed("segment larger in the file", headers + 32, &(1u64 << 40).to_le_bytes(), no_program, CANNOT),
        changed("segment in the kernel", headers + 16, &0xffff_0000_0000_0000u64.to_le_bytes(), no_program, CANNOT),
        init("script of itself", b"#!/init\n".to_vec(), "/init cannot be run: ELOOP", CANNOT),
        init("script of nothing", b"#!\n".to_vec(), no_program, CANNOT),
        init("script of what there is not", b"#!/bin/none\n".to_vec(), "/init cannot be run: ENOENT", CANNOT),
    ])
}

fn failures() -> Vec<Case> {
    let words = |crash: &str, message: &str, status| {
        case(&format!("failure: {crash}"), Given::Words(format!("crash={crash}")), message, status)
    };
    vec![
        words("panic", "vambrace-kernel: CPU 0: panicked", PANIC),
        words("twice", "vambrace-kernel: panic within a panic", PANIC_TWICE),
        words("stack", "the kernel's stack is too deep", PANIC),
        words("other", "vambrace-kernel: CPU 1: panicked", PANIC),
        words("other-stack", "the kernel's stack is too deep", PANIC),
        words("memory", "memory allocation of", PANIC),
    ]
}

fn run(image: &Path, case: &Case, machine: Machine, level: Level, echo: Echo) -> Result<()> {
    let scratch = |name: &str| boot::scratch(&format!("kernel-bad-{name}"));
    let (kernel, initrd, words): (PathBuf, Option<PathBuf>, &str) = match &case.given {
        Given::DeviceTree(blob) => {
            let path = scratch("Image")?;
            fs::write(&path, with_device_tree(&fs::read(image)?, blob.as_deref()))?;
            (path, None, "")
        }
        Given::Initramfs(bytes) => {
            let path = scratch("initramfs")?;
            fs::write(&path, bytes)?;
            (image.to_path_buf(), Some(path), "")
        }
        Given::Words(words) => (image.to_path_buf(), None, words),
    };
    let mut boot = Boot::of(&kernel, initrd.as_deref(), words);
    boot.cpus = 2;
    boot.cpu = Some("max");
    boot.level = level;
    boot.memory = 256;
    boot.semihosting = true;
    boot.max_insns = Some(200_000_000);
    boot.limit = Duration::from_secs(60);
    let outcome = boot.run(machine, echo)?;
    outcome.expect_status(case.status)?;
    let is_said = |message: &str| outcome.line_with(message).is_some();
    ensure!(case.message.split('|').any(is_said), "nobody says \"{}\"\n{}", case.message, outcome.report());
    Ok(())
}

/// An Image that begins the kernel's with that device tree, wherever it is loaded.
fn with_device_tree(kernel: &[u8], blob: Option<&[u8]>) -> Vec<u8> {
    const TREE: usize = 4096;
    const KERNEL: usize = 2 << 20;
    let mut image = vec![0; KERNEL];
    let size = KERNEL + (64 << 20);
    let mut put = |at: usize, bytes: &[u8]| image[at..at + bytes.len()].copy_from_slice(bytes);
    // Documentation/arch/arm64/booting.rst: branch to behind the header, image size, flags, magic.
    put(0, &(0x1400_0000u32 | 16).to_le_bytes());
    put(16, &(size as u64).to_le_bytes());
    put(24, &0xau64.to_le_bytes());
    put(56, b"ARM\x64");
    let start = match blob {
        Some(_) => 0x1000_0000 | ((TREE - 64) as u32 >> 2) << 5, // ADR X0, tree
        None => 0xd280_0000,                                     // MOV X0, #0
    };
    let adrp = 0x9000_0001 | ((KERNEL >> 12) as u32 >> 2) << 5 | ((KERNEL >> 12) as u32 & 3) << 29; // ADRP X1, kernel
    let branch = 0xd61f_0020u32; // BR X1
    for (n, word) in [start, adrp, branch].into_iter().enumerate() {
        put(64 + 4 * n, &word.to_le_bytes());
    }
    put(TREE, blob.unwrap_or_default());
    image.extend(kernel);
    image
}
