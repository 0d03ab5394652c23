//! GDB's remote protocol, by a client of a few lines; the guest is a loop.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use machine::testing::elf;

const RAM_BASE: u64 = 0x4000_0000;

/// Counts to 20000 in memory, at 0x40100000, then powers off.
const COUNT: [u32; 10] = [
    0xd280_0000, // mov x0, #0: it was the device tree
    0xd2a8_0201, // mov x1, #0x40100000
    0xd289_c402, // mov x2, #20000
    0x9100_0400, // 1: add x0, x0, #1
    0xf900_0020, // str x0, [x1]
    0xeb02_001f, // cmp x0, x2
    0x54ff_ffa1, // b.ne 1b
    0xd2b0_8000, // mov x0, #0x84000000
    0xf280_0100, // movk x0, #8: SYSTEM_OFF
    0xd400_0003, // smc #0
];
const ADD: u64 = RAM_BASE + 12;
const COUNTER: u64 = 0x4010_0000;
const SPIN: [u32; 1] = [0x1400_0000];

fn tool(dir: &Path, code: &[u32], words: &[&str]) -> Command {
    fs::write(dir.join("kernel"), elf(RAM_BASE, code)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_vambrace"));
    command.args(["run", "--memory", "16M", "--cpus", "2", "--kernel"]).arg(dir.join("kernel")).args(words);
    command.arg("--stats").arg(dir.join("stats")).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn under_gdb(dir: &Path, code: &[u32], words: &[&str]) -> Child {
    let _ = fs::remove_file(dir.join("socket"));
    tool(dir, code, words).arg("--gdb").arg(dir.join("socket")).spawn().unwrap()
}

fn connect(dir: &Path) -> UnixStream {
    let started = Instant::now();
    loop {
        if let Ok(stream) = UnixStream::connect(dir.join("socket")) {
            stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            return stream;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "nobody listens");
        std::thread::sleep(Duration::from_millis(10));
    }
}

struct Client(UnixStream);

impl Client {
    fn byte(&mut self) -> u8 {
        let mut byte = [0];
        self.0.read_exact(&mut byte).unwrap();
        byte[0]
    }
    fn send(&mut self, packet: &str) {
        let sum = packet.bytes().fold(0u8, u8::wrapping_add);
        self.0.write_all(format!("${packet}#{sum:02x}").as_bytes()).unwrap();
    }
    fn answer(&mut self) -> String {
        while self.byte() != b'$' {}
        let mut text = String::new();
        loop {
            match self.byte() {
                b'#' => break,
                b'*' => {
                    let repeated = text.pop().unwrap();
                    let count = self.byte() - 28;
                    text.extend(std::iter::repeat_n(repeated, usize::from(count)));
                }
                byte => text.push(byte.into()),
            }
        }
        let _sum = [self.byte(), self.byte()];
        // After the last answer the tool may have hung up.
        let _ = self.0.write_all(b"+");
        text
    }
    fn ask(&mut self, packet: &str) -> String {
        self.send(packet);
        self.answer()
    }
    fn number(&mut self, packet: &str) -> u64 {
        let text = self.ask(packet);
        u64::from_str_radix(&text, 16).unwrap_or_else(|_| panic!("{packet}: {text}")).swap_bytes()
    }
    fn xml(&mut self) -> String {
        let mut xml = String::new();
        loop {
            let part = self.ask(&format!("qXfer:features:read:target.xml:{:x},800", xml.len()));
            xml.push_str(&part[1..]);
            if part.starts_with('l') {
                return xml;
            }
        }
    }
    fn pc(&mut self) -> u64 {
        self.number("p20")
    }
}

fn state(dir: &Path) -> (serde_json::Value, serde_json::Value) {
    let json: serde_json::Value = serde_json::from_str(&fs::read_to_string(dir.join("stats")).unwrap()).unwrap();
    (json["state_hash"].clone(), json["insns"].clone())
}

#[test]
fn a_session_looks_at_everything_and_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    assert!(tool(dir, &COUNT, &[]).status().unwrap().success());
    let expected = state(dir);

    let mut child = under_gdb(dir, &COUNT, &["--gdb-wait"]);
    let mut gdb = Client(connect(dir));
    assert!(gdb.ask("qSupported:multiprocess+;swbreak+;hwbreak+").contains("qXfer:features:read+"));
    let xml = gdb.xml();
    assert!(xml.contains("org.gnu.gdb.aarch64.core"), "{xml}");
    assert_eq!(gdb.pc(), RAM_BASE);
    assert_eq!(gdb.ask(&format!("Z0,{ADD:x},4")), "OK");
    for count in 0..3 {
        let stop = gdb.ask("c");
        assert!(stop.starts_with('T') && stop.contains("swbreak"), "{stop}");
        assert_eq!((gdb.pc(), gdb.number("p0")), (ADD, count));
    }
    // The breakpoint is not in memory.
    assert_eq!(gdb.ask(&format!("m{ADD:x},4")), "00040091");
    // Steps, over the breakpoint too.
    for (n, pc) in [ADD + 4, ADD + 8, ADD + 12, ADD, ADD + 4].into_iter().enumerate() {
        let stop = gdb.ask("s");
        assert_eq!((gdb.pc(), stop.starts_with('T')), (pc, true), "{n}: {stop}");
    }
    assert_eq!(gdb.ask(&format!("z0,{ADD:x},4")), "OK");
    // A watchpoint stops before the store.
    assert_eq!(gdb.ask(&format!("Z2,{COUNTER:x},8")), "OK");
    for value in 3..6 {
        let stop = gdb.ask("c");
        assert!(stop.contains(&format!("watch:{COUNTER:x}")), "{stop}");
        assert_eq!(gdb.number(&format!("m{COUNTER:x},8")), value);
    }
    assert_eq!(gdb.ask("Qqemu.PhyMemMode:1"), "OK");
    assert_eq!(gdb.ask("qqemu.PhyMemMode"), "1");
    assert_eq!(gdb.number(&format!("m{COUNTER:x},8")), 5);
    assert!(gdb.ask("m8000000,8").starts_with('E'), "devices are not read");
    assert_eq!(gdb.ask(&format!("z2,{COUNTER:x},8")), "OK");
    // MIDR_EL1 is the first of the system registers: a Cortex-A57.
    assert_eq!(gdb.number("p44") & 0xfff0, 0xd070);
    // What is written is there, by the rules of MSR; the ID registers stay.
    let register = |name: &str| {
        let at = xml.find(&format!("name=\"{name}\"")).unwrap();
        let number = xml[at..].split("regnum=\"").nth(1).unwrap().split('"').next().unwrap();
        format!("{:x}", number.parse::<u32>().unwrap())
    };
    for (name, value, reads) in [
        ("TPIDR_EL0", 0x1234, 0x1234),
        ("VBAR_EL1", 0x4000_0801, 0x4000_0800),
        ("CNTP_CVAL_EL0", 99, 99),
        ("PMCCNTR_EL0", 7, 7),
        ("ICC_PMR_EL1", 0xf0, 0xf0),
        ("SP_EL1", 0x5000, 0x5000),
    ] {
        let n = register(name);
        let old = gdb.number(&format!("p{n}"));
        assert_eq!(gdb.ask(&format!("P{n}={:016x}", u64::swap_bytes(value))), "OK", "{name}");
        assert_eq!(gdb.number(&format!("p{n}")), reads, "{name}");
        assert_eq!(gdb.ask(&format!("P{n}={:016x}", old.swap_bytes())), "OK", "{name}");
    }
    assert!(gdb.ask(&format!("P{}=0000000000000000", register("MIDR_EL1"))).starts_with('E'));
    assert!(!xml.contains("\"ICC_IAR1_EL1\"") && !xml.contains("\"RNDR\""), "reading these is an action");
    // CPSR: the flags, but no other level.
    let cpsr = gdb.ask("p21");
    assert_eq!(gdb.ask("P21=c90300f0"), "OK");
    assert_eq!(gdb.ask("p21"), "c90300f0");
    assert!(gdb.ask("P21=c5030000").starts_with('E'));
    assert_eq!(gdb.ask(&format!("P21={cpsr}")), "OK");
    assert!(gdb.ask("qfThreadInfo").starts_with('m'));
    assert!(gdb.ask("qThreadExtraInfo,p1.2").len() > 4);
    assert_eq!(gdb.ask("D"), "OK");
    assert!(child.wait().unwrap().success());
    assert_eq!(state(dir), expected);
}

#[test]
fn clients_come_late_vanish_and_kill() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let mut child = under_gdb(dir, &SPIN, &["--timeout", "60"]);
    let mut gdb = Client(connect(dir));
    assert_eq!(gdb.pc(), RAM_BASE, "it was stopped where it was");
    gdb.ask(&format!("Z0,{RAM_BASE:x},4"));
    drop(gdb);
    let mut gdb = Client(connect(dir));
    // The breakpoint is gone with its client: only an interruption stops the run.
    gdb.send("c");
    std::thread::sleep(Duration::from_millis(100));
    gdb.0.write_all(&[3]).unwrap();
    let stop = gdb.answer();
    assert!(stop.starts_with("T02"), "{stop}");
    gdb.send("k");
    assert!(child.wait().unwrap().success(), "as where the user quits");
}

