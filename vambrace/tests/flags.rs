//! What a newcomer may type wrong: each flag of `vambrace run` with values and files that do not do. The status is 2, the
//! message names what was wrong and, where that is not plain, what to do; nothing is printed on the console.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const RAM_BASE: u64 = 0x4000_0000;
/// SYSTEM_OFF by PSCI: movz x0, #0x8400, lsl #16; movk x0, #8; smc #0.
const POWER_OFF: [u32; 3] = [0xd2b0_8000, 0xf280_0100, 0xd400_0003];

/// `b .`
const SPIN: u32 = 0x1400_0000;

/// An ELF that is loaded and entered at the start of RAM, and powers off.
fn elf() -> Vec<u8> {
    machine::testing::elf(RAM_BASE, &POWER_OFF)
}

/// `file` with a number of 64 bits somewhere.
fn with(file: &[u8], at: usize, value: u64) -> Vec<u8> {
    let mut file = file.to_vec();
    file[at..at + 8].copy_from_slice(&value.to_le_bytes());
    file
}

/// An Image of the same.
fn image(text_offset: u64, image_size: u64, flags: u64) -> Vec<u8> {
    let mut file = vec![0; 64];
    file[..4].copy_from_slice(&0x1400_0010u32.to_le_bytes());
    file[56..60].copy_from_slice(b"ARM\x64");
    file.extend(POWER_OFF.iter().flat_map(|word| word.to_le_bytes()));
    with(&with(&with(&file, 8, text_offset), 16, image_size), 24, flags)
}

/// A device tree whose root has these cells and one node of memory.
fn tree(address_cells: u32, size_cells: u32, reg: &[u32]) -> Vec<u8> {
    let strings = b"#address-cells\0#size-cells\0device_type\0reg\0";
    let property = |name: u32, value: &[u32]| [&[3, value.len() as u32 * 4, name], value].concat();
    let text = |text: &[u8]| -> Vec<u32> {
        let mut bytes = text.to_vec();
        bytes.resize((text.len() + 1).next_multiple_of(4), 0);
        bytes.chunks(4).map(|word| u32::from_be_bytes([word[0], word[1], word[2], word[3]])).collect()
    };
    let mut structure = vec![1, 0];
    structure.extend(property(0, &[address_cells]));
    structure.extend(property(15, &[size_cells]));
    structure.push(1);
    structure.extend(text(b"memory@40000000"));
    // Seven bytes with the zero.
    structure.extend([3, 7, 27]);
    structure.extend(text(b"memory"));
    structure.extend(property(39, reg));
    structure.extend([2, 2, 9]);
    let (at, len) = (56, structure.len() as u32 * 4);
    let header = [0xd00d_feed, at + len + 43, at, at + len, 40, 17, 16, 0, 43, len];
    let words = header.into_iter().chain([0; 4]).chain(structure);
    let mut blob: Vec<u8> = words.flat_map(u32::to_be_bytes).collect();
    blob.extend(strings);
    blob
}

struct Bench(TempDir);

