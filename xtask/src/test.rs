//! `cargo xtask test`: every test that CI runs. The last line is `N passed, N failed`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::boot::{self, Access, Boot, Disk, Echo, Machine, Outcome};
use crate::boots::expect_demo;
use crate::guests::{GUESTS_VARIABLE, Guests, Kernel};
use crate::nested::{Nested, Work};
use crate::{
    devices, firmware, gdb, kernel, kvm, levels, oracle, parallel, perf, profile, setup, shell, snapshots, tags, twice,
};

/// The kernel that CI boots.
const KERNEL: Kernel = Kernel::V6_1;

/// Runs the task.
pub fn run() -> Result<()> {
    use setup::Part;
    setup::ensure(&[Part::Guests, Part::Cross, Part::QemuSystem, Part::QemuUser, Part::Llvm, Part::Gdb])?;
    let guests = Guests::prepare(&[KERNEL])?;
    let mut tally = Tally::default();
    cargo_tests(&mut tally)?;
    counted(&mut tally, guest_tests(&guests))?;
    tally.check("oracle --quick", || oracle::quick().map(|line| println!("{line}")));
    boot::build_vambrace()?;
    boots(&guests, &mut tally)?;
    own_kernel(&mut tally)?;
    for failure in &tally.failures {
        println!("failed: {failure}");
    }
    println!("{} passed, {} failed", tally.passed, tally.failed);
    if tally.failed > 0 {
        return Err(Reported.into());
    }
    Ok(())
}

/// The failures are printed, and the tally has to stay the last line: nothing more to say.
#[derive(Debug, thiserror::Error)]
#[error("tests failed; they are named above")]
pub struct Reported;

#[derive(Debug, Default)]
struct Tally {
    passed: u64,
    failed: u64,
    failures: Vec<String>,
}

impl Tally {
    fn add(&mut self, counts: Counts, what: &str) {
        self.passed += counts.passed;
        self.failed += counts.failed;
        if counts.failed > 0 {
            self.failures.push(format!("{} in `{what}`", counts.failed));
        }
    }

    fn check(&mut self, name: &str, test: impl FnOnce() -> Result<()>) {
        let started = Instant::now();
        let verdict = test();
        let seconds = started.elapsed().as_secs_f64();
        match verdict {
            Ok(()) => {
                println!("test {name} ... ok ({seconds:.1} s)");
                self.passed += 1;
            }
            Err(error) => {
                println!("test {name} ... FAILED ({seconds:.1} s)\n{error:#}");
                self.failed += 1;
                self.failures.push(name.to_owned());
            }
        }
    }
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
}

fn cargo_tests(tally: &mut Tally) -> Result<()> {
    if shell::which("cargo-nextest").is_some() {
        let mut nextest = shell::cargo();
        nextest.args(["nextest", "run", "--workspace", "--no-fail-fast", "--no-tests=pass"]);
        counted(tally, nextest)?;
        // nextest leaves out documentation tests.
        let mut doc = shell::cargo();
        doc.args(["test", "--workspace", "--doc", "--no-fail-fast"]);
        counted(tally, doc)
    } else {
        let mut test = shell::cargo();
        test.args(["test", "--workspace", "--no-fail-fast"]);
        counted(tally, test)
    }
}

/// The tests of crates that read real kernels. They take those that are there.
pub fn guest_tests(guests: &Guests) -> Command {
    let mut test = shell::cargo();
    test.args(["test", "-p", "vambrace-symbols", "--test", "kernels", "--", "--ignored"]);
    // Tests run in their crate's directory.
    let dir = std::path::absolute(guests.dir()).unwrap_or_else(|_| guests.dir().to_owned());
    test.env(GUESTS_VARIABLE, dir);
    test
}

