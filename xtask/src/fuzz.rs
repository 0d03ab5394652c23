//! `cargo xtask fuzz`: the targets of `fuzz` under LLVM's libFuzzer. Stable Rust is enough: the counters of branches are a
//! pass of the compiler's LLVM, and the crates have no unsafe code of which a sanitizer would find anything.
//!
//! What reaches new code is kept in `.vambrace/fuzz/TARGET` for the next time, what fails in `.vambrace/fuzz/finds`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::{setup, shell};

/// Arguments of `cargo xtask fuzz`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The targets, or all.
    targets: Vec<String>,
    /// How long each runs, in minutes; those in which other work has the CPUs do not count.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    minutes: u64,
    /// Where the engine's choices begin; without it, each run is another one.
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// Runs the target on this input once, and shows how it ends.
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Makes the input, which fails, smaller, as `FILE.small`.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    minimise: Option<PathBuf>,
    /// Only print the targets.
    #[arg(long)]
    list: bool,
}

/// Counters of all branches. What comparisons compare would be worth knowing too, and costs more than it brings where
/// machines are built.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table";

/// An input that takes longer hangs, in seconds.
const PATIENCE: u64 = 20;
/// The process never has more memory than this, in MiB: what is left over of one run of a target after the other shows.
const MEMORY: u64 = 2048;

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    let known = targets()?;
    if args.list {
        println!("{}", known.join("\n"));
        return Ok(());
    }
    let named =
        |name: &String| args.targets.is_empty() || args.targets.iter().any(|wanted| wanted == "all" || wanted == name);
    if let Some(wrong) = args.targets.iter().find(|name| *name != "all" && !known.contains(name)) {
        bail!("no target {wrong}; there are {}", known.join(", "));
    }
    let wanted: Vec<&String> = known.iter().filter(|name| named(name)).collect();
    let engine = Engine::build()?;
    for (file, more) in [(&args.replay, None), (&args.minimise, Some("-minimize_crash=1"))] {
        let Some(file) = file else { continue };
        let [target] = wanted[..] else { bail!("name the target of this input") };
        return engine.one(target, file, more);
    }
    println!("target | runs | a second | CPU seconds | edges reached | inputs that reached more | most MiB | finds");
    let mut finds = 0;
    for target in wanted {
        let found = engine.fuzz(target, args.minutes, args.seed)?;
        println!("{target} | {}", found.line);
        for path in &found.finds {
            println!("  {}: `cargo xtask fuzz {target} --replay FILE` shows it", path.display());
        }
        finds += found.finds.len();
    }
    ensure!(
        finds == 0,
        "{finds} find(s): fix them, and keep the inputs in fuzz/corpus/TARGET with names that say what they were"
    );
    Ok(())
}

/// The targets, by their corpora; a test of `fuzz` holds the two together.
fn targets() -> Result<Vec<String>> {
    let corpora = shell::workspace_root().join("fuzz/corpus");
    let entries = fs::read_dir(&corpora).with_context(|| format!("no {}", corpora.display()))?;
    let mut names =
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect::<Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

/// The targets with libFuzzer.
struct Engine {
    program: PathBuf,
    /// What is kept.
    state: PathBuf,
}

/// What came of fuzzing a target.
struct Found {
    line: String,
    finds: Vec<PathBuf>,
}

impl Engine {
    fn build() -> Result<Self> {
        setup::ensure(&[setup::Part::Fuzz])?;
        let host = host()?;
        let target = shell::workspace_root().join("target/fuzz");
        let mut cargo = shell::cargo();
        // With a target named, build scripts and macros are not instrumented.
        cargo.args(["build", "--quiet", "--profile", "fuzz", "--package", "vambrace-fuzz", "--features", "engine"]);
        cargo.args(["--target", &host, "--target-dir"]).arg(&target);
        cargo.env("RUSTFLAGS", COVERAGE).env("CARGO_INCREMENTAL", "0");
        shell::run(&mut cargo)?;
        let state = shell::workspace_root().join(".vambrace/fuzz");
        Ok(Self { program: target.join(host).join("fuzz/vambrace-fuzz"), state })
    }

    fn command(&self, target: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.env("VAMBRACE_FUZZ", target).env("RUST_BACKTRACE", "1");
        command.args([format!("-timeout={PATIENCE}"), format!("-rss_limit_mb={MEMORY}")]);
        command.stdin(Stdio::null());
        command
    }

    /// Runs the engine on one input.
    fn one(&self, target: &str, file: &Path, more: Option<&str>) -> Result<()> {
        let mut command = self.command(target);
        if let Some(more) = more {
            command.args([more, "-runs=10000"]).arg(format!("-exact_artifact_path={}.small", file.display()));
        }
        shell::run(command.arg(file))
    }

    fn fuzz(&self, target: &str, minutes: u64, seed: Option<u32>) -> Result<Found> {
        let make = |path: &Path| fs::create_dir_all(path).with_context(|| format!("cannot make {}", path.display()));
        let (kept, finds) = (self.state.join(target), self.state.join("finds").join(target));
        make(&kept)?;
        make(&finds)?;
        let before = files(&finds)?;
        let mut command = self.command(target);
        command.env("VAMBRACE_FUZZ_SEEDS", &kept);
        command.args(["-print_final_stats=1", "-reload=0"]);
        command.args(seed.map(|seed| format!("-seed={seed}")));
        command.arg(format!("-artifact_prefix={}/", finds.display()));
        command.arg(&kept).arg(shell::workspace_root().join("fuzz/corpus").join(target));
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot start {}", self.program.display()))?;
        let stderr = BufReader::new(child.stderr.take().context("no pipe")?);
        let (process, ended) = (child.id(), AtomicBool::new(false));
        let (mut counts, mut last) = (Counts::default(), Vec::new());
        thread::scope(|threads| {
            threads.spawn(|| end_after(process, minutes * 60, &ended));
            for line in stderr.lines().map_while(Result::ok) {
                counts.note(&line);
                if counts.runs.is_none() && !line.starts_with('#') {
                    last.push(line);
                }
            }
            ended.store(true, Ordering::Relaxed);
        });
        // It says all before it ends; then it has no more work, and is still there to be asked.
        counts.seconds = Share::of(process).map(|share| share.ran.as_secs());
        let status = child.wait()?;
        let new: Vec<PathBuf> = files(&finds)?.into_iter().filter(|path| !before.contains(path)).collect();
        if !status.success() {
            eprintln!("{}", last[last.len().saturating_sub(60)..].join("\n"));
            ensure!(!new.is_empty(), "{} {target} ended with {status}", self.program.display());
        }
        Ok(Found { line: counts.line(new.len()), finds: new })
    }
}

/// What libFuzzer says of a run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    runs: Option<u64>,
    rate: u64,
    /// Of a CPU: beside other work they are less than those of the clock.
    seconds: Option<u64>,
    edges: u64,
    inputs: u64,
    memory: u64,
}