impl Bench {
    /// A directory with a kernel, and with what is not one.
    fn new() -> Self {
        let bench = Self(tempfile::tempdir().unwrap());
        let memory = [0, RAM_BASE as u32, 0, 16 << 20];
        let right = tree(2, 2, &memory);
        let mut other_version = right.clone();
        other_version[20..28].copy_from_slice(&[0, 0, 0, 99, 0, 0, 0, 99]);
        let deep = {
            let mut words = vec![0xd00d_feed, 0, 56, 0, 40, 17, 16, 0, 0, 0, 0, 0, 0, 0];
            // The root has no name, the others are `a`.
            words.extend([1, 0]);
            words.extend([1, 0x6100_0000].repeat(98));
            words.extend([2; 99]);
            words.push(9);
            let end = words.len() as u32 * 4;
            (words[1], words[3], words[9]) = (end, end, end - 56);
            words.into_iter().flat_map(u32::to_be_bytes).collect()
        };
        let files = [
            ("kernel", elf()),
            ("text", b"hello\n".to_vec()),
            ("empty", vec![]),
            ("tiny", vec![0; 100]),
            ("disk", vec![0; 8192]),
            ("gzip", b"\x1f\x8b\x08\0".to_vec()),
            ("image", image(0, 0x1000, 10)),
            ("image-huge", image(0, 1 << 40, 10)),
            ("image-far", image(1 << 63, 0x1000, 10)),
            ("image-big-endian", image(0, 0x1000, 11)),
            ("image-cut", image(0, 0x1000, 10)[..60].to_vec()),
            ("elf-cut", elf()[..100].to_vec()),
            ("elf-cut-later", elf()[..122].to_vec()),
            ("elf-x86", with(&elf(), 16, 0x1_003e_0002)),
            ("elf-object", with(&elf(), 16, 0x1_00b7_0001)),
            ("elf-low", with(&elf(), 88, 0x1000)),
            ("elf-long", with(&elf(), 104, 1 << 62)),
            ("elf-entry", with(&elf(), 24, 0x5000_0000)),
            ("elf-offset", with(&elf(), 72, u64::MAX - 3)),
            ("tree", right.clone()),
            ("tree-cut", right[..100].to_vec()),
            ("tree-header", right[..20].to_vec()),
            ("tree-magic", right[4..].to_vec()),
            ("tree-version", other_version),
            ("tree-deep", deep),
            ("tree-beyond", tree(2, 2, &[0, RAM_BASE as u32, 1, 0])),
            ("tree-elsewhere", tree(2, 2, &[0x80, 0, 0, 16 << 20])),
            ("tree-wraps", tree(2, 2, &[0, RAM_BASE as u32, u32::MAX, u32::MAX])),
            ("tree-cells", tree(u32::MAX, 2, &memory)),
            ("tree-no-cells", tree(2, 0, &memory)),
            ("tree-short", tree(2, 2, &[0, RAM_BASE as u32])),
            // What is right, or the guest's own affair.
            ("tree-one-cell", tree(1, 1, &[RAM_BASE as u32, 16 << 20])),
            ("tree-no-size", tree(2, 2, &[0xff, 0, 0, 0])),
            ("odd", vec![0; 1000]),
        ];
        for (name, bytes) in files {
            fs::write(bench.path(name), bytes).unwrap();
        }
        fs::File::create(bench.path("large")).unwrap().set_len(20 << 20).unwrap();
        fs::create_dir(bench.path("directory")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, bench.path("pipe"), 0o600.into()).unwrap();
        std::os::unix::fs::symlink("nowhere", bench.path("dangling")).unwrap();
        bench
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    /// `vambrace run` in that directory.
    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vambrace"));
        command.current_dir(&self.0).arg("run").args(args).stdin(Stdio::null());
        command.output().unwrap()
    }
    /// Runs each case, with `more`; all that are not as expected are named.
    fn expect(&self, more: &[&str], cases: &[(&[&str], i32, &str)]) {
        let mut wrong = Vec::new();
        for (args, status, part) in cases {
            let output = self.run(&[more, args].concat());
            let said = String::from_utf8_lossy(&output.stderr);
            let is_good = output.status.code() == Some(*status)
                && said.contains(part)
                && !said.contains("panicked")
                && (*status == 0) == said.is_empty()
                && output.stdout.is_empty();
            if !is_good {
                wrong.push(format!("{args:?} ends with {}, not {status} and {part:?}:\n{said}", output.status));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// A run of a small machine that would power off.
const SMALL: &[&str] = &["--kernel", "kernel", "--memory", "16M"];

#[test]
fn kernels() {
    let bench = Bench::new();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["--kernel", "kernel"], 0, ""),
        (&["--kernel", "image"], 0, ""),
        (&["--kernel", "image-huge"], 2, "image-huge: it takes 1099511627776 bytes of memory"),
        (&["--kernel", "image-far"], 2, "give more --memory"),
        (&["--kernel", "image-big-endian"], 2, "big-endian"),
        (&["--kernel", "image-cut"], 2, "truncated arm64 Linux Image: it needs 64 bytes, the file has 60"),
        (&["--kernel", "elf-cut"], 2, "truncated ELF"),
        (&["--kernel", "elf-cut-later"], 2, "truncated ELF"),
        (&["--kernel", "elf-x86"], 2, "an ELF for x86-64"),
        (&["--kernel", "elf-object"], 2, "relocatable object"),
        (&["--kernel", "elf-low"], 2, "at physical address 0x1000 is not within RAM"),
        (&["--kernel", "elf-long"], 2, "is not within RAM"),
        (&["--kernel", "elf-entry"], 2, "the entry point 0x50000000"),
        (&["--kernel", "elf-offset"], 2, "truncated ELF"),
        (&["--kernel", "gzip"], 2, "gunzip < FILE > Image"),
        (&["--kernel", "text"], 2, "neither an arm64 Linux Image nor an AArch64 ELF"),
        (&["--kernel", "empty"], 2, "--kernel empty: the file is empty"),
        (&["--kernel", "directory"], 2, "--kernel directory: a directory, not a file"),
        (&["--kernel", "pipe"], 2, "a pipe"),
        (&["--kernel", "/dev/zero"], 2, "a device"),
        (&["--kernel", "missing"], 2, "--kernel missing: No such file"),
        (&["--kernel", "dangling"], 2, "--kernel dangling: No such file"),
        (&["--kernel", ""], 2, "--kernel <FILE>"),
        (&["--kernel"], 2, "--kernel <FILE>"),
        (&["--kernel", "kernel", "--kernel", "kernel"], 2, "cannot be used multiple times"),
        (&["kernel"], 2, "unexpected argument 'kernel'"),
    ];
    bench.expect(&["--memory", "16M"], cases);
}

#[test]
fn other_files_that_are_read() {
    let bench = Bench::new();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["--initrd", "text"], 0, ""),
        (
            &["--initrd", "large"],
            2,
            "--initrd large: larger than 16777216 bytes, the most that can be used with this --memory",
        ),
        (&["--initrd", "empty"], 2, "--initrd empty: the file is empty"),
        (&["--initrd", "directory"], 2, "--initrd directory: a directory"),
        (&["--initrd", "missing"], 2, "--initrd missing: No such file"),
        (&["--dtb", "tree"], 0, ""),
        (&["--dtb", "tree-one-cell"], 0, ""),
        (&["--dtb", "tree-no-size"], 0, ""),
        (&["--dtb", "tree-cut"], 2, "--dtb tree-cut: truncated"),
        (&["--dtb", "tree-header"], 2, "less than a device tree's header"),
        (&["--dtb", "tree-magic"], 2, "not a device tree blob"),
        (&["--dtb", "tree-version"], 2, "version 99"),
        (&["--dtb", "tree-deep"], 2, "nested more than 64 deep"),
        (
            &["--dtb", "tree-beyond"],
            2,
            "memory@40000000 has 0x100000000 bytes at 0x40000000, but RAM is 0x40000000 to 0x41000000",
        ),
        (&["--dtb", "tree-elsewhere"], 2, "at 0x8000000000, but RAM is"),
        (&["--dtb", "tree-wraps"], 2, "but RAM is"),
        (&["--dtb", "tree-cells"], 2, "#address-cells of the root is 4294967295"),
        (&["--dtb", "tree-no-cells"], 2, "#size-cells of the root is 0"),
        (&["--dtb", "tree-short"], 2, "reg of memory@40000000 has 8 bytes"),
        (&["--dtb", "kernel"], 2, "not a device tree blob"),
        (&["--dtb", "large"], 2, "--dtb large: larger than 2097152 bytes"),
        (&["--dtb", "directory"], 2, "--dtb directory: a directory"),
        (&["--disk", "odd"], 0, ""),
        (&["--disk", "odd,ro"], 0, ""),
        (&["--disk", "tiny"], 2, "disk tiny has 100 bytes, which is less than one sector"),
        (&["--disk", "empty"], 2, "truncate -s"),
        (&["--disk", "directory"], 2, "neither a regular file nor a block device"),
        (&["--disk", "pipe"], 2, "neither a regular file nor a block device"),
        (&["--disk", "/dev/zero"], 2, "neither a regular file nor a block device"),
        (&["--disk", "missing"], 2, "cannot open disk missing"),
        (&["--disk", ",ro"], 2, "give FILE or FILE,ro"),
        (&["--disk", "disk", "--disk", "disk"], 2, "given twice"),
        (&["--disk", "disk", "--disk", "./disk"], 2, "in use"),
        (&["--disk", "kernel"], 2, "also given as --kernel"),
        (&["--share", "directory"], 0, ""),
        (&["--share", "text"], 2, "cannot share text: Not a directory"),
        (&["--share", "missing"], 2, "cannot share missing: No such file"),
        (&["--share", "directory,tag="], 2, "give DIR"),
        (&["--share", ""], 2, "give DIR"),
        (&["--vmlinux", "text"], 2, "neither an ELF nor a System.map"),
        (&["--vmlinux", "kernel"], 2, "--vmlinux kernel: the ELF has no symbols"),
        (&["--vmlinux", "directory"], 2, "--vmlinux directory: not a file but a directory"),
        (&["--vmlinux", "missing"], 2, "--vmlinux missing: No such file"),
    ];
    bench.expect(SMALL, cases);
    for name in ["text", "empty", "directory", "pipe", "kernel"] {
        bench.expect(&[], &[(&["--restore", name], 2, "not a snapshot of this tool")]);
    }
    bench.expect(&[], &[(&["--restore", "missing"], 2, "--restore missing: No such file")]);
    bench.expect(&[], &[(&["--restore", "text", "--cpus", "2"], 2, "--cpus")]);
}

