//! The tool from outside: statuses, messages, console, statistics. Guests are a few words of A64 in an ELF.

use std::fs;
use std::fs::File;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use machine::testing::elf;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};
use tempfile::TempDir;

const RAM_BASE: u64 = 0x4000_0000;

/// SYSTEM_OFF by PSCI: movz x0, #0x8400, lsl #16; movk x0, #8; smc #0.
const POWER_OFF: [u32; 3] = [0xd2b0_8000, 0xf280_0100, 0xd400_0003];
/// SYSTEM_RESET: the same with 9.
const RESET: [u32; 3] = [0xd2b0_8000, 0xf280_0120, 0xd400_0003];
/// b .
const SPIN: [u32; 1] = [0x1400_0000];
/// wfi; b .-4
const SLEEP: [u32; 2] = [0xd503_207f, 0x17ff_ffff];
/// adr x1, .+12; mov w0, #0x18; hlt #0xf000; ADP_Stopped_ApplicationExit, 42.
const EXIT_42: [u32; 7] = [0x1000_0061, 0x5280_0300, 0xd45e_0000, 0x2_0026, 0, 42, 0];
/// x1 = the UART; w0 = 'A'; str w0, \[x1\]; power off.
const PRINT_A: [u32; 6] = [0xd2a1_2001, 0x5280_0820, 0xb900_0020, POWER_OFF[0], POWER_OFF[1], POWER_OFF[2]];
/// Enables the UART (CR = UARTEN, TXE, RXE), then copies input to output up to a newline, then powers off.
const ECHO: [u32; 12] = [
    0xd2a1_2001,
    0x5280_6022, // mov w2, #0x301
    0xb900_3022, // str w2, [x1, #0x30]
    0xb940_1822, // ldr w2, [x1, #0x18]
    0x3727_ffe2, // tbnz w2, #4, .-4
    0xb940_0020, // ldr w0, [x1]
    0xb900_0020, // str w0, [x1]
    0x7100_281f, // cmp w0, #10
    0x54ff_ff61, // b.ne .-20
    POWER_OFF[0],
    POWER_OFF[1],
    POWER_OFF[2],
];

struct Bench(TempDir);

impl Bench {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    /// `vambrace run` of a guest, with nothing to read.
    fn run(&self, code: &[u32]) -> Command {
        let mut command = tool();
        command.arg("run").arg("--kernel").arg(self.file("kernel", &elf(RAM_BASE, code))).args(["--memory", "16M"]);
        command
    }
}

fn tool() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vambrace"));
    command.stdin(Stdio::null());
    command
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("{output:?}"))
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn statuses() {
    let bench = Bench::new();
    let cases: [(&[u32], &[&str], i32, &str); 8] = [
        (&POWER_OFF, &[], 0, ""),
        (&RESET, &[], 3, "reset"),
        (&SPIN, &["--max-insns", "1000"], 124, "--max-insns 1000"),
        (&SPIN, &["--timeout", "0.2"], 124, "--timeout 0.2"),
        (&SLEEP, &[], 3, "waits for an interrupt"),
        (&SLEEP, &["--cpus", "512"], 3, "waits for an interrupt"),
        (&EXIT_42, &[], 42, "code 42"),
        // Without semihosting, HLT is UNDEFINED, and a guest without vectors takes exceptions for ever.
        (&EXIT_42, &["--semihosting", "off", "--max-insns", "1000"], 124, "--max-insns"),
    ];
    for (code, args, expected, message) in cases {
        let output = bench.run(code).args(args).output().unwrap();
        assert_eq!(status(&output), expected, "{args:?}: {output:?}");
        assert!(errors(&output).contains(message), "{args:?}: {output:?}");
        if expected == 0 {
            assert_eq!(errors(&output), "");
        }
    }
}