impl Counts {
    fn note(&mut self, line: &str) {
        let number = |text: &str| text.split_whitespace().next().and_then(|word| word.parse::<u64>().ok());
        if let Some((name, value)) = line.strip_prefix("stat::").and_then(|rest| rest.split_once(':')) {
            let value = number(value).unwrap_or_default();
            match name {
                "number_of_executed_units" => self.runs = Some(value),
                "average_exec_per_sec" => self.rate = value,
                "new_units_added" => self.inputs = value,
                "peak_rss_mb" => self.memory = value,
                _ => {}
            }
        } else if let Some(edges) = line.split_once(" cov: ").and_then(|(_, rest)| number(rest)) {
            self.edges = edges;
        }
    }

    fn line(&self, finds: usize) -> String {
        let Self { runs, rate, seconds, edges, inputs, memory } = self;
        let seconds = seconds.map_or_else(|| "?".to_owned(), |seconds| seconds.to_string());
        format!("{} | {rate} | {seconds} | {edges} | {inputs} | {memory} | {finds}", runs.unwrap_or_default())
    }
}

/// Asks the engine to end after `seconds`, of which those that it waited for a CPU do not count, unless it `ended` before.
fn end_after(process: u32, seconds: u64, ended: &AtomicBool) {
    let (started, limit) = (Instant::now(), Duration::from_secs(seconds));
    let waited = || Share::of(process).map_or(Duration::ZERO, |share| share.waited);
    while !ended.load(Ordering::Relaxed) {
        if started.elapsed().saturating_sub(waited()) >= limit {
            // To libFuzzer this signal says that it shall print its figures and go. If it cannot be sent, nobody is there.
            let _ = Command::new("kill").args(["-USR1", &process.to_string()]).stderr(Stdio::null()).status();
            return;
        }
        thread::sleep(Duration::from_millis(200));
    }
}

/// What a process's first thread, which does the work, had of the CPUs; `None` where the system does not say.
struct Share {
    /// How long it ran.
    ran: Duration,
    /// How long it was ready to and had no CPU.
    waited: Duration,
}

impl Share {
    fn of(process: u32) -> Option<Self> {
        // Both in nanoseconds, and how often it ran (Documentation/scheduler/sched-stats).
        let stat = fs::read_to_string(format!("/proc/{process}/schedstat")).ok()?;
        let mut times = stat.split_whitespace().map_while(|word| word.parse().ok()).map(Duration::from_nanos);
        Some(Self { ran: times.next()?, waited: times.next()? })
    }
}

fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

/// What rustc calls this machine.
fn host() -> Result<String> {
    let text = shell::capture(Command::new("rustc").arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not say what this machine is")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_engine_says() {
        let mut counts = Counts::default();
        for line in [
            "#2\tINITED cov: 7 ft: 7 corp: 1/1b exec/s: 0 rss: 27Mb",
            "#4096\tpulse  cov: 311 ft: 11 corp: 5/25b lim: 4096 exec/s: 2048 rss: 27Mb",
            "stat::number_of_executed_units: 29862699",
            "stat::average_exec_per_sec:     1422033",
            "stat::new_units_added:          12",
            "stat::slowest_unit_time_sec:    0",
            "stat::peak_rss_mb:              28",
        ] {
            counts.note(line);
        }
        counts.seconds = Some(20);
        assert_eq!(counts.line(1), "29862699 | 1422033 | 20 | 311 | 12 | 28 | 1");
    }

    #[test]
    fn a_process_used_some_time() {
        assert!(Share::of(std::process::id()).is_some_and(|share| share.ran > Duration::ZERO));
        assert!(Share::of(u32::MAX).is_none());
    }
}