#[test]
fn files_that_are_written() {
    let bench = Bench::new();
    for flag in ["--stats", "--trace", "--console", "--virtio-console"] {
        let cases: &[(&[&str], i32, &str)] = &[
            (&[flag, "directory"], 2, "directory: Is a directory"),
            (&[flag, "/no/such/place"], 2, "/no/such/place: No such file"),
            (&[flag, "kernel"], 2, "is also given as --kernel, which it would overwrite"),
            (&[flag, ""], 2, flag),
        ];
        bench.expect(SMALL, cases);
    }
    let cases: &[(&[&str], i32, &str)] = &[
        (&["--stats", "/dev/full"], 1, "--stats /dev/full: No space left"),
        (&["--trace", "/dev/full"], 1, "--trace /dev/full: No space left"),
        (&["--trace-events", "accesses"], 2, "--trace <FILE>"),
        (&["--virtio-console", "stdio"], 2, "give --console FILE too"),
        (&["--save", "new"], 2, "--at <insns=N>"),
        (&["--at", "insns=1"], 2, "--save <FILE>"),
        (&["--save", "new", "--at", "insns=x"], 2, "--at insns=x: give insns=N"),
        (&["--save", "new", "--at", "insns=99999999999999999999"], 2, "give insns=N"),
        (&["--save", "new", "--at", "insns=5000"], 1, "powered off before the snapshot was taken"),
        (&["--save", "directory", "--at", "insns=1"], 2, "--save directory: Is a directory"),
        (&["--save", "kernel", "--at", "insns=1"], 2, "is also given as --kernel"),
    ];
    bench.expect(SMALL, cases);
    assert_eq!(fs::read(bench.path("kernel")).unwrap(), elf());
    assert!(!Path::new(&bench.path("new.partial")).exists());
}

