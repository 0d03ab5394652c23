//! `cargo xtask devices`: a guest works the board's devices, and we look at what came out on both sides.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::boot::{self, Boot, Echo, Gic, Machine, Outcome};
use crate::boots::expect_demo;
use crate::guests::{BOARD, File, Guests, Kernel};

mod durable;
mod failing;
mod peer;
mod vsock;

use peer::Peer;

/// Arguments of `cargo xtask devices`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The guest's kernel: 5.10, 6.1, 6.12 or newest.
    #[arg(long, default_value = "6.1")]
    kernel: Kernel,
    /// Only the tests whose names have this in them.
    #[arg(long, default_value = "")]
    only: String,
}

/// A test: its name, and what it does.
pub type Test = (&'static str, fn(&Guests, Kernel) -> Result<()>);

/// All of them.
pub const TESTS: &[Test] = &[
    ("devices work", work),
    ("what was flushed survives a kill of the tool", survives_a_kill),
    ("what was flushed survives kills between flushes", durable::survives),
    ("a disk without room below an ext4", failing::full),
    ("a disk that loses a part below an ext4", failing::cut),
    ("the network of the tool's own", network),
    ("sockets to the host", vsock::vsock),
    ("the power button", power_button),
    ("a topology by flags", topology),
    ("an ITS with LPIs", its),
    ("a GICv2", gic_v2),
];

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    let guests = Guests::prepare(&[args.kernel])?;
    boot::build_vambrace()?;
    for (name, test) in TESTS.iter().filter(|(name, _)| name.contains(&args.only)) {
        test(&guests, args.kernel).with_context(|| (*name).to_owned())?;
        println!("{name}: good");
    }
    Ok(())
}

/// An initramfs with all of the board's drivers and these scripts.
fn initrd(guests: &Guests, kernel: Kernel, name: &str, scripts: &[(&str, &str)]) -> Result<PathBuf> {
    initrd_of(guests, guests.drivers(BOARD, kernel)?, name, scripts)
}

/// An initramfs with these files of drivers, a script that loads them, and these scripts.
fn initrd_of(guests: &Guests, mut files: Vec<File>, name: &str, scripts: &[(&str, &str)]) -> Result<PathBuf> {
    files.push(File::executable("modules/load", include_str!("../initramfs/devices/load.sh")));
    files.extend(scripts.iter().map(|(name, text)| File::executable(format!("batch/{name}.sh"), *text)));
    guests.initrd_with(&format!("devices-{name}"), &files)
}

const DISK: u64 = 4 << 20;

/// A disk's file that holds `contents` and then nothing.
fn disk(name: &str, contents: &[u8]) -> Result<PathBuf> {
    let path = boot::scratch(name)?;
    fs::write(&path, contents)?;
    fs::File::options().write(true).open(&path)?.set_len(DISK)?;
    Ok(path)
}

fn words(boot: &mut Boot, words: &[(&str, &Path)]) {
    for (flag, path) in words {
        boot.words.extend([(*flag).to_owned(), path.display().to_string()]);
    }
}