/// Runs a test command, passes its output on and adds up the summaries in it.
fn counted(tally: &mut Tally, mut command: Command) -> Result<()> {
    let line = shell::display(&command);
    println!("{line}");
    let mut child = command
        // Colours would stand in the summaries.
        .env("CARGO_TERM_COLOR", "never")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{line}`"))?;
    let stdout = child.stdout.take().context("no pipe")?;
    let stderr = child.stderr.take().context("no pipe")?;
    // nextest reports on stderr, cargo's own harness on stdout.
    let other = std::thread::spawn(move || read_counts(BufReader::new(stderr), |line| eprintln!("{line}")));
    let mut counts = read_counts(BufReader::new(stdout), |line| println!("{line}"));
    let more = other.join().unwrap_or_default();
    counts.passed += more.passed;
    counts.failed += more.failed;
    let status = child.wait()?;
    if !status.success() && counts.failed == 0 {
        // It did not come to tests: does not compile, or a test program died.
        tally.failed += 1;
        tally.failures.push(format!("`{line}` ({status})"));
    }
    tally.add(counts, &line);
    Ok(())
}

fn read_counts(reader: impl BufRead, mut show: impl FnMut(&str)) -> Counts {
    let mut counts = Counts::default();
    for line in reader.lines().map_while(Result::ok) {
        show(&line);
        if let Some(found) = summary(&line) {
            counts.passed += found.passed;
            counts.failed += found.failed;
        }
    }
    counts
}

/// `Summary [ 1.2s] 5 tests run: 3 passed, 2 failed, 0 skipped` of nextest, or
/// `test result: ok. 3 passed; 0 failed; ...` of cargo's harness.
fn summary(line: &str) -> Option<Counts> {
    let line = line.trim_start();
    let is_summary = line.starts_with("test result: ") || (line.starts_with("Summary [") && line.contains("run: "));
    if !is_summary {
        return None;
    }
    let words: Vec<&str> = line.split([' ', ',', ';']).filter(|word| !word.is_empty()).collect();
    let before = |label: &str| -> u64 {
        words.windows(2).filter(|pair| pair[1] == label).filter_map(|pair| pair[0].parse::<u64>().ok()).sum()
    };
    // "timed out" and "exec failed" are nextest's further kinds of failure.
    let failed = before("failed") + before("timed") + before("exec");
    Some(Counts { passed: before("passed"), failed })
}

/// Our own kernel: what is compiled for the bare target alone, and the runs.
fn own_kernel(tally: &mut Tally) -> Result<()> {
    tally.check("clippy of the kernel for the bare target", kernel::check);
    let lab = kernel::prepare()?;
    for run in kernel::RUNS {
        tally.check(&format!("kernel --run {}", run.name), || {
            lab.run(run, None, Echo::Off).map(|line| println!("{line}"))
        });
    }
    let image = kernel::build()?;
    for (name, check) in kernel::OWN {
        tally.check(&format!("kernel --run {name}"), || check(&image, Echo::Off).map(|line| println!("{line}")));
    }
    tally.check("kernel --table", || kernel::table(&image, Echo::Off));
    Ok(())
}

fn boots(guests: &Guests, tally: &mut Tally) -> Result<()> {
    for cpus in [1, 4] {
        tally.check(&format!("boot {KERNEL} on {cpus} CPU(s)"), || {
            let mut boot = Boot::new(guests, KERNEL, "vambrace.batch=demo");
            boot.cpus = cpus;
            expect_demo(&boot.run(Machine::Vambrace, Echo::Off)?, cpus)
        });
    }
    tally.check(&format!("boot {KERNEL} on 4 CPUs with a thread each"), || parallel::boots(guests, KERNEL));
    tally.check(&format!("threads on 4 CPUs with a thread each under {KERNEL}"), || parallel::programs(guests, KERNEL));
    tally.check(&format!("a panic of {KERNEL} comes with a backtrace"), || {
        // Init ends at once.
        let outcome = Boot::new(guests, KERNEL, "rdinit=/bin/false").run(Machine::Vambrace, Echo::Off)?;
        outcome.expect_status(3)?;
        let backtrace = ["CPU 0 in EL", " panic+0x", " do_exit+0x"];
        let missing = backtrace.iter().find(|part| !outcome.complaints.contains(*part));
        missing.map_or(Ok(()), |part| bail!("no \"{part}\" in the backtrace\n{}", outcome.report()))
    });
    tally.check(&format!("reset of {KERNEL} ends with exit status 3"), || {
        let outcome = Boot::new(guests, KERNEL, "vambrace.batch=reboot").run(Machine::Vambrace, Echo::Off)?;
        outcome.expect_line("vambrace-batch: reboot: now")?;
        outcome.expect_status(3)
    });
    tally.check(&format!("where a panic of {KERNEL} is, in the tool's words and the kernel's"), || panic_place(guests));
    let disk = boot::scratch("disk.img")?;
    tally.check(&format!("{KERNEL} reads and writes a disk"), || writable_disk(guests, &disk));
    tally.check(&format!("{KERNEL} cannot write to a read-only disk"), || read_only_disk(guests, &disk));
    tally.check(&format!("EDK2 in flash memory starts {KERNEL} by its EFI stub"), || firmware::check(guests, KERNEL));
    for (name, test) in devices::TESTS {
        tally.check(&format!("{name} under {KERNEL}"), || test(guests, KERNEL));
    }
    tally.check(&format!("allocation tags under {KERNEL} and under qemu-aarch64"), || tags::check(guests, KERNEL));
    for mode in ["vhe", "nvhe", "protected"] {
        tally.check(&format!("KVM of {KERNEL} in mode {mode} runs a virtual machine"), || {
            kvm::check(guests, KERNEL, mode)
        });
    }
    tally.check(&format!("KVM of {KERNEL} runs a Linux guest"), || {
        let nested = Nested::new(Work::Check);
        nested.expect(&nested.boot(guests, "test-nested")?.run(Machine::Vambrace, Echo::Off)?)
    });
    tally.check(&format!("KVM of {KERNEL} runs a Linux guest, each on a GICv2"), || {
        let nested = Nested { gic: boot::Gic::V2, ..Nested::new(Work::Check) };
        nested.expect(&nested.boot(guests, "test-nested-v2")?.run(Machine::Vambrace, Echo::Off)?)
    });
    tally.check(&format!("what KVM of {KERNEL} traps of the GIC on an Apple M1, by --gic"), || {
        kvm::check_trapping(guests, KERNEL)
    });
    tally.check(&format!("the performance monitors under {KERNEL} count and sample exactly"), || {
        perf::check(guests, KERNEL)
    });
    let levels = || levels::check(guests, KERNEL);
    tally.check(&format!("programs for newer levels under {KERNEL}, on max and on cortex-a57"), levels);
    tally.check(&format!("two runs of {KERNEL} on 4 CPUs are the same"), || same_twice(guests));
    tally.check(
        &format!("{KERNEL} on 4 CPUs, saved at 500 million instructions and restored, ends as if it had not been"),
        || snapshots::demo(guests, KERNEL, 4, 500_000_000).map(|line| println!("{line}")),
    );
    tally.check(&format!("a profile of {KERNEL} has all instructions, and what is hot"), || {
        profile::check(guests, KERNEL).map(|line| println!("{line}"))
    });
    tally.check(&format!("GDB with {KERNEL} while it boots"), || {
        gdb::check(guests, KERNEL).map(|line| println!("{line}"))
    });
    Ok(())
}

/// A kernel that finds no init panics, and spins for ever. KASLR is on: the tool has to find where the kernel is.
fn panic_place(guests: &Guests) -> Result<()> {
    let mut boot = Boot::new(guests, KERNEL, "rdinit=/none panic=0 printk.time=0");
    boot.max_insns = Some(1_500_000_000);
    let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
    outcome.expect_status(124)?;
    // Lines such as `    0xffff800008ab1234 kernel_init+0x2c/0x140`.
    let called_from = outcome.complaints.lines().skip_while(|line| line.trim() != "called from").skip(1);
    let ours: Vec<&str> = called_from.filter_map(|line| line.split_whitespace().nth(1)?.split('+').next()).collect();
    let ours = ours.iter().skip_while(|name| **name != "panic").copied().collect::<Vec<_>>();
    // Lines such as ` kernel_init+0x2c/0x140`. The one behind `panic` is skipped: it never returns, so that where it
    // returns to may be another function's start, by which older kernels go.
    let theirs = outcome.lines_behind("Call trace:").take_while(|line| line.starts_with(' '));
    let theirs: Vec<&str> = theirs.filter_map(|line| line.trim().split('+').next()).collect();
    let theirs = theirs.iter().skip_while(|name| **name != "panic").copied().collect::<Vec<_>>();
    if ours.len() < 4 || ours.len() != theirs.len() || ours[2..] != theirs[2..] {
        bail!("the tool says {ours:?}, the kernel {theirs:?}\n{}", outcome.report());
    }
    Ok(())
}

const DISK_SIZE: usize = 4 << 20;

/// The guest's own check of what it wrote, and ours of what came down to the file.
fn writable_disk(guests: &Guests, disk: &Path) -> Result<()> {
    // As in batch/disk.sh.
    const WRITTEN_AT: usize = 64 * 4096;
    fs::write(disk, vec![0; DISK_SIZE])?;
    disk_boot(guests, disk, Access::ReadWrite)?.expect_line(&format!("disk: sectors {} ro 0", DISK_SIZE / 512))?;
    let after = fs::read(disk)?;
    if after.len() != DISK_SIZE {
        bail!("the disk's file was {DISK_SIZE} bytes long, now {}", after.len());
    }
    if after.get(WRITTEN_AT..WRITTEN_AT + 4) != Some(b"\x7fELF") {
        bail!("what the guest wrote is not in the disk's file");
    }
    Ok(())
}

fn read_only_disk(guests: &Guests, disk: &Path) -> Result<()> {
    let before = vec![0x5a; DISK_SIZE];
    fs::write(disk, &before)?;
    disk_boot(guests, disk, Access::ReadOnly)?.expect_line(&format!("disk: sectors {} ro 1", DISK_SIZE / 512))?;
    if fs::read(disk)? != before {
        bail!("the guest changed the file of a read-only disk");
    }
    Ok(())
}

fn disk_boot(guests: &Guests, disk: &Path, access: Access) -> Result<Outcome> {
    let mut boot = Boot::new(guests, KERNEL, "vambrace.batch=disk");
    boot.disk = Some(Disk { path: disk.to_path_buf(), access });
    let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
    outcome.expect_status(0)?;
    outcome.expect_line("vambrace-batch: disk: status 0")?;
    Ok(outcome)
}

fn same_twice(guests: &Guests) -> Result<()> {
    let mut boot = Boot::new(guests, KERNEL, "vambrace.batch=demo");
    boot.cpus = 4;
    twice::check(&boot, |outcome| expect_demo(outcome, 4)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_both_harnesses() {
        let nextest = "     Summary [   0.011s] 7 tests run: 4 passed, 2 failed, 1 timed out, 3 skipped";
        assert_eq!(summary(nextest), Some(Counts { passed: 4, failed: 3 }));
        let flaky = "     Summary [   0.011s] 2/3 tests run: 2 passed (1 slow), 0 skipped";
        assert_eq!(summary(flaky), Some(Counts { passed: 2, failed: 0 }));
        let cargo = "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(summary(cargo), Some(Counts { passed: 3, failed: 1 }));
        assert_eq!(summary("5 passed, 5 failed"), None);
    }
}