#[test]
fn a_socket_for_the_hosts_programs() {
    let bench = Bench::new();
    std::os::unix::fs::symlink("kernel", bench.path("link")).unwrap();
    let _used = UnixListener::bind(bench.path("used")).unwrap();
    drop(UnixListener::bind(bench.path("left")).unwrap());
    let cases: &[(&[&str], i32, &str)] = &[
        (&["--vsock", "cid=3,socket=new"], 0, ""),
        (&["--vsock", "cid=4294967294,socket=a,b"], 0, ""),
        (&["--vsock", "cid=3,socket=left"], 0, ""),
        (&["--vsock", "cid=3,socket=used"], 2, "--vsock: a program listens at used already"),
        (&["--vsock", "cid=3,socket=text"], 2, "--vsock: text is there already, and is no socket"),
        (&["--vsock", "cid=3,socket=directory"], 2, "is no socket"),
        (&["--vsock", "cid=3,socket=pipe"], 2, "is no socket"),
        (&["--vsock", "cid=3,socket=link"], 2, "is no socket"),
        (&["--vsock", "cid=3,socket=no/such/place"], 2, "cannot listen at no/such/place: No such file"),
        (&["--restore", "text", "--vsock", "cid=3,socket=new"], 2, "--vsock"),
    ];
    bench.expect(SMALL, &cases[..9]);
    bench.expect(&[], &cases[9..]);
    for name in ["new", "a,b", "left"] {
        assert!(!bench.path(name).exists(), "{name} stays");
    }
    assert!(bench.path("used").exists());
    assert_eq!(fs::read(bench.path("text")).unwrap(), b"hello\n");

    // A run that is ended by a signal removes its socket, too.
    let mut command = Command::new(env!("CARGO_BIN_EXE_vambrace"));
    let spin = machine::testing::elf(RAM_BASE, &[SPIN]);
    fs::write(bench.path("spin"), spin).unwrap();
    command.current_dir(&bench.0).args(["run", "--kernel", "spin", "--memory", "16M", "--vsock", "cid=3,socket=new"]);
    let mut child = command.stdin(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    while !bench.path("new").exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "no socket");
        std::thread::sleep(Duration::from_millis(5));
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::TERM).unwrap();
    assert!(!child.wait().unwrap().success());
    assert!(!bench.path("new").exists(), "the socket stays behind a signal");
}