fn work(guests: &Guests, kernel: Kernel) -> Result<()> {
    let scripts = [
        ("devices", include_str!("../initramfs/devices/devices.sh")),
        ("share", include_str!("../initramfs/devices/share.sh")),
        ("hotplug", include_str!("../initramfs/devices/hotplug.sh")),
    ];
    let initrd = initrd(guests, kernel, "work", &scripts)?;
    let hvc = boot::scratch("hvc")?;
    let busybox = guests.busybox()?;
    let disks = [disk("vda", &vec![0x5a; 2 << 20])?, disk("vdb", b"read only")?, disk("vdc", b"")?];
    let mut boot = Boot::new(guests, kernel, "vambrace.batch=devices").with_initrd(&initrd);
    boot.words.extend(["--rng", "--seed", "7"].map(str::to_owned));
    let read_only = PathBuf::from(format!("{},ro", disks[1].display()));
    boot.cpus = 4;
    let shares = Shares::new(&busybox)?;
    boot.words.extend(shares.words());
    let list = [disks[0].as_path(), &read_only, &disks[2]];
    words(&mut boot, &list.map(|path| ("--disk", path)));
    // No file that the tool writes may be longer than a mebibyte.
    let limits = "trap '' XFSZ; ulimit -f 2048; exec \"$@\"";
    words(&mut boot, &[("--virtio-console", &hvc)]);
    boot.wrapper = ["sh", "-c", limits, "sh"].map(str::to_owned).to_vec();
    let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
    outcome.expect_status(0)?;
    outcome.expect_line("vambrace-batch: devices: status 0")?;
    let bytes = outcome.line_from("devices: rng bytes ").unwrap_or_default().to_owned();
    let lines = format!(
        "devices: rng virtio_rng.0
{bytes}
devices: rng bytes differ: ok
devices: vda 8192 0 vambrace-disk0
devices: vdb 8192 1 vambrace-disk1
devices: vdc 8192 0 vambrace-disk2
devices: vda write: ok
devices: vda discard: ok
devices: vdb write: failed
devices: vdc write within: ok
devices: vdc write beyond: failed
devices: vda zeroes: ok
{}
{}",
        Shares::lines(&outcome)?,
        HOTPLUG.join("\n")
    );
    expect(&outcome, &lines)?;
    shares.expect(&busybox[..500_000])?;
    let spoken = [b"the guest speaks\n".as_slice(), &busybox[..500_000]].concat();
    ensure!(fs::read(&hvc)? == spoken, "the virtio console's file has something else");
    let written = fs::read(&disks[0])?;
    ensure!(written[..128 * 4096] == busybox[..128 * 4096], "what the guest wrote is not in the disk's file");
    ensure!(written[1 << 20..2 << 20].iter().all(|byte| *byte == 0), "what the guest discarded is still there");
    ensure!(fs::read(&disks[1])?.starts_with(b"read only\0"), "a read-only disk has changed");
    Ok(())
}

/// What hotplug.sh says.
const HOTPLUG: [&str; 15] = [
    "devices: online 0-3",
    "devices: cpu3 off: ok",
    "devices: cpu1 off: ok",
    "devices: online 0,2 2",
    "devices: cpu1 on: ok",
    "devices: cpu3 on: ok",
    "devices: cpu3 off: ok",
    "devices: cpu1 off: ok",
    "devices: online 0,2 2",
    "devices: cpu1 on: ok",
    "devices: cpu3 on: ok",
    "devices: work on cpu0: ok",
    "devices: work on cpu1: ok",
    "devices: work on cpu2: ok",
    "devices: work on cpu3: ok",
];

/// Directories that the guest is given, as share.sh expects them.
struct Shares {
    dir: PathBuf,
}

impl Shares {
    fn new(busybox: &[u8]) -> Result<Self> {
        let dir = boot::scratch("shares")?;
        if dir.exists() {
            fs::remove_dir_all(&dir)?;
        }
        for name in ["work/sub", "work/gone", "given"] {
            fs::create_dir_all(dir.join(name))?;
        }
        fs::write(dir.join("work/sub/file"), "contents\n")?;
        fs::write(dir.join("work/empty"), "not yet")?;
        fs::write(dir.join("work/gone/one"), "")?;
        // Made in an order that is not theirs.
        for name in ["z", "a", "m"] {
            fs::write(dir.join("given").join(name), "")?;
        }
        fs::write(dir.join("given/busybox"), busybox)?;
        Ok(Self { dir })
    }

    fn words(&self) -> [String; 4] {
        let share = |name: &str, more: &str| format!("{},tag={name}{more}", self.dir.join(name).display());
        ["--share".to_owned(), share("work", ""), "--share".to_owned(), share("given", ",ro")]
    }

    /// What share.sh says.
    fn lines(outcome: &Outcome) -> Result<String> {
        let sum = outcome.line_from("devices: read contents ").context("no checksum")?.to_owned();
        let stat = outcome.line_from("devices: stat ").context("no attributes")?.to_owned();
        let numbers: Vec<&str> = stat.split_whitespace().skip(2).collect();
        let [mode, owner, size, at, _, _, length, then] = numbers[..] else { bail!("attributes {stat}") };
        ensure!((mode, owner, length) == ("700", "0", "0"), "attributes {stat}");
        ensure!(size == "500000", "a size of {size}");
        for time in [at, then] {
            // The guest's time, not the host's: within a minute of power-on, which is 2020.
            let seconds: u64 = time.parse().with_context(|| format!("attributes {stat}"))?;
            ensure!((1_577_836_800..1_577_836_860).contains(&seconds), "a time of {seconds}");
        }
        Ok(format!(
            "devices: mount: ok
devices: mount read-only: ok
devices: list . ./empty ./gone ./gone/one ./sub ./sub/file
devices: order ./a ./busybox ./m ./z
{sum}
devices: write: ok
devices: append: ok
devices: read back: ok
devices: mkdir: ok
devices: rename: ok
devices: symlink: ok
devices: hard link: ok
devices: chmod: ok
devices: truncate: ok
devices: remove: ok
devices: keep open: ok
devices: chown: failed
devices: device: failed
devices: write read-only: failed
{stat}
devices: unmount: ok"
        ))
    }

