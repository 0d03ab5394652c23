//! `cargo xtask oracle`: our PE beside qemu-aarch64 and other independent implementations. `--quick` is what CI runs.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use crate::guests::{Guests, Kernel};
use crate::{boot, levels, setup, shell};

/// Arguments of `cargo xtask oracle`.
// Each is a flag of its own on the command line.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, clap::Args)]
pub struct Args {
    /// At least 2,000 cases of each encoding class, the same in every run (what CI runs).
    #[arg(long, conflicts_with_all = ["long", "count"])]
    quick: bool,
    /// Cases with other seeds until the time is over, in a release build.
    #[arg(long, conflicts_with = "count")]
    long: bool,
    /// Minutes of `--long`.
    #[arg(long, default_value_t = 30, requires = "long")]
    minutes: u64,
    /// The seed; `--long` takes one from the clock, and prints it.
    #[arg(long)]
    seed: Option<u64>,
    /// Only this encoding class or encoding.
    #[arg(long)]
    only: Option<String>,
    /// Counts the encodings of Arm's list: modelled, refused by name.
    #[arg(long)]
    count: bool,
    /// The text of instructions beside GNU's and LLVM's: how many agree, and the differences with their reasons.
    #[arg(long, conflicts_with_all = ["quick", "long", "count", "only"])]
    text: bool,
    /// Bare-metal programs at EL1 beside qemu-system-aarch64: a table of equal lines and of differences, and their reasons.
    #[arg(long, conflicts_with_all = ["quick", "long", "count", "text", "only"])]
    system: bool,
    /// Programs for newer levels of the architecture under Linux, on `max` and on `cortex-a57`.
    #[arg(long, conflicts_with_all = ["quick", "long", "count", "only", "text"])]
    levels: bool,
}

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    if args.system {
        setup::ensure(&[setup::Part::Cross, setup::Part::QemuSystem])?;
        let mut command = shell::cargo();
        command.args(["run", "--quiet", "-p", "vambrace-oracle", "--bin", "system", "--", "--reasons"]);
        return shell::run(&mut command);
    }
    setup::ensure(&[setup::Part::Cross, setup::Part::QemuUser])?;
    if args.count {
        return count();
    }
    if args.text {
        return text(args.seed);
    }
    if args.levels {
        setup::ensure(&[setup::Part::Guests])?;
        let kernel = Kernel::V6_1;
        let guests = Guests::prepare(&[kernel])?;
        boot::build_vambrace()?;
        levels::check(&guests, kernel)?;
        println!("levels: as under qemu-aarch64, on max and on cortex-a57");
        return Ok(());
    }
    let mut more = Vec::new();
    if let Some(only) = &args.only {
        more.extend(["--only".to_owned(), only.clone()]);
    }
    let mut command = shell::cargo();
    command.args(["run", "--quiet", "-p", "vambrace-oracle", "--bin", "oracle"]);
    if args.long {
        let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let seed = args.seed.unwrap_or_else(clock);
        command.args(["--release", "--", "--minutes", &args.minutes.to_string(), "--seed", &seed.to_string()]);
    } else if args.quick || args.only.is_some() {
        command.args(["--", "--seed", &args.seed.unwrap_or(1).to_string()]);
    } else {
        bail!("one of --quick, --long, --count, --text, --system, --levels or --only is needed");
    }
    if args.long && args.only.is_none() {
        // What CI runs as a test with fewer cases.
        let mut softfloat = shell::cargo();
        softfloat.args(["test", "--quiet", "--release", "-p", "vambrace-oracle", "--test", "softfloat", "--"]);
        softfloat.args(["--nocapture"]).env("VAMBRACE_CASES", (args.minutes.max(1) * OPERATIONS).to_string());
        softfloat.env("VAMBRACE_SEED", args.seed.unwrap_or(2).to_string());
        shell::run(&mut softfloat)?;
    }
    shell::run(command.args(more))
}

/// Floating-point operations beside SoftFloat for each minute of `--long`.
const OPERATIONS: u64 = 2_000_000;

/// `--quick` for `cargo xtask test`: one line where all is well.
pub fn quick() -> Result<String> {
    let mut command = shell::cargo();
    command.args(["run", "--quiet", "-p", "vambrace-oracle", "--bin", "oracle", "--", "--seed", "1"]);
    let output = command.output().context("cannot start cargo")?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("{text}{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(text.lines().last().unwrap_or_default().to_owned())
}

/// Ten times the words that `cargo xtask test` compares.
fn text(seed: Option<u64>) -> Result<()> {
    setup::ensure(&[setup::Part::Llvm])?;
    let mut command = shell::cargo();
    command.args([
        "test",
        "--quiet",
        "-p",
        "vambrace-oracle",
        "--test",
        "text",
        "--",
        "--nocapture",
        "--test-threads=1",
    ]);
    command.env("VAMBRACE_ORACLE_CASES", "2000").env("VAMBRACE_ORACLE_SEED", seed.unwrap_or(1).to_string());
    shell::run(&mut command)
}

fn count() -> Result<()> {
    let mut command = shell::cargo();
    command.args(["test", "--quiet", "-p", "vambrace-oracle", "--test", "leaves", "--", "--nocapture", "count"]);
    shell::run(&mut command)
}
