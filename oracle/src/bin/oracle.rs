//! Cases on our PE and under qemu-aarch64: `cargo xtask oracle`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
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
            "--threads" => plan.threads = number()? as usize,
            "--only" => plan.only = Some(args.next().context("--only needs a class or an encoding")?.leak()),
            _ => bail!("unknown argument {arg}"),
        }
    }
    println!("seed {}", plan.seed);
    let started = std::time::Instant::now();
    let report = table::run(&plan, &std::env::temp_dir())?;
    print!("{}", report.text());
    println!(
        "oracle: {} cases in {} rounds, {} differences, {} explained, {:.0} s",
        report.cases(),
        report.rounds,
        report.differences(),
        report.explained(),
        started.elapsed().as_secs_f64()
    );
    Ok(if report.differences() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