#[test]
fn numbers_and_words() {
    let bench = Bench::new();
    let long = "x".repeat(2048);
    let far = format!("cid=3,socket={}", "x".repeat(97));
    let cases: &[(&[&str], i32, &str)] = &[
        (&["--append", &long], 2, "--append"),
        (&["--cpus", "0"], 2, "--cpus 0: a machine has 1 to 512 CPUs"),
        (&["--cpus", "513"], 2, "--cpus 513"),
        (&["--cpus", "-1"], 2, "invalid value '-1' for '--cpus"),
        (&["--cpus", "99999999999999999999999"], 2, "'--cpus"),
        (&["--cpus", "two"], 2, "'--cpus"),
        (&["--seed", "18446744073709551616"], 2, "'--seed"),
        (&["--max-insns", "0"], 124, "--max-insns 0"),
        (&["--max-insns", "1.5"], 2, "'--max-insns"),
        (&["--timeout", "0"], 2, "--timeout 0: give a number of seconds"),
        (&["--timeout", "nan"], 2, "--timeout nan"),
        (&["--timeout", "1e300"], 2, "--timeout 1e300"),
        (&["--timeout", "-5"], 2, "--timeout -5"),
        (&["--topology", "sockets=0"], 2, "--topology sockets=0: give sockets=S,clusters=C"),
        (&["--topology", "sockets=2"], 2, "--cpus 1 is not a multiple of 2 sockets"),
        (&["--topology", "rows=2"], 2, "--topology rows=2"),
        (&["--numa", "memory=16M"], 2, "say which CPUs a node has with ,cpus=A-B"),
        (&["--numa", "memory=8M,cpus=0"], 2, "do not have the 16777216 bytes of --memory"),
        (&["--numa", "memory=0,cpus=0"], 2, "--numa memory=0,cpus=0: give memory=SIZE"),
        (&["--numa", "memory=16M,cpus=1-0"], 2, "give memory=SIZE"),
        (&["--numa", "memory=16M,cpus=0-18446744073709551615"], 2, "there are 1"),
        (&["--numa-distance", "0:1=33"], 2, "--numa-distance 0:1: there is no such node"),
        (&["--numa-distance", "0:1=255"], 2, "11 to 254"),
        (&["--cpu", "pentium"], 2, "--cpu pentium: no such preset; there are cortex-a53"),
        (&["--feature", "FEAT_X=on"], 2, "no feature is called `FEAT_X`; near it are"),
        (&["--feature", "lse"], 2, "is not NAME=VALUE, such as lse=off"),
        (&["--feature", "lse=perhaps"], 2, "`on` or `off`"),
        (&["--feature", "FEAT_SVE=on"], 2, "FEAT_SVE is not modelled yet"),
        (&["--feature", "pa-bits=7"], 2, "pa-bits is 32, 36"),
        (&["--feature", "-1:lse=on"], 2, "`-1` before the colon is not a CPU's number"),
        (&["--feature", "1:lse=on"], 2, "no CPU 1; with --cpus 1 they are 0 to 0"),
        (&["--gic", "list-registers=99"], 2, "list-registers is 1 to 16"),
        (&["--gic", "speed=1"], 2, "no property is called `speed`; there are"),
        (&["--gic", "-1:seis=on"], 2, "is not a CPU's number"),
        (&["--policy", "nasty"], 2, "give benign, adversarial or adversarial:SEED"),
        (&["--policy", "adversarial:x"], 2, "a number below 2^64"),
        (&["--net", "tap"], 2, "--net tap: give none, or user"),
        (&["--net", "user,dns=x"], 2, "dns=ADDRESS[:PORT]"),
        (&["--net", "user,forward=1:2:3"], 2, "forward=HOST:GUEST"),
        (&["--net", "user,forward=0:0"], 2, "forward=HOST:GUEST"),
        (
            &["--net", "user", "--save", "new", "--at", "insns=9"],
            2,
            "--save with --net: connections to the host cannot be",
        ),
        (&["--vsock", "3"], 2, "--vsock 3: give cid=N,socket=PATH"),
        (&["--vsock", "cid=3,socket="], 2, "give cid=N,socket=PATH"),
        (&["--vsock", "cid=2,socket=s"], 2, "--vsock cid=2,socket=s: the guest's CID is 3 to 4294967294"),
        (&["--vsock", "cid=4294967295,socket=s"], 2, "the guest's CID is 3 to"),
        (&["--vsock", &far], 2, "the path has 97 bytes; give one of at most 96"),
        (&["--vsock", "cid=3,socket=s", "--save", "new", "--at", "insns=9"], 2, "leave --vsock out"),
        (&["--vsock", "cid=3,socket=s", "--vsock", "cid=4,socket=t"], 2, "cannot be used multiple times"),
        (&["--power-button", "seconds=-1"], 2, "--power-button seconds=-1: give insns=N or seconds=S"),
        (&["--power-button", "now"], 2, "give insns=N or seconds=S"),
        (&["--time", "slow"], 2, "--time slow: give insn, wall"),
        (&["--engine", "fast"], 2, "possible values: interp"),
        (&["--threads", "x"], 2, "possible values: serial, parallel"),
        (&["--threads", "parallel", "--gdb", "0"], 2, "--gdb does not go with --threads parallel"),
        (&["--threads", "parallel", "--trace", "new"], 2, "--trace does not go with --threads parallel"),
        (&["--threads", "parallel", "--profile", "new"], 2, "--profile does not go with --threads parallel"),
        (&["--threads", "parallel", "--save", "new", "--at", "insns=1"], 2, "--save does not go with"),
        (&["--threads", "parallel", "--time", "insn"], 2, "--time insn does not go with --threads parallel"),
        (&["--semihosting", "x"], 2, "possible values: auto, on, off"),
        (&["--no-such-flag"], 2, "--no-such-flag"),
    ];
    bench.expect(SMALL, cases);
    let sizes: &[(&[&str], i32, &str)] = &[
        (&["--memory", "15M"], 2, "at least 16 MiB"),
        (&["--memory", "16777217"], 2, "not a multiple of 64 KiB"),
        (&["--memory", "1000000T"], 2, "the host has only"),
        (&["--memory", "99999999999999999999999"], 2, "not a size"),
        (&["--memory", "-1"], 2, "--memory -1: not a size; give bytes, or a number with K, M, G or T"),
        (&["--memory", ""], 2, "not a size"),
    ];
    bench.expect(&["--kernel", "kernel"], sizes);
    bench.expect(&[], &[(&["--initrd", "text"], 2, "--kernel")]);
}
