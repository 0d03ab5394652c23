//! What is run on our kernel, and how it is judged: the same console on both machines and at both exception levels, and,
//! for scripts, the same as under Linux.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::boot::{self, Boot, Echo, Level, Machine, Outcome};
use crate::guests::{File, Guests, HACKBENCH, PERF, Program, kernel_initramfs};

use super::{CPU_JUDGE, JUDGE, program};

/// What init is.
#[derive(Debug, Clone, Copy)]
enum Init {
    /// There is none: the kernel boots and switches off.
    None,
    /// A program of `guest/el0`, and its exit status.
    Program(&'static str, i32),
    /// A script for busybox's shell; what it prints between the lines `run: begin` and `run: end` is compared with Linux.
    Script(&'static str),
    /// A program of `guest/el0` that prints between `run: begin` and `run: end` what is compared with Linux, as a script's;
    /// and on Vambrace on these presets too.
    Judged(&'static str, &'static [&'static str]),
    /// The same with little memory.
    Scarce(&'static str),
    /// A program of `guest/el0` that prints between `NAME: begin` and `NAME: end`: the same as under Linux 6.12 on each of
    /// these presets, on Vambrace alone, since QEMU's CPUs of the same names have other features.
    SameAsLinux(&'static str, &'static [&'static str]),
    /// The same, with Debian's programs and with programs of `guest/el0` in /bin.
    Programs(&'static str, &'static [Program], &'static [&'static str]),
}

/// Something to run.
#[derive(Debug)]
pub struct Run {
    /// Its name on the command line.
    pub name: &'static str,
    init: Init,
    /// Numbers of CPUs.
    cpus: &'static [u32],
    /// Vambrace ends after this many million instructions.
    millions: u64,
}

impl Run {
    /// MiB of RAM.
    fn memory(&self) -> u32 {
        if matches!(self.init, Init::Scarce(_)) { 128 } else { 1024 }
    }
}

/// Vambrace's presets (`vambrace cpus`), but for other names of the same.
const PRESETS: &[&str] = &[
    "max",
    "cortex-a53",
    "cortex-a57",
    "cortex-a72",
    "cortex-a76",
    "cortex-a78",
    "cortex-x4",
    "neoverse-n1",
    "neoverse-n2",
    "neoverse-v1",
    "neoverse-v2",
    "neoverse-v3",
    "thunderx2",
    "kunpeng920",
    "apple-m1",
    "sdm845",
];

/// All runs.
pub const ALL: &[Run] = &[
    Run { name: "boot", init: Init::None, cpus: &[1, 4], millions: 100 },
    Run { name: "el0", init: Init::Program("hello", 7), cpus: &[1, 4], millions: 100 },
    Run { name: "profile", init: Init::Program("profile", 7), cpus: &[1, 4], millions: 200 },
    Run { name: "idspace", init: Init::SameAsLinux("idspace", PRESETS), cpus: &[1], millions: 200 },
    Run { name: "signals", init: Init::Judged("signals", &["cortex-a57"]), cpus: &[1, 4], millions: 1000 },
    Run { name: "faults", init: Init::Judged("faults", &["cortex-a57", "neoverse-n1"]), cpus: &[1, 4], millions: 1000 },
    Run { name: "timers", init: Init::Judged("timers", &[]), cpus: &[1, 4], millions: 20_000 },
    Run { name: "jobs", init: Init::Judged("jobs", &[]), cpus: &[1, 4], millions: 20_000 },
    Run { name: "storm", init: Init::Judged("storm", &[]), cpus: &[1, 4], millions: 20_000 },
    Run {
        name: "busybox-script",
        init: Init::Script(include_str!("../../initramfs/kernel/busybox-script.sh")),
        cpus: &[4],
        millions: 1000,
    },
    Run {
        name: "plain",
        init: Init::Programs(include_str!("../../initramfs/kernel/plain.sh"), &[], &["hello", "contpte"]),
        cpus: &[1],
        millions: 1000,
    },
    Run {
        name: "job-control",
        init: Init::Script(include_str!("../../initramfs/kernel/job-control.sh")),
        cpus: &[1, 4],
        millions: 10_000,
    },
    Run {
        name: "pipes",
        init: Init::Script(include_str!("../../initramfs/kernel/pipes.sh")),
        cpus: &[1, 4],
        millions: 30_000,
    },
    Run {
        name: "memory",
        init: Init::Scarce(include_str!("../../initramfs/kernel/memory.sh")),
        cpus: &[1, 4],
        millions: 10_000,
    },
    Run {
        name: "hackbench",
        init: Init::Programs(include_str!("../../initramfs/kernel/hackbench.sh"), &[HACKBENCH], &[]),
        cpus: &[1, 4],
        millions: 10_000,
    },
    Run {
        name: "waiting",
        init: Init::Programs(include_str!("../../initramfs/kernel/waiting.sh"), &[], &["sockets", "epoll", "futexes"]),
        cpus: &[1, 4],
        millions: 10_000,
    },
    Run {
        name: "perf-bench",
        init: Init::Programs(include_str!("../../initramfs/kernel/perf-bench.sh"), &[PERF], &[]),
        cpus: &[1, 4],
        millions: 10_000,
    },
];

/// A machine, and how the kernel starts on it.
#[derive(Debug, Clone, Copy)]
struct Place {
    name: &'static str,
    machine: Machine,
    level: Level,
}

const PLACES: [Place; 4] = [
    Place { name: "vambrace EL1", machine: Machine::Vambrace, level: Level::El1 },
    Place { name: "vambrace EL2", machine: Machine::Vambrace, level: Level::El2 },
    Place { name: "qemu EL1", machine: Machine::Qemu, level: Level::El1 },
    Place { name: "qemu EL2", machine: Machine::Qemu, level: Level::El2 },
];

const BEGIN: &str = "run: begin";
const END: &str = "run: end";
/// How the kernel says that it ends a program for its memory.
const OUT_OF_MEMORY: &str = "out of memory: killing tail[";
/// What a program prints between these lines is not compared with QEMU; the program says why.
const NOT_ON_QEMU: &str = "-- not on QEMU";
const ON_QEMU: &str = "-- on QEMU too";

/// The kernel, and what it takes to run it.
#[derive(Debug)]
pub struct Lab {
    guests: Guests,
    image: PathBuf,
}

impl Lab {
    /// Of prepared guests and a built image.
    pub fn new(guests: Guests, image: PathBuf) -> Self {
        Self { guests, image }
    }

    /// Runs it everywhere; a line about how it went.
    pub fn run(&self, run: &Run, cpus: Option<u32>, echo: Echo) -> Result<String> {
        let mut facts = Vec::new();
        let initrd = self.initrd(run)?;
        if let (Init::SameAsLinux(name, presets), Some(initrd)) = (run.init, &initrd) {
            for preset in presets {
                facts.push(self.same_as_linux(run, name, preset, initrd, echo)?);
            }
            return Ok(format!("{}: {}", run.name, facts.join(", ")));
        }
        let mut said: Option<Vec<String>> = None;
        let own = cpus.map(|cpus| [cpus]);
        let counts = own.as_ref().map_or(run.cpus, |cpus| &cpus[..]);
        for &cpus in counts {
            let mut first: Option<(Vec<String>, Place)> = None;
            for place in PLACES {
                let outcome = self.boot(run, place, cpus, initrd.as_deref()).run(place.machine, echo)?;
                let lines = judge(run, cpus, &outcome)
                    .with_context(|| format!("{} on {cpus} CPU(s), {}", run.name, place.name))?;
                facts.push(format!("{} x{cpus} {:.1} s", place.name, outcome.seconds));
                match &first {
                    None => first = Some((lines, place)),
                    Some((expected, judge)) => {
                        let expected = as_on(place.machine, expected);
                        if as_on(place.machine, &lines) != expected {
                            bail!(
                                "{}: {} and {} differ:\n{}\n--\n{}",
                                run.name,
                                judge.name,
                                place.name,
                                expected.join("\n"),
                                lines.join("\n")
                            );
                        }
                    }
                }
            }
            said = first.map(|(lines, _)| lines);
        }
        let is_judged = matches!(run.init, Init::Script(_) | Init::Scarce(_) | Init::Judged(..) | Init::Programs(..));
        if let (true, Some(lines), Some(initrd)) = (is_judged, &said, &initrd) {
            same(run, &self.linux(run, "max", initrd, echo)?, lines)?;
            facts.push(format!("the same as Linux {JUDGE}"));
            if let Init::Judged(_, presets) = run.init {
                for preset in presets {
                    self.judged_on(run, preset, initrd, echo)?;
                    facts.push(format!("on {preset} too"));
                }
            }
        }
        Ok(format!("{}: {}", run.name, facts.join(", ")))
    }

    fn boot(&self, run: &Run, place: Place, cpus: u32, initrd: Option<&Path>) -> Boot {
        let mut boot = Boot::of(&self.image, initrd, "");
        boot.cpus = cpus;
        boot.cpu = Some("max");
        boot.semihosting = true;
        boot.level = place.level;
        boot.max_insns = Some(run.millions * 1_000_000);
        boot.memory = run.memory();
        boot.limit = Duration::from_secs(120);
        boot
    }

    fn initrd(&self, run: &Run) -> Result<Option<PathBuf>> {
        let archive = match run.init {
            Init::None => return Ok(None),
            Init::Program(name, _) | Init::Judged(name, _) | Init::SameAsLinux(name, _) => {
                kernel_initramfs(None, &[File::executable("init", fs::read(program::build(name)?)?)])
            }
            Init::Script(script) | Init::Scarce(script) => {
                let busybox = self.guests.busybox()?;
                kernel_initramfs(Some(&busybox), &[File::executable("init", script)])
            }
            Init::Programs(script, programs, own) => {
                let mut files = vec![File::executable("init", script)];
                for program in programs {
                    files.extend(self.guests.program(program)?);
                }
                for name in own {
                    files.push(File::executable(format!("bin/{name}"), fs::read(program::build(name)?)?));
                }
                // Programs may share libraries.
                let mut paths = BTreeSet::new();
                files.retain(|file| paths.insert(file.path.clone()));
                kernel_initramfs(Some(&self.guests.busybox()?), &files)
            }
        };
        let path = boot::scratch(&format!("kernel-{}.cpio", run.name))?;
        fs::write(&path, archive)?;
        Ok(Some(path))
    }

    /// One preset: our kernel at EL1 and EL2, and Linux. The lines are the same but for AT_HWCAP's bit 2, EVTSTRM: our
    /// kernel has no event stream.
    fn same_as_linux(&self, run: &Run, name: &str, preset: &'static str, initrd: &Path, echo: Echo) -> Result<String> {
        let lines = |outcome: &Outcome| -> Result<Vec<String>> {
            let begin = format!("{name}: begin");
            outcome.expect_line(&begin)?;
            let end = format!("{name}: end");
            outcome.expect_line(&end)?;
            Ok(outcome.lines_behind(&begin).take_while(|line| *line != end).map(without_event_stream).collect())
        };
        for place in PLACES.iter().filter(|place| place.machine == Machine::Vambrace) {
            // FEAT_ECV is less without EL2, so each level has its own Linux.
            let mut linux = Boot::new(&self.guests, CPU_JUDGE, "quiet loglevel=0 panic=-1").with_initrd(initrd);
            linux.cpu = Some(preset);
            linux.level = place.level;
            linux.max_insns = Some(6_000_000_000);
            let expected = lines(&linux.run(Machine::Vambrace, echo)?)?;
            ensure!(expected.len() > 64, "{name} said little under Linux:\n{}", expected.join("\n"));
            let mut boot = self.boot(run, *place, 1, Some(initrd));
            boot.cpu = Some(preset);
            let ours = lines(&boot.run(place.machine, echo)?)?;
            ensure!(
                ours == expected,
                "{preset}, {}: Linux says\n{}\n-- ours\n{}",
                place.name,
                expected.join("\n"),
                ours.join("\n")
            );
        }
        Ok(format!("{preset} as Linux {CPU_JUDGE}"))
    }

    /// The same on another CPU, on Vambrace at both levels.
    fn judged_on(&self, run: &Run, preset: &'static str, initrd: &Path, echo: Echo) -> Result<()> {
        let expected = self.linux(run, preset, initrd, echo)?;
        for place in PLACES.iter().filter(|place| place.machine == Machine::Vambrace) {
            let mut boot = self.boot(run, *place, 1, Some(initrd));
            boot.cpu = Some(preset);
            let lines = judge(run, 1, &boot.run(place.machine, echo)?)?;
            same(run, &expected, &lines).with_context(|| format!("{preset}, {}", place.name))?;
        }
        Ok(())
    }

    /// The same under Linux, on the same CPU: init's end is a panic there, and a reset.
    fn linux(&self, run: &Run, cpu: &'static str, initrd: &Path, echo: Echo) -> Result<Vec<String>> {
        let mut boot = Boot::new(&self.guests, JUDGE, "quiet loglevel=0").with_initrd(initrd);
        boot.cpu = Some(cpu);
        boot.memory = run.memory();
        let outcome = boot.run(Machine::Vambrace, echo)?;
        outcome.expect_status(3)?;
        between(&outcome)
    }
}

/// An error with both, if they are not the same.
fn same(run: &Run, linux: &[String], ours: &[String]) -> Result<()> {
    ensure!(linux == ours, "{}: Linux says\n{}\n-- ours\n{}", run.name, linux.join("\n"), ours.join("\n"));
    Ok(())
}

/// A line with bit 2 of AT_HWCAP cleared.
fn without_event_stream(line: &str) -> String {
    let word = line.strip_prefix("AT_HWCAP: ").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    word.map_or_else(|| line.to_owned(), |word| format!("AT_HWCAP: {:016x}", word & !(1 << 2)))
}

/// The lines of a run, without those of what QEMU does otherwise.
fn as_on(machine: Machine, lines: &[String]) -> Vec<String> {
    let mut is_left_out = false;
    let mut kept = Vec::new();
    for line in lines {
        is_left_out = match line.as_str() {
            NOT_ON_QEMU => true,
            ON_QEMU => false,
            _ => is_left_out,
        };
        if machine != Machine::Qemu || !is_left_out {
            kept.push(line.clone());
        }
    }
    kept
}

fn between(outcome: &Outcome) -> Result<Vec<String>> {
    outcome.expect_line(BEGIN)?;
    outcome.expect_line(END)?;
    Ok(outcome.lines_behind(BEGIN).take_while(|line| *line != END).map(str::to_owned).collect())
}

/// The lines that must be the same everywhere, if the rest is as it should be.
fn judge(run: &Run, cpus: u32, outcome: &Outcome) -> Result<Vec<String>> {
    outcome.expect_line(&format!("vambrace-kernel: {cpus} of {cpus} CPU(s) online"))?;
    match run.init {
        Init::None => {
            outcome.expect_line("vambrace-kernel: no initramfs, so there is nothing to run")?;
            outcome.expect_status(0)?;
            Ok(Vec::new())
        }
        Init::Program(_, status) => {
            outcome.expect_line(&format!("vambrace-kernel: init exited with status {status}"))?;
            outcome.expect_status(status)?;
            let lines: Vec<String> = outcome.lines_from("hello").map(str::to_owned).collect();
            ensure!(!lines.is_empty(), "the program said nothing\n{}", outcome.report());
            Ok(lines)
        }
        Init::Scarce(_) => {
            outcome.expect_line("vambrace-kernel: init exited with status 0")?;
            outcome.expect_status(0)?;
            // The kernel's words, with numbers that depend on the machine; Linux is quiet.
            let (told, lines): (Vec<_>, _) =
                between(outcome)?.into_iter().partition(|line| line.starts_with(OUT_OF_MEMORY));
            ensure!(told.len() == 2, "two programs take all memory, but {told:?}");
            Ok(lines)
        }
        Init::Script(_) | Init::Judged(..) | Init::SameAsLinux(..) | Init::Programs(..) => {
            outcome.expect_line("vambrace-kernel: init exited with status 0")?;
            outcome.expect_status(0)?;
            between(outcome)
        }
    }
}