/// A trace's lines: an exception and its return with the instructions until then, and on request a store and a load.
#[test]
fn traces() {
    /// Where the vector of an exception at the same level with its own stack pointer is, in words.
    const VECTOR: usize = 0xa00 / 4;
    let bench = Bench::new();
    let mut code = vec![
        0x1000_4000, // adr x0, .+0x800
        0xd51c_c000, // msr vbar_el2, x0
        0xd400_0001, // svc #0
        0xb900_0001, // str w1, [x0]
        0x3940_0401, // ldrb w1, [x0, #1]
    ];
    code.extend(POWER_OFF);
    code.resize(VECTOR + 1, 0);
    code[VECTOR] = 0xd69f_03e0; // eret
    let exceptions = ["0 3 exception el2 el2 0x56000000 0x4000000c", "0 4 return el2 el2"];
    let accesses = ["0 store 0x40000800 4", "0 load 0x40000801 1"];
    for (what, expected) in [("exceptions", exceptions.to_vec()), ("accesses", [exceptions, accesses].concat())] {
        let path = bench.path("trace");
        let output = bench.run(&code).arg("--trace").arg(&path).args(["--trace-events", what]).output().unwrap();
        assert_eq!(status(&output), 0, "{output:?}");
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }
    let path = bench.path("timeline");
    let output = bench.run(&code).arg("--trace").arg(&path).output().unwrap();
    assert_eq!(status(&output), 0, "{output:?}");
    let timeline: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let events = timeline["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] != "M");
    let shown: Vec<_> = events.map(|event| (event["ph"].as_str().unwrap(), event["ts"].as_f64().unwrap())).collect();
    // An exception is a tick.
    assert_eq!(shown, [("B", 0.004), ("E", 0.005)]);
    let output = bench.run(&POWER_OFF).args(["--trace", "/no/such/place"]).output().unwrap();
    assert_eq!(status(&output), 2);
}

/// Where the CPUs were, with names, when a run ends at a limit or goes on no more; and only then.
#[test]
fn whereabouts() {
    let bench = Bench::new();
    let map = bench.file("map", b"40000000 T start\n40000004 T wait\n");
    let last = |code: &[u32], args: &[&str]| {
        let output = bench.run(code).args(args).arg("--vmlinux").arg(&map).output().unwrap();
        errors(&output).lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let spinning = ["CPU 0 in EL2: 0x0000000040000000 start+0x0/0x4"];
    assert_eq!(last(&SPIN, &["--max-insns", "1000"]), spinning);
    assert_eq!(last(&SPIN, &["--timeout", "0.2", "--cpus", "2"]), spinning);
    assert_eq!(last(&SLEEP, &[]), ["CPU 0 in EL2, asleep: 0x0000000040000004 wait+0x0/0x1000"]);
    assert_eq!(last(&RESET, &[]), [""; 0]);
    assert_eq!(last(&POWER_OFF, &[]), [""; 0]);

    // The program itself has no symbols.
    let output = bench.run(&SPIN).args(["--max-insns", "1000"]).output().unwrap();
    assert!(errors(&output).ends_with("\nCPU 0 in EL2: 0x0000000040000000\n"), "{output:?}");
}

/// Without a kernel the one that is built in is booted; a build without one says how to come by it.
#[test]
fn without_a_kernel() {
    let output = tool().args(["run", "--memory", "64M", "--max-insns", "200000000"]).output().unwrap();
    match status(&output) {
        0 => assert!(String::from_utf8_lossy(&output.stdout).contains("demo: end"), "{output:?}"),
        other => {
            assert_eq!(other, 2, "{output:?}");
            assert!(errors(&output).contains("--kernel FILE"), "{output:?}");
            assert!(errors(&output).contains("cargo xtask release"), "{output:?}");
        }
    }
    let output = tool().args(["run", "--initrd", "x"]).output().unwrap();
    assert_eq!((status(&output), output.stdout.len()), (2, 0), "{output:?}");
}

/// Bad input: status 2, one line that names the flag, nothing on the console.
#[test]
fn usage() {
    let bench = Bench::new();
    let text = bench.file("text", b"hello").display().to_string();
    let kept = format!("{text},keep");
    let empty = bench.file("empty", b"").display().to_string();
    let missing = bench.path("missing").display().to_string();
    let directory = bench.0.path().display().to_string();
    let cases: &[(&[&str], &str)] = &[
        (&["--cpus", "0"], "--cpus 0"),
        (&["--cpus", "100000"], "--cpus 100000"),
        (&["--memory", "1"], "--memory 1 "),
        (&["--memory", "1X"], "--memory 1X"),
        (&["--memory", "1000T"], "--memory 1099511627776000"),
        (&["--memory", "18446744073709551615"], "--memory 18446744073709551615"),
        (&["--cpu", "pentium"], "--cpu pentium"),
        (&["--feature", "lse=perhaps"], "--feature lse=perhaps"),
        (&["--feature", "9:lse=off"], "--feature 9:lse=off"),
        (&["--kernel", &text], "neither an arm64 Linux Image nor"),
        (&["--kernel", &empty], "empty"),
        (&["--kernel", &missing], "No such file"),
        (&["--kernel", &directory], "directory"),
        (&["--initrd", &missing], "--initrd"),
        (&["--dtb", &text], "--dtb"),
        (&["--disk", &missing], "missing"),
        (&["--disk", &empty], "empty"),
        (&["--disk", &directory], "disk"),
        (&["--firmware", &text], "nor an EFI application"),
        (&["--firmware", &missing], "--firmware"),
        (&["--firmware", &text, "--firmware-vars", &kept], "is also given as --firmware"),
        (&["--firmware-vars", &text], "--firmware"),
        (&["--time", "cost=n1"], "--time cost=n1"),
        (&["--gdb", "/no/such/place"], "--gdb"),
        (&["--vmlinux", &text], "--vmlinux"),
        (&["--vmlinux", &missing], "No such file"),
        (&["--vmlinux", "/dev/zero"], "not a file"),
        (&["--stats", &directory], "--stats"),
        (&["--console", "/no/such/place"], "--console"),
        (&["--no-such-flag"], "--no-such-flag"),
    ];
    for (args, part) in cases {
        let mut command = bench.run(&POWER_OFF);
        if args[0] == "--kernel" {
            command = tool();
            command.arg("run");
        }
        if args[0] == "--memory" {
            command = tool();
            command.arg("run").arg("--kernel").arg(bench.path("kernel"));
        }
        let output = command.args(*args).output().unwrap();
        assert_eq!(status(&output), 2, "{args:?}: {output:?}");
        assert!(errors(&output).contains(part) && output.stdout.is_empty(), "{args:?}: {output:?}");
        assert!(!errors(&output).contains("panicked"), "{args:?}: {output:?}");
    }
}

#[test]
fn files_that_are_read_are_not_written() {
    let bench = Bench::new();
    let kernel = elf(RAM_BASE, &POWER_OFF);
    for flag in ["--stats", "--console"] {
        let output = bench.run(&POWER_OFF).arg(flag).arg(bench.path("kernel")).output().unwrap();
        assert_eq!(status(&output), 2);
        assert_eq!(fs::read(bench.path("kernel")).unwrap(), kernel);
    }
}

/// One file is one disk under all its names and in all runs, unless nobody writes it.
#[test]
fn a_disk_has_one_writer() {
    let bench = Bench::new();
    let disk = bench.file("disk", &[0; 4096]).display().to_string();
    let link = bench.path("link").display().to_string();
    fs::hard_link(&disk, &link).unwrap();
    let (disk_ro, link_ro) = (format!("{disk},ro"), format!("{link},ro"));
    let with = |a: &str, b: &str| bench.run(&POWER_OFF).args(["--disk", a, "--disk", b]).output().unwrap();
    for (a, b) in [(&disk, &link), (&disk_ro, &link), (&disk, &link_ro)] {
        let output = with(a, b);
        assert_eq!(status(&output), 2, "{output:?}");
        assert!(errors(&output).contains("in use"), "{output:?}");
    }
    assert_eq!(status(&with(&disk_ro, &link_ro)), 0);

    // Another run holds the lock: here the test itself, so that there is no race for who comes first.
    let other = fs::File::options().read(true).write(true).open(&disk).unwrap();
    other.lock().unwrap();
    let taken = bench.run(&POWER_OFF).args(["--disk", &disk]).output().unwrap();
    assert!(status(&taken) == 2 && errors(&taken).contains("in use"), "{taken:?}");
    drop(other);
    assert_eq!(status(&bench.run(&POWER_OFF).args(["--disk", &disk]).output().unwrap()), 0);

    let kernel = bench.file("padded", &[elf(RAM_BASE, &POWER_OFF), vec![0; 512]].concat()).display().to_string();
    for (disk, expected, message) in [(kernel.clone(), 2, "also given as --kernel"), (format!("{kernel},ro"), 0, "")] {
        let output = tool().args(["run", "--memory", "16M", "--kernel", &kernel, "--disk", &disk]).output().unwrap();
        assert_eq!(status(&output), expected, "{output:?}");
        assert!(errors(&output).contains(message), "{output:?}");
    }
}

#[test]
fn older_results_stay_until_there_are_new_ones() {
    let bench = Bench::new();
    let old = bench.file("old", &[b'x'; 100]);
    for flag in ["--stats", "--console"] {
        let mut command = bench.run(&PRINT_A);
        let output = command.arg(flag).arg(&old).arg("--initrd").arg(bench.path("missing")).output().unwrap();
        assert_eq!((status(&output), fs::read(&old).unwrap()), (2, vec![b'x'; 100]));
    }
    assert_eq!(status(&bench.run(&PRINT_A).arg("--console").arg(&old).output().unwrap()), 0);
    assert_eq!(fs::read(&old).unwrap(), b"A");
}

#[test]
fn lists() {
    let output = tool().arg("cpus").output().unwrap();
    assert_eq!(status(&output), 0);
    assert!(String::from_utf8_lossy(&output.stdout).contains("neoverse-n1"));
    assert_eq!(status(&tool().args(["features", "cortex-a57"]).output().unwrap()), 0);
    assert_eq!(status(&tool().args(["features", "pentium"]).output().unwrap()), 2);
    assert_eq!(status(&tool().args(["lab", "list"]).output().unwrap()), 2);
    assert_eq!(status(&tool().output().unwrap()), 2);
    assert_eq!(status(&tool().args(["run", "--help"]).output().unwrap()), 0);
    for list in ["cpus", "features"] {
        let output = tool().arg(list).stdout(File::options().write(true).open("/dev/full").unwrap()).output().unwrap();
        assert_eq!(status(&output), 1);
        assert!(errors(&output).contains("standard output"), "{output:?}");
    }
}

#[test]
fn what_the_guest_prints() {
    let bench = Bench::new();
    let output = bench.run(&PRINT_A).output().unwrap();
    assert_eq!((status(&output), output.stdout.as_slice()), (0, b"A".as_slice()));
    let console = bench.path("console");
    let output = bench.run(&PRINT_A).arg("--console").arg(&console).output().unwrap();
    assert_eq!((status(&output), output.stdout.as_slice()), (0, b"".as_slice()));
    assert_eq!(fs::read(console).unwrap(), b"A");
}

#[test]
fn input_from_a_file_and_from_pipes() {
    let bench = Bench::new();
    let text = "0123456789abcdefghijklmnopqrstuvwxyz of more than one FIFO\n";
    let input = bench.file("input", text.as_bytes());
    let output = bench.run(&ECHO).stdin(File::open(input).unwrap()).output().unwrap();
    assert_eq!((status(&output), String::from_utf8_lossy(&output.stdout).as_ref()), (0, text));

    // A pipe that ends, and one that stays open: the guest waits for what comes later.
    for pause in [Duration::ZERO, Duration::from_millis(400)] {
        let mut child =
            bench.run(&ECHO).args(["--timeout", "60"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(pause);
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(text.as_bytes()).unwrap();
        let kept_open = (!pause.is_zero()).then_some(pipe);
        let output = child.wait_with_output().unwrap();
        assert_eq!((status(&output), String::from_utf8_lossy(&output.stdout).as_ref()), (0, text));
        drop(kept_open);
    }
}

/// Exact counts of a fixed program, and the same text twice.
#[test]
fn statistics() {
    let bench = Bench::new();
    let run = |name: &str| {
        let path = bench.path(name);
        let output = bench.run(&PRINT_A).args(["--cpus", "2", "--stats"]).arg(&path).output().unwrap();
        assert_eq!(status(&output), 0);
        fs::read_to_string(path).unwrap()
    };
    let (first, second) = (run("first"), run("second"));
    let without_host =
        |text: &str| text.lines().filter(|line| !line.contains("host_seconds")).collect::<Vec<_>>().join("\n");
    assert_eq!(without_host(&first), without_host(&second));
    let stats: serde_json::Value = serde_json::from_str(&first).unwrap();
    assert_eq!((&stats["insns"], &stats["insns_by_el"]["EL2"]), (&6.into(), &6.into()));
    assert_eq!((&stats["cpus"][0]["insns"], &stats["cpus"][1]["insns"]), (&6.into(), &0.into()));
    assert_eq!((&stats["exit"]["status"], &stats["exit"]["reason"]), (&0.into(), &"powered off".into()));
    assert_eq!(stats["exceptions_by_class"], serde_json::json!({}));

    let output = bench.run(&RESET).args(["--stats", "-"]).output().unwrap();
    assert_eq!(status(&output), 3);
    let text = errors(&output);
    assert!(text.contains("instructions         3 (EL2 3)") && text.contains("(status 3)"), "{text}");
    assert!(output.stdout.is_empty());
}

/// A run with a terminal of its own.
struct OnTerminal {
    child: Child,
    /// The user's side.
    keys: File,
    /// The tool's side, to look at its mode.
    line: File,
}

impl OnTerminal {
    fn start(bench: &Bench, code: &[u32]) -> Self {
        let keys = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keys).unwrap();
        unlockpt(&keys).unwrap();
        let name = ptsname(&keys, Vec::new()).unwrap().into_string().unwrap();
        let line = File::options().read(true).write(true).open(name).unwrap();
        let clone = || Stdio::from(line.try_clone().unwrap());
        let child = bench
            .run(code)
            .args(["--timeout", "60"])
            .stdin(clone())
            .stdout(clone())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let this = Self { child, keys: keys.into(), line };
        let begun = Instant::now();
        while this.is_cooked() {
            assert!(begun.elapsed() < Duration::from_secs(60), "the terminal never became raw");
            std::thread::sleep(Duration::from_millis(5));
        }
        this
    }
    fn is_cooked(&self) -> bool {
        tcgetattr(&self.line).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }
}

#[test]
fn a_terminal() {
    let bench = Bench::new();
    let mut run = OnTerminal::start(&bench, &SPIN);
    // Ctrl-C is the guest's.
    run.keys.write_all(b"\x03").unwrap();
    std::thread::sleep(Duration::from_millis(50));
    assert!(run.child.try_wait().unwrap().is_none());
    run.keys.write_all(b"\x01x").unwrap();
    assert_eq!(run.child.wait().unwrap().code(), Some(0));
    assert!(run.is_cooked());
}

#[test]
fn a_sleeping_guest_is_woken_to_quit() {
    let bench = Bench::new();
    let mut run = OnTerminal::start(&bench, &SLEEP);
    run.keys.write_all(b"\x01x").unwrap();
    assert_eq!(run.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_signal_leaves_the_terminal_as_it_was() {
    let bench = Bench::new();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        let mut run = OnTerminal::start(&bench, &SPIN);
        kill_process(Pid::from_child(&run.child), signal).unwrap();
        assert_eq!(run.child.wait().unwrap().signal(), Some(signal.as_raw()));
        assert!(run.is_cooked(), "{signal:?}");
    }
}

#[test]
fn a_console_that_nobody_reads() {
    let bench = Bench::new();
    // x1 = the UART; w0 = 'A'; str w0, [x1]; b .-4
    let code = [PRINT_A[0], PRINT_A[1], PRINT_A[2], 0x17ff_ffff];
    let mut child =
        bench.run(&code).args(["--timeout", "60"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(status(&output), 1);
    assert!(errors(&output).contains("console cannot be written"), "{output:?}");
}

/// Writes 'A', spins 100000 times, writes 'B' and powers off.
const TWO_LETTERS: [u32; 10] = [
    0xd2a1_2001, // mov x1, #0x09000000
    0x5280_0820, // mov w0, #'A'
    0xb900_0020, // str w0, [x1]
    0xd2a0_0322, // mov x2, #0x190000
    0xf100_0442, // subs x2, x2, #1
    0x54ff_ffe1, // b.ne .-4
    0x5280_0840, // mov w0, #'B'
    0xb900_0020, // str w0, [x1]
    0x1400_0001, // b .+4
    POWER_OFF[0],
];

#[test]
fn a_run_goes_on_from_a_snapshot() {
    let bench = Bench::new();
    let code = [&TWO_LETTERS[..], &POWER_OFF[1..]].concat();
    let hash = |name: &str| {
        let text = fs::read_to_string(bench.path(name)).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        (json["state_hash"].clone(), json["insns"].clone(), json["cpus"].clone())
    };
    let whole = bench.run(&code).arg("--stats").arg(bench.path("whole")).output().unwrap();
    assert_eq!((status(&whole), &whole.stdout[..]), (0, &b"AB"[..]), "{whole:?}");
    let disk = bench.file("disk", &[7; 4096]);
    let snapshot = bench.path("snapshot");
    let save = |code: &[u32]| {
        let mut command = bench.run(code);
        command.arg("--disk").arg(&disk).args(["--at", "insns=100000", "--save"]).arg(&snapshot).output().unwrap()
    };
    let first = save(&code);
    assert_eq!((status(&first), &first.stdout[..]), (0, &b"A"[..]), "{first:?}");
    let restore = |words: &[&str]| {
        tool().args(["run", "--restore"]).arg(&snapshot).args(words).arg("--stats").arg(bench.path("rest")).output()
    };
    // The kernel is in the snapshot.
    fs::remove_file(bench.path("kernel")).unwrap();
    let second = restore(&["--disk", disk.to_str().unwrap()]).unwrap();
    assert_eq!((status(&second), &second.stdout[..]), (0, &b"B"[..]), "{second:?}");
    let (_, insns, cpus) = hash("rest");
    assert_eq!((insns, cpus), (hash("whole").1, hash("whole").2), "instructions of the whole run");

    // What the snapshot names is not opened for that alone.
    let without = restore(&[]).unwrap();
    assert_eq!(status(&without), 2);
    assert!(errors(&without).contains("--disk: 0 given, but the machine of the snapshot has 1: "), "{without:?}");
    assert!(errors(&restore(&["--disk", "a", "--share", "b"]).unwrap()).contains("--share: 1 given"));

    // Disks are known by what is on them, not by their names.
    let moved = bench.path("moved");
    fs::rename(&disk, &moved).unwrap();
    assert_eq!(status(&restore(&["--disk", moved.to_str().unwrap()]).unwrap()), 0);
    fs::write(&moved, [8; 4096]).unwrap();
    let other = restore(&["--disk", moved.to_str().unwrap()]).unwrap();
    assert_eq!(status(&other), 2);
    assert!(errors(&other).contains("what is on the disk"), "{other:?}");

    // What is no snapshot, and what is a part of one.
    fs::write(&disk, [7; 4096]).unwrap();
    let bytes = fs::read(&snapshot).unwrap();
    for (contents, message) in [(&b"text"[..], "not a snapshot"), (&bytes[..bytes.len() / 2], "cut short")] {
        fs::write(&snapshot, contents).unwrap();
        let output = restore(&["--disk", disk.to_str().unwrap()]).unwrap();
        assert_eq!(status(&output), 2, "{output:?}");
        assert!(errors(&output).contains(message), "{output:?}");
    }
    // A guest that ends before.
    let early = save(&POWER_OFF);
    assert_eq!(status(&early), 1);
    assert!(errors(&early).contains("before the snapshot"), "{early:?}");
}