/// Junk neither hangs nor kills the tool: the next client finds it as it should be.
#[test]
fn junk() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let mut random = 0x2545_f491_4f6c_dd1du64;
    let mut next = move |n: usize| {
        random ^= random >> 12;
        random ^= random << 25;
        random ^= random >> 27;
        (random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    };
    let cases = std::env::var("VAMBRACE_CASES").map_or(40, |text| text.parse().unwrap());
    let mut child = under_gdb(dir, &SPIN, &["--gdb-wait", "--timeout", "120"]);
    let starts = [
        "g",
        "G",
        "p",
        "P",
        "m",
        "M",
        "X",
        "Z0,",
        "z0,",
        "Z2,",
        "vCont;s:",
        "vCont;c",
        "s",
        "qXfer:features:read:",
        "qSupported",
        "H",
        "T",
        "Q",
        "qqemu.PhyMemMode",
        "Qqemu.PhyMemMode:",
        "vFile:",
        "",
        "bs",
        "?",
        "qRcmd,",
    ];
    let letters = b"0123456789abcdef,;:.-+#$*}p\x00\xff";
    for _ in 0..cases {
        let mut stream = connect(dir);
        stream.set_nonblocking(true).unwrap();
        for _ in 0..50 {
            let mut packet: Vec<u8> = starts[next(starts.len())].into();
            packet.extend((0..next(24)).map(|_| letters[next(letters.len())]));
            let sum = packet.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
            let mut bytes = vec![b'$'];
            bytes.extend(packet);
            bytes.extend(format!("#{:02x}", if next(8) == 0 { 0 } else { sum }).bytes());
            // The tool may have hung up.
            let _ = stream.write_all(&bytes);
        }
        // Left, not listened to.
    }
    // Who cannot be understood at all is hung up on, and others get their turn.
    let mut stream = connect(dir);
    let _ = stream.write_all(format!("${}", "a".repeat(100_000)).as_bytes());
    let mut rest = Vec::new();
    assert!(!matches!(stream.read_to_end(&mut rest), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock));
    let mut gdb = Client(connect(dir));
    assert_eq!(gdb.pc(), RAM_BASE);
    gdb.send("k");
    assert!(child.wait().unwrap().success());
}

/// The time of a run that waits for its client passes too.
#[test]
fn a_client_that_never_comes() {
    let directory = tempfile::tempdir().unwrap();
    let status = under_gdb(directory.path(), &SPIN, &["--gdb-wait", "--timeout", "0.2"]).wait().unwrap();
    assert_eq!(status.code(), Some(124));
}
