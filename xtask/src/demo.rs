//! `cargo xtask demo`: from a fresh checkout to a shell prompt in a guest.

use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::boot::{self, Boot, Echo, Machine};
use crate::guests::{Guests, Kernel};
use crate::{setup, shell};

/// Arguments of `cargo xtask demo`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run a fixed script and power off, instead of a shell.
    #[arg(long)]
    batch: bool,
    /// Which kernel: 5.10, 6.1, 6.12 or newest.
    #[arg(long, default_value = "6.1")]
    kernel: Kernel,
    /// Number of CPUs.
    #[arg(long, default_value_t = 1)]
    cpus: u32,
}

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    setup::ensure(&[setup::Part::Guests])?;
    let guests = Guests::prepare(&[args.kernel])?;
    boot::build_vambrace()?;
    let words = if args.batch { "vambrace.batch=demo" } else { "" };
    let mut boot = Boot::new(&guests, args.kernel, words);
    boot.cpus = args.cpus;
    boot.stats = Some("-".into());
    if args.batch { batch(&boot) } else { interactive(&boot) }
}

fn batch(boot: &Boot) -> Result<()> {
    let outcome = boot.run(Machine::Vambrace, Echo::On)?;
    outcome.expect_status(0).context("the demo did not end in a clean power-off")?;
    if outcome.line_from("Linux ").is_none() {
        bail!("the guest did not print its `uname -a`\n{}", outcome.report());
    }
    outcome.expect_line("vambrace-batch: demo: status 0")
}

fn interactive(boot: &Boot) -> Result<()> {
    let mut command = boot.command(Machine::Vambrace);
    let line = shell::display(&command);
    println!("{line}");
    let status = command.stdin(Stdio::inherit()).status().with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("the guest did not power off cleanly ({status})");
    }
    Ok(())
}
