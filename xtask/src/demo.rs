//! `cargo xtask demo`: from a fresh checkout to a shell prompt in a guest.

use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::boot::{self, Boot, Echo, Gic, Machine};
use crate::guests::{Guests, Kernel};
use crate::nested::{Mode, Nested, Work};
use crate::rootfs::{self, Root};
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
    /// The kernel starts at EL2 and runs a Linux guest of its own with KVM: what is asked for happens there.
    #[arg(long)]
    nested: bool,
    /// The inner guest's kernel: one of those, or 6.12-pseudo-nmi.
    #[arg(long, default_value = "6.1", requires = "nested")]
    inner_kernel: Kernel,
    /// CPUs of the inner guest.
    #[arg(long, default_value_t = 1, requires = "nested")]
    inner_cpus: u32,
    /// How KVM uses EL2.
    #[arg(long, value_enum, default_value = "vhe", requires = "nested")]
    kvm_mode: Mode,
    /// The version of the interrupt controller, that of the inner guest too.
    #[arg(long, value_enum, default_value = "3", requires = "nested")]
    gic: Gic,
    #[command(flatten)]
    root: rootfs::Options,
}

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    setup::ensure(&[setup::Part::Guests])?;
    if args.nested {
        return nested(args);
    }
    if args.root.rootfs {
        let root = Root::new(&args.root, args.kernel, args.cpus);
        return if args.batch { root.batch() } else { root.interactive() };
    }
    let guests = Guests::prepare(&[args.kernel])?;
    boot::build_vambrace()?;
    let words = if args.batch { "vambrace.batch=demo" } else { "" };
    let mut boot = Boot::new(&guests, args.kernel, words);
    boot.cpus = args.cpus;
    boot.stats = Some("-".into());
    if args.batch { batch(&boot) } else { interactive(&boot) }
}

fn nested(args: &Args) -> Result<()> {
    let nested = Nested {
        kernel: args.kernel,
        inner_kernel: args.inner_kernel,
        cpus: args.cpus,
        inner_cpus: args.inner_cpus,
        mode: args.kvm_mode,
        gic: args.gic,
        ..Nested::new(if args.batch { Work::Check } else { Work::Shell })
    };
    let guests = Guests::prepare(&nested.kernels())?;
    boot::build_vambrace()?;
    let mut boot = nested.boot(&guests, "demo-nested")?;
    boot.stats = Some("-".into());
    if args.batch { nested.expect(&boot.run(Machine::Vambrace, Echo::On)?) } else { interactive(&boot) }
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