    /// What is there afterwards.
    fn expect(&self, copied: &[u8]) -> Result<()> {
        let work = self.dir.join("work");
        ensure!(fs::read(work.join("new/copy"))? == copied, "new/copy is not what the guest wrote");
        ensure!(fs::read(work.join("new/hard"))? == copied, "new/hard is not what the guest wrote");
        ensure!(fs::read(work.join("sub/file"))? == b"contents\nmore\n", "the guest did not append to sub/file");
        ensure!(fs::read_link(work.join("new/up"))? == Path::new("../../../etc/passwd"), "new/up leads elsewhere");
        ensure!(fs::read(work.join("empty"))?.is_empty(), "the guest did not empty a file");
        let mut left: Vec<_> = fs::read_dir(&work)?.map(|entry| Ok(entry?.file_name())).collect::<Result<_>>()?;
        left.sort();
        ensure!(left == ["empty", "new", "sub"], "there are {left:?}");
        ensure!(fs::read_dir(self.dir.join("given"))?.count() == 4, "the guest made something in a read-only share");
        Ok(())
    }
}

/// These lines, in this order, and no other ones of theirs.
fn expect(outcome: &Outcome, lines: &str) -> Result<()> {
    outcome.expect_lines_from("devices: ", &lines.lines().collect::<Vec<_>>())
}

fn survives_a_kill(guests: &Guests, kernel: Kernel) -> Result<()> {
    let scripts = [("killed", include_str!("../initramfs/devices/killed.sh"))];
    let initrd = initrd(guests, kernel, "killed", &scripts)?;
    let disk = disk("killed", &[])?;
    let mut boot = Boot::new(guests, kernel, "vambrace.batch=killed").with_initrd(&initrd);
    let (uart, typed) = (boot::scratch("uart")?, boot::scratch("typed")?);
    fs::write(&typed, "the host\n")?;
    words(&mut boot, &[("--disk", &disk), ("--console", &uart), ("--virtio-console", Path::new("stdio"))]);
    boot.input = Some(typed);
    let line = "devices: flushed for the host";
    boot.until = Some(line.to_owned());
    let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
    outcome.expect_line(line)?;
    let wanted = guests.busybox()?[..200 * 4096].to_vec();
    ensure!(fs::read(&disk)?[..200 * 4096] == wanted, "what was flushed is not in the file\n{}", outcome.report());
    Ok(())
}

fn network(guests: &Guests, kernel: Kernel) -> Result<()> {
    let scripts = [("net", include_str!("../initramfs/devices/net.sh"))];
    let initrd = initrd(guests, kernel, "net", &scripts)?;
    let peer = Peer::start()?;
    let batch = format!("vambrace.batch=net vambrace.port={}", peer.port);
    let mut boot = Boot::new(guests, kernel, &batch).with_initrd(&initrd);
    let net = format!("user,dns=127.0.0.1:{},forward={}:80", peer.names, peer.forward);
    boot.words.extend(["--net".to_owned(), net]);
    let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
    outcome.expect_status(0)?;
    outcome.expect_line("vambrace-batch: net: status 0")?;
    let sum = outcome.line_from("devices: file ").unwrap_or_default();
    let lines = format!(
        "devices: bound 10.0.2.15 255.255.255.0 10.0.2.2 10.0.2.3
devices: ping: ok
devices: ping nobody: failed
devices: wget: ok
{sum}
devices: post: ok
devices: answer {}
devices: refused: failed
devices: name {}
devices: asked the guest answers",
        peer::CHECKED,
        peer::ADDRESS
    );
    expect(&outcome, &lines)?;
    let lines: Vec<String> = (1..=40_000).map(|n| n.to_string()).collect();
    ensure!(peer.posted() == (lines.join("\n") + "\n").as_bytes(), "the host did not get what the guest sent");
    ensure!(sum.contains(peer::FILE_MD5), "the guest did not get what the host sent: {sum}");
    Ok(())
}

