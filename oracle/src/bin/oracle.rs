//! Cases on our PE and under qemu-aarch64: `cargo xtask oracle`.

use std::fmt;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use vambrace_oracle::sweep;
use vambrace_oracle::table::{self, Plan};

fn main() -> Result<ExitCode> {
    let mut plan = Plan {
        per_class: 2000,
        sequences: 40_000,
        words: 20_000,
        time: Duration::ZERO,
        seed: 1,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        only: None,
    };
    // Random programs of the sweep, at least.
    let mut programs = 3000;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || -> Result<u64> {
            args.next()
                .with_context(|| format!("{arg} needs a number"))?
                .parse()
                .with_context(|| format!("{arg} needs a number"))
        };
        match arg.as_str() {
            "--minutes" => plan.time = Duration::from_secs(60 * number()?),
            "--seed" => plan.seed = number()?,
            "--cases" => plan.per_class = number()?,
            "--sequences" => plan.sequences = number()?,
            "--words" => plan.words = number()?,
            "--programs" => programs = number()?,
            "--threads" => plan.threads = number()? as usize,
            "--only" => plan.only = Some(args.next().context("--only needs a class or an encoding")?.leak()),
            _ => bail!("unknown argument {arg}"),
        }
    }
    println!("seed {}", plan.seed);
    // Of a long run, the sweep has a quarter.
    let whole = plan.time;
    plan.time = whole * 3 / 4;
    let report = compared(&plan)?;
    if plan.only.is_none() {
        plan.time = whole / 4;
        swept(&plan, programs)?;
    }
    println!("{report}");
    Ok(if report.differences == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What came of the comparison, in a line.
struct Summary {
    cases: u64,
    rounds: u64,
    differences: u64,
    explained: u64,
    seconds: f64,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cases, rounds, differences, explained, seconds } = self;
        write!(
            f,
            "oracle: {cases} cases in {rounds} round(s), {differences} differences, {explained} explained, {seconds:.0} s"
        )
    }
}

fn compared(plan: &Plan) -> Result<Summary> {
    let started = Instant::now();
    let report = table::run(plan, &std::env::temp_dir())?;
    print!("{}", report.text());
    Ok(Summary {
        cases: report.cases(),
        rounds: report.rounds,
        differences: report.differences(),
        explained: report.explained(),
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// Every word's decoding where there is time, else a sample; and random programs.
fn swept(plan: &Plan, programs: u64) -> Result<()> {
    let started = Instant::now();
    let stride = if plan.time.is_zero() { 251 } else { 1 };
    let decoded = sweep::decode(stride, plan.threads)?;
    println!(
        "sweep: {} words decoded, {} allocated, {} of them reserved, {:.0} s",
        decoded.words,
        decoded.allocated,
        decoded.reserved,
        started.elapsed().as_secs_f64()
    );
    let left = plan.time.saturating_sub(started.elapsed());
    let executed = sweep::execute(plan.seed, programs, left, plan.threads)?;
    for (what, count) in &executed.refused {
        println!("refused by name in {count} programs: {what}");
    }
    println!(
        "sweep: {} random programs, {} instructions, no panic, no hang, {:.0} s",
        executed.programs,
        executed.instructions,
        started.elapsed().as_secs_f64()
    );
    Ok(())
}