fn power_button(guests: &Guests, kernel: Kernel) -> Result<()> {
    let scripts = [("button", include_str!("../initramfs/devices/button.sh"))];
    let initrd = initrd(guests, kernel, "button", &scripts)?;
    for press in ["insns=1500000000", "seconds=5.5"] {
        let mut boot = Boot::new(guests, kernel, "vambrace.batch=button").with_initrd(&initrd);
        boot.words.extend(["--power-button", press].map(str::to_owned));
        let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
        outcome.expect_status(0)?;
        outcome.expect_line("vambrace-batch: button: status 0")?;
        // EV_KEY, KEY_POWER, pressed.
        expect(&outcome, "devices: waiting for gpio-keys\ndevices: event 1 116 1")?;
    }
    Ok(())
}

/// Linux takes the ITS up: its tables, each CPU's, and an answer to each command. A command that is not executed stops it
/// with a complaint.
fn its(guests: &Guests, kernel: Kernel) -> Result<()> {
    let mut boot = Boot::new(guests, kernel, "vambrace.batch=demo");
    boot.cpus = 4;
    boot.words.extend(["--feature", "its=on"].map(str::to_owned));
    let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
    expect_demo(&outcome, boot.cpus)?;
    let has = |words: &[&str]| outcome.lines_with(words[0]).any(|line| words.iter().all(|word| line.contains(word)));
    for table in ["allocated 8192 Devices", "allocated 8192 Interrupt Collections"] {
        ensure!(has(&["ITS@0x0000000008080000: ", table]), "Linux has not {table}\n{}", outcome.report());
    }
    for cpu in 0..boot.cpus {
        let (cpu, table) = (format!("GICv3: CPU{cpu}: "), "using allocated LPI pending table");
        ensure!(has(&[&cpu, table]), "no pending table of {cpu}\n{}", outcome.report());
    }
    ensure!(!has(&["ITS queue timeout"]), "a command was not executed\n{}", outcome.report());
    Ok(())
}

/// As many CPUs as a GICv2 serves.
fn gic_v2(guests: &Guests, kernel: Kernel) -> Result<()> {
    let mut boot = Boot::new(guests, kernel, "vambrace.batch=demo");
    boot.cpus = 8;
    boot.gic = Gic::V2;
    let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
    expect_demo(&outcome, boot.cpus)?;
    // What Linux says of a GICv2, and of no other; it splits the end of an interrupt where it starts at EL2.
    ensure!(outcome.line_with(" GIC: Using split EOI/Deactivate mode").is_some(), "no GICv2\n{}", outcome.report());
    ensure!(outcome.line_with("GICv3").is_none(), "a GICv3 as well\n{}", outcome.report());
    Ok(())
}

fn topology(guests: &Guests, kernel: Kernel) -> Result<()> {
    let scripts = [("topology", include_str!("../initramfs/devices/topology.sh"))];
    let initrd = initrd(guests, kernel, "topology", &scripts)?;
    let mut boot = Boot::new(guests, kernel, "vambrace.batch=topology").with_initrd(&initrd);
    boot.cpus = 8;
    boot.words.extend(["--topology", "sockets=2,clusters=2"].map(str::to_owned));
    boot.words.extend(["--numa", "memory=256M,cpus=0-3", "--numa", "memory=768M,cpus=4-7"].map(str::to_owned));
    boot.words.extend(["--numa-distance", "0:1=33"].map(str::to_owned));
    let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
    outcome.expect_status(0)?;
    outcome.expect_line("vambrace-batch: topology: status 0")?;
    let sizes: Vec<u64> =
        outcome.lines_from("devices: memory ").filter_map(|line| line.rsplit(' ').next()?.parse().ok()).collect();
    let [first, second] = sizes[..] else { bail!("no two nodes\n{}", outcome.report()) };
    // Linux keeps some of each for itself.
    ensure!(first <= 256 << 10 && second > 700 << 10 && second <= 768 << 10, "memory of {first} and {second} KiB");
    let lines = format!(
        "devices: cpu0 package 0 cluster 0-1 node 0
devices: cpu1 package 0 cluster 0-1 node 0
devices: cpu2 package 0 cluster 2-3 node 0
devices: cpu3 package 0 cluster 2-3 node 0
devices: cpu4 package 1 cluster 4-5 node 1
devices: cpu5 package 1 cluster 4-5 node 1
devices: cpu6 package 1 cluster 6-7 node 1
devices: cpu7 package 1 cluster 6-7 node 1
devices: distances 10 33
devices: distances 33 10
devices: memory 0 {first}
devices: memory 1 {second}
devices: cpu7 off: ok
devices: cpu7 on: ok"
    );
    expect(&outcome, &lines)
}
